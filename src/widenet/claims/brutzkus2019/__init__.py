"""Brutzkus, Globerson (2019): XOR, XORD, exploration and clustering.

Each module keeps its own tuple `CLAIMS`; this one puts them in the order of the paper.
"""

from widenet.claims.base import Claim
from widenet.claims.brutzkus2019.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.claims.brutzkus2019.narrow import observation_small_convergence, observation_small_failure, theorem_6_4
from widenet.claims.brutzkus2019.sample_gap import section_6_3_examples, theorem_6_5_m1, theorem_6_5_m2
from widenet.claims.brutzkus2019.sign_flip import lemma_f_2
from widenet.claims.brutzkus2019.start import lemma_6_1, lemma_e_3, lemma_e_15, lemma_e_19
from widenet.claims.brutzkus2019.thresholds import equation_17, footnote_12, footnote_15, section_e_0_9
from widenet.claims.brutzkus2019.wide import lemma_e_17, proposition_e_14, theorem_6_3, theorem_6_3_angle

CLAIMS: tuple[Claim, ...] = (
    lemma_6_1,
    theorem_6_3,
    theorem_6_3_angle,
    theorem_6_4,
    theorem_6_5_m1,
    theorem_6_5_m2,
    section_6_3_examples,
    lemma_e_3,
    proposition_e_14,
    lemma_e_15,
    lemma_e_17,
    equation_17,
    equation_18,
    footnote_12,
    proposition_e_18,
    lemma_e_19,
    proposition_e_22,
    footnote_15,
    section_e_0_9,
    observation_small_convergence,
    observation_small_failure,
    lemma_f_2,
)
