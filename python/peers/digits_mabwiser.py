import sys

import numpy as np
from mabwiser.mab import MAB, LearningPolicy
from sklearn.datasets import load_digits

runs, steps = map(int, sys.argv[1:])
features, classes = load_digits(return_X_y=True)
features = features[:, features.std(0) > 0]
features = np.c_[(features - features.mean(0)) / features.std(0), np.ones(len(features))]
policies = {"LinUCB": LearningPolicy.LinUCB(alpha=1), "LinTS": LearningPolicy.LinTS(alpha=1)}
for name, policy in policies.items():
    rewards = []
    for run in range(runs):
        rng = np.random.default_rng(run)
        bandit = MAB(list(range(10)), policy, seed=run)
        total = 0
        for step in range(steps):
            row = rng.integers(len(features))
            context = features[row : row + 1]
            arm = bandit.predict(context) if step else int(rng.integers(10))  # it has no arm before the first data
            reward = int(arm == classes[row])
            fit = bandit.partial_fit if step else bandit.fit
            fit([arm], [reward], context)
            total += reward
        rewards.append(total / steps)
    half = 1.96 * np.std(rewards, ddof=1) / np.sqrt(runs)
    print(f"mean reward of {name}: {np.mean(rewards):.6g} ± {half:.2g}")
