"""How the parts of a conclusion become evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Part, Runs, plain
from widenet.claims.rates import Conjunct


def evidence(
    parts: Mapping[str, Conjunct],
    hypotheses: Sequence[Hypothesis] = (),
    *,
    runs: Runs | None = None,
    details: Mapping[str, Any] | None = None,
    note: str = "",
    open_constant: str = "",
) -> Evidence:
    """What a judge returns: the conjuncts of the conclusion by name, the measured hypotheses, and words.

    Arguments:
      parts: one entry per conjunct of the statement, by key; the first with two sides gives the numbers a reader sees.
      hypotheses: measured, each at the case nearest to breaking it.
      runs: how many runs there were; as many as the first part has cases if left out.
      details: other numbers that a reader may want: JSON values, or NumPy's numbers and arrays.
      note: one sentence for the reader.
      open_constant: the constant that the paper leaves open, with the value this data would need; there is then no
        number to test.
    """
    if wrong := [each for each in hypotheses if not isinstance(each, Hypothesis)]:
        raise TypeError(f"hypotheses must be measured, as given.measured(…) returns them, got {wrong[0]!r}")
    parts_made = ((_built(name, each), getattr(each, "optional", False)) for name, each in parts.items())
    built = tuple(part for part, optional in parts_made if part.n_cases or not optional)
    if not built:
        raise ValueError("evidence needs at least one part with cases, got none")
    return Evidence(
        hypotheses=tuple(hypotheses),
        parts=built,
        runs=Runs(tried=built[0].n_cases) if runs is None else runs,
        details=_plain(details or {}),
        note=note,
        open_constant=open_constant,
    )


def _built(key: str, conjunct: Any) -> Part:
    if not isinstance(conjunct, Conjunct):
        kinds = "compare two columns with at_most or its like, or use Fact or Rate"
        raise TypeError(f"part {key!r} must be Sides, Fact, Rate or Part, got {type(conjunct).__name__}; {kinds}")
    if isinstance(conjunct, Part):
        return conjunct.model_copy(update={"name": key, "key": key})
    return conjunct.part(plain(conjunct.text) or key).model_copy(update={"key": key})


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON's own; everything else as it is."""
    match value:
        case np.generic() | np.ndarray():
            return value.tolist()
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value
