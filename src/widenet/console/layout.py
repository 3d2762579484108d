"""What gives way on a narrow terminal: words wrap at spaces, ids after a dot or underscore, a table becomes a list."""

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP, MARGIN = 2, 6
"""Between two columns; left and right of a table, with the indentation of a block."""


def fits(table: Table, words: Sequence[str], least: int, width: int) -> bool:
    """Whether a table stays readable in this width: columns of `words` may wrap, to no less than `least` or a word."""
    needed = GAP * (len(table.columns) - 1) + MARGIN
    columns = {str(column.header): [str(cell) for cell in (column.header, *column.cells)] for column in table.columns}
    longest = max((cell_len(word) for name in words for cell in columns[name] for word in cell.split()), default=0)
    for name, cells in columns.items():
        natural = max(map(cell_len, cells))
        needed += min(natural, max(least, longest)) if name in words else natural
    return needed <= width


def stacked(rows: Iterable[tuple[Text, Text, Sequence[tuple[str, str]]]]) -> RenderableType:
    """Rows of (badge, name, details) below each other: the badge and the name, then a line per detail."""
    blocks = []
    for badge, name, details in rows:
        head = Table.grid(padding=(0, 2))
        head.add_column(no_wrap=True)
        head.add_row(badge, name)
        facts = Table.grid(padding=(0, 2))
        facts.add_column(no_wrap=True)
        for word, value in details:
            facts.add_row(Text(word, style="dim"), Text(value))
        blocks.append(Group(head, Padding(facts, (0, 0, 0, 2), expand=False)))
    return Padding(Group(*blocks), (1, 0, 1, 1), expand=False)


def folded_id(name: str, width: int) -> str:
    """An id on as many lines as it needs in this width, each ending after a dot or an underscore where possible."""
    lines = [""]
    for piece in re.findall(r"[^._]*[._]?", name):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)
