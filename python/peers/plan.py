"""Draws models from a posterior with numpy and solves them, as psrl does, for BenchmarkPlan of the Go package mdp.

    python python/peers/plan.py STATES ACTIONS TERMINAL STEPS ROUNDS

It prints the median processor milliseconds of drawing and of solving: policy iteration with dense elimination.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

GAMMA = 0.99


def main() -> None:
    """Draw and solve."""
    states, actions, terminal, steps, rounds = map(int, sys.argv[1:])
    rng = np.random.default_rng(1)
    counts = np.zeros((states, actions, states))
    for s, a, u in zip(*(rng.integers(n, size=steps) for n in counts.shape), strict=True):
        counts[s, a, u] += 1
    drawing, solving = [], []
    for _ in range(rounds):
        began = time.process_time()
        p = rng.standard_exponential(counts.shape)
        seen = counts > 0
        p[seen] = rng.standard_gamma(1 + counts[seen])
        p /= p.sum(axis=2, keepdims=True)
        p[:terminal] = 0
        p[np.arange(terminal), :, np.arange(terminal)] = 1
        r = rng.normal(size=(states, actions))
        r[:terminal] = 0
        drawn = time.process_time()
        pi, rows = None, np.arange(states)
        better = r.argmax(axis=1)
        while pi is None or (better != pi).any():
            pi = better
            v = np.linalg.solve(np.eye(states) - GAMMA * p[rows, pi], r[rows, pi])
            better = (r + GAMMA * p @ v).argmax(axis=1)
        drawing.append(1e3 * (drawn - began))
        solving.append(1e3 * (time.process_time() - drawn))
    print(f"{statistics.median(drawing):.1f} {statistics.median(solving):.1f}")


if __name__ == "__main__":
    main()
