"""The author's entry point: one call serves an environment or an agent."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import grpc

from rlrun import _abilities, _goplugin, _guest, _log, _steps, params
from rlrun._lanes import AgentCopies, Copies, OptionCopies, overrides
from rlrun._pb import plugin_pb2 as pb
from rlrun._pb import plugin_pb2_grpc
from rlrun._server import Plugin, Servicer
from rlrun.agent import Agent, VectorAgent
from rlrun.environment import Environment, VectorEnvironment
from rlrun.errors import Unsupported
from rlrun.options import OptionAgent, VectorOptionAgent
from rlrun.rules import OptionSource, Rule, VectorRule

PARENT_INTERVAL = 0.5
"""How often a plugin looks whether its parent is alive, in seconds."""
FAREWELL = 1.0
"""How long a plugin may live on after its host's connection has ended, in seconds."""
THREADS = 4096
"""How many streams can be open at once: each holds a thread for life."""

_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*/[a-z0-9][a-z0-9_.-]*@[0-9A-Za-z.+-]+")
_REQUIRES = re.compile(r"(rlrun\s*>=\s*\d+(\.\d+){0,2})?")

_DECLARED: dict[str, tuple[type, ...]] = {
    "requires": (str,),
    "preferred_lanes": (int,),
    "max_actors": (int,),
    "frames_per_second": (float, int),
    "breaks": (Mapping,),
    "checkpoints": (bool,),
    "pickles": (bool,),
}
"""The types of what a class declares."""

Kind = (
    type[Environment]
    | type[VectorEnvironment]
    | type[Agent]
    | type[VectorAgent]
    | type[Rule]
    | type[VectorRule]
    | type[OptionSource]
)

KINDS: dict[str, tuple[type, ...]] = {
    "environment": (Environment, VectorEnvironment),
    "agent": (Agent, VectorAgent),
    "rule": (Rule, VectorRule),
    "options": (OptionSource,),
}
"""The base classes of each kind of plugin."""


class ClassPlugin:
    """A plugin made of an author's class."""

    def __init__(self, cls: Kind) -> None:
        kind = next((k for k, bases in KINDS.items() if isinstance(cls, type) and issubclass(cls, bases)), None)
        if kind is None:
            raise TypeError(
                f"{cls!r} is no class of a plugin; derive one from rlrun.Environment, Agent, Rule or OptionSource"
            )
        check_methods(cls)
        identity = getattr(cls, "id", None)
        if not isinstance(identity, str) or not _ID.fullmatch(identity):
            raise TypeError(
                f'{cls.__name__}.id is {identity!r}; it must read namespace/name@version in lower case, "me/walk@1"'
            )
        for name, kinds in _DECLARED.items():
            if not isinstance(declared := getattr(cls, name, None), kinds) and declared is not None:
                raise TypeError(f"{cls.__name__}.{name} is {declared!r}, must be a {kinds[0].__name__}")
        if not _REQUIRES.fullmatch(cls.requires):
            raise TypeError(f'{cls.__name__}.requires is {cls.requires!r}; it must read "rlrun >= 0.2.0"')
        if cls.max_actors > 1 and not issubclass(cls, VectorAgent):
            raise TypeError(f"{cls.__name__}.max_actors is {cls.max_actors}; only a VectorAgent has several actors")
        self.cls = cls
        doc = inspect.cleandoc(cls.__doc__ or "")
        self.description = pb.DescribeReply(
            id=identity,
            kind=kind,
            doc=" ".join(doc.split("\n\n")[0].split()) or cls.__name__,
            params=json.dumps(params.schema(cls)).encode(),
            abilities=_listed_abilities(cls) if kind in ("environment", "agent") else getattr(cls, "claims", ()),
            requires=cls.requires,
            preferred_lanes=cls.preferred_lanes,
            max_actors=cls.max_actors,
            frames_per_second=cls.frames_per_second,
            breaks=cls.breaks if kind in ("agent", "rule") else {},
        )

    def facts(self) -> Mapping[str, str]:
        """Return what results depend on besides the code."""
        return self.cls.facts()

    def environment(self, data: bytes) -> VectorEnvironment:
        """Make an environment, not opened yet."""
        cls = self.cls
        if issubclass(cls, VectorEnvironment):
            return params.build(cls, data)
        if issubclass(cls, Environment):
            arguments = params.arguments(cls, data)
            return Copies(lambda: cls(**arguments))
        raise self._is_no("environment")

    def agent(self, data: bytes) -> VectorAgent:
        """Make an agent, not opened yet."""
        cls = self.cls
        if issubclass(cls, VectorAgent):
            return params.build(cls, data)
        if issubclass(cls, Agent):
            arguments = params.arguments(cls, data)
            copies = OptionCopies if issubclass(cls, OptionAgent) else AgentCopies
            return copies(lambda: cls(**arguments))
        raise self._is_no("agent")

    def _is_no(self, kind: str) -> Unsupported:
        return Unsupported(f"{self.description.id} is of kind {self.description.kind}, not {kind}")

    def decides(self, data: bytes, kind: str) -> Rule | VectorRule | OptionSource:
        """Make a rule or a source of options."""
        cls = self.cls
        if self.description.kind != kind or not issubclass(cls, (Rule, VectorRule, OptionSource)):
            raise self._is_no(kind)
        return params.build(cls, data)


def check_methods(cls: type) -> None:
    """Raise TypeError if a class lacks methods without which no object of it can be made."""
    if (lacking := sorted(getattr(cls, "__abstractmethods__", ()))) and getattr(cls, "__new__", None) is object.__new__:
        raise TypeError(f"{cls.__name__} has no {' and no '.join(lacking)}: every class of its kind needs that")


def _listed_abilities(cls: type) -> list[str]:
    """List the optional methods that a class overrides, as the protocol calls them."""
    base = next(b for b in (Environment, VectorEnvironment, Agent, VectorAgent) if issubclass(cls, b))
    if issubclass(cls, (Environment, VectorEnvironment)):
        methods, abilities = {"model": ["model"]}, _abilities.ENVIRONMENT
    else:
        greedy = "select_greedy_action" if base is Agent else "select_greedy_actions"
        mask = "set_action_mask" if base is Agent else "set_action_masks"
        methods, abilities = {"greedy": [greedy], "masks": [mask]}, _abilities.AGENT
    for ability in abilities:
        methods.setdefault(ability.listed, []).append(ability.method)
    if issubclass(cls, Agent):  # which all have save and load
        del methods["checkpoint"]
    names = [name for name, needs in methods.items() if all(overrides(cls, base, method) for method in needs)]
    if issubclass(cls, Agent) and cls.checkpoints:
        names += ["checkpoint"] + ["pickle"] * cls.pickles
    return names + ["options"] * issubclass(cls, (OptionAgent, VectorOptionAgent))


def serve(cls: Kind) -> None:
    """Offer a class to the host that started this process; return when it is done.

    What the process prints goes to standard error, whose last lines the host shows
    when something fails; so does what it logs, as the host's records. The process
    ends when its host does, and leaves interrupts to it.

    If rlrun did not start the process, it says how to use a plugin and exits with
    status 2.
    """
    check_host()
    serve_plugin(ClassPlugin(cls))


def check_host() -> None:
    """Exit unless rlrun started this process."""
    key, value = _goplugin.COOKIE
    if os.environ.get(key) != value:
        command = f"python {' '.join(sys.orig_argv[1:])}"
        print(
            f"{sys.argv[0]} is a plugin for rlrun and is started by it: name it as a plugin in an experiment's "
            f'config, "{command}", or try rlrun plugin check "{command}"',
            file=sys.stderr,
        )
        sys.exit(2)


def serve_plugin(plugin: Plugin) -> None:
    """Serve until the host is done. See serve."""
    handshake = _take_stdout()
    _log.to_host()
    steps = _steps.inherited()
    _mind_signals()
    _watch_parent()

    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="rlrun")
    server = grpc.server(
        pool,
        options=[
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),
        ],
    )
    servicer = Servicer(plugin, _guest.load())
    plugin_pb2_grpc.add_PluginServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]
    plugin_pb2_grpc.add_DecisionsServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]

    ended = threading.Event()

    def end() -> None:
        _leave()  # if the following takes too long
        ended.set()
        if steps:
            _steps.close(steps)

    _goplugin.add_services(server, end)
    client = os.environ.get(_goplugin.CLIENT_CERT)
    identity = _goplugin.Identity() if client else None
    path = _goplugin.socket_path()
    if identity and client:
        server.add_secure_port(
            f"unix:{path}",
            grpc.ssl_server_credentials([(identity.key, identity.pem)], client.encode(), require_client_auth=True),
        )
    else:
        server.add_insecure_port(f"unix:{path}")
    server.start()
    os.write(handshake, _goplugin.handshake_line(path, identity).encode())

    if steps:
        _steps.serve(steps, servicer.answer)
    ended.wait()
    server.stop(0.1).wait()
    servicer.close()
    pool.shutdown(wait=False, cancel_futures=True)
    if not os.environ.get(_goplugin.SOCKET_DIR):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    sys.stderr.flush()


def _take_stdout() -> int:
    """Keep standard output for the handshake alone, and point it at standard error for everybody else."""
    sys.stdout.flush()
    handshake = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return handshake


def _mind_signals() -> None:
    """Leave interrupts and requests to end to the host.

    Schedulers send SIGTERM to all processes of a job at once. The host stops then, and
    the plugin ends with the connection. A process that the author's code forks ends by
    SIGTERM as any process does.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = os.getpid()

    def left_to_host(number: int, _: object) -> None:
        if os.getpid() != server:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, left_to_host)


def _leave() -> None:
    """End the process by force if it does not end by itself soon."""

    def force() -> None:
        time.sleep(FAREWELL)
        os._exit(1)

    threading.Thread(target=force, daemon=True).start()


def _watch_parent() -> None:
    """End the process when its parent dies, which covers a host that died before it connected."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
