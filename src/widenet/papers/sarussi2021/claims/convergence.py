"""Section 4: SGD in epochs brings the logistic loss below any level, after at most M(n, ε) updates."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, Silence, at_most, claim, pick
from widenet.claims.meaning import Topic
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import BOUND, ROUNDING, STEP
from widenet.diagnostics.homogeneous_margins import losses as losses_of
from widenet.papers.sarussi2021.claims.conditions import SHAPE, conditions
from widenet.papers.sarussi2021.formulas import (
    epoch_bound,
    one_epoch,
    output_change,
    quadratic,
    update_bound,
    update_bound_constants,
)
from widenet.papers.sarussi2021.runs.epochs import ORDER_LEVELS, Epochs, EpochSetting, epochs, order_settings
from widenet.papers.sarussi2021.specimens import epochs_allowed, own_runs, silence_over_training

UpdateBound = Callable[..., np.ndarray]


@claim("sarussi2021.theorem_4_1", Kind.MAIN, "Theorem 4.1, Section 4; M in Section 9", reads=epochs)
def theorem_4_1(cells: Sequence[Epochs], *, bound: UpdateBound = update_bound) -> Evidence:
    """SGD with the logistic loss that visits every point once per epoch has L(W_t) < ε at some t ≤ M(n, ε) =
    C1‖w*‖²n²A² + C2‖w*‖^1.5 n^1.5 A^1.5 + C3‖w*‖nA + n, with A = 1 + (1 + 2v²R_x²ηkn)/ε, C1 = R_x²/α² + 1/(kηv²α²),
    C2 = √(R_0(8k²η²v²R_x² + 8kη))/(2k(ηvα)^1.5), C3 = 2R_0/(ηvα), for every width, step and initialization.

    From the proof, and far tighter: the loss is below ε at the end of the first epoch i_e in which every sampled loss
    is at most ε_0 = ε/(1 + 2v²R_x²ηkn), and n·i_e ≤ M. A run that gives up before M decides nothing.
    """
    hits, ends, losses, limits, levels, running, scales = [], [], [], [], [], [], []
    for runs in cells:
        for number, level in enumerate(runs.levels):
            hits.append(runs.hits[:, number])
            ends.append(runs.n_samples * runs.clean[:, number])
            final = runs.clean_margins[:, number, -1]
            losses.append(losses_of(final).mean(axis=1))
            limits.append(promised(runs, bound, level))
            levels.append(np.full(len(runs), level))
            running.append(np.full(len(runs), runs.updates))
            scales.append(runs.clean_scales[:, number])
    hit, end, loss, limit, level, made, scale = (
        np.concatenate(each) for each in (hits, ends, losses, limits, levels, running, scales)
    )
    lost, unclean = hit < 0, end == 0
    # A run that is cut off has at least this many updates behind it: more than M of them break the bound.
    count = np.where(lost, made, hit)
    return evidence(
        {
            "L < ε after at most M(n, ε) updates": Sides(
                count,
                limit,
                room=ROUNDING * limit,
                undecided=lost & (count <= limit),
                quantity="updates until L < ε, in the run closest to M",
            ),
            "L < ε at the end of the first clean epoch": Sides(
                loss, level, strict=True, undecided=_decided_by_rounding(loss, level, scale)
            ),
            "the first clean epoch ends within M(n, ε)": Sides(
                np.where(unclean, made, end), limit, room=ROUNDING * limit, undecided=unclean & (made <= limit)
            ),
        },
        conditions(cells),
        runs=Runs(tried=len(hit), unfinished=int((lost | unclean).sum())),
        details={"updates_to_level": hit, "updates_to_clean_epoch": end, "bound": limit},
        note=f"M is {np.median(limit / np.maximum(hit, 1)):.1g} times what the runs needed."
        + _gave_up(lost | unclean, made),
    )


def _gave_up(short: np.ndarray, made: np.ndarray) -> str:
    """Why some runs decide nothing, where some do."""
    if not short.any():
        return ""
    return (
        f" {int(short.sum())} of {len(short)} runs stopped before their first clean epoch, after at most "
        f"{int(made[short].max())} updates, far below M: they decide nothing about it."
    )


def _decided_by_rounding(loss: np.ndarray, level: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Whether a loss misses its level by no more than margins of this size are rounded, where that is not next to 0."""
    blur = ROUNDING * scale
    return (loss >= level) & (loss - level <= blur) & (blur > STEP * level)


def promised(runs: Epochs, bound: UpdateBound, level: float) -> np.ndarray:
    """M(n, ε) per run; NaN where nothing separates the data."""
    return bound(
        runs.separator_norm,
        runs.slope,
        runs.step_size,
        runs.output_weight,
        runs.half_width,
        runs.largest_norm,
        runs.row_bound,
        runs.n_samples,
        level,
    )


POINTS, LEVELS = np.array([1e5, 1e6]), np.array([1e-5, 1e-6])
"""Where the slopes of M are read off, in n at ε = 0.1 and in ε at n = 20: far out, where the leading terms rule."""


@claim("sarussi2021.theorem_4_1_order", Kind.TREND, "Section 4, after Theorem 4.1", reads=epochs.at(order_settings))
def theorem_4_1_order(cells: Sequence[Epochs], *, bound: UpdateBound = update_bound) -> Evidence:
    """M(n, ε) = O(n⁴/ε²), all else fixed, ‖w*‖ too: its slope in log n tends to 4, and in log 1/ε to 2.

    A property of the formula, with everything else as in the runs. ‖w*‖ grows with n in practice. The slopes of what
    runs really need are in the details.
    """
    first = cells[0]
    shape = (first.slope, first.step_size, first.output_weight, first.half_width)
    others = (first.separator_norm[0], *shape, first.largest_norm[0], first.row_bound[0])
    by_points, by_level = bound(*others, POINTS, 0.1), bound(*others, 20, LEVELS)
    hits = np.array([np.median(np.where(runs.hits < 0, np.nan, runs.hits), axis=0) for runs in cells])
    counts, levels = np.array([runs.n_samples for runs in cells]), np.array(ORDER_LEVELS)
    in_points = _slope(counts, hits[:, levels == 0.1][:, 0])
    in_levels = -_slope(levels, hits[counts == 20][0])
    return evidence(
        {
            "slope 4 in n": Sides(_slope(POINTS, by_points), 4.0, Sense.EQUAL, room=0.05),
            "slope 2 in 1/ε": Sides(-_slope(LEVELS, by_level), 2.0, Sense.EQUAL, room=0.05),
        },
        runs=Runs(tried=sum(len(runs) for runs in cells)),
        details={"measured_slope_in_n": in_points, "measured_slope_in_inverse_level": in_levels, "updates": hits},
        note=f"What the runs need grows like n^{in_points:.2g} and (1/ε)^{in_levels:.2g}.",
    )


def _slope(values: np.ndarray, counts: np.ndarray) -> float:
    """Of log counts against log values, by least squares."""
    across = np.log(values) - np.log(values).mean()
    return float(across @ np.log(counts) / (across @ across))


@claim("sarussi2021.equation_19", Kind.STEP, "Eq. 19, Section 9", reads=epochs)
def equation_19(
    cells: Sequence[Epochs], *, relaxed: Callable[..., np.ndarray] = epoch_bound, shift: float = 0.0
) -> Evidence:
    """If the first N_e epochs all have a sampled loss above ε_0, then T = nN_e has aT ≤ b√T + c, and so
    T ≤ C1‖w*‖²n²B² + C2‖w*‖^1.5 n^1.5 B^1.5 + C3‖w*‖nB with B = 1 + 1/ε_0; here a = 2kηvα(1 − e^{−ε_0})/n,
    b = ‖w*‖√(4k²η²v²R_x² + 4kη), c = 4kR_0‖w*‖.

    Only the epochs before the first clean one count. Runs end 10⁴ to 10⁶ below the bound.
    """
    left, right, counts, limits = [], [], [], []
    for runs in cells:
        shape = (runs.slope, runs.step_size, runs.output_weight, runs.half_width, runs.largest_norm, runs.row_bound)
        constants = update_bound_constants(*shape)
        for number in range(runs.clean.shape[1]):
            level, first = runs.clean_levels[:, number], runs.clean[:, number]
            violating = np.where(first > 0, first - 1, runs.largest_losses.shape[1])
            total = runs.n_samples * violating + shift
            a, b, c = quadratic(runs.separator_norm, *shape, runs.n_samples, level)
            left.append(a * total)
            right.append(b * np.sqrt(total) + c)
            counts.append(total)
            limits.append(relaxed(runs.separator_norm, runs.n_samples, 1 + 1 / level, constants))
    measured, promised_side, count, limit = (np.concatenate(each) for each in (left, right, counts, limits))
    return evidence(
        {
            "aT ≤ b√T + c": Sides(measured, promised_side, room=BOUND * promised_side),
            "T ≤ the right side of Eq. 19": Sides(count, limit, room=BOUND * limit),
        },
        conditions(cells),
        runs=Runs(tried=len(count)),
    )


@claim("sarussi2021.equation_24", Kind.STEP, "Eqs. 23 and 24, Section 9", reads=epochs)
def equation_24(cells: Sequence[Epochs], *, change: Callable[..., np.ndarray] = output_change) -> Evidence:
    """In an epoch in which every sampled loss is at most ε_0, s updates change no output by more than
    2v²R_x²ηks(1 − e^{−ε_0}) ≤ 2v²R_x²ηknε_0, and no loss either, between any two states of the epoch, its start and its
    end among them.
    """
    return evidence(
        _clean_epochs(cells, change),
        (*pick(conditions(cells), "input_norm", "once_per_epoch", *SHAPE), clean_epoch(cells)),
        runs=Runs(tried=sum(len(runs) for runs in cells)),
    )


def clean_epoch(cells: Sequence[Epochs]) -> Hypothesis:
    """No loss sampled in the epochs that are looked at is above their ε_0."""
    shares = [(runs.sampled.max(axis=2) / runs.clean_levels)[runs.clean > 0] for runs in cells]
    worst = np.concatenate(shares).max(initial=0.0)
    return at_most("clean_epoch", "largest loss sampled in the epoch / ε_0", worst, 1)


def _clean_epochs(cells: Sequence[Epochs], change: Callable[..., np.ndarray]) -> dict[str, Sides]:
    """The largest change between two states s updates apart, for every s, in every clean epoch."""
    outputs, losses, limits, relaxed, scales = [], [], [], [], []
    for runs in cells:
        states = runs.clean_margins.shape[2]
        unit = runs.n_samples // (states - 1)
        stored = losses_of(runs.clean_margins)
        for apart in range(1, states):
            steps = apart * unit
            moved = np.abs(runs.clean_margins[:, :, apart:] - runs.clean_margins[:, :, :-apart])
            rose = np.abs(stored[:, :, apart:] - stored[:, :, :-apart])
            shape = (runs.step_size, runs.output_weight, runs.half_width, runs.largest_norm[:, None])
            found = runs.clean > 0
            outputs.append(moved.max(axis=(2, 3))[found])
            losses.append(rose.max(axis=(2, 3))[found])
            limits.append((change(steps, runs.clean_levels, *shape) + 0 * runs.clean_levels)[found])
            relaxed.append((one_epoch(runs.n_samples, *shape) * runs.clean_levels)[found])
            scales.append(runs.clean_scales[found])
    moved, rose, limit, loose, scale = (np.concatenate(each) for each in (outputs, losses, limits, relaxed, scales))
    room = STEP * limit + ROUNDING * scale
    return {
        "outputs move by at most 2v²R_x²ηks(1 − e^{−ε_0})": Sides(moved, limit, room=room),
        "losses move by no more": Sides(rose, limit, room=room),
        "that is at most 2v²R_x²ηknε_0": Sides(limit, loose, room=ROUNDING * loose),
    }


@claim("sarussi2021.equation_25", Kind.STEP, "Eq. 25, Section 9", reads=epochs)
def equation_25(cells: Sequence[Epochs], *, epoch: Callable[..., np.ndarray] = one_epoch) -> Evidence:
    """At the end of an epoch in which every sampled loss is at most ε_0, every loss is at most (1 + 2v²R_x²ηkn)ε_0.

    The end of epoch i_e is the state after n·i_e updates. Not at n·i_e + 1, as printed.
    """
    losses, limits, scales = [], [], []
    for runs in cells:
        shape = (runs.step_size, runs.output_weight, runs.half_width, runs.largest_norm[:, None])
        found = runs.clean > 0
        losses.append(losses_of(runs.clean_margins[:, :, -1]).max(axis=2)[found])
        limits.append(((1 + epoch(runs.n_samples, *shape)) * runs.clean_levels)[found])
        scales.append(runs.clean_scales[found])
    loss, limit, scale = (np.concatenate(each) for each in (losses, limits, scales))
    return evidence(
        {
            "every loss is at most (1 + 2v²R_x²ηkn)ε_0": Sides(
                loss, limit, room=ROUNDING * limit, undecided=_decided_by_rounding(loss, limit, scale)
            )
        },
        (*pick(conditions(cells), "input_norm", "once_per_epoch", *SHAPE), clean_epoch(cells)),
        runs=Runs(tried=sum(len(runs) for runs in cells)),
    )


@theorem_4_1.speaks
def epochs_on(specimen: Specimen) -> list[EpochSetting] | Silence:
    """Networks of the chosen width and step on the reader's data, for as many epochs as a few seconds allow."""
    if (reason := silence_over_training(specimen)) is not None:
        return reason
    most = max(2, min(6000, 20_000 // len(specimen.labels)))
    return [EpochSetting(**own_runs(specimen), clean_levels=(), most_epochs=epochs_allowed(specimen, most))]


for _step in (equation_19, equation_24, equation_25):
    _step.speaks(epochs_on)

theorem_4_1.means(
    Topic.UPDATES,
    "SGD with the logistic loss brings the loss as low as one likes; for the lowest tried here it needs at most "
    "{promised} steps.",
    "the run that came closest needed {measured}",
)
