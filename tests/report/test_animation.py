"""A figure that moves: the still picture first, the animation inside the page but closed."""

import re
from pathlib import Path

from tests.packages.toy2020.drawings.moving import GIF
from widenet.figures import Figure
from widenet.report import build

from .fake_outcomes import FIGURE, MOVING, PAPER, drawn, results


def page_of(tmp_path: Path, figure: Figure) -> str:
    return build(results([], drawn(figure)), tmp_path / "report", (PAPER,)).read_text(encoding="utf-8")


def test_nothing_moves_unless_a_reader_asks(tmp_path: Path) -> None:
    page = page_of(tmp_path, MOVING)
    (folded,) = re.findall(r"<details>\s*<summary[^>]*>Watch it move</summary>(.*?)</details>", page, re.DOTALL)
    assert 'src="data:image/gif;base64,' in folded
    assert page.count("data:image/gif") == 1
    assert page.index("data:image/svg+xml") < page.index("data:image/gif")
    assert (tmp_path / "report" / "figures" / f"{MOVING.id}.gif").read_bytes() == GIF


def test_a_figure_without_an_animation_has_none(tmp_path: Path) -> None:
    assert "Watch it move" not in page_of(tmp_path, FIGURE)
