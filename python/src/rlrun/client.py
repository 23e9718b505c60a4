"""The host's side: start a plugin and step its environment. `rlrun.to_gymnasium` is built on it."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

import rlrun
from rlrun import _abilities, _goplugin, _steps, errors, spaces
from rlrun._lanes import CONTINUE, IDLE, NEW_EPISODE, NEW_RUN
from rlrun._pb import goplugin_pb2, plugin_pb2_grpc
from rlrun._pb import plugin_pb2 as pb
from rlrun.environment import Spec, TimeSteps
from rlrun.spaces import Array

START_TIMEOUT = 30.0
CALL_TIMEOUT = 60.0
CLOSE_TIMEOUT = 2.0
_WIDTH = 500
"""How much of a line is kept that a plugin wrote."""
_HANDSHAKE = re.compile(r"\d\|\d+\|unix\|[^|]+\|grpc\|.*$")  # other output may stand before it
_CERTIFICATE = 5
_SERVE_GYMNASIUM = "import sys; sys.path[:] = filter(None, sys.path); from rlrun.from_gymnasium import main; main()"
"""With -m, a module of the working directory could take the place of any other, as framework/plugin/search.go says."""


class PluginError(errors.Error):
    """A plugin's process failed, or does not speak the protocol."""


def program() -> str:
    """Return the path of the program rlrun."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(filter(os.path.isabs, entries))  # the working directory may be somebody else's
    if named := os.environ.get("RLRUN"):
        found = shutil.which(named, path=path)
    else:
        found = shutil.which("rlrun", path=sysconfig.get_path("scripts")) or shutil.which("rlrun", path=path)
    if found is None:
        raise FileNotFoundError(
            "there is no program rlrun: put it into the path, in a directory that is not relative, or name it in the "
            "variable RLRUN"
        )
    return found


def command(plugin: str | Sequence[str]) -> list[str]:
    """Return the command that starts a plugin.

    A name is one that ``rlrun plugin list`` shows. A path, recognised by a slash,
    or a list is a command of its own; ``gymnasium:ID`` is an environment of
    Gymnasium. The program rlrun is the one that ``RLRUN``
    names, else the one of this Python's environment, else the one in the path.
    """
    if not isinstance(plugin, str):
        return list(plugin)
    if plugin.startswith("gymnasium:"):
        python = os.environ.get("RLRUN_PYTHON") or sys.executable
        return [python, "-c", _SERVE_GYMNASIUM, plugin.removeprefix("gymnasium:")]
    if "/" in plugin:
        return [plugin]
    rlrun = program()
    listing = subprocess.run([rlrun, "plugin", "list", "--json"], capture_output=True, check=True, encoding="utf-8")
    known = {entry["name"]: entry for entry in json.loads(listing.stdout)}
    if plugin not in known:
        near = difflib.get_close_matches(plugin, known)
        guess = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known))}"
        raise ValueError(f"no plugin {plugin!r}; {guess}")
    entry = known[plugin]
    return [rlrun, "plugin", "serve", plugin] if entry.get("bundled") else [entry["command"]]


def _socket_directory() -> tempfile.TemporaryDirectory[str]:
    """Make a directory that only this user can enter, with a path short enough for a socket's name.

    A socket's name has at most 103 bytes (macOS), and the part below the parent has 55. The
    handshake, a line whose fields end in bars, cannot name every path.
    """
    parent = tempfile.gettempdir()
    parent = "/tmp" if len(os.fsencode(parent)) > 48 or set(parent) & set("|\r\n") else parent
    return tempfile.TemporaryDirectory(prefix="rlrun-", dir=parent, ignore_cleanup_errors=True)


class Process:
    """A plugin in a process of its own. It ends with this one, or with close."""

    def __init__(self, plugin: str | Sequence[str]) -> None:
        self.command = command(plugin)
        self.name = plugin if isinstance(plugin, str) else " ".join(plugin)
        self._tail: deque[str] = deque(maxlen=20)
        try:
            with _socket_directory() as directory:
                line = self._start(directory, identity := _goplugin.Identity())
                secure, able = _certificate(line)
                if secure and not able:
                    # A plugin in Go, whose certificate grpcio cannot check. The socket is
                    # in a directory that only this user can enter, and is removed as soon as
                    # it is connected.
                    self._kill()
                    line, secure, identity = self._start(directory, None), None, None  # type: ignore[assignment]
                self._connect(line[3], secure, identity)
        except BaseException:
            self._kill()
            raise

    def _start(self, directory: str, identity: _goplugin.Identity | None) -> list[str]:
        """Start the process and return what its handshake says."""
        key, cookie = _goplugin.COOKIE
        environ = (
            {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}  # as rlrun starts plugins
            | dict(os.environ)
            | {
                key: cookie,
                _goplugin.VERSIONS: str(_goplugin.VERSION),
                _goplugin.SOCKET_DIR: directory,
            }
        )
        if _SERVE_GYMNASIUM in self.command and "PYTHONPATH" in environ:
            entries = environ["PYTHONPATH"].split(os.pathsep)
            environ["PYTHONPATH"] = os.pathsep.join(e for e in entries if e and os.path.normpath(e) != ".")
        for name in (_goplugin.CLIENT_CERT, _steps.VARIABLE):  # of another host, if this is a plugin
            environ.pop(name, None)
        if identity:
            environ[_goplugin.CLIENT_CERT] = identity.pem.decode()
        self._process = subprocess.Popen(
            self.command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # the terminal's interrupt is this process's to handle
        )
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read, args=(stream, lines if handshake else None), daemon=True)
            for stream, handshake in ((self._process.stdout, True), (self._process.stderr, False))
        ]
        for reader in self._readers:
            reader.start()
        try:
            line = lines.get(timeout=START_TIMEOUT)
        except queue.Empty:
            raise self._failure(
                f"no answer within {START_TIMEOUT:g} s of its start (rlrun.client.START_TIMEOUT)"
            ) from None
        if line is None:
            status = self._process.wait()
            raise self._failure(f"the process ended before it answered (exit status {status})")
        fields = line.split("|")
        if fields[0] != str(_goplugin.CORE_VERSION) or fields[1] != str(_goplugin.VERSION):
            raise self._failure(f"it speaks version {fields[1]} of the protocol, this package {_goplugin.VERSION}")
        return fields

    def _read(self, stream: Any, lines: queue.SimpleQueue[str | None] | None) -> None:
        for raw in stream:
            line = raw.decode(errors="replace").rstrip("\n")
            handshake = _HANDSHAKE.search(line) if lines is not None else None
            if lines is not None and handshake:
                lines.put(handshake[0])
                line = line[: handshake.start()]
            if line:
                self._tail.append(line[:_WIDTH])
        stream.close()
        if lines is not None:
            lines.put(None)

    def _connect(self, address: str, secure: bytes | None, identity: _goplugin.Identity | None) -> None:
        options = [
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.ssl_target_name_override", "localhost"),
            ("grpc.default_authority", "localhost"),
        ]
        if secure and identity:
            credentials = grpc.ssl_channel_credentials(secure, identity.key, identity.pem)
            self._channel = grpc.secure_channel(f"unix:{address}", credentials, options)
        else:
            self._channel = grpc.insecure_channel(f"unix:{address}", options)
        try:
            grpc.channel_ready_future(self._channel).result(timeout=START_TIMEOUT)
        except grpc.FutureTimeoutError:
            raise self._failure("it does not take a connection") from None
        self.stub: Any = plugin_pb2_grpc.PluginStub(self._channel)  # type: ignore[no-untyped-call]
        # Held open: a plugin ends when this does.
        self._stdio = self._channel.unary_stream(
            "/plugin.GRPCStdio/StreamStdio",
            request_serializer=goplugin_pb2.Empty.SerializeToString,
            response_deserializer=goplugin_pb2.StdioData.FromString,
        )(goplugin_pb2.Empty())
        threading.Thread(target=self._drain, args=(self._stdio,), daemon=True).start()
        self.description: pb.DescribeReply = self.call(self.stub.Describe, pb.DescribeRequest())
        newest = [int(part) for part in rlrun.__version__.split(".")]
        oldest = [int(part) for part in re.findall(r"\d+", self.description.requires)]
        if oldest > newest:
            raise self._failure(f"it requires {self.description.requires}, this is rlrun {rlrun.__version__}")

    def _drain(self, stream: Iterator[Any]) -> None:
        try:
            for chunk in stream:
                self._tail.extend(chunk.data.decode(errors="replace").splitlines())
        except grpc.RpcError:
            pass

    def call(self, method: Any, request: Any) -> Any:
        """Make a control call."""
        try:
            reply = method(request, timeout=CALL_TIMEOUT)
        except grpc.RpcError as e:
            raise self._failure(e) from None
        if "error" in reply.DESCRIPTOR.fields_by_name and reply.HasField("error"):
            raise errors.from_proto(reply.error)
        return reply

    def open(self, params: Mapping[str, Any], lanes: int) -> EnvironmentClient:
        """Make lanes of an environment."""
        if self.description.kind != "environment":
            raise errors.Unsupported(f"{self.description.id} is an {self.description.kind}, not an environment")
        schema = json.loads(self.description.params or b"{}")
        for name in params:
            if name not in (known := schema.get("properties", {})) and schema.get("additionalProperties") is False:
                raise errors.InvalidParams(f"unknown parameter {name!r}; there are {', '.join(known) or 'none'}")
        request = pb.OpenEnvironmentRequest(params=json.dumps(dict(params)).encode(), lanes=lanes)
        reply = self.call(self.stub.OpenEnvironment, request)
        return EnvironmentClient(self, reply.instance, Spec.from_proto(reply.spec), lanes)

    def _failure(self, cause: str | grpc.RpcError) -> PluginError:
        """Return the error of a process, with the end of what it wrote."""
        reason = cause if isinstance(cause, str) else f"{cause.code().name}: {cause.details()}"
        if not isinstance(cause, str) and cause.code() == grpc.StatusCode.UNAVAILABLE:
            with contextlib.suppress(subprocess.TimeoutExpired):  # its connection ended, so it ends
                self._process.wait(CLOSE_TIMEOUT)
        ended = self._process.poll() is not None
        for reader in self._readers:
            reader.join(CLOSE_TIMEOUT if ended else 0.02)  # what it wrote may still be in the pipe
        tail = "".join(f"\n\t{line}" for line in self._tail)
        return PluginError(f"plugin {self.name}: {reason}" + (f"; it wrote last:{tail}" if tail else ""))

    def close(self) -> None:
        """End the process: in good order if it answers, else by force."""
        if self._process.poll() is None:
            try:
                shutdown = self._channel.unary_unary(
                    "/plugin.GRPCController/Shutdown",
                    request_serializer=goplugin_pb2.Empty.SerializeToString,
                    response_deserializer=goplugin_pb2.Empty.FromString,
                )
                shutdown(goplugin_pb2.Empty(), timeout=CLOSE_TIMEOUT)
                self._process.wait(CLOSE_TIMEOUT)
            except (grpc.RpcError, subprocess.TimeoutExpired):
                pass
        self._kill()
        self._channel.close()

    def _kill(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            process.kill()
            process.wait()


def _certificate(line: list[str]) -> tuple[bytes | None, bool]:
    if not line[_CERTIFICATE].strip():
        return None, True
    return _goplugin.certificate_of(line[_CERTIFICATE].strip())


class EnvironmentClient:
    """Lanes of an environment in another process."""

    def __init__(self, process: Process, instance: int, spec: Spec, lanes: int) -> None:
        self.spec, self.lanes = spec, lanes
        self._process, self._instance, self._step = process, instance, 0
        self._requests: queue.SimpleQueue[pb.EnvironmentRequest | None] = queue.SimpleQueue()
        self._replies = process.stub.StepEnvironment(iter(self._requests.get, None))
        self._closed = False
        self.masks: NDArray[np.int8] | None = None
        """Which actions each lane may take next, 0 or 1; None without masks."""

    def step(self, signals: NDArray[np.uint8], seeds: NDArray[np.uint64] | None, actions: Array) -> TimeSteps:
        """Step every lane as its signal says."""
        self._check_open()
        self._step += 1
        request = pb.EnvironmentRequest(
            instance=self._instance if self._step == 1 else 0,
            signals=b"" if (signals == CONTINUE).all() else signals.tobytes(),
            seeds=b"" if seeds is None else seeds.astype("<u8").tobytes(),
            actions=spaces.to_bytes(np.asarray(actions, self.spec.action.dtype)),
            step=self._step,
        )
        self._requests.put(request)
        try:
            reply = next(self._replies)
        except grpc.RpcError as e:
            raise self._process._failure(e) from None
        except StopIteration:
            raise self._process._failure("it ended the stream") from None
        if reply.HasField("error"):
            raise errors.from_proto(reply.error)
        if reply.step != self._step:
            raise self._process._failure(f"it answered step {reply.step} for {self._step}")
        n = self.lanes
        try:
            out = TimeSteps(
                spaces.from_bytes(self.spec.observation, reply.observations, n, "observations"),
                _column(reply.rewards, "<f8", n),
                _column(reply.terminated, "u1", n).astype(np.bool_),
                _column(reply.truncated, "u1", n).astype(np.bool_),
            )
        except ValueError as e:
            raise self._process._failure(str(e)) from None
        if isinstance(actions_of := self.spec.action, spaces.Discrete) and self.spec.masks:
            self.masks = _column(reply.masks, "u1", n * actions_of.n).astype(np.int8).reshape(n, -1)
        stepped = signals != IDLE
        for bad, what in (
            (self.spec.observation.outside(out.observations), f"observation is not in {self.spec.observation}"),
            (~np.isfinite(out.rewards), "reward is not finite"),
        ):
            if (bad & stepped).any():
                lane = int(np.argmax(bad & stepped))
                raise errors.InvalidAnswer(f"plugin {self._process.name}: step {self._step}: the {what}", lane=lane)
        return out

    def ask(self, ability: str, lane: int) -> Any:
        """Ask a lane that has been started for an ability, such as "render"."""
        self._check_open()
        request = pb.AskRequest(instance=self._instance, lane=lane, ability=ability)
        answer = self._process.call(self._process.stub.Ask, request).answer
        try:
            return _abilities.BY_NAME[ability].from_bytes(answer)
        except ValueError as e:
            raise self._process._failure(str(e)) from None

    def models(self) -> list[dict[str, Any]]:
        """Return every lane's model, as the host reads it."""
        self._check_open()
        reply = self._process.call(self._process.stub.Models, pb.ModelsRequest(instance=self._instance))
        models = [json.loads(m) for m in reply.models]
        return [models[i] for i in reply.lanes]

    def _check_open(self) -> None:
        if self._closed:
            raise PluginError(f"plugin {self._process.name}: the environment is closed")

    def close(self) -> None:
        """End the instance and its process."""
        if not self._closed:
            self._closed = True
            self._requests.put(None)
            self._process.close()


def _column(data: bytes, dtype: str, lanes: int) -> NDArray[Any]:
    if not data and dtype == "u1":
        return np.zeros(lanes, dtype)
    if len(data) != lanes * np.dtype(dtype).itemsize:
        raise ValueError(f"column of {len(data)} bytes for {lanes} lanes")
    column = np.frombuffer(data, dtype)
    if dtype == "u1" and column.max() > 1:
        raise ValueError(f"a flag is {column.max()}, must be 0 or 1")
    return column


__all__ = ["CONTINUE", "NEW_EPISODE", "NEW_RUN", "EnvironmentClient", "PluginError", "Process", "command"]
