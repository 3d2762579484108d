"""What each claim of this room is judged on in tests that walk all of them: toys, and what the claim draws itself."""

import functools
from typing import Any

import numpy as np

from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from widenet.claims.base import Claim, Evidence
from widenet.claims.sides import Sides, plain
from widenet.diagnostics.agreement_program import solve_regime
from widenet.diagnostics.kkt import push_condition
from widenet.papers.sarussi2021.runs.clouds import CloudSetting, run_clouds
from widenet.papers.sarussi2021.runs.epochs import ORDER_LEVELS
from widenet.papers.sarussi2021.runs.single_networks import biased_network
from widenet.papers.sarussi2021.runs.small_steps import SmallStepSetting, run_small_steps
from widenet.papers.sarussi2021.runs.states import StateSetting, run_states
from widenet.papers.sarussi2021.settings import SmallCloud, lift
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def toy_cell(experiment):
    """One small cell of this experiment."""
    match experiment.rpartition(".")[2]:
        case "ledgers":
            return toys.small_ledger()
        case "epochs":
            return toys.small_epochs()
        case "flows":
            return toys.flow_runs()
        case "clouds":
            return run_clouds(CloudSetting(n_networks=80, n_points=40, seed=1), silent)
        case "states":
            return run_states(StateSetting(n_sets=6), silent)
        case _:
            setting = SmallStepSetting(points=SmallCloud(n_samples=6), deviations=(0.1,), n_runs=2, half_width=2)
            return run_small_steps(setting, silent)


@functools.cache
def order_cells():
    """Runs as the order of Theorem 4.1 is measured on, with planted counts: 1000 n/√ε."""
    cells = []
    for n in (10, 20, 40, 80):
        hits = np.tile(np.round(1000 * n / np.sqrt(ORDER_LEVELS)).astype(int), (2, 1))
        changed = {"hits": hits, "hit_levels": np.array(ORDER_LEVELS), "n_samples": n}
        cells.append(altered(toy_cell("epochs"), **changed))
    return cells


def handed(claim: Claim, *runs: Any, **constants: Any) -> tuple[dict[str, Any], Evidence]:
    """What it promises, by the words a reader sees, with both sides in every case; and the evidence."""
    parts: dict[str, Any] = dict(claim.promise(*runs, **constants).parts)
    return {plain(part.text): part for part in parts.values()}, claim(*runs, **constants)


def promised(claim: Claim, key: str, *runs: Any) -> Any:
    """What it promises under this key, with both sides in every case."""
    return claim.promise(*runs).parts[key]


def looks_read(claim, runs):
    """By part, the readings at which the weights enter it: those where a change of the weights changes its cases."""
    before, _ = handed(claim, [runs])
    read = {name: set() for name in before}
    tilt = np.array([[1.0, 0.02], [-0.02, 1.0]]) + 0.05 * np.arange(6)[:, None, None] * np.eye(2)
    for look, reading in enumerate(runs.readings.tolist()):
        weights = runs.weights.copy()
        weights[0, look] = np.einsum("jd,jde->je", weights[0, look], tilt)
        after, _ = handed(claim, [altered(runs, weights=weights)])
        for name in read:
            if isinstance(before[name], Sides) and not np.array_equal(sides_of(before[name]), sides_of(after[name])):
                read[name].add(reading)
    return read


def sides_of(part):
    return np.where(part.scored, np.stack([part.measured, part.promised]), 0.0)


def given(claim: Claim):
    """The arguments of its judge."""
    if claim.draws is not None:
        return (claim.draws(Scale.QUICK, 0),)
    if claim.name == "theorem_4_1_order":
        return (order_cells(),)
    return tuple([toy_cell(experiment.id)] for experiment in claim.reads)


def all_cases(cells, make):
    """One flat array over all cells."""
    return np.concatenate([np.ravel(make(runs)) for runs in cells])


def at_least_one(_, cells):
    return all_cases(cells, lambda runs: np.maximum(runs.norms, 1.0))


def lengths_of_rows(part, cells):
    """What a row is moved along, of which float64 keeps 1e-12, beside a thousand times the promise."""
    return 1e3 * part.promised + all_cases(
        cells, lambda runs: (runs.norms + runs.start_norm[:, None]) * runs.separator_norm[:, None]
    )


def alignments(part, cells):
    """|F| at the end of each epoch and at the start, once per level."""
    ends = all_cases(cells, lambda runs: np.abs(runs.alignments[:, runs.n_samples - 1 :: runs.n_samples])
                     + np.abs(runs.start_alignment)[:, None])  # fmt: skip
    return part.promised + np.tile(ends, len(part.promised) // len(ends))


def clean_scales(part, cells):
    (runs,) = cells
    return 1e3 * part.promised + np.repeat(runs.clean_scales, runs.n_samples)


def products_of_lengths(_, programs):
    both = [np.linalg.norm(each.points, axis=1) for each in programs]
    return np.concatenate([np.outer(lengths, lengths).ravel() for lengths in both])


def lengths_of_solutions(_, programs):
    """‖(w, u)‖ over v√k of the program of each, for every coordinate of three neurons of each sign."""
    lengths = []
    for each in programs:
        solved = solve_regime(each.points, each.labels, each.plus_signs, each.minus_signs, each.slope)
        lengths.append(np.full(6 * each.points.shape[1], np.linalg.norm(solved.solution) / (0.4 * 3**0.5)))
    return np.concatenate(lengths)


def sizes_of_sets(_, sets):
    return np.concatenate([np.full(len(each.plus), each.size) for each in sets])


def squares_at_the_start(part, cells):
    """G_0², of which float64 keeps 1e-12, beside a thousand times the promise."""
    return 1e3 * part.promised + all_cases(cells, lambda runs: runs.start_norm[:, None] ** 2 + 0 * runs.norms)


def conditions_of_pushes(_, cells):
    """1 + what an error of the margins does to the direction of the flow, at every look of the toy path."""
    (course,) = [course for runs in cells for course in runs.each()]
    signs = course.output_weight * np.repeat([1.0, -1.0], course.half_width)
    others = (signs, float(course.slope), course.inputs, course.labels)
    return np.array([1 + push_condition(rows, *others) for rows in course.weights])


SIZES = {
    "section_3_expressiveness": dict.fromkeys(("units with a ≥ 0", "units with a < 0"), lambda _, units: units.size),
    "equation_27": {"N_{cW} = c·N_W": lambda _, drawn: drawn.factors * drawn.size},
    "equation_13": {"2⟨W, ΔW⟩ = 2η|ℓ'|q": lambda _, cells: all_cases(cells, lambda runs: runs.scales)},
    "equation_15": dict.fromkeys(
        ("G_T² − G_0² ≤ T(2kη²v²R_x² + 2η)", "the same with 2η·W₀(1/e)"), squares_at_the_start
    ),
    "equation_18": {"all violating epochs (18)": alignments},
    "equation_24": dict.fromkeys(
        ("outputs move by at most 2v²R_x²ηks(1 − e^{−ε_0})", "losses move by no more"), clean_scales
    ),
    "section_13_differences": dict.fromkeys(("plus rows", "minus rows", "r is frozen"), at_least_one),
    "rows_grow": dict.fromkeys(("plus rows", "minus rows"), lengths_of_rows),
    "limit_is_kkt": {"stationarity is near at every time": conditions_of_pushes},
    "equation_7_kernel": dict.fromkeys(
        ("(1 + α²)⟨x, x'⟩ for equal labels", "2α⟨x, x'⟩ for unlike labels"), products_of_lengths
    ),
    "equation_7_antipodal": dict.fromkeys(("w = −u", "w = w_svm/(1 + α)"), sizes_of_sets),
    "assumption_4_scale": {
        "the critical β are multiplied by c": lambda part, _: part.promised + part.promised.max(),
    },
    "section_8_1": {"the two networks are equal": lambda *_: biased_network()[0].scale(lift(biased_network()[1]))},
    "footnote_8": {"the rows are w/(vk) and u/(vk)": lengths_of_solutions},
}
"""By claim and part, what its room for rounding is a share of, where that is neither of the two sides."""
