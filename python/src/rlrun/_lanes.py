"""The batched side of the contract: lanes of environments and agents.

What an author wrote, one copy or a batch, is stepped here as the protocol wants
it: columns in, columns out, a signal per lane.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from rlrun import _abilities, _decisions, _random_states, saved, spaces
from rlrun._decisions import Decisions
from rlrun.agent import Agent, Transition, Transitions, VectorAgent
from rlrun.environment import Environment, Metric, Model, Spec, TimeStep, TimeSteps, VectorEnvironment
from rlrun.errors import Error, InvalidAction, InvalidAnswer, NeedsReset, Unsupported, blame
from rlrun.options import OptionAgent, Problem, VectorOptionAgent
from rlrun.spaces import Array, Discrete
from rlrun.streams import Lanes

IDLE, CONTINUE, NEW_EPISODE, NEW_RUN, EVALUATE, EVALUATE_EPISODE = range(6)
ALL: Lanes = slice(None)

Signals = NDArray[np.uint8]
Seeds = NDArray[np.uint64]


def among(mask: NDArray[np.bool_]) -> Lanes | None:
    """Return the lanes where mask is true, None if there are none."""
    count = np.count_nonzero(mask)
    if count == len(mask):
        return ALL
    return np.flatnonzero(mask) if count else None


def numbers(lanes: Lanes, n: int) -> Any:
    """Return the numbers of lanes."""
    return range(n)[lanes] if isinstance(lanes, slice) else lanes.tolist()


def first(lanes: Lanes, bad: NDArray[np.bool_]) -> int:
    """Return the number of the first bad one of these lanes."""
    i = int(np.argmax(bad))
    return i if isinstance(lanes, slice) else int(lanes[i])


class Steps(NamedTuple):
    """What a step of single copies yields: a column and a list each."""

    observations: Array | list[int]
    rewards: list[float]
    terminated: list[bool]
    truncated: list[bool]


as_transition = functools.partial(tuple.__new__, Transition)
"""Transition._make without its check of the length."""


class EnvironmentLanes:
    """Lanes of an environment."""

    def __init__(self, env: VectorEnvironment, spec: Spec, lanes: int) -> None:
        self.env, self.spec, self.lanes = env, spec, lanes
        env.open(lanes)
        self._live = np.zeros(lanes, np.bool_)  # in an episode
        self._all_live = False
        self._out = TimeSteps(
            spaces.zeros(spec.observation, lanes), np.zeros(lanes), np.zeros(lanes, np.bool_), np.zeros(lanes, np.bool_)
        )

    @property
    def single(self) -> bool:
        """Whether these are single copies, all of which are in an episode."""
        return self._all_live and isinstance(self.env, Copies) and not self.spec.masks

    def proceed(self, actions: Array | list[int]) -> Steps | None:
        """Step single copies, all of which are in an episode; None if an action is invalid."""
        env, space = self.env, self.spec.action
        assert isinstance(env, Copies)
        if isinstance(actions, list):
            assert isinstance(space, Discrete)
            if min(actions) < space.start or max(actions) >= space.start + space.n:
                return None
        elif space.outside(actions).any():
            return None
        observations = spaces.blank(self.spec.observation, self.lanes)
        steps = Steps(observations, *env.step_each(range(self.lanes), spaces.of_authors(space, actions), observations))
        if True in steps.terminated or True in steps.truncated:
            self.ended(np.array(steps.terminated) | np.array(steps.truncated))
        return steps

    def ended(self, lanes: NDArray[np.bool_]) -> None:
        """Note in which lanes, of all, an episode has ended."""
        self._live = ~lanes
        self._all_live = not lanes.any()

    def step(self, signals: Signals | None, seeds: Seeds | None, actions: Array) -> TimeSteps:
        """Step the lanes as their signals say; None lets all go on. What it returns changes with the next call."""
        out = self._columns(signals, seeds, actions)
        self._all_live = bool(self._live.all())
        return out

    def _columns(self, signals: Signals | None, seeds: Seeds | None, actions: Array) -> TimeSteps:
        going = ALL if signals is None else among(signals == CONTINUE)
        if signals is None or isinstance(going, slice):
            return self._step(ALL, self.lanes, actions)
        starting = among((signals == NEW_EPISODE) | (signals == NEW_RUN))
        out = self._out
        if going is not None:
            steps = self._step(going, len(going), actions[going])
            for column, value in zip(out, steps, strict=True):
                column[going] = value
        if starting is not None:
            assert seeds is not None
            for column in out[1:]:
                column[starting] = 0
            if isinstance(self.env, Copies):
                self.env.renew([lane for lane in numbers(starting, self.lanes) if signals[lane] == NEW_RUN])
            own = seeds[starting]
            observations = self.env.reset(starting, own)
            with counting(starting):
                out.observations[starting] = spaces.as_column(
                    self.spec.observation, observations, len(own), "observations"
                )
            self._live[starting] = True
        return out

    def _step(self, lanes: Lanes, n: int, actions: Array) -> TimeSteps:
        live = self._live[lanes]
        if not live.all():
            raise NeedsReset("a step before the first reset or after the end of an episode", lane=first(lanes, ~live))
        bad = self.spec.action.outside(actions)
        if bad.any():
            i = int(np.argmax(bad))
            raise InvalidAction(f"{actions[i].tolist()} is not in {self.spec.action}", lane=first(lanes, bad))
        got = self.env.step(lanes, actions)
        if not isinstance(got, tuple) or len(got) != len(TimeSteps._fields):
            raise InvalidAnswer(f"step returned {_kind(got)}, must return TimeSteps: {', '.join(TimeSteps._fields)}")
        with counting(lanes):
            observations = spaces.as_column(self.spec.observation, got[0], n, "observations")
        rewards = spaces.as_numbers(got[1], n, "rewards")
        terminated, truncated = (
            spaces.as_flags(c, n, name) for c, name in zip(got[2:], TimeSteps._fields[2:], strict=True)
        )
        ended = terminated | truncated
        if ended.any():
            self._live[lanes] = ~ended
        return TimeSteps(observations, rewards, terminated, truncated)

    def masks(self, signals: Signals | None, terminated: NDArray[np.bool_]) -> bytes:
        """Return which actions are allowed after a step; none where a lane was left alone or has terminated."""
        space = self.spec.action
        if not isinstance(space, Discrete):
            raise Unsupported("masks are for Discrete actions")
        out = np.zeros((self.lanes, space.n), np.bool_)
        lanes = among(~terminated if signals is None else (signals != IDLE) & ~terminated)
        if lanes is not None:
            shape = (len(numbers(lanes, self.lanes)), space.n)
            out[lanes] = spaces.as_masks(self.env.action_masks(lanes), shape, "the action masks")
        return out.tobytes()

    def measure(self, lane: int) -> list[float]:
        """Return the values of a lane's metrics."""
        return _measured(self.env.metrics, self.env.measure(lane), lane)

    def models(self) -> tuple[list[Model], list[int]]:
        """Return the distinct models, and which of them every lane has."""
        distinct: list[Model] = []
        of = []
        for lane in range(self.lanes):
            model = self.env.model(lane)
            at = next((i for i, known in enumerate(distinct) if known is model or known == model), None)
            if at is None:
                at = len(distinct)
                distinct.append(model)
            of.append(at)
        return distinct, of

    def ask(self, ability: str, lane: int, question: bytes) -> bytes:
        """Ask a lane that has been started for an ability."""
        return _abilities.ask(self.env, ability, lane, question)

    def close(self) -> None:
        """Free what the environment holds."""
        self.env.close()


@contextmanager
def counting(lanes: Lanes) -> Iterator[None]:
    """Let an error about an entry of a column of these lanes name the lane."""
    try:
        yield
    except InvalidAnswer as e:
        if e.lane is not None and not isinstance(lanes, slice):
            e.lane = int(lanes[e.lane])
        raise


def _kind(answer: object) -> str:
    """Describe an answer that should have been something else."""
    if isinstance(answer, (tuple, list)):
        return f"a {type(answer).__name__} of {len(answer)}"
    return "None" if answer is None else f"a value of type {type(answer).__name__}"


def _measured(metrics: Sequence[Metric], values: Mapping[str, float], lane: int) -> list[float]:
    if not isinstance(values, Mapping):
        raise InvalidAnswer(f"measure returned {_kind(values)}, must return numbers by name, a dict", lane=lane)
    unknown = set(values) - {m.name for m in metrics}
    if unknown:
        raise InvalidAnswer(f"measure returned {sorted(unknown)}, which metrics does not declare", lane=lane)
    try:
        return [spaces.as_number(values.get(m.name, np.nan), f"the metric {m.name}") for m in metrics]
    except InvalidAnswer as e:
        e.lane = lane
        raise


class OneByOne:
    """Copies whose code runs one after the other."""

    @contextmanager
    def noting(self) -> Iterator[list[int]]:
        """Yield a list of one lane, for the lane whose code runs, and blame that one for an exception."""
        note = [-1]
        try:
            yield note
        except BaseException as e:
            blame(e, note[0])
            raise


class Copies(OneByOne, VectorEnvironment):
    """A batch made of single copies."""

    remember = True
    """Whether a copy may remember former runs."""

    def __init__(self, make: Callable[[], Environment]) -> None:
        self._constructor = make
        self._copies = [self._make()]
        self._spec = self._copies[0].spec
        self._used: set[int] = set()

    @property
    def spec(self) -> Spec:
        """Describe the environment."""
        return self._spec

    def open(self, lanes: int) -> None:
        """Make a copy per lane."""
        self._copies += [self._make() for _ in range(lanes - 1)]

    def _make(self) -> Environment:
        _random_states.seed(0)  # all copies are made alike
        return self._constructor()

    def renew(self, lanes: Iterable[int]) -> None:
        """Give each of these lanes, in which a run begins, a copy that no other run has used."""
        with self.noting() as note:
            for note[0] in lanes:
                if self.remember and note[0] in self._used:
                    _close(self._copies[note[0]])
                    self._copies[note[0]] = self._make()
                self._used.add(note[0])

    def reset(self, lanes: Lanes, seeds: Seeds) -> Array:
        """Start an episode in each of these lanes."""
        space = self._spec.observation
        out = spaces.zeros(space, len(seeds))
        with self.noting() as note:
            for k, lane in enumerate(numbers(lanes, len(self._copies))):
                note[0] = lane
                out[k] = self.reset_one(lane, int(seeds[k]))
        return out

    def reset_one(self, lane: int, seed: int) -> Any:
        """Start an episode in a lane, and return the observation as an entry of a column."""
        first = self._copies[lane].reset(seed)
        if isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], Mapping):
            raise InvalidAnswer("reset returned a pair as in Gymnasium, must return the observation alone")
        return spaces.as_entry(self._spec.observation, first, "the first observation")

    def step(self, lanes: Lanes, actions: Array) -> TimeSteps:
        """Take an action in each of these lanes."""
        observations = spaces.zeros(self._spec.observation, len(actions))
        taken = spaces.of_authors(self._spec.action, actions)
        rewards, *ends = self.step_each(numbers(lanes, len(self._copies)), taken, observations)
        return TimeSteps(observations, np.array(rewards), *(np.array(end, np.bool_) for end in ends))

    def step_each(
        self, lanes: Iterable[int], actions: Iterable[Any], observations: Array | list[int]
    ) -> tuple[list[float], list[bool], list[bool]]:
        """Take an action in each of these lanes, and fill in the observations; return the other columns."""
        space, copies = self._spec.observation, self._copies
        rewards: list[float] = []
        terminated: list[bool] = []
        truncated: list[bool] = []
        lane = -1
        try:
            for k, (lane, action) in enumerate(zip(lanes, actions, strict=True)):
                observations[k], reward, end, cut = read_step(space, copies[lane].step(action))
                rewards.append(reward)
                terminated.append(end)
                truncated.append(cut)
        except BaseException as e:
            blame(e, lane)
            raise
        return rewards, terminated, truncated

    @property
    def each(self) -> list[Environment]:
        """The copies of all lanes."""
        return self._copies

    def model(self, lane: int) -> Model:
        """Return a lane's model."""
        return self._copies[lane].model()

    def action_masks(self, lanes: Lanes) -> Array:
        """Ask each of these lanes which actions are allowed."""
        shape = (cast(Discrete, self._spec.action).n,)
        with self.noting() as note:
            out = []
            for note[0] in numbers(lanes, len(self._copies)):
                out.append(spaces.as_masks(self._copies[note[0]].action_mask(), shape, "the action mask"))
        return np.array(out)

    @property
    def metrics(self) -> Sequence[Metric]:  # type: ignore[override]
        """What the copies declare."""
        return self._copies[0].metrics

    def measure(self, lane: int) -> Mapping[str, float]:
        """Return the values of a lane's metrics."""
        with self.noting() as note:
            note[0] = lane
            return self._copies[lane].measure()

    def close(self) -> None:
        """Close every copy, and raise the first exception."""
        _each(functools.partial(_close, copy) for copy in self._copies)

    def _copy(self, lane: int) -> Environment:
        return self._copies[lane]


_abilities.of_copies(Copies, _abilities.ENVIRONMENT)


def read_step(space: spaces.Space, answer: object) -> tuple[Any, float, bool, bool]:
    """Return what a single copy's step answered, the observation as an entry of a column, or say what is wrong."""
    observation, reward, terminated, truncated = answer if type(answer) is TimeStep else time_step(answer)
    observation = spaces.as_entry(space, observation, "the observation")
    if not (type(reward) is float and type(terminated) is type(truncated) is bool):
        reward = spaces.as_number(reward, "the reward")
        terminated, truncated = spaces.as_flag(terminated, "terminated"), spaces.as_flag(truncated, "truncated")
    return observation, reward, terminated, truncated


def time_step(answer: object) -> TimeStep:
    """Return the answer of a single copy's step, which may be a plain tuple, with Gymnasium's info at its end."""
    if isinstance(answer, TimeStep):
        return answer
    most = len(TimeStep._fields)
    if not isinstance(answer, tuple) or not 2 <= len(answer) <= most + 1:
        cure = "return rlrun.TimeStep(observation, reward, terminated, truncated)"
        raise InvalidAnswer(f"step returned {_kind(answer)}, must return a TimeStep: {cure}")
    if isinstance(answer[-1], Mapping) and len(answer) == most:
        raise InvalidAnswer(
            "step returned (observation, reward, done, info) as in gym before 0.26: return rlrun.TimeStep(observation, "
            "reward, terminated, truncated)"
        )
    if len(answer) > most and not isinstance(answer[-1], Mapping):
        raise InvalidAnswer(
            f"the fifth entry that step returned is {_kind(answer[-1])}, must be Gymnasium's info, a dict"
        )
    return TimeStep(*answer[:most])


def _close(copy: Environment | Agent) -> None:
    """Close a copy. The host may wait for another answer, and shows the line if it waits in vain."""
    kind = type(copy)
    if not overrides(kind, Agent if isinstance(copy, Agent) else Environment, "close"):
        return
    late = threading.Timer(
        1, print, (f"{kind.__name__}.close has not returned after 1 s",), {"file": sys.stderr, "flush": True}
    )
    late.daemon = True
    late.start()
    try:
        copy.close()
    finally:
        late.cancel()


def _each(calls: Iterable[Callable[[], None]]) -> None:
    failed: BaseException | None = None
    for call in calls:
        try:
            call()
        except BaseException as e:
            failed = failed or e
    if failed:
        raise failed


class AgentLanes:
    """Lanes of an agent."""

    def __init__(self, agent: VectorAgent, spec: Spec, lanes: int) -> None:
        self.agent, self.spec, self.lanes = agent, spec, lanes
        agent.open(spec, lanes)
        self.greedy = agent_is_greedy(agent)
        self._begun = np.zeros(lanes, np.bool_)
        self._evaluates = np.zeros(lanes, np.bool_)  # lanes whose episode is one of an evaluation
        self._all_learn = False  # every lane has begun, and none is in an evaluation
        # Columns, or lists where proceed leaves them. Nobody writes to them.
        self._observations = spaces.zeros(spec.observation, lanes)
        self._actions = spaces.zeros(spec.action, lanes)
        self.masks: NDArray[np.bool_] | None = None
        """Which actions are allowed in each lane, of the step to come; None without masks."""

    @property
    def single(self) -> bool:
        """Whether these are single copies, all of which have begun and none of which is in an evaluation."""
        return self._all_learn and type(self.agent) is AgentCopies and self.masks is None

    @property
    def last(self) -> tuple[Array, Array]:
        """The observations that the lanes acted on last, and their actions. Nobody writes to them."""
        observation, action = self.spec.observation, self.spec.action
        return np.asarray(self._observations, observation.dtype), np.asarray(self._actions, action.dtype)

    @last.setter
    def last(self, columns: tuple[Array, Array]) -> None:
        self._observations, self._actions = columns

    def proceed(self, outcome: Steps) -> Array | list[int]:
        """Learn and act in every lane of single copies."""
        agent, space, of_authors = self.agent, self.spec.observation, spaces.of_authors
        assert isinstance(agent, AgentCopies)
        before, took = _listed(space, self._observations), _listed(self.spec.action, self._actions)
        observations, rewards, terminated, truncated = outcome
        acting: Sequence[int] = range(self.lanes)
        agent.update_each(
            acting,
            of_authors(space, before),
            of_authors(self.spec.action, took),
            rewards,
            of_authors(space, observations),
            terminated,
            truncated,
        )
        seen: Any = observations
        if True in terminated or True in truncated:
            acting = [i for i in acting if not (terminated[i] or truncated[i])]
            seen = before.copy()
            for i in acting:
                seen[i] = observations[i]
            observations = [observations[i] for i in acting] if isinstance(observations, list) else observations[acting]
        actions = took.copy()
        agent.select_each(acting, of_authors(space, observations), actions, greedy=False)
        self._observations, self._actions = seen, actions
        return cast("Array | list[int]", actions)

    def step(self, signals: Signals, seeds: Seeds | None, outcome: TimeSteps) -> Array:
        """Learn and act as the signals say. What it returns changes with the next call."""
        self.last = self.last
        acting = among(self._learn(signals, seeds, outcome))
        if acting is not None:
            observations = outcome.observations[acting]
            self._act(acting, observations)
            self._see(acting, observations)
        self._all_learn = bool(self._begun.all() and not self._evaluates.any())
        return self._actions

    def _learn(self, signals: Signals, seeds: Seeds | None, outcome: TimeSteps) -> NDArray[np.bool_]:
        """Learn as the signals say, and return which lanes are to act."""
        learning = signals == CONTINUE
        fresh = among(signals == NEW_RUN)
        if fresh is not None:
            self._begun[fresh] = True
        early = (signals != IDLE) & ~self._begun
        if early.any():
            raise NeedsReset("a step before the lane's first run", lane=int(np.argmax(early)))
        going = among(learning)
        self._tell(learning)
        if going is not None:
            self.agent.update(
                going,
                Transitions(
                    self._observations[going],
                    self._actions[going],
                    outcome.rewards[going],
                    outcome.observations[going],
                    outcome.terminated[going],
                    outcome.truncated[going],
                ),
            )
        if fresh is not None:
            assert seeds is not None
            self.agent.begin(fresh, seeds[fresh])
        self._tell((signals != IDLE) & ~learning)
        evaluating = signals == EVALUATE_EPISODE
        if evaluating.any() and not self.greedy:
            raise Unsupported("the agent has no greedy actions", lane=int(np.argmax(evaluating)))
        stepped = learning | (signals == EVALUATE)
        self._evaluates = np.where((signals == IDLE) | stepped, self._evaluates, evaluating)
        acting: NDArray[np.bool_] = (signals != IDLE) & ~(stepped & (outcome.terminated | outcome.truncated))
        return acting

    def _tell(self, lanes: NDArray[np.bool_]) -> None:
        """Tell lanes which actions are allowed."""
        if self.masks is not None and (told := among(lanes)) is not None:
            self.agent.set_action_masks(told, self.masks[told])

    # The caller of the next update sees the pair that led to it: columns that went out
    # are not written to.

    def _act(self, lanes: Lanes, observations: Array) -> None:
        greedy = self._evaluates[lanes]
        if greedy.any() and not greedy.all():
            at = np.array(numbers(lanes, self.lanes))
            self._act(at[greedy], observations[greedy])
            self._act(at[~greedy], observations[~greedy])
            return
        select = self.agent.select_greedy_actions if greedy.any() else self.agent.select_actions
        actions = select(lanes, observations)
        self._actions = self._actions.copy()
        with counting(lanes):
            self._actions[lanes] = spaces.as_column(self.spec.action, actions, len(observations), "actions")

    def _see(self, lanes: Lanes, observations: Array) -> None:
        if isinstance(lanes, slice):
            self._observations = observations
        else:
            self._observations = self._observations.copy()
            self._observations[lanes] = observations

    def measure(self, lane: int) -> list[float]:
        """Return the values of a lane's metrics."""
        return _measured(self.agent.metrics, self.agent.measure(lane), lane)

    def ask(self, ability: str, lane: int, question: bytes) -> bytes:
        """Ask a lane for an ability: save and load are the lane's, others its agent's."""
        own = ability in ("save", "load")
        return _abilities.ask(self if own else self.agent, ability, lane, question)

    def save(self, lane: int) -> bytes:
        """Return the format of what the agent saves, how many actors it has, where they are, and what it saves."""
        if not self._begun[lane]:
            raise NeedsReset("the lane has not begun a run", lane=lane)
        actors = slice(lane, lane + self.spec.actors)
        last = b"".join(c[actors].tobytes() for c in self.last)
        last = self.spec.actors.to_bytes(4, "little") + last
        state = _abilities.BY_NAME["save"].to_bytes(self.agent.save(lane))
        if state[:8] in (saved.ARRAYS, saved.PICKLE):
            return state[:8] + last + state[8:]
        return saved.OTHER + last + state

    def load(self, lane: int, state: bytes) -> None:
        """Let a lane go on as the one that was saved."""
        form, there, state = state[:8], int.from_bytes(state[8:12], "little"), state[12:]
        sizes = [there * c[lane].nbytes for c in self.last]
        if form not in (saved.ARRAYS, saved.PICKLE, saved.OTHER) or there < 1 or len(state) < sum(sizes):
            raise Error("this is not the state of a lane", lane=lane)
        columns, at = [c.copy() for c in self.last], 0
        both = min(there, self.spec.actors)
        for column, size in zip(columns, sizes, strict=True):
            entries = np.frombuffer(state[at : at + size], column.dtype)
            column[lane : lane + both] = entries.reshape(there, *column.shape[1:])[:both]
            at += size
        if self.spec.observation.outside(columns[0][lane : lane + both]).any():
            raise Error(f"the saved observation is not in {self.spec.observation}", lane=lane)
        self.agent.load(lane, (b"" if form == saved.OTHER else form) + state[at:])
        self._observations, self._actions = columns
        self._begun[lane : lane + self.spec.actors] = True

    def close(self) -> None:
        """Free what the agent holds."""
        self.agent.close()


def _listed(space: spaces.Space, column: Any) -> Any:
    """Return a column as a list for `Discrete`."""
    return column.tolist() if isinstance(space, Discrete) and not isinstance(column, list) else column


def overrides(cls: type, base: type, method: str) -> bool:
    """Say whether a class has a method of its own in place of its base's."""
    return getattr(cls, method) is not getattr(base, method)


def reads_masks(agent: VectorAgent) -> bool:
    """Say whether an opened agent reads masks."""
    if isinstance(agent, AgentCopies):
        return agent.reads_masks
    return overrides(type(agent), VectorAgent, "set_action_masks")


def agent_is_greedy(agent: VectorAgent) -> bool:
    """Say whether an opened agent can act without exploring."""
    if isinstance(agent, AgentCopies):
        return agent.greedy
    return overrides(type(agent), VectorAgent, "select_greedy_actions")


class OptionLanes(AgentLanes):
    """Lanes of an agent whose exploration the host may decide."""

    agent: VectorOptionAgent

    def __init__(self, agent: VectorOptionAgent, spec: Spec, lanes: int) -> None:
        super().__init__(agent, spec, lanes)
        self._offered = False
        self._open = np.zeros(lanes, np.bool_)  # lanes that have not acted since their decision
        self._decisions: Decisions | None = None  # of the last call
        self._places = np.full(lanes, -1)  # where among them a lane's is

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Set the kinds of options that the host chooses from."""
        if self._begun.any():
            raise Unsupported("options are offered after the first step")
        self.agent.set_option_kinds([kind for kind in kinds if kind != "greedy"])
        self._offered = True

    def decide(
        self, signals: Signals, seeds: Seeds | None, outcome: TimeSteps, epochs: NDArray[np.bool_]
    ) -> tuple[Array, Decisions | None]:
        """Step, but let the lanes with an epoch describe their decisions in place of acting."""
        early = self._open & (signals == CONTINUE)
        if early.any():
            raise NeedsReset("a step before an option was chosen", lane=int(np.argmax(early)))
        acting = self._learn(signals, seeds, outcome)
        self._open &= ~acting
        self._decisions = None
        self._places.fill(-1)
        facing = among(acting & epochs)
        if facing is not None:
            if not self._offered:
                raise Unsupported("no options have been offered")
            observations = outcome.observations[facing]
            at = numbers(facing, self.lanes)
            self._decisions = _decisions.read(self.agent.problems(facing, observations), at)
            self._see(facing, observations)
            self._open[facing], self._places[facing] = True, np.arange(len(at))
        rest = among(acting & ~epochs)
        if rest is not None:
            observations = outcome.observations[rest]
            self._act(rest, observations)
            self._see(rest, observations)
        return self._actions, self._decisions

    def step(self, signals: Signals, seeds: Seeds | None, outcome: TimeSteps) -> Array:
        """Learn and act as the signals say."""
        return self.decide(signals, seeds, outcome, np.zeros(self.lanes, np.bool_))[0]

    def choose(self, choices: NDArray[np.int32]) -> Array:
        """Let lanes with a choice that is not negative follow that option, and act."""
        chosen = among(choices >= 0)
        if chosen is None:
            return self._actions
        places = self._places[chosen]
        early = places < 0
        if self._decisions is None or early.any():
            raise InvalidAction("an option was chosen where none was asked for", lane=first(chosen, early))
        options = self._decisions.chosen(places, choices[chosen], np.arange(self.lanes)[chosen])
        self.agent.choose(chosen, options)
        self._act(chosen, self._observations[chosen])
        self._open[chosen], self._places[chosen] = False, -1
        return self._actions

    def greedy_policy(self, lane: int) -> NDArray[np.int64]:
        """Return a lane's greedy actions, counted from 0."""
        observations, actions = self.spec.observation, self.spec.action
        if not isinstance(observations, Discrete) or not isinstance(actions, Discrete):
            raise Unsupported("observations and actions are not discrete")
        if not self._begun[lane]:
            raise NeedsReset("the lane has not begun a run", lane=lane)
        try:
            policy = spaces.as_column(actions, self.agent.greedy_policy(lane), observations.n, "the greedy policy")
            bad = actions.outside(policy)
            if bad.any():
                i = int(np.argmax(bad))
                raise InvalidAnswer(f"the greedy policy has {policy[i]}, which is not in {actions}")
        except BaseException as e:
            blame(e, lane)
            raise
        out: NDArray[np.int64] = policy - actions.start
        return out


class AgentCopies(OneByOne, VectorAgent):
    """A batch made of single copies, a fresh one per run."""

    def __init__(self, make: Callable[[], Agent]) -> None:
        self._make = make
        self._spare: Agent | None = make()

    def open(self, spec: Spec, lanes: int) -> None:
        """Find out whether the agent can act in such environments."""
        if spec.actors > 1:
            raise Unsupported(f"{spec.actors} actors; a copy acts in one environment at a time")
        self._spec = spec
        self._copies: list[Agent | None] = [None] * lanes
        spare, self._spare = self._spare, None
        assert spare is not None
        self.metrics = spare.metrics
        self.greedy = overrides(type(spare), Agent, "select_greedy_action")
        self.reads_masks = overrides(type(spare), Agent, "set_action_mask")
        try:
            spare.begin(spec, 0)
        finally:
            _close(spare)

    @property
    def each(self) -> list[Any]:
        """The copies of all lanes."""
        return self._copies

    def begin(self, lanes: Lanes, seeds: Seeds) -> None:
        """Make a fresh copy in each of these lanes."""
        with self.noting() as note:
            for k, lane in enumerate(numbers(lanes, len(self._copies))):
                note[0] = lane
                self._end(lane)
                self._copies[lane] = self._fresh(int(seeds[k]))

    def set_action_masks(self, lanes: Lanes, masks: NDArray[np.bool_]) -> None:
        """Tell each of these lanes which actions are allowed."""
        with self.noting() as note:
            for k, note[0] in enumerate(numbers(lanes, len(self._copies))):
                self._copy(note[0]).set_action_mask(masks[k])

    def select_actions(self, lanes: Lanes, observations: Array) -> Array:
        """Ask each of these lanes for an action."""
        return self._select(lanes, observations, greedy=False)

    def select_greedy_actions(self, lanes: Lanes, observations: Array) -> Array:
        """Ask each of these lanes for its greedy action."""
        return self._select(lanes, observations, greedy=True)

    def _select(self, lanes: Lanes, observations: Array, *, greedy: bool) -> Array:
        among = numbers(lanes, len(self._copies))
        out = spaces.zeros(self._spec.action, len(self._copies))
        self.select_each(among, spaces.of_authors(self._spec.observation, observations), out, greedy=greedy)
        return out[lanes]

    def select_each(
        self, lanes: Iterable[int], observations: Iterable[Any], actions: Array | list[int], *, greedy: bool
    ) -> None:
        """Ask each of these lanes for an action, and fill in its entry."""
        space, copies, as_entry = self._spec.action, self._copies, spaces.as_entry
        lane = -1
        try:
            for lane, observation in zip(lanes, observations, strict=True):
                copy = copies[lane]
                assert copy is not None
                action = copy.select_greedy_action(observation) if greedy else copy.select_action(observation)
                actions[lane] = as_entry(space, action, "the action")
        except BaseException as e:
            blame(e, lane)
            raise

    def update(self, lanes: Lanes, transitions: Transitions) -> None:
        """Let each of these lanes learn."""
        observation, action = self._spec.observation, self._spec.action
        self.update_each(
            numbers(lanes, len(self._copies)),
            spaces.of_authors(observation, transitions.observations),
            spaces.of_authors(action, transitions.actions),
            transitions.rewards.tolist(),
            spaces.of_authors(observation, transitions.next_observations),
            transitions.terminated.tolist(),
            transitions.truncated.tolist(),
        )

    def update_each(self, lanes: Iterable[int], *columns: Iterable[Any]) -> None:
        """Let each of these lanes learn from a transition, whose fields are columns."""
        copies = self._copies
        lane = -1
        try:
            for lane, transition in zip(lanes, map(as_transition, zip(*columns, strict=True)), strict=True):
                copy = copies[lane]
                assert copy is not None
                copy.update(transition)
        except BaseException as e:
            blame(e, lane)
            raise

    def measure(self, lane: int) -> Mapping[str, float]:
        """Return the values of a lane's metrics."""
        with self.noting() as note:
            note[0] = lane
            return self._copy(lane).measure()

    def load(self, lane: int, state: bytes) -> None:
        """Let a fresh copy go on as the one that was saved."""
        copy = self._fresh(0)
        copy.load(state)
        self._end(lane)
        self._copies[lane] = copy

    def close(self) -> None:
        """Close every copy, and raise the first exception."""
        _each(functools.partial(self._end, lane) for lane in range(len(self._copies)))

    def _end(self, lane: int) -> None:
        copy, self._copies[lane] = self._copies[lane], None
        if copy is not None:
            _close(copy)

    def _fresh(self, seed: int) -> Agent:
        _random_states.seed(seed & 0xFFFFFFFF)  # networks are made with numbers from there
        copy = self._make()
        copy.begin(self._spec, seed)
        return copy

    def _copy(self, lane: int) -> Agent:
        copy = self._copies[lane]
        assert copy is not None
        return copy


_abilities.of_copies(AgentCopies, _abilities.AGENT)


class OptionCopies(AgentCopies, VectorOptionAgent):
    """A batch made of single copies whose exploration the host may decide."""

    _kinds: Sequence[str] | None = None

    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Find out whether the agent can make such options."""
        self._kinds = kinds
        _close(self._fresh(0))

    def _fresh(self, seed: int) -> Agent:
        copy = super()._fresh(seed)
        if self._kinds is not None:
            _able(copy).set_option_kinds(self._kinds)
        return copy

    def problems(self, lanes: Lanes, observations: Array) -> list[Problem]:
        """Ask each of these lanes for the decision it faces."""
        value, out = self._spec.observation.value, []
        with self.noting() as note:
            for k, lane in enumerate(numbers(lanes, len(self._copies))):
                note[0] = lane
                out.append(_able(self._copy(lane)).problem(value(observations[k])))
        return out

    def choose(self, lanes: Lanes, options: NDArray[Any]) -> None:
        """Let each of these lanes follow an option."""
        choices = options.tolist()
        with self.noting() as note:
            for k, lane in enumerate(numbers(lanes, len(self._copies))):
                note[0] = lane
                _able(self._copy(lane)).choose(choices[k])

    def greedy_policy(self, lane: int) -> Sequence[int]:
        """Ask a lane for its greedy policy."""
        return _able(self._copy(lane)).greedy_policy()


def _able(copy: Agent) -> OptionAgent:
    assert isinstance(copy, OptionAgent)
    return copy


def with_id(spec: object, plugin: str) -> Spec:
    """Fill in the id of a spec that has none."""
    if not isinstance(spec, Spec):
        cure = " (write @property above def spec)" if callable(spec) else ""
        raise TypeError(f"spec of {plugin} must be an rlrun.Spec, not a {type(spec).__name__}{cure}")
    return spec if spec.id else dataclasses.replace(spec, id=plugin)


def spec_with_masks(spec: Spec, env: VectorEnvironment) -> Spec:
    """Say in a spec whether the environment has masks."""
    if isinstance(env, Copies):
        has = overrides(type(env.each[0]), Environment, "action_mask")
    else:
        has = overrides(type(env), VectorEnvironment, "action_masks")
    if has and not isinstance(spec.action, Discrete):
        raise TypeError(
            f"{spec.id} has action masks, and its actions are {spec.action}: masks are for Discrete actions"
        )
    return dataclasses.replace(spec, masks=has)
