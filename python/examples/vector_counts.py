"""A bandit whose arms pay counts, with Poisson distributions: all lanes at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rlrun


@dataclass
class VectorCounts(rlrun.VectorEnvironment):
    """Arms that pay Poisson counts. In every run their means are drawn from an exponential distribution."""

    id = "example/vector-counts@1"
    arms: int = rlrun.param(16, "Number of arms.", minimum=2)
    mean: float = rlrun.param(1.0, "Mean of the means.", minimum=0.001)

    @property
    def spec(self) -> rlrun.Spec:
        """Describe the bandit."""
        return rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(self.arms), reward_low=0, continuing=True)

    def open(self, lanes: int) -> None:
        """Make so many bandits."""
        self.means, self.rng = np.zeros((lanes, self.arms)), rlrun.Streams(lanes)

    def reset(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Draw means."""
        self.rng.seed(lanes, seeds)
        self.means[lanes] = -self.mean * np.log1p(-self.rng.random(lanes, self.arms))
        return np.zeros(len(seeds), np.int64)

    def step(self, lanes: rlrun.Lanes, actions: NDArray[np.int64]) -> rlrun.TimeSteps:
        """Pull an arm: the count is where its distribution function passes a uniform number."""
        means = np.arange(len(self.means))[lanes]
        mean, u = self.means[means, actions], self.rng.random(lanes)
        term = np.exp(-mean)
        total, count = term.copy(), np.zeros(len(mean))
        while (more := u > total).any() and count.max() < 1000:
            count[more] += 1
            term = np.where(more, term * mean / np.maximum(count, 1), term)
            total = np.where(more, total + term, total)
        never = np.zeros(len(mean), np.bool_)
        return rlrun.TimeSteps(np.zeros(len(mean), np.int64), count, never, never)


if __name__ == "__main__":
    rlrun.serve(VectorCounts)
