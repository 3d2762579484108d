"""The pictures of a certificate: learning curves, the data with its neurons, and how tight the theorems are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from widenet.certificates.ensemble import Ensemble
from widenet.certificates.plane import Plane
from widenet.certificates.rows import ClaimRow
from widenet.certificates.training import Curve, Training
from widenet.networks.arrays import leaky
from widenet.plots.style import COLOURS, styled

GRID = 160
SHOWN_CLASSES = 10
MARKS = "o^sDvPX<>*"
NOBODY = "0.55"
"""The grey of a neuron that helps no class."""
LONGEST_NAME = 24
FEWEST = 1e-12
"""Smaller shares are drawn apart, on the left."""


@styled
def curves(training: Training) -> Drawing:
    """Errors and loss along training: the middle run, and the band of nine in ten."""
    drawing = Drawing(figsize=(7.2, 2.7), layout="constrained")
    left, right = drawing.subplots(1, 2)
    _band(left, training.train_curve, COLOURS[0], "training points", scale=100.0)
    if training.test_curve is not None:
        _band(left, training.test_curve, COLOURS[1], "held-out points", scale=100.0)
    left.set(title="Points on the wrong side", xlabel="passes over the data", ylabel="%")
    left.set_ylim(bottom=0)
    left.legend(loc="upper right")
    _band(right, training.loss_curve, COLOURS[0], "", scale=1.0)
    right.set(title="Training loss", xlabel="passes over the data")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, max(training.train_curve.epochs[-1], 1))
        axes.xaxis.set_major_formatter("{x:g}")
    return drawing


def _band(axes: Axes, curve: Curve, colour: str, label: str, scale: float) -> None:
    epochs = np.asarray(curve.epochs)
    low, middle, high = (scale * np.asarray(each) for each in (curve.low, curve.middle, curve.high))
    axes.fill_between(epochs, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(epochs, middle, color=colour, label=label)


@styled
def portrait(
    plane: Plane,
    labels: np.ndarray,
    names: tuple[str, ...],
    ensemble: Ensemble | None,
    columns: tuple[str, ...] = (),
    ringed: Sequence[int] = (),
    inputs: Float[np.ndarray, "sample dim"] | None = None,
) -> Drawing:
    """The points, with the first network's neurons before and after training; in two dimensions, also its regions.

    `ringed` are points of the prepared data with a ring around them; its `inputs` say which class of several a neuron
    helps most.
    """
    titles = columns if plane.is_own else ()
    rings = plane.points[np.isin(plane.rows, np.asarray(ringed, int))]
    drawing = Drawing(figsize=(7.2 if ensemble else 3.8, 3.7), layout="constrained")
    if ensemble is None:
        _points(drawing.subplots(), plane, labels, names, titles)
    else:
        for axes, weights, title in zip(
            drawing.subplots(1, 2),
            (ensemble.start[0], ensemble.hidden[0]),
            ("Before training", "After training"),
            strict=True,
        ):
            frame = _points(axes, plane, labels, names, titles)
            if plane.is_own:
                _regions(axes, weights, ensemble, frame)
            colours = colours_of(ensemble.output[0], _answers(weights, ensemble, plane, labels, inputs))
            _neurons(axes, plane.seen(weights), colours, frame)
            axes.set_title(title)
    for axes in drawing.axes:
        axes.scatter(*rings.T, s=42, facecolor="none", edgecolor="0.15", linewidth=0.7, zorder=4)
    handles, classes = drawing.axes[0].get_legend_handles_labels()
    drawing.legend(
        handles, classes, loc="outside lower center", fontsize=7.5, handletextpad=0.1, columnspacing=1.2,
        ncols=min(len(classes), 10 if max(map(len, classes)) < 4 else 5 if ensemble else 3),
    )  # fmt: skip
    return drawing


@dataclass(frozen=True)
class Frame:
    """What a picture shows: so far from the centre, across and up. In the data's own plane it is a square."""

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
            color=COLOURS[place % len(COLOURS)], marker=MARKS[place], label=_short(names[place]),
        )  # fmt: skip
    low, high = plane.points.min(axis=0), plane.points.max(axis=0)
    sizes = np.full(2, (high - low).max()) if plane.is_own else high - low
    frame = Frame((low + high) / 2, np.where(sizes > 0, 0.575 * sizes, 1.0))
    (left, bottom), (right, top) = frame.centre - frame.reach, frame.centre + frame.reach
    axes.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    if plane.boundary is not None:
        axes.axvline(plane.boundary, color="0.3", linewidth=0.9, linestyle="--", zorder=1)
    if len(titles) == 2:
        axes.set(xlabel=titles[0], ylabel=titles[1])
    axes.set_box_aspect(1)
    return frame


def _short(name: str) -> str:
    """A name that is not too long, and in which matplotlib reads no formula and no order to hide it."""
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{' ' if short.startswith('_') else ''}{short}".replace("$", r"\$")


def _regions(axes: Axes, weights: np.ndarray, ensemble: Ensemble, frame: Frame) -> None:
    """Where the network votes for which class."""
    across, up = np.linspace(frame.centre - frame.reach, frame.centre + frame.reach, GRID).T
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    extra = weights.shape[1] - 2
    if extra:
        # A bias coordinate is 1/√2, and the others were divided by √2 with it.
        grid = np.column_stack([grid, np.full((len(grid), extra), 2**-0.5)])
    before = grid @ weights.T
    outputs = leaky(before, ensemble.setting.slope) @ np.atleast_2d(ensemble.output[0]).T
    colours = [COLOURS[place % len(COLOURS)] for place in range(max(outputs.shape[1], 2))]
    # What a class has more than the best other one is 0 on the boundary, so that the boundary has no steps.
    if outputs.shape[1] == 1:
        ahead = [-outputs[:, 0], outputs[:, 0]]
    else:
        others = (np.delete(outputs, place, axis=1).max(axis=1) for place in range(outputs.shape[1]))
        ahead = [outputs[:, place] - other for place, other in enumerate(others)]
    for colour, lead in zip(colours, ahead, strict=True):
        if lead.max() > 0:
            axes.contourf(
                across, up, lead.reshape(GRID, GRID), levels=[0, lead.max()], colors=[colour], alpha=0.15, zorder=0
            )


def _neurons(axes: Axes, seen: np.ndarray, colours: list[str], frame: Frame) -> None:
    """Each neuron as an arrow, the longest as long as the picture allows."""
    seen = seen / frame.reach  # in units of the picture, as the points are
    longest = float(np.linalg.norm(seen, axis=1).max())
    if not longest > 0:
        return
    ends = 0.9 * frame.reach * seen / longest
    starts = np.tile(frame.centre, (len(ends), 1))
    axes.quiver(
        *starts.T, *ends.T, color=colours, angles="xy", scale_units="xy", scale=1, width=0.005,
        headwidth=4, headlength=5, alpha=0.85, zorder=3,
    )  # fmt: skip


def _answers(
    weights: np.ndarray, ensemble: Ensemble, plane: Plane, labels: np.ndarray, inputs: np.ndarray | None
) -> np.ndarray:
    """How strongly each neuron answers to the points of each class, in the middle; (class, neuron)."""
    if inputs is None:
        return np.zeros((len(np.unique(labels)), len(weights)))
    before = inputs[plane.rows] @ weights.T
    answers, own = leaky(before, ensemble.setting.slope), labels[plane.rows]
    return np.stack([answers[own == kind].mean(axis=0) for kind in np.unique(labels)])


def colours_of(output: np.ndarray, answers: np.ndarray) -> list[str]:
    """The colour of the class that each neuron votes for; of several, of the one that it helps most, by its vote times
    what it answers to the points of that class. Grey where it helps none.
    """
    if output.ndim == 1:
        return [COLOURS[int(vote > 0)] for vote in output]
    helped = output * answers
    return [COLOURS[int(own.argmax()) % len(COLOURS)] if own.max() > 0 else NOBODY for own in helped.T]


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
        axes.scatter(
            values, np.full(len(values), place), s=14, alpha=0.6, color=COLOURS[place % len(COLOURS)], linewidth=0
        )
    axes.set_xscale("log")
    axes.axvline(FEWEST / 3, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xticks([FEWEST / 10, 1e-9, 1e-6, 1e-3, 1], ["less", "1e-9", "1e-6", "0.001", "1"])
    axes.set_xticks([], minor=True)
    axes.set(xlim=(FEWEST / 40, 3), ylim=(len(papers) - 0.5, -0.5), yticks=range(len(papers)), yticklabels=papers)
    axes.set_xlabel("how near what is promised comes to what happened (1: all of it)")
    return drawing
