"""The agent `PQN`: Q-learning from short rollouts of several actors, with a network whose layers are normalised.

It has no replay buffer and no target network. Each run has a network and random numbers of its own, and its updates
run by themselves. So its bits do not depend on how many runs there are.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

import rlrun
from rlrun import _jax
from rlrun.agents import networks
from rlrun.agents.networks import BETA_1, BETA_2, TINY, Draw

Layers = list[tuple[Any, ...]]
"""Weights and biases, and of a hidden layer what its normalised outputs are multiplied by and what is added to them."""

EPSILON = 1e-6
"""What layer normalisation adds to a variance."""


class Design(NamedTuple):
    """What a program is compiled for."""

    shape: tuple[int, ...]
    """Of an observation: () of a number of a state, or (n,)."""
    inputs: int
    actions: int
    hidden: tuple[int, ...]
    gamma: float
    trace_decay: float
    rate: float
    clip: float


class Rollout(NamedTuple):
    """Steps of n actors, T each: columns (n, T)."""

    observations: Any
    actions: Any
    rewards: Any
    goes_on: Any
    """1, and 0 after a step that terminated."""
    next_observations: Any
    joined: Any
    """Whether a step is the next one of the episode of the step before it."""
    there: Any
    """1, and 0 of the places after an actor's last step."""
    allowed: Any
    """(n, T, A): which actions are allowed at the next observations. None: all."""


class State(NamedTuple):
    """All that is learned."""

    layers: Layers
    first: Layers
    """RAdam's means of gradients."""
    second: Layers
    """RAdam's means of their squares."""
    updates: Any


def draw(design: Design, normal: Draw) -> State:
    """Draw a state: weights with variance 1/inputs, biases 0; normalised outputs are taken as they are."""
    layers: Layers = []
    units = [design.inputs, *design.hidden, design.actions]
    for k in range(len(units) - 1):
        i, o = units[k : k + 2]
        layer = (normal(i * o).reshape(i, o) / np.sqrt(i)).astype(np.float32), np.zeros(o, np.float32)
        norm = (np.ones(o, np.float32), np.zeros(o, np.float32)) if k < len(design.hidden) else ()
        layers.append((*layer, *norm))
    zeros = jax.tree.map(np.zeros_like, layers)
    state: State = jax.tree.map(lambda x: jnp.array(x, copy=True), State(layers, zeros, zeros, np.int32(0)))
    return state


def values(design: Design, layers: Layers, observations: Any) -> Any:
    """Return (B, A)."""
    h = observations
    for k, (w, b, *norm) in enumerate(layers):
        h = (w[h] if k == 0 and not design.shape else h @ w) + b
        if norm:
            h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + EPSILON) * norm[0] + norm[1]
            h = jax.nn.relu(h)
    return h


def targets(design: Design, layers: Layers, r: Rollout) -> Any:
    """Return what the values of the actions taken are moved to: Q(λ) of Peng & Williams (1996), (n, T)."""
    n, steps = r.rewards.shape
    after = values(design, layers, r.next_observations.reshape(n * steps, *design.shape)).reshape(n, steps, -1)
    best = (after if r.allowed is None else jnp.where(r.allowed, after, -jnp.inf)).max(-1)
    goes_on = r.goes_on
    best = jnp.where(goes_on > 0, best, 0.0)  # also where nothing is allowed any more
    followed = jnp.concatenate([r.joined[:, 1:] & (r.there[:, 1:] > 0), jnp.zeros((n, 1), bool)], 1)

    def back(target: Any, step: tuple[Any, ...]) -> tuple[Any, Any]:
        reward, best, goes_on, followed = step
        follows = jnp.where(followed, (1 - design.trace_decay) * best + design.trace_decay * target, best)
        target = reward + design.gamma * goes_on * follows
        return target, target

    columns = (r.rewards.T, best.T, goes_on.T, followed.T)
    return jax.lax.scan(back, jnp.zeros(n), columns, reverse=True)[1].T


def loss(layers: Layers, design: Design, batch: tuple[Any, Any, Any, Any]) -> Any:
    """Return half of the mean squared error of the steps that are there.

    A batch has observations, actions, targets, and 1 for each step that is there, 0 for others.
    """
    observations, actions, y, there = batch
    taken = jax.nn.one_hot(actions, design.actions, dtype=jnp.float32)
    q = (values(design, layers, observations) * taken).sum(-1)
    return 0.5 * (there * jnp.square(y - q)).sum() / jnp.maximum(there.sum(), 1.0)


def update(design: Design, state: State, batch: tuple[Any, Any, Any, Any]) -> tuple[State, Any]:
    """Return the state after a step of RAdam (Liu et al. 2020) by a clipped gradient, and the loss before it."""
    value, gradient = jax.value_and_grad(loss)(state.layers, design, batch)
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1.0, design.clip / jnp.maximum(norm, TINY)), gradient)
    n = state.updates + 1
    first = jax.tree.map(lambda m, g: BETA_1 * m + (1 - BETA_1) * g, state.first, gradient)
    second = jax.tree.map(lambda v, g: BETA_2 * v + (1 - BETA_2) * g * g, state.second, gradient)
    count = n.astype(jnp.float32)
    c1, c2 = 1 / (1 - BETA_1**count), 1 / (1 - BETA_2**count)
    most = 2 / (1 - BETA_2) - 1
    length = most - 2 * count * BETA_2**count * c2  # of the mean of squares
    known = length > 5  # well enough to divide by it
    length = jnp.maximum(length, 5)
    rectified = jnp.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))

    def moved(w: Any, m: Any, v: Any) -> Any:
        return w - design.rate * c1 * m * jnp.where(known, rectified / (jnp.sqrt(v * c2) + TINY), 1.0)

    return State(jax.tree.map(moved, state.layers, first, second), first, second, n), value


def learn(design: Design, state: State, r: Rollout, order: Any) -> tuple[State, Any]:
    """Return the state after updates by the steps of a rollout, and the mean of their losses.

    Each row of ``order``, (updates, n·T / minibatches), has the numbers of the steps that an update learns from.
    """
    n, steps = r.rewards.shape
    observations, y = r.observations.reshape(n * steps, *design.shape), targets(design, state.layers, r).reshape(-1)
    actions, there = r.actions.reshape(-1), r.there.reshape(-1)

    def step(s: State, at: Any) -> tuple[State, Any]:
        return update(design, s, (observations[at], actions[at], y[at], there[at]))

    state, losses = jax.lax.scan(step, state, order)
    return state, losses.mean()


class Programs(NamedTuple):
    """Compiled for a design."""

    learn: Callable[[State, Rollout, Any], tuple[State, Any]]
    """See `learn`. The state given is used up."""
    values: Callable[[Layers, Any], Any]


@functools.lru_cache(maxsize=32)
def programs(design: Design) -> Programs:
    """Return the programs of a design, one a process."""
    return Programs(
        jax.jit(functools.partial(learn, design), donate_argnums=0), jax.jit(functools.partial(values, design))
    )


@dataclass
class PQN(rlrun.VectorAgent):
    """Q-learning from short rollouts of several actors (PQN, Gallici et al. 2024), with targets of Q(λ).

    Layers are normalised; there is no replay buffer and no target network. It is ε-greedy, and ε falls linearly.
    """

    id = "rlrun/pqn@1"
    max_actors = 1024
    preferred_lanes = 64
    metrics: Sequence[rlrun.Metric] = (
        rlrun.Metric("loss", doc="Half of the mean squared error of the updates since the last point."),
    )

    hidden: tuple[int, ...] = rlrun.param((128, 128), "Units of each hidden layer, which are normalised.")
    gamma: float = rlrun.param(0.99, "γ, the discount.", minimum=0, maximum=0.999999)
    trace_decay: float = rlrun.param(
        0.95, "λ: 0 looks one step ahead, 1 to the end of the rollout or episode.", minimum=0, maximum=1,
        when="gamma!=0 and rollout!=1",
    )  # fmt: skip
    rate: float = rlrun.param(0.0005, "Step size of RAdam (Liu et al. 2020).", minimum=0)
    clip: float = rlrun.param(10.0, "The norm to which a larger gradient is shortened.", minimum=0)
    rollout: int = rlrun.param(16, "Steps of an actor between times of updates.", minimum=1)
    epochs: int = rlrun.param(4, "How often an update learns from each step of a rollout.", minimum=1)
    minibatches: int = rlrun.param(8, "Parts of a rollout, at random: each makes an update in every epoch.", minimum=1)
    epsilon: float = rlrun.param(0.05, "ε in the end.", minimum=0, maximum=1)
    epsilon_start: float = rlrun.param(1.0, "ε at the start of a run.", minimum=0, maximum=1)
    decay: int = rlrun.param(
        10000, "Steps of all actors in which ε goes from start to end, linearly.", minimum=1,
        beyond="ε never gets to epsilon", when="epsilon_start!=@epsilon",
    )  # fmt: skip

    @classmethod
    def facts(cls) -> Mapping[str, str]:
        """Return the device on which JAX computes: "cpu", or the name of a GPU."""
        return _jax.facts()

    def __post_init__(self) -> None:
        networks.check(self.hidden, rate=self.rate, clip=self.clip)

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        """Compile the programs, and make room for a rollout of every lane."""
        if not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported(f"actions must be discrete, and are {spec.action}")
        self.actors, self.action, self.space = spec.actors, spec.action, spec.observation
        size = self.actors * self.rollout
        if size % self.minibatches:
            raise rlrun.InvalidParams(
                f"a rollout of {self.actors} actors has {size} steps, which are not {self.minibatches} equal "
                f"minibatches: choose minibatches that divide {size}, or another rollout"
            )
        self.scale = networks.scale(self.space)
        shape, inputs = networks.shape(self.space, 0)
        self.design = Design(
            shape, inputs, self.action.n, self.hidden, self.gamma, self.trace_decay, self.rate, self.clip
        )
        self.lane, self.rng = np.arange(lanes), rlrun.Streams(lanes)
        self.states: list[State | None] = [None] * (lanes // self.actors)

        def column(dtype: Any, *more: int) -> NDArray[Any]:
            return np.zeros((lanes, self.rollout, *more), dtype)

        seen = np.int32 if not shape else np.float32
        self.kept = Rollout(
            column(seen, *shape), column(np.int32), column(np.float32), column(np.float32), column(seen, *shape),
            column(np.bool_), column(np.float32), column(np.bool_, self.action.n) if spec.masks else None,
        )  # fmt: skip
        self.now = np.zeros((lanes, *shape), seen)
        self.allowed = np.ones((lanes, self.action.n), np.bool_)
        self.masks = spec.masks
        self.count = np.zeros(lanes, np.int64)
        """How many steps of the rollout under way each lane has made."""
        self.on = np.zeros(lanes, np.bool_)
        """Whether the next step of a lane is of the same episode as its last."""
        self.learned = np.zeros(lanes, np.bool_)
        """Whether a lane has just learned from a step that did not end its episode."""
        runs = lanes // self.actors
        self.steps = np.zeros(runs, np.int64)
        self.sums, self.counts = np.zeros(runs), np.zeros(runs, np.int64)  # of losses, since the last measure
        self.programs = programs(self.design)
        state = draw(self.design, np.zeros)
        self.programs.values(state.layers, self.now[: self.actors])
        self.programs.learn(state, self._rollout(0), self._order(np.zeros((self.epochs, size))))

    def _rows(self, run: int) -> slice:
        return slice(run * self.actors, (run + 1) * self.actors)

    def _rollout(self, run: int) -> Rollout:
        return Rollout(*(None if c is None else c[self._rows(run)] for c in self.kept))

    def _order(self, draws: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return a random order of the steps of a rollout for each epoch, as minibatches."""
        return draws.argsort(1, kind="stable").reshape(self.epochs * self.minibatches, -1).astype(np.int32)

    def begin(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> None:
        """Draw networks, and forget all steps."""
        self.rng.seed(lanes, seeds)
        self._clear(lanes)
        for run in np.unique(self.lane[lanes] // self.actors):
            of = self.lane[run * self.actors : run * self.actors + 1]
            self.states[run] = draw(self.design, lambda n, of=of: self.rng.normal(of, n)[0])  # type: ignore[misc]
            self.steps[run], self.sums[run], self.counts[run] = 0, 0, 0

    def _clear(self, lanes: Any) -> None:
        """Begin rollouts and episodes."""
        self.count[lanes], self.on[lanes], self.learned[lanes], self.kept.there[lanes] = 0, False, False, 0

    def set_action_masks(self, lanes: rlrun.Lanes, masks: NDArray[np.bool_]) -> None:
        """Take which actions are allowed: others are neither selected nor in targets."""
        self.allowed[lanes] = masks

    def update(self, lanes: rlrun.Lanes, t: rlrun.Transitions) -> None:
        """Keep a step of each lane, and learn in the runs where an actor's rollout is full."""
        every = self.lane[lanes]
        at = every, self.count[lanes]
        step = (
            self._encoded(t.observations), t.actions - self.action.start, t.rewards, ~t.terminated,
            self._encoded(t.next_observations), self.on[lanes], 1,
        )  # fmt: skip
        with np.errstate(over="ignore"):  # what float32 cannot have ends the run by its loss
            for column, value in zip(self.kept, step, strict=False):
                column[at] = value
        if self.masks:
            self.kept.allowed[at] = self.allowed[lanes]
        self.count[lanes] += 1
        self.on[lanes] = self.learned[lanes] = ~(t.terminated | t.truncated)
        np.add.at(self.steps, every // self.actors, 1)
        for run in np.unique(every[self.count[lanes] == self.rollout] // self.actors):
            self._learn(run)

    def _learn(self, run: int) -> None:
        rows, first = self._rows(run), self.lane[run * self.actors : run * self.actors + 1]
        draws = self.rng.random(first, self.epochs * self.actors * self.rollout).reshape(self.epochs, -1)
        state, loss = self.programs.learn(self._state(run), self._rollout(run), self._order(draws))
        self.states[run], mean = state, float(loss)
        if not np.isfinite(mean):
            most = float(np.abs(self.kept.rewards[rows] * self.kept.there[rows]).max())
            raise rlrun.Error(
                f"the metric loss is {mean} after step {self.steps[run]}, where rewards are up to {most:.2g}: try "
                f"rate: {self.rate / 10:g}, or rewards and observations that are about 1", lane=int(first[0]),
            )  # fmt: skip
        self.sums[run] += mean
        self.counts[run] += 1
        self.count[rows], self.kept.there[rows] = 0, 0

    def _state(self, run: int) -> State:
        state = self.states[run]
        if state is None:
            raise rlrun.NeedsReset("the lane has not begun a run", lane=run * self.actors)
        return state

    def _encoded(self, observations: NDArray[Any]) -> NDArray[Any]:
        return networks.encoded(self.space, self.scale, self.design.shape, observations)

    def _greedy(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Return the best allowed actions, counted from 0. All lanes of a run go through its network at once."""
        every = self.lane[lanes]
        self.now[lanes] = self._encoded(observations)
        q = np.zeros(self.allowed.shape, np.float32)
        for run in np.unique(every // self.actors):
            rows = self._rows(run)
            q[rows] = self.programs.values(self._state(run).layers, self.now[rows])
        lost = every[~np.isfinite(q[lanes]).all(1)]
        if len(lost):
            raise rlrun.Error(
                f"the value of an action is infinite or no number after step {self.steps[lost[0] // self.actors]}: try "
                f"rate: {self.rate / 10:g}, or rewards and observations that are about 1", lane=int(lost[0]),
            )  # fmt: skip
        best: NDArray[np.int64] = (np.where(self.allowed, q, -np.inf) if self.masks else q)[lanes].argmax(1)
        return best

    def select_actions(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Act greedily, or with probability ε at random."""
        self.on[lanes] &= self.learned[lanes]  # else an episode begins
        self.learned[lanes] = False
        greedy, run = self._greedy(lanes, observations), self.lane[lanes] // self.actors
        share = np.minimum(1, self.steps[run] / self.decay)
        u, v = self.rng.random(lanes, 2).T
        allowed = self.allowed[lanes]
        random = (allowed.cumsum(1) > (v * allowed.sum(1))[:, None]).argmax(1)
        explores = u < self.epsilon_start + (self.epsilon - self.epsilon_start) * share
        actions: NDArray[np.int64] = np.where(explores, random, greedy)
        return actions + self.action.start

    def select_greedy_actions(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Take the best actions."""
        return self._greedy(lanes, observations) + self.action.start

    def measure(self, lane: int) -> dict[str, float]:
        """Return the mean of the losses since the last call. At first there is none."""
        run = lane // self.actors
        mean = self.sums[run] / self.counts[run] if self.counts[run] else np.nan
        self.sums[run], self.counts[run] = 0, 0
        return {"loss": float(mean)}

    def save(self, lane: int) -> bytes:
        """Return networks, moments, the rollout under way and random numbers of a run."""
        run = lane // self.actors
        return rlrun.pack({
            "agent": type(self).id, "design": self.design._asdict(), "jax": jax.__version__,
            "state": jax.tree.map(np.asarray, self._state(run))._asdict(),
            "run": [c[run] for c in (self.steps, self.sums, self.counts)], "lanes": self._lanes(run),
        })  # fmt: skip

    def _lanes(self, run: int) -> list[NDArray[Any]]:
        """List what the lanes of a run have. Places of a rollout without a step are 0."""
        rows, columns = self._rows(run), []
        for c in self.kept:
            if c is not None:
                there = self.kept.there[rows] > 0
                columns.append(
                    np.where(there.reshape(*there.shape, *[1] * (c.ndim - 2)), c[rows], np.zeros((), c.dtype))
                )
        return [self.rng.state[rows], self.count[rows], self.on[rows], self.learned[rows], *columns]

    def load(self, lane: int, state: bytes) -> None:
        """Restore what `save` returned, of an agent with the same network.

        With another number of actors, or other rollouts, it begins a rollout, and random numbers that follow from
        the saved ones.
        """
        saved, run = rlrun.unpack(state), lane // self.actors
        if not isinstance(saved, dict) or saved.get("agent") != type(self).id or len(saved) != 6:
            raise rlrun.Error(f"this is no saved {type(self).id}", lane=lane)
        for name, here in self.design._asdict().items():
            if (there := saved["design"].get(name)) != here:
                raise rlrun.Error(
                    f"the saved agent is another one: {name} is {there} there and {here} here; give it the same "
                    "parameters, in an environment with the same spaces", lane=lane,
                )  # fmt: skip
        fresh = draw(self.design, np.zeros)._asdict()
        if networks.shapes(saved["state"]) != networks.shapes(fresh) or len(saved["run"]) != 3 or not saved["lanes"]:
            raise rlrun.Error(f"this is no {type(self).id} that this version saved", lane=lane)
        if saved["jax"] != jax.__version__:
            logging.getLogger(__name__).warning(
                "the agent was saved with jax %s and goes on with %s: not to the same bits",
                saved["jax"],
                jax.__version__,
            )
        self.states[run] = State(**jax.tree.map(lambda x: jnp.array(x, copy=True), saved["state"]))
        for column, number in zip((self.steps, self.sums, self.counts), saved["run"], strict=True):
            column[run] = number
        rows = self._rows(run)
        self._clear(rows)
        if networks.shapes(saved["lanes"]) != networks.shapes(self._lanes(run)):
            self.rng.seed(rows, saved["lanes"][0][:1] + np.arange(self.actors, dtype=np.uint64))
            return
        kept = (c for c in self.kept if c is not None)
        for column, part in zip(
            (self.rng.state, self.count, self.on, self.learned, *kept), saved["lanes"], strict=True
        ):
            column[rows] = part
