"""Section 9, update by update: F = ⟨W, W*⟩ grows, G = ‖W‖ grows slowly, and F ≤ G‖W*‖.

W* stacks k copies of w* and k of −w*. All claims here read the same ledgers.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.diagnostics.homogeneous_margins import losses
from widenet.papers.sarussi2021.formulas import (
    LARGEST_PUSH,
    alignment_growth,
    norm_square_after,
    norm_square_growth,
    row_growth,
)
from widenet.papers.sarussi2021.hypotheses import SHAPE, input_norm, labels, once_per_epoch, separable
from widenet.papers.sarussi2021.runs.ledgers import Ledger, Updates, ledgers
from widenet.records import Form

LEVELS = (0.5, 0.1, 0.02)
"""ε_0 at which epochs are counted as violating."""
SMALLEST = 1e-290
"""Below this, relative to the vectors they are made with, products have lost digits to the smallest number of float64
(5e-324): updates that are so small are not scored."""
ABOVE_UNDERFLOW = "updates above underflow"

Times = Float[np.ndarray, "run time"]
Agreed = Bool[np.ndarray, "run update"]
PerEpoch = Float[np.ndarray, "run epoch"]


class LedgerSteps(Ledger):
    """The ledgers, with what Section 9 makes of them."""

    norms_before: Updates = derived(lambda runs: np.column_stack([runs.start_norm, runs.norms[:, :-1]]))  #: G_{t−1}
    norms_from_0: Times = derived(lambda runs: np.column_stack([runs.start_norm, runs.norms]))  #: G_t, from t = 0 on
    alignments_from_0: Times = derived(lambda runs: np.column_stack([runs.start_alignment, runs.alignments]))  #: F_t
    number: Updates = derived(lambda runs: np.cumsum(np.ones_like(runs.norms), axis=1))  #: t, from 1
    epoch_loss: PerEpoch = derived(
        lambda runs: by_epoch(runs, losses(runs.margins)).max(axis=2)
    )  #: the largest sampled
    epoch_gain: PerEpoch = derived(lambda runs: by_epoch(runs, runs.gains).sum(axis=2))  #: what it adds to F
    epoch_alignment: PerEpoch = derived(lambda runs: by_epoch(runs, runs.alignments)[:, :, -1])  #: F at its end

    # Why a drift is NaN: the rows do not agree. One that was lost with the update itself, ‖ΔW‖² included, is another.
    plus_agree: Agreed = derived(lambda runs: ~np.isnan(runs.plus_drifts) | ~np.isfinite(runs.squares))
    minus_agree: Agreed = derived(lambda runs: ~np.isnan(runs.minus_drifts) | ~np.isfinite(runs.squares))
    both_agree: Agreed = derived(lambda runs: runs.plus_agree & runs.minus_agree)

    @property
    def shape(self) -> tuple[Number, Number, Number]:
        """η, v and k."""
        return self.step_size, self.output_weight, self.half_width

    @property
    def stacked_norm(self) -> np.ndarray:
        """‖W*‖ = √(2k)‖w*‖."""
        return (2 * self.half_width) ** 0.5 * self.separator_norm

    @property
    def floor(self) -> np.ndarray:
        """Below this the gain ⟨ΔW, W*⟩ is decided by underflow."""
        return SMALLEST * (1 + self.separator_norm)

    @property
    def blur(self) -> np.ndarray:
        """What rounding of ⟨w_j, x⟩ can do to 2⟨W, ΔW⟩, where its terms cancel: ‖W‖ and R_x do not."""
        sizes = (2 * self.half_width) ** 0.5 * self.norms_before * self.largest_norm
        return ROUNDING * 2 * self.step_size * self.pushes * self.output_weight * sizes


class CountedSteps(LedgerSteps):
    """The same, where updates are counted and not runs."""

    def counts(self) -> dict[str, int]:
        """How many updates."""
        return {"tried": len(self.per("update"))}


def by_epoch(runs: Ledger, values: Updates) -> Float[np.ndarray, "run epoch point"]:
    """One row per epoch."""
    return values.reshape(len(values), values.shape[1] // runs.n_samples, runs.n_samples)


def updates_checked(runs: LedgerSteps) -> dict[str, int]:
    """How many."""
    return {"updates_checked": len(runs.per("update"))}


@claim("sarussi2021.equation_10", Kind.IDENTITY, "Eq. 10, Section 9", reads=ledgers, given=[separable],
       details=updates_checked, title="The alignment $F$ is at most the product of two norms")  # fmt: skip
def equation_10(
    runs: LedgerSteps, *, constant: Callable[[LedgerSteps], np.ndarray] = lambda t: t.stacked_norm
) -> Promised:
    """$|F_t| ≤ ‖W*‖·G_t$, where $F_t = ⟨W_t, W*⟩$, $G_t = ‖W_t‖$ and $‖W*‖ = √(2k)‖w*‖$.

    The paper prints a ratio, which is not defined at W = 0. The start counts too.
    """
    t = runs.per("time")
    limit = constant(t) * t.norms_from_0
    return {
        "above": at_most(t.alignments_from_0, limit, within=ROUNDING, text="$F_t ≤ ‖W*‖·G_t$"),
        "below": at_most(-t.alignments_from_0, limit, within=ROUNDING, text="$F_t ≥ −‖W*‖·G_t$"),
    }


@claim("sarussi2021.equation_13", Kind.STEP, "Eq. 13, Section 9", reads=ledgers, given=[input_norm, labels, *SHAPE],
       details=updates_checked, title="What one update adds to the squared norm of the weights")  # fmt: skip
def equation_13(
    runs: LedgerSteps, *, after: Callable[..., np.ndarray] = norm_square_after, cross: float = 2.0
) -> Promised:
    """Every update satisfies $G_t² ≤ G_{t−1}² + 2η|ℓ'_t|q_t + 2kη²v²R_x²|ℓ'_t|²$, where $q_t = y_t N_{t−1}(x_t)$: the
    cross term $2⟨W_{t−1}, ΔW⟩$ equals $2η|ℓ'_t|q_t$, and $‖ΔW‖²$ is at most the last term.
    """
    u = runs.per("update")
    limit = after(0.0, u.pushes, 0.0, *u.shape, u.largest_norm)
    product = cross * u.step_size * u.pushes * u.margins
    gap, sizes = np.abs(u.cross - product), (1 + u.norms) * (1 + u.largest_norm)
    return {
        "square": at_most(
            u.squares,
            limit,
            within=STEP,
            where=~(limit <= SMALLEST),
            event=ABOVE_UNDERFLOW,
            text="$‖ΔW‖² ≤ 2kη²v²R_x²|ℓ'|²$",
        ),
        "product": equal(
            u.cross,
            product,
            within=STEP,
            of=u.scales,
            undecided=(gap > STEP * u.scales) & (gap <= u.blur),
            where=~(u.scales <= SMALLEST * sizes),
            event=ABOVE_UNDERFLOW,
            text="$2⟨W, ΔW⟩ = 2η|ℓ'|q$",
        ),
    }


@claim("sarussi2021.equation_14", Kind.STEP, "Eq. 14, Section 9", reads=ledgers, given=[separable, *SHAPE],
       details=updates_checked, title="Every update aligns the weights further with a separator")  # fmt: skip
def equation_14(runs: LedgerSteps, *, factor: float = 1.0) -> Promised:
    """Every update adds at least $2kηvα|ℓ'_t|$ to $F$."""
    u = runs.per("update")
    limit = factor * 2 * u.half_width * u.step_size * u.output_weight * u.slope * u.pushes
    return {
        "growth": at_least(
            u.gains,
            limit,
            within=STEP,
            where=~(limit <= u.floor),
            event=ABOVE_UNDERFLOW,
            trivial=0.0,
            text="$F$ grows by at least $2kηvα|ℓ'|$",
        )
    }


@claim("sarussi2021.equation_15", Kind.STEP, "Eq. 15, Section 9", reads=ledgers, given=[input_norm, labels, *SHAPE],
       form=Form.SHARPER, details=updates_checked,
       title="The squared norm grows at most linearly in the updates")  # fmt: skip
def equation_15(
    runs: LedgerSteps, *, growth: Callable[..., np.ndarray] = norm_square_growth, push: float = LARGEST_PUSH
) -> Promised:
    """After $T$ updates $G_T² ≤ G_0² + T(2kη²v²R_x² + 2η)$. Sharper than printed, $2η·0.2785$ may take the place of
    $2η$, since $x/(1 + e^x)$ is at most $Λ(1/e) = 0.27846…$.

    Compared is the growth G_T² − G_0²: beside a large G_0² any bound on G_T² looks attained.
    """
    u = runs.per("update")
    start = u.start_norm**2

    def bounded(largest: float, text: str) -> Sides:
        limit = u.number * growth(*u.shape, u.largest_norm, largest)
        room = STEP * limit + ROUNDING * start
        return at_most(u.norms**2 - start, limit, room=room, text=text, quantity="growth of G² in T updates")

    return {
        "growth": bounded(1.0, "$G_T² − G_0² ≤ T(2kη²v²R_x² + 2η)$"),
        "sharp_growth": bounded(push, "the same with $2η·Λ(1/e)$"),
    }


@claim("sarussi2021.equation_18", Kind.STEP, "Eqs. 17 and 18, Section 9", reads=ledgers,
       given=[separable, once_per_epoch, *SHAPE], details=updates_checked,
       title="Every epoch with a large loss adds a fixed amount to $F$")  # fmt: skip
def equation_18(
    runs: LedgerSteps, *, levels: Sequence[float] = LEVELS, growth: Callable[..., np.ndarray] = alignment_growth,
    more: int = 0,
) -> Promised:  # fmt: skip
    """An epoch in which some sampled loss exceeds $ε_0$ adds at least $2kηvα(1 − e^{−ε_0})$ to $F$ (17). So after $V$
    such epochs, and any others, $F ≥ F_0 + 2kηvα(1 − e^{−ε_0})V$ (18).

    The paper has every epoch violating; that the others do no harm is ours.

    In code: `more` counts V too high, for a control.
    """
    e, level = runs.per("epoch"), np.array(levels)[:, None]
    unit = growth(e.slope, *e.shape, level)
    counts = np.stack([violating_epochs(runs, each) for each in levels]) + more
    total, sizes = unit * counts, np.abs(e.epoch_alignment) + np.abs(e.start_alignment)
    violating = (e.epoch_loss > level) & ~(unit <= e.floor)
    return {
        "one_epoch": at_least(
            e.epoch_gain,
            unit,
            within=STEP,
            where=violating,
            event="epochs with a sampled loss above $ε_0$",
            trivial=0.0,
            text="one violating epoch (17)",
        ),
        "all_epochs": at_least(
            e.epoch_alignment - e.start_alignment,
            total,
            within=STEP,
            of=total + sizes,
            where=counts > 0,
            event="epochs from the first violating one on",
            trivial=0.0,
            text="all violating epochs (18)",
        ),
    }


def violating_epochs(runs: LedgerSteps, level: float) -> Int[np.ndarray, " case"]:
    """V after each epoch."""
    return runs.per("epoch").map(lambda cell: np.cumsum(cell.epoch_loss > level, axis=1), int)


@claim("sarussi2021.rows_grow", Kind.STEP, "not in the paper; needed by the proof of Theorem 6.1", reads=ledgers,
       given=[separable, input_norm, *SHAPE], details=updates_checked,
       form=Form.OURS, title="Every row moves along the separator by its share")  # fmt: skip
def rows_grow(runs: CountedSteps, *, bound: Callable[..., np.ndarray] = row_growth) -> Promise:
    """Every row moves along $±w*$ by its share: $(w_t − w_0)·w* ≥ α‖W_t − W_0‖/(√(2k)R_x)$ for the rows that vote plus,
    and $−(u_t − u_0)·w*$ is at least as large for the others. So no row stays behind, and in the limit neither sign
    vanishes.

    Where the weights have moved by less than float64 can tell from 0 beside rows of their length, nothing is scored.
    """
    u = runs.per("update")
    limit = bound(u.slope, u.distances, u.half_width, u.largest_norm)
    blur = ROUNDING * ((u.norms + u.start_norm) * u.separator_norm)
    blurred = limit <= blur
    how = {"room": STEP * limit + blur, "where": ~blurred, "event": "updates that moved the weights visibly"}
    return Promise(
        {
            "plus_rows": at_least(u.plus_growth, limit, trivial=0.0, text="plus rows", **how),
            "minus_rows": at_least(u.minus_growth, limit, trivial=0.0, text="minus rows", **how),
        },
        event=~blurred,
        note=f"Not scored: {int(blurred.sum())} updates by which the weights had moved less than rounding can tell."
        if blurred.any()
        else "",
    )


def agreements(runs: LedgerSteps) -> dict[str, int]:
    """At how many updates the rows of a sign agreed."""
    u = runs.per("update")
    return {**updates_checked(runs), "updates_with_agreement": int(u.plus_agree.sum() + u.minus_agree.sum())}


@claim("sarussi2021.section_13_differences", Kind.IDENTITY, "Section 13 (the differences of rows)", reads=ledgers,
       given=[], details=agreements, title="Rows that agree on a point keep their differences")  # fmt: skip
def section_13_differences(runs: LedgerSteps) -> Promised:
    """Where all rows of one sign agree on the sampled point, they get the same increment, so their differences do not
    change. Where both signs do, $r$, the larger radius of the two clusters, does not change either.

    Updates at which they do not agree are not scored.
    """
    u = runs.per("update")
    # An update may take long rows back to short ones; their differences were rounded when they were long.
    sizes = np.maximum(np.maximum(u.norms, u.norms_before), 1.0)

    def still(drift: np.ndarray, agree: np.ndarray, text: str) -> Sides:
        agreeing = {"where": agree, "event": "updates at which the rows agree"}
        return equal(drift, 0, within=STEP, of=sizes, text=text, **agreeing)

    return {
        "plus_rows": still(u.plus_drifts, u.plus_agree, "plus rows"),
        "minus_rows": still(u.minus_drifts, u.minus_agree, "minus rows"),
        "radius": still(u.radius_drifts, u.both_agree, "$r$ is frozen"),
    }
