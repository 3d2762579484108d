"""Computes again what the README and the gallery show.

python -m tools.refresh                 everything at quick scale (some minutes)
python -m tools.refresh ID …            these figures alone
python -m tools.refresh --from DIR      takes what `widenet figure … --out DIR` has written (paper scale: --archive)
python -m tools.refresh --compare ID …  compares the kept numbers of these figures at paper scale anew, and runs nothing
python -m tools.refresh --draw ID …     draws the kept numbers of these figures anew, at every scale, and runs nothing
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

import numpy as np
import xarray as xr
from PIL import Image

from tools.gallery import (
    FIGURES,
    FILTERS,
    GALLERY,
    IMAGES,
    LAWS,
    ROOT,
    Row,
    block_of,
    choices_of,
    file_of,
    kept,
    marker_of,
    put_between,
    row_of,
    stored,
)
from widenet.figures.archive import Archived, archived, file_name, place_of
from widenet.papers import find_figure
from widenet.plots.drawn import sheet_of
from widenet.plots.style import render

CLAIM = "brutzkus2018.theorem_2"
COLUMNS = 100


def refresh_readme() -> None:
    """The transcript, and the numbers behind it."""
    printed = on_a_terminal("check", CLAIM)
    (row,) = json.loads(_widenet("check", CLAIM, "--json"))
    row = {name: value for name, value in row.items() if name not in ("cells", "reused")}
    (IMAGES / f"{CLAIM}.json").write_text(json.dumps(row, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    put_between(
        ROOT / "README.md",
        f"<!-- transcript of: widenet check {CLAIM} -->",
        "<!-- end of transcript -->",
        f"```text\n$ widenet check {CLAIM}\n{printed.strip()}\n```\n",
    )


def take(source: Path) -> None:
    """One figure as `widenet figure` wrote it: its numbers, its picture and its film, and the table of the gallery."""
    row = json.loads(source.read_text(encoding="utf-8"))
    figure, scale = row["id"], row["scale"]
    if scale == "paper":
        take_archive(source.with_name(file_name(figure)), figure)
    else:
        text = json.dumps(kept(row), indent=None if figure in FILTERS else 1, ensure_ascii=False)
        file_of(figure, scale).write_text(text + "\n", encoding="utf-8")
    if scale == "paper" or figure not in FILTERS:
        keep_picture(source.with_suffix(".png"), file_of(figure, scale, "png"), 112)
    if source.with_suffix(".gif").exists():
        shutil.copy(source.with_suffix(".gif"), IMAGES)
    put_between(GALLERY, marker_of(figure, scale), "<!-- end of table -->", block_of(stored(figure, scale)))
    if figure == LAWS:
        put_between(GALLERY, "<!-- choices -->", "<!-- end of choices -->", choices_of(row))


def take_archive(source: Path, figure: str) -> None:
    """A result at paper scale, into the package."""
    if not source.is_file():
        raise SystemExit(f"there is no {source}: draw {figure} with --scale paper --archive")
    Archived.from_bytes(source.read_bytes(), source.name)  # a damaged one is refused
    place_of(figure).parent.mkdir(exist_ok=True)
    shutil.copy(source, place_of(figure))


def on_a_terminal(*arguments: str, columns: int = COLUMNS) -> str:
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


def _widenet(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "widenet.cli", *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout


def keep_picture(source: Path | io.BytesIO, place: Path, colours: int) -> None:
    """The picture with few colours: a third of the size, and nothing to see of it."""
    buffer = io.BytesIO()
    Image.open(source).convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    place.write_bytes(buffer.getvalue())


def compare_again(figure: str) -> None:
    """The rows of a figure at paper scale, from its own numbers: bands and reasons may have changed since the run."""
    found = archived(figure)
    if found is None or not found.is_drawable:
        raise SystemExit(f"{figure} has no archive with all its numbers")
    again = found.model_copy(update={"comparisons": tuple(find_figure(figure).compare(found.numbers))})
    place_of(figure).write_bytes(again.to_bytes())
    put_between(GALLERY, marker_of(figure, "paper"), "<!-- end of table -->", block_of(row_of(again)))


def draw_again(figure: str) -> None:
    """The pictures of a figure from its kept numbers, where everything that is drawn is kept."""
    kept_numbers = {}
    if (file := file_of(figure, "quick")).exists():
        kept_numbers["quick"] = numbers_of(json.loads(file.read_text(encoding="utf-8")))
    if (found := archived(figure)) is not None and found.is_drawable:
        kept_numbers["paper"] = found.numbers
    for scale, numbers in kept_numbers.items():
        sheet = sheet_of(find_figure(figure), numbers)
        keep_picture(io.BytesIO(render(sheet, "png")), file_of(figure, scale, "png"), 112)


def numbers_of(row: Row) -> xr.Dataset:
    """The numbers of a kept file with their axes."""
    return xr.Dataset(
        {name: (each["axes"], np.asarray(each["values"], float)) for name, each in row["quantities"].items()},
        coords=row["coordinates"],
        attrs=row["attributes"],
    )


def main(arguments: list[str]) -> None:
    """Compute and take, or only take, or only compare or draw."""
    if arguments[:1] == ["--draw"]:
        for figure in arguments[1:]:
            draw_again(figure)
        return
    if arguments[:1] == ["--compare"]:
        for figure in arguments[1:]:
            compare_again(figure)
        return
    if arguments[:1] == ["--from"]:
        for source in sorted(Path(arguments[1]).glob("*.json")):
            take(source)
        return
    with tempfile.TemporaryDirectory() as store:
        os.environ["WIDENET_STORE"] = store
        if not arguments:
            refresh_readme()
        _widenet("figure", *(arguments or FIGURES), "--out", f"{store}/figures")
        main(["--from", f"{store}/figures"])


if __name__ == "__main__":
    main(sys.argv[1:])
