"""Small cells of first steps whose numbers can be altered; nothing is computed before it is asked for."""

import dataclasses
import functools

import numpy as np

from widenet.claims.cases import columns_of
from widenet.papers.chatterji2021.claims.starts import RandomStarts
from widenet.papers.chatterji2021.cluster_formulas import WeightScale
from widenet.papers.chatterji2021.cluster_sources import Centres, DrawnClusters
from widenet.papers.chatterji2021.runs.first_steps import FirstStepSetting, run_first_steps
from widenet.progress import silent


def with_entry(index, value):
    """An array with one entry, or one slice of entries, replaced; a function gets the old ones."""

    def change(array):
        array = np.array(array, float)
        array[index] = value(array[index]) if callable(value) else value
        return array

    return change


@functools.cache
def clusters(scaling: WeightScale = "sec4", **fields):
    """60 starts on eight points of four clusters."""
    points = DrawnClusters(n_samples=8, radius=0.01)
    setting = FirstStepSetting(points=points, half_width=2000, beta=0.45, n_runs=60, scaling=scaling, **fields)
    return run_first_steps(setting, silent)


@functools.cache
def centres(half_width=2000, n_runs=60, beta=0.45, scaling: WeightScale = "sec4", **fields):
    """Starts on the centres of XOR."""
    setting = FirstStepSetting(
        points=Centres(), half_width=half_width, beta=beta, n_runs=n_runs, scaling=scaling, **fields
    )
    return run_first_steps(setting, silent)


def narrowed(cell, count):
    """The same cell with its first points only."""
    pairs = ("helpful_pairs", "harmful_pairs", "helpful_touched", "harmful_touched")
    changes = {
        "labels": cell.labels[:count],
        "clusters": cell.clusters[:count],
        "products": cell.products[:count, :count],
    }
    for field in dataclasses.fields(cell):
        values = getattr(cell, field.name)
        if field.name in pairs:
            changes[field.name] = values[:, :count, :count]
        elif isinstance(values, np.ndarray) and values.ndim == 2 and field.name not in ("products", "activity"):
            changes[field.name] = values[:, :count]
    return dataclasses.replace(cell, **changes)


def columns(cell, kind=RandomStarts):
    """The cell with what the claims compute from it."""
    return kind.join([cell]).cells[0]


def twice(cell):
    """The same cell with every run twice."""
    about = columns_of(type(cell))
    fields = [field.name for field in dataclasses.fields(cell) if "run" in about[field.name].axes]
    return cell.replace(**{name: lambda values: np.concatenate([values, values]) for name in fields})


ONE_IN_SIXTY = 6e-4
"""A rate that one failure of sixty runs refutes, and twice this rate it does not."""


def rows_of_beta(*claims):
    """Controls of both ends of β, on which σ and α_0 depend."""
    both = ("start", "first_step")
    ends = (("beta_positive", {}, {"beta": 0.0}, *both), ("beta_below_half", {}, {"beta": 0.5}, *both))
    return [(claim, *end) for claim in claims for end in ends]


def expects(bound, promised, trivial, allowed):
    """That a bound on how often something fails is this one: the promise, what holds anyway, and δ."""
    np.testing.assert_allclose(bound.sides.promised, promised)
    np.testing.assert_allclose(bound.sides.trivial, np.broadcast_to(trivial, bound.sides.trivial.shape))
    np.testing.assert_allclose(bound.allowed, allowed, rtol=1e-9)
