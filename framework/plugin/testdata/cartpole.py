"""Q-learning on bins of CartPole's observations; with a number of steps, a plain loop's processor time of a step in ns."""

import random
import sys
import time

import gymnasium

import rlrun


class Binned(rlrun.Agent):
    """Q-learning on bins of CartPole's observations."""

    id = "test/binned@1"

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        self.rng = random.Random(seed)
        self.values: dict[tuple[int, ...], list[float]] = {}

    def of(self, observation) -> list[float]:
        x, v, angle, w = observation.tolist()
        return self.values.setdefault((int(2 * x), int(2 * v), int(20 * angle), int(2 * w)), [0.0, 0.0])

    def select_action(self, observation) -> int:
        q = self.of(observation)
        if self.rng.random() < 0.1 or q[0] == q[1]:
            return self.rng.randrange(2)
        return int(q[1] > q[0])

    def update(self, t: rlrun.Transition) -> None:
        q = self.of(t.observation)
        follows = 0.0 if t.terminated else max(self.of(t.next_observation))
        q[t.action] += 0.1 * (t.reward + 0.99 * follows - q[t.action])


def plain(steps: int) -> float:
    env, agent = gymnasium.make("CartPole-v1"), Binned()
    agent.begin(None, 1)
    observation, _ = env.reset(seed=1)
    began = time.process_time_ns()
    for _ in range(steps):
        action = agent.select_action(observation)
        after, reward, terminated, truncated, _ = env.step(action)
        agent.update(rlrun.Transition(observation, action, reward, after, terminated, truncated))
        observation = env.reset()[0] if terminated or truncated else after
    return (time.process_time_ns() - began) / steps


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(plain(int(sys.argv[1])))
    else:
        rlrun.serve(Binned)
