"""A river: swim right against the current for a big reward, or drift left for a small one."""

from dataclasses import dataclass

import numpy as np

import rlrun


@dataclass
class River(rlrun.Environment):
    """A river: swim right against the current for 1, or drift left for 0.005."""

    id = "example/river@1"
    length: int = rlrun.param(6, "Number of places.", minimum=2)
    slip: float = rlrun.param(0.4, "Probability that a stroke to the right does nothing.", minimum=0, maximum=1)

    @property
    def spec(self) -> rlrun.Spec:
        """Describe the river."""
        return rlrun.Spec(rlrun.Discrete(self.length), rlrun.Discrete(2), reward_low=0, reward_high=1, continuing=True)

    def reset(self, seed: int) -> int:
        """Start at the left end."""
        self.rng, self.place = np.random.default_rng(seed), 0
        return self.place

    def step(self, action: int) -> rlrun.TimeStep:
        """Take a stroke: 0 left, 1 right."""
        reward = 0.005 if (self.place, action) == (0, 0) else float((self.place, action) == (self.length - 1, 1))
        stroke = -1 if action == 0 else int(self.rng.random() >= self.slip)
        self.place = min(max(self.place + stroke, 0), self.length - 1)
        return rlrun.TimeStep(self.place, reward)


if __name__ == "__main__":
    rlrun.serve(River)
