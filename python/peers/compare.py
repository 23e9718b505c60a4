"""Plays the same tasks in rlrun and in its peers, and prints the tables of docs/peers.md.

    python python/peers/compare.py --rlrun rlrun [--update] [TASK...]

Every peer has a virtual environment of its own in dist/peers, made from its file in requirements. With --update
the tables in docs/peers.md are replaced. Times are processor times of all processes, medians over rounds in which
all take turns: other work on the machine changes them less than it changes the time on the clock.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "peers.md"


@dataclass(frozen=True)
class Entry:
    """A way to play a task: its name in the table, its file, what it needs, and how much longer the long play is."""

    name: str
    file: str
    needs: str = ""
    times: int = 3


@dataclass(frozen=True)
class Task:
    """A task: two agents, so many runs of so many steps each."""

    metric: str
    runs: int
    steps: int
    entries: tuple[Entry, ...]


TASKS = {
    "bandit": Task(
        "regret",
        10,
        2000,
        (
            Entry("rlrun", "bandit_rlrun.yaml", times=500),
            Entry("SMPyBandits", "bandit_smpybandits.py", "smpybandits"),
            Entry("MABWiser", "bandit_mabwiser.py", "mabwiser"),
        ),
    ),
    "digits": Task(
        "reward",
        10,
        1000,
        (
            Entry("rlrun", "digits_rlrun.yaml", "contexts", times=20),
            Entry("MABWiser", "digits_mabwiser.py", "mabwiser", times=2),
            Entry("Vowpal Wabbit", "digits_vowpalwabbit.py", "vowpalwabbit"),
        ),
    ),
    "lake": Task(
        "reward",
        10,
        5000,
        (
            Entry("rlrun", "lake_rlrun.yaml", times=500),
            Entry("rlrun, Gymnasium's lake", "lake_bridge.yaml", "bridge"),
            Entry("Gymnasium, as CleanRL", "lake_gymnasium.py", "gymnasium"),
            Entry("rlberry", "lake_rlberry.py", "rlberry"),
        ),
    ),
    "sea": Task(
        "reward",
        10,
        5000,
        (
            Entry("rlrun", "sea_rlrun.yaml", times=500),
            Entry("bsuite", "sea_bsuite.py", "bsuite"),
            Entry("gymnax", "sea_gymnax.py", "gymnax", times=100),
        ),
    ),
}


def main() -> None:
    """Play the tasks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; all by default")
    parser.add_argument("--rlrun", default="rlrun", help="the program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--update", action="store_true", help="put the tables into docs/peers.md")
    arguments = parser.parse_args()
    for name in arguments.tasks or TASKS:
        table = play(TASKS[name], arguments.rlrun, arguments.rounds)
        print(f"{name}\n\n{table}", flush=True)
        if arguments.update:
            mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
            PAGE.write_text(mark.sub(lambda m, t=table: m[1] + t + m[2], PAGE.read_text()))


def play(task: Task, rlrun: str, rounds: int) -> str:
    """Return the table of a task."""
    short: dict[Entry, list[float]] = {entry: [] for entry in task.entries}
    long: dict[Entry, list[float]] = {entry: [] for entry in task.entries}
    result = {}
    for _ in range(rounds):
        for entry in task.entries:
            seconds, result[entry] = run(entry, task, rlrun, task.steps)
            short[entry].append(seconds)
            long[entry].append(run(entry, task, rlrun, task.steps * entry.times)[0])
    text = "| | lines | seconds | steps per second | result |\n|---|---|---|---|---|\n"
    for entry in task.entries:
        start = statistics.median(short[entry])
        more = 2 * task.runs * task.steps * (entry.times - 1)
        speed = more / (statistics.median(long[entry]) - start)
        text += f"| {entry.name} | {lines(HERE / entry.file)} | {start:.2g} | {figure(speed)} | {result[entry]} |\n"
    return text


def figure(x: float) -> str:
    """Return a number with two digits that count."""
    return f"{float(f'{x:.2g}'):,.0f}"


def lines(file: Path) -> int:
    """Return the number of lines of code: those that are not empty and not a comment."""
    return sum(1 for line in file.read_text().splitlines() if re.match(r"\s*[^#\s]", line))


def run(entry: Entry, task: Task, rlrun: str, steps: int) -> tuple[float, str]:
    """Play a task and return the processor time, and the means of the two agents."""
    with tempfile.TemporaryDirectory() as directory:
        environ = {**os.environ, "TMPDIR": directory, "MPLBACKEND": "agg", "GOMAXPROCS": "1", "OMP_NUM_THREADS": "1"}
        python = interpreter(entry.needs)
        before = used()
        if entry.file.endswith(".yaml"):
            environ["RLRUN_PYTHON"] = python
            environ["PATH"] = f"{Path(python).parent}{os.pathsep}{environ['PATH']}"  # the plugins of the package
            sizes = [f"--runs={task.runs}", f"--steps={steps}", "--workers=1", "--out=out", "--quiet"]
            call([rlrun, "run", str(HERE / entry.file), *sizes], directory, environ)
            call([rlrun, "compare", "out", "--metric", task.metric], directory, environ)
            with (Path(directory) / "out" / "summary.csv").open() as f:
                rows = [row for row in csv.DictReader(f) if row["metric"] == task.metric]
            found = [(row["agent"], float(row["mean"])) for row in rows]
        else:
            text = call([python, str(HERE / entry.file), str(task.runs), str(steps)], directory, environ)
            found = [(name, float(x)) for name, x in re.findall(r"^(?:regret|mean reward) of (.*): (\S+)", text, re.M)]
        return used() - before, ", ".join(f"{name}: {x:.3g}" for name, x in found) or "its own evaluation"


def call(command: list[str], directory: str, environ: dict[str, str]) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(command, cwd=directory, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def used() -> float:
    """Return the processor time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def interpreter(needs: str) -> str:
    """Return the Python of a peer, which is installed if it is not there."""
    if not needs:
        return sys.executable
    wanted = HERE / "requirements" / f"{needs}.txt"
    directory = ROOT / "dist" / "peers" / needs
    python = directory / "bin" / "python"
    mark = directory / "installed"
    if not mark.exists() or mark.read_text() != wanted.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", directory], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True, cwd=ROOT)
        mark.write_text(wanted.read_text())
    return str(python)


if __name__ == "__main__":
    main()
