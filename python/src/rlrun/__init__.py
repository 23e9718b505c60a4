"""Environments and agents for rlrun, in Python, and its results.

Write a class and serve it:

    from dataclasses import dataclass

    import numpy as np
    import rlrun


    @dataclass
    class Coin(rlrun.Environment):
        '''A coin: name the side it falls on.'''

        id = "me/coin@1"
        bias: float = rlrun.param(0.5, "Probability of heads.", minimum=0, maximum=1)

        @property
        def spec(self):
            return rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(2), reward_low=0, reward_high=1, continuing=True)

        def reset(self, seed):
            self.rng = np.random.default_rng(seed)
            return 0

        def step(self, action):
            return rlrun.TimeStep(0, float(action == (self.rng.random() < self.bias)))


    if __name__ == "__main__":
        rlrun.serve(Coin)

Run an experiment with `run`, read what it found with `read_results`, and compare agents with `compare`. `tune` searches
for the best settings of agents, and `sensitivity` says how much they matter.

The names are the literature's (Sutton & Barto; Gymnasium).
"""

import os

if "RLRUN_PLUGIN" in os.environ:  # before any other module is loaded
    from rlrun import _loading

    _loading.install()

import importlib
from typing import TYPE_CHECKING, Any

from rlrun.agent import Agent, Transition, Transitions, VectorAgent
from rlrun.environment import Environment, Metric, Model, Spec, TimeStep, TimeSteps, VectorEnvironment
from rlrun.errors import Error, InvalidAction, InvalidAnswer, InvalidParams, NeedsReset, Unsupported
from rlrun.options import OptionAgent, Problem, Problems, VectorOptionAgent
from rlrun.params import param
from rlrun.rules import Decision, Decisions, DeclaredOption, Experience, OptionSource, Rule, VectorRule
from rlrun.saved import pack, unpack
from rlrun.serve import serve
from rlrun.spaces import Box, Discrete, MultiDiscrete, Space
from rlrun.streams import Lanes, Streams

if TYPE_CHECKING:
    from rlrun._sensitivity import Sensitivity, sensitivity
    from rlrun.experiment import Experiment, ExperimentError, Interrupted, run
    from rlrun.results import Comparison, Results, compare, read_results
    from rlrun.tuning import Tuning, tune

__all__ = [
    "Agent",
    "Box",
    "Comparison",
    "Decision",
    "Decisions",
    "DeclaredOption",
    "Discrete",
    "Environment",
    "Error",
    "Experience",
    "Experiment",
    "ExperimentError",
    "Interrupted",
    "InvalidAction",
    "InvalidAnswer",
    "InvalidParams",
    "Lanes",
    "Metric",
    "Model",
    "MultiDiscrete",
    "NeedsReset",
    "OptionAgent",
    "OptionSource",
    "Problem",
    "Problems",
    "Results",
    "Rule",
    "Sensitivity",
    "Space",
    "Spec",
    "Streams",
    "TimeStep",
    "TimeSteps",
    "Transition",
    "Transitions",
    "Tuning",
    "Unsupported",
    "VectorAgent",
    "VectorEnvironment",
    "VectorOptionAgent",
    "VectorRule",
    "compare",
    "pack",
    "param",
    "read_results",
    "run",
    "sensitivity",
    "serve",
    "tune",
    "unpack",
]
_LABORATORY = {
    "_sensitivity": ("Sensitivity", "sensitivity"),
    "experiment": ("Experiment", "ExperimentError", "Interrupted", "run"),
    "results": ("Comparison", "Results", "compare", "read_results"),
    "tuning": ("Tuning", "tune"),
}
"""What no plugin needs, by module: it is loaded when it is used, since plugins start often."""


def __getattr__(name: str) -> Any:
    for module, names in _LABORATORY.items():
        if name in names:
            return getattr(importlib.import_module(f"rlrun.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)


def __dir__() -> list[str]:
    """Return the public names, as notebooks complete them."""
    return [*__all__, "__version__"]


__version__ = "0.1.0"
