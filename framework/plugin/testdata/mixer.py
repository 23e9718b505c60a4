"""The agent of framework/internal/actortest in Python: its actions depend on all that the actors of its run have met."""

import struct

import numpy as np

import rlrun

WORD = 2**64 - 1


def mix(total, x):
    total = ((total ^ x) * 0x9E3779B97F4A7C15) & WORD
    return total ^ total >> 29


class Mixer(rlrun.VectorAgent):
    """Acts in several environments."""

    id = "test/mixer@1"
    max_actors = 8

    def open(self, spec, lanes):
        if not isinstance(spec.observation, rlrun.Discrete) or not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("observations or actions are not discrete")
        self.actors, self.actions, self.every = spec.actors, spec.action, np.arange(lanes)
        self.sums = [0] * (lanes // spec.actors)

    def begin(self, lanes, seeds):
        for lane, seed in zip(self.every[lanes].tolist(), seeds.tolist(), strict=True):
            run, actor = divmod(lane, self.actors)
            self.sums[run] = mix(self.sums[run], seed) if actor else seed

    def update(self, lanes, t):
        for lane, reward, seen in zip(
            self.every[lanes].tolist(), t.rewards.tolist(), t.next_observations.tolist(), strict=True
        ):
            run = lane // self.actors
            bits = struct.unpack("<Q", struct.pack("<d", reward))[0]
            self.sums[run] = mix(mix(self.sums[run], bits), seen & WORD)

    def select_actions(self, lanes, observations):
        out = []
        for lane, seen in zip(self.every[lanes].tolist(), observations.tolist(), strict=True):
            run, actor = divmod(lane, self.actors)
            x = mix(mix(self.sums[run], actor), seen & WORD)
            out.append(self.actions.start + (x >> 33) % self.actions.n)
        return np.array(out)

    def save(self, lane):
        return rlrun.pack(self.sums[lane // self.actors])

    def load(self, lane, state):
        self.sums[lane // self.actors] = rlrun.unpack(state)


if __name__ == "__main__":
    rlrun.serve(Mixer)
