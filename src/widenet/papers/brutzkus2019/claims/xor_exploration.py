"""Section 3.2, the start: how many filters look at each point of XOR, and how small they are.

Lemma 3.1 (restated as B.1) is `lemma_3_1`; Lemma B.2 is `lemma_b_2`; what Section 3.2 says in passing about the first
step and about W_0⁺(1) ∪ W_0⁺(3) is `observation_active_at_start` and `observation_half_planes_cover`.
"""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, Number, by_value, derived
from widenet.claims.implication import Promise, Promised, at_most, equal
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact
from widenet.claims.statistics import fails_at_most
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.diagnostics import exploration
from widenet.diagnostics.clustering import active_counts
from widenet.papers.brutzkus2019.claims import setting_rows
from widenet.papers.brutzkus2019.claims.xor_events import EACH, XorRuns, event_of
from widenet.papers.brutzkus2019.formulas import (
    UNEXPLORED,
    c_value,
    large_start_over_c,
    large_start_probability,
    per_setting,
)
from widenet.papers.brutzkus2019.hypotheses import (
    SECTION_3,
    SECTION_3_AS_PRINTED,
    runs_in_event,
    uniform_directions,
    width_above_16,
)
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.xor import xor_traces
from widenet.papers.brutzkus2019.runs.xor_counts import XorCounts, xor_counts
from widenet.papers.brutzkus2019.runs.xor_settings import exploration_settings
from widenet.papers.brutzkus2019.xor_sources import XorStart, small_xor_starts, small_xor_steps
from widenet.records import Form

TINY = sys.float_info.min
"""Stands for rates that a float cannot hold."""
ALLOWED = 8 * UNEXPLORED
"""8e⁻⁸: how often Lemma 3.1 may fail."""


def unexplored(half_width: int, radius: Fraction = octants.RADIUS) -> float:
    """The exact probability that one of the counts of Lemma 3.1 is off.

    |W⁺(1)|, |W⁺(2)|, |U⁺(1)| and |U⁺(2)| are independent Binomial(k, ½), as x_1 and x_2 are orthogonal; the other four
    are k minus these, and as far from k/2.
    """
    return float(1 - octants.axis_explored(half_width, radius) ** 4)


@claim("brutzkus2019.lemma_3_1", Kind.STEP, "Lemma 3.1, Section 3.2; Lemma B.1", reads=xor_counts,
       given=(width_above_16, uniform_directions), title="XOR: about half of the filters see each point")  # fmt: skip
def lemma_3_1(starts: XorCounts, *, radius: Fraction = octants.RADIUS, allowed: float = ALLOWED) -> Promise:
    """Exploration: for $k > 16$, with probability at least $1 − 8e⁻⁸$, every $|W_0⁺(i)|$ and $|U_0⁺(i)|$ (the filters
    in the half-plane of $x_i$, $i = 1, …, 4$) lies within $k/2 ± 2√k$.

    By exact binomial tails, and by how many of the drawn starts fail.
    """
    half_widths = np.asarray(starts.per("cell").half_width)
    exact = by_value(lambda k: unexplored(k, radius), half_widths)
    failed = starts.map(lambda cell: ~_are_explored(cell, radius), bool)
    counts = starts.count(failed)

    def widths() -> list[dict[str, Any]]:
        return setting_rows.rows(half_width=half_widths, exact=exact, failures=counts)

    return Promise(
        {
            "exact": at_most(
                exact,
                allowed,
                room=ROUNDING * allowed,
                trivial=1.0,
                text="exact probability",
                quantity="exact probability that a count is farther than 2√k from k/2, at the worst width",
            ),
            "drawn": Rate(failed, allowed, setting=starts.cell, text="drawn starts"),
        },
        details=lambda: {"widths": widths()},
        note=f"{counts.sum()} of {len(starts)} drawn starts fail.",
    )


def _are_explored(starts: XorCounts, radius: Fraction) -> Bool[np.ndarray, " run"]:
    within = exploration.explored(starts.half_planes, int(starts.half_width), radius=float(radius))
    return np.asarray(within.all(axis=(1, 2)))


class StartSizes(XorStart):
    """Starts, with the σ_g that they were drawn with and how many are outside the event of Lemma B.2."""

    meant_spread: Number = derived(lambda starts: spread_of(starts))
    n_outside: Count = derived(lambda starts: int((~starts.in_event).sum()))


def spread_of(start: XorStart) -> float:
    """16√k·σ_g/η, by the σ_g that the weights were drawn with, or as they are."""
    if not start.is_drawn:
        return start.spread
    return start.deviation * 16 * start.half_width**0.5 / start.step_size


def outside_over_c(half_width: int, spread: float) -> float:
    """The exact probability of a start above √2η/4, over c = √(2k/π)e^{−8k}; an upper bound on it where σ_g is allowed.

    Both underflow from k = 93 on, that bound does not.
    """
    if spread <= 1 + ROUNDING:
        return large_start_over_c(half_width, min(spread, 1.0))
    return large_start_probability(half_width, spread) / max(c_value(half_width), TINY)


@claim("brutzkus2019.lemma_b_2", Kind.STEP,
       "Lemma B.2, Section B.1 (with √π for π, as where it is used, and for η = c_η/k)", draws=small_xor_starts,
       given=SECTION_3, form=Form.REPAIR,
       title="XOR: the start is small but for a rate of $√(2k/π)e^{−8k}$")  # fmt: skip
def lemma_b_2(starts: StartSizes, *, constant: float = 1.0, radius: float = 1.0, as_printed: bool = False) -> Promise:
    """With probability at least $1 − √(2k/π)e^{−8k}$ every initial $|⟨w_0, x_i⟩|$ and $|⟨u_0, x_i⟩|$ is at most $√2η/4$
    (for $η = c_η/k$ and $σ_g ≤ c_η/(16k^{3/2})$, that is $σ_g ≤ η/(16√k)$).

    The exact Gaussian probability is compared with constant·√(2k/π)e^{−8k}, for the limit radius·√2η/4. Drawn starts
    cannot confirm a rate of e^{−8k}, but could refute it.

    In code: With `as_printed` the hypotheses are the paper's, which allow η far below c_η/k, and the probabilities are
    shown as they are, not over √(2k/π)e^{−8k}.
    """
    each = starts.per("cell")
    c = by_value(c_value, each.half_width)
    ratios = each.map(lambda cell: outside_over_c(cell.half_width, float(cell.meant_spread) / radius))
    rates = np.maximum(constant * c, TINY)
    refuted = each.map(lambda cell: _refutes(cell, max(constant * c_value(cell.half_width), TINY)), bool)
    units = c if as_printed else np.ones_like(c)
    probability = "probability of a start above √2η/4"
    quantity = f"exact {probability}" if as_printed else f"{probability}, over √(2k/π)e^{{−8k}}, at the worst width"

    def rows() -> list[dict[str, Any]]:
        return setting_rows.rows(
            half_width=each.half_width,
            step_share=each.step_share,
            promised=constant * c,
            exact=per_setting(large_start_probability, each.half_width, each.meant_spread / radius),
            ratio=ratios / constant,
            runs=each.n_runs,
            outside=each.n_outside,
        )

    return Promise(
        {
            "exact": at_most(
                ratios * units,
                constant * units,
                within=ROUNDING,
                # The probability itself is at most 1.
                trivial=constant * units / rates,
                text="exact probability",
                quantity=quantity,
            ),
            "drawn": Fact(~refuted, text="drawn starts do not refute it"),
        },
        details=lambda: {"settings": rows()},
        note=lambda: _note_on_sizes(rows(), as_printed),
    )


def _refutes(starts: StartSizes, rate: float) -> bool:
    return fails_at_most(int(starts.n_outside), int(starts.n_runs), rate, 1 - BY_CHANCE) is False


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
    title="XOR: the start is small, whatever the step: fails",
    where="Lemma B.2, Section B.1",
    statement=(
        "XOR, $k > 16$, $η ≤ c_η/k$, $c_η < 1/2$ and $σ_g ≤ c_η/(16k^{3/2})$: with probability at least "
        "$1 − √(2k)/(πe^{8k})$ every initial $|⟨w_0, x_i⟩|$ and $|⟨u_0, x_i⟩|$ is at most $√2η/4$."
    ),
    draws=small_xor_steps,
    # √(2k)/(πe^{8k}). Both differences count: with η = c_η/k the exact probability is up to √π times what is printed,
    # with a smaller η it can be nearly 1.
    constant=1 / math.sqrt(math.pi),
    given=(width_above_16, *SECTION_3_AS_PRINTED),
    as_printed=True,
)


class XorFirstSteps(XorRuns):
    """Runs on XOR, with how a_i begins and goes on."""

    first_counts: Int[np.ndarray, "run 4"] = derived(lambda runs: active_counts(runs.active)[0])  #: a_i(0)
    grows: Bool[np.ndarray, " run"] = derived(lambda runs: _never_falls(active_counts(runs.active)))


def _never_falls(counts: Int[np.ndarray, " time run 4"]) -> Bool[np.ndarray, " run"]:
    return np.all(np.diff(counts, axis=0) >= 0, axis=(0, 2))


@claim("brutzkus2019.observation_active_at_start", Kind.STEP, "Section 3.2, after Lemma 3.2",
       reads=xor_traces.at(exploration_settings), given=(*SECTION_3, runs_in_event),
       title="XOR: every point is active at the start")  # fmt: skip
def observation_active_at_start(runs: XorFirstSteps) -> Promise:
    """XOR: $a_i(0) = 1$ in the event of Lemma B.2 (every point is active at $t = 0$), and $a_i$ never falls."""
    event = event_of(runs)
    return event.promise(
        {
            "first": equal(
                runs.first_counts,
                1.0,
                text="$a_i(0) = 1$",
                quantity="smallest a_i(0) over the points",
                **event.where(also=EACH),
            ),
            "grows": Fact(runs.grows, text="$a_i$ never falls (by construction)", **event.where()),
            "ends": event.ended,
        }
    )


@claim("brutzkus2019.observation_half_planes_cover", Kind.IDENTITY, "Section 3.2, after Lemma 3.2", reads=xor_counts,
       given=[uniform_directions], title="XOR: two opposite half-planes have all filters")  # fmt: skip
def observation_half_planes_cover(starts: XorCounts) -> Promised:
    """XOR: with probability 1, $W_0⁺(1) ∪ W_0⁺(3)$ contains all $k$ filters $w$, and $U_0⁺(2) ∪ U_0⁺(4)$ all $k$
    filters $u$.
    """
    quantity = "filters in neither of the two opposite half-planes"
    return {
        "of_w": equal(starts.uncovered[:, 0], 0.0, text="$W_0⁺(1) ∪ W_0⁺(3)$ is all", quantity=quantity),
        "of_u": equal(starts.uncovered[:, 1], 0.0, text="$U_0⁺(2) ∪ U_0⁺(4)$ is all", quantity=quantity),
    }
