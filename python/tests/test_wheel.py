"""A wheel that carries the program, installed where there is no Go."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from conftest import ROOT

WALK = """
import rlrun

class Coin(rlrun.Environment):
    \"\"\"A coin.\"\"\"

    id = "me/coin@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(2), reward_low=0, reward_high=1, continuing=True)

    def reset(self, seed):
        return 0

    def step(self, action):
        return rlrun.TimeStep(0, float(action))

rlrun.serve(Coin)
"""


@pytest.mark.slow
def test_a_wheel_brings_the_program(program: str, tmp_path: Path):
    def call(*command: str | Path, fails: bool = False, **environ: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    call(*pip, "wheel", "-q", "--no-deps", "-w", "dist", ROOT / "python", RLRUN_BINARY=program, RLRUN_WHEEL_TAG=tag)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name.endswith(f"-py3-none-{tag}.whl")

    call(sys.executable, "-m", "venv", "venv")
    directory = tmp_path / "venv" / "bin"
    call(directory / "python", "-m", "pip", "install", "-q", "--no-deps", wheel)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))  # what the package needs, without a download
    (tmp_path / "coin.py").write_text(WALK)
    (tmp_path / "coin.yaml").write_text(
        "{runs: 2, steps: 20, environments: [{plugin: python, args: [coin.py]}], agents: [{plugin: random}]}"
    )
    alone = {"PATH": str(directory), "RLRUN": "", "RLRUN_PYTHON": ""}
    rlrun = directory / "rlrun"
    assert "2 runs of 20 steps" in call(rlrun, "run", "coin.yaml", **alone)
    assert call(directory / "python", "-m", "rlrun", "version", **alone) == call(rlrun, "version", **alone)
    assert "has no command" in call(directory / "python", "-m", "rlrun", "walk", fails=True, **alone)
    assert (next(site.glob("rlrun-*.dist-info")) / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    origin = call(directory / "python", "-c", "import rlrun; print(rlrun.__file__)", **alone)
    assert Path(origin.strip()).is_relative_to(site)
    assert "needs Go" in call(rlrun, "plugin", "new", "grid", "--lang=go", f"--replace={ROOT}", fails=True, **alone)
    call(rlrun, "plugin", "new", "walk", "--lang=python", **alone)
