"""The rewards of rlrun.bandits have the distributions that they are named after."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rlrun.bandits import REWARDS, DistributionBandit

ALL, N = slice(None), 4000


def drawn(rewards: str, tail: int = 3) -> tuple[np.ndarray, float, float]:
    """Pull an arm of mean 1.7 and spread 0.6 once in each lane."""
    env = DistributionBandit(rewards, arms=2, tail=tail)
    env.open(N)
    env.reset(ALL, np.arange(N, dtype=np.uint64))
    env.means[:, 1], env.spreads[:, 1] = 1.7, 0.6
    return env.step(ALL, np.ones(N, np.int64)).rewards, 1.7, 0.6


@pytest.mark.parametrize("rewards", REWARDS)
def test_distributions(rewards: str) -> None:
    """Kolmogorov and Smirnov's test, and the chi-square test for counts: a false alarm has probability 1e-4 each."""
    x, mean, spread = drawn(rewards)
    if rewards == "poisson":
        seen = np.bincount(x.astype(int), minlength=8)[:7]
        want = N * stats.poisson(mean).pmf(np.arange(7))
        assert stats.chi2(7).sf(((seen - want) ** 2 / want).sum()) > 1e-4
        return
    of = {
        "exponential": stats.expon(scale=mean),
        "normal": stats.norm(mean, spread),
        "student": stats.t(3, loc=mean),
        "pareto": stats.pareto(3, scale=mean * 2 / 3),
    }[rewards]
    assert stats.kstest(x, of.cdf).pvalue > 1e-4


def test_means_are_the_models() -> None:
    env = DistributionBandit("normal", arms=3)
    env.open(2)
    env.reset(ALL, np.array([5, 6], np.uint64))
    assert [r for *_, r in env.model(1).rewards] == env.means[1].tolist()
    assert len(set(env.spreads.ravel())) == 6
