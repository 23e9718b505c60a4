"""An environment or, with the argument "agent", an agent that misbehaves on demand, as those of main_test.go do."""

import os
import signal
import sys
import time
from dataclasses import dataclass

import rlrun


@dataclass
class Faults:
    """How to misbehave: in which lane of four, or in lanes that begin with one of the seeds, and at which step."""

    fault: str = ""
    lane: int = -1
    seeds: tuple[int, ...] = ()
    at: int = 0
    once: str = ""  # a file: misbehave only if it is not there yet, and make it
    name: str = ""  # the environment's id; default: with the process's id
    copies: bool = True  # there are no others

    made = 0  # copies, in the order of lanes
    spares = 0  # that are made before them

    def __post_init__(self):
        cls = type(self)
        self.number, cls.made = cls.made % (4 + self.spares) - self.spares, cls.made + 1

    def begins(self, seed):
        self.seed, self.count = seed, 0

    def strikes(self):
        """Count a step, and tell whether it is time to misbehave."""
        self.count += 1
        if self.count != self.at or (self.number != self.lane and self.seed not in self.seeds):
            return False
        try:
            return not self.once or not os.close(os.open(self.once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False

    def strike(self):
        """Misbehave in ways that environments and agents share."""
        match self.fault:
            case "exception":
                raise RuntimeError("out of cheese")
            case "error":
                raise rlrun.InvalidAction("no luck")
            case "base exception":
                raise BaseException("out of wine")  # noqa: TRY002
            case "interrupt":
                raise KeyboardInterrupt
            case "sys.exit":
                sys.exit(3)
            case "sys.exit text":
                sys.exit("I have had enough")
            case "exit":
                print("I give up", file=sys.stderr, flush=True)
                os._exit(3)
            case "crash":
                print("no way on", file=sys.stderr, flush=True)
                os.abort()
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
            case "stdout":
                print("printed to standard output")
                os.write(1, b"y" * (1 << 20))


@dataclass
class Faulty(Faults, rlrun.Environment):
    """Misbehaves on demand. Its observation is how often its lane has stepped, modulo 5."""

    id = "test/faulty@1"

    @property
    def spec(self):
        name = self.name or f"test/faulty-{os.getpid()}@1"
        return rlrun.Spec(rlrun.Discrete(5), rlrun.Discrete(3), reward_low=0, id=name)

    def reset(self, seed):
        self.begins(seed)
        return 0

    def step(self, action):
        strikes = self.strikes()
        observation, reward = self.count % 5, 1 + self.seed % 1000 / 1000 if action == 2 else 0.0
        if strikes:
            self.strike()
            match self.fault:
                case "nan":
                    reward = float("nan")
                case "inf":
                    reward = float("inf")
                case "outside":
                    observation = 7
                case "nothing":
                    return None
                case "no reward":
                    reward = None
                case "no observation":
                    observation = None
                case "fraction":
                    observation = 0.5
        return rlrun.TimeStep(observation, reward, self.count == 4)


@dataclass
class Modulo(Faults, rlrun.Agent):
    """Misbehaves on demand. Its action is the observation modulo 3."""

    id = "test/modulo@1"
    spares = 1

    def begin(self, spec, seed):
        self.begins(seed)
        self.wrong = None

    def select_action(self, observation):
        return observation % 3 if self.wrong is None else self.wrong

    def update(self, transition):
        if self.strikes():
            self.strike()
            self.wrong = {"outside": 7, "fraction": 0.5}.get(self.fault)


if __name__ == "__main__":
    print("hello\n" + "x" * (1 << 20), "\nno newline before the handshake", end="")
    rlrun.serve(Modulo if sys.argv[1:] == ["agent"] else Faulty)
