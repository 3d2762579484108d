"""The page of certificates says what the files beside its pictures say, and those are what the tool keeps."""

import json
import re

import pytest
from PIL import Image

import widenet as wn
from tests.packages import EMPTY, TOY
from tools.certificates import (
    END,
    EXAMPLES,
    PAGE,
    SHIPPED,
    TABLE,
    anchor_of,
    block_of,
    file_of,
    kept_rows,
    marker_of,
    shipped,
    table_of,
    told,
)
from tools.gallery import between
from widenet import papers
from widenet.report.certified import certified_examples

TEXT = PAGE.read_text(encoding="utf-8")
AGAIN = "run python -m tools.certificates"


def stored(name: str):
    return json.loads(file_of(name).read_text(encoding="utf-8"))


def test_what_is_kept_is_what_the_tool_keeps_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))
    row = told(wn.certify([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.2]], ["a", "a", "b"], time=1e-6))
    assert all(list(stored(name)) == list(row) for name in EXAMPLES), AGAIN
    assert row["headlines"][:2] == ["3", "yes"]
    assert row["answers"][0][1].startswith("Not known")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_says_what_was_kept(name: str) -> None:
    assert between(TEXT, f"{marker_of(name)}\n", END) == block_of(name, stored(name)), AGAIN
    assert f"## {EXAMPLES[name].title}\n" in TEXT


def test_the_table_has_every_example() -> None:
    assert between(TEXT, f"{TABLE}\n", END) == table_of({name: stored(name) for name in EXAMPLES}), AGAIN
    anchors = set(re.findall(r"\(#([\w-]+)\)", TEXT))
    assert anchors == {anchor_of(name) for name in EXAMPLES}


def test_the_package_ships_what_was_kept() -> None:
    """Words that were kept anew without the tool: `SHIPPED.write_text(shipped(kept_rows()))`."""
    assert SHIPPED.read_text(encoding="utf-8") == shipped(kept_rows()), AGAIN
    assert [each.name for each in certified_examples()] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_pictures_are_small_and_whole(name: str) -> None:
    picture = file_of(name, "png")
    assert picture.stat().st_size < 100_000
    with Image.open(picture) as image:
        image.verify()
        assert image.width >= 800


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_networks(name: str) -> None:
    """A certificate without networks is not shown."""
    row = stored(name)
    assert len(row["answers"]) == 3
    assert "time limit" not in row["answers"][0][1]
    assert len(row["in_short"]) == 2
