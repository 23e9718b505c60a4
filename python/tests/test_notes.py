"""Which lane's code runs is noted while it does, and none's afterwards."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlrun
from rlrun import _lanes
from rlrun._lanes import ALL, AgentCopies, Copies
from rlrun._notes import VARIABLE, Note, Notes


class Looking(rlrun.Environment):
    """Keeps what is noted while its code runs, and fails if told to."""

    id = "test/looking@1"
    note: Note
    seen: list[int]
    fails = False

    @property
    def spec(self) -> rlrun.Spec:
        return rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2))

    def look(self) -> None:
        self.seen.append(self.note[0])
        if self.fails:
            raise ValueError("broken")

    def reset(self, seed: int) -> int:
        self.look()
        return 0

    def step(self, action: int) -> rlrun.TimeStep:
        self.look()
        return rlrun.TimeStep(0, 0.0)


class Agent(rlrun.Agent):
    """Looks when it selects an action."""

    id = "test/looker@1"

    def begin(self, spec: rlrun.Spec, seed: int) -> None:
        pass

    def select_action(self, observation: int) -> int:
        Looking.look(self)  # type: ignore[arg-type]
        return 0

    def update(self, transition: rlrun.Transition) -> None:
        pass

    note: Note
    seen: list[int]
    fails = False


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("what", ["reset", "step", "select_actions"])
def test_copies_note_their_lanes(what: str, fails: bool) -> None:
    word = memoryview(bytearray(4)).cast("I")
    seen: list[int] = []
    members = {"note": word, "seen": seen, "fails": fails}
    copies: Copies | AgentCopies
    if what == "select_actions":
        copies = AgentCopies(type("Copy", (Agent,), members))
        copies.open(Looking().spec, 3)
        copies.begin(ALL, np.zeros(3, np.uint64))
    else:
        copies = Copies(type("Copy", (Looking,), members))
        copies.open(3)
    copies.note = word
    call = getattr(copies, what)
    some = np.array([0, 2])
    if fails:
        with pytest.raises(ValueError, match="broken"):
            call(some, np.zeros(2, np.int64))
    else:
        call(some, np.zeros(2, np.int64))
        call(ALL, np.zeros(3, np.int64))
    assert (seen, word[0]) == ([1] if fails else [1, 3, 1, 2, 3], 0)


def test_the_file_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lanes"
    path.write_bytes(bytes(4 * 8))
    monkeypatch.setenv(VARIABLE, str(path))
    notes = Notes()
    notes.of(7)[0] = 3
    assert np.frombuffer(path.read_bytes(), np.uint32).tolist() == [0] * 7 + [3]
    notes.of(8)[0] = 3  # nobody's


@pytest.mark.parametrize("name", [None, "", "nothing", "empty"])
def test_without_a_file(name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").touch()
    monkeypatch.delenv(VARIABLE, raising=False)
    if name is not None:
        monkeypatch.setenv(VARIABLE, name and str(tmp_path / name))
    Notes().of(1)[0] = 3


def test_a_close_that_hangs_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The host shows the line, whatever answer it waits for meanwhile."""
    returns = threading.Event()

    class Slow(rlrun.Agent):
        def begin(self, spec: rlrun.Spec, seed: int) -> None: ...

        def select_action(self, observation: object) -> int:
            return 0

        def update(self, transition: rlrun.Transition) -> None: ...

        def close(self) -> None:
            assert returns.wait(60)

    def tell(*what: str, **how: Any) -> None:
        print(*what, **how)
        returns.set()

    monkeypatch.setattr(_lanes, "print", tell, raising=False)
    AgentCopies(Slow).open(rlrun.Spec(rlrun.Discrete(2), rlrun.Discrete(2)), 1)
    assert capsys.readouterr().err == "Slow.close has not returned after 1 s\n"
