"""XOR runs that several test files share, each computed once per process; small ones by hand, in units of η/64.

T, outputs and counts of the small ones were worked out in exact fractions, apart from the code.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.controls import lacking_in
from widenet.claims.base import Claim, Evidence
from widenet.claims.cases import columns_of
from widenet.papers.brutzkus2019.runs.xor import XorTrace, trace_xor
from widenet.papers.brutzkus2019.xor_sources import XorStart, draw_xor_start, every_octant
from widenet.progress import silent
from widenet.records import Scale


def by_hand(step_size: float, plus: list[tuple[int, int]], minus: list[tuple[int, int]]) -> XorTrace:
    """One run from fits (⟨w, x_1⟩, ⟨w, x_2⟩) in units of η/64, with c_η = kη."""
    fits = np.array([[plus, minus]]) / 64
    return trace_xor(XorStart(fits, step_size, len(plus) * step_size))


Fits = list[tuple[int, int]]

TOYS: dict[str, tuple[float, Fits, Fits]] = {
    # k = 3: every point has a filter.
    "X3": (1 / 9, [(13, -7), (-5, 18), (-21, -2)], [(3, 11), (-17, -9), (8, -20)]),
    # k = 2: x_3 has none.
    "X2": (1 / 8, [(13, -7), (5, 18)], [(3, 11), (-17, -9)]),
    # The opposing sum of x_4 reaches 127/128 of its limit.
    "J11": (64 / 603, [(14, 1), (-10, 1)], [(-7, 19), (-18, -12)]),
    # T = 16, and at least 15.854.
    "J12": (16 / 513, [(-13, -3), (18, -11)], [(9, -22), (1, 4)]),
    # Two points are active as often as they may be.
    "J13": (32 / 447, [(-3, -18), (7, -7)], [(20, -12), (15, 3)]),
    # x_1 and x_4 are forgotten; x_2 is satisfied at t' = 3, active at 4, and nothing moves from 6 on.
    "X4": (1 / 10, [(-12, 9), (-1, -1)], [(20, 5), (-18, 1)]),
    # k = 3, for angles.
    "J14": (64 / 533, [(-4, -2), (19, -3), (21, -4)], [(-14, 2), (-7, -17), (-13, -15)]),
}
"""η, and the fits of the w's and of the u's."""


@functools.cache
def toy(name: str) -> XorTrace:
    """One run from a start of `TOYS`."""
    return by_hand(*TOYS[name])


@functools.cache
def drawn(
    half_width: int, step_constant: float, n_runs: int, seed: int = 0, *, spread: float = 1.0, step_share: float = 1.0
) -> XorTrace:
    """The runs of `draw_xor_start`."""
    return trace_xor(draw_xor_start(half_width, step_constant, n_runs, seed, spread=spread, step_share=step_share))


@functools.cache
def octants(step_constant: float = 0.1) -> XorTrace:
    """One run from every octant."""
    return trace_xor(every_octant(step_constant))


@functools.cache
def _cell(run, setting):
    return run(setting, silent)


def at_quick_scale(claim: Claim, seed: int = 1) -> Evidence:
    """A claim judged at its default settings."""
    if claim.draws is not None:
        return claim(claim.draws(Scale.QUICK, seed))
    return claim(*[[_cell(each.run, setting) for setting in each.settings(Scale.QUICK, seed)] for each in claim.reads])


def as_expected(claims: Sequence[Claim]) -> Callable[[Claim], None]:
    """A test that each of these claims says at its default settings what it is expected to say."""

    @pytest.mark.parametrize("claim", claims, ids=lambda claim: claim.id)
    def test(claim: Claim) -> None:
        evidence = at_quick_scale(claim)
        assert evidence.verdict is claim.expected
        assert not lacking_in(evidence)

    return test


def altered(run: XorTrace, **arrays: tuple) -> XorTrace:
    """A copy with some entries replaced: `altered(run, own_low=((2, 0, 1), 7))`."""
    copies = {}
    for name, (place, value) in arrays.items():
        copies[name] = np.array(getattr(run, name))
        copies[name][place] = value
    return dataclasses.replace(run, **copies)


def chosen(run: XorTrace, rows: np.ndarray) -> XorTrace:
    """Some of the runs, or the same several times."""
    axes = {each.name: columns_of(XorTrace)[each.name].axes for each in dataclasses.fields(run)}
    taken = {name: np.take(getattr(run, name), rows, axis=axis.index("run")) for name, axis in axes.items() if axis}
    return dataclasses.replace(run, **taken)


def undecided(evidence: Evidence) -> list[str]:
    """The names of the parts that are not decided."""
    return [part.name for part in evidence.parts if part.kept is None]


def solution_start(scale: float = 1.0) -> XorStart:
    """k = 2 from scale·(x_1/2, x_3/2; x_2/2, x_4/2), which has loss 0 for scale 1 and c_η = 0.1."""
    fits = np.zeros((1, 2, 2, 2))
    fits[0, 0, :, 0] = fits[0, 1, :, 1] = scale * np.array([1.0, -1.0]) / 0.05
    return XorStart(fits, 0.05, 0.1)
