#!/bin/sh
# Lints, checks and tests the Python package in a virtual environment of its own,
# python/.venv, then runs those of Go's tests that need it. Where Python or its
# packages cannot be had it says so and does nothing, unless REQUIRE_PYTHON is set.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-python3}
venv=.venv

skip() {
  echo "test-python: skipped: $1"
  [ -z "${REQUIRE_PYTHON:-}" ] || exit 1
  exit 0
}

"$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  skip "there is no Python 3.10 or newer with venv"
if [ ! -e $venv/installed ] || [ pyproject.toml -nt $venv/installed ]; then
  "$python" -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check -e '.[dev,gymnasium]' || skip "pip cannot install its packages"
  touch $venv/installed
fi
bin=$PWD/$venv/bin
[ "${1:-}" != install ] || exit 0
"$bin/ruff" check .
"$bin/ruff" format --check -q .
"$bin/mypy"
"$bin/pytest"
cd ..
export RLRUN_PYTHON=$bin/python
go test ./framework/plugin -run Python
go test ./cmd/rlrun -run TestNewProjects/python
go test ./docs -run 'TestSnippets/(python|experiments).md'
