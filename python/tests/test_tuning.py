"""Searches for settings, and how much agents owe to them."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlrun
from rlrun import _commands
from rlrun._goodness import values_of
from rlrun._sensitivity import _measures
from rlrun.tuning import _every, _ordered, _Range, _Search, _settings

pytestmark = pytest.mark.usefixtures("program")

RANGES = {
    "step": {"low": 0.01, "high": 1, "log": True},
    "policy": {"values": ["epsilon-greedy", "softmax"]},
    "epsilon": {"low": 0.001, "high": 0.5, "log": True, "when": {"policy": "epsilon-greedy"}},
    "temperature": {"low": 0.01, "high": 1, "log": True, "when": {"policy": "softmax"}},
}


def config(**tune: Any) -> dict[str, Any]:
    return {
        "environments": [{"plugin": "chain"}],
        "agents": [{"plugin": "q-learning"}, {"plugin": "dyna-q"}],
        "runs": 6,
        "steps": 300,
        "tune": {"trials": 12, "runs": 8, "agents": {"q-learning": RANGES}} | tune,
    }


def test_search(tmp_path):
    found = rlrun.tune(config(), output=tmp_path, progress=False)
    trials = found.trials
    assert len(trials) == 12
    assert set(trials["state"]) == {"complete", "pruned"}
    assert (trials.query("state == 'complete'")["runs"] == 8).all()
    assert (trials.query("state == 'pruned'")["runs"] < 8).all()
    best = trials.query("state == 'complete'").sort_values("score").iloc[-1]
    assert found.best["q-learning"]["step"] == best["step"]
    assert ("epsilon" in found.best["q-learning"]) == (best["policy"] == "epsilon-greedy")
    # Selection seeds are not evaluation seeds.
    assert (found.results.runs.groupby("agent").size() == 6).all()
    evaluation = (tmp_path / "evaluation" / "experiment.yaml").read_text(encoding="utf-8")
    assert "seed: 1\n" in evaluation
    for path in (tmp_path / "search").iterdir():
        assert "seed: 1\n" not in (path / "experiment.yaml").read_text(encoding="utf-8")
    said = repr(found)
    assert 0 < said.index("  chain, q-learning: ") < said.index("  chain, dyna-q: ")  # as in the config
    # Done again, it makes no run and finds the same.
    ages = {path: path.stat().st_mtime_ns for path in tmp_path.glob("**/*.jsonl")}
    again = rlrun.tune(config(), output=tmp_path, progress=False)
    assert again.trials.equals(trials)
    assert ages == {path: path.stat().st_mtime_ns for path in tmp_path.glob("**/*.jsonl")}


def test_better_settings_win(tmp_path):
    """A setting that can only do harm, a random action in every step, is not chosen."""
    ranges = {"epsilon": {"values": [1, 0.1]}}
    found = rlrun.tune(config(agents={"q-learning": ranges}, trials=6, sampler="random"), output=tmp_path)
    assert found.best["q-learning"] == {"epsilon": 0.1}


@pytest.mark.parametrize("sampler", ["cma-es", "random"])
def test_samplers(tmp_path, sampler):
    ranges = {"step": RANGES["step"], "epsilon": {"low": 0.0, "high": 0.5}}
    found = rlrun.tune(config(agents={"q-learning": ranges}, sampler=sampler, trials=9), output=tmp_path)
    assert found.trials["step"].between(0.01, 1).all()


def test_the_setting_of_the_config_is_the_first(tmp_path):
    c = config(agents={"q-learning": {"step": RANGES["step"]}}, trials=2, halving=False)
    c["agents"][0]["params"] = {"step": 0.123}
    assert rlrun.tune(c, output=tmp_path, progress=False).trials["step"][0] == 0.123


def test_the_setting_of_the_config_is_one_of_the_ranges(tmp_path):
    c = config(trials=4, halving=False)
    c["agents"][0]["params"] = {"policy": "softmax", "step": 0.5, "temperature": 0.2}
    first = rlrun.tune(c, output=tmp_path, progress=False).tried[0].settings
    assert first == {"policy": "softmax", "step": 0.5, "temperature": 0.2}
    c["agents"][0]["params"]["temperature"] = 5
    with pytest.raises(
        ValueError, match=r"agents\[0\].params.temperature: 5 is outside of the range of tune, 0.01 to 1"
    ):
        rlrun.tune(c, output=tmp_path / "b", progress=False)


def test_agents_have_names_of_their_own(tmp_path):
    c = config()
    c["agents"].append({"plugin": "q-learning", "params": {"gamma": 0.5}})
    with pytest.raises(ValueError, match=r"agents\[2\].name: two agents are called q-learning"):
        rlrun.tune(c, output=tmp_path, progress=False)


def test_the_search_measures_what_the_comparison_measures(tmp_path):
    """A mean over the recorded points, of which the search has as many as the comparison."""
    c = config(
        trials=2, runs=4, halving=False, metric="episode_return", agents={"q-learning": {"step": RANGES["step"]}}
    )
    c |= {"environments": [{"plugin": "frozenlake"}], "steps": 2000, "record": {"grid": "every", "every": 20}}
    found = rlrun.tune(c, output=tmp_path, progress=False)
    plain = {key: value for key, value in c.items() if key != "tune"} | {"runs": 4, "seed": 2}
    plain["agents"] = [{"plugin": "q-learning", "params": found.tried[0].settings}]
    again = rlrun.run(plain, output=tmp_path / "again", progress=False).outcomes
    mean = again.query("metric == 'episode_return'")["value"].mean()
    assert found.tried[0].score == pytest.approx(mean, rel=1e-12)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_goes_on(tmp_path, program, sent):
    c = config(trials=4, runs=4) | {
        "steps": 200_000,
        "output": str(tmp_path / "out"),
        "agents": [{"plugin": "q-learning"}],
    }
    (tmp_path / "c.yaml").write_text(json.dumps(c))
    command = [program, "tune", str(tmp_path / "c.yaml"), "--quiet", "--workers", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while not (tmp_path / "out" / "search").exists():
            time.sleep(0.01)
        process.send_signal(sent)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.endswith("interrupted: the same command goes on\n")
    c["steps"] = 200
    (tmp_path / "c.yaml").write_text(json.dumps(c | {"output": str(tmp_path / "again")}))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_a_search_grows(tmp_path):
    def search(trials: int, runs: int, output: str, **options: Any) -> Any:
        few = config(trials=trials, runs=3) | {"runs": runs, "steps": 60}
        return rlrun.tune(few, output=tmp_path / output, progress=False, **options)

    search(8, 4, "grown")
    records = {path: path.read_bytes() for path in tmp_path.glob("grown/search/*/runs/*.jsonl")}
    grown, whole = search(16, 6, "grown"), search(16, 6, "whole")
    assert grown.trials.equals(whole.trials)
    assert len(grown.trials) == 16
    assert grown.results.outcomes.equals(whole.results.outcomes)
    assert records.items() <= {path: path.read_bytes() for path in tmp_path.glob("grown/search/*/runs/*.jsonl")}.items()
    assert len(rlrun.read_results(tmp_path / "grown" / "evaluation-8").runs) == 2 * 4
    told = json.loads((tmp_path / "grown" / "tune.json").read_text(encoding="utf-8"))
    assert (told["tune"]["trials"], told["runs"]) == (16, 6)
    for trials, runs, key in ((8, 6, "tune.trials was 16 and is now 8"), (20, 6, "trials"), (16, 5, "runs was 6")):
        with pytest.raises(
            ValueError, match=f"has another search: .*{key}.*grows by more trials, from a multiple of 8"
        ):
            search(trials, runs, "grown")
    (tmp_path / "grown" / "evaluation-mine").mkdir()
    (tmp_path / "grown" / "evaluation-mine" / "notes.txt").write_text("kept")
    assert search(8, 4, "grown", overwrite=True).trials.equals(search(8, 4, "afresh").trials)
    found = ({path.name for path in (tmp_path / name).iterdir()} for name in ("grown", "afresh"))
    assert next(found) - next(found) == {"evaluation-mine"}
    assert (tmp_path / "grown" / "evaluation-mine" / "notes.txt").read_text() == "kept"


@pytest.mark.parametrize("text", ["[1]", "{", '{"tune": 7}', "7"])
def test_a_damaged_search(tmp_path, text):
    (tmp_path / "tune.json").write_text(text)
    with pytest.raises(ValueError, match=r"is damaged: .*choose another output directory"):
        rlrun.tune(config(), output=tmp_path, progress=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_no_search(tmp_path):
    os.mkfifo(tmp_path / "tune.json")
    with pytest.raises(ValueError, match=r"tune\.json is no regular file"):
        rlrun.tune(config(), output=tmp_path, progress=False)


@pytest.mark.parametrize("name", ["search", "evaluation", "trials.csv", "search/00000-0"])
def test_nothing_is_written_through_a_link(tmp_path, name):
    (tmp_path / "mine").mkdir()
    link = tmp_path / "out" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "mine")
    with pytest.raises(ValueError, match="is a link"):
        rlrun.tune(config(), output=tmp_path / "out", progress=False)
    assert not list((tmp_path / "mine").iterdir())


def test_several_environments_have_scores(tmp_path):
    c = config(trials=4, halving=False)
    c["environments"] = [{"plugin": "chain"}, {"plugin": "riverswim"}]
    found = rlrun.tune(c, output=tmp_path, progress=False)
    assert (found.trials["score"] < 1).all()  # chain alone earns more than 1 in every step
    c["tune"]["metric"] = "discounted_return"
    with pytest.raises(ValueError, match=r"chain has no known scale for .*: search in each environment alone"):
        rlrun.tune(c, output=tmp_path / "b", progress=False)


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ({"agents": {}}, "tune.agents: is missing"),
        ({"agents": {"q-learning": {}}}, "tune.agents.q-learning: has no ranges"),
        ({"agents": {"sarsa": RANGES}}, "tune.agents.sarsa: there is no agent sarsa"),
        ({"trials": 1}, "tune.trials: must be at least 2"),
        ({"sampler": "grid"}, "tune.sampler: must be tpe, cma-es or random"),
        ({"budget": 3}, "tune.budget: unknown key"),
        ({"halving": "false"}, "tune.halving: must be true or false"),
        ({"metric": None}, "tune.metric: has no value"),
        ({"agents": {"q-learning": [1]}}, "tune.agents.q-learning: must be a mapping"),
        ({"agents": {"q-learning": {"step": {"values": 3}}}}, "step.values: must be a list"),
        ({"agents": {"q-learning": {"step": {"low": 0.1, "high": 1, "log": "false"}}}}, "step.log: must be true or"),
        ({"agents": {"q-learning": {"step": {"low": 0.1, "high": 1, "when": ["policy"]}}}}, "step.when: must be a map"),
        ({"agents": {"q-learning": {"step": {"low": 1, "high": 1}}}}, "step: low must be less than high"),
        ({"agents": {"q-learning": {"step": {"low": 0, "high": 1, "log": True}}}}, "step.low: must be positive"),
        ({"agents": {"q-learning": {"step": {"low": 0.1}}}}, "step.high: is missing"),
        ({"agents": {"q-learning": {"step": {"low": 0.1, "high": float("nan")}}}}, "step.high is nan, and"),
        ({"agents": {"q-learning": {"step": {"values": [1, 1]}}}}, "step.values: needs two different values"),
        ({"agents": {"q-learning": {"step": {"values": [1, 1.0]}}}}, "step.values: needs two different values"),
        ({"agents": {"q-learning": {"step": {"values": [1, 2], "log": True}}}}, "step.log: has no effect"),
        ({"agents": {"q-learning": {"step": {"low": 1, "high": 2.5, "integer": True}}}}, "must be whole numbers"),
        ({"agents": {"q-learning": {"step": {"low": 1, "high": 2, "when": {"x": 1}}}}}, "when: x has no range"),
        (
            {"agents": {"q-learning": {"a.b": {"low": 1, "high": 2}, "a": {"values": [1, 2]}}}},
            "a.b: is inside a, which",
        ),
        ({"agents": {"q-learning": {"step": {"low": 1, "high": 2, "when": {"step": 1}}}}}, "depends on itself"),
        (
            {"agents": {"q-learning": RANGES | {"epsilon": {"low": 0, "high": 1, "when": {"policy": "softmx"}}}}},
            "epsilon.when.policy: 'softmx' is none of the values",
        ),
        ({"sampler": "cma-es"}, "tune.agents.q-learning.policy: cma-es is for numbers without when"),
    ],
)
def test_what_is_wrong_has_its_key(tmp_path, tune, message):
    with pytest.raises(ValueError, match=message) as found:
        rlrun.tune(config(**tune), output=tmp_path, progress=False)
    if "is nan" not in message:  # which JSON has no word for
        assert isinstance(found.value, rlrun.ExperimentError)
        assert found.value.path
        assert str(found.value).startswith(f"{found.value.path}: ")


def test_a_setting_that_is_refused_is_named(tmp_path):
    ranges = {"step": {"low": 2, "high": 3}}
    with pytest.raises(
        rlrun.ExperimentError, match=r"tune.agents.q-learning: the setting .* params.step: must be at most 1"
    ):
        rlrun.tune(config(agents={"q-learning": ranges}), output=tmp_path, progress=False)
    for key, message in {
        "stp": "stp: unknown key; did you mean step",
        "exploration.horizn.gamma": "exploration.horizn.gamma: exploration.horizn: unknown key; did you mean horizon",
    }.items():
        with pytest.raises(rlrun.ExperimentError, match=rf"^tune.agents.q-learning.{message}\?$") as e:
            rlrun.tune(config(agents={"q-learning": {key: ranges["step"]}}), output=tmp_path, progress=False)
        assert e.value.path == f"tune.agents.q-learning.{key}"


@pytest.mark.slow
def test_classes_and_failing_settings(tmp_path):
    class Fixed(rlrun.Agent):
        arm: int = rlrun.param(0, "The action.", minimum=0, maximum=3)

        def __init__(self, arm: int = 0) -> None:
            self.arm = arm

        def begin(self, spec, seed):
            self.n = spec.action.n

        def select_action(self, observation):
            return min(self.arm, self.n - 1)

        def update(self, t):
            if self.arm >= self.n:
                raise ValueError("no such arm")

    c = {
        "environments": [{"plugin": "bernoulli-bandit", "params": {"means": [0.2, 0.9]}}],
        "agents": [{"plugin": Fixed, "name": "fixed"}],
        "runs": 4,
        "steps": 20,
        "tune": {"trials": 4, "runs": 2, "agents": {"fixed": {"arm": {"low": 0, "high": 3, "integer": True}}}},
    }
    found = rlrun.tune(c, output=tmp_path, progress=False)
    failed = found.trials.query("arm >= 2")
    assert (failed["state"] == "failed").all()
    assert found.best["fixed"]["arm"] == found.trials.query("arm < 2")["arm"].max()


@pytest.mark.slow
def test_settings_whose_runs_have_no_value_are_named(tmp_path):
    """Action 2 stays for ever, so that no episode ends; the answer for the host has no NaN."""
    model = tmp_path / "model.json"
    model.write_text(
        '{"S": 2, "A": 3, "terminal": [1], "transitions": [[0, 0, 1, 1], [0, 1, 1, 1], [0, 2, 0, 1]], '
        '"rewards": [[0, 0, 1]]}'
    )

    class Fixed(rlrun.Agent):
        def __init__(self, arm: int = 0) -> None:
            self.arm = arm

        def begin(self, spec, seed): ...
        def select_action(self, observation):
            return self.arm

        def update(self, t): ...

    c = {
        "environments": [{"plugin": "model", "params": {"file": str(model)}}],
        "agents": [{"plugin": Fixed, "name": "fixed"}],
        "runs": 2,
        "steps": 30,
        "episodes": 5,
        "output": str(tmp_path / "out"),
        "tune": {"trials": 3, "runs": 2, "agents": {"fixed": {"arm": {"low": 0, "high": 2, "integer": True}}}},
    }
    answer = _commands._tune(c, progress=False, lock="")
    assert "1 of them failed and could not be chosen, the first: 2 of 2 runs have no reward" in answer["text"]
    assert "raise steps" in answer["text"]
    c["agents"].append({"plugin": Fixed, "name": "stays", "params": {"arm": 2}})
    c["output"] = str(tmp_path / "two")
    assert "stays: reward not known" in _commands._tune(c, progress=False, lock="")["text"]
    json.dumps(answer, allow_nan=False, default=str)
    assert sorted(str(t["score"]) for t in answer["json"]["trials"]) == ["0.0", "1.0", "None"]


@pytest.mark.slow
def test_a_metric_that_must_be_listed_is_compared(tmp_path):
    c = config(
        trials=2, runs=2, metric="simple_regret", agents={"bandit": {"policy.epsilon": {"low": 0.1, "high": 0.9}}}
    )
    c |= {"environments": ["bernoulli-bandit"], "steps": 50}
    c["agents"] = [{"plugin": "bandit", "params": {"policy": {"kind": "epsilon-greedy"}}}]
    assert "bandit: simple_regret 0." in repr(rlrun.tune(c, output=tmp_path, progress=False))


@pytest.mark.slow
@pytest.mark.parametrize("trials", [2, 8])  # in one stage, and in several
def test_if_every_setting_fails_the_error_is_told(tmp_path, trials):
    class Fails(rlrun.Agent):
        def __init__(self, x: float = 0) -> None: ...
        def begin(self, spec, seed): ...
        def select_action(self, observation):
            raise ValueError("boom")

        def update(self, t): ...

    c = config(agents={"Fails": {"x": {"low": 0, "high": 1}}}, trials=trials)
    c |= {"agents": [Fails], "limits": {"retries": 0}}  # replays would fail too, with a process each
    with pytest.raises(rlrun.ExperimentError, match=r"every setting of Fails .* the first: .*ValueError: boom"):
        rlrun.tune(c, output=tmp_path, progress=False)


def test_ranges_of_numpy(tmp_path):
    step = {"low": np.float32(0.25), "high": np.int64(1)}
    found = rlrun.tune(config(agents={"q-learning": {"step": step}}, trials=2, runs=2), output=tmp_path, progress=False)
    assert found.trials["step"].between(0.25, 1).all()


def test_ranges_come_after_those_that_they_depend_on():
    class Trial:
        def suggest_float(self, key, low, high, log):
            return low

        def suggest_categorical(self, key, values):
            return values[0]

    ranges = _ordered("", {key: _Range.of("", key, spec) for key, spec in reversed(list(RANGES.items()))})
    assert set(_settings(ranges, Trial())) == {"step", "policy", "epsilon"}


def test_stages():
    def stages(settings: int, **tune: Any) -> list[int]:
        return _Search(config(**tune), Path(), False)._stages(settings)

    assert stages(8, runs=16) == [4, 8, 16]
    assert stages(4, runs=16) == [8, 16]
    assert stages(2, runs=16) == [16]
    assert stages(8, runs=16, halving=False) == [16]
    assert stages(8, runs=3) == [2, 3]


def test_sensitivity_of_noise_is_none():
    """Of equal settings the best looks better than it is; on other runs it is as the others are."""
    rng = np.random.default_rng(1)
    found = [_measures(rng.normal(size=(16, 2, 10)), splits=50, samples=2) for _ in range(60)]
    tuned, one, best = (np.mean([m[name] for m in found]) for name in ("tuned", "one", "best"))
    assert best > 0.2  # the largest of ten means of 32 values
    assert abs(tuned) < 0.1  # 4 standard errors
    assert abs(one) < 0.1


def test_sensitivity_of_known_settings():
    """Two settings, each the best of one environment: tuning for each brings half of the difference."""
    values = np.random.default_rng(1).normal(scale=0.01, size=(20, 2, 2)) + np.array([[1, 0], [0, 1]])
    m = _measures(values)
    assert m["tuned"] == pytest.approx(1, abs=0.02)
    assert m["one"] == pytest.approx(0.5, abs=0.02)
    assert m["sensitivity"] == pytest.approx(0.5, abs=0.02)
    assert m["sensitivity_ci_low"] <= m["sensitivity"] <= m["sensitivity_ci_high"]


def test_sensitivity_does_not_depend_on_the_order_of_settings():
    values = np.random.default_rng(1).integers(2, size=(12, 2, 4)).astype(float)  # with ties
    m, turned = _measures(values), _measures(values[:, :, ::-1])
    assert {k: pytest.approx(v, nan_ok=True) for k, v in m.items()} == turned


def test_settings_that_do_the_same_have_no_sensitivity():
    """Means of the same values differ by their rounding alone, which is no difference."""
    values = np.random.default_rng(1).random(size=(12, 3, 1)).repeat(7, axis=2)
    m = _measures(values)
    assert m["sensitivity"] == 0
    assert math.isnan(m["sensitivity_ci_low"])  # an interval of no width is not certainty
    assert math.isnan(m["sensitivity_ci_high"])


def test_one_environment_has_no_sensitivity():
    m = _measures(np.random.default_rng(1).normal(size=(12, 1, 4)))
    assert np.isnan(m["sensitivity"])
    assert m["tuned"] == m["one"]


@pytest.mark.slow
def test_sensitivity(tmp_path):
    sweep = {"plugin": "q-learning", "sweep": {"step": [0.01, 0.5], "epsilon": [0.1, 1]}}
    c = {"environments": [{"plugin": "chain"}], "agents": [{"plugin": "random"}, sweep], "runs": 12, "steps": 300}
    rlrun.run(c, output=tmp_path / "a", progress=False)
    rlrun.compare(tmp_path / "a", metric="regret")
    files = [(tmp_path / "a" / name).read_bytes() for name in ("comparisons.csv", "results.db")]
    found = rlrun.sensitivity(tmp_path / "a")
    assert files == [(tmp_path / "a" / name).read_bytes() for name in ("comparisons.csv", "results.db")]
    assert list(found.table["agent"]) == ["q-learning"]
    assert found.table["settings"][0] == 4
    assert found.table["runs"][0] == 12
    assert "4 settings, 12 runs" in repr(found)

    class Failing(rlrun.Agent):
        def begin(self, spec, seed): ...
        def update(self, t): ...
        def select_action(self, observation):
            raise ValueError("no")

    c["agents"] = [Failing, sweep, "psrl"]
    with pytest.raises(rlrun.ExperimentError):
        rlrun.run(c, output=tmp_path / "c", progress=False)
    assert rlrun.sensitivity(tmp_path / "c").table.equals(found.table)
    c["environments"], c["agents"] = ["chain", "deepsea"], [sweep]
    results = rlrun.run(c, output=tmp_path / "d", progress=False)
    with pytest.raises(ValueError, match=r"--scores 'chain=LOW,HIGH', in Python scores=\{'chain': \(LOW, HIGH\)\}$"):
        results.sensitivity(metric="discounted_return")
    scores = {"chain": (0, 300), "deepsea": (0, 1)}
    assert results.sensitivity(metric="discounted_return", scores=scores).table["one"][0] > 0
    c["agents"] = ["random"]
    rlrun.run(c, output=tmp_path / "b", progress=False)
    with pytest.raises(ValueError, match=r"no agent of .* has a sweep"):
        rlrun.sensitivity(tmp_path / "b")


@pytest.mark.parametrize("budget", [{"steps": 600}, {"steps": 600, "episodes": 120}])
def test_times_that_do_not_come_count_with_the_length_of_the_run(tmp_path, budget):
    rlrun.run(
        {
            **budget,
            "runs": 12,
            "environments": [{"plugin": "deepsea", "params": {"size": 5, "mapped": True}}],
            "agents": [{"plugin": "q-learning", "name": "{epsilon}", "sweep": {"epsilon": [0.05, 0.5]}}],
            "record": {"metrics": ["environment.solved_at"]},
        },
        output=tmp_path / "out",
        progress=False,
    )
    results = rlrun.read_results(tmp_path / "out")
    summary = results.summary.query("metric == 'environment.solved_at'")
    assert summary["censored"].sum() > 0
    row = rlrun.sensitivity(tmp_path / "out", metric="environment.solved_at").table.iloc[0]
    assert (row["runs"], row["left_out"]) == (12, 0)
    assert row["best"] == pytest.approx(-summary["mean"].min())


def test_a_run_that_ended_before_its_episodes_has_no_time(tmp_path):
    results = rlrun.run(
        {
            "runs": 3,
            "steps": 20,
            "episodes": 9,
            "environments": [{"plugin": "deepsea", "params": {"size": 5}}],
            "agents": ["q-learning"],
        },
        output=tmp_path / "out",
        progress=False,
    )
    assert values_of(results, "environment.solved_at").empty


def test_sensitivity_says_which_runs_it_leaves_out(tmp_path):
    """A run that reached its most steps before its last episode has no value in one setting, and counts in none."""
    c = {
        "runs": 20, "steps": 110, "episodes": 12, "outputs": ["sqlite"], "environments": [{"plugin": "frozenlake"}],
        "agents": [{"plugin": "q-learning", "sweep": {"step": [0.01, 0.5]}}],
    }  # fmt: skip
    results = rlrun.run(c, output=tmp_path / "a", progress=False)
    rewards = results.outcomes.query("metric == 'reward'")
    without = rewards[rewards["value"].isna()]["run"].nunique()
    found = rlrun.sensitivity(tmp_path / "a")
    assert found.table["left_out"][0] == without > 0
    assert f"2 settings, {20 - without} runs, {without} left out, as a setting has no value there" in repr(found)


def test_no_setting_is_tried_twice(tmp_path):
    """Two values are two settings, however many trials; the one that chance leaves out is tried, too."""
    ranges = {"epsilon": {"values": [0.1, 0.2, 0.3]}, "planning": {"low": 1, "high": 2, "integer": True}}
    for trials, settings in ((4, 4), (20, 6)):
        tune = {"agents": {"dyna-q": ranges}, "trials": trials, "runs": 2, "halving": False}
        found = rlrun.tune(config(**tune), output=tmp_path / str(trials), progress=False)
        assert len(found.tried) == settings
        assert len({json.dumps(t.settings, sort_keys=True) for t in found.tried}) == settings
        assert f"the best of {settings} settings" in repr(found)


def test_ties_are_told(tmp_path):
    """The step size has no part in the first step of a run."""
    tune = {"agents": {"q-learning": {"step": {"values": [0.1, 0.2, 0.3]}}}, "trials": 3, "runs": 2, "halving": False}
    c = config(**tune) | {"steps": 1, "agents": [{"plugin": "q-learning"}]}
    found = rlrun.tune(c, output=tmp_path, progress=False)
    assert len({t.score for t in found.tried}) == 1
    assert found.best["q-learning"] == found.tried[0].settings
    assert "2 of the others have the same score; the one tried first was taken" in repr(found)


def test_all_settings_are_listed():
    either = _Range("a", values=('"x"', '"y"'))
    beside = _Range("b", 1, 3, integer=True, when={"a": "x"})
    assert len(_every([either, beside]) or []) == 4
    assert _every([either, _Range("c", 0, 1, when={"a": "y"})]) is None
    assert _every([either, _Range("b", 1, 1e9, integer=True)]) is None


def test_a_refused_search_is_not_kept(tmp_path):
    wrong = config(agents={"q-learning": {"epsilon": {"values": [2, 3]}}}, trials=2)
    with pytest.raises(rlrun.ExperimentError, match="is refused"):
        rlrun.tune(wrong, output=tmp_path, progress=False)
    right = config(agents={"q-learning": {"epsilon": {"values": [0.2, 0.3]}}}, trials=2)
    assert len(rlrun.tune(right, output=tmp_path, progress=False).tried) == 2


@pytest.mark.slow
def test_other_programs_are_refused_in_words_of_the_search(tmp_path, monkeypatch):
    """A search has one directory, and neither overwrite nor --mixed."""
    monkeypatch.chdir(tmp_path)
    agent = (
        "import dataclasses, rlrun\n\n\n@dataclasses.dataclass\nclass A(rlrun.Agent):\n"
        "    id = 'test/a@1'\n    epsilon: float = 0.1\n"
        "    def begin(self, spec, seed): ...\n    def select_action(self, observation): return 0\n"
        "    def update(self, t): ...\n\n\nrlrun.serve(A)\n"
    )
    Path("a.py").write_text(agent)
    mine = {"plugin": sys.executable, "args": ["a.py"], "name": "mine"}
    search = config(agents={"mine": {"epsilon": {"values": [0.1, 0.2]}}}, trials=2, runs=2) | {"agents": [mine]}
    rlrun.tune(search, output="a", progress=False)
    Path("a.py").write_text(agent + "# changed\n")
    with pytest.raises(rlrun.ExperimentError) as e:
        rlrun.tune(search, output="a", progress=False)
    assert str(e.value).startswith("a holds runs made by other programs: ")
    assert str(e.value).endswith("; use the same programs, choose another output directory")


def test_progress_within_a_stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ticks = iter(range(0, 10**6, 10))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    rlrun.tune(config(trials=2, runs=2), output=tmp_path)
    said = capsys.readouterr().err
    stage, end = (said.find(text) for text in ("runs; chain / q-learning ", "2 of 2 settings, best"))
    assert -1 < stage < end
    assert "Notice" not in said[:end]
