"""The trackers of docs/notebooks.md, offline, where their packages are installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import rlrun

pytestmark = [pytest.mark.usefixtures("program"), pytest.mark.slow, pytest.mark.filterwarnings("default")]


def act_out(package: str) -> None:
    """Run the snippet that imports the package."""
    text = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if f"import {package}" in c)
    exec(compile(code, f"{package} of notebooks.md", "exec"), {"__name__": "__main__"})


def test_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    act_out("wandb")
    assert len(list(tmp_path.glob("wandb/offline-run-*/*.wandb"))) == 6


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow: Any = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # the package mlflow-skinny has no database
    mlflow.set_tracking_uri((tmp_path / "tracked").as_uri())
    act_out("mlflow")
    runs = mlflow.search_runs(search_all_experiments=True)
    assert sorted(runs["tags.agent"]) == ["psrl"] * 3 + ["q-learning"] * 3
    run = runs[runs["tags.mlflow.runName"] == "chain / psrl / 2"].iloc[0]
    points = mlflow.MlflowClient().get_metric_history(run["run_id"], "reward")
    curves = rlrun.read_results("results/experiment").curves.query(
        "agent == 'psrl' and run == 2 and metric == 'reward'"
    )
    assert [(p.step, p.value) for p in points] == list(zip(curves["step"], curves["value"], strict=True))
