"""Section 3.3 and Appendix B: the loss is smooth in proportion to itself, so a step that is small enough lowers it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, at_most, claim, more_than, pick
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.conditions import conditions, efficiency, followed, joined
from widenet.papers.chatterji2021.claims.specimens import looks_and_runs_on, looks_on
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
    step_product,
    wide_diagonal_bound,
)
from widenet.papers.chatterji2021.runs.descents import Descent, descents
from widenet.papers.chatterji2021.runs.networks import SHARES, Networks, networks
from widenet.records import Scale

SETTING = ("unit_inputs", "labels", "bandwidth")
EFFICIENCY = "(L_t − L_{t+1})/(α_t‖∇L_t‖²)"

Bound = Callable[..., np.ndarray]


@claim("chatterji2021.lemma_5", Kind.STEP, "Lemma 5, Appendix B.1", reads=networks)
def lemma_5(cells: Sequence[Networks], *, share: float = LEAST_SHARE) -> Evidence:
    """Where ‖∇²L‖ ≤ M on the segment from V to V − α∇L, a step α ≤ 1/(3M) lowers the loss by at least (5/6)α‖∇L‖².

    The steps are 1/(3M). M is measured where no unit changes its piece of φ on the way, and follows from Lemmas 6 and 7
    where one does, so it rests on unit inputs and h = 1/p. Harmful units near 0 attain 5/6.
    """
    steps, smoothness = joined(cells, "local_steps"), joined(cells, "local_smoothness")
    scored = ~np.isnan(steps)
    products = 3 * steps[scored] * smoothness[scored]
    return evidence(
        {
            "decrease at least (5/6)α‖∇L‖²": Sides(
                joined(cells, "local_efficiencies"),
                share,
                Sense.AT_LEAST,
                room=STEP,
                scored=scored,
                quantity="(L − L')/(α‖∇L‖²)",
            )
        },
        (
            at_most("short_step", "largest 3αM", products.max(initial=0.0), 1, tolerance=ROUNDING),
            more_than("step_positive", "smallest step α", steps[scored].min(initial=np.inf), 0),
            *pick(conditions(cells), *SETTING),
        ),
    )


@claim("chatterji2021.equations_23_24", Kind.STEP, "Eqs. 23 and 24, Appendix B.2", reads=networks)
def equations_23_24(
    cells: Sequence[Networks],
    *,
    off_diagonal: Bound = off_diagonal_bound,
    diagonal: Bound = diagonal_bound,
    wide: Bound = wide_diagonal_bound,
) -> Evidence:
    """Blocks of the Hessian: ‖∇_{v_i}∇_{v_j}L‖ ≤ L for i ≠ j, and ‖∇²_{v_i}L‖ ≤ (1 + 1/h)L ≤ 2L/h."""
    given = joined(cells, "bandwidth"), joined(cells, "losses")
    parts = {}
    for name, field, bound in (
        ("‖∇_{v_i}∇_{v_j}L‖ ≤ L", "off_diagonals", off_diagonal),
        ("‖∇²_{v_i}L‖ ≤ (1 + 1/h)L", "diagonals", diagonal),
        ("‖∇²_{v_i}L‖ ≤ 2L/h", "diagonals", wide),
    ):
        limits = bound(*given)
        parts[name] = Sides(joined(cells, field), limits, room=STEP * limits)
    return evidence(parts, pick(conditions(cells), "unit_inputs", "labels", "bandwidth_below_one"))


@claim("chatterji2021.lemma_6", Kind.STEP, "Lemma 6, Appendix B.2", reads=networks)
def lemma_6(
    cells: Sequence[Networks],
    *,
    bound: Bound = hessian_bound,
    squared: Bound = squared_hessian_sum,
    sharp: float = SHARP,
    sharp_pull: float = SHARP,
) -> Evidence:
    """‖∇²L‖ ≤ 5pL for h = 1/p; its proof ends at ‖∇²L‖² ≤ 12p²L². Sharper, and attained in the limit: with
    κ = (3 + √5)/2 in place of 5, even κp·mean(g).
    """
    p, loss = joined(cells, "half_width"), joined(cells, "losses")
    found = joined(cells, "hessian_norms")
    limits = {
        "‖∇²L‖ ≤ 5pL": (found, bound(p, loss)),
        "(‖∇²L‖/L)² ≤ 12p²": ((found / loss) ** 2, squared(p, 1.0)),  # over L², which may underflow
        "‖∇²L‖ ≤ κpL": (found, sharp * p * loss),
        "‖∇²L‖ ≤ κp·mean(g)": (found, sharp_pull * p * joined(cells, "pulls")),
    }
    return evidence(
        {name: Sides(measured, limit, room=STEP * limit) for name, (measured, limit) in limits.items()},
        pick(conditions(cells), *SETTING),
        details={"largest ‖∇²L‖/(pL)": float((found / (p * loss)).max())},
    )


@dataclass(frozen=True, eq=False)
class RowNorms:
    """‖a_1‖, …, ‖a_2p‖ of some directions a, one direction per row, one array per p."""

    norms: tuple[Float[np.ndarray, "direction _"], ...]


def draw_row_norms(scale: Scale, seed: int) -> RowNorms:
    """Equal norms, one row alone, and random ones, for p up to 12."""
    draw, made = np.random.default_rng([seed, 6]), []
    for p in (1, 2, 3, 5, 12):
        rows = np.concatenate([np.ones((1, 2 * p)), np.eye(1, 2 * p), np.abs(draw.normal(size=(20, 2 * p)))])
        made.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return RowNorms(tuple(made))


@claim("chatterji2021.lemma_6_sums", Kind.STEP, "Proof of Lemma 6, after Eq. 25 (repaired)", draws=draw_row_norms)
def lemma_6_sums(
    drawn: RowNorms, *, double_sum: Callable[..., np.ndarray] = largest_double_sum, total: Bound = repaired_hessian_sum
) -> Evidence:
    """With Σ‖a_j‖² = 1 over 2p rows, Σ_{j≠k}‖a_j‖‖a_k‖ ≤ 2p − 1; so the four sums of (25) are together at most
    (4p − 1)²L².

    The paper has p in place of 2p − 1 for the mixed sums, which equal norms exceed for p ≥ 2: a sum over k ≠ j of
    ‖a_j‖² lost its factor. The lemma has room for both.
    """
    p = np.concatenate([np.full(len(norms), norms.shape[1] / 2) for norms in drawn.norms])
    squares = np.concatenate([(norms**2).sum(axis=1) for norms in drawn.norms])
    mixed = np.concatenate([norms.sum(axis=1) ** 2 for norms in drawn.norms]) - squares
    # Blocks at their bounds, 2pL on the diagonal and L off it, with L = 1: (∇²L)a is at most this in each row.
    products = [(norms.shape[1] - 1) * norms + norms.sum(axis=1, keepdims=True) for norms in drawn.norms]
    summed = np.concatenate([(rows**2).sum(axis=1) for rows in products])
    highest, limits = double_sum(p), total(p, 1.0)
    return evidence(
        {
            "Σ_{j≠k}‖a_j‖‖a_k‖ ≤ 2p − 1": Sides(mixed, highest, room=ROUNDING * highest),
            "all four sums ≤ (4p − 1)²L²": Sides(summed, limits, room=ROUNDING * limits),
        },
        (at_most("unit_direction", "largest |Σ‖a_j‖² − 1|", np.abs(squares - 1).max(), 0, tolerance=ROUNDING),),
        details={"directions_beyond_the_printed_p": int((mixed > p + STEP).sum())},
        note="The printed bound p on the first sum fails for p ≥ 2; Lemma 6 does not depend on it.",
    )


@claim(
    "chatterji2021.lemma_6_sums_as_printed",
    Kind.STEP,
    "Proof of Lemma 6, the last two terms of Eq. 25",
    draws=draw_row_norms,
)
def lemma_6_sums_as_printed(drawn: RowNorms) -> Evidence:
    """With Σ‖a_j‖² = 1 over 2p rows, Σ_{j≠k}(‖a_j‖² + ‖a_k‖²)/2 = p, and so each mixed sum of (25) is at most 2p²L²."""
    sums, p = [], []
    for norms in drawn.norms:
        pairs = (norms[:, :, None] ** 2 + norms[:, None, :] ** 2) / 2
        sums.append((pairs * ~np.eye(norms.shape[1], dtype=bool)).sum(axis=(1, 2)))
        p.append(np.full(len(norms), norms.shape[1] / 2))
    promised, errors = np.concatenate(p), [np.abs((norms**2).sum(axis=1) - 1).max() for norms in drawn.norms]
    return evidence(
        {
            "Σ_{j≠k}(‖a_j‖² + ‖a_k‖²)/2 = p": Sides(
                np.concatenate(sums), promised, Sense.EQUAL, room=ROUNDING * promised
            )
        },
        (at_most("unit_direction", "largest |Σ‖a_j‖² − 1|", max(errors), 0, tolerance=ROUNDING),),
        note="The sum is 2p − 1, whatever the norms are. Lemma 6 does not depend on it.",
    )


@claim("chatterji2021.lemma_7", Kind.STEP, "Lemma 7, Appendix B.3", reads=(networks, descents))
def lemma_7(
    cells: Sequence[Networks],
    runs: Sequence[Descent],
    *,
    by_loss: float = 1.0,
    flat: float = 1.0,
    sharp: float = 1.0,
) -> Evidence:
    """‖∇L‖ ≤ √(2p)·min{L, 1}. Sharper: √(2p)·mean(g), attained by one point with every unit on its linear piece."""
    root = np.sqrt(2 * joined(cells, "half_width"))
    along = followed(runs, lambda run: gradient_bound(run.half_width, np.ones_like(run.norms)))
    roots = np.concatenate([root, along])
    loss = np.concatenate([joined(cells, "losses"), followed(runs, lambda run: run.losses)])
    found = np.concatenate([joined(cells, "gradient_norms"), followed(runs, lambda run: run.gradient_norms)])
    limits = {
        "‖∇L‖ ≤ √(2p)·L": (found, by_loss * roots * loss),
        "‖∇L‖ ≤ √(2p)": (found, flat * roots),
        "‖∇L‖ ≤ √(2p)·mean(g)": (joined(cells, "gradient_norms"), sharp * root * joined(cells, "pulls")),
    }
    return evidence(
        {name: Sides(measured, limit, room=STEP * limit) for name, (measured, limit) in limits.items()},
        pick(conditions([*cells, *runs]), "unit_inputs", "labels"),
        note=noted(runs),
    )


def _decrease(
    cells: Sequence[Networks], runs: Sequence[Descent], longest: float, share: float
) -> tuple[Sides, tuple[Hypothesis, ...]]:
    """Steps with pαL up to `longest`, each against its share of α‖∇L‖².

    A look has steps for several lemmas, one per column; the longer ones belong to another one.
    """
    columns = slice(SHARES.index(longest) + 1)
    measured = [cell.efficiencies[:, columns].ravel() for cell in cells] + [efficiency(run) for run in runs]
    steps = [cell.steps[:, columns].ravel() for cell in cells] + [run.steps for run in runs]
    products = [
        step_product(cell.half_width[:, None], cell.steps[:, columns], cell.losses[:, None]).ravel() for cell in cells
    ] + [step_product(run.half_width, run.steps, run.losses[:-1]) for run in runs]
    found = np.concatenate(measured)
    scored = ~np.isnan(found)
    largest = np.concatenate(products).max() / (30 * longest)
    hypotheses = (
        at_most("short_step", "largest pαL, in units of what is allowed", largest, 1, tolerance=ROUNDING),
        more_than("step_positive", "smallest step α", np.concatenate(steps).min(), 0),
        *pick(conditions([*cells, *runs]), *SETTING),
    )
    sides = Sides(found, share, Sense.AT_LEAST, room=STEP, scored=scored, quantity=EFFICIENCY)
    return sides, hypotheses


@claim("chatterji2021.lemma_8", Kind.STEP, "Lemma 8, Appendix B.4", reads=(networks, descents))
def lemma_8(
    cells: Sequence[Networks], runs: Sequence[Descent], *, share: float = LEAST_SHARE, longest: float = 1 / 30
) -> Evidence:
    """A step with α_t L_t ≤ 1/(30p) lowers the loss: L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²."""
    sides, hypotheses = _decrease(cells, runs, longest, share)
    return evidence({"L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²": sides}, hypotheses, note=noted(runs))


@claim("chatterji2021.lemma_8_sharp", Kind.STEP, "not in the paper; Lemma 8 with κ for 5", reads=(networks, descents))
def lemma_8_sharp(
    cells: Sequence[Networks], runs: Sequence[Descent], *, share: float = LEAST_SHARE, longest: float = 1 / (3 * SHARP)
) -> Evidence:
    """Lemma 8 already follows from α_t L_t ≤ 1/(3κp), κ = (3 + √5)/2: steps may be 3.8 times longer."""
    sides, hypotheses = _decrease(cells, runs, longest, share)
    return evidence({"L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²": sides}, hypotheses, note=noted(runs))


@claim("chatterji2021.lemma_8_segment", Kind.STEP, "Proof of Lemma 8, Appendix B.4", reads=networks)
def lemma_8_segment(
    cells: Sequence[Networks],
    *,
    curved: float = 10.0,
    high: float = 2.0,
    sharp: float = SHARP,
    level: float = 1.0,
    most_product: float = 1.0,
) -> Evidence:
    """On the whole way of a step with α_t L_t ≤ 1/(30p), ‖∇²L(W)‖ ≤ 10pL_t and L(W) ≤ 2L_t. Sharper: ‖∇²L(W)‖ ≤ κpL_t
    and L(W) ≤ L_t.
    """
    p, loss = joined(cells, "half_width"), joined(cells, "losses")
    hessians, losses = joined(cells, "segment_hessians"), joined(cells, "segment_losses")
    limits = {
        "‖∇²L(W)‖ ≤ 10pL_t": (hessians, curved * p * loss),
        "L(W) ≤ 2L_t": (losses, high * loss),
        "‖∇²L(W)‖ ≤ κpL_t": (hessians, sharp * p * loss),
        "L(W) ≤ L_t": (losses, level * loss),
    }
    steps = np.concatenate([cell.steps[:, 1] for cell in cells])
    product = step_product(p, steps, loss).max() / most_product
    return evidence(
        {name: Sides(measured, limit, room=STEP * limit) for name, (measured, limit) in limits.items()},
        (
            at_most("short_step", "largest 30pαL", product, 1, tolerance=ROUNDING),
            *pick(conditions(cells), *SETTING),
        ),
    )


for _look in (lemma_5, equations_23_24, lemma_6, lemma_8_segment):
    _look.speaks(looks_on)
for _both in (lemma_7, lemma_8, lemma_8_sharp):
    _both.speaks(looks_and_runs_on)
