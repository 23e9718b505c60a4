import sys
import tempfile

import bsuite
import numpy as np
from bsuite.baselines import base, experiment
from bsuite.logging import csv_load


class QLearning(base.Agent):
    def __init__(self, initial, seed):
        self.q = np.full((100, 2), initial)
        self.rng = np.random.default_rng(seed)

    def select_action(self, timestep):
        values = self.q[timestep.observation.argmax()]
        if self.rng.random() < 0.1:
            return int(self.rng.integers(2))
        return int(self.rng.choice(np.flatnonzero(values == values.max())))

    def update(self, timestep, action, new):
        state, after = timestep.observation.argmax(), new.observation.argmax()
        target = new.reward + 0.99 * new.discount * self.q[after].max()
        self.q[state, action] += 0.1 * (target - self.q[state, action])


runs, steps = map(int, sys.argv[1:])
directory = tempfile.mkdtemp()
for initial in [0.0, 1.0]:
    means = []
    for run in range(runs):
        env = bsuite.load_and_record("deep_sea/0", f"{directory}/{initial}/{run}")
        experiment.run(QLearning(initial, run), env, steps // 10)
        results, _ = csv_load.load_bsuite(f"{directory}/{initial}/{run}")
        means.append(results.total_return.iloc[-1] / results.steps.iloc[-1])
    half = 1.96 * np.std(means, ddof=1) / np.sqrt(runs)
    print(f"mean reward of initial = {initial:g}: {np.mean(means):.6g} ± {half:.2g}")
