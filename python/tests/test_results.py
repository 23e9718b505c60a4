"""Results as pandas frames, comparisons, and the notebook that draws them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import EXAMPLES

import rlrun

CONFIG = """
runs: 8
steps: 60
seed: 3
record: {points: 12}
environments:
  - {name: chain, plugin: chain}
  - {name: two arms, plugin: bernoulli-bandit, params: {means: [0.3, 0.8]}}
agents:
  - {name: greedy, plugin: q-learning, params: {epsilon: 0}}
  - {name: exploring, plugin: q-learning, params: {epsilon: 0.5}}
  - {name: deciding, plugin: bootstrap-q, exploration: {rule: optimistic, horizon: {gamma: 0.9}}}
output: out
"""


@pytest.fixture(scope="module")
def directory(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("results")
    (directory / "exp.yaml").write_text(CONFIG)
    subprocess.run([program, "run", "exp.yaml", "--quiet"], cwd=directory, check=True)
    return directory / "out"


def test_frames(directory: Path) -> None:
    results = rlrun.read_results(directory)
    assert len(results.runs) == 48
    assert set(results.runs["status"]) == {"ok"}
    assert list(results.runs.columns) == [
        "environment",
        "agent",
        "run",
        "status",
        "steps",
        "episodes",
        "programs",
        "error",
    ]
    assert list(results.curves.columns) == ["environment", "agent", "run", "metric", "step", "value"]
    assert results.curves["value"].notna().all()
    assert results.decisions["explore"].dtype == bool
    assert set(results.decisions["agent"]) == {"deciding"}

    # The means of the curves are those that rlrun computed.
    mean = results.curves.groupby(["environment", "agent", "metric", "step"])["value"].mean()
    table = pd.read_csv(directory / "curves.csv").set_index(["environment", "agent", "metric", "step"])["mean"]
    made = table.index.get_level_values("metric") != "cumulative_reward"  # from rewards, not in records
    pd.testing.assert_series_equal(mean.sort_index(), table[made].sort_index(), check_names=False)

    # And the outcomes those of summary.csv.
    means = results.outcomes.groupby(["environment", "agent", "metric"])["value"].mean()
    summary = pd.read_csv(directory / "summary.csv").set_index(["environment", "agent", "metric"])["mean"]
    pd.testing.assert_series_equal(means.sort_index(), summary.dropna().sort_index(), check_names=False)


def test_steps_to(directory: Path) -> None:
    results = rlrun.read_results(directory)
    levels = {"chain": 1.0, "two arms": 0.5}
    for stays in (True, False):
        got = results.steps_to("reward", levels, stays=stays).set_index(["environment", "agent", "run"])["step"]
        assert len(got) == len(results.runs)
        curves = results.curves[results.curves["metric"] == "reward"]
        for of, part in curves.groupby(["environment", "agent", "run"]):
            values, steps = part["value"].tolist(), part["step"].tolist()
            ahead = [v >= levels[of[0]] for v in values]
            want = [s for k, s in enumerate(steps) if (all(ahead[k:]) if stays else ahead[k])]
            assert got[of] == want[0] if want else pd.isna(got[of])
    below = results.steps_to("regret", {"chain": 1e9, "two arms": 1e9}, below=True)
    assert set(below["step"]) == {results.curves["step"].min()}
    with pytest.raises(ValueError, match="there are no curves of 'x'; there are those of"):
        results.steps_to("x", 1)
    with pytest.raises(ValueError, match="no level for the environment 'two arms'"):
        results.steps_to("reward", {"chain": 1})
    for level in (math.nan, {"chain": 1.0, "two arms": np.float32("nan")}):
        with pytest.raises(ValueError, match=r"the level for the environment '.*' is NaN"):
            results.steps_to("reward", level)
    with pytest.raises(TypeError, match=r"rlrun\.Results\.steps_to: level is 'high', must be"):
        results.steps_to("reward", "high")  # type: ignore[arg-type]
    one = results.steps_to("reward", 0.5)
    for level in (np.float32(0.5), np.float64(0.5)):
        pd.testing.assert_frame_equal(results.steps_to("reward", level), one)


@pytest.mark.parametrize(
    "of",
    [
        {"record": {"metrics": ["episode_return"]}},  # it has no value before the first end of an episode
        {"episodes": 10},  # some runs end with their steps
        {"record": {"metrics": ["evaluation_return"]}, "evaluate": {"every": 20, "episodes": 2}},
    ],
    ids=["episode_return", "episodes", "evaluation_return"],
)
def test_curves_with_points_without_values(program: str, tmp_path: Path, of: dict[str, Any]) -> None:
    config = {"environments": ["frozenlake"], "agents": ["q-learning"], "runs": 4, "steps": 60, "seed": 1, **of}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    curves, sums = results.curves, pd.read_csv(tmp_path / "out" / "curves.csv").set_index(["metric", "step"])
    got = curves.groupby(["metric", "step"])["value"].agg(["mean", "size"])
    got = got[got["size"] == sums["runs"].reindex(got.index)]
    assert len(got) > 0
    np.testing.assert_allclose(got["mean"], sums["mean"].reindex(got.index))
    assert len(results.steps_to(curves["metric"].iloc[0], -1e9)) > 0


def test_results_older_than_their_records(directory: Path, tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415

    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    with sqlite3.connect(copy / "results.db") as database:
        database.execute("DELETE FROM grid WHERE step = 60")
    with pytest.raises(ValueError, match=r"11 values of .* for 10 recorded steps: run rlrun report"):
        _ = rlrun.read_results(copy).curves


def test_damaged_database(directory: Path, tmp_path: Path) -> None:
    import sqlite3  # noqa: PLC0415

    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    with sqlite3.connect(copy / "results.db") as database:
        database.execute("ALTER TABLE outcomes RENAME TO other")
    with pytest.raises(ValueError, match=r"results\.db cannot be read: .*no such table.*rlrun report .* makes it anew"):
        _ = rlrun.read_results(copy).outcomes
    (copy / "results.db").write_text("no database")
    with pytest.raises(ValueError, match=r"results\.db cannot be read: .*rlrun report .* makes it anew"):
        _ = rlrun.read_results(copy).curves


@pytest.mark.parametrize(
    ("table", "column", "read"),
    [
        ("runs", "status", lambda r: r.runs),
        ("runs", "programs", lambda r: r.runs),
        ("failures", "error", lambda r: r.runs),
        ("outcomes", "value", lambda r: r.outcomes),
        ("decisions", "capped", lambda r: r.decisions),
        ("decisions", "numbers", lambda r: r.decisions),
        ("curves", "ci_low", lambda r: r.plot()),
    ],
)
def test_a_database_without_a_column(table: str, column: str, read: Any, directory: Path, tmp_path: Path) -> None:
    """A database of another version, or one that was edited."""
    import sqlite3  # noqa: PLC0415

    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    for change in (f"ALTER TABLE {table} RENAME COLUMN {column} TO elsewhere", f"DROP TABLE {table}"):
        with sqlite3.connect(copy / "results.db") as database:
            database.execute(change)
        with pytest.raises(ValueError, match=r"results\.db cannot be read: .*no such .*makes it anew"):
            read(rlrun.read_results(copy))


@pytest.mark.parametrize("text", ["", "environment,agent,metric,n\nx,y,reward,1\n", "a\nb,c,d\n", "\udcff\udcfe"])
def test_a_damaged_summary(text: str, directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    (copy / "summary.csv").write_text(text, errors="surrogateescape")
    for read in (rlrun.Results._repr_html_, rlrun.Results.plot):
        with pytest.raises(ValueError, match=r"summary\.csv cannot be read: .*rlrun report .* makes it anew"):
            read(rlrun.read_results(copy))


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}'])
def test_damaged_environments(text: str, directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    (copy / "environments.json").write_text(text)
    with pytest.raises(ValueError, match=r"environments\.json is damaged: "):
        rlrun.read_results(copy).plot()


def test_doubled_records_count_once(directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    record = next((copy / "runs").glob("*.jsonl"))
    (copy / "runs" / ("z" + record.name)).write_bytes(record.read_bytes())
    pd.testing.assert_frame_equal(rlrun.read_results(copy).curves, rlrun.read_results(directory).curves)


def test_later_records_are_left_out(directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    path = next((copy / "runs").glob("*.jsonl"))
    line = path.read_text().splitlines()[0]
    record = json.loads(line)
    # Another run, whose experiment nobody has checked, and one that was cut off.
    later = json.dumps({**record, "run": 8, "experiment": "another"}) + "\n" + line[: len(line) // 2]
    (copy / "runs" / "later.jsonl").write_text(later)
    pd.testing.assert_frame_equal(rlrun.read_results(copy).curves, rlrun.read_results(directory).curves)

    # Another record of a run that has one, a damaged one, and one that is gone.
    other = copy / "runs" / "zz.jsonl"  # the last by name
    other.write_text(json.dumps({**record, "experiment": "another"}) + "\n")
    with pytest.raises(ValueError, match=r"zz\.jsonl:1: run \d+ of .* has another record: rlrun report .* says"):
        _ = rlrun.read_results(copy).curves
    for damaged in ("{damaged", "[]", '{"status": "ok"}', line.replace('"curves"', '"other"')):
        other.write_text(damaged + "\n")
        with pytest.raises(ValueError, match=r"zz\.jsonl:1 is damaged .*: rlrun report .* says what to do"):
            _ = rlrun.read_results(copy).curves
    other.unlink()
    path.unlink()
    with pytest.raises(ValueError, match=r"\d+ runs of results\.db have no record: rlrun report .* says what to do"):
        _ = rlrun.read_results(copy).curves


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_and_links_are_refused(directory: Path, tmp_path: Path) -> None:
    """A received directory may have a pipe or a link in place of a file. Reading them would wait, or read another."""
    received = tmp_path / "received"
    shutil.copytree(directory, received)
    (received / "results.db").unlink()
    (received / "results.db").symlink_to(directory / "results.db")
    (received / "summary.csv").unlink()
    os.mkfifo(received / "summary.csv")
    results = rlrun.Results(received)
    for read in (lambda: rlrun.read_results(received), lambda: results.runs, lambda: results.summary):
        with pytest.raises(ValueError, match="is no regular file"):
            read()
    (received / "results.db").unlink()
    shutil.copy(directory / "results.db", received)
    (received / "summary.csv").unlink()
    shutil.copy(directory / "summary.csv", received)
    (received / "environments.json").unlink()
    os.mkfifo(received / "environments.json")
    with pytest.raises(ValueError, match=r"environments\.json is no regular file"):
        rlrun.Results(received).plot("reward")


def test_missing_results(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no experiment\.yaml"):
        rlrun.read_results(tmp_path)
    (tmp_path / "experiment.yaml").touch()
    with pytest.raises(FileNotFoundError, match="rlrun report"):
        rlrun.read_results(tmp_path)


def test_compare(directory: Path) -> None:
    found = rlrun.compare(directory, pairs=("exploring", "greedy"), scores={"two arms": (0.3, 0.8)})
    outcomes = rlrun.read_results(directory).outcomes.query("metric == 'reward'")
    for row in found.comparisons.itertuples():
        here = outcomes[outcomes["environment"] == row.environment].pivot(index="run", columns="agent", values="value")
        d = (here["exploring"] - here["greedy"]).to_numpy()
        assert row.difference == pytest.approx(d.mean(), abs=1e-12)
        signs = np.array(np.meshgrid(*[[-1, 1]] * len(d))).reshape(len(d), -1)
        assert row.p == np.mean(np.abs(d @ signs) >= abs(d.sum()) - 1e-12)
        assert row.win_rate == np.mean((d > 0) + (d == 0) / 2)
    assert set(found.aggregates["aggregate"]) == {"iqm", "mean", "median", "optimality_gap"}
    assert len(found.profile) == 3 * 101
    (better,) = found.improvements.to_dict("records")
    assert (better["a"], better["b"], better["environments"]) == ("exploring", "greedy", 2)
    assert 0 <= better["ci_low"] <= better["value"] <= better["ci_high"] <= 1
    assert sorted(found.ranks["agent"]) == ["deciding", "exploring", "greedy"]
    assert found.ranks["mean_rank"].is_monotonic_increasing
    answer, said = found.answer, repr(found).splitlines()
    assert said[: len(found.comparisons)] == [c["sentence"] for c in answer["comparisons"]]
    assert said[len(found.comparisons) :] == [answer["method"], *(f"Note: {note}" for note in answer["notes"])]
    assert answer["method"].startswith("Verdicts follow from the p values of all 2 comparisons, corrected (Holm), at")
    many = repr(rlrun.Comparison(answer | {"comparisons": answer["comparisons"] * 30})).splitlines()
    assert many[20] == "… and 40 more; .comparisons has all of them."
    best = rlrun.read_results(directory).compare(against="best", margin={"chain": 100.0, "two arms": 1e-9}).comparisons
    assert len(best) == 4
    assert dict(zip(best["environment"], best["equivalent"], strict=True)) == {"chain": True, "two arms": False}
    assert rlrun.compare(directory, margin=100).comparisons["equivalent"].all()
    results = rlrun.read_results(directory)
    found = results.compare(margin=0.1).comparisons
    assert list(found.columns[:5]) == ["environment", "a", "b", "difference", "ci_low"]
    with pytest.raises(ValueError, match=r'^margin must be a positive number, not "-1"$'):
        results.compare(margin=-1)
    with pytest.raises(ValueError, match=r'^difference must be a positive number, not "0"$'):
        results.power(0)
    with pytest.raises(ValueError, match="no agent is called"):
        rlrun.compare(directory, pairs=("greedy", "nobody"))


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_many_comparisons_are_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The program says how far it is, and so does Python. Its other words belong to an error."""
    told = "9 of 99 comparisons, about 10 s left"
    fake = tmp_path / "fake"
    fake.write_text(f"#!/bin/sh\necho 'rlrun: {told}' >&2; echo 'rlrun: no such agent' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("RLRUN", str(fake))
    with pytest.raises(ValueError, match=r"^no such agent$"):
        rlrun.compare("out")
    assert capsys.readouterr().err == told + "\n"


def test_names_in_any_locale(program: str, tmp_path: Path) -> None:
    """What rlrun prints is UTF-8, also where the locale has another encoding."""
    (tmp_path / "exp.yaml").write_text(CONFIG.replace("exploring", "ε-greedy ±"), encoding="utf-8")
    subprocess.run([program, "run", "exp.yaml", "--quiet"], cwd=tmp_path, check=True)
    environ = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "utf-8"}
    script = "import rlrun, rlrun.client as c; c.command('chain'); print(rlrun.compare('out'))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert "ε-greedy ±" in done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_names_that_look_like_something_else(tmp_path: Path) -> None:
    names = ["None", "NA", "1", "true", "+ prior", "=x", "-1", "plain"]
    agents = [{"name": name, "plugin": "q-learning"} for name in names]
    config = {"environments": [{"name": "null", "plugin": "chain"}], "agents": agents, "runs": 2, "steps": 20}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    of = results.summary[results.summary["metric"] == "reward"]
    assert [*of["agent"]] == names
    assert {*of["environment"]} == {"null"}
    assert {*results.runs["agent"]} == {*names}
    for name in names:
        assert f"<th>{name}</th>" in results._repr_html_()
    drawn = [t.get_text() for t in results.plot("reward").legends[0].get_texts()]
    assert [name for name in drawn if name != "optimum"] == names


def test_names_send_nothing_to_the_terminal(tmp_path: Path) -> None:
    sent = "\x1b]0;t\x07\x9b2J\u202e"
    agents = [{"name": f"a{sent}", "plugin": "q-learning", "sweep": {"epsilon": [0.1, 0.5]}}]
    config = {"environments": [{"name": f"e{sent}", "plugin": "chain"}], "agents": agents}
    results = rlrun.run({**config, "runs": 12, "steps": 20}, output=tmp_path / "out", progress=False)
    for text in (repr(results.compare()), repr(rlrun.sensitivity(tmp_path / "out"))):
        assert "a\ufffd]0;t\ufffd\ufffd2J\ufffd" in text
        assert not set("\x1b\x07\x9b\u202e") & set(text)
    (tmp_path / "out" / "runs" / f"a{sent}.jsonl").write_text("{}\n" * 2 + '{"status": "ok"}\n')
    with pytest.raises(ValueError, match="a\ufffd\\]0;t\ufffd\ufffd2J\ufffd\\.jsonl:3 is damaged"):
        _ = results.curves
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "results.db")) as db:  # SQLite says the name
        db.executescript(f'DROP TABLE mixed; CREATE VIEW mixed AS SELECT programs FROM "a{sent}"')
    with pytest.raises(ValueError, match="no such table: main\\.a\ufffd\\]0;t\ufffd\ufffd2J\ufffd"):
        _ = results.mixed


def test_a_view_is_not_read(tmp_path: Path) -> None:
    """It may compute for ever, in a directory that somebody sent."""
    config = {"environments": ["chain"], "agents": ["random"], "runs": 2, "steps": 20}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "results.db")) as db:
        many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5) SELECT x AS programs FROM c"
        db.executescript(f"DROP TABLE mixed; CREATE VIEW mixed AS {many}")
    assert len(results.outcomes) > 0
    with pytest.raises(ValueError, match=r"results.db cannot be read: .*(not authorized|prohibited)"):
        _ = results.mixed


def test_results_that_were_overwritten(tmp_path: Path) -> None:
    config = {"environments": ["chain"], "agents": ["random"], "runs": 2, "steps": 20}
    first = rlrun.run(config, output=tmp_path / "out", progress=False)
    more = rlrun.run(config, output=tmp_path / "out", progress=False, runs=3)
    assert len(first.runs) == len(more.runs) == 3  # of the same experiment
    rlrun.run(config, output=tmp_path / "out", progress=False, seed=2, overwrite=True)
    for read in (lambda: first.summary, lambda: first.outcomes, lambda: more.curves, more.compare):
        with pytest.raises(ValueError, match=r"out was overwritten after these results were returned"):
            read()


def test_results_in_another_working_directory(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory.parent)
    found = rlrun.read_results(directory.name)
    monkeypatch.chdir(tmp_path)
    assert min(len(found.curves), len(found.summary), len(found.compare().comparisons)) > 0
    assert len(found.plot("reward", agents="greedy").axes[0].lines[:1]) == 1  # a name, not its letters


def test_notebook(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook runs from top to bottom and leaves its figures."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in json.loads((EXAMPLES / "paper_figure.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "paper_figure.ipynb", "exec"), names)
    plt.close("all")
    assert (tmp_path / "curves.pdf").stat().st_size > 10_000
    assert (tmp_path / "conclusions.pdf").stat().st_size > 5_000


def test_names_of_the_package_are_completed() -> None:
    assert {"run", "Experiment", "read_results", "tune", "Agent"} <= set(dir(rlrun))
    assert not {"os", "importlib"} & set(dir(rlrun))


def test_decided_comparisons_are_printed_first() -> None:
    rows = [{"sentence": f"{i}", "verdict": "not decided" if i < 30 else "b is better"} for i in range(40)]
    said = repr(rlrun.Comparison({"comparisons": rows, "method": "Holm", "skipped": [], "notes": []})).splitlines()
    assert said[:11] == [*map(str, range(30, 40)), "0"]
    assert said[-2].startswith("… and 20 more")


@pytest.mark.usefixtures("program")
def test_power_says_how_many_runs_decide(tmp_path: Path) -> None:
    config = {
        "environments": ["chain", "riverswim"],
        "agents": ["psrl", "q-learning", "dyna-q"],
        "runs": 12,
        "steps": 200,
    }
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    said = results.power({"chain": 0.5, "riverswim": 0.01}, pairs="all", power=0.9)
    assert len(said) == 6
    assert set(said["alpha"]) == {0.05 / 6}
    assert set(said[said["environment"] == "chain"]["difference"]) == {0.5}
    assert (said["cautious"] >= said["needed"]).all()
    assert results.power(0.1, pairs=["psrl", "dyna-q"])["b"].tolist() == ["dyna-q"] * 2
    with pytest.raises(ValueError, match="difference"):
        results.power(0.0)
