"""Theorem 6.5: two samples are enough for a wide network, and many are not enough for a narrow one.

The law of points is that of the paper's examples: fair labels, diverse with probabilities p₊ and p₋, otherwise one of
the sets A_1, …, A_4 that a narrow network gets wrong. Both halves are about an exact number of samples: "given 2
samples", "given fewer than m_2". The theorem does not say that a wide network learns from every larger sample, and with
16 samples of the second example it often does not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Kind, Runs, claim
from widenet.claims.cases import Cases, column, derived
from widenet.claims.implication import Promise, at_least, equal, less_than
from widenet.claims.sides import Fact, Rate
from widenet.claims.statistics import clopper_pearson, fails_at_most, matches_rate
from widenet.claims.tolerances import BY_CHANCE, ROUNDING
from widenet.papers.brutzkus2019.claims.failure_rates import per_setting
from widenet.papers.brutzkus2019.formulas import (
    ERROR_SHARE,
    LARGEST_STEP,
    SMALLEST_MARGIN,
    SMALLEST_WIDTH,
    c_value,
    samples_of_small_network,
    smallest_delta,
    steps_of_theorem_6_3,
)
from widenet.papers.brutzkus2019.hypotheses import FEW_SAMPLES, TWO_SAMPLES, FromGaussian, XordNetworks, delta
from widenet.papers.brutzkus2019.runs.samples import Samples, SampleSetting, samples
from widenet.papers.brutzkus2019.runs.trained import corner_settings, trained
from widenet.papers.brutzkus2019.sources import Law
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

    def with_error(self, error: np.ndarray | float) -> np.ndarray:
        """Zero loss, and a test error of at least this much; it is a sum of probabilities, of which p* is one."""
        return self.zero_loss & (self.test_error >= error * (1 - ROUNDING))


@claim("brutzkus2019.theorem_6_5_large_network", Kind.MAIN, "Theorem 6.5, m_1 ≤ 2, Section 6.3; read as in footnote 9",
       reads=(trained.at(corner_settings), samples.at(pair_settings), samples.at(sixteen_settings)), given=TWO_SAMPLES,
       title="Wide networks learn XORD from two samples")  # fmt: skip
def theorem_6_5_large_network(runs: DiversePair, drawn: SampledNetworks, more: SampledNetworks) -> Promise:
    """Sample complexity, wide: let a positive point be diverse with probability p₊ and a negative one with p₋. For
    δ ≥ 1 − p₊p₋(1 − c − 16e⁻⁸), c = √(2k/π)e^{−8k}, and any ε ≥ 0, a network with k ≥ 120 reaches a global
    minimum with test error at most ε from exactly 2 samples, one of each class, with probability at least 1 − δ.

    P[no test error from two samples] ≥ p₊p₋·P[f* is recovered from a diverse pair] ≥ 1 − δ. The second factor is
    measured on a diverse pair and on those pairs drawn from the law that are diverse; the first, and the whole, on all
    drawn pairs. Few of them cannot confirm a δ this close to what fails, but could refute it. A control has narrow
    networks.
    """
    laws, pairs = runs.per("cell"), drawn.per("cell")
    counted = [table.counts() for table in (runs, drawn)]
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
        runs=Runs(**{how: sum(each[how] for each in counted) for how in counted[0]}),
        details=lambda: _two_samples(runs, drawn, more),
        note=lambda: _about_two_samples(drawn, more),
    )


def _two_samples(runs: DiversePair, drawn: SampledNetworks, more: SampledNetworks) -> dict:
    """What was drawn, and the laws that are asked about."""
    (networks,), shown = runs.cells, [_shown(each) for each in more.cells]
    return {
        "drawn_pairs": [_pair_row(each) for each in drawn.cells],
        "laws": [
            {
                "p_plus": law.diverse_positive,
                "p_minus": law.diverse_negative,
                "delta": law.delta,
                "allowed_on_a_diverse_pair": share,
            }
            for law, share in zip(networks.laws, networks.allowed, strict=True)
        ],
        **networks.summary(),
        **({"more_samples": shown[0]} if shown else {}),
    }


def _about_two_samples(drawn: SampledNetworks, more: SampledNetworks) -> str:
    rows, shown = ([make(each) for each in table.cells] for make, table in ((_pair_row, drawn), (_shown, more)))
    of_pairs = "".join(
        f"Of {row['runs']} pairs drawn at p₊ = p₋ = {row['p_plus']:.2f}, {row['diverse']} are diverse, and "
        f"{row['learned']} lead to zero loss without test error. "
        for row in rows
    )
    of_more = "".join(
        f": with {each['samples']} samples, {each['with_error']} of {each['zero_loss']} wide networks at zero loss "
        f"had a test error of p* or more (k = {each['half_width']}, c_η = {each['step_constant']:.3g}, γ = "
        f"{each['required_margin']:g}, p₊ = {each['p_plus']:.2f})"
        for each in shown
    )
    return (
        f"About exactly two samples, one of each class. {of_pairs}It does not follow that more samples are enough"
        f"{of_more}."
    )


def _pair_row(case: SampledNetworks) -> dict:
    """How many drawn pairs are diverse, how many lead to no error, and what that says about p₊p₋ and about δ."""
    return {
        "p_plus": case.p_plus,
        "p_minus": case.p_minus,
        "delta": case.delta,
        "runs": len(case),
        "diverse": int(case.diverse.sum()),
        "learned": int(case.learned.sum()),
        "p_value": case.p_value,
        "refuted": case.refuted,
    }


def _shown(case: SampledNetworks) -> dict:
    return {
        "samples": 2 * case.per_class,
        "p_plus": case.p_plus,
        "half_width": case.half_width,
        "step_constant": case.step_constant,
        "required_margin": case.required_margin,
        "runs": len(case),
        "zero_loss": int(case.zero_loss.sum()),
        "with_error": int(case.with_error(case.smallest_hard_share).sum()),
    }


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
    """Sample complexity, narrow: let a positive point be diverse with probability p₊ and a negative one with p₋,
    and let p* be the probability of the rarest of the pattern sets {2}, {4}, {1, 2, 4}, {2, 3, 4}. For any δ ≥ 1
    − p₊p₋(1 − c(120) − 16e⁻⁸), where a network with k ≥ 120 needs 2 samples, and any ε < p*: with fewer than
    2·ln(48δ/(33(1 − c(2))))/ln(p₊p₋) samples, half of each class, a network with k = 2 reaches a global minimum
    with test error at least p* > ε with probability greater than δ. Here c(k) = √(2k/π)e^{−8k}.

    A control asks for a larger error.
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
        details=lambda: {"cases": [_sample_row(cell, own) for cell, own in _by_cell(runs, hit)]},
        note="Runs that spend their budget count as runs that miss where that confirms less, and as hits where it "
        "refutes less.",
    )


def _by_cell(runs: SampledNetworks, hit: np.ndarray) -> list[tuple[SampledNetworks, np.ndarray]]:
    return [(cell, hit[runs.cell == place]) for place, cell in enumerate(runs.cells)]


def _sample_row(case: SampledNetworks, hit: np.ndarray) -> dict:
    count = int(hit.sum())
    return {
        "p_plus": case.p_plus,
        "p_minus": case.p_minus,
        "delta": case.delta,
        "samples": 2 * case.per_class,
        "fewer_than": case.fewer_than,
        "runs": len(hit),
        "zero_loss": int(case.zero_loss.sum()),
        "frequency": count / len(hit) if len(hit) else None,
        "proved": case.law.diverse_pair**case.per_class * ERROR_SHARE * (1 - c_value(2)),
        "interval": clopper_pearson(count, len(hit)),
    }


PerExample = Float[np.ndarray, " example"]


@dataclass(frozen=True, eq=False)
class Examples(Cases):
    """The examples with a gap, and shares p₊ = p₋ for which there should be none."""

    rows = "example"

    share: PerExample  #: p₊ = p₋
    delta: PerExample  #: δ
    smallest_hard_share: PerExample  #: p*
    largest_error: PerExample  #: the printed limit of ε
    claimed: PerExample  #: the printed number of samples
    without_gap: Float[np.ndarray, " other"]

    @column
    def smallest_delta_of_120(self) -> PerExample:
        """1 − p₊p₋(1 − c − 16e⁻⁸)."""
        return per_setting(smallest_delta, self.share, self.share)

    def counts(self) -> dict[str, int]:
        """Both kinds."""
        tried = sum(len(cell) + len(cell.without_gap) for cell in self.cells)
        return {"tried": tried, "diverged": 0, "unfinished": 0}


def as_examples(with_gap: tuple[Example, ...], without_gap: np.ndarray) -> Examples:
    """The numbers of these examples."""
    laws = [each.law for each in with_gap]
    columns = (
        [law.diverse_positive for law in laws],
        [law.delta for law in laws],
        [law.smallest_hard_share for law in laws],
        [each.largest_error for each in with_gap],
        [each.samples for each in with_gap],
    )
    return Examples(*(np.array(column, float) for column in columns), without_gap=without_gap)


def printed_examples(scale: Scale, seed: int) -> Examples:
    """Those of Section 6.3, and shares up to 0.7."""
    return as_examples(EXAMPLES, np.linspace(0.05, 0.7, 66))


@claim("brutzkus2019.section_6_3_examples", Kind.STEP, "examples after Theorem 6.5, Section 6.3",
       draws=printed_examples, given=[delta], title="The sample numbers of the two printed examples")  # fmt: skip
def section_6_3_examples(examples: Examples, *, bound: Bound = samples_of_small_network) -> Promise:
    """p₊ = p₋ = 0.98, δ ≤ 0.05, ε < 0.005: m_1 ≤ 2 and m_2 ≥ 129. p₊ = p₋ = 0.92, δ = 0.16, ε < 0.02: m_1 ≤ 2 and
    m_2 ≥ 17. For p₊, p₋ ≤ 0.7 the bound guarantees no gap.

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
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"examples": rows, "largest_bound_without_gap": float(small.max(initial=-math.inf))}

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
