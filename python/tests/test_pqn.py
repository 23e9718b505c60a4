"""PQN: targets, updates, what several actors mean for it, saving, lanes, what it refuses, and what it learns."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import rlrun
from rlrun._lanes import CONTINUE, EVALUATE_EPISODE, NEW_EPISODE, NEW_RUN, AgentLanes
from rlrun.environment import TimeSteps
from rlrun.params import build

jax = pytest.importorskip("jax")
from rlrun.agents import PQN, pqn  # noqa: E402

STATES = rlrun.Spec(rlrun.Discrete(5, start=2), rlrun.Discrete(3, start=1), actors=2)
NUMBERS = rlrun.Spec(rlrun.Box(-2, 2, (4,)), rlrun.Discrete(3), actors=2)
SMALL = {"hidden": (6, 5), "rollout": 4, "minibatches": 2, "epochs": 3, "decay": 40}


def design(spec=NUMBERS, **changed) -> pqn.Design:
    shape, inputs = ((), 5) if spec is STATES else ((4,), 4)
    return pqn.Design(shape, inputs, 3, (6, 5), 0.9, 0.8, 0.01, 0.5)._replace(**changed)


def drawn(of: pqn.Design, rng) -> pqn.State:
    state = pqn.draw(of, lambda n: rng.normal(size=n))
    layers = [tuple(x + rng.normal(size=x.shape) * 0.1 for x in layer) for layer in state.layers]
    return state._replace(layers=jax.tree.map(np.float32, layers))


def loop_values(of: pqn.Design, layers, x):
    h = np.asarray(x if of.shape else np.eye(of.inputs)[x], np.float64)
    for w, b, *norm in jax.tree.map(np.float64, layers):
        h = h @ w + b
        if norm:
            h = (h - np.mean(h)) / np.sqrt(np.mean((h - np.mean(h)) ** 2) + pqn.EPSILON) * norm[0] + norm[1]
            h = np.maximum(h, 0)
    return h


def a_rollout(of: pqn.Design, rng, masks: bool = False) -> pqn.Rollout:
    """Return steps of two actors, of which the second has made one less."""
    shape = (2, 6, *of.shape)
    looks = [rng.normal(size=shape) if of.shape else rng.integers(5, size=shape) for _ in range(2)]
    goes_on = np.array([[1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 0, 1]], np.float32)
    joined = np.array([[0, 1, 1, 0, 1, 1], [0, 0, 1, 1, 1, 0]], bool)
    there = np.array([[1] * 6, [1] * 5 + [0]], np.float32)
    allowed = rng.random((2, 6, 3)) < 0.6 if masks else None
    if masks:
        allowed[..., 0] |= ~allowed.any(-1)
        allowed[0, 2] = False  # nothing is, where the episode has terminated
    return pqn.Rollout(looks[0], rng.integers(3, size=(2, 6)), np.float32(rng.normal(size=(2, 6))), goes_on, looks[1],
                       joined, there, allowed)  # fmt: skip


@pytest.mark.parametrize("spec", [STATES, NUMBERS])
@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("trace_decay", [0.0, 0.8, 1.0])
def test_targets_are_those_of_a_loop(spec, masks: bool, trace_decay: float) -> None:
    """A target mixes the best value after a step with the target of the next step, if that is of the same episode."""
    rng, of = np.random.default_rng(1), design(spec, trace_decay=trace_decay)
    layers, r = drawn(of, rng).layers, a_rollout(of, rng, masks)
    got = np.asarray(pqn.targets(of, layers, r))
    for i in range(2):
        for t in reversed(range(6)):
            if not r.there[i, t]:
                continue
            q = loop_values(of, layers, r.next_observations[i, t])
            best = max(q[a] for a in range(3) if r.allowed is None or r.allowed[i, t, a]) if r.goes_on[i, t] else 0.0
            if t + 1 < 6 and r.there[i, t + 1] and r.joined[i, t + 1]:
                best = (1 - trace_decay) * best + trace_decay * got[i, t + 1]
            assert got[i, t] == pytest.approx(r.rewards[i, t] + 0.9 * r.goes_on[i, t] * best, abs=1e-5)


@pytest.mark.parametrize("spec", [STATES, NUMBERS])
def test_the_loss_and_its_gradient_are_those_of_a_loop(spec) -> None:
    rng, of = np.random.default_rng(2), design(spec)
    layers, r = jax.tree.map(np.float64, drawn(of, rng).layers), a_rollout(of, rng)
    y = rng.normal(size=6)
    batch = r.observations[1], r.actions[1], y, r.there[1]

    def loop(layers) -> float:
        errors = [(y[t] - loop_values(of, layers, batch[0][t])[batch[1][t]]) ** 2 for t in range(5)]
        return float(np.mean(errors)) / 2

    value, gradient = jax.value_and_grad(pqn.loss)(layers, of, batch)
    assert float(value) == pytest.approx(loop(layers), rel=1e-4)
    for k, layer in enumerate(layers):
        for j, weights in enumerate(layer):
            at = tuple(rng.integers(n) for n in weights.shape)
            ends = []
            for step in (1e-5, -1e-5):
                moved = [list(x) for x in layers]
                moved[k][j] = weights.copy()
                moved[k][j][at] += step
                ends.append(loop(moved))
            assert float(gradient[k][j][at]) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-3, abs=1e-5)


@pytest.mark.slow
def test_an_update_is_a_step_of_radam_by_a_clipped_gradient() -> None:
    """As Algorithm 2 of Liu et al. (2020) has it, for eight updates: the first five are not rectified."""
    rng, of = np.random.default_rng(3), design(clip=0.05)
    state, r = drawn(of, rng), a_rollout(of, rng)
    batch = r.observations[0], r.actions[0], np.float32(10 * rng.normal(size=6)), r.there[0]
    w = np.float64(state.layers[0][0])
    m = v = np.zeros_like(w)
    for t in range(1, 9):
        gradient = jax.grad(pqn.loss)(state.layers, of, batch)
        norm = np.sqrt(sum(float(np.square(g).sum()) for g in jax.tree.leaves(gradient)))
        g = np.float64(gradient[0][0]) * min(1, 0.05 / norm)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        longest = 2 / (1 - 0.999) - 1
        length = longest - 2 * t * 0.999**t / (1 - 0.999**t)
        step = m / (1 - 0.9**t)
        if length > 5:
            factor = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            step *= np.sqrt(factor) * np.sqrt(1 - 0.999**t) / np.sqrt(v)
        assert (length > 5) == (t > 5)
        state, _ = pqn.update(of, state, batch)
        w = w - 0.01 * step
        assert np.asarray(state.layers[0][0]) == pytest.approx(w, abs=2e-5)


class Host:
    """Plays lanes of a task without sense, whose episodes begin in a call of their own, as with rlrun.

    What a lane meets follows from its number.
    """

    def __init__(self, spec, numbers, **params) -> None:
        self.spec, self.rngs = spec, [np.random.default_rng(n) for n in numbers]
        self.lanes = AgentLanes(PQN(**SMALL | params), spec, len(numbers))
        self.agent: PQN = self.lanes.agent  # type: ignore[assignment]
        self.signals = np.full(len(numbers), NEW_RUN, np.uint8)
        self.seeds = np.array(numbers, np.uint64) + 7
        self.ended = np.zeros((len(numbers), 2), bool)

    def look(self, rng):
        space = self.spec.observation
        if isinstance(space, rlrun.Discrete):
            return space.start + rng.integers(space.n)
        return rng.uniform(space.low, space.high)

    def step(self, ends: float = 0.2):
        n, space = len(self.rngs), self.spec.observation
        seen = np.array([self.look(rng) for rng in self.rngs], space.dtype)
        rewards = np.array([rng.normal() for rng in self.rngs]) * (self.signals == CONTINUE)
        some = np.array([rng.random(2) < ends for rng in self.rngs])
        self.ended = some & (self.signals == CONTINUE)[:, None]
        self.ended[:, 1] &= ~self.ended[:, 0]
        masks = None
        if self.spec.masks:
            masks = np.array([rng.permuted([True, True, False]) for rng in self.rngs])
            self.lanes.masks = masks
        out = TimeSteps(seen, rewards, self.ended[:, 0], self.ended[:, 1])
        actions = self.lanes.step(self.signals, self.seeds, out).copy()
        if masks is not None:
            acting = ~self.ended.any(1)
            assert masks[np.arange(n), actions - self.spec.action.start][acting].all()
        self.signals = np.where(self.ended.any(1), NEW_EPISODE, CONTINUE).astype(np.uint8)
        return actions

    def play(self, steps: int):
        return np.array([self.step() for _ in range(steps)])


@pytest.mark.slow
def test_a_step_that_begins_an_episode_is_not_joined_to_the_one_before() -> None:
    """Also where the host begins an episode though the last one has not ended, as after it has loaded an agent."""
    host = Host(STATES, [1, 2], rollout=8)
    host.step()
    for _ in range(2):
        host.step(ends=0)
    host.signals = np.array([NEW_EPISODE, CONTINUE], np.uint8)
    host.step(ends=0)
    host.step(ends=0)
    kept = host.agent.kept
    assert host.agent.count.tolist() == [3, 4]
    assert kept.joined[:, :4].tolist() == [[False, True, False, False], [False, True, True, True]]
    host.step(ends=1)  # both end
    host.step(ends=0)
    host.step(ends=0)
    assert kept.joined[0, 3:5].tolist() == [True, False]
    assert kept.there.sum(1).tolist() == [5, 6]


@pytest.mark.slow
def test_a_rollout_is_learned_when_an_actor_has_made_it() -> None:
    host = Host(STATES, [1, 2], rollout=4)
    assert np.isnan(host.agent.measure(0)["loss"])
    host.step()
    for _ in range(3):
        host.step(ends=0)
    assert int(host.agent.states[0].updates) == 0
    host.step(ends=0)
    assert int(host.agent.states[0].updates) == 3 * 2  # epochs, minibatches
    assert (host.agent.count == 0).all()
    assert host.agent.steps.tolist() == [8]
    assert host.agent.measure(0)["loss"] > 0
    assert np.isnan(host.agent.measure(0)["loss"])


@pytest.mark.parametrize("spec", [STATES, NUMBERS])
def test_a_run_has_the_same_bytes_with_any_others(spec) -> None:
    of_run_0 = set()
    for runs in (1, 3, 8):
        host = Host(spec, range(2 * runs))
        host.play(40)
        of_run_0.add(host.agent.save(0))
    assert len(of_run_0) == 1


def test_a_saved_run_goes_on_to_the_bit() -> None:
    host, other = Host(STATES, range(4)), Host(STATES, [2, 3])
    host.play(17)
    other.play(17)
    host.play(6)
    other.play(6)
    fresh = Host(STATES, [2, 3])
    fresh.play(30)
    state = host.lanes.save(2)
    fresh.lanes.load(0, state)
    assert fresh.agent.save(0) == host.agent.save(2) == other.agent.save(0)
    fresh.rngs = other.rngs
    fresh.signals, states = other.signals, [rng.bit_generator.state for rng in other.rngs]
    went = other.play(25)
    for rng, s in zip(fresh.rngs, states, strict=True):
        rng.bit_generator.state = s
    assert (fresh.play(25) == went).all()
    assert fresh.agent.save(0) == other.agent.save(0)


@pytest.mark.slow
def test_a_saved_run_goes_on_with_another_number_of_actors() -> None:
    host = Host(STATES, range(2))
    host.play(30)
    q = {}
    for actors in (1, 2, 4):
        other = Host(dataclasses.replace(STATES, actors=actors), range(actors))
        other.lanes.load(0, host.lanes.save(0))
        other.signals[:] = EVALUATE_EPISODE
        q[actors] = np.asarray(other.agent.states[0].layers[0][0]).tobytes()
        other.step()
        other.signals[:] = NEW_EPISODE
        other.play(20)
        assert other.agent.steps[0] > host.agent.steps[0]
        if actors > 1:
            assert len(set(other.agent.rng.state.tolist())) == actors  # they draw apart
    assert len(set(q.values())) == 1


def test_an_action_that_is_not_allowed_is_not_taken() -> None:
    spec = dataclasses.replace(STATES, masks=True)
    for params in ({"epsilon": 1.0, "epsilon_start": 0.9}, {"epsilon": 0.0, "epsilon_start": 0.0}):
        host = Host(spec, range(4), **params)
        host.play(60)  # which looks at every action
        assert host.agent.kept.allowed[:, :2].sum(-1).min() == 2


def test_epsilon_falls_with_the_steps_of_all_actors() -> None:
    host = Host(dataclasses.replace(NUMBERS, actors=4), range(4), epsilon=0.0, decay=80)
    greedy = []
    for _ in range(60):
        actions = host.step(ends=0)
        greedy.append((actions == host.agent.select_greedy_actions(slice(None), host.lanes.last[0])).all())
    assert not all(greedy[:15])
    assert all(greedy[22:])  # after 80 steps


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(rlrun.Unsupported, match="actions must be discrete"):
        PQN().open(rlrun.Spec(rlrun.Discrete(2), rlrun.Box(0, 1, (1,))), 1)
    with pytest.raises(rlrun.InvalidParams, match="has 15 steps, which are not 4 equal minibatches"):
        PQN(rollout=5, minibatches=4).open(dataclasses.replace(STATES, actors=3), 3)
    for params, says in (
        ({"hidden": [3, 0]}, "hidden"),
        ({"rate": 0}, "nothing would be learnt"),
        ({"clip": 1e-300}, "nothing would be learnt"),
        ({"gamma": 0, "trace_decay": 0.5}, "trace_decay has no effect with gamma 0"),
        ({"rollout": 1, "trace_decay": 0.5}, "trace_decay has no effect with .*rollout 1"),
        ({"epsilon": 0.2, "epsilon_start": 0.2, "decay": 7}, "decay has no effect with epsilon_start 0.2"),
    ):
        with pytest.raises(rlrun.InvalidParams, match=says):
            build(PQN, json.dumps(params).encode())
    host = Host(STATES, range(2))
    host.play(3)
    with pytest.raises(rlrun.Error, match=r"the saved agent is another one: gamma is 0.99 there and 0.5 here"):
        Host(STATES, range(2), gamma=0.5).agent.load(0, host.agent.save(0))
    with pytest.raises(rlrun.Error, match="this is no saved rlrun/pqn@1"):
        host.agent.load(0, rlrun.pack({"agent": "rlrun/deep-q@1"}))


def test_a_loss_that_is_no_number_names_the_run_and_a_cure() -> None:
    host = Host(NUMBERS, range(4), rate=1e30)
    with pytest.raises(rlrun.Error, match=r"after step \d+.*try rate: 1e\+29, or rewards") as raised:
        host.play(60)
    assert raised.value.lane in {0, 2}


@pytest.mark.slow
def test_it_learns_to_catch(program: str, tmp_path: Path) -> None:
    """Random actions earn about -0.6 an episode of 9 steps, and the optimum is 1."""
    agents = [{"name": "pqn", "plugin": PQN, "actors": 8, "params": {"decay": 4000, "hidden": [50]}}]
    experiment = rlrun.Experiment(
        environments=["catch"], agents=agents, runs=4, steps=20000, record={"metrics": ["episode_return"]}
    )
    results = rlrun.run(experiment, output=tmp_path / "out", progress=False)
    final = results.outcomes[results.outcomes.metric == "episode_return"].value
    assert len(final) == 4
    assert final.min() > 0.2


@pytest.mark.slow
def test_keeps_every_rule(run, by_name) -> None:
    params = [f"--param={k}={json.dumps(v)}" for k, v in SMALL.items()]
    assert "keeps every rule" in run("plugin", "check", "pqn", *params)
