"""What the controls of the claims change and what then breaks, as the report tells it: `papers/controls.json`.

`python -m tools.controls` writes the file. Each test of a table of controls compares its own entry (`control_table`).
"""

import importlib
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.control_table import Edge, Row, Setup, checks, constants_of, edge_of
from widenet.claims.base import Claim, Part
from widenet.claims.implication import Clause
from widenet.papers import claim_ids
from widenet.papers.controls import Control, Pair, controls_of

TESTS = Path(__file__).parent / "papers"
AGAIN = "run python -m tools.controls"
SAME = 1e-6
"""Machines differ in the last bits of what toys measure."""


def told(controls: Iterable[Row | Edge], clause: Clause) -> Control | None:
    """The first control of a clause, in numbers; None where it has none."""
    first = next(iter(controls), None)
    if first is None:
        return None
    changed, (inside, outside) = _of_edge(first) if isinstance(first, Edge) else _of_row(first, clause)
    decides = outside.kept is False
    return Control(changed=changed, kept=_pair(inside), broken=_pair(outside) if decides else None, decides=decides)


def _of_edge(control: Edge) -> tuple[tuple[str, ...], tuple[Part, Part]]:
    """A column set just inside and just outside."""
    claim, clause = control.claim, control.clause
    cells, *others = control.toy.runs(claim)
    table = claim.kinds[0].join(cells)
    name, values = edge_of(clause(table, *others), table)
    made = ([*cells[:-1], cells[-1].replace(**{name: value})] for value in values[:2])
    inside, outside = (_part(claim, clause, *claim.tables(each, *others)) for each in made)
    return (name,), (inside, outside)


def _of_row(control: Row, clause: Clause) -> tuple[tuple[str, ...], tuple[Part, Part]]:
    setups = (control.inside, control.outside)
    inside, outside = (_judged(control.claim, clause, each) for each in setups)
    names = dict.fromkeys(name for each in setups for name in each.changes)
    return tuple(names), (inside, outside)


def _judged(claim: Claim, clause: Clause, setup: Setup) -> Part:
    constants = {name: value for name, value in setup.changes.items() if name in constants_of(claim)}
    return _part(claim, clause, *claim.tables(*setup.runs(claim)), **constants)


def _part(claim: Claim, clause: Clause, *tables: Any, **constants: Any) -> Part:
    is_given = clause.role == "given"
    found = clause(*tables) if is_given else claim.promise(*tables, **constants).parts[clause.key]
    return found if isinstance(found, Part) else found.part(clause.key)


def _pair(part: Part) -> Pair | None:
    sides = (part.measured, part.promised)
    return None if None in sides or not all(map(math.isfinite, sides)) else sides  # type: ignore[return-value,arg-type]


def compare(claim: Claim, clause: Clause, controls: Iterable[Row | Edge]) -> None:
    """That the report tells this control; claims of no paper are told of nowhere."""
    if claim.id not in claim_ids():
        return
    here, kept = told(controls, clause), controls_of(claim.id).get(clause.key)
    assert here is not None, "no control"
    assert kept is not None, AGAIN
    assert is_same(here, kept), f"{here} is not {kept}: {AGAIN}"


def tables() -> Iterator[Any]:
    """Every table of controls of the papers' tests."""
    for path in sorted(TESTS.rglob("test_*.py")):
        if "controls(" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.relative_to(TESTS.parents[1]).with_suffix("").parts))
            yield from (each for each in vars(module).values() if hasattr(each, "toy") and hasattr(each, "claims"))


def all_told() -> dict[str, dict[str, Control]]:
    """By claim and key."""
    found: dict[str, dict[str, Control]] = {}
    for test in tables():
        for claim in test.claims:
            for clause in claim.clauses.values():
                control = told(checks(claim, clause, test.rows, test.toy), clause)
                if control is not None:
                    found.setdefault(claim.id, {})[clause.key] = control
    return found


def is_same(one: Control, other: Control) -> bool:
    """Whether both tell the same, up to rounding."""
    if (one.changed, one.decides) != (other.changed, other.decides):
        return False
    pairs = ((one.kept, other.kept), (one.broken, other.broken))
    return all(
        mine is theirs or (mine is not None and theirs is not None and all(map(_is_close, mine, theirs)))
        for mine, theirs in pairs
    )


def _is_close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)
