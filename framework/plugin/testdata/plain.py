"""The loop that an author would write: so many steps of an example's agent in an example's environment.

It prints the nanoseconds of processor time of a step.
"""

import sys
import time
from pathlib import Path

import rlrun

sys.path.insert(0, str(Path(__file__).parents[3] / "python" / "examples"))
from epsilon_greedy import EpsilonGreedy
from river import River

steps = int(sys.argv[1])
env, agent = River(), EpsilonGreedy()
agent.begin(env.spec, 1)
observation = env.reset(1)
began = time.process_time_ns()
for _ in range(steps):
    action = agent.select_action(observation)
    step = env.step(action)
    agent.update(rlrun.Transition(observation, action, step.reward, step.observation, step.terminated, step.truncated))
    observation = step.observation
print((time.process_time_ns() - began) / steps)
