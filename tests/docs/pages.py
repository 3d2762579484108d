"""The written pages as data: their code blocks, tables and instructions."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the paragraph right before it."""

    language: str
    text: str
    before: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, last = [], 0
    for match in FENCE.finditer(text):
        paragraph = text[last : match.start()].strip().rpartition("\n\n")[2]
        found.append(Block(match[1], match[2], " ".join(paragraph.split())))
        last = match.end()
    return found


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def section(page: Path, title: str) -> str:
    """The text below a heading, up to the next heading of any level."""
    parts = re.split(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[title]


def table(text: str) -> list[list[str]]:
    """The rows of the first Markdown table in the text, without its header."""
    lines = itertools.dropwhile(lambda line: not line.startswith("|"), text.splitlines())
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1])] for line in map(str.rstrip, rows)][2:]


def code_words(text: str) -> list[str]:
    """What stands between back quotes."""
    return re.findall(r"`([^`\n]+)`", text)
