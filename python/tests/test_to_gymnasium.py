"""rlrun's environments in Gymnasium."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
import gymnasium
import numpy as np
import pytest
from conftest import EXAMPLES, ROOT
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.seeding import np_random
from gymnasium.vector import SyncVectorEnv

import rlrun.to_gymnasium
from rlrun import _goplugin, client
from rlrun._pb import plugin_pb2 as pb
from rlrun.client import PluginError, Process, _socket_directory

RIVER = [sys.executable, str(EXAMPLES / "river.py")]


@pytest.mark.parametrize(
    ("plugin", "params"),
    [
        ("riverswim", {"states": 8}),
        ("frozenlake", {}),
        ("bernoulli-bandit", {"arms": 3}),
        ("cliffwalking", {}),
        (RIVER, {"length": 4}),
        ([sys.executable, "-m", "rlrun.from_gymnasium", "Pendulum-v1"], {}),
    ],
    ids=str,
)
def test_check_env(program, plugin: Any, params: dict[str, Any]) -> None:
    env = rlrun.to_gymnasium.make(plugin, **params)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an environment that is not registered has no spec
            check_env(env)
    finally:
        env.close()


def test_a_refused_step_of_a_batch_steps_no_lane(program) -> None:
    with closing(rlrun.to_gymnasium.make_vec("deepsea", num_envs=3, size=2)) as envs:
        envs.reset(seed=1, options={"reset_mask": np.array([False, True, True])})
        with pytest.raises(rlrun.NeedsReset, match="environment 0 needs a reset"):
            envs.step(np.zeros(3, int))
        envs.reset(seed=1)
        for bad in ([0, 0, 9], [-1, 0, 0]):
            with pytest.raises(rlrun.InvalidAction, match=r"action (9|-1) of environment (2|0) is not in Discrete"):
                envs.step(np.array(bad))
        assert envs.step(np.zeros(3, int))[0].tolist() == [1, 1, 1]
        assert envs.step(np.zeros(3, int))[2].all()
        assert envs.step(np.full(3, 9))[0].tolist() == [0, 0, 0]  # these start anew and take no action


def test_a_seed_fixes_a_run(program) -> None:
    env = rlrun.to_gymnasium.make(RIVER)

    def play() -> list[Any]:
        log: list[Any] = [env.reset(seed=3)]
        for k in range(100):
            log.append(env.reset() if k % 25 == 24 else env.step(np.int64(1)))
        return log

    first = play()
    assert first == play()
    assert len({str(e) for e in first}) > 5
    env.close()


def test_vector_env(program) -> None:
    """Lanes start anew the step after their end."""
    env = rlrun.to_gymnasium.make_vec("cliffwalking", 3)
    seeds = [5, 6, 7]
    observations, _ = env.reset(seed=seeds)
    assert env.observation_space.contains(observations)
    again, _ = env.reset(seed=seeds)
    assert np.array_equal(observations, again)
    ended = np.zeros(3, np.bool_)
    ends = 0
    for k in range(200):
        path = [0, *[1] * 11, 2]  # up, along the cliff, down: 13 steps to the goal
        actions = np.array([path[k % 14] if k % 14 < 13 else 0, 0, 1])
        observations, rewards, terminated, truncated, _ = env.step(actions)
        assert (rewards[ended] == 0).all()
        assert (observations[ended] == 36).all()  # the start
        ended = terminated | truncated
        ends += int(ended[0])
        if ended[0]:
            assert observations[0] == 47  # the goal: the true last observation
    assert ends == 200 // 14
    masked, _ = env.reset(seed=1, options={"reset_mask": np.array([False, True, False])})
    assert masked[0] == observations[0]
    assert masked[1] == 36
    env.close()


@pytest.mark.parametrize("seed", [7, np.int64(7), [5, 6, 9], (5, 6, 9), np.array([5, 6, 9])], ids=str)
def test_a_lane_with_a_seed_is_the_single_environment_with_it(program, seed: Any) -> None:
    """Over many episodes and resets: as Gymnasium's own vector of single environments."""
    env = rlrun.to_gymnasium.make_vec("frozenlake", 3)
    copies = SyncVectorEnv([lambda: rlrun.to_gymnasium.make("frozenlake")] * 3)
    seeds = [int(s) for s in seed] if np.ndim(seed) else int(seed)
    actions = np.random.default_rng(1).integers(0, 4, (150, 3))

    def play(env: Any, seed: Any) -> list[Any]:
        log = [env.reset(seed=seed)[0].tolist()]
        for k, a in enumerate(actions):
            if k == 70:
                log.append(env.reset()[0].tolist())
            if k == 110:
                mask = np.array([False, True, True])
                log.append(env.reset(seed=[1, None, 3], options={"reset_mask": mask})[0].tolist())
            log.append([x.tolist() for x in env.step(a)[:4]])
        return log

    try:
        first = play(env, seed)
        assert first == play(copies, seeds)
        assert first == play(env, seed)
        assert sum(any(e[2]) for e in first if len(e) == 4) > 10  # episodes ended
        with pytest.raises(ValueError, match="2 seeds for 3"):
            env.reset(seed=[1, 2])
    finally:
        env.close()
        copies.close()


@pytest.mark.slow
def test_no_process_is_left(program) -> None:
    """Not after close, not after the interpreter's end, not after kill -9."""
    process = Process("riverswim")
    pid = process._process.pid
    process.close()
    assert not alive(pid)
    for plugin in ("riverswim", RIVER):
        for ending in ("pass", "os.kill(os.getpid(), signal.SIGKILL)"):
            script = (
                "import os, signal, rlrun.to_gymnasium\n"
                f"env = rlrun.to_gymnasium.make({plugin!r})\n"
                "env.reset(seed=1)\n"
                f"print(env._lanes.client._process._process.pid, flush=True)\n{ending}\n"
            )
            out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
            child = int(out.stdout)
            deadline = time.monotonic() + 20  # 2 s are promised; a busy machine gets more
            while alive(child):
                assert time.monotonic() < deadline, f"process {child} of {plugin} lives on after {ending}"
                time.sleep(0.02)


def test_no_directory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of the socket is private, and gone once the plugin has started or failed to."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:  # tmp_path is too long for sockets
        monkeypatch.setattr(tempfile, "tempdir", directory)
        with _socket_directory() as made:
            assert os.path.dirname(made) == directory
            assert stat.S_IMODE(os.stat(made).st_mode) == 0o700
        with closing(Process(RIVER)):
            assert os.listdir(directory) == []
        with pytest.raises(PluginError):
            Process(["/bin/false"])
        assert os.listdir(directory) == []
        for useless in ("/tmp/" + "x" * 60, directory + "/a\nb", directory + "/a|b"):
            monkeypatch.setattr(tempfile, "tempdir", useless)
            with _socket_directory() as made:
                assert os.path.dirname(made) == "/tmp"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_strangers_are_refused(tmp_path) -> None:
    """A plugin that was started with a certificate talks to nobody without it."""
    mine, other = _goplugin.Identity(), _goplugin.Identity()
    key, cookie = _goplugin.COOKIE
    environ = os.environ | {
        key: cookie,
        _goplugin.CLIENT_CERT: mine.pem.decode(),
        _goplugin.SOCKET_DIR: str(tmp_path),
        _goplugin.VERSIONS: "1",
    }
    with subprocess.Popen(RIVER, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        fields = process.stdout.readline().strip().split("|")
        server, able = _goplugin.certificate_of(fields[5])
        assert able
        credentials = {
            "nothing": None,
            "another": grpc.ssl_channel_credentials(server, other.key, other.pem),
            "mine": grpc.ssl_channel_credentials(server, mine.key, mine.pem),
        }
        address, options = f"unix:{fields[3]}", [("grpc.ssl_target_name_override", "localhost")]
        answers = {}
        for name, c in credentials.items():
            channel = grpc.secure_channel(address, c, options) if c else grpc.insecure_channel(address, options)
            describe = channel.unary_unary(
                "/rlrun.plugin.v1.Plugin/Describe",
                request_serializer=pb.DescribeRequest.SerializeToString,
                response_deserializer=pb.DescribeReply.FromString,
            )
            try:
                answers[name] = describe(pb.DescribeRequest(), timeout=5).id
            except grpc.RpcError as e:
                answers[name] = e.code().name
            channel.close()
        process.kill()
    assert answers == {"nothing": "UNAVAILABLE", "another": "UNAVAILABLE", "mine": "example/river@1"}


def test_what_goes_wrong_is_said(program) -> None:
    interrupts = signal.getsignal(signal.SIGINT)
    gym = rlrun.to_gymnasium
    with pytest.raises(ValueError, match=r"no plugin 'riverswimm'; did you mean riverswim or"):
        gym.make("riverswimm")
    with pytest.raises(ValueError, match=r"no plugin 'xyzzy'; there are .*riverswim"):
        gym.make("xyzzy")
    with pytest.raises(rlrun.InvalidParams, match=r"unknown parameter 'colour'; there are .*states"):
        gym.make("riverswim", colour=1)
    env = gym.make("riverswim", states=4)
    env.reset(seed=1)
    env.close()
    for use in (env.reset, lambda: env.step(0)):
        with pytest.raises(PluginError, match="plugin riverswim: the environment is closed"):
            use()
    with pytest.raises(rlrun.Unsupported, match="an agent"):
        gym.make("bandit")
    with pytest.raises(PluginError, match=r"ended before it answered \(exit status 3\)(?s:.*)no luck"):
        gym.make([sys.executable, "-c", "import sys; print('no luck'); sys.exit(3)"])
    faulty = [sys.executable, str(ROOT / "framework/plugin/testdata/faulty.py")]
    late = 'while IFS= read -r line; do sleep 0.1; printf "%s\\n" "$line"; done'  # its words come after its end
    for plugin in (faulty, ["sh", "-c", f"{shlex.join(faulty)} 2>&1 | {late}"]):
        env = gym.make(plugin, fault="exit", lane=0, at=2)
        env.reset(seed=1)
        env.step(0)
        with pytest.raises(PluginError, match=r"(?s)UNAVAILABLE.*I give up"):
            env.step(0)
        env.close()
    process = Process(RIVER)
    with pytest.raises(PluginError, match=r"NOT_FOUND: no EnvironmentInstance has the handle 0$"):  # and no traceback
        process.call(process.stub.Models, pb.ModelsRequest())
    process.close()
    assert signal.getsignal(signal.SIGINT) is interrupts  # the caller's, as it was


def test_bundled_environments_are_registered(program) -> None:
    """All but those that cannot be made without parameters, which are named here."""
    listed = json.loads(subprocess.run([program, "plugin", "list", "--json"], capture_output=True, check=True).stdout)
    names = {e["name"] for e in listed if e.get("bundled") and e["kind"] == "environment"}
    assert names - set(rlrun.to_gymnasium.ENVIRONMENTS.values()) == {"model"}
    env = gymnasium.make("rlrun/RiverSwim-v0", states=8, render_mode="ansi")
    assert (env.spec.id, env.observation_space.n) == ("rlrun/RiverSwim-v0", 8)
    direct = rlrun.to_gymnasium.make("riverswim", states=8)
    again = direct.spec.make()
    for e in (env, direct, again):
        assert e.reset(seed=1)[0] == 0
    actions = [1, 1, 0, 1] * 10
    assert (
        [env.step(a)[:2] for a in actions]
        == [direct.step(a)[:2] for a in actions]
        == [again.step(a)[:2] for a in actions]
    )
    vector = gymnasium.make_vec("rlrun/DeepSea-v0", 3, vectorization_mode="vector_entry_point", size=4)
    assert vector.reset(seed=1)[0].shape == (3,)
    for e in (env, direct, again, vector):
        e.close()


def test_gymnasium_through_rlrun() -> None:
    """The very episode of Gymnasium, from the seed that the run's seed leads to."""
    env = rlrun.to_gymnasium.make("gymnasium:CartPole-v1", max_episode_steps=7)
    assert env.spec.id == "gymnasium/cartpole-v1"
    env.reset(seed=3)
    assert [env.step(k % 2)[3] for k in range(7)] == [False] * 6 + [True]
    env.close()


@pytest.mark.slow
def test_stable_baselines_trains_on_ours(program) -> None:
    """DQN as it comes finds the better of two arms."""
    sb3 = pytest.importorskip("stable_baselines3")
    pytest.importorskip("torch").set_num_threads(1)
    env = gymnasium.make("rlrun/BernoulliBandit-v0", means=[0.05, 0.95])
    agent = sb3.DQN("MlpPolicy", env, seed=1, learning_starts=32, train_freq=1, learning_rate=1e-2)
    agent.learn(150)
    observation, _ = env.reset(seed=5)
    assert agent.predict(observation, deterministic=True)[0] == 1
    env.close()


def test_frames(program) -> None:
    """A bundled environment, and one of Gymnasium whose frames are Gymnasium's own to the pixel."""
    with gymnasium.make("rlrun/CartPole-v0", render_mode="rgb_array") as env:
        env.reset(seed=1)
        frame = env.render()
        assert (frame.shape, frame.dtype, env.metadata["render_fps"]) == ((400, 600, 3), np.uint8, 50)
        env.step(0)
        assert (env.render() != frame).any()
    with closing(rlrun.to_gymnasium.make_vec("gymnasium:CartPole-v1", 2, render_mode="rgb_array")) as envs:
        theirs = gymnasium.make("CartPole-v1", render_mode="rgb_array")
        seeds = [int(rlrun.to_gymnasium.episode(np_random(s)[0])) for s in (3, 4)]
        envs.reset(seed=3)
        envs.step(np.array([1, 1]))
        for seed, got in zip(seeds, envs.render(), strict=True):
            theirs.reset(seed=seed)
            theirs.step(1)
            assert (got == theirs.render()).all()
    with pytest.raises(ValueError, match=r"rlrun/RiverSwim-v0 has no render mode 'human'; there are \['rgb_array'\]"):
        rlrun.to_gymnasium.make("riverswim", render_mode="human")
    with rlrun.to_gymnasium.make("bernoulli-bandit") as plain:
        plain.reset(seed=1)
        assert plain.render() is None


def test_frames_that_cannot_be_drawn(tmp_path, monkeypatch) -> None:
    """Without pygame the error says what to install; steps and text go on."""
    (tmp_path / "pygame.py").write_text("raise ImportError('no pygame here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with rlrun.to_gymnasium.make("gymnasium:CartPole-v1", render_mode="rgb_array") as env:
        env.reset(seed=1)
        with pytest.raises(rlrun.Unsupported, match=r'pip install "gymnasium\[classic.control\]"'):
            env.render()
        env.step(0)
    with rlrun.to_gymnasium.make("gymnasium:FrozenLake-v1") as env:
        env.reset(seed=1)
        assert env.render().count("F") == 10


@pytest.mark.parametrize("python_path", ["", ".", os.pathsep])
def test_the_working_directory_may_be_somebody_elses(tmp_path, monkeypatch, python_path) -> None:
    """No module there is loaded, and no program there is started, unless the user names it."""
    started = tmp_path / "started"
    for name in ("sitecustomize", "rlrun", "numpy", "gymnasium"):
        (tmp_path / f"{name}.py").write_text(f"open({str(started)!r}, 'w').close()")
    source = str(Path(rlrun.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [source, python_path])))
    monkeypatch.chdir(tmp_path)
    with rlrun.to_gymnasium.make("gymnasium:CartPole-v1") as env:
        env.reset(seed=1)
    assert not started.exists()


@pytest.mark.skipif(os.name == "nt", reason="scripts of a shell")
@pytest.mark.parametrize("entry", ["", ".", "bin/.."])
def test_the_program_is_not_looked_for_where_the_user_stands(tmp_path, monkeypatch, entry) -> None:
    """Nor in another relative directory; a path in RLRUN is one that the user names."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for directory in (theirs, theirs / "bin", mine):
        directory.mkdir()
    for directory in (theirs, mine):
        (directory / "rlrun").write_text("#!/bin/sh\n")
        (directory / "rlrun").chmod(0o755)
    monkeypatch.chdir(theirs)
    monkeypatch.delenv("RLRUN", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "scripts"))
    monkeypatch.setenv("PATH", os.pathsep.join([entry, str(mine)]))
    assert client.program() == str(mine / "rlrun")
    monkeypatch.setenv("RLRUN", "rlrun")
    assert client.program() == str(mine / "rlrun")
    monkeypatch.setenv("RLRUN", "./rlrun")
    assert client.program() == "./rlrun"
    monkeypatch.delenv("RLRUN")
    monkeypatch.setenv("PATH", entry)
    with pytest.raises(FileNotFoundError, match="in a directory that is not relative"):
        client.program()


def test_entry_point() -> None:
    """Gymnasium before 1.0 calls it when it is imported itself; a second call registers nothing."""
    (ours,) = metadata.entry_points(group="gymnasium.envs", name="rlrun")
    before = dict(gymnasium.registry)
    ours.load()()
    assert gymnasium.registry == before
    assert "rlrun/RiverSwim-v0" in before


def test_one_copy_in_older_gymnasium() -> None:
    """Gymnasium 0.29, which CleanRL pins, has none of what the vectors need: one copy needs none of it."""
    script = "import gymnasium.vector as v; del v.AutoresetMode; import rlrun.to_gymnasium"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_options_of_a_reset_that_change_nothing_are_refused() -> None:
    with closing(rlrun.to_gymnasium.make(RIVER)) as env, pytest.raises(ValueError, match="no options, and got"):
        env.reset(seed=1, options={"start": 3})
    with closing(rlrun.to_gymnasium.make_vec(RIVER, 2)) as envs, pytest.raises(ValueError, match="reset_mask alone"):
        envs.reset(seed=1, options={"reset_mask": np.ones(2, np.bool_), "start": 3})
