"""What a claim is, and what checking it returns.

A `Claim` is a statement of a paper that can be run. It reads the cells of an `Experiment` (or generates its own cheap
test cases), joined into tables. Its hypotheses are measured on them and its judge returns its promises; the two become
`Evidence`, and the verdict follows. Checking takes milliseconds and trains nothing; only a report keeps evidence, with
what it was found from (`widenet.run.kept`).
"""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, PrivateAttr, computed_field

from widenet.claims.applicability import NOT_ABOUT_DATA, Applied, NotApplicable
from widenet.claims.experiments import Experiment
from widenet.claims.hypotheses import KEY, Hypothesis, normalized, undecided
from widenet.claims.instance import Instance
from widenet.claims.meaning import Meaning
from widenet.claims.tolerances import LARGEST_ROUNDING, ROUNDING
from widenet.claims.verdicts import Kind, Verdict
from widenet.errors import UnknownName
from widenet.records import ClosedModel, Form, Scale

if TYPE_CHECKING:
    import pandas as pd

    from widenet.claims.implication import Clauses, Given, Promise

__all__ = [
    "Claim",
    "Evidence",
    "Hypothesis",
    "Kind",
    "NotApplicable",
    "Part",
    "Runs",
    "Verdict",
    "claim",
    "normalized",
    "plain",
    "undecided",
]


class Runs(ClosedModel):
    """How many runs the evidence rests on. Diverged runs are counted here, never dropped.

    `outside` counts the runs outside the event that a statement is conditioned on: it promises nothing about them, so
    they are not scored.
    """

    tried: int
    diverged: int = 0
    unfinished: int = 0
    outside: int = 0


@dataclass(frozen=True, eq=False)
class Compared:
    """What makes the columns of all cases, when they are asked for. It says nothing that its part does not say."""

    columns: Callable[[], Mapping[str, Any]]

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Compared)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


FAR = 1e-3
"""A tightness below which a claim was tested far from its edge."""
KEPT_BY_FAR = "Tested far from the edge: the closest case uses {} of what is promised."

OPPOSITE = {"≤": ">", "<": "≥", "≥": "<", ">": "≤", "=": "≠"}


class Part(ClosedModel):
    """One conjunct of a conclusion, as measured.

    Attributes:
      key: what programs find it by ("updates").
      name: the conjunct in words ("at most M_k updates").
      kept: whether it was measured to hold; None when undecided.
      sense: "≤", "<", "≥", ">" or "="; empty where the conjunct has no two sides.
      quantity: what `measured` and `promised` count, where the name does not say it.
      measured, promised: the two sides in the closest case; where no case is decided, in the nearest one, as far as
        they are finite.
      tightness: how close that case comes: in [0, 1] while the part is kept, 1 = attained, above 1 when broken,
        whichever way the inequality points; None where no case is decided.
      vacuous: the promise says no more than what is trivially true.
      interval: the two one-sided exact limits that the verdict about a probability rests on.
      interval_of: what they limit, where that is not `measured` ("the share of runs that fail"), or "".
      median_tightness: how close the median case comes. A claim that holds far from its edge is tested little.
      case: which case that is, counted from 0; None where the conjunct has no two sides.
      n_cases, broken, undecided: how many cases were scored, and how many of them broke it or decided nothing.
      sides: (measured, promised) of every decided case; of more than 101, of those at the percentiles of tightness.
      alike: whether both sides are the same in all of several cases.
      closest: where the cases are runs, the numbers of the run `case` (`slope`, `step_size`); of the headline alone.
    """

    name: str
    kept: bool | None
    key: str = ""
    sense: str = ""
    quantity: str = ""
    measured: float | None = None
    promised: float | None = None
    tightness: float | None = None
    vacuous: bool = False
    interval: tuple[float, float] | None = None
    interval_of: str = ""
    median_tightness: float | None = None
    case: int | None = None
    n_cases: int = 0
    broken: int = 0
    undecided: int = 0
    sides: tuple[tuple[float, float], ...] = Field(default=(), repr=False)
    alike: bool = False
    closest: dict[str, float | int] = Field(default_factory=dict, repr=False)
    _compared: "Compared | None" = PrivateAttr(default=None)

    def __repr__(self) -> str:
        return f"<Part {self.key}: {self}>"

    def __str__(self) -> str:
        """What it says, both sides in the closest case, and whether it was kept: one line."""
        kept = {True: "kept", False: "broken", None: "undecided"}[self.kept]
        if self.measured is None or self.promised is None:
            return f"{self.name}: {kept}"
        return f"{self.name}: {self.measured:.4g} {self.relation} {self.promised:.4g}, {kept}"

    @property
    def cases(self) -> "pd.DataFrame":
        """Both sides in every case: `measured`, `promised`, `tightness`, and whether it is `kept`.

        Where rows are runs, `cell` and `run` (in its cell) say which; `Evidence.settings` are those of the cells.
        Evidence that was read from a file has the cases in `sides`.
        """
        import pandas as pd

        if self._compared is None:
            return pd.DataFrame(list(self.sides), columns=["measured", "promised"]).rename_axis("case")
        frame = pd.DataFrame(self._compared.columns()).rename_axis("case")
        return frame.astype({"kept": "boolean"})

    @property
    def comes_apart(self) -> bool:
        """Whether how close it comes says something: two sides, no equality, and not 0 where 0 is promised."""
        return self.tightness is not None and self.sense != "=" and (self.measured, self.promised) != (0.0, 0.0)

    @property
    def warning(self) -> str:
        """A sentence about a part that even its closest case keeps by far; "" where there is none.

        A promise of 0 has no size that a share could be of.
        """
        is_far = self.tightness is not None and self.tightness < FAR
        if not (self.kept and is_far and self.promised) or self.vacuous:
            return ""
        used = f"{100 * self.tightness:.1g} %" if self.tightness else "nothing"
        return KEPT_BY_FAR.format(used)

    def with_cases(self, columns: Callable[[], Mapping[str, Any]]) -> "Part":
        """This part, which now knows how to make the columns of `cases`."""
        self._compared = Compared(columns)
        return self

    @property
    def relation(self) -> str:
        """The sign between `measured` and `promised` that is true of them: `sense`, or its opposite where it fails."""
        if self.is_missed or self.is_within_tolerance:
            return OPPOSITE[self.sense]
        if self.kept is False or not self.sense:  # broken by less than floats can show, or without two sides
            return "against"
        return "≈" if self.kept and self.sense == "=" and self.measured != self.promised else self.sense

    @property
    def is_missed(self) -> bool:
        """Whether what was measured lies beyond what is promised, other than by rounding."""
        return not self.kept and self._is_beyond

    @property
    def is_within_rounding(self) -> bool:
        """Whether it is kept and rounding alone is between what was measured and what is promised, on either side."""
        if not self.kept or self.sense not in ("≤", "≥", "=") or self.measured is None or self.promised is None:
            return False
        apart = abs(self.measured - self.promised)
        if self.sense != "=" and self._is_beyond:
            return apart <= LARGEST_ROUNDING * (abs(self.promised) or 1.0)
        return 0 < apart <= ROUNDING * abs(self.promised)

    @property
    def is_within_tolerance(self) -> bool:
        """Whether it is kept although what was measured lies beyond what is promised, by more than rounding.

        What decides is then a tolerance of the check, such as the exact test of a frequency against a probability.
        """
        return bool(self.kept) and self._is_beyond and self.sense != "=" and not self.is_within_rounding

    @property
    def _is_beyond(self) -> bool:
        if self.measured is None or self.promised is None:
            return False
        low, high = self.measured, self.promised
        beyond = {"≤": low > high, "<": low >= high, "≥": low < high, ">": low <= high, "=": low != high}
        return beyond.get(self.sense, False)


class Evidence(ClosedModel):
    """What a check found. `widenet.claims.conclusion.evidence` builds it.

    Attributes:
      settings: of each cell it was found from, in JSON values; empty where the claim generates its own cases.
      instance: of a statement that is false as printed, the case that breaks it, where it has two dimensions.
      hypotheses: measured, each at the case nearest to breaking it.
      parts: the conjuncts of the conclusion.
      runs: how many runs it rests on.
      details: other numbers, in plain JSON values.
      note: one sentence for the reader, if one is needed.
      open_constant: the constant that the paper leaves open, or "".
    """

    hypotheses: tuple[Hypothesis, ...]
    parts: tuple[Part, ...]
    runs: Runs
    details: dict[str, Any] = Field(default_factory=dict)
    note: str = ""
    open_constant: str = ""
    settings: tuple[dict[str, Any], ...] = Field(default=(), exclude=True, repr=False)
    instance: Instance | None = Field(default=None, repr=False)

    def part(self, key: str) -> Part:
        """The conjunct of this key.

        Raises:
          UnknownName: there is none.
        """
        by_key = {each.key: each for each in self.parts}
        if key not in by_key:
            raise UnknownName("part", key, by_key)
        return by_key[key]

    def __repr__(self) -> str:
        return f"<Evidence: {self}>"

    def __str__(self) -> str:
        """The verdict, the two sides of the headline, a warning if they are far apart, and the note: one line."""
        part, words = self.headline, [f"{self.verdict.value}:"]
        if self.verdict is Verdict.HYPOTHESES_NOT_MET:
            unmet = [each for each in self.hypotheses if each.met is False]
            words += [f"{each.sides}." for each in unmet]
        if part.measured is not None and part.promised is not None:
            words.append(f"{self.quantity}: {part.measured:.4g} {part.relation} {part.promised:.4g}.")
        else:
            words.append(self.verdict.sentence)
        return " ".join(each for each in (*words, part.warning, self.note) if each)

    @computed_field
    @property
    def conclusion(self) -> bool | None:
        """Whether the conclusion was measured to hold, also where the hypotheses fail; None when undecided."""
        answers = [part.kept for part in self.parts]
        return False if False in answers else None if None in answers else True

    @computed_field
    @property
    def verdict(self) -> Verdict:
        """Hypotheses first: a conclusion that holds outside them is no confirmation, one that fails no refutation."""
        met = [hypothesis.met for hypothesis in self.hypotheses]
        if False in met:
            return Verdict.HYPOTHESES_NOT_MET
        if None in met:
            return Verdict.INSUFFICIENT_EVIDENCE
        if self.open_constant:
            return Verdict.CONSTANT_UNSPECIFIED
        if self.conclusion is None:
            return Verdict.INSUFFICIENT_EVIDENCE
        return Verdict.HOLDS if self.conclusion else Verdict.VIOLATED

    @property
    def headline(self) -> Part:
        """The part whose numbers are shown first: a broken one, or one with two sides that is undecided, or is kept."""
        urgency = {False: 0, None: 1, True: 2}
        return min(
            self.parts,
            key=lambda part: (part.kept is not False, part.measured is part.promised is None, urgency[part.kept]),
        )

    @computed_field
    @property
    def quantity(self) -> str:
        """What `promised` and `measured` count, in words."""
        return self.headline.quantity or self.headline.name

    @computed_field
    @property
    def promised(self) -> float | None:
        """The promise, in the closest case of the headline."""
        return self.headline.promised

    @computed_field
    @property
    def measured(self) -> float | None:
        """What was measured, in the closest case of the headline."""
        return self.headline.measured

    @computed_field
    @property
    def tightness(self) -> float | None:
        """How close the headline comes to its promise; see `Part`."""
        return self.headline.tightness

    @computed_field
    @property
    def interval(self) -> tuple[float, float] | None:
        """The limits of the headline; see `Part`."""
        return self.headline.interval

    @computed_field
    @property
    def vacuous(self) -> bool:
        """Whether every part that has two sides promises no more than what is trivially true."""
        sided = [part for part in self.parts if part.promised is not None]
        return bool(sided) and all(part.vacuous for part in sided)


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement of a paper that can be run: call it with finished runs, and it returns `Evidence`.

    It is an implication over tables of cases. `given` are its hypotheses, and its judge returns its promises, both by
    name; `clauses` lists them without any run.

    Attributes:
      id: `paper.statement`, the same in code, command line, store and report.
      statement: the sentence a reader sees, with its constants.
      where: the place in the paper ("Theorem 2, p. 5").
      judge: tables in, promises out, by key (or a `Promise`). It gets one table per experiment in `reads`, or the table
        of what `draws` made, as its annotations say; keyword arguments are constants that a control replaces.
      reads: the experiments whose cells it checks.
      draws: makes cheap test cases where there is nothing to train: (scale, seed) → a cell, or a list of cells.
        `@drawn_on` says how it makes them on a user's data.
      given: the hypotheses.
      details: further numbers about the tables, for the details of the evidence.
      among_given: the hypotheses are the event: runs that meet them are judged, the others are outside. If none does,
        the one that comes nearest shows what is missing.
      settings_on: how it applies to a user's data, where the experiments it reads do not say it: the settings to run (a
        tuple of lists where it reads several experiments) or the material to judge, an `Applied` with words about
        them, or `NotApplicable`.
      meaning: the promise in plain words, or None.
      title: the statement in at most 60 characters of plain words, for lists.
      form: whose statement it is: the paper's, or ours in its place. The id says which are false as printed.
      remark: what a reader should know about the statement or about how it is checked, or "".
    """

    id: str
    kind: Kind
    statement: str
    where: str
    judge: Callable[..., Any]
    reads: tuple[Experiment, ...] = ()
    draws: Callable[[Scale, int], Any] | None = None
    given: "tuple[Given, ...]" = ()
    details: Callable[..., dict[str, Any]] | None = None
    among_given: bool = False
    settings_on: Callable[[Any], Any] | None = field(default=None, repr=False)
    meaning: Meaning | None = field(default=None, repr=False)
    title: str = ""
    form: Form = Form.PAPER
    remark: str = ""

    def __post_init__(self) -> None:
        """It has one source of cases.

        Raises:
          ValueError: it has `reads` and `draws`, or neither; or `among_given` without `given`.
        """
        if bool(self.reads) == (self.draws is not None):
            found = "both: drop one" if self.reads else "neither: name an experiment in reads= or a function in draws="
            raise ValueError(f"{self.id}: a claim has reads= or draws=, got {found}")
        if self.among_given and not self.given:
            raise ValueError(f"{self.id}: among_given=True needs hypotheses in given=")
        if self.expected is Verdict.VIOLATED:
            object.__setattr__(self, "form", Form.PRINTED)

    def __repr__(self) -> str:
        return f"<Claim {self.id}: {plain(self.title or self.statement)}>"

    def __call__(self, *runs: Any, **constants: Any) -> Evidence:
        """Check finished runs: of each experiment a table, a cell or a list of cells."""
        from widenet.claims.implication import judged

        return judged(self, self.tables(*runs), constants)

    @functools.cached_property
    def clauses(self) -> "Clauses":
        """What it supposes and what it promises, by key; see `Clause`. Nothing is run."""
        from widenet.claims.implication import clauses_of

        return clauses_of(self)

    @property
    def hypotheses(self) -> "dict[str, Given]":
        """What is given, by key."""
        return {each.key: each for each in self.given}

    @property
    def kinds(self) -> tuple[type, ...]:
        """The types of the tables that the judge gets, by its signature.

        Raises:
          TypeError: a parameter is not annotated with a subclass of `Cases`.
        """
        from widenet.claims.cases import Cases

        ways = inspect.signature(self.judge, eval_str=True).parameters.values()
        places = [each for each in ways if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        for each in places:
            if not (isinstance(each.annotation, type) and issubclass(each.annotation, Cases)):
                raise TypeError(f"{self.id}: {_annotated(each)}; annotate it with the Cases subclass of its table")
        return tuple(each.annotation for each in places)

    def tables(self, *runs: Any) -> tuple[Any, ...]:
        """Each as a table: cells are joined.

        Raises:
          TypeError: more or fewer than the judge has parameters.
        """
        kinds = self.kinds
        if len(kinds) != len(runs):
            raise TypeError(f"{self.id}: the judge takes {len(kinds)} tables, got {len(runs)}; pass one per experiment")
        return tuple(map(_table, kinds, runs))

    def promise(self, *runs: Any, **constants: Any) -> "Promise":
        """What the judge compares, by name, before it is evidence.

        Raises:
          TypeError: the judge returns neither a mapping nor a `Promise`.
          ValueError: a key is not ASCII snake_case.
        """
        from widenet.claims.implication import Promise

        found = self.judge(*self.tables(*runs), **constants)
        if not isinstance(found, Promise | Mapping):
            kind = type(found).__name__
            raise TypeError(f"{self.id}: the judge must return a dict of promises or a Promise, got {kind}")
        promise = found if isinstance(found, Promise) else Promise(found)
        for key in promise.parts:
            if not re.fullmatch(KEY, key):
                words = "put the words into text="
                raise ValueError(f"{self.id}: promise keys must be ASCII snake_case, got {key!r}; {words}")
        return promise

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    @property
    def name(self) -> str:
        """The id without its paper."""
        return self.id.split(".")[1]

    @property
    def expected(self) -> Verdict:
        """VIOLATED for a statement that is kept because it is false as printed; its id says so."""
        return expected_of(self.id)

    @property
    def ways(self) -> tuple[Callable[[Any], Any], ...]:
        """How each of its sources is run on user data; none where it is not about data."""
        # A statement that is kept because it is false promises nothing about anybody's data.
        if self.expected is Verdict.VIOLATED:
            return ()
        if self.settings_on is not None:
            return (self.settings_on,)
        ways = [getattr(each, "on", None) for each in self.reads or (self.draws,)]
        return () if None in ways else tuple(way for way in ways if way is not None)

    def on(self, user_data: Any) -> Any:
        """What to run or to judge on this data, or `NotApplicable`.

        Raises:
          TypeError: it is a data set without choices.
        """
        if hasattr(user_data, "labels") and not hasattr(user_data, "choices"):
            raise TypeError(f"{self.id}.on takes widenet.UserData(data, choices), got {type(user_data).__name__}")
        if not self.ways:
            return NOT_ABOUT_DATA
        answers = [way(user_data) for way in self.ways]
        if silent := [each for each in answers if isinstance(each, NotApplicable)]:
            return silent[0]
        return answers[0] if len(answers) == 1 else Applied.all_of(answers)

    def variant(self, name: str, *, where: str, statement: str, title: str = "", **changes: Any) -> "Claim":
        """Another statement with the same judge: `changes` are constants of the judge, or `reads`, `draws`, `kind`.

        A name that ends in `_as_printed` is expected to be violated.
        """
        given = {key: changes.pop(key) for key in ("reads", "draws", "kind", "given", "form") if key in changes}
        if "reads" in given:
            given["reads"], given["draws"] = _as_tuple(given["reads"]), None
        elif "draws" in given:
            given["reads"] = ()
        return dataclasses.replace(
            self,
            id=f"{self.paper}.{name}",
            where=where,
            statement=statement,
            judge=functools.partial(self.judge, **changes) if changes else self.judge,
            settings_on=None,
            meaning=None,
            title=title,
            remark="",
            **given,
        )


def claim(
    id: str,
    kind: Kind,
    where: str,
    *,
    reads: Experiment | tuple[Experiment, ...] = (),
    draws: Callable[[Scale, int], Any] | None = None,
    given: "Sequence[Given]" = (),
    details: Callable[..., dict[str, Any]] | None = None,
    among_given: bool = False,
    on: Callable[[Any], Any] | None = None,
    means: Meaning | None = None,
    title: str = "",
    form: Form = Form.PAPER,
) -> Callable[[Callable[..., Any]], Claim]:
    """Makes a judge a `Claim`. The first paragraph of its docstring is the statement that users see, the others are its
    remark, apart from one that begins with "In code:".

    The judge gets one table per experiment and returns what is promised, by name. `on` says how the claim applies to a
    user's data, where the experiments it reads do not.

    Raises:
      ValueError: the judge has no docstring.
    """

    def make(judge: Callable[..., Any]) -> Claim:
        statement, *others = (" ".join(each.split()) for each in inspect.cleandoc(judge.__doc__ or "").split("\n\n"))
        if not statement:
            raise ValueError(f"{id}: the judge {judge.__name__} has no docstring; write the statement there")
        return Claim(
            id,
            kind,
            statement,
            where,
            judge,
            _as_tuple(reads),
            draws,
            tuple(given),
            details,
            among_given,
            on,
            means,
            title,
            form,
            " ".join(each for each in others if not each.startswith("In code:")),
        )

    return make


def plain(text: str) -> str:
    """A text without the signs around its mathematics, for a terminal."""
    return text.replace("$", "")


def expected_of(id: str) -> Verdict:
    """The verdict that the id of a claim announces: one that ends in `_as_printed` is kept because it is false."""
    return Verdict.VIOLATED if id.endswith("_as_printed") else Verdict.HOLDS


def _table(kind: Any, runs: Any) -> Any:
    if isinstance(runs, Sequence):
        return kind.join(runs)
    return runs if hasattr(runs, "_cells") else kind.join([runs])


def _annotated(parameter: inspect.Parameter) -> str:
    found = parameter.annotation
    words = "has no annotation" if found is parameter.empty else f"is annotated {getattr(found, '__name__', found)}"
    return f"parameter {parameter.name!r} of the judge {words}"


def _as_tuple(reads: Experiment | tuple[Experiment, ...]) -> tuple[Experiment, ...]:
    return (reads,) if isinstance(reads, Experiment) else tuple(reads)
