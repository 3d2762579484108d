"""A claim as an implication: what is given, what is promised, each by name and each a comparison of two columns.

The five words below make both. A hypothesis that several claims share is a function with a name:

    @hypothesis("input norm ‖x‖")
    def input_norm(runs):
        return at_most(runs.largest_input, 1, within=ROUNDING)

and a promise is what a judge returns, by a key:

    @claim("paper.theorem_1", Kind.MAIN, "Theorem 1", reads=ledgers, given=[separable, input_norm])
    def theorem_1(runs: Ledgers) -> Promised:
        \"\"\"The statement, as a reader sees it.\"\"\"
        return {"updates": at_most(runs.updates, bound(runs), within=ROUNDING, text="at most $M$ updates")}

Worst case, slack, closest case, tightness, NaN, rounding, "largest" and "smallest", and how many runs there were are
found here and in `sides`, once for all claims.
"""

import dataclasses
import math
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from widenet.claims.base import Evidence, Part, Runs, plain
from widenet.claims.cases import columns_of, numbers_of, yes_or_no
from widenet.claims.conclusion import evidence
from widenet.claims.hypotheses import Hypothesis
from widenet.claims.rates import Conjunct, Rate
from widenet.claims.sides import PER_CASE, Fact, Sense, Sides
from widenet.errors import ClaimError

if TYPE_CHECKING:
    from widenet.claims.base import Claim

T = TypeVar("T")
Measure = Callable[..., Sides]
Promised = Mapping[str, Conjunct]
"""The conjuncts of a conclusion by key. Keys depend on no data."""
GIVEN, PROMISED = "given", "promised"
EXTREME = {"≤": "largest", "<": "largest", "≥": "smallest", ">": "smallest"}


def at_most(measured: Any, limit: Any, **how: Any) -> Sides:
    """measured ≤ limit, case by case; `how` as in `Sides`."""
    return Sides(measured, limit, Sense.AT_MOST, **how)


def at_least(measured: Any, limit: Any, **how: Any) -> Sides:
    """measured ≥ limit."""
    return Sides(measured, limit, Sense.AT_LEAST, **how)


def less_than(measured: Any, limit: Any, **how: Any) -> Sides:
    """measured < limit: equality breaks it."""
    return Sides(measured, limit, Sense.AT_MOST, strict=True, **how)


def more_than(measured: Any, limit: Any, **how: Any) -> Sides:
    """measured > limit."""
    return Sides(measured, limit, Sense.AT_LEAST, strict=True, **how)


def equal(measured: Any, limit: Any, **how: Any) -> Sides:
    """measured = limit, up to `within`; without it, to the last bit."""
    return Sides(measured, limit, Sense.EQUAL, **how)


@dataclass(frozen=True, eq=False)
class Given:
    """A hypothesis by name: call it with the tables of a claim, and it compares them case by case.

    Attributes:
      key: what programs find it by, the same in every claim: the name of the function.
      name: what is measured, in words, mathematics between `$…$`. Evidence says "largest" or "smallest" of it.
      extreme: whether it does; not for counts, of which there is one.
      tables: which tables of the claim it is asked about; all if left out.
    """

    key: str
    name: str
    measure: Measure
    extreme: bool = True
    tables: tuple[int, ...] | None = None

    def __call__(self, *tables: Any) -> Sides:
        """Both sides in every case."""
        chosen = tables if self.tables is None else [tables[place] for place in self.tables]
        found = [self.measure(table) for table in chosen]
        return found[0] if len(found) == 1 else Sides.chain(found)

    def of(self, *tables: int) -> "Given":
        """The same, of these tables alone, by their places in `reads`."""
        return dataclasses.replace(self, tables=tables)

    def measured(self, sides: Sides) -> Hypothesis:
        """At the case nearest to failing."""
        return sides.hypothesis(self.key, self.shown(sides))

    def shown(self, sides: Sides) -> str:
        """ "labels: distance from ±1" is shown as "labels: largest distance from ±1"."""
        name = plain(self.name)
        head, colon, tail = name.rpartition(": ")
        word = EXTREME.get(sides.sign, "") if self.extreme else ""
        return f"{head}{colon}{word} {tail}" if word else name


def hypothesis(name: str, *, extreme: bool = True, key: str = "") -> Callable[[Measure], Given]:
    """Makes a comparison a named hypothesis. Its key is the name of the function, if no other is given."""
    return lambda measure: Given(key or measure.__name__, name, measure, extreme)


@dataclass(frozen=True, eq=False)
class Promise:
    """What a judge returns where it has more to say than its conjuncts.

    Attributes:
      event: the runs that the statement speaks about; the others are counted as outside. Conjuncts say `where`.
      details, note: further numbers, and one sentence; as functions they are made only when somebody reads them.
      runs: how many runs there were, where rows are something else.
    """

    parts: Promised
    event: Any = None
    details: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)
    note: str | Callable[[], str] = ""
    open_constant: str = ""
    runs: Runs | None = None


@dataclass(frozen=True, eq=False)
class Clause:
    """One hypothesis or one promise of a claim, as it is asked of every case. Call it with runs to compare them.

    Attributes:
      role: "given" or "promised".
      key: what programs find it by; ASCII, and the same whatever the data.
      text: what a reader sees; mathematics stands between `$…$`.
      sense: "≤", "<", "≥", ">" or "="; "fact", or "rate ≤" for a probability.
      limit: the number on the right side, or "per case"; None for a fact, which has no two sides.
      tolerance: what rounding may add, in words.
      trivial: what holds anyway.
      event: which cases it is about, where not all.
      optional: whether there are runs that it says nothing about.
    """

    claim: "Claim" = field(repr=False)
    role: str
    key: str
    text: str
    sense: str
    limit: float | str | None = None
    tolerance: str = ""
    trivial: float | None = None
    event: str = ""
    optional: bool = False

    def __call__(self, *runs: Any, **constants: Any) -> Conjunct:
        """Both sides in every case of these runs; of a hypothesis nothing else is evaluated."""
        if self.role == GIVEN:
            return self.claim.hypotheses[self.key](*self.claim.tables(*runs))
        return self.claim.promise(*runs, **constants).parts[self.key]

    def __str__(self) -> str:
        """ "≥ 1 to 1e-12"."""
        limit = "" if self.limit in (None, PER_CASE) else f" {self.limit:g}".replace("inf", "∞")
        tolerance = f" {self.tolerance}" if self.tolerance else ""
        anyway = "" if self.trivial is None else f", {self.trivial:g} holds anyway"
        event = f", in {plain(self.event)}" if self.event else ""
        return f"{self.sense}{limit}{tolerance}{anyway}{event}"

    def row(self) -> dict[str, Any]:
        """As JSON values, without what is left at its default; for the index of all claims."""
        named = {each.name: (getattr(self, each.name), each.default) for each in dataclasses.fields(self)[1:]}
        row = {name: value for name, (value, default) in named.items() if value != default}
        if row.get("limit") in (math.inf, -math.inf):  # strict JSON has no word for it
            row["limit"] = "Infinity" if row["limit"] > 0 else "-Infinity"
        return row


class Clauses(Mapping[str, Clause]):
    """All that a claim supposes and promises, by key, in order.

    Attributes:
      leaves_open: whether the paper leaves a constant of it open.
    """

    def __init__(self, clauses: Sequence[Clause], leaves_open: bool = False):
        self.leaves_open = leaves_open
        self._clauses = {each.key: each for each in clauses}
        if len(self._clauses) != len(clauses):
            keys = [each.key for each in clauses]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"{clauses[0].claim.id}: two clauses have the key {twice!r}")

    def __getitem__(self, key: str) -> Clause:
        return self._clauses[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._clauses)

    def __len__(self) -> int:
        return len(self._clauses)

    def __str__(self) -> str:
        """One line each."""
        rows = [(each.role, plain(each.text), str(each)) for each in self.values()]
        widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
        return "\n".join(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    __repr__ = __str__


def clauses_of(claim: "Claim") -> Clauses:
    """Asked of the blank tables of the claim: no case, so nothing is run, and nothing is declared twice.

    Raises:
      ClaimError: a hypothesis or the judge needs a case, as a reduction (`runs.a.max()`) does.
    """
    tables = tuple(kind.join([]) for kind in claim.kinds)
    for kind in claim.kinds:
        _without_runs(claim, "columns", columns_of, (kind,))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [(each, _without_runs(claim, f"hypothesis {each.key!r}", each, tables)) for each in claim.given]
        promise = _without_runs(claim, "judge", claim.promise, tables)
    for each, sides in given:
        if not isinstance(sides, Sides):
            raise _not_compared(claim, f"hypothesis {each.key!r}", sides, "")
    for key, part in promise.parts.items():
        if not isinstance(part, Conjunct):
            raise _not_compared(claim, f"promise {key!r}", part, ", or be a Fact or a Rate")
    return Clauses(
        [
            *(
                Clause(claim, GIVEN, each.key, each.name, optional=sides.optional, **sides.clause())
                for each, sides in given
            ),
            *(
                Clause(claim, PROMISED, key, part.text or key, optional=part.optional, **part.clause())
                for key, part in promise.parts.items()
                if isinstance(part, Sides | Fact | Rate)
            ),
        ],
        bool(promise.open_constant),
    )


def _not_compared(claim: "Claim", name: str, found: Any, others: str) -> ClaimError:
    words = "at_most, at_least, less_than, more_than or equal"
    fix = "write at_most(runs.a, 3), not runs.a <= 3"
    return ClaimError(f"{claim.id}: the {name} must come from {words}{others}, got {type(found).__name__}; {fix}")


def _without_runs(claim: "Claim", name: str, ask: Callable[..., T], tables: Sequence[Any]) -> T:
    try:
        return ask(*tables)
    except Exception as error:
        if str(error).startswith(f"{claim.id}: "):
            raise
        if isinstance(error, ClaimError):  # it says what is wrong
            raise ClaimError(f"{claim.id}: {error}") from error
        own = [each for each in traceback.extract_tb(error.__traceback__) if not _is_ours_or_installed(each.filename)]
        place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        raise ClaimError(
            f"{claim.id}: the {name} must work on a table without runs, which lists its clauses, got "
            f"{type(error).__name__}: {error}{place}; compare columns case by case (runs.a, not runs.a.max()), "
            "with limits of one number or one per case"
        ) from error


def _is_ours_or_installed(file: str) -> bool:
    path = Path(file)
    return path.parent == Path(__file__).parent or "site-packages" in path.parts


def judged(claim: "Claim", tables: Sequence[Any], constants: Mapping[str, Any]) -> Evidence:
    """The evidence of these tables.

    Raises:
      ClaimError: it promises something else on them than its clauses list.
    """
    whole, outside = tables, 0
    if claim.among_given:
        chosen, outside = _inside(claim, tables[0])
        tables = [tables[0].take(chosen)]
    promise = claim.promise(*tables, **constants)
    listed = {key for key, each in claim.clauses.items() if each.role == PROMISED}
    shown = {key for key, each in promise.parts.items() if isinstance(each, Sides | Fact | Rate)}
    # Constants of a control may leave promises out. Runs must not: those that break one could do without it.
    if not shown <= listed or (shown != listed and not constants):
        raise ClaimError(
            f"{claim.id}: promise keys must not depend on data, got {', '.join(promise.parts) or 'none'} on these runs "
            f"and {', '.join(sorted(listed)) or 'none'} without runs; put what depends on data into text="
        )
    if promise.event is not None:
        outside += int(np.sum(~yes_or_no("event", promise.event)))
    found = evidence(
        promise.parts,
        measured_of(claim, tables),
        runs=promise.runs or _counted(whole, outside),
        details=_details(claim, tables, promise),
        note=promise.note() if callable(promise.note) else promise.note,
        open_constant=promise.open_constant,
    )
    parts = [_with_rows(part, promise.parts[part.key], tables[0], part is found.headline) for part in found.parts]
    return found.model_copy(update={"parts": tuple(parts)})


def _with_rows(part: Part, sides: Conjunct, table: Any, is_headline: bool) -> Part:
    """Where the cases of a part are the rows of the table, they say which cell and which run they are from."""
    if not (isinstance(sides, Sides) and len(sides.measured) == len(table)):
        return part
    part.with_cases(lambda: {"cell": table.cell, "run": _run_in_cell(table), **sides.columns()})
    return (
        part.model_copy(update={"closest": numbers_of(table, part.case)})
        if is_headline and part.case is not None
        else part
    )


def _run_in_cell(table: Any) -> np.ndarray:
    first = np.searchsorted(table.cell, table.cell)
    return table.run - table.run[first]


def measured_of(claim: "Claim", tables: Sequence[Any]) -> tuple[Hypothesis, ...]:
    """The hypotheses, each at its worst case; an optional one only where there is a case of it."""
    compared = [(each, each(*tables)) for each in claim.given]
    return tuple(each.measured(sides) for each, sides in compared if sides.scored.any() or not sides.optional)


def _inside(claim: "Claim", table: Any) -> tuple[np.ndarray, int]:
    """The runs that meet every hypothesis, or the nearest; and how many do not.

    A run of which that is not known is inside: its hypothesis leaves open what follows.
    """
    asked = [each(table) for each in claim.given]
    slacks, met = (np.stack(each) for each in zip(*(sides.slack() for sides in asked), strict=True))
    free = np.stack([~sides.scored | sides.undecided | ~np.isfinite(sides.measured) for sides in asked])
    inside = np.asarray((met | free).all(axis=0))
    nearest = np.arange(len(table)) == (np.argmax(slacks.min(axis=0)) if len(table) else 0)
    return (inside if inside.any() else nearest), int((~inside).sum())


def _details(claim: "Claim", tables: Sequence[Any], promise: Promise) -> dict[str, Any]:
    own = promise.details() if callable(promise.details) else promise.details
    return {**(claim.details(*tables) if claim.details else {}), **own}


def _counted(tables: Sequence[Any], outside: int) -> Runs:
    counts = [table.counts() for table in tables]
    return Runs(outside=outside, **{name: sum(each[name] for each in counts) for name in counts[0]})
