"""Section 4: SGD in epochs brings the logistic loss below any level, after at most M(n, ε) updates."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, Number, column, derived
from widenet.claims.implication import Promise, Promised, at_most, equal, hypothesis, less_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Sides
from widenet.claims.tolerances import BOUND, ROUNDING, STEP
from widenet.diagnostics.homogeneous_margins import losses
from widenet.papers.sarussi2021.formulas import (
    epoch_bound,
    one_epoch,
    output_change,
    quadratic,
    update_bound,
    update_bound_constants,
)
from widenet.papers.sarussi2021.hypotheses import SGD, SHAPE, input_norm, once_per_epoch
from widenet.papers.sarussi2021.runs.after_clean_epoch import AfterCleanEpoch, draw_after
from widenet.papers.sarussi2021.runs.epochs import ORDER_LEVELS, Epochs, epochs, growing_clouds
from widenet.records import Form

UpdateBound = Callable[..., np.ndarray]
Levels = Float[np.ndarray, "run level"]
Cleans = Float[np.ndarray, "run clean"]
Changes = Float[np.ndarray, "run change"]


class EpochsPerSize(Epochs):
    """Runs of SGD, with what the runs of one setting need."""

    typical_hits: Float[np.ndarray, " hit"] = derived(
        lambda runs: np.median(np.where(runs.hits < 0, np.nan, runs.hits), axis=0)
    )


class Arrivals(Epochs):
    """Runs of SGD, with when they reach each ε of their setting."""

    hit: Int[np.ndarray, "run level"] = derived(lambda runs: runs.hits[:, : len(runs.levels)])  #: −1 if never
    #: the update at which the first clean epoch of this ε ends; 0 if there is none
    end: Int[np.ndarray, "run level"] = derived(lambda runs: runs.n_samples * runs.clean[:, : len(runs.levels)])
    end_loss: Levels = derived(lambda runs: losses(runs.clean_margins[:, : len(runs.levels), -1]).mean(axis=2))  #: then
    end_scale: Levels = derived(lambda runs: runs.clean_scales[:, : len(runs.levels)])  #: of the margins then
    unfinished: Bool[np.ndarray, " run"] = derived(lambda runs: ((runs.hit < 0) | (runs.end == 0)).any(axis=1))


def decided_by_rounding(loss: np.ndarray, level: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Whether a loss misses its level by no more than margins of this size are rounded, where that is not next to 0."""
    blur = ROUNDING * scale
    return (loss >= level) & (loss - level <= blur) & (blur > STEP * level)


def promised(runs: Epochs, bound: UpdateBound, level: float | np.ndarray) -> np.ndarray:
    """M(n, ε); infinite where nothing separates the data."""
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


def in_time(reached: np.ndarray, there: np.ndarray, made: Number, limit: np.ndarray, **words: str) -> Sides:
    """At most so many updates. A run that is cut off has `made` of them behind it: more than the limit break it too."""
    count = np.where(there, reached, made)
    return at_most(count, limit, within=ROUNDING, undecided=~there & (count <= limit), **words)


@claim("sarussi2021.theorem_4_1", Kind.MAIN, "Theorem 4.1, Section 4; M in Section 9", reads=epochs, given=SGD,
       title="SGD reaches any training loss within $M$ updates",
       means=Meaning(
           topic=Topic.UPDATES,
           promise="SGD with the logistic loss brings the loss as low as one likes; for the lowest tried here it needs "
           "at most {promised} steps.",
           seen="the run that came closest needed {measured}",
       ))  # fmt: skip
def theorem_4_1(runs: Arrivals, *, bound: UpdateBound = update_bound) -> Promise:
    """SGD on the logistic loss that visits every point once per epoch reaches $L(W_t) < ε$ at some $t ≤ M(n, ε)$, for
    every width, step size and initialization. Here $M(n, ε) = C_1‖w*‖²n²A² + C_2‖w*‖^{1.5}n^{1.5}A^{1.5} + C_3‖w*‖nA +
    n$, with $A = 1 + (1 + 2v²R_x²ηkn)/ε$, $C_1 = R_x²/α² + 1/(kηv²α²)$, $C_2 = √(R_0(8k²η²v²R_x² +
    8kη))/(2k(ηvα)^{1.5})$ and $C_3 = 2R_0/(ηvα)$.

    From the proof, and far tighter: the loss is below ε at the end of the first epoch i_e in which every sampled loss
    is at most ε_0 = ε/(1 + 2v²R_x²ηkn), and n·i_e ≤ M. A run that gives up before M decides nothing.
    """
    e = runs.per("level")
    limit, there, clean = promised(e, bound, e.levels), e.hit >= 0, e.end >= e.n_samples
    return Promise(
        {
            "updates": in_time(
                e.hit,
                there,
                e.updates,
                limit,
                text="$L < ε$ after at most $M(n, ε)$ updates",
                quantity="updates until L < ε, in the run closest to M",
            ),
            "end_loss": less_than(
                e.end_loss,
                e.levels,
                undecided=decided_by_rounding(e.end_loss, e.levels, e.end_scale),
                text="$L < ε$ at the end of the first clean epoch",
            ),
            "clean_epoch": in_time(e.end, clean, e.updates, limit, text="the first clean epoch ends within $M(n, ε)$"),
        },
        details={"updates_to_level": e.hit, "updates_to_clean_epoch": e.end, "bound": limit},
        note=lambda: " ".join([*_needed(limit, e.hit, there), *_gave_up(there, clean, e.updates)]),
    )


def _needed(limit: np.ndarray, hit: np.ndarray, there: np.ndarray) -> Iterator[str]:
    """How much larger M is than what the runs needed that arrived."""
    arrived = there & np.isfinite(limit)
    if arrived.any():
        needed = np.median(limit[arrived] / np.maximum(hit[arrived], 1))
        yield f"M is {needed:.1g} times what the runs needed{'' if arrived.all() else ' that reached L < ε'}."


def _gave_up(there: np.ndarray, clean: np.ndarray, made: Number) -> Iterator[str]:
    """What runs leave open that stopped early."""
    for short, before, left in (
        (~there, "L < ε", "they decide nothing about M"),
        (there & ~clean, "their first clean epoch", "whether it comes within M is left open"),
    ):
        if short.any():
            most = int(np.asarray(made)[short].max())
            yield f"{short.sum()} of {len(short)} runs stopped before {before}, after at most {most:,} updates: {left}."


POINTS, LEVELS = np.array([1e5, 1e6]), np.array([1e-5, 1e-6])
"""Where the slopes of M are read off, in n at ε = 0.1 and in ε at n = 20: far out, where the leading terms rule."""


@claim("sarussi2021.theorem_4_1_order", Kind.TREND, "Section 4, after Theorem 4.1", reads=growing_clouds,
       given=[], title="The update bound $M$ grows like $n⁴/ε²$")  # fmt: skip
def theorem_4_1_order(runs: EpochsPerSize, *, bound: UpdateBound = update_bound) -> Promise:
    """$M(n, ε)$ is of order $n⁴/ε²$ with all else fixed, $‖w*‖$ included: its slope in $log n$ tends to $4$, and its
    slope in $log 1/ε$ to $2$.

    A property of the formula, with everything else as in the runs. ‖w*‖ grows with n in practice. The slopes of what
    runs really need are in the details.
    """
    first = runs.where(runs.run == 0)
    others = (first.separator_norm, first.slope, first.step_size, first.output_weight, first.half_width,
              first.largest_norm, first.row_bound)  # fmt: skip
    others = tuple(np.asarray(each)[:, None] for each in others)
    in_points, in_levels = slope(POINTS, bound(*others, POINTS, 0.1)), -slope(LEVELS, bound(*others, 20, LEVELS))
    return Promise(
        {
            "points": equal(in_points, 4.0, within=0.05, text="slope 4 in $n$"),
            "levels": equal(in_levels, 2.0, within=0.05, text="slope 2 in $1/ε$"),
        },
        details=lambda: measured_slopes(runs),
        note=lambda: (
            "What the runs need grows like n^{measured_slope_in_n:.2g} and (1/ε)^{measured_slope_in_inverse_level:.2g}."
        ).format(**measured_slopes(runs)),
    )


def measured_slopes(runs: EpochsPerSize) -> dict[str, Any]:
    """How what the runs really need grows, by the median of the runs of each setting."""
    sizes, levels = runs.per("cell"), np.array(ORDER_LEVELS)
    hits, counts = sizes.typical_hits, sizes.n_samples
    return {
        "measured_slope_in_n": float(slope(counts, hits[:, levels == 0.1][:, 0])),
        "measured_slope_in_inverse_level": float(-slope(levels, hits[counts == 20][0])),
        "updates": hits,
    }


def slope(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Of log counts against log values, by least squares."""
    across = np.log(values) - np.log(values).mean()
    return np.asarray(np.log(counts) @ across / (across @ across))


class CleanEpochs(Epochs):
    """Runs of SGD, with what happened in the first clean epoch of every ε_0."""

    epochs_made: Count = derived(lambda runs: runs.largest_losses.shape[1])
    #: how many epochs came before the clean one; all of them where there is none
    violating: Int[np.ndarray, "run clean"] = derived(
        lambda runs: np.where(runs.clean > 0, runs.clean - 1, runs.epochs_made)
    )
    #: the largest loss sampled in it over ε_0; 0 where there is no such epoch
    sampled_share: Cleans = derived(
        lambda runs: np.where(runs.clean > 0, runs.sampled.max(axis=2) / runs.clean_levels, 0.0)
    )
    final_loss: Cleans = derived(lambda runs: losses(runs.clean_margins[:, :, -1]).max(axis=2))  #: the largest

    # One entry per ε_0 and per number s of updates between two states of the epoch.
    output_moved: Changes = derived(lambda runs: largest_changes(runs.clean_margins))  #: the farthest, of any point
    loss_moved: Changes = derived(lambda runs: largest_changes(losses(runs.clean_margins)))
    steps_apart: Changes = derived(lambda runs: np.tile(1.0 * runs.distances, (len(runs), runs.clean.shape[1])))  #: s
    change_level: Changes = derived(lambda runs: np.repeat(runs.clean_levels, len(runs.distances), axis=1))  #: ε_0
    change_scale: Changes = derived(lambda runs: np.repeat(runs.clean_scales, len(runs.distances), axis=1))
    change_found: Bool[np.ndarray, "run change"] = derived(
        lambda runs: np.repeat(runs.clean > 0, len(runs.distances), axis=1)
    )

    @column
    def distances(self) -> Int[np.ndarray, " distance"]:
        """How many updates two states of an epoch can be apart; of many points only its two ends are stored."""
        states = self.clean_margins.shape[2]
        return np.arange(1, states) * (self.n_samples // (states - 1))


def largest_changes(values: Float[np.ndarray, "run clean state point"]) -> Changes:
    """The largest change between two states, by how many states they are apart."""
    gaps = [np.abs(values[:, :, s:] - values[:, :, :-s]).max(axis=(2, 3)) for s in range(1, values.shape[2])]
    return np.stack(gaps, axis=2).reshape(len(values), values.shape[1] * len(gaps))


@hypothesis("loss sampled in the epoch / $ε_0$")
def clean_epoch(runs: CleanEpochs) -> Sides:
    """No loss sampled in the epochs that are looked at is above their ε_0."""
    return at_most(runs.per("clean").sampled_share, 1)


CLEAN = (input_norm, once_per_epoch, *SHAPE, clean_epoch)
IN_CLEAN_EPOCHS = "clean epochs"


@claim("sarussi2021.equation_19", Kind.STEP, "Eq. 19, Section 9", reads=epochs, given=SGD,
       title="How many epochs with a large sampled loss there can be")  # fmt: skip
def equation_19(runs: CleanEpochs, *, relaxed: Callable[..., np.ndarray] = epoch_bound, shift: float = 0.0) -> Promised:
    """If each of the first $N_e$ epochs has a sampled loss above $ε_0$, then $T = nN_e$ satisfies $aT ≤ b√T + c$ with
    $a = 2kηvα(1 − e^{−ε_0})/n$, $b = ‖w*‖√(4k²η²v²R_x² + 4kη)$ and $c = 4kR_0‖w*‖$. Therefore $T ≤ C_1‖w*‖²n²B² +
    C_2‖w*‖^{1.5}n^{1.5}B^{1.5} + C_3‖w*‖nB$ with $B = 1 + 1/ε_0$.

    Only the epochs before the first clean one count. Runs end 10⁴ to 10⁶ below the bound.
    """
    e = runs.per("clean")
    shape = (e.slope, e.step_size, e.output_weight, e.half_width, e.largest_norm, e.row_bound)
    total = e.n_samples * e.violating + shift
    a, b, c = quadratic(e.separator_norm, *shape, e.n_samples, e.clean_levels)
    limit = relaxed(e.separator_norm, e.n_samples, 1 + 1 / e.clean_levels, update_bound_constants(*shape))
    return {
        "quadratic": at_most(a * total, b * np.sqrt(total) + c, within=BOUND, text="$aT ≤ b√T + c$"),
        "updates": at_most(total, limit, within=BOUND, text="$T ≤$ the right side of Eq. 19"),
    }


@claim("sarussi2021.equation_24", Kind.STEP, "Eqs. 23 and 24, Section 9", reads=epochs, given=CLEAN,
       form=Form.REPAIR, title="A clean epoch moves no output and no loss far")  # fmt: skip
def equation_24(runs: CleanEpochs, *, change: Callable[..., np.ndarray] = output_change) -> Promised:
    """In an epoch in which every sampled loss is at most $ε_0$, $s$ updates change no output and no loss by more than
    $2v²R_x²ηks(1 − e^{−ε_0}) ≤ 2v²R_x²ηknε_0$, between any two states of the epoch, its start and its end included.
    """
    c = runs.per("change")
    shape = (c.step_size, c.output_weight, c.half_width, c.largest_norm)
    limit = change(c.steps_apart, c.change_level, *shape)
    loose = one_epoch(c.n_samples, *shape) * c.change_level
    room = STEP * limit + ROUNDING * c.change_scale
    how = {"where": c.change_found, "event": IN_CLEAN_EPOCHS}
    return {
        "outputs": at_most(
            c.output_moved, limit, room=room, text="outputs move by at most $2v²R_x²ηks(1 − e^{−ε_0})$", **how
        ),
        "losses": at_most(c.loss_moved, limit, room=room, text="losses move by no more", **how),
        "relaxed": at_most(limit, loose, within=ROUNDING, text="that is at most $2v²R_x²ηknε_0$", **how),
    }


@claim("sarussi2021.equation_25", Kind.STEP, "Eq. 25, Section 9", reads=epochs, given=CLEAN,
       form=Form.REPAIR, title="At the end of a clean epoch every loss is small")  # fmt: skip
def equation_25(runs: CleanEpochs, *, epoch: Callable[..., np.ndarray] = one_epoch) -> Promised:
    """At the end of an epoch in which every sampled loss is at most $ε_0$, every loss is at most $(1 + 2v²R_x²ηkn)ε_0$.

    The end of epoch i_e is the state after n·i_e updates. Not at n·i_e + 1, as printed.
    """
    e = runs.per("clean")
    limit = (1 + epoch(e.n_samples, e.step_size, e.output_weight, e.half_width, e.largest_norm)) * e.clean_levels
    return {
        "losses": at_most(
            e.final_loss,
            limit,
            within=ROUNDING,
            undecided=decided_by_rounding(e.final_loss, limit, e.clean_scales),
            where=e.clean > 0,
            event=IN_CLEAN_EPOCHS,
            text="every loss is at most $(1 + 2v²R_x²ηkn)ε_0$",
        )
    }


# The ranges that are printed: one update past a clean epoch.


@hypothesis("loss sampled in the epoch / $ε_0$", key="clean_epoch")
def clean_epoch_of_two(past: AfterCleanEpoch) -> Sides:
    """No sampled loss is above ε_0."""
    return at_most(past.per("sample").sampled_share, 1, within=ROUNDING)


@claim("sarussi2021.equation_24_as_printed", Kind.STEP, "the range printed with Eq. 24, Section 9", draws=draw_after,
       given=[clean_epoch_of_two], title="Losses stay close for $n$ updates past a clean epoch too")  # fmt: skip
def equation_24_as_printed(past: AfterCleanEpoch) -> Promise:
    """For $(i_e − 1)n + 1 ≤ t ≤ i_e·n$, where $i_e$ is a clean epoch, and $1 ≤ s ≤ n$, every loss at $W_{t+s}$ differs
    from that at $W_t$ by at most $2v²R_x²ηknε_0$.

    The range runs into the next epoch.
    """
    change = past.per("change")
    limit = change.reach * change.clean_level
    return Promise(
        {"losses": at_most(change.moved, limit, text="losses move by at most $2v²R_x²ηknε_0$")},
        note=lambda: f"{past.instance} Up to that update a loss moves by {change.moved.max():.3g}.",
    )


@claim("sarussi2021.equation_25_as_printed", Kind.STEP, "the time T* = i_e·n + 1 of Eq. 25, Section 9",
       draws=draw_after, given=[clean_epoch_of_two],
       title="One update after a clean epoch every loss is small")  # fmt: skip
def equation_25_as_printed(past: AfterCleanEpoch) -> Promise:
    """After $i_e·n + 1$ updates, where $i_e$ is a clean epoch, every loss is at most $(1 + 2v²R_x²ηkn)ε_0$.

    One update too late.
    """
    point = past.per("point")
    limit = (1 + point.reach) * point.clean_level
    return Promise(
        {"losses": at_most(point.late_losses, limit, text="every loss is at most $(1 + 2v²R_x²ηkn)ε_0$")},
        note=lambda: f"{past.instance} After it a loss is {point.late_losses.max():.3g}.",
    )
