"""The pictures of a certificate: learning curves, the data with its neurons, and how tight the theorems are."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from widenet.certificates.ensemble import Ensemble
from widenet.certificates.plane import Plane
from widenet.certificates.rows import Row
from widenet.certificates.training import Curve, Training
from widenet.plots.style import COLOURS, styled

GRID = 160
SHOWN_CLASSES = 10
MARKS = "o^sDvPX<>*"
SEVERAL = "0.55"
"""The grey of a neuron that does not vote for one class."""
FEWEST = 1e-12
"""Smaller shares are drawn apart, on the left."""


@styled
def curves(training: Training) -> Drawing:
    """Errors and loss along training: the middle run, and the band of nine in ten."""
    drawing = Drawing(figsize=(7.2, 2.7), layout="constrained")
    left, right = drawing.subplots(1, 2)
    _band(left, training.train_curve, COLOURS[0], "training points", scale=100.0)
    if training.test_curve is not None:
        _band(left, training.test_curve, COLOURS[1], "points kept aside", scale=100.0)
    left.set(title="Points on the wrong side", xlabel="passes over the data", ylabel="%")
    left.set_ylim(bottom=0)
    left.legend(loc="upper right")
    _band(right, training.loss_curve, COLOURS[0], "", scale=1.0)
    right.set(title="Training loss", xlabel="passes over the data")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, max(training.train_curve.epochs[-1], 1))
    return drawing


def _band(axes: Axes, curve: Curve, colour: str, label: str, scale: float) -> None:
    epochs = np.asarray(curve.epochs)
    low, middle, high = (scale * np.asarray(each) for each in (curve.low, curve.middle, curve.high))
    axes.fill_between(epochs, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(epochs, middle, color=colour, label=label)


@styled
def portrait(
    plane: Plane, labels: np.ndarray, names: tuple[str, ...], ensemble: Ensemble | None, columns: tuple[str, ...] = ()
) -> Drawing:
    """The points, with the first network's neurons before and after training; in two dimensions, also its regions."""
    titles = columns if plane.is_own else ()
    if ensemble is None:
        drawing = Drawing(figsize=(3.8, 3.5), layout="constrained")
        _points(drawing.subplots(), plane, labels, names, titles)
        return drawing
    drawing = Drawing(figsize=(7.2, 3.5), layout="constrained")
    for axes, weights, title in zip(
        drawing.subplots(1, 2),
        (ensemble.start[0], ensemble.hidden[0]),
        ("Before training", "After training"),
        strict=True,
    ):
        frame = _points(axes, plane, labels, names, titles)
        if plane.is_own:
            _regions(axes, weights, ensemble, frame)
        _neurons(axes, plane.seen(weights), ensemble.output[0], frame)
        axes.set_title(title)
    return drawing


@dataclass(frozen=True)
class Frame:
    """The square that a picture shows."""

    centre: np.ndarray
    reach: float


def _points(
    axes: Axes, plane: Plane, labels: np.ndarray, names: tuple[str, ...], titles: tuple[str, ...] = ()
) -> Frame:
    """Draw the points, and set the axes to the square around them."""
    for place, kind in enumerate(np.unique(labels)[:SHOWN_CLASSES]):
        own = plane.points[labels[plane.rows] == kind]
        axes.scatter(
            own[:, 0], own[:, 1], s=12, alpha=0.75, linewidth=0, zorder=2,
            color=COLOURS[place % len(COLOURS)], marker=MARKS[place], label=names[place],
        )  # fmt: skip
    low, high = plane.points.min(axis=0), plane.points.max(axis=0)
    frame = Frame((low + high) / 2, 0.575 * float((high - low).max()) or 1.0)
    (left, bottom), (right, top) = frame.centre - frame.reach, frame.centre + frame.reach
    axes.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    if len(titles) == 2:
        axes.set(xlabel=titles[0], ylabel=titles[1])
    axes.set_aspect("equal")
    axes.legend(loc="upper left", fontsize=6.5, handletextpad=0.2, borderpad=0)
    return frame


def _regions(axes: Axes, weights: np.ndarray, ensemble: Ensemble, frame: Frame) -> None:
    """Where the network votes for which class."""
    across, up = (np.linspace(middle - frame.reach, middle + frame.reach, GRID) for middle in frame.centre)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    extra = weights.shape[1] - 2
    if extra:
        # A bias coordinate is 1/√2, and the others were divided by √2 with it.
        grid = np.column_stack([grid, np.full((len(grid), extra), 2**-0.5)])
    before = grid @ weights.T
    outputs = np.where(before > 0, before, ensemble.setting.slope * before) @ np.atleast_2d(ensemble.output[0]).T
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


def _neurons(axes: Axes, seen: np.ndarray, output: np.ndarray, frame: Frame) -> None:
    """Each neuron as an arrow, the longest as long as the picture allows; its colour is the class it votes for."""
    longest = float(np.linalg.norm(seen, axis=1).max())
    if not longest > 0:
        return
    ends = 0.9 * frame.reach * seen / longest
    starts = np.tile(frame.centre, (len(ends), 1))
    axes.quiver(
        *starts.T, *ends.T, color=colours_of(output), angles="xy", scale_units="xy", scale=1, width=0.005,
        headwidth=4, headlength=5, alpha=0.85, zorder=3,
    )  # fmt: skip


def colours_of(output: np.ndarray) -> list[str]:
    """The colour of the class that each neuron votes for; grey where it votes for several, or for none."""
    if output.ndim == 1:
        return [COLOURS[int(vote > 0)] for vote in output]
    votes = [np.flatnonzero(own > 0) for own in output.T]
    return [COLOURS[int(own[0]) % len(COLOURS)] if len(own) == 1 else SEVERAL for own in votes]


@styled
def tightness(rows: list[Row]) -> Drawing:
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
