"""Weakenings of meaning that a person wrote: what a user would be told or given wrongly, as one edit of the source.

They stand in `written.toml`. Where the code under one of them changes, it is carried over and keeps its meaning.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.mutants.mutation import MODULE, Mutant, short

LISTED = Path(__file__).with_name("written.toml")
ROOT = Path(__file__).parents[2]


class Written(NamedTuple):
    """One entry of the list.

    Attributes:
      key: its name.
      file: the module, from the root of the repository.
      meaning: what a user would be told or given wrongly.
      old, new: the text that is replaced, which the module has once, and the text in its place.
    """

    key: str
    file: str
    meaning: str
    old: str
    new: str


def by_file() -> dict[Path, list[Written]]:
    """All of them, by module."""
    found: dict[Path, list[Written]] = {}
    for entry in tomllib.loads(LISTED.read_text(encoding="utf-8"))["weakening"]:
        each = Written(**entry)
        found.setdefault(ROOT / each.file, []).append(each)
    return found


def written(path: Path, module: str, data: bytes) -> Iterator[Mutant]:
    """Those of a module.

    Raises:
      ValueError: the module does not have the text of one of them, or has it twice.
    """
    for each in by_file()[path]:
        old = each.old.encode()
        if data.count(old) != 1:
            raise ValueError(
                f"{each.file} has the text of {each.key!r} {data.count(old)} times, not once; carry the weakening over "
                f"to what the code is now, with the same meaning: {each.meaning}"
            )
        start = data.index(old)
        line = data[:start].count(b"\n") + 1
        yield Mutant(
            module=module,
            function=_function_at(ast.parse(data), line),
            operator=each.key,
            before=short(each.old),
            after=short(each.new),
            line=line,
            start=start,
            end=start + len(old),
            text=each.new,
            meaning=each.meaning,
        )


def _function_at(tree: ast.Module, line: int) -> str:
    """The function or method of a line, by its qualified name."""
    for node in tree.body:
        own = [("", node)]
        if isinstance(node, ast.ClassDef):
            own = [(f"{node.name}.", each) for each in node.body]
        for prefix, each in own:
            if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or 0):
                return f"{prefix}{each.name}"
    return MODULE
