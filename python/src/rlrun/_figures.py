"""Figures of results, with matplotlib."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import Figure

    from rlrun.results import Results

_STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
}
# Six colours of Okabe & Ito (2008), and others that keep a distance from them, as in the figures of rlrun. People with
# any kind of colour vision can tell them apart. Dashes and marks are for print without colour.
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#514989", "#813805", "#83B276", "#AB0A56",
    "#061A90", "#3DCCBE", "#D20CC5", "#105A3E", "#958BFB", "#EA7E43", "#8C754E", "#551B56", "#40807C", "#F4305E",
)  # fmt: skip
_DASHES = ("-", "--", "-.", ":")
_MARKS = "os^Dv<>P"
_ENDS = ("ci_low", "ci_high")
_LOWER = {"regret", "episode_regret", "simple_regret", "recommendation_error"}  # is better, of the host's metrics
_BEST = 10  # agents that are drawn where there are more than can be told apart
_PARTS = 50  # of an axis, each of which has a point of a curve
_MEANS = {"reward", "optimal_action", "episode_rate", "exploration_share"}  # of the steps since the point before


def curves(
    results: Results, metric: str, path: str | Path | None, log: bool, chosen: Sequence[str] | None = None
) -> Figure:
    """Draw the curves of a metric, a panel for every environment. See Results.plot."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  optional
    except ImportError as e:
        raise ImportError("figures need matplotlib: pip install 'rlrun[lab]'") from e

    chosen = [chosen] if isinstance(chosen, str) else chosen
    if chosen is not None and not len(chosen):
        raise ValueError("agents names no agent: leave it out to draw all")
    frame, axis_label = _read_curves(results, metric, chosen)
    try:
        order = results.summary[results.summary["metric"] == metric]
    except FileNotFoundError:  # of an experiment without csv: in the order of the alphabet
        order = frame
    drawn = {column: set(frame[column]) for column in ("environment", "agent")}  # others have no such metric
    environments = [e for e in order["environment"].unique() if e in drawn["environment"]]
    agents = [a for a in dict.fromkeys(chosen or order["agent"]) if a in drawn["agent"]]
    tasks, declared = _read(results, "environments.json"), _read(results, "metrics.json")
    own: Any = {f"{of}.{m['name']}": m for of, found in declared.items() for m in found}.get(metric, {"total": "host"})
    averaged = metric in _MEANS or not own.get("total")
    rest: list[str] = []  # of the agents, which are drawn together
    if not chosen and len(agents) > len(_COLOURS):
        agents, rest = _best(agents, order, lower=metric in _LOWER or own.get("better") == "lower")
    mixed = " (mixed programs)" if results.mixed else ""
    columns = min(3, len(environments))
    rows = math.ceil(len(environments) / columns)
    width = max(3.4, 2.3 * columns)  # inches, of which a name of the legend takes 0.06 a letter
    more = [f"{len(rest):,} others"] * bool(rest)
    known_optimum = metric == "reward" and any("gain" in tasks.get(e, {}) for e in environments)
    labels = [*agents, *more, *["optimum"] * known_optimum]
    names = max(1, min(4, len(labels), int(width / (0.5 + 0.06 * max(map(len, labels))))))
    height = 2.0 * rows + 0.15 + 0.16 * math.ceil(len(labels) / names)
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=(width, height), layout="constrained")
        for unused in axes.flat[len(environments) :]:
            unused.remove()
        optimum: list[Any] = []
        for axis, environment in zip(axes.flat, environments, strict=False):
            here, task = frame[frame["environment"] == environment], tasks.get(environment, {})
            if metric == "reward":  # as a mean reward cannot be beyond its bounds, an interval is cut there
                ends = {end: here[end].clip(task.get("reward_low"), task.get("reward_high")) for end in _ENDS}
                here = here.assign(**ends)
            bands = [_thin(b, log, averaged) for b in _bands(here[here["agent"].isin(rest)])] if rest else []
            _panel(axis, {agent: _thin(here[here["agent"] == agent], log, averaged) for agent in agents}, bands, *more)
            if metric == "reward" and "gain" in task:
                optimum = [_optimum(axis, task["gain"])]
            axis.set(title=environment + mixed, xlabel=axis_label, xscale="log" if log else "linear")
        for axis in axes[:, 0]:
            axis.set_ylabel(metric.replace("_", " "))
        lines = [*axes.flat[0].get_legend_handles_labels()[0], *optimum]
        figure.legend(lines, labels, loc="outside lower center", ncols=names)
        if path is not None:
            figure.savefig(path, metadata={"CreationDate": None} if str(path).endswith(".pdf") else None)
        plt.close(figure)  # a notebook shows what is returned, once
    return figure


def _read_curves(results: Results, metric: str, chosen: Sequence[str] | None) -> tuple[pd.DataFrame, str]:
    """Return the means and intervals of a metric, of the chosen agents, and what the axis counts."""
    frame = results._query(
        "SELECT environment, agent, step, metric, mean, ci_low, ci_high FROM curves "
        "WHERE mean IS NOT NULL ORDER BY environment, agent, step"
    )
    if metric not in (known := sorted(set(frame["metric"]))):
        there = ", ".join(known) or "none: no run of it is ok"
        raise ValueError(f"{results.directory} has no curves of {metric!r}; it has {there}")
    axis_label = "episode" if "steps" in known else "step"  # which is recorded where episodes are counted
    frame = frame[frame["metric"] == metric].astype({"ci_low": float, "ci_high": float})
    if unknown := [a for a in chosen or () if a not in set(frame["agent"])]:
        there = ", ".join(sorted(set(frame["agent"])))
        raise ValueError(
            f"{results.directory} has no curve of {metric!r} of the agent {unknown[0]!r}; it has those of {there}"
        )
    frame = frame[frame["agent"].isin(chosen)] if chosen else frame
    return frame.assign(**{end: frame[end].fillna(frame["mean"]) for end in _ENDS}), axis_label  # none: no width


def _best(agents: list[str], values: pd.DataFrame, *, lower: bool) -> tuple[list[str], list[str]]:
    """Divide agents into those of the best mean ranks over environments, the best first, and the others."""
    ranks = values.pivot_table("mean", "environment", "agent", "last").rank(axis=1, ascending=lower).mean()
    ordered = sorted(agents, key=lambda a: ranks.get(a, math.inf))
    return ordered[:_BEST], ordered[_BEST:]


def _bands(curves: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the middle 50 % and the middle 90 % of the agents at each step, around their median."""
    at = curves.groupby("step")["mean"].quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack().reset_index()
    return [at[["step"]].assign(mean=at[0.5], ci_low=at[a], ci_high=at[1 - a]) for a in (0.25, 0.05)]


def _panel(axis: Any, curves: dict[str, pd.DataFrame], bands: list[pd.DataFrame], more: str = "") -> None:
    """Draw the curve of each agent, and behind them in grey those of more agents."""
    for b in bands:
        axis.fill_between(b["step"], b["ci_low"], b["ci_high"], color="grey", alpha=0.25, lw=0)
    for i, (agent, c) in enumerate(curves.items()):
        colour, every = _COLOURS[i % len(_COLOURS)], max(1, len(c) // 5)
        marks = {
            "linestyle": _DASHES[(i // 5 + i // len(_COLOURS)) % len(_DASHES)],
            "marker": _MARKS[(i + i // len(_MARKS)) % len(_MARKS)],
            "markevery": (i * every // len(curves), every),
        }
        axis.plot(c["step"], c["mean"], color=colour, label=agent, **marks)
        axis.fill_between(c["step"], c["ci_low"], c["ci_high"], color=colour, alpha=min(0.2, 1 / len(curves)), lw=0)
    if bands:
        axis.plot(bands[0]["step"], bands[0]["mean"], color="grey", label=more)
    drawn = [c for c in (*curves.values(), *bands[:1]) if len(c)]
    last = max((c["step"].max() for c in drawn), default=0)
    late = [c[c["step"] >= last / 20] for c in drawn]  # the noise of the first steps sets no axis
    low = min((c[["mean", "ci_low"]].min(axis=None) for c in late), default=math.nan)
    high = max((c[["mean", "ci_high"]].max(axis=None) for c in late), default=math.nan)
    if math.isfinite(high - low):
        axis.set_ylim(low - (margin := 0.05 * (high - low) or 0.5), high + margin)


def _optimum(axis: Any, gain: float) -> Any:
    """Draw the optimal reward, and make room for it, as the legend names it."""
    low, high = axis.get_ylim()
    axis.set_ylim(low, max(high, gain + 0.05 * (gain - low)))
    return axis.axhline(gain, color="grey", lw=0.8, ls=":", zorder=0)


def _thin(curve: pd.DataFrame, log: bool, averaged: bool) -> pd.DataFrame:
    """Return one point for each part of the axis: the mean of the part, or its last point and the first of all."""
    if len(curve) < 2:
        return curve
    steps = curve["step"].to_numpy(float)
    along = np.log(steps) / np.log(steps[-1]) if log else steps / steps[-1]
    part = np.ceil(along * _PARTS - 1e-9)
    if not averaged:
        return curve[np.append(part[1:] > part[:-1], True) | (steps == steps[0])]
    values = curve[["mean", *_ENDS]]
    weights = curve["step"].diff().fillna(steps[0])  # a point is the mean of the steps since the one before
    sums = values.mul(weights, axis=0).groupby(part).sum()
    return sums.div(weights.groupby(part).sum(), axis=0).assign(step=curve["step"].groupby(part).last())


def _read(results: Results, name: str) -> dict[str, Any]:
    """Return a file of the directory, by environment or kind of plugin; nothing if it is not there."""
    if not (found := results._file(name)).exists():
        return {}
    try:
        read = json.loads(found.read_text("utf-8"))
        for part in read.values():
            for entry in part if isinstance(part, list) else [part]:
                entry.get("name")
    except (ValueError, AttributeError) as e:
        raise ValueError(f"{found} is damaged: {e}") from None
    return dict(read)
