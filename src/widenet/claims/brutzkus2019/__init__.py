"""Brutzkus, Globerson (2019): XOR, XORD, exploration and clustering.

Each module keeps its own tuple `CLAIMS`; this one puts them in the order of the paper.
"""

from widenet.claims.base import Claim
from widenet.claims.brutzkus2019.at_zero_loss import (
    equation_15,
    equation_19,
    equation_21,
    footnote_14,
)
from widenet.claims.brutzkus2019.first_crossing import (
    lemma_e_16,
    lemma_e_16_as_printed,
    lemma_e_16_steps,
    lemma_e_16_steps_as_printed,
)
from widenet.claims.brutzkus2019.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.claims.brutzkus2019.minus_filters import (
    equation_11,
    equation_11_as_printed,
    lemma_e_6,
    lemma_e_7,
    lemma_e_8,
    lemma_e_8_as_printed,
    lemma_e_20,
    lemma_e_21,
    minus_filters_settle,
)
from widenet.claims.brutzkus2019.minus_steps import (
    equation_12,
    equation_13,
)
from widenet.claims.brutzkus2019.narrow import observation_small_convergence, observation_small_failure, theorem_6_4
from widenet.claims.brutzkus2019.overshoot import (
    equation_14_stuck,
    lemma_e_11,
    lemma_e_12,
    lemma_e_13,
    lemma_e_13_as_printed,
    sharp_bounds,
)
from widenet.claims.brutzkus2019.plus_filters import (
    equations_9_10,
    lemma_6_2,
    lemma_6_2_as_printed,
    lemma_e_4,
    lemma_e_9,
    lemma_e_10,
    lemma_e_10_as_printed,
    observation_a_plus,
)
from widenet.claims.brutzkus2019.sample_gap import section_6_3_examples, theorem_6_5_m1, theorem_6_5_m2
from widenet.claims.brutzkus2019.sign_flip import lemma_f_2
from widenet.claims.brutzkus2019.start import lemma_6_1, lemma_e_3, lemma_e_15, lemma_e_19
from widenet.claims.brutzkus2019.thresholds import equation_17, footnote_12, footnote_15, section_e_0_9
from widenet.claims.brutzkus2019.vapnik import remark_4_1, remark_4_1_sharp
from widenet.claims.brutzkus2019.wide import lemma_e_17, proposition_e_14, theorem_6_3, theorem_6_3_angle
from widenet.claims.brutzkus2019.xor_clustering import lemma_3_2, lemma_3_2_as_printed, theorem_3_3_angle
from widenet.claims.brutzkus2019.xor_convergence import (
    theorem_3_3,
    theorem_3_3_iterations,
    theorem_3_3_iterations_as_printed,
    theorem_3_3_lower_bound,
)
from widenet.claims.brutzkus2019.xor_exploration import (
    lemma_3_1,
    lemma_b_2,
    lemma_b_2_as_printed,
    observation_active_at_start,
    observation_half_planes_cover,
)
from widenet.claims.brutzkus2019.xor_growth import (
    lemma_b_4_1,
    lemma_b_4_1_as_printed,
    lemma_b_4_2,
    proposition_b_5,
    proposition_b_5_as_printed,
)
from widenet.claims.brutzkus2019.xor_narrow import lemma_b_7, observation_xor_realizable, theorem_3_4, theorem_b_8
from widenet.claims.brutzkus2019.xord_structure import (
    observation_decoy,
    observation_diverse_probability,
    observation_diverse_probability_as_printed,
    observation_xord_realizable,
)
from widenet.claims.brutzkus2019.xord_updates import (
    equation_7_8,
    footnote_3,
    footnote_10,
    observation_decomposition,
    observation_one_pair,
)

CLAIMS: tuple[Claim, ...] = (
    footnote_3,
    observation_xor_realizable,
    lemma_3_1,
    lemma_3_2,
    lemma_3_2_as_printed,
    observation_active_at_start,
    observation_half_planes_cover,
    theorem_3_3,
    theorem_3_3_iterations,
    theorem_3_3_iterations_as_printed,
    theorem_3_3_lower_bound,
    theorem_3_3_angle,
    theorem_3_4,
    remark_4_1,
    remark_4_1_sharp,
    observation_diverse_probability,
    observation_diverse_probability_as_printed,
    observation_xord_realizable,
    observation_decoy,
    observation_one_pair,
    lemma_6_1,
    lemma_6_2,
    lemma_6_2_as_printed,
    observation_a_plus,
    theorem_6_3,
    theorem_6_3_angle,
    theorem_6_4,
    theorem_6_5_m1,
    theorem_6_5_m2,
    section_6_3_examples,
    lemma_b_2,
    lemma_b_2_as_printed,
    lemma_b_4_1,
    lemma_b_4_1_as_printed,
    lemma_b_4_2,
    proposition_b_5,
    proposition_b_5_as_printed,
    lemma_b_7,
    theorem_b_8,
    equation_7_8,
    footnote_10,
    observation_decomposition,
    lemma_e_3,
    lemma_e_4,
    equations_9_10,
    lemma_e_6,
    lemma_e_7,
    minus_filters_settle,
    lemma_e_8,
    lemma_e_8_as_printed,
    lemma_e_9,
    lemma_e_10,
    lemma_e_10_as_printed,
    lemma_e_11,
    equation_11,
    equation_11_as_printed,
    equation_12,
    lemma_e_12,
    equation_13,
    lemma_e_13,
    lemma_e_13_as_printed,
    sharp_bounds,
    proposition_e_14,
    equation_14_stuck,
    lemma_e_15,
    lemma_e_16,
    lemma_e_16_as_printed,
    lemma_e_16_steps,
    lemma_e_16_steps_as_printed,
    lemma_e_17,
    equation_15,
    equation_17,
    equation_18,
    equation_19,
    footnote_12,
    proposition_e_18,
    lemma_e_19,
    lemma_e_20,
    lemma_e_21,
    proposition_e_22,
    equation_21,
    footnote_14,
    footnote_15,
    section_e_0_9,
    observation_small_convergence,
    observation_small_failure,
    lemma_f_2,
)
