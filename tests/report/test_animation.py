"""A figure that moves: the still picture first, the animation behind a summary."""

import re
from pathlib import Path

from tests.packages.toy2020.drawings.moving import GIF
from widenet.figures import Figure
from widenet.report import build

from .fake_outcomes import FIGURE, MOVING, PAPER, drawn, results


def page_of(tmp_path: Path, figure: Figure) -> str:
    folder = build(results([], drawn(figure)), tmp_path / "report", (PAPER,)).parent
    return (folder / figure.paper / f"{figure.name}.html").read_text(encoding="utf-8")


def test_nothing_moves_unless_a_reader_asks(tmp_path: Path) -> None:
    page = page_of(tmp_path, MOVING)
    (folded,) = re.findall(r"<details><summary[^>]*>Watch it move</summary>(.*?)</details>", page, re.DOTALL)
    assert f'src="../figures/{MOVING.id}.gif"' in folded
    assert page.count("<img") - folded.count("<img") in (0, 1)
    assert (tmp_path / "report" / "figures" / f"{MOVING.id}.gif").read_bytes() == GIF


def test_a_figure_without_an_animation_has_none(tmp_path: Path) -> None:
    assert "Watch it move" not in page_of(tmp_path, FIGURE)
