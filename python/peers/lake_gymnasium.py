import sys

import gymnasium
import numpy as np

runs, steps = map(int, sys.argv[1:])
for epsilon in [0.1, 0.3]:
    means = []
    for run in range(runs):
        env = gymnasium.make("FrozenLake-v1")
        rng = np.random.default_rng(run)
        q = np.zeros((env.observation_space.n, env.action_space.n))
        total = 0.0
        state, _ = env.reset(seed=run)
        for _ in range(steps):
            if rng.random() < epsilon:
                action = rng.integers(len(q[state]))
            else:
                action = rng.choice(np.flatnonzero(q[state] == q[state].max()))
            after, reward, terminated, truncated, _ = env.step(action)
            target = reward + 0.99 * (not terminated) * q[after].max()
            q[state, action] += 0.1 * (target - q[state, action])
            total += reward
            state = after
            if terminated or truncated:
                state, _ = env.reset()
        means.append(total / steps)
    half = 1.96 * np.std(means, ddof=1) / np.sqrt(runs)
    print(f"mean reward of ε = {epsilon}: {np.mean(means):.6g} ± {half:.2g}")
