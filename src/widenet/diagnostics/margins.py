"""Margins of a network on a data set, and the two means taken of them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from widenet.losses import Loss, zero_one
from widenet.types import Dataset, require_dataset

Network = Callable[[Any], Any]
"""Maps one input to one output."""


def margins(network: Network, dataset: Dataset) -> Float[Array, " sample"]:
    """y N(x) for every point: positive where the sign is right."""
    return jnp.asarray(require_dataset(dataset).labels) * _outputs(network, dataset)


def training_error(network: Network, dataset: Dataset) -> Float[Array, ""]:
    """The fraction of points with y N(x) ≤ 0. An output that is not a number is an error too."""
    return mean_loss(network, dataset, zero_one)


def mean_loss(network: Network, dataset: Dataset, loss: Loss) -> Float[Array, ""]:
    """The mean over the points of an elementwise loss (see `widenet.losses`)."""
    return loss(_outputs(network, dataset), jnp.asarray(dataset.labels)).mean()


def _outputs(network: Network, dataset: Dataset) -> Float[Array, " sample"]:
    if not callable(network):
        raise ValueError(f"network must take one input and return its output, as a TwoLayer does, got {network!r}")
    return jax.vmap(network)(jnp.asarray(dataset.inputs))
