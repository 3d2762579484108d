"""What a page says of shares, closest cases, assumptions and limits."""

import dataclasses
import json
import math

import pytest

from tests.report.fake_outcomes import FINDING, HOLDING, PAPER, checked, results, with_evidence
from widenet.claims.base import Evidence, Part
from widenet.claims.hypotheses import Hypothesis
from widenet.claims.rates import Rate
from widenet.claims.sides import Sense, Sides
from widenet.claims.statistics import CONFIDENCE
from widenet.console import wording
from widenet.papers import PAPERS, claim_of
from widenet.papers.controls import controls_of
from widenet.papers.findings import Gravity, findings_of
from widenet.papers.glossary import setting_of, unknown_in
from widenet.papers.index import claim_rows
from widenet.report import numerals
from widenet.report.findings import groups_of
from widenet.report.runs import picture_of
from widenet.report.search_index import search_index
from widenet.report.shares import NO_SHARE, column_of, shares_of, short_name
from widenet.report.statements import Library, control_row, explained
from widenet.report.typesetting import set_in_type, with_emphasis, with_powers

OUTCOME = checked(HOLDING)


def statement_of(*parts: Part):
    library = Library(results([with_evidence(OUTCOME, parts=parts)]).checks, [PAPER])
    return library, library.statements[0]


@pytest.mark.parametrize(
    ("part", "is_comparable"),
    [
        (Part(name="a", kept=True, sense="≤", measured=9.0, promised=10.0, tightness=0.9, n_cases=3), True),
        (Part(name="a", kept=True, sense="≤", measured=0.0, promised=10.0, tightness=0.0, n_cases=3), True),
        (Part(name="a", kept=True, sense="=", measured=9.0, promised=9.0, tightness=1.0, n_cases=3), False),
        (Part(name="a", kept=True, sense="≤", measured=0.0, promised=0.0, tightness=1.0, n_cases=3), False),
    ],
)
def test_only_sides_that_can_come_apart_have_a_share(part: Part, is_comparable: bool) -> None:
    library, statement = statement_of(part)
    table = shares_of(library)
    assert (column_of(statement) != NO_SHARE) == is_comparable
    assert table.n_comparable == is_comparable
    assert statement.gauges[0].has_share == is_comparable
    assert ("%" in statement.share) == is_comparable


def test_a_broken_promise_has_a_column_whatever_its_sign() -> None:
    _, statement = statement_of(Part(name="a", kept=False, sense="=", measured=3.0, promised=9.0, tightness=3.0))
    assert column_of(statement) != NO_SHARE


@pytest.mark.parametrize(
    ("value", "words"), [(0.9, "90 %"), (1 - 1e-14, "100 %"), (2.4, "2.4 ×"), (math.inf, "beyond 0")]
)
def test_a_share_is_told_in_percent_and_an_excess_in_times(value: float, words: str) -> None:
    assert numerals.share_in_words(value) == words


def test_limits_of_a_failure_rate_are_named() -> None:
    error = Sides([0.5] * 5, 0.02)
    part = Rate([True] * 5, 0.15, sides=error).part("error")
    assert part.measured == 0.5
    assert (
        wording.limits(part) == "one-sided 95 % limits of the share of runs that fail (at most 0.15 may): 0.5493 to 1"
    )
    share = Rate([True] * 5, 0.15).part("failures")
    assert wording.limits(share) == "one-sided 95 % limits 0.5493 to 1"
    assert f"one-sided {100 * CONFIDENCE:g} % limits" == wording.LIMITS
    _, statement = statement_of(share)
    assert statement.gauges[0].limits.striptags() == "one-sided 95 % limits 0.5493 to 1"


def test_sides_that_differ_by_rounding_are_written_alike() -> None:
    part = Sides(84.0, 83.99999999999999, room=1e-9).part("a")
    assert [str(each).partition(">")[2].partition("<")[0] for each in numerals.sides_of(part)] == ["84", "84"]


def test_a_page_says_why_a_side_beyond_its_promise_is_kept() -> None:
    by_chance = Sides(0.68579, 0.6875, Sense.AT_LEAST, exact=True).part("a")
    _, statement = statement_of(by_chance)
    assert (statement.gauges[0].left.striptags(), statement.gauges[0].right.striptags()) == ("0.6858", "0.6875")
    assert (by_chance.relation, wording.reason_kept(by_chance)) == ("<", "within the tolerance of the check")
    assert wording.reason_kept(Sides(84.0, 83.99999999999999, room=1e-9).part("a")) == "to within rounding"
    assert wording.reason_kept(Sides(1.0, 2.0).part("a")) == ""


def test_a_page_says_how_nearly_two_sides_are_equal() -> None:
    about = Sides(0.7493, 0.75, Sense.EQUAL, exact=True).part("a")
    assert (about.relation, wording.reason_kept(about)) == ("≈", "within the tolerance of the check")
    assert wording.sides(about) == "0.7493 ≈ 0.75, within the tolerance of the check"
    assert wording.reason_kept(Sides(0.75, 0.75, Sense.EQUAL).part("a")) == ""


def test_a_promise_that_is_drawn_turned_round_says_so() -> None:
    turned = Sides(3.0, 2.0, Sense.AT_LEAST, quantity="1/L").part("L ≤ 1/2")
    assert statement_of(turned)[1].gauges[0].drawn_as == "drawn: 1/L (≥ promised)"
    for other in (Sides(0.3, 0.5, quantity="L").part("L ≤ 1/2"), Sides(3.0, 2.0, Sense.AT_LEAST).part("at least 2")):
        assert statement_of(other)[1].gauges[0].drawn_as == ""


def test_forms_of_a_symbol_that_are_set_alike_stand_there_once() -> None:
    symbol = explained(("Q_1", "Q₁", "Q̃_1", "Q̃₁"), "", "").symbol
    assert symbol.count("<math>") == 2
    assert symbol.striptags().count(",") == 1


def test_a_limit_at_infinity_has_its_sign() -> None:
    assert Sides(1.0, math.inf, strict=True).hypothesis("bounded", "entries").required == "< ∞"


def test_findings_begin_with_the_greatest_damage() -> None:
    grave = [each for paper in PAPERS for each in findings_of(paper.key) if each.gravity is Gravity.THEOREM]
    outcomes = [dataclasses.replace(checked(FINDING), claim=claim_of(each.claim)) for each in grave]
    (group,) = groups_of(Library(outcomes, PAPERS))
    assert [each.statement.id for each in group.found][:2] == [
        "li2018.theorem_4_1_as_printed",
        "brutzkus2019.theorem_3_3_iterations_as_printed",
    ]
    assert len(group.found) == len(grave) > 2


def test_the_search_knows_topics_and_names_of_papers() -> None:
    id = "brutzkus2018.theorem_5"
    library = Library([dataclasses.replace(OUTCOME, claim=claim_of(id))], PAPERS)
    (row,) = json.loads(search_index(library.statements, []).removeprefix("const PAGES = ").removesuffix(";\n"))
    assert row["id"] == id
    assert "generalization" in row["more"]
    assert short_name(library.statements[0].paper) in row["more"]


def test_steps_over_a_limit_stand_apart_from_what_breaks_a_claim() -> None:
    library = Library([dataclasses.replace(OUTCOME, claim=claim_of("brutzkus2018.theorem_2"))], PAPERS)
    (statement,) = library.statements
    assert all(each.kept or each.broken for each in statement.controls)
    groups = {each.heading: each.rows for each in statement.control_groups}
    assert len({each.says for each in statement.control_groups}) == len(groups)
    assert {each.is_edge for each in groups["What the check notices"]} == {True}
    assert {each.is_edge for each in groups.get("What must break it", [])} <= {False}
    assert sum(map(len, groups.values())) == len(statement.controls)


def test_assumptions_begin_with_the_nearest_to_failing() -> None:
    def made(key: str, actual: float, slack: float | None, required: str, met: bool = True) -> Hypothesis:
        return Hypothesis(key=key, name=key, required=required, actual=actual, slack=slack, met=met)

    rows = (
        made("exact", 1.0, 1e-12, "≤ 1 (to 1e-12)"),
        made("far", 5.0, 4.0, "≥ 1"),
        made("near", 100.0, 0.5, "≤ 100.5"),
        made("unmet", 2.0, -1.0, "≤ 1", met=False),
        made("tiny", 1e-13, 1e-13, "> 0"),
    )
    library = Library(results([with_evidence(OUTCOME, hypotheses=rows)]).checks, [PAPER])
    assert [each.key for each in library.statements[0].assumptions] == ["unmet", "near", "far", "tiny", "exact"]
    assert [wording.is_met_exactly(each) for each in rows] == [True, False, False, False, False]


def test_the_closest_case_has_its_numbers() -> None:
    kept = Evidence.model_validate(OUTCOME.evidence.model_dump(round_trip=True))
    assert kept.headline.closest == OUTCOME.evidence.headline.closest == {"place": 0}


def test_cases_that_are_all_alike_are_told_and_not_drawn() -> None:
    same, other = Sides([0.0] * 300, 0.0).part("a"), Sides([0.0] * 300 + [-1.0], 0.0).part("a")
    assert (same.alike, other.alike) == (True, False)
    _, statement = statement_of(Sides([1.0, 2.0], 3.0).part("first"), same)
    assert statement.gauges[1].sameness.striptags() == "the same in all 300 cases"
    assert statement.more_pictures == []


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_every_paper_tells_its_setting_in_five_lines(paper) -> None:
    lines = setting_of(paper.key)
    assert len(lines) == 5
    for line in lines:
        assert str(with_emphasis(line)).startswith("<b>"), line
        assert "$" not in with_emphasis(line), line
    assert unknown_in(paper.key, *lines) == []


def test_a_control_is_told_apart_from_its_limit() -> None:
    n_told = 0
    for row in claim_rows(PAPERS):
        controls = controls_of(row["id"])
        for clause in (each for each in row["clauses"] if each["key"] in controls):
            control, shown = controls[clause["key"]], control_row(clause, controls[clause["key"]])
            assert shown.changed
            if control.kept and control.broken and control.kept[1] == control.broken[1]:
                values = (control.kept[0], control.broken[0], control.kept[1])
                texts = {each.striptags() for each in (shown.kept, shown.broken, numerals.several_apart(*values)[2])}
                assert len(texts) == len({*values}), (row["id"], clause["key"])
                n_told += 1
    assert n_told > 1000


def test_a_control_asks_what_its_example_is_asked() -> None:
    clauses = {row["id"]: {each["key"]: each for each in row["clauses"]} for row in claim_rows(PAPERS)}

    def asked(id: str, key: str) -> str:
        return control_row(clauses[id][key], controls_of(id)[key]).asked.striptags()

    assert asked("li2018.theorem_4_1", "error") == "≤ 0.02, but for a share of 0.15 of the cases"
    assert asked("chatterji2021.section_1_capture", "halves") == "≥ 2.5·10⁻⁴"
    assert asked("brutzkus2018.theorem_2", "active") == "< 1"


SHARE = {"name": "a", "sense": "≤", "quantity": "share of draws below", "interval": (0.9, 1.0), "n_cases": 20}


def test_a_broken_rate_is_told_as_a_rate() -> None:
    _, statement = statement_of(Part(kept=False, measured=1.0, promised=0.977, tightness=1.02, broken=20, **SHARE))
    assert statement.used == "share of draws below 1, promised ≤ 0.977"
    _, kept = statement_of(Part(kept=True, measured=0.5, promised=1.0, tightness=0.5, **SHARE))
    assert kept.used == "50 % of its promise used"


def test_the_picture_is_that_of_a_broken_part() -> None:
    parts = [
        Part(name="more", kept=False, sense=">", measured=0.5, promised=0.5, tightness=1.1, n_cases=2, broken=2,
             alike=True, sides=((0.5, 0.5), (0.5, 0.5))),
        Part(name="ball", kept=True, sense=">", measured=0.7, promised=0.0, tightness=0.0, n_cases=2,
             sides=((0.7, 0.0), (1.0, 0.0))),
    ]  # fmt: skip
    _, statement = statement_of(*parts)
    assert statement.picture is not None
    assert statement.picture[0].part.name == "more"


def test_a_statement_that_leaves_a_constant_open_is_not_counted_as_kept() -> None:
    part = Part(name="a", kept=True, sense="≤", measured=9.5, promised=10.0, tightness=0.95, n_cases=3)
    left_open = with_evidence(OUTCOME, parts=(part,), open_constant="C_2")
    table = shares_of(Library(results([left_open]).checks, [PAPER]))
    assert (table.n_comparable, table.n_close) == (0, 0)
    assert sum(table.totals) == 1


@pytest.mark.parametrize(("sense", "uses"), [("≤", 0.9), ("=", None)])
def test_the_search_knows_shares_that_can_come_apart_alone(sense: Sense, uses: float | None) -> None:
    part = Part(name="a", kept=True, sense=sense, measured=9.0, promised=10.0, tightness=0.9, n_cases=3)
    (row,) = json.loads(search_index([statement_of(part)[1]], [])[len("const PAGES = ") : -2])
    assert row["uses"] == uses


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        ("brutzkus2018.theorem_2", "Theorem 2"),
        ("li2018.assumption_a1", "(A1) and (A2)"),
        ("li2018.section_6_rank", "low rank of the weights, Section 6"),
        ("sarussi2021.smoothed_margin_level", "(B4)"),
        ("sarussi2021.section_12_logistic", "assumption (B3)"),
        ("chatterji2021.theorem_2a", "Theorem 2(a)"),
        ("chatterji2021.weights_grow", "not in the paper"),
    ],
)
def test_a_place_says_where(claim: str, place: str) -> None:
    (statement,) = Library([dataclasses.replace(OUTCOME, claim=claim_of(claim))], PAPERS).statements
    assert statement.place == place


def test_every_claim_has_a_place() -> None:
    outcomes = [dataclasses.replace(OUTCOME, claim=claim_of(row["id"])) for row in claim_rows(PAPERS)]
    for each in Library(outcomes, PAPERS).statements:
        named = each.place == "not in the paper" or each.place.startswith("Appendix")
        assert named or any(letter.isdigit() for letter in each.place), (each.id, each.place)


def test_the_search_knows_papers_and_other_words() -> None:
    rows = json.loads(search_index([], [], PAPERS)[len("const PAGES = ") : -2])
    assert [row["id"] for row in rows] == [paper.key for paper in PAPERS]
    part = Part(name="a", kept=True)
    claim = claim_of("brutzkus2018.theorem_2")
    outcome = dataclasses.replace(with_evidence(OUTCOME, parts=(part,)), claim=claim)
    (row,) = json.loads(search_index(Library([outcome], PAPERS).statements, [])[len("const PAGES = ") : -2])
    assert len(row["text"]) > 200
    assert "learning rate" in row["more"] or "step size" not in row["text"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("but for 2e-14", "but for 2·10⁻¹⁴"),
        ("4e - 8 and e-8", "4e - 8 and e-8"),
        ("p^(−5/4) and σ_(j+1)", "p−5/4 and σj+1"),
        ("2v²R_x²ηkn, largest_norm", "2v²Rx²ηkn, largest_norm"),
    ],
)
def test_powers_of_ten_and_exponents_are_set(text: str, shown: str) -> None:
    assert set_in_type(text).striptags().replace("\N{WORD JOINER}", "") == shown


def test_powers_of_ten_in_formulas_are_set() -> None:
    assert with_powers("$c = 2e-14$ is $4e − 8$") == "$c = 2·10⁻¹⁴$ is $4e − 8$"


def test_dots_that_lie_on_others_are_told() -> None:
    def drawn_of(*sides: tuple[float, float]) -> bool:
        part = Part(name="a", kept=True, sense="≤", measured=1.0, promised=2.0, n_cases=len(sides), sides=sides)
        picture = picture_of(part)
        assert picture is not None
        return picture.hides_some

    assert drawn_of((1.0, 2.0), (1.0, 2.0), (5.0, 9.0))
    assert not drawn_of((1.0, 2.0), (3.0, 4.0), (5.0, 9.0))
    assert not drawn_of((1.0, 2.0), (1.0, 2.0)), "dots under a wall are stacked"
