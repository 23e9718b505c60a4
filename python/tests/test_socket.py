"""The directories of sockets: private, and nobody else's files are touched."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rlrun import _socket

LOCK = "process 1 on ada\n"


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Return a directory for temporary files, this user's base in it, and a directory with somebody's file."""
    made = [Path(tempfile.mkdtemp(dir="/tmp")) for _ in range(2)]
    monkeypatch.setattr(tempfile, "tempdir", str(made[0]))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    (made[1] / "thesis").write_text("Chapter 1\n")
    yield made[0], made[0] / f"rlrun-{os.geteuid()}", made[1]
    for path in made:
        shutil.rmtree(path)


def snapshot(*directories: Path) -> list[tuple[str, int, str]]:
    found = []
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            mode = path.lstat().st_mode
            text = path.read_text() if stat.S_ISREG(mode) else os.readlink(path) if stat.S_ISLNK(mode) else ""
            found.append((str(path), stat.S_IFMT(mode), text))
    return found


def made() -> Path:
    with _socket.directory() as directory:
        path = Path(directory)
        s = path.lstat()
        assert stat.S_ISDIR(s.st_mode)
        assert stat.S_IMODE(s.st_mode) == 0o700
        (path / "plugin-dir1234567890").mkdir()
        for name in ("plugin", "plugin-dir1234567890/plugin1234567890"):
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path / name))
    assert not path.exists()
    return path


def stale(base: Path) -> Path:
    directory = base / "123"
    directory.mkdir()
    (directory / "lock").write_text(LOCK)
    return directory


def in_place_of_the_base() -> dict[str, Callable[[Path, Path, Path], object]]:
    def open_to(mode: int) -> Callable[[Path, Path, Path], object]:
        return lambda _dir, base, _victim: (base.mkdir(), stale(base), base.chmod(mode))

    return {
        "link": lambda _dir, base, victim: base.symlink_to(victim),
        "pipe": lambda _dir, base, _victim: os.mkfifo(base),
        "file": lambda _dir, base, _victim: base.write_text("mine"),
        "readable": open_to(0o755),
        "writable": open_to(0o777),
        "replaceable": lambda directory, base, _victim: (base.mkdir(0o700), stale(base), directory.chmod(0o777)),
    }


@pytest.mark.parametrize("attack", in_place_of_the_base().values(), ids=in_place_of_the_base())
def test_base_of_strangers(places: tuple[Path, Path, Path], attack: Callable[[Path, Path, Path], object]) -> None:
    directory, base, victim = places
    attack(directory, base, victim)
    before = snapshot(directory, victim)
    assert made().parent != base
    assert snapshot(directory, victim) == before


def in_the_base() -> dict[str, Callable[[Path, Path], object]]:
    def below(*steps: Callable[[Path, Path], object]) -> Callable[[Path, Path], object]:
        def attack(base: Path, victim: Path) -> None:
            directory = base / "123"
            directory.mkdir()
            for step in steps:
                step(directory, victim)

        return attack

    def locked(directory: Path, _victim: Path) -> object:
        return (directory / "lock").write_text(LOCK)

    return {
        "link": lambda base, victim: ((victim / "lock").write_text(LOCK), (base / "123").symlink_to(victim)),
        "pipe": lambda base, _victim: os.mkfifo(base / "123"),
        "no lock": below(lambda directory, _victim: (directory / "thesis").write_text("mine")),
        "lock is a link": below(lambda directory, victim: (directory / "lock").symlink_to(victim / "thesis")),
        "lock is a hard link": below(lambda directory, victim: os.link(victim / "thesis", directory / "lock")),
        "lock is a pipe": below(lambda directory, _victim: os.mkfifo(directory / "lock")),
        "lock of another program": below(lambda directory, _victim: (directory / "lock").write_text("4711")),
        "other files": below(locked, lambda directory, _victim: (directory / "thesis").write_text("mine")),
        "a link beside the lock": below(locked, lambda directory, victim: (directory / "plugin").symlink_to(victim)),
    }


@pytest.mark.parametrize("attack", in_the_base().values(), ids=in_the_base())
def test_strangers_in_the_base(places: tuple[Path, Path, Path], attack: Callable[[Path, Path], object]) -> None:
    directory, base, victim = places
    base.mkdir(0o700)
    attack(base, victim)
    before = snapshot(directory, victim)
    assert made().parent == base
    assert snapshot(directory, victim) == before


def test_old_names_are_left_alone(places: tuple[Path, Path, Path]) -> None:
    directory, base, victim = places
    evil, backup = directory / "rlrun-evil", directory / ".rlrun-backup"
    evil.mkdir()
    (evil / "lock").symlink_to(victim / "thesis")
    backup.mkdir()
    (backup / "notes").write_text("mine")
    os.utime(backup, (0, 0))
    before = snapshot(directory, victim)
    assert made().parent == base
    assert snapshot(directory, victim) == before


def test_directory_of_a_dead_host_is_removed(places: tuple[Path, Path, Path]) -> None:
    directory, base, _ = places
    code = "import time\nfrom rlrun import _socket\nwith _socket.directory() as f: print(f, flush=True); time.sleep(99)"
    hosts = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(directory)}
        )
        for _ in range(2)
    ]
    try:
        dead, live = (Path(host.stdout.readline().strip()) for host in hosts)
        assert dead.parent == live.parent == base
        hosts[0].kill()
        hosts[0].wait()
        assert dead.exists()
        made()
        assert live.exists()
        assert not dead.exists()
    finally:
        for host in hosts:
            host.kill()
            host.communicate()


def test_runtime_directory(places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _directory, base, victim = places
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(victim))
    assert made().parent == victim / "rlrun"
    for other in ("relative", str(victim / "none"), str(victim / ("x" * 60))):
        monkeypatch.setenv("XDG_RUNTIME_DIR", other)
        assert made().parent == base
