"""Public names have callers: what nothing but tests uses is deleted."""

import ast
import importlib
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import widenet
import widenet.papers

ROOT = Path(widenet.__file__).parent
OTHERS = [ROOT.parents[1] / folder for folder in ("benchmarks", "examples", "tools")]
LOOSE = ("report", "plots")
"""Parts whose public names may wait for a caller: pages and pictures are drawn from the outside in."""
LONGEST_ANNOTATION = 80


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
    "widenet.papers.glossary.unknown_in": "tests ask it whether every symbol of a claim is explained",
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


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """The statements that define names of a module, private names too."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id: node for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def names_in(node: ast.AST) -> set[str]:
    """Names that a piece of code reads, also in annotations that are text."""
    words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    quoted = {word for text in words if len(text) < LONGEST_ANNOTATION for word in re.findall(r"\w+", text)}
    return quoted | {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def in_use(tree: ast.Module, wanted: set[str]) -> set[str]:
    """What of a module is reached from the names that others want, and from what runs when it is loaded.

    A definition that uses itself, or that only unused ones use, is not in use.
    """
    defined, reached = definitions(tree), set()
    loaded = [node for node in tree.body if node not in defined.values()]
    waiting = [*wanted, *(name for node in loaded for name in names_in(node))]
    waiting += [name for name, node in defined.items() if getattr(node, "decorator_list", []) and is_registered(node)]
    while waiting:
        name = waiting.pop()
        if name in defined and name not in reached:
            reached.add(name)
            waiting += names_in(defined[name])
    return reached


def is_registered(node: ast.stmt) -> bool:
    """Whether a decorator makes something else of it, which is known by an id: a claim, a figure, a rule of `on`."""
    plain = ("dataclass", "cache", "contextmanager", "runtime_checkable")
    decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
    return not any(word in each for each in decorators for word in plain)


@cache
def without_caller() -> dict[str, list[str]]:
    """Public names by part of the package that nothing but tests uses."""
    outside = [ast.parse(path.read_text(encoding="utf-8")) for folder in OTHERS for path in folder.rglob("*.py")]
    outside += [ast.parse(block) for block in documented()]
    used = {use for tree in outside for use in uses("examples", tree)} | exported()
    for module, tree in trees().items():
        used |= {use for use in uses(module, tree) if use[0] != module}
    by_id = {each.split(".")[1] for each in (*widenet.papers.claim_ids(), *widenet.papers.figure_ids())}
    templates = " ".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.j2"))
    lonely: dict[str, list[str]] = {}
    for module, tree in sorted(trees().items()):
        if is_package(module) or module in EXCEPTIONS:
            continue
        part = module.split(".")[1]
        public = set(public_names(tree))
        wanted = {name for name in public if (module, name) in used or f"{module}.{name}" in EXCEPTIONS}
        wanted |= {name for name in public if re.search(rf"\b{name}\b", templates)}
        wanted |= public & by_id if part == "papers" else set()
        wanted |= public & {"animate", "draw"} if ".drawings." in module else set()  # found by `plots.drawn`
        for name in sorted(public - in_use(tree, wanted)):
            lonely.setdefault(part, []).append(f"{module}.{name}")
    return lonely


def documented() -> Iterator[str]:
    """The Python blocks of the docs that can be read on their own: what a page shows has a user."""
    for page in (ROOT.parents[1] / "README.md", *sorted((ROOT.parents[1] / "docs").glob("*.md"))):
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            with suppress(SyntaxError):
                ast.parse(block)
                yield block


@pytest.mark.parametrize("part", sorted({name.split(".")[1] for name in trees() if "." in name} - set(LOOSE)))
def test_every_public_name_has_a_caller(part: str) -> None:
    """Tests are no callers, and neither is a name that nothing else uses."""
    assert not without_caller().get(part), "delete them, or use them"


def test_control_a_name_without_a_caller_is_seen() -> None:
    tree = ast.parse(
        "LIMIT = 3\n\ndef used():\n    return LIMIT\n\ndef unused():\n    return unused(), lost()\n\n"
        "def lost():\n    return 1\n\n@claim('x')\ndef named():\n    return 2\n"
    )
    assert in_use(tree, {"used"}) == {"used", "LIMIT", "named"}, "one that only an unused one uses is unused"


def test_exceptions_exist() -> None:
    for name in EXCEPTIONS:
        module, _, attribute = name.rpartition(".")
        assert name in trees() or attribute in set(public_names(trees()[module])), name
