"""Metrics of environments' and agents' own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rlrun
from rlrun import params
from rlrun._lanes import NEW_RUN, AgentCopies, AgentLanes, Copies, EnvironmentLanes
from rlrun.agents import deep

SPEC = rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2), 0, 1)


class Tank(rlrun.Environment):
    """An environment that burns fuel."""

    id = "test/tank@1"
    metrics = (rlrun.Metric("fuel", "kg", "Fuel burnt.", better="lower", total="sum"),)

    def __init__(self, wrong: bool = False) -> None:
        self.wrong, self.burnt = wrong, 0.0

    @property
    def spec(self) -> rlrun.Spec:
        return SPEC

    def reset(self, seed: int) -> int:
        return seed % 2

    def step(self, action: int) -> rlrun.TimeStep:
        self.burnt += action
        return rlrun.TimeStep(0, 0.0)

    def measure(self) -> Mapping[str, float]:
        burnt, self.burnt = self.burnt, 0.0
        return {"water" if self.wrong else "fuel": burnt}


class Counter(rlrun.Agent):
    """An agent with one metric that has a value and one that has none."""

    id = "test/counter@1"
    metrics = (rlrun.Metric("seed", total="last"), rlrun.Metric("nothing"))

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.seed = seed

    def select_action(self, observation: Any) -> int:
        return 0

    def update(self, transition: rlrun.Transition) -> None:
        pass

    def measure(self) -> Mapping[str, float]:
        return {"seed": self.seed}


def test_environment() -> None:
    copies = Copies(Tank)
    lanes = EnvironmentLanes(copies, SPEC, 2)
    assert [m.to_proto().unit for m in copies.metrics] == ["kg"]
    lanes.step(np.full(2, NEW_RUN, np.uint8), np.arange(2, dtype=np.uint64), np.zeros(2, np.int64))
    lanes.step(np.ones(2, np.uint8), None, np.array([0, 1]))
    assert [lanes.measure(0), lanes.measure(1), lanes.measure(1)] == [[0.0], [1.0], [0.0]]


def test_undeclared() -> None:
    lanes = EnvironmentLanes(Copies(lambda: Tank(wrong=True)), SPEC, 1)
    with pytest.raises(rlrun.InvalidAnswer, match="water"):
        lanes.measure(0)


def test_agent() -> None:
    copies = AgentCopies(Counter)
    lanes = AgentLanes(copies, SPEC, 2)
    assert [m.name for m in copies.metrics] == ["seed", "nothing"]
    outcome = rlrun.TimeSteps(np.zeros(2, np.int64), np.zeros(2), np.zeros(2, np.bool_), np.zeros(2, np.bool_))
    lanes.step(np.full(2, NEW_RUN, np.uint8), np.array([5, 6], np.uint64), outcome)
    seed, nothing = lanes.measure(1)
    assert seed == 6
    assert np.isnan(nothing)


def test_metrics_with_a_type_are_no_parameter() -> None:
    @dataclass
    class Typed(rlrun.Agent):
        step: float = 0.1
        metrics: Sequence[rlrun.Metric] = (rlrun.Metric("size"),)

    assert list(params.schema(Typed)["properties"]) == ["step"]
    assert "metrics" not in params.schema(deep.DeepQ)["properties"]


class Turns(rlrun.Agent):
    """Takes arms in turn, and recommends the one of the largest mean."""

    id = "test/turns@1"

    def __init__(self, wrong: bool = False) -> None:
        self.wrong = wrong

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.taken, self.paid = np.zeros(spec.action.n), np.zeros(spec.action.n)

    def select_action(self, observation: Any) -> int:
        return int(self.taken.argmin())

    def update(self, transition: rlrun.Transition) -> None:
        self.taken[transition.action] += 1
        self.paid[transition.action] += transition.reward

    def recommended_action(self) -> Any:
        return "1" if self.wrong else int((self.paid / np.maximum(self.taken, 1)).argmax())


class TurnsOfLanes(rlrun.VectorAgent):
    """The same as a batch."""

    id = "test/turns-of-lanes@1"

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        self.one = [Turns() for _ in range(lanes)]
        self.spec, self.lane = spec, np.arange(lanes)

    def begin(self, lanes: Any, seeds: Any) -> None:
        for lane in self.lane[lanes]:
            self.one[lane].begin(self.spec, 0)

    def select_actions(self, lanes: Any, observations: Any) -> Any:
        return np.array([self.one[lane].select_action(0) for lane in self.lane[lanes]])

    def update(self, lanes: Any, transitions: rlrun.Transitions) -> None:
        for lane, action, reward in zip(self.lane[lanes], transitions.actions, transitions.rewards, strict=True):
            self.one[lane].taken[action] += 1
            self.one[lane].paid[action] += reward

    def recommended_action(self, lane: int) -> int:
        return int(self.one[lane].recommended_action())


@pytest.mark.usefixtures("program")
def test_recommended_actions_are_judged(tmp_path: Any) -> None:
    """Of arms that pay 0 and 1 the best is known after both pulls, whose second outcome comes with step 3."""
    arms = {"plugin": "bernoulli-bandit", "params": {"means": [0, 1]}}
    record = {"metrics": ["simple_regret", "recommendation_error"], "grid": "all"}
    config = {"environments": [arms], "agents": [Turns, TurnsOfLanes], "runs": 3, "steps": 4, "record": record}
    curves = rlrun.run(config, output=tmp_path / "out", progress=False).curves
    for agent in ("Turns", "TurnsOfLanes"):
        for metric in ("simple_regret", "recommendation_error"):
            of = curves[(curves["agent"] == agent) & (curves["metric"] == metric)]
            assert [*of.groupby("step")["value"].agg(["min", "max"]).itertuples(index=False, name=None)] == [
                (1, 1), (1, 1), (0, 0), (0, 0)
            ]  # fmt: skip
    wrong = {"plugin": Turns, "params": {"wrong": True}}
    with pytest.raises(rlrun.ExperimentError, match="recommended_action returned '1', must return the number of an"):
        rlrun.run(config | {"agents": [wrong]}, output=tmp_path / "wrong", progress=False)
