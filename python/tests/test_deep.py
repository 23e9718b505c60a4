"""The agents with networks: gradients, saving, lanes, what they refuse, and what they learn."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rlrun
from rlrun.params import build, schema

jax = pytest.importorskip("jax")
from rlrun.agents import DeepBootstrapQ, DeepQ, networks  # noqa: E402

STATES = rlrun.Spec(rlrun.Discrete(5, start=2), rlrun.Discrete(3, start=1))
NUMBERS = rlrun.Spec(rlrun.Box(-2, 2, (4,)), rlrun.Discrete(3))
IMAGES = rlrun.Spec(rlrun.Box(0, 255, (4, 5, 2), "uint8"), rlrun.Discrete(3))


def slow(*values: object):
    """Values of a test that make test leaves out, and make ci does not."""
    return pytest.param(*values, marks=pytest.mark.slow)


SMALL = {"hidden": (6,), "batch": 4, "warmup": 3, "capacity": 9, "target": 2}


def small(**params) -> DeepBootstrapQ:
    return DeepBootstrapQ(**{"members": 3, "prior": (2.0, 0.5), "mask": 0.5, "updates": 2} | SMALL | params)


def opened(agent, spec=STATES, lanes=1, kinds=None):
    agent.open(spec, lanes)
    if kinds is not None:
        agent.set_option_kinds(kinds)
    agent.begin(slice(None), np.arange(lanes, dtype=np.uint64) + 7)
    return agent


class World:
    """Lanes of a task without sense, which follow from their numbers."""

    def __init__(self, spec, numbers) -> None:
        self.spec, self.rngs = spec, [np.random.default_rng(n) for n in numbers]
        self.now = self.look()

    def look(self):
        space = self.spec.observation
        if isinstance(space, rlrun.Discrete):
            return np.array([space.start + rng.integers(space.n) for rng in self.rngs])
        return np.stack([rng.uniform(space.low, space.high).astype(space.dtype) for rng in self.rngs])

    def step(self, actions) -> rlrun.Transitions:
        before, self.now = self.now, self.look()
        rewards = np.array([rng.normal() + a for rng, a in zip(self.rngs, actions, strict=True)])
        ends = np.array([rng.random(2) < 0.2 for rng in self.rngs])
        return rlrun.Transitions(before, actions, rewards, self.now, ends[:, 0], ends[:, 1] & ~ends[:, 0])


def play(agent, world, steps: int):
    """Play all lanes, and return their actions."""
    actions = []
    for _ in range(steps):
        actions.append(agent.select_actions(slice(None), world.now))
        agent.update(slice(None), world.step(actions[-1]))
    return np.array(actions)


# What the networks compute, by loops over members, steps and layers.


GRADIENT = jax.jit(jax.value_and_grad(networks.loss), static_argnums=1)


def loop_outputs(design, layers, k, x):
    layers = [(w[k], b[k]) for w, b in layers]
    if design.filters:
        (w, b), *layers = layers
        height, width, _ = design.shape
        x = np.concatenate([
            np.maximum(b + np.concatenate([x[i + di, j + dj] for di in range(3) for dj in range(3)]) @ w, 0)
            for i in range(height - 2) for j in range(width - 2)
        ])  # fmt: skip
    elif not design.shape:
        x = np.eye(design.inputs)[x]
    for i, (w, b) in enumerate(layers):
        x = (np.maximum(x, 0) if i else x) @ w + b
    return x


def loop_values(design, layers, prior, k, x):
    q = loop_outputs(design, layers, k, x).reshape(-1, design.actions)
    if prior:
        scale = [design.prior[j % len(design.prior)] for j in range(design.members)]
        f = [scale[j] * loop_outputs(design, prior, j, x) for j in range(design.members)]
        q = q + f[k] - (np.mean(f, axis=0) if design.centred else 0)
    return q


def loop_loss(layers, design, state, batch):
    total, members, size = 0.0, range(design.members), len(batch.rewards)
    lacks = np.zeros((size, design.actions)) if batch.allowed is None else np.where(batch.allowed, 0, -np.inf)
    for i in range(size):
        x = batch.next_observations[i]
        after = [loop_values(design, state.targets, state.prior, k, x) for k in members]
        online = [loop_values(design, state.networks, state.prior, k, x) for k in members]
        own = [a[0] for a in after]
        policies = [int((q + lacks[i]).argmax()) for q in [*own, np.mean(own, axis=0)]]
        for k in members:
            best = int((online[k][0] + lacks[i]).argmax()) if design.double else policies[k]
            follows = [after[k][0][best], *(after[k][1 + j][a] for j, a in enumerate(policies) if design.heads)]
            q = loop_values(design, layers, state.prior, k, batch.observations[i])[:, batch.actions[i]]
            y = batch.rewards[i] + design.gamma * batch.goes_on[i] * np.array(follows)
            error = (y - q) ** 2
            total += batch.weights[i, k] * (error[0] + (error[1:].mean() if design.heads else 0)) / size
    return total


def a_case(spec, rng, double: bool = False, masks: bool = False):
    """Return a design with all that there is, a state whose targets are others than its networks, and a batch."""
    shape = {STATES: (), NUMBERS: (4,), IMAGES: (4, 5, 2)}[spec]
    design = networks.Design(
        shape, int(np.prod(shape)) if shape else 5, 3, 3, (3,), 2 * (spec is IMAGES), (2.0, 0.5), True, True, double,
        0.9, 0.01, 2,
    )  # fmt: skip
    state, other = (networks.draw(design, lambda n: rng.normal(size=n)) for _ in range(2))
    state = jax.tree.map(lambda x: np.asarray(x, np.float64), state._replace(targets=other.networks))
    shape = (3, *design.shape)
    looks = [rng.integers(design.inputs, size=3) if not design.shape else rng.normal(size=shape) for _ in range(2)]
    weights = rng.integers(2, size=(3, design.members))
    actions, rewards = rng.integers(3, size=3), rng.normal(size=3)
    allowed = np.array([[True, False, True], [False, False, False], [False, True, True]]) if masks else None
    batch = networks.Batch(looks[0], actions, rewards, np.array([1, 0, 1]), looks[1], weights, allowed)
    return design, state, batch


@pytest.mark.parametrize("spec", [STATES, NUMBERS, IMAGES])
@pytest.mark.parametrize(("double", "masks"), [slow(False, False), slow(True, False), (True, True), slow(False, True)])
def test_the_gradient_is_that_of_loops(spec, double: bool, masks: bool) -> None:
    rng = np.random.default_rng(1)
    design, state, batch = a_case(spec, rng, double=double, masks=masks)
    value, gradient = GRADIENT(state.networks, design, state, batch)
    assert float(value) == pytest.approx(loop_loss(state.networks, design, state, batch), rel=1e-5)
    step = 1e-6  # of the numbers, and a tenth of them
    for layer, part in itertools.product(range(len(gradient)), range(2)):
        ours = np.asarray(gradient[layer][part])
        for at in rng.permutation(ours.size)[:5]:
            ends = []
            for sign in (1, -1):
                moved = [[w.copy(), b.copy()] for w, b in state.networks]
                moved[layer][part].flat[at] += sign * step
                ends.append(loop_loss(moved, design, state, batch))
            assert ours.flat[at] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-3, abs=1e-4)


def test_an_update_is_a_step_of_adam() -> None:
    design, state, batch = a_case(NUMBERS, np.random.default_rng(2))
    state = jax.tree.map(np.float32, state)._replace(updates=np.int32(0))
    step = jax.jit(networks.update, static_argnums=0)
    w, tree = jax.tree.flatten(jax.tree.map(np.float64, state.networks))
    m, v = [0.0] * len(w), [0.0] * len(w)
    for n in range(1, 5):
        gradient = jax.tree.leaves(GRADIENT(state.networks, design, state, batch)[1])
        before, (state, _) = state, step(design, state, batch)
        for i, g in enumerate(np.float64(g) for g in gradient):
            m[i], v[i] = 0.9 * m[i] + 0.1 * g, 0.999 * v[i] + 0.001 * g * g
            w[i] = w[i] - design.rate * (m[i] / (1 - 0.9**n)) / (np.sqrt(v[i] / (1 - 0.999**n)) + 1e-8)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), state.networks, tree.unflatten(w))
        targets = before.targets if n % design.target else state.networks
        jax.tree.map(np.testing.assert_array_equal, state.targets, targets)


@pytest.mark.parametrize("spec", [slow(STATES), NUMBERS])
def test_a_bonus_is_the_error_by_the_mean_error_so_far(spec) -> None:
    """Random network distillation, by loops: errors of observations that were noticed, and what rewards gain."""
    agent, world = opened(DeepQ(bonus="rnd", bonus_scale=0.7, **SMALL), spec), World(spec, [1])
    squares, programs = [], agent.programs

    def error(state, x) -> float:
        fixed, learns = state.novelty[:2]
        design = agent.design
        return np.square(loop_outputs(design, learns, 0, x) - loop_outputs(design, fixed, 0, x)).mean()

    def notice(state, observations):
        squares.append(np.mean([error(state, x) ** 2 for x in observations]))
        return programs.notice(state, observations)

    def learn(state, batch):
        one = jax.tree.map(lambda column: np.asarray(column[0]), batch)
        bonuses = [0.7 * error(state, x) / np.sqrt(np.mean(squares)) for x in one.next_observations]
        plain = agent.design._replace(bonus=0.0)
        given = one._replace(rewards=np.float32(one.rewards + bonuses))
        expected = float(networks.loss(state.networks, plain, state, given))
        state, loss = programs.learn(state, batch)
        assert float(loss) == pytest.approx(expected, rel=1e-3)
        return state, loss

    agent.programs = programs._replace(notice=notice, learn=learn)
    fixed = jax.tree.map(np.array, agent.states[0].novelty[0])
    play(agent, world, 20)
    jax.tree.map(np.testing.assert_array_equal, agent.states[0].novelty[0], fixed)
    assert len(squares) == 20 - SMALL["warmup"] + 1
    assert float(agent.states[0].novelty[4]) == pytest.approx(np.mean(squares), rel=1e-3)


@pytest.mark.slow
def test_what_was_seen_often_is_no_news() -> None:
    agent = opened(DeepQ(bonus="rnd", **SMALL | {"hidden": (50,)}))
    one, false = np.array([3]), np.array([False])
    for _ in range(150):
        agent.update(slice(None), rlrun.Transitions(one, one, np.zeros(1), one, false, false))
    seen, *others = networks.bonuses(agent.design, agent.states[0].novelty, np.array([1, 0, 2, 3, 4]))
    assert seen < 0.1 * min(others)


def test_there_is_no_loss_before_the_first_update() -> None:
    agent, world = opened(small()), World(STATES, range(1))
    losses = []
    for _ in range(SMALL["warmup"] + 1):
        play(agent, world, 1)
        losses.append(agent.measure(0)["loss"])
    assert np.isnan(losses[: SMALL["warmup"]]).all()
    assert losses[-1] > 0
    agent.begin(np.array([0]), np.array([5], np.uint64))  # another run
    assert np.isnan(agent.measure(0)["loss"])


def test_the_mean_of_a_metric_does_not_depend_on_when_it_is_asked_for() -> None:
    often, once = (opened(small(warmup=5)) for _ in range(2))
    world, told = World(STATES, [1]), []
    for _ in range(20):
        play(often, world, 1)
        told.append(list(often.measure(0).values()))
    play(once, World(STATES, [1]), 20)
    assert list(once.measure(0).values()) == pytest.approx(np.nanmean(told, axis=0).tolist())
    assert np.isnan(list(once.measure(0).values())).all()  # no step since


@pytest.mark.parametrize("mask", [slow(1.0), slow(0.5), 0.05])
def test_the_loss_is_of_the_steps_that_are_learned_from(mask: float) -> None:
    agent, world = opened(small(mask=mask, updates=1)), World(STATES, [1])
    made, learn = [], agent.programs.learn

    def look(state, batch):
        one = jax.tree.map(lambda column: column[0], batch)
        weights = np.asarray(one.weights)
        each = one._replace(weights=np.ones_like(weights))
        errors = [
            float(networks.loss(state.networks, agent.design, state, jax.tree.map(lambda c, i=i: c[[i]], each)._replace(
                weights=np.eye(agent.members, dtype=np.float32)[[k]])))
            for i, k in np.argwhere(weights)
        ]  # fmt: skip
        made.append(np.mean(errors) if errors else np.nan)
        return learn(state, batch)

    agent.programs = agent.programs._replace(learn=look)
    told = []
    for _ in range(20):
        play(agent, world, 1)
        told.append(agent.loss[0])
    assert told[-len(made) :] == pytest.approx(made, rel=1e-4, nan_ok=True)
    assert np.isnan(made).any() == (mask < 0.1)  # where no member learned, the loss is not known


def judged(members: int, scale: float, steps: int = 1500) -> float:
    """Return the calibration of members whose values are normal, as are the returns; values are scaled."""
    agent = opened(
        small(members=members, gamma=0.0, target=4, warmup=10**6, capacity=50, behaviour="epsilon", epsilon=1.0)
    )
    rng = np.random.default_rng(3)
    agent._values = lambda *_: scale * rng.normal(size=(1, members, 1, 3)).astype(np.float32)
    for _ in range(steps):
        agent.select_actions(slice(None), np.array([2]))
        one, end = np.array([2]), np.array([True])
        agent.update(slice(None), rlrun.Transitions(one, one, rng.normal(size=1), one, end, ~end))
    return agent.measure(0)["calibration"]


@pytest.mark.parametrize("members", [3, slow(9)])
def test_returns_as_drawn_as_the_members_are_calibrated(members: int) -> None:
    """With ε = 1 actions do not depend on values: each place of K + 1 is as probable. Off by 4 deviations: 6e-5."""
    p = (members - 1) / (members + 1)
    assert abs(judged(members, 1) - p) < 4 * np.sqrt(p * (1 - p) / 1500)
    assert judged(members, 0.1) < p / 2 < p < judged(members, 10)  # members that are too sure, and not sure enough


def test_a_return_is_that_of_the_rest_of_the_episode() -> None:
    agent = opened(small(gamma=0.5, warmup=99, capacity=9))
    one, false = np.array([2]), np.array([False])

    def episode(rewards, claims, *, terminated: bool) -> float:
        for n, (r, claim) in enumerate(zip(rewards, claims, strict=True)):
            agent.claims[0, agent.steps[0] % 9] = claim
            end = np.array([n == len(rewards) - 1])
            ends = (end, false) if terminated else (false, end)
            agent.update(slice(None), rlrun.Transitions(one, one, np.array([float(r)]), one, *ends))
        return agent.measure(0)["calibration"]

    low_high = [(3, 3), (3.9, 4.1), (4.1, 5), (0, 9)]  # of the returns 3, 4, 4 and 0
    for _ in range(3):  # over the end of what is kept
        assert episode([1, 2, 4, 0], low_high, terminated=True) == 3 / 4
    assert np.isnan(episode([1, 2, 4, 0], low_high, terminated=False))  # what is cut off weighs 1/16
    assert episode([1] * 8, [(1.9, 2)] * 8, terminated=False) == 1.0  # the first two alone are known
    assert episode([0] * 20, [(0, 0)] * 20, terminated=True) == 1.0  # the last nine are kept


@pytest.mark.parametrize("spec", [slow(STATES), NUMBERS, slow(IMAGES)])
def test_a_lane_has_the_same_bytes_with_any_others(spec) -> None:
    of_lane_0 = set()
    for lanes in (1, 3, 16):
        agent = opened(small(filters=2 if spec is IMAGES else 0), spec, lanes)
        play(agent, World(spec, range(lanes)), 25)
        of_lane_0.add(agent.save(0))
    assert len(of_lane_0) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: small(behaviour="z"),
        lambda: DeepQ(**SMALL),
        lambda: small(mask=1.0),
        lambda: DeepQ(bonus="rnd", period=2, **SMALL),
    ],
)
def test_a_saved_lane_goes_on_to_the_bit(make) -> None:
    agent, world = opened(make(), lanes=3), World(STATES, range(3))
    play(agent, world, 15)
    other, twin = opened(make(), lanes=2), World(STATES, [2, 1])
    play(other, twin, 15)  # another agent, in the same world
    other.load(0, agent.save(2))
    assert other.save(0) == agent.save(2)
    twin = World(STATES, [2, 1])
    twin.rngs[0], twin.now[0] = world.rngs[2], world.now[2]
    copy = np.random.default_rng()
    copy.bit_generator.state = world.rngs[2].bit_generator.state
    twin.rngs[0] = copy
    assert (play(agent, world, 15)[:, 2] == play(other, twin, 15)[:, 0]).all()
    assert other.save(0) == agent.save(2)


def test_an_evaluation_changes_nothing() -> None:
    agent, world = opened(small(), lanes=2), World(STATES, range(2))
    play(agent, world, 10)
    kept = agent.save(0)
    agent.select_greedy_actions(np.array([0]), np.array([3]))
    assert agent.save(0) == kept


@pytest.mark.parametrize("behaviour", ["epsilon", "z", "member", "mean", "hosted"])
def test_an_action_that_is_not_allowed_is_not_taken(behaviour: str) -> None:
    kinds = ["members", "constants"] if behaviour == "hosted" else None
    of = {} if behaviour == "hosted" else {"behaviour": behaviour}
    of |= {"epsilon": 1.0, "epsilon_start": 0.9} if behaviour in ("epsilon", "z") else {}
    spec = dataclasses.replace(STATES, masks=True)
    agent, world, rng = opened(small(**of), spec, 2, kinds), World(STATES, [1, 2]), np.random.default_rng(3)
    counts = np.zeros(3)
    for _ in range(150):
        masks = rng.permuted(np.tile([True, True, False], (2, 1)), axis=1)
        agent.set_action_masks(slice(None), masks)
        if kinds:
            p = agent.problems(slice(None), world.now)
            assert (p.offered[:, 4:] <= masks).all()
            agent.choose(slice(None), rng.integers(p.offered.shape[1], size=2))
        actions = agent.select_actions(slice(None), world.now)
        assert masks[[0, 1], actions - 1].all()
        assert masks[[0, 1], agent.select_greedy_actions(slice(None), world.now) - 1].all()
        np.add.at(counts, actions - 1, 1)
        agent.update(slice(None), world.step(actions))
        assert (agent.kept.allowed[:, (agent.steps[0] - 1) % 9] == masks).all()
    if behaviour == "epsilon":  # uniform: 100 of 300 each, within four standard errors
        assert abs(counts - 100).max() < 4 * np.sqrt(300 * 2 / 9)


def test_other_networks_are_not_loaded() -> None:
    saved = opened(small()).save(0)
    with pytest.raises(rlrun.Error, match="members is 3 there and 2 here"):
        opened(small(members=2, prior=(1.0,))).load(0, saved)
    with pytest.raises(rlrun.Error, match="no saved rlrun/deep-q@1"):
        opened(DeepQ(**SMALL)).load(0, saved)
    agent = opened(small(), lanes=2)
    play(agent, World(STATES, range(2)), 9)
    with pytest.raises(rlrun.Error, match="capacity"):
        opened(small(capacity=8)).load(0, agent.save(0))
    saved = rlrun.unpack(agent.save(0))
    with pytest.raises(rlrun.Error, match="that this version saved"):
        agent.load(0, rlrun.pack(saved | {"numbers": saved["numbers"][1:]}))
    with pytest.raises(rlrun.Error, match="this is no saved"):
        agent.load(0, rlrun.pack({"agent": saved["agent"]}))


def test_a_saved_agent_of_another_jax_goes_on_with_a_warning(caplog) -> None:
    agent = opened(small())
    saved = rlrun.unpack(agent.save(0)) | {"jax": "0.0.1"}
    agent.load(0, rlrun.pack(saved))
    assert "saved with jax 0.0.1" in caplog.text


WIDE = rlrun.Spec(rlrun.Box(-np.inf, np.inf, (4,), "float64"), rlrun.Discrete(3))


@pytest.mark.parametrize(
    ("spec", "params", "changed", "cause"),
    [
        (STATES, {}, {"rewards": 1e300}, "rewards are up to inf, .*; give rewards in a larger unit"),
        (STATES, {}, {"rewards": -1e25}, r"rewards are up to 1e\+25, .*; give rewards in a larger unit"),
        (WIDE, {}, {"next_observations": 1e25}, r"observations are up to 1e\+25, .*; give their space bounds"),
        (STATES, {"rate": 0.5}, {}, "a rate of 0.5, 500 times the default; try rate: 0.001$"),
        (STATES, {}, {}, "at rate 0.001 and gamma 0.99; try rate: 0.0001, target: 8, or rewards that are about 1"),
    ],
)
def test_a_loss_that_is_no_number_names_lane_step_cause_and_cure(spec, params, changed, cause: str) -> None:
    agent, world = opened(small(**params), spec, lanes=3), World(NUMBERS if spec is WIDE else spec, range(3))
    play(agent, world, 4)
    t = world.step(agent.select_actions(slice(None), world.now))
    for name, value in changed.items():
        getattr(t, name)[1] = value
    if not changed:  # values that have grown
        agent.states[1] = jax.tree.map(lambda x: x * np.float32(1e15), agent.states[1])
    start = r"(the metric loss is (inf|nan)|the value of an action is infinite or no number) after step \d+\. "
    with pytest.raises(rlrun.Error, match=f"{start}The probable cause: .*{cause}") as e:  # noqa: PT012
        for _ in range(20):
            agent.update(slice(None), t)
    assert e.value.lane == 1


def test_values_that_are_no_numbers_select_no_action() -> None:
    """As after the last update of a saved agent, or at a first observation that float32 does not have."""
    agent = opened(small(), WIDE)
    for select in (agent.select_actions, agent.select_greedy_actions):
        with pytest.raises(rlrun.Error, match=r"infinite or no number after step 0\. .*observations are up to inf"):
            select(slice(None), np.full((1, 4), 1e300))


class Gpu:
    """A device whose memory has a limit."""

    platform, device_kind = "gpu", "NVIDIA T"

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def memory_stats(self):
        return {"bytes_limit": self.limit}


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        (7e4, r"take 8\.16e-05 GB, and this process has 6\.97e-05 GB for them: say lanes: 2 in the config, or"),
        (1e4, r"smaller hidden layers or a smaller batch\. Each worker .*: say workers: 1, or set"),
        (1e9, "so that the rest was taken by updates, or by other processes: say lanes: 1 in the config, or choose"),
    ],
)
@pytest.mark.parametrize("when", ["values", "learn"])
def test_a_full_device_says_what_fits(monkeypatch, limit: float, says: str, when: str) -> None:
    agent, world = opened(small(hidden=(50,)), lanes=3), World(STATES, range(3))

    def full(*_):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12 bytes.")

    agent.programs = agent.programs._replace(**{when: full})
    monkeypatch.setattr(jax, "devices", lambda: [Gpu(limit)])
    with pytest.raises(rlrun.InvalidParams, match=f"the memory of NVIDIA T is full: networks of 3 lanes .*{says}"):
        play(agent, world, 5)


@pytest.mark.parametrize("params", [{}, {"filters": 2}, {"bonus": "rnd"}, {"prior": (0.0,)}])
def test_the_size_of_a_state_is_that_of_its_arrays(params) -> None:
    agent = DeepQ(**SMALL, **params) if "bonus" in params else small(**params)
    spec = IMAGES if "filters" in params else STATES
    state = opened(agent, spec).states[0]
    assert networks.size(agent.design) == sum(x.nbytes for x in jax.tree.leaves(state))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(rlrun.Unsupported, match="actions must be discrete"):
        small().open(rlrun.Spec(rlrun.Discrete(2), rlrun.Box(0, 1, (1,))), 1)
    for spec in (STATES, NUMBERS, rlrun.Spec(rlrun.Box(0, 1, (2, 9)), rlrun.Discrete(2))):
        with pytest.raises(rlrun.Unsupported, match="filters take images"):
            small(filters=4).open(spec, 1)
    for params in ({"hidden": (10**6, 10**6)}, {"capacity": 10**14}):
        with pytest.raises(rlrun.InvalidParams, match=r"Unable to allocate .*: choose a smaller capacity, or smaller"):
            small(**params).open(STATES, 1)
    for params in ({"hidden": (3, 0)}, {"prior": ()}, {"prior": (-1.0,)}, {"prior": (1.0,) * 4}):
        with pytest.raises(rlrun.InvalidParams, match=next(iter(params))):
            small(**params)
    for params in ({"rate": 0}, {"mask": 0}, {"rate": 1e-320}, {"mask": 1e-300}):
        with pytest.raises(rlrun.InvalidParams, match="nothing would be learnt"):
            small(**params)
    with pytest.raises(rlrun.InvalidParams, match="centred takes the only prior away"):
        small(members=1, prior=(1.0,))
    with pytest.raises(rlrun.Unsupported, match="no options of kind pair"):
        opened(small(), kinds=["members", "pair"])
    with pytest.raises(rlrun.Unsupported, match="behaviour has no effect with exploration"):
        opened(small(behaviour="z"), kinds=["members"])
    with pytest.raises(rlrun.InvalidParams, match="bonus_scale is 0, which is 0 in float32: nothing"):
        DeepQ(bonus="rnd", bonus_scale=0.0)
    with pytest.raises(rlrun.InvalidParams, match="capacity is 4 and batch 8"):
        DeepQ(batch=8, capacity=4)


@pytest.mark.parametrize(
    ("cls", "given", "says"),
    [
        (DeepBootstrapQ, {"epsilon": 0.3}, "epsilon has no effect with behaviour member: .* behaviour epsilon or z$"),
        (DeepBootstrapQ, {"epsilon_start": 1.0}, "epsilon_start has no effect with behaviour member"),
        (DeepBootstrapQ, {"behaviour": "mean", "decay": 7}, "decay has no effect with behaviour mean"),
        (DeepQ, {"epsilon": 0.5, "epsilon_start": 0.5, "decay": 7},
         "decay has no effect with epsilon_start 0.5: .* and epsilon_start other than epsilon$"),
        (DeepQ, {"epsilon": 0, "epsilon_start": 0, "behaviour": "z"}, "behaviour has no effect with epsilon 0 and eps"),
        (DeepBootstrapQ, {"gamma": 0.0, "double": True}, "double has no effect with gamma 0"),
        (DeepQ, {"target": 1, "double": True}, "double has no effect with target 1"),
        (DeepQ, {"gamma": 0, "target": 9}, "target has no effect with gamma 0: .* gamma other than 0$"),
        (DeepQ, {"bonus_scale": 0.1}, "bonus_scale has no effect with bonus none: .* bonus other than none$"),
        (DeepQ, {"period": 200, "warmup": 7}, "warmup has no effect with period 200, as the first update is then"),
        (DeepBootstrapQ, {"prior": [0], "centred": True}, "centred has no effect with prior 0: leave it out"),
        (DeepBootstrapQ, {"prior": [0.0, 0], "centred": False}, "centred has no effect with prior 0"),
        (DeepBootstrapQ, {"prior": [0], "members": 1, "behaviour": "mean"}, "mean has no effect with members 1"),
    ],
)  # fmt: skip
def test_a_parameter_without_an_effect_is_refused(cls, given, says: str) -> None:
    with pytest.raises(rlrun.InvalidParams, match=says):
        build(cls, json.dumps(given).encode())


OTHERS = {
    "target": 3, "double": True, "epsilon": 0.4, "epsilon_start": 0.8, "decay": 40, "behaviour": "z", "centred": False,
    "bonus_scale": 3.0,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("cls", [DeepQ, DeepBootstrapQ])
@pytest.mark.parametrize(
    "beside",
    [{}, {"behaviour": "epsilon"}, {"gamma": 0.0}, {"target": 1}, {"epsilon": 0.0, "epsilon_start": 0.0},
     {"bonus": "rnd"}, {"prior": (0.0, 0.0)}, {"epsilon": 0.5, "epsilon_start": 0.5}],
)  # fmt: skip
def test_what_is_accepted_has_an_effect_and_what_is_refused_has_none(cls, beside) -> None:
    known = set(schema(cls)["properties"])
    if beside.keys() - known:
        pytest.skip("of the other agent")
    if "epsilon" in beside and cls is DeepBootstrapQ:
        beside = beside | {"behaviour": "epsilon"}
    own = {"decay": 9} if cls is DeepQ else {"members": 3, "updates": 2}
    base = SMALL | own | {"double": False, "rate": 0.05, "target": 9} | beside

    def made(given) -> list:
        agent = opened(cls(**given))
        actions = play(agent, World(STATES, [1]), 90)
        return [actions.tobytes(), *(np.asarray(x).tobytes() for x in jax.tree.leaves(agent.states[0].networks))]

    plain = made(base)
    doubtful = {name for name, p in schema(cls)["properties"].items() if "x-when" in p}
    for name in sorted(doubtful - beside.keys()):
        given = base | {name: OTHERS[name]}
        try:
            build(
                cls, json.dumps({k: v for k, v in given.items() if k not in base or k in beside or k == name}).encode()
            )
            refused = False
        except rlrun.InvalidParams as e:
            refused = f"{name} has no effect" in str(e)
        assert (made(given) == plain) == refused, f"{name} beside {beside}"


@pytest.mark.parametrize(("module", "what"), [("agents", "agents with networks"), ("jax", "environments in JAX")])
def test_without_jax_the_extra_is_named(tmp_path: Path, module: str, what: str) -> None:
    (tmp_path / "jax.py").write_text("raise ImportError('there is none')")
    for told, says in ({}, "ImportError: "), ({"RLRUN_PLUGIN": "1"}, ""):
        done = subprocess.run(
            [sys.executable, "-c", f"import rlrun.{module}"],
            env={"PYTHONPATH": str(tmp_path)} | told, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stderr.strip().splitlines()[-1].startswith(f"{says}{what} need JAX")
        assert "pip install 'rlrun[deep]'" in done.stderr


def test_a_member_holds_no_policy_to_be_better_than_its_own() -> None:
    agent, world = opened(small(), lanes=4, kinds=["members", "constants"]), World(STATES, range(4))
    play(agent, world, 12)
    p = agent.problems(slice(None), world.now)
    own = p.values[:, 1:4].diagonal(axis1=1, axis2=2)
    assert (p.values <= own[:, None] + 1e-12).all()
    assert (p.steps == 0).all()  # the host estimates
    q = agent._values(slice(None), world.now)[:, :, 0]
    np.testing.assert_allclose(own, (1 - agent.gamma) * q.max(2), rtol=1e-5)
    for option in range(len(p.names)):  # each does what its name says
        agent.choose(slice(None), np.full(4, option))
        says = {0: q.mean(1).argmax(1), **{1 + k: q[:, k].argmax(1) for k in range(3)}}.get(option, option - 4)
        assert (agent.select_actions(slice(None), world.now) == says + 1).all()
    greedy = agent._values(slice(None), world.now)[:, :, 0].mean(1).argmax(1)
    assert not p.offered[np.arange(4), 4 + greedy].any()
    assert [agent.greedy_policy(lane)[o - 2] for lane, o in enumerate(world.now)] == list(greedy + 1)


@pytest.mark.slow
def test_a_drawn_member_is_held_for_an_episode() -> None:
    agent = opened(small(gamma=0.9), lanes=3, kinds=["drawn-member"])
    agent.steps[:], agent.episodes[:] = [12, 12, 900], [0, 3, 2]
    p = agent.problems(slice(None), np.array([2, 3, 4]))
    assert p.offered.sum(1).tolist() == [2, 2, 2]
    assert p.steps[p.offered].tolist() == [0, 10, 0, 4, 0, 10]  # 1/(1 − γ), and the mean length of an episode


def test_repeats_have_the_zeta_distribution() -> None:
    """P(n) ∝ 1/n²; each of the three frequencies is off by more than five deviations once in 600,000 tests."""
    agent = DeepQ(behaviour="z", epsilon=1.0, **SMALL)
    agent.open(STATES, 4000)
    agent.rng.seed(slice(None), np.arange(4000, dtype=np.uint64))
    agent._explored(slice(None), np.zeros(4000, np.int64))
    for n in (1, 2, 3):
        p = 6 / np.pi**2 / n**2
        assert abs((agent.left == n - 1).mean() - p) < 5 * np.sqrt(p * (1 - p) / 4000)


def test_epsilon_falls_to_its_end() -> None:
    agent = opened(DeepQ(decay=10, epsilon=0.0, **SMALL), lanes=1)
    agent.steps[0] = 10
    assert agent._explored(slice(None), np.array([1])) == [1]
    agent.steps[0], agent.epsilon = 0, 0.5
    assert {int(agent._explored(slice(None), np.array([9]))[0]) for _ in range(40)} == {0, 1, 2}


def config(tmp_path: Path, **keys) -> str:
    path = tmp_path / "deep.json"
    path.write_text(json.dumps({"name": "deep", "workers": 1, "output": "out", "seed": 1} | keys))
    return str(path)


SEA = {"name": "sea", "plugin": "deepsea", "params": {"mapped": True, "size": 8}}
QUICK = {"members": 10, "batch": 64, "updates": 1}


@pytest.mark.slow
def test_sampling_solves_deepsea_and_greedy_does_not(run, by_name, tmp_path: Path) -> None:
    """A treasure is worth 1 and is found by going right 8 times, which random actions do in an episode of 256."""
    agents = [
        {"name": "member", "plugin": "deep-bootstrap-q", "params": QUICK},
        {"name": "mean", "plugin": "deep-bootstrap-q", "params": QUICK | {"behaviour": "mean"}},
        {"name": "host", "plugin": "deep-bootstrap-q", "params": QUICK, "exploration": {}},
    ]
    run("run", "--quiet", config(tmp_path, environments=[SEA], agents=agents, runs=8, steps=1000))
    results = rlrun.read_results(tmp_path / "out")
    earned = results.outcomes[results.outcomes.metric == "cumulative_reward"]
    solved = (earned.set_index(["agent", "run"]).value > 10).groupby("agent").sum()
    assert solved["member"] >= 6
    assert solved["host"] >= 4
    assert solved["mean"] == 0


@pytest.mark.slow
def test_a_bonus_for_news_finds_what_random_actions_do_not(run, by_name, tmp_path: Path) -> None:
    params = {"batch": 64, "epsilon": 0.2, "epsilon_start": 0.2}
    agents = [
        {"name": "rnd", "plugin": "deep-q", "params": params | {"bonus": "rnd"}},
        {"name": "epsilon", "plugin": "deep-q", "params": params},
    ]
    run("run", "--quiet", config(tmp_path, environments=[SEA], agents=agents, runs=8, steps=2000, seed=4))
    results = rlrun.read_results(tmp_path / "out")
    earned = results.outcomes[results.outcomes.metric == "cumulative_reward"]
    solved = (earned.set_index(["agent", "run"]).value > 0).groupby("agent").sum()
    assert solved["rnd"] >= 6
    assert solved["epsilon"] <= 2


@pytest.mark.slow
def test_run_takes_names_and_classes(program: str, tmp_path: Path) -> None:
    agents = [{"plugin": c, "params": SMALL, "name": str(i)} for i, c in enumerate(["deep-q", DeepQ, DeepBootstrapQ])]
    experiment = rlrun.Experiment(environments=["catch", "cartpole-swingup"], agents=agents, runs=2, steps=20)
    results = rlrun.run(experiment, output=tmp_path / "out", progress=False)
    assert list(results.runs.status) == ["ok"] * 12


@pytest.mark.slow
def test_runs_are_bound_to_jax_and_to_the_device(run, by_name, tmp_path: Path) -> None:
    tasks = [{"name": "catch", "plugin": "catch"}]
    agents = [{"name": "net", "plugin": "deep-q", "params": SMALL}]
    path = config(tmp_path, environments=tasks, agents=agents, runs=1, steps=5)
    run("run", "--quiet", path)
    provenance = tmp_path / "out" / "provenance.json"
    (sources,) = [p["sources"] for p in json.loads(provenance.read_text())["plugins"] if p["plugin"] == "deep-q"]
    assert [sources[f"package {name}"] for name in ("jax", "jaxlib")] == [jax.__version__, jax.lib.__version__]
    assert sources["fact device"] == jax.devices()[0].device_kind


@pytest.mark.slow
def test_what_jax_was_told_is_a_fact(run, by_name, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of 64 bits, for example, are of other runs."""
    monkeypatch.delenv("XLA_FLAGS")
    assert re.findall("Fact (.*)", run("plugin", "inspect", "deep-q")) == [f"device: {jax.devices()[0].device_kind}"]
    flags = "--xla_cpu_enable_fast_math=true"
    for name, value in (("JAX_ENABLE_X64", "True"), ("JAX_DISABLE_JIT", "True"), ("XLA_FLAGS", flags)):
        with monkeypatch.context() as told:
            told.setenv(name, value)
            assert f"Fact {name}: {value}" in run("plugin", "inspect", "deep-q")


@pytest.mark.slow
def test_facts_bind_runs(run, tmp_path: Path) -> None:
    """A resume on another device, or with another version of a package, names both."""
    (tmp_path / "facts.py").write_text(
        """
import pathlib, rlrun
class Told(rlrun.Environment):
    id = "test/told@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(2), continuing=True)
    def reset(self, seed): return 0
    def step(self, action): return rlrun.TimeStep(0, 1.0)
    @classmethod
    def facts(cls): return {"device": pathlib.Path("device").read_text()}
rlrun.serve(Told)
"""
    )
    (tmp_path / "device").write_text("cpu")
    told = {"name": "told", "plugin": sys.executable, "args": ["facts.py"]}
    assert "\nFact device: cpu\n" in run("plugin", "inspect", sys.executable, "--", str(tmp_path / "facts.py"))
    agents = [{"name": "random", "plugin": "random"}]
    run("run", "--quiet", config(tmp_path, environments=[told], agents=agents, runs=1, steps=5))
    (tmp_path / "device").write_text("NVIDIA H100")
    more = config(tmp_path, environments=[told], agents=agents, runs=2, steps=5)
    assert "fact device was cpu and is NVIDIA H100" in run("run", "--quiet", "--resume", more, fails=True)
    run("run", "--quiet", "--resume", "--mixed", more)


@pytest.mark.slow
def test_keeps_every_rule(run, by_name) -> None:
    params = [f"--param={k}={json.dumps(v)}" for k, v in SMALL.items()]
    assert "keeps every rule" in run("plugin", "check", "deep-bootstrap-q", *params)


@pytest.mark.slow
def test_a_run_without_numbers_ends_and_others_go_on(run, by_name, tmp_path: Path) -> None:
    (tmp_path / "rare.py").write_text(
        """
import numpy as np, rlrun
class Rare(rlrun.Environment):
    id = "test/rare@1"
    spec = rlrun.Spec(rlrun.Discrete(1), rlrun.Discrete(2), continuing=True)
    def reset(self, seed):
        self.reward = 1e300 if np.random.default_rng(seed).random() < 0.5 else 1.0
        return 0
    def step(self, action):
        return rlrun.TimeStep(0, self.reward)
rlrun.serve(Rare)
"""
    )
    rare = {"name": "rare", "plugin": sys.executable, "args": ["rare.py"]}
    agents = [{"name": "net", "plugin": "deep-q", "params": SMALL}]
    text = run("run", "--quiet", config(tmp_path, environments=[rare], agents=agents, runs=4, steps=30), fails=True)
    assert "the metric loss is" in text
    assert "after step 3" in text
    status = rlrun.read_results(tmp_path / "out").runs.status
    assert 0 < (status == "ok").sum() < 4
