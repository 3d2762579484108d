"""Theorem 6.5: two samples are enough for a wide network, and many are not enough for a narrow one.

The law of points is that of the paper's examples: fair labels, diverse with probabilities p₊ and p₋, otherwise one of
the sets A_1, …, A_4 that a narrow network gets wrong. Both halves are about an exact number of samples: "given 2
samples", "given fewer than m_2". The theorem does not say that a wide network learns from every larger sample, and with
16 samples of the second example it often does not.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import (
    Evidence,
    Hypothesis,
    Kind,
    Runs,
    at_least,
    at_most,
    claim,
    less_than,
    more_than,
)
from widenet.claims.sides import Fact, Rate, Sense, Sides, evidence
from widenet.claims.statistics import clopper_pearson, fails_at_most, matches_rate
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.papers.brutzkus2019.claims.rates import count_runs, joined, nearest
from widenet.papers.brutzkus2019.claims.start import deviation_hypothesis
from widenet.papers.brutzkus2019.claims.wide import regime_of_theorem_6_3
from widenet.papers.brutzkus2019.formulas import (
    ERROR_SHARE,
    LARGEST_STEP,
    SMALL_NET_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    c_value,
    samples_of_small_network,
    smallest_delta,
    steps_of_theorem_6_3,
)
from widenet.papers.brutzkus2019.runs.samples import Law, Samples, SampleSetting, samples
from widenet.papers.brutzkus2019.runs.trained import Trained, corner_settings, trained
from widenet.records import ClosedModel, Scale


def equal_law(share: float, delta: float | None = None) -> Law:
    """p₊ = p₋, with the smallest δ that Theorem 6.5 speaks of unless another is given."""
    delta = smallest_delta(share, share) if delta is None else delta
    return Law(diverse_positive=share, diverse_negative=share, delta=delta)


class Example(ClosedModel):
    """A numerical example of Section 6.3: p₊ = p₋ and δ, p*, and the number of samples that is claimed."""

    law: Law
    largest_error: float
    samples: int


EXAMPLES = (
    Example(law=equal_law(0.98, 0.05), largest_error=0.005, samples=129),
    Example(law=equal_law(0.92, 0.16), largest_error=0.02, samples=17),
)
LAWS = (*(example.law for example in EXAMPLES), *map(equal_law, (0.98, 0.92, 0.5)))
"""What the first half of the theorem is asked about: the examples, and the strictest δ."""


def pair_settings(scale: Scale, seed: int) -> list[SampleSetting]:
    """Wide networks in the corner of the regime, each on its own two points of the second example; the smallest δ."""
    return [
        SampleSetting(
            law=equal_law(0.92),
            per_class=1,
            n_runs=120 if scale is Scale.QUICK else 2400,
            seed=seed,
            half_width=SMALLEST_WIDTH,
            step_constant=LARGEST_STEP,
            required_margin=SMALLEST_MARGIN,
            max_steps=math.floor(steps_of_theorem_6_3(LARGEST_STEP, SMALLEST_MARGIN)),
        )
    ]


def sixteen_settings(scale: Scale, seed: int) -> list[SampleSetting]:
    """Wide networks on 16 points of the second example, of which the theorem does not speak; only shown."""
    count = 60 if scale is Scale.QUICK else 600
    return [SampleSetting(law=EXAMPLES[1].law, per_class=8, n_runs=count, seed=seed, half_width=120)]


@claim(
    "brutzkus2019.theorem_6_5_large_network",
    Kind.MAIN,
    "Theorem 6.5, m_1 ≤ 2, Section 6.3; read as in footnote 9",
    reads=(trained.at(corner_settings), samples.at(pair_settings), samples.at(sixteen_settings)),
)
def theorem_6_5_large_network(
    runs: Sequence[Trained], drawn: Sequence[Samples], more: Sequence[Samples], *, laws: Sequence[Law] = LAWS
) -> Evidence:
    """Sample complexity, wide: let a positive point be diverse with probability p₊ and a negative one with p₋. For
    δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸), c = √(2k/π)e^{−8k}, and any ε ≥ 0, a network with k ≥ 120 reaches a global
    minimum with test error at most ε from exactly 2 samples, one of each class, with probability at least 1 − δ.

    P[no test error from two samples] ≥ p₊p₋·P[f* is recovered from a diverse pair] ≥ 1 − δ. The second factor is
    measured on a diverse pair and on those pairs drawn from the law that are diverse; the first, and the whole, on all
    drawn pairs. Few of them cannot confirm a δ this close to what fails, but could refute it. A control has narrow
    networks.
    """
    (networks,) = runs
    allowed = [_allowed_on_a_diverse_pair(law) for law in laws]
    asked = [*laws, *(case.law for case in drawn)]
    deltas = [[_delta_hypothesis(law, networks.half_width, tolerance=ROUNDING)] for law in asked]
    n_points = [sum(networks.points.counts), *(int(count) for case in drawn for count in case.counts.sum(axis=1))]
    shown, pairs = [_shown(each) for each in more], [_pair_row(each) for each in drawn]
    trained_runs = count_runs([networks])
    return evidence(
        {
            "f* is recovered from a diverse pair, as often as δ asks": Rate(
                joined([~networks.recovers, *(~_learned(case)[case.diverse] for case in drawn)]),
                min(allowed, default=math.nan),
                joined([networks.unfinished, *(case.unfinished[case.diverse] for case in drawn)]),
                quantity="share of runs on a diverse pair that do not recover f*, against what the strictest δ allows",
            ),
            "a drawn pair is diverse with probability p₊p₋": Fact(
                [row["p_value"] >= BY_CHANCE for row in pairs] or [True], undecided=not pairs
            ),
            "drawn pairs do not fail more often than δ": Fact(
                [not row["refuted"] for row in pairs] or [True], undecided=not pairs
            ),
        },
        [
            *_nearest_by_key(
                regime_of_theorem_6_3([networks]), [each for case in drawn for each in _wide_regime(case)]
            ),
            at_least("samples_fewest", "samples, fewest", min(n_points), 2),
            at_most("samples", "samples, most", max(n_points), 2),
            *nearest(deltas),
        ],
        runs=Runs(
            tried=trained_runs.tried + sum(len(case.loss) for case in drawn),
            diverged=trained_runs.diverged,
            unfinished=trained_runs.unfinished + sum(int(case.unfinished.sum()) for case in drawn),
        ),
        details={
            "drawn_pairs": pairs,
            "laws": [
                {
                    "p_plus": law.diverse_positive,
                    "p_minus": law.diverse_negative,
                    "delta": law.delta,
                    "allowed_on_a_diverse_pair": share,
                }
                for law, share in zip(laws, allowed, strict=True)
            ],
            **networks.summary(),
            **({"more_samples": shown[0]} if shown else {}),
        },
        note="About exactly two samples, one of each class. "
        + "".join(
            f"Of {row['runs']} pairs drawn at p₊ = p₋ = {row['p_plus']:.2f}, {row['diverse']} are diverse, and "
            f"{row['learned']} lead to zero loss without test error. "
            for row in pairs
        )
        + "It does not follow that more samples are enough"
        + "".join(
            f": with {each['samples']} samples, {each['with_error']} of {each['zero_loss']} wide networks at zero loss "
            f"had a test error of p* or more (k = {each['half_width']}, c_η = {each['step_constant']:.3g}, γ = "
            f"{each['required_margin']:g}, p₊ = {each['p_plus']:.2f})"
            for each in shown
        )
        + ".",
    )


def _learned(case: Samples) -> np.ndarray:
    """Zero loss, and no test error."""
    return case.zero_loss & (case.test_error == 0)


def _pair_row(case: Samples) -> dict:
    """How many drawn pairs are diverse, how many lead to no error, and what that says about p₊p₋ and about δ."""
    n_runs, diverse, learned = len(case.loss), int(case.diverse.sum()), _learned(case)
    sure_failures = int((~learned & ~case.unfinished).sum())
    return {
        "p_plus": case.law.diverse_positive,
        "p_minus": case.law.diverse_negative,
        "delta": case.law.delta,
        "runs": n_runs,
        "diverse": diverse,
        "learned": int(learned.sum()),
        "p_value": matches_rate(diverse, n_runs, case.law.diverse_pair),
        "refuted": fails_at_most(sure_failures, n_runs, case.law.delta, 1 - BY_CHANCE) is False,
    }


def _wide_regime(case: Samples) -> list[Hypothesis]:
    """What `regime_of_theorem_6_3` asks, of pairs drawn from the law: these need not be diverse."""
    k = case.half_width
    return [
        at_least("width", "width k", k, SMALLEST_WIDTH),
        at_most("step_constant", "step constant c_η = ηk", case.step_size * k, LARGEST_STEP),
        at_least("margin", "margin γ", case.required_margin, SMALLEST_MARGIN),
        deviation_hypothesis(case.start, case.step_size),
    ]


def _nearest_by_key(first: Sequence[Hypothesis], others: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The first hypotheses, each nearest to breaking among itself and others of its key."""
    return [
        nearest([[hypothesis], *([each] for each in others if each.key == hypothesis.key)])[0] for hypothesis in first
    ]


def _allowed_on_a_diverse_pair(law: Law) -> float:
    """Of the runs on a diverse pair, this share may fail; where there are none, only δ = 1 allows anything."""
    if not law.diverse_pair:
        return 1.0 if law.delta >= 1 else 0.0
    return 1 - (1 - law.delta) / law.diverse_pair


def _delta_hypothesis(law: Law, half_width: int = 120, tolerance: float = 0.0) -> Hypothesis:
    limit = smallest_delta(law.diverse_positive, law.diverse_negative, half_width)
    return at_least("delta", "δ against 1 − p₊p₋(1 − c − 16e⁻⁸)", law.delta, limit, tolerance=tolerance)


def _with_hard_error(case: Samples, error: float) -> np.ndarray:
    """Zero loss, and a test error of at least this much. The error is a sum of probabilities, of which p* is one."""
    return case.zero_loss & (case.test_error >= error * (1 - ROUNDING))


def _shown(case: Samples) -> dict:
    return {
        "samples": 2 * case.per_class,
        "p_plus": case.law.diverse_positive,
        "half_width": case.half_width,
        "step_constant": case.step_size * case.half_width,
        "required_margin": case.required_margin,
        "runs": len(case.loss),
        "zero_loss": int(case.zero_loss.sum()),
        "with_error": int(_with_hard_error(case, case.law.smallest_hard_share).sum()),
    }


Bound = Callable[[float, float, float], float]


def _smallest_hard_share(law: Law) -> float:
    return law.smallest_hard_share


@claim(
    "brutzkus2019.theorem_6_5_small_network",
    Kind.MAIN,
    "Theorem 6.5, m_2, Section 6.3; read as in footnote 9",
    reads=samples,
)
def theorem_6_5_small_network(
    cases: Sequence[Samples],
    *,
    bound: Bound = samples_of_small_network,
    error: Callable[[Law], float] = _smallest_hard_share,
) -> Evidence:
    """Sample complexity, narrow: let a positive point be diverse with probability p₊ and a negative one with p₋,
    and let p* be the probability of the rarest of the pattern sets {2}, {4}, {1, 2, 4}, {2, 3, 4}. For any δ ≥ 1
    − p₊p₋(1 − c(120) − 16e⁻⁸), where a network with k ≥ 120 needs 2 samples, and any ε < p*: with fewer than
    2·ln(48δ/(33(1 − c(2))))/ln(p₊p₋) samples, half of each class, a network with k = 2 reaches a global minimum
    with test error at least p* > ε with probability greater than δ. Here c(k) = √(2k/π)e^{−8k}.

    A control asks for a larger error.
    """
    hits = [_with_hard_error(case, error(case.law)) for case in cases]
    limits = [bound(case.law.diverse_positive, case.law.diverse_negative, case.law.delta) for case in cases]
    # Runs that were cut off may still be hits: they decide neither way.
    parts = {
        f"zero loss with an error of p* or more, p₊ = {case.law.diverse_positive:g}": Rate(
            ~hit,
            1 - case.law.delta,
            case.unfinished & ~hit,
            quantity="share of runs without zero loss or with a test error below p*, against 1 − δ",
        )
        for case, hit in zip(cases, hits, strict=True)
    }
    if not cases:
        parts["zero loss with an error of p* or more"] = Rate(joined([]), 1.0)
    return evidence(
        parts,
        nearest([_small_regime(case, limit) for case, limit in zip(cases, limits, strict=True)]),
        runs=Runs(
            tried=sum(len(case.loss) for case in cases),
            unfinished=sum(int(case.unfinished.sum()) for case in cases),
        ),
        details={
            "cases": [_sample_row(*row) for row in zip(cases, hits, limits, strict=True)],
        },
        note="Runs that spend their budget count as runs that miss where that confirms less, and as hits where it "
        "refutes less.",
    )


def _small_regime(case: Samples, limit: float) -> list[Hypothesis]:
    k = case.half_width
    return [
        at_most("width", "|k − 2|", abs(k - 2), 0),
        at_most("step_constant", "step constant c_η = ηk", case.step_size * k, SMALL_NET_STEP),
        at_least("margin", "margin γ", case.required_margin, 1),
        deviation_hypothesis(case.start, case.step_size),
        _delta_hypothesis(case.law),
        less_than("samples", "samples, most of a run", int(case.counts.sum(axis=1).max(initial=0)), limit),
        more_than("hard_share", "p*", case.law.smallest_hard_share, 0),
    ]


def _sample_row(case: Samples, hit: np.ndarray, limit: float) -> dict:
    law, count = case.law, int(hit.sum())
    return {
        "p_plus": law.diverse_positive,
        "p_minus": law.diverse_negative,
        "delta": law.delta,
        "samples": 2 * case.per_class,
        "fewer_than": limit,
        "runs": len(hit),
        "zero_loss": int(case.zero_loss.sum()),
        "frequency": count / len(hit) if len(hit) else None,
        "proved": law.diverse_pair**case.per_class * ERROR_SHARE * (1 - c_value(2)),
        "interval": clopper_pearson(count, len(hit)),
    }


class Examples(ClosedModel):
    """The examples with a gap, and shares p₊ = p₋ for which there should be none."""

    with_gap: tuple[Example, ...]
    without_gap: tuple[float, ...]


def printed_examples(scale: Scale, seed: int) -> Examples:
    """Those of Section 6.3, and shares up to 0.7."""
    return Examples(with_gap=EXAMPLES, without_gap=tuple(np.linspace(0.05, 0.7, 66).tolist()))


@claim(
    "brutzkus2019.section_6_3_examples",
    Kind.STEP,
    "examples after Theorem 6.5, Section 6.3",
    draws=printed_examples,
)
def section_6_3_examples(examples: Examples, *, bound: Bound = samples_of_small_network) -> Evidence:
    """p₊ = p₋ = 0.98, δ ≤ 0.05, ε < 0.005: m_1 ≤ 2 and m_2 ≥ 129. p₊ = p₋ = 0.92, δ = 0.16, ε < 0.02: m_1 ≤ 2 and
    m_2 ≥ 17. For p₊, p₋ ≤ 0.7 the bound guarantees no gap.

    The formula gives the printed numbers; up to 0.7 it gives fewer than the two samples of the wide network.
    """
    laws = [each.law for each in examples.with_gap]
    bounds = np.array([bound(law.diverse_positive, law.diverse_negative, law.delta) for law in laws])
    claimed = np.array([each.samples for each in examples.with_gap])
    hardest = np.array([law.smallest_hard_share for law in laws])
    errors = np.array([each.largest_error for each in examples.with_gap])
    small = np.array([bound(share, share, smallest_delta(share, share)) for share in examples.without_gap])
    return evidence(
        {
            "m_2 is at least the printed number": Sides(
                bounds,
                claimed,
                Sense.AT_LEAST,
                trivial=0.0,
                quantity="samples below which a narrow network fails",
            ),
            "m_2 rounded down is the printed number": Sides(np.floor(bounds), claimed, Sense.EQUAL),
            "p* is the printed limit of ε": Sides(hardest, errors, Sense.EQUAL, room=ROUNDING),
            "no gap up to 0.7": Sides(small, 2, Sense.AT_MOST, strict=True, quantity="m_2 against m_1 = 2"),
        },
        nearest([[_delta_hypothesis(law)] for law in laws]),
        runs=Runs(tried=len(bounds) + len(small)),
        details={
            "examples": [
                {
                    "share": law.diverse_positive,
                    "delta": law.delta,
                    "smallest_delta": smallest_delta(law.diverse_positive, law.diverse_negative),
                    "bound": float(value),
                    "claimed": each.samples,
                    "largest_error": each.largest_error,
                    "p_star": law.smallest_hard_share,
                }
                for each, law, value in zip(examples.with_gap, laws, bounds, strict=True)
            ],
            "largest_bound_without_gap": float(small.max(initial=-math.inf)),
        },
        note="129 belongs to δ = 0.05; the smallest δ that the text allows for p = 0.98 gives 135.2, so 129 is right "
        "there too.",
    )
