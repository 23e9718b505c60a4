"""What the tests share: the program rlrun, and the examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# XLA compiles small networks for longer than they are used.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # as the agents set it
    " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
)

EXAMPLES = ROOT / "python" / "examples"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program: the one that RLRUN names, else built from this source."""
    named = os.environ.get("RLRUN")
    if not named:
        if shutil.which("go") is None:
            pytest.skip("there is no Go to build rlrun with, and RLRUN names no program")
        named = str(tmp_path_factory.mktemp("bin") / "rlrun")
        subprocess.run(["go", "build", "-o", named, "./cmd/rlrun"], cwd=ROOT, check=True)
    os.environ["RLRUN"] = named
    os.environ["RLRUN_PYTHON"] = sys.executable
    return named


@pytest.fixture
def run(program: str, tmp_path: Path):
    """Run rlrun with arguments, and return what it prints."""

    def call(*arguments: str, fails: bool = False) -> str:
        done = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    return call


@pytest.fixture
def by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plugins are found that the package installs as programs."""
    monkeypatch.setenv("RLRUN_PLUGIN_PATH", str(Path(sys.executable).parent))
