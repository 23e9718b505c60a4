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
