"""The convex program of a regime (Eq. 7 and footnote 8): its kernel, a closed form, and when Assumption 3 can hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_most, claim, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING
from widenet.diagnostics.agreement import in_regime
from widenet.diagnostics.agreement_program import (
    agreement_kernel,
    regime_rows,
    separate,
    solve_perfect_agreement,
    solve_regime,
)
from widenet.papers.sarussi2021.claims.regimes import silence_over_programs
from widenet.papers.sarussi2021.runs.programs import (
    Feasibility,
    Mirrored,
    Program,
    asymmetry,
    feasibility,
    mirrored,
    program,
)
from widenet.papers.sarussi2021.settings import CROSS, TWO_POINTS, WEDGE, WEDGE_MINUS, WEDGE_PLUS, Gaussians
from widenet.records import Scale

SOLVED = 1e-12
"""A program whose certified upper and lower bounds lie farther apart than this, relative, decides nothing: its solution
is the solver's, to fewer digits than are compared."""
LAST_DIGITS = float(np.finfo(np.float64).smallest_subnormal) / ROUNDING
"""A product of this size has just the digits that are compared: each rounds by the smallest number there is."""


def draw_programs(scale: Scale, seed: int) -> list[Program]:
    """Two and three points in fractions, and Gaussians."""
    return [
        program(*TWO_POINTS.draw(0), 1 / 3),
        program(*WEDGE.draw(0), 1 / 20),
        program(*Gaussians(n_samples=12).draw(seed), 0.1),
        program(*Gaussians(n_samples=20, mean=(2.0, 1.0, 0.0, 0.5)).draw(seed + 1), 0.4),
    ]


def separable(programs: Sequence[Program]) -> Hypothesis:
    """The largest certified margin of each data set is positive."""
    return more_than(
        "separable", "smallest margin γ", min(separate(each.points, each.labels).margin for each in programs), 0
    )


@claim(
    "sarussi2021.equation_7_kernel", Kind.IDENTITY, "Section 6.2, after Theorem 6.2; Section 14.2", draws=draw_programs
)
def equation_7_kernel(
    programs: Sequence[Program], *, equal: float = 1.0, unlike: float = 1.0, dual: float = 2.0
) -> Evidence:
    """Eq. 7 is the hard SVM without bias with φ(x) = [σ'(w*·x)x, −σ'(−w*·x)x], whose kernel is (1 + α²)⟨x, x'⟩ for
    equal labels and 2α⟨x, x'⟩ for unlike ones; twice the optimum of its dual is the optimum of Eq. 7.
    """
    grams, kernels, alike, sizes, duals, values, gaps = [], [], [], [], [], [], []
    for each in programs:
        signed = regime_rows(each.points, each.labels, each.labels, -each.labels, each.slope)
        features = each.labels[:, None] * signed
        same = np.equal.outer(each.labels, each.labels)
        kernel = np.where(same, equal * (1 + each.slope**2), unlike * 2 * each.slope) * (each.points @ each.points.T)
        lengths = np.linalg.norm(each.points, axis=1)
        grams.append((features @ features.T).ravel())
        kernels.append(kernel.ravel())
        alike.append(same.ravel())
        sizes.append(np.outer(lengths, lengths).ravel())
        solved = solve_perfect_agreement(each.points, each.labels, each.slope)
        pushed = solved.multipliers * each.labels
        honest = agreement_kernel(each.points, each.labels, each.slope)
        duals.append(dual * (solved.multipliers.sum() - 0.5 * pushed @ honest @ pushed))
        values.append(solved.value)
        gaps.append(solved.gap)
    gram, kernel, same, size = (np.concatenate(each) for each in (grams, kernels, alike, sizes))
    # Both sides together are sums of at most 4d products.
    lost = size < 4 * max(each.points.shape[1] for each in programs) * LAST_DIGITS
    rounding: dict[str, Any] = {"room": ROUNDING * size, "undecided": lost}
    return evidence(
        {
            "(1 + α²)⟨x, x'⟩ for equal labels": Sides(gram, kernel, Sense.EQUAL, scored=same, **rounding),
            "2α⟨x, x'⟩ for unlike labels": Sides(gram, kernel, Sense.EQUAL, scored=~same, **rounding),
            "twice the dual optimum is the optimum": Sides(
                duals, values, Sense.EQUAL, room=CLOSED_FORM * np.array(values), undecided=np.array(gaps) > SOLVED
            ),
        },
        (separable(programs),),
    )


def draw_mirrored(scale: Scale, seed: int) -> Mirrored:
    """Four points, and mirrored Gaussians."""
    plane = Gaussians(n_samples=16, mirrored=True).draw(seed)
    space = Gaussians(n_samples=16, mean=(2.0, 1.0, 0.0, 0.0), mirrored=True).draw(seed)
    return mirrored([(*CROSS.draw(0), 0.2), (*plane, 0.1), (*space, 0.6)])


@claim("sarussi2021.equation_7_antipodal", Kind.STEP, "not in the paper; Eq. 7 on antipodal data", draws=draw_mirrored)
def equation_7_antipodal(found: Mirrored) -> Evidence:
    """On antipodal data the solution of Eq. 7 is w = −u = w_svm/(1 + α), with value 2‖w_svm‖²/(1 + α)²: the boundary
    is that of the SVM.
    """
    room, unsolved = CLOSED_FORM * found.sizes, found.gap > SOLVED
    return evidence(
        {
            "w = −u": Sides(found.minus, -found.plus, Sense.EQUAL, room=room, undecided=unsolved),
            "w = w_svm/(1 + α)": Sides(found.plus, found.machine, Sense.EQUAL, room=room, undecided=unsolved),
            "val = 2‖w_svm‖²/(1 + α)²": Sides(
                found.values, found.promised, Sense.EQUAL, room=CLOSED_FORM * found.promised, undecided=unsolved
            ),
        },
        (
            at_most("antipodal", "largest distance of a −x from the data, relative", found.asymmetry, 0),
            more_than("separable", "smallest margin γ", found.margin, 0),
        ),
    )


def draw_regimes(scale: Scale, seed: int) -> list[Program]:
    """The same, and a regime that is not of perfect agreement, whose solution lies inside it."""
    return [*draw_programs(scale, seed), program(*WEDGE.draw(0), 1 / 20, WEDGE_PLUS, WEDGE_MINUS)]


@claim("sarussi2021.footnote_8", Kind.STEP, "footnote 8, Section 13", draws=draw_regimes)
def footnote_8(
    programs: Sequence[Program],
    *,
    feasible: float = 1.0,
    scale: float = 1.0,
    shift: float = 0.0,
    middle: float = 0.5,
    output_weight: float = 0.4,
    half_width: int = 3,
) -> Evidence:
    """With the slopes of a regime frozen, min ‖W‖² with y_i N(x_i) ≥ 1 is a convex program, feasible on separable data
    (w = w*/α, u = 0), whose solution is clustered: every row w equals w/(vk) and every row u equals u/(vk), with (w, u)
    of the program of the regime. The regime itself is convex.

    Checked by solving the program in all 2kd coordinates. The constants are for controls.
    """
    names = ("easy", "values", "promised", "rows", "small", "size", "gaps", "row_gaps")
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
    convex = []
    draw = np.random.default_rng(8)
    for each in programs:
        w_star = separate(each.points, each.labels).separator
        slopes = np.where(each.plus_signs > 0, 1.0, each.slope)
        easy = np.full(len(each.labels), np.nan) if w_star is None else (
            feasible * slopes * each.labels * (each.points @ w_star) / each.slope
        )  # fmt: skip
        reduced = solve_regime(each.points, each.labels, each.plus_signs, each.minus_signs, each.slope)
        block = regime_rows(each.points, each.labels, each.plus_signs, each.minus_signs, each.slope)
        dim, k = each.points.shape[1], half_width
        tall = output_weight * np.concatenate([np.tile(block[:, :dim], k), np.tile(block[:, dim:], k)], axis=1)
        full = separate(tall, np.ones(len(tall)))
        solution = np.full(tall.shape[1], np.nan) if full.separator is None else full.separator
        target = scale * np.concatenate([np.tile(reduced.plus, k), np.tile(reduced.minus, k)]) / (output_weight * k)
        target[0] *= 1 + shift
        parts["easy"].append(easy)
        parts["values"].append(np.atleast_1d(solution @ solution))
        parts["promised"].append(np.atleast_1d(scale**2 * reduced.value / (output_weight**2 * k)))
        parts["rows"].append(solution)
        parts["small"].append(target)
        parts["size"].append(np.full(len(target), np.linalg.norm(target)))
        gap = max(reduced.gap, (full.norm_upper - full.norm_lower) / full.norm_upper)
        parts["gaps"].append(np.array([gap]))
        parts["row_gaps"].append(np.full(len(target), gap))
        convex.append(_midpoints_stay(each, draw, middle))
    easy, values, promised, rows, small, size, gaps, row_gaps = (np.concatenate(each) for each in parts.values())
    return evidence(
        {
            "w = w*/α, u = 0 is feasible": Sides(easy, 1.0, Sense.AT_LEAST, room=ROUNDING),
            "the value is that of the small program over v²k": Sides(
                values, promised, Sense.EQUAL, room=CLOSED_FORM * promised, undecided=gaps > SOLVED
            ),
            "the rows are w/(vk) and u/(vk)": Sides(
                rows, small, Sense.EQUAL, room=CLOSED_FORM * size, undecided=row_gaps > SOLVED
            ),
            "midpoints of a regime stay inside": Fact(np.concatenate(convex)),
        },
        (separable(programs),),
    )


def _midpoints_stay(each: Program, draw: np.random.Generator, middle: float) -> np.ndarray:
    """Members of the regime of the labels, drawn around a separator, and their midpoints."""
    base = separate(each.points, each.labels).separator
    if base is None:
        return np.array([False])
    # A regime is a cone; beside points of length 1e-160 a separator is so long that its square overflows.
    base = np.ldexp(base, -int(np.frexp(np.abs(base).max())[1]))
    rows = base + 0.3 * np.linalg.norm(base) * draw.normal(size=(400, len(base)))
    rows = np.concatenate([rows[in_regime(rows[:, None], each.points, each.labels, 0.0)], base[None], 2 * base[None]])
    pairs = draw.integers(len(rows), size=(100, 2))
    first, second = rows[pairs[:, 0]], rows[pairs[:, 1]]
    return in_regime((first + middle / (1 - middle) * second)[:, None], each.points, each.labels, 0.0)


@claim("sarussi2021.both_signs_remain", Kind.STEP, "not in the paper; needed by the proof of Theorem 6.1",
       draws=draw_regimes)  # fmt: skip
def both_signs_remain(
    programs: Sequence[Program], *, share: float = 1.0, turns: tuple[float, float] = (1.0, 1.0)
) -> Evidence:
    """The limit of gradient flow in a regime has neurons of both signs: the solution (w, u) of its program has
    w·w* ≥ α(‖w‖² + ‖u‖²) > 0 and −u·w* ≥ α(‖w‖² + ‖u‖²) > 0.

    (w, u) is a sum of λ_i y_i(s_i x_i, −t_i x_i) with λ ≥ 0, Σλ = ‖w‖² + ‖u‖², s, t ≥ α, and y⟨w*, x⟩ ≥ 1. `share` and
    `turns` (of w* for w and for u) are for controls.
    """
    found = []
    for each in programs:
        solved = solve_regime(each.points, each.labels, each.plus_signs, each.minus_signs, each.slope)
        w_star = separate(each.points, each.labels).vector(each.points.shape[1])
        along = turns[0] * solved.plus @ w_star, -turns[1] * solved.minus @ w_star
        found.append((*along, each.slope * solved.value, solved.gap))
    plus, minus, limits, gaps = np.array(found).T
    limits, room, unsolved = share * limits, CLOSED_FORM * limits, gaps > SOLVED
    return evidence(
        {
            "w·w* ≥ α(‖w‖² + ‖u‖²)": Sides(plus, limits, Sense.AT_LEAST, room=room, undecided=unsolved, trivial=0.0),
            "−u·w* ≥ α(‖w‖² + ‖u‖²)": Sides(minus, limits, Sense.AT_LEAST, room=room, undecided=unsolved, trivial=0.0),
        },
        (separable(programs),),
    )


def draw_feasibility(scale: Scale, seed: int) -> Feasibility:
    """Slopes on both sides of the edge."""
    sets = [CROSS.draw(0), TWO_POINTS.draw(0), Gaussians(n_samples=12).draw(seed),
            Gaussians(n_samples=12, mirrored=True).draw(seed)]  # fmt: skip
    return feasibility(sets, (0.05, 0.1, 0.3, 0.6, 0.9))


@claim(
    "sarussi2021.assumption_3_feasible",
    Kind.STEP,
    "not in the paper; Assumption 3 of Theorem 6.2",
    draws=draw_feasibility,
)
def assumption_3_feasible(found: Feasibility) -> Evidence:
    """Inside the regime of perfect agreement no normalized margin is above v√(k/val), val being the value of Eq. 7; so
    one above √k·αvR_x needs val < 1/(αR_x)², and if the solution of Eq. 7 lies in the regime, that is enough. On
    antipodal data the condition is γ_svm/R_x > √2·α/(1 + α). As α → 0 the value tends to that of two one-class
    problems, so small α always allow it.
    """
    return evidence(
        {
            "no network of the regime has a margin above v√(k/val)": Sides(
                found.member_margins, found.member_limits, room=CLOSED_FORM * found.member_limits
            ),
            "where the solution is inside, its margin is above the threshold exactly if val < 1/(αR_x)²": Fact(
                (found.margins > found.thresholds) == (found.values < found.limits), scored=found.inside
            ),
            "antipodal data: γ_svm/R_x > √2·α/(1 + α)": Fact(
                (found.shares > found.needed) == (found.mirrored_values < found.mirrored_limits)
            ),
            "val tends to two one-class problems": Sides(
                found.small, found.decoupled, Sense.EQUAL, room=1e-3 * found.decoupled
            ),
        }
    )


@equation_7_kernel.speaks
def programs_on(specimen: Specimen) -> list[Program] | Silence:
    """The program of the reader's data at the chosen slope."""
    if (reason := silence_over_programs(specimen)) is not None:
        return reason
    return [program(specimen.inputs, specimen.labels, specimen.choices.slope)]


@footnote_8.speaks
def regimes_on(specimen: Specimen) -> list[Program] | Silence:
    """The same."""
    return programs_on(specimen)


both_signs_remain.speaks(programs_on)


@equation_7_antipodal.speaks
def mirrored_on(specimen: Specimen) -> Mirrored | Silence:
    """The reader's data, if it is antipodal."""
    if (reason := silence_over_programs(specimen)) is not None:
        return reason
    if (gap := asymmetry(specimen.inputs)) > 0:
        return Silence(f"It is about antipodal data; here some −x is {gap:.2g}·max ‖x‖ away from the data.")
    return mirrored([(specimen.inputs, specimen.labels, specimen.choices.slope)])
