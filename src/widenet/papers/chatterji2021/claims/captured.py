"""Lemma 15, parts 1, 2, 3 and 5: how many units capture a point at the start, and how the network answers there."""

import math
from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Silence, claim, pick
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.starts import (
    SURENESS,
    Seldom,
    conditions,
    over_cells,
    pairs_of_opposite_classes,
    rows_of,
    runs_of,
    starts_on,
)
from widenet.papers.chatterji2021.cluster_formulas import (
    LEVEL,
    capture_loss,
    captured_deviation,
    captured_mean,
    captured_share,
    captured_sum_tail,
    first_output_deviation,
    opposite_share,
    pull_failure,
    pull_slack,
    tight_slack,
)
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, FirstStepSetting, first_steps
from widenet.papers.chatterji2021.runs.start_draws import StartDraws, output_settings, start_draws
from widenet.records import Scale

NEEDED = ("unit_inputs", "bandwidth")
SPREAD = 0.0325
"""How far a measured deviation of f_0, times p^(β/2), may be from the exact one: some three standard errors."""


@claim("chatterji2021.lemma_15_1", Kind.STEP, "Lemma 15, part 1; Appendix D.1", reads=first_steps)
def lemma_15_1(cells: Sequence[FirstSteps]) -> Evidence:
    """With high probability over V^(0), for every s: Σ v_i·x_s over I_+s is at least pχ − 1, and over I_−s at most
    pχ + 1, with χ = E[Z; Z ≥ h + 4α_0], Z ~ N(0, σ²).

    The paper leaves the constant of the probability open; δ here is n times Chernoff's bound, each side by itself.
    """
    return evidence(
        {
            "the sum over I_+s is at least pχ − 1": over_cells(cells, helpful_sums),
            "the sum over I_−s is at most pχ + 1": over_cells(cells, harmful_sums),
        },
        pick(conditions(cells), *NEEDED),
        runs=runs_of(cells),
        details=rows_of(cells, mean=_mean, spread=_spread),
        note=noted(cells, SURENESS),
    )


def _mean(cell: FirstSteps) -> float:
    return cell.half_width * captured_mean(cell.level, cell.deviation)


def _spread(cell: FirstSteps) -> float:
    """The standard deviation of a sum; a normal law with it would fail less often than Chernoff's bound allows."""
    return captured_deviation(cell.level, cell.deviation, cell.half_width)


def helpful_sums(cell: FirstSteps) -> Seldom:
    """Σ v_i·x_s over I_+s, at the point where it is smallest."""
    sides = Sides(cell.helpful_sum.min(axis=1), _mean(cell) - 1, Sense.AT_LEAST, trivial=0.0)
    return Seldom(sides, _sum_failure(cell, -1))


def harmful_sums(cell: FirstSteps) -> Seldom:
    """Σ v_i·x_s over I_−s, at the point where it is largest."""
    return Seldom(Sides(cell.harmful_sum.max(axis=1), _mean(cell) + 1), _sum_failure(cell, 1))


def _sum_failure(cell: FirstSteps, side: int) -> float:
    return cell.n_points * math.exp(captured_sum_tail(cell.level, cell.deviation, cell.half_width, side))


@claim("chatterji2021.lemma_15_2", Kind.STEP, "Lemma 15, part 2; Appendix D.2", reads=first_steps)
def lemma_15_2(cells: Sequence[FirstSteps]) -> Evidence:
    """With high probability |I_+s| and |I_−s| are (1/2 ∓ o(1))p for every s: within p√(log(4n/δ)/(2p)) of ζp with
    probability 1 − δ, δ = 0.01, and 1/2 − ζ ≤ (h + 4α_0)/(σ√(2π)).

    The paper has the slack p^(3/4) in place of the first; that is weaker at every width here.
    """
    shares = [captured_share(cell.level, cell.deviation) for cell in cells]
    losses = [capture_loss(cell.level, cell.deviation) for cell in cells]
    return evidence(
        {
            "|I_+s| is at least p(ζ − slack)": over_cells(cells, lambda cell: few_captured(cell, cell.helpful)),
            "|I_+s| is at most p(ζ + slack)": over_cells(cells, lambda cell: many_captured(cell, cell.helpful)),
            "|I_−s| is at least p(ζ − slack)": over_cells(cells, lambda cell: few_captured(cell, cell.harmful)),
            "|I_−s| is at most p(ζ + slack)": over_cells(cells, lambda cell: many_captured(cell, cell.harmful)),
            "1/2 − ζ ≤ a/(σ√(2π))": Sides(0.5 - np.array(shares), losses),
        },
        pick(conditions(cells), *NEEDED),
        runs=runs_of(cells),
        details=rows_of(cells, share=lambda cell: captured_share(cell.level, cell.deviation), slack=_slack),
        note=noted(cells, SURENESS),
    )


def _slack(cell: FirstSteps) -> float:
    return tight_slack(cell.half_width, 4 * cell.n_points)


def few_captured(cell: FirstSteps, counts: np.ndarray) -> Seldom:
    """The smallest count of captured units."""
    bound = cell.half_width * (captured_share(cell.level, cell.deviation) - _slack(cell))
    return Seldom(Sides(counts.min(axis=1), bound, Sense.AT_LEAST, trivial=0.0), LEVEL / 4)


def many_captured(cell: FirstSteps, counts: np.ndarray) -> Seldom:
    """The largest count of captured units."""
    bound = cell.half_width * (captured_share(cell.level, cell.deviation) + _slack(cell))
    return Seldom(Sides(counts.max(axis=1), bound, trivial=cell.half_width), LEVEL / 4)


@claim("chatterji2021.lemma_15_3", Kind.STEP, "Lemma 15, part 3; Appendix D.3",
       reads=(first_steps, start_draws.at(output_settings)))  # fmt: skip
def lemma_15_3(cells: Sequence[FirstSteps], drawn: Sequence[StartDraws]) -> Evidence:
    """With high probability |g_0s − 1/2| = o(1) for every s: at most p^(−β/4), with probability at least
    1 − 2n exp(−p^(β/2)/4); the standard deviation of f_0(x) is 0.8074 p^(−β/2) at p = 1000, β = 1/4.

    The bound says nothing before p is very large, so the law of f_0, which is exact, is what is tested.
    """
    scaled = np.array([each.half_width ** (each.beta / 2) for each in drawn])
    exact = [first_output_deviation(each.half_width, each.beta, each.scaling) for each in drawn]
    return evidence(
        {
            "g_0s is at most 1/2 + p^(−β/4)": over_cells(cells, pulls_above),
            "g_0s is at least 1/2 − p^(−β/4)": over_cells(cells, pulls_below),
            "the deviation of f_0, times p^(β/2)": Sides(
                scaled * [each.outputs.std() for each in drawn], scaled * exact, Sense.EQUAL, room=SPREAD
            ),
        },
        pick(conditions(cells), *NEEDED),
        runs=runs_of(cells),
        details=rows_of(cells, largest=lambda cell: float(np.abs(cell.pulls - 0.5).max())),
        note=noted(cells, SURENESS),
    )


def pulls_above(cell: FirstSteps) -> Seldom:
    """The largest g_0s."""
    sides = Sides(cell.pulls.max(axis=1), 0.5 + pull_slack(cell.half_width, cell.beta), trivial=1.0)
    return Seldom(sides, _pull_failure(cell))


def pulls_below(cell: FirstSteps) -> Seldom:
    """The smallest g_0s."""
    low = 0.5 - pull_slack(cell.half_width, cell.beta)
    return Seldom(Sides(cell.pulls.min(axis=1), low, Sense.AT_LEAST, trivial=0.0), _pull_failure(cell))


def _pull_failure(cell: FirstSteps) -> float:
    return pull_failure(cell.half_width, cell.beta, cell.n_points, cell.scaling)


@claim("chatterji2021.lemma_15_5", Kind.STEP, "Lemma 15, part 5; Appendix D.5", reads=first_steps)
def lemma_15_5(cells: Sequence[FirstSteps]) -> Evidence:
    """With high probability, for all s, q of opposite classes, at most (1/3 + Δ/4 + r + o(1))p units of I_+s, and of
    I_−s, have v_i·x_q ≥ 0; the o(1) is √(log(n²/δ)/(2p)) with probability 1 − δ, δ = 0.01.

    The o(1) of the paper, p^(−1/4), is weaker, so much that its bound exceeds |I_±s| in the settings here.
    """
    return evidence(
        {
            "units of I_+s with v_i·x_q ≥ 0": over_cells(cells, lambda cell: touched(cell, helpful=True)),
            "units of I_−s with v_i·x_q ≥ 0": over_cells(cells, lambda cell: touched(cell, helpful=False)),
        },
        (*pick(conditions(cells), *NEEDED), pairs_of_opposite_classes(cells)),
        runs=runs_of(cells),
        details=rows_of(cells, share=lambda cell: opposite_share(cell.overlap, cell.radius)),
        note=noted(cells, SURENESS),
    )


def touched(cell: FirstSteps, *, helpful: bool) -> Seldom:
    """Units that capture s and are active on q, for the pair of opposite classes with most of them."""
    pairs, captured = (cell.helpful_touched, cell.helpful) if helpful else (cell.harmful_touched, cell.harmful)
    most = np.where(cell.opposite, pairs, 0).max(axis=(1, 2))
    slack = tight_slack(cell.half_width, cell.n_points**2)
    bound = cell.half_width * (opposite_share(cell.overlap, cell.radius) + slack)
    # No count of I_±s exceeds its size: a bound above that says nothing.
    return Seldom(Sides(most, bound, trivial=captured.max(axis=1)), LEVEL / 2)


@lemma_15_1.speaks
@lemma_15_2.speaks
@lemma_15_5.speaks
def captured_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """Random starts on the reader's data."""
    return starts_on(specimen)


@lemma_15_3.speaks
def pulls_on(specimen: Specimen) -> tuple[list, list] | Silence:
    """The same; the law of f_0 does not depend on the data."""
    settings = starts_on(specimen)
    return (
        settings if isinstance(settings, Silence) else (settings, output_settings(Scale.QUICK, specimen.choices.seed))
    )
