"""What gradient descent on single points does: Lemma A.4, and statements of Sections 4 to 6 about widths and starts."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import scipy.stats

from widenet.claims.base import Evidence, Kind, Silence, at_least, at_most, claim
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, STEP
from widenet.papers.li2018.claims.coupling import descent_conditions, on_descents, own_descents
from widenet.papers.li2018.claims.mixing import fitted_slope
from widenet.papers.li2018.claims.specimens import applies, own_points, separated, separated_as_printed, structure_of
from widenet.papers.li2018.formulas import drop_share
from widenet.papers.li2018.runs.descents import (
    Descent,
    DescentSetting,
    averaged_steps,
    coupled_settings,
    descents,
    dimension_settings,
    hexagon_widths,
    own_widths,
    scale_settings,
)


def by_width(cells: Sequence[Descent]) -> dict[int, list[Descent]]:
    """The cells of each width, narrow ones first."""
    groups: dict[int, list[Descent]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.width):
        groups[cell.width].append(cell)
    return dict(groups)


def steps_to(cell: Descent, share: float = 0.05) -> float:
    """The first step at which v_max ≤ share/(kl); NaN if there is none."""
    reached = np.flatnonzero(cell.residuals <= share / cell.n_components)
    return float(reached[0]) if len(reached) else np.nan


def rate(value: float, limit: float, sense: Sense, cells: Sequence[Descent]) -> Sides:
    """A trend in the width. On a reader's data it may set in later, so that what misses it here decides nothing."""
    misses = value > limit if sense is Sense.AT_MOST else value < limit
    return Sides(value, limit, sense, undecided=misses and any(cell.own for cell in cells))


@claim("li2018.lemma_a_4_step", Kind.STEP, "proof of Lemma A.4", reads=descents.at(coupled_settings))
def lemma_a_4_step(cells: Sequence[Descent], *, share: float = 1.0) -> Evidence:
    """A step of gradient descent in which no pattern changes lowers the loss by at least (1 − η‖A‖²/4)·ηΣ‖∂L/∂w_r‖²; so
    by half of ηΣ‖∂L/∂w_r‖² at least for η ≤ 2/‖A‖².

    Printed is only that the drop is Ω̃(η(vδ/(kl))²δm/(kl)) for a sufficiently small η.
    """
    drops, promised, rooms, still = [], [], [], []
    for cell in cells:
        scaled = cell.step_size * cell.squares[:-1]
        drops.append(cell.losses[:-1] - cell.losses[1:])
        promised.append(share * drop_share(cell.step_size * cell.vote_norm**2) * scaled)
        rooms.append(STEP * scaled + 1e-14 * cell.losses[:-1])
        still.append(cell.still[:-1] == 1)
    scored = np.concatenate(still)
    steps = max(cell.step_size * cell.vote_norm**2 for cell in cells)
    return evidence(
        {
            "drop at least (1 − η‖A‖²/4)·ηΣ‖∂L/∂w_r‖²": Sides(
                np.concatenate(drops), np.concatenate(promised), Sense.AT_LEAST, np.concatenate(rooms), scored=scored
            )
        },
        (*descent_conditions(cells), at_most("step_size", "largest η‖A‖²", steps, 2)),
        details={"steps without a change": scored.sum(), "steps with one": (~scored).sum()},
    )


def averaged_squares(cells: Sequence[Descent]) -> dict[int, float]:
    """The mean of (v^t)² over T ∝ σ/η steps and over the starts of each width."""
    return {
        width: float(np.mean([(cell.residuals[1 : averaged_steps(width) + 1] ** 2).mean() for cell in group]))
        for width, group in by_width(cells).items()
    }


@claim("li2018.lemma_a_4", Kind.TREND, "Lemma A.4, Appendix A.3", reads=descents)
def lemma_a_4(cells: Sequence[Descent], *, slope: float = -0.35) -> Evidence:
    """On data that meets (A1), and (A1') for mirror images, with η ∝ 1/m and over T ∝ σ/η steps, the mean of (v^t)²
    falls like m^{−1/2}: Lemma A.4 bounds it by Õ(k⁵l⁵/(δ⁴σm)). Held against a slope of at most −0.35 in log m, which is
    ours.
    """
    means = averaged_squares(cells)
    fall = fitted_slope(np.array(list(means)), np.array(list(means.values())))
    return evidence(
        {"slope of log mean v²": rate(fall, slope, Sense.AT_MOST, cells)},
        (
            *descent_conditions(cells),
            *separated(*map(structure_of, cells)),
            at_least("widths", "number of widths", len(means), 3),
        ),
        details={"widths": list(means), "mean v²": list(means.values())},
    )


@claim("li2018.lemma_a_4_as_printed", Kind.TREND, "Lemma A.4, Appendix A.3", reads=descents.at(hexagon_widths))
def lemma_a_4_as_printed(cells: Sequence[Descent], *, slope: float = -0.35) -> Evidence:
    """Under (A1) to (A3), for a sufficiently small η and T = Θ̃(σδ/(klη)), the mean of (v^t)² is Õ(k⁵l⁵/(δ⁴σm)), so
    Õ(m^{−1/2}) for fixed k, l and δ.

    Judged by a slope of at most −0.35 in log m. On the hexagon the loss is at least ln 2 at every m and t
    (`theorem_4_1_obstruction`), so some o_y ≤ 1/2 and v ≥ 1/12: no constant and no power of log m would do.
    """
    means = averaged_squares(cells)
    fall = fitted_slope(np.array(list(means)), np.array(list(means.values())))
    return evidence(
        {"slope of log mean v²": Sides(fall, slope)},
        (*descent_conditions(cells), *separated_as_printed(*map(structure_of, cells))),
        details={"widths": list(means), "mean v²": list(means.values())},
    )


def later_drops(cells: Sequence[Descent]) -> dict[int, float]:
    """The mean of (L_t − L_{t+1})/(ηm·(v^t)²) over the second half of T ∝ σ/η steps, and over starts, by width."""
    found = {}
    for width, group in by_width(cells).items():
        last = averaged_steps(width)
        part = slice(last // 2, last)
        scales = [cell.step_size * width * cell.residuals[part] ** 2 for cell in group]
        found[width] = float(
            np.mean([-np.diff(cell.losses)[part] / each for cell, each in zip(group, scales, strict=True)])
        )
    return found


@claim("li2018.lemma_b_4_as_printed", Kind.STEP, "Lemma B.4, Appendix B.3", reads=descents.at(hexagon_widths))
def lemma_b_4_as_printed(cells: Sequence[Descent], *, slope: float = -0.35) -> Evidence:
    """Under (A1) to (A3), for η, B and t = Õ((vδ/(kl))²σγ/η) as printed, L(w^t) − L(w^{t+1}) = ηγm·Ω̃((vδ/(kl))²), so
    at least ηm·v² over a power of log m for fixed k, l and δ.

    Judged over T ∝ σ/η steps on the whole law by a slope of at least −0.35 in log m. On the hexagon v ≥ 1/12 at every
    t while the loss falls to ln 2 and stops, so the drops vanish long before T.
    """
    means = later_drops(cells)
    fall = fitted_slope(np.array(list(means)), np.array(list(means.values())))
    return evidence(
        {"slope of log drop over ηm·v²": Sides(fall, slope, Sense.AT_LEAST)},
        (*descent_conditions(cells), *separated_as_printed(*map(structure_of, cells))),
        details={"widths": list(means), "drop over ηm·v²": list(means.values())},
    )


@claim("li2018.section_4_width_free", Kind.TREND, "after Theorem 4.1, Section 4", reads=descents)
def section_4_width_free(cells: Sequence[Descent], *, ratio: float = 1.5) -> Evidence:
    """With η ∝ 1/m the number of steps does not grow with the width: "only increase the total iterations by factors of
    log m". Held against means of the steps to v = 0.05/(kl) within a factor of 1.5, which is ours.
    """
    groups = by_width(cells)
    means = np.maximum([np.mean([steps_to(cell) for cell in group]) for group in groups.values()], 1)
    return evidence(
        {"largest over smallest mean": rate(means.max() / means.min(), ratio, Sense.AT_MOST, cells)},
        (
            *descent_conditions(cells),
            at_least("widths", "number of widths", len(groups), 3),
            at_least("seeds", "fewest runs of a width", min(map(len, groups.values())), 5),
        ),
        details={"widths": list(groups), "mean steps": means},
    )


@claim("li2018.section_5_observation", Kind.TREND, "the observation of Section 5", reads=descents)
def section_5_observation(
    cells: Sequence[Descent], *, band: tuple[float, float] = (-0.65, -0.35), at: int = 200
) -> Evidence:
    """The wider the network, "the less likely the activation pattern for one neuron and one data point will change in a
    fixed number of iterations". With η ∝ 1/m the share of changed patterns after 200 steps, and the relative distance
    from the start, fall like m^{−1/2}; the rate, ± 0.15, is ours.
    """
    groups = by_width(cells)
    widths = np.array(list(groups))
    flips = fitted_slope(widths, np.array([np.mean([cell.flips[at] for cell in group]) for group in groups.values()]))
    away = np.array([np.mean([cell.distances[at] for cell in group]) for group in groups.values()])
    distance = fitted_slope(widths, away)
    return evidence(
        {
            "patterns: slope at most": rate(flips, band[1], Sense.AT_MOST, cells),
            "patterns: slope at least": rate(flips, band[0], Sense.AT_LEAST, cells),
            "distance: slope at most": rate(distance, band[1], Sense.AT_MOST, cells),
            "distance: slope at least": rate(distance, band[0], Sense.AT_LEAST, cells),
        },
        (*descent_conditions(cells), at_least("widths", "number of widths", len(groups), 3)),
        details={"slope of patterns": flips, "slope of distance": distance},
    )


@section_4_width_free.speaks
def _(specimen: Specimen) -> Silence:
    return Silence("It counts the steps until every residual is small, and how many that takes here is not known.")


@applies(lemma_a_4, section_5_observation, honours=("max_updates",))
def _(specimen: Specimen) -> list[DescentSetting] | Silence:
    data = own_points(specimen, most=150, single=True)
    if isinstance(data, Silence):
        return data
    settings, allowed = own_widths(data, specimen.choices.seed), specimen.choices.max_updates
    if allowed is not None and allowed < settings[0].n_steps:
        return Silence(f"It needs {settings[0].n_steps} steps at each width, and max_updates allows {allowed}.")
    return settings


@claim("li2018.section_6_rank", Kind.STEP, "low rank of the weights, Section 6", reads=descents.at(coupled_settings))
def section_6_rank(cells: Sequence[Descent]) -> Evidence:
    """On single points the accumulated update W^t − W⁰ has rank at most kl: its rows lie in the span of the points. And
    no singular value of W moves by more than ‖W^t − W⁰‖₂.
    """
    ranks = np.array([cell.rank for cell in cells])
    limits = np.array([min(cell.n_components, cell.data_rank) for cell in cells])
    shifts, norms = (np.array([getattr(cell, name) for cell in cells]) for name in ("spectrum_shift", "update_norm"))
    return evidence(
        {
            "rank of the update": Sides(ranks, limits),
            "|σ_j(W^t) − σ_j(W⁰)| ≤ ‖W^t − W⁰‖₂": Sides(shifts, norms, room=IDENTITY * (1 + norms)),
        },
        descent_conditions(cells),
    )


on_descents(lemma_a_4_step)(own_descents)


@claim(
    "li2018.section_6_start_scale",
    Kind.TREND,
    "effect of random initialization, Section 6",
    reads=descents.at(scale_settings),
)
def section_6_start_scale(cells: Sequence[Descent], *, at: int = 200) -> Evidence:
    """The scale of the initialization is essential: from W⁰ with standard deviation c·m^{−1/2}, larger c gives fewer
    changed patterns and a smaller relative distance after the same number of steps. That both fall from c = 0.1 to 1 to
    10 is ours.
    """
    groups: dict[float, list[Descent]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: cell.start_scale):
        groups[cell.start_scale].append(cell)
    flips = np.array([np.mean([cell.flips[at] for cell in group]) for group in groups.values()])
    away = np.array([np.mean([cell.distances[at] for cell in group]) for group in groups.values()])
    return evidence(
        {
            "changed patterns fall": Sides(flips[1:], flips[:-1], strict=True),
            "relative distance falls": Sides(away[1:], away[:-1], strict=True),
        },
        (*descent_conditions(cells), at_least("scales", "number of scales", len(groups), 3)),
        details={"scales": list(groups), "patterns": flips, "distances": away},
    )


@claim(
    "li2018.section_4_dimension_free", Kind.TREND, "after Theorem 4.1, Section 4", reads=descents.at(dimension_settings)
)
def section_4_dimension_free(cells: Sequence[Descent], *, level: float = 0.001) -> Evidence:
    """The result is dimension free: the law of the training depends on the inner products of the points alone.
    With coordinates that are 0 on the data added, and the same weights on the others, all residuals stay the same; with
    other weights their law does (a test of Kruskal and Wallis on the steps to v = 0.05/(kl)).

    The relative distance is not dimension free: ‖W⁰‖ grows like √d.
    """
    third = len(cells) // 3
    plain, padded, other = cells[:third], cells[third : 2 * third], cells[2 * third :]
    gaps = [np.abs(one.residuals - two.residuals).max() for one, two in zip(plain, padded, strict=True)]
    steps = np.array([[steps_to(cell) for cell in group] for group in (plain, other)])
    p_value = float(scipy.stats.kruskal(*steps).pvalue)
    return evidence(
        {
            "the same residuals": Sides(gaps, 0.0, room=IDENTITY),
            "the same law of steps": Sides(p_value, level, Sense.AT_LEAST),
        },
        descent_conditions(cells),
        details={"p-value": p_value, "mean steps": np.nanmean(steps, axis=1)},
    )


@on_descents(section_6_rank)
def _(specimen: Specimen) -> list[DescentSetting] | Silence:
    found = own_descents(specimen)
    if isinstance(found, Silence) or specimen.inputs.shape[1] <= 300:
        return found
    return Silence("Singular values of the weights are taken here, in at most 300 dimensions.")
