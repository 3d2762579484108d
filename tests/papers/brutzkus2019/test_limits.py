"""What every claim supposes, with the numbers of the paper: written by hand from the paper, apart from the code."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from widenet import papers
from widenet.claims.sides import PER_CASE
from widenet.papers.brutzkus2019 import hypotheses
from widenet.papers.brutzkus2019.claims.generalization import OnNegative, OnPositive
from widenet.papers.brutzkus2019.claims.sample_gap import SampledNetworks
from widenet.papers.brutzkus2019.runs.samples import Samples
from widenet.papers.brutzkus2019.runs.trained import train_from
from widenet.papers.brutzkus2019.sources import Law

POINTS = {"signs": "≤ 0", "labels": "≤ 0", "diverse": "≤ 0", "both_classes": "≥ 1", "balanced": "≤ 0"}
DATA = {**POINTS, "deviation": "≤ 1"}
SECTION_3 = {"step_constant": "< 1/2", "step_size": "≤ 1", "deviation": "≤ 1"}
WIDE_XOR = {"width": "> 16", **SECTION_3}
IN_EVENT = {**SECTION_3, "in_event": "≥ 1"}
NARROW_XOR = {"width": "= 2", **IN_EVENT}
LEMMAS = {"in_event": "≥ 1", "deviation": "≤ 1", "step_constant": "≤ 1/8", "margin": "≥ 1"}
REGIME = {"width": "≥ 120", "step_constant": "≤ 1/410", "margin": "≥ 8"}
PRINTED = {"in_event": "≥ 1", "deviation": "≤ 1", **REGIME}
THEOREM_6_4 = {"width": "= 2", "step_constant": "≤ 1/41", "margin": "≥ 1", **DATA}
UNIFORM = {"uniform_directions": "≥ 1/1000000"}
SMALL_START = {"deviation": "≤ 1", **UNIFORM}
PLACED = {"start_size": "≤ √2/4", "units_in_u13": "≥ 1"}
FOOTNOTES = {"width": "> 64", "beta": "> 1", "step_constant": "> 0"}
ASKED = {
    "footnote_3": {"step_constant": "< 1/2"},
    "observation_xor_realizable": {"width": "≤ 2"},
    "lemma_3_1": {"width": "> 16", **UNIFORM},
    "lemma_3_2": IN_EVENT,
    "lemma_3_2_as_printed": WIDE_XOR,
    "observation_active_at_start": IN_EVENT,
    "observation_half_planes_cover": UNIFORM,
    "theorem_3_3": WIDE_XOR,
    "theorem_3_3_iterations": {**WIDE_XOR, "in_event": "≥ 1"},
    "theorem_3_3_iterations_as_printed": WIDE_XOR,
    "theorem_3_3_lower_bound": IN_EVENT,
    "theorem_3_3_angle": IN_EVENT,
    "theorem_3_4": NARROW_XOR,
    "remark_4_1": {"signs": "≤ 0"},
    "remark_4_1_sharp": {"filters": "≥ 15"},
    "observation_diverse_probability": {"patches": "≥ 4"},
    "observation_diverse_probability_as_printed": {"patches": "≥ 4"},
    "observation_xord_realizable": {"width": "≤ 2"},
    "observation_decoy": {"margin": "≤ 8", **POINTS},
    "observation_one_pair": POINTS,
    "lemma_6_1": UNIFORM,
    "lemma_6_2": LEMMAS,
    "lemma_6_2_as_printed": PRINTED,
    "observation_active_steps": LEMMAS,
    "theorem_6_3": {**REGIME, **DATA},
    "theorem_6_3_angle": {**REGIME, **DATA, "angle_below_a_right_one": "> 0"},
    "theorem_6_4": THEOREM_6_4,
    "theorem_6_5_large_network": {**REGIME, **DATA, "samples_fewest": "≥ 2", "samples": "≤ 2", "delta": "≥"},
    "theorem_6_5_small_network": {
        **{"width": "= 2", "step_constant": "≤ 1/41", "margin": "≥ 1", "deviation": "≤ 1"},
        **{"delta": "≥", "samples": "<", "hard_share": "> 0"},
    },
    "section_6_3_examples": {"delta": "≥"},
    "lemma_b_2": SECTION_3,
    "lemma_b_2_as_printed": WIDE_XOR,
    "lemma_b_4_1": IN_EVENT,
    "lemma_b_4_1_as_printed": SECTION_3,
    "lemma_b_4_2": IN_EVENT,
    "proposition_b_5": {**WIDE_XOR, "in_event": "≥ 1"},
    "proposition_b_5_as_printed": WIDE_XOR,
    "lemma_b_7": {"width": "= 2"},
    "theorem_b_8": NARROW_XOR,
    "theorem_b_8_standstill": NARROW_XOR,
    "theorem_b_8_standstill_as_printed": NARROW_XOR,
    "equation_7_8": POINTS,
    "footnote_10": {"off_lattice": "> 0", **POINTS},
    "observation_decomposition": POINTS,
    "lemma_e_3": SMALL_START,
    "lemma_e_6_as_printed": PRINTED,
    "lemma_e_8_as_printed": PRINTED,
    "lemma_e_10_as_printed": PRINTED,
    "equations_9_10_as_printed": PRINTED,
    "equation_11_as_printed": PRINTED,
    "lemma_e_13_as_printed": PRINTED,
    "lemma_e_16_as_printed": PRINTED,
    "lemma_e_16_steps_as_printed": PRINTED,
    "equation_12": PLACED,
    "equation_13": PLACED,
    "proposition_e_14": {"width": "> 16", "margin": "≥ 1", "step_constant": "≤ 1/8", **DATA},
    "equation_14_stuck": {**LEMMAS, "width": "> 16"},
    "lemma_e_15": UNIFORM,
    "lemma_e_17": {"width": "≥ 64", "step_constant": "≤ 1/8", **DATA},
    "equation_17": {"width": "> 64"},
    "equation_18": {"width": "> 64", "step_constant": "≤ 1/8", **DATA},
    "footnote_12": FOOTNOTES,
    "proposition_e_18": {"margin": "≥ 2", "beta": "> 1", "width": "> 0", "step_constant": "≤ 1/8", **DATA},
    "lemma_e_19": UNIFORM,
    "proposition_e_22": {"beta": "> 1", "width": "> 0", "margin": "≥ 1", **DATA},
    "footnote_15": FOOTNOTES,
    "section_e_0_9": {"width": "> 16", "step_constant": "≤ 1/410", "margin": "≥ 8"},
    "appendix_f_small_start": SMALL_START,
    "appendix_f_small_start_as_printed": SMALL_START,
    "observation_small_convergence": THEOREM_6_4,
    "observation_small_failure": THEOREM_6_4,
    "lemma_f_2": {**POINTS, "width": "≥ 1"},
}
"""By claim; all others ask for what the lemmas of Appendix E ask for. A limit per case has no number."""


def as_number(written: str) -> float | str:
    """ "1/410" as a number."""
    return 2**0.5 / 4 if written == "√2/4" else float(Fraction(written)) if written else PER_CASE


@pytest.mark.parametrize("claim", papers.claims_of("brutzkus2019"), ids=lambda claim: claim.name)
def test_what_a_claim_supposes_is_what_the_paper_says(claim):
    asked = {key: words.partition(" ") for key, words in ASKED.get(claim.name, LEMMAS).items()}
    found = {key: each for key, each in claim.clauses.items() if each.role == "given"}
    assert found.keys() == asked.keys()
    for key, (sense, _, number) in asked.items():
        assert (found[key].sense, found[key].limit) == (sense, as_number(number)), key


@pytest.mark.parametrize(
    ("p_plus", "p_minus", "delta", "smallest", "fewer_than"),
    [
        (0.97, 0.95, 0.2, 0.0834460609858, 30.2068880519317),
        (0.92, 0.92, 0.16, 0.158142969092, 17.484525735048),
    ],
)
def test_limits_of_theorem_6_5(p_plus, p_minus, delta, smallest, fewer_than):
    """1 − p₊p₋(1 − c − 16e⁻⁸) at k = 120, and m_2, in 40 digits apart from the code."""
    law = Law(diverse_positive=p_plus, diverse_negative=p_minus, delta=delta)
    nothing = np.zeros((1, 15))
    runs = Samples(
        law, 1, 120, 1 / 49200, 8.0, np.ones((1, 240, 2)), nothing.astype(int), nothing, np.zeros(1), np.zeros(1, int)
    )
    table = SampledNetworks.join([runs])
    assert hypotheses.delta(table).promised == pytest.approx(smallest, rel=1e-11)
    assert hypotheses.delta_up_to_rounding(table).promised == pytest.approx(smallest, rel=1e-11)
    assert hypotheses.fewer_samples(table).promised == pytest.approx(fewer_than, rel=1e-11)


@pytest.mark.parametrize(
    ("kind", "half_width", "step", "margin", "beta", "width"),
    [
        (OnPositive, 112, 1 / 410, 8.0, 7.21547884187, 111.814094772),
        (OnPositive, 201, 1 / 41, 8.0, 3.596875, 200.541044166),
        (OnNegative, 120, 1 / 410, 1.0, 10.6785714286, 93.1830448932),
        (OnNegative, 201, 1 / 162, 1.0, 3.59285714286, 200.81154141),
    ],
)
def test_widths_of_propositions_e_18_and_e_22(kind, half_width, step, margin, beta, width):
    """64((β + 1)/(β − 1))², worked out apart from the code."""
    runs = train_from(np.full((1, 2 * half_width, 2), 1e-6), step / half_width, margin, max_steps=1)
    table = kind.join([runs])
    assert hypotheses.beta(table).measured == pytest.approx(beta, rel=1e-6)
    assert half_width - hypotheses.spare_width(table).measured == pytest.approx(width, rel=1e-5)


def test_the_largest_deviations():
    """c_η/(16k^{3/2}): with k = 4 and c_η = 1/8 it is 1/1024; of XOR, σ_g is compared with η/(16√k) and with that."""
    start = np.full((2, 8, 2), 1 / 1024)
    runs = SimpleNamespace(start=start, step_size=1 / 32)
    assert hypotheses.FromGaussian.deviation_share.func(runs) == pytest.approx(1, rel=1e-12)
    assert hypotheses.FromGaussian.deviation_error.func(runs) == pytest.approx(6 / 8, rel=1e-12)
