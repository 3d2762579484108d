"""The drawings of the paper packages, found by name, as files. matplotlib is loaded by whoever draws."""

import ast
import functools
import importlib
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from widenet.figures import Figure
from widenet.figures.archive import archived
from widenet.papers import find_paper
from widenet.plots.files import plain_files
from widenet.progress import Progress, silent

PANELS = ".panels.json"
"""How the entry with the panels of a figure ends. It goes into pages and is no file beside them."""
AT_PAPER_SCALE = ".paper"
"""What the name of a figure has before that, where the panels are of its result at paper scale."""

Files = dict[str, bytes]
"""The content of files by their names."""


def drawing_of(figure: Figure) -> str:
    """The module that draws a figure: it has `draw`, and `animate` where the figure moves."""
    return find_paper(figure.paper).drawing(figure.drawing or figure.name)


@functools.cache
def _names(module: str) -> frozenset[str]:
    """What a module binds at its top level, read from its source."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no module {module} to draw with")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    names += [
        t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)
    ]
    names += [
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return frozenset(names)


def moves(figure: Figure) -> bool:
    """Whether a figure has an animation."""
    return "animate" in _names(drawing_of(figure))


def picture_files(
    drawing: str, figure_id: str, numbers: xr.Dataset, about: dict[str, Any], progress: Progress = silent
) -> Files:
    """The picture in every format, its panels for a page, and the numbers behind it."""
    from widenet.plots.style import FORMATS, lay_out, render

    picture = importlib.import_module(drawing).draw(numbers)
    sheet = lay_out(picture.drawing())
    files = {}
    for number, form in enumerate(FORMATS, start=1):
        files[f"{figure_id}.{form}"] = render(sheet, form)
        progress(number / (len(FORMATS) + 1), "formats")
    files[f"{figure_id}{PANELS}"] = json.dumps(picture.on_page(figure_id), ensure_ascii=False).encode()
    progress(1.0, "panels")
    return files | plain_files(figure_id, numbers, about)


def archived_files(drawing: str, figure_id: str, progress: Progress = silent) -> Files:
    """The panels of the result at paper scale that ships with the package, as far as its archive has their numbers."""
    kept = archived(figure_id)
    if kept is None:
        return {}
    name = f"{figure_id}{AT_PAPER_SCALE}"
    panels = importlib.import_module(drawing).draw(kept.numbers).on_page(name)
    return {f"{name}{PANELS}": json.dumps(panels, ensure_ascii=False).encode()}


def sheet_of(figure: Figure, numbers: xr.Dataset) -> Any:
    """The picture as one matplotlib figure, placed."""
    from widenet.plots.style import lay_out

    return lay_out(importlib.import_module(drawing_of(figure)).draw(numbers).drawing())


def beside_pages(files: Mapping[str, bytes]) -> Files:
    """Those of a figure's files that a person may want: all but the panels, which go into pages."""
    return {name: content for name, content in files.items() if not name.endswith(PANELS)}


def animation_files(drawing: str, figure_id: str, numbers: xr.Dataset, progress: Progress = silent) -> Files:
    """The animation."""
    return {f"{figure_id}.gif": importlib.import_module(drawing).animate(numbers)}
