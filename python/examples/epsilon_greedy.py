"""An ε-greedy agent for bandits, and for any task with few observations and actions."""

from dataclasses import dataclass

import numpy as np

import rlrun


@dataclass
class EpsilonGreedy(rlrun.Agent):
    """ε-greedy Q-learning with sample averages: on a bandit, Sutton & Barto's (2018, section 2.4)."""

    id = "example/epsilon-greedy@1"
    epsilon: float = rlrun.param(0.1, "Probability of an action at random.", minimum=0, maximum=1)
    discount: float = rlrun.param(0.0, "γ; 0 looks at the next reward only.", minimum=0, maximum=1)

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        """Forget everything."""
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations and actions must be discrete")
        self.first = (spec.observation.start, spec.action.start)
        self.values = np.zeros((spec.observation.n, spec.action.n))
        self.visits = np.zeros_like(self.values)
        self.rng = np.random.default_rng(seed)

    def select_action(self, observation: int) -> int:
        """Act greedily, ties broken at random, or with probability ε at random."""
        values = self.values[observation - self.first[0]]
        best = np.flatnonzero(values == values.max())
        explore = self.rng.random() < self.epsilon
        return int(self.rng.integers(len(values)) if explore else self.rng.choice(best)) + self.first[1]

    def update(self, t: rlrun.Transition) -> None:
        """Move the value of the pair towards what it led to."""
        pair = (t.observation - self.first[0], t.action - self.first[1])
        follows = 0.0 if t.terminated else self.values[t.next_observation - self.first[0]].max()
        self.visits[pair] += 1
        self.values[pair] += (t.reward + self.discount * follows - self.values[pair]) / self.visits[pair]


if __name__ == "__main__":
    rlrun.serve(EpsilonGreedy)
