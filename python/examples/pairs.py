"""An agent that offers single pairs of a state and an action: what trying one may gain, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import rlrun


@dataclass
class Pairs(rlrun.OptionAgent):
    """Counts what leads where, and offers every pair with its gain and cost; greedy if left alone."""

    id = "example/pairs@1"
    gamma: float = rlrun.param(0.99, "γ, below 1: 1/(1 - γ) steps count.", minimum=0, maximum=0.9999)

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        """Start with no counts."""
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations and actions must be discrete")
        if not np.isfinite([spec.reward_low, spec.reward_high]).all():
            raise rlrun.Unsupported("the environment must state bounds of its rewards")
        self.first, self.high = (spec.observation.start, spec.action.start), spec.reward_high
        n, actions = spec.observation.n, spec.action.n
        self.counts, self.rewards = np.zeros((n, actions, n)), np.zeros((n, actions))
        self.value, self.met = np.zeros(n), np.zeros(n, bool)
        self.reach, self.cost = np.eye(n), np.zeros((n, n))  # by target and state: E γ^τ and the gaps on the way
        self.way = np.zeros((n, n), int)
        self.target: tuple[int, int] | None = None

    def update(self, t: rlrun.Transition) -> None:
        """Count a step, and improve the values by two sweeps."""
        s, a, after = t.observation - self.first[0], t.action - self.first[1], t.next_observation - self.first[0]
        self.counts[s, a, after] += 1
        self.rewards[s, a] += t.reward
        self.met[[s, after]] = True
        if t.terminated:
            self.value[after] = 0
        for _ in range(2):
            known = self.counts.any(axis=(1, 2))
            self.value[known] = self.q()[known].max(axis=1)

    def q(self) -> np.ndarray:
        """Return the value of every pair by what it has shown; one never tried is worth staying where one is."""
        n = self.counts.sum(axis=2)
        after = (self.rewards + self.gamma * self.counts @ self.value) / np.maximum(n, 1)
        return np.where(n > 0, after, self.gamma * self.value[:, None])

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Accept pairs alone."""
        if set(kinds) != {"pair"}:
            raise rlrun.Unsupported("the only options are pairs: use the rule gain")

    def gains(self) -> np.ndarray:
        """Return what trying every pair may gain.

        Its next try shows something new with probability 1/(n + 1), as good as nothing met so far with probability
        1/(m + 1), and then better by up to δ, uniformly: the largest d P(D >= d) is δ/4 times these.
        """
        n = self.counts.sum(axis=2)
        most = np.maximum(0, self.high / (1 - self.gamma) - self.value[:, None])
        gains: np.ndarray = most / 4 / (1 + self.met.sum()) / (1 + n) ** 2
        return gains

    def find_ways(self, gap: np.ndarray, prize: np.ndarray) -> None:
        """Improve the ways to every state by some sweeps: of those worth their gaps, the best."""
        n = self.counts.sum(axis=2)
        rows, each = self.counts / np.maximum(n, 1)[:, :, None], np.arange(len(prize))
        for _ in range(5):
            reach = self.gamma * np.einsum("say,ty->tsa", rows, self.reach)
            cost = gap + self.gamma * np.einsum("say,ty->tsa", rows, self.cost)
            net = np.where(n > 0, prize[:, None, None] * reach - cost, -np.inf)
            self.way = net.argmax(axis=2)
            worth = net.max(axis=2) > 0
            self.reach = np.where(worth, np.take_along_axis(reach, self.way[:, :, None], 2)[:, :, 0], 0)
            self.cost = np.where(worth, np.take_along_axis(cost, self.way[:, :, None], 2)[:, :, 0], 0)
            self.reach[each, each], self.cost[each, each] = 1, 0

    def problem(self, observation: int) -> rlrun.Problem:
        """Offer all pairs that can be reached, except what is done anyway."""
        here = observation - self.first[0]
        gain, q = self.gains(), self.q()
        gap = np.maximum(0, self.value[:, None] - q)
        self.find_ways(gap, np.maximum(1e-6, (gain - gap).max(axis=1)))
        wanted = self.reach[:, here] > 0
        rest = np.arange(q.shape[1]) != q.argmax(axis=1)[:, None]
        s, a = np.nonzero(wanted[:, None] & rest)
        reach, cost = self.reach[s, here], self.cost[s, here] + self.reach[s, here] * gap[s, a]
        steps = 1 + (1 - reach) / (1 - self.gamma)  # discounted
        self.offered = list(zip(s.tolist(), a.tolist(), strict=True))
        pairs = np.stack([s, a, reach * gain[s, a], cost, steps], axis=1)
        return rlrun.Problem(["greedy"], np.array([[(1 - self.gamma) * self.value[here]]]), pairs=pairs)

    def choose(self, option: int) -> None:
        """Aim at a pair of the last problem, or at none."""
        self.target = self.offered[option - 1] if option > 0 else None

    def select_action(self, observation: int) -> int:
        """Take the next step of the way to the pair that is aimed at."""
        s = observation - self.first[0]
        if self.target is None or self.reach[self.target[0], s] == 0:
            return self.greedy_policy()[s]
        state, action = self.target
        return int(action if state == s else self.way[state, s]) + self.first[1]

    def greedy_policy(self) -> list[int]:
        """Return the best action by what has been seen, in every observation."""
        return [int(a) + self.first[1] for a in self.q().argmax(axis=1)]


if __name__ == "__main__":
    rlrun.serve(Pairs)
