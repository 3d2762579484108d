"""A picture of panels: one matplotlib figure for files, and each panel alone for a page.

Every panel is drawn at the size at which it is shown, 340 or 700 CSS pixels wide with text of 11 pixels, so that all
pictures of a page have one size of type, and a phone stacks the panels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure as Drawing
from matplotlib.figure import FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import text_to_path

from widenet.plots.page_svg import page_svg
from widenet.plots.style import FONT, INK, PX, SOFT, lay_out, render, styled

HALF, WIDE = 340, 700
GUTTER = WIDE - 2 * HALF
TITLE, LINE_HEIGHT, BETWEEN, EDGE = 26, 16, 12, 12
"""Pixels: of a panel's title, of a line of the note, between rows, and around everything."""


@dataclass(frozen=True)
class Panel:
    """One set of axes, or several that belong together.

    Attributes:
      title: what is seen, in a few words.
      draw: draws on a matplotlib Figure or SubFigure, which is all its own. It makes its axes itself.
      wide: takes both columns.
      height: in CSS pixels, without the title.
    """

    title: str
    draw: Callable[[FigureBase], None]
    wide: bool = False
    height: int = 230

    @property
    def width(self) -> int:
        """In CSS pixels."""
        return WIDE if self.wide else HALF


@dataclass(frozen=True)
class Picture:
    """What a figure shows: its panels in reading order, and a note below them."""

    panels: Sequence[Panel]
    note: str = ""

    @styled
    def drawing(self) -> Drawing:
        """All panels on one sheet, two half panels to a row, titles above and the note below."""
        rows = _rows(self.panels)
        width = max(sum(panel.width for panel in row) + GUTTER * (len(row) - 1) for row in rows)
        note = _lines(self.note, width)
        heights = [TITLE + max(panel.height for panel in row) for row in rows]
        gaps = [BETWEEN] * (len(rows) - 1) + [EDGE + (BETWEEN / 2 + LINE_HEIGHT * len(note) if note else 0)]
        sheet = Drawing(layout="constrained")
        tracks = [EDGE, *(size for pair in zip(heights, gaps, strict=True) for size in pair)]
        total = sum(tracks)
        sheet.set_size_inches((width + 2 * EDGE) * PX, total * PX)
        _tighten(sheet)
        columns = [EDGE, HALF, GUTTER, HALF, EDGE] if width == WIDE else [EDGE, width, EDGE]
        grid = sheet.add_gridspec(len(tracks), len(columns), height_ratios=tracks, width_ratios=columns)
        for number, row in enumerate(rows):
            for place, panel in enumerate(row):
                across = slice(1, -1) if panel.wide or width == HALF else slice(1 + 2 * place, 2 + 2 * place)
                canvas = sheet.add_subfigure(grid[1 + 2 * number, across], facecolor="none")
                canvas.suptitle(panel.title, x=0, ha="left", fontsize=10, fontweight="bold", color=INK)
                panel.draw(canvas)
        for number, words in enumerate(reversed(note)):
            height = (EDGE + (number + 0.3) * LINE_HEIGHT) / total
            sheet.text(EDGE / (width + 2 * EDGE), height, words, color=SOFT, in_layout=False)
        return sheet

    def on_page(self, figure_id: str) -> dict[str, Any]:
        """The panels one by one as SVG elements for a page that defines the roles as CSS variables."""
        panels = [
            {
                "title": panel.title,
                "wide": panel.wide,
                "width": panel.width,
                "height": panel.height,
                "svg": page_svg(_alone(panel), f"{figure_id}-{number}", panel.title),
            }
            for number, panel in enumerate(self.panels, start=1)
        ]
        return {"note": self.note, "panels": panels}


@styled
def _alone(panel: Panel) -> bytes:
    sheet = Drawing(figsize=(panel.width * PX, panel.height * PX), layout="constrained", facecolor="none")
    _tighten(sheet)
    panel.draw(sheet)
    return render(lay_out(sheet), "svg")


def _tighten(sheet: Drawing) -> None:
    engine = sheet.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(w_pad=2 * PX, h_pad=2 * PX, wspace=0, hspace=0)


def _rows(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Two half panels to a row where they follow each other."""
    rows: list[list[Panel]] = []
    for panel in panels:
        if not panel.wide and rows and len(rows[-1]) == 1 and not rows[-1][0].wide:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _lines(words: str, width: int) -> list[str]:
    """The note broken into lines of at most this many pixels."""
    font, lines = FontProperties(size=FONT), []

    def size(piece: str) -> float:
        return text_to_path.get_text_width_height_descent(piece, font, ismath=False)[0] * 96 / 72

    space = size("n n") - size("nn")
    for paragraph in filter(None, words.split("\n")):
        line, taken = "", 0.0
        for word in paragraph.split(" "):  # other spaces hold words together
            own = size(word)
            if line and taken + space + own > width:
                lines.append(line)
                line, taken = "", 0.0
            line, taken = (f"{line} {word}", taken + space + own) if line else (word, own)
        lines.append(line)
    return lines
