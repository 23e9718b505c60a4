"""Notebooks in a kernel of Jupyter, as their readers run them."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES

import rlrun

pytestmark = [pytest.mark.usefixtures("program"), pytest.mark.slow, pytest.mark.filterwarnings("default")]


def client(cells: Any, folder: Path, **options: Any) -> Any:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = cells if isinstance(cells, str) else json.dumps({**EMPTY, "cells": cells})
    return nbclient.NotebookClient(
        nbformat.reads(notebook, as_version=4), timeout=600, resources={"metadata": {"path": str(folder)}}, **options
    )


EMPTY = {"metadata": {"kernelspec": {"name": "python3", "display_name": ""}}, "nbformat": 4, "nbformat_minor": 5}


def code(text: str, number: int) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"c{number}",
        "source": text,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }


def said(cell: Any) -> str:
    shown = ({"text": o.get("text"), **o.get("data", {})} for o in cell["outputs"])
    return "".join(str(o.get(kind) or "") for o in shown for kind in ("text", "text/plain", "text/html"))


def test_first_conclusion(tmp_path: Path) -> None:
    """Ten cells go from an idea to a conclusion."""
    text = (EXAMPLES / "first_conclusion.ipynb").read_text(encoding="utf-8")
    run = client(text, tmp_path)
    run.execute()
    cells = run.nb.cells
    assert len(cells) == 10
    assert "<table" in said(cells[5])
    assert any("image/png" in output.get("data", {}) for output in cells[6].outputs)
    assert (tmp_path / "corridor.pdf").read_bytes().startswith(b"%PDF")
    assert "is better than" in said(cells[7])
    programs = tmp_path / "results" / "corridor" / "programs"
    assert {p.name.partition("-")[0] for p in programs.iterdir()} == {"Corridor", "QLearning"}
    (source,) = programs.glob("QLearning-*.py")
    assert "GAMMA = 0.95" in source.read_text()  # the cell

    # Another kernel has the same classes, and nothing is left to do.
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "results" / "corridor" / "runs").iterdir()}
    client(text, tmp_path).execute()
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "results" / "corridor" / "runs").iterdir()} == before


SLOW = """
import time
import rlrun
class Slow(rlrun.Agent):
    def begin(self, spec, seed):
        pass
    def select_action(self, observation):
        return 0
    def update(self, t):
        time.sleep(0.001)
config = {"environments": ["chain"], "agents": [Slow], "runs": 60, "steps": 500}
"""
RUN = """
def ended(record):
    open("ended", "w").close()
rlrun.run(config, settings={"record.points": 5}, flags=["--lanes=2"], on_run=ended)
"""


def test_the_stop_button(tmp_path: Path) -> None:
    """An interrupt of the kernel keeps what ended, and no later cell runs."""
    run = client([code(SLOW, 0), code(RUN, 1), code("open('later', 'w')", 2)], tmp_path)

    def stop() -> None:
        while not (tmp_path / "ended").exists():
            time.sleep(0.1)
        run.km.provisioner.process.send_signal(2)

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    with pytest.raises(Exception, match=r"interrupted: \d+ of 60 runs are kept in results/experiment") as raised:
        run.execute()
    assert raised.value.ename == "Interrupted"
    thread.join()
    assert not (tmp_path / "later").exists()
    kept = rlrun.read_results(tmp_path / "results" / "experiment").curves["run"].nunique()
    assert 1 <= kept < 60
