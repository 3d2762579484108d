"""Computes again what the gallery shows of brutzkus2019 on XOR and XORD: `python -m tests.docs.refresh_xord`.

With a folder as argument, takes what `widenet figure … --out FOLDER` wrote there at quick scale.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from PIL import Image

from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED, fisher_p
from widenet.run import find_figure

from .pages import DOCS
from .refresh import IMAGES, put_between, table_of

XORD_FIGURES = tuple(f"brutzkus2019.figure_{name}" for name in ("1", "1_laws", "2", "3", "5", "6"))
LAWS = XORD_FIGURES[1]


def without_runs(row: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a figure: the rows, what was run, and the numbers without an axis of runs or filters."""
    long = ("run", "wide_channel", "narrow_channel", "wide_step", "narrow_step")
    few = {name: each for name, each in row["quantities"].items() if not set(each["axes"]) & set(long)}
    coordinates = {name: values for name, values in row["coordinates"].items() if name not in long}
    return row | {"quantities": few, "coordinates": coordinates}


def block_of(row: dict[str, Any]) -> str:
    """The caption, which names what was assumed, and the table."""
    return "\n".join(textwrap.wrap(find_figure(row["id"]).caption, 140)) + "\n\n" + table_of(row)


def choices_of(row: dict[str, Any]) -> str:
    """The shares of runs at zero training error under every choice of `figure_1_laws`, in percent."""
    n_runs, widths = row["attributes"]["n_runs"], row["coordinates"]["channels"]
    lines = [
        "| choice | " + " | ".join(f"{width} channels" for width in widths) + " | smallest p |",
        "|---" * (len(widths) + 2) + "|",
        "| reported, 100 runs | " + " | ".join(f"{REPORTED[width]}" for width in widths) + " | – |",
    ]
    for choice, counts in zip(row["coordinates"]["choice"], row["quantities"]["solved"]["values"], strict=True):
        smallest = min(fisher_p(count, n_runs, REPORTED[width]) for width, count in zip(widths, counts, strict=True))
        shares = " | ".join(f"{100 * count / n_runs:.1f}" for count in counts)
        lines.append(f"| {choice} | {shares} | {smallest:.2g} |")
    return "\n".join(lines) + "\n"


def take(figure: str, folder: Path) -> None:
    """The rows as JSON, the picture with fewer colours, the animation, and the table of the page."""
    row = without_runs(json.loads((folder / f"{figure}.json").read_text(encoding="utf-8")))
    (IMAGES / f"{figure}.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    picture = Image.open(folder / f"{figure}.png").convert("RGB").quantize(256, dither=Image.Dither.NONE)
    picture.save(IMAGES / f"{figure}.png", optimize=True)
    if (folder / f"{figure}.gif").exists():
        shutil.copy(folder / f"{figure}.gif", IMAGES)
    put_between(DOCS / "gallery.md", f"<!-- table of: {figure} -->", "<!-- end of table -->", block_of(row))
    if figure == LAWS:
        put_between(DOCS / "gallery.md", "<!-- choices -->", "<!-- end of choices -->", choices_of(row))


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as store:
        folder = Path(arguments[0]) if arguments else Path(store) / "figures"
        if not arguments:
            command = [sys.executable, "-m", "widenet.cli", "figure", *XORD_FIGURES, "--out", str(folder)]
            subprocess.run(command, check=True, env=os.environ | {"WIDENET_STORE": store})
        for figure in XORD_FIGURES:
            take(figure, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
