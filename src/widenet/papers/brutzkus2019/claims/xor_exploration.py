"""Section 3.2, the start: how many filters look at each point of XOR, and how small they are.

Lemma 3.1 (restated as B.1) is `lemma_3_1`; Lemma B.2 is `lemma_b_2`; what Section 3.2 says in passing about the first
step and about W_0⁺(1) ∪ W_0⁺(3) is `observation_active_at_start` and `observation_half_planes_cover`.
"""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, Verdict, at_least, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most
from widenet.diagnostics import exploration
from widenet.diagnostics.clustering import active_counts
from widenet.papers.brutzkus2019.claims.xor_verdicts import ROUNDING, Judged, evidence_of, setting_of_section_3
from widenet.papers.brutzkus2019.formulas import UNEXPLORED, c_value, large_start_over_c, large_start_probability
from widenet.papers.brutzkus2019.runs import octants
from widenet.papers.brutzkus2019.runs.xor import XorStart, draw_start, trace
from widenet.types import Progress, Scale, silent

BY_CHANCE = 1e-6
"""A p-value below this is not chance."""
TINY = sys.float_info.min
"""Stands for rates that a float cannot hold."""
WIDTHS = (17, 50, 200)


def unexplored(half_width: int, radius: Fraction = octants.RADIUS) -> float:
    """The exact probability that one of the counts of Lemma 3.1 is off.

    |W⁺(1)|, |W⁺(2)|, |U⁺(1)| and |U⁺(2)| are independent Binomial(k, ½), as x_1 and x_2 are orthogonal; the other four
    are k minus these, and as far from k/2.
    """
    return float(1 - octants.axis_explored(half_width, radius) ** 4)


def check_lemma_3_1(
    starts: Sequence[XorStart], progress: Progress = silent, *, radius: Fraction = octants.RADIUS
) -> Evidence:
    """By exact binomial tails, and on drawn starts through the half-planes. A control has a smaller radius."""
    allowed = 8 * UNEXPLORED
    exact, failures, rows = [], [], []
    for number, start in enumerate(starts):
        plus, minus = exploration.plus_and_minus(start.filters)
        counts = np.concatenate([exploration.sizes(exploration.half_planes(half)) for half in (plus, minus)], axis=1)
        inside = exploration.explored(counts, start.half_width, radius=float(radius)).all(axis=1)
        exact.append(unexplored(start.half_width, radius))
        failures.append(int((~inside).sum()))
        rows.append({"half_width": start.half_width, "exact": exact[-1], "failures": failures[-1]})
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    conditions = (
        more_than("smallest_half_width_k", "smallest half-width k", min(s.half_width for s in starts), 16),
        _uniform_directions(starts),
    )
    drawn = [fails_at_most(count, start.n_runs, allowed) for count, start in zip(failures, starts, strict=True)]
    answers = [*drawn, *(rate <= allowed for rate in exact)]
    conclusion = False if False in answers else None if None in answers else True
    worst = int(np.argmax(exact))
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=sum(start.n_runs for start in starts)),
        conclusion=conclusion,
        quantity="exact probability that a count is farther than 2√k from k/2, at the worst width",
        promised=allowed,
        measured=exact[worst],
        tightness=ratio(exact[worst], allowed),
        interval=clopper_pearson(max(failures), starts[int(np.argmax(failures))].n_runs),
        config={"widths": rows, "draws": starts[0].n_runs},
        note=f"{sum(failures)} of {sum(start.n_runs for start in starts)} drawn starts fail.",
    )


def check_lemma_b_2(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The exact Gaussian probability against c. Drawn starts cannot confirm a rate of e^{−8k}, but could refute it."""
    conditions = setting_of_section_3(starts)
    ratios, rows, refuted = [], [], False
    for number, start in enumerate(starts):
        half_width, outside = start.half_width, int((~start.in_event).sum())
        stated = None if start.deviation is None else start.deviation * 16 * half_width**0.5 / start.step_size
        spread = start.spread if stated is None else stated
        if spread <= 1 + ROUNDING:
            # Both sides underflow from k = 93 on, their ratio does not; a smaller σ_g only makes it smaller.
            ratios.append(large_start_over_c(half_width))
        else:
            ratios.append(large_start_probability(half_width, spread) / max(c_value(half_width), TINY))
        refuted |= fails_at_most(outside, start.n_runs, max(c_value(half_width), TINY), 1 - BY_CHANCE) is False
        rows.append({"half_width": half_width, "ratio": ratios[-1], "runs": start.n_runs, "outside": outside})
        progress((number + 1) / len(starts), f"k = {half_width}")
    worst = int(np.argmax(ratios))
    conclusion = ratios[worst] <= 1 and not refuted
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=sum(start.n_runs for start in starts)),
        conclusion=conclusion,
        quantity="probability of a start above √2η/4, over √(2k/π)e^{−8k}, at the worst width",
        promised=1.0,
        measured=ratios[worst],
        tightness=ratio(ratios[worst], 1.0),
        config={"widths": rows, "c_at_2": c_value(2), "exact_at_2": large_start_probability(2)},
        note="The bound is sharp: the ratio tends to 1. The lemma compares σ_g with η: with η far below c_η/k it needs "
        "a smaller σ_g too; see lemma_b_2_as_printed.",
    )


def check_lemma_b_2_as_printed(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """The same for η ≤ c_η/k and σ_g ≤ c_η/(16k^{3/2}), as Section 3 has them, against √(2k)/(πe^{8k}) = c/√π.

    Both differences count. With η = c_η/k the exact probability is up to √π times what is printed; with a smaller η it
    can be nearly 1.
    """
    conditions = setting_of_section_3(starts, wide=True, as_printed=True)
    rows, refuted = [], False
    for number, start in enumerate(starts):
        half_width, outside = start.half_width, int((~start.in_event).sum())
        printed = c_value(half_width) / math.sqrt(math.pi)
        spread = (start.deviation or 0.0) * 16 * half_width**0.5 / start.step_size or start.spread
        if spread <= 1:
            ratio_to_printed = math.sqrt(math.pi) * large_start_over_c(half_width, spread)
        else:
            ratio_to_printed = large_start_probability(half_width, spread) / max(printed, TINY)
        refuted |= fails_at_most(outside, start.n_runs, max(printed, TINY), 1 - BY_CHANCE) is False
        rows.append(
            {
                "half_width": half_width,
                "step_share": half_width * start.step_size / start.step_constant,
                "printed": printed,
                "exact": large_start_probability(half_width, spread),
                "ratio": ratio_to_printed,
                "runs": start.n_runs,
                "outside": outside,
            }
        )
        progress((number + 1) / len(starts), f"k = {half_width}")
    worst = max(rows, key=lambda row: row["ratio"])
    conclusion = worst["ratio"] <= 1 and not refuted
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=sum(start.n_runs for start in starts)),
        conclusion=conclusion,
        quantity="exact probability of a start above √2η/4, in the worst setting",
        promised=worst["printed"],
        measured=worst["exact"],
        tightness=ratio(worst["exact"], worst["printed"]),
        config={"settings": rows},
        note=f"{worst['outside']} of {worst['runs']} drawn starts are above it, with η = "
        f"{worst['step_share']:.3g}·c_η/k.",
    )


def check_observation_active_at_start(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """a_i(0) = 1 for every point, and a_i never falls."""
    cases = []
    for number, start in enumerate(starts):
        run = trace(start)
        counts = active_counts(run.active)
        first, rises = counts[0], np.diff(counts, axis=0)
        broken = (first != 1).any(axis=1) | (rises < 0).any(axis=(0, 2))
        fewest = first.min(axis=1).astype(float)
        cases.append(Judged(start, start.in_event, broken, fewest, np.ones(start.n_runs), run.ended))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    return evidence_of(cases, setting_of_section_3(starts), "smallest a_i(0) over the points", is_lower_bound=True)


def check_observation_half_planes_cover(starts: Sequence[XorStart], progress: Progress = silent) -> Evidence:
    """|W_0⁺(1)| + |W_0⁺(3)| = k and |U_0⁺(2)| + |U_0⁺(4)| = k in every run."""
    missing = 0
    for number, start in enumerate(starts):
        pairs = start.own_counts[:, :2] + start.own_counts[:, 2:]
        missing = max(missing, int((start.half_width - pairs).max(initial=0)))
        progress((number + 1) / len(starts), f"k = {start.half_width}")
    conditions = (_uniform_directions(starts),)
    return Evidence_(
        verdict=decide(conditions, missing == 0),
        hypotheses=conditions,
        runs=Runs(tried=sum(start.n_runs for start in starts)),
        conclusion=missing == 0,
        quantity="filters in neither of the two opposite half-planes",
        promised=0.0,
        measured=float(missing),
        config={"widths": [start.half_width for start in starts]},
    )


def _uniform_directions(starts: Sequence[XorStart]) -> Hypothesis:
    return at_least(
        "directions_uniform",
        "directions uniform: p-value that a filter is in each octant equally often",
        min(octants.equally_likely(start.filters) for start in starts),
        BY_CHANCE,
    )


def _starts(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(k, 0.1, 5000 if scale is Scale.QUICK else 20_000, seed) for k in WIDTHS]


def _small_starts(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(k, c, 200, seed) for k in (1, 2, 17, 50, 100) for c in (0.1, 0.4)]


def _small_steps(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(k, 0.1, 200, seed, step_share=0.1) for k in (17, 50)]


def _runs(scale: Scale, seed: int) -> list[XorStart]:
    n_runs = 60 if scale is Scale.QUICK else 1000
    return [draw_start(k, c, n_runs, seed) for k in (2, 17, 50) for c in (0.1, 0.4)]


lemma_3_1 = Claim(
    id="brutzkus2019.lemma_3_1",
    kind=Kind.STEP,
    statement=(
        "Exploration: for k > 16, with probability at least 1 − 8e⁻⁸, every |W_0⁺(i)| and |U_0⁺(i)| (the filters in "
        "the half-plane of x_i, i = 1, …, 4) lies within k/2 ± 2√k."
    ),
    where="Lemma 3.1, Section 3.2; Lemma B.1",
    judge=check_lemma_3_1,
    draws=_starts,
)

lemma_b_2 = Claim(
    id="brutzkus2019.lemma_b_2",
    kind=Kind.STEP,
    statement=(
        "With probability at least 1 − √(2k/π)e^{−8k} every initial |⟨w_0, x_i⟩| and |⟨u_0, x_i⟩| is at most √2η/4 "
        "(for η = c_η/k and σ_g ≤ c_η/(16k^{3/2}), that is σ_g ≤ η/(16√k))."
    ),
    where="Lemma B.2, Section B.1 (with √π for π, as where it is used, and for η = c_η/k)",
    judge=check_lemma_b_2,
    draws=_small_starts,
)

lemma_b_2_as_printed = Claim(
    id="brutzkus2019.lemma_b_2_as_printed",
    kind=Kind.STEP,
    statement=(
        "XOR, k > 16, η ≤ c_η/k, c_η < 1/2 and σ_g ≤ c_η/(16k^{3/2}): with probability at least 1 − √(2k)/(πe^{8k}) "
        "every initial |⟨w_0, x_i⟩| and |⟨u_0, x_i⟩| is at most √2η/4."
    ),
    where="Lemma B.2, Section B.1",
    judge=check_lemma_b_2_as_printed,
    draws=_small_steps,
    expected=Verdict.VIOLATED,
)

observation_active_at_start = Claim(
    id="brutzkus2019.observation_active_at_start",
    kind=Kind.STEP,
    statement="XOR: a_i(0) = 1 in the event of Lemma B.2 (every point is active at t = 0), and a_i never falls.",
    where="Section 3.2, after Lemma 3.2",
    judge=check_observation_active_at_start,
    draws=_runs,
)

observation_half_planes_cover = Claim(
    id="brutzkus2019.observation_half_planes_cover",
    kind=Kind.IDENTITY,
    statement="XOR: with probability 1, W_0⁺(1) ∪ W_0⁺(3) is all of [k], and so is U_0⁺(2) ∪ U_0⁺(4).",
    where="Section 3.2, after Lemma 3.2",
    judge=check_observation_half_planes_cover,
    draws=_starts,
)

CLAIMS = (lemma_3_1, lemma_b_2, lemma_b_2_as_printed, observation_active_at_start, observation_half_planes_cover)
