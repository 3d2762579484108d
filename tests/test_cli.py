"""The contract of the command line: output, exit codes, and what is left behind."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from typer.testing import CliRunner, Result

from widenet import papers, run
from widenet.cli import app
from widenet.console import output, tables
from widenet.errors import UnknownName
from widenet.figures.archive import Archived
from widenet.run import Results, plan

from .packages import BROKEN, EMPTY, TOY
from .packages.toy2020.runs.numbers import Numbers
from .report.fake_outcomes import FIGURE, FINDING, HOLDING, MOVING, STEP, TREND, UNMET, VACUOUS, checked, claim

GOOD = (STEP, HOLDING, FINDING, UNMET, VACUOUS, TREND)
IN_ORDER = (HOLDING, FINDING, VACUOUS, TREND, UNMET, STEP)
Invoke = Callable[..., Result]
FIVE = papers.PAPERS


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command line over a small laboratory, in a folder of its own."""
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, list(arguments), prog_name="widenet")
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def five_papers(lab: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command line as it is."""
    monkeypatch.setattr(papers, "PAPERS", FIVE)
    return lab


def refused(result: Result) -> str:
    """The one sentence on stderr."""
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    (line,) = result.stderr.splitlines()
    return line


class TestList:
    def test_without_a_word_lists_the_papers(self, lab: Invoke) -> None:
        lines = lab("list").stdout.splitlines()
        assert lines[0] == "Papers"
        assert [line.split()[0] for line in lines[2:]] == ["toy2020", "empty2021"]

    def test_a_paper_has_claims_and_figures(self, lab: Invoke) -> None:
        lines = lab("list", "toy2020").stdout.splitlines()
        assert [line for line in lines if line.istitle() and " " not in line] == ["Claims", "Figures"]
        assert list(json.loads(lab("list", "toy2020", "--json").stdout)) == ["claims", "figures"]
        assert lab("list", "empty2021").stdout == "There are no claims and no figures of empty2021 yet.\n"

    def test_main_results_come_first_with_their_kind(self, lab: Invoke) -> None:
        lines = lab("list", "claims").stdout.splitlines()
        shown = [line for line in lines if line.startswith("toy2020.")]
        assert [line.split()[0] for line in shown] == [each.id for each in IN_ORDER]
        assert "main result" in shown[0]
        assert "[0, 1]" in shown[0]
        assert "proof step" in shown[-1]

    @pytest.mark.parametrize("noun", ["papers", "claims", "figures", "data"])
    def test_json_is_an_array_of_rows(self, lab: Invoke, noun: str) -> None:
        rows = json.loads(lab("list", noun, "--json").stdout)
        assert rows
        assert all(isinstance(row, dict) for row in rows)

    def test_one_paper(self, lab: Invoke) -> None:
        listed = json.loads(lab("list", "papers", "--paper", "empty2021", "--json").stdout)
        assert [row["key"] for row in listed] == ["empty2021"]
        assert json.loads(lab("list", "claims", "--paper", "empty2021", "--json").stdout) == []
        assert "leave --paper out" in refused(lab("list", "toy2020", "--paper", "toy2020", code=2))

    def test_unknown_words_are_refused(self, lab: Invoke) -> None:
        assert "did you mean 'claims'?" in refused(lab("list", "claim", code=2))
        assert "did you mean 'empty2021'?" in refused(lab("list", "--paper", "empty2012", code=2))
        assert "did you mean 'empty2021'?" in refused(lab("list", "empty2012", code=2))


class TestShow:
    def test_a_claim_with_its_clauses(self, five_papers: Invoke) -> None:
        text = five_papers("show", "brutzkus2018.equation_12_step").stdout
        given, promised = text.split("Given\n")[1].split("Promised\n")
        assert ["separable:", "y⟨w*,", "x⟩", "≥", "1", "(to", "1e-12)", "separable"] in map(
            str.split, given.splitlines()
        )
        assert "F grows by at least 2kηvα" in promised
        assert "widenet check brutzkus2018.equation_12_step" in promised
        rows = json.loads(five_papers("show", "brutzkus2018.equation_12_step", "--json").stdout)["clauses"]
        assert {"role": "given", "key": "step_size", "text": "step size $η$", "sense": ">", "limit": 0.0} in rows

    def test_a_false_statement_and_its_repair_name_each_other(self, five_papers: Invoke) -> None:
        assert "brutzkus2018.theorem_8\n" in five_papers("show", "brutzkus2018.theorem_8_as_printed").stdout
        assert "brutzkus2018.theorem_8_as_printed\n" in five_papers("show", "brutzkus2018.theorem_8").stdout

    def test_a_figure_and_a_paper(self, lab: Invoke) -> None:
        assert "widenet figure toy2020.figure_1" in lab("show", "toy2020.figure_1").stdout
        assert "widenet list toy2020" in lab("show", "toy2020").stdout

    def test_a_claim_in_a_file_of_yours(self, lab: Invoke) -> None:
        file = Path(__file__).parents[1] / "examples" / "perceptron.py"
        text = lab("show", f"{file}:perceptron").stdout
        assert "at most ‖w*‖² mistakes" in text
        assert f"widenet check {file}:perceptron" in text

    def test_an_unknown_name_is_refused(self, lab: Invoke) -> None:
        assert "did you mean 'toy2020.theorem_2'?" in refused(lab("show", "toy2020.theorm_2", code=2))


class TestCheck:
    def test_one_claim_is_shown_in_full(self, lab: Invoke) -> None:
        text = lab("check", HOLDING.id).stdout
        for words in (
            "✓ holds",
            "main result, Theorem 2, p. 5",
            "For all x in [0, 1]",
            "margin of [w*, x]",
            "≥ 1",
            "1.25",
            "0.25",
            "12,345",
            "321",
            "0.026",
            "64, 2 diverged",
            "measured to hold",
        ):
            assert words in text, words

    def test_json_is_an_array_and_nothing_else_on_stdout(self, lab: Invoke) -> None:
        (row,) = json.loads(lab("check", HOLDING.id, "--json", "--seed", "3").stdout)
        assert row["id"] == HOLDING.id
        assert row["verdict"] == "HOLDS"
        assert row["hypotheses"][1] == {
            "key": "margin", "name": "margin of [w*, x]", "required": "≥ 1", "actual": 1.25, "slack": 0.25, "met": True,
            "why": "", "normalization": "",
        }  # fmt: skip
        assert row["runs"] == {"tried": 64, "diverged": 2, "unfinished": 0, "outside": 0}
        assert row["expected"] is True
        assert row["seed"] == 3
        assert [part["name"] for part in row["parts"]] == ["at most M_k updates", "loss 0 at the end"]
        wanted = {"statement", "promised", "measured", "tightness", "vacuous", "interval", "config", "seconds", "cells"}
        assert wanted <= set(row)

    def test_many_claims_are_a_line_each(self, lab: Invoke) -> None:
        text = lab("check", "--all", code=3).stdout
        table, _, blocks = text.partition("6 claims: ")
        assert [line.split()[0] for line in table.splitlines() if line.startswith("toy2020")] == [
            each.id for each in IN_ORDER
        ]
        assert "3 hold, 1 false as printed" in text
        assert blocks.splitlines()[1:] == ["", "widenet check ID shows one in full."]

    def test_a_statement_false_as_printed_is_a_finding(self, lab: Invoke) -> None:
        text = lab("check", FINDING.id).stdout
        assert "! false as printed" in text
        assert "A finding, not an alarm" in text
        assert "The printed count lacks a ceiling." in text

    def test_an_unexpected_violation_exits_1(self, lab: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(papers, "PAPERS", (BROKEN,))
        assert "✗ violated" in lab("check", "--paper", "broken2022", code=1).stdout
        rows = json.loads(lab("check", "--all", "--json", code=1).stdout)
        assert [row["expected"] for row in rows] == [True, False]

    def test_a_check_that_fails_is_one_sentence_and_the_others_are_reported(
        self, lab: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(runs: Numbers) -> None:
            raise ZeroDivisionError("no runs")

        broken = dataclasses.replace(HOLDING, judge=fail)
        monkeypatch.setattr("tests.packages.toy2020.claims.theorems.theorem_2", broken)
        result = lab("check", HOLDING.id, STEP.id, code=3)
        assert "Traceback" not in result.output
        assert f"✗ not computed  {HOLDING.id}\n  {HOLDING.id} failed: ZeroDivisionError: no runs\n" in result.stdout
        assert f"{STEP.id}  ✓ holds" in result.stdout
        one, two = json.loads(lab("check", HOLDING.id, STEP.id, "--json", code=3).stdout)
        assert (one["id"], one["verdict"], two["verdict"]) == (HOLDING.id, "NOT_COMPUTED", "HOLDS")
        assert "ZeroDivisionError" in one["traceback"]
        (line,) = [each for each in result.stdout.splitlines() if each.startswith(HOLDING.id)]
        assert "✗ not computed" in line, "it has its row in the table"
        assert "2 claims: 1 holds, 1 not computed" in result.stdout
        lab("report", code=3)
        page = Path("report/index.html").read_text(encoding="utf-8")
        assert "ZeroDivisionError: no runs" in page
        assert f"Without a result: {HOLDING.id}." in page

    def test_a_mistake_of_the_program_has_an_exit_code_of_its_own(
        self, lab: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(runs: Numbers) -> None:
            raise ZeroDivisionError("in a table")

        monkeypatch.setattr(tables, "check_report", fail)
        assert "ZeroDivisionError: in a table" in lab("check", HOLDING.id, code=3).stderr

    def test_unmet_hypotheses_exit_3_and_show_which(self, lab: Invoke) -> None:
        text = lab("check", UNMET.id, code=3).stdout
        assert "? hypotheses not met" in text
        assert "✗ no" in text
        assert "-0.5" in text
        assert "✗ margin of [w*, x]: Row 7 is too close." in text

    def test_a_vacuous_promise_says_so(self, lab: Invoke) -> None:
        assert "trivially true" in lab("check", VACUOUS.id).stdout

    def test_a_repeated_id_is_checked_once(self, lab: Invoke) -> None:
        assert len(json.loads(lab("check", HOLDING.id, HOLDING.id, "--json").stdout)) == 1

    def test_progress_is_plain_lines_on_stderr(self, lab: Invoke) -> None:
        lines = lab("check", HOLDING.id, STEP.id, "--jobs", "1").stderr.splitlines()
        assert lines[0] == "[1/5] toy2020.numbers (1 of 3): started"
        assert lines[-2].startswith(f"[4/5] {HOLDING.id}: holds, ")
        assert lines[-1].startswith(f"[5/5] {STEP.id}: holds, ")
        again = lab("check", HOLDING.id, STEP.id).stderr.splitlines()
        assert [line.split(":")[0] for line in again] == [f"[1/2] {HOLDING.id}", f"[2/2] {STEP.id}"]

    def test_a_second_check_comes_from_the_store(self, lab: Invoke) -> None:
        assert "(stored)" not in lab("check", HOLDING.id).stdout
        assert "(stored)" in lab("check", HOLDING.id).stdout
        assert "(stored)" not in lab("check", HOLDING.id, "--fresh").stdout

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "nothing to check"),
            (("toy2020.theorem2",), "did you mean 'toy2020.theorem_2'?"),
            (("theorem_2",), "did you mean 'toy2020.theorem_2'?"),
            (
                ("toy2020",),
                "not a claim; 'widenet check --paper toy2020' checks all of its claims.",
            ),
            (("toy2020.figure_1",), "is a figure, not a claim; 'widenet figure toy2020.figure_1' draws it."),
            ((HOLDING.id, "--all"), "only one of the three"),
            ((HOLDING.id, "--scale", "papr"), "did you mean 'paper'?"),
            ((HOLDING.id, "--seed", "-1"), "--seed must be a whole number between 0 and 4294967295, got '-1'."),
            ((HOLDING.id, "--seed", str(2**70)), "--seed must be a whole number between"),
            ((HOLDING.id, "--seed", "abc"), "got 'abc'."),
            ((HOLDING.id, "--seed", "1.5"), "got '1.5'."),
            ((HOLDING.id, "--jobs", "0"), "--jobs must be a whole number between 1 and 1024, got '0'."),
            ((HOLDING.id, "--jobs", "-2"), "got '-2'."),
            ((HOLDING.id, "--jobs", "all"), "got 'all'."),
            ((HOLDING.id, "--jobs", "1.5"), "got '1.5'."),
            ((HOLDING.id, "--jobs", "²"), "got '²'."),
            ((HOLDING.id, "--jobs", "9999999"), "got '9999999'."),
            (("--paper", "brutzkus"), "there is no paper 'brutzkus'"),
            (("--paper", "empty2021"), "no claims of empty2021 yet"),
        ],
    )
    def test_bad_input_is_one_sentence(self, lab: Invoke, arguments: tuple[str, ...], words: str) -> None:
        assert words in refused(lab("check", *arguments, code=2))

    def test_a_store_that_cannot_be_written_is_one_sentence(
        self, lab: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "file"))
        result = lab("check", HOLDING.id)
        (sentence,) = [line for line in result.stderr.splitlines() if not line.startswith("[")]
        assert "set WIDENET_STORE to a folder that you can write to" in sentence
        assert "holds" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("check", "--sed", "3"), "'widenet check' has no option '--sed'; did you mean '--seed'?"),
            (("check", "--qq"), "'widenet check' has no option '--qq'; 'widenet check --help' shows those there are."),
            (("--paper", "x"), "'widenet' has no option '--paper'; 'widenet --help' shows those there are."),
            (("--all", "check"), "options go after the command: widenet check --all"),
            (("--paper", "x", "list"), "options go after the command: widenet list --paper x"),
            (("--seed", "3", "check", "x"), "options go after the command: widenet check --seed 3 x"),
            (("--json", "list", "papers"), "options go after the command: widenet list --json papers"),
            (("--out", "report", "figure", "a b"), "options go after the command: widenet figure --out report 'a b'"),
            (("--all", "list"), "'widenet list' has no option '--all'; 'widenet list --help' shows those there are."),
            (("--sed", "3", "check"), "'widenet check' has no option '--sed'; did you mean '--seed'?"),
            (("--versoin", "list"), "'widenet' has no option '--versoin'; did you mean '--version'?"),
            (("chek",), "there is no command 'chek'; did you mean 'check'?"),
            (("help",), "there is no command 'help'; did you mean '--help'?"),
            (
                ("zzz",),
                "there is no command 'zzz'; known: --help, --version, bench, certify, check, figure, list, report, "
                "run, show, store, sweep.",
            ),
            (("figure", "--out"), "option '--out' requires an argument; 'widenet figure --help' shows what it takes."),
            (
                ("list", "papers", "x"),
                "unexpected argument 'x'; 'widenet list --help' shows what it takes.",
            ),
        ],
    )
    def test_usage_errors_are_one_sentence(self, lab: Invoke, arguments: tuple[str, ...], sentence: str) -> None:
        assert refused(lab(*arguments, code=2)) == f"widenet: {sentence}"

    def test_no_command_at_all_shows_the_help(self, lab: Invoke) -> None:
        assert lab().stdout == lab("--help").stdout == lab("-h").stdout
        assert lab().stdout.startswith("Usage: widenet [OPTIONS] COMMAND")

    def test_ctrl_c_says_one_sentence(self, lab: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(plan, "judge", interrupted)
        result = lab("check", STEP.id, code=130)
        assert result.stdout == ""
        assert result.stderr.splitlines() == ["widenet: interrupted; what was finished is in the store."]


class TestFigure:
    ID = "toy2020.figure_1"

    def test_writes_drawing_and_numbers_and_compares(self, lab: Invoke) -> None:
        text = lab("figure", self.ID).stdout
        for suffix in ("svg", "pdf", "png", "json", "width-run-epoch.csv"):
            assert Path("figures", f"{self.ID}.{suffix}").stat().st_size > 0
            assert f"wrote figures/{self.ID}.{suffix}" in text
        for words in ("final test error", "good for all widths [a, b]", "0.05 to 0.09", "✓ agrees", "✗ differs"):
            assert words in text
        assert not [path for path in Path("figures").iterdir() if path.name.startswith(".")]

    def test_json_names_comparisons_and_files(self, lab: Invoke) -> None:
        (row,) = json.loads(lab("figure", self.ID, "--out", "deep/down", "--json").stdout)
        assert row["id"] == self.ID
        first = row["comparisons"][0]
        assert {"name", "reported", "measured", "interval", "band", "verdict"} <= set(first)
        assert len(row["files"]) == 6
        assert all(Path(file).is_file() for file in row["files"])
        assert json.loads(Path(f"deep/down/{self.ID}.json").read_text())["comparisons"] == row["comparisons"]

    def test_an_archive_has_the_numbers_of_the_figure(self, lab: Invoke) -> None:
        lab("figure", self.ID, "--scale", "paper", "--archive")
        file = Path("figures", f"{self.ID}.json.gz")
        found, printed = Archived.from_bytes(file.read_bytes(), file.name), json.loads(file.with_suffix("").read_text())
        assert found.numbers.test_error.values.tolist() == printed["quantities"]["test_error"]["values"]
        assert [each.measured for each in found.comparisons] == [each["measured"] for each in printed["comparisons"]]
        assert (found.id, found.scale, found.config) == (self.ID, "paper", printed["config"])
        xr.testing.assert_identical(found.numbers, run.figure(self.ID, scale="paper").numbers)

    def test_only_paper_scale_is_archived(self, lab: Invoke) -> None:
        assert "add --scale paper" in refused(lab("figure", self.ID, "--archive", code=2))
        assert not Path("figures").exists()

    def test_a_figure_that_moves_has_a_gif(self, lab: Invoke) -> None:
        text = lab("figure", MOVING.id, FIGURE.id).stdout
        assert f"wrote figures/{MOVING.id}.gif" in text
        assert text.index(MOVING.id) < text.index(FIGURE.id), "in the order in which they were asked for"
        assert not Path("figures", f"{FIGURE.id}.gif").exists()

    def test_the_same_seed_gives_the_same_files(self, lab: Invoke) -> None:
        lab("figure", self.ID, "--out", "one")
        lab("figure", self.ID, "--out", "two")
        for form in ("svg", "pdf", "png"):
            one, two = (Path(folder, f"{self.ID}.{form}").read_bytes() for folder in ("one", "two"))
            assert one == two

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "nothing to draw"),
            (("toy2020.figure1",), "did you mean 'toy2020.figure_1'?"),
            ((HOLDING.id,), f"is a claim, not a figure; 'widenet check {HOLDING.id}' checks it."),
            ((ID, "--scale", "huge"), "there is no scale 'huge'"),
            ((ID, "--seed", "-7"), "got '-7'"),
            ((ID, "--out", "/dev/null"), "is a file"),
            ((ID, "--out", "/dev/null/below"), "'null' is a file"),
            ((ID, "--out", "/proc/nowhere/figures"), "cannot write to --out"),
        ],
    )
    def test_bad_input_leaves_nothing_behind(self, lab: Invoke, arguments: tuple[str, ...], words: str) -> None:
        assert words in refused(lab("figure", *arguments, code=2))
        assert list(Path().iterdir()) == []

    @pytest.mark.parametrize("command", [("figure", ID), ("report",)])
    def test_a_read_only_folder_is_refused(
        self, lab: Invoke, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
    ) -> None:
        locked = Path("locked").absolute()
        locked.mkdir(mode=0o555)
        make = Path.mkdir

        def guarded(path: Path, *arguments: Any, **options: Any) -> None:
            """Refuses root too, whom the mode of a folder does not stop."""
            if path.absolute().parent == locked:
                raise PermissionError(13, "Permission denied")
            make(path, *arguments, **options)

        monkeypatch.setattr(Path, "mkdir", guarded)
        assert "permission denied" in refused(lab(*command, "--out", "locked/out", code=2))
        assert list(locked.iterdir()) == []

    def test_a_disk_that_fills_up_leaves_no_half_figure(self, lab: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        write, written = Path.write_bytes, []

        def filling(path: Path, content: Any) -> int:
            if path.suffix == ".tmp" and len(written) == 2:
                raise OSError(28, "No space left on device")
            written.append(path)
            return write(path, content)

        monkeypatch.setattr(output.Path, "write_bytes", filling)
        result = lab("figure", self.ID, code=2)
        assert result.stderr.splitlines()[-1] == "widenet: cannot write to 'figures': no space left on device."
        assert list(Path("figures").iterdir()) == []


class TestReport:
    def test_writes_a_page_and_prints_the_verdicts(self, lab: Invoke) -> None:
        text = lab("report", "--out", "build/report", code=3).stdout
        lines = text.splitlines()
        assert len(lines) == 4
        assert lines[0].startswith("6 statements   ▇ 3 hold   ◆ 1 false as printed   ○ 2 open   ")
        assert lines[1] == "6 as printed (3 hold, 1 false, 2 open)"
        assert lines[2].startswith("toy2020  ▇")
        assert lines[2].endswith("   3   1   2   figures 1 of 2  figure_1")
        assert lines[-1] == "build/report/index.html"
        again = lab("report", "--out", "build/report", code=3).stdout.splitlines()
        assert again[-2:] == ["as in the last report", lines[-1]]
        assert "Do the theorems hold?" in Path("build/report/index.html").read_text(encoding="utf-8")
        assert [path.name for path in Path("build").iterdir()] == ["report"]

    def test_one_file(self, lab: Invoke) -> None:
        text = lab("report", "--single-file", code=3).stdout
        assert text.splitlines()[-1] == "report/report.html"
        assert [path.name for path in Path("report").iterdir()] == ["report.html"]

    def test_json(self, lab: Invoke) -> None:
        found = json.loads(lab("report", "--json", code=3).stdout)
        assert found["page"] == "report/index.html"
        assert len(found["checks"]) == len(GOOD)
        assert [row["id"] for row in found["figures"]] == [FIGURE.id, MOVING.id]

    def test_an_unexpected_violation_exits_1_and_still_writes(
        self, lab: Invoke, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(papers, "PAPERS", (BROKEN,))
        lab("report", code=1)
        assert "should hold and does not" in Path("report/index.html").read_text(encoding="utf-8")

    def test_folders_of_others_are_refused_before_the_work(self, lab: Invoke) -> None:
        Path("thesis").mkdir()
        Path("thesis/chapter.tex").write_text("years of work")
        assert "'chapter.tex'" in refused(lab("report", "--out", "thesis", code=2))
        assert "the folder you are in" in refused(lab("report", "--out", ".", code=2))
        assert "is a file" in refused(lab("report", "--out", "thesis/chapter.tex", code=2))
        assert Path("thesis/chapter.tex").read_text() == "years of work"


def test_a_hostile_statement_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    odd = claim("toy2020.odd", statement="[bold]x[/bold] [/nonsense] :smile: [link=x]y")
    tables.show(*tables.check_report(Results([checked(odd)])))
    assert "[bold]x[/bold] [/nonsense] :smile: [link=x]y" in capsys.readouterr().out


def test_an_id_without_its_paper_is_found_in_all_of_them() -> None:
    known = ("brutzkus2018.figure_1", "brutzkus2019.figure_1", "brutzkus2019.figure_1_laws")
    words = "there is no figure 'figure_1'; did you mean 'brutzkus2018.figure_1' or 'brutzkus2019.figure_1'?"
    assert str(UnknownName("figure", "figure_1", known)) == words
