"""Bootstrapped Q-learning, as in bootstrap_q.py, all lanes at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rlrun


@dataclass
class VectorBootstrapQ(rlrun.VectorOptionAgent):
    """Q-learning with K tables that each begin elsewhere and learn from half of the steps; greedy if left alone.

    The bundled bootstrap-q with values: actions (Dimitrakakis 2006; docs/theory.md,
    section 3.4). Option 0 is greedy, options 1 to K follow a member, the others take
    an action for ever; each is worth to a member what its first action is.
    """

    id = "example/vector-bootstrap-q@1"
    members: int = rlrun.param(16, "K, the number of tables.", minimum=1)
    gamma: float = rlrun.param(0.99, "γ, below 1.", minimum=0, maximum=0.999999)
    step: float = rlrun.param(0.1, "Step size.", minimum=0, maximum=1)

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        """Make so many agents."""
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations and actions must be discrete")
        if not np.isfinite([spec.reward_low, spec.reward_high]).all():
            raise rlrun.Unsupported("the environment must state bounds of its rewards")
        self.spec, self.first = spec, (spec.observation.start, spec.action.start)
        self.actions = spec.action.n
        self.q = np.zeros((lanes, spec.observation.n, self.actions, self.members))
        self.rng, self.option = rlrun.Streams(lanes), np.zeros(lanes, np.int64)

    def begin(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> None:
        """Draw values between the least and the largest return."""
        self.rng.seed(lanes, seeds)
        draws = self.rng.random(lanes, self.q[0].size).reshape(-1, *self.q.shape[1:])
        low, high = self.spec.reward_low, self.spec.reward_high
        self.q[lanes] = (low + (high - low) * draws) / (1 - self.gamma)
        self.option[lanes] = 0

    def update(self, lanes: rlrun.Lanes, t: rlrun.Transitions) -> None:
        """Move each member, with probability one half, towards what the step led to."""
        everyone = np.arange(len(self.q))[lanes]
        follows = self.q[everyone, t.next_observations - self.first[0]].max(axis=1)
        targets = t.rewards[:, None] + self.gamma * ~t.terminated[:, None] * follows
        learns = self.rng.random(lanes, self.members) < 0.5
        at = everyone, t.observations - self.first[0], t.actions - self.first[1]
        self.q[at] += self.step * learns * (targets - self.q[at])

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Note which options are wanted."""
        if other := set(kinds) - {"members", "constants"}:
            raise rlrun.Unsupported(f"there are no options of kind {min(other)}")
        self.kinds = kinds

    def problems(self, lanes: rlrun.Lanes, observations: NDArray[np.int64]) -> rlrun.Problems:
        """Value every option by its first action. One stands for all that begin alike."""
        q = self._values(lanes, observations)
        first = self._first(q)
        greedy, members, every = first[:, :1], first[:, 1 : 1 + self.members], np.arange(self.actions)
        lead = (q.max(axis=1) - np.take_along_axis(q, greedy[:, None], 1)[:, 0])[:, None]  # in its own values
        most = np.where(members[:, None] == every[:, None], lead, -np.inf).max(axis=2)
        if "members" not in self.kinds:
            most[:] = -np.inf
        stands = (np.take_along_axis(most, members, 1) == lead[:, 0]) & (members != greedy)
        constant = (most == -np.inf) & (every != greedy) & ("constants" in self.kinds)
        return rlrun.Problems(
            names=["greedy", *(f"member {k}" for k in range(self.members)), *(f"action {a}" for a in every)],
            values=(1 - self.gamma) * np.take_along_axis(q, first[:, :, None], 1),
            offered=np.concatenate([np.ones_like(greedy, np.bool_), stands, constant], axis=1),
        )

    def choose(self, lanes: rlrun.Lanes, options: NDArray[np.int64]) -> None:
        """Follow these options."""
        self.option[lanes] = options

    def select_actions(self, lanes: rlrun.Lanes, observations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Act by the options that are followed, 0 at first."""
        first = self._first(self._values(lanes, observations))
        actions: NDArray[np.int64] = np.take_along_axis(first, self.option[lanes][:, None], 1)[:, 0] + self.first[1]
        return actions

    def greedy_policy(self, lane: int) -> NDArray[np.int64]:
        """Return the best actions in the members' mean."""
        policy: NDArray[np.int64] = self.q[lane].mean(axis=2).argmax(axis=1) + self.first[1]
        return policy

    def _values(self, lanes: rlrun.Lanes, observations: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return q[lane, a, k], the values of actions now."""
        q: NDArray[np.float64] = self.q[np.arange(len(self.q))[lanes], observations - self.first[0]]
        return q

    def _first(self, q: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the action that each option takes now, a row per lane."""
        constants = np.broadcast_to(np.arange(self.actions), (len(q), self.actions))
        return np.concatenate([q.mean(axis=2).argmax(axis=1)[:, None], q.argmax(axis=1), constants], axis=1)


if __name__ == "__main__":
    rlrun.serve(VectorBootstrapQ)
