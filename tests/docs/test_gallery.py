"""The transcript, the table and the number on the pages are those of the files beside them."""

import json
from typing import Any

import pytest

from widenet.claims.base import Evidence
from widenet.console import tables
from widenet.run import CheckOutcome, find_claim, find_figure
from widenet.types import Scale

from .pages import DOCS, ROOT
from .refresh import CLAIM, FIGURE, IMAGES, between, table_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
AGAIN = "python -m tests.docs.refresh"


def stored(name: str) -> dict[str, Any]:
    return json.loads((IMAGES / f"{name}.json").read_text(encoding="utf-8"))


def test_the_transcript_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    row = stored(CLAIM)
    evidence = Evidence.model_validate_json(json.dumps({name: row[name] for name in Evidence.model_fields}))
    outcome = CheckOutcome(find_claim(CLAIM), Scale(row["scale"]), row["seed"], evidence, row["seconds"], reused=False)
    tables.show(tables.check_block(outcome))
    printed = capsys.readouterr().out
    shown = between(README, f"<!-- transcript of: widenet check {CLAIM} -->", "<!-- end of transcript -->")
    words = shown.replace("```text", "").replace("```", "").replace("─", "").split()
    assert words[:4] == ["$", "widenet", "check", CLAIM]
    # The last line is the time, which differs from run to run.
    assert words[4:-2] == printed.split()[:-2], f"run {AGAIN}"


def test_the_table_of_the_gallery_is_the_one_of_the_file() -> None:
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = between(gallery, f"<!-- table of: {FIGURE} -->\n", "<!-- end of table -->")
    assert shown == table_of(stored(FIGURE)), f"run {AGAIN}"


def test_the_numbers_compared_are_those_of_the_program() -> None:
    row = stored(FIGURE)
    assert row["config"] == json.loads(json.dumps(dict(find_figure(FIGURE).sizes[Scale.QUICK]))), f"run {AGAIN}"


def test_the_number_of_the_readme() -> None:
    row = stored(FIGURE)
    (ratio,) = [each["measured"] for each in row["comparisons"] if each["name"].startswith("most / fewest")]
    assert f"**{ratio:.2f}.**" in README, f"{ratio:.2f}: run {AGAIN} and correct the README"
    narrow, middle, wide = row["config"]["n_runs"]
    runs = f"{narrow}, {middle} and {wide} runs of the three widths"
    assert f"({runs}, {row['scale']} scale, seed {row['seed']}, {row['config']['dtype']}, CPU)" in README


@pytest.mark.parametrize("name", [CLAIM, FIGURE])
def test_what_is_shown_agrees(name: str) -> None:
    row = stored(name)
    assert row.get("verdict", "HOLDS") == "HOLDS"
    assert all(each["verdict"] == "AGREES" for each in row.get("comparisons", ()))
