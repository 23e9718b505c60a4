"""Python plugins under the program rlrun."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT

import rlrun.testing
from rlrun.client import CONTINUE, NEW_RUN, Process


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_examples_keep_every_rule(run, name: str) -> None:
    text = run("plugin", "check", sys.executable, "--", str(EXAMPLES / f"{name}.py"))
    assert "keeps every rule" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1", "CartPole-v1", "MountainCar-v0", "Pendulum-v1"],
)
def test_gymnasium_keeps_every_rule(run, name: str) -> None:
    assert "keeps every rule" in run("plugin", "check", f"gymnasium:{name}")


@pytest.mark.slow
def test_what_is_wrong_is_said(run) -> None:
    text = run("plugin", "check", "gymnasium:FrozenLak-v1", fails=True)
    assert "Did you mean" in text
    assert "is_slippery" in run("plugin", "check", "gymnasium:FrozenLake-v1", "--param", "is_slipery=true", fails=True)
    text = run("plugin", "check", "gymnasium:FrozenLake-v1", "--param", "map_name=5x5", fails=True)
    assert "gymnasium:FrozenLake-v1" in text
    assert "5x5" in text
    text = run("plugin", "check", sys.executable, "--param", "slip=2", "--", str(EXAMPLES / "river.py"), fails=True)
    assert "slip" in text


TALKER = """
import logging
import rlrun

class Talker(rlrun.Environment):
    "Talks."
    id = "test/talker@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(1), continuing=True)

    def reset(self, seed):
        print("printed")
        logging.getLogger("talker").warning("logged %d", 7)
        logging.getLogger("talker").debug("not worth it")
        return 0

    def step(self, action):
        return 0, 1.0, False, False, {"gymnasium": "says more"}

rlrun.serve(Talker)
"""


@pytest.mark.slow
def test_what_is_printed_and_logged_reaches_the_host(program: str, tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(TALKER)
    for level, printed in (("info", False), ("debug", True)):
        done = subprocess.run(
            [program, "--log", level, "plugin", "check", sys.executable, "--", "talker.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert re.search(r"\[WARN\].*logged 7: logger=talker", done.stderr)
        assert "not worth it" not in done.stderr
        assert ("printed" in done.stderr) == printed


SIGNALLED = """
import signal
import rlrun

class Signalled(rlrun.Environment):
    "Is told to end while it resets."
    id = "test/signalled@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(1), continuing=True)

    def reset(self, seed):
        signal.raise_signal(signal.SIGTERM)
        return 0

    def step(self, action):
        return rlrun.TimeStep(0, 2.0)

rlrun.serve(Signalled)
"""


def test_sigterm_is_the_hosts(tmp_path: Path) -> None:
    """A scheduler sends it to all processes of a job; the plugin goes on until the host ends."""
    (tmp_path / "signalled.py").write_text(SIGNALLED)
    process = Process([sys.executable, str(tmp_path / "signalled.py")])
    try:
        env = process.open({}, 1)
        env.step(np.array([NEW_RUN], np.uint8), np.zeros(1, np.uint64), np.zeros(1, np.int64))
        assert env.step(np.array([CONTINUE], np.uint8), None, np.zeros(1, np.int64)).rewards[0] == 2.0
    finally:
        process.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_sigterm_ends_processes_that_a_plugin_forks() -> None:
    script = """
import os, signal, time
from rlrun.serve import _mind_signals

_mind_signals()
ready, begun = os.pipe()
child = os.fork()
if child == 0:
    os.write(begun, b".")
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
os.kill(child, signal.SIGTERM)
assert os.waitpid(child, 0)[1] == signal.SIGTERM
"""
    subprocess.run([sys.executable, "-c", script], check=True)


CLOSED = """
import pathlib, sys
import rlrun

class Closed(rlrun.Environment):
    "Says when it is closed."
    id = "test/closed@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(1), continuing=True)

    def reset(self, seed):
        return 0

    def step(self, action):
        return rlrun.TimeStep(0, 0.0)

    def close(self):
        pathlib.Path(sys.argv[1]).touch()

sys.modules["rlrun.serve"].FAREWELL = 60  # a busy machine gets more
rlrun.serve(Closed)
"""


@pytest.mark.parametrize("how", ["told", "left"])
def test_plugins_end_in_good_order(tmp_path: Path, how: str) -> None:
    """Environments are closed, and the process's status is 0."""
    (tmp_path / "closed.py").write_text(CLOSED)
    process = Process([sys.executable, str(tmp_path / "closed.py"), str(tmp_path / "yes")])
    try:
        process.open({}, 2)
        {"told": process.close, "left": process._channel.close}[how]()
        assert process._process.wait(30) == 0
        assert (tmp_path / "yes").exists()
    finally:
        process.close()


IN_PYTHON = f"""
  - name: ε-greedy of averages
    plugin: bandit
    params: {{policy: {{kind: epsilon-greedy, epsilon: 0.1}}, belief: {{kind: point}}}}
  - {{name: ε-greedy of averages in Python, plugin: {sys.executable}, args: [{EXAMPLES}/epsilon_greedy.py]}}
  - {{name: Thompson, plugin: bandit, params: {{policy: {{kind: thompson}}, belief: {{kind: beta}}}}}}
  - {{name: Thompson in Python, plugin: {sys.executable}, args: [{EXAMPLES}/vector_thompson.py]}}
"""


@pytest.mark.slow
def test_the_paper_s_experiment_with_python_agents(run, tmp_path: Path) -> None:
    """Beside the paper's agents those in Python do as bundled ones of their kind; all meet the same runs.

    |z| < 5 is missed by sound agents with probability below 1e-5 (t with 19 degrees of freedom: 8e-5).
    """
    paper = (ROOT / "configs" / "paper-16.yaml").read_text()
    (tmp_path / "paper.yaml").write_text(paper.replace("\nrecord:", IN_PYTHON + "record:"))
    run("run", "paper.yaml", "--runs", "20", "--steps", "1000", "--out", "out", "--quiet")
    with (tmp_path / "out" / "summary.csv").open() as f:
        rows = {(r["agent"], r["metric"]): r for r in csv.DictReader(f)}
    assert {"ε-greedy", "sampling", "opt γ=0.5", "opt γ=0.9", "opt γ=0.99"} < {agent for agent, _ in rows}
    for name in ("ε-greedy of averages", "Thompson"):
        ours, theirs = (rows[agent, "cumulative_reward"] for agent in (f"{name} in Python", name))
        assert int(ours["n"]) == 20
        error = (float(ours["stderr"]) ** 2 + float(theirs["stderr"]) ** 2) ** 0.5
        assert abs(float(ours["mean"]) - float(theirs["mean"])) < 5 * error
        assert float(ours["mean"]) > 600  # an arm at random pays 500


GROUPED = f"""
name: grouped
seed: 1
runs: 7
steps: 60
environments:
  - {{name: river, plugin: {sys.executable}, args: [{EXAMPLES}/river.py]}}
agents:
  - {{name: alone, plugin: {sys.executable}, args: [{EXAMPLES}/epsilon_greedy.py]}}
  - name: decided for
    plugin: {sys.executable}
    args: [{EXAMPLES}/vector_bootstrap_q.py]
    exploration: {{rule: optimistic-stochastic, horizon: {{gamma: 0.9}}}}
"""


@pytest.mark.slow
def test_records_do_not_depend_on_workers(run, tmp_path: Path) -> None:
    curves, decisions = [], []
    (tmp_path / "grouped.yaml").write_text(GROUPED)
    for workers in ("1", "2"):
        out = f"out{workers}"
        run("run", "grouped.yaml", "--workers", workers, "--out", out, "--quiet")
        curves.append((tmp_path / out / "curves.csv").read_text())
        decisions.append((tmp_path / out / "decisions.csv").read_text())
    assert curves[0] == curves[1]
    assert decisions[0] == decisions[1]
    assert ",true," in decisions[0]  # something was explored


def test_the_host_decides_on_pairs(run, tmp_path: Path) -> None:
    """The rule gain goes up the river for pairs that an agent in Python offers, and says which.

    Drifting pays 0.005 per step, the far end 0.43: a run that found it within 1,000 steps has 0.1 or more.
    """
    (tmp_path / "pairs.yaml").write_text(f"""
name: pairs
seed: 1
runs: 2
steps: 1000
environments: [{{name: river, plugin: riverswim, params: {{limit: 0}}}}]
agents:
  - {{name: pairs, plugin: {sys.executable}, args: [{EXAMPLES}/pairs.py], exploration: {{rule: gain}}}}
record: {{metrics: [reward], decisions: 1000}}
""")
    run("run", "pairs.yaml", "--out", "out", "--quiet")
    with (tmp_path / "out" / "summary.csv").open() as f:
        reward = next(float(row["mean"]) for row in csv.DictReader(f) if row["metric"] == "reward")
    assert reward > 0.1
    with (tmp_path / "out" / "decisions.csv").open() as f:
        decisions = list(csv.DictReader(f))
    explored = [d for d in decisions if d["option"].startswith("pair ")]
    assert 10 < len(explored) < len(decisions)
    assert all(d["explore"] == "true" and float(d["advantage"]) > 0 for d in explored)


EXPLORATION = """
name: exploration
seed: 1
runs: 200
steps: 400
environments:
  - {name: RiverSwim, plugin: riverswim}
agents:
"""
AGENT = """
  - {name: RULE WHOSE, plugin: PLUGIN, exploration: {rule: RULE, options: [KIND], horizon: {gamma: 0.9}}}
"""
THEIRS = "bootstrap-q, params: {replays: 0, members: 5, values: actions}"


@pytest.mark.slow
def test_the_host_decides_for_python_agents_as_for_ours(run, tmp_path: Path) -> None:
    """Under each rule tables in Python earn and explore what the bundled ones do, bar chance.

    |z| < 5 is missed by sound agents with probability below 1e-5 for each of the 12 comparisons.
    """
    config = EXPLORATION
    for rule, kind in (("optimistic", "members"), ("common-model", "constants")):
        for whose, plugin in (
            ("ours", THEIRS),
            ("copies", f"{sys.executable}, params: {{members: 5}}, args: [{EXAMPLES}/bootstrap_q.py]"),
            ("batch", f"{sys.executable}, params: {{members: 5}}, args: [{EXAMPLES}/vector_bootstrap_q.py]"),
        ):
            config += (
                AGENT.replace("RULE", rule).replace("KIND", kind).replace("WHOSE", whose).replace("PLUGIN", plugin)
            )
    (tmp_path / "exploration.yaml").write_text(config + "record: {metrics: [reward, exploration_share, mixing_time]}")
    run("run", "exploration.yaml", "--out", "out", "--quiet")
    with (tmp_path / "out" / "summary.csv").open() as f:
        rows = {(r["agent"], r["metric"]): r for r in csv.DictReader(f)}
    for rule in ("optimistic", "common-model"):
        assert float(rows[f"{rule} ours", "exploration_share"]["mean"]) > 0.01
        for whose in ("copies", "batch"):
            for metric in ("cumulative_reward", "exploration_share", "mixing_time"):
                ours, theirs = (rows[f"{rule} {who}", metric] for who in (whose, "ours"))
                error = (float(ours["stderr"]) ** 2 + float(theirs["stderr"]) ** 2) ** 0.5
                assert abs(float(ours["mean"]) - float(theirs["mean"])) < 5 * error
    with (tmp_path / "out" / "decisions.csv").open() as f:
        chosen = {(r["agent"], r["option"].split()[0]) for r in csv.DictReader(f)}
    assert chosen == {
        (f"{rule} {whose}", option)
        for rule, explores in (("optimistic", "member"), ("common-model", "action"))
        for whose in ("ours", "copies", "batch")
        for option in ("greedy", explores)
    }


BROKEN = """
import sys
sys.path.insert(0, EXAMPLES)
import numpy as np
import rlrun
from bootstrap_q import BootstrapQ

class Broken(BootstrapQ):
    id = "test/broken@1"
    runs = 0

    BUG

rlrun.serve(Broken)
"""
PROBLEM = "def problem(self, observation): p = super().problem(observation); return p._replace("


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "rule"),
    [
        (PROBLEM + "values=p.values * np.nan)", "invalid answer"),
        (PROBLEM + "values=p.values[1:])", "values of shape"),
        (PROBLEM + "values=p.values + np.random.default_rng().random())", "same-seed-same-problems"),
        (
            "def greedy_policy(self): return [1 - a + 2 * self.first[1] for a in super().greedy_policy()]",
            "greedy-option-is-greedy-policy",
        ),
        ("def choose(self, option): self.option = 1 + self.members", "greedy-option-is-greedy-policy"),
        ("def set_option_kinds(self, kinds): raise rlrun.Unsupported('none')", "not even the greedy one"),
    ],
)
def test_broken_option_agents_are_caught(run, tmp_path: Path, bug: str, rule: str) -> None:
    (tmp_path / "broken.py").write_text(BROKEN.replace("EXAMPLES", repr(str(EXAMPLES))).replace("BUG", bug))
    text = run("plugin", "check", sys.executable, "--", "broken.py", fails=True)
    assert rule in text


CONTROL = """
name: control
runs: 12
steps: STEPS
environments:
  - {name: theirs, plugin: "gymnasium:THEIRS"}
  - {name: ours, plugin: OURS}
agents:
  - AGENT
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theirs", "ours", "steps", "agent"),
    [
        (
            "CartPole-v1",
            "cartpole",
            2000,
            "{plugin: bootstrap-linear, params: {features: {low: [-2.4, -3, -0.21, -3], high: [2.4, 3, 0.21, 3]}}}",
        ),
        ("MountainCar-v0", "mountaincar", 10_000, "{plugin: bootstrap-linear}"),
        ("MountainCar-v0", "mountaincar", 4000, "{plugin: sarsa-linear}"),
    ],
)
def test_classic_control(run, tmp_path: Path, theirs: str, ours: str, steps: int, agent: str) -> None:
    """To a learner Gymnasium's tasks are the bundled ones: z below 5, exceeded with probability below 1e-3."""
    config = (
        CONTROL.replace("THEIRS", theirs).replace("OURS", ours).replace("AGENT", agent).replace("STEPS", str(steps))
    )
    (tmp_path / "control.yaml").write_text(config)
    run("run", "control.yaml", "--out", "out", "--quiet")
    with (tmp_path / "out" / "summary.csv").open() as f:
        rows = {r["environment"]: r for r in csv.DictReader(f) if r["metric"] == "episode_return"}
    error = sum(float(r["stderr"]) ** 2 for r in rows.values()) ** 0.5
    assert abs(float(rows["ours"]["mean"]) - float(rows["theirs"]["mean"])) <= 5 * error
    assert error > 0
    assert [int(r["n"]) for r in rows.values()] == [12, 12]


@pytest.mark.slow
def test_the_conformance_suite_in_a_test(program: str, tmp_path: Path) -> None:
    rlrun.testing.check(EXAMPLES / "river.py", length=4)
    (tmp_path / "broken.py").write_text("raise SystemExit('no licence')")
    with pytest.raises(AssertionError, match="no licence"):
        rlrun.testing.check(tmp_path / "broken.py")
