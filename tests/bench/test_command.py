"""`widenet bench` as a command: table, JSON, files, exit codes."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.docs.pages import DOCS, code_words, section, table
from widenet import cli
from widenet.cli import WORKLOADS, app
from widenet.console import tables

from .made_up import CPU, rows

Invoke = Callable[..., Result]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """The command over workloads that take no time, in a folder of its own."""
    from benchmarks import suite

    def made_up(name: str) -> Callable[..., suite.Result]:
        found = [row for row in rows() if row.workload == name and row.device == CPU]
        return lambda sizes, progress: suite.Result(found, [f"{name}: a remark."])

    for name in ("logistic_sgd", "linear_runs", "figure_1"):
        monkeypatch.setitem(suite.SUITE, name, made_up(name))
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["bench", *arguments], prog_name="widenet")
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_table_files_and_progress(bench: Invoke) -> None:
    result = bench("--workload", "linear_runs", "--workload", "logistic_sgd")
    for words in ("a processor, 2 cores, float32, 16 runs, 256 steps", "JAX vmap of scan", "µs/step/run", "a remark."):
        assert words in result.stdout, words
    (line,) = [line for line in result.stdout.splitlines() if "JAX" in line]
    assert line.split() == ["JAX", "vmap", "of", "scan", "20", "10", "0.5", "a", "note"]
    (line,) = [line for line in result.stdout.splitlines() if "torch" in line]
    assert line.split() == ["torch", "loop", "–", "–", "0.5", "a", "note"]
    assert result.stdout.index("logistic_sgd") < result.stdout.index("linear_runs")
    assert "[2/2] linear_runs: started" in result.stderr
    assert sorted(path.name for path in Path("bench").iterdir()) == [
        "bench.json",
        "bench.pdf",
        "bench.png",
        "bench.svg",
    ]


def test_json_rows_have_exactly_these_fields(bench: Invoke) -> None:
    from benchmarks.rows import Row

    rows = json.loads(bench("--workload", "linear_runs", "--json", "--out", "there").stdout)
    wanted = ["workload", "peer", "device", "dtype", "sizes", "us_per_step_per_run"]
    wanted += ["ratio_to_ours", "compile_seconds", "limit_us", "note"]
    assert all(list(row) == wanted for row in rows)
    assert rows == json.loads(Path("there/bench.json").read_text())
    assert wanted == [field.name for field in fields(Row)]
    assert wanted == [row[0].strip("`") for row in table(section(DOCS / "command-line.md", "A row of bench"))]


def test_the_page_and_the_help_name_every_workload() -> None:
    from benchmarks import suite

    rows = table(section(DOCS / "command-line.md", "Workloads of bench"))
    assert [word for row in rows for word in code_words(row[0])] == list(suite.SUITE)
    assert list(WORKLOADS) == list(suite.SUITE)  # --help names them without loading JAX


def test_control_a_disagreement_is_one_sentence_exit_code_1_and_no_files(
    bench: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import suite
    from benchmarks.measure import Disagreement

    def disagree(*_: object) -> None:
        raise Disagreement("'a' and 'b' differ.")

    monkeypatch.setitem(suite.SUITE, "xord", disagree)
    result = bench("--workload", "xord", "--json", code=1)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == "widenet: 'a' and 'b' differ."
    assert not Path("bench").exists()


def test_an_interrupt_does_not_speak_of_the_store(bench: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import suite

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(suite.SUITE, "xord", interrupt)
    result = bench("--workload", "linear_runs", "--workload", "xord", code=130)
    assert result.stdout == ""
    words = "widenet: interrupted; nothing was written, and times are not kept in the store."
    assert result.stderr.splitlines()[-1] == words
    assert not Path("bench").exists()


def test_an_interrupt_while_printing_says_that_the_files_are_there(
    bench: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "show", interrupt)
    result = bench("--workload", "linear_runs", code=130)
    assert result.stderr.splitlines()[-1] == "widenet: interrupted; the files are written."
    assert Path("bench/bench.json").is_file()


def test_bad_input_is_refused_before_anything_runs(bench: Invoke) -> None:
    refused = bench("--workload", "xor", code=2)
    assert refused.stderr == "widenet: there is no workload 'xor'; did you mean 'xord'?\n"
    Path("file").write_text("mine")
    assert "is a file; name a folder" in bench("--out", "file", code=2).stderr


def test_seconds_alone_make_no_chart_and_leave_no_earlier_one(bench: Invoke) -> None:
    charted = bench("--workload", "linear_runs")
    assert "no chart" not in charted.stdout
    Path("bench/mine.svg").write_text("not ours")
    text = bench("--workload", "figure_1").stdout
    assert sorted(path.name for path in Path("bench").iterdir()) == ["bench.json", "mine.svg"]
    assert text.count("wrote ") == 1
    assert "removed bench/bench.svg, of earlier rows" in text
    assert text.splitlines()[-1] == "there is no chart for these workloads"
    assert "removed" not in bench("--workload", "figure_1").stdout
    json.loads(bench("--workload", "figure_1", "--json").stdout)


def test_an_installed_package_says_that_it_needs_a_clone(
    bench: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "site-packages/widenet/cli.py"))
    result = bench("--workload", "figure_1", code=2)
    words = "widenet: 'widenet bench' needs a clone of the repository; run pip install -e '.[bench]' in one.\n"
    assert (result.stdout, result.stderr) == ("", words)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_folder_name_is_refused(bench: Invoke, empty: str) -> None:
    result = bench("--workload", "figure_1", "--out", empty, code=2)
    assert result.stderr == "widenet: --out is empty; name a folder.\n"
    assert list(Path().iterdir()) == []
    bench("--workload", "figure_1", "--out", ".")
    assert [path.name for path in Path().iterdir()] == ["bench.json"]
