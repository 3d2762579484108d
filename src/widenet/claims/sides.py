"""The two sides of a statement, a fact without sides, and a rate: what the parts of a conclusion are made of.

One definition each, for every claim of every paper, of kept and broken, of the closest case, of tightness and of
vacuous.
"""

import copy
import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Hypothesis, Part, normalized, undecided
from widenet.claims.cases import yes_or_no
from widenet.claims.tolerances import LARGEST_ROUNDING

BLURRED = 1e-3
"""A promise that is missed by more than this share of itself is not kept by rounding: such a case decides nothing."""

GRAINS = 4
"""How many units in the last place two sides may differ by rounding alone."""

LARGEST_EXACT = 2**53
"""Whole numbers beyond this have no float64 of their own."""

TIE = 1e-10
"""Cases that come closest to within this share of each other come equally close."""

FAR_INSIDE = 0.1
"""An equality that uses less than this share of its tolerance is kept up to rounding."""

PERCENTILES = 101
"""How many cases of a part are told one by one."""

PER_CASE = "per case"
"""The limit of a clause in which every case has its own."""

SOME = "some cases"
"""The event of a comparison that says which cases it is about, and not in words."""

LEAST = float(np.finfo(np.float64).min)

PerCase = Any
"""An array of any shape, a list, or one number: one entry per case."""
Numbers = Float[np.ndarray, " case"]
Flags = Bool[np.ndarray, " case"]


class Sense(enum.StrEnum):
    """Which way a statement points."""

    AT_MOST = "≤"
    AT_LEAST = "≥"
    EQUAL = "="

    @classmethod
    def _missing_(cls, value: object) -> "Sense":
        words = "; at_most, at_least, less_than, more_than and equal choose it for you"
        raise ValueError(f"sense must be one of {', '.join(cls)}, got {value!r}{words}")


class Sides:
    """Both sides of a statement, one entry per case (a run, an update, a draw).

    A side that is NaN or infinite decides nothing: the case is neither kept nor broken.

    Attributes:
      measured, promised: the two sides, flat, of equal length.
      sense: measured ≤ promised, measured ≥ promised, or both equal.
      sign: the sense as a reader sees it: "<" and ">" where the statement is strict.
      room: the tolerance: what rounding may add, as an absolute amount.
      grain: what rounding may add where a side has less than 64 bits: so small an excess decides nothing.
      strict: equality breaks the statement too. There is no tolerance then: nobody could tell one from the other.
      undecided: cases of which it is not known how they end (overflowed, or cut off without having broken it): they
        neither keep nor break it.
      exact: where the two sides were compared in whole numbers or fractions, the answers; their floats are then for the
        reader only.
      scored: the cases inside the event that the statement is conditioned on; the others are not looked at.
      trivial: what holds anyway (a share is at most 1): a promise that says no more than this is vacuous. NaN where
        nothing does.
      counted_from: the value of a side at which nothing of the promise is used, where that is not 0: how close a case
        comes is counted from there.
      quantity: what the two numbers count, in words, where the name of the part does not say it.
      limit: the promise, where it is one number for all cases and not one per case; None otherwise.
      tolerance: what rounding may add, in words.
      given: what was measured, as it was handed over: a test asks which column it is.
      why, unknown: of a hypothesis, the sentence about a case, and the one where it is not known whether it is met.
      text: the statement in words, mathematics between `$…$`; without it the key it is returned under is shown.
      event: in words, the cases that `where` picks ("runs that reach zero loss").
      normalization: of a hypothesis, the choice that makes it true of every run ("R is the largest row norm").
      optional: without a case in `where` there is no such part, instead of one that is undecided.
    """

    measured: Numbers
    promised: Numbers
    room: Numbers
    grain: Numbers
    trivial: Numbers
    undecided: Flags
    scored: Flags
    exact: Flags | None

    def __init__(
        self,
        measured: PerCase,
        promised: PerCase,
        sense: Sense | str = Sense.AT_MOST,
        room: PerCase = 0.0,
        *,
        within: float = 0.0,
        of: PerCase | None = None,
        where: PerCase | None = None,
        strict: bool = False,
        undecided: PerCase = False,
        cut_off: PerCase = False,
        scored: PerCase | None = None,
        trivial: PerCase | None = None,
        counted_from: float = 0.0,
        exact: PerCase | None = None,
        quantity: str = "",
        text: str = "",
        event: str = "",
        why: Callable[[int], str] | None = None,
        unknown: str = "",
        normalization: str = "",
        optional: bool = False,
    ):
        """What is given per case may have any shape, or be one number for all; it is broadcast and flattened.

        Rounding may add `within`: of a promise per case that share of it, and with `of` that share of something else.
        Beside one number it is that amount, or a few units in the last place of the number where they are more.
        `room` is the amount itself, where it has several terms. Its sign does not matter, so that a share of a negative
        promise is as large a tolerance as a share of a positive one.

        `cut_off` marks runs that ended before their measured side, which only moves away from where it began, could go
        further: they break the statement where they already do, and are undecided elsewhere.
        """
        sense = Sense(sense)
        for name, side in (("measured", measured), ("promised", promised)):
            _require_numbers(name, side)
        _check_event(event, where if scored is None else scored)
        if strict and sense is Sense.EQUAL:
            raise ValueError("strict=True needs an inequality, got sense '='; drop strict=")
        if strict and (within or np.ndim(room) or room):
            raise ValueError("a strict comparison has no tolerance, got one; drop within= and room=, or strict=")
        self.sense, self.strict, self.quantity = sense, strict, quantity
        self.given, self.why, self.unknown, self.optional = measured, why, unknown, optional
        self.text, self.normalization, self.counted_from = text, normalization, counted_from
        self.event = event or (SOME if where is not None else "")
        self.limit = float(promised) if np.ndim(promised) == 0 else None
        self.tolerance = _tolerance(within, of, room, self.limit)
        if within:
            beside_one = of is None and self.limit is not None
            room = max(within, _last_places(self.limit)) if beside_one else within * np.abs(_either(of, promised))
        if where is not None:
            scored = where
        self._trivial = float(trivial) if trivial is not None and np.ndim(trivial) == 0 else math.nan
        given = (measured, promised, room, math.nan if trivial is None else trivial, undecided)
        if exact is None and not within and np.ndim(room) == 0 and not room:
            exact = _compared_as_integers(measured, promised, sense, strict)
        answers = {"where": True if scored is None else scored, "exact": True if exact is None else exact}
        flat = flat_cases(*given, *(yes_or_no(name, each) for name, each in answers.items()))
        self.measured, self.promised, rounding, self.trivial = (each.astype(np.float64) for each in flat[:4])
        self.room = np.abs(rounding)
        with np.errstate(invalid="ignore", over="ignore"):
            self.grain = _unit(measured, promised) * np.maximum(np.abs(self.measured), np.abs(self.promised))
        self.undecided, self.scored, answered = (each.astype(bool) for each in flat[4:])
        self.exact = None if exact is None else answered
        if np.any(cut_off):
            stopped = np.broadcast_to(yes_or_no("cut_off", cut_off), np.shape(measured)).ravel()
            self.undecided = self.undecided | (stopped & ~self._is_beyond())

    @property
    def sign(self) -> str:
        """How a reader sees the sense."""
        return {Sense.AT_MOST: "<", Sense.AT_LEAST: ">"}[self.sense] if self.strict else self.sense.value

    @classmethod
    def chain(cls, several: Sequence["Sides"]) -> "Sides":
        """The same comparison in the cases of several tables."""
        first = copy.copy(several[0])
        for name in ("measured", "promised", "room", "grain", "trivial", "undecided", "scored"):
            setattr(first, name, np.concatenate([getattr(each, name) for each in several]))
        if first.why is not None:
            reasons = [(each.why, case) for each in several for case in range(len(each.measured))]
            first.why = lambda case: reasons[case][0](reasons[case][1])
        return first

    def only(self, cases: Flags) -> "Sides":
        """The same sides, with no case scored but these."""
        fewer = copy.copy(self)
        fewer.scored = self.scored & cases
        return fewer

    @property
    def decided(self) -> Flags:
        """The scored cases in which both sides are finite and rounding alone does not decide."""
        finite = np.isfinite(self.measured) & np.isfinite(self.promised) & np.isfinite(self.room)
        return self.scored & ~self.undecided & finite & ~self._is_blurred()

    @property
    def broken(self) -> Flags:
        """The decided cases in which the statement fails by more than its tolerance."""
        return self.decided & self._is_beyond()

    @property
    def kept(self) -> bool | None:
        """True when every scored case is kept; False when one is broken; None when one is undecided or none scored."""
        if self.broken.any():
            return False
        return True if self.decided.any() and (self.decided == self.scored).all() else None

    @property
    def closeness(self) -> Numbers:
        """The tightness of each case: in [0, 1] while it is kept, 1 where it is attained, above 1 where it is broken.

        It is the smaller side over the larger one, whichever way the inequality points; 0 (or infinite, where it is
        broken) where they lie on different sides of zero; NaN where the case is not decided. An equality that is kept
        is attained, and so is an inequality that only rounding carries over its promise. A strict inequality whose
        sides are equal is broken, by the least amount above 1.
        """
        measured, promised = self.measured - self.counted_from, self.promised - self.counted_from
        # The statement is low ≤ high.
        low, high = (measured, promised) if self.sense is Sense.AT_MOST else (promised, measured)
        with np.errstate(all="ignore"):
            if self.sense is Sense.EQUAL:
                ratio = np.maximum(np.abs(low), np.abs(high)) / np.minimum(np.abs(low), np.abs(high))
            else:
                ratio = np.where(high > 0, low / high, high / low)
        apart = (np.sign(low) != np.sign(high)) | (low == 0)
        beyond = np.where(apart, np.inf, np.maximum(ratio, np.nextafter(1.0, 2.0)))
        # A side of 0 has no size of its own: what is left of it within its tolerance is rounding, of either sign.
        attained = (self._excess() >= 0) | ((promised == 0) & (self._excess() >= -self.room))
        within = np.where(attained, 1.0, np.where(apart, 0.0, np.clip(ratio, 0.0, 1.0)))
        return np.where(self.decided, np.where(self.broken, beyond, within), np.nan)

    @property
    def closest(self) -> int | None:
        """The case that comes closest to breaking the statement, or breaks it most; None where none is decided.

        A case whose promise says less than what holds anyway cannot show how close the others come: it is the closest
        only where all are such.

        Of cases that come equally close (all do, where 0 is promised), the one that lies farthest beyond its promise,
        and of several such the first. What differs by no more than rounding is equal: the last bit of a sum depends on
        the processor, and the case that is shown must not.
        """
        if not self.decided.any():
            return None
        candidates = self.broken if self.broken.any() else self.telling
        urgency = np.where(candidates, self._urgency(), -1.0)
        most = urgency.max()
        tied = candidates & (urgency >= most - (TIE * most if math.isfinite(most) else 0.0))
        if self.sense is Sense.EQUAL and math.isfinite(most):
            return int(np.argmax(tied))
        excess = np.where(tied, self._excess(), -np.inf)
        size = np.where(tied, np.abs(self.measured) + np.abs(self.promised), 0.0)
        farthest = int(np.argmax(excess))
        return int(np.argmax(tied & (excess + TIE * size >= excess[farthest] - TIE * size[farthest])))

    @property
    def vacuous(self) -> bool:
        """Whether the promise says no more than what holds anyway, in every decided case."""
        sign = -1 if self.sense is Sense.AT_LEAST else 1
        promised, trivial = self.promised[self.decided], self.trivial[self.decided]
        return bool(len(promised) and (sign * promised >= sign * trivial).all())  # False beside a NaN

    @property
    def telling(self) -> Flags:
        """The decided cases whose promise says as much as what holds anyway, or more; all, where none does."""
        sign = -1 if self.sense is Sense.AT_LEAST else 1
        found = self.decided & ~(sign * self.promised > sign * self.trivial)  # a NaN leaves none out
        return found if found.any() else self.decided

    def clause(self) -> dict[str, Any]:
        """What is asked of every case, without any."""
        trivial = self.trivial[0] if len(self.trivial) else self._trivial
        return {
            "sense": self.sign,
            "limit": PER_CASE if self.limit is None else self.limit,
            "tolerance": self.tolerance,
            "trivial": None if math.isnan(trivial) else float(trivial),
            "event": self.event,
        }

    def slack(self) -> tuple[Numbers, Flags]:
        """How far each case is from failing as a hypothesis, and whether it meets it."""
        actual, limit, room = self.measured, self.promised, self.room
        with np.errstate(invalid="ignore"):
            slack = {
                Sense.AT_MOST: limit + room - actual,
                Sense.AT_LEAST: actual - limit + room,
                Sense.EQUAL: room - np.abs(actual - limit),
            }[self.sense]
            edge = {Sense.AT_MOST: actual <= limit + room, Sense.AT_LEAST: actual >= limit - room}
            met = {"<": actual < limit, ">": actual > limit}.get(self.sign, edge.get(self.sense, slack >= 0))
        met = met if self.exact is None else self.exact
        return slack, met & ~np.isnan(slack) & np.isfinite(room)

    def hypothesis(self, key: str, name: str) -> Hypothesis:
        """The same comparison as a hypothesis: at the case nearest to failing it, with its slack.

        A side that is NaN is not met: what is not a number meets nothing. Cases in `undecided`, and those that rounding
        decides, are not known; they leave open what the others meet.
        """
        # A tolerance that is wider than rounding is meant: a frequency may differ from its probability.
        unknown = self.undecided | (self._is_blurred() & (self.room <= LARGEST_ROUNDING))
        cases = np.flatnonzero(self.scored & ~unknown)
        actual, limit, room = (each[cases] for each in (self.measured, self.promised, self.room))
        slack, met = (each[cases] for each in self.slack())
        # The first of the cases with the least slack, and one that is not met before all others.
        order = np.where(np.isnan(slack), -np.inf, slack)
        worst = int(np.lexsort((order, met))[0]) if len(cases) else None
        required = self._required(None if worst is None else limit[worst], 0.0 if worst is None else room[worst])
        lost = self.measured[self.scored & unknown]
        if worst is None or (met.all() and len(lost)):
            known = lost[np.isfinite(lost)]
            actual = float(known[0]) if len(known) else "not known"
            return undecided(key, name, required, actual=actual, why=self.unknown)
        found = Hypothesis(
            key=key,
            name=name,
            required=required,
            actual=float(actual[worst]),
            slack=float(slack[worst]),
            met=bool(met[worst]),
            why=self.why(int(cases[worst])) if self.why else "",
        )
        return normalized(found, self.normalization) if self.normalization else found

    def _required(self, limit: float | None, room: float) -> str:
        shown = self.limit if limit is None else limit
        number = "…" if shown is None else f"{shown:.6g}".replace("inf", "∞")
        return f"{self.sign} {number}" + (f" (to {room:.0e})" if room else "")

    def __repr__(self) -> str:
        part = self.part("")
        answer = {True: "kept", False: f"{part.broken} broken", None: f"{part.undecided} undecided"}[part.kept]
        if part.measured is None or part.promised is None:
            return f"<Sides: {part.n_cases} cases, {answer}>"
        closest = f"{part.measured:.4g} {self.sign} {part.promised:.4g}"
        return f"<Sides: {part.n_cases} cases, {answer}; closest {closest}>"

    def part(self, name: str) -> Part:
        """The part of a conclusion that these sides decide."""
        part = Part(
            name=name,
            kept=self.kept,
            sense=self.sign,
            quantity=self.quantity,
            vacuous=self.vacuous,
            n_cases=int(self.scored.sum()),
            broken=int(self.broken.sum()),
            undecided=int((self.scored & ~self.decided).sum()),
            sides=self._pairs(),
        ).with_cases(self.columns)
        if (case := self.closest) is not None:
            closeness = self.closeness
            median = float(np.median(closeness[self.telling]))
            measured, promised = self.measured[self.decided], self.promised[self.decided]
            alike = len(measured) > 1 and bool((measured == measured[0]).all() and (promised == promised[0]).all())
            shown = {"tightness": float(closeness[case]), "median_tightness": median, "case": case, "alike": alike}
            return part.model_copy(update={**self._numbers(case), **shown})
        return part if (case := self._nearest_undecided()) is None else part.model_copy(update=self._numbers(case))

    def columns(self) -> dict[str, np.ndarray]:
        """Both sides in every case, how close it comes, and whether it is kept: 1, 0, or NaN where undecided."""
        kept = np.where(self.decided, (~self.broken).astype(float), np.nan)
        sides = {"measured": self.measured, "promised": self.promised}
        return {**sides, "tightness": self.closeness, "kept": kept, "scored": self.scored}

    def _pairs(self) -> tuple[tuple[float, float], ...]:
        """Both sides of the decided cases; of many, from the farthest to the closest."""
        cases = np.flatnonzero(self.decided)
        if len(cases) > PERCENTILES:
            by_closeness = cases[np.argsort(self.closeness[cases], kind="stable")]
            cases = by_closeness[np.linspace(0, len(cases) - 1, PERCENTILES).round().astype(int)]
        return tuple((float(f"{self.measured[case]:.6g}"), float(f"{self.promised[case]:.6g}")) for case in cases)

    def _numbers(self, case: int) -> dict[str, float | None]:
        shown = {"measured": float(self.measured[case]), "promised": float(self.promised[case])}
        return {name: value if math.isfinite(value) else None for name, value in shown.items()}

    def _nearest_undecided(self) -> int | None:
        """Where no case is decided, the one whose numbers tell a reader most: the nearest with both sides finite."""
        if not self.scored.any():
            return None
        known = self.scored * (1 + np.isfinite(self.promised) + np.isfinite(self.measured))
        return int(np.argmax(np.where(known == known.max(), np.nan_to_num(self._excess(), nan=LEAST), -np.inf)))

    def _excess(self) -> Numbers:
        """How far the measured side lies beyond the promised one; negative where it is kept with margin."""
        with np.errstate(invalid="ignore", over="ignore"):
            over = self.measured - self.promised
        return {Sense.AT_MOST: over, Sense.AT_LEAST: -over, Sense.EQUAL: np.abs(over)}[self.sense]

    def _is_beyond(self) -> Flags:
        if self.exact is not None:
            return ~self.exact
        excess = self._excess()
        return excess >= self.room if self.strict else excess > self.room

    def _is_blurred(self) -> Flags:
        """Where rounding decides.

        Only the tolerance carries an inequality, and it is no longer small against the promise; or a side has so few
        bits that rounding may carry it beyond the tolerance.
        """
        if self.exact is not None:
            return np.zeros(np.shape(self.measured), bool)
        excess, size = self._excess(), np.abs(self.promised)
        coarse = self._is_beyond() & (excess <= self.room + self.grain) & (self.grain > 0)
        if self.sense is Sense.EQUAL:
            return coarse
        return coarse | ((excess > BLURRED * size) & (excess <= self.room) & (size > 0))

    def _urgency(self) -> Numbers:
        """What the closest case has most of: closeness; for an equality, deviation measured by its tolerance.

        Deviations far inside their tolerance are rounding, and equal.
        """
        if self.sense is not Sense.EQUAL:
            return self.closeness
        excess, room = self._excess(), self.room
        with np.errstate(all="ignore"):
            by_room = np.where(room > 0, excess / room, np.where(excess > 0, np.inf, 0.0))
        by_room = np.where(by_room < FAR_INSIDE, 0.0, by_room)
        return np.where(self.broken, np.inf, by_room) if self.exact is not None else by_room


@dataclass(frozen=True, eq=False)
class Fact:
    """A conjunct without two sides ("every neuron is off"): whether it was seen to hold, case by case.

    `holds` is one answer or an array of them. `undecided` marks cases in which the run was lost (cut off, diverged,
    beyond the rounding of float64): they neither keep nor break the statement.
    """

    holds: PerCase
    undecided: PerCase = False
    scored: PerCase | None = None
    where: PerCase | None = None
    text: str = ""
    event: str = ""
    optional: bool = False

    def __post_init__(self) -> None:
        _check_event(self.event, self.where if self.scored is None else self.scored)

    def clause(self) -> dict[str, Any]:
        """What is asked, without any case."""
        return {"sense": "fact", "event": self.event or (SOME if self.where is not None else "")}

    def part(self, name: str) -> Part:
        """The part of a conclusion that these answers decide."""
        scored = self.where if self.scored is None else self.scored
        scored = True if scored is None else scored
        unknown = np.isnan(np.asarray(self.holds, np.float64))
        lost_or_unknown = unknown | np.asarray(self.undecided, bool)
        holds, undecided, scored = (each.astype(bool) for each in flat_cases(self.holds, lost_or_unknown, scored))
        broken = scored & ~undecided & ~holds
        lost = scored & undecided
        kept = False if broken.any() else True if scored.any() and not lost.any() else None
        part = Part(
            name=name, kept=kept, n_cases=int(scored.sum()), broken=int(broken.sum()), undecided=int(lost.sum())
        )
        answers = {"kept": np.where(undecided, np.nan, holds.astype(float)), "scored": scored}
        return part.with_cases(lambda: answers)


def _check_event(event: str, where: PerCase | None) -> None:
    if event and where is None:
        raise ValueError(f"event= names the cases that where= picks, got event={event!r} alone; add where= or drop it")


def flat_cases(*given: PerCase) -> list[np.ndarray]:
    """The same flat axis of cases for all."""
    arrays = [np.asarray(each) for each in given]
    try:
        return [np.atleast_1d(each).ravel() for each in np.broadcast_arrays(*arrays)]
    except ValueError:
        shapes = ", ".join(dict.fromkeys(str(each.shape) for each in arrays if each.ndim))
        raise ValueError(
            f"all that is given per case must have one length, got shapes {shapes}; columns with different axes have "
            "one entry per case in the table of the longer axis, such as runs.per('step')"
        ) from None


def _require_numbers(name: str, side: Any) -> None:
    given = np.asarray(side)
    if given.dtype.kind in "USc" or (given.dtype.kind == "O" and any(each is None for each in given.ravel())):
        raise TypeError(f"{name} must be a number or an array of numbers, got {side!r}")


def _last_places(limit: float | None) -> float:
    return GRAINS * math.ulp(limit) if limit is not None and math.isfinite(limit) else 0.0


def _either(of: PerCase | None, promised: PerCase) -> PerCase:
    return promised if of is None else of


def _unit(*sides: PerCase) -> float:
    """How much of the larger side rounding may add where one of them has less than 64 bits; 0 where none has."""
    kinds = [np.asarray(each).dtype for each in sides]
    return max(
        (GRAINS * float(np.finfo(each).eps) for each in kinds if each.kind == "f" and each.itemsize < 8), default=0.0
    )


def _compared_as_integers(measured: PerCase, promised: PerCase, sense: Sense, strict: bool) -> np.ndarray | None:
    """The answers, where both sides are whole numbers of which some are too large for a float64; None elsewhere."""
    low, high = np.asarray(measured), np.asarray(promised)
    if any(each.dtype.kind not in "iu" for each in (low, high)):
        return None
    if not any(np.any(each > LARGEST_EXACT) or np.any(each < -LARGEST_EXACT) for each in (low, high)):
        return None
    compare = {Sense.AT_MOST: (np.less, np.less_equal), Sense.AT_LEAST: (np.greater, np.greater_equal)}
    return (compare[sense][0 if strict else 1] if sense in compare else np.equal)(low, high)


def _tolerance(within: float, of: PerCase | None, room: PerCase, limit: float | None) -> str:
    if not within:
        return "" if np.ndim(room) == 0 and not room else f"to {room:.1g}" if np.ndim(room) == 0 else "to …"
    if of is None and limit is None:
        return f"to {within:.1g} of it"
    return f"to {within:.1g}" + ("" if of is None or np.ndim(of) == 0 else " of its size")
