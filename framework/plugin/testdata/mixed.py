"""An agent that saves, measures and acts greedily, and whose code fails where it is told to."""

import dataclasses
import os
import random
import time
import zlib

import numpy
import rlrun


@dataclasses.dataclass
class Mixed(rlrun.Agent):
    """Acts at random, less so the longer it lives."""

    id = "test/mixed@1"
    metrics = (rlrun.Metric("seen"),)
    fail_at: int = rlrun.param(-1, "The update in which something happens.")
    how: str = rlrun.param("raise", "What: raise, die, hang, break or import.")
    spoils: bool = rlrun.param(False, "Whether it writes into what it is given.")

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.rng, self.updates, self.sum, self.action = random.Random(seed), 0, 0.0, spec.action

    def select_action(self, observation):
        self.look(observation)
        return self.rng.randrange(self.action.n) if isinstance(self.action, rlrun.Discrete) else [self.rng.random()]

    def select_greedy_action(self, observation):
        return 0 if isinstance(self.action, rlrun.Discrete) else [0.0]

    def update(self, t: rlrun.Transition) -> None:
        self.updates += 1
        for value in t:
            self.look(value)
        if self.updates == self.fail_at and self.how == "raise":
            raise RuntimeError(f"no update {self.updates}")
        if self.updates == self.fail_at and self.how == "die":
            print("the agent dies", flush=True)
            os._exit(3)
        if self.updates == self.fail_at and self.how == "hang":
            time.sleep(60)
        if self.updates == self.fail_at and self.how == "break":
            numpy.cos = None
        if self.updates == self.fail_at and self.how == "import":
            __import__("gymnasium")

    def look(self, value) -> None:
        """Take note of all that can be told of a value."""
        kind = f"{type(value)} {getattr(value, 'dtype', None)} {getattr(value, 'shape', None)} {getattr(value, 'flags', None)}"
        self.sum = (self.sum * 31 + zlib.crc32(f"{kind} {value!r}".encode())) % 2**40
        if self.spoils and hasattr(value, "shape"):
            value.fill(0)

    def measure(self):
        return {"seen": self.sum}


if __name__ == "__main__":
    rlrun.serve(Mixed)
