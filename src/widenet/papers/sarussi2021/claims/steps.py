"""Section 9, update by update: F = ⟨W, W*⟩ grows, G = ‖W‖ grows slowly, and F ≤ G‖W*‖.

W* stacks k copies of w* and k of −w*. All claims here read the same ledgers.
"""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Runs, Silence, claim, pick
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.sarussi2021.claims.conditions import SHAPE, conditions
from widenet.papers.sarussi2021.claims.specimens import epochs_allowed, own_runs, silence_over_training
from widenet.papers.sarussi2021.formulas import (
    LARGEST_PUSH,
    alignment_growth,
    norm_square_after,
    norm_square_growth,
    row_growth,
)
from widenet.papers.sarussi2021.runs.ledgers import Ledger, LedgerSetting, ledgers

LEVELS = (0.5, 0.1, 0.02)
"""ε_0 at which epochs are counted as violating."""
SMALLEST = 1e-290
"""Below this, relative to the vectors they are made with, products have lost digits to the smallest number of float64
(5e-324): updates that are so small are not scored."""


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """One flat array of cases."""
    return np.concatenate([np.ravel(part) for part in parts])


def stacked_norm(runs: Ledger) -> np.ndarray:
    """‖W*‖ = √(2k)‖w*‖, per run and broadcast over updates."""
    return ((2 * runs.half_width) ** 0.5 * runs.separator_norm)[:, None]


def _shape(runs: Ledger) -> tuple[float, float, int]:
    return runs.step_size, runs.output_weight, runs.half_width


@claim("sarussi2021.equation_10", Kind.IDENTITY, "Eq. 10, Section 9", reads=ledgers)
def equation_10(cells: Sequence[Ledger], *, constant: Callable[[Ledger], np.ndarray] = stacked_norm) -> Evidence:
    """|F_t| ≤ ‖W*‖·G_t, where F_t = ⟨W_t, W*⟩, G_t = ‖W_t‖ and ‖W*‖ = √(2k)‖w*‖.

    The paper prints a ratio, which is not defined at W = 0. The start counts too.
    """
    promised = [constant(runs) * np.column_stack([runs.start_norm, runs.norms]) for runs in cells]
    aligned = joined([np.column_stack([runs.start_alignment, runs.alignments]) for runs in cells])
    limits = joined(promised)
    return evidence(
        {
            "F_t ≤ ‖W*‖·G_t": Sides(aligned, limits, room=ROUNDING * limits),
            "F_t ≥ −‖W*‖·G_t": Sides(-aligned, limits, room=ROUNDING * limits),
        },
        pick(conditions(cells), "separable"),
        details=_counted(cells),
    )


@claim("sarussi2021.equation_13", Kind.STEP, "Eq. 13, Section 9", reads=ledgers)
def equation_13(
    cells: Sequence[Ledger], *, after: Callable[..., np.ndarray] = norm_square_after, cross: float = 2.0
) -> Evidence:
    """Every update has G_t² ≤ G_{t−1}² + 2η|ℓ'_t|q_t + 2kη²v²R_x²|ℓ'_t|², where q_t = y_t N_{t−1}(x_t): the cross term
    2⟨W_{t−1}, ΔW⟩ equals 2η|ℓ'_t|q_t, and ‖ΔW‖² is at most the last term.
    """
    limits = joined(
        [after(0.0, runs.pushes, 0.0, *_shape(runs), runs.largest_norm[:, None]) + 0 * runs.pushes for runs in cells]
    )
    promised = joined([cross * runs.step_size * runs.pushes * runs.margins for runs in cells])
    scales = joined([runs.scales for runs in cells])
    # Rows and points that the products are made with.
    sizes = joined([(1 + runs.norms) * (1 + runs.largest_norm[:, None]) for runs in cells])
    products = joined([runs.cross for runs in cells])
    gap = np.abs(products - promised)
    return evidence(
        {
            "‖ΔW‖² ≤ 2kη²v²R_x²|ℓ'|²": Sides(
                joined([runs.squares for runs in cells]), limits, room=STEP * limits, scored=~(limits <= SMALLEST)
            ),
            "2⟨W, ΔW⟩ = 2η|ℓ'|q": Sides(
                products,
                promised,
                Sense.EQUAL,
                room=STEP * scales,
                undecided=(gap > STEP * scales) & (gap <= joined(list(map(_blur, cells)))),
                scored=~(scales <= SMALLEST * sizes),
            ),
        },
        pick(conditions(cells), "input_norm", "labels", *SHAPE),
        details=_counted(cells),
    )


@claim("sarussi2021.equation_14", Kind.STEP, "Eq. 14, Section 9", reads=ledgers)
def equation_14(cells: Sequence[Ledger], *, factor: float = 1.0) -> Evidence:
    """Every update adds at least 2kηvα|ℓ'_t| to F."""
    limits = joined(
        [
            factor * 2 * runs.half_width * runs.step_size * runs.output_weight * runs.slope * runs.pushes
            for runs in cells
        ]
    )
    gains = joined([runs.gains for runs in cells])
    floors = joined([_smallest(runs) + 0 * runs.pushes for runs in cells])
    return evidence(
        {
            "F grows by at least 2kηvα|ℓ'|": Sides(
                gains, limits, Sense.AT_LEAST, room=STEP * limits, scored=~(limits <= floors), trivial=0.0
            )
        },
        pick(conditions(cells), "separable", *SHAPE),
        details=_counted(cells),
    )


@claim("sarussi2021.equation_15", Kind.STEP, "Eq. 15, Section 9", reads=ledgers)
def equation_15(
    cells: Sequence[Ledger], *, growth: Callable[..., np.ndarray] = norm_square_growth, push: float = LARGEST_PUSH
) -> Evidence:
    """After T updates G_T² ≤ G_0² + T(2kη²v²R_x² + 2η); and, sharper than printed, with 2η·0.2785 in place of 2η, since
    x/(1 + eˣ) is at most W₀(1/e) = 0.27846….

    Compared is the growth G_T² − G_0²: beside a large G_0² any bound on G_T² looks attained.
    """
    starts = joined([runs.start_norm[:, None] ** 2 + 0 * runs.norms for runs in cells])
    grown = joined([runs.norms**2 for runs in cells]) - starts
    parts = {}
    for name, largest in (("G_T² − G_0² ≤ T(2kη²v²R_x² + 2η)", 1.0), ("the same with 2η·W₀(1/e)", push)):
        limits = joined(
            [
                np.arange(1, runs.norms.shape[1] + 1) * growth(*_shape(runs), runs.largest_norm[:, None], largest)
                for runs in cells
            ]
        )
        parts[name] = Sides(grown, limits, room=STEP * limits + ROUNDING * starts, quantity="growth of G² in T updates")
    return evidence(parts, pick(conditions(cells), "input_norm", "labels", *SHAPE), details=_counted(cells))


@claim("sarussi2021.equation_18", Kind.STEP, "Eqs. 17 and 18, Section 9", reads=ledgers)
def equation_18(
    cells: Sequence[Ledger], *, levels: Sequence[float] = LEVELS, growth: Callable[..., np.ndarray] = alignment_growth,
    more: int = 0,
) -> Evidence:  # fmt: skip
    """An epoch in which some sampled loss exceeds ε_0 adds at least 2kηvα(1 − e^{−ε_0}) to F (17), so after V such
    epochs, and any others, F ≥ F_0 + 2kηvα(1 − e^{−ε_0})V (18).

    The paper has every epoch violating; that the others do no harm is ours. `more` counts V too high, for a control.
    """
    singles, totals = [], []
    for runs in cells:
        shape = (len(runs), -1, runs.n_samples)
        worst = np.logaddexp(0, -runs.margins).reshape(shape).max(axis=2)
        gains = runs.gains.reshape(shape).sum(axis=2)
        sizes = np.abs(runs.alignments.reshape(shape)[:, :, -1]) + np.abs(runs.start_alignment)[:, None]
        for level in levels:
            violates = worst > level
            unit = growth(runs.slope, *_shape(runs), level) + 0 * gains
            singles.append((gains, unit, violates & ~(unit <= _smallest(runs))))
            counts = np.cumsum(violates, axis=1) + more
            ends = runs.alignments.reshape(shape)[:, :, -1] - runs.start_alignment[:, None]
            totals.append((ends, unit * counts, counts > 0, sizes))
    parts = {}
    for name, rows in (("one violating epoch (17)", singles), ("all violating epochs (18)", totals)):
        measured, promised, scored, *size = (joined(list(column)) for column in zip(*rows, strict=True))
        room = STEP * (promised + (size[0] if size else 0))
        parts[name] = Sides(measured, promised, Sense.AT_LEAST, room=room, scored=scored, trivial=0.0)
    return evidence(parts, pick(conditions(cells), "separable", "once_per_epoch", *SHAPE), details=_counted(cells))


@claim("sarussi2021.rows_grow", Kind.STEP, "not in the paper; needed by the proof of Theorem 6.1", reads=ledgers)
def rows_grow(cells: Sequence[Ledger], *, bound: Callable[..., np.ndarray] = row_growth) -> Evidence:
    """Every row moves along ±w* by its share: ±(row_t − row_0)·w* ≥ α‖W_t − W_0‖/(√(2k)R_x), + for the rows that vote
    plus, − for the others. So no row stays behind, and in the limit neither sign vanishes.

    Where the weights have moved by less than float64 can tell from 0 beside rows of their length, nothing is scored.
    """
    limits = joined([bound(runs.slope, runs.distances, runs.half_width, runs.largest_norm[:, None]) for runs in cells])
    blurs = ROUNDING * joined(
        [(runs.norms + runs.start_norm[:, None]) * runs.separator_norm[:, None] for runs in cells]
    )
    blurred = limits <= blurs
    parts = {}
    for name, field in (("plus rows", "plus_growth"), ("minus rows", "minus_growth")):
        measured = joined([getattr(runs, field) for runs in cells])
        parts[name] = Sides(measured, limits, Sense.AT_LEAST, room=STEP * limits + blurs, scored=~blurred, trivial=0.0)
    return evidence(
        parts,
        pick(conditions(cells), "separable", "input_norm", *SHAPE),
        runs=Runs(tried=len(limits), outside=int(blurred.sum())),
        details=_counted(cells),
        note=f"Not scored: {int(blurred.sum())} updates by which the weights had moved less than rounding can tell."
        if blurred.any()
        else "",
    )


@claim("sarussi2021.section_13_differences", Kind.IDENTITY, "Section 13 (the differences of rows)", reads=ledgers)
def section_13_differences(cells: Sequence[Ledger], *, shift: float = 0.0) -> Evidence:
    """Where all rows of one sign agree on the sampled point, they get the same increment: their differences do not
    change; and where both signs do, nor does r, the larger radius of the two clusters.

    Updates at which they do not agree are not scored. `shift` adds a drift, for a control.
    """
    parts = {}
    for name, field in (
        ("plus rows", "plus_drifts"),
        ("minus rows", "minus_drifts"),
        ("r is frozen", "radius_drifts"),
    ):
        drifts = joined([getattr(runs, field) for runs in cells])
        # An update may take long rows back to short ones; their differences were rounded when they were long.
        sizes = joined([np.maximum(np.maximum(runs.norms, _norms_before(runs)), 1.0) for runs in cells])
        scored = ~np.isnan(drifts)
        parts[name] = Sides(drifts + shift, 0.0, Sense.EQUAL, room=STEP * sizes, scored=scored)
    agreeing = sum(part.scored.sum() for part in list(parts.values())[:2])
    return evidence(parts, details={**_counted(cells), "updates_with_agreement": int(agreeing)})


def _norms_before(runs: Ledger) -> np.ndarray:
    """G_{t−1} of every update."""
    return np.concatenate([runs.start_norm[:, None], runs.norms[:, :-1]], axis=1)


def _blur(runs: Ledger) -> np.ndarray:
    """What rounding of ⟨w_j, x⟩ can do to 2⟨W, ΔW⟩, where its terms cancel: ‖W‖ and R_x do not."""
    sizes = (2 * runs.half_width) ** 0.5 * _norms_before(runs) * runs.largest_norm[:, None]
    return ROUNDING * 2 * runs.step_size * runs.pushes * runs.output_weight * sizes


def _smallest(runs: Ledger) -> np.ndarray:
    """Below this the gain ⟨ΔW, W*⟩ is decided by underflow; per run and broadcast over updates."""
    return SMALLEST * (1 + runs.separator_norm)[:, None]


def _counted(cells: Sequence[Ledger]) -> dict[str, int]:
    return {"updates_checked": int(sum(runs.pushes.size for runs in cells))}


@equation_10.speaks
def ledgers_on(specimen: Specimen) -> list[LedgerSetting] | Silence:
    """Some epochs of networks of the chosen width and step on the reader's data."""
    if (reason := silence_over_training(specimen)) is not None:
        return reason
    most = max(1, min(100, 4000 // len(specimen.labels)))
    return [LedgerSetting(**own_runs(specimen), n_epochs=epochs_allowed(specimen, most))]


for _step in (equation_13, equation_14, equation_15, equation_18, rows_grow, section_13_differences):
    _step.speaks(ledgers_on)
