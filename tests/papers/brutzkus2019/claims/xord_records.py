"""Records of descent on points of XORD, altered; and points of which one is not diverse."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims.xord_updates import (
    equation_7_8,
    footnote_10,
    observation_decomposition,
    observation_one_pair,
)
from widenet.types import Dataset

ON_DIVERSE = (observation_one_pair, equation_7_8, footnote_10, observation_decomposition)


def with_one_non_diverse(data):
    """The last point, a negative one, has the pattern p_2 alone."""
    inputs = np.asarray(data.inputs).copy()
    inputs[-1] = PATTERNS[[1] * 7].reshape(-1)
    return Dataset(jnp.asarray(inputs), data.labels)


def altered(run, name, time, by):
    """The record with one number of the first run moved."""
    values = getattr(run, name).copy()
    values[time, 0] += by
    return replace(run, **{name: values})
