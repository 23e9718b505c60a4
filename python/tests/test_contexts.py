"""The bandit on data pays for the right class, and its rows are drawn evenly."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")
from rlrun.contexts import ClassificationBandit

ALL = slice(None)


@pytest.mark.parametrize(
    ("data", "features", "classes"), [("digits", 61, 10), ("wine", 13, 3), ("breast_cancer", 30, 2), ("iris", 4, 3)]
)
def test_right_answers_pay(data, features: int, classes: int) -> None:
    env = ClassificationBandit(data=data)
    assert (env.spec.observation.shape, env.spec.action.n) == ((features,), classes)
    env.open(3)
    seen = env.reset(ALL, np.arange(3, dtype=np.uint64))
    for n in range(1, 40):
        right = env.classes[env.row]
        np.testing.assert_array_equal(seen, env.features[env.row])
        t = env.step(
            ALL, np.array([right[0], (right[1] + 1) % classes, right[2] if n % 2 else (right[2] + 1) % classes])
        )
        assert t.rewards.tolist() == [1, 0, n % 2]
        seen = t.observations
    measured = [(m["regret"], m["optimal_action"]) for m in map(env.measure, range(3))]
    assert measured == [(0, 1), (39, 0), (19, 20 / 39)]


def test_rows_are_drawn_evenly() -> None:
    """Classes are drawn by their share: chi-square of 3 classes, at a probability of 1e-4 of a false alarm."""
    env = ClassificationBandit(data="wine")
    env.open(3000)
    env.reset(ALL, np.arange(3000, dtype=np.uint64))
    drawn, share = np.bincount(env.classes[env.row], minlength=3), np.bincount(env.classes) / len(env.classes)
    assert ((drawn - 3000 * share) ** 2 / (3000 * share)).sum() < 18.4
