"""Structure of the labels: what fits, what generalizes, how far the weights go, and in how many directions."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, at_least, claim, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.papers.li2018.claims.network import unit_norm
from widenet.papers.li2018.runs.fits import (
    Fit,
    arbitrary_settings,
    bias_settings,
    component_settings,
    fits,
    hexagon_fits,
    structure_settings,
)


def in_pairs(cells: Sequence[Fit]) -> tuple[list[Fit], list[Fit]]:
    """(true labels, permuted labels) of the same seeds."""
    true = {cell.seed: cell for cell in cells if not cell.permuted}
    permuted = {cell.seed: cell for cell in cells if cell.permuted}
    both = sorted(true.keys() & permuted.keys())
    return [true[seed] for seed in both], [permuted[seed] for seed in both]


def column(cells: Sequence[Fit], name: str) -> np.ndarray:
    """One field of all cells."""
    return np.array([getattr(cell, name) for cell in cells], np.float64)


def fit_conditions(cells: Sequence[Fit], least: int) -> tuple[Hypothesis, ...]:
    """(A2), and enough seeds."""
    return (
        unit_norm(max(cell.norm_error for cell in cells)),
        at_least("seeds", "number of seeds", len({cell.seed for cell in cells}), least),
    )


@claim(
    "li2018.section_6_structure", Kind.TREND, "implicit regularization, Section 6", reads=fits.at(structure_settings)
)
def section_6_structure(cells: Sequence[Fit], *, distance: float = 2.0, steps: float = 5.0) -> Evidence:
    """The less structured the labels, the "further away from the initialization" the learned network is, and it "needs
    more iterations": on the same points, permuted labels need more steps and a longer way than the true ones until all
    are decided rightly. Held against factors of 5 and 2 for every seed, which are ours.

    A run with permuted labels that was cut off has gone so far at least; one with true labels decides nothing.
    """
    true, permuted = in_pairs(cells)
    lost, cut = column(true, "accuracy") < 1, column(permuted, "accuracy") < 1
    longer = column(permuted, "distance") / column(true, "distance")
    slower = column(permuted, "steps") / np.maximum(column(true, "steps"), 1)
    return evidence(
        {
            "permuted labels: so many times the steps": Sides(
                slower, steps, Sense.AT_LEAST, undecided=lost | (cut & (slower < steps))
            ),
            "permuted labels: so many times the distance": Sides(
                longer, distance, Sense.AT_LEAST, undecided=lost | (cut & (longer < distance))
            ),
        },
        fit_conditions(cells, 5),
        details={"ratios of steps": slower, "ratios of distances": longer},
    )


@claim("li2018.section_4_bias", Kind.TREND, "after Theorem 4.1, Section 4", reads=fits.at(bias_settings))
def section_4_bias(cells: Sequence[Fit], *, test: float = 0.97) -> Evidence:
    """The inductive bias of SGD: a network that is wide enough to fit permuted labels of the same inputs still
    generalizes when it is trained on the true ones. Held against a test accuracy of 0.97 for every seed, which is ours.
    """
    true, permuted = in_pairs(cells)
    return evidence(
        {
            "permuted labels are fitted": Sides(column(permuted, "accuracy"), 1.0, Sense.AT_LEAST),
            "true labels generalize": Sides(column(true, "test_accuracy"), test, Sense.AT_LEAST),
        },
        fit_conditions(cells, 3),
        details={"test accuracy after permuted labels": column(permuted, "test_accuracy")},
    )


@claim("li2018.section_6_compression", Kind.TREND, "generalization, Section 6", reads=fits.at(bias_settings))
def section_6_compression(cells: Sequence[Fit], *, loss: float = 0.01, gap: float = 5.0, flat: float = 1.1) -> Evidence:
    """The accumulated update is approximately of rank kl, and the weights do not show it: σ_kl/σ_{kl+1} of W^T − W⁰ is
    at least 5 and that of W^T at most 1.1; and W⁰ with the update cut to rank kl predicts as well, up to 0.01. The
    numbers are ours.
    """
    true, _ = in_pairs(cells)
    lost = column(true, "test_accuracy") - column(true, "truncated")
    return evidence(
        {
            "rank kl predicts as well": Sides(lost, loss),
            "σ_kl/σ_{kl+1} of the update": Sides(column(true, "gap"), gap, Sense.AT_LEAST),
            "σ_kl/σ_{kl+1} of the weights": Sides(column(true, "weight_gap"), flat),
        },
        fit_conditions(cells, 3),
    )


def apart(cells: Sequence[Fit]) -> tuple[Hypothesis, ...]:
    """No two points on one line."""
    return (
        unit_norm(max(cell.norm_error for cell in cells)),
        more_than("nearest", "smallest distance of two points", min(cell.nearest for cell in cells), 0),
        more_than("parallel", "smallest distance to a mirror image", min(cell.parallel for cell in cells), 0),
    )


@claim(
    "li2018.section_4_arbitrary_labels", Kind.TREND, "after Theorem 4.1, Section 4", reads=fits.at(arbitrary_settings)
)
def section_4_arbitrary_labels(cells: Sequence[Fit]) -> Evidence:
    """A wide network fits arbitrary labels of N points of norm 1 of which no two lie on one line. Held against 100
    points of the sphere within 4000 steps, which is ours.

    The sentence before, "we would have l = N = BT", cannot be meant with the B of the theorem, which exceeds l.
    """
    return evidence(
        {"every point is decided rightly": Sides(column(cells, "accuracy"), 1.0, Sense.AT_LEAST)}, apart(cells)
    )


@claim(
    "li2018.section_4_arbitrary_labels_as_printed",
    Kind.TREND,
    "after Theorem 4.1, Section 4",
    reads=fits.at(hexagon_fits),
)
def section_4_arbitrary_labels_as_printed(cells: Sequence[Fit]) -> Evidence:
    """As long as m = poly(N, 1/δ'), where δ' is the minimal distance between the examples, arbitrary labels can be
    fitted.

    A run that was cut off refutes nothing by itself; that no network fits the labels is decided by a linear program.
    """
    fitted = column(cells, "accuracy") >= 1
    impossible = np.array([cell.obstructed for cell in cells])
    return evidence({"the labels can be fitted": Fact(fitted, undecided=~fitted & ~impossible)}, apart(cells)[:2])


@claim(
    "li2018.section_6_components", Kind.TREND, "implicit regularization, Section 6", reads=fits.at(component_settings)
)
def section_6_components(cells: Sequence[Fit]) -> Evidence:
    """Data with more components per class needs more steps until the same accuracy, and ends farther from the start;
    for l = 1, 2, 4 and 7 at a training accuracy of 0.98, which are ours. A run that was cut off decides nothing.
    """
    groups: dict[int, list[Fit]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.per_class):
        groups[cell.per_class].append(cell)
    steps, away = (
        np.array([column(group, name).mean() for group in groups.values()]) for name in ("steps", "relative")
    )
    lost = np.array([(column(group, "accuracy") < 0.98).any() for group in groups.values()])
    either = lost[1:] | lost[:-1]
    return evidence(
        {
            "more steps": Sides(steps[1:], steps[:-1], Sense.AT_LEAST, strict=True, undecided=either),
            "farther away": Sides(away[1:], away[:-1], Sense.AT_LEAST, strict=True, undecided=either),
        },
        (*fit_conditions(cells, 3), at_least("components", "numbers of components", len(groups), 3)),
        details={"components": list(groups), "steps": steps, "relative distances": away},
    )
