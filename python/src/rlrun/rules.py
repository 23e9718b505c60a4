"""What the author of an exploration rule, or of a source of options, writes.

A rule chooses between the options of an agent at its decisions. A source makes options from what was seen
in a run. Both are functions: an answer depends on its question alone, which has all that they need of the past,
and a seed for what they draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rlrun.environment import Spec, _Described

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(slots=True)
class Decision:
    """A decision between n options, each with a value in each of K equally likely models."""

    names: Sequence[str]
    """The options' names."""
    values: Floats
    """What each option is worth per step in each model, an array (n, K)."""
    greedy: int
    """The number of the greedy option."""
    step: int
    """Steps of the run before the decision."""
    left: float
    """The weight of the rewards that are left, in units of that of the next one: without a discount their number."""
    holds: Ints
    """T, the number of steps for which each option would be held."""
    shares: Floats
    """ρ, the share of the horizon that these steps take."""
    reveals: Floats
    """-1 for an option that is worth keeping; else the probability that holding it reveals the model."""
    optimal: Floats
    """The K optimal values in the models; empty if every option is worth keeping."""
    counts: Ints
    """How often each option was chosen in the run."""
    followed: Ints
    """For how many steps each was followed."""
    rewards: Floats
    """The sum of the rewards meanwhile."""
    features: Floats
    """The observation as numbers."""
    seed: int
    """What the rule draws for this decision follows from it."""

    @property
    def rng(self) -> np.random.Generator:
        """A stream of random numbers of this decision."""
        return np.random.default_rng(self.seed)


@dataclass(slots=True)
class Decisions:
    """Decisions of m lanes between equally many options: the columns of `Decision`, whose first axis is the lanes."""

    table: Sequence[str]
    numbers: Ints
    values: Floats
    greedy: Ints
    step: Ints
    left: Floats
    holds: Ints
    shares: Floats
    reveals: Floats
    optimal: Floats
    counts: Ints
    followed: Ints
    rewards: Floats
    features: Floats
    seeds: NDArray[np.uint64]

    def __len__(self) -> int:
        """Return m."""
        return len(self.greedy)

    @property
    def names(self) -> list[list[str]]:
        """The options' names, a list a lane."""
        return [[self.table[x] for x in row] for row in self.numbers.tolist()]

    def uniform(self, n: int) -> Floats:
        """Return n random numbers in [0, 1) for each lane, an array (m, n). They are the same at every call."""
        z = self.seeds[:, None] + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # SplitMix64
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53)

    def __getitem__(self, i: int) -> Decision:
        """Return the decision of a lane."""
        return Decision(
            [self.table[x] for x in self.numbers[i]],
            self.values[i],
            int(self.greedy[i]),
            int(self.step[i]),
            float(self.left[i]),
            self.holds[i],
            self.shares[i],
            self.reveals[i],
            self.optimal[i],
            self.counts[i],
            self.followed[i],
            self.rewards[i],
            self.features[i],
            int(self.seeds[i]),
        )

    def __iter__(self) -> Iterator[Decision]:
        """Go through the decisions, in half of the time that asking for each takes."""
        scalars = [x.tolist() for x in (self.greedy, self.step, self.left)]
        beliefs = (self.holds, self.shares, self.reveals, self.optimal)
        trials = (self.counts, self.followed, self.rewards)
        return map(Decision, self.names, self.values, *scalars, *beliefs, *trials, self.features, self.seeds.tolist())


class Rule(_Described, ABC):
    """An exploration rule. The arguments of the constructor are its parameters.

    ``breaks`` has laws that it breaks by design, each with the reason, and ``claims`` those that it keeps
    besides: ``"delta-monotone"`` (docs/plugins.md).
    """

    claims: ClassVar[Sequence[str]] = ()

    def begin(self, spec: Spec) -> None:
        """Prepare for agents in environments like ``spec``. Called once, before all decisions."""

    @abstractmethod
    def choose(self, decision: Decision) -> int | tuple[int, Mapping[str, float]]:
        """Return the number of an option; or this number, and numbers for the log by name."""


class VectorRule(_Described, ABC):
    """An exploration rule that decides for many lanes at once.

    ``breaks`` has laws that it breaks by design, each with the reason, and ``claims`` those that it keeps
    besides: ``"delta-monotone"`` (docs/plugins.md).
    """

    claims: ClassVar[Sequence[str]] = ()

    def begin(self, spec: Spec) -> None:
        """Prepare for agents in environments like ``spec``. Called once, before all decisions."""

    @abstractmethod
    def choose(self, decisions: Decisions) -> Any:
        """Return the number of an option for each lane; or these, and arrays of numbers for the log by name."""


@dataclass(slots=True)
class Experience:
    """What was seen in a run of a finite task; states and actions are counted from 0."""

    states: int
    """The number of states."""
    actions: int
    """The number of actions."""
    transitions: Ints
    """Distinct transitions in order, an array (n, 3): state, action, next state.

    Where an episode terminated, the next state is the first one of the next episode.
    """
    counts: Ints
    """How often each was seen."""
    rewards: Floats
    """The sum of the rewards of each."""
    steps: int
    """The number of all."""
    seed: int
    """What the source draws follows from it."""

    @property
    def rng(self) -> np.random.Generator:
        """A stream of random numbers of this experience."""
        return np.random.default_rng(self.seed)


class DeclaredOption:
    """An option of a finite task (Sutton, Precup & Singh 1999).

    ``policy`` maps states to an action or to the probabilities of all actions. In other states the option ends.
    ``end`` maps states of the policy to probabilities of ending on arrival, default 0. ``initiation`` are
    the states in which it may begin; default: those of the policy in which it does not surely end.
    """

    def __init__(
        self,
        name: str,
        policy: Mapping[int, Any],
        end: Mapping[int, float] | None = None,
        initiation: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(end or {}, Mapping):
            raise TypeError(f"end of the option {name!r} is {end!r}: map states to probabilities, such as {{0: 0.1}}")
        self.name, self.policy, self.end, self.initiation = name, policy, dict(end or {}), initiation


class OptionSource(_Described, ABC):
    """A source of options. The arguments of the constructor are its parameters."""

    def begin(self, spec: Spec) -> None:
        """Prepare for agents in environments like ``spec``. Called once, before all options."""

    @abstractmethod
    def options(self, experience: Experience) -> Sequence[DeclaredOption]:
        """Return the options from now on. Called at the first decision of a run, and when its data have doubled."""
