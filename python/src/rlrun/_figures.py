"""Figures of results, with matplotlib."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    frame = frame.assign(**{end: frame[end].fillna(frame["mean"]) for end in ("ci_low", "ci_high")})  # none: no width
    try:
        order = results.summary[results.summary["metric"] == metric]
    except FileNotFoundError:  # of an experiment without csv: in the order of the alphabet
        order = frame
    drawn = {column: set(frame[column]) for column in ("environment", "agent")}  # others have no such metric
    environments = [e for e in order["environment"].unique() if e in drawn["environment"]]
    agents = [a for a in order["agent"].unique() if a in drawn["agent"]]
    gains = _gains(results)
    mixed = " (mixed programs)" if results.mixed else ""
    columns = min(3, len(environments))
    rows = math.ceil(len(environments) / columns)
    width = max(3.4, 2.3 * columns)  # inches, of which a name of the legend takes 0.06 a letter
    names = max(1, min(4, len(agents), int(width / (0.5 + 0.06 * max(map(len, agents))))))
    height = 2.0 * rows + 0.15 + 0.16 * math.ceil(len(agents) / names)
    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=(width, height), layout="constrained")
        for unused in axes.flat[len(environments) :]:
            unused.remove()
        for axis, environment in zip(axes.flat, environments, strict=False):
            here = frame[frame["environment"] == environment]
            for i, agent in enumerate(agents):
                c = here[here["agent"] == agent]
                colour, steps = _COLOURS[i % len(_COLOURS)], c["step"]
                marks = {
                    "linestyle": _DASHES[(i // 5 + i // len(_COLOURS)) % len(_DASHES)],
                    "marker": _MARKS[(i + i // len(_MARKS)) % len(_MARKS)],
                    "markevery": (i / len(agents) / 5, 0.2),
                }
                axis.plot(steps, c["mean"], color=colour, label=agent, **marks)
                axis.fill_between(steps, c["ci_low"], c["ci_high"], color=colour, alpha=0.2, lw=0)
            if metric == "reward" and (gain := gains.get(environment)) is not None:
                axis.axhline(gain, color="grey", lw=0.8, ls=":", zorder=0)
            late = here[here["step"] >= here["step"].max() / 20]  # the noise of the first steps sets no axis
            low, high = late[["mean", "ci_low"]].min(axis=None), late[["mean", "ci_high"]].max(axis=None)
            if math.isfinite(high - low):
                axis.set_ylim(low - (margin := 0.05 * (high - low) or 0.5), high + margin)
            axis.set(title=environment + mixed, xlabel=axis_label, xscale="log" if log else "linear")
        for axis in axes[:, 0]:
            axis.set_ylabel(metric.replace("_", " "))
        figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=names)
        if path is not None:
            figure.savefig(path, metadata={"CreationDate": None} if str(path).endswith(".pdf") else None)
        plt.close(figure)  # a notebook shows what is returned, once
    return figure


def _gains(results: Results) -> dict[str, Any]:
    """Return the optimal reward per step of each environment of which it is known."""
    if not (found := results._file("environments.json")).exists():
        return {}
    try:
        return {name: task.get("gain") for name, task in json.loads(found.read_text("utf-8")).items()}
    except (ValueError, AttributeError) as e:
        raise ValueError(f"{found} is damaged: {e}") from None
