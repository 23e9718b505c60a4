import sys

import numpy as np
import vowpalwabbit
from sklearn.datasets import load_digits

runs, steps = map(int, sys.argv[1:])
features, classes = load_digits(return_X_y=True)
features = features[:, features.std(0) > 0]
features = (features - features.mean(0)) / features.std(0)
rows = ["| " + " ".join(f"{i}:{x:.5g}" for i, x in enumerate(row)) for row in features]
for name, policy in {"ε-greedy": "--epsilon 0.05", "bag": "--bag 5"}.items():
    rewards = []
    for run in range(runs):
        rng = np.random.default_rng(run)
        bandit = vowpalwabbit.Workspace(f"--cb_explore 10 {policy} --random_seed {run} --quiet")
        total = 0
        for _ in range(steps):
            row = rng.integers(len(rows))
            p = np.array(bandit.predict(rows[row]))
            arm = rng.choice(10, p=p / p.sum())
            reward = int(arm == classes[row])
            bandit.learn(f"{arm + 1}:{-reward}:{p[arm]} {rows[row]}")
            total += reward
        rewards.append(total / steps)
    half = 1.96 * np.std(rewards, ddof=1) / np.sqrt(runs)
    print(f"mean reward of {name}: {np.mean(rewards):.6g} ± {half:.2g}")
