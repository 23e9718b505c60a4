"""How much an agent owes to its settings (docs/tuning.md)."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlrun._arguments import checked, printable
from rlrun._goodness import Goodness
from rlrun.results import _MIXED, Results, _pandas, read_results

if TYPE_CHECKING:
    import pandas as pd

LEAST = 12
"""Runs, so that each half has six: fewer have no 95 % interval (docs/statistics.md)."""
SPLITS = 200
"""Random halves of the runs."""
SAMPLES = 1000
"""Bootstrap samples."""


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """How the performance of agents depends on their settings. Printed, it is a few lines for each agent."""

    directory: Path
    table: pd.DataFrame
    """A row per agent with several settings.

    agent: The entry of the config.
    settings, runs: Their numbers.
    left_out: Number of runs without a value in some setting and environment, in which they failed or reached their most
        steps before their last episode. They count nowhere.
    best: Mean of the best setting, over all runs: too high, since the same runs chose it.
    tuned: Mean of the settings that are chosen for each environment on one half of the runs, on the other half.
    one: The same for one setting for all environments.
    sensitivity: tuned less one: what tuning for each environment brings (Adkins, Bowling & White 2024); NaN where there
        is one environment.
    median, low, high: Median and quartiles of the means of all settings: what a setting drawn from the grid brings.
    programs: "mixed" if different programs made the runs; else there is no such column.
    NAME_ci_low, NAME_ci_high: 95 % intervals of tuned, one, sensitivity and median: percentiles of a bootstrap, which
        draws from each half by itself, so that no run chooses and judges. They are those of one division into halves,
        and wider than those of the mean over divisions would be. NaN where all samples are equal.
    """

    def __repr__(self) -> str:
        """Return the measures of each agent, a line each."""
        lines = []
        for _, row in self.table.iterrows():
            left_out = f", {row['left_out']} left out, as a setting has no value there" * (row["left_out"] > 0)
            lines.append(f"{row['agent']}: {row['settings']} settings, {row['runs']} runs{left_out}")
            for name, words in _WORDS.items():
                low, high = row[f"{name}_ci_low"], row[f"{name}_ci_high"]
                interval = f"[{low:.3g}, {high:.3g}]" if low < high else "(the same in all samples: no interval)"
                lines += [f"  {words:<36}{row[name]:.4g} {interval}"] * math.isfinite(row[name])
            lines.append(f"  {'quartiles of all settings':<36}{row['low']:.4g} to {row['high']:.4g}")
            lines.append(f"  {'best, judged by the runs that chose':<36}{row['best']:.4g}")
        if "programs" in self.table:
            lines.append(_MIXED + Results(self.directory).mixed)
        return printable("\n".join(lines))

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False))


_WORDS = {
    "tuned": "tuned for each environment",
    "one": "one setting for all environments",
    "sensitivity": "sensitivity: the difference",
    "median": "median of all settings",
}


@checked
def sensitivity(
    directory: str | Path, *, metric: str = "reward", scores: Mapping[str, tuple[float, float]] | None = None
) -> Sensitivity:
    """Say how much agents owe to their settings, from an experiment with sweeps.

    A setting that is chosen and judged by the same runs looks better than it is. So the runs are divided at random:
    one half chooses, the other judges (Patterson, Neumann, White & White 2024). This is repeated, and the means are
    returned. Settings of an agent meet the same draws, so halves are the same for all.

    Args:
        directory: Output directory of an experiment whose agents have sweeps.
        metric: The metric.
        scores: By environment, the values that count as 0 and 1, where the optimum is not known.

    Raises:
        ValueError: No agent has a sweep, runs are missing or fewer than twelve, or an environment has no known scale.
        FileNotFoundError: The directory holds no results.

    """
    results = read_results(directory)
    families = _families(results)
    cure = "say which values count as 0 and 1 with --scores '{}=LOW,HIGH', in Python scores={'{}': (LOW, HIGH)}"
    rows = Goodness.of(results, metric, scores).runs(results, cure)
    environments = list(dict.fromkeys(rows["environment"]))
    table = []
    for name, labels in families.items():
        own = rows[rows["agent"].isin(labels)]
        wide = own.pivot_table("value", "run", ["environment", "agent"], "first")
        wide = wide.reindex(columns=_pandas().MultiIndex.from_product([environments, labels])).dropna()
        every = results.runs.loc[results.runs["agent"].isin(labels), "run"].nunique()
        if len(wide) < LEAST:
            raise ValueError(
                f"{name} has {len(wide)} runs that ended in all settings and environments; {LEAST} are needed"
            )
        values = wide.to_numpy().reshape(len(wide), len(environments), len(labels))
        mixed = {"programs": "mixed"} if results.mixed else {}
        counts = {"settings": len(labels), "runs": len(wide), "left_out": every - len(wide)}
        table.append({"agent": name, **counts, **_measures(values), **mixed})
    return Sensitivity(results.directory, _pandas().DataFrame(table))


def _families(results: Results) -> dict[str, list[str]]:
    """Return the labels that each agent with a sweep stands for."""
    from rlrun.client import program  # noqa: PLC0415

    command = [program(), "sensitivity", "--print", "--", str(results.directory)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip().removeprefix("rlrun: "))
    families = {f["agent"]: f["labels"] for f in json.loads(done.stdout)}
    if not families:
        raise ValueError(
            f"no agent of {results.directory} has a sweep of several values: there are no settings to compare"
        )
    return families


def _measures(values: np.ndarray[Any, Any], splits: int = SPLITS, samples: int = SAMPLES) -> dict[str, float]:
    """Return the measures of an agent.

    Args:
        values: By run, environment and setting.
        splits: Random divisions into halves.
        samples: Bootstrap samples.

    """
    rng = np.random.default_rng(0)  # a result depends on the records alone
    runs, means = len(values), values.mean((0, 1))
    judged = np.mean([_split(values, rng.permutation(runs)) for _ in range(splits)], axis=0)
    out = dict(zip(("tuned", "one", "sensitivity"), judged.tolist(), strict=True))
    out |= {"best": means.max(), "median": np.median(means)}
    out["low"], out["high"] = np.quantile(means, [0.25, 0.75])
    drawn = []
    for _ in range(samples):
        halves = np.array_split(rng.permutation(runs), 2)
        order = np.concatenate([rng.choice(half, len(half)) for half in halves])
        drawn.append([*_split(values, order), np.median(values[order].mean((0, 1)))])
    limits = np.quantile(drawn, [0.025, 0.975], axis=0).T
    limits[limits[:, 0] == limits[:, 1]] = math.nan  # no width is not certainty
    for name, (low, high) in zip(("tuned", "one", "sensitivity", "median"), limits, strict=True):
        out |= {f"{name}_ci_low": low, f"{name}_ci_high": high}
    if values.shape[1] == 1:
        out |= dict.fromkeys(("sensitivity", "sensitivity_ci_low", "sensitivity_ci_high"), math.nan)
    return {name: float(x) for name, x in out.items()}


def _split(values: np.ndarray[Any, Any], order: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Choose settings on the first half of the runs and judge them on the second: tuned, one, and their difference."""
    halves = np.array_split(order, 2)
    choose, judge = values[halves[0]].mean(0), values[halves[1]].mean(0)
    tuned = np.mean([judge[e, choose[e] == choose[e].max()].mean() for e in range(len(judge))])  # of equals the mean
    means = choose.mean(0)
    one = judge[:, means == means.max()].mean()
    difference = tuned - one  # or the rounding of equal means
    return tuned, one, difference if abs(difference) > 1e-12 * np.abs(judge).max() else 0.0
