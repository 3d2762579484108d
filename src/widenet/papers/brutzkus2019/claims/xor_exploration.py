"""Section 3.2, the start: how many filters look at each point of XOR, and how small they are.

Lemma 3.1 (restated as B.1) is `lemma_3_1`; Lemma B.2 is `lemma_b_2`; what Section 3.2 says in passing about the first
step and about W_0⁺(1) ∪ W_0⁺(3) is `observation_active_at_start` and `observation_half_planes_cover`.
"""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, claim
from widenet.claims.sides import Conjunct, Fact, Rate, Sense, Sides, evidence
from widenet.claims.statistics import fails_at_most
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.diagnostics import exploration
from widenet.diagnostics.clustering import active_counts
from widenet.papers.brutzkus2019.claims.section_3 import (
    event_of,
    setting_of_section_3,
    together,
    wide,
    worst_of,
)
from widenet.papers.brutzkus2019.formulas import UNEXPLORED, c_value, large_start_over_c, large_start_probability
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.xor import XorTrace, xor_traces
from widenet.papers.brutzkus2019.runs.xor_starts import XorCounts, XorSetting, XorStart, draw_xor_start, xor_counts
from widenet.records import Scale

TINY = sys.float_info.min
"""Stands for rates that a float cannot hold."""
ALLOWED = 8 * UNEXPLORED
"""8e⁻⁸: how often Lemma 3.1 may fail."""


def _small_starts(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_xor_start(k, c, 200, seed) for k in (1, 2, 17, 50, 100) for c in (0.1, 0.4)]


def _small_steps(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_xor_start(k, 0.1, 200, seed, step_share=0.1) for k in (17, 50)]


def _settings(scale: Scale, seed: int) -> list[XorSetting]:
    n_runs = 60 if scale is Scale.QUICK else 1000
    return [
        XorSetting(half_width=k, step_constant=c, n_runs=n_runs, seed=seed) for k in (2, 17, 50) for c in (0.1, 0.4)
    ]


def unexplored(half_width: int, radius: Fraction = octants.RADIUS) -> float:
    """The exact probability that one of the counts of Lemma 3.1 is off.

    |W⁺(1)|, |W⁺(2)|, |U⁺(1)| and |U⁺(2)| are independent Binomial(k, ½), as x_1 and x_2 are orthogonal; the other four
    are k minus these, and as far from k/2.
    """
    return float(1 - octants.axis_explored(half_width, radius) ** 4)


@claim("brutzkus2019.lemma_3_1", Kind.STEP, "Lemma 3.1, Section 3.2; Lemma B.1", reads=xor_counts)
def lemma_3_1(starts: Sequence[XorCounts], *, radius: Fraction = octants.RADIUS, allowed: float = ALLOWED) -> Evidence:
    """Exploration: for k > 16, with probability at least 1 − 8e⁻⁸, every |W_0⁺(i)| and |U_0⁺(i)| (the filters in the
    half-plane of x_i, i = 1, …, 4) lies within k/2 ± 2√k.

    By exact binomial tails, and by how many of the drawn starts fail.
    """
    exact = [unexplored(each.half_width, radius) for each in starts]
    failed = [
        ~exploration.explored(each.counts, each.half_width, radius=float(radius)).all(axis=(1, 2)) for each in starts
    ]
    parts: dict[str, Conjunct] = {
        "exact probability": Sides(
            exact,
            allowed,
            room=ROUNDING * allowed,
            trivial=1.0,
            quantity="exact probability that a count is farther than 2√k from k/2, at the worst width",
        ),
        "drawn starts": worst_of([Rate(each, allowed).part("") for each in failed]),
    }
    rows = [
        {"half_width": each.half_width, "exact": tail, "failures": int(runs.sum())}
        for each, tail, runs in zip(starts, exact, failed, strict=True)
    ]
    n_runs, failures = sum(each.n_runs for each in starts), sum(row["failures"] for row in rows)
    return evidence(
        parts,
        (wide(each.half_width for each in starts), _uniform_directions(starts)),
        runs=Runs(tried=n_runs),
        details={"widths": rows},
        note=f"{failures} of {n_runs} drawn starts fail.",
    )


def spread_of(start: XorStart) -> float:
    """16√k·σ_g/η, by the σ_g that the weights were drawn with, or as they are."""
    if start.deviation is None:
        return start.spread
    return start.deviation * 16 * start.half_width**0.5 / start.step_size


def outside_over_c(half_width: int, spread: float) -> float:
    """The exact probability of a start above √2η/4, over c = √(2k/π)e^{−8k}; an upper bound on it where σ_g is allowed.

    Both underflow from k = 93 on, that bound does not.
    """
    if spread <= 1 + ROUNDING:
        return large_start_over_c(half_width, min(spread, 1.0))
    return large_start_probability(half_width, spread) / max(c_value(half_width), TINY)


@claim(
    "brutzkus2019.lemma_b_2",
    Kind.STEP,
    "Lemma B.2, Section B.1 (with √π for π, as where it is used, and for η = c_η/k)",
    draws=_small_starts,
)
def lemma_b_2(
    starts: Sequence[XorStart], *, constant: float = 1.0, radius: float = 1.0, as_printed: bool = False
) -> Evidence:
    """With probability at least 1 − √(2k/π)e^{−8k} every initial |⟨w_0, x_i⟩| and |⟨u_0, x_i⟩| is at most √2η/4 (for
    η = c_η/k and σ_g ≤ c_η/(16k^{3/2}), that is σ_g ≤ η/(16√k)).

    The exact Gaussian probability is compared with constant·√(2k/π)e^{−8k}, for the limit radius·√2η/4. Drawn starts
    cannot confirm a rate of e^{−8k}, but could refute it. With `as_printed` the hypotheses are the paper's, which allow
    η far below c_η/k, and the probabilities are shown as they are, not over √(2k/π)e^{−8k}.
    """
    ratios = [outside_over_c(start.half_width, spread_of(start) / radius) for start in starts]
    rates = [max(constant * c_value(start.half_width), TINY) for start in starts]
    outside = [int((~start.in_event).sum()) for start in starts]
    refuted = [
        fails_at_most(count, start.n_runs, rate, 1 - BY_CHANCE) is False
        for count, start, rate in zip(outside, starts, rates, strict=True)
    ]
    units = np.array([c_value(start.half_width) if as_printed else 1.0 for start in starts])
    probability = "probability of a start above √2η/4"
    quantity = f"exact {probability}" if as_printed else f"{probability}, over √(2k/π)e^{{−8k}}, at the worst width"
    parts: dict[str, Conjunct] = {
        "exact probability": Sides(
            ratios * units,
            constant * units,
            room=ROUNDING * constant * units,
            # The probability itself is at most 1.
            trivial=constant * units / np.array(rates),
            quantity=quantity,
        ),
        "drawn starts do not refute it": Fact(~np.array(refuted)),
    }
    rows = [
        {
            "half_width": start.half_width,
            "step_share": start.half_width * start.step_size / start.step_constant,
            "promised": constant * c_value(start.half_width),
            "exact": large_start_probability(start.half_width, spread_of(start) / radius),
            "ratio": ratio / constant,
            "runs": start.n_runs,
            "outside": count,
        }
        for start, ratio, count in zip(starts, ratios, outside, strict=True)
    ]
    hypotheses = setting_of_section_3(starts, as_printed=as_printed)
    return evidence(
        parts,
        (wide(start.half_width for start in starts), *hypotheses) if as_printed else hypotheses,
        runs=Runs(tried=sum(start.n_runs for start in starts)),
        details={"settings": rows},
        note=_note_on_sizes(rows, as_printed),
    )


def _note_on_sizes(rows: list[dict], as_printed: bool) -> str:
    if not as_printed:
        return (
            "The bound is sharp: the ratio tends to 1. The lemma compares σ_g with η: with η far below c_η/k it needs "
            "a smaller σ_g too; see lemma_b_2_as_printed."
        )
    worst = max(rows, key=lambda row: row["ratio"])
    return f"{worst['outside']} of {worst['runs']} drawn starts are above it, with η = {worst['step_share']:.3g}·c_η/k."


lemma_b_2_as_printed = lemma_b_2.variant(
    "lemma_b_2_as_printed",
    where="Lemma B.2, Section B.1",
    statement="XOR, k > 16, η ≤ c_η/k, c_η < 1/2 and σ_g ≤ c_η/(16k^{3/2}): with probability at least "
    "1 − √(2k)/(πe^{8k}) every initial |⟨w_0, x_i⟩| and |⟨u_0, x_i⟩| is at most √2η/4.",
    draws=_small_steps,
    # √(2k)/(πe^{8k}). Both differences count: with η = c_η/k the exact probability is up to √π times what is printed,
    # with a smaller η it can be nearly 1.
    constant=1 / math.sqrt(math.pi),
    as_printed=True,
)


@claim(
    "brutzkus2019.observation_active_at_start",
    Kind.STEP,
    "Section 3.2, after Lemma 3.2",
    reads=xor_traces.at(_settings),
)
def observation_active_at_start(traces: Sequence[XorTrace]) -> Evidence:
    """XOR: a_i(0) = 1 in the event of Lemma B.2 (every point is active at t = 0), and a_i never falls."""
    event = event_of(traces)
    views = [(active_counts(run.active), scored) for run, scored in event]
    parts: dict[str, Conjunct] = {
        "a_i(0) = 1": together(
            Sides(counts[0], 1.0, Sense.EQUAL, scored=scored[:, None], quantity="smallest a_i(0) over the points")
            for counts, scored in views
        ),
        "a_i never falls (by construction)": Fact(
            np.concatenate([(np.diff(counts, axis=0) >= 0).all(axis=(0, 2)) for counts, _ in views]),
            scored=np.concatenate(event.scored),
        ),
        "every run ends": event.ended,
    }
    hypotheses = (*setting_of_section_3([run.start for run in traces]), event.hypothesis)
    return evidence(parts, hypotheses, runs=event.runs)


@claim("brutzkus2019.observation_half_planes_cover", Kind.IDENTITY, "Section 3.2, after Lemma 3.2", reads=xor_counts)
def observation_half_planes_cover(starts: Sequence[XorCounts]) -> Evidence:
    """XOR: with probability 1, W_0⁺(1) ∪ W_0⁺(3) is all of [k], and so is U_0⁺(2) ∪ U_0⁺(4)."""
    missing = np.concatenate([each.uncovered for each in starts])
    quantity = "filters in neither of the two opposite half-planes"
    parts = {
        "W_0⁺(1) ∪ W_0⁺(3) is all": Sides(missing[:, 0], 0.0, Sense.EQUAL, quantity=quantity),
        "U_0⁺(2) ∪ U_0⁺(4) is all": Sides(missing[:, 1], 0.0, Sense.EQUAL, quantity=quantity),
    }
    return evidence(parts, (_uniform_directions(starts),), runs=Runs(tried=len(missing)))


def _uniform_directions(starts: Sequence[XorCounts]) -> Hypothesis:
    return at_least(
        "uniform_directions",
        "directions uniform: p-value that a filter is in each octant equally often",
        min(each.uniform for each in starts),
        BY_CHANCE,
    )
