"""Environments for agents with networks, in numpy, all lanes at once: the plugins ``cartpole-swingup`` and ``catch``.

Both have the rules of bsuite 0.3.5 (Osband et al. 2020). Only the random numbers of first states are rlrun's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlrun.environment import Spec, TimeSteps, VectorEnvironment
from rlrun.params import param
from rlrun.serve import serve
from rlrun.spaces import Box, Discrete
from rlrun.streams import Lanes, Streams

CART, POLE, LENGTH, FORCE, GRAVITY = 1.0, 0.1, 0.5, 10.0, 9.8
"""Masses in kg, half of the pole's length in m, the push in N, and m/s²."""


@dataclass
class CartpoleSwingup(VectorEnvironment):
    """Swing a hanging pole up and keep it there: 1 a step while it is up, slow and central, and a cost of each push."""

    id = "rlrun/cartpole-swingup@1"
    height_threshold: float = param(
        0.5, "The pole is up above this cosine of its angle. With 1 it never is.", minimum=-1, maximum=1,
        when="theta_dot_threshold!=0 and x_reward_threshold!=0",
    )  # fmt: skip
    theta_dot_threshold: float = param(1.0, "It is slow below this speed, in 1/s.", minimum=0)
    x_reward_threshold: float = param(1.0, "The cart is central within this distance, in m.", minimum=0)
    move_cost: float = param(0.1, "Cost of a push.", minimum=0)
    x_threshold: float = param(3.0, "The episode ends if the cart is further away than this, in m.", minimum=1e-9)
    timescale: float = param(0.01, "Time of a step, in s.", minimum=1e-9)
    max_time: float = param(10.0, "Time of an episode, in s.", minimum=1e-9)
    init_range: float = param(0.05, "First positions and speeds are within this of a pole that hangs still.", minimum=0)

    @property
    def spec(self) -> Spec:
        """Describe the task: an observation is x and ẋ by x_threshold, sin θ, cos θ, θ̇, time, central ±1, slow ±1."""
        return Spec(Box(-np.inf, np.inf, (8,), "float32"), Discrete(3), reward_low=-self.move_cost, reward_high=1.0)

    def open(self, lanes: int) -> None:
        """Make so many carts: rows of x, ẋ, θ, θ̇ and the time."""
        self.state, self.rng = np.zeros((5, lanes)), Streams(lanes)

    def action_names(self, lane: int) -> list[str]:
        """Name the pushes."""
        return ["left", "none", "right"]

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Hang the poles."""
        self.rng.seed(lanes, seeds)
        self.state[4, lanes] = 0
        self.state[:4, lanes] = self.init_range * (2 * self.rng.random(lanes, 4).T - 1)
        self.state[2, lanes] += np.pi
        return self._observations(lanes)

    def step(self, lanes: Lanes, actions: NDArray[np.int64]) -> TimeSteps:
        """Push: 0 left, 1 not, 2 right."""
        x, x_dot, theta, theta_dot, time = self.state[:, lanes]
        total, moment, cos, sin = CART + POLE, POLE * LENGTH, np.cos(theta), np.sin(theta)
        pushed = ((actions - 1) * FORCE + moment * theta_dot**2 * sin) / total
        theta_acc = (GRAVITY * sin - cos * pushed) / (LENGTH * (4 / 3 - POLE * cos**2 / total))
        x_acc = pushed - moment * theta_acc * cos / total
        dt = self.timescale
        theta = np.remainder(theta + dt * theta_dot, 2 * np.pi)
        after = np.stack([x + dt * x_dot, x_dot + dt * x_acc, theta, theta_dot + dt * theta_acc, time + dt])
        self.state[:, lanes] = after
        x, _, theta, theta_dot, time = after
        up = (np.cos(theta) > self.height_threshold) & (np.abs(theta_dot) < self.theta_dot_threshold)
        up &= np.abs(x) < self.x_reward_threshold
        ends = (time > self.max_time) | (np.abs(x) > self.x_threshold)
        rewards = up - self.move_cost * np.abs(actions - 1)
        return TimeSteps(self._observations(lanes), rewards, ends, np.zeros_like(ends))

    def _observations(self, lanes: Lanes) -> NDArray[np.float32]:
        x, x_dot, theta, theta_dot, time = self.state[:, lanes]
        flags = (np.abs(x) < self.x_reward_threshold, np.abs(theta_dot) < self.theta_dot_threshold)
        numbers = (x / self.x_threshold, x_dot / self.x_threshold, np.sin(theta), np.cos(theta), theta_dot)
        columns = np.stack([*numbers, time / self.max_time, *(np.where(flag, 1.0, -1.0) for flag in flags)], 1)
        return columns.astype(np.float32)


@dataclass
class Catch(VectorEnvironment):
    """Catch a ball that falls straight down: 1 for a ball that is caught, -1 for one that is not."""

    id = "rlrun/catch@1"
    rows: int = param(10, "Rows of the board. The ball falls one a step.", minimum=2)
    columns: int = param(5, "Columns of the board.", minimum=1)

    @property
    def spec(self) -> Spec:
        """Describe the task. An observation is the board: 1 where the ball is, and where the paddle is."""
        return Spec(Box(0, 1, (self.rows, self.columns), "uint8"), Discrete(3), reward_low=-1, reward_high=1)

    def open(self, lanes: int) -> None:
        """Make so many boards."""
        self.rng = Streams(lanes)
        self.row, self.ball, self.paddle = (np.zeros(lanes, np.int64) for _ in range(3))

    def action_names(self, lane: int) -> list[str]:
        """Name the moves of the paddle."""
        return ["left", "none", "right"]

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Drop a ball from the top."""
        self.rng.seed(lanes, seeds)
        self.ball[lanes] = self.rng.integers(lanes, self.columns)
        self.row[lanes], self.paddle[lanes] = 0, self.columns // 2
        return self._boards(lanes)

    def step(self, lanes: Lanes, actions: NDArray[np.int64]) -> TimeSteps:
        """Move the paddle: 0 left, 1 not, 2 right."""
        self.paddle[lanes] = np.clip(self.paddle[lanes] + actions - 1, 0, self.columns - 1)
        self.row[lanes] += 1
        ends = self.row[lanes] == self.rows - 1
        caught = np.where(self.paddle[lanes] == self.ball[lanes], 1.0, -1.0)
        return TimeSteps(self._boards(lanes), np.where(ends, caught, 0.0), ends, np.zeros_like(ends))

    def _boards(self, lanes: Lanes) -> NDArray[np.uint8]:
        boards = np.zeros((len(self.row[lanes]), self.rows, self.columns), np.uint8)
        own = np.arange(len(boards))
        boards[own, self.row[lanes], self.ball[lanes]] = 1
        boards[own, -1, self.paddle[lanes]] = 1
        return boards


def serve_cartpole_swingup() -> None:
    """Serve the plugin cartpole-swingup."""
    serve(CartpoleSwingup)


def serve_catch() -> None:
    """Serve the plugin catch."""
    serve(Catch)
