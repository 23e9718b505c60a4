"""Figures of results, with matplotlib."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
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
_PARTS = 50  # of an axis, each of which has a point of a curve
_MEANS = {"reward", "optimal_action", "episode_rate", "exploration_share"}  # of the steps since the point before


def curves(results: Results, metric: str, path: str | Path | None, log: bool) -> Figure:
    """Draw the curves of a metric, a panel for every environment. See Results.plot."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  optional
    except ImportError as e:
        raise ImportError("figures need matplotlib: pip install 'rlrun[lab]'") from e

    frame = results._query(
        "SELECT environment, agent, step, metric, mean, ci_low, ci_high FROM curves "
        "WHERE mean IS NOT NULL ORDER BY environment, agent, step"
    )
    if metric not in (known := sorted(set(frame["metric"]))):
        there = ", ".join(known) or "none: no run of it is ok"
        raise ValueError(f"{results.directory} has no curves of {metric!r}; it has {there}")
    axis_label = "episode" if "steps" in known else "step"  # which is recorded where episodes are counted
    frame = frame[frame["metric"] == metric].astype({"ci_low": float, "ci_high": float})
    frame = frame.assign(**{end: frame[end].fillna(frame["mean"]) for end in _ENDS})  # none: no width
    try:
        order = results.summary[results.summary["metric"] == metric]
    except FileNotFoundError:  # of an experiment without csv: in the order of the alphabet
        order = frame
    drawn = {column: set(frame[column]) for column in ("environment", "agent")}  # others have no such metric
    environments = [e for e in order["environment"].unique() if e in drawn["environment"]]
    agents = [a for a in order["agent"].unique() if a in drawn["agent"]]
    tasks, declared = _read(results, "environments.json"), _read(results, "metrics.json")
    averaged = metric in _MEANS or metric in {  # those that plugins declare
        f"{of}.{m['name']}" for of, found in declared.items() for m in found if not m.get("total")
    }
    mixed = " (mixed programs)" if results.mixed else ""
    columns = min(3, len(environments))
    rows = math.ceil(len(environments) / columns)
    width = max(3.4, 2.3 * columns)  # inches, of which a name of the legend takes 0.06 a letter
    labels = [*agents, *["optimum"] * (metric == "reward" and any("gain" in tasks.get(e, {}) for e in environments))]
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
            _panel(axis, {agent: _thin(here[here["agent"] == agent], log, averaged) for agent in agents})
            if metric == "reward" and "gain" in task:
                optimum = [axis.axhline(task["gain"], color="grey", lw=0.8, ls=":", zorder=0)]
            axis.set(title=environment + mixed, xlabel=axis_label, xscale="log" if log else "linear")
        for axis in axes[:, 0]:
            axis.set_ylabel(metric.replace("_", " "))
        lines = [*axes.flat[0].get_legend_handles_labels()[0], *optimum]
        figure.legend(lines, labels, loc="outside lower center", ncols=names)
        if path is not None:
            figure.savefig(path, metadata={"CreationDate": None} if str(path).endswith(".pdf") else None)
        plt.close(figure)  # a notebook shows what is returned, once
    return figure


def _panel(axis: Any, curves: dict[str, pd.DataFrame]) -> None:
    """Draw the curve of each agent."""
    for i, (agent, c) in enumerate(curves.items()):
        colour, every = _COLOURS[i % len(_COLOURS)], max(1, len(c) // 5)
        marks = {
            "linestyle": _DASHES[(i // 5 + i // len(_COLOURS)) % len(_DASHES)],
            "marker": _MARKS[(i + i // len(_MARKS)) % len(_MARKS)],
            "markevery": (i * every // len(curves), every),
        }
        axis.plot(c["step"], c["mean"], color=colour, label=agent, **marks)
        axis.fill_between(c["step"], c["ci_low"], c["ci_high"], color=colour, alpha=min(0.2, 1 / len(curves)), lw=0)
    drawn = [c for c in curves.values() if len(c)]
    last = max((c["step"].max() for c in drawn), default=0)
    late = [c[c["step"] >= last / 20] for c in drawn]  # the noise of the first steps sets no axis
    low = min((c[["mean", "ci_low"]].min(axis=None) for c in late), default=math.nan)
    high = max((c[["mean", "ci_high"]].max(axis=None) for c in late), default=math.nan)
    if math.isfinite(high - low):
        axis.set_ylim(low - (margin := 0.05 * (high - low) or 0.5), high + margin)


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
