"""A program of a user, for mypy: what the functions for experiments take and return."""

from pathlib import Path

from typing_extensions import assert_type

import rlrun


class Still(rlrun.Agent):
    """Acts alike."""

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        """Begin a run."""

    def select_action(self, observation: object) -> int:
        """Return an action."""
        return 0

    def update(self, t: rlrun.Transition) -> None:
        """Learn nothing."""


experiment = rlrun.Experiment(environments=["chain"], agents=[Still, {"plugin": "psrl"}], runs=2, steps=10, seed=1)
results = assert_type(rlrun.run(experiment, output=Path("out"), on_run=print), rlrun.Results)
comparison = assert_type(results.compare(against="best", margin={"chain": 0.1}), rlrun.Comparison)
results.plot("reward", "curves.pdf").savefig("curves.png")
try:
    rlrun.run({"environments": ["chain"], "agents": ["psrl"]}, settings={"runs": 1})
except rlrun.ExperimentError as e:
    print(assert_type(e.path, str | None), assert_type(e.results, rlrun.Results | None))
