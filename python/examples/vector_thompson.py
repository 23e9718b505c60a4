"""Thompson sampling for bandits with rewards 0 and 1, all lanes at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rlrun


@dataclass
class VectorThompson(rlrun.VectorAgent):
    """Thompson sampling (1933) with normal approximations to beta posteriors."""

    id = "example/vector-thompson@1"

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        """Make so many agents."""
        if spec.observation != rlrun.Discrete(1) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("this agent is for bandits: one observation, discrete actions")
        if (spec.reward_low, spec.reward_high) != (0, 1):
            raise rlrun.Unsupported("this agent is for rewards from 0 to 1")
        self.start = spec.action.start
        self.counts = np.ones((lanes, spec.action.n, 2))  # pseudo-counts of 1 and of 0
        self.rng = rlrun.Streams(lanes)

    def begin(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> None:
        """Forget everything."""
        self.counts[lanes] = 1
        self.rng.seed(lanes, seeds)

    def select_actions(self, lanes: rlrun.Lanes, observations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw a mean for every arm and take the best."""
        total = self.counts[lanes].sum(axis=2)
        mean = self.counts[lanes, :, 0] / total
        deviation = np.sqrt(mean * (1 - mean) / (total + 1))
        sample = mean + deviation * self.rng.normal(lanes, mean.shape[1])
        actions: NDArray[np.int64] = np.argmax(sample, axis=1) + self.start
        return actions

    def update(self, lanes: rlrun.Lanes, t: rlrun.Transitions) -> None:
        """Count a reward."""
        everyone = np.arange(len(self.counts))[lanes]
        self.counts[everyone, t.actions - self.start, 0] += t.rewards
        self.counts[everyone, t.actions - self.start, 1] += 1 - t.rewards


if __name__ == "__main__":
    rlrun.serve(VectorThompson)
