"""What a claim is, hypotheses with their slack, and how evidence becomes a verdict."""

import dataclasses
import functools
import json
import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from jaxtyping import Float

from widenet.claims import (
    Cases,
    Claim,
    Evidence,
    Experiment,
    Fact,
    Hypothesis,
    Kind,
    NotApplicable,
    Part,
    Promised,
    Runs,
    Verdict,
    at_least,
    at_most,
    claim,
    less_than,
    more_than,
)
from widenet.claims.applicability import Applied
from widenet.claims.base import undecided
from widenet.claims.conclusion import evidence
from widenet.claims.given import separable
from widenet.claims.sides import Sides
from widenet.errors import ClaimError
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

MET = Hypothesis(key="separable", name="a", required="≥ 1", actual=2.0, slack=1.0, met=True)
OPEN = undecided("margin", "c", "≥ 1", why="no search found an answer")
UNMET = Hypothesis(key="width", name="b", required="≥ 1", actual=0.0, slack=-1.0, met=False)


class Setting(ClosedModel):
    size: int


@dataclass(frozen=True, eq=False)
class Sizes(Cases):
    size: Float[np.ndarray, " run"]


def sizes(*each: float) -> Sizes:
    return Sizes(np.array(each))


def run(setting: Setting, progress: Progress) -> Sizes:
    return sizes(setting.size)


def settings(scale: Scale, seed: int) -> list[Setting]:
    return [Setting(size=1)]


EXPERIMENT = Experiment("toy.numbers", settings, run)


def scaled(factor: float):
    def run(setting: Setting, progress: Progress) -> Sizes:
        return sizes(factor * setting.size)

    return run


def scaled_by_default(factor: float):
    def run(setting: Setting, progress: Progress, *, times: float = factor) -> Sizes:
        return sizes(times * setting.size)

    return run


def with_a_default(setting: Setting, progress: Progress, times: float = 2.0) -> Sizes:
    return sizes(times * setting.size)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (scaled(2.0), "factor"),
        (scaled_by_default(2.0), "times"),
        (lambda setting, progress, times=2.0: sizes(times * setting.size), "times"),
        (functools.wraps(scaled(2.0))(lambda setting, progress: sizes(1.0)), "factor"),
    ],
    ids=["closure", "default", "lambda", "wrapped"],
)
def test_a_run_with_values_from_around_it_is_refused(made, name):
    refused = rf"^toy\.numbers: run must be a function .*, got one that takes {name} from around it; make each value"
    with pytest.raises(ClaimError, match=refused):
        Experiment("toy.numbers", settings, made)


def test_a_run_may_have_what_its_own_source_tells():
    def local(setting: Setting, progress: Progress) -> Sizes:
        return sizes(setting.size)

    timed = functools.wraps(run)(lambda setting, progress: local(setting, progress))
    for each in (with_a_default, local, timed):
        assert Experiment("toy.numbers", settings, each).run is each


def found(*kept: bool | None, hypotheses=(MET,), open_constant: str = "", **more) -> Evidence:
    parts = tuple(Part(name=str(place), kept=each, **more) for place, each in enumerate(kept))
    return Evidence(hypotheses=tuple(hypotheses), parts=parts, runs=Runs(tried=3), open_constant=open_constant)


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "verdict"),
    [
        ([MET], True, Verdict.HOLDS),
        ([MET], False, Verdict.VIOLATED),
        ([MET], None, Verdict.INSUFFICIENT_EVIDENCE),
        ([MET, UNMET], True, Verdict.HYPOTHESES_NOT_MET),
        ([MET, UNMET], False, Verdict.HYPOTHESES_NOT_MET),
        ([MET, OPEN], True, Verdict.INSUFFICIENT_EVIDENCE),
        ([MET, OPEN], False, Verdict.INSUFFICIENT_EVIDENCE),
        ([OPEN, UNMET], True, Verdict.HYPOTHESES_NOT_MET),
        ([], True, Verdict.HOLDS),
    ],
)
def test_hypotheses_come_before_the_conclusion(hypotheses, conclusion, verdict):
    evidence = found(conclusion, hypotheses=hypotheses)
    assert evidence.verdict is verdict
    assert evidence.conclusion is conclusion


@pytest.mark.parametrize(
    ("kept", "conclusion"),
    [
        ((True, True), True),
        ((True, None), None),
        ((None, False), False),
        ((False, True), False),
    ],
)
def test_one_broken_part_breaks_the_conclusion_and_one_undecided_part_leaves_it_open(kept, conclusion):
    assert found(*kept).conclusion is conclusion


def test_an_open_constant_leaves_no_number_to_test():
    assert found(None, open_constant="c").verdict is Verdict.CONSTANT_UNSPECIFIED
    assert found(None, open_constant="c", hypotheses=[UNMET]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_the_headline_is_a_broken_part_or_an_undecided_or_the_first_with_two_sides():
    fact = Part(name="a fact", kept=True)
    kept = Part(name="kept", kept=True, measured=1.0, promised=2.0, tightness=0.5, quantity="updates")
    broken = Part(name="broken", kept=False, measured=3.0, promised=2.0, tightness=1.5)

    def of(*parts):
        return Evidence(hypotheses=(), parts=parts, runs=Runs(tried=1))

    assert (of(fact, kept).measured, of(fact, kept).quantity) == (1.0, "updates")
    assert (of(kept, broken).measured, of(kept, broken).quantity) == (3.0, "broken")
    assert of(fact).measured is None
    assert of(fact, Part(name="broken fact", kept=False), broken).headline is broken
    broken_fact, open_fact = (Part(name="fact", kept=each) for each in (False, None))
    undecided = Part(name="undecided", kept=None, measured=1.0, promised=9.0)
    assert of(kept, broken_fact).headline is broken_fact
    assert of(kept, undecided).headline is undecided
    assert of(open_fact, kept).promised == 2.0
    assert of(fact, open_fact).headline is open_fact


def test_printed_it_is_one_line():
    bound = Part(name="bound", kept=True, sense="≤", measured=11.0, promised=457.15, quantity="updates")
    evidence = Evidence(hypotheses=(), parts=(bound,), runs=Runs(tried=1), note="A note.")
    assert str(evidence) == "HOLDS: updates: 11 ≤ 457.1. A note."
    missed = bound.model_copy(update={"kept": False, "measured": 500.0})
    assert str(evidence.model_copy(update={"parts": (missed,)})) == "VIOLATED: updates: 500 > 457.1. A note."
    assert str(found(None)) == f"INSUFFICIENT_EVIDENCE: {Verdict.INSUFFICIENT_EVIDENCE.sentence}"


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        (Sides(3.0, 1000.0), ""),
        (Sides(0.99, 1000.0), "Tested far from the edge: the closest case uses 0.1 % of what is promised."),
        (Sides(-1.0, 1000.0), "Tested far from the edge: the closest case uses nothing of what is promised."),
        (Sides(0.5, 1000.0, trivial=1.0), ""),
        (Sides(1001.0, 1.0), ""),
        (Sides(0.1, 0.0, "≥"), ""),
        (Sides([0.5, 900.0], 1000.0), ""),
    ],
)
def test_a_promise_that_is_kept_by_far_says_so(given, warning):
    part = given.part("size")
    assert part.warning == warning
    assert str(evidence({"size": given})).endswith(warning or ".")
    assert ("far" in str(evidence({"size": given}))) is bool(warning)


def test_vacuous_when_every_part_with_two_sides_is():
    empty = Part(name="a", kept=True, measured=0.1, promised=1.0, vacuous=True)
    full = Part(name="b", kept=True, measured=0.1, promised=0.5)
    fact = Part(name="c", kept=True)

    def vacuous(*parts):
        return Evidence(hypotheses=(), parts=parts, runs=Runs(tried=1)).vacuous

    assert vacuous(empty, fact)
    assert not vacuous(empty, full)
    assert not vacuous(fact)


def of(compare, actual, limit=1, **how) -> Hypothesis:
    return compare(actual, limit, **how).hypothesis("x", "x")


def test_comparisons_and_their_slack():
    assert of(at_most, 0.5).slack == 0.5
    assert of(at_most, 1.0).met
    assert not of(at_most, 1.5).met
    assert (of(at_most, 1 + 1e-13, within=1e-12).slack or 0) > 0
    assert of(at_least, 3.0).slack == 2
    assert of(at_least, 1 - 1e-13, within=1e-12).met
    assert not of(at_least, 1 - 1e-13).met
    assert not of(more_than, 0.0, 0).met
    assert not of(less_than, 1.0).met
    assert of(at_most, 2.0, why=lambda case: "row 7 is too long").why == "row 7 is too long"


@pytest.mark.parametrize("compare", [at_most, at_least, more_than, less_than])
def test_a_nan_meets_nothing(compare):
    assert not of(compare, math.nan).met


@pytest.mark.parametrize("key", ["", "Separable", "2nd", "input norm", "input-norm"])
def test_a_key_is_a_word(key):
    with pytest.raises(ValueError, match="key"):
        Hypothesis(key=key, name="", required="", actual=0.0, slack=None, met=True)


def test_evidence_is_strict_json_with_infinities():
    evidence = found(True, measured=1.0, promised=math.inf, interval=(0.0, math.inf))
    evidence = evidence.model_copy(update={"details": {"limit": math.inf, "list": [math.nan]}})
    row = json.loads(evidence.model_dump_json())
    assert json.dumps(row, allow_nan=False)
    assert (row["promised"], row["interval"], row["verdict"]) == ("Infinity", [0.0, "Infinity"], "HOLDS")
    assert row["details"] == {"limit": "Infinity", "list": ["NaN"]}


def test_unknown_fields_are_refused():
    with pytest.raises(ValueError, match="Extra inputs"):
        Runs(tried=1, crashed=2)  # pyright: ignore[reportCallIssue]


class TestClaim:
    def test_the_docstring_is_the_statement(self):
        @claim("toy2020.theorem_1", Kind.MAIN, "Theorem 1", reads=EXPERIMENT)
        def theorem_1(runs: Sizes) -> Promised:
            """The sum of two lines
            is one sentence.

            This is for developers.
            """
            return {"positive": more_than(runs.size, 0)}

        assert isinstance(theorem_1, Claim)
        assert theorem_1.statement == "The sum of two lines is one sentence."
        assert (theorem_1.paper, theorem_1.name) == ("toy2020", "theorem_1")
        assert theorem_1.reads == (EXPERIMENT,)
        assert theorem_1([sizes(1.0), sizes(2.0)]).verdict is Verdict.HOLDS
        assert (theorem_1.given, theorem_1.hypotheses, list(theorem_1.clauses)) == ((), {}, ["positive"])

    @pytest.mark.parametrize("words", [None, "", "  \n"])
    def test_without_a_statement_there_is_no_claim(self, words):
        def theorem_1(runs: Sizes) -> Promised:
            return {}

        theorem_1.__doc__ = words
        sentence = "^toy2020.theorem_1: the judge theorem_1 has no docstring; write the statement there$"
        with pytest.raises(ValueError, match=sentence):
            claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(theorem_1)

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({}, "neither: name an experiment in reads= or a function in draws="),
            ({"reads": EXPERIMENT, "draws": lambda scale, seed: 1}, "both: drop one"),
        ],
    )
    def test_it_reads_experiments_or_draws_its_own(self, more, words):
        with pytest.raises(ValueError, match=f"^toy2020.theorem_1: a claim has reads= or draws=, got {words}$"):
            claim("toy2020.theorem_1", Kind.MAIN, "", **more)(_judge)

    def test_runs_among_given_need_hypotheses(self):
        with pytest.raises(ValueError, match=r"^toy2020\.theorem_1: among_given=True needs hypotheses in given=$"):
            claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT, among_given=True)(_judge)

    @pytest.mark.parametrize(
        ("annotation", "words"),
        [
            (None, "is annotated None"),
            (list, "is annotated list"),
            (str, "is annotated str"),
            (..., "has no annotation"),
        ],
    )
    def test_the_annotation_of_a_judge_is_its_table(self, annotation, words):
        def theorem_1(runs):
            """It holds."""
            return {"positive": more_than(runs.size, 0)}

        theorem_1.__annotations__ = {} if annotation is ... else {"runs": annotation}
        made = claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(theorem_1)
        sentence = f"^toy2020.theorem_1: parameter 'runs' of the judge {words}; annotate it with the Cases subclass"
        for use in (lambda: made([sizes(1.0)]), lambda: made.clauses):
            with pytest.raises(TypeError, match=sentence):
                use()

    def test_a_judge_gets_one_table_per_experiment(self):
        made = claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(_judge)
        with pytest.raises(TypeError, match=r"^toy2020\.theorem_1: the judge takes 1 tables, got 2; pass one per exp"):
            made([sizes(1.0)], [sizes(2.0)])

    @pytest.mark.parametrize("key", ["at most M", "Updates", "größe", "2nd", "", "a-b"])
    def test_the_key_of_a_promise_is_a_word(self, key):
        def theorem_1(runs: Sizes) -> Promised:
            """It holds."""
            return {key: more_than(runs.size, 0)}

        made = claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(theorem_1)
        for use in (lambda: made([sizes(1.0)]), lambda: made.clauses):
            with pytest.raises(ValueError, match=f"promise keys must be ASCII snake_case, got '{key}'; put the words"):
                use()

    def test_a_judge_returns_promises(self):
        def theorem_1(runs: Sizes):
            """It holds."""
            return more_than(runs.size, 0)

        made = claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(theorem_1)
        with pytest.raises(TypeError, match=r"must return a dict of promises or a Promise, got Sides$"):
            made([sizes(1.0)])

    @pytest.mark.parametrize(("suffix", "expected"), [("", Verdict.HOLDS), ("_as_printed", Verdict.VIOLATED)])
    def test_only_a_statement_kept_as_printed_is_expected_to_fail(self, suffix, expected):
        assert Claim(f"p.x{suffix}", Kind.MAIN, "", "", _judge, (EXPERIMENT,)).expected is expected

    def test_a_variant_has_another_statement_and_other_constants(self):
        @claim("toy2020.lemma", Kind.STEP, "Lemma", reads=EXPERIMENT, on=lambda user_data: [])
        def lemma(runs: Sizes, *, factor=1) -> Promised:
            """It holds."""
            return {"positive": Fact(factor == 1)}

        printed = lemma.variant("lemma_as_printed", where="Lemma, p. 2", statement="It holds twice.", factor=2)
        assert (printed.id, printed.where, printed.kind) == ("toy2020.lemma_as_printed", "Lemma, p. 2", Kind.STEP)
        assert (lemma.expected, printed.expected) == (Verdict.HOLDS, Verdict.VIOLATED)
        assert (lemma([]).conclusion, printed([]).conclusion) == (True, False)
        assert printed.reads == lemma.reads
        assert isinstance(printed.on("data"), NotApplicable)
        drawn = lemma.variant("lemma_drawn", where="", statement="s", draws=lambda scale, seed: 1, kind=Kind.TREND)
        assert (drawn.reads, drawn.kind) == ((), Kind.TREND)
        assert drawn.draws is not None

    def test_how_a_claim_applies_to_data(self):
        def made(on=None, experiment_on=None, name="theorem_1"):
            reads = dataclasses.replace(EXPERIMENT, on=experiment_on)
            return claim(f"toy2020.{name}", Kind.MAIN, "", reads=reads, on=on)(_judge)

        def sized(user_data):
            return [Setting(size=len(user_data))]

        assert isinstance(made().on("data"), NotApplicable)
        assert made(on=sized).on("data") == made(experiment_on=sized).on("data") == [Setting(size=4)]
        assert made(on=lambda user_data: [], experiment_on=sized).on("data") == []
        assert isinstance(made(experiment_on=sized, name="theorem_1_as_printed").on("data"), NotApplicable)

    def test_several_experiments_apply_together_or_not_at_all(self):
        def both(*answers):
            reads = tuple(dataclasses.replace(EXPERIMENT, on=lambda _, own=each: own) for each in answers)
            return claim("toy2020.theorem_1", Kind.MAIN, "", reads=reads)(_judge).on("data")

        joined = both([1], Applied([2], "Rows were divided.", {"norm": "divided"}))
        assert (joined.settings, joined.note, joined.normalized) == (
            ([1], [2]),
            "Rows were divided.",
            {"norm": "divided"},
        )
        assert both([1], NotApplicable("No.")) == "No."

    def test_a_claim_is_not_changed(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            claim("toy2020.theorem_1", Kind.MAIN, "", reads=EXPERIMENT)(_judge).title = "x"  # type: ignore[misc]


def _judge(runs: Sizes) -> Promised:
    """It holds."""
    return {"fact": Fact(True)}


def test_an_experiment_knows_its_result_and_other_settings():
    assert EXPERIMENT.result_type is Sizes
    other = EXPERIMENT.at(lambda scale, seed: [Setting(size=seed)])
    assert other.settings(Scale.QUICK, 7) == [Setting(size=7)]
    assert (other.id, other.run) == (EXPERIMENT.id, EXPERIMENT.run)


def test_an_open_constant_waits_for_undecided_hypotheses():
    assert found(True, open_constant="c").verdict is Verdict.CONSTANT_UNSPECIFIED
    assert found(True, open_constant="c", hypotheses=(MET, OPEN)).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_an_undecided_hypothesis_has_words_and_no_distance():
    assert (OPEN.met, OPEN.slack, OPEN.actual, OPEN.why) == (None, None, "not known", "no search found an answer")
    assert json.loads(found(True, hypotheses=(OPEN,)).model_dump_json())["hypotheses"][0]["met"] is None


@pytest.mark.parametrize(
    ("margins", "met", "actual"),
    [
        ([2.0, 1 - 1e-13], True, 1 - 1e-13),
        ([2.0, 1 - 1e-11], False, 1 - 1e-11),
        ([math.nan], None, "not known"),
        ([2.0, math.nan], None, "not known"),
        ([math.nan, 0.5], False, 0.5),
        ([], None, "not known"),
    ],
)
def test_separable_is_undecided_where_a_margin_is_not_known(margins, met, actual):
    for order in (margins, margins[::-1]):
        hypothesis = separable.measured(separable(SimpleNamespace(smallest_margin=np.array(order))))
        assert (hypothesis.met, hypothesis.actual) == (met, actual)
        assert (hypothesis.key, hypothesis.name) == ("separable", "separable: smallest y⟨w*, x⟩")
        assert hypothesis.required.startswith("≥ 1")
        assert bool(hypothesis.why) == (met is None)
