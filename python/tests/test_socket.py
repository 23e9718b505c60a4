"""The folders of sockets: private, and nobody else's files are touched."""

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
    """Return a folder for temporary files, this user's base in it, and a folder with somebody's file."""
    made = [Path(tempfile.mkdtemp(dir="/tmp")) for _ in range(2)]
    monkeypatch.setattr(tempfile, "tempdir", str(made[0]))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    (made[1] / "thesis").write_text("Chapter 1\n")
    yield made[0], made[0] / f"rlrun-{os.geteuid()}", made[1]
    for path in made:
        shutil.rmtree(path)


def snapshot(*folders: Path) -> list[tuple[str, int, str]]:
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            mode = path.lstat().st_mode
            text = path.read_text() if stat.S_ISREG(mode) else os.readlink(path) if stat.S_ISLNK(mode) else ""
            found.append((str(path), stat.S_IFMT(mode), text))
    return found


def made() -> Path:
    with _socket.folder() as folder:
        path = Path(folder)
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
    folder = base / "123"
    folder.mkdir()
    (folder / "lock").write_text(LOCK)
    return folder


def in_place_of_the_base() -> dict[str, Callable[[Path, Path, Path], object]]:
    def open_to(mode: int) -> Callable[[Path, Path, Path], object]:
        return lambda _dir, base, _victim: (base.mkdir(), stale(base), base.chmod(mode))

    return {
        "link": lambda _dir, base, victim: base.symlink_to(victim),
        "pipe": lambda _dir, base, _victim: os.mkfifo(base),
        "file": lambda _dir, base, _victim: base.write_text("mine"),
        "readable": open_to(0o755),
        "writable": open_to(0o777),
        "replaceable": lambda folder, base, _victim: (base.mkdir(0o700), stale(base), folder.chmod(0o777)),
    }


@pytest.mark.parametrize("attack", in_place_of_the_base().values(), ids=in_place_of_the_base())
def test_base_of_strangers(places: tuple[Path, Path, Path], attack: Callable[[Path, Path, Path], object]) -> None:
    folder, base, victim = places
    attack(folder, base, victim)
    before = snapshot(folder, victim)
    assert made().parent != base
    assert snapshot(folder, victim) == before


def in_the_base() -> dict[str, Callable[[Path, Path], object]]:
    def below(*steps: Callable[[Path, Path], object]) -> Callable[[Path, Path], object]:
        def attack(base: Path, victim: Path) -> None:
            folder = base / "123"
            folder.mkdir()
            for step in steps:
                step(folder, victim)

        return attack

    def locked(folder: Path, _victim: Path) -> object:
        return (folder / "lock").write_text(LOCK)

    return {
        "link": lambda base, victim: ((victim / "lock").write_text(LOCK), (base / "123").symlink_to(victim)),
        "pipe": lambda base, _victim: os.mkfifo(base / "123"),
        "no lock": below(lambda folder, _victim: (folder / "thesis").write_text("mine")),
        "lock is a link": below(lambda folder, victim: (folder / "lock").symlink_to(victim / "thesis")),
        "lock is a hard link": below(lambda folder, victim: os.link(victim / "thesis", folder / "lock")),
        "lock is a pipe": below(lambda folder, _victim: os.mkfifo(folder / "lock")),
        "lock of another program": below(lambda folder, _victim: (folder / "lock").write_text("4711")),
        "other files": below(locked, lambda folder, _victim: (folder / "thesis").write_text("mine")),
        "a link beside the lock": below(locked, lambda folder, victim: (folder / "plugin").symlink_to(victim)),
    }


@pytest.mark.parametrize("attack", in_the_base().values(), ids=in_the_base())
def test_strangers_in_the_base(places: tuple[Path, Path, Path], attack: Callable[[Path, Path], object]) -> None:
    folder, base, victim = places
    base.mkdir(0o700)
    attack(base, victim)
    before = snapshot(folder, victim)
    assert made().parent == base
    assert snapshot(folder, victim) == before


def test_old_names_are_left_alone(places: tuple[Path, Path, Path]) -> None:
    folder, base, victim = places
    evil, backup = folder / "rlrun-evil", folder / ".rlrun-backup"
    evil.mkdir()
    (evil / "lock").symlink_to(victim / "thesis")
    backup.mkdir()
    (backup / "notes").write_text("mine")
    os.utime(backup, (0, 0))
    before = snapshot(folder, victim)
    assert made().parent == base
    assert snapshot(folder, victim) == before


def test_folder_of_a_dead_host_is_removed(places: tuple[Path, Path, Path]) -> None:
    folder, base, _ = places
    code = "import time\nfrom rlrun import _socket\nwith _socket.folder() as f: print(f, flush=True); time.sleep(99)"
    hosts = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(folder)}
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


def test_runtime_folder(places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _folder, base, victim = places
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(victim))
    assert made().parent == victim / "rlrun"
    for other in ("relative", str(victim / "none"), str(victim / ("x" * 60))):
        monkeypatch.setenv("XDG_RUNTIME_DIR", other)
        assert made().parent == base
