"""Promises in plain words, what theorems lack, and the changes that help."""

import math
import re

import numpy as np
import pytest

from tests.packages.toy2020.claims.theorems import Toys, nothing
from widenet import papers
from widenet.certificates.data_forms import DataForm
from widenet.certificates.fixes import small_changes
from widenet.certificates.misplaced_points import clashing
from widenet.certificates.missing_assumptions import lack, measured
from widenet.certificates.plain_numbers import fraction, plain
from widenet.certificates.promises import Standing, promises_of, standing_of
from widenet.certificates.rows import ClaimRow, ask_all, nearness, ordered
from widenet.certificates.time_limit import TimeLimit
from widenet.claims import Kind, Promised, Verdict, at_least, at_most, more_than
from widenet.claims.base import claim, undecided
from widenet.claims.conclusion import evidence
from widenet.claims.implication import Given
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sense, Sides
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.base import Paper
from widenet.papers.sarussi2021.hypotheses import stays
from widenet.run.outcomes import cells_of

MEANING = Meaning(topic=Topic.UPDATES, promise="At most {promised} updates.", seen="it took {measured}")
UNKNOWN = undecided("separable", "margin", "≥ 1", why="")
MET, MISSED = (at_least(actual, 1.0).hypothesis("separable", "margin") for actual in (2.0, 0.4))


def row(given, *hypotheses, meaning: Meaning | None = MEANING, **others):
    found = evidence({"at most": given}, hypotheses, **others)
    return ClaimRow(id="toy2020.theorem_2", kind=Kind.MAIN, where="", statement="", meaning=meaning, evidence=found)


@pytest.mark.parametrize(
    ("given", "standing", "words", "remark"),
    [
        (row(Sides(3.0, 10.0), MET), Standing.GUARANTEED, "At most 10 updates.", "It took 3."),
        (row(Sides(3.0, 900.0), MET), Standing.GUARANTEED, "At most 900 updates.",
         "It took 3; the limit is 300 times what was needed."),
        (row(Sides(3.0, 9000.0), MET), Standing.GUARANTEED, "At most 9,000 updates.",
         "It took 3; the limit is 3,000 times what was needed. Tested far from the edge: the closest case uses 0.03 % "
         "of what is promised."),
        (row(Sides(0.5, 7.0, trivial=1.0), MET), Standing.EMPTY, "At most 7 updates.", "It took 0.5."),
        (row(Sides(30.0, 10.0), MET), Standing.BROKEN, "At most 10 updates.", "It took 30."),
        (row(Sides(3.0, 10.0), MISSED), Standing.NOT_HERE, "At most … updates.",
         "A linear boundary would have to separate the classes."),
        (row(Sides(3.0, 10.0, undecided=True), MET), Standing.UNCONFIRMED, "At most 10 updates.",
         "What was tried is not enough to tell."),
        (row(Rate([True] * 3, 0.1, [True] * 3, sides=Sides([30.0, 12.0, 15.0], 10.0, undecided=True)), MET),
         Standing.UNCONFIRMED, "At most 10 updates.",
         "All 3 tries settle nothing, and the farthest off has 30 instead of 10; that does not refute it."),
        (row(Sides(3.0, 10.0), UNKNOWN), Standing.UNKNOWN, "At most 10 updates.",
         "A linear boundary would have to separate the classes."),
        (row(Sides(3.0, 10.0), MET, open_constant="C"), Standing.NO_NUMBER, "At most 10 updates.",
         "What is left open: C; it took 3."),
        (row(Sides(30.0, 10.0, undecided=True), MET, open_constant="C"), Standing.NO_NUMBER, "At most 10 updates.",
         "What is left open: C; it was missed here, with 30 instead of 10; that does not refute it."),
        (row(Sides(7e-15, 5e-20, Sense.AT_LEAST), MET), Standing.UNSEEN, "At most 5e-20 updates.",
         "A change of 5e-20 is promised here, and 7e-15 was measured."),
    ],
)  # fmt: skip
def test_a_promise_in_words(given, standing, words, remark):
    (found,) = promises_of([given])
    assert (found.standing, found.words, found.remark) == (standing, words, remark)


def test_a_promise_is_empty_if_the_part_with_its_number_is():
    """The other part, about which more is promised, is not the one that the sentence is about."""
    found = evidence({"a": Sides(0.9, -19.0, Sense.AT_LEAST, trivial=0.0), "b": Sides(1.0, 2.0)}, (MET,))
    assert not found.vacuous
    assert standing_of(found) is Standing.EMPTY


def test_warnings_and_promises_about_a_part_are_no_headline():
    whole = row(Sides(3.0, 10.0), MET)
    part = whole.model_copy(update={"about": "50 points drawn at random"})
    warning = row(Sides(3.0, 10.0), MET, meaning=Meaning(topic=Topic.TRAPS, promise="A trap."))
    found = promises_of([part, warning, whole])
    assert [each.standing for each in found] == [Standing.GUARANTEED, Standing.GUARANTEED, Standing.GOOD_TO_KNOW]
    assert [each.counts for each in found] == [False, True, False]


def test_what_is_seen_comes_first_and_silent_rows_promise_nothing():
    rows = [row(Sides(3.0, 10.0), MISSED), row(Sides(3.0, 10.0), MET), row(Fact(True), MET, meaning=None)]
    assert [each.standing for each in promises_of(rows)] == [Standing.GUARANTEED, Standing.NOT_HERE]


def test_a_lack_has_its_numbers():
    assert lack(at_most(1.5, 1.0).hypothesis("input_norm", "largest ‖x‖")) == (
        "no point may be longer than 1 (largest ‖x‖: ≤ 1 is required, 1.5 found)"
    )
    assert lack(at_least(-60975.0, 0.0).hypothesis("enough_samples", "n − 2c")) == (
        "about 61,000 more points would be needed for it to apply"
    )
    assert lack(at_most(1.5, 1.0).hypothesis("odd", "r")) == "r would have to be ≤ 1 and is 1.5"
    assert lack(more_than(0.0, 0.0).hypothesis("distance", "(A1): least distance δ across classes")) == (
        "points of different classes would have to be apart (least distance between classes: > 0 is required, 0 found)"
    )
    assert lack(at_most(1.5, 1.0).hypothesis("odd", "Eq. 6: r")) == "r would have to be ≤ 1 and is 1.5"
    assert lack(stays.measured(at_most(26.99, 20))) == (
        "neurons would have to settle sooner on which points they answer to (time when a neuron last changed sides, on "
        "a logarithmic clock: ≤ 20 is required, 26.99 found)"
    )


def test_no_name_that_only_a_paper_explains_is_told():
    """ "(A1)", "Eq. 6", "I2": not where a claim applies to your data, and not where it says what it lacks."""
    own, name, seen = re.compile(r"\([A-Z]\d+'?\)"), re.compile(r"\([A-Z]\d+'?\)|\bEq\. \d|\bI\d\b"), 0
    for found in papers.claims_of():
        if not found.ways:
            continue
        told = [found.statement, *([found.meaning.promise, found.meaning.seen] if found.meaning else [])]
        told += [each.text for each in found.clauses.values() if each.role == "promised"]
        assert not [text for text in told if own.search(text)], found.id
        for given in found.given:
            for missed in (at_most(2.0, 1.0), more_than(0.0, 0.0)):
                missing = missed.hypothesis(given.key, given.shown(missed))
                assert not name.search(f"{lack(missing)} {measured(missing)}"), found.id
                seen += name.search(missing.name) is not None
    assert seen > 20


@pytest.mark.parametrize(
    ("value", "words"),
    [(30525.0, "30,525"), (0.1, "0.1"), (6.5e10, "65 billion"), (8.94e6, "8,940,000"), (2.346e7, "23.5 million"),
     (1.44e15, "1,440 trillion"), (3.4e23, "10^23"), (math.inf, "∞"), (None, "–"), (-3e20, "-3e+20")],
)  # fmt: skip
def test_large_numbers_have_names(value, words):
    assert plain(value) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0.05175, "0.05175"), (4.818e-5, "1/20,800"), (1e-12, "1e-12"), (0.0, "0"), (None, "–")]
)
def test_small_shares_are_fractions(value, words):
    assert fraction(value) == words


def test_hypotheses_are_sorted_by_how_near_they_are():
    near, far = at_most(1.1, 1.0).hypothesis("a", "a"), at_most(9.0, 1.0).hypothesis("b", "b")
    tight, loose = at_most(0.99, 1.0).hypothesis("c", "c"), at_most(0.1, 1.0).hypothesis("d", "d")
    found = row(Sides(3.0, 10.0), loose, far, tight, near)
    assert [each.key for each in found.hypotheses] == ["a", "b", "c", "d"]
    assert [each.key for each in found.missing] == ["a", "b"]
    assert nearness(near) == pytest.approx(-0.1 / 1.1)
    assert nearness(at_most(0.0, 0.0).hypothesis("e", "e")) == 0.0
    assert math.isinf(nearness(near.model_copy(update={"slack": None})))


def test_rows_are_sorted_by_what_they_tell():
    silent = ClaimRow(id="a.b", kind=Kind.MAIN, where="", statement="", not_applicable="no")
    step = row(Sides(3.0, 10.0), MET).model_copy(update={"kind": Kind.STEP})
    empty = row(Sides(0.5, 7.0, trivial=1.0), MET)
    rows = [silent, step, row(Sides(3.0, 10.0), MISSED), empty, row(Sides(3.0, 10.0), MET)]
    verdicts = [
        (each.kind, each.verdict, each.evidence is not None and each.evidence.vacuous) for each in ordered(rows)
    ]
    assert verdicts == [
        (Kind.MAIN, Verdict.HOLDS, False),
        (Kind.MAIN, Verdict.HOLDS, True),
        (Kind.MAIN, Verdict.HYPOTHESES_NOT_MET, False),
        (Kind.STEP, Verdict.HOLDS, False),
        (Kind.MAIN, None, False),
    ]


def two_outliers() -> UserData:
    """Separable but for two points, 3 and 8 in the table."""
    draw = np.random.default_rng(1)
    points = 0.1 * draw.normal(size=(12, 2)) + np.repeat([[0.6, 0.0], [-0.6, 0.0]], 6, axis=0)
    points[[2, 7]] = [[-0.5, 0.0], [0.5, 0.0]]
    return UserData(from_arrays(points, [1] * 6 + [-1] * 6), Choices(n_runs=2, n_neurons=4))


def test_points_to_leave_out_are_found():
    assert clashing(two_outliers().data).rows.tolist() == [2, 7]


def test_no_point_to_leave_out_can_be_spared():
    """Points that overlap: a boundary that is least wrong on average leaves more of them out than are in the way."""
    draw = np.random.default_rng(3)
    points = draw.normal(size=(40, 2)) + np.repeat([[0.8, 0.0], [-0.8, 0.0]], 20, axis=0)
    user_data = UserData(from_arrays(points / 5, [1] * 20 + [-1] * 20), Choices())
    drop = clashing(user_data.data).rows
    assert len(drop)
    for point in drop:
        rest = np.setdiff1d(np.arange(40), drop[drop != point])
        assert not UserData(user_data.data[rest], Choices()).separation.separable


def test_separable_data_has_none_to_leave_out():
    assert not len(clashing(from_arrays([[0.5, 0.0], [-0.5, 0.0]], [1, -1])).rows)


def test_a_change_is_verified(monkeypatch):
    """A real theorem that lacks separability applies without the two points."""
    theorem = Paper(key="brutzkus2018", title="", authors="", venue="", arxiv="", in_one_line="",
                    claims=("convergence.theorem_2",))  # fmt: skip
    monkeypatch.setattr(papers, "PAPERS", (theorem,))
    view, cells, clock = DataForm("", two_outliers(), np.arange(100, 112)), cells_of(None), TimeLimit(100.0)
    rows = ask_all(papers.claims_of(), [view], cells, clock)
    assert [each.key for each in rows[0].missing] == ["separable"]
    (change,) = small_changes(rows, [view], cells, clock)
    assert (change.before, change.after) == (Verdict.HYPOTHESES_NOT_MET, Verdict.HOLDS)
    assert change.left_out == (103, 108)
    assert "leave out 2 of the 12 points, on the wrong side of the best linear boundary (rows 103, 108;" in change.words
    assert change.margin is not None
    assert change.gain.startswith(
        "Training (SGD with the hinge loss) ends with every training point right, after at most"
    )


def test_a_start_of_the_readers_own_reaches_theorems_and_that_of_the_paper_is_a_change(monkeypatch):
    """Theorem 2 holds for every R, with a larger limit for a larger one; Corollary 3 needs that of the paper."""
    paper = Paper(key="brutzkus2018", title="", authors="", venue="", arxiv="", in_one_line="",
                  claims=("convergence.theorem_2", "width.corollary_3"))  # fmt: skip
    monkeypatch.setattr(papers, "PAPERS", (paper,))
    data = from_arrays([[0.6, 0.2], [0.7, 0.0], [-0.5, 0.1], [-0.6, -0.3]], [1, 1, -1, -1])
    limits = []
    for init_scale in (None, 3.0):
        chosen = Choices(n_runs=2, n_neurons=4, init_scale=init_scale)
        view, clock = DataForm("", UserData(data, chosen), np.arange(4)), TimeLimit(100.0)
        first, second = ask_all(papers.claims_of(), [view], cells_of(None), clock)
        assert first.evidence is not None
        assert first.verdict is Verdict.HOLDS
        limits.append(first.evidence.parts[0].promised)
        changes = small_changes([first, second], [view], cells_of(None), clock)
        assert [each.words for each in changes] == [START] * (init_scale is not None)
    norm, alpha, k, eta, v = UserData(data, Choices()).separation.norm_upper, 0.2, 2, 1.0, 0.5
    for radius, limit in zip((0.5, 3.0), limits, strict=True):  # M_k of Theorem 2, term by term
        root = math.sqrt(radius * (8 * k**2 * eta**2 * v**2 + 8 * eta * k))
        terms = (
            norm**2 / alpha**2,
            norm**2 / (k * eta * v**2 * alpha**2),
            root * norm**1.5 / (2 * k * (eta * v * alpha) ** 1.5),
            2 * radius * norm / (eta * v * alpha),
        )
        assert limit == pytest.approx(sum(terms))


START = "start as the paper does (without --init-scale)"


def needing(name: str, measure, required: float, sign: int):
    """A made-up theorem that needs a choice of the reader, or her data, to be on one side of a threshold."""
    compare = at_least if sign > 0 else at_most
    given = Given(name, name, lambda toys: compare(toys.size, required), extreme=False)

    @claim("toy2020.theorem_3", Kind.MAIN, "Theorem 3", draws=nothing, on=lambda own: Toys(np.array([measure(own)])),
           given=[given])  # fmt: skip
    def theorem_3(toys: Toys) -> Promised:
        """It needs something."""
        return {"a": Fact(True)}

    return theorem_3


def neurons_of(user_data):
    return float(user_data.choices.n_neurons)


def step_of(user_data):
    return user_data.choices.step_size


def longest_of(user_data):
    return user_data.largest_norm


def margin_of(user_data):
    return float(bool(user_data.separation.separable))


def on_one_side() -> UserData:
    """Separable with a bias, and not without; a width of 20 and a step of 1."""
    return UserData(from_arrays([[2.0, 0.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]], [1, 1, -1, -1]), Choices())


@pytest.mark.parametrize(
    ("key", "measure", "required", "sign", "words"),
    [
        ("width", neurons_of, 36.0, 1, "take 36 neurons (34 are not enough)"),
        ("width", neurons_of, 37.0, 1, "take 38 neurons (36 are not enough)"),
        ("step", step_of, 0.3, -1, "take a step size of 0.3 (0.32 is too large)"),
        ("step", step_of, 4.0, 1, "take a step size of 4 (3.7 is too small)"),
        ("input_norm", longest_of, 1.0, -1, "divide every point by 5"),
        ("separable", margin_of, 1.0, 1, "divide every point by 5 and add a constant coordinate (a bias)"),
    ],
)
def test_the_least_change_is_found_and_what_is_not_enough_is_said(monkeypatch, key, measure, required, sign, words):
    theorem = needing(key, measure, required, sign)
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    view = DataForm("", on_one_side(), np.arange(4))
    rows = ask_all([theorem], [view], cells_of(None), TimeLimit(100.0))
    (change,) = small_changes(rows, [view], cells_of(None), TimeLimit(100.0))
    assert change.words == words
    assert change.after is Verdict.HOLDS
    assert "{" not in change.words


def test_no_change_is_told_that_does_not_help(monkeypatch):
    theorem = needing("width", neurons_of, 1e6, 1)
    monkeypatch.setattr(papers, "claims_of", lambda: [theorem])
    view = DataForm("", on_one_side(), np.arange(4))
    rows = ask_all([theorem], [view], cells_of(None), TimeLimit(100.0))
    assert not small_changes(rows, [view], cells_of(None), TimeLimit(100.0))
