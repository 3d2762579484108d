"""Theorem 5.1 and Section 10 on a grid of planted pairs, beside each statement read from the paper, in fractions.

r is 0, 1/16 or 1, ‖x‖ = 1, and means lie inside, exactly at, and beyond every edge; each pair is asked which statements
speak about it, and whether they are true of it. Edges have the room for rounding that `tolerances` gives a norm.
"""

import dataclasses
import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from tests.papers.sarussi2021.inputs import handed
from widenet.claims.sides import Sides
from widenet.papers.sarussi2021.claims.linear_region import (
    corollary_10_1,
    equation_6,
    lemma_10_1,
    lemma_10_2,
    proposition_10_1,
    proposition_10_2,
    theorem_5_1,
    theorem_5_1_sharp,
)
from widenet.papers.sarussi2021.runs.clouds import Clouds

EDGE = 1 + 1e-12
"""r‖x‖ with room, for r = ‖x‖ = 1."""
MEANS = (0.0, 0.0625, 0.5, 1.0, EDGE, 1.0001, 2 * EDGE, 3.0)
OUTPUTS = (-1e-3, -1e-12, 0.0, 1e-12, 1e-3)
RADII = (0.0, 0.0625, 1.0)
ALPHA, K = 0.25, 2


@functools.cache
def grid():
    """All pairs of means of both signs, with every radius and every output."""
    signed = sorted({sign * mean for mean in MEANS for sign in (1.0, -1.0)})
    cases = list(itertools.product(signed, signed, RADII, OUTPUTS))
    plus, minus, radius, outputs = np.array(cases).T
    one = np.ones(len(cases))
    # Where all rows equal their mean the lowest product is the highest; else they lie around it, on both sides or not.
    low, high = plus - radius, plus + radius
    return Clouds(
        plus_mean=plus, minus_mean=minus, norms=one, differences=one * 2, plus_radius=radius, minus_radius=0.5 * radius,
        plus_distance=radius, minus_distance=0.5 * radius, plus_low=low, plus_high=high, minus_low=minus - 0.5 * radius,
        minus_high=minus + 0.5 * radius, plus_sum=K * plus, minus_sum=K * minus, outputs=outputs,
        scales=K * (1 + np.abs(plus) + np.abs(minus)), slope=ALPHA * one, half_width=np.full(len(cases), K),
    )  # fmt: skip


class Pair:
    """One pair in fractions."""

    def __init__(self, cloud, case):
        names = [field.name for field in dataclasses.fields(cloud)]
        exact = {name: Fraction(float(getattr(cloud, name)[case])) for name in names}
        self.w, self.u, self.n = exact["plus_mean"], exact["minus_mean"], exact["outputs"]
        self.s = Fraction(float(cloud.difference[case]))
        self.r = max(exact["plus_radius"], exact["minus_radius"])
        self.scale = exact["scales"]
        self.r_w, self.r_u = exact["plus_radius"], exact["minus_radius"]
        self.low = {"plus": exact["plus_low"], "minus": exact["minus_low"]}
        self.high = {"plus": exact["plus_high"], "minus": exact["minus_high"]}

    def reach(self, factor=1):
        return factor * self.r * Fraction(EDGE)

    def agrees(self, inside):
        """Whether N has the sign of (w̄ − ū)·x; nothing where rounding may turn one of them, unless both are 0."""
        blurred = abs(self.n) <= Fraction(1e-10) * self.scale or abs(self.s) <= Fraction(1e-12) * self.scale / K
        if not inside or (blurred and not self.n == self.s == 0):
            return None
        return sign(self.n) == sign(self.s)


def sign(number):
    return (number > 0) - (number < 0)


def of_theorem_5_1(pair):
    return {"sign N = sign (w̄ − ū)·x where |(w̄ − ū)·x| ≥ 2r‖x‖": pair.agrees(abs(pair.s) >= pair.reach(2))}


def of_theorem_5_1_sharp(pair):
    """With 1/2 in place of κ, at even k."""
    half, room = Fraction(1, 2), Fraction(EDGE)
    one_sided = pair.s > half * pair.r_u * room or -pair.s > half * pair.r_w * room
    return {
        "beyond κr‖x‖ the signs agree (even k)": pair.agrees(abs(pair.s) > pair.reach(half)),
        "beyond κ_k r‖x‖ the signs agree (odd k)": None,
        "each side needs the radius of the other sign only": pair.agrees(one_sided),
    }


def of_equation_6(pair):
    """‖w̄ − ū‖ = 2 in every pair."""
    cosine, ratio = abs(pair.s) / 2, pair.r / 2 * Fraction(EDGE)
    return {"|cos| ≥ 2r/‖w̄ − ū‖": pair.agrees(cosine >= 2 * ratio), "|cos| ≥ r/‖w̄ − ū‖": pair.agrees(cosine >= ratio)}


def of_corollary_10_1(pair):
    """No room in the premise; a ball of radius 0 says nothing."""
    speaks = pair.r > 0 and abs(pair.s) >= 2 * pair.r
    return {"the larger of |w̄·x|, |ū·x| is at least r‖x‖": max(abs(pair.w), abs(pair.u)) >= pair.r if speaks else None}


def of_lemma_10_1(pair):
    said = {}
    for name, mean in (("plus", pair.w), ("minus", pair.u)):
        low, high = pair.low[name], pair.high[name]
        clear = min(abs(low), abs(high)) > Fraction(1e-12) * max(abs(low), abs(high))
        strict, apart = low > 0 or high < 0, low < 0 < high
        opened, closed = abs(mean) >= Fraction(1.0001) * pair.r, abs(mean) >= pair.reach()
        said[f"open ball: one strict sign ({name} rows)"] = strict if opened and clear else None
        said[f"closed ball: no opposite signs ({name} rows)"] = not apart if closed and clear else None
    return said


def of_proposition_10_1(pair):
    both = min(abs(pair.w), abs(pair.u)) >= pair.reach()
    return {
        f"w̄·x {first} 0, ū·x {second} 0": pair.agrees(
            both and sign(pair.w) == {">": 1, "<": -1}[first] and sign(pair.u) == {">": 1, "<": -1}[second]
        )
        for first in "><"
        for second in "><"
    }


def of_proposition_10_2(pair):
    wide, edge = abs(pair.s) >= pair.reach(2), pair.reach()
    only_u, only_w = wide and abs(pair.w) < edge, wide and abs(pair.u) < edge
    return {
        "ū·x ≥ r‖x‖ alone": pair.agrees(only_u and pair.u >= edge),
        "ū·x ≤ −r‖x‖ alone": pair.agrees(only_u and pair.u <= -edge),
        "w̄·x ≥ r‖x‖ alone": pair.agrees(only_w and pair.w >= edge),
        "w̄·x ≤ −r‖x‖ alone": pair.agrees(only_w and pair.w <= -edge),
    }


def of_lemma_10_2(pair):
    """The sums of the grid are k times the means; αk = 1/2."""
    inner, clear = pair.r * Fraction(1 - 1e-12), abs(pair.n) > Fraction(1e-10)
    first, second = pair.u <= -pair.r and abs(pair.w) < inner, pair.w <= -pair.r and abs(pair.u) < inner
    return {
        "−Σσ(w·x) < αkr‖x‖": -K * pair.w < pair.r / 2 if first else None,
        "N(x) > 0": pair.n > 0 if first and clear else None,
        "−Σσ(u·x) < αkr‖x‖": -K * pair.u < pair.r / 2 if second else None,
        "N(x) < 0": pair.n < 0 if second and clear else None,
    }


def half(slope, half_width):
    return np.full(np.shape(slope), 0.5)


READINGS = {
    theorem_5_1: (of_theorem_5_1, {}),
    theorem_5_1_sharp: (of_theorem_5_1_sharp, {"factor": half}),
    equation_6: (of_equation_6, {}),
    corollary_10_1: (of_corollary_10_1, {}),
    lemma_10_1: (of_lemma_10_1, {}),
    proposition_10_1: (of_proposition_10_1, {}),
    proposition_10_2: (of_proposition_10_2, {}),
    lemma_10_2: (of_lemma_10_2, {}),
}


def answers_of(part, n_cases):
    """True, False, or None where a case is not scored."""
    sided = isinstance(part, Sides)
    holds = ~part.broken if sided else np.broadcast_to(part.holds, n_cases)
    asked = part.scored if sided else part.where
    return [bool(answer) if scored else None for answer, scored in zip(holds, asked, strict=True)]


@functools.cache
def pairs_in_fractions():
    return [Pair(grid(), case) for case in range(len(grid()))]


@pytest.mark.parametrize("claim", READINGS, ids=lambda claim: claim.name)
def test_every_planted_pair(claim):
    read, constants = READINGS[claim]
    parts, _ = handed(claim, [grid()], **constants)
    expected = [read(pair) for pair in pairs_in_fractions()]
    for name in expected[0]:
        column = [each[name] for each in expected]
        assert answers_of(parts[name], len(grid())) == column, name
        assert name.endswith("(odd k)") or {True, False} & set(column), f"nothing was asked about {name}"
