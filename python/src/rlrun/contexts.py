"""A contextual bandit on real data, the plugin ``classification-bandit``: ``pip install 'rlrun[contexts]'``.

Each step shows a row of a data set for classification, drawn with replacement. An arm is a class, and the right
one pays 1 (Dudík, Langford & Li 2011; Bietti, Agarwal & Langford 2021). Data sets are those that scikit-learn
brings, so nothing is downloaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlrun.environment import Metric, Spec, TimeSteps, VectorEnvironment
from rlrun.params import param
from rlrun.serve import serve
from rlrun.spaces import Box, Discrete
from rlrun.streams import Lanes, Streams

try:
    from sklearn import datasets
except ImportError as e:
    NEEDS = (
        f"classification-bandit needs scikit-learn, which {sys.executable} does not have: pip install 'rlrun[contexts]'"
    )
    if "RLRUN_PLUGIN" in os.environ:
        sys.exit(NEEDS)
    raise ImportError(NEEDS) from e

DATA_SETS = ("digits", "wine", "breast_cancer", "iris")


@dataclass
class ClassificationBandit(VectorEnvironment):
    """Say which class a row of a data set is of: 1 for the right one, else 0. The right one is not told."""

    id = "rlrun/classification-bandit@1"
    data: str = param("digits", "A data set of scikit-learn: 10, 3, 2 or 3 classes.", choices=DATA_SETS)
    metrics = (Metric("regret", "reward", better="lower", total="last"), Metric("optimal_action", better="higher"))

    def __post_init__(self) -> None:
        """Load the rows. Features are standardised, and those that are constant left out."""
        rows: Any = getattr(datasets, f"load_{self.data}")(return_X_y=True)
        features, self.classes = np.asarray(rows[0], np.float64), np.asarray(rows[1], np.int64)
        spread = features.std(0)
        self.features = ((features - features.mean(0)) / np.where(spread > 0, spread, 1))[:, spread > 0]

    @property
    def spec(self) -> Spec:
        """Describe the task."""
        shape = (self.features.shape[1],)
        actions = Discrete(int(self.classes.max()) + 1)
        return Spec(Box(-np.inf, np.inf, shape, "float64"), actions, reward_low=0, reward_high=1, continuing=True)

    def open(self, lanes: int) -> None:
        """Make so many lanes."""
        self.rng, self.row = Streams(lanes), np.zeros(lanes, np.int64)
        self.mistakes, self.right, self.steps = (np.zeros(lanes) for _ in range(3))

    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Show a first row."""
        self.rng.seed(lanes, seeds)
        self.mistakes[lanes] = self.right[lanes] = self.steps[lanes] = 0
        return self._show(lanes)

    def step(self, lanes: Lanes, actions: NDArray[np.int64]) -> TimeSteps:
        """Judge the answers, and show other rows."""
        rewards = (self.classes[self.row[lanes]] == actions).astype(np.float64)
        self.mistakes[lanes] += 1 - rewards
        self.right[lanes] += rewards
        self.steps[lanes] += 1
        never = np.zeros(len(rewards), np.bool_)
        return TimeSteps(self._show(lanes), rewards, never, never.copy())

    def measure(self, lane: int) -> Mapping[str, float]:
        """Return the mistakes so far, and the share of right answers since the last call."""
        share = self.right[lane] / self.steps[lane] if self.steps[lane] else np.nan
        self.right[lane] = self.steps[lane] = 0
        return {"regret": self.mistakes[lane], "optimal_action": share}

    def _show(self, lanes: Lanes) -> NDArray[np.float64]:
        self.row[lanes] = self.rng.integers(lanes, len(self.classes))
        shown: NDArray[np.float64] = self.features[self.row[lanes]]
        return shown


def serve_classification_bandit() -> None:
    """Serve the plugin classification-bandit."""
    serve(ClassificationBandit)
