"""Brutzkus, Globerson, Malach, Shalev-Shwartz (2018): SGD on linearly separable data.

Where a statement lives: `convergence` (Section 5.1), `forced_updates` and `collapse` (5.2),
`compression` and `generalization` (6.1), `expressiveness` (6.2), `local_minima` (7.1), `relu_basis`, `relu_width` and
`relu_updates` (7.2); `bounds` has the formulas and `trials` the setting they share.
"""

from widenet.claims.base import Claim
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
from widenet.claims.brutzkus2018.local_minima import (
    lemma_11,
    lemma_11_as_printed,
    relu_localmin_level,
    theorem_8,
    theorem_8_as_printed,
    theorem_8_tight,
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

CLAIMS: tuple[Claim, ...] = (
    theorem_2,
    theorem_4,
    theorem_4_sharp,
    theorem_4_eta_inf,
    theorem_4_mistakes,
    theorem_10,
    theorem_10_sharp,
    theorem_10_collapse,
    ub_lb_gap,
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
