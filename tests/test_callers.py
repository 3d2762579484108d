"""Public names have callers: whatever only its own module and its tests use is private, or goes."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import widenet

ROOT = Path(widenet.__file__).parent
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
    if module in trees() and f"{module}.{name}" not in trees():
        for node in trees()[module].body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return home(node.module, alias.name)
    return module, name


def uses(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(module, name) of everything this module takes from others, by import or as an attribute of a module."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "widenet":
            for alias in node.names:
                if f"{node.module}.{alias.name}" in trees():
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield home(node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "widenet":
                    modules[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            where = modules.get(ast.unparse(node.value))
            if where is not None:
                yield home(where, node.attr)
