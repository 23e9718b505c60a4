"""The river of river.py as a batch: all lanes are stepped by numpy, none by Python."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rlrun


@dataclass
class VectorRiver(rlrun.VectorEnvironment):
    """A river: swim right against the current for 1, or drift left for 0.005."""

    id = "example/vector-river@1"
    length: int = rlrun.param(6, "Number of places.", minimum=2)
    slip: float = rlrun.param(0.4, "Probability that a stroke to the right does nothing.", minimum=0, maximum=1)

    @property
    def spec(self) -> rlrun.Spec:
        """Describe the river."""
        return rlrun.Spec(rlrun.Discrete(self.length), rlrun.Discrete(2), reward_low=0, reward_high=1, continuing=True)

    def open(self, lanes: int) -> None:
        """Make so many rivers."""
        self.place, self.rng = np.zeros(lanes, np.int64), rlrun.Streams(lanes)

    def reset(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Start at the left end."""
        self.rng.seed(lanes, seeds)
        self.place[lanes] = 0
        return self.place[lanes]

    def step(self, lanes: rlrun.Lanes, actions: NDArray[np.int64]) -> rlrun.TimeSteps:
        """Take a stroke: 0 left, 1 right."""
        place, right, end = self.place[lanes], actions == 1, self.length - 1
        rewards = np.where(right, place == end, 0.005 * (place == 0))
        moves = self.rng.random(lanes) >= self.slip
        place = np.clip(place + np.where(right, moves, -1), 0, end)
        self.place[lanes] = place
        never = np.zeros(len(place), np.bool_)
        return rlrun.TimeSteps(place, rewards, never, never)


if __name__ == "__main__":
    rlrun.serve(VectorRiver)
