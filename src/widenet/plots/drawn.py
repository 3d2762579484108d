"""The drawings of the rooms, found by name, as files. matplotlib is loaded by whoever draws."""

import ast
import functools
import importlib
import importlib.util
from pathlib import Path
from typing import Any

import xarray as xr

from widenet.figures import Figure
from widenet.papers import find_paper
from widenet.plots.files import plain_files
from widenet.progress import Progress, silent

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
    """The picture in every format, and the numbers behind it."""
    from widenet.plots.style import FORMATS, lay_out, render

    picture = lay_out(importlib.import_module(drawing).draw(numbers))
    files = {}
    for number, form in enumerate(FORMATS, start=1):
        files[f"{figure_id}.{form}"] = render(picture, form)
        progress(number / len(FORMATS), "formats")
    return files | plain_files(figure_id, numbers, about)


def animation_files(drawing: str, figure_id: str, numbers: xr.Dataset, progress: Progress = silent) -> Files:
    """The animation."""
    return {f"{figure_id}.gif": importlib.import_module(drawing).animate(numbers)}
