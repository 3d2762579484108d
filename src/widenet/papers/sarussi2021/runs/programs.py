"""Convex programs of data sets: of a regime, of antipodal data, and the critical β of Assumption 4."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Number, column
from widenet.claims.user_data import UserData
from widenet.diagnostics.agreement import agreement_margin
from widenet.diagnostics.agreement_program import critical_margins, separate, solve_perfect_agreement
from widenet.papers.sarussi2021.formulas import (
    antipodal_margin_share,
    largest_feasible_value,
    limit_margin,
    margin_threshold,
)
from widenet.papers.sarussi2021.sources import (
    BROKEN_CROSS,
    CROSS,
    TWO_POINTS,
    WEDGE,
    WEDGE_MINUS,
    WEDGE_PLUS,
    SignedNetwork,
    TwoGaussians,
)
from widenet.papers.sarussi2021.user_data import reason_in_programs
from widenet.records import Scale

Points = Float[np.ndarray, " point"]
Criticals = Float[np.ndarray, " critical"]
Programs = Float[np.ndarray, " program"]
SMALLEST_CRITICAL = 1e-5
"""A critical β that is smaller against the points than this is decided by the solver, not by the data."""
N_MEMBERS = 10
"""Networks drawn in the regime, for every data set and slope."""


def asymmetry(points: np.ndarray) -> float:
    """The largest distance of a $−x$ from the data, relative to the longest point."""
    gaps = np.linalg.norm(points[:, None] + points[None], axis=2).min(axis=1)
    return float(gaps.max() / np.linalg.norm(points, axis=1).max())


@dataclass(frozen=True, eq=False)
class CriticalMargins(Cases):
    """A data set and its critical β, one entry per added point."""

    plus: Float[np.ndarray, " plus"]  #: the critical β of V⁺
    minus: Float[np.ndarray, " minus"]  #: and of V⁻
    asymmetry: Number  #: how far −x is from the data, at most, relative to ‖x‖
    margin: Number  #: γ_svm


def critical_of(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[CriticalMargins]:
    """Solve the programs of these data sets."""
    return [
        CriticalMargins(*critical_margins(points, labels), asymmetry(points), separate(points, labels).margin)
        for points, labels in sets
    ]


@dataclass(frozen=True, eq=False)
class ScaledMargins(Cases):
    """Critical β and agreement margins of data sets before and after all points were multiplied by c."""

    before: Criticals  #: critical β
    after: Criticals
    factors: Criticals  #: c
    rows_before: Float[np.ndarray, " regime"]  #: β of a regime
    rows_after: Float[np.ndarray, " regime"]
    row_factors: Float[np.ndarray, " regime"]  #: c

    @column
    def largest(self) -> float:
        """The largest critical β that is promised: programs are solved to a share of it."""
        return float((self.factors * self.before).max())

    def counts(self) -> dict[str, int]:
        """So many critical β were compared."""
        return {"tried": len(self.per("critical"))}


def scaled_margins(sets: Sequence[tuple[np.ndarray, np.ndarray]], shift: float = 0.0) -> ScaledMargins:
    """Both quantities for two factors. `shift` translates the points instead, for a control."""
    rows = np.random.default_rng(15).normal(size=(6, 8))
    parts: list[list[np.ndarray]] = [[] for _ in range(6)]
    for points, labels in sets:
        critical = np.concatenate(critical_margins(points, labels))
        own = np.asarray(agreement_margin(rows[:, : points.shape[1]], points))[None]
        for factor in (0.1, 10.0):
            moved = points + shift if shift else factor * points
            after = np.concatenate(critical_margins(moved, labels))
            rows_after = np.asarray(agreement_margin(rows[:, : points.shape[1]], factor * points))[None]
            filled = (critical, after, np.full(len(after), factor), own, rows_after, np.array([factor]))
            for part, values in zip(parts, filled, strict=True):
                part.append(values)
    return ScaledMargins(*map(np.concatenate, parts))


@dataclass(frozen=True, eq=False)
class Program(Cases):
    """A data set, a slope, and the signs of a regime; (y, −y) by default."""

    points: Float[np.ndarray, "point dim"]
    labels: Points
    slope: Number  #: α
    plus_signs: Points  #: of the plus neurons on the points
    minus_signs: Points  #: of the minus neurons


def program(points: np.ndarray, labels: np.ndarray, slope: float, plus=None, minus=None) -> Program:
    """With the signs of perfect agreement where none are given."""
    signs = labels if plus is None else np.asarray(plus, np.float64)
    return Program(points, labels, slope, signs, -labels if minus is None else np.asarray(minus, np.float64))


@dataclass(frozen=True, eq=False)
class Mirrored(Cases):
    """An antipodal data set: the solution of Eq. 7 beside the SVM."""

    plus: Float[np.ndarray, " dim"]  #: w
    minus: Float[np.ndarray, " dim"]  #: u
    machine: Float[np.ndarray, " dim"]  #: w_svm/(1 + α)
    size: Number  #: ‖w‖
    value: Number  #: val
    promised: Number  #: 2‖w_svm‖²/(1 + α)²
    asymmetry: Number  #: how far −x is from the data
    margin: Number  #: γ_svm
    gap: Number  #: how far the certified bounds of a program lie apart, at most


def mirrored(sets: Sequence[tuple[np.ndarray, np.ndarray, float]]) -> list[Mirrored]:
    """Solve both programs of each."""
    return [mirrored_set(*each) for each in sets]


def mirrored_set(points: np.ndarray, labels: np.ndarray, slope: float) -> Mirrored:
    """Solve both programs."""
    solved, machine = solve_perfect_agreement(points, labels, slope), separate(points, labels)
    separator = np.full(points.shape[1], np.nan) if machine.separator is None else machine.separator
    length = machine.norm_upper / (1 + slope)
    return Mirrored(
        plus=solved.plus,
        minus=solved.minus,
        machine=separator / (1 + slope),
        size=float(np.linalg.norm(solved.plus)),
        value=solved.value,
        promised=2 * length * length,  # may be infinite
        asymmetry=asymmetry(points),
        margin=machine.margin,
        gap=max(solved.gap, (machine.norm_upper - machine.norm_lower) / machine.norm_upper),
    )


@dataclass(frozen=True, eq=False)
class Feasibility(Cases):
    """Whether Assumption 3 of Theorem 6.2 can hold inside the regime of perfect agreement."""

    values: Programs  #: val of Eq. 7
    limits: Programs  #: 1/(αR_x)²
    thresholds: Programs  #: √k·αvR_x
    margins: Programs  #: the normalized margin of the network at the solution of Eq. 7
    inside: Bool[np.ndarray, " program"]  #: whether it lies in the regime
    member_margins: Float[np.ndarray, " member"]  #: of networks of the regime, that one among them if it is inside
    member_limits: Float[np.ndarray, " member"]  #: v√(k/val)
    shares: Float[np.ndarray, " mirrored"]  #: γ_svm/R_x, of antipodal data only
    needed: Float[np.ndarray, " mirrored"]  #: √2α/(1 + α)
    mirrored_values: Float[np.ndarray, " mirrored"]
    mirrored_limits: Float[np.ndarray, " mirrored"]
    small: Float[np.ndarray, " set"]  #: val at α = 1e-6
    decoupled: Float[np.ndarray, " set"]  #: the sum of the two one-class values

    def counts(self) -> dict[str, int]:
        """So many networks of the regime were tried."""
        return {"tried": len(self.per("member"))}


def feasibility(sets: Sequence[tuple[np.ndarray, np.ndarray]], slopes: Sequence[float]) -> Feasibility:
    """For every data set and slope, with k = 3 neurons of each sign."""
    k, v = 3, 0.4
    rows, antipodal, small, members = [], [], [], []
    draw = np.random.default_rng(3)
    for points, labels in sets:
        largest, machine = np.linalg.norm(points, axis=1).max(), separate(points, labels)
        ones = [separate(points[labels == y], labels[labels == y]).norm_upper ** 2 for y in (1.0, -1.0)]
        small.append((solve_perfect_agreement(points, labels, 1e-6).value, sum(ones)))
        around = right_rows(points, labels, draw)
        for slope in slopes:
            solved = solve_perfect_agreement(points, labels, slope)
            value, ceiling = solved.value, float(largest_feasible_value(slope, largest))
            threshold = float(margin_threshold(slope, v, k, largest))
            best = SignedNetwork(np.tile(solved.plus, (k, 1)), np.tile(solved.minus, (k, 1)), v, slope)
            inside = bool((labels * (points @ np.stack([solved.plus, -solved.minus]).T).T > 0).all())
            rows.append((value, ceiling, threshold, _margin(best, points, labels), inside))
            networks = [best] if inside else []
            for _ in range(N_MEMBERS if len(around) else 0):
                chosen = around[draw.integers(len(around), size=(2, k))] * draw.uniform(0.5, 2, size=(2, 1, 1))
                networks.append(SignedNetwork(chosen[0], -chosen[1], v, slope))
            limit = float(limit_margin(value, v, k))
            members += [(_margin(network, points, labels), limit) for network in networks]
            if asymmetry(points) == 0:
                antipodal.append((machine.margin / largest, float(antipodal_margin_share(slope)), value, ceiling))
    values, limits, thresholds, margins, inside = np.array(rows).T
    both, found = np.array(antipodal).reshape(-1, 4), np.array(members).reshape(-1, 2)
    return Feasibility(
        values, limits, thresholds, margins, inside > 0, found[:, 0], found[:, 1], *both.T, *np.array(small).T
    )


def right_rows(points: np.ndarray, labels: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Vectors around the SVM that are right on every point; none where nothing separates the points."""
    base = separate(points, labels).vector(points.shape[1])
    rows = base + 0.3 * np.linalg.norm(base) * draw.normal(size=(100, len(base)))
    return rows[(labels * (rows @ points.T) > 0).all(axis=1)]


def _margin(network: SignedNetwork, points: np.ndarray, labels: np.ndarray) -> float:
    return float((labels * network.outputs(points)).min() / network.norm)


def programs_on(user_data: UserData) -> list[Program] | NotApplicable:
    """The program of your data at the chosen slope."""
    if (reason := reason_in_programs(user_data)) is not None:
        return reason
    return [program(user_data.inputs, user_data.labels, user_data.choices.slope)]


def reason_in_mirrors(user_data: UserData) -> NotApplicable | None:
    """The same, and data in which some −x is missing."""
    if (reason := reason_in_programs(user_data)) is not None:
        return reason
    if (gap := asymmetry(user_data.inputs)) > 0:
        return NotApplicable(f"It is about antipodal data; here some −x is {gap:.2g}·max ‖x‖ away from the data.")
    return None


def mirrored_on(user_data: UserData) -> list[Mirrored] | NotApplicable:
    """Your data, if it is antipodal."""
    if (reason := reason_in_mirrors(user_data)) is not None:
        return reason
    return mirrored([(user_data.inputs, user_data.labels, user_data.choices.slope)])


def antipodal_on(user_data: UserData) -> list[CriticalMargins] | NotApplicable:
    """The same."""
    if (reason := reason_in_mirrors(user_data)) is not None:
        return reason
    return critical_of([(user_data.inputs, user_data.labels)])


def scaled_on(user_data: UserData) -> ScaledMargins | NotApplicable:
    """Your data, if it has at most eight dimensions (the rows have eight)."""
    if (reason := reason_in_programs(user_data)) is not None:
        return reason
    if user_data.inputs.shape[1] > 8:
        return NotApplicable("It is checked on data of at most 8 dimensions.")
    critical = np.concatenate(critical_margins(user_data.inputs, user_data.labels))
    if not (critical > SMALLEST_CRITICAL * np.abs(user_data.inputs).max()).all():
        return NotApplicable(
            "A critical β of this data is 0, or too small against its points to be found exactly enough."
        )
    return scaled_margins([(user_data.inputs, user_data.labels)])


def draw_programs(scale: Scale, seed: int) -> list[Program]:
    """Two and three points in fractions, and Gaussians."""
    return [
        program(*TWO_POINTS.draw(0), 1 / 3),
        program(*WEDGE.draw(0), 1 / 20),
        program(*TwoGaussians(n_samples=12).draw(seed), 0.1),
        program(*TwoGaussians(n_samples=20, mean=(2.0, 1.0, 0.0, 0.5)).draw(seed + 1), 0.4),
    ]


def draw_mirrored(scale: Scale, seed: int) -> list[Mirrored]:
    """Four points, and mirrored Gaussians."""
    plane = TwoGaussians(n_samples=16, mirrored=True).draw(seed)
    space = TwoGaussians(n_samples=16, mean=(2.0, 1.0, 0.0, 0.0), mirrored=True).draw(seed)
    return mirrored([(*CROSS.draw(0), 0.2), (*plane, 0.1), (*space, 0.6)])


def draw_regimes(scale: Scale, seed: int) -> list[Program]:
    """The same, and a regime that is not of perfect agreement, whose solution lies inside it."""
    return [*draw_programs(scale, seed), program(*WEDGE.draw(0), 1 / 20, WEDGE_PLUS, WEDGE_MINUS)]


def draw_feasibility(scale: Scale, seed: int) -> Feasibility:
    """Slopes on both sides of the edge."""
    sets = [CROSS.draw(0), TWO_POINTS.draw(0), TwoGaussians(n_samples=12).draw(seed),
            TwoGaussians(n_samples=12, mirrored=True).draw(seed)]  # fmt: skip
    return feasibility(sets, (0.05, 0.1, 0.3, 0.6, 0.9))


def draw_antipodal(scale: Scale, seed: int) -> list[CriticalMargins]:
    """Four points, and mirrored Gaussians in the plane and in R⁵."""
    plane = TwoGaussians(n_samples=8, mirrored=True)
    space = TwoGaussians(n_samples=8, mean=(2.0, 1.0, 0.0, 0.0, 0.0), mirrored=True)
    return critical_of([CROSS.draw(seed), plane.draw(seed), space.draw(seed)])


def draw_scaled_margins(scale: Scale, seed: int) -> ScaledMargins:
    """Data sets that are not antipodal, so that the critical β are not 0."""
    return scaled_margins([WEDGE.draw(0), BROKEN_CROSS.draw(0), TwoGaussians(n_samples=8).draw(seed)])
