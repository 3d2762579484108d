"""What a claim is, and what checking it leaves behind.

A `Claim` is a statement of a paper that can be run: `check(setting, progress)` measures the hypotheses, computes
what is promised, measures what happens, and returns `Evidence`. `setting(scale, seed)` makes the default setting on
generated data; a user's own data makes others for the same check.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from widenet.types import ClosedModel, Progress, Scale


class Verdict(enum.StrEnum):
    """The five answers a check can give."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    HYPOTHESES_NOT_MET = "HYPOTHESES_NOT_MET"
    INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
    CONSTANT_UNSPECIFIED = "CONSTANT_UNSPECIFIED"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return {
            Verdict.HOLDS: "The hypotheses are met and the conclusion was measured to hold.",
            Verdict.VIOLATED: "The hypotheses are met and the conclusion was measured to fail.",
            Verdict.HYPOTHESES_NOT_MET: "At least one hypothesis fails here, so the statement promises nothing.",
            Verdict.INSUFFICIENT_EVIDENCE: "Too few runs, or runs that ended too early, to decide.",
            Verdict.CONSTANT_UNSPECIFIED: "The paper leaves a constant open, so there is no number to test.",
        }[self]


class Kind(enum.StrEnum):
    """What role a statement plays in its paper. Surfaces list them in this order."""

    MAIN = "main result"
    TREND = "trend"
    CONSTRUCTION = "construction"
    IDENTITY = "identity"
    STEP = "proof step"


class Hypothesis(ClosedModel):
    """One hypothesis, measured.

    `slack` says how far it is from failing, in the units of `actual`: positive or zero when met, negative when
    not; None where there is no distance.
    """

    name: str
    required: str
    actual: float | str
    slack: float | None
    met: bool


class Runs(ClosedModel):
    """How many runs the evidence rests on. Diverged runs are counted here, never dropped.

    `outside` counts the runs outside the event that a statement is conditioned on: it promises nothing about them, so
    they are not scored.
    """

    tried: int
    diverged: int = 0
    unfinished: int = 0
    outside: int = 0


class Evidence(ClosedModel):
    """What a check found.

    Attributes:
      conclusion: whether the conclusion was measured to hold, also where the hypotheses fail (so that a reader sees
        how far past its hypotheses a theorem reaches); None when undecided.
      quantity: what `promised` and `measured` count, in words.
      promised, measured: the two sides of the statement in the worst run, or None when it has no such sides.
      tightness: measured / promised in that run: 1 is a bound that is attained.
      vacuous: the promise says no more than what is trivially true.
      interval: the confidence interval behind a probability statement.
      config: what was run, in plain JSON values.
      note: one sentence for the reader, if one is needed.
    """

    verdict: Verdict
    hypotheses: tuple[Hypothesis, ...]
    runs: Runs
    conclusion: bool | None
    quantity: str = ""
    promised: float | None = None
    measured: float | None = None
    tightness: float | None = None
    vacuous: bool = False
    interval: tuple[float, float] | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    note: str = ""


Check = Callable[[Any, Progress], Evidence]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be run.

    Attributes:
      id: `paper.statement`, the same in code, command line, store and report.
      statement: the sentence a reader sees, with its constants.
      where: the place in the paper ("Theorem 2, p. 5").
      check: measures a setting.
      setting: makes the default setting on generated data.
      expected: HOLDS, except for a statement kept `_as_printed` because it is false as printed.
    """

    id: str
    kind: Kind
    statement: str
    where: str
    check: Check
    setting: Callable[[Scale, int], Any]
    expected: Verdict = Verdict.HOLDS

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    def __post_init__(self) -> None:
        """A statement that is false as printed says so in its id, and only such a one is expected to fail."""
        if self.id.endswith("_as_printed") != (self.expected is Verdict.VIOLATED):
            raise ValueError(f"{self.id}: the suffix _as_printed and expected=VIOLATED go together")


def at_most(name: str, actual: float | int, limit: float | int, *, tolerance: float = 0.0) -> Hypothesis:
    """The hypothesis actual ≤ limit, up to what rounding may add. A NaN is not met."""
    return Hypothesis(
        name=name,
        required=f"≤ {limit:.6g}{_within(tolerance)}",
        actual=float(actual),
        slack=float(limit + tolerance - actual),
        met=bool(actual <= limit + tolerance),
    )


def at_least(name: str, actual: float | int, limit: float | int, *, tolerance: float = 0.0) -> Hypothesis:
    """The hypothesis actual ≥ limit, up to what rounding may take. A NaN is not met."""
    return Hypothesis(
        name=name,
        required=f"≥ {limit:.6g}{_within(tolerance)}",
        actual=float(actual),
        slack=float(actual - limit + tolerance),
        met=bool(actual >= limit - tolerance),
    )


def _within(tolerance: float) -> str:
    return f" (to {tolerance:.0e})" if tolerance else ""


def more_than(name: str, actual: float | int, limit: float | int) -> Hypothesis:
    """The hypothesis actual > limit, strictly."""
    return Hypothesis(
        name=name,
        required=f"> {limit:.6g}",
        actual=float(actual),
        slack=float(actual - limit),
        met=bool(actual > limit),
    )


def less_than(name: str, actual: float | int, limit: float | int) -> Hypothesis:
    """The hypothesis actual < limit, strictly."""
    return Hypothesis(
        name=name,
        required=f"< {limit:.6g}",
        actual=float(actual),
        slack=float(limit - actual),
        met=bool(actual < limit),
    )


def decide(hypotheses: Sequence[Hypothesis], conclusion: bool | None) -> Verdict:
    """Hypotheses first: a conclusion that holds outside them is no confirmation, and one that fails no refutation."""
    if not all(h.met for h in hypotheses):
        return Verdict.HYPOTHESES_NOT_MET
    if conclusion is None:
        return Verdict.INSUFFICIENT_EVIDENCE
    return Verdict.HOLDS if conclusion else Verdict.VIOLATED


def ratio(measured: float | int, promised: float | int) -> float | None:
    """measured / promised, or None where the promise is infinite, zero or undefined, or the signs differ."""
    if not (math.isfinite(promised) and math.isfinite(measured)) or promised == 0 or measured * promised < 0:
        return None
    return measured / promised
