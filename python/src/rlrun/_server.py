"""The plugin's side of the protocol: a plugin and the instances that have been opened."""

from __future__ import annotations

import functools
import logging
import struct
import threading
from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

import grpc
import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from rlrun import _abilities, _ahead, _guest, _steps, errors, spaces
from rlrun._lanes import (
    CONTINUE,
    EVALUATE_EPISODE,
    NEW_EPISODE,
    NEW_RUN,
    AgentLanes,
    EnvironmentLanes,
    OptionLanes,
    Seeds,
    Signals,
    Steps,
    reads_masks,
    spec_with_masks,
    with_id,
)
from rlrun._pb import plugin_pb2 as pb
from rlrun._pb import plugin_pb2_grpc
from rlrun._random_states import Watch
from rlrun._rules import RuleInstance, SourceInstance
from rlrun.agent import VectorAgent
from rlrun.environment import Spec, TimeSteps, VectorEnvironment
from rlrun.options import VectorOptionAgent
from rlrun.rules import OptionSource, Rule, VectorRule

log = logging.getLogger("rlrun")


FEW_LANES = 4
"""Up to how many lanes single copies are faster than a batch of numpy columns."""


class Plugin(Protocol):
    """What is served: an environment or an agent."""

    description: pb.DescribeReply

    def environment(self, params: bytes) -> VectorEnvironment:
        """Make an environment, not opened yet."""

    def agent(self, params: bytes) -> VectorAgent:
        """Make an agent, not opened yet."""

    def decides(self, data: bytes, kind: str) -> Rule | VectorRule | OptionSource:
        """Make a rule or a source of options."""


class BrokenProtocolError(Exception):
    """The host did not keep the protocol."""


class _EnvironmentInstance:
    def __init__(self, env: VectorEnvironment, spec: Spec, lanes: int, models: bool) -> None:
        self.lock = threading.Lock()
        self.lanes = EnvironmentLanes(env, spec, lanes)
        self.spec, self.has_models = spec, models

    def step(self, m: pb.EnvironmentRequest) -> pb.EnvironmentReply:
        n = self.lanes.lanes
        if not m.signals and self.lanes.single and (reply := self.proceed(m)):
            return reply
        signals = _signals(m.signals, n, NEW_RUN) if m.signals else None
        seeds = None if signals is None else _seeds(m.seeds, signals, NEW_EPISODE)
        actions = _column(self.spec.action, m.actions, n, "actions")
        with self.lock:
            try:
                out = self.lanes.step(signals, seeds, actions)
                masks = self.lanes.masks(signals, out.terminated) if self.spec.masks else b""
            except BaseException as e:
                return pb.EnvironmentReply(error=failure(e), step=m.step)
            return pb.EnvironmentReply(
                observations=spaces.to_bytes(out.observations),
                rewards=spaces.to_bytes(out.rewards),
                terminated=out.terminated.tobytes() if out.terminated.any() else b"",
                truncated=out.truncated.tobytes() if out.truncated.any() else b"",
                masks=masks,
                step=m.step,
            )

    def proceed(self, m: pb.EnvironmentRequest) -> pb.EnvironmentReply | None:
        """Step single copies that all go on with their episodes, without columns of numpy; None if that cannot be."""
        n = self.lanes.lanes
        actions = _entries(self.spec.action, m.actions, n, "actions")
        with self.lock:
            try:
                out = self.lanes.proceed(actions)
            except BaseException as e:
                return pb.EnvironmentReply(error=failure(e), step=m.step)
        if out is None:
            return None
        observations, rewards, terminated, truncated = out
        reply = pb.EnvironmentReply(
            observations=spaces.to_bytes(observations), rewards=_doubles(n).pack(*rewards), step=m.step
        )
        if True in terminated:
            reply.terminated = bytes(terminated)
        if True in truncated:
            reply.truncated = bytes(truncated)
        return reply

    def models(self) -> pb.ModelsReply:
        with self.lock:
            models, of = self.lanes.models()
            return pb.ModelsReply(models=[m.to_json() for m in models], lanes=of)

    def close(self) -> None:
        with self.lock:
            self.lanes.close()


class _AgentInstance:
    def __init__(self, agent: VectorAgent, spec: Spec, lanes: int) -> None:
        self.lock = threading.Lock()
        self.lanes = (
            OptionLanes(agent, spec, lanes) if isinstance(agent, VectorOptionAgent) else AgentLanes(agent, spec, lanes)
        )
        self.names: dict[str, int] = {}  # of options, with their numbers on the stream
        self.spec = spec

    def step(self, m: pb.AgentRequest) -> pb.AgentReply:
        if m.epochs or m.choices:
            return self.decide(m)
        with self.lock:
            actions: NDArray[Any] | list[int]
            try:
                if not m.signals and self.lanes.single:
                    actions = self.lanes.proceed(self.outcome(m))
                else:
                    actions = self.lanes.step(*self.feedback(m))
            except BrokenProtocolError:
                raise
            except BaseException as e:
                return pb.AgentReply(error=failure(e), step=m.step)
            return pb.AgentReply(actions=spaces.to_bytes(actions), step=m.step)

    def outcome(self, m: pb.AgentRequest) -> Steps:
        """Read the outcome without columns of numpy."""
        n = self.lanes.lanes
        observations = _entries(self.spec.observation, m.observations, n, "observations")
        if len(m.rewards) != 8 * n:
            raise BrokenProtocolError(f"rewards: column of {len(m.rewards)} bytes, want {8 * n}")
        terminated = truncated = [False] * n
        if data := m.terminated:
            terminated = _flags(data, n, "terminated").tolist()
        if data := m.truncated:
            truncated = _flags(data, n, "truncated").tolist()
        return Steps(observations, list(_doubles(n).unpack(m.rewards)), terminated, truncated)

    def feedback(self, m: pb.AgentRequest) -> tuple[Signals, Seeds | None, TimeSteps]:
        n = self.lanes.lanes
        signals = _signals(m.signals, n, EVALUATE_EPISODE)
        if isinstance(space := self.spec.action, spaces.Discrete) and self.spec.masks:
            self.lanes.masks = _flags(m.masks, n * space.n, "masks").reshape(n, space.n)
        return (
            signals,
            _seeds(m.seeds, signals, NEW_RUN),
            TimeSteps(
                _column(self.spec.observation, m.observations, n, "observations"),
                _numbers("<f8", m.rewards, n, "rewards"),
                _flags(m.terminated, n, "terminated"),
                _flags(m.truncated, n, "truncated"),
            ),
        )

    def decide(self, m: pb.AgentRequest) -> pb.AgentReply:
        """Step with epochs, or take the choices that end them."""
        lanes, decisions = self.lanes, None
        if not isinstance(lanes, OptionLanes):
            raise BrokenProtocolError("epochs or choices for an agent without options")
        if m.choices:
            choices = _numbers("<i4", m.choices, lanes.lanes, "choices")
        else:
            epochs = _flags(m.epochs, lanes.lanes, "epochs")
            signals, seeds, outcome = self.feedback(m)
        with self.lock:
            try:
                if m.choices:
                    actions = lanes.choose(choices)
                else:
                    actions, decisions = lanes.decide(signals, seeds, outcome, epochs)
            except BaseException as e:
                return pb.AgentReply(error=failure(e), step=m.step)
            reply = pb.AgentReply(actions=spaces.to_bytes(actions), step=m.step)
            if decisions is not None:
                decisions.write(reply, self.names)
            return reply

    def close(self) -> None:
        with self.lock:
            self.lanes.close()


_Instance = _EnvironmentInstance | _AgentInstance
_Any = _Instance | RuleInstance | SourceInstance
_I = TypeVar("_I", _EnvironmentInstance, _AgentInstance, RuleInstance)


class Servicer(plugin_pb2_grpc.PluginServicer, plugin_pb2_grpc.DecisionsServicer):
    """Answers the calls of plugin.proto."""

    def __init__(self, plugin: Plugin, guest: Plugin | None = None) -> None:
        self._plugin = plugin
        self._guest = guest
        """An environment beside the agent that the plugin is; see `_guest`."""
        self._lock = threading.Lock()
        self._last = 0
        self._watch = Watch()
        self._instances: dict[int, _Any] = {}

    def _of(self, kind: type) -> Plugin:
        """Return the plugin that instances of a kind are of."""
        return self._guest if self._guest and kind is _EnvironmentInstance else self._plugin

    def Describe(self, request: pb.DescribeRequest, _context: grpc.ServicerContext) -> pb.DescribeReply:  # noqa: N802
        """Describe the plugin."""
        plugin = self._guest if request.guest and self._guest else self._plugin
        if not request.sources:
            return plugin.description
        from rlrun import _sources  # noqa: PLC0415  the host asks one process of a plugin, not all

        reply = pb.DescribeReply()
        reply.CopyFrom(plugin.description)
        facts = _sources.interpreter() | getattr(plugin, "facts", dict)()
        reply.draws.extend(sorted(self._watch.drawn))
        reply.sources.update(_sources.imported() | _guest.mixed | {f"fact {k}": str(v) for k, v in facts.items()})
        return reply

    def OpenEnvironment(  # noqa: N802
        self, request: pb.OpenEnvironmentRequest, context: grpc.ServicerContext
    ) -> pb.OpenEnvironmentReply:
        """Make lanes of an environment."""
        _check_lanes(request.lanes, context)
        try:
            plugin = self._of(_EnvironmentInstance)
            env = plugin.environment(request.params)
            if request.lanes <= FEW_LANES and (copies := getattr(env, "copies", None)):
                env = copies()
            spec = spec_with_masks(with_id(env.spec, plugin.description.id), env)
            models = getattr(env, "has_model", "model" in plugin.description.abilities)
            handle = self._add(_EnvironmentInstance(env, spec, request.lanes, models))
            return pb.OpenEnvironmentReply(
                instance=handle,
                spec=spec.to_proto(),
                models=models,
                metrics=[m.to_proto() for m in env.metrics],
                abilities=_abilities.of(plugin.description.abilities),
            )
        except BaseException as e:
            return pb.OpenEnvironmentReply(error=failure(e))

    def OpenAgent(self, request: pb.OpenAgentRequest, context: grpc.ServicerContext) -> pb.OpenAgentReply:  # noqa: N802
        """Make lanes of an agent."""
        _check_lanes(request.lanes, context)
        try:
            agent, spec = self._plugin.agent(request.params), Spec.from_proto(request.spec)
            if spec.actors > max(most := self._plugin.description.max_actors, 1):
                raise errors.Unsupported(f"{spec.actors} actors; the agent takes at most {max(most, 1)}")
            if request.lanes % spec.actors:
                raise BrokenProtocolError(f"{request.lanes} lanes for {spec.actors} actors each")
            instance = _AgentInstance(agent, spec, request.lanes)
            options = isinstance(instance.lanes, OptionLanes)
            handle = self._add(instance)
            return pb.OpenAgentReply(
                instance=handle,
                options=options,
                greedy=instance.lanes.greedy,
                masks=reads_masks(agent),
                metrics=[m.to_proto() for m in agent.metrics],
                abilities=_abilities.of(self._plugin.description.abilities),
            )
        except BaseException as e:
            return pb.OpenAgentReply(error=failure(e))

    def StepEnvironment(  # noqa: N802
        self, requests: Iterator[pb.EnvironmentRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.EnvironmentReply]:
        """Step an environment, a reply a request."""
        return self._steps(_EnvironmentInstance, requests, context)

    def StepAgent(  # noqa: N802
        self, requests: Iterator[pb.AgentRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.AgentReply]:
        """Step an agent, a reply a request."""
        return self._steps(_AgentInstance, requests, context)

    def OpenRule(  # noqa: N802
        self, request: pb.OpenDecisionsRequest, _context: grpc.ServicerContext
    ) -> pb.OpenDecisionsReply:
        """Open a rule."""
        return self._open_decisions(request, "rule")

    def OpenOptions(  # noqa: N802
        self, request: pb.OpenDecisionsRequest, _context: grpc.ServicerContext
    ) -> pb.OpenDecisionsReply:
        """Open a source of options."""
        return self._open_decisions(request, "options")

    def _open_decisions(self, request: pb.OpenDecisionsRequest, kind: str) -> pb.OpenDecisionsReply:
        try:
            decides, spec = self._plugin.decides(request.params, kind), Spec.from_proto(request.spec)
            instance = (
                SourceInstance(decides, spec)
                if isinstance(decides, OptionSource)
                else RuleInstance(decides, spec, failure)
            )
            return pb.OpenDecisionsReply(instance=self._add(instance))
        except BaseException as e:
            return pb.OpenDecisionsReply(error=failure(e))

    def StepRule(  # noqa: N802
        self, requests: Iterator[pb.RuleRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.RuleReply]:
        """Answer questions, a reply a request."""
        return self._steps(RuleInstance, requests, context)

    def MakeOptions(self, request: pb.OptionsRequest, context: grpc.ServicerContext) -> pb.OptionsReply:  # noqa: N802
        """Make the options of lanes."""
        with self._lock:
            instance = self._instances.get(request.instance)
        if not isinstance(instance, SourceInstance):
            context.abort(grpc.StatusCode.NOT_FOUND, f"no source of options has the handle {request.instance}")
        assert isinstance(instance, SourceInstance)
        try:
            return instance.make(request)
        except BaseException as e:
            return pb.OptionsReply(error=failure(e))

    def _steps(self, kind: type[_I], requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        handle: int | None = None
        try:
            for request in requests:
                if handle is None:
                    instance = self._lookup(kind, request.instance, context)
                    handle = request.instance
                yield self._step(instance, request)
        except BrokenProtocolError as e:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))
        finally:
            if handle is not None:
                self._drop(handle)

    def answer(self, kind: int, data: bytes) -> tuple[int, bytes] | None:
        """Answer a frame that came over the socket for steps."""
        m: Any
        try:
            if kind == _steps.ENVIRONMENT_STEP:
                m = pb.EnvironmentRequest.FromString(data)
                return kind, self._step(self._stepped(_EnvironmentInstance, m.instance), m).SerializeToString()
            if kind == _steps.AGENT_STEP:
                m = pb.AgentRequest.FromString(data)
                return kind, self._step(self._stepped(_AgentInstance, m.instance), m).SerializeToString()
            if kind == _steps.AHEAD:
                return kind, self._ahead(pb.AheadRequest.FromString(data)).SerializeToString()
            if kind == _steps.RULE_STEP:
                m = pb.RuleRequest.FromString(data)
                return kind, self._step(self._stepped(RuleInstance, m.instance), m).SerializeToString()
            if kind == _steps.END:
                self._drop(pb.CloseRequest.FromString(data).instance)
                return None
            raise BrokenProtocolError(f"a frame of kind {kind}")
        except (BrokenProtocolError, DecodeError) as e:
            return _steps.REFUSED, pb.Error(message=str(e)).SerializeToString()

    def _step(self, instance: Any, m: Any) -> Any:
        return self._watch.step(functools.partial(instance.step, m))

    def _ahead(self, m: pb.AheadRequest) -> pb.AheadReply:
        env = self._stepped(_EnvironmentInstance, m.environment)
        agent = self._stepped(_AgentInstance, m.agent.instance)
        lanes = agent.lanes.lanes
        if env.lanes.lanes != lanes or len(m.seeds) % (8 * lanes):
            raise BrokenProtocolError("lanes or seeds do not fit")
        _, _, outcome = agent.feedback(m.agent)
        with env.lock, agent.lock:
            try:
                seeds = np.frombuffer(m.seeds, "<u8").reshape(lanes, -1)
                play = functools.partial(_ahead.play, env.lanes, agent.lanes, outcome, m.steps, seeds)
                reply = self._watch.step(play)
            except BaseException as e:
                reply = pb.AheadReply(error=failure(e))
        reply.step = m.agent.step
        return reply

    def _stepped(self, kind: type[_I], handle: int) -> _I:
        instance = self._instances.get(handle)
        if not isinstance(instance, kind):
            raise BrokenProtocolError(f"no {kind.__name__[1:]} has the handle {handle}")
        return instance

    def Models(self, request: pb.ModelsRequest, context: grpc.ServicerContext) -> pb.ModelsReply:  # noqa: N802
        """Return the models of an environment's lanes."""
        instance = self._lookup(_EnvironmentInstance, request.instance, context)
        try:
            if not instance.has_models:
                raise errors.Unsupported(f"{instance.spec.id} has no model")
            return instance.models()
        except BaseException as e:
            return pb.ModelsReply(error=failure(e))

    def Measure(self, request: pb.MeasureRequest, context: grpc.ServicerContext) -> pb.MeasureReply:  # noqa: N802
        """Return the values of metrics."""
        instance = self._any(request.instance, context)
        which = [_lane(lane, instance.lanes.lanes, context) for lane in request.lanes]
        try:
            with instance.lock:
                values = [x for lane in which for x in instance.lanes.measure(lane)]
            return pb.MeasureReply(values=np.array(values, "<f8").tobytes())
        except BaseException as e:
            return pb.MeasureReply(error=failure(e))

    def Ask(self, request: pb.AskRequest, context: grpc.ServicerContext) -> pb.AskReply:  # noqa: N802
        """Ask a lane for an ability."""
        instance = self._any(request.instance, context)
        lane = _lane(request.lane, instance.lanes.lanes, context)
        try:
            of = self._of(type(instance)).description
            if request.ability not in _abilities.of(of.abilities):
                raise errors.Unsupported(f"{of.id} does not have the ability {request.ability!r}")
            with instance.lock:
                return pb.AskReply(answer=instance.lanes.ask(request.ability, lane, request.question))
        except BaseException as e:
            return pb.AskReply(error=failure(e))

    def SetOptionKinds(  # noqa: N802
        self, request: pb.SetOptionKindsRequest, context: grpc.ServicerContext
    ) -> pb.SetOptionKindsReply:
        """Set the kinds of options that an agent offers."""
        instance, lanes = self._with_options(request.instance, context)
        try:
            with instance.lock:
                lanes.set_option_kinds(list(request.kinds))
            return pb.SetOptionKindsReply()
        except BaseException as e:
            return pb.SetOptionKindsReply(error=failure(e))

    def GreedyPolicy(  # noqa: N802
        self, request: pb.GreedyPolicyRequest, context: grpc.ServicerContext
    ) -> pb.GreedyPolicyReply:
        """Return the greedy policy of a lane of an option agent."""
        instance, lanes = self._with_options(request.instance, context)
        lane = _lane(request.lane, lanes.lanes, context)
        try:
            with instance.lock:
                return pb.GreedyPolicyReply(actions=lanes.greedy_policy(lane).astype("<i4").tobytes())
        except BaseException as e:
            return pb.GreedyPolicyReply(error=failure(e))

    def _with_options(self, handle: int, context: grpc.ServicerContext) -> tuple[_AgentInstance, OptionLanes]:
        instance = self._lookup(_AgentInstance, handle, context)
        if not isinstance(instance.lanes, OptionLanes):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the agent has no options")
        assert isinstance(instance.lanes, OptionLanes)
        return instance, instance.lanes

    def Close(self, request: pb.CloseRequest, context: grpc.ServicerContext) -> pb.CloseReply:  # noqa: N802
        """End an instance."""
        with self._lock:
            instance = self._instances.pop(request.instance, None)
        if instance is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no instance has the handle {request.instance}")
        assert instance is not None
        try:
            instance.close()
            return pb.CloseReply()
        except BaseException as e:
            return pb.CloseReply(error=failure(e))

    def close(self) -> None:
        """End all instances. Their errors have no one left to go to but the log."""
        with self._lock:
            handles = list(self._instances)
        for handle in handles:
            self._drop(handle)

    def _add(self, instance: _Any) -> int:
        with self._lock:
            self._last += 1
            self._instances[self._last] = instance
            return self._last

    def _any(self, handle: int, context: grpc.ServicerContext) -> _Instance:
        """Return the instance of a handle, of either kind."""
        with self._lock:
            instance = self._instances.get(handle)
        if not isinstance(instance, _Instance):
            context.abort(grpc.StatusCode.NOT_FOUND, f"no instance has the handle {handle}")
        assert isinstance(instance, _Instance)
        return instance

    def _drop(self, handle: int) -> None:
        with self._lock:
            instance = self._instances.pop(handle, None)
        if instance is not None:
            try:
                instance.close()
            except BaseException:
                log.exception("closing an instance failed")

    def _lookup(self, kind: type[_I], handle: int, context: grpc.ServicerContext) -> _I:
        with self._lock:
            instance = self._instances.get(handle)
        if not isinstance(instance, kind):
            context.abort(grpc.StatusCode.NOT_FOUND, f"no {kind.__name__[1:]} has the handle {handle}")
        assert isinstance(instance, kind)
        return instance


def failure(error: BaseException) -> pb.Error:
    """Return an error as it crosses; a traceback that its author will want goes to standard error.

    Any exception of the author's code crosses, sys.exit and KeyboardInterrupt included: in a thread of
    the server they would end nothing, and the host would wait for an answer in vain.
    """
    if not isinstance(error, errors.Error):
        errors.print_traceback(error)
    return errors.to_proto(error)


def _check_lanes(lanes: int, context: grpc.ServicerContext) -> None:
    if lanes < 1:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"{lanes} lanes; must be at least 1")


def _lane(lane: int, lanes: int, context: grpc.ServicerContext) -> int:
    if lane >= lanes:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"lane {lane} of {lanes}")
    return lane


def _column(space: spaces.Space, data: bytes, lanes: int, name: str) -> NDArray[Any]:
    try:
        return spaces.from_bytes(space, data, lanes, name)
    except ValueError as e:
        raise BrokenProtocolError(str(e)) from e


def _entries(space: spaces.Space, data: bytes, lanes: int, name: str) -> NDArray[Any] | list[int]:
    try:
        return spaces.entries(space, data, lanes, name)
    except ValueError as e:
        raise BrokenProtocolError(str(e)) from e


def _numbers(dtype: str, data: bytes, lanes: int, name: str) -> NDArray[Any]:
    want = lanes * np.dtype(dtype).itemsize
    if len(data) != want:
        raise BrokenProtocolError(f"{name}: column of {len(data)} bytes, want {want}")
    return np.frombuffer(data, dtype)


@functools.lru_cache
def _doubles(n: int) -> struct.Struct:
    """Return the format of a column of n rewards."""
    return struct.Struct(f"<{n}d")


def _signals(data: bytes, lanes: int, last: int) -> Signals:
    if not data:
        return np.full(lanes, CONTINUE, np.uint8)
    signals = _numbers("u1", data, lanes, "signals")
    if signals.max() > last:
        raise BrokenProtocolError(f"lane {int(signals.argmax())}: unknown signal {int(signals.max())}")
    return signals


def _seeds(data: bytes, signals: Signals, least: int) -> Seeds | None:
    if data:
        return _numbers("<u8", data, len(signals), "seeds")
    if ((signals >= least) & (signals <= NEW_RUN)).any():
        raise BrokenProtocolError("a lane starts, but there are no seeds")
    return None


def _flags(data: bytes, lanes: int, name: str) -> NDArray[np.bool_]:
    if not data:
        return np.zeros(lanes, np.bool_)
    flags = _numbers("u1", data, lanes, name)
    if flags.max() > 1:
        raise BrokenProtocolError(f"{name} of lane {int(flags.argmax())} is {int(flags.max())}, must be 0 or 1")
    return flags.view(np.bool_)
