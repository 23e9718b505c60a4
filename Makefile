# make test   everything a user runs to see that his copy works
# make check  everything CI asks for: format, vet, staticcheck, race, generated code
# make same   the oracle: every config's curves and decisions are the same to the bit (UPDATE=1 keeps new digests)
# make wheel  wheels that carry the program, for pip (PLATFORMS="linux/amd64" for some)
# make bench  the benchmarks behind docs/performance.md
# make test-python      of test, the Python package, in a virtual environment of its own
# make generate-python  its generated code

GO ?= go

.PHONY: wheel test same check lint generate race bench test-python generate-python

test:
	$(GO) test ./...
	./python/test.sh

same:
	$(GO) test . -run TestSame -count=1 -timeout=30m -same.all $(if $(UPDATE),-same.update)

check: lint generate race

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-clean: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Generated files must be what their sources say.
generate:
	$(GO) generate ./...
	git diff --exit-code

race:
	$(GO) test -race ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./bandit/... ./framework/... ./plugins/...

# It does nothing where there is no Python, unless REQUIRE_PYTHON is set.
test-python:
	./python/test.sh

generate-python:
	REQUIRE_PYTHON=1 ./python/test.sh install
	python/.venv/bin/python python/generate.py

wheel:
	./python/wheels.sh $(PLATFORMS)
