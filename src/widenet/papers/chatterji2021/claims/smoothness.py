"""Section 3.3 and Appendix B: the loss is smooth in proportion to itself, so a step that is small enough lowers it."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import labels
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.columns import FollowedDescent, Looked, both
from widenet.papers.chatterji2021.formulas import (
    LEAST_SHARE,
    SHARP,
    diagonal_bound,
    gradient_bound,
    hessian_bound,
    largest_double_sum,
    off_diagonal_bound,
    repaired_hessian_sum,
    squared_hessian_sum,
    wide_diagonal_bound,
)
from widenet.papers.chatterji2021.hypotheses import (
    SETTING,
    bandwidth_below_one,
    lemma_8_step,
    local_step,
    local_step_positive,
    steps_up_to,
    unit_direction,
    unit_inputs,
)
from widenet.papers.chatterji2021.runs.descents import possible_descents
from widenet.papers.chatterji2021.runs.networks import networks
from widenet.papers.chatterji2021.runs.scalars import RowNorms, draw_row_norms
from widenet.records import Form

Bound = Callable[..., np.ndarray]


@claim("chatterji2021.lemma_5", Kind.STEP, "Lemma 5, Appendix B.1", reads=networks,
       given=[local_step, local_step_positive, *SETTING],
       title="A short step lowers the loss by $(5/6)α‖∇L‖²$")  # fmt: skip
def lemma_5(cells: Looked, *, share: float = LEAST_SHARE) -> Promised:
    """If $‖∇²L‖ ≤ M$ on the segment from $V$ to $V − α∇L$, a step $α ≤ 1/(3M)$ lowers the loss by at least
    $(5/6)α‖∇L‖²$.

    The steps are 1/(3M). M is measured where no unit changes its piece of φ on the way, and follows from Lemmas 6 and 7
    where one does, so it rests on unit inputs and h = 1/p. Harmful units near 0 attain 5/6.
    """
    gains = at_least(
        cells.local_efficiencies,
        share,
        within=STEP,
        where=cells.moves,
        event="networks that move",
        counted_from=1.0,
        text="decrease at least $(5/6)α‖∇L‖²$",
        quantity="(L − L')/(α‖∇L‖²): 1 for short steps, from where the share is counted",
    )
    return {"decrease": gains}


@claim("chatterji2021.equations_23_24", Kind.STEP, "Eqs. 23 and 24, Appendix B.2", reads=networks,
       given=[unit_inputs, labels, bandwidth_below_one],
       title="Blocks of the Hessian are bounded by the loss")  # fmt: skip
def equations_23_24(
    cells: Looked,
    *,
    off_diagonal: Bound = off_diagonal_bound,
    diagonal: Bound = diagonal_bound,
    wide: Bound = wide_diagonal_bound,
) -> Promised:
    """Blocks of the Hessian: $‖∇_{v_i}∇_{v_j}L‖ ≤ L$ for $i ≠ j$, and $‖∇²_{v_i}L‖ ≤ (1 + 1/h)L ≤ 2L/h$."""
    h, loss = cells.bandwidth, cells.losses
    return {
        "off_diagonal": at_most(
            cells.off_diagonals, off_diagonal(h, loss), within=STEP, text="$‖∇_{v_i}∇_{v_j}L‖ ≤ L$"
        ),
        "diagonal": at_most(cells.diagonals, diagonal(h, loss), within=STEP, text="$‖∇²_{v_i}L‖ ≤ (1 + 1/h)L$"),
        "wide": at_most(cells.diagonals, wide(h, loss), within=STEP, text="$‖∇²_{v_i}L‖ ≤ 2L/h$"),
    }


@claim("chatterji2021.lemma_6", Kind.STEP, "Lemma 6, Appendix B.2", reads=networks, given=SETTING,
       form=Form.SHARPER, title="The Hessian is at most $5pL$")  # fmt: skip
def lemma_6(
    cells: Looked,
    *,
    bound: Bound = hessian_bound,
    squared: Bound = squared_hessian_sum,
    sharp: float = SHARP,
    sharp_pull: float = SHARP,
) -> Promise:
    """$‖∇²L‖ ≤ 5pL$ for $h = 1/p$; the proof ends at $‖∇²L‖² ≤ 12p²L²$. Sharper, and attained in the limit: $‖∇²L‖ ≤
    κpL$ with $κ = (3 + √5)/2$, and even $κp·mean(g)$.
    """
    p, loss, found = cells.half_width, cells.losses, cells.hessian_norms
    return Promise(
        {
            "printed": at_most(found, bound(p, loss), within=STEP, text="$‖∇²L‖ ≤ 5pL$"),
            # over L², which may underflow
            "squared": at_most((found / loss) ** 2, squared(p, 1.0), within=STEP, text="$(‖∇²L‖/L)² ≤ 12p²$"),
            "sharp": at_most(found, sharp * p * loss, within=STEP, text="$‖∇²L‖ ≤ κpL$"),
            "sharp_pull": at_most(found, sharp_pull * p * cells.pulls, within=STEP, text="$‖∇²L‖ ≤ κp·mean(g)$"),
        },
        details=lambda: {"largest ‖∇²L‖/(pL)": (found / (p * loss)).max()},
    )


@claim("chatterji2021.lemma_6_sums", Kind.STEP, "Proof of Lemma 6, after Eq. 25 (repaired)", draws=draw_row_norms,
       given=[unit_direction], form=Form.REPAIR,
       title="The four sums of Lemma 6 are at most $(4p − 1)²L²$")  # fmt: skip
def lemma_6_sums(
    drawn: RowNorms, *, double_sum: Callable[..., np.ndarray] = largest_double_sum, total: Bound = repaired_hessian_sum
) -> Promise:
    """With $Σ‖a_j‖² = 1$ over $2p$ rows, $Σ_{j≠k}‖a_j‖‖a_k‖ ≤ 2p − 1$, so the four sums of (25) add up to at most $(4p
    − 1)²L²$.

    The paper has p in place of 2p − 1 for the mixed sums, which equal norms exceed for p ≥ 2: a sum over k ≠ j of
    ‖a_j‖² lost its factor. The lemma has room for both.
    """
    p = drawn.half_width
    return Promise(
        {
            "mixed": at_most(drawn.mixed, double_sum(p), within=ROUNDING, text="$Σ_{j≠k}‖a_j‖‖a_k‖ ≤ 2p − 1$"),
            "all_four": at_most(drawn.four_sums, total(p, 1.0), within=ROUNDING, text="all four sums $≤ (4p − 1)²L²$"),
        },
        details={"directions_beyond_the_printed_p": (drawn.mixed > p + STEP).sum()},
        note="The printed bound p on the first sum fails for p ≥ 2; Lemma 6 does not depend on it.",
    )


@claim("chatterji2021.lemma_6_sums_as_printed", Kind.STEP, "Proof of Lemma 6, the last two terms of Eq. 25",
       draws=draw_row_norms, given=[unit_direction],
       title="Each mixed sum in the proof of Lemma 6 equals $p$")  # fmt: skip
def lemma_6_sums_as_printed(drawn: RowNorms) -> Promise:
    """With $Σ‖a_j‖² = 1$ over $2p$ rows, $Σ_{j≠k}(‖a_j‖² + ‖a_k‖²)/2 = p$, and so each mixed sum of (25) is at most
    $2p²L²$.
    """
    text = "$Σ_{j≠k}(‖a_j‖² + ‖a_k‖²)/2 = p$"
    return Promise(
        {"sum": equal(drawn.printed_sum, drawn.half_width, within=ROUNDING, text=text)},
        note="The sum is 2p − 1, whatever the norms are. Lemma 6 does not depend on it.",
    )


@claim("chatterji2021.lemma_7", Kind.STEP, "Lemma 7, Appendix B.3", reads=(networks, possible_descents),
       given=[unit_inputs, labels], form=Form.SHARPER, title="The gradient is at most $√(2p)·min{L, 1}$")  # fmt: skip
def lemma_7(
    cells: Looked, runs: FollowedDescent, *, by_loss: float = 1.0, flat: float = 1.0, sharp: float = 1.0
) -> Promised:
    """$‖∇L‖ ≤ √(2p)·min{L, 1}$. Sharper: $√(2p)·mean(g)$, attained by one point with every unit on its linear piece."""
    t, own = runs.per("iterate"), np.sqrt(2 * cells.half_width)
    roots = both(own, gradient_bound(t.half_width, np.ones_like(t.norms)))
    loss, found = both(cells.losses, t.losses), both(cells.gradient_norms, t.gradient_norms)
    return {
        "by_loss": at_most(found, by_loss * roots * loss, within=STEP, text="$‖∇L‖ ≤ √(2p)·L$"),
        "flat": at_most(found, flat * roots, within=STEP, text="$‖∇L‖ ≤ √(2p)$"),
        "sharp": at_most(cells.gradient_norms, sharp * own * cells.pulls, within=STEP, text="$‖∇L‖ ≤ √(2p)·mean(g)$"),
    }


LEMMA_8, SHARPER = 1 / 30, 1 / (3 * SHARP)
"""The longest pαL of each."""


def _decrease(cells: Looked, runs: FollowedDescent, longest: float, share: float) -> Promised:
    """Steps with pαL up to `longest`, each against its share of α‖∇L‖²."""
    looks, u = cells.per("step"), runs.per("step")
    gains, chosen = both(looks.efficiencies, u.efficiencies), both(looks.share, u.share)
    moving = both(looks.has_gradient, u.has_gradient)
    falls = at_least(
        gains,
        share,
        within=STEP,
        where=(chosen <= longest) & moving,
        event="steps up to this length, of networks that move",
        counted_from=1.0,
        text="$L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²$",
        quantity="(L_t − L_{t+1})/(α_t‖∇L_t‖²): 1 for short steps, from where the share is counted",
    )
    return {"decrease": falls}


@claim("chatterji2021.lemma_8", Kind.STEP, "Lemma 8, Appendix B.4", reads=(networks, possible_descents),
       given=[*steps_up_to(LEMMA_8), *SETTING], title="A step with $αL ≤ 1/(30p)$ lowers the loss")  # fmt: skip
def lemma_8(cells: Looked, runs: FollowedDescent, *, share: float = LEAST_SHARE) -> Promised:
    """A step with $α_t L_t ≤ 1/(30p)$ lowers the loss: $L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²$."""
    return _decrease(cells, runs, LEMMA_8, share)


@claim("chatterji2021.lemma_8_sharp", Kind.STEP, "not in the paper; Lemma 8 with κ for 5",
       reads=(networks, possible_descents), given=[*steps_up_to(SHARPER), *SETTING],
       form=Form.SHARPER, title="Steps 3.8 times as long still lower the loss")  # fmt: skip
def lemma_8_sharp(cells: Looked, runs: FollowedDescent, *, share: float = LEAST_SHARE) -> Promised:
    """Lemma 8 holds for $α_t L_t ≤ 1/(3κp)$ with $κ = (3 + √5)/2$: steps may be 3.8 times as long."""
    return _decrease(cells, runs, SHARPER, share)


@claim("chatterji2021.lemma_8_segment", Kind.STEP, "Proof of Lemma 8, Appendix B.4", reads=networks,
       given=[lemma_8_step, *SETTING], form=Form.SHARPER,
       title="Loss and Hessian stay bounded along a step")  # fmt: skip
def lemma_8_segment(
    cells: Looked, *, curved: float = 10.0, high: float = 2.0, sharp: float = SHARP, level: float = 1.0
) -> Promised:
    """On the whole segment of a step with $α_t L_t ≤ 1/(30p)$, $‖∇²L(W)‖ ≤ 10pL_t$ and $L(W) ≤ 2L_t$. Sharper:
    $‖∇²L(W)‖ ≤ κpL_t$ and $L(W) ≤ L_t$.
    """
    p, loss, hessians, losses = cells.half_width, cells.losses, cells.segment_hessians, cells.segment_losses
    return {
        "curved": at_most(hessians, curved * p * loss, within=STEP, text="$‖∇²L(W)‖ ≤ 10pL_t$"),
        "high": at_most(losses, high * loss, within=STEP, text="$L(W) ≤ 2L_t$"),
        "sharp": at_most(hessians, sharp * p * loss, within=STEP, text="$‖∇²L(W)‖ ≤ κpL_t$"),
        "level": at_most(losses, level * loss, within=STEP, text="$L(W) ≤ L_t$"),
    }
