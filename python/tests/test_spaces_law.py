"""The law of spaces: random acts in any environment of Gymnasium as its action_space.sample() does, both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces as gs
from scipy import stats

import rlrun
import rlrun.spaces
from rlrun._gymnasium_spaces import decoder, from_gymnasium, to_gymnasium

INF = np.inf
SPACES: dict[str, gs.Space[Any]] = {
    "discrete": gs.Discrete(5),
    "discrete from a start": gs.Discrete(4, start=-7),
    "discrete of int8": gs.Discrete(3, start=1),
    "multi-discrete": gs.MultiDiscrete([2, 5, 3]),
    "multi-discrete from starts": gs.MultiDiscrete([[2, 3], [4, 1]], start=[[-1, 0], [3, 9]]),
    "multi-binary": gs.MultiBinary(3),
    "multi-binary of a shape": gs.MultiBinary((2, 2)),
    "tuple": gs.Tuple((gs.Discrete(2), gs.Discrete(3, start=2))),
    "int64": gs.Box(-1, 1, (1,), np.int64),
    "int64, a number": gs.Box(-1, 1, (), np.int64),
    "int8": gs.Box(-3, 3, (2,), np.int8),
    "int32, a bound each": gs.Box(np.array([0, -5]), np.array([9, -3]), dtype=np.int32),
    "uint8": gs.Box(0, 255, (2,), np.uint8),
    "some bytes": gs.Box(3, 6, (2,), np.uint8),
    "uint16": gs.Box(65530, 65535, (1,), np.uint16),
    "uint64": gs.Box(7, 9, (1,), np.uint64),
    "bool": gs.Box(0, 1, (2,), np.bool_),
    "int64 from a bound on": gs.Box(2, INF, (2,), np.int64),
    "int64 up to a bound": gs.Box(-INF, 2, (2,), np.int64),
    "int64 without bounds": gs.Box(-INF, INF, (1,), np.int64),
    "int16 without bounds": gs.Box(-INF, INF, (1,), np.int16),
    "float32": gs.Box(-2, 4, (2,), np.float32),
    "float64": gs.Box(-2, 4, (2, 2), np.float64),
    "float16": gs.Box(-2, 4, (1,), np.float16),
    "float32 from a bound on": gs.Box(1, INF, (1,), np.float32),
    "float64 up to a bound": gs.Box(-INF, 1, (1,), np.float64),
    "float64 without bounds": gs.Box(-INF, INF, (1,), np.float64),
    "float32, every kind of bounds": gs.Box(
        np.array([-1, 0, -INF, -INF], np.float32), np.array([1, INF, 0, INF], np.float32)
    ),
}
ALARM = 1e-6
"""The rate of false alarms of all comparisons of a test together."""
STEPS = 2000


class Recorder(gymnasium.Env[Any, Any]):
    """An environment that writes the actions that it gets to a file, all of which must be in the space."""

    observation_space = gs.Discrete(1)

    def __init__(self, name: str, file: str) -> None:
        self.action_space, self._file = SPACES[name], Path(file)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._seen: list[Any] = []
        return 0, {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self._seen.append(row(action))
        if len(self._seen) == STEPS:
            self._file.write_text(json.dumps(self._seen))
        return 0, 0.0, False, False, {}


gymnasium.register("tests/Recorder-v0", entry_point=Recorder)


def row(value: Any) -> list[float]:
    """Return a value as a list of numbers."""
    return [float(x) for x in np.ravel(np.asarray(value))]


def same_distribution(a: Any, b: Any, comparisons: int) -> None:
    """Compare each element of two samples by a χ² test of homogeneity."""
    for x, y in zip(np.transpose(a), np.transpose(b), strict=True):
        together = np.concatenate([x, y])
        edges = np.unique(np.quantile(together, np.linspace(0, 1, 21)[1:-1]))  # cells of a twentieth or more
        table = np.array([np.bincount(np.searchsorted(edges, z), minlength=len(edges) + 1) for z in (x, y)])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] > 1:
            assert stats.chi2_contingency(table).pvalue > ALARM / comparisons, (table, edges)


def width(space: gs.Space[Any]) -> int:
    return len(row(space.sample()))


def test_integers_are_equally_likely_in_the_comparison() -> None:
    """The comparison can fail: reals between the bounds of integers that are cut off are none of these."""
    space = gs.Box(-1, 1, (1,), np.int64)
    space.seed(1)
    cut = np.random.default_rng(1).uniform(-1, 1, (STEPS, 1)).astype(np.int64)
    with pytest.raises(AssertionError):
        same_distribution([row(space.sample()) for _ in range(STEPS)], cut, 1)


QUICK = ("int64", "bool", "int64 from a bound on", "multi-discrete from starts")
"""What is compared in a quick test. The others are slow: each starts its processes."""


@pytest.mark.parametrize(
    "names", [QUICK, pytest.param([n for n in SPACES if n not in QUICK], marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_random_acts_as_sample_does(run, tmp_path: Path, names: list[str]) -> None:
    environments = [
        {
            "name": name,
            "plugin": "gymnasium:tests/Recorder-v0",
            "params": {"import": "test_spaces_law", "kwargs": {"name": name, "file": str(tmp_path / f"{i}.json")}},
        }
        for i, name in enumerate(names)
    ]
    config = {"runs": 1, "steps": STEPS, "environments": environments, "agents": [{"plugin": "random"}]}
    (tmp_path / "law.yaml").write_text(json.dumps(config))
    (tmp_path / "test_spaces_law.py").symlink_to(__file__)
    run("run", "law.yaml", "--out", "out")
    comparisons = sum(width(SPACES[name]) for name in names)
    for i, name in enumerate(names):
        SPACES[name].seed(i)
        sampled = [row(SPACES[name].sample()) for _ in range(STEPS)]
        same_distribution(json.loads((tmp_path / f"{i}.json").read_text()), sampled, comparisons)


class Match(gymnasium.Env[Any, Any]):
    """Pays 1 for the action that is the difference of two bits, all of them integers of boxes."""

    observation_space = gs.Box(0, 1, (2,), np.int32)
    action_space = gs.Box(-1, 1, (), np.int8)

    def __init__(self, states: bool = True) -> None:
        if not states:
            self.observation_space = gs.Box(1, 1, (2,), np.int32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self._draw(), {}

    def step(self, action: Any) -> Any:
        reward = float(action == self._bits[0] - self._bits[1])
        return self._draw(), reward, False, False, {}

    def _draw(self) -> Any:
        self._bits = self.np_random.integers(self.observation_space.low, 2, dtype=np.int32)
        return self._bits


gymnasium.register("tests/Match-v0", entry_point=Match)


@pytest.mark.slow
def test_tables_of_boxes_of_integers(run, tmp_path: Path) -> None:
    """Agents with tables act in small boxes of integers as in any finite task. At random 1 in 3 actions is right."""
    plugin = {"plugin": "gymnasium:tests/Match-v0"}
    config = {
        "runs": 4,
        "steps": 2000,
        "environments": [
            {"name": "states", **plugin, "params": {"import": "test_spaces_law"}},
            {"name": "arms", **plugin, "params": {"import": "test_spaces_law", "states": False}},
        ],
        "agents": [
            {"plugin": "q-learning"},
            {
                "name": "bandit",
                "plugin": "bandit",
                "params": {"policy": {"kind": "epsilon-greedy"}},
            },
        ],
        "matrix": {"skip_incompatible": True},
    }
    (tmp_path / "match.yaml").write_text(json.dumps(config))
    (tmp_path / "test_spaces_law.py").symlink_to(__file__)
    run("run", "match.yaml", "--out", "out")
    outcomes = rlrun.read_results(tmp_path / "out").outcomes
    rewards = outcomes[outcomes.metric == "reward"].groupby(["environment", "agent"]).value.mean()
    assert len(rewards) == 3
    assert rewards.min() > 0.5, rewards


@pytest.mark.parametrize("name", SPACES)
def test_values_go_there_and_back(name: str) -> None:
    """An element of the space is the same one after it went to rlrun and came back, in the same type."""
    space = SPACES[name]
    (ours, encode), decode = from_gymnasium(space), decoder(space)
    space.seed(1)
    for _ in range(30):
        value = space.sample()
        column = rlrun.spaces.zeros(ours, 1)
        column[0] = encode(value)
        assert not ours.outside(column)[0]
        back = decode(ours.value(column[0]))
        assert space.contains(back)
        assert row(back) == row(value)


OURS: list[rlrun.Space] = [
    rlrun.Discrete(5, 2),
    rlrun.MultiDiscrete([2, 7]),
    rlrun.Box(-1.5, 1.5, (2,), "int64"),
    rlrun.Box(-np.inf, 3, (2,), "int64"),
    rlrun.Box(-np.inf, np.inf, (1,), "int64"),
    rlrun.Box(0.5, np.inf, (2,), "uint8"),
    rlrun.Box(-1, [1, np.inf], (2,), "float32"),
    rlrun.Box(-np.inf, np.inf, (), "float64"),
]


@pytest.mark.parametrize("space", OURS, ids=str)
def test_our_spaces_in_gymnasium(space: rlrun.Space) -> None:
    """What Gymnasium samples from the space that stands for one of ours is in ours."""
    theirs = to_gymnasium(space)
    theirs.seed(1)
    column = rlrun.spaces.zeros(space, 200)
    for i in range(len(column)):
        column[i] = rlrun.spaces.as_entry(space, theirs.sample(), "the value")
    assert not space.outside(column).any()
    if not isinstance(space, rlrun.Box) or np.isfinite([space.low, space.high]).all():
        assert len(np.unique(column)) > 1


@pytest.mark.parametrize(
    "space",
    [
        gs.Dict({"a": gs.Discrete(2)}),
        gs.Tuple((gs.Discrete(2), gs.Box(0, 1))),
        gs.Text(3),
        gs.Sequence(gs.Discrete(2)),
        gs.Graph(gs.Discrete(2), None),
        gs.OneOf((gs.Discrete(2), gs.Discrete(3))),
        gs.Box(0, 2**63, (1,), np.uint64),
        gs.Box(-(2**60), 0, (1,), np.int64),
    ],
    ids=str,
)
def test_actions_that_are_refused(space: gs.Space[Any]) -> None:
    with pytest.raises(rlrun.Unsupported, match="rlrun has no"):
        decoder(space)


def test_integers_out_of_range_are_no_actions() -> None:
    """A bound that a type has without being told is kept, too."""
    decode = decoder(gs.Box(-INF, INF, (1,), np.int16))
    with pytest.raises(rlrun.InvalidAction, match="40000, which int16 does not have"):
        decode(np.array([40000]))
    decode = decoder(gs.Box(-INF, INF, (1,), np.float32))
    with pytest.raises(rlrun.InvalidAction, match=r"1e\+39, which float32 does not have"):
        decode(np.array([1e39]))


def test_boxes_of_integers_are_numbered_on_request() -> None:
    space = gs.Box(-1, 1, (2,), np.int64)
    ours, encode = from_gymnasium(space, numbered=True)
    assert ours == rlrun.Discrete(9)
    assert encode(np.array([0, -1])) == 3
    assert decoder(space, numbered=True)(3).tolist() == [0, -1]
    image = gs.Box(0, 255, (4, 4), np.uint8)
    assert from_gymnasium(image, numbered=True)[0] == rlrun.Box(0, 255, (4, 4), "uint8")
