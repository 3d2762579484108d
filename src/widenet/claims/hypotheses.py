"""What a hypothesis is: measured, with how far it is from failing, and three answers."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, SupportsFloat

from pydantic import Field

from widenet.claims.tolerances import ROUNDING
from widenet.records import ClosedModel

if TYPE_CHECKING:
    from numpy import floating, integer

    Number = float | int | integer | floating
else:
    Number = SupportsFloat  # NumPy's numbers too, without loading NumPy for a list of claims

NOT_KNOWN = "undecided: neither a separator nor a proof that there is none was found"


class Hypothesis(ClosedModel):
    """One hypothesis, measured.

    Attributes:
      key: what programs find it by ("separable"); the same in every claim that needs it.
      name: what a reader sees.
      slack: how far it is from failing, in the units of `actual`: positive or zero when met, negative when not; None
        where there is no distance.
      met: None where it could not be decided (a search that found neither answer): the verdict then decides nothing.
      why: the sentence of a certificate, where there is one.
      normalization: the choice that makes it true of every run ("R is the largest row norm"), or "". Such a hypothesis
        has no slack: it cannot be near to failing, and it must not look as if it were.
    """

    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    required: str
    actual: float | str
    slack: float | None
    met: bool | None
    why: str = ""
    normalization: str = ""


def at_most(key: str, name: str, actual: Number, limit: Number, *, tolerance: float = 0.0, why: str = "") -> Hypothesis:
    """The hypothesis actual ≤ limit, up to what rounding may add. A NaN is not met."""
    slack, met = limit + tolerance - actual, actual <= limit + tolerance
    return _compared(key, name, actual, f"≤ {limit:.6g}{_within(tolerance)}", slack, met, why)


def at_least(
    key: str, name: str, actual: Number, limit: Number, *, tolerance: float = 0.0, why: str = ""
) -> Hypothesis:
    """The hypothesis actual ≥ limit, up to what rounding may take. A NaN is not met."""
    slack, met = actual - limit + tolerance, actual >= limit - tolerance
    return _compared(key, name, actual, f"≥ {limit:.6g}{_within(tolerance)}", slack, met, why)


def more_than(key: str, name: str, actual: Number, limit: Number, *, why: str = "") -> Hypothesis:
    """The hypothesis actual > limit, strictly."""
    return _compared(key, name, actual, f"> {limit:.6g}", actual - limit, actual > limit, why)


def less_than(key: str, name: str, actual: Number, limit: Number, *, why: str = "") -> Hypothesis:
    """The hypothesis actual < limit, strictly."""
    return _compared(key, name, actual, f"< {limit:.6g}", limit - actual, actual < limit, why)


def normalized(hypothesis: Hypothesis, choice: str) -> Hypothesis:
    """A hypothesis that `choice` makes true, such as a maximum divided by itself; shown without a slack while met."""
    return hypothesis.model_copy(update={"slack": None, "normalization": choice}) if hypothesis.met else hypothesis


def _compared(key: str, name: str, actual: Number, required: str, slack: Number, met: object, why: str) -> Hypothesis:
    return Hypothesis(
        key=key, name=name, required=required, actual=float(actual), slack=float(slack), met=bool(met), why=why
    )


def undecided(key: str, name: str, required: str, *, actual: float | str = "not known", why: str) -> Hypothesis:
    """A hypothesis of which it is not known whether it is met: nothing follows from it, either way."""
    return Hypothesis(key=key, name=name, required=required, actual=actual, slack=None, met=None, why=why)


def separable(margins: Iterable[Number], *, why: str = "") -> Hypothesis:
    """The hypothesis y⟨w*, x⟩ ≥ 1 on every point, from the smallest margin of each data set.

    A margin is NaN where it is not known whether a separator exists (`Separation.vector` is NaN then): the hypothesis
    is undecided, unless another set fails it.
    """
    known = [float(margin) for margin in margins]
    nearest = min((margin for margin in known if not math.isnan(margin)), default=math.inf)
    found = at_least("separable", "separable: smallest y⟨w*, x⟩", nearest, 1, tolerance=ROUNDING, why=why)
    if found.met and (not known or any(map(math.isnan, known))):
        return undecided(found.key, found.name, found.required, why=why or NOT_KNOWN)
    return found


def pick(hypotheses: Sequence[Hypothesis], *keys: str) -> tuple[Hypothesis, ...]:
    """The hypotheses that a statement needs, by their keys.

    Raises:
      KeyError: none of them has this key.
    """
    by_key = {hypothesis.key: hypothesis for hypothesis in hypotheses}
    return tuple(by_key[key] for key in keys)


def _within(tolerance: float) -> str:
    return f" (to {tolerance:.0e})" if tolerance else ""
