"""Your points as the theorems need them: in the unit ball, perhaps with a bias; and what was done, as plain values."""

import enum
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from widenet.certificates.reading import Table
from widenet.data.arrays import scale_to_unit_ball, with_bias
from widenet.diagnostics.separability import Separation, find_separator_within
from widenet.diagnostics.work import Work
from widenet.errors import DataError, UnknownName
from widenet.records import ClosedModel
from widenet.types import Dataset

DIFFERENT_UNITS = 10.0
"""A column that varies this many times more than the usual one drowns the others."""
NEGLIGIBLE = 1e-12
"""A column that varies by less than this share of its largest entry is taken for rounding."""
MOST_POINTS = 20_000
"""Theorems and networks get no more points; of more, a random part."""
MOST_NUMBERS, LEAST_PART = 540_000, 200
"""Theorems are asked about at most so many numbers, but about no fewer points than that."""


class Scaling(enum.StrEnum):
    """What is done to the inputs before a theorem is asked."""

    AUTO = "auto"
    """Columns of different units are brought to one unit, then everything into the unit ball."""
    BALL = "ball"
    """One number divides everything, so that every point lies in the unit ball."""
    NONE = "none"
    """Nothing: the points are taken as they are, without a bias."""

    @classmethod
    def named(cls, text: str) -> "Scaling":
        """The scaling of this name, or `UnknownName`."""
        known = {each.value: each for each in cls}
        if str(text) not in known:
            raise UnknownName("scaling", text, known)
        return known[str(text)]


class Bias(enum.StrEnum):
    """Whether a constant coordinate was added for the theorems, and why."""

    NEEDED = "needed"
    """Added: with it a boundary through the origin separates the classes, without it none does."""
    WIDER = "wider"
    """Added: it makes the margin that theorems get wider."""
    GENERAL = "general"
    """Added, so that a boundary need not pass through the origin; which margin is wider is not known."""
    NARROWER = "narrower"
    """Not added: it would make the margin that theorems get no wider."""
    UNWANTED = "unwanted"
    """Not added, since the points are to be taken as they are."""


class Preparation(ClosedModel):
    """What was done to the points before theorems were asked, so that anybody can do it again.

    The scaled coordinates of a point x are (x − centre)/unit in its kept columns, divided by `factor`. With a bias,
    theorems get (x, 1)/√2 of these.

    Attributes:
      scaling: as it was chosen.
      points, used: how many there are, and how many theorems get.
      constant_columns: the numbers (from 1) of the columns that were left out because all their values are equal.
      negligible_columns: of those that were left out because they vary by less than a trillionth of their size.
      spread: the largest standard deviation of a column over the lower median of all; None where nothing is scaled.
      is_standardized: whether each column was centred and divided by its standard deviation, because of that.
      centre, unit: what was subtracted from the kept columns, and divided by; empty where they were not standardized.
      factor: what everything was divided by then; None where it was not.
      bias: whether a constant coordinate was added, and why.
      margin_without_bias, margin_with_bias: of the points (scaled) and of (x, 1)/√2, for two classes: the widest of a
        boundary through the origin; 0 without one, None where that is not known.
    """

    scaling: Scaling
    points: int
    used: int
    constant_columns: tuple[int, ...] = ()
    negligible_columns: tuple[int, ...] = ()
    spread: float | None = None
    is_standardized: bool = False
    centre: tuple[float, ...] = ()
    unit: tuple[float, ...] = ()
    factor: float | None = None
    bias: Bias
    margin_without_bias: float | None = None
    margin_with_bias: float | None = None

    @property
    def has_bias(self) -> bool:
        """Whether a constant coordinate was added."""
        return self.bias not in (Bias.NARROWER, Bias.UNWANTED)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The points that theorems are asked about, and all of them.

    Attributes:
      points, labels: all rows of the table, in the unit ball, without a bias; −1 and +1 or the numbers of classes.
      stretch: the scaled coordinates are so many times `points`; 1 unless the points are to be taken as they are.
      rows: the rows of the table that theorems and networks get: all, or a random part.
      data: these, with a bias where one was added.
      kept: which columns of the table the points have.
      record: what was done, as plain values.
      through_origin, with_bias: what is known about separators of all points, for two classes, without a bias and with
        one; None where it was not asked.
    """

    points: Float[np.ndarray, "point dim"]
    labels: Float[np.ndarray, " point"]
    stretch: float
    rows: Int[np.ndarray, " sample"]
    data: Dataset
    kept: Int[np.ndarray, " dim"]
    record: Preparation
    through_origin: Separation | None = None
    with_bias: Separation | None = None

    @property
    def plain_dim(self) -> int:
        """The number of coordinates without the bias."""
        return self.points.shape[1]

    @property
    def has_all_points(self) -> bool:
        """Whether theorems get all points."""
        return len(self.rows) == len(self.points)


def prepare(table: Table, scaling: Scaling, seed: int = 0, work: Work | None = None) -> Prepared:
    """Columns to one unit where they need it, everything into the unit ball, and a bias where that helps.

    The `work` is what all searches for boundaries may compute together.
    """
    work = work or Work()
    rows, labels, two = _chosen(table, seed), jnp.asarray(table.signs), len(table.class_names) == 2
    done = Preparation(scaling=scaling, points=len(labels), used=len(rows), bias=Bias.UNWANTED)
    kept, stretch = np.arange(table.inputs.shape[1]), 1.0
    if scaling is Scaling.NONE:
        plain = ball = Dataset(jnp.asarray(table.inputs), labels)
        if table.inputs.any():
            ball, stretch = scale_to_unit_ball(plain)
    else:
        plain, kept, done = _scaled(table, done)
        ball = plain
    lifted = with_bias(ball)
    biased = search(lifted, work) if two else None
    # What no linear boundary separates, none through the origin does: on large data either takes long to find out.
    is_known = biased is not None and biased.separable is False
    origin = search(plain, work) if two and not is_known else None
    if scaling is not Scaling.NONE:
        done = done.model_copy(update={"bias": _wanted_bias(origin, biased), "margin_with_bias": _margin(biased)})
    data = _part(lifted if done.has_bias else plain, rows)
    known = {
        "margin_without_bias": 0.0 if is_known else _margin(origin),
        "used": min(len(rows), max(MOST_NUMBERS // data.dim, LEAST_PART)),
    }
    return Prepared(
        points=np.asarray(ball.inputs, np.float64),
        labels=table.signs,
        stretch=stretch,
        rows=rows,
        data=data,
        kept=kept,
        record=done.model_copy(update=known),
        through_origin=origin,
        with_bias=biased,
    )


def varying_columns(inputs: np.ndarray) -> np.ndarray:
    """Which columns vary, by more than rounding.

    Raises:
      DataError: none does.
    """
    kept = np.flatnonzero(inputs.std(axis=0) > NEGLIGIBLE * np.abs(inputs).max(axis=0, initial=0.0))
    if len(kept):
        return kept
    if np.ptp(inputs, axis=0).any():
        raise DataError(
            "no column varies by more than a trillionth of its size; subtract what the points have in common first."
        )
    raise DataError("every column is constant, so all points are equal; check that the right columns were read.")


def search(data: Dataset, work: Work) -> Separation | None:
    """What is known about separators through the origin; None where float64 cannot ask."""
    try:
        return find_separator_within(data, work)
    except DataError:
        return None


def _scaled(table: Table, done: Preparation) -> tuple[Dataset, Int[np.ndarray, " dim"], Preparation]:
    """The points in the unit ball, the columns that they have, and what was done."""
    kept = varying_columns(table.inputs)
    inputs, constant = table.inputs[:, kept], np.ptp(table.inputs, axis=0) == 0
    deviations = inputs.std(axis=0)
    # The lower median: of two columns it is the smaller deviation, which the larger one can exceed tenfold.
    spread = float(deviations.max() / np.sort(deviations)[(len(kept) - 1) // 2])
    centre, unit = np.zeros(0), np.zeros(0)
    if done.scaling is Scaling.AUTO and spread > DIFFERENT_UNITS:
        centre, unit = inputs.mean(axis=0), deviations
        inputs = (inputs - centre) / unit
    ball, factor = scale_to_unit_ball(Dataset(jnp.asarray(inputs), jnp.asarray(table.signs)))
    update = {
        "constant_columns": tuple((np.flatnonzero(constant) + 1).tolist()),
        "negligible_columns": tuple((np.setdiff1d(np.flatnonzero(~constant), kept) + 1).tolist()),
        "spread": spread,
        "is_standardized": len(unit) > 0,
        "centre": tuple(centre.tolist()),
        "unit": tuple(unit.tolist()),
        "factor": factor,
    }
    return ball, kept, done.model_copy(update=update)


def _part(data: Dataset, rows: Int[np.ndarray, " sample"]) -> Dataset:
    return data if len(rows) == data.n_samples else data[rows]


def _chosen(table: Table, seed: int) -> Int[np.ndarray, " sample"]:
    """All rows, or a random part that has every class."""
    count = len(table.inputs)
    if count <= MOST_POINTS:
        return np.arange(count)
    draw = np.random.default_rng(seed)
    firsts = np.unique(table.classes, return_index=True)[1]
    return np.union1d(draw.choice(count, MOST_POINTS - len(firsts), replace=False), firsts)


def _margin(found: Separation | None) -> float | None:
    if found is None or found.separable is None:
        return None
    return found.margin


def _wanted_bias(origin: Separation | None, biased: Separation | None) -> Bias:
    """Whether a constant coordinate helps, and why."""
    if origin is None or biased is None:
        return Bias.GENERAL
    if origin.separable and biased.norm_upper >= origin.norm_upper:
        return Bias.NARROWER
    if biased.separable and origin.separable is False:
        return Bias.NEEDED
    return Bias.WIDER if biased.separable and origin.separable else Bias.GENERAL
