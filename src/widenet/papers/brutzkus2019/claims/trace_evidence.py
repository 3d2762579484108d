"""How a statement about trajectories is judged: on every run that starts in the event of Lemma E.3, at every t up to T.

Runs outside the event are counted and never scored. Where no run is inside, the conclusion is measured all the same,
and the hypothesis fails.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Evidence, Hypothesis, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.papers.brutzkus2019.runs.traces import EVENT_RADIUS, Setting, Trace, trace
from widenet.types import Progress, RunStatus, Scale

Items = Sequence[Setting | Trace]
"""What a check takes: settings to run, or traces that exist already."""

OVER_TIME = Bool[np.ndarray, "run time"]


@dataclass(frozen=True, eq=False)
class Sides:
    """A statement, evaluated in every run of one trace.

    Attributes:
      broken: whether it fails at some t.
      measured, promised: its two sides where they are closest, or furthest on the wrong side.
      tested: whether the run has anything the statement speaks about.
      upper: measured ≤ promised; else measured ≥ promised.
    """

    broken: Bool[np.ndarray, " run"]
    measured: Float[np.ndarray, " run"]
    promised: Float[np.ndarray, " run"]
    tested: Bool[np.ndarray, " run"]
    upper: bool = True

    def __and__(self, other: "Sides") -> "Sides":
        """Both statements; the two sides are those of the first, where it was tested."""
        tested = self.tested | other.tested
        broken = (self.broken & self.tested) | (other.broken & other.tested)
        measured = np.where(self.tested, self.measured, np.nan)
        return Sides(broken, measured, self.promised, tested, self.upper)


def compare(
    measured: np.ndarray,
    promised: np.ndarray | float | int,
    where: np.ndarray,
    *,
    upper: bool = True,
    strict: bool = False,
) -> Sides:
    """measured ≤ promised (or ≥, or strictly) at every t of `where`; a NaN breaks it."""
    promised = np.broadcast_to(np.asarray(promised, float), measured.shape)
    slack = (promised - measured) if upper else (measured - promised)
    fine = slack > 0 if strict else slack >= 0
    closest = np.argmin(np.where(where, np.where(np.isnan(slack), -np.inf, slack), np.inf), axis=1)
    rows = np.arange(len(measured)), closest
    tested = np.asarray(where.any(axis=1))
    return Sides(
        np.asarray((where & ~fine).any(axis=1)), np.asarray(measured[rows], float), promised[rows], tested, upper
    )


def at_the_end(
    measured: np.ndarray,
    promised: np.ndarray | float | int,
    *,
    tested: np.ndarray | None = None,
    upper: bool = True,
    strict: bool = False,
) -> Sides:
    """The same for one value per run."""
    where = np.ones(len(measured), bool) if tested is None else tested
    promised = np.broadcast_to(np.asarray(promised, float), measured.shape)
    return compare(measured[:, None], promised[:, None], where[:, None], upper=upper, strict=strict)


def never(broken: OVER_TIME, where: OVER_TIME) -> Sides:
    """Nothing of this kind happens at any t of `where`; measured is the number of such t."""
    count = (broken & where).sum(axis=1).astype(float)
    return Sides(count > 0, count, np.zeros(len(count)), np.asarray(where.any(axis=1)))


def at_end_of(seen: Trace, series: np.ndarray) -> np.ndarray:
    """The value at T of each run."""
    return np.take_along_axis(series, seen.ending.steps[:, None], axis=1)[:, 0]


def judge(
    items: Items,
    sides: Callable[[Trace], Sides],
    quantity: str,
    progress: Progress,
    *,
    converged: bool = False,
    regime: bool = False,
    largest_constant: float = 1 / 8,
    more: Callable[[Sequence[Setting]], list[Hypothesis]] = lambda settings: [],
    config: dict[str, Any] | None = None,
    note: str = "",
) -> Evidence:
    """The verdict over all settings.

    Main arguments:
      items: what is run.
      sides: the statement in the runs of one trace.

    Other arguments:
      converged: the statement speaks about runs that reached zero loss.
      regime: ask for k ≥ 120, c_η ≤ 1/410 and γ ≥ 8, the regime of Theorem 6.3.
      more: further hypotheses, from the settings.
    """
    rows, scored_sides, largest, total = [], [], [], 0
    counts = {"scored": 0, "tested": 0, "broken": 0, "outside": 0, "open": 0, "stalled": 0, "untested": 0}
    traces = []
    for number, item in enumerate(items):
        traces.append(item if isinstance(item, Trace) else trace(item))
        progress((number + 0.9) / len(items), f"traces of {sum(len(t.s_plus) for t in traces)} runs")
    # Outside the event nothing is promised; what happens there is shown when there is nothing else.
    anything = any(_scored(seen, converged).any() for seen in traces)
    for seen in traces:
        ending = seen.ending
        scored = _scored(seen, converged) if anything else np.ones(len(ending.steps), bool)
        found = sides(seen)
        used = scored & found.tested
        counts["scored"] += int(scored.sum()) if anything else 0
        counts["tested"] += int(used.sum())
        counts["broken"] += int((found.broken & used).sum())
        counts["outside"] += int((~ending.in_event).sum())
        counts["open"] += int((scored & (ending.status == RunStatus.BUDGET_SPENT)).sum())
        counts["untested"] += not used.any()
        counts["stalled"] += int((ending.status == RunStatus.STALLED).sum())
        largest.append(float(ending.largest_start[scored].max(initial=0.0)))
        total += len(scored)
        scored_sides.append((seen.setting, found, used))
        rows.append(
            {**_describe(seen.setting), "runs_tested": int(used.sum()), "broken": int((found.broken & used).sum())}
        )
    settings = [seen.setting for seen in traces]
    hypotheses = [
        at_most(
            "largest_initial_w_0_p_u",
            "largest initial |⟨w_0, p⟩|, |⟨u_0, p⟩| in units of η",
            max(largest),
            EVENT_RADIUS,
        ),
        at_least(
            "runs_to_score",
            "runs to score: in the event" + (", at zero loss" if converged else ""),
            counts["scored"],
            1,
        ),
        at_most(
            "largest_c_step_size",
            "largest c_η",
            max(s.step_constant for s in settings),
            1 / 410 if regime else largest_constant,
        ),
        at_least("smallest_margin", "smallest γ", min(s.margin for s in settings), 8 if regime else 1),
        *(
            [at_least("smallest_half_width_k", "smallest half-width k", min(s.half_width for s in settings), 120)]
            if regime
            else []
        ),
        *more(settings),
    ]
    # A run cut off by its budget says nothing about the iterations after it.
    open_ended = not counts["tested"] or (counts["open"] > 0 and not counts["broken"])
    conclusion = None if open_ended else counts["broken"] == 0
    measured, promised = _closest(scored_sides)
    return Evidence_(
        verdict=decide(hypotheses, conclusion),
        hypotheses=tuple(hypotheses),
        runs=Runs(tried=total, unfinished=counts["open"], outside=counts["outside"]),
        conclusion=conclusion,
        quantity=quantity,
        promised=promised,
        measured=measured,
        tightness=None if measured is None or promised is None else ratio(measured, promised),
        config={
            "dtype": "float64, multiples of 2^-32",
            "runs_outside_the_event": counts["outside"],
            "runs_stalled": counts["stalled"],
            "runs_broken": counts["broken"],
            "settings": rows,
            **(config or {}),
        },
        note=_note(counts, note),
    )


def _scored(seen: Trace, converged: bool) -> np.ndarray:
    return seen.ending.in_event & (seen.ending.converged if converged else True)


def _closest(cases: list[tuple[Setting, Sides, np.ndarray]]) -> tuple[float | None, float | None]:
    """Both sides in the run with the least room, broken runs first."""
    best = None
    for _, found, used in cases:
        for run in np.flatnonzero(used & ~np.isnan(found.measured)):
            measured, promised = float(found.measured[run]), float(found.promised[run])
            room = promised - measured if found.upper else measured - promised
            if best is None or not room >= best[0]:
                best = (room, measured, promised)
    return (None, None) if best is None else best[1:]


def _describe(setting: Setting) -> dict[str, Any]:
    return {
        "half_width": setting.half_width,
        "step_constant": setting.step_constant,
        "margin": setting.margin,
        "runs": setting.n_runs,
        "seed": setting.seed,
        "spread": setting.spread,
        "n_positive": setting.n_positive,
        "n_minus_positive": setting.n_minus_positive,
    }


def _note(counts: dict[str, int], note: str) -> str:
    words = [note] if note else []
    if counts["broken"]:
        words.append(f"Broken in {counts['broken']} of {counts['tested']} runs.")
    if counts["outside"]:
        words.append(f"{counts['outside']} runs outside the event of Lemma E.3 are not scored.")
    if counts["untested"] and counts["tested"]:
        words.append(f"Nothing to test in {counts['untested']} of the settings.")
    return " ".join(words)


def wide_runs(scale: Scale, seed: int) -> tuple[Setting, ...]:
    """The regime of Theorem 6.3 at its edge: k = 120, c_η = 1/410, γ = 8."""
    return (Setting(120, 1 / 410, 8.0, 100 if scale is Scale.QUICK else 300, 10 * seed),)


def all_runs(scale: Scale, seed: int) -> tuple[Setting, ...]:
    """That, and larger steps at several widths: Appendix E up to Lemma E.16 needs c_η ≤ 1/8 only."""
    wide, narrow = (300, 60) if scale is Scale.QUICK else (1000, 1000)
    return (
        *wide_runs(scale, seed),
        Setting(120, 1 / 41, 8.0, wide, 10 * seed + 1),
        Setting(16, 1 / 41, 8.0, narrow, 10 * seed + 2),
        Setting(2, 1 / 41, 8.0, narrow, 10 * seed + 3),
        Setting(2, 1 / 8, 1.0, narrow, 10 * seed + 4),
    )
