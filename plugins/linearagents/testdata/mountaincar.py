"""Steps per episode of semi-gradient SARSA(lambda) in Sutton & Barto's mountain car.

    python3 testdata/mountaincar.py          # Python 3.11, a few minutes

An implementation apart from rlrun's, with the numbers of Sutton & Barto (2018,
section 10.1): 8 tilings whose tiles are an eighth of the bounds wide, gamma 1,
epsilon 0, weights from 0, and tiles found as in Sutton's tile coding software 3: a
dictionary numbers the tuples of tiling, coordinates and action, and coordinates are
counted from 0, not from the bounds. It prints the means and standard deviations
over runs that learning_test.go compares with.
"""

import math
import random
import statistics

TILINGS = 8
STEP = 0.5


def tiles(numbers, x, v, action):
    """Returns the numbers of the tiles of a state and action, one a tiling."""
    parts = [math.floor(x * 8 / 1.7 * TILINGS), math.floor(v * 8 / 0.14 * TILINGS)]
    found = []
    for t in range(TILINGS):
        key = (t, *((p + t * (2 * i + 1)) // TILINGS for i, p in enumerate(parts)), action)
        found.append(numbers.setdefault(key, len(numbers)))
    return found


def run(trace_decay, episodes, rng):
    """Returns the lengths of the episodes of a run."""
    numbers, weights, lengths = {}, [0.0] * 8000, []

    def look(x, v):
        active = [tiles(numbers, x, v, a) for a in range(3)]
        values = [sum(weights[i] for i in tiling) for tiling in active]
        best = max(values)
        return active, rng.choice([a for a in range(3) if values[a] == best])

    for _ in range(episodes):
        x, v, trace, length = rng.uniform(-0.6, -0.4), 0.0, {}, 0
        active, action = look(x, v)
        while x < 0.5:
            v = min(max(v + 0.001 * (action - 1) - 0.0025 * math.cos(3 * x), -0.07), 0.07)
            x = min(max(x + v, -1.2), 0.5)
            if x == -1.2:
                v = 0.0
            length += 1
            error = -1.0 - sum(weights[i] for i in active[action])
            following, choice = look(x, v)
            if x < 0.5:
                error += sum(weights[i] for i in following[choice])
            trace = {i: e * trace_decay for i, e in trace.items() if e * trace_decay > 1e-6}
            trace.update((i, 1.0) for i in active[action])
            for i, e in trace.items():
                weights[i] += STEP / TILINGS * error * e
            active, action = following, choice
        lengths.append(length)
    return lengths


def main():
    for trace_decay, episodes, runs in [(0, 500, 20), (0.9, 500, 20)]:
        lengths = [run(trace_decay, episodes, random.Random(seed)) for seed in range(runs)]
        for name, part in [("first 50", slice(50)), ("last 50", slice(-50, None))]:
            means = [statistics.mean(run_lengths[part]) for run_lengths in lengths]
            print(f"lambda {trace_decay}, {name} of {episodes}: {statistics.mean(means):.2f} "
                  f"({statistics.stdev(means):.2f}) over {runs} runs")


if __name__ == "__main__":
    main()
