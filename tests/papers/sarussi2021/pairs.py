"""Networks and points whose signs are compared, and what they may be changed to."""

import functools

import numpy as np

from tests.papers.records import altered
from widenet.papers.sarussi2021.runs.clouds import CloudSetting, ask, run_clouds
from widenet.papers.sarussi2021.sources import SignedNetwork
from widenet.progress import silent


@functools.cache
def toy_pairs():
    return run_clouds(CloudSetting(n_networks=80, n_points=40, seed=1), silent)


ALPHA, KAPPA = 0.2, 0.8 / 1.2
POINT = np.array([[1.0, 0.0]])


def network(plus, minus, slope=ALPHA):
    return SignedNetwork(np.array(plus, float), np.array(minus, float), 1.0, slope)


def turned(pairs, where):
    """The same with the sign of N turned at the first pair of this mask."""
    first = np.flatnonzero(where)[0]
    outputs = pairs.outputs.copy()
    outputs[first] *= -1
    return altered(pairs, outputs=outputs)


ZERO = {name: np.zeros(1) for name in ("plus_mean", "minus_mean", "outputs", "plus_radius", "minus_radius",
                                       "plus_distance", "minus_distance")}  # fmt: skip


def zero_pair(**fields):
    """A pair of which everything is 0 but what is given."""
    return altered(
        ask(network([(0, 1), (0, 1)], [(0, 1), (0, 1)]), POINT), **ZERO | {k: np.array([v]) for k, v in fields.items()}
    )
