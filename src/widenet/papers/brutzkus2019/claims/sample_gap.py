"""Theorem 6.5: two samples are enough for a wide network, and many are not enough for a narrow one.

The law of points is that of the paper's examples: fair labels, diverse with probabilities p₊ and p₋, otherwise one of
the sets A_1, …, A_4 that a narrow network gets wrong. Both halves are about an exact number of samples: "given 2
samples", "given fewer than m_2". The theorem does not say that a wide network learns from every larger sample, and with
16 samples of the second example it often does not.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promise, at_least, equal, less_than
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact
from widenet.claims.statistics import clopper_pearson, fails_at_most, matches_rate
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.papers.brutzkus2019.claims.setting_rows import rows
from widenet.papers.brutzkus2019.formulas import (
    ERROR_SHARE,
    c_value,
    per_setting,
    samples_of_small_network,
    smallest_delta,
)
from widenet.papers.brutzkus2019.hypotheses import FEW_SAMPLES, TWO_SAMPLES, FromGaussian, XordNetworks, delta
from widenet.papers.brutzkus2019.runs.printed_examples import LAWS, Examples, printed_examples
from widenet.papers.brutzkus2019.runs.samples import Samples, pair_settings, samples, sixteen_settings
from widenet.papers.brutzkus2019.runs.trained import corner_settings, trained
from widenet.papers.brutzkus2019.sources import Law

Laws = Float[np.ndarray, " law"]


class DiversePair(XordNetworks):
    """Networks on one diverse pair, with what the theorem says about it under every law that it is asked about."""

    laws: tuple[Law, ...] = derived(lambda runs: LAWS)
    n_points: int = derived(lambda runs: sum(runs.points.counts))  #: samples
    delta: Laws = derived(lambda runs: np.array([law.delta for law in runs.laws]))  #: δ
    allowed: Laws = derived(lambda runs: np.array([allowed_on_a_diverse_pair(law) for law in runs.laws]))  #: failures

    @column
    def smallest_delta(self) -> Laws:
        """1 − p₊p₋(1 − c − 16e⁻⁸)."""
        return np.array([_smallest_delta(law, self.half_width) for law in self.laws])


def _smallest_delta(law: Law, half_width: int) -> float:
    return smallest_delta(law.diverse_positive, law.diverse_negative, half_width)


def allowed_on_a_diverse_pair(law: Law) -> float:
    """Of the runs on a diverse pair, this share may fail; where there are none, only δ = 1 allows anything."""
    if not law.diverse_pair:
        return 1.0 if law.delta >= 1 else 0.0
    return 1 - (1 - law.delta) / law.diverse_pair


class SampledNetworks(FromGaussian, Samples):
    """Networks on drawn training sets, with the numbers of the theorem."""

    step_constant: float = derived(lambda runs: runs.step_size * runs.half_width)  #: c_η
    n_points: Int[np.ndarray, " run"] = derived(lambda runs: runs.per_set.sum(axis=1))  #: samples
    p_plus: float = derived(lambda runs: runs.law.diverse_positive)  #: p₊
    p_minus: float = derived(lambda runs: runs.law.diverse_negative)  #: p₋
    delta: float = derived(lambda runs: runs.law.delta)  #: δ
    smallest_hard_share: float = derived(lambda runs: runs.law.smallest_hard_share)  #: p*

    @column
    def smallest_delta(self) -> float:
        """1 − p₊p₋(1 − c − 16e⁻⁸)."""
        return smallest_delta(self.p_plus, self.p_minus, int(self.half_width))

    @column
    def smallest_delta_of_120(self) -> float:
        """The same at k = 120, whatever width is trained."""
        return smallest_delta(self.p_plus, self.p_minus)

    @column
    def proved(self) -> float:
        """How often a network with k = 2 misses p* by the proof: all points are diverse, and Theorem 6.4."""
        return self.law.diverse_pair**self.per_class * ERROR_SHARE * (1 - c_value(2))

    @column
    def fewer_than(self) -> float:
        """m_2."""
        return samples_of_small_network(self.p_plus, self.p_minus, self.delta)

    @property
    def learned(self) -> np.ndarray:
        """Zero loss, and no test error."""
        return self.zero_loss & (self.test_error == 0)

    @column
    def p_value(self) -> float:
        """That training sets are diverse with probability p₊p₋."""
        return matches_rate(int(self.diverse.sum()), len(self), self.law.diverse_pair)

    @column
    def refuted(self) -> bool:
        """Whether more training sets than δ allows do not lead to zero loss without test error, beyond all chance."""
        sure = int((~self.learned & ~self.unfinished).sum())
        return fails_at_most(sure, len(self), self.delta, 1 - BY_CHANCE) is False

    @column
    def drawn_row(self) -> dict:
        """How many drawn pairs are diverse, how many lead to no error, and what that says about p₊p₋ and about δ."""
        return {
            "p_plus": self.p_plus,
            "p_minus": self.p_minus,
            "delta": self.delta,
            "runs": len(self),
            "diverse": int(self.diverse.sum()),
            "learned": int(self.learned.sum()),
            "p_value": self.p_value,
            "refuted": self.refuted,
        }

    def with_error(self, error: np.ndarray | float) -> np.ndarray:
        """Zero loss, and a test error of at least this much; it is a sum of probabilities, of which p* is one."""
        return self.zero_loss & (self.test_error >= error * (1 - ROUNDING))


class MoreSamples(SampledNetworks):
    """Networks on more points than the theorem speaks about: shown, and counted nowhere."""

    @column
    def shown(self) -> dict:
        """How many of them are wrong at zero loss."""
        return {
            "samples": 2 * self.per_class,
            "p_plus": self.p_plus,
            "half_width": self.half_width,
            "step_constant": self.step_constant,
            "required_margin": self.required_margin,
            "runs": len(self),
            "zero_loss": int(self.zero_loss.sum()),
            "with_error": int(self.with_error(self.smallest_hard_share).sum()),
        }

    def counts(self) -> dict[str, int]:
        """None."""
        return {"tried": 0, "diverged": 0, "unfinished": 0}


@claim("brutzkus2019.theorem_6_5_large_network", Kind.MAIN, "Theorem 6.5, m_1 ≤ 2, Section 6.3; read as in footnote 9",
       reads=(trained.at(corner_settings), samples.at(pair_settings), samples.at(sixteen_settings)), given=TWO_SAMPLES,
       title="Wide networks learn XORD from two samples")  # fmt: skip
def theorem_6_5_large_network(runs: DiversePair, drawn: SampledNetworks, more: MoreSamples) -> Promise:
    """Sample complexity, wide: let a positive point be diverse with probability $p₊$ and a negative one with $p₋$. For
    $δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸)$, $c = √(2k/π)e^{−8k}$, and any $ε ≥ 0$, a network with $k ≥ 120$ reaches a global
    minimum with test error at most $ε$ from exactly 2 samples, one of each class, with probability at least $1 − δ$.

    P[no test error from two samples] ≥ p₊p₋·P[f* is recovered from a diverse pair] ≥ 1 − δ. The second factor is
    measured on a diverse pair and on those pairs drawn from the law that are diverse; the first, and the whole, on all
    drawn pairs. Few of them cannot confirm a δ this close to what fails, but could refute it.
    """
    laws, pairs = runs.per("cell"), drawn.per("cell")
    return Promise(
        {
            "recovered": Rate(
                np.concatenate([~runs.recovers, ~drawn.learned]),
                laws.allowed.ravel(),
                np.concatenate([runs.unfinished, drawn.unfinished]),
                where=np.concatenate([np.ones(len(runs), bool), drawn.diverse]),
                text="$f*$ is recovered from a diverse pair, as often as $δ$ asks",
                quantity="share of runs on a diverse pair that do not recover f*, against what the strictest δ allows",
                event="runs on a diverse pair",
            ),
            "diverse_share": Fact(pairs.p_value >= BY_CHANCE, text="a drawn pair is diverse with probability $p₊p₋$"),
            "learned": Fact(~pairs.refuted, text="drawn pairs do not fail more often than $δ$"),
        },
        details=lambda: _two_samples(runs, drawn, more),
        note=lambda: _about_two_samples(drawn, more),
    )


def _two_samples(runs: DiversePair, drawn: SampledNetworks, more: MoreSamples) -> dict:
    """What was drawn, and the laws that are asked about."""
    (networks,), shown = runs.cells, [*more.per("cell").shown]
    return {
        "drawn_pairs": [*drawn.per("cell").drawn_row],
        "laws": [
            {
                "p_plus": law.diverse_positive,
                "p_minus": law.diverse_negative,
                "delta": law.delta,
                "allowed_on_a_diverse_pair": share,
            }
            for law, share in zip(networks.laws, networks.allowed, strict=True)
        ],
        **networks.summary,
        **({"more_samples": shown[0]} if shown else {}),
    }


def _about_two_samples(drawn: SampledNetworks, more: MoreSamples) -> str:
    of_pairs = "".join(
        f"Of {row['runs']} pairs drawn at p₊ = p₋ = {row['p_plus']:.2f}, {row['diverse']} are diverse, and "
        f"{row['learned']} lead to zero loss without test error. "
        for row in drawn.per("cell").drawn_row
    )
    of_more = "".join(
        f": with {each['samples']} samples, {each['with_error']} of {each['zero_loss']} wide networks at zero loss "
        f"had a test error of p* or more (k = {each['half_width']}, c_η = {each['step_constant']:.3g}, γ = "
        f"{each['required_margin']:g}, p₊ = {each['p_plus']:.2f})"
        for each in more.per("cell").shown
    )
    return (
        f"About exactly two samples, one of each class. {of_pairs}It does not follow that more samples are enough"
        f"{of_more}."
    )


Bound = Callable[[float, float, float], float]
SHARES = (0.92, 0.98)
"""p₊ = p₋ of the examples, each of which has its own δ."""


@claim("brutzkus2019.theorem_6_5_small_network", Kind.MAIN, "Theorem 6.5, m_2, Section 6.3; read as in footnote 9",
       reads=samples, given=FEW_SAMPLES, title="Narrow networks need many more samples than two")  # fmt: skip
def theorem_6_5_small_network(
    runs: SampledNetworks,
    *,
    error: Callable[[SampledNetworks], np.ndarray | float] = lambda runs: runs.smallest_hard_share,
) -> Promise:
    """Sample complexity, narrow: let a positive point be diverse with probability $p₊$ and a negative one with $p₋$,
    and let $p*$ be the probability of the rarest of the pattern sets {2}, {4}, {1, 2, 4}, {2, 3, 4}. For any
    $δ ≥ 1 − p₊p₋(1 − c(120) − 16e⁻⁸)$, where a network with $k ≥ 120$ needs 2 samples, and any $ε < p*$: with fewer
    than $2·ln(48δ/(33(1 − c(2))))/ln(p₊p₋)$ samples, half of each class, a network with $k = 2$ reaches a global
    minimum with test error at least $p* > ε$ with probability greater than $δ$. Here $c(k) = √(2k/π)e^{−8k}$.
    """
    hit = runs.with_error(error(runs))

    def missed(rows: np.ndarray, words: str) -> Rate:
        # Runs that were cut off may still be hits: they decide neither way.
        return Rate(
            ~hit,
            1 - np.asarray(runs.delta)[rows],
            runs.unfinished & ~hit,
            where=rows,
            optional=True,
            event="runs under this law",
            text=f"zero loss with an error of $p*$ or more{words}",
            quantity="share of runs without zero loss or with a test error below p*, against 1 − δ",
        )

    return Promise(
        {
            **{
                f"error_at_{round(100 * share)}": missed(np.isin(runs.p_plus, share), f", $p₊ = {share:g}$")
                for share in SHARES
            },
            "error_elsewhere": missed(~np.isin(runs.p_plus, SHARES), ""),
        },
        details=lambda: {"cases": _sample_rows(runs, hit)},
        note="Runs that spend their budget count as runs that miss where that confirms less, and as hits where it "
        "refutes less.",
    )


def _sample_rows(runs: SampledNetworks, hit: np.ndarray) -> list[dict]:
    each: Any = runs.per("cell")
    hits, tried = runs.count(hit), runs.count(True)
    return rows(
        p_plus=each.p_plus,
        p_minus=each.p_minus,
        delta=each.delta,
        samples=2 * each.per_class,
        fewer_than=each.fewer_than,
        runs=tried,
        zero_loss=runs.count(runs.zero_loss),
        frequency=[count / n if n else None for count, n in zip(hits, tried, strict=True)],
        proved=each.proved,
        interval=map(clopper_pearson, hits.tolist(), tried.tolist()),
    )


@claim("brutzkus2019.section_6_3_examples", Kind.STEP, "examples after Theorem 6.5, Section 6.3",
       draws=printed_examples, given=[delta], title="The sample numbers of the two printed examples")  # fmt: skip
def section_6_3_examples(examples: Examples, *, bound: Bound = samples_of_small_network) -> Promise:
    """For $p₊ = p₋ = 0.98$, $δ ≤ 0.05$, $ε < 0.005$: $m_1 ≤ 2$ and $m_2 ≥ 129$. For $p₊ = p₋ = 0.92$, $δ = 0.16$,
    $ε < 0.02$: $m_1 ≤ 2$ and $m_2 ≥ 17$. For $p₊, p₋ ≤ 0.7$ the bound guarantees no gap.

    The formula gives the printed numbers; up to 0.7 it gives fewer than the two samples of the wide network.
    """
    bounds = per_setting(bound, examples.share, examples.share, examples.delta)
    other = examples.per("cell").without_gap
    small = per_setting(bound, other, other, per_setting(smallest_delta, other, other))

    def numbers() -> dict:
        columns = {
            "share": examples.share,
            "delta": examples.delta,
            "smallest_delta": examples.smallest_delta_of_120,
            "bound": bounds,
            "claimed": examples.claimed.astype(int),
            "largest_error": examples.largest_error,
            "p_star": examples.smallest_hard_share,
        }
        return {"examples": rows(**columns), "largest_bound_without_gap": float(small.max(initial=-math.inf))}

    return Promise(
        {
            "at_least_printed": at_least(
                bounds,
                examples.claimed,
                trivial=0.0,
                text="$m_2$ is at least the printed number",
                quantity="samples below which a narrow network fails",
            ),
            "as_printed": equal(np.floor(bounds), examples.claimed, text="$m_2$ rounded down is the printed number"),
            "hard_share": equal(
                examples.smallest_hard_share,
                examples.largest_error,
                room=ROUNDING,
                text="$p*$ is the printed limit of $ε$",
            ),
            "no_gap": less_than(small, 2, text="no gap up to $0.7$", quantity="m_2 against m_1 = 2"),
        },
        details=numbers,
        note="129 belongs to δ = 0.05; the smallest δ that the text allows for p = 0.98 gives 135.2, so 129 is right "
        "there too.",
    )
