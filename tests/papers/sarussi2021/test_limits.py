"""What each hypothesis asks for, written by hand from the paper: the control tables find an edge wherever it lies."""

from typing import Any

import numpy as np
import pytest

from tests.papers.sarussi2021.paths import AT_20, toy_path
from widenet import papers

LIMITS = {
    "separable": "≥ 1 to 1e-12",  # y⟨w*, x⟩ ≥ 1, Section 3
    "input_norm": "≤ 1 to 1e-12",  # ‖x‖ ≤ R_x
    "row_norm": "≤ 1 to 1e-12",  # ‖w_0‖, ‖u_0‖ ≤ R_0, Section 4
    "labels": "≤ 0",  # y = ±1
    "once_per_epoch": "≤ 0",  # without replacement
    "output_weight": "> 0",
    "slope_positive": "> 0",  # 0 < α < 1
    "slope_below_one": "< 1",
    "step_size": "> 0",
    "clean_epoch": "≤ 1",  # no sampled loss is larger than ε_0, Section 9
    "balls": "≤ 1 to 1e-12",  # ‖w − w̄‖ ≤ r, Section 5
    "open_balls": "< 1",  # in open balls, Section 10
    "means_apart": "> 0",  # Eq. 6 divides by ‖w̄ − ū‖
    "not_zero": "> 0",  # x ≠ 0
    "separating": "≤ 20",  # from t_0 on, Assumption 6.1; ours: by s = 20
    "stays": "≤ 20",  # enters a NAR and remains in it, Theorem 6.1; ours: by s = 20
    "agreement": "≤ 0",  # Definition 6.2
    "margin": "> 1e-12",  # β > 0, beyond rounding
    "off_the_kinks": "> 0.0001",  # ours
    "high_margin": "> 1",  # γ̄ over √k·αvR_x, Section 14.1
    "critical_margin": "<",  # V_β⁺ and V_β⁻ are empty, Theorem 6.2
    "smoothed_margin": ">",  # γ̃ > √k·αvR_x, Theorem 6.2
    "antipodal": "≤ 0",  # −x for every x, Section 15
    "factor": "> 0",  # c > 0
    "leading": "> 0",  # a > 0
    "wrong_side": "≤ 0",  # σ(w·x) ≤ 0, Section 14.1
    "clustered": "≤ 0",  # all w equal, all u equal, Corollary 6.1
    "collinear": "≤ 0 to 1e-06",
    "relu": "≤ 0",  # α = 0, Section 11.1
    "tight": "≤ 0.1",  # ours
    "below_one": "< 1",  # nL < 1, Assumption 6.1
    "above_log_2": "> 0.693147",  # ℓ(0), (B4)
}
ELSEWHERE = {
    **dict.fromkeys((f"{name}: separable" for name in ("equation_7_kernel", "equation_7_antipodal", "footnote_8",
                                                       "both_signs_remain", "section_15")), "> 0"),  # a margin γ > 0
    "footnote_9: separating": "≤ 400",  # at any time of the record
    "smoothed_margin_grows: separating": "≤ 400",
    "lemma_10_1_as_printed: balls": "≤ 1",  # exactly, as in Section 5
    "equation_24_as_printed: clean_epoch": "≤ 1 to 1e-12",
    "equation_25_as_printed: clean_epoch": "≤ 1 to 1e-12",
    "theorem_6_2_state: critical_margin": "> 0",  # β beyond the critical one, relative
}  # fmt: skip
"""Claims in which a hypothesis of the same name asks for something else."""
ASKED = [(claim, each) for claim in papers.claims_of("sarussi2021") for each in claim.clauses.values()
         if each.role == "given"]  # fmt: skip


@pytest.mark.parametrize(("claim", "clause"), ASKED, ids=lambda each: getattr(each, "key", getattr(each, "name", "")))
def test_the_limit_of_a_hypothesis(claim, clause):
    assert str(clause) == ELSEWHERE.get(f"{claim.name}: {clause.key}", LIMITS[clause.key])


def test_nothing_is_listed_in_vain():
    asked = {f"{claim.name}: {clause.key}" for claim, clause in ASKED}
    assert set(ELSEWHERE) <= asked
    assert {each.split(": ")[1] for each in asked} == set(LIMITS)


@pytest.mark.parametrize("name", ["theorem_6_2_region", "theorem_6_2_direction", "theorem_6_2_first_step"])
def test_the_smoothed_margin_must_exceed_its_threshold(name):
    """√k·αvR_x with k = 3, α = 1/3, v = 0.4 and R_x = ‖(−1, −3)‖ = √10; γ̃ grows, so its largest is the last one."""
    sides: Any = papers.find_claim(f"sarussi2021.{name}").clauses["smoothed_margin"]([toy_path()])
    assert sides.promised == pytest.approx(0.4 * 30**0.5 / 3, rel=1e-12)
    (run,) = toy_path().each()
    ends = -np.log(np.expm1(np.log1p(np.exp(-run.margins[-1])).sum())) / np.linalg.norm(run.weights[-1])
    assert sides.measured == pytest.approx(ends, rel=1e-6)


@pytest.mark.parametrize("name", ["theorem_6_2_region", "theorem_6_2_direction"])
def test_the_critical_margin_must_be_less_than_that_of_the_regime(name):
    """min |⟨w, x⟩|/‖w‖ from s = 20 on; the toy says that the critical margin is 1."""
    sides: Any = papers.find_claim(f"sarussi2021.{name}").clauses["critical_margin"]([toy_path()])
    rows, points = toy_path().weights[0, AT_20:], toy_path().inputs[0]
    cosines = np.abs(np.einsum("tjd,nd->tjn", rows, points)) / np.linalg.norm(rows, axis=2)[:, :, None]
    assert sides.promised == pytest.approx(cosines.min(), rel=1e-12)
    assert sides.measured == pytest.approx(1.0)
