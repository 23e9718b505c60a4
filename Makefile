# make test   a check that your copy works, in minutes: Go's tests with -short, Python's quick ones
# make ci     everything that must pass before a change lands: lint, generated code, all tests, the race detector,
#             the site's links
# make tests  all tests: make ci without lint and generate
# make same   the oracle: every config's curves and decisions are the same to the bit (UPDATE=1 keeps new digests)
# make bench  the commands of docs/performance.md, with the processor and the load; hours
# make fuzz   every fuzz target for FUZZTIME (ten minutes)
# make nightly  environments of other packages from PyPI play, are checked and are learnt in (docs/python.md);
#             the image as it is released; every fuzz target for a minute
# make wheel  wheels that carry the program, for pip (PLATFORMS="linux/amd64" for some)
# make dist   archives of the program for every platform, with checksums and completions
# make release TAG=v0.1.0  archives and wheels of a tag, from a clean checkout of it, in dist/v0.1.0
# make site   the documentation as a site, in dist/site; it installs mkdocs into dist/site-venv
# make image  a container image of rlrun (IMAGE=NAME), with docker, podman or neither
# make generate-python  the generated code of the Python package

GO ?= go
FUZZTIME ?= 10m

# Tests in Go that need the Python package take the interpreter that this names. It is
# empty where there is no Python: these tests are skipped then.
python = RLRUN_PYTHON=$(wildcard $(CURDIR)/python/.venv/bin/python)

# Tests in Python take the program that make test has built, and build one where there is none.
program = RLRUN=$(wildcard $(CURDIR)/bin/rlrun)

# Programs that JAX has compiled are kept for the tests that follow.
export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/python/.venv/jax
export JAX_PERSISTENT_COMPILATION_CACHE_MIN_COMPILE_TIME_SECS = 0

# Packages that start goroutines: the race detector looks at these.
concurrent = $(shell grep -rlE --include='*.go' --exclude='*bench_test.go' '^\s*go [a-z]|WaitGroup|errgroup' bandit cmd framework mdp options plugins | xargs -n1 dirname | sort -u | sed 's,^,./,')

# Tests of which -short leaves something out, and their packages: those that ask for
# testing.Short(), and scripts with [short].
asks = testing\.Short\(\)
own = --exclude-dir=studies
long = $(shell grep -rlE $(own) --include='*_test.go' '$(asks)' . | xargs -n1 dirname | sort -u)
long_tests = $(shell grep -rlE $(own) --include='*_test.go' '$(asks)' . | xargs awk '/^func /{name=$$2; sub(/[^A-Za-z].*/,"",name)} /$(asks)/{print name}' | sort -u)
long_scripts = $(basename $(notdir $(shell grep -l '^\[short\]' cmd/rlrun/testdata/script/*.txtar)))
any = $(subst $(empty) $(empty),|,$(strip $(1)))

# Tests of several packages run at a time, more than there are cores: many of them wait
# for processes to start, answer and end.
at_once = -p 4

# Test programs without debug information link in half the time. make lint vets them: go test
# would vet them, and the modules that they import, a second time.
lean = -ldflags=-w -vet=off

.PHONY: test tests ci lint generate slow race same bench fuzz nightly wheel dist release site image python generate-python

test:
	@echo "make test takes about three minutes on two idle cores, and more where Go has to compile everything first."
	@echo "Each package prints a line as its tests end: ok, or what failed. Python's tests print theirs at their end."
	@$(MAKE) --no-print-directory python
	@$(GO) build -o bin/rlrun ./cmd/rlrun # else several tests compile it anew at the same time
	@$(MAKE) --no-print-directory -j2 go-short python-quick

ci: lint generate tests

# The long parts go beside each other: each waits for processes a part of its time.
tests: test
	$(MAKE) --no-print-directory -j3 go-long python-slow race same $$(test ! -x python/.venv/bin/python || echo site)

# What make test leaves out.
slow: python
	$(MAKE) --no-print-directory go-long python-slow

# Make looks for files before it runs the first rule, so rules that need python/.venv
# run in a make of their own.
.PHONY: go-short go-long python-quick python-slow
go-short:
	$(python) $(GO) test $(at_once) $(lean) -short ./...
go-long:
	$(GO) -C studies test $(lean) ./...
	$(python) $(GO) test $(at_once) $(lean) -timeout 30m -run '^($(call any,$(long_tests)))$$|^TestScripts$$/^($(call any,$(long_scripts)))$$' $(long)

# pytest's dots are kept until its end, so that they do not mix with lines of Go's tests.
python-quick:
	@out=$$($(program) ./python/test.sh quick 2>&1); status=$$?; echo "$$out"; exit $$status
python-slow:
	$(program) ./python/test.sh slow

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-clean: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) -C studies vet ./...
	$(GO) -C studies tool staticcheck ./...
	$$($(GO) -C studies tool -n staticcheck) ./...

# Generated files must be what their sources say.
generate:
	$(GO) generate ./...
	git diff --exit-code

# It leaves out tests without goroutines that it makes many times slower.
race:
	GORACE=atexit_sleep_ms=0 $(GO) test $(at_once) $(lean) -race -short -timeout 30m -skip 'TestShippedConfigs|OfALongRiver' $(concurrent)

same:
	$(GO) test $(lean) . -run TestSame -count=1 -timeout=30m -same.all $(if $(UPDATE),-same.update)

# Not the hour of memory, nor comparisons with other commits.
bench:
	@$(GO) version; grep -m1 'model name' /proc/cpuinfo; nproc
	@sed -n '/^## Compared/q; /PluginMemory/d; /^\(python3 -m venv \|dist\/peers\|RLRUN_PYTHON=.* go test \|go test \)/p' docs/performance.md | \
		while read -r command; do uptime; echo "$$command"; sh -c "$$command" </dev/null; done

fuzz:
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z]*' . | sed 's,/[^/]*:func , ,' | sort | while read -r package target; do \
	  echo "$$package $$target"; \
	  $(GO) test $(lean) "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x || exit 1; \
	done

# It does nothing where there is no Python, unless REQUIRE_PYTHON is set.
python:
	./python/test.sh install

nightly:
	$(GO) build -o bin/rlrun ./cmd/rlrun
	RLRUN=$(CURDIR)/bin/rlrun python3 python/nightly/environments.py
	ENGINES= ./image.sh
	$(MAKE) --no-print-directory fuzz FUZZTIME=1m

generate-python:
	REQUIRE_PYTHON=1 ./python/test.sh install
	python/.venv/bin/python python/generate.py

wheel:
	./python/wheels.sh $(PLATFORMS)

# GoReleaser is run by its version, not as a tool of go.mod: its 300 modules would be
# everybody's.
dist:
	$(GO) run github.com/goreleaser/goreleaser/v2@v2.14.0 release --clean $(ARCHIVES)
ARCHIVES = --snapshot

# GoReleaser refuses a checkout whose commit has no tag.
release:
	rm -rf dist/$(TAG)
	git clone -q --branch $(TAG) . dist/$(TAG)/source
	$(MAKE) -C dist/$(TAG)/source dist wheel ARCHIVES='--skip=publish,announce'
	cd dist/$(TAG) && mv source/dist/*.whl source/dist/archives/*.tar.gz source/dist/archives/*.zip . && rm -rf source && sha256sum * >checksums.txt

site:
	$(GO) build -o dist/site-rlrun ./cmd/rlrun
	python3 -m venv dist/site-venv
	dist/site-venv/bin/python -m pip install -q --disable-pip-version-check -r docs/site/requirements.txt
	NO_MKDOCS_2_WARNING=1 dist/site-venv/bin/python docs/site/build.py dist/site-rlrun dist/site

image:
	./image.sh $(IMAGE)
