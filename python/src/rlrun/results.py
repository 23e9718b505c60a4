"""Results of experiments as pandas frames, and comparisons of agents.

It needs pandas (`pip install 'rlrun[pandas]'`):

    results = rlrun.read_results("results/quickstart")
    sns.lineplot(results.curves.query("metric == 'reward'"), x="step", y="value", hue="agent")
    rlrun.compare("results/quickstart").comparisons
"""

from __future__ import annotations

import csv
import html
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlrun._arguments import checked, printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from rlrun._sensitivity import Sensitivity


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415  # optional
    except ImportError as e:
        raise ImportError("results are pandas frames: pip install 'rlrun[pandas]'") from e
    return pd


@dataclass(frozen=True)
class Results:
    """The results in one output directory, as tables in long format, as seaborn expects."""

    directory: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "_at", self.directory.absolute())  # the working directory may change
        object.__setattr__(self, "_began", _began(self._at))  # type: ignore[attr-defined]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """A row per run: environment, agent, run, status, steps, episodes, programs, error."""
        return self._query(
            "SELECT r.environment, r.agent, r.run, status, r.steps, episodes, programs, coalesce(error, '') AS error "
            "FROM runs r LEFT JOIN failures f USING (environment, agent, run)"
        )

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """A row per run and metric: environment, agent, run, metric, value.

        The value of a cumulative metric is the last one, that of another its mean over all steps.
        """
        return self._query("SELECT environment, agent, run, metric, value FROM outcomes")

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """A row per decision of the host between options; docs/exploration.md explains the columns."""
        frame = self._query(
            "SELECT environment, agent, run, step, episode, state, option, explore, hold, capped, delta, p, share, "
            "advantage, action, other, greedy, gain, cost, leads, numbers FROM decisions"
        )
        return frame.astype({"explore": bool, "capped": bool})

    @cached_property
    def curves(self) -> pd.DataFrame:
        """A row per run, metric and recorded step: environment, agent, run, metric, step, value.

        It has the ok runs of ``runs``, and the metrics that were recorded: curves of ``cumulative_reward``, which
        follow from those of the reward, are in ``curves.csv`` alone. Raises ValueError if their records are damaged
        or gone, or differ.
        """
        pd = _pandas()
        steps = self._query("SELECT step FROM grid ORDER BY step")["step"].to_numpy()
        parts = []
        for record in self._records():
            for metric, values in sorted(record["curves"].items()):
                if len(values) != len(steps):
                    of = printable(f"run {record['run']} of {record['agent']} in {record['environment']}")
                    raise ValueError(
                        f"{of} has {len(values)} values of {printable(metric)} for {len(steps)} recorded steps: "
                        f"run rlrun report {self.directory} first"
                    )
                labels = {k: record[k] for k in ("environment", "agent", "run")}
                parts.append(pd.DataFrame({**labels, "metric": metric, "step": steps, "value": values}))
        columns = ["environment", "agent", "run", "metric", "step", "value"]
        if not parts:
            return pd.DataFrame(columns=columns)
        frame = pd.concat(parts, ignore_index=True)
        frame["value"] = frame["value"].astype(float)
        return frame.dropna(subset=["value"], ignore_index=True)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """summary.csv: a row per environment, agent and metric, in the order of the config.

        It has n (ok runs), failed, mean, stderr, ci_low, ci_high, the interquartile mean iqm with its interval, the
        difference to the first agent, run by run, the median, and of times how many runs are censored.
        """
        path = self._file("summary.csv")
        if not path.exists():
            raise FileNotFoundError(f"{self.directory} has no summary.csv: outputs in its config leave csv out")
        try:
            with path.open(encoding="utf-8", newline="") as file:
                columns = next(csv.reader(file), [])
            numbers = {column: ["", "NaN"] for column in columns if column not in _TEXTS}
            frame = _pandas().read_csv(path, dtype=dict.fromkeys(_TEXTS, str), na_values=numbers, keep_default_na=False)
            frame[["environment", "agent", "metric", "n", "failed", "mean", "ci_low", "ci_high"]]
            for column in ("environment", "agent"):  # which are as everywhere else, and not as for spreadsheets
                frame[column] = frame[column].str.replace(_FORMULA, "", regex=True)
        except (ValueError, KeyError, csv.Error) as e:
            raise self._damaged(path, e) from None
        return frame

    @cached_property
    def mixed(self) -> str:
        """Which programs differ between runs (``--mixed``), and their identities in ``runs``; empty if none does."""
        return "; ".join(self._query("SELECT programs FROM mixed")["programs"])

    def compare(
        self,
        *,
        metric: str | None = None,
        pairs: str | Sequence[str] | None = None,
        against: str | None = None,
        margin: float | Mapping[str, float] | None = None,
        alpha: float | None = None,
        correction: str | None = None,
        unpaired: bool = False,
        scores: Mapping[str, tuple[float, float]] | None = None,
    ) -> Comparison:
        """Compare the agents, with corrected tests, as `rlrun.compare` does."""
        options: dict[str, Any] = {"metric": metric, "pairs": pairs, "against": against, "margin": margin}
        options |= {"alpha": alpha, "correction": correction, "unpaired": unpaired, "scores": scores}
        return compare(self._file("experiment.yaml").parent, **options)

    @checked
    def power(
        self,
        difference: float | Mapping[str, float],
        *,
        metric: str | None = None,
        pairs: str | Sequence[str] | None = None,
        against: str | None = None,
        power: float | None = None,
        alpha: float | None = None,
    ) -> pd.DataFrame:
        """Return how many runs decide a difference, with these runs as a pilot, as ``rlrun power`` does.

        It has a row per pair of agents and environment: environment, a, b, paired, runs, sd, alpha, detectable,
        difference, needed and cautious, which are runs of each agent, absent if the pilot has too few runs.

        Args:
            difference: The smallest difference that matters, in units of the metric, or one for each environment.
            metric: What will be compared; reward if None.
            pairs: ``"first"``, ``"all"``, or the labels of two agents; ``"first"`` if None.
            against: The label of an agent that all others are compared with.
            power: The probability with which a true difference is to be decided; 0.8 if None.
            alpha: Level of all tests together; 0.05 if None.

        Raises:
            ValueError: rlrun refused, for the reason that it gives.
            FileNotFoundError: There is no program rlrun.

        """
        from rlrun.client import program  # noqa: PLC0415  plugins do without it

        options: dict[str, object] = {"metric": metric, "against": against, "power": power, "alpha": alpha}
        options["pairs"] = pairs if pairs is None or isinstance(pairs, str) else ",".join(pairs)
        each = {f"{of}=": d for of, d in difference.items()} if isinstance(difference, Mapping) else {"": difference}
        command = [program(), "power", "--json", *(f"--difference={of}{d}" for of, d in each.items())]
        command += [f"--{name}={value}" for name, value in options.items() if value is not None]
        command += ["--", str(self._file("experiment.yaml").parent)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            raise ValueError(_refusal(done.stderr))
        return _pandas().DataFrame(json.loads(done.stdout))

    def sensitivity(
        self, *, metric: str = "reward", scores: Mapping[str, tuple[float, float]] | None = None
    ) -> Sensitivity:
        """Say how much agents with sweeps owe to their settings, as `rlrun.sensitivity` does."""
        from rlrun._sensitivity import sensitivity  # noqa: PLC0415  which reads results

        return sensitivity(self._file("experiment.yaml").parent, metric=metric, scores=scores)

    @checked
    def steps_to(
        self, metric: str, level: float | Mapping[str, float], *, below: bool = False, stays: bool = True
    ) -> pd.DataFrame:
        """Return after how many steps the curve of a metric is at a level, a row per run, such as an optimum less x.

        The column step has the first recorded step (with a budget in episodes: episode) from which on all values
        are at least the level, NaN if there is none. The columns before it are environment, agent and run.

        Args:
            metric: The metric. A mean over few steps is noisy: ``evaluation_return`` or fewer recorded steps are not.
            level: The level, or one for each environment.
            below: Values are to be at most the level, as of a regret.
            stays: False takes the first step whose value is at the level, whatever follows.

        Raises:
            TypeError: An argument has a wrong type; the message names it.
            ValueError: There are no curves of the metric, or there is no level for an environment, or it is NaN.

        """
        pd = _pandas()
        curves = self.curves[self.curves["metric"] == metric]
        if curves.empty:
            have = ", ".join(sorted(self.curves["metric"].unique()))
            raise ValueError(f"there are no curves of {metric!r}; there are those of {have}")
        levels: Any = dict.fromkeys(curves["environment"], level) if not isinstance(level, Mapping) else level
        if missing := [name for name in curves["environment"].unique() if name not in levels]:
            raise ValueError(f"there is no level for the environment {missing[0]!r}; there are those for {[*levels]}")
        if unknown := [name for name in curves["environment"].unique() if math.isnan(levels[name])]:
            raise ValueError(f"the level for the environment {unknown[0]!r} is NaN")
        ahead = (curves["value"] - curves["environment"].map(levels)) * (-1 if below else 1) >= 0
        keys = ["environment", "agent", "run"]
        rows = []
        for of, part in curves.assign(ahead=ahead).groupby(keys, sort=False):
            at = part["ahead"].iloc[::-1].cummin().iloc[::-1] if stays else part["ahead"]
            rows.append((*of, part["step"][at].min()))
        return pd.DataFrame(rows, columns=[*keys, "step"])

    @checked
    def plot(
        self,
        metric: str = "reward",
        path: str | Path | None = None,
        *,
        log: bool = False,
        agents: str | Sequence[str] | None = None,
    ) -> Figure:
        """Draw the curves of a metric, a panel for every environment: means over runs with 95 % intervals.

        A curve has up to fifty points along the axis. Of metrics that are means of steps, such as the reward, each is
        the mean of all steps since the point before. So is each end of its interval, which is then too wide rather than
        too narrow. The dotted line is the optimal mean reward of a step, where it is known. The first twentieth of the
        steps sets no axis. Colours, dashes and marks tell twenty agents apart. Of more agents the ten best are drawn,
        by the mean rank of their values in the summary, and in grey the median and the middle 50 % and 90 % of the
        others.

        Args:
            metric: The metric.
            path: File for the figure, such as ``curves.pdf``; its ending is the format.
            log: Logarithmic steps.
            agents: The agents to draw, in this order, however many they are; all others are left out.

        Raises:
            ValueError: There are no curves of the metric, or none of a named agent, or no agent is named.

        """
        from rlrun import _figures  # noqa: PLC0415  plugins do without it

        return _figures.curves(self, metric, path, log, [agents] if isinstance(agents, str) else agents)

    def _repr_html_(self) -> str:
        """Return the summary for notebooks: means ± half the width of their 95 % intervals."""
        rows = self.summary.dropna(subset=["mean"])
        text = [_estimate(row) for _, row in rows.iterrows()]
        keys = ["environment", "agent", "n", "failed"]
        table = rows[[*keys, "metric"]].assign(text=text).pivot_table("text", keys, "metric", "first", sort=False)
        mixed = f"<p>{html.escape(_MIXED + self.mixed)}</p>" if "programs" in self.summary else ""
        return f"<p>{html.escape(str(self.directory))}</p>{mixed}{table.fillna('').to_html()}"

    def _file(self, name: str) -> Path:
        """Return the path of a regular file: the directory may be somebody else's, with links and pipes in it."""
        at: Path = self._at  # type: ignore[attr-defined]
        if _began(at) != self._began:  # type: ignore[attr-defined]
            raise ValueError(
                f"{self.directory} was overwritten after these results were returned: they are no longer there. Use "
                "those of the later call, and give each experiment an output of its own"
            )
        path = at / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ValueError(printable(f"{path} is no regular file"))
        return path

    def _database(self) -> Path:
        path = self._file("results.db")
        if not path.exists():
            raise FileNotFoundError(
                f"{self.directory} holds no results.db: outputs in its config leave sqlite out, or runs are missing; "
                f"in the second case run rlrun report {self.directory}"
            )
        return path

    def _query(self, query: str) -> pd.DataFrame:
        import sqlite3  # noqa: PLC0415  plugins do without it

        database = sqlite3.connect(f"{self._database().resolve().as_uri()}?mode=ro", uri=True)
        # A view, which rlrun never writes, may never end.
        database.set_authorizer(lambda *asked: sqlite3.SQLITE_DENY if asked[4] else sqlite3.SQLITE_OK)
        try:
            return _pandas().read_sql_query(query, database)
        except (sqlite3.DatabaseError, _pandas().errors.DatabaseError, UnicodeDecodeError) as e:
            raise self._damaged(self._database(), e.__cause__ or e) from None
        finally:
            database.close()

    def _damaged(self, path: Path, why: BaseException) -> ValueError:
        return ValueError(
            printable(f"{path} cannot be read: {why}; if it is damaged or older than this rlrun, ")
            + f"rlrun report {self.directory} makes it anew"
        )

    def _records(self) -> Iterator[dict[str, Any]]:
        """Yield the ok records that results.db was made of, each run once, in the order of environment, agent and run.

        Records that came later are left out: no rlrun report has checked them.
        """
        says = f"rlrun report {self.directory} says what to do"
        ok = self.runs[self.runs["status"] == "ok"]
        wanted = set(zip(ok["environment"], ok["agent"], ok["run"], strict=True))
        found: dict[tuple[str, str, int], dict[str, Any]] = {}
        for path in [
            self._file(f"runs/{path.name}")
            for path in sorted(self._file("experiment.yaml").with_name("runs").glob("[!.]*.jsonl"))
        ]:
            with path.open(encoding="utf-8", errors="replace") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        record = json.loads(line) if line.strip() else {}
                        if record.get("status") != "ok":
                            continue
                        key = (record["environment"], record["agent"], int(record["run"]))
                        dict(record["curves"])
                    except (ValueError, KeyError, TypeError, AttributeError) as e:
                        if not line.endswith("\n"):
                            continue  # it was cut off, and its run is not done
                        raise ValueError(printable(f"{path}:{number} is damaged ({e}): {says}")) from None
                    record.pop("crc32c", None)
                    if key in wanted and found.setdefault(key, record) != record:
                        of = f"run {key[2]} of {key[1]} in {key[0]}"
                        raise ValueError(printable(f"{path}:{number}: {of} has another record: {says}"))
        if len(found) < len(wanted):
            raise ValueError(f"{len(wanted) - len(found)} runs of results.db have no record: {says}")
        for key in sorted(found):
            yield found[key]


_TEXTS = ("environment", "agent", "metric", "programs")
"""Columns of summary.csv that are texts, also where they look like a number or like none."""
_FORMULA = re.compile(r"^'(?=\s*[=+@＝＋－＠-])")
"""What summary.csv puts before a text that a spreadsheet would take for a formula."""


def _began(directory: Path) -> str:
    """Return when the experiment began whose results a directory has; nothing if it does not say."""
    path = directory / "provenance.json"
    try:
        return str(json.loads(path.read_text("utf-8"))["started"]) if path.is_file() else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


_MIXED = "Mixed: runs were made by different programs: "


def _estimate(row: Mapping[str, float]) -> str:
    """Return a mean with all digits that its interval has, ± half of the interval if there is one.

    A mean of no runs is not known.
    """
    if row["n"] == 0:
        return "not known"
    mean, half = row["mean"], (row["ci_high"] - row["ci_low"]) / 2
    if not half > 0:
        return f"{mean:.4g}"
    return f"{mean:.{max(4, 2 + math.ceil(math.log10(abs(mean) / half or 1)))}g} ± {half:.2g}"


@checked
def read_results(directory: str | Path) -> Results:
    """Read the output directory of an experiment.

    Frames are read when they are first asked for. They are of the runs that were there when ``rlrun run`` came to its
    end, or at the last ``rlrun report``. Raises FileNotFoundError if the directory holds no results.
    """
    path = Path(directory).expanduser()
    if not (path / "experiment.yaml").exists():
        raise FileNotFoundError(f"{path} holds no experiment.yaml: name an output directory of rlrun run")
    results = Results(path)
    results._database()
    return results


@dataclass(frozen=True, repr=False)
class Comparison:
    """What ``rlrun compare`` found; docs/statistics.md defines every quantity. Printed, it is sentences."""

    answer: dict[str, Any]
    """All of it, as ``rlrun compare --json`` prints it."""

    def __repr__(self) -> str:
        """Return the verdicts on the first pairs, a sentence each, how they were made, and what limits them."""
        rows = sorted(self.answer["comparisons"], key=lambda c: c["verdict"] == "not decided")  # decided ones first
        lines = [c["sentence"] for c in rows]
        if len(lines) > 20:
            lines[20:] = [f"… and {len(lines) - 20:,} more; .comparisons has all of them."]
        lines += [self.answer["method"], *self.answer["skipped"], *(f"Note: {x}" for x in self.answer["notes"])]
        return printable("\n".join(lines))

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """A row per pair of agents and environment: difference, interval, p values, verdict."""
        frame = _pandas().DataFrame(self.answer["comparisons"])
        first = ["environment", "a", "b", "difference", "ci_low", "ci_high", "p", "adjusted_p", "verdict"]
        return frame.reindex(columns=[*first, *frame.columns.difference(first)])

    @cached_property
    def aggregates(self) -> pd.DataFrame:
        """A row per agent and aggregate over environments: agent, aggregate, value, ci_low, ci_high.

        Empty unless two environments have a scale.
        """
        rows = [
            {"agent": a["agent"], "aggregate": name, **a[name]}
            for a in self.answer.get("overall", {}).get("aggregates", [])
            for name in ("iqm", "mean", "median", "optimality_gap")
        ]
        return _pandas().DataFrame(rows, columns=["agent", "aggregate", "value", "ci_low", "ci_high"])

    @cached_property
    def profile(self) -> pd.DataFrame:
        """The performance profiles: agent, tau, value (the share of runs above tau), ci_low, ci_high."""
        overall = self.answer.get("overall", {})
        rows = [
            {"agent": a["agent"], "tau": tau, **share}
            for a in overall.get("aggregates", [])
            for tau, share in zip(overall["tau"], a["profile"], strict=True)
        ]
        return _pandas().DataFrame(rows, columns=["agent", "tau", "value", "ci_low", "ci_high"])

    @cached_property
    def improvements(self) -> pd.DataFrame:
        """The probabilities that a run of a is better than a run of b: a, b, environments, value, ci_low, ci_high."""
        found = self.answer.get("overall", {}).get("probability_of_improvement") or []
        rows = [{k: i[k] for k in ("a", "b", "environments")} | i["probability"] for i in found]
        return _pandas().DataFrame(rows, columns=["a", "b", "environments", "value", "ci_low", "ci_high"])

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """The mean rank of each agent over environments, the best first: agent, mean_rank.

        Empty unless there are two environments and the same agents have values in all.
        """
        found = (self.answer.get("overall", {}).get("ranks") or {}).get("agents", [])
        return _pandas().DataFrame(found, columns=["agent", "mean_rank"])


def _refusal(said: str) -> str:
    """Return what rlrun compare or power said, in words of Python."""
    text = said.strip().removeprefix("rlrun: ").removeprefix("--").replace(", or ENVIRONMENT=NUMBER,", ",")
    return text.replace(" with --unpaired", ", with unpaired=True")


@checked
def compare(
    *directories: str | Path,
    metric: str | None = None,
    pairs: str | Sequence[str] | None = None,
    against: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    alpha: float | None = None,
    correction: str | None = None,
    unpaired: bool = False,
    scores: Mapping[str, tuple[float, float]] | None = None,
    files: bool = True,
) -> Comparison:
    """Compare agents with ``rlrun compare``.

    Args:
        directories: Output directories of experiments; ``DIR:AGENT`` takes one agent.
        metric: What to compare; reward if None.
        pairs: ``"first"``, ``"all"``, or the labels of two agents; ``"first"`` if None.
        against: The label of an agent that all others are compared with, or ``"best"``: that of each environment.
        margin: Difference below which agents are equivalent, or such differences by environment.
        alpha: Level of all tests together; 0.05 if None.
        correction: ``"holm"`` or ``"bh"``; ``"holm"`` if None.
        unpaired: Compare independent samples, even where runs are paired.
        scores: By environment, the values of the metric that count as 0 and 1.
        files: Whether the first directory gets comparisons.csv and a table in results.db.

    Raises:
        ValueError: rlrun refused, for the reason that it gives.
        FileNotFoundError: There is no program rlrun.

    """
    options: dict[str, object] = {"metric": metric, "against": against, "alpha": alpha, "correction": correction}
    options["pairs"] = pairs if pairs is None or isinstance(pairs, str) else ",".join(pairs)
    from rlrun.client import program  # noqa: PLC0415  plugins do without it

    command = [program(), "compare", "--json"]
    command += [f"--{name}={value}" for name, value in options.items() if value is not None]
    command += [f"--scores={name}={low},{high}" for name, (low, high) in (scores or {}).items()]
    if isinstance(margin, Mapping):
        command += [f"--margin={name}={value}" for name, value in margin.items()]
    elif margin is not None:
        command.append(f"--margin={margin}")
    command += ["--unpaired"] * unpaired + ["--no-files"] * (not files)
    command += ["--", *map(str, directories)]
    said = ""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as answer,
        subprocess.Popen(command, stdout=answer, stderr=subprocess.PIPE, encoding="utf-8") as running,
    ):
        try:
            for line in running.stderr or ():
                if re.match(r"rlrun: \d+ of \d+ comparisons", line):
                    print(line.removeprefix("rlrun: "), end="", file=sys.stderr, flush=True)
                else:
                    said += line
        except BaseException:  # Ctrl-C, say
            running.kill()
            raise
        if running.wait() != 0:
            raise ValueError(_refusal(said))
        answer.seek(0)
        return Comparison(json.load(answer))
