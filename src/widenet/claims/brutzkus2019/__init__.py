"""Brutzkus, Globerson (2019): XOR, XORD, exploration and clustering.

Each module keeps its own tuple `CLAIMS`; this one puts them in the order of the paper.
"""

from widenet.claims.base import Claim

CLAIMS: tuple[Claim, ...] = ()
