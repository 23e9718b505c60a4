import sys

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

runs, steps = map(int, sys.argv[1:])
arms = list(range(10))
means = 0.05 + 0.1 * np.arange(10)
policies = {"UCB1": LearningPolicy.UCB1(), "Thompson": LearningPolicy.ThompsonSampling()}
for name, policy in policies.items():
    regrets = []
    for run in range(runs):
        rng = np.random.default_rng(run)
        bandit = MAB(arms, policy, seed=run)
        bandit.fit(arms, (rng.random(10) < means).astype(int))  # an arm without data is never predicted
        regret = np.sum(means.max() - means)
        for _ in range(steps - 10):
            arm = bandit.predict()
            bandit.partial_fit([arm], [int(rng.random() < means[arm])])
            regret += means.max() - means[arm]
        regrets.append(regret)
    half = 1.96 * np.std(regrets, ddof=1) / np.sqrt(runs)
    print(f"regret of {name}: {np.mean(regrets):.6g} ± {half:.2g}")
