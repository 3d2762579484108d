"""The row of a point: what is looked at in the evidence of a claim, or in the results of its cells."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from widenet.claims import Evidence
from widenet.claims.base import Part
from widenet.claims.cases import Cases
from widenet.claims.verdicts import Verdict
from widenet.errors import InputError, UnknownName
from widenet.sweeps.spec import Value

VERDICT, UNMET, TIGHTNESS, VACUOUS, WARNING = "verdict", "unmet", "tightness", "vacuous", "warning"
INCONCLUSIVE = "Inconclusive:"
"""How a warning begins that says what is undecided."""
Row = dict[str, "np.ndarray | float | str"]
"""What is looked at in one point: numbers with one entry per run, single numbers, and words."""


def verdict_row(evidence: Evidence) -> Row:
    """The verdict, and the hypotheses that are not met."""
    unmet = ", ".join(each.key for each in evidence.hypotheses if each.met is False)
    return {VERDICT: evidence.verdict.value, UNMET: unmet}


def closest(evidence: Evidence, part: Part) -> Row:
    """How close a clause comes, and what has to be said about that or about the verdict."""
    tightness = np.nan if part.tightness is None else part.tightness
    return {TIGHTNESS: tightness, VACUOUS: float(part.vacuous), WARNING: _inconclusive(evidence) or part.warning}


def _inconclusive(evidence: Evidence) -> str:
    """What is undecided, where that leaves the verdict open: hypotheses, or else clauses."""
    if evidence.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return ""
    words = [f"{each.key} ({each.why})" if each.why else each.key for each in evidence.hypotheses if each.met is None]
    clauses = (each for each in evidence.parts if each.kept is None)
    words = words or [
        f"{each.key} ({each.undecided:,} of {each.n_cases:,} cases)" if each.undecided else each.key for each in clauses
    ]
    return " ".join(filter(None, [f"{INCONCLUSIVE} {', '.join(words)}.", evidence.note]))


def part_row(part: Part) -> Row:
    """Where cases are runs, one entry per run; otherwise those of the closest case."""
    cases = part.cases
    if "run" in cases.columns:
        names = {"": "measured", "_promised": "promised", "_tightness": "tightness", "_kept": "kept"}
        columns = {end: cases[name].to_numpy(np.float64, na_value=np.nan) for end, name in names.items()}
        return {f"{part.key}{end}": each for end, each in columns.items()}
    kept = np.nan if part.kept is None else float(part.kept)
    sides = {"": part.measured, "_promised": part.promised, "_tightness": part.tightness, "_kept": kept}
    return {f"{part.key}{end}": np.nan if each is None else float(each) for end, each in sides.items()}


def known_quantities(kind: Any) -> set[str] | None:
    """What a result of this type has; None where only the result itself can tell."""
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return None
    names = {name for name in dir(kind) if not name.startswith("_") and not callable(getattr(kind, name))}
    if issubclass(kind, Cases):
        names |= {name for name in dir(kind.join([])) if not name.startswith("_")}
    return names | {field.name for field in dataclasses.fields(kind)}


def quantities_of(result: Any) -> Iterable[str]:
    """What can be looked at in a result."""
    if isinstance(result, xr.Dataset):
        return [str(name) for name in result.data_vars]
    return known_quantities(type(result)) or ()


def quantities(result: Any, look: Sequence[str], at: Mapping[str, Value]) -> Row:
    """Numbers of a result, one per run or one in all; those that are named, or all.

    Raises:
      InputError: one that is named is something else, or is not there.
    """
    if isinstance(result, xr.Dataset):
        found = _selected(result, look, at)
    else:
        names = look or [name for name in vars(result) if not name.startswith("_")]
        found = {name: _array(getattr(result, name)) for name in names}
    n_runs = _n_runs(result)
    row: Row = {}
    for name, array in found.items():
        if array is None or array.dtype.kind not in "biuf" or array.ndim > 1 or (array.ndim and len(array) != n_runs):
            if name in look:
                raise InputError(f"{name} is not one number, or one number per run; look at another quantity.")
        else:
            row[name] = float(array) if array.ndim == 0 else array.astype(np.float64)
    return row


def _selected(result: xr.Dataset, look: Sequence[str], at: Mapping[str, Value]) -> dict[str, np.ndarray]:
    """The quantities at these values of their own axes; of those without a name, the ones that have no other axes."""
    known = [str(name) for name in result.dims]
    for name in at:
        if name not in known:
            raise UnknownName("axis of these quantities,", name, known)
    found = {}
    for name in look or result.data_vars:
        if name not in result:
            raise UnknownName("quantity,", str(name), [str(each) for each in result.data_vars])
        array = result[name]
        for axis in (each for each in at if each in array.dims):
            values = array[axis].values.tolist()
            if at[axis] not in values:
                raise InputError(f"{axis} is one of {', '.join(map(str, values))}, got {at[axis]!r}; change look.at.")
            array = array.isel({axis: values.index(at[axis])})
        others = [str(each) for each in array.dims if each != "run"]
        if others and look:
            example = ", ".join(f"{each} = {array[each].values[-1].item()!r}" for each in others)
            raise InputError(f"{name} has axes of its own; choose where to look: look.at = {{ {example} }}.")
        if not others:
            found[str(name)] = np.asarray(array)
    return found


def _array(value: Any) -> np.ndarray | None:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        return None


def _n_runs(result: Any) -> int | None:
    """The number of runs of a cell; None where its arrays do not say."""
    if isinstance(result, Cases):
        return len(type(result).join([result]))
    if isinstance(result, xr.Dataset):
        return result.sizes.get("run")
    lengths = [len(each) for each in vars(result).values() if isinstance(each, np.ndarray) and each.ndim]
    return lengths[0] if lengths else None
