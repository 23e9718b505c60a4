"""How good each run was, on one scale for all environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlrun._figures import _read
from rlrun.results import Results, _pandas, compare

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Goodness:
    """A scale for the values of a metric; larger is better.

    In one environment it is the metric, with the sign changed where less is better. In several it is the score: 0 at
    what a random agent reaches and 1 at the optimum, as ``rlrun compare`` has it.
    """

    metric: str
    lower_is_better: bool
    scores: Mapping[str, Mapping[str, float]]
    """By environment the values low and high, which count as 0 and 1."""

    @classmethod
    def of(cls, results: Results, metric: str, scores: Mapping[str, tuple[float, float]] | None = None) -> Goodness:
        """Return the scale of an experiment in which two agents or more have runs.

        Raises ValueError where the metric is not known.
        """
        found = compare(results.directory, metric=metric, scores=scores, pairs="all", files=False).answer
        return cls(metric, found["lower_is_better"], found.get("overall", {}).get("scores", {}))

    def runs(self, results: Results, cure: str) -> pd.DataFrame:
        """Return a row per run: environment, agent, run, value.

        Raises:
            ValueError: An environment of several has no known scale; cure says what to do, {} being its name.

        """
        rows = values_of(results, self.metric)
        environments = list(dict.fromkeys(results.runs["environment"]))
        if len(environments) == 1:
            return rows.assign(value=-rows["value"] if self.lower_is_better else rows["value"])
        if missing := [e for e in environments if e not in self.scores]:
            wrong = f"{missing[0]} has no known scale for {self.metric}, so that environments have no mean"
            raise ValueError(f"{wrong}: {cure.replace('{}', missing[0])}")
        scale = _pandas().DataFrame.from_dict(self.scores, orient="index")
        low, high = (rows["environment"].map(scale[column]) for column in ("low", "high"))
        return rows.assign(value=(rows["value"] - low) / (high - low))


def values_of(results: Results, metric: str) -> pd.DataFrame:
    """Return a row per run that has a value: environment, agent, run, value.

    A time that did not come counts with the length of the run, as in tables and comparisons.
    """
    rows = results.outcomes[results.outcomes["metric"] == metric]
    of, _, name = metric.partition(".")
    own: dict[str, str] = next((m for m in _read(results, "metrics.json").get(of, []) if m["name"] == name), {})
    if own.get("total") == "time":
        rows = rows.merge(results.runs, on=["environment", "agent", "run"])
        episodes = 0
        if (results.outcomes["metric"] == "steps").any():  # which is recorded where runs have a budget in episodes
            episodes = results._query("SELECT max(step) AS n FROM grid")["n"][0]
        length = rows["episodes" if own["unit"] == "episodes" else "steps"]
        rows = rows.assign(value=rows["value"].fillna(length.where(rows["episodes"] >= episodes)))
    return rows.loc[rows["value"].notna(), ["environment", "agent", "run", "value"]]
