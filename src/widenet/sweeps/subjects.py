"""What is swept: a claim over the choices of your data, or an experiment over the fields of its setting."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import xarray as xr
from pydantic import ValidationError

from widenet import papers
from widenet.claims import Claim, Evidence, Experiment, NotApplicable
from widenet.claims.applicability import Applied
from widenet.claims.user_data import Choices, UserData
from widenet.errors import InputError, UnknownName, WidenetError
from widenet.records import ClosedModel, Scale
from widenet.run.cells import Task, tasks_at
from widenet.sweeps.data import SEED, PointSource, is_about_data
from widenet.sweeps.rows import Row, closest, known_quantities, part_row, quantities, quantities_of, verdict_row
from widenet.sweeps.spec import OF, Value

MOST_LOOKED = 50
"""At how many points it is looked whether a fixed choice is used."""
MOST_TRIED = 1_000
"""In how many points a value is tried before the points themselves are left to say that they refuse it."""


class Unfit(InputError):
    """A claim does not apply to the data, or an axis changes nothing that it runs."""


class Together(InputError):
    """A value is refused, perhaps only beside some of the others."""


@runtime_checkable
class Subject(Protocol):
    """What can be swept."""

    def tasks(self, point: Mapping[str, Any]) -> list[Task] | NotApplicable:
        """The cells of a point, or why there are none."""
        ...

    def row(
        self, point: Mapping[str, Any], results: Sequence[Any], look: Sequence[str], at: Mapping[str, Value]
    ) -> Row:
        """What is looked at, from the results of the cells."""
        ...

    def require(self, axes: Mapping[str, Sequence[Value]]) -> None:
        """Refuse axes that it does not have, and values that it does not take."""
        ...

    def require_look(self, look: Sequence[str], at: Mapping[str, Value]) -> None:
        """Refuse clauses or quantities that it does not have."""
        ...

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that say what is run and what is measured."""
        ...


class ClaimSubject:
    """A claim over choices and over the numbers of points that are drawn."""

    def __init__(self, claim: Claim, source: PointSource, seed: int, fixed: Mapping[str, Any]):
        """What is found out about a data set is kept while the points of a sweep that have it follow each other."""
        self.claim, self.source = claim, source
        self.data = {name: value for name, value in fixed.items() if is_about_data(name)}
        self.fixed = {"seed": seed, **{name: value for name, value in fixed.items() if name not in self.data}}
        self.user_data = functools.lru_cache(maxsize=4)(self._user_data)

    def _user_data(self, values: tuple[tuple[str, Any], ...]) -> UserData:
        """The data, with the choices that are the same at every point."""
        known = UserData(self.source.at(dict(values)), Choices(**self.fixed))
        assert known.digest
        return known

    def _data_at(self, point: Mapping[str, Any]) -> UserData:
        data = self.data | {name: value for name, value in point.items() if is_about_data(name)}
        choices = {name: value for name, value in point.items() if name not in data}
        return self.user_data(tuple(sorted(data.items()))).but(**choices)

    def _at(self, point: Mapping[str, Any]) -> Any:
        return self.claim.on(self._data_at(point))

    def tasks(self, point: Mapping[str, Any]) -> list[Task] | NotApplicable:
        """Of all experiments that the claim reads."""
        try:
            answer = self._at(point)
        except InputError as refusal:
            return NotApplicable(f"It cannot be checked on this data: {refusal}")
        if isinstance(answer, NotApplicable) or not self.claim.reads:
            return answer if isinstance(answer, NotApplicable) else []
        return [task for group in self._groups(answer) for task in group]

    def _groups(self, answer: Any) -> list[list[Task]]:
        settings = answer.settings if isinstance(answer, Applied) else answer
        groups = [settings] if len(self.claim.reads) == 1 else settings
        return [tasks_at(each, group) for each, group in zip(self.claim.reads, groups, strict=True)]

    def row(
        self, point: Mapping[str, Any], results: Sequence[Any], look: Sequence[str], at: Mapping[str, Value]
    ) -> Row:
        """The verdict, and of each clause both sides, how close they come, and whether it was kept."""
        evidence = self.evidence(point, results)
        row = verdict_row(evidence) | closest(evidence, evidence.headline)
        for part in evidence.parts:
            if not look or part.key in look:
                row |= part_row(part)
        return row | self._quantities(results, [name for name in look if name not in self.promised], at)

    def _quantities(self, results: Sequence[Any], look: Sequence[str], at: Mapping[str, Value]) -> Row:
        """Quantities of the cells: their runs one after the other, or one number per cell where there are several."""
        row: Row = {}
        known = [name for result in results for name in quantities_of(result)]
        for name in look:
            if name not in known:
                raise UnknownName(f"clause or quantity of {self.claim.id},", name, {*self.promised, *known})
            parts = [quantities(each, [name], at)[name] for each in results if name in quantities_of(each)]
            row[name] = parts[0] if len(parts) == 1 else np.concatenate([np.atleast_1d(part) for part in parts])
        return row

    def evidence(self, point: Mapping[str, Any], results: Sequence[Any]) -> Evidence:
        """What the claim says of the results of its cells."""
        answer = self._at(point)
        if not self.claim.reads:
            return self.claim(answer.settings if isinstance(answer, Applied) else answer)
        rest = iter(results)
        return self.claim(*([next(rest) for _ in group] for group in self._groups(answer)))

    @property
    def promised(self) -> list[str]:
        """The keys of what the claim promises."""
        return [each.key for each in self.claim.clauses.values() if each.role == "promised"]

    def require(self, axes: Mapping[str, Sequence[Value]]) -> None:
        """Choices, each of which changes what is run.

        Raises:
          InputError: an unknown choice, a wrong value, or a choice that does not reach this claim.
        """
        self.require_axes(axes)
        for sentence in (*(self.unused(axes) or {}).values(), *self.not_run(axes).values()):
            raise Unfit(sentence)

    def unused(self, axes: Mapping[str, Sequence[Value]]) -> dict[str, str] | None:
        """Of fixed choices that change nothing at any of a few points, why; None where nothing is run there.

        They are the first and those around it: a choice may matter beside one value and not beside another.
        """
        found: dict[str, str] | None = None
        for point in itertools.islice(_around_first(axes), MOST_LOOKED):
            here = self._unused_at(point)
            if here is not None:
                found = here if found is None else {name: each for name, each in found.items() if name in here}
            if found == {}:
                break
        return found

    def _unused_at(self, point: Mapping[str, Any]) -> dict[str, str] | None:
        tasks = self._tasks_or_none(point)
        if tasks is None or isinstance(tasks, NotApplicable):
            return None
        chosen = {name: value for name, value in self.fixed.items() if name != SEED}
        idle = self._idle(point)
        found = {name: self._changes_nothing(name) for name in chosen if name in idle}
        words = {name: value for name, value in chosen.items() if isinstance(value, str)}
        return found | {
            name: sentence for name, value in words.items() if (sentence := self._runs_another(name, value, point))
        }

    def _idle(self, point: Mapping[str, Any]) -> Iterable[str]:
        """Choices of this point that change nothing that is run there."""
        try:
            return self._data_at(point).unreached(self.claim.ways)
        except Exception:
            return ()  # the point says so itself

    def _changes_nothing(self, name: str) -> str:
        shown = "runs (n_runs)" if name == "n_runs" else name
        return f"{shown} changes nothing that {self.claim.id} runs; leave it out."

    def require_axes(self, axes: Mapping[str, Sequence[Value]]) -> None:
        """The same of the axes alone: of one claim among several, what is fixed may concern the others.

        Raises:
          InputError: an unknown choice, a wrong value, or a choice that does not reach this claim.
        """
        Choices(**self.fixed)
        for name, values in axes.items():
            for value in values if not is_about_data(name) else ():
                Choices(**{**self.fixed, name: value})
        of_data = {name: values for name, values in axes.items() if is_about_data(name)}
        if not of_data and (refusal := _refusal({}, self._require_points)) is not None:
            raise Unfit(str(refusal))
        _require_values(of_data, self._require_points)
        first = {name: values[0] for name, values in axes.items()}
        last = {name: values[-1] for name, values in axes.items()}
        found = self._tasks_or_none(first)
        if isinstance(found, NotApplicable) and not of_data:
            if found == self._tasks_or_none({}) == self._tasks_or_none(last):
                raise Unfit(f"{self.claim.id} does not apply to this data. {found}")
            return
        if not found:  # it has no cells, and makes its cases from the choices
            for name in self._idle(first) if found is not None and not of_data else ():
                if len(axes.get(name, ())) > 1:
                    raise Unfit(self._changes_nothing(name))
            return
        for name, values in of_data.items():  # two draws may well be alike to a claim that counts patterns
            others = (self._tasks_or_none({**first, name: value}) for value in values[1:])
            if len(values) > 1 and all(_are_same(found, other) for other in others):
                raise Unfit(self._changes_nothing(name))
        for name, values in axes.items():
            if name not in of_data and any(len(each) == len(values) for each in self._alike(name, axes)):
                raise Unfit(self._changes_nothing(name))

    def not_run(self, axes: Mapping[str, Sequence[Value]]) -> dict[tuple[str, Value], str]:
        """Of axes and values that are not what is run there, why: another word, or what another value runs too."""
        found = {}
        first = {name: values[0] for name, values in axes.items()}
        for name in (each for each in axes if not is_about_data(each)):
            for value in axes[name]:
                if isinstance(value, str) and (sentence := self._runs_another(name, value, {**first, name: value})):
                    found[name, value] = sentence
            for group in self._alike(name, axes):
                rest = [value for value in group if (name, value) not in found]
                words = f"{', '.join(map(repr, rest[:-1]))} and {rest[-1]!r}"
                if len(rest) > 1:
                    sentence = f"{self.claim.id} runs the same for {name} = {words}; keep one of them."
                    found |= {(name, value): sentence for value in rest}
        return found

    def _runs_another(self, name: str, value: str, point: Mapping[str, Value]) -> str:
        """That cells have another word in the field of this name; "" where they have this one, or no such field."""
        tasks = self._tasks_or_none(point)
        rows = [task.row for task in tasks] if isinstance(tasks, list) else []
        words = {row[name] for row in rows if isinstance(row.get(name), str)}
        if not words or value in words:
            return ""
        run = " and ".join(map(repr, sorted(words)))
        return f"{name} = {value!r} is not what {self.claim.id} runs, which is {run}; leave it out."

    def _alike(self, name: str, axes: Mapping[str, Sequence[Value]]) -> list[list[Value]]:
        """Values of a choice that run the same wherever they stand, two or more in each group.

        At one point they may run the same and at another not, where a choice matters beside some others only.
        """
        values, left = axes[name], MOST_TRIED
        others = {other: each for other, each in axes.items() if other != name}
        alike = [list(values)] if 1 < len(values) <= MOST_TRIED else []
        for point in _around_first(others):
            if not alike or left <= 0:
                break
            left -= sum(map(len, alike))
            alike = [part for group in alike for part in self._alike_at(name, group, point)]
        return alike

    def _alike_at(self, name: str, values: Sequence[Value], point: Mapping[str, Value]) -> list[list[Value]]:
        groups: dict[tuple[str, ...], list[Value]] = {}
        for value in values:
            tasks = self._tasks_or_none({**point, name: value})
            if isinstance(tasks, list) and tasks:  # a claim without cells makes its cases from the choice
                groups.setdefault(tuple(task.key.digest for task in tasks), []).append(value)
        return [each for each in groups.values() if len(each) > 1]

    def _tasks_or_none(self, point: Mapping[str, Any]) -> list[Task] | NotApplicable | None:
        """None where the claim fails: that is for the point to say, and ends no other."""
        try:
            return self.tasks(point)
        except WidenetError:
            raise
        except Exception:
            return None

    def _require_points(self, values: Mapping[str, Value]) -> None:
        try:
            self.source.at({**self.data, **values})
        except InputError as refusal:
            raise Together(str(refusal)) from None

    def require_look(self, look: Sequence[str], at: Mapping[str, Value]) -> None:
        """Keys of what the claim promises, or quantities of the cells that it reads."""
        of_cells = [name for name in look if name not in self.promised]
        if at and not of_cells:
            raise InputError(f"look.at is for quantities of cells, and {self.claim.id} is a claim; leave it out.")
        known = [known_quantities(each.result_type) for each in self.claim.reads]
        if None not in known:  # otherwise the first cell tells
            names = [name for each in known for name in each or ()]
            for name in of_cells:
                if name not in names:
                    raise UnknownName(f"clause or quantity of {self.claim.id},", name, {*self.promised, *names})

    @property
    def modules(self) -> tuple[str, ...]:
        """The judge's, and those of the experiments that it reads."""
        return (self.claim.judge.__module__, *(each.run.__module__ for each in self.claim.reads))


class SeveralClaims:
    """Claims side by side, each on points of its own paper: of each a verdict and the tightness of one clause."""

    def __init__(self, claims: Mapping[str, ClaimSubject], axes: Mapping[str, Sequence[Value]]):
        """By id, and what they are swept over."""
        self.claims = claims
        self.axes = {name: values for name, values in axes.items() if name != OF}

    @functools.cached_property
    def unfit(self) -> dict[str, str]:
        """Of claims that cannot be swept over these axes, why: their line in a picture would say nothing."""
        found = {}
        for id, claim in self.claims.items():
            try:
                claim.require_axes(self.axes)
            except Unfit as refusal:
                found[id] = str(refusal)
        return found

    @functools.cached_property
    def not_run(self) -> dict[str, dict[tuple[str, Value], str]]:
        """Of the other claims, values that are not what they run, and why."""
        return {id: claim.not_run(self.axes) for id, claim in self.claims.items() if id not in self.unfit}

    def _of(self, point: Mapping[str, Any]) -> tuple[ClaimSubject, dict[str, Any]]:
        return self.claims[point[OF]], {name: value for name, value in point.items() if name != OF}

    def tasks(self, point: Mapping[str, Any]) -> list[Task] | NotApplicable:
        """Of the claim of this point."""
        claim, rest = self._of(point)
        if point[OF] in self.unfit:
            return NotApplicable(self.unfit[point[OF]])
        idle = self.not_run[point[OF]]
        sentence = next((idle[each] for each in rest.items() if each in idle), None)
        return claim.tasks(rest) if sentence is None else NotApplicable(sentence)

    def row(
        self, point: Mapping[str, Any], results: Sequence[Any], look: Sequence[str], at: Mapping[str, Value]
    ) -> Row:
        """The verdict, and how close the first of these clauses comes that the claim has, or its headline."""
        claim, rest = self._of(point)
        evidence = claim.evidence(rest, results)
        keys = [each.key for each in evidence.parts]
        part = evidence.part(next((each for each in look if each in keys), evidence.headline.key))
        return verdict_row(evidence) | closest(evidence, part)

    def require(self, axes: Mapping[str, Sequence[Value]]) -> None:
        """Choices that all claims take, and that one is changed by.

        Raises:
          InputError: none of the claims can be swept over these axes, or uses a fixed choice.
        """
        if len(self.unfit) == len(self.claims):
            raise InputError(next(iter(self.unfit.values())))
        unused = [each.unused(self.axes) for id, each in self.claims.items() if id not in self.unfit]
        applied = [each for each in unused if each is not None]
        for name in applied[0] if applied else ():
            if all(name in each for each in applied):
                raise InputError(f"{name} changes nothing that any of these claims runs; leave it out.")

    def require_look(self, look: Sequence[str], at: Mapping[str, Value]) -> None:
        """Clauses of any of them."""
        if at:
            raise InputError("look.at is for quantities of cells; ask one claim or one experiment for them.")
        known = [key for claim in self.claims.values() for key in claim.promised]
        for name in look:
            if name not in known:
                raise UnknownName("clause of these claims,", name, known)

    @property
    def modules(self) -> tuple[str, ...]:
        """Those of all claims."""
        return tuple(dict.fromkeys(each for claim in self.claims.values() for each in claim.modules))


class ExperimentSubject:
    """An experiment over the fields of one of its settings."""

    def __init__(self, experiment: Experiment, scale: Scale, place: int, seed: int, fixed: Mapping[str, Any]):
        """The other fields are those of the setting at this place."""
        self.experiment, self.fixed = experiment, fixed
        settings = experiment.settings(scale, seed)
        if place >= len(settings):
            raise InputError(
                f"{experiment.id} has {len(settings)} settings at {scale.value} scale, got setting = {place}."
            )
        self.base = settings[place]

    def _setting(self, point: Mapping[str, Any]) -> ClosedModel:
        row = self.base.model_dump(mode="json")
        for name, value in sorted({**self.fixed, **point}.items()):  # a record before what is said of its fields
            _put(row, name, value, self.experiment.id)
        try:
            return type(self.base).model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            must = first["msg"].replace("Input should", "must")
            hint = "; round = 1 rounds a range" if first["type"] == "int_from_float" else ""
            if first["type"] in ("value_error", "assertion_error"):  # a rule of the record, perhaps about two fields
                words = str(first.get("ctx", {}).get("error", "")).strip() or "its setting is refused"
                raise Together(f"{self.experiment.id}: {f'{place}: ' if place else ''}{words.rstrip('.')}.") from None
            raise InputError(f"{self.experiment.id}: {place} {must}, got {first['input']!r}{hint}.") from None

    def tasks(self, point: Mapping[str, Any]) -> list[Task] | NotApplicable:
        """One cell."""
        return [Task(self.experiment, self._setting(point))]

    def row(
        self, point: Mapping[str, Any], results: Sequence[Any], look: Sequence[str], at: Mapping[str, Value]
    ) -> Row:
        """The quantities of the cell."""
        return quantities(results[0], look, at)

    def require(self, axes: Mapping[str, Sequence[Value]]) -> None:
        """Fields of the setting; `points.dim` is the field dim of the record points."""
        if axes:
            _require_values(axes, self._setting)
        else:
            self._setting({})

    def require_look(self, look: Sequence[str], at: Mapping[str, Value]) -> None:
        """What the cell has is known when there is one, but for records that say so."""
        kind = self.experiment.result_type
        if at and kind is not xr.Dataset:
            raise InputError(f"quantities of {self.experiment.id} have no axes of their own; leave look.at out.")
        known = known_quantities(kind)
        for name in look:
            if known is not None and name not in known:
                raise UnknownName(f"quantity of {self.experiment.id},", name, known)

    @property
    def modules(self) -> tuple[str, ...]:
        """That of its run."""
        return (self.experiment.run.__module__,)


def find(id: str) -> Claim | Experiment:
    """The claim or the experiment of this id, or in this file.

    Raises:
      UnknownName, InputError: there is none.
    """
    from widenet.papers import outside

    if outside.is_outside(id):
        return outside.claim_or_experiment(id)
    if id in papers.claim_ids():
        return papers.find_claim(id)
    key = id.partition(".")[0]
    known = experiments_of(key) if key in {each.key for each in papers.PAPERS} else {}
    if id not in known:
        raise UnknownName("claim or experiment", id, [*papers.claim_ids(), *known])
    return known[id]


def experiments_of(paper: str) -> dict[str, Experiment]:
    """The experiments that the claims and figures of a paper read, by id; of several with one id, the first."""
    items = (*papers.claims_of(paper), *papers.figures_of(paper))
    found: dict[str, Experiment] = {}
    for each in items:
        for experiment in each.reads:
            found.setdefault(experiment.id, experiment)
    return found


def _put(row: Any, name: str, value: Any, id: str) -> None:
    *path, last = name.split(".")
    for each in path:
        if not isinstance(row.get(each), dict):
            raise UnknownName(f"field of {id},", name, _fields(row))
        row = row[each]
    if last not in row:
        raise UnknownName(f"field of {id},", last, row)
    row[last] = value


def _fields(row: Mapping[str, Any]) -> Iterable[str]:
    return [name if not isinstance(value, dict) else f"{name}.…" for name, value in row.items()]


def _require_values(axes: Mapping[str, Sequence[Value]], take: Callable[[Mapping[str, Value]], Any]) -> None:
    """Refuse a value that no point takes. One that some points take is theirs to refuse.

    Raises:
      InputError: `take` refuses a value by itself.
      Unfit: `take` refuses it beside each combination of the others.
    """
    for name, values in axes.items():
        others = {other: each for other, each in axes.items() if other != name}
        for value in values:
            refusal: Together | None = None
            combinations = itertools.product(*others.values())
            beside = (dict(zip(others, each, strict=True)) for each in itertools.islice(combinations, MOST_TRIED))
            for rest in itertools.chain([{}], beside):
                refused = _refusal({**rest, name: value}, take)
                if refused is None:
                    break
                refusal = refusal or refused
            else:
                if next(combinations, None) is None:  # all were tried
                    assert refusal is not None
                    raise Unfit(str(refusal))


def _refusal(values: Mapping[str, Value], take: Callable[[Mapping[str, Value]], Any]) -> Together | None:
    """Why these values are not taken together. A mistake in a rule is for the point to tell."""
    try:
        take(values)
    except Together as refusal:
        return refusal
    except WidenetError:
        raise
    except Exception:
        return None
    return None


def _around_first(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """The first point, those that differ from it in one value, the last values first, and then all."""
    first = {name: values[0] for name, values in axes.items()}
    yield first
    for place in range(1, max(map(len, axes.values()), default=0)):
        yield from ({**first, name: values[-place]} for name, values in axes.items() if place < len(values))
    yield from (dict(zip(axes, each, strict=True)) for each in itertools.product(*axes.values()))


def _are_same(found: Any, other: Any) -> bool:
    if not isinstance(found, list) or not isinstance(other, list):
        return False
    return [each.key.digest for each in found] == [each.key.digest for each in other]
