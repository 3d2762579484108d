"""Agreement regimes (Definitions 6.2 and 6.3), and data where no vector is right on one class and wrong on a point."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Kind, Silence, at_most, claim, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING, STEP
from widenet.diagnostics.agreement import agreement_margin, in_regime, right_share
from widenet.diagnostics.agreement_program import critical_margins
from widenet.diagnostics.sign_clusters import widest_angle
from widenet.papers.sarussi2021.runs.programs import (
    CriticalMargins,
    ScaledMargins,
    asymmetry,
    critical_of,
    scaled_margins,
)
from widenet.papers.sarussi2021.settings import BROKEN_CROSS, CROSS, WEDGE, Gaussians
from widenet.papers.sarussi2021.specimens import silence_without_both_classes
from widenet.records import Scale

MOST_ADDED = 300
"""One small program is solved for every point; with more points that takes long."""


@dataclass(frozen=True, eq=False)
class Members:
    """Networks inside a regime.

    Attributes:
      plus, minus: rows; all plus rows have the signs `signs` on the points, all minus rows the opposite ones.
      points, signs: x_i and c_i.
      margins: the largest β of each network.
      multiples: by which its plus rows may be multiplied; ways: how far towards each other rows are moved; smaller: a
        share of β; limit: what the limit of rows on such a way is multiplied by, for a control.
    """

    plus: np.ndarray
    minus: np.ndarray
    points: np.ndarray
    signs: np.ndarray
    margins: np.ndarray
    multiples: tuple[float, ...] = (3.0, 1.0, 0.1, 7.0)
    ways: tuple[float, ...] = (0.5, 0.9, 0.999)
    smaller: float = 0.5
    limit: float = 1.0

    @property
    def rounding(self) -> float:
        """What rounding may do to β = min |⟨w, x⟩|/‖w‖, where the products cancel: a share of max ‖x‖, not of β."""
        return float(ROUNDING * np.linalg.norm(self.points, axis=1).max())


def draw_members(scale: Scale, seed: int) -> Members:
    """Thirty networks of four neurons of each sign, in R³, on five points."""
    draw = np.random.default_rng([seed, 62])
    points, base = draw.normal(size=(5, 3)), draw.normal(size=3)
    signs = np.sign(points @ base)
    found = []
    while len(found) < 240:
        row = draw.exponential() * (base + 0.5 * draw.normal(size=3))
        if (signs * (points @ row) > 0).all():
            found.append(row)
    rows = np.array(found).reshape(2, 30, 4, 3)
    margins = np.minimum(agreement_margin(rows[0], points), agreement_margin(rows[1], points))
    return Members(rows[0], -rows[1], points, signs, margins)


Test = Callable[..., np.ndarray]


@claim("sarussi2021.definition_6_2", Kind.IDENTITY, "Definitions 6.2 and 6.3; Section 13 (closed)", draws=draw_members)
def definition_6_2(members: Members, *, inside: Test = in_regime) -> Evidence:
    """A neural agreement regime NAR(β, c) is a cone (every row may be multiplied by a positive number), shrinks as β
    grows, and is closed among networks without a zero row; PAR(β) is NAR(β, y, −y).

    Each network is asked just below and just above the largest β that it has, so that a test which always says yes,
    or always no, fails; and with rows on the wrong side. `inside` is the test, for a control.
    """
    answers: dict[str, list[bool]] = {"rescale": [], "nested": [], "closed": [], "perfect": []}
    for plus, minus, largest in zip(members.plus, members.minus, members.margins, strict=True):
        below, above = largest - members.rounding, largest + members.rounding

        def contains(beta: float, rows: np.ndarray, others: np.ndarray = minus) -> bool:
            sides = ((rows, members.signs), (others, -members.signs))
            return all(bool(inside(each, members.points, signs, beta)) for each, signs in sides)

        scaled = plus * np.array(members.multiples)[:, None]
        answers["rescale"].append(contains(below, scaled) and not contains(above, scaled))
        answers["nested"].append(contains(members.smaller * below, plus) and not contains(above, plus))
        # The regime is convex, so the rows on the way to another member stay inside, and so must their limit.
        limit = members.limit * plus[::-1]
        answers["closed"].append(
            all(contains(below, plus + step * (plus[::-1] - plus)) for step in members.ways)
            and contains(below, limit)
            and not contains(above, limit)
        )
        wrong = np.concatenate([-plus[:1], plus[1:]])
        answers["perfect"].append(
            all(
                contains(beta, rows) == (beta < largest and _is_right(members, rows, minus))
                for beta in (members.smaller * below, below, above)
                for rows in (plus, wrong)
            )
            and _is_right(members, plus, minus)
        )
    lost = members.margins <= 2 * members.rounding
    return evidence(
        {
            "rows may be rescaled": Fact(answers["rescale"], undecided=lost),
            "a smaller β allows more": Fact(answers["nested"], undecided=lost),
            "limits without a zero row stay inside": Fact(answers["closed"], undecided=lost),
            "NAR(β, y, −y) is PAR(β)": Fact(answers["perfect"], undecided=lost),
        }
    )


def _is_right(members: Members, plus: np.ndarray, minus: np.ndarray) -> bool:
    """Whether every row is right on every point, the c_i being the labels."""
    shares = right_share(plus, members.points, members.signs), right_share(minus, members.points, -members.signs)
    return bool(min(shares) == 1)


@dataclass(frozen=True, eq=False)
class Vanishing:
    """Rows that converge, on one point: the terms, and their limit."""

    terms: np.ndarray
    limit: np.ndarray
    point: np.ndarray


def draw_vanishing(scale: Scale, seed: int) -> Vanishing:
    """x/m, m = 1, 2, …: all in NAR(‖x‖), and the limit 0 is not."""
    point = np.array([3.0, 4.0])
    return Vanishing(np.stack([point / 2**m for m in range(40)]), np.zeros(2), point)


@claim("sarussi2021.definition_6_2_as_printed", Kind.STEP, "Section 13 (the NAR is a closed domain)",
       draws=draw_vanishing)  # fmt: skip
def definition_6_2_as_printed(rows: Vanishing) -> Evidence:
    """From the definition of the NAR it is easy to see that it is a closed domain."""
    beta = float(np.linalg.norm(rows.point)) * (1 - ROUNDING)
    signs, points = np.ones(1), rows.point[None]
    inside = all(bool(in_regime(row[None], points, signs, beta)) for row in rows.terms)
    limit = bool(in_regime(rows.limit[None], points, signs, beta))
    return evidence({"the limit is in the regime": Fact(limit, scored=inside)})


@dataclass(frozen=True, eq=False)
class FewRows:
    """Rows of both signs on a few points."""

    plus: np.ndarray
    minus: np.ndarray
    points: np.ndarray
    labels: np.ndarray


def wide_rows(beta: float) -> FewRows:
    """(β, ±√(1 − β²)) on the point e₁."""
    rows = np.array([(beta, (1 - beta**2) ** 0.5), (beta, -((1 - beta**2) ** 0.5))])
    return FewRows(rows, -rows, np.array([[1.0, 0.0]]), np.ones(1))


def draw_wide(scale: Scale, seed: int) -> FewRows:
    """β = 0.01."""
    return wide_rows(0.01)


@claim("sarussi2021.definition_6_2_wide", Kind.CONSTRUCTION, "Section 6.1, after Definition 6.2", draws=draw_wide)
def definition_6_2_wide(rows: FewRows, *, beta: float = 0.01) -> Evidence:
    """Neurons of one sign can be nearly opposite inside a NAR: (β, ±√(1 − β²)) with β = 0.01 agree on x = e₁ and are
    178.85° apart.
    """
    angle = float(widest_angle(rows.plus))
    return evidence(
        {
            "both rows are in NAR(0.01)": Fact(in_regime(rows.plus, rows.points, rows.labels, beta * (1 - ROUNDING))),
            "they are more than 170° apart": Sides(angle, 170.0, Sense.AT_LEAST),
        }
    )


def draw_crossed(scale: Scale, seed: int) -> FewRows:
    """w = (1, ±3) and u = (−1, ±2) on (1, 0) and (−1, 0)."""
    return FewRows(
        np.array([(1.0, 3.0), (1.0, -3.0)]),
        np.array([(-1.0, 2.0), (-1.0, -2.0)]),
        np.array([(1.0, 0.0), (-1.0, 0.0)]),
        np.array([1.0, -1.0]),
    )


@claim("sarussi2021.definition_6_3", Kind.CONSTRUCTION, "Section 6.2, after Definition 6.3", draws=draw_crossed)
def definition_6_3(rows: FewRows, *, beta: float = 0.316) -> Evidence:
    """Perfect agreement does not make neurons cluster, nor w = −u: on (1, 0) and (−1, 0) the rows w = (1, ±3),
    u = (−1, ±2) are in PAR(β) up to β = 1/√10, the two w are 143.13° apart, and w and −u 135°.
    """
    inside = in_regime(rows.plus, rows.points, rows.labels, beta) & in_regime(
        rows.minus, rows.points, -rows.labels, beta
    )
    between = float(widest_angle(np.stack([rows.plus[0], -rows.minus[0]])))
    return evidence(
        {
            "in PAR(0.316)": Fact(inside),
            "the angle between the rows w": Sides(
                float(widest_angle(rows.plus)), 143.130102354, Sense.EQUAL, room=STEP
            ),
            "the angle between w and −u": Sides(between, 135.0, Sense.EQUAL, room=STEP),
        }
    )


def draw_antipodal(scale: Scale, seed: int) -> CriticalMargins:
    """Four points, and mirrored Gaussians in the plane and in R⁵."""
    plane = Gaussians(n_samples=8, mirrored=True)
    space = Gaussians(n_samples=8, mean=(2.0, 1.0, 0.0, 0.0, 0.0), mirrored=True)
    return critical_of([CROSS.draw(seed), plane.draw(seed), space.draw(seed)])


@claim("sarussi2021.section_15", Kind.STEP, "Section 15", draws=draw_antipodal)
def section_15(found: CriticalMargins) -> Evidence:
    """If −x is a point of the data for every point x, and the data are separable, then V_β⁺ and V_β⁻ are empty for
    every β > 0: no vector has positive inner products with one class and a point of the other. Without biases only.
    """
    return evidence(
        {
            "V_β⁺ is empty for every β > 0": Sides(found.plus, 0.0),
            "V_β⁻ is empty for every β > 0": Sides(found.minus, 0.0),
        },
        (
            at_most("antipodal", "largest distance of a −x from the data, relative", found.asymmetry, 0),
            more_than("separable", "smallest margin γ", found.margin, 0),
        ),
    )


@section_15.speaks
def antipodal_on(specimen: Specimen) -> CriticalMargins | Silence:
    """The reader's data."""
    if (reason := silence_over_programs(specimen)) is not None:
        return reason
    if (found := asymmetry(specimen.inputs)) > 0:
        return Silence(f"It is about antipodal data; here some −x is {found:.2g}·max ‖x‖ away from the data.")
    return critical_of([(specimen.inputs, specimen.labels)])


def silence_over_programs(specimen: Specimen) -> Silence | None:
    """Two classes, separable, and not so many points that their programs take long."""
    if (reason := silence_without_both_classes(specimen)) is not None:
        return reason
    n = len(specimen.labels)
    return (
        None
        if n <= MOST_ADDED
        else Silence(f"It solves a program per point, for at most {MOST_ADDED} points, not {n}.")
    )


def draw_scaled_margins(scale: Scale, seed: int) -> ScaledMargins:
    """Data sets that are not antipodal, so that the critical β are not 0."""
    return scaled_margins([WEDGE.draw(0), BROKEN_CROSS.draw(0), Gaussians(n_samples=8).draw(seed)])


@claim("sarussi2021.assumption_4_scale", Kind.IDENTITY, "Section 6.2, after Theorem 6.2", draws=draw_scaled_margins)
def assumption_4_scale(found: ScaledMargins) -> Evidence:
    """Multiplying all points by c > 0 multiplies the critical β of V_β⁺ and V_β⁻, and the β of every regime, by c:
    whether Assumption 4 holds does not depend on the margin.

    The paper says it of antipodal data. At a fixed β it is not so.
    """
    promised, rows = found.factors * found.before, found.row_factors * found.rows_before
    room = CLOSED_FORM * promised.max() + CLOSED_FORM * promised
    return evidence(
        {
            "the critical β are multiplied by c": Sides(found.after, promised, Sense.EQUAL, room=room),
            "the β of a regime is multiplied by c": Sides(found.rows_after, rows, Sense.EQUAL, room=STEP * rows),
        },
        (more_than("factor", "smallest factor c", found.factors.min(), 0),),
    )


SMALLEST_CRITICAL = 1e-5
"""A critical β that is smaller against the points than this is decided by the solver, not by the data."""


@assumption_4_scale.speaks
def scaled_on(specimen: Specimen) -> ScaledMargins | Silence:
    """The reader's data, if it has at most eight dimensions (the rows have eight)."""
    if (reason := silence_over_programs(specimen)) is not None:
        return reason
    if specimen.inputs.shape[1] > 8:
        return Silence("It is checked on data of at most 8 dimensions.")
    critical = np.concatenate(critical_margins(specimen.inputs, specimen.labels))
    if not (critical > SMALLEST_CRITICAL * np.abs(specimen.inputs).max()).all():
        return Silence("A critical β of this data is 0, or too small against its points to be found exactly enough.")
    return scaled_margins([(specimen.inputs, specimen.labels)])
