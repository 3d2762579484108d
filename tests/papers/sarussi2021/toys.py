"""Toy runs whose numbers are known, and records of finished runs to be altered."""

import dataclasses

import numpy as np

from widenet.papers.sarussi2021.runs.epochs import EpochSetting, follow_epochs
from widenet.papers.sarussi2021.runs.ledgers import keep_ledger
from widenet.papers.sarussi2021.runs.problems import SgdSetting, draw_problem, make_problem
from widenet.papers.sarussi2021.settings import Listed, SmallCloud
from widenet.progress import silent


def problem(points, labels, plus, minus, *, v, slope, eta, separator=None):
    """One run from these rows."""
    points, labels = np.asarray(points, float), np.asarray(labels, float)
    weights = np.concatenate([np.asarray(plus, float), np.asarray(minus, float)])
    listed = Listed(inputs=tuple(map(tuple, points.tolist())), labels=tuple(labels.tolist()))
    setting = SgdSetting(points=listed, half_width=len(plus), slope=slope, step_size=eta, output_weight=v)
    made = make_problem(points[None], labels[None], weights[None], setting, np.zeros(1, int))
    return made if separator is None else dataclasses.replace(made, separator=np.asarray(separator, float)[None])


def in_turn(*orders):
    """These orders of the points, one per epoch, again and again."""
    while True:
        for order in orders:
            yield np.array([order])


def ledger(made, *, epochs=1, orders=None):
    """Every update of these epochs, by default in the order of the points."""
    return keep_ledger(made, orders or in_turn(range(made.n_samples)), epochs)


def altered(record, **fields):
    """The same record with other fields; a function gets the old value."""
    return dataclasses.replace(
        record, **{name: value(getattr(record, name)) if callable(value) else value for name, value in fields.items()}
    )


def trace():
    """Two points, two neurons of each sign; odd epochs visit the points in order, even ones the other way round."""
    return problem(
        [(1, 0.5), (-1, 1)],
        [1, -1],
        [(0.5, -0.2), (-0.3, 0.4)],
        [(0.1, 0.2), (-0.2, -0.6)],
        v=0.3,
        slope=0.4,
        eta=0.5,
        separator=(1, 0),
    )


def trace_orders():
    return in_turn((0, 1), (1, 0))


def small_ledger(n_runs=1, epochs=8):
    made = draw_problem(SgdSetting(points=SmallCloud(n_samples=8), deviations=(1e-3, 1.0), n_runs=n_runs, half_width=3))
    return keep_ledger(made, made.epochs(), epochs)


def small_epochs(**fields):
    setting = EpochSetting(
        points=SmallCloud(n_samples=6),
        **{"deviations": (0.1,), "n_runs": 2, "half_width": 2, "clean_levels": (0.5,), "levels": (1.0,)} | fields,
    )
    made = draw_problem(setting)
    return follow_epochs(made, made.epochs(), setting, silent)
