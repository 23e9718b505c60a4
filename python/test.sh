#!/bin/sh
# Lints, checks and tests the Python package in a virtual environment of its own,
# python/.venv. Where Python or its packages cannot be had it says so and does
# nothing, unless REQUIRE_PYTHON is set.
#
#     python/test.sh            everything
#     python/test.sh quick      without tests marked slow, and without the linters
#     python/test.sh slow       what quick leaves out
#     python/test.sh install    only the virtual environment
#
# Tests in Go that need a Python with the package take the one that RLRUN_PYTHON
# names; the Makefile sets it.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-python3}
venv=.venv

skip() {
  echo "python/test.sh: skipped: $1"
  [ -z "${REQUIRE_PYTHON:-}" ] || exit 1
  exit 0
}

"$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  skip "there is no Python 3.10 or newer with venv"
if [ ! -e $venv/installed ] || [ pyproject.toml -nt $venv/installed ]; then
  "$python" -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check -e '.[deep,dev,gymnasium]' || skip "pip cannot install its packages"
  touch $venv/installed
fi
bin=$PWD/$venv/bin

# Runs tests with a mark in two parts beside each other: these files, and the others.
parts() {
  mark=$1 status=0
  shift
  "$bin/pytest" -m "$mark" "$@" >$venv/part.log 2>&1 &
  "$bin/pytest" -m "$mark" $(printf -- '--ignore=%s ' "$@") || status=$?
  wait $! || status=$?
  cat $venv/part.log
  return $status
}

case ${1:-} in
install) ;;
quick)
  # XLA compiles in half the time without its optimisations; slow tests have them.
  export JAX_DISABLE_MOST_OPTIMIZATIONS=1
  parts 'not slow' tests/test_deep.py tests/test_from_gymnasium.py tests/test_to_gymnasium.py
  ;;
slow | "")
  "$bin/ruff" check .
  "$bin/ruff" format --check -q .
  "$bin/mypy"
  if [ -n "${1:-}" ]; then
    parts slow tests/test_deep.py tests/test_masks.py tests/test_minatar.py tests/test_pqn.py
  else
    "$bin/pytest"
  fi
  ;;
*)
  echo "python/test.sh: there is no $1: quick, slow or install, or nothing for everything" >&2
  exit 2
  ;;
esac
