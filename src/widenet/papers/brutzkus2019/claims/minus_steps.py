"""Eq. 12 and 13: what one step does to the filters u that still look at p₁ or p₃.

On trajectories there are none after the first step (`minus_filters`), and at t = 0 both points are active. So these two
statements are tested on units made for the purpose: u_0 in U13 inside the event of Lemma E.3, and u_0 − ηp_i, the only
other place where Lemma E.7 could leave such a unit without a step along p_l.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide
from widenet.papers.brutzkus2019.claims.overshoot import only_minus, only_plus
from widenet.papers.brutzkus2019.claims.trace_evidence import all_runs
from widenet.papers.brutzkus2019.runs.lattice import in_13, moves
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, GRID, Setting, trace
from widenet.types import Progress, Scale, silent


@dataclass(frozen=True, eq=False)
class Units:
    """Filters u of U13 to take one step from, and the runs on which to look for others.

    Attributes:
      starts: u_0 as (S, R), in units of η.
      fits: u_0 and u_0 − ηp_i.
      settings: runs in which steps with a unit in U13 are counted.
    """

    starts: np.ndarray
    fits: np.ndarray
    settings: tuple[Setting, ...]


def make_units(starts: np.ndarray, settings: Sequence[Setting] = ()) -> Units:
    """u_0 and u_0 − ηp_i for each start (S, R) with |S| > |R|."""
    starts = np.asarray(starts, float)
    moved = starts - np.stack([2 * np.sign(starts[:, 0]), np.zeros(len(starts))], axis=1)
    return Units(starts, np.concatenate([starts, moved]), tuple(settings))


def check_equation_12(units: Units, progress: Progress = silent, *, plus: bool = False) -> Evidence:
    """Where only x⁻ is active, a unit that goes from U13 to U24 does not lose value. A control makes only x⁺ active."""
    s, r, (after_s, after_r) = _step(units, plus)
    before, after = np.maximum(np.abs(s), np.abs(r)), np.maximum(np.abs(after_s), np.abs(after_r))
    lands = plus | ~np.asarray(in_13(jnp.asarray(after_s), jnp.asarray(after_r)))
    gain = after - before
    broken = ~(gain >= 0) | ~lands
    return _evidence(units, broken, gain, "smallest change of a unit's response to x⁺, in units of η", only_minus, 0.0)


def check_equation_13(units: Units, progress: Progress = silent, *, plus: bool = True) -> Evidence:
    """Where only x⁺ is active, |R| of a unit of U13 does not change. A control makes only x⁻ active."""
    _, r, (_, after_r) = _step(units, plus)
    change = np.abs(np.abs(after_r) - np.abs(r))
    return _evidence(units, ~(change == 0), -change, "largest change of |R|, in units of η", only_plus, 0.0, sign=-1)


def _step(units: Units, plus: bool) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    s, r = units.fits[:, 0], units.fits[:, 1]
    ds, dr = moves(jnp.asarray(s), jnp.asarray(r), -1.0, float(plus), float(not plus))
    return s, r, (s + np.asarray(ds), r + np.asarray(dr))


def _evidence(units: Units, broken, slack, quantity: str, steps, promised: float, sign: int = 1) -> Evidence:
    inside = np.abs(units.starts).max(initial=0.0)
    positive = np.abs(units.starts[:, 0]) > np.abs(units.starts[:, 1])
    hypotheses = (
        at_most("largest_u_0_p_in_units", "largest |⟨u_0, p⟩| in units of η", float(inside), EVENT_RADIUS),
        at_least(
            "units_all_of_them_in_u13",
            "units, all of them in U13 at the start",
            int(positive.sum()) if positive.all() else 0,
            1,
        ),
    )
    traces = [trace(setting) for setting in units.settings]
    taken = sum(int(steps(seen)[seen.ending.in_event].sum()) for seen in traces)
    met = sum(int((steps(seen) & (seen.u13 > 0))[seen.ending.in_event].sum()) for seen in traces)
    conclusion = bool(not broken.any()) if len(broken) else None
    return Evidence_(
        verdict=decide(hypotheses, conclusion),
        hypotheses=hypotheses,
        runs=Runs(tried=len(units.fits)),
        conclusion=conclusion,
        quantity=quantity,
        promised=promised,
        measured=float(sign * slack.min()) if len(slack) else None,
        config={"synthetic_units": len(units.fits), "steps_on_trajectories": taken, "of_them_with_a_unit_in_U13": met},
        note=f"Tested on {len(units.fits)} units placed in U13; {met} of {taken} such steps on trajectories have one.",
    )


def _setting(scale: Scale, seed: int) -> Units:
    """Units spread over the event, its corners included."""
    draw = np.random.default_rng(seed)
    drawn = draw.uniform(-EVENT_RADIUS, EVENT_RADIUS, (1000 if scale is Scale.QUICK else 100_000, 2))
    drawn = np.where((np.abs(drawn[:, 0]) > np.abs(drawn[:, 1]))[:, None], drawn, drawn[:, ::-1])
    drawn = np.trunc(drawn / GRID) * GRID
    edge = np.trunc(EVENT_RADIUS / GRID) * GRID
    corners = [(a * edge, b * small) for a in (1, -1) for b in (1, -1) for small in (GRID, edge - GRID)]
    return make_units(np.concatenate([drawn, corners]), all_runs(scale, seed))


equation_12 = Claim(
    "brutzkus2019.equation_12",
    Kind.STEP,
    "In a step where only x⁻ is active, every unit of U13(t) moves to U24(t+1), and the responses of these units to "
    "x⁺ do not fall. (After t = 0 no trajectory in the event has such a unit, so it is tested on units placed there.)",
    "Eq. 12, proof of Lemma E.11",
    check_equation_12,
    _setting,
)
equation_13 = Claim(
    "brutzkus2019.equation_13",
    Kind.STEP,
    "In a step where only x⁺ is active, the response to x⁻ of a unit of U13(t) does not change. (Printed for "
    "U13(t+1). After t = 0 no trajectory in the event has such a unit, so it is tested on units placed there.)",
    "Eq. 13, proof of Lemma E.12",
    check_equation_13,
    _setting,
)

CLAIMS = (equation_12, equation_13)
