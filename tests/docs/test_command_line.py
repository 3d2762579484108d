"""The page about the command line against the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import widenet
from tests.packages import BROKEN, EMPTY, TOY
from tests.report.fake_outcomes import FAILING, FIGURE, FINDING, HOLDING, UNMET
from widenet import papers
from widenet.cli import MOST_JOBS, NOUNS, WORKLOADS, app
from widenet.console.exit_codes import ExitCode
from widenet.records import Scale
from widenet.run import Failure, NotComputed
from widenet.seeds import LARGEST_SEED
from widenet.training.engine import memory

from .pages import DOCS, code_words, section, table

PAGE = DOCS / "command-line.md"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims and figures that take no time, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments), prog_name="widenet")
    return result.exit_code, result.stdout


def answer(*arguments: str, code: int = 0) -> Any:
    found, text = invoke(*arguments, "--json")
    assert found == code
    return json.loads(text)


def fields(title: str) -> list[str]:
    return [row[0].strip("`") for row in table(section(PAGE, title))]


def test_commands_and_their_options() -> None:
    commands = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
    rows = {row[0].strip("`").removeprefix("widenet "): code_words(row[2]) for row in table(section(PAGE, "Commands"))}
    assert rows.keys() == commands.keys()
    for name, options in rows.items():
        found = [opt for parameter in commands[name].params for opt in parameter.opts if opt.startswith("--")]
        assert sorted(options) == sorted(set(found) - {"--help"}), name
    described = section(PAGE, "Commands").split("| option |")[1]
    assert {row[0].strip("`") for row in table("| option |" + described)} == {
        option for options in rows.values() for option in options
    }
    assert str(LARGEST_SEED) in described
    assert f"1 to {MOST_JOBS}" in described
    assert tuple(fields("Workloads of bench")) == WORKLOADS


@pytest.mark.usefixtures("lab")
def test_fields_of_a_checked_claim() -> None:
    row = answer("check", HOLDING.id)[0]
    assert fields("A checked claim") == list(row)
    assert fields("A hypothesis") == list(row["hypotheses"][0])
    assert fields("A part") == list(row["parts"][0])
    assert fields("Runs") == list(row["runs"])


def test_fields_of_what_was_not_computed() -> None:
    row = NotComputed(HOLDING, Failure("x failed: y"), Scale.QUICK, 0).row()
    assert fields("A claim or a figure that was not computed") == list(row)


@pytest.mark.usefixtures("lab")
def test_fields_of_a_figure() -> None:
    row = answer("figure", FIGURE.id)[0]
    assert fields("A figure") == list(row)
    assert set(fields("A comparison")) == set(row["comparisons"][0])


@pytest.mark.usefixtures("lab")
def test_fields_of_lists_and_of_the_report() -> None:
    shapes = {row[0].strip("`"): code_words(row[1]) for row in table(section(PAGE, "Rows of list"))}
    assert list(shapes) == list(NOUNS)
    for noun in NOUNS:
        rows = answer("list", noun)
        assert rows
        assert all(list(row) == shapes[noun] for row in rows)
    text = section(PAGE, "JSON")
    assert all(f"`{name}`" in text for name in answer("report", code=3))


def test_every_variable_of_the_environment_is_on_the_page() -> None:
    sources = Path(widenet.__file__).parent.rglob("*.py")
    read = {name for path in sources for name in re.findall(r"\bWIDENET_[A-Z_]+", path.read_text(encoding="utf-8"))}
    named = set(re.findall(r"`(WIDENET_[A-Z_]+)`", section(PAGE, "Environment")))
    assert read == named
    assert memory.VARIABLE in named


def test_exit_codes(lab: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {int(row[0]): row[1] for row in table(section(PAGE, "Exit codes"))}
    assert rows == {code.value: code.meaning for code in ExitCode}
    assert invoke("check", UNMET.id)[0] == 3
    assert invoke("check", FINDING.id)[0] == 0
    assert invoke("check", "nonsense")[0] == 2
    monkeypatch.setattr(papers, "PAPERS", (BROKEN,))
    assert invoke("check", FAILING.id)[0] == 1
