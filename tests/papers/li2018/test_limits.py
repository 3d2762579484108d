"""The limits of all hypotheses as literals: a limit that is moved in the source fails here.

Those of the paper are (A1), (A2), τ ≤ δσ/(16ekl), |p v| ≤ v and ‖δ_i‖ ≤ p; most others are ours.
"""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from widenet import papers
from widenet.papers.li2018 import hypotheses
from widenet.papers.li2018.formulas import LEAST_SCALED

GIVEN = [
    (claim, each) for claim in papers.claims_of("li2018") for each in claim.clauses.values() if each.role == "given"
]
PER_CASE = "per case"
LIMITS = [
    ("clearance", ">", 1, ""),
    ("coefficients", "≤", 1, "to 1e-12"),
    ("components", "≥", 3, ""),
    ("convex", "≥", 0, "to 1e-09"),
    ("distance", ">", 0, ""),
    ("distance_limit", "≤", math.sqrt(2), "to 1e-12"),
    ("gap", ">", 0, ""),
    ("jump", ">", 0, ""),
    ("linear", "≤", 0, "to 1e-09"),
    ("nearest", ">", 0, ""),
    ("off_kinks", ">", 10, ""),
    ("opposite_distance", ">", 0, ""),
    ("parallel", ">", 0, ""),
    ("radius", "≤", 1, "to 1e-12"),
    ("relative_diameter", "≤", PER_CASE, "to 1e-12"),
    ("runs", "≥", 8, ""),
    ("scale", "≥", 1, "to 1e-12"),
    ("scaled_threshold", "≥", 20, ""),
    ("scales", "≥", 3, ""),
    ("signs", "≥", 0, ""),
    ("step_size", "≤", 2, ""),
    ("sum_zero", "≤", 0, "to 1e-10"),
    ("threshold", "≤", PER_CASE, "to 1e-12 of it"),
    ("total", "≤", 0, "to 1e-12"),
    ("unit_norm", "≤", 0, "to 1e-12"),
    ("widths", "≥", 3, ""),
]
DIFFERENT = {
    ("seeds", "≥", 5): {"section_4_width_free", "section_6_structure"},
    ("seeds", "≥", 3): {"section_4_bias", "section_6_components", "section_6_compression"},
    ("steps", "≥", 1): {"lemma_5_1", "lemma_5_1_as_printed", "lemma_b_1"},
    ("steps", "≥", 2): {"lemma_b_4_coupled"},
    ("steps", ">", 0): {"lemma_b_4"},
}
"""Keys whose limit depends on the claim."""


def test_every_hypothesis_has_the_limit_of_the_paper():
    found = {
        (each.key, each.sense, each.limit, each.tolerance) for _, each in GIVEN if each.key not in ("seeds", "steps")
    }
    assert found == set(LIMITS)


@pytest.mark.parametrize("key", ["seeds", "steps"])
def test_limits_that_depend_on_the_claim(key):
    found = {}
    for claim, each in GIVEN:
        if each.key == key:
            found.setdefault((key, each.sense, each.limit), set()).add(claim.name)
    assert found == {limit: names for limit, names in DIFFERENT.items() if limit[0] == key}


@pytest.mark.parametrize("given", ["relative_diameter", "relative_diameter_as_printed", "spread"])
def test_the_widest_component_is_an_eighth_over_l(given):
    counts = np.array([1, 2, 3, 7])
    columns = dict.fromkeys(("relative_diameter", "separation", "opposite_separation"), np.ones(4))
    sides = getattr(hypotheses, given)(SimpleNamespace(per_class=counts, **columns))
    assert np.broadcast_to(sides.promised, 4).tolist() == [float(Fraction(1, 8 * int(count))) for count in counts]


def test_the_threshold_of_lemma_a_2():
    """δσ/(16ekl) with σ = 1: values of 40 digits, rounded."""
    table = SimpleNamespace(threshold=np.zeros(2), distance=np.array([0.8, 1.2]), n_components=np.array([6, 10]))
    limits = hypotheses.threshold(table).promised
    np.testing.assert_allclose(limits, [3.065662009762e-3, 2.759095808786e-3], rtol=1e-11)


def test_numbers_inside_what_is_measured():
    assert LEAST_SCALED == 20
    residuals = SimpleNamespace(residuals=np.array([0.0499999, 0.05, 0.2]))
    assert hypotheses.large_residuals(SimpleNamespace(per={"step": residuals}.__getitem__)).measured == 2
    assert hypotheses.some_distance(SimpleNamespace(distances=1e-12)).measured == 0
    terms = SimpleNamespace(lipschitz=0.25, n_terms=3, largest=3.0, radius=2.0, thetas=0.2, width=40)
    assert hypotheses.scale(terms).measured == 0.75
    assert hypotheses.radius(terms).measured == 1.5
    assert hypotheses.scaled_theta(terms).measured == 8
