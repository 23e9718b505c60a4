"""Solves a finite model with scipy and QuantEcon, for BenchmarkPeers of the Go package mdp.

    python python/peers/solvers.py DIRECTORY STATES ACTIONS GAMMA TOLERANCE ROUNDS METHOD...

The directory has the rows of the model as raw arrays. For each method it prints a line with the method, the median
processor seconds of the rounds, and the sweeps or policies that it took, and leaves the values in METHOD.value. The
error of every value is at most the tolerance. What is compiled at first use is compiled before. A method that takes
more than some 20 seconds of processor time is left out.
"""

from __future__ import annotations

import signal
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import quantecon.markov as qe
from scipy import sparse
from scipy.sparse.linalg import spsolve


def value(p, r, gamma, tolerance):
    """Value iteration until the bounds of MacQueen (1966) meet."""
    v = np.zeros(r.shape[0])
    for sweep in range(1, 100_000):
        w = (r + gamma * (p @ v).reshape(r.shape)).max(axis=1)
        d = w - v
        low, high = d.min(), d.max()
        if (high - low) / 2 * gamma / (1 - gamma) <= tolerance:
            return w + (low + high) / 2 * gamma / (1 - gamma), sweep
        v = w
    raise RuntimeError


def policy(p, r, gamma, _):
    """Policy iteration with sparse elimination."""
    n, actions = r.shape
    pi, v = r.argmax(axis=1), None
    for k in range(1, 1000):
        rows = np.arange(n) * actions + pi
        v = spsolve((sparse.identity(n) - gamma * p[rows]).tocsc(), r.ravel()[rows])
        q = r + gamma * (p @ v).reshape(r.shape)
        better = q.max(axis=1) > q[np.arange(n), pi] + 1e-12 * np.abs(v).max()
        if not better.any():
            return v, k
        pi = np.where(better, q.argmax(axis=1), pi)
    raise RuntimeError


def quantecon(method):
    """Return a solver of QuantEcon: its values are within half of epsilon."""

    def solve(p, r, gamma, tolerance):
        n, actions = r.shape
        pairs = np.arange(n * actions)
        ddp = qe.DiscreteDP(r.ravel(), p, gamma, pairs // actions, pairs % actions)
        found = ddp.solve(method=method, epsilon=2 * tolerance, max_iter=100_000)
        return found.v, found.num_iter

    return solve


def late(*_):
    """Give up."""
    raise TimeoutError


METHODS = {
    "scipy-value": value,
    "scipy-policy": policy,
    "quantecon-modified": quantecon("modified_policy_iteration"),
    "quantecon-policy": quantecon("policy_iteration"),
}


def main() -> None:
    """Solve the model of the command line."""
    directory, states, actions = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    gamma, tolerance, rounds = float(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])

    def read(name, kind):
        return np.fromfile(directory / name, kind)

    p = sparse.csr_matrix((read("prob", "f8"), read("next", "i4"), read("start", "i8")), (states * actions, states))
    r = read("reward", "f8").reshape(states, actions)
    signal.signal(signal.SIGPROF, late)
    for name in sys.argv[7:]:
        solve = METHODS[name]
        solve(sparse.csr_matrix(np.full((2, 1), 1.0)), np.array([[1.0, 0.0]]), gamma, tolerance)
        seconds = []
        signal.setitimer(signal.ITIMER_PROF, 20 * rounds)
        try:
            for _ in range(rounds):
                before = time.process_time()
                v, sweeps = solve(p, r, gamma, tolerance)
                seconds.append(time.process_time() - before)
        except TimeoutError:
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        v.tofile(directory / f"{name}.value")
        print(name, statistics.median(seconds), sweeps, flush=True)


if __name__ == "__main__":
    main()
