"""A rate: a conjunct about the probability of failing, judged over independent runs."""

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from widenet.claims.base import Part
from widenet.claims.cases import yes_or_no
from widenet.claims.sides import PER_CASE, SOME, Fact, Flags, PerCase, Sense, Sides, flat_cases
from widenet.claims.statistics import CONFIDENCE, clopper_pearson, fails_at_most


@dataclass(frozen=True, eq=False)
class Rate:
    """ "Fails with probability at most `allowed`", judged by exact binomial limits over independent runs.

    Attributes:
      failed: which runs failed.
      allowed: δ; from 1 on the statement is vacuous.
      undecided: runs of which it is not known whether they fail: those named here, those whose `failed` is NaN, and
        those that did not fail while their `sides` are undecided. They must not decide: the statement is kept only if
        it is kept with all of them failed, and broken only if it is broken with none. The share that is shown counts
        them as the verdict does.
      confidence: one-sided, of both limits. Of several settings any may be broken by chance: all of them together are
        found broken wrongly no more often than one.
      sides: the two sides whose breaking is the failure ("the test error is at most …"), one case per run. Where they
        are given, the numbers shown are theirs, in the run that keeps them most closely.
      n_settings: how many are judged together.
      setting: for each run its setting, where each of them alone must fail as rarely as is allowed there; the numbers
        shown are those of the one in which most runs fail.
    """

    failed: PerCase
    allowed: PerCase
    undecided: PerCase = False
    confidence: float = CONFIDENCE
    sides: Sides | None = None
    quantity: str = "share of runs that fail"
    text: str = ""
    event: str = ""
    where: PerCase = True
    optional: bool = False
    setting: PerCase | None = None
    n_settings: int = 1

    def clause(self) -> dict[str, Any]:
        """What is asked, without any run."""
        return {
            "sense": "rate ≤",
            "limit": PER_CASE if np.ndim(self.allowed) else float(self.allowed),
            "event": self.event or (SOME if np.ndim(self.where) else ""),
        }

    def part(self, name: str) -> Part:
        """The part of a conclusion that these runs decide; of several promised rates, the smallest."""
        if self.setting is not None and np.size(self.setting):
            return self._worst_of_settings(name)
        if np.ndim(self.allowed):
            smallest = float(np.min(self.allowed, initial=1.0))
            return dataclasses.replace(self, allowed=smallest).part(name)
        failed, lost = (each[self._told[2]] for each in self._told[:2])
        runs, fewest = len(failed), int((failed & ~lost).sum())
        most = fewest + int(lost.sum())
        answers = {self._answer(count, runs) for count in (fewest, most)}
        kept = answers.pop() if len(answers) == 1 else None
        counted = most if kept else fewest
        lowest = clopper_pearson(fewest, runs, self._confidence_of_breach)
        highest = clopper_pearson(most, runs, self.confidence)
        return Part(
            name=name,
            kept=kept,
            interval=(lowest[0], highest[1]),
            n_cases=runs,
            broken=fewest,
            undecided=int(lost.sum()),
            **self._numbers(kept, counted / runs if runs else None),
        ).with_cases(self.columns)

    def columns(self) -> dict[str, np.ndarray]:
        """Of every run inside the event, whether it kept the statement: 1, 0, or NaN where that is not known."""
        failed, lost, among = self._told
        return {"kept": np.where(lost, np.nan, (~failed).astype(float))[among]}

    @functools.cached_property
    def _told(self) -> tuple[Flags, Flags, Flags]:
        """Of every run: whether it failed, whether that is not known, and whether it is inside the event."""
        given = np.asarray(self.failed, np.float64)
        failed, unknown, lost, among = flat_cases(
            given == 1, np.isnan(given), self.undecided, yes_or_no("where", self.where)
        )
        lost = unknown | lost.astype(bool)
        if self.sides is not None and len(self.sides.scored) == len(failed):
            lost = lost | (self.sides.scored & ~self.sides.decided & ~failed)
        return failed, lost, among

    @property
    def _confidence_of_breach(self) -> float:
        return 1 - (1 - self.confidence) / self.n_settings

    def _worst_of_settings(self, name: str) -> Part:
        among, allowed, setting = flat_cases(self.where, self.allowed, self.setting)
        different = np.unique(setting[among.astype(bool)]) if among.any() else np.unique(setting)
        parts = []
        for each in np.unique(setting):
            own = setting == each
            sides = None if self.sides is None else self.sides.only(own)
            alone = {"where": among.astype(bool) & own, "allowed": float(allowed[own].min()), "sides": sides}
            alone |= {"setting": None, "n_settings": len(different)}
            parts.append(dataclasses.replace(self, **alone).part(name))
        answers = [part.kept for part in parts]
        kept = False if False in answers else None if None in answers else True
        worst = max(
            parts, key=lambda part: (part.kept is False, part.broken / max(part.n_cases, 1), part.tightness or 0)
        )
        totals = {field: sum(getattr(part, field) for part in parts) for field in ("n_cases", "broken", "undecided")}
        return worst.model_copy(update={"kept": kept, **totals}).with_cases(self.columns)

    def _numbers(self, kept: bool | None, share: float | None) -> dict[str, Any]:
        if self.sides is not None:
            shown = self.sides
            if kept is not False:
                shown = shown.only(~shown.broken)
            part = shown.part("")
            limited = f"the share of runs that fail (at most {self.allowed:.3g} may)"
            # A run may fail for another reason than its sides; then they do not show why the statement is broken.
            if kept is not False or (part.tightness is not None and part.tightness > 1):
                names = ("sense", "quantity", "promised", "measured", "tightness")
                vacuous = self.sides.vacuous or self.allowed >= 1
                return {**{name: getattr(part, name) for name in names}, "vacuous": vacuous, "interval_of": limited}
        return {
            "sense": Sense.AT_MOST.value,
            "quantity": self.quantity,
            "promised": float(self.allowed),
            "measured": share,
            "tightness": self._tightness(kept, share),
            "vacuous": self.allowed >= 1,
        }

    def _tightness(self, kept: bool | None, share: float | None) -> float | None:
        """The share of failures over δ; none while it is not known on which side of δ the rate lies."""
        if share is None or kept is None:
            return None
        return share / self.allowed if self.allowed > 0 else math.inf

    def _answer(self, failures: int, runs: int) -> bool | None:
        if math.isnan(self.allowed):
            return None
        if self.allowed <= 0:  # δ has underflowed, or is meant to be 0: no number of runs confirms it
            return False if failures else None
        allowed = min(self.allowed, 1.0)
        answer = fails_at_most(failures, runs, allowed, self.confidence)
        return answer if answer is not False else fails_at_most(failures, runs, allowed, self._confidence_of_breach)


Conjunct = Sides | Fact | Rate | Part
