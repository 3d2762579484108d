"""Toy runs whose numbers are known, and records of finished runs to be altered."""

import dataclasses

import numpy as np

from tests.papers.records import altered
from widenet.data.sources import ListedPoints
from widenet.diagnostics.agreement_program import regime_rows, separate, solve_perfect_agreement
from widenet.papers.sarussi2021.runs.epochs import EpochSetting, follow_epochs
from widenet.papers.sarussi2021.runs.flows import READINGS, FlowRuns
from widenet.papers.sarussi2021.runs.ledgers import keep_ledger
from widenet.papers.sarussi2021.runs.problems import SgdSetting, draw_problem, make_problem
from widenet.papers.sarussi2021.sources import SmallCloud
from widenet.progress import silent
from widenet.types import RunStatus


def problem(points, labels, plus, minus, *, v, slope, eta, separator=None):
    """One run from these rows."""
    points, labels = np.asarray(points, float), np.asarray(labels, float)
    weights = np.concatenate([np.asarray(plus, float), np.asarray(minus, float)])
    listed = ListedPoints(inputs=tuple(map(tuple, points.tolist())), labels=tuple(labels.tolist()))
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


EDGES = {
    "separable": ({"smallest_margin": np.ones(2)}, {"smallest_margin": np.array([1.0, 1 - 5e-12])}),
    "input_norm": ({"relative_input": np.ones(2)}, {"relative_input": np.array([1.0, 1 + 5e-12])}),
    "row_norm": ({"relative_row": np.ones(2)}, {"relative_row": np.array([1.0, 1 + 5e-12])}),
    "labels": ({}, {"label_error": np.array([0.0, 1e-15])}),
    "once_per_epoch": ({}, {"visits": np.array([0.0, 1.0])}),
    "output_weight": ({}, {"output_weight": 0.0}),
    "slope_positive": ({}, {"slope": 0.0}),
    "slope_below_one": ({}, {"slope": 1.0}),
    "step_size": ({}, {"step_size": 0.0}),
}
"""Fields of two runs of SGD, just inside and just outside of the hypothesis of this key."""


E1 = (np.array([(2.0, 1.0), (-1.0, -3.0)]), np.array([1.0, -1.0]))
"""Two points on which every hypothesis of Theorem 6.2 holds at α = 1/3, k = 3, v = 0.4."""


def flow_runs(*, noise=1e-2, far_point=False, n_runs=1, **fields):
    """A path like that of gradient flow on E1: rows s·(w, u)/(vk), a fixed term that balances the losses, and noise.

    The term makes |ℓ'| proportional to the multipliers of Eq. 7. `far_point` adds a third point far out.
    """
    points, labels = E1
    slope, k, v = 1 / 3, 3, 0.4
    solved = solve_perfect_agreement(points, labels, slope)
    rows = regime_rows(points, labels, labels, -labels, slope)
    term = np.linalg.lstsq(rows, -np.log(solved.multipliers), rcond=None)[0]
    drawn = noise * np.random.default_rng(0).normal(size=(2 * k, 2))
    readings = np.array(READINGS)
    centres = (readings[:, None] + 1.0) * solved.solution + term
    weights = np.repeat(centres.reshape(-1, 2, 2), k, axis=1) / (v * k) + drawn
    if far_point:
        far = 100.0 if far_point is True else far_point
        points, labels = np.concatenate([points, [(2 * far, far)]]), np.append(labels, 1.0)
    made = FlowRuns(
        readings=readings,
        weights=np.repeat(weights[None], n_runs, axis=0),
        inputs=np.repeat(points[None], n_runs, axis=0),
        labels=np.repeat(labels[None], n_runs, axis=0),
        slope=np.full(n_runs, slope),
        separator=np.repeat(separate(points, labels).separator[None], n_runs, axis=0),  # pyright: ignore[reportOptionalSubscript]
        last_crossing=np.zeros(n_runs),
        slides=np.zeros(n_runs, int),
        statuses=np.full(n_runs, int(RunStatus.BUDGET_SPENT)),
        plus_signs=np.repeat(labels[None], n_runs, axis=0),
        minus_signs=np.repeat(-labels[None], n_runs, axis=0),
        solution=np.repeat(solved.solution[None], n_runs, axis=0),
        value=np.full(n_runs, solved.value),
        perfect_solution=np.repeat(solved.solution[None], n_runs, axis=0),
        perfect_value=np.full(n_runs, solved.value),
        critical=np.ones(n_runs),
        output_weight=v,
    )
    return altered(made, **fields)


def changed_weights(runs, change):
    """The same runs after `change(weights)` of the first run, in place."""
    weights = runs.weights.copy()
    change(weights[0])
    return altered(runs, weights=weights)
