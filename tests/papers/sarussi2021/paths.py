"""A path like that of gradient flow, whose limit is known, and what its records may be changed to."""

import functools

import numpy as np

from tests.papers.records import altered
from tests.papers.sarussi2021.toys import changed_weights, flow_runs
from widenet.papers.sarussi2021.runs.flows import READINGS


@functools.cache
def toy_path():
    return flow_runs()


LAST, AT_20 = len(READINGS) - 1, READINGS.index(20)


def flip_one(weights):
    weights[AT_20 + 2, 0] *= -1


def orthogonal(weights):
    """A plus row orthogonal to the negative point (−1, −3), on which plus rows are negative."""
    weights[AT_20 + 2, 0] = np.linalg.norm(weights[AT_20 + 2, 0]) * np.array([3.0, -1.0]) / 10**0.5


UNMET = {
    "separating": lambda: altered(toy_path(), weights=-toy_path().weights),
    "stays": lambda: altered(toy_path(), last_crossing=np.array([20.001])),
    "agreement": lambda: changed_weights(toy_path(), flip_one),
    "margin": lambda: changed_weights(toy_path(), orthogonal),
}
"""Paths that do not meet the hypothesis of this key."""
