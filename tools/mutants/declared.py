"""Claims that are weakened in what they declare, and whether their controls notice.

Each clause is left out, turned, given ten times its tolerance, made strict or not, or one percent more generous. No
file is changed and no process started, so a paper takes seconds.
"""

import copy
import dataclasses
import importlib
import inspect
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from tests.control_table import checks
from tools.mutants.targets import EQUIVALENT
from widenet.claims.base import Claim
from widenet.claims.implication import Clause, Given, Promise
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sense, Sides

TESTS = Path(__file__).parents[2] / "tests" / "papers"
OTHER = {Sense.AT_MOST: Sense.AT_LEAST, Sense.AT_LEAST: Sense.AT_MOST, Sense.EQUAL: Sense.AT_MOST}


def _sides(**changes: Callable[[Sides], Any]) -> Callable[[Sides], Sides]:
    def weaker(sides: Sides) -> Sides:
        made = copy.copy(sides)
        for name, change in changes.items():
            setattr(made, name, change(sides))
        return made

    return weaker


SIDES = {
    "the other way round": _sides(sense=lambda s: OTHER[s.sense]),
    "ten times the tolerance": _sides(room=lambda s: 10 * s.room),
    "strict or not": _sides(strict=lambda s: not s.strict),
    "1 % more generous": _sides(
        promised=lambda s: s.promised + (-1 if s.sense is Sense.AT_LEAST else 1) * 0.01 * np.abs(s.promised)
    ),
}
"""Which cases count, and what a NaN means, is the core's work and is weakened there."""
FACTS = {"always true": lambda f: dataclasses.replace(f, holds=True)}
RATES = {"twice the rate": lambda r: dataclasses.replace(r, allowed=2 * np.asarray(r.allowed))}


def ways(conjunct: Any) -> dict[str, Callable]:
    """How such a conjunct can be weakened, where that changes anything."""
    if not isinstance(conjunct, Sides):
        return FACTS if isinstance(conjunct, Fact) else RATES if isinstance(conjunct, Rate) else {}
    if conjunct.exact is not None:  # only these answers decide
        return {"always true": _sides(exact=lambda s: np.ones_like(s.exact))}
    skipped = set()
    if not conjunct.room.any():
        skipped.add("ten times the tolerance")
    if conjunct.room.any() or conjunct.sense is Sense.EQUAL:
        skipped.add("strict or not")
    if conjunct.sense is Sense.EQUAL or _is_nothing_between(conjunct):
        skipped.add("1 % more generous")
    if conjunct.sense is Sense.EQUAL and _is_sign(conjunct) and (conjunct.promised[conjunct.scored] == -1).all():
        skipped.add("the other way round")  # a sign is never below −1
    return {name: way for name, way in SIDES.items() if name not in skipped}


def _is_nothing_between(sides: Sides) -> bool:
    """Whether no number of this kind lies between the promise and one by a hundredth more generous."""
    wider = SIDES["1 % more generous"](sides).promised
    is_whole = bool((np.round(sides.measured) == sides.measured).all())
    same = (
        np.floor(wider) == np.floor(sides.promised)
        if sides.sense is Sense.AT_MOST
        else (np.ceil(wider) == np.ceil(sides.promised))
    )
    return bool(np.all((wider == sides.promised) | (is_whole & same)))


def _is_sign(sides: Sides) -> bool:
    return bool(np.isin((sides.measured, sides.promised), (-1, 0, 1)).all())


def weakened(claim: Claim, clause: Clause, way: Callable | None) -> Claim:
    """The claim with this conjunct weakened, or left out."""
    if clause.role == "given":
        kept = [_weaker_given(each, way) if each.key == clause.key else each for each in claim.given]
        return dataclasses.replace(claim, given=tuple(each for each in kept if each is not None))

    def judge(*tables: Any, **constants: Any) -> Promise:
        promise = claim.promise(*tables, **constants)
        parts = dict(promise.parts)
        if way is None:
            del parts[clause.key]
        else:
            parts[clause.key] = way(parts[clause.key])
        return dataclasses.replace(promise, parts=parts or {"nothing": Fact(True)})

    judge.__signature__ = inspect.signature(claim.judge)  # type: ignore[attr-defined]
    return dataclasses.replace(claim, judge=judge)


def _weaker_given(given: Given, way: Callable | None) -> Given | None:
    return None if way is None else dataclasses.replace(given, measure=lambda table: way(given.measure(table)))


def hunt(test: Any) -> Iterator[tuple[str, bool]]:
    """Every weakening of every conjunct of the claims of this table of controls, and whether it is noticed.

    Those that change nothing, `[declared]` of the list of equivalents, are left out.
    """
    same = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["declared"]
    for claim in test.claims:
        table = claim.tables(*test.toy.runs(claim))
        for clause in claim.clauses.values():
            # A control that fails anyway notices nothing.
            found = [each for each in checks(claim, clause, test.rows, test.toy) if not _notices(claim)(each)]
            for name, way in {"left out": None, **ways(clause(*table))}.items():
                what = f"{claim.name}: {clause.key}: {name}"
                if not any(fnmatchcase(what, each) for each in same):
                    yield what, any(map(_notices(weakened(claim, clause, way)), found))


def _notices(claim: Claim) -> Callable[[Any], bool]:
    def notices(control: Any) -> bool:
        try:
            control.check(claim)
        except Exception:
            return True
        return False

    return notices


def tables_of(module: str) -> list[Any]:
    """The tables of controls of a file of tests."""
    found = vars(importlib.import_module(module))
    return [test for word, test in found.items() if word.startswith("test_") and hasattr(test, "rows")]


def hunt_paper(paper: str) -> Iterator[tuple[str, bool]]:
    """The same for all files of tests of a paper's claims."""
    folder = TESTS / paper / "claims"
    for file in sorted(folder.glob("test_*.py")):
        for test in tables_of(f"tests.papers.{paper}.claims.{file.stem}"):
            yield from hunt(test)


def in_words(results: list[tuple[str, bool]]) -> str:
    """How many are noticed, and which are not."""
    missed = [f"  not noticed: {what}" for what, seen in results if not seen]
    noticed = len(results) - len(missed)
    return "\n".join([f"declarations: {noticed} of {len(results)} weakened ones noticed by their controls", *missed])
