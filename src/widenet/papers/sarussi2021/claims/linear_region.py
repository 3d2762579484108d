"""Theorem 5.1 and its proof (Section 10): two balls of neurons make the network a linear classifier outside a cone.

r is the larger of the radii of the two balls, w̄ and ū their centres. Pairs whose signs rounding decides are not scored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_most, claim, less_than, more_than, normalized
from widenet.claims.meaning import Topic
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.formulas import sharp_factor
from widenet.papers.sarussi2021.runs.clouds import SLOPES, Clouds, CloudSetting, ask, clouds
from widenet.papers.sarussi2021.settings import OwnPoints, SignedNetwork, turning_point
from widenet.papers.sarussi2021.specimens import epochs_allowed, silence_over_training
from widenet.records import Scale

OPEN = 1.0001
"""By how much the balls are widened where a lemma needs open ones."""


def joined(cells: Sequence[Clouds]) -> Clouds:
    """All pairs of all cells."""
    return Clouds.joined(list(cells))


def reach(pairs: Clouds, factor: float = 1.0) -> np.ndarray:
    """factor·r‖x‖, made larger by what rounding could take from it."""
    return factor * pairs.radius * pairs.norms * (1 + ROUNDING)


def signs_agree(pairs: Clouds, scored: np.ndarray) -> Fact:
    """Whether N has the sign of (w̄ − ū)·x; pairs in which rounding could turn either of them are not scored."""
    ties = (pairs.outputs == 0) & (pairs.difference == 0)
    blurred = np.abs(pairs.outputs) <= IDENTITY * pairs.scales
    # ‖w̄‖ + ‖ū‖ is at most Σ(‖w‖ + ‖u‖)/k. Beside rows across x the products are much shorter, and are rounding.
    blurred |= np.abs(pairs.difference) <= ROUNDING * pairs.scales / pairs.half_widths
    return Fact(np.sign(pairs.outputs) == np.sign(pairs.difference), scored=scored & ~(blurred & ~ties))


def balls(pairs: Clouds, *, widened: float = 1.0) -> tuple[Hypothesis, ...]:
    """Every row lies in its ball; 0 < α < 1."""
    distances = np.stack([pairs.plus_distance, pairs.minus_distance])
    radii = np.stack([pairs.radius, pairs.radius]) * widened
    with np.errstate(divide="ignore"):
        shares = np.divide(distances, radii, out=np.zeros_like(distances), where=distances > 0)
    return (
        normalized(
            at_most("balls", "largest distance of a row from its mean / r", shares.max(), 1, tolerance=ROUNDING),
            "r is the largest distance",
        ),
        more_than("slope_positive", "smallest Leaky slope α", pairs.slopes.min(), 0),
        less_than("slope_below_one", "largest Leaky slope α", pairs.slopes.max(), 1),
    )


@claim("sarussi2021.theorem_5_1", Kind.MAIN, "Theorem 5.1, Section 5", reads=clouds)
def theorem_5_1(cells: Sequence[Clouds], *, factor: float = 2.0) -> Evidence:
    """If the neurons of each sign lie in a ball of radius r around their means w̄ and ū, then N(x) has the sign of
    (w̄ − ū)·x for every x with |(w̄ − ū)·x| ≥ 2r‖x‖.

    Every network is also asked about the worst point that a search found. `closest_disagreement` in the details is the
    largest |(w̄ − ū)·x|/(r‖x‖) at which the two signs differed.
    """
    pairs = joined(cells)
    inside = np.abs(pairs.difference) >= reach(pairs, factor)
    return evidence(
        {"sign N = sign (w̄ − ū)·x where |(w̄ − ū)·x| ≥ 2r‖x‖": signs_agree(pairs, inside)},
        balls(pairs),
        details={"pairs": len(pairs), "in_the_region": int(inside.sum()), **_gap(pairs)},
    )


def _gap(pairs: Clouds) -> dict[str, float]:
    differ = (np.sign(pairs.outputs) != np.sign(pairs.difference)) & (pairs.radius * pairs.norms > 0)
    gaps = np.abs(pairs.difference[differ]) / (pairs.radius * pairs.norms)[differ]
    return {"closest_disagreement": float(gaps.max())} if len(gaps) else {}


@claim("sarussi2021.theorem_5_1_sharp", Kind.STEP, "not in the paper; sharpens Theorem 5.1", reads=clouds)
def theorem_5_1_sharp(
    cells: Sequence[Clouds],
    *,
    factor: Callable[..., np.ndarray] = sharp_factor,
    shares: tuple[float, float] = (1.0, 1.0),
    swapped: bool = False,
) -> Evidence:
    """Theorem 5.1 holds with κ = (1 − α)/(1 + α) in place of 2, for odd k with
    κ_k = (k − 1)(1 − α)/(k(1 + α) − (1 − α)), and neither can be lowered. Only the spread of the other sign does harm:
    (w̄ − ū)·x > κr_u‖x‖ gives N > 0, and (w̄ − ū)·x < −κr_w‖x‖ gives N < 0.

    That they cannot be lowered is seen on networks whose sign turns at exactly this factor. `shares` of it
    (even and odd k), and `swapped`, which exchanges the two radii, are for controls.
    """
    pairs = joined(cells)
    factors = np.empty(len(pairs))
    for k in np.unique(pairs.half_widths):
        here = pairs.half_widths == k
        factors[here] = factor(pairs.slopes[here], int(k))
    even, tall = pairs.half_widths % 2 == 0, np.abs(pairs.difference) > factors * reach(pairs)
    own = (pairs.plus_radius, pairs.minus_radius) if swapped else (pairs.minus_radius, pairs.plus_radius)
    above = pairs.difference > factors * own[0] * pairs.norms * (1 + ROUNDING)
    below = -pairs.difference > factors * own[1] * pairs.norms * (1 + ROUNDING)
    return evidence(
        {
            "beyond κr‖x‖ the signs agree (even k)": signs_agree(pairs, tall & even),
            "beyond κ_k r‖x‖ the signs agree (odd k)": signs_agree(pairs, tall & ~even),
            "each side needs the radius of the other sign only": signs_agree(pairs, above | below),
            "κ cannot be lowered (even k)": _turns((2, 4), shares[0]),
            "κ_k cannot be lowered (odd k)": _turns((3, 7), shares[1]),
        },
        balls(pairs),
        details={"pairs": len(pairs)},
    )


def _turns(half_widths: Sequence[int], share: float) -> Sides:
    """Where the output of the sharp networks, which grows with (w̄ − ū)·x at r‖x‖ = 1, changes its sign."""
    turns, factors = [], []
    for slope in SLOPES:
        for k in half_widths:
            turns.append(turning_point(slope, k))
            factors.append(share * float(sharp_factor(slope, k)))
    return Sides(turns, factors, Sense.EQUAL, room=ROUNDING)


@claim("sarussi2021.equation_6", Kind.STEP, "Eq. 6, Section 5", reads=clouds)
def equation_6(cells: Sequence[Clouds], *, factors: tuple[float, float] = (2.0, 1.0)) -> Evidence:
    """N(x) has the sign of (w̄ − ū)·x wherever |cos∠(x, w̄ − ū)| ≥ 2r/‖w̄ − ū‖, which is Theorem 5.1 divided by
    ‖w̄ − ū‖‖x‖; and also where it is at least r/‖w̄ − ū‖, as the paper prints it, because κ < 1.
    """
    pairs = joined(cells)
    lengths = pairs.differences * pairs.norms
    cosines = np.divide(np.abs(pairs.difference), lengths, out=np.zeros(len(pairs)), where=lengths > 0)
    ratios = np.divide(pairs.radius, pairs.differences, out=np.full(len(pairs), np.inf), where=pairs.differences > 0)
    parts = {}
    for name, factor in zip(("|cos| ≥ 2r/‖w̄ − ū‖", "|cos| ≥ r/‖w̄ − ū‖"), factors, strict=True):
        parts[name] = signs_agree(pairs, cosines >= factor * ratios * (1 + ROUNDING))
    apart = more_than("means_apart", "smallest ‖w̄ − ū‖", pairs.differences.min(), 0)
    return evidence(parts, (*balls(pairs), apart), details={"pairs": len(pairs)})


@claim("sarussi2021.corollary_10_1", Kind.STEP, "Corollary 10.1, Section 10", reads=clouds)
def corollary_10_1(cells: Sequence[Clouds], *, factor: float = 2.0) -> Evidence:
    """|(w̄ − ū)·x| ≥ 2r‖x‖ gives |w̄·x| ≥ r‖x‖ or |ū·x| ≥ r‖x‖."""
    pairs = joined(cells)
    larger = np.maximum(np.abs(pairs.plus_mean), np.abs(pairs.minus_mean))
    limit = pairs.radius * pairs.norms
    scored = (np.abs(pairs.difference) >= factor * limit) & (limit > 0)
    return evidence(
        {"the larger of |w̄·x|, |ū·x| is at least r‖x‖": Sides(
            larger, limit, Sense.AT_LEAST, room=ROUNDING * limit, scored=scored, trivial=0.0
        )},
        details={"pairs": len(pairs)},
    )  # fmt: skip


@claim("sarussi2021.lemma_10_1", Kind.STEP, "Lemma 10.1, Section 10, with open balls", reads=clouds)
def lemma_10_1(cells: Sequence[Clouds], *, widened: float = OPEN) -> Evidence:
    """If the rows of one sign lie in an open ball of radius r around their mean w̄, and |w̄·x| ≥ r‖x‖ with x ≠ 0, then
    all w·x have the same strict sign. In a closed ball, no two of them have strictly opposite signs.
    """
    pairs = joined(cells)
    parts = {}
    for name, sign in (("plus", "plus"), ("minus", "minus")):
        mean, low, high = (np.asarray(getattr(pairs, f"{sign}_{what}")) for what in ("mean", "low", "high"))
        inside = np.abs(mean) >= widened * pairs.radius * pairs.norms
        tiny = np.minimum(np.abs(low), np.abs(high)) <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
        parts[f"open ball: one strict sign ({name} rows)"] = Fact((low > 0) | (high < 0), scored=inside & ~tiny)
        closed = np.abs(mean) >= reach(pairs)
        parts[f"closed ball: no opposite signs ({name} rows)"] = Fact(~((low < 0) & (high > 0)), scored=closed & ~tiny)
    distances = np.maximum(pairs.plus_distance, pairs.minus_distance)
    shares = np.divide(distances, widened * pairs.radius, out=np.zeros(len(pairs)), where=distances > 0)
    return evidence(
        parts,
        (
            normalized(
                less_than("open_balls", "largest distance of a row from its mean / r", shares.max(), 1),
                "r is 1.0001 times the largest distance",
            ),
            more_than("not_zero", "smallest ‖x‖", pairs.norms.min(), 0),
        ),
        details={"pairs": len(pairs)},
    )


@claim("sarussi2021.proposition_10_1", Kind.STEP, "Proposition 10.1, Section 10", reads=clouds)
def proposition_10_1(cells: Sequence[Clouds]) -> Evidence:
    """|w̄·x| ≥ r‖x‖ and |ū·x| ≥ r‖x‖ give sign N(x) = sign (w̄ − ū)·x, whichever signs w̄·x and ū·x have."""
    pairs = joined(cells)
    edge = reach(pairs)
    both = (np.abs(pairs.plus_mean) >= edge) & (np.abs(pairs.minus_mean) >= edge)
    parts = {}
    for plus_name, plus_side in (("w̄·x > 0", pairs.plus_mean > 0), ("w̄·x < 0", pairs.plus_mean < 0)):
        for minus_name, minus_side in (("ū·x > 0", pairs.minus_mean > 0), ("ū·x < 0", pairs.minus_mean < 0)):
            parts[f"{plus_name}, {minus_name}"] = signs_agree(pairs, both & plus_side & minus_side)
    return evidence(parts, balls(pairs), details={"pairs": len(pairs)})


@claim("sarussi2021.proposition_10_2", Kind.STEP, "Proposition 10.2, Section 10", reads=clouds)
def proposition_10_2(cells: Sequence[Clouds], *, factor: float = 2.0) -> Evidence:
    """If exactly one of |w̄·x| ≥ r‖x‖, |ū·x| ≥ r‖x‖ holds and |(w̄ − ū)·x| ≥ 2r‖x‖, then sign N(x) = sign (w̄ − ū)·x."""
    pairs = joined(cells)
    edge, wide = reach(pairs), np.abs(pairs.difference) >= reach(pairs, factor)
    plus_in, minus_in = np.abs(pairs.plus_mean) < edge, np.abs(pairs.minus_mean) < edge
    return evidence(
        {
            "ū·x ≥ r‖x‖ alone": signs_agree(pairs, wide & plus_in & (pairs.minus_mean >= edge)),
            "ū·x ≤ −r‖x‖ alone": signs_agree(pairs, wide & plus_in & (pairs.minus_mean <= -edge)),
            "w̄·x ≥ r‖x‖ alone": signs_agree(pairs, wide & minus_in & (pairs.plus_mean >= edge)),
            "w̄·x ≤ −r‖x‖ alone": signs_agree(pairs, wide & minus_in & (pairs.plus_mean <= -edge)),
        },
        balls(pairs),
        details={"pairs": len(pairs)},
    )


@claim("sarussi2021.lemma_10_2", Kind.STEP, "Lemma 10.2, Section 10, in its case of Proposition 10.2", reads=clouds)
def lemma_10_2(cells: Sequence[Clouds], *, share: float = 1.0) -> Evidence:
    """If ū·x ≤ −r‖x‖ and |w̄·x| < r‖x‖, then −Σσ(w·x) < αkr‖x‖ and N(x) > 0; with the signs exchanged,
    −Σσ(u·x) < αkr‖x‖ and N(x) < 0.

    The paper prints the lemma inside this case, with the first inequality as its hypothesis, and proves it there.
    """
    pairs = joined(cells)
    edge = pairs.radius * pairs.norms
    limit = share * pairs.slopes * pairs.half_widths * edge
    parts = {}
    for near, far, sums, turn, names in (
        (pairs.plus_mean, pairs.minus_mean, pairs.plus_sum, 1.0, ("−Σσ(w·x) < αkr‖x‖", "N(x) > 0")),
        (pairs.minus_mean, pairs.plus_mean, pairs.minus_sum, -1.0, ("−Σσ(u·x) < αkr‖x‖", "N(x) < 0")),
    ):
        case = (far <= -edge) & (np.abs(near) < edge * (1 - ROUNDING))
        parts[names[0]] = Sides(-sums, limit, strict=True, scored=case)
        blurred = np.abs(pairs.outputs) <= IDENTITY * pairs.scales
        parts[names[1]] = Fact(np.sign(pairs.outputs) == turn, scored=case & ~blurred)
    return evidence(parts, balls(pairs), details={"pairs": len(pairs)})


@dataclass(frozen=True, eq=False)
class OnePair:
    """A network and a point with the radius that a printed statement is given."""

    network: SignedNetwork
    point: np.ndarray
    radius: float


def draw_closed_ball(scale: Scale, seed: int) -> OnePair:
    """w = 0 and 2e₁: the mean is e₁, both rows lie at distance 1, and one of them does not see x = e₁."""
    rows = np.array([[0.0, 0.0], [2.0, 0.0]])
    return OnePair(SignedNetwork(rows, -rows, 1.0, 0.5), np.array([1.0, 0.0]), 1.0)


@claim("sarussi2021.lemma_10_1_as_printed", Kind.STEP, "Lemma 10.1, Section 10, with the balls of Section 5",
       draws=draw_closed_ball)  # fmt: skip
def lemma_10_1_as_printed(pair: OnePair) -> Evidence:
    """If all rows of one sign have distance at most r from their mean w̄, and |w̄·x| ≥ r‖x‖, then all w·x have the same
    strict sign.

    The main text has closed balls; the proof needs open ones.
    """
    seen = ask(pair.network, pair.point[None])
    met = np.abs(seen.plus_mean) >= pair.radius * seen.norms
    distances = max(seen.plus_distance.max(), seen.minus_distance.max())
    return evidence(
        {"one strict sign": Fact((seen.plus_low > 0) | (seen.plus_high < 0), scored=met)},
        (at_most("balls", "largest distance of a row from its mean / r", distances / pair.radius, 1),),
    )


@theorem_5_1.speaks
def clouds_on(specimen: Specimen) -> list[CloudSetting] | Silence:
    """Networks trained on the reader's data, asked about it and about random directions."""
    if (reason := silence_over_training(specimen)) is not None:
        return reason
    chosen = specimen.choices
    return [
        CloudSetting(
            points=OwnPoints(own_data=specimen.digest),
            half_width=chosen.n_neurons // 2,
            slope=chosen.slope,
            step_size=chosen.step_size,
            most_epochs=epochs_allowed(specimen, 40),
            n_runs=chosen.n_runs or 1,
            row_length=chosen.init_scale,
            seed=chosen.seed,
        )
    ]


for _step in (equation_6, corollary_10_1):
    _step.speaks(clouds_on)

theorem_5_1.means(
    Topic.BOUNDARY,
    "If training gathers the neurons into two bundles, one per class, the network decides like a single flat boundary, "
    "except close to it; the tighter the bundles, the closer.",
    "here that settles {in_the_region} of the {pairs} points and directions that a trained network was asked about",
)
