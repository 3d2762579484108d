"""Theorem 9: on orthonormal points a narrow ReLU network gets stuck and a wide one succeeds, with probabilities.

A point is in K_0 with probability 2^{−k}, so with independent signs a run succeeds with probability
(1 − 2^{−k})^d exactly. Both halves of the theorem bound this number.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, at_least, at_most, hypothesis, less_than, more_than
from widenet.claims.rates import Conjunct, Rate
from widenet.claims.sides import Fact, Sides
from widenet.claims.statistics import clopper_pearson, matches_rate
from widenet.claims.tolerances import STEP
from widenet.papers.brutzkus2018.formulas import narrow_width, proof_width, success_probability, wide_width
from widenet.papers.brutzkus2018.runs.initializations import (
    Initializations,
    equal_entries_settings,
    equal_rows_settings,
    initializations,
    wide_settings,
)
from widenet.papers.brutzkus2018.runs.parameters import Exponents, some_exponents
from widenet.records import Form

OFF_THE_LAW = 2e-5
"""Counts that the exact law makes less likely than this do not follow it."""
STANDARD_ERRORS = 6
"""What chance does to a mean of signs, at most."""


class Starts(Initializations):
    """Starts, with how far k is from the widths of the theorem and how far signs are from chance."""

    excess_of_narrow: Number = derived(lambda case: case.half_width - narrow_width(case.dim, case.delta))
    spare_of_proof: Number = derived(lambda case: case.half_width - proof_width(case.dim, case.delta))
    spare_of_wide: Number = derived(lambda case: case.half_width - wide_width(case.dim, case.delta))
    #: what chance does to a mean of so many signs is at most 1
    relative_imbalance: Number = derived(lambda case: case.imbalance / _noise(case))
    relative_correlation: Number = derived(lambda case: case.correlation / _noise(case))
    #: p-values of the counts under the exact law
    stuck_by_law: Number = derived(lambda case: _row(case, succeeds=True)["p_value"])
    solved_by_law: Number = derived(lambda case: _row(case, succeeds=False)["p_value"])
    #: whether a trained run ends as its K_0 says
    agrees: Bool[np.ndarray, " trained"] = derived(lambda case: case.reached == case.solvable[: len(case.reached)])
    unfinished: Bool[np.ndarray, " trained"] = derived(lambda case: ~case.ended)
    words: Any = derived(lambda case: f"d = {case.dim}, k = {case.half_width}")  #: the shape


def _noise(case: Initializations) -> float:
    return STANDARD_ERRORS / math.sqrt(len(case))


@hypothesis("$k − log2(d/ln(1/δ))$", key="width")
def narrow(runs: Starts) -> Sides:
    """k ≤ log2(d/ln(1/δ))."""
    return at_most(runs.excess_of_narrow, 0)


@hypothesis("$k − log2(d/δ)$", key="width")
def wide_by_proof(runs: Starts) -> Sides:
    """k ≥ log2(d/δ)."""
    return at_least(runs.spare_of_proof, 0)


@hypothesis("$k − log2(2d/δ)$", key="width")
def wide(runs: Starts) -> Sides:
    """k ≥ log2(2d/δ)."""
    return at_least(runs.spare_of_wide, 0)


@hypothesis("$W_0$ symmetric: |mean sign| of an entry, in six standard errors", extreme=False)
def symmetric(runs: Starts) -> Sides:
    """An entry is as often positive as negative."""
    return at_most(runs.relative_imbalance, 1)


@hypothesis("$W_0$ independent: |mean product of neighbouring signs|, in six standard errors", extreme=False)
def independent(runs: Starts) -> Sides:
    """Neighbouring entries have independent signs."""
    return at_most(runs.relative_correlation, 1)


@hypothesis("$W_0$ bounded: |entry|")
def bounded(runs: Starts) -> Sides:
    """W_0 has a bounded norm."""
    return less_than(runs.largest_entry, math.inf)


@claim(
    "brutzkus2018.theorem_9a",
    Kind.MAIN,
    "Theorem 9, first part, Section 7.2",
    reads=initializations,
    given=[narrow, symmetric, independent, bounded],
    form=Form.REPAIR,
    title="A narrow ReLU network gets stuck with high probability",
)
def theorem_9a(runs: Starts, *, follows_law: bool = True, n_cases: int = 4) -> Promise:
    """ReLU with output weights $±1$ on $e_1, …, e_d$ labelled $+1$, from a continuous symmetric start with independent
    entries: if $k ≤ log2(d/ln(1/δ))$, then with probability at least $1 − δ$ SGD ends at a non-global point. The exact
    probability is $1 − (1 − 2^{−k})^d$.

    In code: `follows_law` is False for the statement as printed, which is not about independent entries; each of the
    `n_cases` settings has a rate of its own.
    """
    return _rarely(runs, succeeds=False, follows_law=follows_law, n_cases=n_cases)


theorem_9a_as_printed = theorem_9a.variant(
    "theorem_9a_as_printed",
    where="Theorem 9, first part, Section 7.2",
    title="A narrow network gets stuck from any symmetric start",
    statement=(
        "ReLU with output weights $±1$ on $e_1, …, e_d$ labelled $+1$, from a continuous symmetric distribution with "
        "bounded norm: if $k ≤ log2(d/ln(1/δ))$, then with probability at least $1 − δ$ SGD ends at a non-global "
        "point. Counterexample: rows $ξ·(1, …, 1)$ plus noise, with a random sign of its own for each row and noise "
        "too small to change it. All points are stuck together, when all $k$ signs are negative: with probability "
        "$2^{−k} = 1/4$ at $d = 20$, $k = 2$, $δ = 0.05$, and $0.95$ is promised. The proof uses independent entries."
    ),
    reads=initializations.at(equal_entries_settings),
    given=(narrow, symmetric, bounded),
    follows_law=False,
    n_cases=1,
)


@claim(
    "brutzkus2018.theorem_9b",
    Kind.MAIN,
    "Theorem 9, second part, Section 7.2",
    reads=initializations.at(wide_settings),
    given=[wide_by_proof, symmetric, independent, bounded],
    form=Form.REPAIR,
    title="A wide ReLU network reaches loss 0 with high probability",
)
def theorem_9b(runs: Starts, *, follows_law: bool = True, n_cases: int = 6) -> Promise:
    """ReLU with output weights $±1$ on $e_1, …, e_d$ labelled $+1$, from a continuous symmetric start with independent
    entries: if $k ≥ log2(2d/δ)$ (the proof needs $log2(d/δ)$ only), then with probability at least $1 − δ$ SGD ends at
    a global minimum (loss $0$). The exact probability is $(1 − 2^{−k})^d$.

    Judged from the width of the proof on, which includes what the statement says.

    In code: `follows_law` is False for the statement as printed.
    """
    return _rarely(runs, succeeds=True, follows_law=follows_law, n_cases=n_cases)


theorem_9b_as_printed = theorem_9b.variant(
    "theorem_9b_as_printed",
    where="Theorem 9, second part, Section 7.2",
    title="A wide network reaches loss 0 from any symmetric start",
    statement=(
        "ReLU with output weights $±1$ on $e_1, …, e_d$ labelled $+1$, from a continuous symmetric distribution with "
        "bounded norm: if $k ≥ log2(2d/δ)$, then with probability at least $1 − δ$ SGD ends at a global minimum. "
        "Counterexample: all rows equal one random vector, up to noise too small to change a sign. A point is then "
        "solved or not by all neurons at once: all points are with probability $2^{−d} = 1/8$ at $d = 3$, $k = 5$, $δ "
        "= 0.2$, and $0.8$ is promised. The proof uses rows that are independent of each other."
    ),
    reads=initializations.at(equal_rows_settings),
    given=(wide, symmetric, bounded),
    follows_law=False,
    n_cases=1,
)


def _rarely(runs: Starts, *, succeeds: bool, follows_law: bool, n_cases: int) -> Promise:
    """Both halves: the rate of the other outcome is at most δ, and it is the exact one.

    Starts are judged by K_0; those trained in full must end as K_0 says. The exact law needs independence.
    """
    outcome = "get stuck" if succeeds else "reach loss 0"
    setting, trained = runs.per("cell"), runs.per("trained")
    rates = setting.map(lambda case: (case.solvable != succeeds).mean()) / setting.delta
    parts: dict[str, Conjunct] = {
        f"case_{case + 1}": Rate(
            runs.solvable != succeeds,
            np.asarray(runs.delta)[runs.cell == case],
            where=runs.cell == case,
            event=f"case {case + 1}",
            text=f"at most a share $δ$ of the runs {outcome} ({_words(runs, case)})",
            quantity=f"share of runs that {outcome}",
            optional=case > 0,
        )
        for case in _nearest_first(rates, n_cases)
    }
    if follows_law:
        parts["law"] = at_least(
            setting.stuck_by_law if succeeds else setting.solved_by_law,
            OFF_THE_LAW,
            text="the share that the exact law gives",
            quantity="p-value under the exact law",
        )
    parts["ends"] = Fact(trained.agrees, undecided=trained.unfinished, text="trained runs end as $K_0$ says")
    disagree = int((trained.ended & ~trained.agrees).sum())
    return Promise(
        parts,
        details=lambda: {
            "cases": setting.map(lambda case: _row(case, succeeds), object).tolist(),
            "trained_runs_that_disagree_with_K_0": disagree,
        },
        note=f"Every start is judged by its K_0; {len(trained)} were trained in full, of which {disagree} ended "
        "otherwise.",
    )


def _nearest_first(rates: np.ndarray, n_cases: int) -> list[int]:
    """The places of the cases, that nearest to its δ first; places without a case last."""
    return [*np.argsort(-rates, kind="stable").tolist(), *range(len(rates), n_cases)]


def _words(runs: Starts, place: int) -> str:
    """What tells this case from the others: δ only where d and k do not, so that no part takes another one's place."""
    if place >= len(runs.cells):
        return f"case {place + 1}"
    shapes, deltas = runs.per("cell").words, runs.per("cell").delta
    return shapes[place] + (f", δ = {deltas[place]:g}" if (shapes == shapes[place]).sum() > 1 else "")


def _row(case: Initializations, succeeds: bool) -> dict[str, Any]:
    failures, total = int((case.solvable != succeeds).sum()), len(case)
    success = success_probability(int(case.dim), int(case.half_width))
    exact = 1 - success if succeeds else success
    return {
        "dim": case.dim,
        "delta": case.delta,
        "half_width": case.half_width,
        "starts": total,
        "trained": len(case.reached),
        "failure_rate": failures / total,
        "exact_rate": exact,
        "p_value": matches_rate(failures, total, exact),
        "interval": list(clopper_pearson(failures, total)),
    }


@hypothesis("exponent $a$")
def exponent_positive(exponents: Exponents) -> Sides:
    """a > 0."""
    return more_than(exponents.exponent, 0)


@hypothesis("exponent $a$")
def exponent_at_most_half(exponents: Exponents) -> Sides:
    """a ≤ ½."""
    return at_most(exponents.exponent, 0.5)


@claim(
    "brutzkus2018.theorem_9_remark",
    Kind.STEP,
    "Remark after Theorem 9, Section 7.2",
    draws=some_exponents,
    given=[exponent_positive, exponent_at_most_half],
    title="SGD avoids bad points with exponentially small chance",
)
def theorem_9_remark(exponents: Exponents) -> Promise:
    """The basin of the non-global points can be exponentially large: $δ = e^{−ad}$ with $a ≤ ½$ allows $k = 1$ and
    every $k ≤ log2(1/a)$, and the probability of not getting stuck, $(1 − 2^{−k})^d$, is then at most $e^{−ad}$.

    The dimension cancels, and is run through all the same.
    """
    each = exponents.per("case")
    delta = np.exp(-each.exponent * each.dim)
    stays = np.vectorize(success_probability, otypes=[np.float64])(each.dim, each.half_width)
    widths = np.vectorize(narrow_width, otypes=[np.float64])(each.dim, delta)
    words = "probability of not getting stuck, against e^{−ad}"
    bound = at_most(stays, delta, within=STEP, text="$(1 − 2^{−k})^d ≤ e^{−ad}$", quantity=words)
    allowed = at_most(each.half_width, widths, room=STEP, text="$k$ is allowed", quantity="k, against log2(d/ln(1/δ))")
    return Promise(
        {"basin": bound, "allowed": allowed},
        details=lambda: {
            "exponents": exponents.exponent,
            "max_dim": np.max(exponents.max_dim),
            "broken": int((bound.broken | allowed.broken).sum()),
        },
    )
