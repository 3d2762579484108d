"""The transcript, the tables, the pictures and the number on the pages are those of the files beside them."""

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from tools.gallery import (
    AT_PAPER_SCALE,
    FIGURES,
    FILTERS,
    GALLERY,
    IMAGES,
    LAWS,
    MNIST,
    ROOT,
    XORD,
    block_of,
    choices_of,
    conditions_of,
    file_of,
    kept,
    marker_of,
    stored,
)
from tools.gallery import between as between_markers
from tools.refresh import CLAIM
from widenet import papers
from widenet.claims.base import Evidence
from widenet.console import tables
from widenet.figures.archive import FOLDER, PAPERS, SUFFIX, archived
from widenet.papers import find_claim, find_figure
from widenet.papers.brutzkus2019.figures.figure_1_laws import CHOICES
from widenet.records import Scale
from widenet.run import CheckOutcome, Circumstances, tasks_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = GALLERY.read_text(encoding="utf-8")
AGAIN = "run python -m tools.refresh"
FIGURE = MNIST[0]
SHOWN = [*((figure, Scale.QUICK) for figure in FIGURES), *((figure, Scale.PAPER) for figure in AT_PAPER_SCALE)]
OPEN = {
    "norm 1: mean accuracy of the first 20 steps, widest less narrowest",
    "MNIST, norm 1: relative distance·√m",
    "norm 1: rank correlation of l and distance at step 400",
}
"""The rows of quick scale that stay off; the page says so."""
DIFFERENT = (
    {"brutzkus2019.figure_4": 1, "brutzkus2019.figure_7": 0, "brutzkus2019.figure_8": 0}
    | {f"li2018.figure_{number}": count for number, count in {1: 1, 2: 0, 4: 0, 5: 0, 6: 0, 7: 1}.items()}
    | {f"sarussi2021.figure_{number}": count for number, count in {2: 0, 6: 1, 7: 2}.items()}
)
"""Rows at paper scale that do not come out; the page says which."""
WITHOUT_CURVES = tuple(figure for figure in AT_PAPER_SCALE if (found := archived(figure)) and not found.is_drawable)
EARLIER_WORDS = {
    "widths": "width",
    "sizes": "n_train",
    "clustered_size": "n_train",
    "first_layer_step_size": "step_size",
}
"""What the files of paper scale call a field of today's settings."""


class TestTranscript:
    def test_it_is_what_the_command_prints(self, capsys: pytest.CaptureFixture[str]) -> None:
        row = json.loads((IMAGES / f"{CLAIM}.json").read_text(encoding="utf-8"))
        evidence = Evidence.model_validate_json(
            json.dumps({name: row[name] for name in Evidence.model_fields if name in row})
        )
        found = Circumstances(
            scale=Scale(row["scale"]), seed=row["seed"], settings=row["config"], seconds=row["seconds"],
            reused=False, machine=row["machine"], versions={}, cells=[],
        )  # fmt: skip
        tables.show(tables.check_block(CheckOutcome(find_claim(CLAIM), evidence, found)))
        printed = capsys.readouterr().out
        shown = between_markers(README, f"<!-- transcript of: widenet check {CLAIM} -->", "<!-- end of transcript -->")
        words = shown.replace("```text", "").replace("```", "").replace("─", "").split()
        assert words[:4] == ["$", "widenet", "check", CLAIM]
        assert without_time(words[4:]) == without_time(printed.split()), AGAIN

    def test_it_holds_with_the_parts_of_today(self) -> None:
        row = json.loads((IMAGES / f"{CLAIM}.json").read_text(encoding="utf-8"))
        assert row["verdict"] == "HOLDS"
        assert row["config"] == settings_of((find_claim(CLAIM),), Scale.QUICK), AGAIN


def without_time(words: list[str]) -> list[str]:
    """The words but for the seconds, which differ from run to run."""
    place = words.index("time")
    return words[: place + 1] + words[place + 2 :]


def settings_of(items: Iterable[Any], scale: Scale) -> list[dict[str, Any]]:
    """What the JSON calls `config`, for the program as it is now."""
    tasks = [task for item in items for group in tasks_of(item.reads, scale, 0) for task in group]
    return [{"experiment": task.experiment.id, **json.loads(task.setting.model_dump_json())} for task in tasks]


def numbers_of(figure: str, scale: Scale) -> xr.Dataset:
    if scale is Scale.PAPER:
        found = archived(figure)
        assert found is not None
        return found.numbers
    row = stored(figure, scale)
    return xr.Dataset(
        {name: (each["axes"], np.asarray(each["values"], float)) for name, each in row["quantities"].items()},
        coords=row["coordinates"],
        attrs=row["attributes"],
    )


def scalars(value: Any) -> set[Any]:
    return set().union(*map(scalars, value)) if isinstance(value, list) else {value}


def test_the_readme_counts_the_figures_at_paper_scale() -> None:
    (count,) = re.findall(r"(\d+) figures\s+were also run at the paper's own scale", README)
    assert int(count) == len(list(PAPERS.glob(f"*/{FOLDER}/*{SUFFIX}"))) == len(AT_PAPER_SCALE)


def test_every_figure_of_the_papers_is_shown() -> None:
    assert set(FIGURES) == set(papers.figure_ids())
    assert set(re.findall(r"^widenet figure (\S+) --out figures$", PAGE, re.MULTILINE)) == set(FIGURES)


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_the_table_is_the_one_of_the_file(figure: str, scale: Scale) -> None:
    marker = marker_of(figure, scale.value)
    assert PAGE.count(marker) == 1
    shown = between_markers(PAGE, f"{marker}\n", "<!-- end of table -->")
    assert shown == block_of(stored(figure, scale)), AGAIN


@pytest.mark.parametrize("figure", FIGURES)
def test_quick_files_have_the_settings_of_the_program(figure: str) -> None:
    row = stored(figure, Scale.QUICK)
    assert (row["id"], row["scale"]) == (figure, "quick")
    assert row["config"] == settings_of((find_figure(figure),), Scale.QUICK), AGAIN


@pytest.mark.parametrize("figure", AT_PAPER_SCALE)
def test_paper_files_have_the_sizes_of_the_program(figure: str) -> None:
    """These were run once. Their sizes are values that the settings of today have too."""
    row = stored(figure, Scale.PAPER)
    assert (row["id"], row["scale"]) == (figure, "paper")
    current = settings_of((find_figure(figure),), Scale.PAPER)
    if isinstance(row["config"], list):
        assert row["config"] == current
        return
    now: dict[str, set[Any]] = {}
    for setting in current:
        for name, value in setting.items():
            now.setdefault(name, set()).update(scalars(value))
    for name, value in row["config"].items():
        assert scalars(value) <= now[EARLIER_WORDS.get(str(name), str(name))], name


@pytest.mark.parametrize(
    ("figure", "scale"),
    [pair for pair in SHOWN if pair[0] not in XORD and (pair[1] is Scale.QUICK or pair[0] not in WITHOUT_CURVES)],
)
def test_the_program_still_compares_the_stored_numbers_like_that(figure: str, scale: Scale) -> None:
    """The rows of a file come from its own numbers, wherever these are all in it."""
    row = stored(figure, scale)
    again = find_figure(figure).compare(numbers_of(figure, scale))
    assert [each.name for each in again] == [each["name"] for each in row["comparisons"]]
    for each, shown in zip(again, row["comparisons"], strict=True):
        assert each.measured == pytest.approx(shown["measured"], rel=1e-6, abs=1e-12), each.name
        assert each.verdict == shown["verdict"], each.name


@pytest.mark.parametrize("figure", MNIST)
def test_forty_runs_of_each_width_were_run(figure: str) -> None:
    status = numbers_of(figure, Scale.PAPER).status
    assert dict(status.sizes) == {"width": 3, "run": 40}
    assert (status >= 0).all()


def test_what_differs_is_what_the_page_says() -> None:
    differing = {
        (figure, scale): [each["name"] for each in stored(figure, scale)["comparisons"] if each["verdict"] == "DIFFERS"]
        for figure, scale in SHOWN
    }
    assert {name for (_, scale), names in differing.items() for name in names if scale is Scale.QUICK} == OPEN
    assert "stays off" in " ".join(PAGE.split())
    paper = {figure: len(names) for (figure, scale), names in differing.items() if scale is Scale.PAPER}
    assert paper == dict.fromkeys(MNIST, 0) | DIFFERENT


def test_the_shares_under_every_choice_are_those_of_the_file() -> None:
    row = stored(LAWS, Scale.QUICK)
    assert row["coordinates"]["choice"] == list(CHOICES)
    assert between_markers(PAGE, "<!-- choices -->\n", "<!-- end of choices -->") == choices_of(row), AGAIN


def test_a_time_is_given_only_where_nothing_else_ran() -> None:
    """The seconds of a shared CPU depend on its load."""
    rows = [stored(figure, scale) for figure, scale in SHOWN]
    timed = [bool(re.search(r", \d+\ss; version ", conditions_of(row))) for row in rows]
    assert timed == [row["machine"].startswith("gpu") for row in rows]
    assert any(timed)
    assert not all(timed)


def test_control_long_axes_are_left_out_and_nothing_else() -> None:
    row = stored(FIGURE, Scale.QUICK) | {"cells": ["0" * 64], "reused": True}
    assert row.keys() - kept(row).keys() == {"cells", "reused"}
    assert kept(row)["quantities"] == row["quantities"]
    xord = row | {"id": XORD[0]}
    assert set(row["quantities"]) - set(kept(xord)["quantities"]) == {
        name for name, each in row["quantities"].items() if "run" in each["axes"]
    }
    assert set(row["coordinates"]) - set(kept(xord)["coordinates"]) == {"run"}


def test_control_another_number_is_another_table() -> None:
    row = stored(FIGURE, Scale.QUICK)
    changed = [each | {"measured": 0.5} for each in row["comparisons"]]
    assert block_of(row | {"comparisons": changed}) != block_of(row)


@pytest.mark.parametrize(("figure", "scale"), SHOWN)
def test_pictures_are_shown_and_small(figure: str, scale: Scale) -> None:
    if figure in FILTERS and scale is Scale.QUICK:
        return  # the page shows paper scale alone
    picture = file_of(figure, scale.value, "png")
    assert f"(images/{picture.name})" in PAGE
    assert 0 < picture.stat().st_size < 150_000


@pytest.mark.parametrize("figure", ["brutzkus2019.figure_2", "brutzkus2019.figure_3"])
def test_animations_are_shown_and_small(figure: str) -> None:
    path = IMAGES / f"{figure}.gif"
    assert f"(images/{figure}.gif)" in PAGE
    assert path.stat().st_size < 1_500_000
    with Image.open(path) as film:
        assert 60 <= getattr(film, "n_frames", 1) <= 120
        assert film.size[0] == 900


def test_the_number_of_the_readme() -> None:
    row = stored(FIGURE, Scale.QUICK)
    (ratio,) = [each["measured"] for each in row["comparisons"] if each["name"].startswith("most / fewest")]
    assert f"**{ratio:.2f}.**" in README, f"{ratio:.2f}: {AGAIN} and correct the README"
    networks = [each for each in row["config"] if "width" in each]
    narrow, middle, wide = (each["n_runs"] for each in networks)
    runs = f"{narrow}, {middle} and {wide} runs of the three widths"
    assert f"({runs}, {row['scale']} scale, seed {row['seed']}, {networks[0]['dtype']}, CPU)" in README
