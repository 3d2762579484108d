"""A reader's own arrays, known by their digest, so that a setting can name them.

A setting is a record of plain values; it names data by a field `own_data`. Whoever makes such a setting keeps the
arrays here first, and the run finds them again, in this process or in one that was handed them.
"""

import hashlib
from typing import Any

import jax.numpy as jnp
import numpy as np

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


def recall_for(setting: Any) -> Recalled:
    """The arrays that a setting names by its field `own_data`, to be handed to another process."""
    digest = getattr(setting, "own_data", None)
    return {digest: _KEPT[digest]} if digest in _KEPT else {}


def remember(arrays: Recalled) -> None:
    """Take what another process handed over."""
    _KEPT.update(arrays)
