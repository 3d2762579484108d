"""Agreement regimes (Definitions 6.2 and 6.3), and data where no vector is right on one class and wrong on a point."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Number, column, derived, run_column
from widenet.claims.implication import Promised, at_least, at_most, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING, STEP
from widenet.diagnostics.agreement import agreement_margin, in_regime, right_share
from widenet.diagnostics.sign_clusters import widest_angle
from widenet.papers.sarussi2021.hypotheses import antipodal, positive_margin
from widenet.papers.sarussi2021.runs.programs import (
    CriticalMargins,
    ScaledMargins,
    antipodal_on,
    critical_of,
    scaled_margins,
    scaled_on,
)
from widenet.papers.sarussi2021.settings import BROKEN_CROSS, CROSS, WEDGE, Gaussians
from widenet.records import Scale

Rows = Float[np.ndarray, "network neuron dim"]


@dataclass(frozen=True, eq=False)
class Members(Cases):
    """Networks inside a regime, all plus rows with the same signs on the points, all minus rows with the opposite."""

    rows: ClassVar = "network"

    plus: Rows
    minus: Rows
    points: Float[np.ndarray, "point dim"]  #: x_i
    signs: Float[np.ndarray, " point"]  #: c_i
    margins: Float[np.ndarray, " network"]  #: the largest β of each network
    multiples: tuple[float, ...] = (3.0, 1.0, 0.1, 7.0)  #: by which the plus rows of a network may be multiplied
    ways: tuple[float, ...] = (0.5, 0.9, 0.999)  #: how far towards each other rows are moved
    smaller: Number = 0.5  #: a share of β
    limit: Number = 1.0  #: what the limit of rows on such a way is multiplied by, for a control

    @column
    def rounding(self) -> float:
        """What rounding may do to β = min |⟨w, x⟩|/‖w‖, where the products cancel: a share of max ‖x‖, not of β."""
        return float(ROUNDING * np.linalg.norm(self.points, axis=1).max())


class Tested(Members):
    """The same, asked just below and just above the largest β that each has."""

    lost: Bool[np.ndarray, " network"] = derived(lambda members: members.margins <= 2 * members.rounding)

    @property
    def below(self) -> float:
        """A little less than the β of one network."""
        return self.margins - self.rounding

    @property
    def above(self) -> float:
        """A little more."""
        return self.margins + self.rounding

    def contains(self, beta: float, plus: np.ndarray) -> bool:
        """Whether these plus rows, and the minus rows of this network, are in the regime of β."""
        sides = ((plus, self.signs), (self.minus, -self.signs))
        return all(bool(in_regime(rows, self.points, signs, beta)) for rows, signs in sides)

    def is_right(self, plus: np.ndarray) -> bool:
        """Whether every row is right on every point, the c_i being the labels."""
        shares = right_share(plus, self.points, self.signs), right_share(self.minus, self.points, -self.signs)
        return bool(min(shares) == 1)

    @run_column
    def rescales(self) -> bool:
        """Rows that are multiplied have the same β."""
        scaled = self.plus * np.array(self.multiples)[:, None]
        return self.contains(self.below, scaled) and not self.contains(self.above, scaled)

    @run_column
    def nests(self) -> bool:
        """A smaller β is met too, a larger one is not."""
        return self.contains(float(self.smaller) * self.below, self.plus) and not self.contains(self.above, self.plus)

    @run_column
    def closes(self) -> bool:
        """The regime is convex, so the rows on the way to another member stay inside, and so must their limit."""
        other = self.plus[::-1]
        return (
            all(self.contains(self.below, self.plus + step * (other - self.plus)) for step in self.ways)
            and self.contains(self.below, self.limit * other)
            and not self.contains(self.above, self.limit * other)
        )

    @run_column
    def is_perfect(self) -> bool:
        """It is in the regime exactly where it is right on every point with so large a β."""
        wrong = np.concatenate([-self.plus[:1], self.plus[1:]])
        return self.is_right(self.plus) and all(
            self.contains(beta, rows) == (beta < self.margins and self.is_right(rows))
            for beta in (float(self.smaller) * self.below, self.below, self.above)
            for rows in (self.plus, wrong)
        )


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


@claim("sarussi2021.definition_6_2", Kind.IDENTITY, "Definitions 6.2 and 6.3; Section 13 (closed)", draws=draw_members,
       given=[], title="Agreement regimes are closed cones that shrink as $β$ grows")  # fmt: skip
def definition_6_2(members: Tested) -> Promised:
    """A neural agreement regime NAR(β, c) is a cone (every row may be multiplied by a positive number), shrinks as β
    grows, and is closed among networks without a zero row; PAR(β) is NAR(β, y, −y).

    Each network is asked just below and just above the largest β that it has, so that a test which always says yes,
    or always no, fails; and with rows on the wrong side.
    """
    lost = members.lost
    return {
        "rescaled": Fact(members.rescales, undecided=lost, text="rows may be rescaled"),
        "nested": Fact(members.nests, undecided=lost, text="a smaller $β$ allows more"),
        "closed": Fact(members.closes, undecided=lost, text="limits without a zero row stay inside"),
        "perfect": Fact(members.is_perfect, undecided=lost, text="$NAR(β, y, −y)$ is $PAR(β)$"),
    }


@dataclass(frozen=True, eq=False)
class Vanishing(Cases):
    """Rows that converge, on one point: the terms, and their limit."""

    terms: Float[np.ndarray, "term dim"]
    limit: Float[np.ndarray, " dim"]
    point: Float[np.ndarray, " dim"]

    def contains(self, row: np.ndarray) -> bool:
        """Whether it is in NAR(‖x‖), up to rounding."""
        beta = float(np.linalg.norm(self.point)) * (1 - ROUNDING)
        return bool(in_regime(row[None], self.point[None], np.ones(1), beta))

    @column
    def terms_inside(self) -> bool:
        """Whether all terms are."""
        return all(map(self.contains, self.terms))

    @column
    def limit_inside(self) -> bool:
        """Whether their limit is."""
        return self.contains(self.limit)


def draw_vanishing(scale: Scale, seed: int) -> Vanishing:
    """x/m, m = 1, 2, …: all in NAR(‖x‖), and the limit 0 is not."""
    point = np.array([3.0, 4.0])
    return Vanishing(np.stack([point / 2**m for m in range(40)]), np.zeros(2), point)


@claim("sarussi2021.definition_6_2_as_printed", Kind.STEP, "Section 13 (the NAR is a closed domain)",
       draws=draw_vanishing, given=[], title="Agreement regimes are closed, zero rows included")  # fmt: skip
def definition_6_2_as_printed(rows: Vanishing) -> Promised:
    """From the definition of the NAR it is easy to see that it is a closed domain."""
    return {
        "limit": Fact(
            rows.limit_inside,
            where=rows.terms_inside,
            event="all terms in the regime",
            text="the limit is in the regime",
        )
    }


@dataclass(frozen=True, eq=False)
class FewRows(Cases):
    """Rows of both signs on a few points."""

    plus: Float[np.ndarray, "row dim"]
    minus: Float[np.ndarray, "row dim"]
    points: Float[np.ndarray, "point dim"]
    labels: Float[np.ndarray, " point"]

    def is_perfect(self, beta: float) -> bool:
        """Whether they are in PAR(β)."""
        sides = ((self.plus, self.labels), (self.minus, -self.labels))
        return all(bool(in_regime(rows, self.points, signs, beta)) for rows, signs in sides)

    @column
    def in_wide_regime(self) -> bool:
        """Whether the plus rows are in NAR(0.01), up to rounding."""
        return bool(in_regime(self.plus, self.points, self.labels, 0.01 * (1 - ROUNDING)))

    @column
    def in_perfect_regime(self) -> bool:
        """Whether all are in PAR(0.316); 1/√10 is 0.3162."""
        return self.is_perfect(0.316)

    @column
    def plus_angle(self) -> float:
        """Between the plus rows, in degrees."""
        return float(widest_angle(self.plus))

    @column
    def opposite_angle(self) -> float:
        """Between the first w and −u."""
        return float(widest_angle(np.stack([self.plus[0], -self.minus[0]])))


def wide_rows(beta: float) -> FewRows:
    """(β, ±√(1 − β²)) on the point e₁."""
    rows = np.array([(beta, (1 - beta**2) ** 0.5), (beta, -((1 - beta**2) ** 0.5))])
    return FewRows(rows, -rows, np.array([[1.0, 0.0]]), np.ones(1))


def draw_wide(scale: Scale, seed: int) -> FewRows:
    """β = 0.01."""
    return wide_rows(0.01)


@claim("sarussi2021.definition_6_2_wide", Kind.CONSTRUCTION, "Section 6.1, after Definition 6.2", draws=draw_wide,
       given=[], title="Neurons that agree can point in nearly opposite directions")  # fmt: skip
def definition_6_2_wide(rows: FewRows) -> Promised:
    """Neurons of one sign can be nearly opposite inside a NAR: (β, ±√(1 − β²)) with β = 0.01 agree on x = e₁ and are
    178.85° apart.
    """
    return {
        "regime": Fact(rows.in_wide_regime, text="both rows are in $NAR(0.01)$"),
        "angle": at_least(rows.plus_angle, 170.0, text="they are more than 170° apart"),
    }


def draw_crossed(scale: Scale, seed: int) -> FewRows:
    """w = (1, ±3) and u = (−1, ±2) on (1, 0) and (−1, 0)."""
    return FewRows(
        np.array([(1.0, 3.0), (1.0, -3.0)]),
        np.array([(-1.0, 2.0), (-1.0, -2.0)]),
        np.array([(1.0, 0.0), (-1.0, 0.0)]),
        np.array([1.0, -1.0]),
    )


@claim("sarussi2021.definition_6_3", Kind.CONSTRUCTION, "Section 6.2, after Definition 6.3", draws=draw_crossed,
       given=[], title="Perfect agreement does not make neurons cluster")  # fmt: skip
def definition_6_3(rows: FewRows) -> Promised:
    """Perfect agreement does not make neurons cluster, nor w = −u: on (1, 0) and (−1, 0) the rows w = (1, ±3),
    u = (−1, ±2) are in PAR(β) up to β = 1/√10, the two w are 143.13° apart, and w and −u 135°.
    """
    return {
        "regime": Fact(rows.in_perfect_regime, text="in $PAR(0.316)$"),
        "plus_angle": equal(rows.plus_angle, 143.130102354, within=STEP, text="the angle between the rows $w$"),
        "opposite_angle": equal(rows.opposite_angle, 135.0, within=STEP, text="the angle between $w$ and $−u$"),
    }


def draw_antipodal(scale: Scale, seed: int) -> list[CriticalMargins]:
    """Four points, and mirrored Gaussians in the plane and in R⁵."""
    plane = Gaussians(n_samples=8, mirrored=True)
    space = Gaussians(n_samples=8, mean=(2.0, 1.0, 0.0, 0.0, 0.0), mirrored=True)
    return critical_of([CROSS.draw(seed), plane.draw(seed), space.draw(seed)])


@claim("sarussi2021.section_15", Kind.STEP, "Section 15", draws=draw_antipodal, given=[antipodal, positive_margin],
       on=antipodal_on, title="On antipodal data the critical margins are zero")  # fmt: skip
def section_15(sets: CriticalMargins) -> Promised:
    """If −x is a point of the data for every point x, and the data are separable, then V_β⁺ and V_β⁻ are empty for
    every β > 0: no vector has positive inner products with one class and a point of the other. Without biases only.
    """
    return {
        "plus": at_most(sets.per("plus").plus, 0.0, text="$V_β⁺$ is empty for every $β > 0$"),
        "minus": at_most(sets.per("minus").minus, 0.0, text="$V_β⁻$ is empty for every $β > 0$"),
    }


def draw_scaled_margins(scale: Scale, seed: int) -> ScaledMargins:
    """Data sets that are not antipodal, so that the critical β are not 0."""
    return scaled_margins([WEDGE.draw(0), BROKEN_CROSS.draw(0), Gaussians(n_samples=8).draw(seed)])


@hypothesis("factor $c$")
def factor(found: ScaledMargins) -> Sides:
    """c > 0."""
    return more_than(found.per("critical").factors, 0)


@claim("sarussi2021.assumption_4_scale", Kind.IDENTITY, "Section 6.2, after Theorem 6.2", draws=draw_scaled_margins,
       given=[factor], on=scaled_on, title="Rescaling the data rescales every critical margin")  # fmt: skip
def assumption_4_scale(found: ScaledMargins) -> Promised:
    """Multiplying all points by c > 0 multiplies the critical β of V_β⁺ and V_β⁻, and the β of every regime, by c:
    whether Assumption 4 holds does not depend on the margin.

    The paper says it of antipodal data. At a fixed β it is not so.
    """
    critical, regime = found.per("critical"), found.per("regime")
    promised = critical.factors * critical.before
    return {
        "critical": equal(
            critical.after,
            promised,
            within=CLOSED_FORM,
            of=critical.largest + promised,
            text="the critical $β$ are multiplied by $c$",
        ),
        "regime": equal(
            regime.rows_after,
            regime.row_factors * regime.rows_before,
            within=STEP,
            text="the $β$ of a regime is multiplied by $c$",
        ),
    }
