"""The pictures of a certificate: learning curves, the data with its neurons, and how tight the theorems are."""

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
def portrait(plane: Plane, labels: np.ndarray, names: tuple[str, ...], ensemble: Ensemble | None) -> Drawing:
    """The points, with the first network's neurons before and after training; in two dimensions, also its regions."""
    drawing = Drawing(figsize=(7.2, 3.5), layout="constrained")
    if ensemble is None:
        _points(drawing.subplots(), plane, labels, names)
        return drawing
    for axes, weights, title in zip(
        drawing.subplots(1, 2),
        (ensemble.start[0], ensemble.hidden[0]),
        ("Before training", "After training"),
        strict=True,
    ):
        reach = _points(axes, plane, labels, names)
        if plane.is_own:
            _regions(axes, weights, ensemble, reach)
        _neurons(axes, plane.seen(weights), ensemble.output[0], reach)
        axes.set_title(title)
    return drawing


def _points(axes: Axes, plane: Plane, labels: np.ndarray, names: tuple[str, ...]) -> float:
    """Draw the points; the answer is how far they reach."""
    for place, kind in enumerate(np.unique(labels)[:SHOWN_CLASSES]):
        own = plane.points[labels[plane.rows] == kind]
        axes.scatter(
            own[:, 0], own[:, 1], s=12, alpha=0.75, linewidth=0, zorder=2,
            color=COLOURS[place % len(COLOURS)], marker=MARKS[place], label=names[place],
        )  # fmt: skip
    reach = 1.15 * float(np.abs(plane.points).max())
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.legend(loc="upper left", fontsize=6.5, handletextpad=0.2, borderpad=0)
    return reach


def _regions(axes: Axes, weights: np.ndarray, ensemble: Ensemble, reach: float) -> None:
    """Where the network votes for which class."""
    line = np.linspace(-reach, reach, GRID)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    extra = weights.shape[1] - 2
    if extra:
        # A bias coordinate is 1/√2, and the others were divided by √2 with it.
        grid = np.column_stack([grid, np.full((len(grid), extra), 2**-0.5)])
    before = grid @ weights.T
    outputs = np.where(before > 0, before, ensemble.setting.slope * before) @ np.atleast_2d(ensemble.output[0]).T
    votes = (outputs[:, 0] > 0).astype(float) if outputs.shape[1] == 1 else outputs.argmax(axis=1).astype(float)
    levels = np.arange(-0.5, votes.max() + 1)
    if votes.min() == votes.max():
        return
    axes.contourf(
        line, line, votes.reshape(GRID, GRID), levels=levels, zorder=0, alpha=0.15,
        colors=[COLOURS[place % len(COLOURS)] for place in range(len(levels) - 1)],
    )  # fmt: skip


def _neurons(axes: Axes, seen: np.ndarray, output: np.ndarray, reach: float) -> None:
    """Each neuron as an arrow, the longest as long as the picture allows; its colour is the class it votes for."""
    longest = float(np.linalg.norm(seen, axis=1).max())
    if not longest > 0:
        return
    ends = 0.9 * reach * seen / longest
    votes = (output > 0).astype(int) if output.ndim == 1 else output.argmax(axis=0)
    for end, vote in zip(ends, votes, strict=True):
        axes.plot([0, end[0]], [0, end[1]], color=COLOURS[int(vote) % len(COLOURS)], linewidth=0.9, alpha=0.8, zorder=3)


@styled
def tightness(rows: list[Row]) -> Drawing:
    """How close each statement that holds comes to its bound, on one axis for all papers."""
    papers = list(dict.fromkeys(row.paper for row in rows))
    drawing = Drawing(figsize=(7.2, 0.55 + 0.36 * len(papers)), layout="constrained")
    axes = drawing.subplots()
    for place, paper in enumerate(papers):
        found = [row.evidence.tightness for row in rows if row.paper == paper and row.evidence is not None]
        values = np.clip([value for value in found if value is not None], 1e-12, 1)
        axes.scatter(
            values, np.full(len(values), place), s=14, alpha=0.6, color=COLOURS[place % len(COLOURS)], linewidth=0
        )
    axes.set_xscale("log")
    axes.set(xlim=(1e-12, 2), ylim=(len(papers) - 0.5, -0.5), yticks=range(len(papers)), yticklabels=papers)
    axes.set_xlabel("what happened, as a share of what was promised (1: the bound is attained)")
    return drawing
