"""Follows a recipe page to the letter.

A recipe says where each Python block goes, in one of four sentences right before it:

    Write the new file `PATH`:
    In `PATH`, after the line that begins with `WORDS`, add:
    In `PATH`, before the line that begins with `WORDS`, add:
    In `PATH`, right after `WORDS`, add:

The words must occur exactly once (indentation aside), so that a reader and this program cannot choose differently.
"""

import re
from pathlib import Path

from .pages import blocks

NEW = re.compile(r"Write the new file `([^`]+)`:$")
LINE = re.compile(r"In `([^`]+)`, (after|before) the line that begins with `([^`]+)`, add:$")
INLINE = re.compile(r"In `([^`]+)`, right after `([^`]+)`, add:$")


def follow(page: Path, tree: Path) -> list[Path]:
    """Write every Python block of the page into the tree; the files that changed."""
    changed = [_put(block.before, block.text, tree) for block in blocks(page) if block.language == "python"]
    if not changed:
        raise AssertionError(f"{page.name} gives nothing to write")
    return changed


def commands(page: Path) -> list[str]:
    """The shell commands of the page."""
    return [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]


def _put(sentence: str, text: str, tree: Path) -> Path:
    if match := NEW.search(sentence):
        path = tree / match[1]
        assert not path.exists(), f"{match[1]} is there already"
        path.write_text(text, encoding="utf-8")
        return path
    if match := LINE.search(sentence):
        path = tree / match[1]
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (place,) = [number for number, line in enumerate(lines) if line.lstrip().startswith(match[3])]
        place = place + (match[2] == "after")
        path.write_text("".join([*lines[:place], text, *lines[place:]]), encoding="utf-8")
        return path
    if match := INLINE.search(sentence):
        path = tree / match[1]
        start, words, rest = path.read_text(encoding="utf-8").partition(match[2])
        assert words, f"{match[1]} has no {match[2]!r}"
        assert words not in rest, f"{match[1]} has more than one {match[2]!r}"
        path.write_text(start + words + text.strip() + rest, encoding="utf-8")
        return path
    raise AssertionError(f"no instruction a reader could follow: {sentence[-200:]!r}")
