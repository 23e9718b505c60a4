"""A walk among the places 2 … 8 that ends, or is cut short, at random; as copies or, with an argument, as a batch."""

import sys

import numpy as np

import rlrun

SPEC = rlrun.Spec(rlrun.Discrete(7, start=2), rlrun.Discrete(3, start=-1), reward_low=-1, reward_high=10)


class Wander(rlrun.Environment):
    """One copy."""

    id = "test/wander@1"
    spec = SPEC

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)
        self.place = 5
        return self.place

    def step(self, action):
        u = self.rng.random()
        self.place = min(max(self.place + action + (u < 0.3), 2), 8)
        return rlrun.TimeStep(self.place, self.place + u - 1, u > 0.95, 0.9 < u < 0.93)


class Wanderers(rlrun.VectorEnvironment):
    """A batch. It keeps what it is given, which nobody else may write to."""

    id = "test/wander@1"
    spec = SPEC

    def open(self, lanes):
        self.streams, self.places = rlrun.Streams(lanes), np.zeros(lanes, int)
        self.kept = self.copied = np.zeros(0)

    def reset(self, lanes, seeds):
        self.streams.seed(lanes, seeds)
        self.places[lanes] = 5
        return self.places[lanes]

    def step(self, lanes, actions):
        if (self.kept != self.copied).any():
            raise RuntimeError("the actions of the last call have changed")
        self.kept, self.copied = actions, actions.copy()
        u = self.streams.random(lanes)
        places = np.clip(self.places[lanes] + actions + (u < 0.3), 2, 8)
        self.places[lanes] = places
        return places, places + u - 1, u > 0.95, (u > 0.9) & (u < 0.93)


if __name__ == "__main__":
    rlrun.serve(Wanderers if len(sys.argv) > 1 else Wander)
