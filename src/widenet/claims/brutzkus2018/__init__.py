"""Brutzkus, Globerson, Malach, Shalev-Shwartz (2018): SGD on linearly separable data.

Where a statement lives: `convergence` (Section 5.1), `forced_updates` and `collapse` (5.2),
`compression` and `generalization` (6.1); `bounds` has the formulas and `trials` the setting they share.
"""

from widenet.claims.base import Claim
from widenet.claims.brutzkus2018.collapse import theorem_10_collapse
from widenet.claims.brutzkus2018.compression import compress_replay, section_6_1_lv0
from widenet.claims.brutzkus2018.convergence import theorem_2
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
)
