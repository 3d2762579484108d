"""Agreement regimes (Definitions 6.2 and 6.3), and data where no vector is right on one class and wrong on a point."""

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived, run_column
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import CLOSED_FORM, STEP
from widenet.diagnostics.agreement import in_regime, right_share
from widenet.papers.sarussi2021.hypotheses import antipodal, positive_margin
from widenet.papers.sarussi2021.runs.programs import (
    CriticalMargins,
    ScaledMargins,
    antipodal_on,
    draw_antipodal,
    draw_scaled_margins,
    scaled_on,
)
from widenet.papers.sarussi2021.runs.regimes import (
    FewRows,
    RegimeNetworks,
    Vanishing,
    draw_crossed,
    draw_members,
    draw_vanishing,
    draw_wide,
)
from widenet.records import Form


class Tested(RegimeNetworks):
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
            self.contains(beta, rows) == (beta <= self.below and self.is_right(rows))
            for beta in (float(self.smaller) * self.below, self.below, self.above)
            for rows in (self.plus, wrong)
        )


@claim("sarussi2021.definition_6_2", Kind.IDENTITY, "Definitions 6.2 and 6.3; Section 13 (closed)", draws=draw_members,
       given=[], form=Form.REPAIR, title="Agreement regimes are closed cones that shrink as $β$ grows")  # fmt: skip
def definition_6_2(members: Tested) -> Promised:
    """A neural agreement regime NAR($β, c$) is a cone (every row may be multiplied by a positive number), shrinks as
    $β$ grows, and is closed among networks without a zero row; PAR($β$) is NAR($β, y, −y$).

    Each network is asked just below and just above the largest β that it has, so that a test which always says yes,
    or always no, fails; and with rows on the wrong side.
    """
    lost = members.lost
    return {
        "rescaled": Fact(members.rescales, undecided=lost, text="rows may be rescaled"),
        "nested": Fact(members.nests, undecided=lost, text="a smaller $β$ allows more"),
        "closed": Fact(members.closes, undecided=lost, text="limits without a zero row stay inside"),
        "perfect": Fact(members.is_perfect, undecided=lost, text="NAR($β, y, −y$) is PAR($β$)"),
    }


@claim("sarussi2021.definition_6_2_as_printed", Kind.STEP, "Section 13 (the NAR is a closed domain)",
       draws=draw_vanishing, given=[], title="Agreement regimes are closed, zero rows included")  # fmt: skip
def definition_6_2_as_printed(rows: Vanishing) -> Promise:
    """A neural agreement regime NAR($β, c$) is a closed domain, as is easy to see from its definition."""
    inside = {"where": rows.terms_inside, "event": "all terms in the regime"}
    return Promise(
        {"limit": Fact(rows.limit_inside, text="the limit is in the regime", **inside)},
        note="The rows x/2^m, m = 0, 1, …, for x = (3, 4): all lie in NAR(‖x‖), and their limit 0 does not.",
    )


@claim("sarussi2021.definition_6_2_wide", Kind.CONSTRUCTION, "Section 6.1, after Definition 6.2", draws=draw_wide,
       given=[], title="Neurons that agree can point in nearly opposite directions")  # fmt: skip
def definition_6_2_wide(rows: FewRows) -> Promised:
    """Neurons of one sign can be nearly opposite inside a NAR: $(β, ±√(1 − β²))$ with $β = 0.01$ agree on $x = e_1$ and
    are $178.85°$ apart.
    """
    return {
        "regime": Fact(rows.in_wide_regime, text="both rows are in NAR($0.01$)"),
        "angle": at_least(rows.plus_angle, 170.0, text="they are more than 170° apart"),
    }


@claim("sarussi2021.definition_6_3", Kind.CONSTRUCTION, "Section 6.2, after Definition 6.3", draws=draw_crossed,
       given=[], title="Perfect agreement does not make neurons cluster")  # fmt: skip
def definition_6_3(rows: FewRows) -> Promised:
    """Perfect agreement does not make neurons cluster, nor $w = −u$: on $(1, 0)$ and $(−1, 0)$ the rows $w = (1, ±3)$,
    $u = (−1, ±2)$ are in PAR($β$) up to $β = 1/√10$, the two $w$ are $143.13°$ apart, and $w$ and $−u$ are $135°$
    apart.
    """
    return {
        "regime": Fact(rows.in_perfect_regime, text="in PAR($0.316$)"),
        "plus_angle": equal(rows.plus_angle, 143.130102354, within=STEP, text="the angle between the rows $w$"),
        "opposite_angle": equal(rows.opposite_angle, 135.0, within=STEP, text="the angle between $w$ and $−u$"),
    }


@claim("sarussi2021.section_15", Kind.STEP, "Section 15", draws=draw_antipodal, given=[antipodal, positive_margin],
       on=antipodal_on, title="On antipodal data the critical margins are zero")  # fmt: skip
def section_15(sets: CriticalMargins) -> Promised:
    """If $−x$ is a point of the data for every point $x$, and the data are separable, then $V_β⁺$ and $V_β⁻$ are empty
    for every $β > 0$: no vector has positive inner products with one class and with a point of the other. Without
    biases only.
    """
    return {
        "plus": at_most(sets.per("plus").plus, 0.0, text="$V_β⁺$ is empty for every $β > 0$"),
        "minus": at_most(sets.per("minus").minus, 0.0, text="$V_β⁻$ is empty for every $β > 0$"),
    }


@hypothesis("factor $c$")
def factor(found: ScaledMargins) -> Sides:
    """c > 0."""
    return more_than(found.per("critical").factors, 0)


@claim("sarussi2021.assumption_4_scale", Kind.IDENTITY, "Section 6.2, after Theorem 6.2", draws=draw_scaled_margins,
       given=[factor], on=scaled_on, title="Rescaling the data rescales every critical margin")  # fmt: skip
def assumption_4_scale(found: ScaledMargins) -> Promised:
    """Multiplying all points by $c > 0$ multiplies the critical $β$ of $V_β⁺$ and $V_β⁻$, and the $β$ of every regime,
    by $c$: whether Assumption 4 holds does not depend on the margin.

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
