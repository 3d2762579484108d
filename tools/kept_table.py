"""A table on a page of the docs that commands fill row by row."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.gallery import put_between

NOT_TRIED = "not tried"
END = "<!-- end of table -->"


def tree(root: Path = Path(__file__).parents[1]) -> str:
    """The commit of a working tree and its date; "+" where tracked files differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit, day = git("log", "-1", "--format=%h %as").split()
        return f"{commit}{'+' if git('status', '--porcelain', '--untracked-files=no') else ''}, {day}"
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "unknown"


def update(page: Path, marker: str, head: Sequence[str], rows: Sequence[Sequence[str]], keys: int) -> None:
    """Replace the rows that have the same first `keys` cells, and add the others. What was not tried stays."""
    old = {tuple(row[:keys]): row for row in read(page, marker)}
    for row in rows:
        before = old.get(tuple(row[:keys]), [NOT_TRIED] * len(row))
        old[tuple(row[:keys])] = [each if each != NOT_TRIED else kept for each, kept in zip(row, before, strict=True)]
    lines = [_line(head), "|" + "---|" * len(head), *map(_line, old.values())]
    put_between(page, marker, END, "\n".join(lines) + "\n")


def read(page: Path, marker: str) -> list[list[str]]:
    """The rows of the table, without its head."""
    text = page.read_text(encoding="utf-8").partition(marker)[2].partition(END)[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
