"""The transcript, the table and the number on the pages are those of the files beside them."""

import json
import re
from typing import Any

import numpy as np
import pytest
import xarray as xr

from widenet.claims.base import Evidence
from widenet.console import tables
from widenet.records import Scale
from widenet.run import CheckOutcome, find_claim, find_figure

from .pages import DOCS, ROOT
from .refresh import AT_PAPER_SCALE, CLAIM, FIGURE, FIGURES, IMAGES, between, table_of, without_curves

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


SHOWN = [*((figure, Scale.QUICK) for figure in FIGURES), *((figure, Scale.PAPER) for figure in AT_PAPER_SCALE)]


def file_of(figure: str, scale: Scale) -> dict[str, Any]:
    return stored(figure if scale is Scale.QUICK else f"{figure}.paper")


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_the_table_of_the_gallery_is_the_one_of_the_file(figure: str, scale: Scale) -> None:
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    marker = "table of" if scale is Scale.QUICK else "paper scale of"
    assert gallery.count(f"<!-- {marker}: {figure} -->") == 1
    shown = between(gallery, f"<!-- {marker}: {figure} -->\n", "<!-- end of table -->")
    assert shown == table_of(file_of(figure, scale)), f"run {AGAIN}"


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_the_numbers_compared_are_those_of_the_program(figure: str, scale: Scale) -> None:
    row = file_of(figure, scale)
    assert row["id"] == figure
    assert row["scale"] == scale
    assert row["config"] == json.loads(json.dumps(dict(find_figure(figure).sizes[scale]))), f"run {AGAIN}"


@pytest.mark.parametrize("figure", FIGURES)
def test_the_program_still_compares_the_stored_numbers_like_that(figure: str) -> None:
    """The rows of a file come from its own numbers, wherever these are all in it."""
    row = file_of(figure, Scale.QUICK)
    numbers = xr.Dataset(
        {name: (each["axes"], np.asarray(each["values"], float)) for name, each in row["quantities"].items()},
        coords=row["coordinates"],
        attrs=row["attributes"],
    )
    again = find_figure(figure).compare(numbers)
    assert [each.name for each in again] == [each["name"] for each in row["comparisons"]]
    for each, kept in zip(again, row["comparisons"], strict=True):
        assert each.measured == pytest.approx(kept["measured"], rel=1e-6), each.name
        assert each.verdict == kept["verdict"], each.name


@pytest.mark.parametrize("figure", AT_PAPER_SCALE)
def test_forty_runs_of_each_width_were_run(figure: str) -> None:
    row = file_of(figure, Scale.PAPER)
    status = np.asarray(row["quantities"]["status"]["values"])
    assert row["quantities"]["status"]["axes"] == ["width", "run"]
    assert status.shape == (3, 40)
    assert (status >= 0).all()


def test_a_time_is_given_only_where_nothing_else_ran() -> None:
    """The seconds of a shared CPU depend on its load."""
    lines = [line for line in (DOCS / "gallery.md").read_text(encoding="utf-8").splitlines() if "; version " in line]
    timed = [bool(re.search(r", \d+ s; version ", line)) for line in lines]
    assert timed == ["; gpu (" in line for line in lines]
    assert any(timed)
    assert not all(timed)


def test_control_curves_are_left_out_and_nothing_else() -> None:
    row = file_of(FIGURE, Scale.QUICK)
    kept = without_curves(row)
    assert set(row["quantities"]) - set(kept["quantities"]) == {"train_error", "test_error"}
    assert set(row["coordinates"]) - set(kept["coordinates"]) == {"epoch"}


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_pictures_are_small(figure: str, scale: Scale) -> None:
    picture = IMAGES / (f"{figure}.png" if scale is Scale.QUICK else f"{figure}.paper.png")
    assert 0 < picture.stat().st_size < 150_000


def test_the_number_of_the_readme() -> None:
    row = stored(FIGURE)
    (ratio,) = [each["measured"] for each in row["comparisons"] if each["name"].startswith("most / fewest")]
    assert f"**{ratio:.2f}.**" in README, f"{ratio:.2f}: run {AGAIN} and correct the README"
    narrow, middle, wide = row["config"]["n_runs"]
    runs = f"{narrow}, {middle} and {wide} runs of the three widths"
    assert f"({runs}, {row['scale']} scale, seed {row['seed']}, {row['config']['dtype']}, CPU)" in README


@pytest.mark.parametrize("name", [CLAIM, *FIGURES, *(f"{figure}.paper" for figure in AT_PAPER_SCALE)])
def test_what_is_shown_agrees(name: str) -> None:
    row = stored(name)
    assert row.get("verdict", "HOLDS") == "HOLDS"
    assert all(each["verdict"] == "AGREES" for each in row.get("comparisons", ()))
