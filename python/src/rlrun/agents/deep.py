"""The agents `DeepQ` and `DeepBootstrapQ`: Q-learning with networks, a batch of lanes.

Each lane has networks, kept steps and random numbers of its own, and its updates run by themselves. So its bits do not
depend on how many lanes there are.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

import rlrun
from rlrun import _jax
from rlrun.agents import networks
from rlrun.agents.networks import Batch, Design, State

LONGEST = 10_000
"""The most steps for which the behaviour z repeats an action (Dabney et al. 2021)."""

_REPEATS = np.cumsum(1.0 / np.arange(1, LONGEST + 1) ** 2)
_FOR_ALL: Sequence[float] = (0.0,)
_UNSEEN = 0.01
"""The weight of what follows a truncated episode, below which the return up to there is known well enough."""


_NO_UPDATE = "no update changes an action"
_COPIES = "gamma!=0 and target!=1"
_RANDOM = "behaviour=epsilon|z"


@dataclass
class _Networks(rlrun.VectorAgent):
    """What agents with Q-networks share: kept steps, updates, behaviours, saving."""

    preferred_lanes = 4  # more gain nothing, and end later
    metrics: Sequence[rlrun.Metric] = (
        rlrun.Metric("loss", doc="Mean squared error of an update, over members and the steps that they learn from."),
        rlrun.Metric("spread", doc="Standard deviation of an action's value over the members, where it acted."),
    )

    members = 1
    prior = _FOR_ALL
    centred = False
    mask = 1.0
    behaviour = ""
    bonus = "none"
    bonus_scale = 0.0

    hidden: tuple[int, ...] = rlrun.param((50, 50), "Units of each hidden layer. Their outputs are max(0, x).")
    filters: int = rlrun.param(
        0, "Filters of 3 × 3 before the hidden layers, for observations that are images. 0: no convolution.", minimum=0
    )
    gamma: float = rlrun.param(0.99, "γ, the discount.", minimum=0, maximum=0.999999)
    rate: float = rlrun.param(0.001, "Step size of Adam (Kingma & Ba 2015).", minimum=0)
    batch: int = rlrun.param(128, "Steps that an update learns from, drawn uniformly from those kept.", minimum=1)
    capacity: int = rlrun.param(10000, "Steps that are kept to learn from.", minimum=1)
    warmup: int = rlrun.param(128, "Steps before the first update.", minimum=1, beyond=_NO_UPDATE)
    period: int = rlrun.param(1, "Steps from one time of updates to the next.", minimum=1, beyond=_NO_UPDATE)
    updates: int = rlrun.param(1, "Updates each time.", minimum=1)
    target: int = rlrun.param(
        4, "Updates from one copy of the networks, for targets, to the next.", minimum=1, maximum=2**31 - 1,
        when="gamma!=0",
    )  # fmt: skip
    double: bool = rlrun.param(
        False, "Whether a target takes the action that the networks hold to be best, and not their copy (double Q).",
        when=_COPIES,
    )  # fmt: skip
    epsilon: float = rlrun.param(
        0.05, "ε in the end, of the behaviours epsilon and z.", minimum=0, maximum=1, when=_RANDOM
    )
    epsilon_start: float = rlrun.param(1.0, "ε at the start of a run.", minimum=0, maximum=1, when=_RANDOM)
    decay: int = rlrun.param(
        1000, "Steps in which ε goes from start to end, linearly.", minimum=1, beyond="ε never gets to epsilon",
        when=f"{_RANDOM} and epsilon_start!=@epsilon",
    )  # fmt: skip

    @classmethod
    def facts(cls) -> Mapping[str, str]:
        """Return the device on which JAX computes: "cpu", or the name of a GPU."""
        return _jax.facts()

    def __post_init__(self) -> None:
        bonus = {"bonus_scale": self.bonus_scale} if self.bonus == "rnd" else {}
        networks.check(self.hidden, rate=self.rate, mask=self.mask, **bonus)
        if not 1 <= len(self.prior) <= self.members or min(self.prior) < 0:
            raise rlrun.InvalidParams(
                f"prior is {list(self.prior)}: name one scale ≥ 0 for all members, or several, at most {self.members}, "
                "which they take in turns"
            )
        if self.capacity < self.batch:
            raise rlrun.InvalidParams(
                f"capacity is {self.capacity} and batch {self.batch}: an update learns from no more steps than are kept"
            )
        late = max(self.warmup, type(self).warmup)
        if self.warmup != type(self).warmup and late <= self.period:
            raise rlrun.InvalidParams(
                f"warmup has no effect with period {self.period}, as the first update is then: leave it out, or choose "
                "a smaller period"
            )

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        """Compile the programs, and make room for the steps of every lane."""
        if not isinstance(spec.action, rlrun.Discrete):
            raise rlrun.Unsupported(f"actions must be discrete, and are {spec.action}")
        space, self.action = spec.observation, spec.action
        self.space, self.scale = space, networks.scale(space)
        shape, inputs = networks.shape(space, self.filters)
        self.design = Design(
            shape, inputs, spec.action.n, self.members, self.hidden, self.filters, tuple(self.prior),
            self.centred, False, self.double, self.gamma, self.rate, self.target,
            self.bonus_scale if self.bonus == "rnd" else 0.0,
        )  # fmt: skip
        self.lane, self.rng = np.arange(lanes), rlrun.Streams(lanes)
        self.states: list[State | None] = [None] * lanes
        with self._room():
            self._keep(spec, lanes)
            self._compile()

    def _keep(self, spec: rlrun.Spec, lanes: int) -> None:
        """Make room for the steps of every lane."""
        space = spec.observation

        def column(dtype: Any, *more: int) -> NDArray[Any]:
            return np.zeros((lanes, self.capacity, *more), dtype)

        seen = np.float32 if space.dtype.kind == "f" else space.dtype
        self.kept = Batch(
            column(seen, *space.shape), column(np.int32), column(np.float32), column(np.float32),
            column(seen, *space.shape), column(np.bool_, self.members if self.mask < 1 else 0),
            column(np.bool_, self.action.n if spec.masks else 0),
        )  # fmt: skip
        self.masks = spec.masks
        self.allowed = np.ones((lanes, self.action.n), np.bool_)  # in the step to come
        self.now = np.zeros(lanes, np.int64)  # the state to which allowed belongs, where observations are discrete
        self.claims = column(np.float32, 2)[:, :, : 2 * (self.members > 1)]
        counts = (np.zeros(lanes, np.int64) for _ in range(7))
        self.steps, self.began, self.episodes, self.drawn, self.option, self.left, self.repeated = counts
        self.loss, self.spread = np.full(lanes, np.nan), np.zeros(lanes)
        measured = (lanes, len(self.metrics))
        self.sums, self.counts = np.zeros(measured), np.zeros(measured, np.int64)  # since the last measure

    @contextlib.contextmanager
    def _room(self) -> Iterator[None]:
        """Say what takes the memory, and what to change, if there is not enough."""
        try:
            yield
        except MemoryError as e:
            raise rlrun.InvalidParams(f"{e}: choose a smaller capacity, or smaller or fewer hidden layers") from None
        except RuntimeError as e:  # of XLA
            if "RESOURCE_EXHAUSTED" not in str(e):
                raise
            raise rlrun.InvalidParams(self._too_large()) from None

    def _too_large(self) -> str:
        device, lanes = jax.devices()[0], len(self.lane)
        each, least = networks.size(self.design) / 1e9, self.updates * self.batch * (self.design.inputs + self.members)
        text = f"the memory of {device.device_kind} is full: networks of {lanes} lanes take {lanes * each:.3g} GB"
        limit = ((device.memory_stats() or {}).get("bytes_limit", 0) - 4 * least) / 1e9
        fit = int(limit / each)
        if limit > 0:
            text += f", and this process has {limit:.3g} GB for them"
        smaller = "choose fewer members, smaller hidden layers or a smaller batch"
        if 0 < fit < lanes:
            return f"{text}: say lanes: {fit} in the config, or {smaller}"
        if limit > 0 and fit >= lanes:
            text += ", so that the rest was taken by updates, or by other processes"
        if device.platform != "cpu":
            smaller += (
                ". Each worker has a process, and the first takes most of the device: say workers: 1, or set "
                "XLA_PYTHON_CLIENT_PREALLOCATE=false"
            )
        return f"{text}: {f'say lanes: {lanes // 2} in the config, or ' if lanes > 1 else ''}{smaller}"

    def _compile(self) -> None:
        """Compile, in a call that may take long."""
        self.programs = networks.programs(self.design)
        state = networks.draw(self.design, np.zeros)
        self.programs.values(state.networks, state.prior, self._encoded(self.kept.observations[0, :1]))
        if self.design.bonus:
            state = self.programs.notice(state, self._newest(0))
        self.programs.learn(state, self._batch(0, np.zeros((self.updates, self.batch), np.int64)))

    def begin(self, lanes: rlrun.Lanes, seeds: NDArray[np.uint64]) -> None:
        """Draw networks and priors, and forget all steps."""
        self.rng.seed(lanes, seeds)
        for column in self._numbers()[:-1]:
            column[lanes] = 0
        self.loss[lanes], self.claims[lanes] = np.nan, 0
        with self._room():
            for lane in self.lane[lanes]:
                self.states[lane] = networks.draw(self.design, self._normal(lane))
        self.drawn[lanes] = self.rng.integers(lanes, self.members)

    def set_action_masks(self, lanes: rlrun.Lanes, masks: NDArray[np.bool_]) -> None:
        """Take which actions are allowed: others are neither selected nor in targets."""
        self.allowed[lanes] = masks

    def _among(self, lanes: rlrun.Lanes, q: NDArray[Any]) -> NDArray[Any]:
        """Return the values (lanes, K, A) of actions, −∞ for those that are not allowed."""
        return np.where(self.allowed[lanes][:, None], q, -np.inf) if self.masks else q

    def _normal(self, lane: int) -> networks.Draw:
        return lambda n: self.rng.normal(np.array([lane]), n)[0]

    def update(self, lanes: rlrun.Lanes, t: rlrun.Transitions) -> None:
        """Keep a step of each lane, and learn if it is time."""
        every = self.lane[lanes]
        at = every, self.steps[lanes] % self.capacity
        step = (t.observations, t.actions - self.action.start, t.rewards, ~t.terminated, t.next_observations)
        with np.errstate(over="ignore"):  # what float32 cannot have ends the run by its loss
            for column, value in zip(self.kept, step, strict=False):
                column[at] = value
        if self.mask < 1:
            self.kept.weights[at] = self.rng.random(lanes, self.members) < self.mask
        if self.masks:
            self.kept.allowed[at] = self.allowed[lanes]
        self.steps[lanes] += 1
        n = self.steps[lanes]
        due = every[(n >= self.warmup) & (n % self.period == 0)]
        if len(due):
            self._learn(due)
        done = every[t.terminated | t.truncated]
        if len(done):
            self.drawn[done] = self.rng.integers(done, self.members)
            self.left[done] = 0
            self.episodes[done] += 1
            if self.members > 1:
                for lane, terminated in zip(done, t.terminated[t.terminated | t.truncated], strict=True):
                    self._judge(lane, terminated)
            self.began[done] = self.steps[done]

    def _claim(self, lanes: rlrun.Lanes, q: NDArray[np.float32], actions: NDArray[np.int64]) -> None:
        """Note the lowest and the highest value of the actions taken, over the members."""
        if self.members > 1:
            values = np.take_along_axis(q, actions[:, None, None], 2)[..., 0]
            at = self.lane[lanes], self.steps[lanes] % self.capacity
            self.claims[at] = np.stack([values.min(1), values.max(1)], 1)

    def _judge(self, lane: int, terminated: bool) -> None:
        """Compare the returns of an episode that has ended with what was claimed at its steps, if they are kept."""
        n = min(self.steps[lane] - self.began[lane], self.capacity)
        places = np.arange(self.steps[lane] - n, self.steps[lane]) % self.capacity
        rewards = self.kept.rewards[lane, places].tolist()
        returns = np.array(list(itertools.accumulate(reversed(rewards), lambda g, r: r + self.gamma * g))[::-1])
        known = np.full(n, True) if terminated else self.gamma ** np.arange(n, 0, -1) <= _UNSEEN
        low, high = self.claims[lane, places].T
        self.sums[lane, 2] += ((low <= returns) & (returns <= high) & known).sum()
        self.counts[lane, 2] += known.sum()

    def _learn(self, lanes: NDArray[np.int64]) -> None:
        """Update the networks of these lanes."""
        kept = np.minimum(self.steps[lanes], self.capacity)
        draws = self.rng.random(lanes, self.updates * self.batch)
        places = (draws * kept[:, None]).astype(np.int64).reshape(-1, self.updates, self.batch)
        sums, shares = [], []
        with self._room():
            for lane, own in zip(lanes, places, strict=True):  # none waits for the computation of another
                if self.design.bonus:
                    self.states[lane] = self.programs.notice(self._state(lane), self._newest(lane))
                batch = self._batch(lane, own)
                self.states[lane], loss = self.programs.learn(self._state(lane), batch)
                sums.append(loss)
                shares.append(batch.weights[-1].mean())
            means = np.array(sums, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):  # with mask an update may learn from no step
            self.loss[lanes] = means / np.array(shares)
        lost = np.flatnonzero(~np.isfinite(means))
        if len(lost):
            self._overflow(lanes[lost[0]], f"the metric loss is {means[lost[0]]}")

    def _overflow(self, lane: int, symptom: str, *now: NDArray[Any]) -> NoReturn:
        """Raise an error of numbers that float32 does not have, with the probable cause."""
        kept = self._rows(lane, self.steps[lane])
        reward, most = float(np.abs(kept[2]).max(initial=0)), float(np.finfo(np.float32).max)
        seen = max(float(np.abs(self._encoded(o)).max(initial=0)) for o in (kept[0], kept[4], *now))
        default = type(self).rate
        if not reward * reward / (1 - self.gamma) ** 2 < most * 1e-6:
            cause = f"rewards are up to {reward:.2g}, and float32 ends at {most:.1g}, also for squares of their sums"
            cure = "give rewards in a larger unit, so that they are about 1"
        elif self.design.shape and not seen * seen < most * 1e-6:
            cause = f"observations are up to {seen:.2g}, and float32 ends at {most:.1g}, also for their squares"
            cure = "give their space bounds, by which they are divided, or give them in a larger unit"
        elif self.rate > default:
            cause = f"a rate of {self.rate:g}, {self.rate / default:.3g} times the default"
            cure = f"try rate: {default:g}"
        else:
            cause = f"values grew with the targets made from them, at rate {self.rate:g} and gamma {self.gamma:g}"
            cure = f"try rate: {self.rate / 10:g}, target: {4 * self.target}, or rewards that are about 1"
        raise rlrun.Error(f"{symptom} after step {self.steps[lane]}. The probable cause: {cause}; {cure}", lane=lane)

    def _newest(self, lane: int) -> NDArray[Any]:
        """Return the observations after the last ``period`` steps, as far as they are kept."""
        n = min(self.period, self.capacity)
        places = np.arange(self.steps[lane] - n, self.steps[lane]) % self.capacity
        return self._encoded(self.kept.next_observations[lane, places])

    def _state(self, lane: int) -> State:
        state = self.states[lane]
        if state is None:
            raise rlrun.NeedsReset("the lane has not begun a run", lane=lane)
        return state

    def _batch(self, lane: int, places: NDArray[np.int64]) -> Batch:
        """Return kept steps of a lane."""
        o, a, r, goes_on, after, weights, allowed = (column[lane][places] for column in self.kept)
        if self.mask == 1:
            weights = np.ones((*places.shape, self.members))
        weights = weights.astype(np.float32)
        return Batch(self._encoded(o), a, r, goes_on, self._encoded(after), weights, allowed if self.masks else None)

    def _encoded(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return observations as networks take them: states from 0 on, or numbers divided by their largest bound."""
        return networks.encoded(self.space, self.scale, self.design.shape, observations)

    def _values(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the values at an observation of each of these lanes: (lanes, K, 1 + heads, A)."""
        each = zip(map(self._state, self.lane[lanes]), self._encoded(observations)[:, None], strict=True)
        with self._room():
            outputs = [self.programs.values(state.networks, state.prior, x) for state, x in each]
            values = np.stack([np.asarray(v)[:, 0] for v in outputs])
        lost = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(1))
        if len(lost):
            at = lost[0]
            self._overflow(self.lane[lanes][at], "the value of an action is infinite or no number", observations[at])
        return values

    def _look(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Return the same for a step, and note the spread of Q."""
        values = self._values(lanes, observations)
        with np.errstate(over="ignore"):  # the values end the run once they are infinite themselves
            self.spread[lanes] = values[:, :, 0].std(1).mean(1)
        now = np.stack([self.loss[lanes], self.spread[lanes]], 1)
        self.sums[lanes, :2] += np.where(np.isnan(now), 0, now)
        self.counts[lanes, :2] += ~np.isnan(now)
        return values

    def select_actions(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Act by the behaviour."""
        q = self._among(lanes, self._look(lanes, observations)[:, :, 0])
        followed = np.take_along_axis(q, self.drawn[lanes][:, None, None], 1) if self.behaviour == "member" else q
        actions: NDArray[np.int64] = followed.mean(1).argmax(1)
        if self.behaviour in ("epsilon", "z"):
            actions = self._explored(lanes, actions)
        self._claim(lanes, q, actions)
        return actions + self.action.start

    def _explored(self, lanes: rlrun.Lanes, greedy: NDArray[np.int64]) -> NDArray[np.int64]:
        """Let random actions take the place of greedy ones: with epsilon for a step, with z for n, P(n) ∝ 1/n²."""
        epsilon = self.epsilon_start + (self.epsilon - self.epsilon_start) * np.minimum(
            1, self.steps[lanes] / self.decay
        )
        u, v = self.rng.random(lanes, 2).T
        if self.masks:
            allowed = self.allowed[lanes]
            k = self.rng.random(lanes, 1) * allowed.sum(1, keepdims=True)
            random = (allowed.cumsum(1) > k).argmax(1)
            self.left[lanes] *= np.take_along_axis(allowed, self.repeated[lanes][:, None], 1)[:, 0]
        else:
            random = self.rng.integers(lanes, self.action.n)
        begins = (self.left[lanes] == 0) & (u < epsilon)
        n = 1 + np.searchsorted(_REPEATS, v * _REPEATS[-1], side="right") if self.behaviour == "z" else 1
        left = np.where(begins, n, self.left[lanes])
        self.repeated[lanes] = np.where(begins, random, self.repeated[lanes])
        self.left[lanes] = np.maximum(left - 1, 0)
        return np.where(left > 0, self.repeated[lanes], greedy)

    def select_greedy_actions(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Take the best actions by the members' mean."""
        q = self._among(lanes, self._values(lanes, observations)[:, :, 0])
        actions: NDArray[np.int64] = q.mean(1).argmax(1)
        return actions + self.action.start

    def measure(self, lane: int) -> dict[str, float]:
        """Return the means of the metrics over the steps since the last call. At first there is no loss."""
        with np.errstate(invalid="ignore"):
            means = self.sums[lane] / self.counts[lane]
        self.sums[lane], self.counts[lane] = 0, 0
        return dict(zip((m.name for m in self.metrics), means.tolist(), strict=True))

    def save(self, lane: int) -> bytes:
        """Return networks, moments, kept steps, counts and random numbers of a lane."""
        return rlrun.pack({
            "agent": type(self).id, "design": self.design._asdict(), "jax": jax.__version__,
            "state": jax.tree.map(np.asarray, self._state(lane))._asdict(),
            "kept": self._rows(lane, self.steps[lane]), "numbers": [c[lane] for c in self._numbers()],
        })  # fmt: skip

    def load(self, lane: int, state: bytes) -> None:
        """Restore what `save` returned, of an agent with the same networks."""
        saved = rlrun.unpack(state)
        if not isinstance(saved, dict) or saved.get("agent") != type(self).id or len(saved) != 6:
            raise rlrun.Error(f"this is no saved {type(self).id}", lane=lane)
        for name, here in self.design._asdict().items():
            if (there := saved["design"].get(name)) != here:
                raise rlrun.Error(
                    f"the saved agent has other networks: {name} is {there} there and {here} here; give it the same "
                    "parameters, in an environment with the same spaces",
                    lane=lane,
                )
        empty = networks.draw(self.design, np.zeros)._asdict()
        if networks.shapes(saved["numbers"]) != networks.shapes([column[lane] for column in self._numbers()]):
            raise rlrun.Error(f"this is no {type(self).id} that this version saved", lane=lane)
        room = self._rows(lane, saved["numbers"][0])
        if networks.shapes(saved["state"]) != networks.shapes(empty) or networks.shapes(
            saved["kept"]
        ) != networks.shapes(room):
            raise rlrun.Error("the saved agent has arrays of other shapes, or a capacity other than here", lane=lane)
        if saved["jax"] != jax.__version__:
            logging.getLogger(__name__).warning(
                "the agent was saved with jax %s and goes on with %s: not to the same bits",
                saved["jax"],
                jax.__version__,
            )
        self.states[lane] = State(**jax.tree.map(lambda x: jnp.array(x, copy=True), saved["state"]))
        for to, part in zip(room, saved["kept"], strict=True):
            to[:] = part
        for column, number in zip(self._numbers(), saved["numbers"], strict=True):
            column[lane] = number

    def _rows(self, lane: int, steps: int) -> list[NDArray[Any]]:
        """List the entries of kept steps of a lane that has made so many. The last claims are of the step under way."""
        return [*(column[lane, :steps] for column in self.kept), self.claims[lane, : steps + 1]]

    def _numbers(self) -> list[NDArray[Any]]:
        """List the columns with a number a lane; that of the steps is the first."""
        counts = [self.steps, self.began, self.episodes, self.drawn, self.option, self.left, self.repeated]
        return [*counts, self.loss, self.spread, self.sums, self.counts, self.rng.state]


@dataclass
class DeepQ(_Networks):
    """Q-learning with a network (DQN, Mnih et al. 2015), with double targets (van Hasselt et al. 2016).

    It is ε-greedy, and ε falls linearly. The behaviour z repeats random actions (εz-greedy, Dabney et al. 2021).
    """

    id = "rlrun/deep-q@1"
    double: bool = rlrun.param(
        True, "Whether a target takes the action that the network holds to be best, and not its copy (double Q).",
        when=_COPIES,
    )  # fmt: skip
    behaviour: Literal["epsilon", "z"] = rlrun.param(
        "epsilon", "Random actions for a step, or (z) for several.", when="epsilon!=0 or epsilon_start!=0"
    )
    bonus: Literal["none", "rnd"] = rlrun.param(
        "none",
        "What is added to rewards that it learns from: the error of a network that learns a fixed random one, at the "
        "next observation (rnd, Burda et al. 2018).",
    )
    bonus_scale: float = rlrun.param(
        0.1, "The bonus of an error that is as large as the average.", minimum=0, when="bonus!=none"
    )


@dataclass
class DeepBootstrapQ(_Networks, rlrun.VectorOptionAgent):
    """K Q-networks, each added to a fixed random one, its prior; follows one for an episode (Osband et al. 2016, 2018).

    The host may decide instead. Its options are the policies of the members, and actions.
    """

    id = "rlrun/deep-bootstrap-q@1"
    metrics: Sequence[rlrun.Metric] = (
        *_Networks.metrics,
        rlrun.Metric(
            "calibration",
            doc="Share of returns that lie between the lowest and the highest value of the members, which should be "
            "(K − 1)/(K + 1).",
        ),
    )
    members: int = rlrun.param(20, "K, the number of networks.", minimum=1)
    prior: tuple[float, ...] = rlrun.param(
        (5.0,), "By what the prior networks are multiplied: one number, or several that members take in turns."
    )
    centred: bool = rlrun.param(
        True, "Whether the mean of all priors is taken from each, so that the mean has none.", when="prior!=0"
    )
    mask: float = rlrun.param(1.0, "Probability with which a member learns from a step.", minimum=0, maximum=1)
    updates: int = rlrun.param(4, "Updates each time.", minimum=1)
    behaviour: Literal["member", "mean", "epsilon", "z"] = rlrun.param(
        "member",
        "What it follows if left alone: a member drawn for each episode, the mean of all, or the mean with random "
        "actions, for one step (epsilon) or repeated (z).",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members == 1 and self.centred and max(self.prior) > 0:
            raise rlrun.InvalidParams(
                "members is 1, and centred takes the only prior away: say centred: false, or prior: [0]"
            )
        if self.members == 1 and self.behaviour == "mean":
            raise rlrun.InvalidParams(
                "behaviour mean has no effect with members 1, as the only member is the mean: leave it out"
            )

    def open(self, spec: rlrun.Spec, lanes: int) -> None:
        """Prepare, without a host that decides."""
        self.kinds: Sequence[str] | None = None
        super().open(spec, lanes)

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Let the host decide: the networks get heads that value the policies of the members and of their mean."""
        if other := set(kinds) - {"drawn-member", "members", "constants"}:
            raise rlrun.Unsupported(f"there are no options of kind {min(other)}")
        if self.behaviour != type(self).behaviour:
            raise rlrun.Unsupported("behaviour has no effect with exploration, as the host decides: leave it out")
        self.kinds, self.design = kinds, self.design._replace(heads=True)
        with self._room():
            self._compile()

    def problems(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> rlrun.Problems:
        """Offer the greedy policy, which is that of the members' mean, the members' policies, and actions.

        An action is valued as one that the greedy policy follows. No policy is worth more in a member than its own.
        """
        if isinstance(self.space, rlrun.Discrete):
            self.now[lanes] = self._encoded(observations)
        values = self._values(lanes, observations).astype(np.float64)
        q, heads = self._among(lanes, values[:, :, 0]), values[:, :, 1:]
        n, members, actions = q.shape
        most = q.max(2)
        first = np.concatenate([q.argmax(2), q.mean(1).argmax(1)[:, None]], 1)  # by each member, by their mean
        policies = np.take_along_axis(heads, first[:, None, :, None], 3)[..., 0]  # lane, in member k, of policy j
        each = np.arange(members)
        policies[:, each, each] = most
        worth = np.concatenate([policies[:, :, -1:], policies[:, :, :-1], heads[:, :, -1]], 2)
        self.drawn[lanes] = self.rng.integers(lanes, members)
        kinds = self.kinds or ()
        offered = np.zeros((n, 1 + members + actions), np.bool_)
        offered[:, 0] = True
        offered[:, 1 : 1 + members] = "members" in kinds
        if "drawn-member" in kinds:
            offered[np.arange(n), 1 + self.drawn[lanes]] = True
        offered[:, 1 + members :] = self.allowed[lanes] if "constants" in kinds else False
        offered[np.arange(n), 1 + members + first[:, -1]] = False  # the greedy option begins with it
        steps = np.zeros_like(offered, np.int64)
        if "drawn-member" in kinds:  # it shows what it is worth in 1/(1 − γ) steps, or by the end of an episode
            length = self.steps[lanes] / np.maximum(self.episodes[lanes], 1)
            holds = np.where(self.episodes[lanes] > 0, np.minimum(1 / (1 - self.gamma), length), 1 / (1 - self.gamma))
            steps[:, 1 : 1 + members] = np.maximum(np.round(holds), 1)[:, None]
        return rlrun.Problems(
            names=["greedy", *(f"member {k}" for k in range(members)), *(f"action {a}" for a in range(actions))],
            values=(1 - self.gamma) * np.minimum(worth, most[:, :, None]).transpose(0, 2, 1),
            offered=offered,
            steps=steps,
        )

    def choose(self, lanes: rlrun.Lanes, options: NDArray[np.int64]) -> None:
        """Follow these options."""
        self.option[lanes] = options

    def select_actions(self, lanes: rlrun.Lanes, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Act by the options that the host chose, or by the behaviour."""
        if self.kinds is None:
            return super().select_actions(lanes, observations)
        q, option = self._among(lanes, self._look(lanes, observations)[:, :, 0]), self.option[lanes]
        by = np.concatenate([q.mean(1).argmax(1)[:, None], q.argmax(2)], 1)
        followed = np.take_along_axis(by, np.minimum(option, self.members)[:, None], 1)[:, 0]
        constant = np.maximum(option - self.members - 1, 0)
        follows = (option > self.members) & np.take_along_axis(self.allowed[lanes], constant[:, None], 1)[:, 0]
        actions = np.where(follows, constant, followed)
        self._claim(lanes, q, actions)
        return actions + self.action.start

    def greedy_policy(self, lane: int) -> NDArray[np.int64]:
        """Return the best actions by the members' mean in every state, of the allowed ones where the lane is."""
        state = self._state(lane)
        q = np.asarray(self.programs.values(state.networks, state.prior, np.arange(self.design.inputs, dtype=np.int32)))
        mean = q[:, :, 0].mean(0)
        mean[self.now[lane], ~self.allowed[lane]] = -np.inf
        policy: NDArray[np.int64] = mean.argmax(1) + self.action.start
        return policy
