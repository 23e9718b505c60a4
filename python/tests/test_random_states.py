"""Which steps are noticed to draw from the random generators that a process shares."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from rlrun._random_states import RandomStates, Watch, seed


def own() -> None:
    """Draw from a generator of one's own, and look at the shared ones."""
    random.Random(3).random()
    np.random.default_rng(3).random()
    random.getstate()
    np.random.get_state()


def apart() -> None:
    """Draw as an adapter's loop does."""
    with RandomStates():
        random.random()
        np.random.normal()


def seeds() -> None:
    """Seed, then draw."""
    random.seed(5)
    np.random.seed(5)
    random.random()
    np.random.rand(2000)


def many() -> None:
    """Draw through many tables of the generators."""
    np.random.rand(40000)
    random.getrandbits(32 * 20000)


@pytest.mark.parametrize(
    ("step", "drawn"),
    [
        (own, set()),
        (apart, set()),
        (seeds, set()),
        (many, {"random", "numpy.random"}),
        (random.random, {"random"}),
        (lambda: random.gauss(0, 1), {"random"}),
        (np.random.normal, {"numpy.random"}),
        (lambda: np.random.shuffle([1, 2, 3]), {"numpy.random"}),
    ],
)
@pytest.mark.parametrize("number", range(5))
def test_watch(step: Callable[[], None], drawn: set[str], number: int) -> None:
    """Draws are noticed. Those after a seed are the step's own."""
    watch = Watch()
    with RandomStates():
        seed(number)
        watch.step(step)
    assert watch.drawn == drawn


def test_watch_looks_again() -> None:
    """A step that draws later than the first ones is noticed, if it does so often."""
    watch = Watch()
    with RandomStates():
        for k in range(3 * Watch.EVERY):
            watch.step(lambda: random.random() if k > Watch.EVERY else 0)  # noqa: B023
            assert not watch.drawn or k > Watch.EVERY
    assert watch.drawn == {"random"}
