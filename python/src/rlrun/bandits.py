"""A bandit with other rewards than 0 and 1 and normal ones of one variance: the plugin ``distribution-bandit``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlrun.environment import Model, Spec, TimeSteps, VectorEnvironment
from rlrun.params import param
from rlrun.serve import serve
from rlrun.spaces import Discrete
from rlrun.streams import Lanes, Streams

REWARDS = ("poisson", "exponential", "normal", "student", "pareto")
MOST = 10_000
"""Counts end here. Means are below 700, where their exponentials can be computed, but for a probability of 1e-15."""


@dataclass
class DistributionBandit(VectorEnvironment):
    """A bandit with rewards of a distribution; each run draws the arms' means from an exponential distribution.

    ``poisson`` are counts. ``exponential`` rewards have the standard deviation of their mean. ``normal`` ones have a
    standard deviation of each arm's own, which is drawn as the means are, so that an agent has to learn it. ``student``
    adds Student's t to the mean, and ``pareto`` are Pareto's: both have heavy tails (Bubeck, Cesa-Bianchi & Lugosi
    2013), of which moments up to below ``tail`` exist.
    """

    id = "rlrun/distribution-bandit@1"
    rewards: str = param("poisson", "Distribution of the rewards of an arm around its mean.", choices=REWARDS)
    arms: int = param(16, "Number of arms.", minimum=1, maximum=100_000)
    mean: float = param(1.0, "Mean of the arms' means.", minimum=0.001, maximum=20)
    tail: int = param(
        3, "Of student and pareto: the larger, the lighter are the tails.", minimum=2, maximum=100,
        when="rewards=student|pareto",
    )  # fmt: skip

    @property
    def spec(self) -> Spec:
        """Describe the task."""
        low = -np.inf if self.rewards in ("normal", "student") else 0
        return Spec(Discrete(1), Discrete(self.arms), reward_low=low, reward_high=np.inf, continuing=True)

    def open(self, lanes: int) -> None:
        """Make so many bandits."""
        self.rng = Streams(lanes)
        self.means, self.spreads = np.zeros((lanes, self.arms)), np.ones((lanes, self.arms))

    def model(self, lane: int) -> Model:
        """Return the arms' means: rlrun computes the regret from them."""
        arms = range(self.arms)
        return Model(1, self.arms, [(0, a, 0, 1.0) for a in arms], [(0, a, self.means[lane, a]) for a in arms])

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Draw the arms."""
        self.rng.seed(lanes, seeds)
        self.means[lanes] = -self.mean * np.log1p(-self.rng.random(lanes, self.arms))
        if self.rewards == "normal":
            self.spreads[lanes] = -self.mean * np.log1p(-self.rng.random(lanes, self.arms))
        return np.zeros(len(seeds), np.int64)

    def step(self, lanes: Lanes, actions: NDArray[np.int64]) -> TimeSteps:
        """Pull an arm. So many random numbers are drawn whichever it is."""
        rows = np.arange(len(self.means))[lanes]
        mean, spread = self.means[rows, actions], self.spreads[rows, actions]
        rewards: NDArray[np.float64] = getattr(self, f"_{self.rewards}")(lanes, mean, spread)
        never = np.zeros(len(mean), np.bool_)
        return TimeSteps(np.zeros(len(mean), np.int64), rewards, never, never.copy())

    def _poisson(self, lanes: Lanes, mean: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.float64]:
        u, term, count = self.rng.random(lanes), np.exp(-mean), np.zeros(len(mean))
        total = term.copy()  # the count is where its distribution function passes u
        while (more := (u > total) & (count < MOST)).any():
            count[more] += 1
            term[more] *= mean[more] / count[more]
            total[more] += term[more]
        return count

    def _exponential(self, lanes: Lanes, mean: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.float64]:
        return -mean * np.log1p(-self.rng.random(lanes))

    def _normal(self, lanes: Lanes, mean: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean + spread * self.rng.normal(lanes)

    def _student(self, lanes: Lanes, mean: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.float64]:
        z = self.rng.normal(lanes, self.tail + 1)
        out: NDArray[np.float64] = mean + z[:, 0] / np.sqrt((z[:, 1:] ** 2).mean(1))
        return out

    def _pareto(self, lanes: Lanes, mean: NDArray[np.float64], _: NDArray[np.float64]) -> NDArray[np.float64]:
        least = mean * (self.tail - 1) / self.tail
        out: NDArray[np.float64] = least * (1 - self.rng.random(lanes)) ** (-1 / self.tail)
        return out


def serve_distribution_bandit() -> None:
    """Serve the plugin distribution-bandit."""
    serve(DistributionBandit)
