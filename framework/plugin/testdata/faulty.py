"""An environment that misbehaves on demand. Its observation is how often its lane has stepped, modulo 5."""

import os
import signal
import sys
import time
from dataclasses import dataclass

import rlrun


@dataclass
class Faulty(rlrun.Environment):
    """Misbehaves on demand."""

    id = "test/faulty@1"
    fault: str = ""
    lane: int = -1
    step_: int = 0

    made = 0  # copies, which are made in the order of lanes

    def __post_init__(self):
        self.number, Faulty.made = Faulty.made % 4, Faulty.made + 1

    @property
    def spec(self):
        return rlrun.Spec(rlrun.Discrete(5), rlrun.Discrete(3), reward_low=0, id=f"test/faulty-{os.getpid()}@1")

    def reset(self, seed):
        self.count = 0
        return 0

    def step(self, action):
        self.count += 1
        observation, reward = self.count % 5, 0.0
        if self.count == self.step_ and self.number == self.lane:
            match self.fault:
                case "exception":
                    raise RuntimeError("out of cheese")
                case "error":
                    raise rlrun.InvalidAction("no luck")
                case "exit":
                    print("I give up", file=sys.stderr, flush=True)
                    os._exit(3)
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                    time.sleep(1000)  # for the instant until the signal arrives
                case "stop":
                    os.kill(os.getpid(), signal.SIGSTOP)
                    time.sleep(1000)
                case "loop":
                    while True:
                        pass
                case "sleep":
                    time.sleep(1000)
                case "nan":
                    reward = float("nan")
                case "outside":
                    observation = 7
                case "fraction":
                    observation = 0.5
                case "stdout":
                    print("printed to standard output")
                    os.write(1, b"y" * (1 << 20))
        return rlrun.TimeStep(observation, reward)


if __name__ == "__main__":
    print("hello\n" + "x" * (1 << 20), "\nno newline before the handshake", end="")
    rlrun.serve(Faulty)
