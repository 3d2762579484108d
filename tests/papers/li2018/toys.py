"""Finished material with other fields, for controls."""

import numpy as np

from tests.papers.records import altered
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.li2018.runs.descents import PER_STEP
from widenet.papers.li2018.sources import TOY, Sample


def sample(points, classes, components=None, shares=None):
    """Points given one by one."""
    points, classes = np.asarray(points, float), np.asarray(classes, int)
    components = np.arange(len(points)) if components is None else np.asarray(components, int)
    shares = np.full(len(points), 1 / len(points)) if shares is None else np.asarray(shares, float)
    return Sample(points, classes, components, shares)


def own_toy():
    """Your data: the toy points, three times as long."""
    toy = TOY.draw(5)
    return UserData(from_arrays(3 * toy.points, toy.classes))


def too_many():
    """Your data of more points than is looked at."""
    return UserData(from_arrays(np.random.default_rng(0).normal(size=(301, 2)), np.arange(301) % 3))


def stretched(cell, length):
    """The same cell with as many steps as this."""
    return altered(cell, **{name: np.resize(getattr(cell, name), length) for name in PER_STEP})


def separated_rows(*claims):
    """Rows for (A1) and (A1'): what is no column has no edge that is found."""
    return [
        (claim, key, {}, {column: 0.0})
        for claim in claims
        for key, column in (("distance", "separation"), ("opposite_distance", "opposite_separation"))
        if key in claim.hypotheses
    ]


def printed_rows(*claims):
    """Rows for (A1) to the letter, with mirror images so far away that they do not matter, for l = 2."""
    edges = [{"opposite_separation": 2.0, "relative_diameter": 1 / 16 + beyond} for beyond in (5e-13, 2e-12)]
    return [(claim, "relative_diameter", *edges) for claim in claims]
