"""Public names have callers: what nothing but tests uses is deleted."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import widenet

ROOT = Path(widenet.__file__).parent
OTHERS = [ROOT.parents[1] / folder for folder in ("benchmarks", "examples", "tools")]
STRICT = ("training", "networks", "losses", "diagnostics", "data")
"""Parts of the package that may have no public name without a caller."""


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the package by its dotted name; a package by that of its folder."""
    named = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        named[name] = ast.parse(path.read_text(encoding="utf-8"))
    return named


def is_package(module: str) -> bool:
    return (ROOT.parent / module.replace(".", "/")).is_dir()


def public_names(tree: ast.Module) -> Iterator[str]:
    """Functions, classes and constants that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


@cache
def home(module: str, name: str) -> tuple[str, str]:
    """Where `from module import name` finds it: packages pass on what they import."""
    for node in ast.walk(trees()[module]) if module in trees() and is_package(module) else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name and (node.module, alias.name) != (module, name):
                    return home(node.module, alias.name)
    return module, name


def uses(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(module, name) of everything this module takes from others, by import or as an attribute of a module."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "widenet":
            for alias in node.names:
                where = home(node.module, alias.name)
                if where == (node.module, alias.name) and ".".join(where) in trees():
                    modules[alias.asname or alias.name] = ".".join(where)
                elif not is_package(module):  # a package passes on what it imports, and may use a module's names
                    yield where
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "widenet":
                    modules[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            where = modules.get(ast.unparse(node.value))
            if where is not None:
                yield home(where, node.attr)


CATALOGUE = re.compile(r'"(\w+)\.((?:make|load)_\w+)"')
"""How `widenet.data.catalogue` names the makers of its data sets."""
EXCEPTIONS = {
    "widenet.cli": "commands, called by typer",
    "widenet.data.base.Distribution": "the protocol of a data set, which the battery of tests checks",
    "widenet.training.record.Watch": "the protocol of a watch, for type checkers",
}
"""Public names (or whole modules) that are called from elsewhere, and by whom."""


def exported() -> set[tuple[str, str]]:
    """What `import widenet` offers, and the data sets that `widenet list data` names."""
    names = {
        home(importlib.import_module("widenet")._MODULE_OF[name], name)
        for name in widenet.__all__
        if name != "__version__"
    }
    catalogue = (ROOT / "data/catalogue.py").read_text(encoding="utf-8")
    return names | {(f"widenet.data.{module}", name) for module, name in CATALOGUE.findall(catalogue)}


def own_uses(tree: ast.Module) -> set[str]:
    """Names that a module uses itself, outside of their own definition."""
    found = set()
    for node in tree.body:
        defined = getattr(node, "name", None)
        found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id != defined}
        found -= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return found


@cache
def without_caller() -> dict[str, list[str]]:
    """Public names by part of the package that nothing but tests uses."""
    outside = [ast.parse(path.read_text(encoding="utf-8")) for folder in OTHERS for path in folder.rglob("*.py")]
    used = {use for tree in outside for use in uses("examples", tree)} | exported()
    for module, tree in trees().items():
        used |= {use for use in uses(module, tree) if use[0] != module}
    templates = " ".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.jinja*"))
    lonely: dict[str, list[str]] = {}
    for module, tree in sorted(trees().items()):
        if is_package(module) or module in EXCEPTIONS:
            continue
        own = own_uses(tree)
        for name in public_names(tree):
            is_listed = (module, name) in used or f"{module}.{name}" in EXCEPTIONS
            if not is_listed and name not in own and not re.search(rf"\b{name}\b", templates):
                lonely.setdefault(module.split(".")[1], []).append(f"{module}.{name}")
    return lonely


@pytest.mark.parametrize("part", STRICT)
def test_every_public_name_has_a_caller(part: str) -> None:
    """Tests are no callers. Names of other parts are printed: run with -s to see them."""
    lonely = without_caller()
    for other in sorted(set(lonely) - set(STRICT)):
        print(f"{other}: {', '.join(lonely[other])}")
    assert not lonely.get(part), "delete them, or use them"


def test_control_a_name_without_a_caller_is_seen() -> None:
    tree = ast.parse("LIMIT = 3\n\ndef used():\n    return LIMIT\n\ndef unused():\n    return unused()\n\nused()\n")
    assert [name for name in public_names(tree) if name not in own_uses(tree)] == ["unused"]


def test_exceptions_exist() -> None:
    for name in EXCEPTIONS:
        module, _, attribute = name.rpartition(".")
        assert name in trees() or attribute in set(public_names(trees()[module])), name
