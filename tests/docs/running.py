"""Runs the Python of one page, as a reader would: a program of its own.

    python -m tests.docs.running docs/quickstart.md

It prints a JSON list with what each block prints. A process of its own has no type checks, which would take longer than
what the page does.
"""

import contextlib
import io
import json
import sys
from pathlib import Path

from tests.docs.pages import Block, blocks


def codes(page: Path) -> list[Block]:
    """The Python blocks of a page."""
    return [block for block in blocks(page) if block.language == "python"]


def printed(page: Path) -> list[str]:
    """What each of them prints, one after the other in one namespace."""
    known: dict = {"__name__": page.stem}
    outputs = []
    for block in codes(page):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block.text, page.name, "exec"), known)
        outputs.append(output.getvalue())
    return outputs


if __name__ == "__main__":
    json.dump(printed(Path(sys.argv[1])), sys.stdout)
