"""Section 6.2: a wide enough network fits any labels, so zero training loss alone promises nothing about the test."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, column, derived
from widenet.claims.given import separable, slope_below_one, slope_positive
from widenet.claims.implication import Promise, at_least, at_most, equal, hypothesis, more_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import FITTED
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.brutzkus2018.formulas import bump_half_width, printed_half_width, swept_half_width
from widenet.papers.brutzkus2018.relu_sources import SAME_RAY
from widenet.papers.brutzkus2018.runs.bad_global_minimum import SOLUTIONS, BadMinimum, bad_minimum
from widenet.papers.brutzkus2018.runs.memories import (
    Remembered,
    constructions,
    memories,
    sweep_settings,
)
from widenet.papers.brutzkus2018.runs.several_cases import SeveralCases
from widenet.records import Form

GENERALIZES = 0.5
"""A test error up to this is better than guessing."""

HalfWidth = Callable[[int, int], int | float]
"""The k that a statement asks for, from n and d."""


class Fits(SeveralCases, Remembered):
    """Every set of points as a cell, with how much wider than needed its networks are."""

    lengths: ClassVar = {"plane": lambda case: np.where(np.arange(len(case)) == 0, len(case.ranks), 0)}

    spare_of_printed: Number = derived(lambda case: case.half_width - _width(case, printed_half_width))
    spare_of_swept: Number = derived(lambda case: case.half_width - _width(case, swept_half_width))

    @column
    def has_one_weight(self) -> bool:
        """Output weights (+v, …, +v, −v, …, −v) with one v > 0."""
        sizes = plus_minus_weights(self.half_width) * self.output_weights
        return bool(sizes[0] > 0 and np.ptp(sizes) == 0)


def _width(case: Remembered, needed: HalfWidth) -> int | float:
    """The k that is needed; nothing is asked for in one dimension, where the hypothesis on d fails."""
    return needed(int(case.n_samples), int(case.dim)) if case.dim > 1 else 0


@hypothesis("$k − 2⌈n/(2d − 2)⌉$", key="width")
def printed_width(cases: Fits) -> Sides:
    """k ≥ 2⌈n/(2d − 2)⌉."""
    return at_least(cases.spare_of_printed, 0)


@hypothesis("$k − ⌈n/d⌉$", key="width")
def swept_width(cases: Fits) -> Sides:
    """k ≥ ⌈n/d⌉."""
    return at_least(cases.spare_of_swept, 0)


@hypothesis("dimension $d$")
def dimension(cases: Fits) -> Sides:
    """d ≥ 2."""
    return at_least(cases.dim, 2)


@hypothesis("no two points on one ray: distance of directions")
def distinct_rays(cases: Fits) -> Sides:
    """x_i ≠ cx_j for c > 0."""
    return more_than(cases.closest_directions, SAME_RAY)


GENERIC = (dimension, distinct_rays, slope_positive, slope_below_one)
"""What the memorization results ask of points and slope."""


@claim(
    "brutzkus2018.theorem_7",
    Kind.MAIN,
    "Theorem 7, Section 6.2",
    reads=memories,
    given=[printed_width, *GENERIC],
    title="A wide network fits any labels of generic points",
    means=Meaning(
        topic=Topic.POWER,
        promise="A network with enough neurons can learn any labels of these points by heart, even wrong ones, so a "
        "perfect fit alone proves nothing.",
    ),
)
def theorem_7(cases: Fits) -> Promise:
    """Leaky ReLU with output weights $±v$: if $k ≥ 2⌈n/(2d − 2)⌉$, then for all labels $y ∈ {−1, +1}^n$ and almost
    every $X$ there are weights with $N(x_i) = y_i$ for every $i$.

    Not finding weights is no proof that there are none. Two points on one ray are: N(cx) = cN(x) for c > 0.
    """
    lost = (cases.errors > FITTED) & ~cases.is_contradictory
    return Promise(
        {
            "fits": _fits(cases, lost),
            "one_weight": Fact(cases.per("cell").has_one_weight, text="output weights $±v$ with one $v > 0$"),
        },
        details=lambda: _details(cases, lambda case: {"gates": case.gates}),
    )


@claim(
    "brutzkus2018.theorem_7_sweep",
    Kind.CONSTRUCTION,
    "Section 6.2 (derived: a proof of Theorem 7 with fewer neurons)",
    reads=constructions.at(sweep_settings),
    given=[swept_width, *GENERIC],
    form=Form.SHARPER,
    title="$k = ⌈n/d⌉$ is enough to fit any labels",
)
def theorem_7_sweep(cases: Fits, *, printed: HalfWidth = printed_half_width) -> Promise:
    """$k = ⌈n/d⌉$ suffices in Theorem 7, for every slope in $(0, 1)$: gates that turn through a plane and stop after
    every $d$ points give a linear system of rank $n$. As $⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉$, this proves Theorem 7.
    """
    # Where the gates had to be pushed out far, the outputs are differences of large numbers.
    lost = (cases.errors > FITTED) & (cases.errors <= cases.rounding)
    plane, each = cases.per("plane"), cases.per("cell")
    swept, wider = each.map(lambda case: _width(case, swept_half_width)), each.map(lambda case: _width(case, printed))
    return Promise(
        {
            "fits": _fits(cases, lost),
            "rank": equal(
                plane.ranks, plane.n_samples, text="rank $n$ in every plane", quantity="rank of the linear system"
            ),
            "narrower": at_most(swept, wider, text="$⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉$"),
        },
        details=lambda: _details(cases, lambda case: {"smallest_rank": case.ranks.min(), "smallest_scale": case.scale}),
    )


@claim(
    "brutzkus2018.theorem_7_bumps",
    Kind.CONSTRUCTION,
    "Proof of Theorem 7, Section 9.2.2 (the cited lemma re-derived)",
    reads=constructions,
    given=GENERIC,
    form=Form.REPAIR,
    title="Hyperplane bumps fit any labels, with twice the neurons",
)
def theorem_7_bumps(cases: Fits, *, printed: HalfWidth = printed_half_width) -> Promise:
    """The route of the proof, a network for each label that is $1$ on it and $0$ on the other, fits every labelling
    with hyperplane bumps, with $k = 2(⌈n₊/(d − 1)⌉ + ⌈n₋/(d − 1)⌉)$, about twice $2⌈n/(2d − 2)⌉$.
    """
    each = cases.per("cell")
    counted, least = each.map(_bumps, int), each.map(lambda case: _width(case, printed))
    return Promise(
        {
            "fits": _fits(cases, np.zeros(len(cases), bool), "$N(x) = y$"),
            "counted": equal(each.half_width, counted, text="$k$ as counted", quantity="half the number of neurons"),
            "printed": at_least(each.half_width, least, text="$k ≥ 2⌈n/(2d − 2)⌉$"),
        },
        details=lambda: _details(cases, lambda case: {"counted": _bumps(case), "printed": int(_width(case, printed))}),
    )


class Solutions(BadMinimum):
    """The built networks and those of SGD; NaN where weights were not found, or training was cut off."""

    built_error: Float[np.ndarray, "multiple set"] = derived(lambda runs: _found(runs, runs.test_error))
    built_loss: Float[np.ndarray, "multiple set"] = derived(lambda runs: _found(runs, runs.train_loss))
    trained_error: Float[np.ndarray, "multiple set"] = derived(lambda runs: _ended(runs, runs.test_error))
    trained_loss: Float[np.ndarray, "multiple set"] = derived(lambda runs: _ended(runs, runs.train_loss))
    unfinished: Bool[np.ndarray, "multiple set"] = derived(lambda runs: ~runs.trained_to_the_end)

    @column
    def spare(self) -> Number:
        """The smallest k − 2⌈(n + n')/(2d − 2)⌉."""
        setting = self.setting
        return min(setting.half_widths) - printed_half_width(setting.n_train + setting.n_test, setting.dim)

    def counts(self) -> dict[str, int]:
        """Every width on every data set."""
        each = self.per("set")
        return {"tried": len(each), "unfinished": int(each.unfinished.sum())}


BUILT, _, TRAINED = range(len(SOLUTIONS))


def _found(runs: BadMinimum, values: np.ndarray) -> np.ndarray:
    return np.where(runs.fit_error <= FITTED, values[BUILT], np.nan)


def _ended(runs: BadMinimum, values: np.ndarray) -> np.ndarray:
    return np.where(runs.trained_to_the_end, values[TRAINED], np.nan)


@hypothesis("$k − 2⌈(n + n')/(2d − 2)⌉$", key="width")
def width_for_all(runs: Solutions) -> Sides:
    """k ≥ 2⌈(n + n')/(2d − 2)⌉."""
    return at_least(runs.spare, 0)


@claim(
    "brutzkus2018.section_6_2_bad_global",
    Kind.CONSTRUCTION,
    "Section 6.2, after Theorem 7",
    reads=bad_minimum,
    given=[separable, width_for_all],
    title="Some global minima err on every test point",
)
def section_6_2_bad_global(runs: Solutions) -> Promise:
    """With $n$ training points, $n'$ test points and $k ≥ 2⌈(n + n')/(2d − 2)⌉$ the training loss has global minima
    (loss $0$) with arbitrarily bad test error: here 100 %, on separable data where SGD from a random start also reaches
    loss $0$ and generalizes.

    Weights that were not found, and training that was cut off, decide nothing.
    """
    each = runs.per("set")
    return Promise(
        {
            "built_error": at_least(
                each.built_error,
                1.0,
                text="the built network is wrong on every test point",
                quantity="test error of a network with training loss 0",
            ),
            "built_loss": at_most(each.built_loss, 0.0, text="the built network has training loss 0"),
            "sgd_loss": at_most(each.trained_loss, 0.0, text="SGD reaches training loss 0"),
            "sgd_error": at_most(each.trained_error, GENERALIZES, text="SGD generalizes", quantity="test error of SGD"),
        },
        details=lambda: {"cases": runs.per("cell").map(_told, object).tolist()},
        note=lambda: _note(runs),
    )


def _told(cell: Solutions) -> dict[str, Any]:
    setting = cell.setting
    return {
        "train": setting.n_train,
        "test": setting.n_test,
        "dim": setting.dim,
        "half_widths": setting.half_widths,
        "data_sets": setting.n_sets,
        "slope": setting.slope,
    }


def _note(runs: Solutions) -> str:
    each = runs.per("set")
    errors, losses = each.map(lambda cell: cell.test_error[TRAINED]), each.map(lambda cell: cell.train_loss[TRAINED])
    return (
        f"SGD from a random start on the same training points has test error {errors.max():.3g} "
        f"or less, {errors.mean():.3g} on average, at training loss {losses.max():.3g}."
    )


def _fits(cases: Fits, lost: np.ndarray, text: str = "$N(x) = y$ for every labelling") -> Sides:
    """The largest |N(x) − y| of every labelling; NaN where it is lost."""
    errors = np.where(lost, np.nan, cases.errors)
    return equal(errors, 0.0, within=FITTED, text=text, quantity="largest |N(x) − y|")


def _bumps(case: Remembered) -> int:
    """The k that bumps need for these labels."""
    plus = int((case.labels == 1).sum())
    return int(_width(case, lambda n_samples, dim: bump_half_width(plus, n_samples - plus, dim)))


def _details(cases: Fits, others: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    def told(case: Fits) -> dict[str, Any]:
        shape = {"samples": case.n_samples, "dim": case.dim, "half_width": case.half_width, "slope": case.slope}
        return {**shape, **others(case), "largest_error": case.errors.max()}

    return {
        "labellings_per_case": cases.cells[0].labels.shape[1],
        "largest_error": cases.errors.max(),
        "cases": cases.per("cell").map(told, object).tolist(),
    }
