import sys
from functools import partial

import gymnax
import jax
import jax.numpy as jnp
import numpy as np

env, params = gymnax.make("DeepSea-bsuite", size=10)


@partial(jax.jit, static_argnums=2)
def play(key, initial, steps):
    def step(carry, key):
        q, observation, state = carry
        keys = jax.random.split(key, 4)
        here = observation.argmax()
        best = jax.random.categorical(keys[0], jnp.where(q[here] == q[here].max(), 0.0, -jnp.inf))
        explores = jax.random.uniform(keys[1]) < 0.1
        action = jnp.where(explores, jax.random.randint(keys[2], (), 0, 2), best)
        observation, state, reward, terminated, _, info = env.step(keys[3], state, action, params)
        target = reward + 0.99 * (1 - terminated) * q[info["final_observation"].argmax()].max()
        q = q.at[here, action].add(0.1 * (target - q[here, action]))
        return (q, observation, state), reward

    observation, state = env.reset(key, params)
    _, rewards = jax.lax.scan(step, (jnp.full((100, 2), initial), observation, state), jax.random.split(key, steps))
    return rewards.mean()


runs, steps = map(int, sys.argv[1:])
for initial in [0.0, 1.0]:
    means = np.array(jax.vmap(play, (0, None, None))(jax.random.split(jax.random.key(0), runs), initial, steps))
    half = 1.96 * np.std(means, ddof=1) / np.sqrt(runs)
    print(f"mean reward of initial = {initial:g}: {np.mean(means):.6g} ± {half:.2g}")
