"""What one step does to the units that capture a point, and to the others: Eqs. 11 and 14 to 18, Lemmas 18 and 19."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_most, claim, pick
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, STEP
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.starts import (
    conditions,
    pairs_of_one_cluster,
    pairs_of_opposite_classes,
    products_at_least_zero,
    rows_of,
    runs_of,
    starts_on,
)
from widenet.papers.chatterji2021.cluster_formulas import (
    bandwidth,
    capture_level,
    captured_and_active,
    captured_mean,
    captured_share,
    first_step_size,
    initial_deviation,
    lifted_bound,
    rest_bound,
    rest_height,
    window_share,
)
from widenet.papers.chatterji2021.runs.first_steps import (
    FirstSteps,
    FirstStepSetting,
    centre_settings,
    first_steps,
    rest_settings,
    step_settings,
)
from widenet.records import Scale

OF_SAMPLING = 5.0
"""Standard errors that a mean over runs may be away from its expectation."""


def joined(cells: Sequence[FirstSteps], values: Sequence[np.ndarray]) -> np.ndarray:
    """One flat array for all cells."""
    return np.concatenate(
        [np.broadcast_to(each, cell.helpful.shape).ravel() for cell, each in zip(cells, values, strict=True)]
    )


@claim("chatterji2021.equation_11", Kind.STEP, "Eq. 11, Section 4.2", reads=first_steps.at(step_settings))
def equation_11(cells: Sequence[FirstSteps], *, most: float = 1.0, least: float = 3.0) -> Evidence:
    """One step from any start changes v_i·x_s by at most α_0; so a unit that captures x_s (v_i·x_s ≥ h + 4α_0) is at
    h + 3α_0 or above after it, and φ(v_i·x_s) = v_i·x_s − h/2 there.

    `most` and `least`, in units of α_0, are for controls.
    """
    steps = joined(cells, [np.array(cell.step) for cell in cells])
    captured = joined(cells, [np.isfinite(cell.lowest) for cell in cells])
    return evidence(
        {
            "v_i·x_s moves by at most α_0": Sides(
                joined(cells, [cell.shift for cell in cells]), most * steps, room=STEP * steps
            ),
            "a captured unit stays at h + 3α_0 or above": Sides(
                joined(cells, [cell.lowest for cell in cells]),
                joined(cells, [np.array(cell.bandwidth + least * cell.step) for cell in cells]),
                Sense.AT_LEAST, room=STEP * steps, scored=captured,
            ),
            "φ = z − h/2 there": Sides(
                joined(cells, [cell.bent for cell in cells]), 0.0, room=IDENTITY
            ),
        },
        (*pick(conditions(cells), "unit_inputs"), products_at_least_zero(cells)),
        runs=runs_of(cells),
        note=noted(cells),
        details=rows_of(cells, largest=lambda cell: float(cell.shift.max()) / cell.step),
    )  # fmt: skip


@claim("chatterji2021.equation_16", Kind.STEP, "Eqs. 15 and 16, Section 4.2; and the display for I_−",
       reads=first_steps.at(step_settings))  # fmt: skip
def equation_16(
    cells: Sequence[FirstSteps], *, more: float = 0.0, own: float = 1.0, harmful_own: float = 1.0
) -> Evidence:
    """After one step Σ φ over I_+s is at least pχ + (α_0/n)(Ξ_1 − Ξ_2) − 2 wherever part 1 of Lemma 15 holds at s, and
    over I_−s at most pχ − (α_0/n)(Ξ_1 − Ξ_2) + 2 with the sums over I_−s: −1 − h|I_+s|/2 and +1 do. Without the noise
    of the start: Σ φ − Σ v_i·x_s + h|I|/2 is at least (α_0/n)(Ξ_1 − Ξ_2), or at most minus that.

    The constants are for controls: `more` is added to pχ, the others multiply Ξ_1.
    """
    gain, loss, lifted, lowered, mean = [], [], [], [], []
    for cell in cells:
        share = cell.step / cell.n_points
        gain.append(share * (own * cell.own_pull - cell.other_pull))
        loss.append(share * (harmful_own * cell.harmful_own_pull - cell.harmful_other_pull))
        lifted.append(cell.helpful_after - cell.helpful_sum + cell.bandwidth * cell.helpful / 2)
        lowered.append(cell.harmful_after - cell.harmful_sum + cell.bandwidth * cell.harmful / 2)
        mean.append(np.array(cell.half_width * captured_mean(cell.level, cell.deviation)))
    sums = [cell.helpful_sum for cell in cells], [cell.harmful_sum for cell in cells]
    good = joined(cells, [at >= chi - 1 for at, chi in zip(sums[0], mean, strict=True)])
    harmless = joined(cells, [at <= chi + 1 for at, chi in zip(sums[1], mean, strict=True)])
    up, down, chi = joined(cells, gain), joined(cells, loss), joined(cells, mean)
    half = joined(cells, [cell.bandwidth * cell.helpful / 2 for cell in cells])
    size = IDENTITY * (1 + joined(cells, [np.abs(at) for at in sums[0]]))
    harmful_size = IDENTITY * (1 + joined(cells, [np.abs(at) for at in sums[1]]))
    return evidence(
        {
            "I_+s rises by (α_0/n)(Ξ_1 − Ξ_2)": Sides(joined(cells, lifted), up, Sense.AT_LEAST, room=size),
            "I_−s falls by (α_0/n)(Ξ_1 − Ξ_2)": Sides(joined(cells, lowered), -down, room=harmful_size),
            "Σ φ over I_+s, with pχ": Sides(
                joined(cells, [cell.helpful_after for cell in cells]), chi + more + up - 1 - half,
                Sense.AT_LEAST, room=size, scored=good,
            ),
            "Σ φ over I_−s, with pχ": Sides(
                joined(cells, [cell.harmful_after for cell in cells]), chi + more - down + 1,
                room=harmful_size, scored=harmless,
            ),
        },
        (*pick(conditions(cells), "unit_inputs"), products_at_least_zero(cells), pairs_of_one_cluster(cells)),
        runs=runs_of(cells),
        note=noted(cells),
        details=rows_of(cells),
    )  # fmt: skip


@claim(
    "chatterji2021.equations_17_18", Kind.TREND, "Eqs. 17 and 18, Section 4.2", reads=first_steps.at(centre_settings)
)
def equations_17_18(cells: Sequence[FirstSteps], *, own: float = 1 / 16, other: float = 1 / 24) -> Evidence:
    """On a good run Ξ_1 ≥ (1/16)(1 − c(√r + ε) − o(1))np and Ξ_2 ≤ (1/24)(1 + c(Δ + r + ε) + o(1))np. On the centres of
    XOR they are ζnp/8 and P[Z_1 ≥ h + 4α_0, Z_2 ≥ 0]·np/8 on average, and grow towards np/16 and np/24.
    """
    sizes = [cell.n_points * cell.half_width for cell in cells]
    shares = np.array([captured_share(cell.level, cell.deviation) / 8 for cell in cells])
    others = [captured_and_active(cell.level, cell.deviation, np.array([0.5]))[0] / 8 for cell in cells]
    firsts = [cell.own_pull.mean(axis=1) / size for cell, size in zip(cells, sizes, strict=True)]
    seconds = [cell.other_pull.mean(axis=1) / size for cell, size in zip(cells, sizes, strict=True)]
    return evidence(
        {
            "Ξ_1/(np) is ζ/8": _mean_is(firsts, shares),
            "Ξ_2/(np) is P/8": _mean_is(seconds, np.array(others)),
            "Ξ_1/(np) grows towards 1/16": _grows(firsts, own),
            "Ξ_2/(np) grows towards 1/24": _grows(seconds, other),
        },
        (*conditions(cells), centres_of_xor(cells)),
        runs=runs_of(cells),
        details=rows_of(cells) | {"own": [each.mean() for each in firsts], "other": [each.mean() for each in seconds]},
    )


def _mean_is(values: Sequence[np.ndarray], expected: np.ndarray) -> Sides:
    means = [each.mean() for each in values]
    errors = [OF_SAMPLING * each.std(ddof=1) / len(each) ** 0.5 for each in values]
    return Sides(means, expected, Sense.EQUAL, room=errors)


def _grows(values: Sequence[np.ndarray], goal: float) -> Fact:
    """Each width comes closer to the goal, from below, and the widest is within two fifths of it."""
    means = [float(each.mean()) for each in values]
    closer = all(early < late < goal for early, late in itertools.pairwise(means))
    return Fact(closer and means[-1] > 0.6 * goal)


def centres_of_xor(cells: Sequence[FirstSteps]) -> Hypothesis:
    """Four points with the inner products of the centres of XOR."""
    wanted = np.array([[2, 0, 1, 1], [0, 2, 1, 1], [1, 1, 2, 0], [1, 1, 0, 2]]) / 2
    gaps = [np.abs(cell.products - wanted).max() if cell.products.shape == (4, 4) else np.inf for cell in cells]
    return at_most("centres", "largest distance of x_s·x_q from those of XOR", max(gaps), 0, tolerance=STEP)


@claim("chatterji2021.lemma_18", Kind.TREND, "Lemma 18 (Eqs. 12 and 13; the second display is over I_−)",
       reads=first_steps.at(centre_settings))  # fmt: skip
def lemma_18(cells: Sequence[FirstSteps]) -> Evidence:
    """On a good run Σ φ over I_+s is at least pχ + (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) − 2 after one step, and over
    I_−s at most pχ − (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) + 2.

    With the bracket read as 1; what I_+s gains beyond the noise of the start, over α_0p, grows towards 1/48 on the
    centres of XOR.
    """
    bounds = [
        [
            np.array(lifted_bound(cell.half_width, captured_mean(cell.level, cell.deviation), cell.step, sign))
            for cell in cells
        ]
        for sign in (1, -1)
    ]
    gains = [
        (cell.helpful_after - cell.helpful_sum + cell.bandwidth * cell.helpful / 2).mean(axis=1)
        / (cell.step * cell.half_width)
        for cell in cells
    ]
    return evidence(
        {
            "Σ φ over I_+s, the bracket read as 1": Sides(
                joined(cells, [cell.helpful_after for cell in cells]), joined(cells, bounds[0]), Sense.AT_LEAST
            ),
            "Σ φ over I_−s, the bracket read as 1": Sides(
                joined(cells, [cell.harmful_after for cell in cells]), joined(cells, bounds[1])
            ),
            "the gain of I_+s over α_0p grows towards 1/48": _grows(gains, 1 / 48),
        },
        (*conditions(cells), centres_of_xor(cells)),
        runs=runs_of(cells),
        details=rows_of(cells) | {"gains": [each.mean() for each in gains]},
    )


@dataclass(frozen=True, eq=False)
class ExpectedSums:
    """Σ φ over I_+s − pχ after one step on the centres of XOR, expected, over α_0p; and what the second display says.

    `widths` are p; the spread of the sum over starts is far below 1, and α_0p is p^(1/2−β).
    """

    widths: Float[np.ndarray, " width"]
    sums: Float[np.ndarray, " width"]
    bounds: Float[np.ndarray, " width"]


def expected_sums(*widths: float, beta: float = 0.25) -> ExpectedSums:
    """With g_0 = 1/2: (ζ − P[Z_1 ≥ a, Z_2 ≥ 0])/8 − hζ/(2α_0) against −1/48 + 2/(α_0p)."""
    sums, bounds = [], []
    for p in widths:
        level, deviation = capture_level(p, beta, "sec4"), initial_deviation(p, beta, "sec4")
        step, share = first_step_size(p, beta, "sec4"), captured_share(level, deviation)
        both = float(captured_and_active(level, deviation, np.array([0.5]))[0])
        sums.append((share - both) / 8 - bandwidth(p) * share / (2 * step))
        bounds.append(-1 / 48 + 2 / (step * p))
    return ExpectedSums(np.array(widths), np.array(sums), np.array(bounds))


def draw_expected(scale: Scale, seed: int) -> ExpectedSums:
    """Widths at which 2 is nothing beside α_0p, and o(1) is small."""
    return expected_sums(1e20, 1e30, 1e40)


@claim("chatterji2021.lemma_18_as_printed", Kind.STEP, "Lemma 18, second display", draws=draw_expected)
def lemma_18_as_printed(found: ExpectedSums) -> Evidence:
    """On a good run Σ φ(v_i^(1)·x_s) over i ∈ I_+ is at most pχ − (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) + 2."""
    return evidence(
        {"(Σ φ over I_+s − pχ)/(α_0p)": Sides(found.sums, found.bounds)},
        details={"half_width": found.widths, "scaling": "sec4", "beta": 0.25},
        note="The sum over I_+ rises; the display is true over I_−, and its proof and Eq. 13 say so.",
    )


@claim("chatterji2021.lemma_19", Kind.STEP, "Lemma 19 (Eq. 14)", reads=first_steps.at(rest_settings))
def lemma_19(cells: Sequence[FirstSteps]) -> Evidence:
    """After one step Σ φ(v_i·x_s) over the harmful units that do not capture x_s is at most h + 4.5α_0 + 2α_0(Δ + r)
    for each unit of part 6 of Lemma 15; so where part 6 holds it is at most (√2/(σ√π))(h + 5α_0(2 + Δ + r))²p.
    """
    rest = joined(cells, [cell.rest_harmful for cell in cells])
    heights = [cell.window * rest_height(cell.half_width, cell.step, cell.overlap, cell.radius) for cell in cells]
    limits = [
        np.array(rest_bound(cell.half_width, cell.step, cell.deviation, cell.overlap, cell.radius)) for cell in cells
    ]
    counts = [
        cell.window
        <= cell.half_width * window_share(cell.half_width, cell.step, cell.deviation, cell.overlap, cell.radius)
        for cell in cells
    ]
    return evidence(
        {
            "step (iv): per unit of the window": Sides(rest, joined(cells, heights), room=IDENTITY),
            "Eq. 14": Sides(rest, joined(cells, limits), room=IDENTITY, scored=joined(cells, counts)),
        },
        (*pick(conditions(cells), "unit_inputs"), products_at_least_zero(cells), pairs_of_opposite_classes(cells)),
        runs=runs_of(cells),
        note=noted(cells),
        details=rows_of(cells),
    )


@equation_11.speaks
@equation_16.speaks
@lemma_19.speaks
def lifted_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """Random starts on the reader's data."""
    return starts_on(specimen)
