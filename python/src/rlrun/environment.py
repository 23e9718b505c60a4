"""What the author of an environment writes."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlrun import spaces
from rlrun._arguments import wrong
from rlrun._pb import plugin_pb2 as pb
from rlrun.errors import InvalidAnswer
from rlrun.spaces import Array, Space
from rlrun.streams import Lanes

_FIELDS: list[tuple[Any, ...]] = [
    (float, "reward_low", "reward_high"),
    (bool, "continuing", "masks"),
    (int, "steps", "episodes", "actors"),
]
"""The fields of a Spec that are no spaces, by what they are."""


@dataclass(frozen=True)
class Spec:
    """The description of an environment: its spaces and rewards. It does not change.

    ``reward_low`` and ``reward_high`` bound every reward, not only the expected ones;
    infinite where no bound is known. If both are 0, none is declared, and they become
    infinite. ``continuing`` says that no episode ever ends.
    ``id`` is filled in from the environment's class. ``steps`` is the number of steps
    of a run, over all its episodes, in the spec that an agent gets; 0 if it is not
    known. If the run begins with a saved agent, the steps from which that has learned
    before count, too. ``episodes`` is the number of episodes with which a run ends, if that
    comes first; 0 without such a budget, and in a run that begins with a saved agent.
    Environments leave both 0. ``masks`` says that observations come with
    masks of the allowed actions; it is set where an environment has ``action_mask``.
    ``actors`` is the number of environments in which a copy of an agent acts at the same time, in
    the spec that an agent gets. Environments leave it 1.
    """

    observation: Space
    action: Space
    reward_low: float = -np.inf
    reward_high: float = np.inf
    continuing: bool = False
    id: str = ""
    steps: int = 0
    masks: bool = False
    episodes: int = 0
    actors: int = 1

    def __post_init__(self) -> None:
        spaces.check(self.observation, "the space of observations in an rlrun.Spec")
        spaces.check(self.action, "the space of actions in an rlrun.Spec")
        for kind, *names in _FIELDS:
            for name in names:
                value, where = getattr(self, name), f"{name} of an rlrun.Spec"
                if fault := wrong(where, value, kind):
                    raise TypeError(fault)
                if math.isnan(value):
                    raise TypeError(f"{where} is {value!r}, must be a number")
                if kind is int and value < (least := int(name == "actors")):
                    raise ValueError(f"{where} is {value!r}, must be at least {least}")
                object.__setattr__(self, name, kind(value))
        if self.reward_low == self.reward_high == 0:  # what a message has that leaves them out
            object.__setattr__(self, "reward_low", -np.inf)
            object.__setattr__(self, "reward_high", np.inf)

    def to_proto(self) -> pb.Spec:
        """Return the spec as a message."""
        return pb.Spec(
            id=self.id,
            observation=spaces.to_proto(self.observation),
            action=spaces.to_proto(self.action),
            reward_low=self.reward_low,
            reward_high=self.reward_high,
            continuing=self.continuing,
            steps=self.steps,
            masks=self.masks,
            episodes=self.episodes,
            actors=self.actors if self.actors > 1 else 0,
        )

    @staticmethod
    def from_proto(message: pb.Spec) -> Spec:
        """Return the spec that a message describes."""
        return Spec(
            observation=spaces.from_proto(message.observation),
            action=spaces.from_proto(message.action),
            reward_low=message.reward_low,
            reward_high=message.reward_high,
            continuing=message.continuing,
            id=message.id,
            steps=message.steps,
            masks=message.masks,
            episodes=message.episodes,
            actors=max(message.actors, 1),
        )


class TimeStep(NamedTuple):
    """The outcome of a step: observation, reward and two flags.

    ``terminated``: the task ended, nothing follows. ``truncated``: the episode was
    cut short; learners go on from the observation, which is true on the last step,
    too.
    """

    observation: Any
    reward: float
    terminated: bool = False
    truncated: bool = False


class TimeSteps(NamedTuple):
    """The outcome of a step of a batch: columns with an entry for each lane."""

    observations: Array
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


@dataclass(frozen=True)
class Metric:
    """A metric of an environment's or agent's own, which rlrun records as environment.NAME or agent.NAME.

    ``name`` consists of lower-case letters, digits and underscores, a letter first.
    ``better`` is "higher", "lower" or empty. ``total`` says how the values of a run
    are summed up: empty for the mean over steps, "last" for the last value, "sum"
    for the sum, "time" for the last value, the time of an event in a unit of "steps" or "episodes": a run
    without it is censored, and counts with its length. For mean and sum each value is that of the steps
    since the last call of measure.
    """

    name: str
    unit: str = ""
    doc: str = ""
    better: Literal["", "higher", "lower"] = ""
    total: Literal["", "last", "sum", "time"] = ""

    def to_proto(self) -> pb.Metric:
        """Return the metric as a message."""
        return pb.Metric(name=self.name, unit=self.unit, doc=self.doc, better=self.better, total=self.total)


@dataclass(frozen=True)
class Model:
    """A finite MDP: what the host needs to compute the optimum and the regret.

    ``transitions`` holds (s, a, s', p) for every positive probability; a state lacks the
    actions that have none there, and their numbers must do what other actions do, as
    docs/mixing.md says. ``rewards`` holds
    (s, a, r) with the expected reward, zero where left out, ``initial`` (s, p),
    ``terminal`` the states that end an episode; their rows may be left out.
    ``action_names`` has a name for every action, or none. ``episode_steps`` is the number of
    steps after which an episode is truncated, 0 if none is.
    """

    states: int
    actions: int
    transitions: Sequence[tuple[int, int, int, float]]
    rewards: Sequence[tuple[int, int, float]] = ()
    initial: Sequence[tuple[int, float]] = ()
    terminal: Sequence[int] = ()
    name: str = field(default="", kw_only=True)
    action_names: Sequence[str] = field(default=(), kw_only=True)
    episode_steps: int = field(default=0, kw_only=True)

    @staticmethod
    def from_arrays(
        p: Array,
        r: Array,
        *,
        initial: Array | None = None,
        terminal: Sequence[int] = (),
        name: str = "",
        action_names: Sequence[str] = (),
        episode_steps: int = 0,
    ) -> Model:
        """Make a model of P[s, a, s'] and r[s, a], and of the initial states' probabilities."""
        states, actions, _ = p.shape
        return Model(
            states,
            actions,
            [(int(s), int(a), int(t), float(p[s, a, t])) for s, a, t in np.argwhere(p)],
            [(int(s), int(a), float(r[s, a])) for s, a in np.argwhere(r)],
            [] if initial is None else [(int(s), float(initial[s])) for s in np.flatnonzero(initial)],
            terminal,
            name=name,
            action_names=action_names,
            episode_steps=episode_steps,
        )

    def to_json(self) -> bytes:
        """Return the model as the host reads it."""
        keys: dict[str, Any] = {"S": self.states, "A": self.actions, "transitions": self.transitions}
        optional = {
            "name": self.name,
            "actions": self.action_names,
            "rewards": self.rewards,
            "initial": self.initial,
            "terminal": self.terminal,
        }
        keys |= {key: value for key, value in optional.items() if len(value) > 0}
        if self.episode_steps:
            keys["episode_steps"] = self.episode_steps
        for key in ("transitions", "rewards", "initial"):
            if wrong := [row for row in keys.get(key, ()) if not math.isfinite(row[-1])]:
                raise InvalidAnswer(f"the model has {key} {tuple(wrong[0])!r}, whose last number must be finite")
        return json.dumps(keys, default=lambda number: number.item()).encode()  # numpy's


class _Described:
    """What every plugin has."""

    id: ClassVar[str]
    """namespace/name@version, in lower case. Another version has other random numbers."""

    requires: ClassVar[str] = ""
    """The oldest rlrun that it works with, ``"rlrun >= 0.2.0"``. An older one refuses it. Empty: any."""

    preferred_lanes: ClassVar[int] = 0
    """The number of lanes that suits it best, at most: 16 for networks that fill a card with more. 0: any."""

    max_actors: ClassVar[int] = 1
    """Of a `VectorAgent`: the largest number of actors that a run may have, which are lanes of one copy."""

    breaks: ClassVar[Mapping[str, str]] = {}
    """Of an agent: the laws of agents that it breaks by design, each with the reason (docs/agents.md).

    ``rlrun plugin inspect`` shows them. ``rlrun plugin check --laws`` finds those that are not declared.
    """

    metrics: Sequence[Metric] = ()
    """Metrics of its own. A class that has some overrides measure."""

    frames_per_second: ClassVar[float] = 0
    """The pace at which frames of successive steps of an environment look natural. 0: unknown."""

    @classmethod
    def facts(cls) -> Mapping[str, str]:
        """Return what results depend on besides parameters, seed and code: ``{"device": "NVIDIA H100"}``.

        It is called in every process of the plugin, and must say the same in each. ``provenance.json`` has the facts,
        and rlrun adds no runs with others to results.
        """
        return {}


class Environment(_Described, ABC):
    """One copy of a task. The SDK makes lanes of it, and keeps the order of calls.

    The arguments of the constructor are the plugin's parameters; most easily the
    class is a dataclass. ``step`` comes only after ``reset``, not after the end of
    an episode, and only with actions that are in the space.
    """

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """Describe the environment."""

    @abstractmethod
    def reset(self, seed: int) -> Any:
        """Start an episode and return its first observation.

        Everything random in the episode follows from ``seed``, 0 ≤ seed < 2⁶⁴.
        """

    @abstractmethod
    def step(self, action: Any) -> TimeStep:
        """Take an action.

        The answer may be a plain tuple; a fifth entry, Gymnasium's info, is ignored.
        """

    def model(self) -> Model:
        """Return the task's model as a finite MDP. Environments with a known model override this."""
        raise NotImplementedError

    def measure(self) -> Mapping[str, float]:
        """Return the current values of metrics, by name.

        It is called where rlrun records, and changes nothing that later steps depend on.
        """
        raise NotImplementedError

    def render(self) -> str:
        """Return a picture of the current state as text. Environments that draw text override this."""
        raise NotImplementedError

    def render_frame(self) -> Array:
        """Draw the current state as a picture: uint8 of shape (height, width, 3), red, green and blue.

        Every picture has the same size, at most 4096 × 4096. Environments that draw pictures override this.
        """
        raise NotImplementedError

    def action_mask(self) -> Array:
        """Return which actions are allowed in the current state: n truth values, or 0 and 1, for Discrete(n).

        It is called after reset and every step. At least one action is allowed unless the episode has
        terminated. Environments whose states may lack actions override this.
        """
        raise NotImplementedError

    def action_names(self) -> Sequence[str]:
        """Return a name for every action of a Discrete space, in its order.

        Environments whose actions have names override this.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Free the resources of the copy."""


class VectorEnvironment(_Described, ABC):
    """A batch of lanes, stepped without a Python loop.

    Every call names the lanes it is about, ``slice(None)`` for all of them, else
    an array of their numbers; the columns that come in and go out have an entry
    for each of these. So ``self.state[lanes]`` is right in either case, and costs
    no copy in the common one. Lanes must not depend on each other: see
    `rlrun.Streams` for their random numbers.
    """

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """Describe the environment."""

    @abstractmethod
    def open(self, lanes: int) -> None:
        """Make ``lanes`` ≥ 1 lanes. It is called once, after ``spec`` and before all other methods."""

    @abstractmethod
    def reset(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> Array:
        """Start an episode in each of these lanes and return their observations."""

    @abstractmethod
    def step(self, lanes: Lanes, actions: Array) -> TimeSteps:
        """Take an action in each of these lanes. The actions must not be changed."""

    def model(self, lane: int) -> Model:
        """Return a lane's model. Lanes with the same model should share the object."""
        raise NotImplementedError

    def measure(self, lane: int) -> Mapping[str, float]:
        """Return the current values of a lane's metrics, by name."""
        raise NotImplementedError

    def render(self, lane: int) -> str:
        """Draw a lane's current state as text."""
        raise NotImplementedError

    def render_frame(self, lane: int) -> Array:
        """Draw a lane's current state as a picture: uint8 of shape (height, width, 3)."""
        raise NotImplementedError

    def action_masks(self, lanes: Lanes) -> Array:
        """Return which actions are allowed in each of these lanes: a row of n for Discrete(n)."""
        raise NotImplementedError

    def action_names(self, lane: int) -> Sequence[str]:
        """Return the names of a lane's actions."""
        raise NotImplementedError

    def close(self) -> None:
        """Free the resources of the batch."""
