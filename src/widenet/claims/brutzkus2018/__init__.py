"""Brutzkus, Globerson, Malach, Shalev-Shwartz (2018): SGD on linearly separable data.

Where a statement lives: `convergence` (Section 5.1), `lower_bound` (5.2); `bounds` has the formulas and `trials` the
setting they share.
"""

from widenet.claims.base import Claim
from widenet.claims.brutzkus2018.convergence import theorem_2

CLAIMS: tuple[Claim, ...] = (theorem_2,)
