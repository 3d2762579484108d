"""A reader's points as the theorems want them: in the unit ball, perhaps with a bias; and why."""

import enum
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from widenet.certificates.reading import Table
from widenet.data.arrays import scale_to_unit_ball, with_bias
from widenet.diagnostics import Separation, find_separator
from widenet.errors import DataError, UnknownName
from widenet.types import Dataset

DIFFERENT_UNITS = 10.0
"""A column that varies this many times more than the usual one drowns the others."""
MOST_POINTS = 20_000
"""More points are not used; a random part of them is."""

ADDED = "A constant coordinate (a bias) was added"


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


@dataclass(frozen=True, eq=False)
class Prepared:
    """The points that theorems are asked about.

    Attributes:
      data: in the unit ball, labels −1 and +1 or the numbers of classes.
      rows: which rows of the table they are.
      kept: which columns of the table they have.
      centre, unit: (x − centre)/unit are the coordinates before the bias.
      has_bias: whether a constant coordinate was added.
      steps: what was done, and why, in sentences.
      through_origin, with_bias: what is known about separators, for two classes; None where it was not asked.
    """

    data: Dataset
    rows: np.ndarray
    kept: np.ndarray
    centre: np.ndarray
    unit: np.ndarray
    has_bias: bool
    steps: tuple[str, ...]
    through_origin: Separation | None = None
    with_bias: Separation | None = None

    @property
    def plain_dim(self) -> int:
        """The number of coordinates without the bias."""
        return self.data.dim - self.has_bias


def prepare(table: Table, scaling: Scaling, seed: int = 0) -> Prepared:
    """Columns to one unit where they need it, everything into the unit ball, and a bias where that helps."""
    rows, steps = _chosen(table, seed)
    inputs, signs = table.inputs[rows], table.signs[rows]
    two = len(table.class_names) == 2
    every = np.arange(inputs.shape[1])
    if scaling is Scaling.NONE:
        data = Dataset(jnp.asarray(inputs), jnp.asarray(signs))
        steps.append("The points were taken as they are.")
        found = _separation(data) if two else None
        return Prepared(
            data, rows, every, np.zeros(len(every)), np.ones(len(every)), False, tuple(steps), through_origin=found
        )
    deviations, kept = inputs.std(axis=0), varying_columns(inputs)
    if len(kept) < len(every):
        count = len(every) - len(kept)
        steps.append(f"{count:,} constant column{'s' if count > 1 else ''} cannot tell points apart and were left out.")
    centre, unit = np.zeros(len(kept)), np.ones(len(kept))
    spread = deviations[kept].max() / np.median(deviations[kept])
    if scaling is Scaling.AUTO and spread > DIFFERENT_UNITS:
        centre, unit = inputs[:, kept].mean(axis=0), deviations[kept]
        steps.append(
            f"The columns have different units (one varies {spread:,.0f} times more than the usual one), so each was "
            "centred and divided by its standard deviation."
        )
    ball, factor = scale_to_unit_ball(Dataset(jnp.asarray((inputs[:, kept] - centre) / unit), jnp.asarray(signs)))
    steps.append(f"Everything was divided by {factor:.4g}, so that no point is longer than 1, as the theorems ask.")
    shifted = with_bias(ball)
    biased = _separation(shifted) if two else None
    # What no flat boundary separates, none through the origin does: on large data either takes long to find out.
    is_known = not two or (biased is not None and biased.separable is False)
    origin = None if is_known else _separation(ball)
    has_bias, why = _wants_bias(origin, biased)
    steps.append(why)
    return Prepared(
        shifted if has_bias else ball, rows, kept, centre, unit * factor, has_bias, tuple(steps), origin, biased
    )


def varying_columns(inputs: np.ndarray) -> np.ndarray:
    """Which columns are not constant.

    Raises:
      DataError: all of them are.
    """
    kept = np.flatnonzero(inputs.std(axis=0) > 1e-12 * np.abs(inputs).max(axis=0, initial=0.0))
    if not len(kept):
        raise DataError("every column is constant, so all points are equal; check that the right columns were read.")
    return kept


def _chosen(table: Table, seed: int) -> tuple[np.ndarray, list[str]]:
    """All rows, or a random part that has every class."""
    count = len(table.inputs)
    if count <= MOST_POINTS:
        return np.arange(count), []
    draw = np.random.default_rng(seed)
    firsts = np.unique(table.classes, return_index=True)[1]
    rows = np.union1d(draw.choice(count, MOST_POINTS - len(firsts), replace=False), firsts)
    return rows, [f"{len(rows):,} of {count:,} points were drawn at random; what is said is about these."]


def _separation(data: Dataset) -> Separation | None:
    """What is known about separators; None where float64 cannot ask."""
    try:
        return find_separator(data)
    except DataError:
        return None


def _wants_bias(origin: Separation | None, biased: Separation | None) -> tuple[bool, str]:
    """Whether a constant coordinate helps, and why."""
    if origin is None or biased is None:
        return True, f"{ADDED}, so that a boundary need not pass through the origin."
    if origin.separable and biased.norm_upper >= origin.norm_upper:
        return False, "No bias was added: without one the classes are separated more widely."
    if biased.separable and not origin.separable:
        return True, f"{ADDED}: with it a flat boundary separates the classes, without it none does."
    if biased.separable:
        gain = origin.norm_upper / biased.norm_upper
        return True, f"{ADDED}: it makes the margin {gain:.3g} times wider."
    return True, f"{ADDED}, so that a boundary need not pass through the origin."
