"""Theorem 6.5: two samples are enough for a wide network, and many are not enough for a narrow one.

The law of points is that of the paper's examples: fair labels, diverse with probabilities p₊ and p₋, otherwise one of
the sets A_1, …, A_4 that a narrow network gets wrong. Both halves are about an exact number of samples: "given 2
samples", "given fewer than m_2". The theorem does not say that a wide network learns from every larger sample, and with
16 samples of the second example it often does not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most, less_than, more_than
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, fails_at_most
from widenet.data.xord import Xord
from widenet.papers.brutzkus2019.claims.start import deviation_hypothesis
from widenet.papers.brutzkus2019.claims.wide import nearest, regime_of_theorem_6_3, run_count, theorem_6_3_runs
from widenet.papers.brutzkus2019.formulas import (
    ERROR_SHARE,
    SMALL_NET_STEP,
    c_value,
    samples_of_small_network,
    smallest_delta,
)
from widenet.papers.brutzkus2019.runs.samples import (
    Samples,
    diverse_shares,
    example_law,
    smallest_hard_share,
    train_on_samples,
)
from widenet.papers.brutzkus2019.runs.trained import Trained
from widenet.types import Progress, RunStatus, Scale, silent


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """What the first half of the theorem rests on.

    Attributes:
      laws: distributions, each with a δ.
      networks: wide networks trained on one diverse point of each class.
      more: wide networks trained on more points of a law, of which the theorem does not speak; only shown.
    """

    laws: Sequence[tuple[Xord, float]]
    networks: Trained
    more: Samples | None = None


def check_theorem_6_5_large_network(setting: TwoSamples, progress: Progress = silent) -> Evidence:
    """P[no test error from two samples] ≥ p₊p₋·P[f* is recovered from a diverse pair] ≥ 1 − δ.

    The first factor is exact, the second is judged by runs. A control has narrow networks.
    """
    networks = setting.networks
    failures, total = int((~networks.recovers).sum()), networks.n_runs
    conditions = [
        *regime_of_theorem_6_3(networks),
        at_least("samples_fewest", "samples, fewest", sum(networks.points.counts), 2),
        at_most("samples_most", "samples, most", sum(networks.points.counts), 2),
    ]
    rows, answers, deltas = [], [], []
    for law, delta in setting.laws:
        shares = diverse_shares(law)
        both = shares[0] * shares[1]
        # Of the runs on a diverse pair, this share may fail; where there are none, only δ = 1 allows anything.
        allowed = 1 - (1 - delta) / both if both else (2.0 if delta >= 1 else -math.inf)
        limit = smallest_delta(*shares, networks.half_width)
        deltas.append(
            [at_least("against_1_pp_1_c_16e", "δ against 1 − p₊p₋(1 − c − 16e⁻⁸)", delta, limit, tolerance=1e-15)]
        )
        answers.append(fails_at_most(failures, total, allowed) if 0 < allowed <= 1 else allowed > 1)
        rows.append({"p_plus": shares[0], "p_minus": shares[1], "delta": delta, "allowed_on_a_diverse_pair": allowed})
    conditions += nearest(deltas)
    conclusion = False if False in answers else (None if None in answers or not answers else True)
    hardest = min(rows, key=lambda row: row["allowed_on_a_diverse_pair"], default=None)
    rate = failures / total if total else math.nan
    more = _shown(setting.more)
    progress(1.0, "laws")
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(tried=total, unfinished=int(networks.unfinished.sum())),
        conclusion=conclusion,
        quantity="share of runs on a diverse pair that do not recover f*, against what the strictest δ allows",
        promised=hardest["allowed_on_a_diverse_pair"] if hardest else None,
        measured=rate,
        tightness=ratio(rate, hardest["allowed_on_a_diverse_pair"]) if hardest else None,
        interval=clopper_pearson(failures, total),
        config={"laws": rows, **networks.summary()} | ({"more_samples": more} if more else {}),
        note="About exactly two samples, one of each class. It does not follow that more samples are enough"
        + (
            f": with {more['samples']} samples, {more['with_error']} of {more['zero_loss']} wide networks at zero loss "
            f"had a test error of p* or more (k = {more['half_width']}, c_η = {more['step_constant']:.3g}, γ = "
            f"{more['required_margin']:g}, p₊ = {more['p_plus']:.2f})."
            if more
            else "."
        ),
    )


def _shown(samples: Samples | None) -> dict | None:
    if samples is None:
        return None
    wrong = samples.test_error >= smallest_hard_share(samples.law) * (1 - 1e-12)
    return {
        "samples": 2 * samples.per_class,
        "p_plus": diverse_shares(samples.law)[0],
        "half_width": samples.half_width,
        "step_constant": samples.step_size * samples.half_width,
        "required_margin": samples.required_margin,
        "runs": len(samples.loss),
        "zero_loss": int(samples.zero_loss.sum()),
        "with_error": int((samples.zero_loss & wrong).sum()),
    }


Bound = Callable[[float, float, float], float]


def check_theorem_6_5_small_network(
    cases: Sequence[Samples],
    progress: Progress = silent,
    *,
    bound: Bound = samples_of_small_network,
    error: Callable[[Xord], float] = smallest_hard_share,
) -> Evidence:
    """Zero loss with a test error of p* or more has a probability above δ. A control asks for a larger error."""
    every: list[list[Hypothesis]] = []
    rows, answers = [], []
    for number, case in enumerate(cases):
        shares, k = diverse_shares(case.law), case.half_width
        limit = error(case.law)
        # The error is a sum of probabilities, of which p* is one.
        hit = case.zero_loss & (case.test_error >= limit * (1 - 1e-12))
        hits, total = int(hit.sum()), len(hit)
        answers.append(fails_at_most(total - hits, total, 1 - case.delta))
        rows.append(
            {
                "p_plus": shares[0],
                "p_minus": shares[1],
                "delta": case.delta,
                "samples": 2 * case.per_class,
                "fewer_than": bound(*shares, case.delta),
                "runs": total,
                "zero_loss": int(case.zero_loss.sum()),
                "frequency": hits / total if total else math.nan,
                "proved": (shares[0] * shares[1]) ** case.per_class * ERROR_SHARE * (1 - c_value(2)),
                "interval": list(clopper_pearson(hits, total)),
            }
        )
        sizes = case.counts.sum(axis=1)
        every.append(
            [
                at_most("k_2", "|k − 2|", abs(k - 2), 0),
                at_most("step_constant_c_step_size_step", "step constant c_η = ηk", case.step_size * k, SMALL_NET_STEP),
                at_least("margin_margin", "margin γ", case.required_margin, 1),
                deviation_hypothesis(case.start, case.step_size),
                at_least(
                    "against_1_pp_1_c_16e", "δ against 1 − p₊p₋(1 − c − 16e⁻⁸)", case.delta, smallest_delta(*shares)
                ),
                less_than(
                    "samples_most_of_a_run",
                    "samples, most of a run",
                    int(sizes.max(initial=0)),
                    bound(*shares, case.delta),
                ),
                more_than("p", "p*", smallest_hard_share(case.law), 0),
            ]
        )
        progress((number + 1) / len(cases), f"p₊ = {shares[0]:.2f}")
    conclusion = False if False in answers else (None if None in answers or not answers else True)
    worst = min(rows, key=lambda row: row["frequency"] / row["delta"], default=None)
    conditions = nearest(every)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=tuple(conditions),
        runs=Runs(
            tried=sum(row["runs"] for row in rows),
            unfinished=sum(int((case.status == RunStatus.BUDGET_SPENT).sum()) for case in cases),
        ),
        conclusion=conclusion,
        quantity="share of runs at zero loss with a test error of at least p*, where it is nearest to δ",
        promised=worst["delta"] if worst else None,
        measured=worst["frequency"] if worst else None,
        tightness=ratio(worst["delta"], worst["frequency"]) if worst else None,
        interval=(worst["interval"][0], worst["interval"][1]) if worst else None,
        config={"cases": rows},
        note="Runs that spend their budget count as runs that miss: they can only lower the share.",
    )


@dataclass(frozen=True)
class Example:
    """A numerical example of Section 6.3: p₊ = p₋, δ, and the number of samples that is claimed."""

    share: float
    delta: float
    largest_error: float
    samples: int


@dataclass(frozen=True)
class Examples:
    """The examples with a gap, and shares p₊ = p₋ for which there should be none."""

    with_gap: tuple[Example, ...]
    without_gap: tuple[float, ...]


def check_section_6_3_examples(
    setting: Examples, progress: Progress = silent, *, bound: Bound = samples_of_small_network
) -> Evidence:
    """The formula gives the printed numbers; up to 0.7 it gives fewer than the two samples of the wide network."""
    rows = [
        {
            "share": each.share,
            "delta": each.delta,
            "smallest_delta": smallest_delta(each.share, each.share),
            "bound": bound(each.share, each.share, each.delta),
            "claimed": each.samples,
            "largest_error": each.largest_error,
            "p_star": smallest_hard_share(example_law(each.share, each.share)),
        }
        for each in setting.with_gap
    ]
    conditions = tuple(at_least("condition", "δ", row["delta"], row["smallest_delta"]) for row in rows)
    right = [
        math.floor(row["bound"]) == row["claimed"] and abs(row["p_star"] - row["largest_error"]) < 1e-12 for row in rows
    ]
    small = [bound(share, share, smallest_delta(share, share)) for share in setting.without_gap]
    conclusion = all(right) and all(value < 2 for value in small) if rows and small else None
    progress(1.0, "examples")
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(rows) + len(small)),
        conclusion=conclusion,
        quantity="samples below which a narrow network fails, first example",
        promised=float(rows[0]["claimed"]) if rows else None,
        measured=rows[0]["bound"] if rows else None,
        tightness=ratio(rows[0]["claimed"], rows[0]["bound"]) if rows else None,
        config={"examples": rows, "largest_bound_without_gap": max(small, default=math.nan)},
        note="129 belongs to δ = 0.05; the smallest δ that the text allows for p = 0.98 gives 135.2, so 129 is right "
        "there too.",
    )


def _two_samples(scale: Scale, seed: int) -> TwoSamples:
    laws = [(example_law(p, p), delta) for p, delta in ((0.98, 0.05), (0.92, 0.16))]
    strict = [(example_law(p, p), smallest_delta(p, p)) for p in (0.98, 0.92, 0.5)]
    more = train_on_samples(seed, 60 if scale is Scale.QUICK else 600, *laws[1], 8, half_width=120)
    return TwoSamples([*laws, *strict], theorem_6_3_runs(seed, run_count(scale)), more)


def _samples(scale: Scale, seed: int) -> list[Samples]:
    """Sixteen samples where the bound is 17.5, and 128 where it is 129.7."""
    count = 512 if scale is Scale.QUICK else 10_000
    return [
        train_on_samples(seed, count, example_law(p, p), delta, per_class)
        for p, delta, per_class in ((0.92, 0.16, 8), (0.98, 0.05, 64))
    ]


def _examples(scale: Scale, seed: int) -> Examples:
    return Examples((Example(0.98, 0.05, 0.005, 129), Example(0.92, 0.16, 0.02, 17)), tuple(np.linspace(0.05, 0.7, 66)))


theorem_6_5_large_network = Claim(
    id="brutzkus2019.theorem_6_5_large_network",
    kind=Kind.MAIN,
    statement=(
        "Sample complexity, wide: let a positive point be diverse with probability p₊ and a negative one with p₋. For "
        "δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸), c = √(2k/π)e^{−8k}, and any ε ≥ 0, a network with k ≥ 120 reaches a global "
        "minimum with test error at most ε from exactly 2 samples, one of each class, with probability at least 1 − δ."
    ),
    where="Theorem 6.5, m_1 ≤ 2, Section 6.3; read as in footnote 9",
    judge=check_theorem_6_5_large_network,
    draws=_two_samples,
)

theorem_6_5_small_network = Claim(
    id="brutzkus2019.theorem_6_5_small_network",
    kind=Kind.MAIN,
    statement=(
        "Sample complexity, narrow: let a positive point be diverse with probability p₊ and a negative one with p₋, "
        "and let p* be the probability of the rarest of the pattern sets {2}, {4}, {1, 2, 4}, {2, 3, 4}. For any δ ≥ 1 "
        "− p₊p₋(1 − c(120) − 16e⁻⁸), where a network with k ≥ 120 needs 2 samples, and any ε < p*: with fewer than "
        "2·ln(48δ/(33(1 − c(2))))/ln(p₊p₋) samples, half of each class, a network with k = 2 reaches a global minimum "
        "with test error at least p* > ε with probability greater than δ. Here c(k) = √(2k/π)e^{−8k}."
    ),
    where="Theorem 6.5, m_2, Section 6.3; read as in footnote 9",
    judge=check_theorem_6_5_small_network,
    draws=_samples,
)

section_6_3_examples = Claim(
    id="brutzkus2019.section_6_3_examples",
    kind=Kind.STEP,
    statement=(
        "p₊ = p₋ = 0.98, δ ≤ 0.05, ε < 0.005: m_1 ≤ 2 and m_2 ≥ 129. p₊ = p₋ = 0.92, δ = 0.16, ε < 0.02: m_1 ≤ 2 and "
        "m_2 ≥ 17. For p₊, p₋ ≤ 0.7 the bound guarantees no gap."
    ),
    where="examples after Theorem 6.5, Section 6.3",
    judge=check_section_6_3_examples,
    draws=_examples,
)

CLAIMS = (theorem_6_5_large_network, theorem_6_5_small_network, section_6_3_examples)
