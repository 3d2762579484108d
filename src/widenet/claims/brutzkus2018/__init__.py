"""Brutzkus, Globerson, Malach, Shalev-Shwartz (2018): SGD on linearly separable data.

Where a statement lives: `setup`, `biases` and `zero_loss` (Section 2), `landscape` (Proposition 1), `convergence`,
`potentials`, `width` and `width_trend` (5.1), `both_layers` (5.3), `forced_updates` and `collapse` (5.2),
`compression` and `generalization` (6.1), `expressiveness` (6.2), `local_minima` (7.1), `relu_basis`, `relu_width` and
`relu_updates` (7.2); `bounds` has the formulas and `trials` the setting they share.
"""

from widenet.claims.base import Claim
from widenet.claims.brutzkus2018.biases import footnote_4
from widenet.claims.brutzkus2018.both_layers import equation_13, section_5_3_sign
from widenet.claims.brutzkus2018.collapse import theorem_10_collapse
from widenet.claims.brutzkus2018.compression import compress_replay, section_6_1_lv0
from widenet.claims.brutzkus2018.convergence import theorem_2
from widenet.claims.brutzkus2018.expressiveness import (
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.claims.brutzkus2018.forced_updates import (
    theorem_4,
    theorem_4_eta_inf,
    theorem_4_mistakes,
    theorem_4_sharp,
    theorem_10,
    theorem_10_sharp,
    ub_lb_gap,
)
from widenet.claims.brutzkus2018.generalization import remark_1, theorem_5, theorem_6
from widenet.claims.brutzkus2018.landscape import proposition_1_1, proposition_1_2, proposition_1_2_paper
from widenet.claims.brutzkus2018.local_minima import (
    lemma_11,
    lemma_11_as_printed,
    relu_localmin_level,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
)
from widenet.claims.brutzkus2018.potentials import (
    equation_9,
    equation_11,
    equation_11_step,
    equation_12,
    equation_12_step,
    theorem_2_chain,
)
from widenet.claims.brutzkus2018.relu_basis import (
    lemma_12,
    section_7_2_labels,
    theorem_9_iff,
    theorem_9_localmin,
    theorem_9_stuck_count,
)
from widenet.claims.brutzkus2018.relu_updates import theorem_9b_iters, theorem_9b_iters_as_printed
from widenet.claims.brutzkus2018.relu_width import theorem_9_remark, theorem_9a, theorem_9b
from widenet.claims.brutzkus2018.setup import equation_10, footnote_1, footnote_5
from widenet.claims.brutzkus2018.width import corollary_3, equation_14, tied_rows
from widenet.claims.brutzkus2018.width_trend import corollary_3_width_free
from widenet.claims.brutzkus2018.zero_loss import section_2_min_zero, wstar_global_min, wstar_global_min_as_printed

CLAIMS: tuple[Claim, ...] = (
    footnote_1,
    footnote_4,
    footnote_5,
    section_2_min_zero,
    proposition_1_1,
    proposition_1_2,
    proposition_1_2_paper,
    theorem_2,
    equation_9,
    equation_10,
    equation_11_step,
    equation_11,
    equation_12_step,
    equation_12,
    theorem_2_chain,
    wstar_global_min,
    wstar_global_min_as_printed,
    corollary_3,
    equation_14,
    corollary_3_width_free,
    tied_rows,
    theorem_4,
    theorem_4_sharp,
    theorem_4_eta_inf,
    theorem_4_mistakes,
    theorem_10,
    theorem_10_sharp,
    theorem_10_collapse,
    ub_lb_gap,
    equation_13,
    section_5_3_sign,
    compress_replay,
    theorem_5,
    section_6_1_lv0,
    theorem_6,
    remark_1,
    theorem_7,
    theorem_7_sweep,
    theorem_7_bumps,
    section_6_2_bad_global,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
    lemma_11,
    lemma_11_as_printed,
    relu_localmin_level,
    theorem_9a,
    theorem_9b,
    theorem_9b_iters,
    theorem_9b_iters_as_printed,
    theorem_9_iff,
    theorem_9_stuck_count,
    theorem_9_localmin,
    theorem_9_remark,
    lemma_12,
    section_7_2_labels,
)
