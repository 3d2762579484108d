"""The limits of all hypotheses, by hand from the paper: the controls find edges by the code, and these do not."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.papers.chatterji2021.cluster_toys import clusters, columns
from tests.papers.chatterji2021.toys import axes_run, placed
from widenet import papers
from widenet.papers.chatterji2021.claims.columns import FollowedDescent, Looked
from widenet.papers.chatterji2021.claims.theorem_2 import Phases
from widenet.papers.chatterji2021.cluster_sources import Centres
from widenet.papers.chatterji2021.runs.second_phases import LaterStepsSetting, run_second_phases
from widenet.papers.chatterji2021.runs.start_laws import step_limits
from widenet.progress import silent

LIMITS = {
    "at_most_one": "≤ 1",
    "away_from_kinks": "> 1/500000",
    "bandwidth": "≤ 0",  # h = 1/p
    "bandwidth_below_one": "≤ 1",
    "bandwidth_positive": "> 0",
    "below_inflection": "≤ 1.52412432466",
    "beta_below_half": "< 1/2",
    "beta_positive": "> 0",
    "centres": "≤ 0",
    "concave": "≤ 0",
    "distinct": "≤ 0",
    "exponent": "≥ 2",  # z log²(1/z) falls up to e^−2
    "few_dimensions": "≤ 3.14159265359",
    "finite_limit": "< inf",
    "first_loss": "≤ 1",
    "first_step": "≤ 0",
    "from_centre": "≤ 1",  # ‖x − μ‖ ≤ r/√2
    "labels": "≤ 0",
    "lemma_8": "≥ 5/6",
    "lemma_10": "≥ 5/6",
    "log_not_negative": "≤ 1",
    "loss_below_one": "< 0",  # of log L
    "narrow_band": "≤ 1",
    "norm": "≥ 1",
    "norm_high": "≤ 3",
    "norm_low": "≥ 3/5",
    "not_negative": "≥ 0",
    "one_cluster": "≥ 0",
    "opposite": "≤ 0",
    "overlap": "≥ 0",
    "points": "≥ 4",
    "positive": "> 0",
    "products": "≥ 0",
    "radius": "< 1",
    "radius_below_one": "≤ 1",
    "rate": "≥ 0",
    "rate_share": "≤ 1",
    "schedule": "≤ 0",
    "short_step": "≤ 1",
    "small_loss": "≤ 1",
    "start": "≤ 0",
    "start_loss": "≤ 1",
    "step_positive": "> 0",
    "step_product": "≤ 1",
    "step_scale": "≤ 1",
    "two_points": "≥ 2",
    "unit_direction": "≤ 0",
    "unit_inputs": "≤ 0",
    "weight_use": "≥ 0",
    "wide_enough": "≥ 1",
}
"""For every hypothesis, what is asked of what it measures."""
ELSEWHERE = {
    ("appendix_d_4", "radius"): "≥ 0",
    ("appendix_d_5", "radius"): "≥ 0",
    ("equation_9", "lemma_10"): "≥ 3/5",
    ("equations_19_20", "away_from_kinks"): "> 1/10000",
    ("lemma_15_4", "radius"): "≤ 1",
}
"""Where a claim asks for something else under the same name."""
CLAUSES = [(claim, each) for claim in papers.claims_of("chatterji2021") for each in claim.clauses.values()]
GIVEN = [(claim.name, each) for claim, each in CLAUSES if each.role == "given"]


def number(text):
    return float(Fraction(text)) if "/" in text else float(text)


@pytest.mark.parametrize(("name", "clause"), GIVEN, ids=lambda each: getattr(each, "key", each))
def test_the_limit_is_that_of_the_paper(name, clause):
    sense, limit = ELSEWHERE.get((name, clause.key), LIMITS[clause.key]).split()
    assert clause.sense == sense
    assert clause.limit == pytest.approx(number(limit), rel=1e-11, abs=0)
    assert clause.tolerance in ("", "to 1e-12", "to 3e-10", "to 1e-09")


def test_every_limit_is_asked_for():
    assert set(LIMITS) == {clause.key for _, clause in GIVEN}
    assert ELSEWHERE.keys() <= {(name, clause.key) for name, clause in GIVEN}


def run(**changes):
    return FollowedDescent.join([axes_run(3, 3, 1e-8)]).cells[0].replace(**changes)


def phase():
    return Phases.join([run_second_phases(LaterStepsSetting(points=Centres(), half_width=4, n_steps=2), silent)]).cells[
        0
    ]


def measured(name, key, *cells):
    (claim,) = [claim for claim in papers.claims_of("chatterji2021") if claim.name == name]
    sides: Any = claim.clauses[key](*cells)
    return sides.measured


def test_what_is_measured_in_units_of_its_limit():
    """At numbers for which the limit was worked out apart from the code."""
    assert run(losses=np.full(60, 3.39890951917e-6)).start_share == pytest.approx(1)  # (5), n = 3
    assert run(step_scale=math.e**2 / 360).third_share == pytest.approx(1)
    scale = 0.0205251558304  # p = 3, L₁ = 0.02, ‖V‖² = 5
    losses, norms = np.full(60, 0.02), np.full(60, 5**0.5)
    assert run(step_scale=scale, losses=losses, norms=norms).scale_share == pytest.approx(1)
    assert run(steps=np.full(59, 0.25), losses=np.full(60, 2 / 45)).step_product == pytest.approx(
        1
    )  # 30·3·(1/4)·(2/45)
    looks = Looked.join([placed()]).cells[0]
    ones = np.ones(len(looks))
    look = looks.replace(half_width=3 * ones, losses=0.1 * ones, steps=np.outer(ones, [1 / 9, 1 / 9, 0.424406679166]))
    steps = measured("lemma_8", "short_step", [look], []).reshape(-1, 3)
    sharp = measured("lemma_8_sharp", "short_step", [look], []).reshape(-1, 3)
    assert steps[0, 1] == pytest.approx(1)  # αL = 1/(30p)
    assert sharp[0, 2] == pytest.approx(1)  # αL = 1/(3κp)
    assert looks.replace(local_steps=0.5 * ones, local_smoothness=2 / 3 * ones).local_product == pytest.approx(1)


def test_what_is_measured_in_units_of_its_limit_after_a_random_start():
    start = columns(clusters()).replace(dim=2, beta=0.5, half_width=16)
    assert start.width_ratio == pytest.approx(2 / 0.905164, rel=1e-5)  # √2/(√(6·31/32) − 0.6√2)
    assert start.replace(scaling="exact").width_ratio == pytest.approx(2 / 4.21973, rel=1e-5)
    assert start.replace(deviation=16**-0.75).start_error == pytest.approx(0, abs=1e-15)
    assert start.replace(step=1 / 16).step_error == pytest.approx(0, abs=1e-15)
    later = phase().replace(losses=np.full(2, 9.45564950277e-9), norm=1.0, half_width=16, beta=0.5, dim=2)
    assert later.loss_share == pytest.approx(1)  # the proof of Lemma 10, n = 4
    assert later.norm_ratio == pytest.approx(2**0.5)  # √(2/4)
    limits = step_limits(3.0, 3.5, 0.5, 16.0, 0.5, 2)
    assert (limits.over, limits.under) == (pytest.approx(math.exp(-0.5)), pytest.approx(0.5))
