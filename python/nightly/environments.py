"""Plays environments that others wrote in rlrun, and prints what happened to each as a table.

    RLRUN=rlrun python python/nightly/environments.py [PACKAGE...]

Every package is installed into a virtual environment of its own, with rlrun[gymnasium]; then its environment is checked
(``rlrun plugin check``) and a bundled agent is trained in it for 500 steps (``rlrun run``). Without PACKAGE: all.
With --here the packages of this Python are taken, and nothing is installed. With --update the rows of the table in
docs/python.md are replaced by the new ones.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1]
PAGE = SOURCE.parent / "docs" / "python.md"
HEADER = "| package | environment | `plugin check` | 500 steps |"
MINUTES = 10


@dataclass
class Case:
    """An environment of a package, and the agent that is to learn in it."""

    package: str
    env: str
    agent: str
    params: dict[str, Any] = field(default_factory=dict)


FLAT = {"wrappers": [{"name": "FlattenObservation"}]}
CASES = [
    Case("gymnasium[toy-text]", "Blackjack-v1", "q-learning"),
    Case(
        "minigrid",
        "minigrid:MiniGrid-Empty-5x5-v0",
        "sarsa-linear",
        {"wrappers": [{"name": "minigrid.wrappers:ImgObsWrapper"}, {"name": "FlattenObservation"}]},
    ),
    Case("minatar", "MinAtar/Breakout-v1", "sarsa-linear", {"import": "minatar.gym"} | FLAT),
    Case("shimmy[bsuite]", "shimmy:bsuite/catch-v0", "sarsa-linear", FLAT),
    Case("gymnasium[box2d]", "LunarLander-v3", "sarsa-linear"),
    Case("gymnasium[box2d]", "BipedalWalker-v3", "random", {"remake": True}),
    Case("gymnasium[mujoco]", "InvertedPendulum-v5", "sarsa-linear"),
    Case("ale-py", "ale_py:ALE/Breakout-v5", "sarsa-linear", {"obs_type": "ram"}),
    Case("highway-env", "highway_env:highway-v0", "sarsa-linear", FLAT),
    Case("gymnasium-robotics", "gymnasium_robotics:PointMaze_UMaze-v3", "sarsa-linear"),
    Case("gymnasium[jax]", "phys2d/CartPole-v1", "sarsa-linear"),
    Case(
        "mo-gymnasium",
        "mo_gymnasium:deep-sea-treasure-v0",
        "sarsa-linear",
        {"wrappers": [{"name": "mo_gymnasium.wrappers:LinearReward", "kwargs": {"weight": [0.8, 0.2]}}]},
    ),
    Case("popgym", "popgym:popgym-HigherLowerEasy-v0", "q-learning"),
    Case("popgym", "popgym:popgym-BattleshipEasy-v0", "q-learning"),
    Case("flappy-bird-gymnasium", "flappy_bird_gymnasium:FlappyBird-v0", "sarsa-linear", {"use_lidar": False}),
    Case("gym-simplegrid", "gym_simplegrid:SimpleGrid-4x4-v0", "q-learning"),
    Case("panda-gym", "panda_gym:PandaReach-v3", "random"),
    Case("tetris-gymnasium", "tetris_gymnasium/Tetris", "sarsa-linear", {"import": "tetris_gymnasium.envs"} | FLAT),
    Case("gym-anytrading", "gym_anytrading:stocks-v0", "sarsa-linear"),
    Case("vizdoom", "vizdoom.gymnasium_wrapper:VizdoomBasic-v1", "sarsa-linear", FLAT),
    Case("lbforaging", "lbforaging:Foraging-8x8-2p-1f-v3", "random"),
]


def main() -> None:
    """Try the packages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--here", action="store_true", help="take the packages of this Python")
    parser.add_argument("--update", action="store_true", help="put the rows into docs/python.md")
    arguments = parser.parse_args()
    print("| package | environment | `plugin check` | 500 steps |\n|---|---|---|---|")
    failed = False
    for case in CASES:
        if arguments.packages and case.package not in arguments.packages:
            continue
        with tempfile.TemporaryDirectory() as directory:
            checked, trained, ok = attempt(case, Path(directory), arguments.here)
        failed = failed or not ok
        row = f"| {case.package} | `{case.env}` | {checked} | {trained} |"
        print(row, flush=True)
        if arguments.update:
            update(row)
    sys.exit(failed)


def update(row: str) -> None:
    """Put a row of the table into docs/python.md, in the order of the cases."""
    lines = PAGE.read_text().splitlines()
    begin = lines.index("|---|---|---|---|", lines.index(HEADER)) + 1
    end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("|"))
    rows = {name(line): line for line in lines[begin:end]} | {name(row): row}
    order = [f"`{c.env}`" for c in CASES]
    lines[begin:end] = [rows[env] for env in order if env in rows]
    PAGE.write_text("\n".join(lines) + "\n")


def name(row: str) -> str:
    """Return the second cell of a row, its environment."""
    return row.split(" | ")[1]


def attempt(case: Case, directory: Path, here: bool) -> tuple[str, str, bool]:
    """Return how the check and the training went, and whether neither broke other than by a refusal."""
    python = sys.executable
    if not here:
        python = str(directory / "venv" / "bin" / "python")
        subprocess.run([sys.executable, "-m", "venv", directory / "venv"], check=True)
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{SOURCE}[gymnasium]"]
        done = subprocess.run([*install, case.package], capture_output=True, text=True, check=False)
        if done.returncode:
            return "cannot be installed", last(done.stderr), False
    environ = dict(os.environ) | {"RLRUN_PYTHON": python}
    rlrun = os.environ.get("RLRUN", "rlrun")

    def call(*words: str) -> tuple[int, str]:
        try:
            done = subprocess.run(
                [rlrun, *words],
                env=environ,
                cwd=directory,
                capture_output=True,
                text=True,
                check=False,
                timeout=60 * MINUTES,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return 1, f"not done within {MINUTES} minutes"
        return done.returncode, done.stderr or done.stdout

    given = [f"--param={key}={json.dumps(value)}" for key, value in case.params.items()]
    check = ("plugin", "check", "--lanes=16", "--time=3m", f"--timeout={MINUTES}m")
    status, text = call(*check, f"gymnasium:{case.env}", *given)
    checked, passes = verdict(status, "keeps every rule", text)
    config = {
        "runs": 1,
        "steps": 500,
        "environments": [{"name": "it", "plugin": f"gymnasium:{case.env}", "params": case.params}],
        "agents": [{"plugin": case.agent}],
        "limits": {"start": f"{MINUTES}m"},
    }
    (directory / "try.yaml").write_text(json.dumps(config))
    trains, text = call("run", "try.yaml")
    trained, learns = verdict(trains, f"{case.agent} {'plays' if case.agent == 'random' else 'trains'}", text)
    return checked, trained, passes and learns


REASONS = ("it is for finite tasks", "it is for observations", "needs discrete actions", "rlrun takes one number")


def verdict(status: int, success: str, text: str) -> tuple[str, bool]:
    """Return a cell of the table, and whether rlrun succeeded or refused for one of the known reasons."""
    if status == 0:
        return success, True
    for line in text.splitlines():
        if any(reason in line for reason in REASONS):
            return f"refused: {last(line)}", True
    return last(text), False


def last(text: str) -> str:
    """Return the last line that rlrun wrote, else the last of all, as a cell of a table."""
    lines = text.strip().splitlines() or ["nothing"]
    lines = [line for line in lines if line.startswith("rlrun: ")] or lines
    return lines[-1].removeprefix("rlrun: ").replace("|", "\\|")[:240]


if __name__ == "__main__":
    main()
