"""What the author of an agent writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlrun import saved
from rlrun.environment import Spec, _Described
from rlrun.spaces import Array
from rlrun.streams import Lanes


class Transition(NamedTuple):
    """One step, as a learner sees it. After ``terminated`` nothing follows; after
    ``truncated`` learners go on from ``next_observation``.
    """  # noqa: D205

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    truncated: bool


class Transitions(NamedTuple):
    """One step of a batch: a column each. They must not be changed."""

    observations: Array
    actions: Array
    rewards: NDArray[np.float64]
    next_observations: Array
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class Agent(_Described, ABC):
    """One copy of an agent. The SDK makes a fresh one for every run.

    The arguments of the constructor are the plugin's parameters; most easily the
    class is a dataclass.
    """

    @abstractmethod
    def begin(self, spec: Spec, seed: int) -> None:
        """Prepare for a run in an environment like ``spec``.

        Everything the agent draws in the run follows from ``seed``,
        0 ≤ seed < 2⁶⁴. Raise `rlrun.Unsupported` for environments that the agent
        cannot act in.
        """

    @abstractmethod
    def select_action(self, observation: Any) -> Any:
        """Return an action of the action space for an observation of the observation space."""

    @abstractmethod
    def update(self, transition: Transition) -> None:
        """Learn from a step. It is not called while the host evaluates the agent."""

    def set_action_mask(self, mask: NDArray[np.bool_]) -> None:
        """Take which actions are allowed, of a Discrete space in its order.

        It is called before select_action, for its observation, and before update, for its next_observation.
        Environments with masks (``spec.masks``) refuse agents that do not override it.
        """
        raise NotImplementedError

    def select_greedy_action(self, observation: Any) -> Any:
        """Return the action that the agent estimates to be best, without exploration.

        It is called in place of select_action while the host evaluates the agent.
        An agent that does not override it acts in evaluation as select_action says.
        """
        raise NotImplementedError

    def measure(self) -> Mapping[str, float]:
        """Return the current values of metrics, by name.

        It is called where rlrun records, and changes nothing that later actions depend on.
        """
        raise NotImplementedError

    checkpoints: ClassVar[bool] = True
    """Whether the agent can be saved. False if its attributes are none that `save` takes, and it is not overridden."""

    pickles: ClassVar[bool] = False
    """Whether `save` pickles. To read pickled bytes runs code in them: rlrun loads such agents only with --trust."""

    def recommended_action(self) -> int:
        """Return the action that the agent would stay with from now on, in a task of one state. It changes nothing.

        The metrics ``simple_regret`` and ``recommendation_error`` judge it.
        """
        raise NotImplementedError

    def save(self) -> bytes:
        """Return all that the agent's behaviour depends on: its attributes, as `rlrun.pack` writes them.

        Agents with other attributes override save and load, or say ``pickles = True``.
        """
        return saved.save(self, self.pickles)

    def load(self, state: bytes) -> None:
        """Restore the state that `save` returned: the agent then acts as the saved one.

        The bytes may be anybody's: an override must not run code in them, as pickle does.
        """
        saved.load(self, state, self.pickles)

    def close(self) -> None:
        """Free the resources of the copy. It is called at the end of its run."""


class VectorAgent(_Described, ABC):
    """A batch of lanes of an agent, stepped without a Python loop.

    For ``lanes`` see `rlrun.VectorEnvironment`.

    If ``spec.actors`` is n > 1, lanes r·n to r·n + n - 1 belong to one run: one copy of the agent acts in them. They
    begin their run together, each with a seed. Their episodes begin and end apart, so that a call may be about some
    of them. ``measure``, ``save`` and ``load`` get the first of these lanes. A run goes on from its state. A state may
    also be loaded where the number of actors is another; episodes begin then.
    """

    @abstractmethod
    def open(self, spec: Spec, lanes: int) -> None:
        """Make ``lanes`` ≥ 1 lanes, for environments with this ``spec``. It is called once, first.

        Raise `rlrun.Unsupported` for environments that the agent cannot act in.
        """

    @abstractmethod
    def begin(self, lanes: Lanes, seeds: NDArray[np.uint64]) -> None:
        """Start a run in each of these lanes: forget everything."""

    @abstractmethod
    def select_actions(self, lanes: Lanes, observations: Array) -> Array:
        """Return an action for each of these lanes. The observations must not be changed."""

    @abstractmethod
    def update(self, lanes: Lanes, transitions: Transitions) -> None:
        """Learn from a step of each of these lanes. It is not called while the host evaluates the agent."""

    def set_action_masks(self, lanes: Lanes, masks: NDArray[np.bool_]) -> None:
        """Take which actions are allowed in each of these lanes, a row each, as an agent's set_action_mask does."""
        raise NotImplementedError

    def select_greedy_actions(self, lanes: Lanes, observations: Array) -> Array:
        """Return, for each of these lanes, the action that it estimates to be best, without exploration.

        It is called in place of select_actions while the host evaluates the lanes.
        An agent that does not override it acts in evaluation as select_actions says.
        """
        raise NotImplementedError

    def measure(self, lane: int) -> Mapping[str, float]:
        """Return the current values of a lane's metrics, by name."""
        raise NotImplementedError

    def recommended_action(self, lane: int) -> int:
        """Return the action that a lane would stay with, as an agent's recommended_action does."""
        raise NotImplementedError

    def save(self, lane: int) -> bytes:
        """Return all that a lane's behaviour depends on. Agents that can be saved override this and load.

        `rlrun.pack` makes bytes of arrays and plain values, and `rlrun.unpack` reads them without running code.
        """
        raise NotImplementedError

    def load(self, lane: int, state: bytes) -> None:
        """Restore the state of a lane that `save` returned."""
        raise NotImplementedError

    def close(self) -> None:
        """Free the resources of the batch."""
