"""Controls as a table: what breaks one hypothesis or one promise of a claim and no other, just inside and just outside.

    test_control = controls(
        steps,
        toy_runs,
        (equation_13, "product", {}, {"margins": lambda q: 1.001 * q}),
        (equation_14, "growth", at(from_zero), at(from_zero, factor=1.001)),
    )

A row names the claim, the key of the clause it breaks, and the changes just inside and just outside: columns of the
toy (a number goes to its last row, a function gets the old column) and constants of the judge, by their names. Keys
after these fall with it. Inside, all is met and kept. Outside, that alone is broken.

Where one side of a comparison is a column as it stands, the edge is found by the machine: that column is set, in the
last case, to the limit and half the tolerance, and to the limit and twice the tolerance. So hypotheses need no row.
There is one test for every clause of a claim, and it fails where there is neither a row nor such an edge.

A promise with such an edge needs a row all the same, of two entries: `(theorem_2, "updates")`. A row about a clause
that is gone fails, so that no promise is dropped unseen. (A claim without one of its hypotheses says more.) A promise
that is never broken is left undecided outside: `leaves_open(…)` in place of `at(…)`.

Where claims of a module read several records, the toy is a dictionary: record, or claim → its toy.
Of a claim that reads two experiments the toy is a pair; changes are those of the first, and edges are found there.
What is not about an edge (the formula, and where it is attained) is a test of its own, as before.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.controls import claims_of, undecided_in, unmet_in
from widenet.claims.base import Claim, Evidence, Verdict
from widenet.claims.cases import columns_of
from widenet.claims.implication import PROMISED, Clause, measured_of
from widenet.claims.sides import BLURRED, Fact, Sense, Sides


@dataclass(frozen=True, eq=False)
class Setup:
    """Runs and changes: columns of their last cell, and constants of the judge; and cells of a claim's other tables."""

    toy: Any
    changes: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple[list, ...] = ()
    decides: bool = True

    def runs(self, claim: Claim) -> tuple[Any, ...]:
        """The cells of each experiment, the last one of the first changed."""
        made = self._made(claim)
        return (self.cells(claim), *(made[1:] or ([] for _ in claim.kinds[1:])))

    def _made(self, claim: Claim) -> tuple[Any, ...]:
        toy = self.toy
        if isinstance(toy, Mapping):  # one for each record that the claims of a module read
            fitting = [(kind, each) for kind, each in toy.items() if _has_kind(claim, kind)]
            toy = next((each for kind, each in fitting if isinstance(kind, Claim)), fitting[0][1])
        made = toy() if callable(toy) else toy
        made = made if isinstance(made, tuple) else (made,)
        return (*made[:1], *(self.beside or made[1:]))

    def cells(self, claim: Claim) -> list[Any]:
        """The cells, the last one changed."""
        made = self._made(claim)[0]
        *others, last = made if isinstance(made, list) else [made]
        columns = {name: value for name, value in self.changes.items() if name not in constants_of(claim)}
        last = claim.kinds[0].join([last]).cells[0]
        return [*others, last.replace(**{name: _changed(last, name, value) for name, value in columns.items()})]

    def judged(self, claim: Claim) -> Evidence:
        """What the claim finds; under the keys that it has without any run."""
        constants = {name: value for name, value in self.changes.items() if name in constants_of(claim)}
        found = claim(*self.runs(claim), **constants)
        clauses = claim.clauses.values()
        promised = [each.key for each in clauses if each.role == PROMISED]
        shown = {part.key for part in found.parts}
        assert shown <= set(promised), f"keys that depend on the data: {shown - set(promised)}"
        assert {each.key for each in clauses if each.role == PROMISED and not each.optional} <= shown
        return found


def broken_in(evidence: Evidence) -> list[str]:
    """The keys of the parts that were measured to fail."""
    return [part.key for part in evidence.parts if part.kept is False]


def open_in(evidence: Evidence) -> list[str]:
    """The keys of the parts that nothing decides."""
    return [part.key for part in evidence.parts if part.kept is None]


def at(toy: Any, *beside: list, **changes: Any) -> Setup:
    """Another toy than that of the table, with these changes, and cells of the other experiments that a claim reads."""
    return Setup(toy, changes, beside)


def leaves_open(toy: Any, *beside: list, **changes: Any) -> Setup:
    """The same for the outside of a row, where the clause is not broken but left undecided."""
    return Setup(toy, changes, beside, decides=False)


@dataclass(frozen=True, eq=False)
class Row:
    """One control."""

    claim: Claim
    breaks: str
    inside: Setup
    outside: Setup
    also: tuple[str, ...] = ()

    def check(self, claim: Claim | None = None) -> None:
        """That it breaks what it says and nothing else; of a weakened claim, whether that is noticed."""
        claim = claim or self.claim
        role = self.claim.clauses[self.breaks].role
        inside, outside = self.inside.judged(claim), self.outside.judged(claim)
        assert not unmet_in(inside), f"inside: {unmet_in(inside)} not met"
        assert not undecided_in(inside), f"inside: {undecided_in(inside)} undecided"
        expected = {self.breaks, *self.also}
        if role == "given":
            assert set(unmet_in(outside)) == expected
            return
        assert not broken_in(inside), f"inside: {broken_in(inside)} broken"
        assert inside.conclusion is True, "inside: undecided"
        decides = self.outside.decides
        assert set(broken_in(outside)) == (expected if decides else set())
        assert decides or set(open_in(outside)) == expected
        assert not unmet_in(outside), f"hypotheses not met: {unmet_in(outside)}"
        assert not undecided_in(outside), f"hypotheses undecided: {undecided_in(outside)}"


class NoEdge(Exception):
    """No side of the comparison is a column, so nothing can be set."""


@dataclass(frozen=True, eq=False)
class Edge:
    """What the machine finds: a column that is one side of a comparison."""

    claim: Claim
    clause: Clause
    toy: Setup
    alone: bool = True

    def check(self, claim: Claim | None = None) -> None:
        """Half a tolerance beyond the limit is inside, two are outside; that nothing else notices a row may show."""
        claim = claim or self.claim
        cells, *others = self.toy.runs(self.claim)
        table = self.claim.kinds[0].join(cells)
        name, columns = edge_of(self.clause(table, *others), table)
        changed = ([*cells[:-1], cells[-1].replace(**{name: new})] for new in columns)
        inside, *outside = (self._failing(claim, each, *others) for each in changed)
        if self.alone:
            assert inside == set(), f"inside: {inside}"
            assert all(found == {self.clause.key} for found in outside), f"outside: {outside}"
        else:
            assert self.clause.key not in inside, f"inside: {inside}"
            assert all(self.clause.key in found for found in outside), f"outside: {outside}"

    def _failing(self, claim: Claim, *runs: Any) -> set[str]:
        tables = claim.tables(*runs)
        if self.clause.role == "given":
            return {each.key for each in measured_of(claim, tables) if not each.met}
        promised: Mapping[str, Any] = claim.promise(*tables).parts
        parts = {key: (part.part(key), part.optional) for key, part in promised.items()}
        return {key for key, (part, optional) in parts.items() if not part.kept and (part.n_cases or not optional)}


def controls(module: ModuleType, toy: Any, *rows: tuple, but: tuple[Claim, ...] = ()) -> Callable:
    """One test per hypothesis and promise of the claims of this module."""
    made = [_row(toy, *row) for row in rows if len(row) > 2]
    claims = [claim for claim in claims_of(module) if claim not in but]
    asked = [(claim, clause) for claim in claims for clause in claim.clauses.values()]
    named = {f"{row.claim.name}: {key}" for row in made for key in (row.breaks, *row.also)}
    named |= {f"{row[0].name}: {row[1]}" for row in rows}
    gone = named - {f"{claim.name}: {clause.key}" for claim, clause in asked}
    assert not gone, f"rows about what no claim of this table states: {', '.join(sorted(gone))}"

    @pytest.mark.parametrize(("claim", "clause"), asked, ids=[f"{claim.name}: {clause.key}" for claim, clause in asked])
    def test(claim: Claim, clause: Clause) -> None:
        found = list(checks(claim, clause, made, Setup(toy)))
        for each in found:
            each.check()
        assert found, "no control"
        assert clause.role == "given" or f"{claim.name}: {clause.key}" in named, "dropped, it would not be missed"
        from tests.told_controls import compare

        compare(claim, clause, found)

    test.rows, test.claims, test.toy = made, claims, Setup(toy)  # type: ignore[attr-defined]
    return test


def checks(claim: Claim, clause: Clause, rows: list[Row], toy: Setup) -> Iterator[Row | Edge]:
    """The rows about it, and its edge, if it has one."""
    own = [row for row in rows if row.claim is claim and row.breaks == clause.key]
    yield from own
    try:
        table, *others = claim.tables(*toy.runs(claim))
        edge_of(clause(table, *others), table)
    except NoEdge:
        return
    yield Edge(claim, clause, toy, alone=not own)


def spared(claim: Claim, setup: Setup) -> None:
    """A statement that is false as printed, on an instance in which it holds."""
    assert claim.expected is Verdict.VIOLATED
    assert setup.judged(claim).verdict is Verdict.HOLDS


def _row(toy: Any, claim: Claim, breaks: str, inside: Any, outside: Any, *also: str) -> Row:
    inside, outside = (each if isinstance(each, Setup) else Setup(toy, each) for each in (inside, outside))
    return Row(claim, breaks, inside, outside, also)


def _has_kind(claim: Claim, kind: Any) -> bool:
    """Whether it reads this record, or these; or is this claim, weakened or not."""
    if isinstance(kind, Claim):
        return kind.id == claim.id
    wanted = kind if isinstance(kind, tuple) else (kind,)
    return len(wanted) == len(claim.kinds) and all(map(issubclass, claim.kinds, wanted))


def constants_of(claim: Claim) -> set[str]:
    ways = inspect.signature(claim.judge).parameters.values()
    return {each.name for each in ways if each.kind is each.KEYWORD_ONLY}


def _changed(cell: Any, name: str, value: Any) -> Any:
    """A number that is meant for a column goes to its last row."""
    if not isinstance(value, int | float) or not columns_of(type(cell))[name].axes:
        return value
    column = np.array(getattr(cell, name))
    column[-1] = value
    return column


def edge_of(sides: Any, table: Any) -> tuple[str, list[Any]]:
    """The column that is compared, as it is just inside and just outside, in the last case that counts."""
    given: Any = sides.given if isinstance(sides, Sides) else sides.holds if isinstance(sides, Fact) else None
    views = [table, *vars(table).get("_views", {}).values()]
    places = [(view, name) for view in views for name, value in vars(view).items() if value is given and name[0] != "_"]
    exact = isinstance(sides, Sides) and sides.exact is not None  # decided beside the columns, which are only shown
    if exact or not places or not len(given) or np.ndim(given) != 1:
        raise NoEdge
    view, name = places[0]
    cases = np.flatnonzero(sides.decided if isinstance(sides, Sides) else _looked_at(sides))
    last = len(view) - len(view.where(view.cell == view.cell[-1]))  # the first row of the last cell
    cases = cases[(cases >= last) & (cases < len(view))]
    if not len(cases) or _is_coarse(sides, cases[-1]):
        raise NoEdge
    values = _values(sides, int(cases[-1]), given.dtype) if isinstance(sides, Sides) else [True, False]
    cell, axes = table.cells[-1], columns_of(type(table))[name].axes
    if given.dtype == object:
        values = [Fraction(value) for value in values]
    if not axes:
        return name, values
    if any(length(cell) is getattr(cell, name) for length in cell.lengths.values()):
        raise NoEdge  # it says how long the runs are: other columns would have to follow it
    row = int(cases[-1]) - last
    index = _index(cell, axes, view._axis, row)
    made = [np.array(getattr(cell, name)) for _ in values]
    for column, value in zip(made, values, strict=True):
        column[index] = value
    return name, made


def _looked_at(fact: Fact) -> np.ndarray:
    where = True if fact.where is None else np.asarray(fact.where, bool)
    return where & ~np.asarray(fact.undecided, bool) & np.ones(np.shape(fact.holds), bool)


def _index(cell: Any, axes: tuple[str, ...], axis: str, row: int) -> tuple[int, ...]:
    if axes[0] in cell.lengths or axis == cell.rows:
        return (row,)
    run, place = divmod(row, cell.sizes[axis]) if axis not in cell.lengths else (len(cell) - 1, 0)
    return tuple({cell.rows: run, axis: place}[each] for each in axes)


def _is_coarse(sides: Any, case: int) -> bool:
    """Chance, and not rounding, is what is allowed for: then what lies between decides nothing."""
    return isinstance(sides, Sides) and sides.room[case] > BLURRED * abs(sides.promised[case]) > 0


def _values(sides: Sides, case: int, kind: Any) -> list[Any]:
    """Just inside, and just outside; of an equality on both sides."""
    limit, room = sides.promised[case], sides.room[case]
    beyond = -1 if sides.sense is Sense.AT_LEAST else 1
    if kind.kind in "iu":
        last = math.floor(limit) if beyond > 0 else math.ceil(limit)
        last -= beyond if sides.strict and last == limit else 0
        return [last, last + beyond]
    if room:
        outside = [limit + 2 * beyond * room, limit - 2 * beyond * room][: 1 + (sides.sense is Sense.EQUAL)]
        return [limit + beyond * room / 2, *outside]
    after, before = (np.nextafter(limit, side * beyond * np.inf) for side in (1, -1))
    return [before, limit] if sides.strict else [limit, after]
