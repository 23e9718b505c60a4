"""A debugger attaches to a plugin, stops it in a step, and lets it go on."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any

import pytest
from conftest import EXAMPLES

import rlrun.to_gymnasium

RIVER = EXAMPLES / "river.py"


class Debugger:
    """The least that an editor says in the debug adapter protocol."""

    def __init__(self, port: int) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                self._socket = socket.create_connection(("localhost", port), timeout=20)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        self._file = self._socket.makefile("rb")
        self._seq = 0

    def send(self, command: str, **arguments: Any) -> None:
        self._seq += 1
        body = json.dumps({"seq": self._seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def wait(self, key: str, name: str) -> dict[str, Any]:
        """Read until an event, or the response to a command."""
        while True:
            length = 0
            while header := self._file.readline().strip():
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            message: dict[str, Any] = json.loads(self._file.read(length))
            if message.get(key) == name:
                assert message.get("success", True), message
                return message

    def close(self) -> None:
        self.send("disconnect", terminateDebuggee=False)
        self._file.close()
        self._socket.close()


@pytest.fixture
def port() -> int:
    with socket.socket() as s:
        s.bind(("localhost", 0))
        free: int = s.getsockname()[1]
    return free


@pytest.mark.slow
def test_a_debugger_attaches(port: int) -> None:
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "debugpy", "--listen", f"localhost:{port}", str(RIVER)]
    env = rlrun.to_gymnasium.make(command)
    env.reset(seed=1)
    debugger = Debugger(port)
    debugger.send("initialize", adapterID="python", clientID="test")
    debugger.wait("command", "initialize")
    debugger.send("attach", justMyCode=False)
    debugger.wait("event", "initialized")
    lines = RIVER.read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "reward =" in text)
    debugger.send("setBreakpoints", source={"path": str(RIVER)}, breakpoints=[{"line": line}])
    debugger.wait("command", "setBreakpoints")
    debugger.send("configurationDone")
    debugger.wait("command", "configurationDone")
    answers: list[Any] = []
    step = threading.Thread(target=lambda: answers.append(env.step(0)))
    step.start()
    thread = debugger.wait("event", "stopped")["body"]["threadId"]
    debugger.send("stackTrace", threadId=thread)
    assert debugger.wait("command", "stackTrace")["body"]["stackFrames"][0]["name"] in ("step", "River.step")
    assert not answers
    debugger.send("continue", threadId=thread)
    step.join(20)
    assert answers[0][1] == 0.005  # what the left bank pays
    debugger.close()
    env.close()
