"""Action masks: environments and agents of authors, Gymnasium's in both directions, and what is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import rlrun
import rlrun.to_gymnasium
from rlrun import spaces, testing
from rlrun._from_gymnasium_params import _MaskOfObservation
from rlrun.from_gymnasium import probe

STAIRS = '''
import numpy as np
import rlrun
import rlrun.adapters


class Stairs(rlrun.Environment):
    """Steps 0 to 3; the ends lack the action that would leave them, and a fall is an exception."""

    id = "tests/stairs@1"

    def __init__(self, bug: str = "") -> None:
        self.bug = bug

    @property
    def spec(self):
        return rlrun.Spec(rlrun.Discrete(4), rlrun.Discrete(2, 5), 0, 1)

    def reset(self, seed):
        self.at, self.left = seed % 4, 20
        return self.at

    def action_mask(self):
        if self.bug and self.left < 15:
            return {"none": [0, 0], "short": [1], "two": [0, 2], "nan": [np.nan, 1], "little": [1e-9, 1],
                    "text": ["1", "0"]}[self.bug]
        return [self.at > 0, self.at < 3]

    def step(self, action):
        self.at += 2 * (action - 5) - 1
        self.left -= 1
        assert 0 <= self.at <= 3, "it fell"
        return rlrun.TimeStep(self.at, self.at / 3, truncated=self.left == 0)


class VectorStairs(rlrun.VectorEnvironment):
    """The same, in numpy."""

    id = "tests/stairs@1"
    spec = rlrun.Spec(rlrun.Discrete(4), rlrun.Discrete(2, 5), 0, 1)

    def open(self, lanes):
        self.at, self.left = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)

    def reset(self, lanes, seeds):
        self.at[lanes], self.left[lanes] = (seeds % 4).astype(np.int64), 20
        return self.at[lanes]

    def action_masks(self, lanes):
        return np.stack([self.at[lanes] > 0, self.at[lanes] < 3], axis=1)

    def step(self, lanes, actions):
        self.at[lanes] += 2 * (actions - 5) - 1
        self.left[lanes] -= 1
        at = self.at[lanes]
        assert ((at >= 0) & (at <= 3)).all()
        return rlrun.TimeSteps(at, at / 3, np.zeros(len(at), bool), self.left[lanes] == 0)


class Climber(rlrun.Agent):
    """Goes up where it may."""

    id = "tests/climber@1"

    def begin(self, spec, seed):
        if not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("actions must be discrete")
        self.mask, self.spec = np.ones(spec.action.n, bool), spec

    def set_action_mask(self, mask):
        self.mask = mask.copy()

    def select_action(self, observation):
        return int(np.flatnonzero(self.mask)[-1]) + self.spec.action.start

    def update(self, transition):
        assert self.mask.any() or transition.terminated


class Climbers(rlrun.VectorAgent):
    """The same for all lanes."""

    id = "tests/climber@1"

    def open(self, spec, lanes):
        if not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported("actions must be discrete")
        self.spec, self.masks = spec, np.ones((lanes, spec.action.n), bool)

    def begin(self, lanes, seeds):
        pass

    def set_action_masks(self, lanes, masks):
        self.masks[lanes] = masks

    def select_actions(self, lanes, observations):
        masks = self.masks[lanes]
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1) + self.spec.action.start

    def update(self, lanes, transitions):
        pass


class Loop(rlrun.adapters.MaskedLearner):
    """A training loop that goes up where it may, by the info or by the method of sb3-contrib."""

    id = "tests/loop@1"

    def learn(self, env, seed, steps):
        while True:
            (_, info), over = env.reset(), False
            while not over:
                assert (info["action_mask"] == env.action_masks()).all()
                *_, terminated, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[-1]) + 5)
                over = terminated or truncated

    def act(self, observation):
        return int(np.flatnonzero(self.action_mask)[-1]) + 5


class Blind(rlrun.Agent):
    """Reads no masks."""

    id = "tests/blind@1"

    def begin(self, spec, seed):
        pass

    def select_action(self, observation):
        return 5

    def update(self, transition):
        pass


if __name__ == "__main__":
    import sys

    rlrun.serve(globals()[sys.argv[1]])
'''


@pytest.fixture
def stairs(tmp_path: Path) -> str:
    """The file of the plugins."""
    path = tmp_path / "stairs.py"
    path.write_text(STAIRS)
    return str(path)


@pytest.mark.parametrize("name", ["Stairs", "VectorStairs", "Climber", "Climbers"])
@pytest.mark.slow
def test_plugins_keep_every_rule(program, stairs: str, name: str) -> None:
    testing.check(stairs, name)


def experiment(stairs: str, environment: str, agent: str, runs: int = 3, **params: Any) -> Any:
    """Make runs of 60 steps."""
    python = {"plugin": rlrun.client.sys.executable}
    agents = [{"plugin": agent}] if "-" in agent or agent == "random" else [python | {"args": [stairs, agent]}]
    environments = [python | {"args": [stairs, environment], "params": params}]
    config = {"environments": environments, "agents": agents, "runs": runs, "steps": 60, "seed": 1}
    return rlrun.run(config, output=Path(stairs).parent / f"{environment}-{agent}", progress=False)


@pytest.mark.slow
def test_a_batch_is_its_copies_and_agents_climb(program, stairs: str) -> None:
    want: Any = None
    for environment in ("Stairs", "VectorStairs"):
        for agent in ("Climber", "Climbers", "Loop"):
            curves = experiment(stairs, environment, agent).curves
            rewards = curves[curves["metric"] == "reward"]["value"].tolist()
            want = want or rewards
            assert rewards == want
    assert want[-1] > 0.5  # it goes up, and back and forth at the top
    assert len(experiment(stairs, "Stairs", "q-learning").runs) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "message"),
    [
        ("none", "the action mask allows no action"),
        ("short", r"the action mask of shape \(1,\), must be of shape \(2,\)"),
        ("two", r"the action mask is \[0, 2\], of type int64, must be of True and False, or of whole numbers 0 and 1"),
        ("nan", r"the action mask is \[nan, 1.0\], of type float64, must be"),
        ("little", r"the action mask is \[1e-09, 1.0\], of type float64, must be"),
        ("text", r"the action mask has texts \(\['1', '0'\]\), must be True and False"),
    ],
)
def test_masks_that_are_none(program, stairs: str, bug: str, message: str) -> None:
    with pytest.raises(rlrun.ExperimentError, match=message):
        experiment(stairs, "Stairs", "random", runs=1, bug=bug)  # of several, each failing one is tried alone


def test_an_agent_that_reads_no_masks_is_refused_before_the_run(program, stairs: str) -> None:
    with pytest.raises(rlrun.ExperimentError, match="this agent does not read masks: choose one with"):
        experiment(stairs, "Stairs", "Blind")


def test_in_gymnasium(program, stairs: str) -> None:
    command = [rlrun.client.sys.executable, stairs, "Stairs"]
    with closing(rlrun.to_gymnasium.make(command)) as env:
        env.action_space.seed(1)
        _, info = env.reset(seed=1)
        for _ in range(100):
            assert info["action_mask"].dtype == np.int8
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            if terminated or truncated:
                _, info = env.reset()
    with closing(rlrun.to_gymnasium.make_vec(command, 3)) as envs:
        at, info = envs.reset(seed=1)
        assert info["action_mask"].tolist() == [[int(s > 0), int(s < 3)] for s in at]
        at, *_, info = envs.step([5 + int(mask[1]) for mask in info["action_mask"]])
        assert info["action_mask"].tolist() == [[int(s > 0), int(s < 3)] for s in at]
        assert info["_action_mask"].all()
    with closing(rlrun.to_gymnasium.make("riverswim")) as env:
        assert env.reset(seed=1)[1] == {}


class Board(gymnasium.Env[Any, Any]):
    """A task in PettingZoo's convention: each of three squares can be taken once."""

    observation_space = gymnasium.spaces.Dict(
        {"observation": gymnasium.spaces.MultiBinary(3), "action_mask": gymnasium.spaces.Box(0, 1, (3,), np.int8)}
    )
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, bug: Any = None, late: bool = False) -> None:
        self.bug, self.late = bug, late

    def _seen(self) -> Any:
        seen = {"observation": self.taken.copy(), "action_mask": 1 - self.taken}
        if self.bug is None or (self.late and not self.taken.any()):
            return seen
        return {"array": self.taken.copy(), "none": {"observation": self.taken.copy()}}.get(
            str(self.bug), seen | {"action_mask": self.bug}
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.taken = np.zeros(3, np.int8)
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        assert not self.taken[action]
        self.taken[action] = 1
        return self._seen(), float(action == 2), bool(self.taken.all()), False, {}


class InInfo(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The mask is in the info of a reset alone."""

    observation_space = Board.observation_space["observation"]

    def reset(self, **kwargs: Any) -> Any:
        both, info = self.env.reset(**kwargs)
        return both["observation"], info | {"action_mask": both["action_mask"]}

    def step(self, action: Any) -> Any:
        both, *rest = self.env.step(action)
        return both["observation"], *rest


@pytest.mark.slow
def test_of_gymnasium(program, run, tmp_path: Path) -> None:
    (tmp_path / "boards.py").write_text(
        f"import gymnasium, sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_masks import Board, InInfo\ngymnasium.register('tests/Board-v0', entry_point=Board)\n"
    )
    plugin = "gymnasium:boards:tests/Board-v0"
    assert "keeps every rule" in run("plugin", "check", "--param=masks=true", plugin)
    (tmp_path / "x.yaml").write_text(
        "runs: 2\nsteps: 30\nseed: 1\noutputs: [csv]\nenvironments:\n"
        f"  - {{name: board, plugin: '{plugin}', params: {{masks: true, enumerate: true}}}}\n"
        "  - {name: taxi, plugin: 'gymnasium:Taxi-v4', params: {masks: true}}\n"
        "agents: [{plugin: random}, {plugin: q-learning}, {plugin: psrl, params: {horizon: 3}}]\n"
    )
    run("run", "x.yaml")
    lacks = run("plugin", "check", "--param=masks=true", "gymnasium:FrozenLake-v1", fails=True)
    assert "masks is true, and FrozenLake-v1 gives none: the info of its reset has prob" in lacks
    wrapped = "--param=wrappers=[{name: 'test_masks:InInfo'}]"
    assert "info has no action_mask, and that of the first" in run(
        "plugin", "check", "--param=masks=true", wrapped, plugin, fails=True
    )


@pytest.mark.parametrize(
    ("bug", "says"),
    [
        (
            "array",
            r"the observation is array\(\[0, 0, [01]\].*\), and its space says a dict with the keys observation and",
        ),
        (
            "none",
            "the observation is {'observation': .*}, and its space says a dict with the keys observation and action",
        ),
        ([1e-9, 1, 1], r"the action mask.* is \[1e-09, 1.0, 1.0\], of type float64, must be of True and False"),
        ([1.0, 0.0, 1.0], r"the action mask.* is \[1.0, 0.0, 1.0\], of type float64, must be .* whole numbers 0 and 1"),
        ([-1, 1, 1], r"the action mask.* is \[-1, 1, 1\], of type int64, must be of True and False"),
        (["1", "0", "1"], r"the action mask.* has texts \(\['1', '0', '1'\]\), must be True and False"),
        ([0, 0, 0], "the action mask .*allows no action"),
        ([1, 1], r"the action mask.* of shape \(2,\), must be of shape \(3,\)"),
    ],
)
def test_odd_masks_are_refused_at_once_or_where_they_come(bug: Any, says: str) -> None:
    with pytest.raises(rlrun.InvalidParams, match=says):
        probe(_MaskOfObservation(Board(bug)), None, masks=True)
    env = _MaskOfObservation(Board(bug, late=True))
    probe(env, None, masks=True)
    env.reset(seed=1)
    if bug != [0, 0, 0]:  # which the host refuses, where the episode goes on
        with pytest.raises(rlrun.InvalidAnswer, match=says):
            spaces.as_masks(env.step(2)[-1]["action_mask"], (3,), "the action mask")


def test_taxi_is_gymnasiums(program) -> None:
    ours = SyncVectorEnv([lambda: rlrun.to_gymnasium.make("gymnasium:Taxi-v4", masks=True)])
    with closing(ours):
        at, info = ours.reset(seed=3)
        theirs: Any = gymnasium.make("Taxi-v4").unwrapped
        for _ in range(30):
            assert (info["action_mask"][0] == theirs.action_mask(int(at[0]))).all()
            at, *_, info = ours.step([int(np.flatnonzero(info["action_mask"][0])[-1])])
