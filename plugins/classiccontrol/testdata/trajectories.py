"""Steps Gymnasium's classic control tasks and writes what happens as JSON.

    python3 -m venv venv
    venv/bin/pip install gymnasium==1.2.2 numpy==2.4.6
    venv/bin/python testdata/trajectories.py > testdata/trajectories.json

Every trajectory starts from a state that is set by hand, so that no random number
is drawn. States are the inner ones, in float64; observations and rewards are what
the environment returns.
"""

import importlib.metadata
import json
import sys

import gymnasium
import numpy

VERSIONS = {"gymnasium": "1.2.2", "numpy": "2.4.6"}


def trajectory(env_id, start, policy, steps, attributes=None, **kwargs):
    """Acts by policy(state, t) from start until the episode ends, at most for steps."""
    env = gymnasium.make(env_id, **kwargs)
    env.reset(seed=0)
    inner = env.unwrapped
    for name, value in (attributes or {}).items():
        setattr(inner, name, value)
    inner.state = numpy.array(start, dtype=numpy.float64)
    out = {
        "id": env_id,
        "settings": {**kwargs, **(attributes or {})},
        "max_steps": env.spec.max_episode_steps,
        "start": list(start),
        "steps": [],
    }
    for t in range(steps):
        action = policy([float(x) for x in inner.state], t)
        observation, reward, terminated, truncated, _ = env.step(action)
        out["steps"].append({
            "action": action,
            "state": [float(x) for x in inner.state],
            "observation": [float(str(x)) for x in observation],
            "reward": float(reward),
            "terminated": bool(terminated),
            "truncated": bool(truncated),
        })
        if terminated or truncated:
            break
    return out


def cycle(actions):
    return lambda state, t: actions[t % len(actions)]


def pump(state, t):
    """Pushes the way the car goes."""
    return 2 if state[1] >= 0 else 0


def balance(state, t):
    """Holds the pole for a while."""
    return 1 if 3 * state[2] + state[3] > 0.1 else 0


def swing(state, t):
    """Gives the acrobot energy."""
    return 2 if state[3] >= 0 else 0


def main():
    found = {name: importlib.metadata.version(name) for name in VERSIONS}
    if found != VERSIONS:
        sys.exit(f"this needs {VERSIONS}, not {found}")
    trajectories = [
        trajectory("MountainCar-v0", [-0.5, 0.0], pump, 200),
        trajectory("MountainCar-v0", [-1.15, -0.06], cycle([0, 0, 1, 2]), 40),
        trajectory("MountainCar-v0", [0.3, 0.05], pump, 40, goal_velocity=0.06),
        trajectory("MountainCar-v0", [-0.45, 0.0], cycle([1]), 200),
        trajectory("CartPole-v1", [0.01, -0.02, 0.03, -0.04], cycle([1, 0, 1]), 100),
        trajectory("CartPole-v1", [0.0, 0.0, 0.04, 0.0], balance, 100),
        trajectory("CartPole-v1", [-2.3, -1.0, 0.0, 0.0], cycle([0, 1]), 100, sutton_barto_reward=True),
        trajectory("Acrobot-v1", [0.05, -0.05, 0.02, 0.01], swing, 130),
        trajectory("Acrobot-v1", [3.0, 2.2, -9.5, -9.4], cycle([0, 0, 1, 2, 2, 2, 0]), 30),
        trajectory("Acrobot-v1", [0.05, -0.05, 0.02, 0.01], swing, 60, {"book_or_nips": "nips"}),
    ]
    print('{"versions": ' + json.dumps(found) + ', "trajectories": [')
    print(",\n".join(json.dumps(t, separators=(",", ":")) for t in trajectories))
    print("]}")


if __name__ == "__main__":
    main()
