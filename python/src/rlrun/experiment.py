"""Experiments from Python: `run` starts the program rlrun and returns what it found."""

from __future__ import annotations

import contextlib
import contextvars
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from rlrun._arguments import checked, printable
from rlrun.results import Results, read_results

Component: TypeAlias = str | type | Mapping[str, Any]
"""An environment or agent: the name of a plugin, a class, or what a config has, whose ``plugin`` may be a class."""


class Experiment:
    """A config of ``rlrun run``, as docs/experiments.md explains it.

    Args:
        environments: Names of plugins, classes, or mappings with the keys of a config, such as
            ``{"name": "slow", "plugin": Walk, "params": {"slip": 0.5}}``. Classes are those of `rlrun.Environment`,
            `rlrun.VectorEnvironment` and ``gymnasium.Env``.
        agents: The same, with classes of `rlrun.Agent` and `rlrun.VectorAgent`.
        runs: Independent runs of each agent in each environment.
        steps: Steps of each run.
        keys: Every other key of a config: name, seed, discount, record, compare, ….

    """

    @checked
    def __init__(
        self,
        *,
        environments: Component | Sequence[Component],
        agents: Component | Sequence[Component],
        runs: int,
        steps: int,
        **keys: Any,
    ) -> None:
        def several(x: Any) -> list[Component]:
            return [x] if isinstance(x, (str, type, Mapping)) else list(x)

        self.config: dict[str, Any] = {"runs": runs, "steps": steps, **keys}
        self.config |= {"environments": several(environments), "agents": several(agents)}

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"Experiment({', '.join(f'{key}={value!r}' for key, value in self.config.items())})"


_stage = contextvars.ContextVar("_stage", default=False)
"""Whether an experiment is a stage of a search: its bar disappears, and its notices are not shown."""
_KEY = re.compile(r"(?:\S+:\d+: |--set (?P<first>[\w-]+).*?: (?=(?P=first)\b))?(?P<key>[\w-]+(?:\[\d+\]|\.[\w-]+)*): ")
"""How a message of rlrun about a key begins: with the line of a file, or the setting, that has it, or with the key."""


class ExperimentError(Exception):
    """rlrun refused an experiment, or runs of it failed. The message is rlrun's."""

    path: str | None = None
    """The key of the config that is wrong, such as ``agents[0].params.epsilon``, if the message names one."""
    results: Results | None = None
    """What there is where some runs failed: ``results.runs`` has their errors."""


class Interrupted(KeyboardInterrupt):
    """An experiment was interrupted. What ended is kept."""

    results: Results | None = None
    """The runs that ended; None if there is none."""


@checked
def run(
    experiment: Experiment | Mapping[str, Any] | str | Path,
    *,
    output: str | Path | None = None,
    runs: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = True,
    overwrite: bool = False,
    progress: bool = True,
    on_run: Callable[[dict[str, Any]], object] | None = None,
    flags: Sequence[str] = (),
) -> Results:
    """Run an experiment with the program rlrun, and return its results, as `read_results` does.

    A class that another process can import is imported there. A class of a notebook or script is written into the
    output directory, with the globals and closures that it uses as they are now: pip install 'rlrun[lab]'. What it
    uses of modules is imported from their files: changes of a module in memory do not reach runs. Plugins in
    Python run with the interpreter and the modules of this process.

    Args:
        experiment: An experiment, a config as a mapping, or the path of a config file.
        output: Directory that receives the results; as the config says if None, else ``results/NAME``.
        runs: In place of what the config says, as are the following.
        steps: See above.
        seed: See above.
        workers: Batches run at the same time; one per core if None.
        settings: Keys of the config and their values: ``{"agents.0.params.gamma": 0.9}``.
        resume: Keep the runs that the directory has of this experiment, and make those that are missing. A call with
            nothing left to do returns at once. Runs of another experiment are refused.
        overwrite: Replace the results that the directory has.
        progress: Show a bar, with tqdm if that is installed.
        on_run: Called with the record of each run within two seconds after it ended: a dict with environment, agent,
            run, status, steps, episodes, ``grid`` (the recorded steps) and ``curves`` (by metric, a value for each).
        flags: Further flags of ``rlrun run``, such as ``["--verify=2"]``.

    Raises:
        TypeError: An argument has a wrong type; the message names it.
        ValueError: Flags or settings contradict an argument, or the experiment has a number that is not finite.
        ExperimentError: rlrun refused the experiment, or runs failed; then the error has the results.
        Interrupted: It was interrupted, by Ctrl-C or the notebook's stop button. The error has the results of the runs
            that ended; the same call goes on.
        FileNotFoundError: There is no program rlrun.

    """
    from rlrun import _programs, client  # noqa: PLC0415  plugins do without it

    command, config = [client.program(), "run", "--json", "--progress=json"], None
    output = output if output is None else Path(output).expanduser()
    if isinstance(experiment, (str, Path)):
        name = str(experiment)
    else:
        name, config = "-", dict(experiment.config if isinstance(experiment, Experiment) else experiment)
        if output is None:
            label = re.sub(r"[^\w.-]+", "-", str(config.get("name") or "experiment").lower())
            output = Path(config.get("output") or Path("results", label)).expanduser()
        config = _plain(config, Path(output))
    given = {"output": output, "runs": runs, "steps": steps, "seed": seed, "workers": workers}
    flags = [flags] if isinstance(flags, str) else list(flags)
    _contradictions(given, settings or {}, flags)
    names = {"output": "out"}
    command += [f"--{names.get(key, key)}={value}" for key, value in given.items() if value is not None]
    command += [f"--set={key}={_json(value, key)}" for key, value in (settings or {}).items()]
    command += ["--overwrite"] if overwrite else ["--resume"] * resume
    with tempfile.TemporaryFile("w+", encoding="utf-8") as text, tempfile.TemporaryFile() as answer:
        text.write(_json(config))
        text.seek(0)
        process = subprocess.Popen(
            [*command, *flags, "--", name],
            stdin=text,
            stdout=answer,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=_programs.environ(config),
            start_new_session=True,  # an interrupt is sent on by this process, once
        )
        host = _Host(process, progress, on_run)
        with process:
            try:
                host.follow()
            except BaseException as e:
                said = host.stop()
                if not isinstance(e, KeyboardInterrupt):
                    raise
                stopped = Interrupted(f"{said}: the same call goes on")
                stopped.results = _report(host.output)
                raise stopped from None
        if process.returncode == 0:
            answer.seek(0)
            for notice in json.load(answer).get("notices", []) if progress and not _stage.get() else []:
                print(printable(f"Notice: {notice}."), file=sys.stderr)
            return Results(Path(host.output))
    error = ExperimentError(host.said())
    if found := _KEY.match(str(error)):
        error.path = found["key"]
    if host.state.get("failed"):
        error.results = _report(host.output)
    raise error


def _contradictions(given: Mapping[str, Any], settings: Mapping[str, Any], flags: Sequence[str]) -> None:
    """Raise ValueError where flags or settings say what an argument says."""
    own = {
        "--json": "",
        "--help": "",
        "-h": "",
        "--progress": "progress",
        "--resume": "resume",
        "--overwrite": "overwrite",
        "--shard": "",
    }
    own |= {"--out" if key == "output" else f"--{key}": key for key, value in given.items() if value is not None}
    sets = [*settings]
    for i, flag in enumerate(flags):
        name, _, value = flag.partition("=")
        if name in own:
            cure = f"use the argument {own[name]}" if own[name] else "rlrun.run reads what rlrun answers"
            if name == "--shard":
                cure = "a shard has records and no results: start rlrun run --shard in a shell, then rlrun report"
            raise ValueError(f"flags have {flag!r}: {cure}")
        if name == "--set":
            sets.append((value or "".join(flags[i + 1 : i + 2])).partition("=")[0])
    if twice := [key for key in sets if given.get(key) is not None]:
        raise ValueError(f"{twice[0]} is given twice: as an argument, {given[twice[0]]!s}, and in settings or flags")


def _json(value: Any, where: str = "") -> str:
    """Return a config, or a part of it, as JSON; raise ValueError that names a number that is not finite."""
    try:
        return json.dumps(value, default=_number, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(value, default=_number))
        raise ValueError(f"{_not_finite(plain, where)}, and a config has finite numbers") from None


def _not_finite(x: Any, where: str) -> str:
    """Return where in a config there is a number that is not finite, and what it is; nothing if nowhere."""
    if isinstance(x, Mapping):
        return next(filter(None, (_not_finite(v, f"{where}.{k}" if where else k) for k, v in x.items())), "")
    if isinstance(x, list):
        return next(filter(None, (_not_finite(v, f"{where}[{i}]") for i, v in enumerate(x))), "")
    return f"{where} is {x}" if isinstance(x, float) and not math.isfinite(x) else ""


_EXPLORATION = {"exploration", "exploration.rule", "exploration.options"}
"""Keys of agents, and of their sweeps, below which a class is a rule or a source of options."""


def _plain(x: Any, output: Path, exploring: bool = False) -> Any:
    """Return a config without classes, and with a mapping for every environment and agent.

    exploring says that x is of an exploration, where a class is a rule or a source of options.
    """
    from rlrun import _programs  # noqa: PLC0415

    if exploring and (isinstance(x, type) or callable(x)):
        return _programs.command_line(x, output)
    if not isinstance(x, Mapping):
        return [_plain(e, output, exploring) for e in x] if isinstance(x, (list, tuple)) else x
    config = {
        key: _plain(value, output, key != "params" and (exploring or key in _EXPLORATION)) for key, value in x.items()
    }
    for key in ("environments", "agents"):
        if isinstance(config.get(key), list):
            config[key] = [_plain({"plugin": e}, output) if isinstance(e, (str, type)) else e for e in config[key]]
    if isinstance(cls := config.get("plugin"), type):  # of an environment or agent
        if "args" in config:
            raise TypeError(f"{cls.__name__} has args, and a class takes params")
        config = {"name": cls.__name__, **config, **_programs.command(cls, output)}
    return config


def _number(x: Any) -> Any:
    """Return a value of numpy, or a path, as JSON has it."""
    if hasattr(x, "tolist"):
        return x.tolist()
    if isinstance(x, os.PathLike):
        return os.fspath(x)
    if isinstance(x, type):
        raise TypeError(
            f"{x.__name__} is a class, and a config has classes in environments, in agents, and in the exploration of "
            "agents as rule and options"
        )
    from rlrun import _programs  # noqa: PLC0415

    cure = ""
    if spec := getattr(x, "spec", None) if _programs.of_gymnasium(type(x)) else None:
        cure = f': name the environment, "gymnasium:{spec.id}"'
    elif _programs.is_plugin(type(x)):
        name = type(x).__name__
        cure = f': give the class {name}, or with its arguments {{"plugin": {name}, "params": {{…}}}}'
    raise TypeError(f"a config holds names, numbers, lists, mappings and classes of plugins, not {x!r}{cure}")


def _report(directory: str) -> Results | None:
    """Make the outputs of the runs that are there."""
    from rlrun.client import program  # noqa: PLC0415

    if not directory or not any(Path(directory, "runs").glob("*.jsonl")):
        return None
    subprocess.run([program(), "report", "--", directory], capture_output=True, check=False)
    try:
        return read_results(directory)
    except FileNotFoundError:
        return None


_CHANGED = re.compile(
    r"\.(?:args|exploration)\S* differs: it was …?\"?"
    r"(?:[^\"]*/([^\"/]+)|[^\"]*)-\w{16}\.pickle\" and is now [^;]*\.pickle\""
)
"""How rlrun says that a class is another one; its name, if that was not cut."""
_CLASS = re.compile(
    r"(?:(?:\bthe )?\b(?:rule|plugin) )?[^\s\"']+ -m rlrun\._programs "
    r"(?:[^\s\"']*/([^\s/]+)-\w{16}\.pickle|[^\s\"']+:([\w.]+))"
)
"""What rlrun calls a class that is a rule or a source of options."""


class _Host:
    """A process of rlrun, and what it says."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        progress: bool,
        on_run: Callable[[dict[str, Any]], object] | None,
    ) -> None:
        self.process, self.progress, self.on_run = process, progress, on_run
        self.state: dict[str, Any] = {}
        self.lines: list[str] = []

    @property
    def output(self) -> str:
        """The output directory."""
        return str(self.state.get("output", ""))

    def follow(self) -> None:
        """Show progress until the process ends."""
        records: Iterator[None] | None = None
        with _bar() if self.progress else contextlib.nullcontext(lambda _: None) as show:
            for state in self._states():
                show(state)
                if self.on_run:
                    records = records or self._records(state, self.on_run)
                    next(records)
            if records:
                next(records)
        self.process.wait()

    def _states(self) -> Iterator[dict[str, Any]]:
        stderr: IO[str] = self.process.stderr  # type: ignore[assignment]
        for line in stderr:
            if line.startswith('{"output"'):
                self.state = json.loads(line)
                yield self.state
            elif line.startswith("rlrun: warning: "):
                warnings.warn(line.removeprefix("rlrun: warning: ").strip(), stacklevel=5)
            else:
                self.lines.append(line)
        if self.progress and not _stage.get() and self.process.wait() == 0:
            sys.stderr.writelines(self.lines)  # notes, such as on agents that are left out

    def _records(self, first: dict[str, Any], on_run: Callable[[dict[str, Any]], object]) -> Iterator[None]:
        """Call on_run with the records that have come since the last time; first is the first line of progress."""
        seen = {Path(self.output, "runs", name) for name in first.get("recorded", [])}
        while True:
            for path in sorted(set(Path(self.output, "runs").glob("[!.]*.jsonl")) - seen):
                seen.add(path)
                for line in Results(path.parents[1])._file(f"runs/{path.name}").read_text("utf-8").splitlines():
                    on_run(json.loads(line) | {"grid": first["grid"]})
            yield

    def stop(self) -> str:
        """Interrupt the process, wait for its end and return why it ended; a second interrupt ends it at once."""
        while True:
            try:
                if sys.platform == "win32":  # where the console has interrupted it
                    time.sleep(0)
                else:
                    self.process.send_signal(signal.SIGINT)
                for _ in self._states():
                    pass
                ended = self.process.wait() == 0  # it was interrupted when it had come to its end
                return "interrupted" if ended else self.said().partition("; go on with")[0]
            except KeyboardInterrupt:
                continue

    def said(self) -> str:
        """Return what the process said last, in words of Python."""
        lines = [re.sub(r"^(rlrun: )?(stdin:\d+: )?", "", line.rstrip()) for line in self.lines]
        text = "\n".join(line for line in lines if not line.startswith("stopping; interrupt again"))
        text = _CHANGED.sub(
            lambda m: (
                f": {'the class ' + m[1] if m[1] else 'its class'}, a value that it uses, or the version of Python, "
                "differs from that of the runs there"
            ),
            text,
        )
        text = _CLASS.sub(lambda m: f"the class {m[1] or m[2]}", text)
        text = re.sub(r"--(resume|overwrite)\b", r"\1=True", text)
        text = re.sub(r"(the same (?:experiment only; |programs, )choose .* --out)\b", r"\1, or overwrite=True", text)
        text = text.replace(" with --out", " with output=…").replace("add --mixed", 'add flags=["--mixed"]')
        return text or f"rlrun ended with status {self.process.returncode}"


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[dict[str, Any]], object]]:
    """Show a bar of tqdm, or where that is not installed a line now and then."""

    def words(state: dict[str, Any]) -> str:
        failed = f", {state['failed']} failed" if state["failed"] else ""
        of = printable(f"{state['environment']} / {state['agent']}")
        return f"{state['ended']:,} of {state['runs']:,} runs{failed}; {of}"

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a notebook has no widgets
            from tqdm.auto import tqdm  # noqa: PLC0415  optional
    except ImportError:
        said = time.monotonic() - 4

        def line(state: dict[str, Any]) -> None:
            nonlocal said
            if time.monotonic() - said > 5:
                said = time.monotonic()
                print(f"{state['share']:4.0%}  {words(state)}", file=sys.stderr, flush=True)

        yield line
        return
    form = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
    bar: Any = None  # from the first state on, so that an experiment that is refused has none

    def show(state: dict[str, Any]) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=100, bar_format=form, leave=not _stage.get(), delay=2 if _stage.get() else 0)
        bar.set_postfix_str(words(state), refresh=False)
        bar.update(100 * state["share"] - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
