"""The convex program of a regime (Eq. 7 and footnote 8): its kernel, a closed form, and when Assumption 3 can hold."""

import functools
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.sides import Fact
from widenet.claims.tolerances import CLOSED_FORM, ROUNDING
from widenet.diagnostics import Separation
from widenet.diagnostics.agreement import in_regime
from widenet.diagnostics.agreement_program import (
    RegimeProgram,
    agreement_kernel,
    regime_rows,
    separate,
    solve_perfect_agreement,
    solve_regime,
)
from widenet.papers.sarussi2021.hypotheses import antipodal, positive_margin
from widenet.papers.sarussi2021.runs.programs import (
    Feasibility,
    Mirrored,
    Program,
    draw_feasibility,
    draw_mirrored,
    draw_programs,
    draw_regimes,
    mirrored_on,
    programs_on,
)
from widenet.records import Form

SOLVED = 1e-12
"""A program whose certified upper and lower bounds lie farther apart than this, relative, decides nothing: its solution
is the solver's, to fewer digits than are compared."""
LAST_DIGITS = float(np.finfo(np.float64).smallest_subnormal) / ROUNDING
"""A product of this size has just the digits that are compared: each rounds by the smallest number there is."""
OUTPUT_WEIGHT, HALF_WIDTH = 0.4, 3
"""v and k of the network in which the program of a regime is solved in all 2kd coordinates."""


Pairs = Float[np.ndarray, " pair"]
Coordinates = Float[np.ndarray, " coordinate"]


class Solved(Program):
    """Data sets with their solved programs."""

    @functools.cached_property
    def machine(self) -> Separation:
        """The SVM through the origin."""
        return separate(self.points, self.labels)

    @functools.cached_property
    def perfect(self) -> RegimeProgram:
        """Eq. 7."""
        return solve_perfect_agreement(self.points, self.labels, float(self.slope))

    @functools.cached_property
    def own(self) -> RegimeProgram:
        """The program of the regime."""
        return solve_regime(self.points, self.labels, self.plus_signs, self.minus_signs, float(self.slope))

    margin: float = derived(lambda runs: runs.machine.margin)  #: γ_svm
    dim: int = derived(lambda runs: runs.points.shape[1])  #: d

    # The kernel of Eq. 7, for every two points.

    @column
    def gram(self) -> Pairs:
        """⟨φ(x), φ(x')⟩."""
        signed = regime_rows(self.points, self.labels, self.labels, -self.labels, float(self.slope))
        features = self.labels[:, None] * signed
        return (features @ features.T).ravel()

    inner: Pairs = derived(lambda runs: (runs.points @ runs.points.T).ravel())  #: ⟨x, x'⟩
    alike: Bool[np.ndarray, " pair"] = derived(lambda runs: np.equal.outer(runs.labels, runs.labels).ravel())

    @column
    def pair_length(self) -> Pairs:
        """‖x‖‖x'‖."""
        norms = np.linalg.norm(self.points, axis=1)
        return np.outer(norms, norms).ravel()

    @column
    def dual(self) -> float:
        """The optimum of the dual of Eq. 7."""
        pushed = self.perfect.multipliers * self.labels
        kernel = agreement_kernel(self.points, self.labels, float(self.slope))
        return float(self.perfect.multipliers.sum() - 0.5 * pushed @ kernel @ pushed)

    perfect_value: float = derived(lambda runs: runs.perfect.value)
    perfect_gap: float = derived(lambda runs: runs.perfect.gap)

    # The program of the regime, and the same in all 2kd coordinates of a network.

    value: float = derived(lambda runs: runs.own.value)
    gap: float = derived(lambda runs: runs.own.gap)

    plus_along: float = derived(lambda runs: float(runs.own.plus @ runs.machine.vector(runs.dim)))  #: w·w*

    minus_along: float = derived(lambda runs: float(-runs.own.minus @ runs.machine.vector(runs.dim)))  #: −u·w*

    @column
    def easy(self) -> Float[np.ndarray, " point"]:
        """y N(x) at w = w*/α, u = 0; NaN where nothing separates the points."""
        slopes = np.where(self.plus_signs > 0, 1.0, float(self.slope))
        w_star = np.full(self.dim, np.nan) if self.machine.separator is None else self.machine.separator
        return slopes * self.labels * (self.points @ w_star) / self.slope

    @functools.cached_property
    def full(self) -> Separation:
        """min ‖W‖² with y N(x) ≥ 1, the slopes being those of the regime."""
        block = regime_rows(self.points, self.labels, self.plus_signs, self.minus_signs, float(self.slope))
        halves = [np.tile(block[:, : self.dim], HALF_WIDTH), np.tile(block[:, self.dim :], HALF_WIDTH)]
        return separate(OUTPUT_WEIGHT * np.concatenate(halves, axis=1), np.ones(len(block)))

    @column
    def full_gap(self) -> float:
        """How far the certified bounds of either program lie apart, at most."""
        return max(self.gap, (self.full.norm_upper - self.full.norm_lower) / self.full.norm_upper)

    @column
    def full_rows(self) -> Coordinates:
        """W."""
        return np.full(2 * HALF_WIDTH * self.dim, np.nan) if self.full.separator is None else self.full.separator

    full_value: float = derived(lambda runs: float(runs.full_rows @ runs.full_rows))  #: ‖W‖²

    @column
    def repeated_rows(self) -> Coordinates:
        """w/(vk) and u/(vk), k times each."""
        rows = [np.tile(self.own.plus, HALF_WIDTH), np.tile(self.own.minus, HALF_WIDTH)]
        return np.concatenate(rows) / (OUTPUT_WEIGHT * HALF_WIDTH)

    repeated_norm: float = derived(lambda runs: float(np.linalg.norm(runs.repeated_rows)))
    midpoints_stay: Bool[np.ndarray, " midpoint"] = derived(lambda runs: midpoints_stay(runs))


program_claim = functools.partial(claim, given=[positive_margin], on=programs_on)
"""A claim about the programs of data sets: those it draws, or that of yours."""


@program_claim("sarussi2021.equation_7_kernel", Kind.IDENTITY, "Section 6.2, after Theorem 6.2; Section 14.2",
       draws=draw_programs,
       title="The convex program of Eq. 7 is a kernel SVM")  # fmt: skip
def equation_7_kernel(runs: Solved, *, alike: float = 1.0, unlike: float = 1.0, dual: float = 2.0) -> Promised:
    """Eq. 7 is the hard SVM without bias with $φ(x) = [σ'(w*·x)x, −σ'(−w*·x)x]$, whose kernel is $(1 + α²)⟨x, x'⟩$ for
    equal labels and $2α⟨x, x'⟩$ for unlike ones. Twice the optimum of its dual is the optimum of Eq. 7.
    """
    pair = runs.per("pair")
    kernel = np.where(pair.alike, alike * (1 + pair.slope**2), unlike * 2 * pair.slope) * pair.inner
    # Both sides together are sums of at most 4d products.
    rounding = {"within": ROUNDING, "of": pair.pair_length, "undecided": pair.pair_length < 4 * pair.dim * LAST_DIGITS}
    return {
        "alike": equal(
            pair.gram,
            kernel,
            where=pair.alike,
            event="pairs of equal labels",
            text="$(1 + α²)⟨x, x'⟩$ for equal labels",
            **rounding,
        ),
        "unlike": equal(
            pair.gram,
            kernel,
            where=~pair.alike,
            event="pairs of unlike labels",
            text="$2α⟨x, x'⟩$ for unlike labels",
            **rounding,
        ),
        "dual": equal(
            dual * runs.dual,
            runs.perfect_value,
            within=CLOSED_FORM,
            undecided=runs.perfect_gap > SOLVED,
            text="twice the dual optimum is the optimum",
        ),
    }


@claim("sarussi2021.equation_7_antipodal", Kind.STEP, "not in the paper; Eq. 7 on antipodal data", draws=draw_mirrored,
       given=[antipodal, positive_margin], on=mirrored_on,
       form=Form.OURS, title="On antipodal data the boundary of Eq. 7 is that of the SVM")  # fmt: skip
def equation_7_antipodal(sets: Mirrored) -> Promised:
    """On antipodal data the solution of Eq. 7 is $w = −u = w*/(1 + α)$, where $w*$ is the SVM through the origin, and
    its value is $2‖w*‖²/(1 + α)²$: the boundary is that of the SVM.
    """
    each = sets.per("dim")
    rows = {"within": CLOSED_FORM, "of": each.size, "undecided": each.gap > SOLVED}
    return {
        "opposite": equal(each.minus, -each.plus, text="$w = −u$", **rows),
        "machine": equal(each.plus, each.machine, text="$w = w*/(1 + α)$", **rows),
        "value": equal(
            sets.value,
            sets.promised,
            within=CLOSED_FORM,
            undecided=sets.gap > SOLVED,
            text="$p* = 2‖w*‖²/(1 + α)²$",
        ),
    }


@program_claim("sarussi2021.footnote_8", Kind.STEP, "footnote 8, Section 13", draws=draw_regimes,
       title="With frozen slopes the solution is clustered")  # fmt: skip
def footnote_8(runs: Solved) -> Promised:
    """With the slopes of a regime frozen, $min ‖W‖²$ subject to $y_i N(x_i) ≥ 1$ is a convex program. It is feasible on
    separable data ($w = w*/α$, $u = 0$), and its solution is clustered: every plus row equals $w/(vk)$ and every minus
    row equals $u/(vk)$, with $(w, u)$ the solution of the program of the regime. The regime itself is convex.

    Checked by solving the program in all 2kd coordinates.
    """
    point, row = runs.per("point"), runs.per("coordinate")
    return {
        "feasible": at_least(point.easy, 1.0, within=ROUNDING, text="$w = w*/α$, $u = 0$ is feasible"),
        "value": equal(
            runs.full_value,
            runs.value / (OUTPUT_WEIGHT**2 * HALF_WIDTH),
            within=CLOSED_FORM,
            undecided=runs.full_gap > SOLVED,
            text="the value is that of the small program over $v²k$",
        ),
        "rows": equal(
            row.full_rows,
            row.repeated_rows,
            within=CLOSED_FORM,
            of=row.repeated_norm,
            undecided=row.full_gap > SOLVED,
            text="the rows are $w/(vk)$ and $u/(vk)$",
        ),
        "convex": Fact(runs.per("midpoint").midpoints_stay, text="midpoints of a regime stay inside"),
    }


def midpoints_stay(each: Solved, along: Callable[..., np.ndarray] = np.add) -> Bool[np.ndarray, " midpoint"]:
    """Members of the regime of the labels, drawn around a separator, and the rays through their midpoints."""
    draw, base = np.random.default_rng(8), each.machine.separator
    if base is None:
        return np.array([False])
    # A regime is a cone; beside points of length 1e-160 a separator is so long that its square overflows.
    base = np.ldexp(base, -int(np.frexp(np.abs(base).max())[1]))
    rows = base + 0.3 * np.linalg.norm(base) * draw.normal(size=(400, len(base)))
    rows = np.concatenate([rows[in_regime(rows[:, None], each.points, each.labels, 0.0)], base[None], 2 * base[None]])
    pairs = draw.integers(len(rows), size=(100, 2))
    first, second = rows[pairs[:, 0]], rows[pairs[:, 1]]
    return in_regime(along(first, second)[:, None], each.points, each.labels, 0.0)


@program_claim("sarussi2021.both_signs_remain", Kind.STEP, "not in the paper; needed by the proof of Theorem 6.1",
       draws=draw_regimes,
       form=Form.OURS, title="In the limit neurons of both signs remain")  # fmt: skip
def both_signs_remain(runs: Solved, *, share: float = 1.0) -> Promised:
    """The limit of gradient flow in a regime has neurons of both signs: the solution $(w, u)$ of its program has $w·w*
    ≥ α(‖w‖² + ‖u‖²) > 0$ and $−u·w* ≥ α(‖w‖² + ‖u‖²) > 0$.

    (w, u) is a sum of λ_i y_i(s_i x_i, −t_i x_i) with λ ≥ 0, Σλ = ‖w‖² + ‖u‖², s, t ≥ α, and y⟨w*, x⟩ ≥ 1.

    In code: `share` is for a control.
    """
    limit = share * runs.slope * runs.value
    how = {"within": CLOSED_FORM, "undecided": runs.gap > SOLVED, "trivial": 0.0}
    return {
        "plus": at_least(runs.plus_along, limit, text="$w·w* ≥ α(‖w‖² + ‖u‖²)$", **how),
        "minus": at_least(runs.minus_along, limit, text="$−u·w* ≥ α(‖w‖² + ‖u‖²)$", **how),
    }


@claim("sarussi2021.assumption_3_feasible", Kind.STEP, "not in the paper; Assumption 3 of Theorem 6.2",
       draws=draw_feasibility, given=[], form=Form.OURS,
       title="When a margin above the threshold of Theorem 6.2 exists")  # fmt: skip
def assumption_3_feasible(found: Feasibility) -> Promised:
    """Inside the regime of perfect agreement no normalized margin is above $v√(k/p*)$, where $p*$ is the value of Eq.
    7. So a margin above $√k·αvR_x$ needs $p* < 1/(αR_x)²$, and if the solution of Eq. 7 lies in the regime, that is
    enough. On antipodal data the condition is $1/(‖w*‖R_x) > √2·α/(1 + α)$. As $α → 0$ the value tends to that of two
    one-class problems, so small $α$ always allow it.
    """
    member, solved, mirror, one = (found.per(axis) for axis in ("member", "program", "mirrored", "set"))
    return {
        "members": at_most(
            member.member_margins,
            member.member_limits,
            within=CLOSED_FORM,
            text="no network of the regime has a margin above $v√(k/p*)$",
        ),
        "threshold": Fact(
            (solved.margins > solved.thresholds) == (solved.values < solved.limits),
            where=solved.inside,
            event="solutions inside the regime",
            text="where the solution is inside, its margin is above the threshold exactly if $p* < 1/(αR_x)²$",
        ),
        "antipodal": Fact(
            (mirror.shares > mirror.needed) == (mirror.mirrored_values < mirror.mirrored_limits),
            text="antipodal data: $1/(‖w*‖R_x) > √2·α/(1 + α)$",
        ),
        "one_class": equal(
            one.small, one.decoupled, within=1e-3, text="$p*$ tends to the value of two one-class problems"
        ),
    }
