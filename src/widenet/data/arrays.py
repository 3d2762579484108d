"""Your own arrays: checked once, at the border, and in one sentence."""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from widenet.errors import DataError
from widenet.types import Dataset, require_dataset, require_float

SHOWN, SHOWN_TYPE, SHOWN_SIGNS = 5, 40, 60


def from_arrays(inputs: Any, labels: Any, *, dtype: Any = np.float64) -> Dataset:
    """A data set from anything NumPy can read: one row of `inputs` and one label per point.

    Labels are -1 and +1, or, for three classes and more, their numbers: whole and not negative. Everything becomes
    float64, unless another `dtype` is asked for: float32 trains in float32.

    Raises:
      DataError: one sentence with the offending value, where it is, and what to do.
    """
    try:
        require_float(dtype)
    except ValueError as error:
        raise DataError(f"{error}.") from None
    rows = as_numbers(inputs, "inputs")
    signs = as_numbers(labels, "labels")
    if rows.ndim <= 1 and rows.size == 0:
        raise DataError("the data set is empty; give at least one point of each class.")
    if rows.ndim != 2:
        hint = "(n, 1)" if rows.ndim < 2 else "(n, -1), which makes each point one row"
        raise DataError(
            f"inputs must have two axes (points, then coordinates), got shape {rows.shape}; reshape them to {hint}."
        )
    if labels is None:
        raise DataError("there are no labels; give one per point.")
    if signs.ndim != 1:
        raise DataError(f"labels must have one axis, got shape {signs.shape}; flatten them.")
    if len(rows) != len(signs):
        raise DataError(f"there are {len(rows)} inputs and {len(signs)} labels; each point needs one label.")
    if len(rows) == 0:
        raise DataError("the data set is empty; give at least one point of each class.")
    if rows.shape[1] == 0:
        raise DataError(f"the {len(rows)} inputs have no coordinates; give at least one column.")
    _refuse_not_finite(rows, "inputs", dtype)
    _refuse_not_finite(signs, "labels", np.float64)
    _refuse_other_labels(signs)
    return Dataset(jnp.asarray(rows.astype(dtype)), jnp.asarray(signs.astype(dtype)))


def scale_to_unit_ball(dataset: Dataset) -> tuple[Dataset, float]:
    """The data set with all inputs divided by one number, so that every norm is at most 1; and that number.

    One number for all points keeps a separator a separator: w* becomes factor · w*. The number is the largest norm
    plus a few units of rounding, so that no later summation order finds a norm above 1.

    Raises:
      DataError: all inputs are zero.
    """
    inputs = np.asarray(require_dataset(dataset).inputs)
    # Scaled by the largest entry first: squares of 1e200 overflow, squares of 1e-200 vanish.
    largest_entry = np.abs(inputs).max().astype(np.float64)
    if largest_entry == 0:
        raise DataError("every input is zero, so there is nothing to scale; check that the right columns were read.")
    norms = np.linalg.norm(inputs.astype(np.float64) / largest_entry, axis=-1)
    relative = norms.max() * norm_allowance(dataset.dim, inputs.dtype)
    # Two divisions, because the product of the two numbers may overflow where the result does not.
    scaled = (inputs.astype(np.float64) / largest_entry / relative).astype(inputs.dtype)
    factor = float(largest_entry) * float(relative)
    if not math.isfinite(factor):
        raise DataError(f"the largest input entry is {largest_entry:g}, too large to take a norm; use smaller units.")
    return Dataset(jnp.asarray(scaled), dataset.labels), factor


def with_bias(dataset: Dataset) -> Dataset:
    """Inputs (x, 1)/√2: a homogeneous separator of these is a separator with a bias of the old ones.

    Norms at most 1 stay at most 1; w' = √2 (w, b) has ⟨w', x'⟩ = ⟨w, x⟩ + b.
    """
    inputs = jnp.asarray(require_dataset(dataset).inputs)
    ones = jnp.ones((*inputs.shape[:-1], 1), inputs.dtype)
    # √2 rounded up, so that a norm of exactly 1 does not grow past 1.
    root = np.nextafter(np.asarray(math.sqrt(2), inputs.dtype), np.asarray(2, inputs.dtype))
    return Dataset(jnp.concatenate([inputs, ones], axis=-1) / root, dataset.labels)


def norm_allowance(dim: int, dtype: Any) -> float:
    """1 plus the most that rounding can add to a norm of this many entries, in any order of summation."""
    return 1 + (dim + 4) * float(np.finfo(dtype).eps)


def as_numbers(values: Any, name: str) -> np.ndarray:
    """The values as an array of real numbers.

    Raises:
      DataError: one sentence about the first of them that is none.
    """
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        place = _position(tuple(int(each) for each in np.argwhere(np.ma.getmaskarray(values))[0]))
        raise DataError(f"{name}{place} is masked; fill it in or leave that point out.")
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(
            f"{name} are not a rectangular array{_uneven(values)}; give every row the same length."
        ) from None
    if array.dtype == bool or array.dtype.kind in "iuf":
        return array
    if array.dtype.kind == "c":
        raise DataError(f"{name} are complex numbers; give real ones.")
    if array.dtype.kind in "mMV":
        raise DataError(f"{name} are {str(array.dtype)[:SHOWN_TYPE]}, not numbers; encode them as numbers first.")
    try:
        return array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        position, value = _first_not_a_number(array)
        raise DataError(f"{name}{position} is {_shortened(value)}, not a number; encode it as one.") from None


def _uneven(values: Any) -> str:
    """Which row of a list of rows is the first of another length, in words."""
    lengths = [len(row) if isinstance(row, Sequence | np.ndarray) else None for row in values]
    for place, length in enumerate(lengths):
        if length is not None and lengths[0] is not None and length != lengths[0]:
            return f": row 0 has {lengths[0]} entries and row {place} has {length}"
    return ""


def _first_not_a_number(array: np.ndarray) -> tuple[str, Any]:
    for index in np.ndindex(array.shape):
        value = array[index]
        try:
            float(value)
        except (ValueError, TypeError, OverflowError):
            return _position(index), value if not isinstance(value, np.generic) else value.item()
    return "", array.dtype


def _shortened(value: Any) -> str:
    """A value for a sentence, on one line."""
    try:
        words = " ".join(repr(value).split())
    except ValueError:  # Python does not write whole numbers of more than some thousand digits
        return f"a {type(value).__name__} that is too large"
    return words if len(words) <= SHOWN_SIGNS else f"{words[:SHOWN_SIGNS]}…"


def _refuse_not_finite(array: np.ndarray, name: str, dtype: Any) -> None:
    with np.errstate(over="ignore"):
        bad = np.argwhere(~np.isfinite(array.astype(dtype)))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        value = float(array[index])
        what = (
            f"does not fit in {np.dtype(dtype)}; use smaller units"
            if math.isfinite(value)
            else "not finite; remove or repair that point"
        )
        raise DataError(
            f"{name}{_position(index)} is {value}, {what} "
            f"({len(bad)} such {'value' if len(bad) == 1 else 'values'} in all)."
        )


def _refuse_other_labels(labels: np.ndarray) -> None:
    values = np.unique(labels.astype(np.float64))
    wrong = values[np.abs(values) != 1]
    if len(wrong) and not _are_many_classes(values):
        first = int(np.flatnonzero(labels.astype(np.float64) == wrong[0])[0])
        shown = ", ".join(f"{v:g}" for v in values[:SHOWN]) + (", …" if len(values) > SHOWN else "")
        if set(values) <= {0.0, 1.0}:
            hint = "map 0 to -1 with 2*labels - 1"
        elif len(values) == 2:
            hint = f"map {values[0]:g} to -1 and {values[1]:g} to +1"
        else:
            hint = "number three classes and more from 0 on, or choose two and call them -1 and +1"
        raise DataError(f"labels must be -1 or +1, got the values {shown} (first at labels[{first}]); {hint}.")
    if len(values) == 1:
        raise DataError(f"every label is {values[0]:+g}; give points of both classes, -1 and +1.")


def _are_many_classes(values: np.ndarray) -> bool:
    """Three or more whole numbers, none of them negative."""
    return len(values) > 2 and bool((values >= 0).all() and (values == np.round(values)).all())


def _position(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""
