"""Bootstrapped Q-learning: K tables that disagree about what they have not seen, and a host that decides on it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import rlrun


@dataclass
class BootstrapQ(rlrun.OptionAgent):
    """Q-learning with K tables that each begin elsewhere and learn from half of the steps; greedy if left alone."""

    id = "example/bootstrap-q@1"
    members: int = rlrun.param(16, "K, the number of tables.", minimum=1)
    gamma: float = rlrun.param(0.99, "γ, below 1.", minimum=0, maximum=0.999999)
    step: float = rlrun.param(0.1, "Step size.", minimum=0, maximum=1)

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        """Draw values between the least and the largest return."""
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations and actions must be discrete")
        if not np.isfinite([spec.reward_low, spec.reward_high]).all():
            raise rlrun.Unsupported("the environment must state bounds of its rewards")
        self.first, self.rng = (spec.observation.start, spec.action.start), np.random.default_rng(seed)
        shape = (self.members, spec.observation.n, spec.action.n)
        self.q = self.rng.uniform(spec.reward_low, spec.reward_high, shape) / (1 - self.gamma)
        self.option = 0

    def update(self, t: rlrun.Transition) -> None:
        """Move each table, with probability one half, towards what the step led to."""
        s, a, after = t.observation - self.first[0], t.action - self.first[1], t.next_observation - self.first[0]
        targets = t.reward + self.gamma * (not t.terminated) * self.q[:, after].max(axis=1)
        learns = self.rng.random(self.members) < 0.5
        self.q[:, s, a] += self.step * learns * (targets - self.q[:, s, a])

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Note which options are wanted: 0 is greedy, 1 to K follow a table, the others take an action for ever."""
        if other := set(kinds) - {"members", "constants"}:
            raise rlrun.Unsupported(f"there are no options of kind {min(other)}")
        first_constant = 1 + self.members
        members = range(1, first_constant) if "members" in kinds else []
        constants = range(first_constant, first_constant + self.q.shape[2]) if "constants" in kinds else []
        self.wanted = [0, *members, *constants]

    def problem(self, observation: int) -> rlrun.Problem:
        """Value every option by its first action. One stands for all that begin alike."""
        s = observation - self.first[0]
        by_action: dict[int, int] = {}
        for option in self.wanted:
            by_action.setdefault(self.act(option, s), option)
        self.options = list(by_action.values())
        values = (1 - self.gamma) * self.q[:, s, list(by_action)].T
        return rlrun.Problem([self.name(option) for option in self.options], values)

    def choose(self, option: int) -> None:
        """Follow an option of the last problem."""
        self.option = self.options[option]

    def select_action(self, observation: int) -> int:
        """Act by the option that is followed."""
        return self.act(self.option, observation - self.first[0]) + self.first[1]

    def greedy_policy(self) -> list[int]:
        """Return the best actions in the tables' mean."""
        return [self.act(0, s) + self.first[1] for s in range(self.q.shape[1])]

    def act(self, option: int, s: int) -> int:
        """Return the action of an option in s, counted from 0."""
        if option > self.members:
            return option - self.members - 1
        return int((self.q[:, s].mean(axis=0) if option == 0 else self.q[option - 1, s]).argmax())

    def name(self, option: int) -> str:
        """Say what an option is."""
        if option > self.members:
            return f"action {option - self.members - 1}"
        return "greedy" if option == 0 else f"member {option - 1}"


if __name__ == "__main__":
    rlrun.serve(BootstrapQ)
