"""Computes again what the README and the gallery show.

`python -m tests.docs.refresh` does it for everything (some minutes), `… ID …` for these figures alone. Paper scale is
computed elsewhere: `… --paper DIR` takes what `widenet figure ID --scale paper --out DIR` has written.
"""

import io
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

from PIL import Image

from widenet.console import wording
from widenet.papers import Comparison

from .pages import DOCS, ROOT

IMAGES = DOCS / "images"
CLAIM, FIGURE = "brutzkus2018.theorem_2", "brutzkus2018.figure_1"
FIGURES = (
    FIGURE,
    "brutzkus2018.figure_2",
    "brutzkus2018.figure_3",
    "brutzkus2018.experiment_width",
    "brutzkus2018.experiment_step_size",
    "brutzkus2018.experiment_relu_phase",
    "brutzkus2018.experiment_bad_minimum",
)
"""Those of the gallery, each at quick scale."""
AT_PAPER_SCALE = FIGURES[:3]
"""Those that it shows at paper scale too."""


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
        f"Scale {row['scale']}, seed {row['seed']}, {sizes}; {_machine(row)}; version {row['version']}.",
    ]
    return "\n".join(lines) + "\n"


def _machine(row: dict[str, Any]) -> str:
    """What computed it, and how long a GPU took. The cores of a CPU are shared, and a time there says little."""
    return "CPU" if row["machine"].startswith("cpu") else f"{row['machine']}, {row['seconds']:.0f} s"


def without_curves(row: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a run at paper scale: everything but the quantities with an axis of epochs."""
    few = {name: each for name, each in row["quantities"].items() if "epoch" not in each["axes"]}
    axes = {axis for each in few.values() for axis in each["axes"]}
    coordinates = {name: values for name, values in row["coordinates"].items() if name in axes}
    return row | {"quantities": few, "coordinates": coordinates}


def put_table(figure: str, row: dict[str, Any]) -> None:
    marker = "table of" if row["scale"] == "quick" else "paper scale of"
    put_between(DOCS / "gallery.md", f"<!-- {marker}: {figure} -->", "<!-- end of table -->", table_of(row))


def keep_picture(source: Path, name: str) -> None:
    """The picture with 128 colours: a third of the size, and nothing to see of it."""
    buffer = io.BytesIO()
    Image.open(source).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    (IMAGES / name).write_bytes(buffer.getvalue())


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


def refresh_readme() -> None:
    printed = _on_a_terminal("check", CLAIM)
    (claim,) = json.loads(_widenet("check", CLAIM, "--json"))
    (IMAGES / f"{CLAIM}.json").write_text(json.dumps(claim, indent=1) + "\n", encoding="utf-8")
    put_between(
        ROOT / "README.md",
        f"<!-- transcript of: widenet check {CLAIM} -->",
        "<!-- end of transcript -->",
        transcript_of(claim, printed),
    )


def refresh_figure(figure: str, folder: Path) -> None:
    """Quick scale: the picture, the whole of the numbers, and the table."""
    _widenet("figure", figure, "--out", str(folder))
    shutil.copy(folder / f"{figure}.json", IMAGES)
    keep_picture(folder / f"{figure}.png", f"{figure}.png")
    put_table(figure, json.loads((IMAGES / f"{figure}.json").read_text(encoding="utf-8")))


def take_paper_scale(folder: Path) -> None:
    for source in sorted(folder.glob("*.json")):
        row = without_curves(json.loads(source.read_text(encoding="utf-8")))
        figure = row["id"]
        (IMAGES / f"{figure}.paper.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
        keep_picture(source.with_suffix(".png"), f"{figure}.paper.png")
        put_table(figure, row)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--paper"]:
        take_paper_scale(Path(arguments[1]))
        return
    with tempfile.TemporaryDirectory() as store:
        os.environ["WIDENET_STORE"] = store
        if not arguments:
            refresh_readme()
        for figure in arguments or FIGURES:
            refresh_figure(figure, Path(store) / "figures")


if __name__ == "__main__":
    main(sys.argv[1:])
