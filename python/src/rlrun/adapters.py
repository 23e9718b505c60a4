"""Agents of libraries that have a training loop of their own.

Libraries such as Stable-Baselines3 train by a call, ``learn()``, which steps a
Gymnasium environment. rlrun steps agents instead, so that all of them meet the same
draws and every step is recorded. `Learner` turns one into the other:

    class DQN(rlrun.adapters.Learner):
        '''DQN of Stable-Baselines3.'''

        id = "me/sb3-dqn@1"

        def learn(self, env, seed, steps):
            self.model = stable_baselines3.DQN("MlpPolicy", env, seed=seed)
            self.model.learn(steps)

        def act(self, observation):
            return self.model.predict(observation)[0]


    rlrun.serve(DQN)

It needs ``rlrun[gymnasium]``.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rlrun import _random_states
from rlrun._gymnasium_spaces import to_gymnasium
from rlrun._random_states import RandomStates
from rlrun.agent import Agent, Transition
from rlrun.environment import Spec
from rlrun.errors import Error, Unsupported
from rlrun.spaces import Discrete

__all__ = ["Learner", "MaskedLearner"]

UNKNOWN = 2**31 - 1
"""The number of steps that a loop gets if rlrun does not know the length of the run."""


class _RunIsOverError(BaseException):
    """Ends a training loop. It is no Exception, so that loops do not catch it."""


class Learner(Agent):
    """An agent whose training loop is a library's. A subclass has ``learn``, and ``act`` if it can.

    The loop runs in a thread of its own, in turns with rlrun: one of the two waits, so
    that results depend on the seed alone. The random states that libraries share,
    those of ``random``, ``numpy.random`` and torch, are the run's own. The agent cannot
    be saved.
    """

    checkpoints: ClassVar[bool] = False

    @abstractmethod
    def learn(self, env: gymnasium.Env[Any, Any], seed: int, steps: int) -> Any:
        """Train in env for ``steps`` steps, 0 ≤ seed < 2³².

        The loop resets env, steps it until an episode ends, resets it, and so on. It must
        not return before it has made all steps. Other seeds than this one do not count.
        """

    def act(self, observation: Any) -> Any:
        """Return an action without learning. rlrun calls it in evaluations of the agent."""
        raise Unsupported("the agent has no act, by which it could be evaluated")

    def begin(self, spec: Spec, seed: int) -> None:
        """Start the loop, up to its first reset."""
        self._turns = _Turns()
        self._random = RandomStates()
        number = int(np.random.SeedSequence(seed).generate_state(1)[0])
        with self._random:
            _random_states.seed(number)
        self._env = _Env(spec, self._turns)
        self._asked = False  # rlrun has an action of the loop, and has not told the outcome
        self._evaluated = False  # since that action
        steps = spec.steps + 1 if spec.steps else UNKNOWN  # the last outcome is followed by another action
        self._turns.start(lambda: self.learn(self._env, number, steps), self._random)

    def select_action(self, observation: Any) -> Any:
        """Return the loop's next action, or one of ``act`` in an evaluation."""
        if self._asked:
            self._evaluated = True
            with self._random:
                return self._plain(self.act(observation))
        self._asked = True
        if self._env.waits_for_reset:
            self._turns.give((observation, self._info()), self._random)
        return self._plain(self._turns.taken())

    def update(self, transition: Transition) -> None:
        """Give the loop the outcome of its action. After an evaluation, its episode counts as truncated."""
        self._asked = False
        t = transition
        outcome: tuple[Any, ...] = (t.next_observation, t.reward, t.terminated, t.truncated, self._info())
        if self._evaluated:
            outcome = (t.observation, 0.0, False, True, self._info())
        over = t.terminated or t.truncated
        self._turns.give(outcome, self._random)
        if self._evaluated and not over:
            self._turns.give((t.next_observation, self._info()), self._random)
        self._evaluated = False

    def _info(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """End the loop."""
        if turns := getattr(self, "_turns", None):
            turns.stop()

    def _plain(self, action: Any) -> Any:
        """Return an action as rlrun takes it: libraries return arrays with one number."""
        discrete = isinstance(self._env.action_space, gymnasium.spaces.Discrete)
        return np.asarray(action).item() if discrete else action


class MaskedLearner(Learner):
    """A Learner whose loop goes by action masks.

    They are in the infos of env, as ``action_mask`` (Gymnasium), and what its method ``action_masks()`` returns, as
    MaskablePPO of sb3-contrib has it. In ``act`` there is ``self.action_mask``.
    """

    action_mask: NDArray[np.bool_]
    """Which actions are allowed now."""

    def set_action_mask(self, mask: NDArray[np.bool_]) -> None:
        """Take which actions are allowed."""
        self.action_mask = self._env.mask = mask.copy()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._env.mask.astype(np.int8)} if self._env.spec_masks else {}


class _Env(gymnasium.Env[Any, Any]):
    """What the loop steps. Its outcomes are those that rlrun tells."""

    def __init__(self, spec: Spec, turns: _Turns) -> None:
        self.observation_space = to_gymnasium(spec.observation)
        self.action_space = to_gymnasium(spec.action)
        self._turns = turns
        self.waits_for_reset = True
        self.spec_masks = spec.masks
        self.mask = np.ones(spec.action.n if isinstance(spec.action, Discrete) else 0, np.bool_)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are allowed now."""
        return self.mask

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Wait for an episode to begin."""
        self.waits_for_reset = True
        outcome = self._turns.take(None)
        self.waits_for_reset = False
        return outcome

    def step(self, action: Any) -> Any:
        """Let rlrun take an action, and wait for its outcome."""
        return self._turns.take((action,))


class _Turns:
    """Two threads that take turns: rlrun's and the loop's."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._loops = False  # it is the loop's turn
        self._told: Any = None  # what the loop gets
        self._asked: tuple[Any] | None = None  # the action that the loop asks rlrun to take
        self._stopped = False
        self._over = False  # the loop has ended
        self._failure: BaseException | None = None

    def start(self, loop: Any, states: RandomStates) -> None:
        """Start the loop, and wait until it needs something."""

        def run() -> None:
            try:
                loop()
            except _RunIsOverError:
                pass
            except BaseException as e:
                self._failure = e
            with self._condition:
                self._over, self._loops = True, False
                self._condition.notify_all()

        self._thread = threading.Thread(target=run, daemon=True)
        with states, self._condition:
            self._loops = True
            self._thread.start()
            self._wait_for_rlrun()
        self._check()

    def give(self, told: Any, states: RandomStates) -> None:
        """Let the loop go on with this, until it needs something again."""
        with states, self._condition:
            if self._over:
                self._check()
                return
            self._told, self._asked, self._loops = told, None, True
            self._condition.notify_all()
            self._wait_for_rlrun()
        self._check()

    def taken(self) -> Any:
        """Return the action that the loop asks for."""
        if self._asked is None:
            raise Error(
                "learn returned, or reset its environment within an episode: it must go on until rlrun ends the run"
            )
        return self._asked[0]

    def take(self, asked: tuple[Any] | None) -> Any:
        """In the loop's thread: ask, wait, and return what rlrun tells."""
        with self._condition:
            self._asked, self._loops = asked, False
            self._condition.notify_all()
            while not self._loops and not self._stopped:
                self._condition.wait()
            if self._stopped:
                raise _RunIsOverError
            return self._told

    def stop(self) -> None:
        """End the loop."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        self._thread.join(timeout=10)

    def _wait_for_rlrun(self) -> None:
        while self._loops:
            self._condition.wait()

    def _check(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
