"""The law of spaces: random acts in any environment of Gymnasium as its action_space.sample() does, both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces_of_tests
from gymnasium import spaces as gs
from scipy import stats
from spaces_of_tests import INF, SPACES, STEPS, row

import rlrun
import rlrun.spaces
from rlrun._gymnasium_spaces import decoder, from_gymnasium, to_gymnasium

ALARM = 1e-6
"""The rate of false alarms of all comparisons of a test together."""


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


QUICK = ("int64", "multi-discrete from starts")
"""What is compared in a quick test. The others are slow: each starts its processes."""


@pytest.mark.parametrize(
    "names", [QUICK, pytest.param([n for n in SPACES if n not in QUICK], marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_random_acts_as_sample_does(run, tmp_path: Path, names: list[str]) -> None:
    environments = [
        {
            "name": name,
            "plugin": "gymnasium:tests/Recorder-v0",
            "params": {"import": "spaces_of_tests", "kwargs": {"name": name, "file": str(tmp_path / f"{i}.json")}},
        }
        for i, name in enumerate(names)
    ]
    config = {"runs": 1, "steps": STEPS, "environments": environments, "agents": [{"plugin": "random"}]}
    (tmp_path / "law.yaml").write_text(json.dumps(config))
    (tmp_path / "spaces_of_tests.py").symlink_to(spaces_of_tests.__file__)
    run("run", "law.yaml", "--out", "out")
    comparisons = sum(width(SPACES[name]) for name in names)
    for i, name in enumerate(names):
        SPACES[name].seed(i)
        sampled = [row(SPACES[name].sample()) for _ in range(STEPS)]
        same_distribution(json.loads((tmp_path / f"{i}.json").read_text()), sampled, comparisons)


@pytest.mark.slow
def test_tables_of_boxes_of_integers(run, tmp_path: Path) -> None:
    """Agents with tables act in small boxes of integers as in any finite task. At random 1 in 3 actions is right."""
    plugin = {"plugin": "gymnasium:tests/Match-v0"}
    config = {
        "runs": 4,
        "steps": 2000,
        "environments": [
            {"name": "states", **plugin, "params": {"import": "spaces_of_tests"}},
            {"name": "arms", **plugin, "params": {"import": "spaces_of_tests", "states": False}},
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
    (tmp_path / "spaces_of_tests.py").symlink_to(spaces_of_tests.__file__)
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
