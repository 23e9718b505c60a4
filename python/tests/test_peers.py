"""The scripts of docs/peers.md."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "python" / "peers"


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("compare", PEERS / "compare.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["compare"]


def test_the_page_has_every_tool_and_its_lines(compare):
    page = (ROOT / "docs" / "peers.md").read_text()
    for name, task in compare.TASKS.items():
        table = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
        rows = {cells[0]: cells[1] for cells in (line.strip("| ").split(" | ") for line in table.splitlines()[2:])}
        assert rows == {entry.name: str(compare.lines(PEERS / entry.file)) for entry in task.entries}


def test_versions_are_pinned():
    for file in (PEERS / "requirements").iterdir():
        for line in file.read_text().splitlines():
            assert line in ("./python", "./python[contexts]") or re.fullmatch(r"[\w-]+==[\d.]+", line), (
                f"{file.name}: {line}"
            )


def test_python_scripts_are_python(compare):
    for task in compare.TASKS.values():
        for entry in task.entries:
            if entry.file.endswith(".py"):
                compile((PEERS / entry.file).read_text(), entry.file, "exec")


def test_a_peer_plays():
    pytest.importorskip("gymnasium")
    done = subprocess.run(
        [sys.executable, PEERS / "lake_gymnasium.py", "2", "50"], capture_output=True, text=True, check=True
    )
    assert re.findall(r"^mean reward of (.*): [\d.e-]+ ± [\d.e-]+$", done.stdout, re.M) == ["ε = 0.1", "ε = 0.3"]


def test_rlrun_has_the_results_of_the_page(compare, run):
    """A default that changes must not change what is compared."""
    page = (ROOT / "docs" / "peers.md").read_text()
    for name, task in compare.TASKS.items():
        for entry in task.entries:
            if entry.name == "rlrun" and not entry.needs:
                size = ["--runs", str(task.runs), "--steps", str(task.steps)]
                summary = json.loads(run("run", str(PEERS / entry.file), *size, "--out", name, "--json"))["summary"]
                rows = [row for row in summary if row["metric"] == task.metric]
                found = ", ".join(f"{row['agent']}: {row['mean']:.3g}" for row in rows)
                table = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
                assert f"| {found} |" in table


@pytest.mark.slow
def test_rlrun_plays(compare, run, by_name):
    pytest.importorskip("sklearn")
    for name, task in compare.TASKS.items():
        file = next(entry.file for entry in task.entries if entry.file.endswith("_rlrun.yaml"))
        out = run("run", str(PEERS / file), "--runs", "2", "--steps", "20", "--out", name, "--json")
        assert task.metric in out
