"""Search for the best settings of agents, and compare the agents on fresh runs (docs/tuning.md).

Optuna proposes the settings (``pip install 'rlrun[tune]'``). A search is a function of its config and the versions of
rlrun and Optuna: every round asks for a fixed number of settings that were not tried, runs them side by side, and
tells their scores in order. So an interrupted search goes on by being done again, since runs that are there are not
made again.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlrun._arguments import checked, printable
from rlrun._goodness import Goodness, values_of
from rlrun.experiment import _CLASS, _KEY, Experiment, ExperimentError, _json, _number, _plain, _stage, run
from rlrun.results import Comparison, Results, _estimate, _pandas

if TYPE_CHECKING:
    import pandas as pd

ASKS = 100
"""How often Optuna is asked for a setting that was not tried."""

UNASKED = {"episode_regret", "simple_regret", "recommendation_error"}
"""Metrics that can be compared and are recorded only where a config lists them."""

LISTED = 10_000
"""Most settings that are listed, to find those that were not tried."""

BATCH = 8
"""Most settings of an agent that are tried side by side; a constant, so that results do not depend on the machine."""

TRIALS = 32
"""Settings of an agent that are tried if the config does not say."""

Settings = dict[str, Any]
"""Values of parameters by key, such as {"alpha": 0.1, "policy.epsilon": 0.05}."""


@dataclass
class Trial:
    """One setting of an agent."""

    agent: str
    number: int
    settings: Settings
    state: str = "running"
    """complete, pruned or failed at the end."""
    runs: int = 0
    """Runs in each environment."""
    score: float = math.nan
    """Mean of the metric over runs, or of the scores where there are several environments; larger is better."""
    error: str = ""
    """Of its first run that failed."""


@dataclass(frozen=True, repr=False)
class Tuning:
    """What `tune` found. Printed, it is sentences and a table."""

    directory: Path
    tried: list[Trial]
    """All settings, in the order of agents and trials."""
    results: Results
    """The evaluation: every agent with its best settings, on runs that the search did not use."""
    metric: str = "reward"

    @cached_property
    def best(self) -> dict[str, Settings]:
        """The chosen settings of each tuned agent."""
        return {agent: _best(self._of(agent)).settings for agent in dict.fromkeys(t.agent for t in self.tried)}

    @cached_property
    def trials(self) -> pd.DataFrame:
        """A row per setting: agent, trial, state, runs, score, and a column for each parameter."""
        return _pandas().DataFrame([_row(t) | t.settings for t in self.tried])

    def compare(self, **options: Any) -> Comparison:
        """Compare the agents with their best settings; options are those of `rlrun.compare`."""
        return self.results.compare(**{"metric": self.metric} | options)

    def __repr__(self) -> str:
        """Return what was tried, the best settings, and how the agents compare on fresh runs."""
        lines = []
        for agent, settings in self.best.items():
            trials = self._of(agent)
            values = ", ".join(f"{key}: {_short(value)}" for key, value in settings.items())
            found = f"the best of {len(trials)} settings, found with {_runs(trials):,} runs in each environment"
            lines += [f"{agent}: {values}", f"  {found}"]
            if tied := sum(t.state == "complete" and t.score == _best(trials).score for t in trials) - 1:
                lines.append(f"  {tied} of the others have the same score; the one tried first was taken")
            if failed := [t for t in trials if t.state == "failed"]:
                lines.append(f"  {len(failed)} of them failed and could not be chosen, the first: {failed[0].error}")
        count = int(self.results.runs.groupby(["environment", "agent"]).size().max())
        lines.append(f"On {count:,} fresh runs of each agent:")
        rows = self.results.summary.query("metric == @self.metric")
        known = {(row["environment"], row["agent"]): _estimate(row) for _, row in rows.iterrows()}
        # In the order of the config; those without any value come last.
        tables = (table[["environment", "agent"]] for table in (self.results.summary, self.results.runs))
        for environment, agent in dict.fromkeys(pair for t in tables for pair in t.itertuples(index=False, name=None)):
            lines.append(f"  {environment}, {agent}: {self.metric} {known.get((environment, agent), 'not known')}")
        if self.results.runs["agent"].nunique() > 1:
            try:
                lines.append(repr(self.compare()))
            except ValueError as e:  # an agent has no value of the metric
                lines.append(str(e))
        return printable("\n".join(lines))

    def _repr_html_(self) -> str:
        return f"{self.trials.sort_values('score', ascending=False).head(10).to_html()}{self.results._repr_html_()}"

    def _of(self, agent: str) -> list[Trial]:
        return [t for t in self.tried if t.agent == agent]


class TuneError(ExperimentError, ValueError):
    """A part of the key tune is wrong, or what it says of an agent: ``path`` says which."""


def _wrong(path: str, what: str) -> TuneError:
    error = TuneError(f"{path}: {what}")
    error.path = path
    return error


@checked
def tune(
    experiment: Experiment | Mapping[str, Any] | str | Path,
    *,
    output: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
    flags: Sequence[str] = (),
) -> Tuning:
    """Search for the best settings of agents, then compare the agents on runs that the search did not use.

    The config has the key ``tune``, as docs/tuning.md explains it::

        tune={"trials": 32, "runs": 16, "agents": {"q-learning": {"step": {"low": 0.01, "high": 1, "log": True}}}}

    Args:
        experiment: An experiment, a config as a mapping, or the path of a config file.
        output: Directory that receives the results; as the config says if None, else ``results/NAME``.
        overwrite: Replace the search that the directory has, with all its runs.
        progress: Show how far the search is, with a bar for each of its experiments of more than two seconds.
        flags: Further flags of ``rlrun run``, such as ``["--lock=mine.lock.yaml"]``.

    Raises:
        ExperimentError: rlrun refused the experiment, or no run of an agent succeeded. ``path`` is the key that is
            wrong. If the key tune is, the error is a ValueError as well.
        ValueError: The output directory has another search, or the results of an experiment.
        Interrupted: It was interrupted. The same call goes on.
        ImportError: Optuna is missing.

    """
    config = _config(experiment)
    directory = Path(output or config.get("output") or Path("results", str(config.get("name") or "tune"))).expanduser()
    own = [directory / name for name in ("search", "evaluation", "trials.csv", "tune.json")]
    for path in [*own, *directory.glob("search/*")]:
        if path.is_symlink():
            raise ValueError(f"{path} is a link, and nothing is written through links in an output directory")
    config = _checked("-", _plain(config, directory))
    for key in ("output", "outputs"):
        config.pop(key, None)
    from rlrun._programs import replace  # noqa: PLC0415  plugins do without it

    search = _Search(config, directory, progress, flags)
    if overwrite:
        _discard(directory)
    _claim(directory, config)
    tried = search.run()
    agents = {agent: _best([t for t in tried if t.agent == agent]) for agent in search.ranges}
    final = copy.deepcopy(search.config)
    final["agents"] = [
        search.agent(label, agents[label].settings, label) if label in agents else search.components[label]
        for label in search.components
    ]
    record = final.get("record", {})
    if search.metric in UNASKED and "metrics" not in record:
        final["record"] = {**record, "metrics": ["reward", search.metric]}
    results = _run(final, directory / "evaluation", progress, flags)
    found = Tuning(directory, tried, results, search.metric)
    replace(directory / "trials.csv", found.trials.to_csv(index=False).encode())
    return found


def _run(config: dict[str, Any], output: Path, progress: bool, flags: Sequence[str], *, stage: bool = False) -> Results:
    """Run an experiment with its own runs and seed, whatever RLRUN_RUNS and RLRUN_SEED say of the whole search."""
    runs, seed = config.get("runs"), config.get("seed")
    token = _stage.set(stage)
    try:
        return run(config, output=output, runs=runs, seed=seed, progress=progress, flags=flags)
    except ExperimentError as e:  # runs are of the search as a whole, which has one directory and no --mixed
        said = re.sub(
            r"(; (?:use the same programs, )?choose another) directory with .*", r"\1 output directory", str(e)
        )
        if said != str(e):
            of = output.parent.parent if output.parent.name == "search" else output.parent
            e.args = (said.replace(str(output), str(of)),)
        raise
    finally:
        _stage.reset(token)


def _config(experiment: Experiment | Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return a config as a mapping of its own."""
    if isinstance(experiment, Experiment):
        experiment = experiment.config
    return dict(experiment) if isinstance(experiment, Mapping) else _checked(str(experiment))


def _checked(name: str, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a config as the host reads it, from a file or the standard input; raise TuneError if tune is wrong."""
    from rlrun._programs import environ  # noqa: PLC0415  plugins do without it
    from rlrun.client import program  # noqa: PLC0415

    command, given = [program(), "tune", "--print", "--", name], _json(config)
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=False, env=environ(config))
    if done.returncode:
        said = re.sub(r"(?m)^(rlrun: )?(stdin:\d+: )?", "", done.stderr.strip())
        error = (TuneError if said.startswith("tune") else ExperimentError)(said)
        if found := _KEY.match(said):
            error.path = found["key"]
        raise error
    checked: dict[str, Any] = json.loads(done.stdout)
    return checked


def _discard(directory: Path) -> None:
    """Remove a search, the evaluations of earlier ones included; nothing else that the directory has."""
    if not (directory / "tune.json").is_file():
        return
    for path in directory.iterdir():
        if re.fullmatch(r"search|evaluation(-\d+)?", path.name) and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    for name in ("trials.csv", "tune.json"):  # the last one says that there is a search
        (directory / name).unlink(missing_ok=True)


def _claim(directory: Path, config: Mapping[str, Any]) -> None:
    """Write the config of a search into its directory. Raise ValueError if that is of another search or experiment.

    A search may grow, by whole rounds and by runs of the comparison: what was made stays what it was.
    """
    if (directory / "experiment.yaml").exists():
        raise ValueError(f"{directory} has the results of rlrun run: choose another output directory")
    path = Results(directory)._file("tune.json")
    now = {key: value for key, value in config.items() if key not in _NO_MATTER}
    text = json.dumps(now, indent=1, sort_keys=True, default=_number)
    from rlrun._programs import replace  # noqa: PLC0415  plugins do without it

    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        replace(path, text.encode())
        return
    try:
        was, now = dict(json.loads(path.read_text(encoding="utf-8"))), json.loads(text)
        grows = _grows(was, now)
    except (ValueError, TypeError, AttributeError) as e:
        raise ValueError(f"{path} is damaged: {e}: choose another output directory") from None
    if was == now:
        return
    if not any(directory.glob("search/*/experiment.yaml")):  # it was refused before it made a run
        replace(path, text.encode())
        return
    if grows:
        trials = (was.get("tune") or {}).get("trials", TRIALS)
        if (
            trials != (now.get("tune") or {}).get("trials", TRIALS) and (directory / "evaluation").exists()
        ):  # other settings may be the best now
            (directory / "evaluation").rename(directory / f"evaluation-{trials}")
        replace(path, text.encode())
        return
    differ = [k for k in sorted(was | now) if was.get(k) != now.get(k)]
    hint = f"; a search grows by more trials, from a multiple of {BATCH} to another, and by more runs"
    raise ValueError(
        f"{directory} has another search: {'; '.join(_differs(k, was.get(k), now.get(k)) for k in differ)}: "
        "choose another output directory, or replace the search (overwrite)"
        f"{hint if {*differ} <= {'runs', 'tune'} else ''}"
    )


def _grows(was: dict[str, Any], now: dict[str, Any]) -> bool:
    """Report whether a search goes on with all that an older one made: in whole rounds, and with more runs."""
    parts = [(x.get("runs", 0), x.get("tune") or {}, x) for x in (was, now)]
    (few, less), (many, more) = ((runs, tune.get("trials", TRIALS)) for runs, tune, _ in parts)
    rest, same = ({**x, "runs": 0, "tune": {**tune, "trials": 0}} for _, tune, x in parts)
    return bool(rest == same and few <= many and (less == more or (less < more and less % BATCH == more % BATCH == 0)))


def _differs(key: str, was: Any, now: Any) -> str:
    """Say in which keys a part of a config differs, and what may have set them."""
    if isinstance(was, dict) and isinstance(now, dict):
        parts = [k for k in sorted(was | now) if was.get(k) != now.get(k)]
        return "; ".join(_differs(f"{key}.{k}", was.get(k), now.get(k)) for k in parts)
    by = f" (in the config, by --{key} or by RLRUN_{key.upper()})" if key in {"runs", "steps", "seed"} else ""
    old, new = ("the default" if x is None else json.dumps(x) for x in (was, now))
    return f"{key} was {old} and is now {new}{by}"


_NO_MATTER = {"workers", "lanes", "transport", "colocate", "limits", "report", "description", "compare"}
"""Keys of a config that no run depends on."""


class _Search:
    """A search for the settings of the agents of one config."""

    def __init__(self, config: dict[str, Any], directory: Path, progress: bool, flags: Sequence[str] = ()) -> None:
        self.config = {key: value for key, value in config.items() if key != "tune"}
        self.directory, self.progress, self.flags = directory / "search", progress, flags
        spec = config.get("tune")
        if not spec or not spec.get("agents"):
            raise _wrong("tune.agents", "is missing: it maps the label of an agent to the ranges of its parameters")
        self.trials, self.runs = spec.get("trials", TRIALS), spec.get("runs", 16)
        self.halving, self.metric = spec.get("halving", True), spec.get("metric", "reward")
        self.sampler = spec.get("sampler", "tpe")
        self.components: dict[str, dict[str, Any]] = {}
        for i, c in enumerate(config["agents"]):
            label = str(c.get("name") or c["plugin"])
            if label in self.components:
                raise _wrong(f"agents[{i}].name", f"two agents are called {label}: give each a name of its own")
            self.components[label] = c
        ranges = {label: self._ranges(label, ranges) for label, ranges in spec["agents"].items()}
        self.ranges = {label: ranges[label] for label in self.components if label in ranges}
        for label, given in self.ranges.items():
            for r in given:
                if self.sampler == "cma-es" and (r.values or r.when):
                    raise _wrong(f"tune.agents.{label}.{r.key}", "cma-es is for numbers without when: take tpe")
        self.scale: Goodness | None = None
        self.seed = int(config.get("seed", 1))

    def _ranges(self, label: str, ranges: Mapping[str, Any]) -> list[_Range]:
        at = f"tune.agents.{label}"
        if label not in self.components:
            raise _wrong(at, f"there is no agent {label}; there are {', '.join(self.components)}")
        if "sweep" in self.components[label]:
            raise _wrong(at, "the agent has a sweep: search its keys, or give them one value")
        if not ranges:
            raise _wrong(at, "has no ranges: give one, or leave the agent out")
        return _ordered(at, {key: _Range.of(f"{at}.{key}", key, spec) for key, spec in ranges.items()})

    def run(self) -> list[Trial]:
        """Make all trials, in rounds."""
        studies = {label: self._study(label) for label in self.ranges}
        tried: list[Trial] = []
        seen: dict[str, set[str]] = {label: set() for label in self.ranges}
        rounds = math.ceil(self.trials / BATCH)
        for k in range(rounds):
            first, end = self.trials * k // rounds, self.trials * (k + 1) // rounds  # at least two settings
            asked, batch = {}, []
            for label, study in studies.items():
                for n in range(first, end):
                    if (new := self._ask(study, label, seen[label])) is None:
                        break  # all are tried
                    asked[label, n], settings = new
                    batch.append(Trial(label, n, settings))
            if not batch:
                break
            reports = self._race(batch, f"{first:05d}")
            for trial in batch:  # in the order in which they were asked for
                optuna_trial = asked[trial.agent, trial.number]
                for runs, score in reports[trial.agent, trial.number]:
                    optuna_trial.report(score, runs)
                self._tell(studies[trial.agent], optuna_trial, trial)
            tried += batch
            if self.progress:
                self._say(tried)
        return sorted(tried, key=lambda t: (list(self.ranges).index(t.agent), t.number))

    def _ask(self, study: Any, label: str, seen: set[str]) -> tuple[Any, Settings] | None:
        """Return a setting that was not tried; None if there is none, or none is found."""
        every = _every(self.ranges[label])
        for _ in range(ASKS):
            if every is not None and len(seen) == len(every):
                return None
            trial = study.ask()
            settings = _settings(self.ranges[label], trial)
            if (text := _text(settings)) not in seen:
                seen.add(text)
                return trial, settings
            study.tell(trial, state=_optuna().trial.TrialState.FAIL)
            if every is not None:
                left = [s for s in every if _text(s) not in seen]
                chosen = random.Random(f"{self.seed}/{label}/{len(seen)}").choice(left)
                coded = {
                    r.key: _text(chosen[r.key]) if r.values else chosen[r.key]
                    for r in self.ranges[label]
                    if r.key in chosen
                }
                study.enqueue_trial(coded)
        return None

    def _study(self, label: str) -> Any:
        optuna = _optuna()
        seed = int.from_bytes(hashlib.sha256(f"{self.seed}/{label}".encode()).digest()[:4], "big")
        samplers = {
            "tpe": optuna.samplers.TPESampler,
            "cma-es": optuna.samplers.CmaEsSampler,
            "random": optuna.samplers.RandomSampler,
        }
        more = {"consider_pruned_trials": True, "warn_independent_sampling": False} if self.sampler == "cma-es" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = samplers[self.sampler](seed=seed, **more)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        if (given := self._given(label)) is not None:
            study.enqueue_trial(given)  # the config's own setting is the first
        return study

    def _given(self, label: str) -> dict[str, Any] | None:
        """Return the config's own setting as Optuna has it; None if it lacks a parameter."""
        given: dict[str, Any] = {}
        plain: Settings = {}
        for r in self.ranges[label]:
            if r.applies(plain):
                value = _get(self.components[label], r.key)
                if value is None:
                    return None
                r.check(f"agents[{list(self.components).index(label)}].{'.'.join(_path(r.key))}", value)
                plain[r.key], given[r.key] = value, _text(value) if r.values else value
        return given

    def _race(self, batch: list[Trial], name: str) -> dict[tuple[str, int], list[tuple[int, float]]]:
        """Run a batch: few runs of all, then more of the better half (Jamieson & Talwalkar 2016)."""
        reports: dict[tuple[str, int], list[tuple[int, float]]] = {(t.agent, t.number): [] for t in batch}
        left, before = batch, 0
        for stage, runs in enumerate(self._stages(len(batch) // len(self.ranges))):
            scores = self._scores(left, self.directory / f"{name}-{stage}", runs - before, self.seed + 1 + stage)
            for t in left:
                fresh = scores.get((t.agent, t.number), math.nan)
                t.score = fresh if before == 0 else (before * t.score + (runs - before) * fresh) / runs
                t.runs = runs
                if math.isfinite(t.score):
                    reports[t.agent, t.number].append((runs, t.score))
                else:
                    t.state = "failed"
            before = runs
            if runs < self.runs and not (left := list(self._better(left))):
                break  # all of them failed
        for t in left:
            t.state = "complete" if t.state == "running" else t.state
        return reports

    def _stages(self, settings: int) -> list[int]:
        """Return the runs that a trial has after each stage."""
        halvings = min(2, int(math.log2(settings)) - 1) if self.halving and settings > 1 else 0
        return sorted({max(2, math.ceil(self.runs / 2**k)) for k in range(halvings + 1)})

    def _better(self, batch: list[Trial]) -> Iterator[Trial]:
        """Yield the better half of the settings of each agent, at least two."""
        for label in self.ranges:
            alive = [t for t in batch if t.agent == label and t.state == "running"]
            alive.sort(key=lambda t: (-t.score, t.number))
            keep = max(2, math.ceil(len(alive) / 2))
            yield from alive[:keep]
            for t in alive[keep:]:
                t.state = "pruned"

    def _scores(self, batch: list[Trial], output: Path, runs: int, seed: int) -> dict[tuple[str, int], float]:
        """Run an experiment with these settings as agents and return the score of each that did not fail."""
        labels = {f"{t.agent} {t.number}": t for t in batch}
        config = copy.deepcopy(self.config) | {"runs": runs, "seed": seed % 2**64, "name": output.name}
        config["agents"] = [self.agent(t.agent, t.settings, label) for label, t in labels.items()]
        config["record"] = {**config.get("record", {}), "metrics": [self.metric]}  # as it is in the comparison
        config["outputs"] = ["sqlite"]
        config.pop("compare", None)
        try:
            results = _run(config, output, self.progress, self.flags, stage=True)
        except ExperimentError as e:
            if e.results is None:
                raise self._explained(e, labels) from None
            results = e.results
        for label, errors in results.runs[results.runs["error"] != ""].groupby("agent")["error"]:
            labels[label].error = errors.iloc[0]
        if not (results.runs["status"] == "ok").any():
            return {}
        values = values_of(results, self.metric).groupby("agent")["value"].count()
        planned = runs * results.runs["environment"].nunique()
        for label, t in labels.items():
            if (missing := planned - values.get(label, 0)) and not t.error:
                t.error = f"{missing} of {planned} runs have no {self.metric}"
                if "episodes" in self.config:
                    t.error += ": they made all their steps before their last episode ended, so raise steps"
        if not values.any():
            return {}
        self.scale = self.scale or Goodness.of(results, self.metric)  # of the first stage, which has several agents
        scores = self.scale.runs(results, "search in each environment alone")
        means = scores.groupby("agent")["value"].mean()[values[values == planned].index]
        return {(labels[label].agent, labels[label].number): float(mean) for label, mean in means.items()}

    def agent(self, label: str, settings: Settings, name: str) -> dict[str, Any]:
        """Return the config of an agent with settings."""
        component: dict[str, Any] = copy.deepcopy(self.components[label]) | {"name": name}
        for r in self.ranges[label]:
            if r.key in settings:
                _set(component, r.key, settings[r.key])
            else:
                _unset(component, r.key)
        return component

    def _explained(self, e: ExperimentError, labels: Mapping[str, Trial]) -> ExperimentError:
        """Say which setting rlrun refused."""
        if str(e.path).startswith("record.metrics"):
            return _wrong("tune.metric", str(e).partition(": ")[2])
        path, _, rest = str(e.path).partition("]")
        if not path.startswith("agents["):
            return e
        trial = list(labels.values())[int(path.removeprefix("agents["))]
        message, where = str(e).splitlines()[0].partition(": ")[2], rest.removeprefix(".")
        path = f"tune.agents.{trial.agent}"
        said = (
            f"the setting {trial.settings} is refused: {where}: {message}; narrow a range, or say with when where a "
            "parameter has an effect"
        )
        part = where.removeprefix("params.")
        named = [r.key for r in self.ranges[trial.agent] if f"{r.key}.".startswith(f"{part}.")]
        if message.startswith("unknown key") and named:
            path, said = f"{path}.{named[0]}", message if part == named[0] else f"{part}: {message}"
        return _wrong(path, said)

    def _tell(self, study: Any, optuna_trial: Any, trial: Trial) -> None:
        state = _optuna().trial.TrialState
        if trial.state == "complete":
            study.tell(optuna_trial, trial.score)
        else:
            study.tell(optuna_trial, state=state.PRUNED if trial.state == "pruned" else state.FAIL)

    def _say(self, tried: list[Trial]) -> None:
        parts = []
        for label in self.ranges:
            done = [t for t in tried if t.agent == label]
            top = max((t.score for t in done if t.state == "complete"), default=math.nan)
            parts.append(f"{label}: {len(done)} of {self.trials} settings, best {top:.4g}")
        print(printable("; ".join(parts)), file=sys.stderr, flush=True)


@dataclass(frozen=True)
class _Range:
    """What a parameter may be."""

    key: str
    low: float = 0
    high: float = 0
    log: bool = False
    integer: bool = False
    values: tuple[str, ...] = ()
    """Choices, as JSON: Optuna knows text, numbers and truth values alone."""
    when: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, at: str, key: str, spec: Any) -> _Range:
        when = dict(spec.get("when") or {})
        if "values" in spec:
            if others := set(spec) - {"values", "when"}:
                raise _wrong(f"{at}.{min(others)}", "has no effect beside values")
            values = tuple(dict.fromkeys(map(_text, spec["values"])))
            if len(values) < 2:
                raise _wrong(f"{at}.values", "needs two different values; one value belongs into params")
            return cls(key, values=values, when=when)
        if missing := {"low", "high"} - set(spec):
            raise _wrong(f"{at}.{max(missing)}", "is missing: a range has low and high, or values")
        low, high = spec["low"], spec["high"]
        if not low < high:
            raise _wrong(at, f"low must be less than high, and {low} is not less than {high}")
        if spec.get("log") and low <= 0:
            raise _wrong(f"{at}.low", f"must be positive in a range with log, not {low}")
        if spec.get("integer") and (low != int(low) or high != int(high)):
            raise _wrong(at, "low and high must be whole numbers in a range of integers")
        return cls(key, low, high, bool(spec.get("log")), bool(spec.get("integer")), (), when)

    def applies(self, settings: Settings) -> bool:
        """Report whether the parameter is given beside others."""
        return all(key in settings and settings[key] == value for key, value in self.when.items())

    def check(self, at: str, value: Any) -> None:
        """Raise TuneError unless a value belongs to the range."""
        if self.values:
            if _text(value) not in self.values:
                raise _wrong(at, f"{value!r} is none of the values of tune: {', '.join(self.values)}")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise _wrong(at, f"{value!r} is outside of the range of tune, {self.low} to {self.high}")

    def suggest(self, trial: Any) -> Any:
        if self.values:
            return json.loads(trial.suggest_categorical(self.key, list(self.values)))
        if self.integer:
            return trial.suggest_int(self.key, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(self.key, self.low, self.high, log=self.log)


def _text(value: Any) -> str:
    """Return JSON that equal values share, such as 1 and 1.0."""

    def plain(v: Any) -> Any:
        if isinstance(v, Mapping):
            return {key: plain(x) for key, x in v.items()}
        if isinstance(v, list):
            return [plain(x) for x in v]
        return int(v) if isinstance(v, float) and v.is_integer() and abs(v) < 2**53 else v

    return json.dumps(plain(value), sort_keys=True)


def _ordered(at: str, ranges: Mapping[str, _Range]) -> list[_Range]:
    """Return ranges so that each comes after those that its when names."""
    for key in ranges:
        if outer := next((k for k in ranges if key.startswith(f"{k}.")), None):
            raise _wrong(f"{at}.{key}", f"is inside {outer}, which has values of its own: give one of the two")
    done: dict[str, _Range] = {}
    while len(done) < len(ranges):
        ready = [r for r in ranges.values() if r.key not in done and all(k in done or k not in ranges for k in r.when)]
        if not ready:
            stuck = [key for key in ranges if key not in done]
            raise _wrong(f"{at}.{stuck[0]}.when", "depends on itself")
        for r in ready:
            for key, value in r.when.items():
                if key not in ranges:
                    raise _wrong(f"{at}.{r.key}.when", f"{key} has no range, so it is the same in all trials")
                ranges[key].check(f"{at}.{r.key}.when.{key}", value)
            done[r.key] = r
    return list(done.values())


def _settings(ranges: list[_Range], trial: Any) -> Settings:
    settings: Settings = {}
    for r in ranges:
        if r.applies(settings):
            settings[r.key] = r.suggest(trial)
    return settings


def _every(ranges: list[_Range]) -> list[Settings] | None:
    """Return all settings; None if they are infinitely many, or more than are listed."""
    every: list[Settings] = [{}]
    for r in ranges:
        here = [s for s in every if r.applies(s)]
        values = [json.loads(v) for v in r.values] or (range(int(r.low), int(r.high) + 1) if r.integer else None)
        if here and (values is None or len(here) * len(values) > LISTED):
            return None
        every = [s for s in every if not r.applies(s)] + [{**s, r.key: v} for s in here for v in values or ()]
    return every


def _best(trials: list[Trial]) -> Trial:
    complete = [t for t in trials if t.state == "complete"]
    if not complete:
        raise ExperimentError(f"every setting of {trials[0].agent} that was tried failed, the first: {trials[0].error}")
    return max(complete, key=lambda t: (t.score, -t.number))


def _row(t: Trial) -> dict[str, Any]:
    return {"agent": t.agent, "trial": t.number, "state": t.state, "runs": t.runs, "score": t.score}


def _runs(trials: list[Trial]) -> int:
    return sum(t.runs for t in trials)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _CLASS.sub(lambda m: m[1] or m[2], str(value))


def _path(key: str) -> list[str]:
    words = key.split(".")
    return words if words[0] == "exploration" else ["params", *words]


def _get(component: Mapping[str, Any], key: str) -> Any:
    x: Any = component
    for word in _path(key):
        x = x.get(word) if isinstance(x, Mapping) else None
    return x


def _set(component: dict[str, Any], key: str, value: Any) -> None:
    *path, last = _path(key)
    for word in path:
        component = component.setdefault(word, {})
    component[last] = value


def _unset(component: dict[str, Any], key: str) -> None:
    *path, last = _path(key)
    for word in path:
        component = component.get(word, {})
    component.pop(last, None)


def _optuna() -> Any:
    try:
        import optuna  # noqa: PLC0415  optional
    except ImportError as e:
        raise ImportError("rlrun.tune needs Optuna: pip install 'rlrun[tune]'") from e
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
