"""Computes again what the README and the gallery show: `python -m tests.docs.refresh` (a minute or two)."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from widenet.console import wording
from widenet.papers import Comparison

from .pages import DOCS, ROOT

IMAGES = DOCS / "images"
CLAIM, FIGURE = "brutzkus2018.theorem_2", "brutzkus2018.figure_1"


def between(text: str, first: str, last: str) -> str:
    """What stands between two markers."""
    return text.partition(first)[2].partition(last)[0]


def put_between(page: Path, first: str, last: str, content: str) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(first)
    _, _, after = rest.partition(last)
    page.write_text(f"{before}{first}\n{content}{last}{after}", encoding="utf-8")


def transcript_of(row: dict[str, Any], printed: str) -> str:
    return f"```text\n$ widenet check {row['id']}\n{printed.strip()}\n```\n"


def table_of(row: dict[str, Any]) -> str:
    """The comparisons of a figure as a Markdown table, and what was run."""
    lines = ["| quantity | the paper | measured | interval | agrees if | |", "|---|---|---|---|---|---|"]
    for each in row["comparisons"]:
        comparison = Comparison.model_validate_json(json.dumps({name: each[name] for name in Comparison.model_fields}))
        cells = [
            comparison.name,
            comparison.reported,
            wording.number(comparison.measured),
            wording.interval(comparison.interval),
            wording.interval(comparison.band),
            comparison.verdict,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    sizes = ", ".join(f"{name} {value}" for name, value in row["config"].items())
    lines += [
        "",
        f"Scale {row['scale']}, seed {row['seed']}, {sizes}; CPU, {row['seconds']:.0f} s; version {row['version']}.",
    ]
    return "\n".join(lines) + "\n"


def _widenet(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "widenet.cli", *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout


def _on_a_terminal(*arguments: str, columns: int = 100) -> str:
    """What a reader sees on a terminal of this width, without the colours and the progress bar."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "widenet.cli", *arguments], stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # how a terminal says that the other side has closed it
        pass
    process.wait()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    return "\n".join(line.rstrip() for line in text.splitlines())


def main() -> None:
    with tempfile.TemporaryDirectory() as store:
        os.environ["WIDENET_STORE"] = store
        printed = _on_a_terminal("check", CLAIM)
        (claim,) = json.loads(_widenet("check", CLAIM, "--json"))
        (IMAGES / f"{CLAIM}.json").write_text(json.dumps(claim, indent=1) + "\n", encoding="utf-8")
        put_between(
            ROOT / "README.md",
            f"<!-- transcript of: widenet check {CLAIM} -->",
            "<!-- end of transcript -->",
            transcript_of(claim, printed),
        )
        _widenet("figure", FIGURE, "--out", f"{store}/figures")
        for form in ("png", "json"):
            shutil.copy(f"{store}/figures/{FIGURE}.{form}", IMAGES)
    figure = json.loads((IMAGES / f"{FIGURE}.json").read_text(encoding="utf-8"))
    put_between(DOCS / "gallery.md", f"<!-- table of: {FIGURE} -->", "<!-- end of table -->", table_of(figure))


if __name__ == "__main__":
    main()
