"""The control of each clause of a claim: the change that must break it, from which value on, as the tests make it.

`controls.json` beside this module is made from the tables of controls in the tests by `python -m tools.controls`, and
the tests compare it with them. It has one line per claim.
"""

import functools
import json
from pathlib import Path

from widenet.records import ClosedModel

FILE = Path(__file__).with_suffix(".json")
Pair = tuple[float, float]
FIELDS = ("changed", "kept", "broken", "decides")


class Control(ClosedModel):
    """A change to a small example on which the claim holds.

    Attributes:
      changed: the columns and constants that are changed; none where the example is another one.
      kept: what was measured and what is asked for, just inside; None where the clause is a fact.
      broken: the same just outside.
      decides: whether the change breaks the clause; otherwise nothing decides it any more.
    """

    changed: tuple[str, ...] = ()
    kept: Pair | None = None
    broken: Pair | None = None
    decides: bool = True


def controls_of(claim_id: str) -> dict[str, Control]:
    """The controls of a claim by the keys of its clauses."""
    rows = _kept().get(claim_id, {})
    return {key: Control(**dict(zip(FIELDS, row, strict=True))) for key, row in rows.items()}


def text(controls: dict[str, dict[str, Control]]) -> str:
    """The whole file."""
    rows = {
        id: {key: [getattr(each, field) for field in FIELDS] for key, each in of.items()} for id, of in controls.items()
    }
    lines = (f"{json.dumps(id)}: {json.dumps(of, ensure_ascii=False, allow_nan=False)}" for id, of in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


@functools.cache
def _kept() -> dict[str, dict[str, list]]:
    return json.loads(FILE.read_text(encoding="utf-8"))
