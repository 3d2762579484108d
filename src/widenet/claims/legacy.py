"""Evidence written out by hand, until the last claim has parts. To be removed."""

import math
from collections.abc import Sequence
from typing import Any

from widenet.claims.base import Evidence, Hypothesis, Part, Runs


def Evidence_(
    *,
    verdict: Any,
    hypotheses: Sequence[Hypothesis],
    runs: Runs,
    conclusion: bool | None,
    quantity: str = "",
    promised: float | None = None,
    measured: float | None = None,
    tightness: float | None = None,
    vacuous: bool = False,
    interval: tuple[float, float] | None = None,
    config: dict[str, Any] | None = None,
    note: str = "",
) -> Evidence:
    """The old form as one part."""
    part = Part(
        name="the conclusion",
        kept=conclusion,
        quantity=quantity,
        measured=measured,
        promised=promised,
        tightness=tightness,
        vacuous=vacuous,
        interval=interval,
    )
    return Evidence(hypotheses=tuple(hypotheses), parts=(part,), runs=runs, details=config or {}, note=note)


def decide(hypotheses: Sequence[Hypothesis], conclusion: bool | None) -> None:
    """The verdict is computed."""


def ratio(measured: float | int, promised: float | int) -> float | None:
    """measured / promised, or None where the promise is infinite, zero or undefined, or the signs differ."""
    if not (math.isfinite(promised) and math.isfinite(measured)) or promised == 0 or measured * promised < 0:
        return None
    return measured / promised
