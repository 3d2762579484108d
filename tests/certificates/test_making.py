"""A certificate from end to end, with rooms whose claims take no time."""

import dataclasses
import functools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import widenet as wn
from tests.packages import BROKEN, EMPTY, TOY
from tests.packages.broken2022.claims.theorems import theorem_8
from tests.packages.toy2020.claims.theorems import two
from widenet import papers
from widenet.certificates import words
from widenet.certificates.command import code_of
from widenet.certificates.time_limit import TimeLimit
from widenet.claims import Part, Verdict
from widenet.cli import app
from widenet.errors import InputError
from widenet.records import Scale

CORNERS = np.array(
    [[2.0, 1.0], [1.5, 0.5], [2.5, 0.9], [2.1, 0.2], [-1.0, 0.3], [-2.0, -1.0], [-1.5, 0.0], [-1.1, 0.4]]
)
SIDES = np.array(["east"] * 4 + ["west"] * 4)
SMALL = {"runs": 2, "effort": 1e-3}


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def table(tmp_path, labels=tuple(SIDES), name="corners.csv"):
    lines = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(CORNERS, labels, strict=True)]
    path = tmp_path / name
    path.write_text("a,b,side\n" + "\n".join(lines) + "\n")
    return path


@functools.cache
def corners():
    """One certificate for the tests that only look at it."""
    return wn.certify(CORNERS, SIDES, **SMALL)


def invoke(*arguments):
    return CliRunner().invoke(app, ["certify", *map(str, arguments)], prog_name="widenet")


def test_a_certificate_has_all_its_parts():
    found = corners().findings
    assert found.portrait.separable is True
    assert [each.name for each in found.portrait.classes] == ["east", "west"]
    assert len(found.rows) == len(papers.claim_ids())
    assert {row.id for row in found.applicable} == {"toy2020.theorem_2", "toy2020.theorem_6"}
    assert all(row.not_applicable for row in found.not_applicable)
    assert found.study is not None
    assert (found.study.trained_on, found.study.held_out, found.study.n_networks) == ((4, 4), 8, 2)


def test_main_results_come_first_and_silent_claims_last():
    rows = corners().findings.rows
    assert rows[0].id == "toy2020.theorem_2"
    assert [row.evidence is None for row in rows] == sorted(row.evidence is None for row in rows)


def test_the_same_seed_gives_the_same_certificate():
    first, second = corners().to_dict(), wn.certify(CORNERS, SIDES, **SMALL).to_dict()
    for each in (first, second):
        each.pop("seconds")
        each.pop("computed")
        for row in (*each["rows"], *each["study"]["results"]):
            row.pop("seconds")
    assert first == second


def test_json_and_screen_say_the_same():
    certificate = corners()
    assert json.loads(certificate.to_json()) == certificate.to_dict()
    text = repr(certificate)
    assert "8 points of 2 columns; 2 classes: east (4), west (4)." in text
    assert "separates east and west, with margin" in text
    assert "toy2020.theorem_2" in certificate.to_html()
    assert "Does a larger network help?" in text


def test_many_classes_and_classes_that_no_plane_separates():
    inputs = [[0, 0], [1, 1], [0, 1], [1, 0], [5, 5], [6, 5], [5, 6]]
    found = wn.certify(np.array(inputs, float), [0, 0, 1, 1, 2, 2, 2], **SMALL).findings
    assert [each.separable for each in found.portrait.separability] == [False, False, True]
    assert found.applicable[0].about == "2 against the rest"
    assert found.study is not None
    assert [each is None for each in found.study.best.score.class_errors] == [False, False, False]


def test_contradictions_are_counted_and_proved():
    inputs = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0], [3.0, 1.0], [0.0, 4.0]])
    certificate = wn.certify(inputs, ["a", "b", "a", "a", "b"], time=1e-6)
    found = certificate.findings.portrait
    assert (found.n_contradicting, found.duplicates, found.contradictions) == (2, 1, ((1, 2),))
    assert found.separable is False
    assert "same numbers as a point of another class (rows 1 and 2" in repr(certificate)


def test_time_that_is_spent_is_said():
    found = wn.certify(CORNERS, SIDES, time=1e-6).findings
    assert found.unasked == len(papers.claim_ids())
    assert found.study is None
    assert "the time of 1e-06 s was spent" in repr(wn.certify(CORNERS, SIDES, time=1e-6))


def test_what_does_not_apply_is_not_mixed_with_what_was_not_evaluated():
    count = len(papers.claim_ids())
    assert f"2 can be checked on this data (2 hold), {count - 2} cannot, and 0 were not evaluated" in (
        words.about_rows(corners().findings)
    )
    spent = wn.certify(CORNERS, SIDES, time=1e-6).findings
    assert f"0 can be checked on this data, 0 cannot, and {count} were not" in (words.about_rows(spent))


def test_a_repeated_point_is_named():
    inputs = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    found = wn.certify(inputs, ["a", "b", "a", "a"], time=1e-6).findings.portrait
    assert (found.duplicates, found.repeats, found.contradictions) == (1, ((3, 1),), ((2, 4),))
    assert "1 point repeats an earlier one (row 3 is row 1 again; the first point is row 1)." in words.about_data(found)


def test_a_clock_counts_down_and_shares_what_is_left():
    work, watch = [10.0], [100.0]
    clock = TimeLimit(8.0, lambda: work[0], lambda: watch[0])
    work[0], watch[0] = 14.0, 105.0
    assert (clock.spent, clock.left, clock.share(0.25).left) == (4.0, 4.0, 1.0)
    watch[0] = 118.0  # a machine that is busy with other things
    assert (clock.spent, clock.waited) == (6.0, 18.0)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"width": 3}, "width must be a multiple of 2, got 3"),
        ({"slope": 1.0}, "slope must be less than 1"),
        ({"step_size": -1.0}, "step_size must be greater than 0"),
        ({"init_scale": 0.0}, "init_scale must be a positive number, at most 1e.30, got 0.0"),
        ({"runs": 1}, "runs must be a whole number between 2 and 100, got 1"),
        ({"effort": 0}, "effort must be a positive number, at most 1e.06, got 0"),
        ({"time": float("nan")}, "time must be a positive number, at most 1e.07, got nan"),
        ({"scaling": "bal"}, "did you mean 'ball'"),
    ],
)
def test_a_wrong_choice_is_one_sentence(choice, message):
    with pytest.raises(InputError, match=message):
        wn.certify(CORNERS, SIDES, **(SMALL | choice))


def test_the_command_writes_a_file_and_shows_a_screen(tmp_path):
    out = tmp_path / "out"
    result = invoke(table(tmp_path), "--runs", 2, "--out", out, "--effort", 0.001)
    assert result.exit_code == 0, result.stderr
    assert "widenet certificate of corners.csv" in result.stdout
    assert "corners.csv" in (out / "corners.html").read_text()
    assert json.loads((out / "corners.json").read_text())["portrait"]["points"] == 8
    plain = invoke(table(tmp_path), "--out", out, "--json", "--time", 0.001)
    assert json.loads(plain.stdout)["portrait"]["label"] == "side"


def test_hostile_input_is_one_sentence_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    out = tmp_path / "out"
    for arguments in (
        (tmp_path / "none.csv",),
        (table(tmp_path, labels=("east",) * 8, name="east.csv"),),
        (table(tmp_path), "--width", 3),
        (table(tmp_path), table(tmp_path)),
        (table(tmp_path), "--label", "colour"),
    ):
        result = invoke(*arguments, "--out", out)
        assert result.exit_code == 2
        assert result.stderr.splitlines()[-1].startswith("widenet: ")
        assert "Traceback" not in result.output
        assert not out.exists()
        assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--width", 3), ("--slope", 1), ("--step-size", -1), ("--init-scale", 0), ("--runs", 0), ("--time", "nan"),
     ("--scaling", "bal"), ("--label", "colour"), ("--seed", -1), ("--width", "wide")],
)  # fmt: skip
def test_a_wrong_option_is_refused_before_anything_starts(tmp_path, option, value):
    result = invoke(table(tmp_path), option, value, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("widenet: ")
    assert not (tmp_path / "out").exists()


def test_a_violated_theorem_is_an_exit_code(tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (BROKEN,))
    broken = dataclasses.replace(theorem_8, settings_on=lambda user_data: two(Scale.QUICK, 0))
    monkeypatch.setattr("tests.packages.broken2022.claims.theorems.theorem_8", broken)
    assert invoke(table(tmp_path), "--runs", 2, "--out", tmp_path / "out", "--effort", 0.001).exit_code == 1


def test_exit_codes_of_a_certificate():
    findings = corners().findings
    (holding, *_) = [row for row in findings.rows if row.verdict is Verdict.HOLDS]
    assert holding.evidence is not None
    broken = holding.model_copy(
        update={"evidence": holding.evidence.model_copy(update={"parts": (Part(name="x", kept=False),)})}
    )
    crashed = holding.model_copy(update={"evidence": None, "is_open": True, "has_crashed": True})
    late = holding.model_copy(update={"evidence": None, "is_open": True})
    for rows, code in (([holding, late], 0), ([holding, crashed], 3), ([crashed, broken], 1)):
        found = findings.model_copy(update={"rows": tuple(rows)})
        assert code_of(dataclasses.replace(corners(), findings=found)) == code
