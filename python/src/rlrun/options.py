"""What the author of an agent adds for hosts that decide when it explores.

Such an agent is asked at decision epochs what its options are and what each is
worth to each of its K members, or models; the host chooses, and the agent follows
the chosen option until the next epoch. One that is never asked explores in its own
way, if it has one, and is greedy otherwise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from rlrun.agent import Agent, VectorAgent
from rlrun.errors import Unsupported
from rlrun.spaces import Array
from rlrun.streams import Lanes


class Problem(NamedTuple):
    """A decision between n options, of which number ``greedy`` is the greedy one.

    ``names`` has n entries, ``values`` is an array (n, K): what each option is worth
    per step in each of K equally likely models, its gain there or 1 - γ times its
    value in the present state.

    ``reveals`` has n entries, -1 for a policy that is worth keeping if it turns out
    well, and for an option that is held to find out, such as random actions, the
    probability that holding it reveals the model; None is -1 for all. Only if there
    are such options ``optimal`` is needed: the K optimal values in the models.

    ``steps`` has n entries: for how many steps an option has to be held to show what it
    promises, 0 for as long as the host estimates; None is 0 for all.

    ``pairs`` are options of kind "pair", an array (m, 5) of state and action, counted
    from 0, and the gain, cost and expected steps of going there and taking the action
    once: sums of rewards over the rest of the run. They have no values and are numbered
    after the names, from n on. With pairs and no name but that of the greedy option,
    ``values`` may be an array (1, 0).
    """

    names: Sequence[str]
    values: Any
    greedy: int = 0
    reveals: Sequence[float] | None = None
    optimal: Any = None
    pairs: Any = None
    steps: Sequence[int] | None = None


class Problems(NamedTuple):
    """A `Problem` for each lane, with the same n options: columns, whose first axis is the lanes.

    ``values`` is an array (lanes, n, K), ``optimal`` (lanes, K). Options that a lane
    does not have are False in ``offered``, an array (lanes, n); None offers all.
    ``pairs`` has an array (m, 5) a lane, whose pairs are numbered from n on.
    ``steps`` has n entries for all lanes, or is an array (lanes, n).
    """

    names: Sequence[str]
    values: Array
    offered: Array | None = None
    greedy: int = 0
    reveals: Sequence[float] | None = None
    optimal: Array | None = None
    pairs: Sequence[Array] | None = None
    steps: Sequence[int] | Array | None = None


class OptionAgent(Agent):
    """One copy of an agent whose exploration the host may decide."""

    @abstractmethod
    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Set the kinds of options that the host chooses from, besides the greedy one.

        kinds are among "drawn-member", "members", "constants", "uniform", "deviations", "recency-bonus",
        "count-bonus", "repeats" and "pair"; raise `rlrun.Unsupported` for those that the agent
        does not have. It is called after ``begin``, or never.
        """

    @abstractmethod
    def problem(self, observation: Any) -> Problem:
        """Return the decision at an observation: options and their values. Called in place of ``select_action``."""

    @abstractmethod
    def choose(self, option: int) -> None:
        """Follow an option of the last problem, counted from 0, from now on: select its actions."""

    def greedy_policy(self) -> Sequence[int]:
        """Return the greedy action in every observation, in order.

        The host calls it if observations and actions are `Discrete`, and estimates from it for
        how many steps an option is held.
        """
        raise Unsupported("the agent has no method greedy_policy")


class VectorOptionAgent(VectorAgent):
    """A batch of lanes of an agent whose exploration the host may decide. See `OptionAgent`."""

    @abstractmethod
    def set_option_kinds(self, kinds: Sequence[str]) -> None:
        """Set the kinds of options, as `OptionAgent.set_option_kinds`. Called once, after ``open``, or never."""

    @abstractmethod
    def problems(self, lanes: Lanes, observations: Array) -> Problems | Sequence[Problem]:
        """Describe the decisions that these lanes face: as columns or, if their options differ, one by one."""

    @abstractmethod
    def choose(self, lanes: Lanes, options: NDArray[Any]) -> None:
        """Let each of these lanes follow an option of its last problem from now on.

        ``options`` has the number of each, counted from 0 and with those that were not
        offered.
        """

    def greedy_policy(self, lane: int) -> Sequence[int] | Array:
        """Return a lane's greedy action in every observation, in order."""
        raise Unsupported("the agent has no method greedy_policy")
