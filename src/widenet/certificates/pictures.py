"""The pictures of a certificate: errors by width, the data, promised against made, and how tight the theorems are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from widenet.certificates.plain_numbers import plain
from widenet.certificates.plane import Plane
from widenet.certificates.promises import ListedPromise
from widenet.certificates.rivals import MAJORITY
from widenet.certificates.rows import ClaimRow
from widenet.certificates.width_study import WidthStudy
from widenet.certificates.widths import StudiedWidth
from widenet.certificates.words import percent
from widenet.plots.style import BROKEN, COLOURS, INK, LINE, MEASURED, OPEN, SOFT, styled

GRID = 160
SHOWN_CLASSES = 10
KINDS = (*COLOURS[:-1], INK)
"""Colours of classes: on a dark page ink is light, and black would not be seen."""
MARKS = "o^sDvPX<>*"
LONGEST_NAME = 24
RIVALS = ((SOFT, ":"), (BROKEN, "--"), (OPEN, (0, (5, 1.5))), (INK, (0, (1.5, 1))))
"""Colours and dashes of the most common class, the linear classifier, and those that bend."""
FAR_ABOVE = 2
"""Where always answering the most common class errs so many times as often as all others, it is named, not drawn."""
FEWEST = 1e-12
"""Smaller shares are drawn apart, on the left."""


@styled
def errors(study: WidthStudy) -> Drawing:
    """Errors against width, with 95 % limits on held-out points, and rivals as lines."""
    drawing = Drawing(figsize=(5.6, 4.1), layout="constrained")
    axes = drawing.subplots()
    widths = np.array([each.n_neurons for each in study.results])
    train = 100 * np.array([each.train_errors for each in study.results])
    axes.grid(axis="x", visible=False)  # the one upright line says which width is enough
    axes.plot(widths, np.median(train, axis=1), "o-", color=SOFT, markersize=3, linewidth=1, label="training points")
    axes.scatter(np.repeat(widths, train.shape[1]), train.ravel(), s=8, color=SOFT, alpha=0.4, linewidth=0)
    highest = float(train.max())
    if study.held_out:
        found = 100 * np.array([(*each.score.limits, each.score.error) for each in study.results])
        axes.fill_between(widths, found[:, 0], found[:, 1], color=MEASURED, alpha=0.15, linewidth=0)
        axes.plot(widths, found[:, 2], "o-", color=MEASURED, markersize=4, label="held-out points, 95 % limits")
        levels = {rival.name: 100 * rival.score.error for rival in study.rivals}
        highest = max(highest, found.max(), *(level for name, level in levels.items() if name != MAJORITY))
        for (name, level), (colour, dashes) in zip(levels.items(), RIVALS, strict=False):
            words = _short(name)
            if level > FAR_ABOVE * highest:  # it would press all others together
                words = f"{words}: {percent(level / 100)}, far above"
            else:
                highest = max(highest, level)
            axes.axhline(level, color=colour, linewidth=1.1, label=words, linestyle=dashes)
    if study.enough is not None:
        axes.axvline(study.enough, color=INK, linewidth=0.9, zorder=0, label="the smallest width that is enough")
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [f"{width:,}" for width in widths])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="neurons", ylabel="points in the wrong class, %")
    axes.set_ylim(0, 1.06 * highest or 1)
    drawing.legend(loc="outside lower center", ncols=2)
    return drawing


@styled
def portrait(
    plane: Plane,
    labels: np.ndarray,
    names: tuple[str, ...],
    runs: Mapping[int, StudiedWidth],
    columns: tuple[str, ...] = (),
    ringed: Sequence[int] = (),
    inputs: Float[np.ndarray, "sample column"] | None = None,
    shown: Sequence[int] = (),
) -> Drawing:
    """The points; in two dimensions, also which class networks of the `shown` widths name where.

    `ringed` are points of the prepared data with a ring around them; `inputs` are its points as they were given, where
    they have two columns, in which networks were trained.
    """
    titles = columns if plane.is_own else ()
    own = plane.points if inputs is None else inputs[plane.rows]
    seen = Plane(plane.axes, plane.centre, own, plane.rows, plane.is_own, plane.boundary if inputs is None else None)
    rings = own[np.isin(plane.rows, np.asarray(ringed, int))]
    several = list(shown) if inputs is not None else []
    drawing = Drawing(
        figsize=(7.2 if len(several) > 1 else 4.4, 3.1 if len(several) > 2 else 3.7), layout="constrained"
    )
    for axes, width in zip(np.ravel(drawing.subplots(1, max(len(several), 1))), several or [None], strict=True):
        frame = _points(axes, seen, labels, names, titles)
        if width is not None:
            _regions(axes, runs[width], frame, len(names))
            axes.set_title(f"{width:,} neurons")
        axes.scatter(*rings.T, s=42, facecolor="none", edgecolor=INK, linewidth=0.7, zorder=4)
    handles, classes = drawing.axes[0].get_legend_handles_labels()
    drawing.legend(
        handles, classes, loc="outside lower center", fontsize=7.5, handletextpad=0.1, columnspacing=1.2,
        ncols=min(len(classes), 10 if max(map(len, classes)) < 4 else 5 if len(several) > 1 else 3),
    )  # fmt: skip
    return drawing


@dataclass(frozen=True)
class Frame:
    """What a picture shows: so far from the centre, across and up."""

    centre: Float[np.ndarray, "2"]
    reach: Float[np.ndarray, "2"]


def _points(
    axes: Axes, plane: Plane, labels: np.ndarray, names: tuple[str, ...], titles: tuple[str, ...] = ()
) -> Frame:
    """Draw the points, and set the axes to the frame around them."""
    for place, kind in enumerate(np.unique(labels)[:SHOWN_CLASSES]):
        own = plane.points[labels[plane.rows] == kind]
        axes.scatter(
            own[:, 0], own[:, 1], s=12, alpha=0.75, linewidth=0, zorder=2,
            color=KINDS[place % len(KINDS)], marker=MARKS[place], label=_short(names[place]),
        )  # fmt: skip
    low, high = plane.points.min(axis=0), plane.points.max(axis=0)
    frame = Frame((low + high) / 2, np.where(high > low, 0.575 * (high - low), 1.0))
    (left, bottom), (right, top) = frame.centre - frame.reach, frame.centre + frame.reach
    axes.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    if plane.boundary is not None:
        axes.axvline(plane.boundary, color=SOFT, linewidth=0.9, linestyle="--", zorder=1)
    if len(titles) == 2:
        axes.set(xlabel=_short(titles[0]), ylabel=_short(titles[1]))
    axes.set_box_aspect(1)
    return frame


def _short(name: str) -> str:
    """A name that is not too long, and in which matplotlib reads no formula and no order to hide it."""
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{' ' if short.startswith('_') else ''}{short}".replace("$", r"\$")


def _regions(axes: Axes, found: StudiedWidth, frame: Frame, classes: int) -> None:
    """Which class the first network names where."""
    across, up = np.linspace(frame.centre - frame.reach, frame.centre + frame.reach, GRID).T
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    outputs = found.first.outputs(grid)
    # What a class has more than the best other one is 0 on the boundary, so that the boundary has no steps.
    if outputs.shape[1] == 1:
        ahead = [-outputs[:, 0], outputs[:, 0]]
    else:
        others = (np.delete(outputs, place, axis=1).max(axis=1) for place in range(classes))
        ahead = [outputs[:, place] - other for place, other in enumerate(others)]
    for place, lead in enumerate(ahead):
        if lead.max() > 0:
            colour = KINDS[place % len(KINDS)]
            levels = [0, lead.max()]
            axes.contourf(across, up, lead.reshape(GRID, GRID), levels=levels, colors=[colour], alpha=0.15, zorder=0)


@styled
def promised(promises: Sequence[ListedPromise]) -> Drawing:
    """What theorems promise, and what was made of it, as bars."""
    drawing = Drawing(figsize=(5.6, 0.5 + 0.5 * len(promises)), layout="constrained")
    axes = drawing.subplots()
    sides = np.array([(each.promised or 0.0, each.measured or 0.0) for each in promises])
    shares = sides / sides.max(axis=1, keepdims=True)
    places = np.arange(len(promises))
    axes.barh(places - 0.2, shares[:, 0], height=0.36, color=LINE, label="promised")
    axes.barh(places + 0.2, np.maximum(shares[:, 1], 0.002), height=0.36, color=MEASURED, label="made")
    for place, each in enumerate(promises):
        for shift, value, share in ((-0.2, each.promised, shares[place, 0]), (0.2, each.measured, shares[place, 1])):
            sign = f"{each.sense} " if shift < 0 else ""
            axes.text(share + 0.01, place + shift, f"{sign}{plain(value)}", va="center", fontsize=8)
    axes.set_yticks(places, [each.topic.value for each in promises])
    axes.set(xlim=(0, 1.25), ylim=(len(promises) - 0.4, -0.6), xticks=[])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    drawing.legend(loc="outside upper right", ncols=2)
    return drawing


@styled
def tightness(rows: list[ClaimRow]) -> Drawing:
    """How close each statement that holds comes to its bound, on one axis for all papers."""
    papers = list(dict.fromkeys(row.paper for row in rows))
    drawing = Drawing(figsize=(7.2, 0.55 + 0.36 * len(papers)), layout="constrained")
    axes = drawing.subplots()
    for place, paper in enumerate(papers):
        found = [row.evidence.tightness for row in rows if row.paper == paper and row.evidence is not None]
        values = np.array([value for value in found if value is not None])
        values = np.where(values < FEWEST, FEWEST / 10, np.minimum(values, 1.0))
        axes.scatter(values, np.full(len(values), place), s=14, alpha=0.6, color=KINDS[place % len(KINDS)], linewidth=0)
    axes.set_xscale("log")
    axes.axvline(FEWEST / 3, color=LINE, linewidth=0.8, zorder=0)
    axes.set_xticks([FEWEST / 10, 1e-9, 1e-6, 1e-3, 1], ["less", "1e-9", "1e-6", "0.001", "1"])
    axes.set_xticks([], minor=True)
    axes.set(xlim=(FEWEST / 40, 3), ylim=(len(papers) - 0.5, -0.5), yticks=range(len(papers)), yticklabels=papers)
    axes.set_xlabel("how near what is promised comes to what happened (1: all of it)")
    return drawing
