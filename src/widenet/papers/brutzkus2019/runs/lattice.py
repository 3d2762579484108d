"""Eq. 7 and 8 for many runs side by side, step by step, and what is looked at on the way.

A filter is its two fits (s, r) in units of η. All values are multiples of one grid and every sum is exact, in whatever
order it is taken. Compiling would cost more than these small runs, so they are plain NumPy. Runs are the last axis, the
one that the processor works on side by side.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.networks.arrays import plus_minus_weights
from widenet.progress import Progress, silent
from widenet.types import RunStatus

SUMS = (
    *("s_plus", "s_minus", "p_plus", "p_minus", "x", "y", "s_plus_1"),
    *("y_2", "y_4", "z_2", "z_4", "y_kept", "largest_r"),
)
COUNTS = ("w13", "u13", "w_moved", "u_left", "u_lost", "u_flipped")
GROUPS = ("w13", "w24", "u13", "u24")
"""The filters by where they are at t = 0."""
AT_ONCE = 2**15
"""About how many fits are looked at together: enough to hide the interpreter, few enough for the processor's cache."""
HIDDEN = 2**30
"""Larger than any whole number of steps: keeps filters of other groups out of a smallest or largest value."""


def in_13(s: Float[np.ndarray, "*any"], r: Float[np.ndarray, "*any"]) -> Bool[np.ndarray, "*any"]:
    """Whether the best of the four patterns is p₁ or p₃; ties go as in `ConvMaxPool`."""
    size, along = np.abs(s), np.abs(r)
    return (size > along) | ((s == along) & (s > 0))


def moves(
    s: Float[np.ndarray, "*any"],
    r: Float[np.ndarray, "*any"],
    votes: float | Float[np.ndarray, "filter 1"],
    plus: bool | Bool[np.ndarray, " run"],
    minus: bool | Bool[np.ndarray, " run"],
) -> tuple[Float[np.ndarray, "*any"], Float[np.ndarray, "*any"]]:
    """One step of Eq. 7 (votes +1) and Eq. 8 (votes −1): what is added to s and r.

    plus and minus say whether N(x⁺) < γ and −N(x⁻) < 1. A step along p adds 2 to the fit with p, because ⟨p, p⟩ = 2.
    """
    by_plus, by_minus = 2 * votes * np.asarray(plus), 2 * votes * np.asarray(minus)
    on_s = in_13(s, r).astype(np.float64) * by_plus
    return on_s * np.sign(s), (by_plus - on_s - by_minus) * np.sign(r)


@dataclass(frozen=True, eq=False)
class Walk:
    """Where runs end, and what was seen at every t from 0 to the longest T; after its T a run repeats itself.

    The names along the first axes are `SUMS` and `COUNTS`; for `ranges` and `steps_of_w` (smallest, largest), (A, B)
    and `GROUPS`, or the first two of them. `Trace` says what they are.
    """

    end: Float[np.ndarray, "run filter 2"]
    steps: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]
    sums: Float[np.ndarray, "sum run time"]
    counts: Int[np.ndarray, "count run time"]
    ranges: Int[np.ndarray, "2 2 4 run time"]
    steps_of_w: Int[np.ndarray, "2 2 2 run time"]


def walk(
    start: Float[np.ndarray, "run filter 2"], goals: tuple[float, float], max_steps: int, progress: Progress = silent
) -> Walk:
    """Follow all runs until nothing moves, or for `max_steps`; `goals` is what N(x⁺) and −N(x⁻) have to reach."""
    s, r = (np.ascontiguousarray(start[..., place].T) for place in range(2))
    votes = plus_minus_weights(len(s) // 2)[None]
    observer, steps = _Observer(s, r), np.zeros(len(start), np.int32)
    path, at_once, t = [(s, r)], max(1, AT_ONCE // s.size), 0

    while True:
        on_minus = np.abs(r)
        n_plus, n_minus = (votes @ np.maximum(np.abs(s), on_minus))[0], (votes @ on_minus)[0]
        plus, minus = n_plus < goals[0], -n_minus < goals[1]
        ds, dr = moves(s, r, votes.T, plus, minus)
        moving = (np.abs(ds) + np.abs(dr)).max(axis=0) > 0
        path.append((s + ds, r + dr))
        done = t == max_steps or not moving.any()
        if done or len(path) > at_once:
            observer.look(path)
            path = path[-1:]
            # S⁺ is about N(x⁺) − N(x⁻), and a run ends when it is about γ + 1.
            reached = (n_plus - n_minus)[moving].min(initial=sum(goals)) / sum(goals)
            progress(float(np.clip(reached, 0.0, 1.0)), f"{len(start)} runs, step {t}")
        if done:
            break
        s, r = path[-1]
        steps += moving
        t += 1

    status = np.where(moving, RunStatus.BUDGET_SPENT, np.where(plus | minus, RunStatus.STALLED, RunStatus.CONVERGED))
    return Walk(np.stack([s.T, r.T], axis=-1), steps, status, **observer.seen())


class _Observer:
    """Looks at runs at every t. Masks that do not change are made once."""

    def __init__(self, s: Float[np.ndarray, "filter run"], r: Float[np.ndarray, "filter run"]):
        self.half, n_runs = len(s) // 2, s.shape[1]
        self.of_sign = np.kron(np.eye(2), np.ones(self.half))  # sums over the w's and over the u's
        self.start = s, r
        self.at_start = at_start = in_13(s, r)
        self.right, self.up = s > 0, r > 0
        self.towards, self.along = np.sign(s) / 2, np.sign(r) / 2
        up, was_13 = self.up[self.half :], at_start[self.half :]
        self.u_groups = np.stack([~was_13 & up, ~was_13 & ~up, was_13 & up, was_13 & ~up]).astype(np.float64)
        # (13 or 24, w or u, filter, run): 0 inside the group.
        outside = np.where(np.stack([at_start, ~at_start]), 0, HIDDEN).astype(np.int32)
        self.outside = outside.reshape(2, 2, self.half, n_runs)
        self.empty = np.all(self.outside > 0, axis=2)
        self.rows: dict[str, list[np.ndarray]] = {"sums": [], "counts": [], "ranges": [], "steps_of_w": []}

    def look(self, path: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Record the fits (s, r) of all t but the last of this piece of the path. Arrays are (time, filter, run)."""
        w, u = np.s_[:, : self.half], np.s_[:, self.half :]
        all_s, all_r = (np.stack([fits[place] for fits in path]) for place in range(2))
        all_13, all_minus = in_13(all_s, all_r), np.abs(all_r)
        s, r, is_13, on_minus = all_s[:-1], all_r[:-1], all_13[:-1], all_minus[:-1]

        positive = is_13.astype(np.float64)
        s_plus, p_plus = np.moveaxis(self.of_sign @ (positive * np.abs(s)), 1, 0)
        s_minus, p_minus = np.moveaxis(self.of_sign @ (positive * on_minus), 1, 0)
        w_minus, u_minus = np.moveaxis(self.of_sign @ on_minus, 1, 0)
        w_signed = (positive[w] * s[w]).sum(axis=1)
        kept = ~(is_13[u] | all_13[1:][u])
        sums = [
            *(s_plus, s_minus, p_plus, p_minus, w_minus - s_minus, u_minus - p_minus),
            (s_plus + w_signed) / 2,  # half of Σ|s| + Σs is the part with s > 0
            *np.einsum("gfr,tfr->gtr", self.u_groups, on_minus[u]),
            (kept * all_minus[1:][u]).sum(axis=1),
            (self.at_start[: self.half] * on_minus[w]).max(axis=1),
        ]
        self.rows["sums"].append(np.stack(sums))

        at_start_w, at_start_u = self.at_start[: self.half], self.at_start[self.half :]
        rare = (
            (is_13[w] != at_start_w) | (at_start_w & ((s[w] > 0) != self.right[: self.half])),
            ~at_start_u & is_13[u],
            ~is_13[u] & all_13[1:][u],
            (r[u] > 0) != self.up[self.half :],
        )
        counts = np.zeros((len(COUNTS), len(s), s.shape[2]), np.int16)
        counts[:2] = np.moveaxis(self.of_sign @ positive, 1, 0)
        for place, mask in enumerate(rare, start=2):
            if mask.any():
                counts[place] = mask.sum(axis=1)
        self.rows["counts"].append(counts)

        whole = ((s - self.start[0]) * self.towards, (r - self.start[1]) * self.along)
        self.rows["ranges"].append(self._extremes(whole, 2))
        ds, dr = np.diff(all_s[w], axis=0), np.diff(all_r[w], axis=0)
        step = (ds * self.towards[: self.half], dr * np.sign(r[w]) / 2)
        self.rows["steps_of_w"].append(self._extremes(step, 1))

    def _extremes(self, both: tuple[np.ndarray, np.ndarray], n_signs: int) -> Int[np.ndarray, "2 2 group time run"]:
        """The smallest and the largest A and B in each group, w's before u's; (0, 0) for a group without filters."""
        outside, empty = self.outside[:, :n_signs, None], self.empty[:, :n_signs, None]
        found = []
        for values in both:
            whole = np.moveaxis(values.astype(np.int32).reshape(len(values), n_signs, self.half, -1), 1, 0)
            low, high = (whole + outside).min(axis=3), (whole - outside).max(axis=3)
            found.append(np.where(empty, 0, np.stack([low, high])).swapaxes(1, 2))
        return np.stack(found, axis=1).reshape(2, 2, 2 * n_signs, *found[0].shape[3:])

    def seen(self) -> dict[str, np.ndarray]:
        """Everything recorded, with time as the last axis."""
        joined = {name: np.concatenate(rows, axis=-2) for name, rows in self.rows.items()}
        return {name: np.ascontiguousarray(values.swapaxes(-1, -2)) for name, values in joined.items()}
