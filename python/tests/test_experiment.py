"""Experiments that Python starts: classes of notebooks, errors, interrupts, figures."""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import json
import math
import os
import pickle
import pickletools
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import pandas as pd
import pytest

import rlrun
from rlrun import _pickles, _programs
from rlrun.experiment import _Host
from rlrun.results import _estimate
from rlrun.serve import check_methods

pytestmark = pytest.mark.usefixtures("program")


def greedy(epsilon: float = 0.1, agent: Any = rlrun.Agent) -> type:
    """Make a class that no other process can import; its closure has epsilon."""

    class Greedy(agent):
        def begin(self, spec, seed):
            self.rng = np.random.default_rng(seed)
            self.pulls, self.mean = np.zeros(spec.action.n), np.zeros(spec.action.n)

        def select_action(self, observation):
            return int(self.rng.integers(len(self.mean)) if self.rng.random() < epsilon else np.argmax(self.mean))

        def update(self, t):
            self.pulls[t.action] += 1
            self.mean[t.action] += (t.reward - self.mean[t.action]) / self.pulls[t.action]

    return Greedy


def slow() -> type:
    """Make a class whose runs take long enough to be interrupted."""

    class Slow(greedy(0.3)):
        def update(self, t):
            super().update(t)
            time.sleep(0.001)

    return Slow


@dataclass
class Walk(rlrun.Environment):
    """A walk to the right, of a module that can be imported."""

    id = "test/walk@1"
    length: int = rlrun.param(4, "Places.", minimum=1)
    kind: Literal["plain", "slippery"] = "plain"

    @property
    def spec(self):
        return rlrun.Spec(rlrun.Discrete(self.length + 1), rlrun.Discrete(2), reward_low=0, reward_high=1)

    def reset(self, seed):
        self.place = 0
        return 0

    def step(self, action):
        self.place = max(self.place + (1 if action == 1 else -1), 0)
        return rlrun.TimeStep(self.place, float(self.place == self.length), terminated=self.place == self.length)


class Lever(gymnasium.Env):
    """An environment of Gymnasium that is registered nowhere."""

    observation_space, action_space = gymnasium.spaces.Discrete(1), gymnasium.spaces.Discrete(2)

    def __init__(self, pays: float = 1.0):
        self.pays = pays

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, self.pays * float(action), True, False, {}


SMALL: dict[str, Any] = {"runs": 4, "steps": 50, "seed": 3}
THOMPSON = {"name": "Thompson", "plugin": "bandit", "params": {"policy": {"kind": "thompson"}}}
BANDIT = {"plugin": "bernoulli-bandit", "params": {"means": np.array([0.3, 0.8])}}


@pytest.mark.slow
def test_names_mappings_and_classes(tmp_path: Path) -> None:
    slow = {"name": "often", "plugin": greedy(), "params": {}}
    experiment = rlrun.Experiment(environments=[BANDIT], agents=[greedy(0.3), slow, THOMPSON], **SMALL)
    results = rlrun.run(experiment, output=tmp_path / "out", progress=False)
    assert isinstance(results, rlrun.Results)
    assert set(results.runs["agent"]) == {"Greedy", "often", "Thompson"}
    assert set(results.runs["status"]) == {"ok"}
    # What was written is the class, with its closures: two programs, each with its source.
    names = sorted(p.name for p in (tmp_path / "out" / "programs").iterdir())
    assert [n.partition("-")[0] + n[-7:] for n in names] == ["Greedy" + e for e in (".pickle", "9.py")] or len(
        names
    ) == 4
    assert all("def select_action" in p.read_text() for p in (tmp_path / "out" / "programs").glob("*.py"))
    # A call with nothing left to do takes the runs that are there; more runs are added to them.
    made = {p: p.read_bytes() for p in (tmp_path / "out" / "runs").iterdir()}
    again = rlrun.run(experiment, output=tmp_path / "out", progress=False, runs=6)
    assert all(p.read_bytes() == data for p, data in made.items())
    assert len(again.runs) == 18
    assert len(again.compare().comparisons) == 2


@pytest.mark.slow
def test_classes_of_modules_are_imported(tmp_path: Path) -> None:
    agents = ["q-learning"]
    slippery = {"plugin": Walk, "params": {"length": 2, "kind": "slippery"}}
    lever = {"name": "two", "plugin": Lever, "params": {"pays": 2.0}}
    results = rlrun.run({"environments": [slippery, Lever, lever], "agents": agents, **SMALL}, output=tmp_path / "out")
    assert not (tmp_path / "out" / "programs").exists()
    assert "test_experiment:Walk" in (tmp_path / "out" / "experiment.yaml").read_text()
    mean = results.summary.query("metric == 'reward'").set_index("environment")["mean"]
    assert mean["two"] == pytest.approx(2 * mean["Lever"])
    assert mean["Lever"] > 0.5


@pytest.mark.slow
def test_a_class_is_the_same_by_value_and_by_name(tmp_path: Path) -> None:
    """Results depend on what a class does, not on how it reached the process."""
    source = textwrap.dedent(
        """
        import pathlib, sys
        import rlrun
        from test_experiment import BANDIT, SMALL, greedy
        rlrun.run({"environments": [BANDIT], "agents": [greedy(0.3)], **SMALL}, output="%s", progress=False)
        """
    )
    (tmp_path / "script.py").write_text(source % (tmp_path / "script"))
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    subprocess.run([sys.executable, tmp_path / "script.py"], env=environ, check=True)
    here = rlrun.run(
        {"environments": [BANDIT], "agents": [greedy(0.3)], **SMALL}, output=tmp_path / "here", progress=False
    )
    pd.testing.assert_frame_equal(here.curves, rlrun.read_results(tmp_path / "script").curves)
    # Two processes give an equal class one name, so that one goes on where another was stopped.
    assert [p.name for p in sorted((tmp_path / "here" / "programs").iterdir())] == [
        p.name for p in sorted((tmp_path / "script" / "programs").iterdir())
    ]


def written(cls: type, folder: Path) -> str:
    return Path(_programs.command(cls, folder)["args"][-1]).name


def test_another_closure_or_global_is_another_program(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__", "Base": greedy()}
    source = """
scale = {scale}
def helper(x):
    return x * scale
class Agent(Base):
    kinds = {{"a", "b", "c"}}
    def select_action(self, observation):
        return {body}
"""

    def of(scale: str = "2", body: str = "helper(1)") -> str:
        exec(source.format(scale=scale, body=body), names)
        return written(names["Agent"], tmp_path)

    assert of() == of()
    assert len({of(), of(scale="3"), of(body="helper(2)"), of(body="helper(scale)")}) == 4
    assert written(greedy(0.1), tmp_path) == written(greedy(0.1), tmp_path) != written(greedy(0.2), tmp_path)
    assert written(greedy(agent=type("Other", (rlrun.Agent,), {})), tmp_path) != written(greedy(), tmp_path)


KINDS = {
    "which of two functions of one name": (
        "def make(p):\n    def reward(): return p\n    return reward\na, b = make(0), make(1)\nchosen = {0}",
        ("a", "b"),
        "a() + b() + chosen()",
    ),
    "an enum of texts": (
        "class Mode(str, enum.Enum):\n    X = 'x'\n    def pay(self): return {0}\nMODE = Mode.X",
        ("0", "1"),
        "MODE.pay()",
    ),
    "an enum of numbers": (
        "class Mode(enum.IntEnum):\n    X = 1\n    def pay(self): return {0}\nMODE = Mode.X",
        ("0", "1"),
        "MODE.pay()",
    ),
    "a subclass of dict": ("class D(dict):\n    def pay(self): return {0}\nD1 = D()", ("0", "1"), "D1.pay()"),
    "an attribute of a number": ("class F(float): pass\nF1 = F(1)\nF1.pay = {0}", ("0", "1"), "F1.pay"),
    "an attribute of a function": ("def f(): return f.pay\nf.pay = {0}", ("0", "1"), "f()"),
    "a digest in a closure": (
        "def make(digest):\n    def f(): return digest\n    return f\nf = make('{0}')",
        ("0" * 32, "1" * 32),
        "f()",
    ),
    "a type variable": ("T = typing.TypeVar('T', bound={0})", ("int", "float"), "T.__bound__"),
    "one list or two": ("A = []\nB = {0}", ("A", "[]"), "len(A) + len(B)"),
    "a key of a table": ("A = dict(x=1, {0})", ("", "__firstlineno__=2"), "len(A)"),
    "a named tuple's method": (
        "class N(typing.NamedTuple):\n    x: int\n    def pay(self): return {0}\nN1 = N(1)",
        ("0", "1"),
        "N1.pay()",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_class_uses_is_part_of_the_program(kind: str, tmp_path: Path) -> None:
    source, values, used = KINDS[kind]

    def name_of(value: str) -> str:
        names: dict[str, Any] = {"__name__": "__main__", "Base": greedy(), "enum": enum, "typing": typing}
        exec(source.format(value), names)
        exec(f"class Agent(Base):\n    def select_action(self, observation): return {used}", names)
        return written(names["Agent"], tmp_path)

    assert name_of(values[0]) == name_of(values[0])
    assert name_of(values[0]) != name_of(values[1])


def test_a_space_that_was_sampled_is_the_same(tmp_path: Path) -> None:
    class Env(gymnasium.Env):
        observation_space = gymnasium.spaces.Dict({"a": gymnasium.spaces.Discrete(3)})
        action_space = gymnasium.spaces.Box(-1, 1, (2,))

    before = written(Env, tmp_path)
    Env().action_space.sample(), Env().observation_space.sample()
    assert written(Env, tmp_path) == before
    cls = _programs._read(str(tmp_path / _programs.FOLDER / before))
    assert cls.observation_space == Env.observation_space
    assert cls.action_space.contains(cls.action_space.sample())


def test_the_interpreter_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sys.executable
    for name in ("python", "python3", "python3.11", "other"):
        (tmp_path / name).symlink_to(real)
        monkeypatch.setattr(sys, "executable", str(tmp_path / name))
        assert _programs.command(Walk, tmp_path)["plugin"] == "python"
    (tmp_path / "python").unlink()
    assert _programs.command(Walk, tmp_path)["plugin"] == "python3"


def test_a_cached_property_reaches_the_process(tmp_path: Path) -> None:
    class Cached(greedy()):
        @functools.cached_property
        def start(self) -> list[int]:
            return [7]

    agent = _programs._read(str(tmp_path / _programs.FOLDER / written(Cached, tmp_path)))()
    assert agent.start is agent.start


def test_what_this_process_loaded_is_no_part_of_the_program(tmp_path: Path) -> None:
    """A module that loads another when it is asked for it, as numpy may its random, is the same before and after."""
    (tmp_path / "lazy").mkdir()
    (tmp_path / "lazy" / "__init__.py").write_text(
        "import importlib\ndef __getattr__(name): return importlib.import_module(f'lazy.{name}')\n"
    )
    (tmp_path / "lazy" / "part.py").write_text("import lazy\nX = 1\n")
    source = textwrap.dedent(
        """
        import pathlib
        import lazy, rlrun
        from rlrun import _pickles, _programs
        class A(rlrun.Agent):
            def begin(self, spec, seed): pass
            def update(self, transition): pass
            def select_action(self, observation): return lazy.part.X
        for _ in range(2):
            print(_programs.command(A, pathlib.Path("out"))["args"][-1])
            lazy.part
        """
    )
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second = done.stdout.split()
    assert first == second


def test_a_file_that_is_there_is_read_before_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in a directory of others has the right name and does something else."""
    cls = greedy()
    path = tmp_path / _programs.FOLDER / written(cls, tmp_path)
    honest = path.read_bytes()
    ran = tmp_path / "ran"

    class Hostile:
        def __reduce__(self) -> Any:
            return Path.touch, (ran,)

    header, _, data = honest.partition(b"\n")
    call = pickletools.optimize(pickle.dumps(Hostile()))[:-1]
    monkeypatch.setitem(globals(), "__file__", Hostile())  # which is not part of what a class means
    hidden = (tmp_path / "other" / _programs.FOLDER / written(greedy(), tmp_path / "other")).read_bytes()
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "__file__", "theirs.py")
    moved = (tmp_path / "moved" / _programs.FOLDER / written(greedy(), tmp_path / "moved")).read_bytes()
    monkeypatch.undo()
    for hostile in (
        pickle.dumps((Hostile(), honest)),
        call + b"0" + data,  # 0: dropped
        hidden.partition(b"\n")[2],
        moved.partition(b"\n")[2],  # a class may open what lies beside its file
    ):
        path.write_bytes(header + b"\n" + hostile)
        assert written(cls, tmp_path) == path.name
        assert not ran.exists()
        assert path.read_bytes() == honest
    for damaged in (b"", b"{}", honest[:-3], b"{}\n" + b"(" * 100_000):
        path.write_bytes(damaged)
        written(cls, tmp_path)
        assert _programs._read(str(path)).__name__ == cls.__name__


def test_a_pickle_that_says_the_same_does_the_same(tmp_path: Path) -> None:
    assert pickle.loads(b"I 1\n.") is True
    assert not _pickles.means(b"I 1\n.", b"K\x01.")
    call, bare = (b"cbuiltins\nlist\n)" + how + b"." for how in (b"R", b"\x81"))  # list(), list.__new__(list)
    assert _pickles.means(call, call)
    assert not _pickles.means(call, bare)

    class Other(greedy()):
        kind = greedy()

    own = (tmp_path / _programs.FOLDER / written(Other, tmp_path)).read_bytes().partition(b"\n")[2]
    trackers = list(dict.fromkeys(re.findall(rb"[0-9a-f]{32}", own)))
    assert len(trackers) > 1
    assert _pickles.means(own.replace(trackers[0], b"0" * 32), own)
    assert not _pickles.means(own.replace(trackers[0], trackers[1]), own)  # two classes are one


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    cls, mine = greedy(), tmp_path / "mine"
    mine.write_text("mine")
    source = (tmp_path / _programs.FOLDER / written(cls, tmp_path)).with_suffix(".py")
    source.unlink()
    source.with_suffix(".pickle").unlink()
    source.symlink_to(mine)
    written(cls, tmp_path)
    assert mine.read_text() == "mine"
    source.with_suffix(".pickle").unlink()
    source.with_suffix(".pickle").symlink_to(mine)
    with pytest.raises(ValueError, match="is a link"):
        written(cls, tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / _programs.FOLDER).symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match="is a link"):
        written(cls, tmp_path / "out")
    assert mine.read_text() == "mine"
    assert not list((tmp_path / "other").iterdir())


SETTINGS = """
from __future__ import annotations
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
import rlrun, rlrun._programs

@dataclass(frozen=True)
class Schedule:
    first: float = rlrun.param(1.0, "At first.", minimum=0)

@dataclass
class Agent(rlrun.Agent):
    mode: Literal["a", "b"] = "a"
    schedule: Schedule = Schedule()
    def begin(self, spec, seed): ...
    def select_action(self, observation): return 0
    def update(self, t): ...

print(rlrun._programs.command(Agent, Path("."))["args"][-1])
"""
READ = "import sys, json, rlrun._programs as p, rlrun.params as q; print(json.dumps(q.schema(p._read(sys.argv[1]))))"


def test_parameters_reach_the_process(tmp_path: Path) -> None:
    """Types that only the script knows by name, and what is declared of parameters."""
    (tmp_path / "script.py").write_text(SETTINGS)

    def call(*arguments: str) -> str:
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    path = call("script.py").strip()
    assert call("script.py").strip() == path
    properties = json.loads(call("-c", READ, path))["properties"]
    assert properties["mode"] == {"enum": ["a", "b"], "default": "a"}
    assert properties["schedule"]["properties"]["first"]["minimum"] == 0


class Never(rlrun.Rule):
    """A rule of a module."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def choose(self, decision):
        return decision.greedy


def often(share: float = 0.5) -> tuple[type, type]:
    """Make a rule and a source of options that no other process can import."""

    class Often(rlrun.Rule):
        def choose(self, decision):
            explore = decision.rng.random() < share
            return int(decision.rng.integers(len(decision.names))) if explore else decision.greedy

    class Upstream(rlrun.OptionSource):
        def __init__(self, action: int = 1) -> None:
            self.action = action

        def options(self, experience):
            last = experience.states - 1
            return [rlrun.DeclaredOption("on", dict.fromkeys(range(last + 1), self.action), {last: 1.0})]

    return Often, Upstream


def exploring(**agents: dict[str, Any]) -> dict[str, Any]:
    """Return an experiment of agents that explore so."""
    plugins = [{"name": name, "plugin": "bootstrap-q", "exploration": x} for name, x in agents.items()]
    return {"environments": ["riverswim"], "agents": plugins, "runs": 2, "steps": 200}


@pytest.mark.slow
def test_rules_and_sources_of_options_are_classes(tmp_path: Path) -> None:
    rule, source = often()
    agents = {
        "never": {"rule": Never, "params": {"name": "x"}},
        "often": {"rule": rule},
        "up": {"options": ["drawn-member", source]},
        "down": {"options": [{"plugin": source, "params": {"action": 0}}, "drawn-member"]},
    }
    config = exploring(**agents)
    config["agents"] += [{"plugin": "bootstrap-q", "exploration": {"rule": rule}}]
    config["agents"] += [{"plugin": "bootstrap-q", "sweep": {"exploration.rule": [Never, "optimistic"]}}]
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    explored = results.summary.query("metric == 'exploration_share'").set_index("agent")["mean"]
    assert explored["never"] == 0 == explored["bootstrap-q exploration.rule=Never"]
    assert explored["often"] == explored["bootstrap-q Often"] > 0
    assert set(results.decisions.query("agent == 'up'")["option"]) & {"on"}
    records = {p: p.read_bytes() for p in (tmp_path / "out" / "runs").iterdir()}
    rlrun.run(config, output=tmp_path / "out", progress=False)
    assert {p: p.read_bytes() for p in (tmp_path / "out" / "runs").iterdir()} == records
    with pytest.raises(rlrun.ExperimentError, match=r"agents\[1\]: the class Often, a value .*resume=True continues"):
        rlrun.run(exploring(often={"rule": often(1.0)[0]}), output=tmp_path / "out", progress=False)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"rule": Walk}, "exploration: <class .*Walk'> is no class of rules or of options: give a class that"),
        ({"rule": often}, "is no class of rules or of options: .*not an object or a function"),
        ({"options": [Lever]}, "is no class of rules or of options"),
        ({"rule": Never()}, "classes of plugins, not <"),
        ({"options": [Never]}, r"agents\[0\].exploration.options\[0\]: the class Never is of kind rule, not options"),
        ({"rule": Never, "params": {"nam": 1}}, r"exploration.params: the class Never: unknown parameter 'nam'"),
        ({"rule": Never, "bound": "U"}, "has no effect with the class Never"),
        ({"rule": "optimistic", "params": {"x": Never}}, "Never is a class, and a config has classes in environments"),
    ],
)
def test_what_is_no_rule_is_named(x: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, rlrun.ExperimentError), match=message):
        rlrun.run(exploring(agent=x), output=tmp_path / "out", progress=False)
    with pytest.raises(ValueError, match=r"Often would be in .*an output without spaces"):
        rlrun.run(exploring(agent={"rule": often()[0]}), output=tmp_path / "a b", progress=False)


@pytest.mark.slow
def test_a_changed_class_is_refused_in_the_same_directory(tmp_path: Path) -> None:
    config = {"environments": [BANDIT], **SMALL}
    first = rlrun.run(config | {"agents": [greedy(0.1)]}, output=tmp_path / "out", progress=False).curves
    with pytest.raises(rlrun.ExperimentError, match=r"agents\[0\]: the class Greedy, a value .*resume=True continues"):
        rlrun.run(config | {"agents": [greedy(1.0)]}, output=tmp_path / "out", progress=False)
    with pytest.raises(rlrun.ExperimentError, match="continue it with resume=True, replace it with overwrite=True, or"):
        rlrun.run(config | {"agents": [greedy(0.1)]}, output=tmp_path / "out", progress=False, resume=False)
    other = rlrun.run(config | {"agents": [greedy(1.0)]}, output=tmp_path / "out", progress=False, overwrite=True)
    assert not other.curves.equals(first)


def test_what_no_process_can_have_is_named(tmp_path: Path) -> None:
    lock = threading.Lock()

    class Locked(greedy()):
        def select_action(self, observation):
            with lock:
                return 0

    with pytest.raises(TypeError, match=r"Locked uses something that no other process can have: .*lock"):
        rlrun.run({"environments": [BANDIT], "agents": [Locked], **SMALL}, output=tmp_path, progress=False)
    with pytest.raises(TypeError, match="Walk has args, and a class takes params"):
        rlrun.run({"environments": [{"plugin": Walk, "args": ["x"]}], "agents": ["psrl"], **SMALL}, output=tmp_path)
    with pytest.raises(TypeError, match=r"experiment is 7, must be an rlrun[.]Experiment or a mapping or a text or"):
        rlrun.run(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="int is no class of environments or agents"):
        rlrun.run({"environments": [int], "agents": ["psrl"], **SMALL}, output=tmp_path, progress=False)
    lacking = type("Lacking", (rlrun.Agent,), {"begin": lambda *_: None, "act": lambda *_: 0})
    with pytest.raises(TypeError, match=r"^Lacking has no select_action and no update: every class of"):
        rlrun.run({"environments": [BANDIT], "agents": [lacking], **SMALL}, output=tmp_path, progress=False)
    check_methods(type("Either", (rlrun.Agent,), {"__new__": lambda _: greedy()()}))  # which makes another one
    with pytest.raises(TypeError, match="classes of plugins, not <object"):
        rlrun.run({"environments": [BANDIT], "agents": [object()], **SMALL}, output=tmp_path, progress=False)


@pytest.mark.parametrize(
    ("agents", "path", "message"),
    [
        ([{"plugin": "q-learning", "params": {"epsylon": 1}}], "agents[0].params.epsylon", "did you mean epsilon"),
        (["q-lerning"], "agents[0].plugin", "did you mean q-learning"),
        ([greedy(), greedy()], "agents[1]", "Greedy"),
        ([Walk], "agents[0].plugin", "the class Walk is an environment, not an agent"),
    ],
)
def test_errors_have_the_key(tmp_path: Path, agents: list[Any], path: str, message: str) -> None:
    with pytest.raises(rlrun.ExperimentError, match=message) as raised:
        rlrun.run({"environments": [BANDIT], "agents": agents, **SMALL}, output=tmp_path / "out", progress=False)
    assert raised.value.path == path
    assert raised.value.results is None


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("agents.0.params", {"epsilon": 2}, "agents[0].params.epsilon"),
        ("record.metrics", ["a: b"], "record.metrics[0]"),
    ],
)
def test_errors_of_settings_have_the_key(tmp_path: Path, key: str, value: Any, path: str) -> None:
    config = {"environments": [BANDIT], "agents": ["q-learning"], **SMALL}
    with pytest.raises(rlrun.ExperimentError, match=rf"^--set {key}=") as raised:
        rlrun.run(config, output=tmp_path / "out", settings={key: value}, progress=False)
    assert raised.value.path == path


def test_errors_of_a_file_have_its_line(tmp_path: Path) -> None:
    config = tmp_path / "exp.yaml"
    config.write_text("runs: 1\nsteps: 10\nenvironments: [{plugin: chain}]\nagents:\n- {plugin: psrl, nam: x}\n")
    with pytest.raises(rlrun.ExperimentError, match=rf"^{config}:5: agents\[0\]\.nam: ") as raised:
        rlrun.run(config)
    assert raised.value.path == "agents[0].nam"
    config.write_text(config.read_text().replace("nam:", "name:"))
    results = rlrun.run(config, output=tmp_path / "out", settings={"agents.0.name": "x y"}, flags=["--lanes=2"])
    assert set(results.runs["agent"]) == {"x y"}


def test_what_an_experiment_says_wins_over_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RUNS": "2", "STEPS": "50", "SEED": "9", "LANES": "some"}.items():
        monkeypatch.setenv(f"RLRUN_{name}", value)
    x = {"environments": ["bernoulli-bandit"], "agents": ["random"], "steps": 100, "seed": 3, "lanes": 1}
    for given, runs in [(x, 2), (rlrun.Experiment(**x, runs=4), 4)]:  # the first says nothing of runs
        text = (rlrun.run(given, output=tmp_path / str(runs)).directory / "experiment.yaml").read_text()
        assert all(line in text.splitlines() for line in (f"runs: {runs}", "steps: 100", "seed: 3"))


def test_notes_are_told(tmp_path: Path, capsys: Any) -> None:
    one = rlrun.Experiment(environments="chain", agents="psrl", matrix={"skip_incompatible": True}, **SMALL)
    several = one.config | {"environments": ["chain", BANDIT], "agents": ["psrl", THOMPSON]}
    assert len(rlrun.run(one, output=tmp_path / "one").runs) == 4
    assert len(rlrun.run(several, output=tmp_path / "several").runs) == 12
    assert "Notice: Thompson is not run in chain: " in capsys.readouterr().err


@pytest.mark.slow
def test_failed_runs_raise_and_keep_the_others(tmp_path: Path) -> None:
    class Fails(rlrun.Agent):
        def begin(self, spec, seed):
            self.left = 20 if seed % 2 else 1000

        def select_action(self, observation):
            self.left -= 1
            return 1 // min(self.left, 1)

        def update(self, t):
            pass

    with pytest.raises(rlrun.ExperimentError, match=r"of 4 runs failed.*\n?.*ZeroDivisionError") as raised:
        rlrun.run({"environments": [BANDIT], "agents": [Fails], **SMALL}, output=tmp_path / "out", progress=False)
    assert "Warning" not in str(raised.value)  # of the interpreter, which the author cannot cure
    runs = raised.value.results.runs
    assert set(runs["status"]) == {"ok", "failed"}
    assert runs["error"].str.contains("ZeroDivisionError").sum() == (runs["status"] == "failed").sum()


def test_every_run_is_told(tmp_path: Path) -> None:
    config = {"environments": [BANDIT], "agents": [THOMPSON, "psrl"], **SMALL}
    told: list[dict[str, Any]] = []
    results = rlrun.run(config, output=tmp_path / "out", progress=False, on_run=told.append)
    assert sorted((r["agent"], r["run"]) for r in told) == [(a, k) for a in ("Thompson", "psrl") for k in range(4)]
    curves = results.curves.query("metric == 'reward'")
    for r in told:
        here = curves[(curves["agent"] == r["agent"]) & (curves["run"] == r["run"])]
        assert list(here["step"]) == r["grid"]
        assert list(here["value"]) == r["curves"]["reward"]
    # Those that were there are not told again.
    rlrun.run(config, output=tmp_path / "out", progress=False, on_run=told.append, runs=5)
    assert len(told) == 10


@pytest.mark.parametrize("clocks", [(), (1e9, 4e9)], ids=["own clock", "clocks of a file server"])
def test_runs_that_ended_at_once_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clocks: tuple[float, ...]
) -> None:
    """Each run is told once, also where this process is slow and records have the times of another clock."""
    follow, times = _Host.follow, iter(clocks)

    def late(host: _Host) -> None:
        host.process.wait()
        for clock in itertools.islice(times, 1):
            for path in (tmp_path / "out" / "runs").iterdir():
                os.utime(path, (clock, clock))
        follow(host)

    monkeypatch.setattr(_Host, "follow", late)
    config = {"environments": [BANDIT], "agents": [THOMPSON], **SMALL}
    told: list[dict[str, Any]] = []
    for runs in (4, 5):
        rlrun.run(config | {"runs": runs}, output=tmp_path / "out", progress=False, on_run=told.append)
        assert sorted(r["run"] for r in told) == list(range(runs))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_among_the_records_is_not_read(tmp_path: Path) -> None:
    """Someone else may write into the directory, too; reading a pipe would wait for good."""
    runs = tmp_path / "out" / "runs"

    def told(record: dict[str, Any]) -> None:
        if not (runs / "zz.jsonl").exists():
            os.mkfifo(runs / "zz.jsonl")

    config = {"environments": [BANDIT], "agents": [slow()], "runs": 8, "steps": 600}
    with pytest.raises(ValueError, match=r"zz\.jsonl is no regular file"):
        rlrun.run(config, output=tmp_path / "out", progress=False, on_run=told, settings={"lanes": 1}, workers=1)


def test_an_error_of_the_caller_ends_the_experiment(tmp_path: Path) -> None:
    def stop(record: dict[str, Any]) -> None:
        raise RuntimeError(f"enough of {record['agent']}")

    config = {"environments": ["riverswim"], "agents": ["psrl"], "runs": 1000, "steps": 200_000}
    with pytest.raises(RuntimeError, match="enough of psrl"):
        rlrun.run(config, output=tmp_path / "out", progress=False, on_run=stop, settings={"record.points": 5})
    status = subprocess.run(
        [os.environ["RLRUN"], "status", tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert "1000" in status.stdout


INTERRUPTED = """
import os
import signal
import rlrun
from test_experiment import BANDIT, slow
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
def told(record):
    os.write(1, b"one ended\\n")  # a line as a whole: the interrupt may come in print, before the end of its line
config = {"environments": [BANDIT], "agents": [slow()], "runs": 60, "steps": 500}
try:
    rlrun.run(config, output="out", progress=False, on_run=told, settings={"record.points": 5}, flags=["--lanes=4"])
except KeyboardInterrupt as e:
    print(type(e).__name__, e)
    print(len(e.results.curves["run"].unique()), "of", len(e.results.runs))
"""


@pytest.mark.slow
def test_interrupt_keeps_what_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "one ended\n"
    process.send_signal(signal.SIGINT)
    said = [line for line in process.communicate()[0].splitlines() if line != "one ended"]
    assert process.returncode == 0
    assert said[0].startswith("Interrupted interrupted: ")
    assert said[0].endswith("of 60 runs are kept in out: the same call goes on")
    kept = int(said[1].split()[0])
    assert 1 <= kept < 60
    # The same call goes on, and the results are those of an experiment that was not interrupted.
    monkeypatch.chdir(tmp_path)
    config = {"environments": [BANDIT], "agents": [slow()], "runs": 60, "steps": 500}
    points = {"record.points": 5}
    rest = rlrun.run(config, output="out", progress=False, settings=points)
    whole = rlrun.run(config, output="whole", progress=False, settings=points)
    pd.testing.assert_frame_equal(rest.curves, whole.curves)
    assert {p.name for p in Path("out/programs").iterdir()} == {p.name for p in Path("whole/programs").iterdir()}


@pytest.mark.parametrize("tqdm", [True, False])
def test_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tqdm: bool
) -> None:
    if not tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        ticks = iter(range(0, 10**6, 10))
        monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    rlrun.run({"environments": [BANDIT], "agents": [THOMPSON], **SMALL}, output=tmp_path / "out")
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith("100%")
    assert last.rstrip().endswith("4 of 4 runs; bernoulli-bandit / Thompson")
    assert ("|" in last) == tqdm


def test_one_run_has_no_intervals(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    config = {"environments": ["chain"], "agents": ["q-learning", "psrl"], "runs": 1, "steps": 20}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    assert len(results.plot().axes[0].lines) == 3
    assert "nan" not in results._repr_html_()
    assert "not decided" in repr(results.compare(pairs=["psrl", "q-learning"]))


def test_outputs_that_are_left_out(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    config = {"environments": ["chain"], "agents": ["q-learning"], "runs": 2, "steps": 20}
    results = rlrun.run(config | {"outputs": ["sqlite"]}, output=tmp_path / "a", progress=False, flags="--verify=1")
    assert results.plot().axes[0].get_title() == "chain"
    results = rlrun.run(config | {"outputs": ["csv"]}, output=tmp_path / "b", progress=False)
    assert len(results.summary) > 0
    with pytest.raises(FileNotFoundError, match="outputs in its config leave sqlite out"):
        results.runs  # noqa: B018
    with pytest.raises(FileNotFoundError, match="outputs in its config leave sqlite out"):
        rlrun.read_results(tmp_path / "b")


def test_what_else_to_do_is_said_in_words_of_python(tmp_path: Path) -> None:
    config = {"environments": ["chain"], "agents": ["q-learning"], "runs": 2, "steps": 20}
    (tmp_path / "file").touch()
    with pytest.raises(rlrun.ExperimentError, match=r"choose another with output=…$"):
        rlrun.run(config, output=tmp_path / "file")
    rlrun.run(config, output=tmp_path / "out", progress=False)
    with pytest.raises(rlrun.ExperimentError, match=r"choose another directory with output=…, or overwrite=True$"):
        rlrun.run(config | {"steps": 30}, output=tmp_path / "out")


def test_an_estimate_has_the_digits_of_its_interval() -> None:
    cases = [(1e9, 0.21, "1000000000 ± 0.21"), (2.5, math.nan, "2.5"), (0.0, 0.5, "0 ± 0.5"), (7.25, 0, "7.25")]
    cases += [(123.456, 0.0123, "123.456 ± 0.012"), (1.5, 100, "1.5 ± 1e+02"), (83.4111, 9.2, "83.41 ± 9.2")]
    for mean, half, text in cases:
        assert _estimate({"n": 5, "mean": mean, "ci_low": mean - half, "ci_high": mean + half}) == text
    assert _estimate({"n": 0, "mean": math.nan, "ci_low": math.nan, "ci_high": math.nan}) == "not known"


@pytest.mark.slow
def test_figures_and_tables(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    agents = [{"name": f"<agent {i}>", "plugin": "q-learning", "params": {"epsilon": i / 10}} for i in range(8)]
    config = {"environments": ["riverswim", "chain", "deepsea", BANDIT], "agents": agents, **SMALL}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    figure = results.plot("reward", tmp_path / "curves.pdf")
    assert (tmp_path / "curves.pdf").read_bytes().startswith(b"%PDF")
    assert [a.get_title() for a in figure.axes] == ["riverswim", "chain", "deepsea", "bernoulli-bandit"]
    drawn = [line for line in figure.axes[0].lines if line.get_label().startswith("<agent")]
    assert [line.get_label() for line in drawn] == [a["name"] for a in agents]
    assert len({line.get_color() for line in drawn}) == len({line.get_marker() for line in drawn}) == 8
    curves = pd.read_csv(tmp_path / "out" / "curves.csv").query("metric == 'reward' and environment == 'riverswim'")
    np.testing.assert_allclose(drawn[2].get_ydata(), curves[curves["agent"] == "<agent 2>"]["mean"])
    optimum = [line.get_ydata()[0] for line in figure.axes[0].lines if line not in drawn]
    assert optimum == [pytest.approx(0.428622, abs=1e-5)]
    assert all(low < 0.428 < high for low, high in [figure.axes[0].get_ylim()])  # which no agent comes near
    with pytest.raises(ValueError, match=r"no curve of 'reward' of the agent 'x'; it has those of <agent 0>, "):
        results.plot("reward", agents=["x"])
    assert results.plot("regret", log=True).axes[0].get_xscale() == "log"
    with pytest.raises(ValueError, match=r"no curves of 'regrets'; it has .*regret"):
        results.plot("regrets")

    html = results._repr_html_()
    assert "&lt;agent 3&gt;" in html
    assert "<agent 3>" not in html
    row = results.summary.query("environment == 'chain' and agent == '<agent 3>' and metric == 'reward'").iloc[0]
    assert f"{row['mean']:.4g} ± {row['ci_high'] - row['mean']:.2g}" in html


def test_a_figure_of_many_agents_has_the_best(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    sweep = {"name": "ε={epsilon}", "plugin": "q-learning", "sweep": {"epsilon": [i / 25 for i in range(25)]}}
    config = {"environments": ["chain", "riverswim"], "agents": [sweep], "runs": 4, "steps": 300}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    for metric, lower in (("regret", True), ("reward", False)):
        of = results.summary[results.summary["metric"] == metric]
        ranks = of.pivot(index="environment", columns="agent", values="mean").rank(axis=1, ascending=lower).mean()
        axis = results.plot(metric).axes[0]
        drawn = [line.get_label() for line in axis.lines if line.get_label().startswith("ε")]
        assert len(drawn) == 10
        assert ranks[drawn].max() <= ranks.drop(drawn).min()
        others = next(line for line in axis.lines if line.get_label() == "15 others")
        last = results._query(
            f"SELECT agent, step, mean FROM curves WHERE metric = '{metric}' AND environment = 'chain'"
        )
        last = last[(last["step"] == 300) & ~last["agent"].isin(drawn)]["mean"]
        if metric == "regret":  # whose points are no averages
            assert others.get_ydata()[-1] == pytest.approx(last.median())
    named = ["ε=0.96", "ε=0.0"]
    assert [line.get_label() for line in results.plot("regret", agents=named).axes[0].lines] == named
    assert [line.get_label() for line in results.plot("regret", agents="ε=0.0").axes[0].lines] == ["ε=0.0"]
    with pytest.raises(ValueError, match="agents names no agent: leave it out to draw all"):
        results.plot("regret", agents=[])
    with pytest.raises(ValueError, match="no curve of 'regret' of the agent 'ε'"):
        results.plot("regret", agents=["ε"])


def test_a_figure_has_the_environments_that_have_the_metric(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    both = {"environments": ["chain", "frozenlake"], "agents": ["q-learning"], "runs": 5, "steps": 300}
    metrics = {"record": {"metrics": ["reward", "episode_return", "regret"]}}
    results = rlrun.run(both | metrics, output=tmp_path / "out", progress=False)
    for metric, drawn in (("episode_return", ["frozenlake"]), ("regret", ["chain"]), ("reward", both["environments"])):
        axes = results.plot(metric).axes
        assert [a.get_title() for a in axes] == drawn
        assert all(len(a.lines[0].get_ydata()) for a in axes)


def test_a_curve_has_a_point_for_each_part_of_the_axis(tmp_path: Path) -> None:
    """The many early points of a logarithmic grid become one: a mean of all its steps, or the last of a sum."""
    pytest.importorskip("matplotlib").use("agg")
    config = {"environments": ["chain", "frozenlake"], "agents": ["q-learning", "psrl"], "runs": 6, "steps": 2000}
    results = rlrun.run(config, output=tmp_path / "out", progress=False)
    for name, log in ((name, log) for name in ("reward", "cumulative_reward") for log in (False, True)):
        figure = results.plot(name, log=log)
        for axis in figure.axes:
            means = results.summary.query(f"environment == {axis.get_title()!r} and metric == {name!r}")["mean"]
            for line, mean in zip(axis.lines[:2], means, strict=True):
                x, y = line.get_xdata(), line.get_ydata()
                assert 20 < len(x) <= 51
                assert x[-1] == 2000
                whole = y[-1] if name == "cumulative_reward" else np.sum(np.diff(x, prepend=0) * y) / 2000
                assert whole == pytest.approx(mean)
                every, steps = np.diff(x), np.diff(np.log(x))
                assert log or every.max() < 2.5 * 40
                assert not log or steps[x[1:] > 100].min() > np.log(2000) / 50 / 3
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        assert legend == ["q-learning", "psrl"] + ["optimum"] * (name == "reward")
        bound = figure.axes[1].collections[0].get_paths()[0].vertices[:, 1]
        assert name != "reward" or bound.min() >= 0  # no mean reward is below the least


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rlrun.run({}, settings=["a=1"]), r"run: settings is \['a=1'\], must be a mapping or None"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, settings={1: 2}), "settings has the key 1, must have texts"),  # type: ignore[dict-item]
        (lambda: rlrun.run({}, runs="5"), "runs is '5', must be a whole number or None"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, runs=True, steps=1.5), "runs is True|steps is 1.5"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, output=3), "output is 3, must be a text or a path or None"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, on_run=3), "on_run is 3, must be a function or None"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, flags=[1]), r"flags\[0\] is 1, must be a text"),  # type: ignore[list-item]
        (lambda: rlrun.run({}, resume="no"), "resume is 'no', must be True or False"),  # type: ignore[arg-type]
        (lambda: rlrun.run({}, timeout=3), "rlrun.run: got an unexpected keyword argument 'timeout'"),  # type: ignore[call-arg]
        (lambda: rlrun.tune(7), "rlrun.tune: experiment is 7"),  # type: ignore[arg-type]
        (lambda: rlrun.tune({}, flags=3), "rlrun.tune: flags is 3, must be a list"),  # type: ignore[arg-type]
        (lambda: rlrun.compare(["o", "o"]), r"rlrun.compare: directories is \['o', 'o'\], must be a text or a path"),  # type: ignore[arg-type]
        (lambda: rlrun.compare("o", scores={"c": [0, 1, 2]}), r"scores\['c'\] is \[0, 1, 2\], must be 2 values"),  # type: ignore[dict-item]
        (lambda: rlrun.compare("o", scores={"c": ("a", 1)}), r"scores\['c'\]\[0\] is 'a', must be a number"),  # type: ignore[dict-item]
        (lambda: rlrun.compare("o", margin={"c": "x"}), r"margin\['c'\] is 'x', must be a number"),  # type: ignore[dict-item]
        (lambda: rlrun.sensitivity(3), "rlrun.sensitivity: directory is 3"),  # type: ignore[arg-type]
        (lambda: rlrun.read_results(None), "directory is None, must be a text or a path"),  # type: ignore[arg-type]
        (lambda: rlrun.Results(Path()).plot("reward", 1), "plot: path is 1, must be a text or a path or None"),  # type: ignore[arg-type]
        (lambda: rlrun.Results(Path()).compare(alpha="x"), "rlrun.compare: alpha is 'x'"),  # type: ignore[arg-type]
        (lambda: rlrun.Experiment(environments=5, agents=[], runs=1, steps=1), "Experiment: environments is 5"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_a_wrong_type_are_named(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output": "o", "flags": ["--out=zz"]}, "flags have '--out=zz': use the argument output"),
        ({"flags": ["--out", "zz"]}, "use the argument output"),
        ({"runs": 3, "flags": "--runs=4"}, "use the argument runs"),
        ({"workers": 1, "flags": ["--workers", "2"]}, "use the argument workers"),
        ({"overwrite": True, "flags": ["--resume"]}, "use the argument resume"),
        ({"flags": ["--help"]}, "flags have '--help': rlrun.run reads what rlrun answers"),
        ({"flags": ["--json=false"]}, "rlrun.run reads"),
        ({"flags": ["--shard=0/2"]}, "flags have '--shard=0/2': a shard has records and no results"),
        ({"flags": ["--progress=json"]}, "use the argument progress"),
        ({"runs": 3, "settings": {"runs": 4}}, "runs is given twice: as an argument, 3, and in settings"),
        ({"seed": 3, "flags": ["--set", "seed=4"]}, "seed is given twice"),
        (
            {"settings": {"agents.0.params": {"x": [1, float("nan")]}}},
            r"agents.0.params.x\[1\] is nan, and a config has",
        ),
        (
            {"experiment": {"name": "x", "discount": np.float64("inf")}},
            "discount is inf, and a config has finite numbers",
        ),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        rlrun.run(**({"experiment": {"name": "x"}, "progress": False} | arguments))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_class_in_two_directories_is_one_task(tmp_path: Path) -> None:
    """Each process writes other bytes of it. Runs are pairs if the class is the same, wherever it was run."""
    script = inspect.getsource(Walk).replace("class Walk(", "class Script(")
    start = "import sys, rlrun\nfrom dataclasses import dataclass\nfrom typing import Literal\n"
    experiment = "{'environments': [Script], 'agents': [sys.argv[2]], 'runs': 8, 'steps': 60, 'seed': 1}"
    end = f"\nrlrun.run({experiment}, output=sys.argv[1])"

    def run(output: str, agent: str, source: str) -> None:
        path = tmp_path / "script.py"
        path.write_text(start + source + end)
        done = subprocess.run([sys.executable, path, output, agent], cwd=tmp_path, capture_output=True, text=True)  # noqa: PLW1510
        assert done.returncode == 0, done.stderr

    run("one", "q-learning", script)
    run("two", "random", script)
    pickles = [next((tmp_path / name / "programs").glob("*.pickle")) for name in ("one", "two")]
    assert pickles[0].name == pickles[1].name
    assert pickles[0].read_bytes() != pickles[1].read_bytes()
    assert rlrun.compare(tmp_path / "one", tmp_path / "two").comparisons["paired"].all()
    run("other", "random", script.replace("float(self.place == self.length)", "0.5 * (self.place == self.length)"))
    with pytest.raises(ValueError, match=r"plugins differ \(.*Script-.* and .*Script-"):
        rlrun.compare(tmp_path / "one", tmp_path / "other")


@pytest.mark.slow
def test_results_say_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of an environment before and after it was changed are told apart wherever they are shown."""
    monkeypatch.chdir(tmp_path)
    source = "import rlrun\nfrom typing import Literal\nfrom dataclasses import dataclass\n" + inspect.getsource(Walk)
    agent = {"plugin": "q-learning", "sweep": {"gamma": [0.5, 0.9]}}
    experiment = {"environments": [{"plugin": sys.executable, "args": ["walk.py"]}], "agents": [agent], **SMALL}
    for runs, flags in ((6, []), (12, ["--mixed"])):
        Path("walk.py").write_text(source + f"\nrlrun.serve(Walk)  # {runs}\n")
        results = rlrun.run(experiment, output="out", runs=runs, flags=flags, progress=False)
        mixed = bool(flags)
        assert bool(results.mixed) is mixed
        assert ("Mixed: runs were made by different programs" in results._repr_html_()) is mixed
        assert results.plot().axes[0].get_title().endswith(" (mixed programs)") is mixed
    found = rlrun.sensitivity("out", scores={results.runs["environment"][0]: (0, 1)})
    assert "Mixed: runs were made by different programs: plugin" in repr(found)
    assert set(found.table["programs"]) == {"mixed"}


def test_an_object_in_place_of_a_class_is_told_what_to_give(tmp_path: Path) -> None:
    class Own(rlrun.Agent):
        def begin(self, spec: rlrun.Spec, seed: int) -> None: ...

        def select_action(self, observation: Any) -> Any: ...

        def update(self, t: rlrun.Transition) -> None: ...

    base = {"environments": ["chain"], "agents": ["random"], "runs": 1, "steps": 1}
    with pytest.raises(TypeError, match=r'give the class Own, or with its arguments {"plugin": Own, "params": {…}}'):
        rlrun.run(base | {"agents": [Own()]}, output=tmp_path / "a")
    gymnasium = pytest.importorskip("gymnasium")
    with pytest.raises(TypeError, match='name the environment, "gymnasium:CartPole-v1"'):
        rlrun.run(base | {"environments": [gymnasium.make("CartPole-v1")]}, output=tmp_path / "b")
    with pytest.raises(rlrun.ExperimentError, match='of Gymnasium is named "gymnasium:CartPole-v1"; did you mean'):
        rlrun.run(base | {"environments": ["CartPole-v1"]}, output=tmp_path / "c", progress=False)


def test_a_refused_experiment_shows_no_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(rlrun.ExperimentError):
        rlrun.run({"environments": ["chain"], "agents": ["psrll"], "runs": 1, "steps": 1}, output=tmp_path / "out")
    assert "%|" not in capsys.readouterr().err


def test_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    config = {"environments": ["chain"], "agents": ["random"], "runs": 1, "steps": 5}
    rlrun.run(config, output="~/a", progress=False)
    rlrun.run(config | {"output": "~/b"}, progress=False)
    assert len(rlrun.read_results("~/a").runs) == len(rlrun.read_results(tmp_path / "home" / "b").runs) == 1
    assert not (tmp_path / "~").exists()
