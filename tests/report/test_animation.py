"""A figure that moves: the still picture first, the animation inside the page but closed."""

import re
from pathlib import Path

import pytest

from widenet import plots
from widenet.report import build

from .fake_outcomes import PAPER, drawn

GIF = b"GIF89a not a real one"


def page_of(tmp_path: Path) -> str:
    return build([], [drawn()], tmp_path / "report", (PAPER,)).read_text(encoding="utf-8")


def test_nothing_moves_unless_a_reader_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = drawn()
    monkeypatch.setitem(plots.ANIMATIONS, outcome.figure.id, lambda numbers: GIF)
    page = page_of(tmp_path)
    (folded,) = re.findall(r"<details>\s*<summary[^>]*>Watch it move</summary>(.*?)</details>", page, re.DOTALL)
    assert 'src="data:image/gif;base64,' in folded
    assert page.count("data:image/gif") == 1
    assert page.index("data:image/svg+xml") < page.index("data:image/gif")
    assert (tmp_path / "report" / "figures" / f"{outcome.figure.id}.gif").read_bytes() == GIF


def test_a_figure_without_an_animation_has_none(tmp_path: Path) -> None:
    assert "Watch it move" not in page_of(tmp_path)
