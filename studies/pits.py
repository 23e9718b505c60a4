"""The grid with pits of the study of networks: an episode ends in a pit, in a goal, or after so many steps."""

from dataclasses import dataclass

import numpy as np

import rlrun

MOVES = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])


@dataclass
class Pits(rlrun.VectorEnvironment):
    """Walk from the upper left through a square grid. What a cell pays is paid on entering it, and ends the episode."""

    id = "rlrun-studies/pits@1"
    cells: list[list[float]] = rlrun.param(
        [[0, 0], [0, 1]], "What the cells pay, by row. Cells that pay 0 do not end the episode."
    )
    step_reward: float = rlrun.param(0.0, "Reward of each step.")
    length: int = rlrun.param(12, "Steps after which an episode ends.", minimum=1)

    @property
    def spec(self):
        size = len(self.cells)
        self.pays = np.array(self.cells)
        low, high = self.pays.min() + self.step_reward, self.pays.max() + self.step_reward
        return rlrun.Spec(
            rlrun.Box(-1, 1, (2 * size + 3,), "float32"), rlrun.Discrete(4), reward_low=low, reward_high=high
        )

    def open(self, lanes):
        self.cell, self.time = np.zeros((lanes, 2), np.int64), np.zeros(lanes, np.int64)

    def action_names(self, lane):
        return ["up", "right", "down", "left"]

    def reset(self, lanes, seeds):
        self.cell[lanes], self.time[lanes] = 0, 0
        return self._observations(lanes)

    def step(self, lanes, actions):
        size = len(self.pays)
        self.cell[lanes] = np.clip(self.cell[lanes] + MOVES[actions], 0, size - 1)
        self.time[lanes] += 1
        pay = self.pays[tuple(self.cell[lanes].T)]
        ends = (pay != 0) | (self.time[lanes] >= self.length)
        return rlrun.TimeSteps(self._observations(lanes), pay + self.step_reward, ends, np.zeros_like(ends))

    def _observations(self, lanes):
        """Row and column, each as one of so many and as a number from -1 to 1, and the time."""
        size, cell = len(self.pays), self.cell[lanes]
        one = np.eye(size)[cell].reshape(len(cell), -1)
        time = self.time[lanes, None] * 2 / self.length - 1
        return np.hstack([one, cell * 2 / (size - 1) - 1, time]).astype(np.float32)


if __name__ == "__main__":
    rlrun.serve(Pits)
