"""Your own arrays, known by their digest, so that a setting can name them.

A setting is a record of plain values; it names data by a field `own_data`. Whoever makes such a setting keeps the
arrays here first, and the run finds them again, in this process or in one that was handed them.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from pydantic import BaseModel

from widenet.errors import DataError
from widenet.types import Dataset

Recalled = dict[str, tuple[np.ndarray, np.ndarray]]
"""Inputs and labels by digest."""

_KEPT: Recalled = {}


def keep(data: Dataset) -> str:
    """Remember these arrays; the answer is their digest."""
    inputs, labels = np.asarray(data.inputs), np.asarray(data.labels)
    total = hashlib.sha256()
    for array in (inputs, labels):
        total.update(f"{array.shape}{array.dtype.str}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    digest = total.hexdigest()
    _KEPT[digest] = (inputs, labels)
    return digest


def recall(digest: str) -> Dataset:
    """The data of this digest."""
    if digest not in _KEPT:
        raise DataError(f"the data {digest[:12]}… is not at hand; make a UserData of it in this process first.")
    inputs, labels = _KEPT[digest]
    return Dataset(jnp.asarray(inputs), jnp.asarray(labels))


def recall_points(digest: str) -> tuple[Float[np.ndarray, "sample dim"], Float[np.ndarray, " sample"]]:
    """Inputs and labels of this digest, in NumPy and float64."""
    data = recall(digest)
    return np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)


def recall_for(setting: Any) -> Recalled:
    """The arrays that a setting, or a record in it, names by a field `own_data`, to be handed to another process."""
    return {digest: _KEPT[digest] for digest in _named_in(setting) if digest in _KEPT}


def _named_in(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in value:
            yield from _named_in(each)
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            field = getattr(value, name)
            if name != "own_data":
                yield from _named_in(field)
            elif field is not None:
                yield field


def remember(arrays: Recalled) -> None:
    """Take what another process handed over."""
    _KEPT.update(arrays)
