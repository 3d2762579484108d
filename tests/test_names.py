"""Every class name has one meaning: a name that stands for two things in one package has to be looked up each time."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import widenet

ROOT = Path(widenet.__file__).parent


def defined(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """(name without underscores in front, whether it is a class) of the classes and type aliases of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_"), True
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [each.id.lstrip("_") for each in node.targets if isinstance(each, ast.Name)]
            yield from ((name, False) for name in names if name[:1].isupper() and not name.isupper())


def with_two_meanings(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Names of classes that are also those of other classes or of type aliases, with where they are."""
    classes: set[str] = set()
    places = defaultdict(list)
    for where, tree in trees.items():
        for name, is_class in defined(tree):
            places[name].append(where)
            classes |= {name} if is_class else set()
    return {name: places[name] for name in sorted(classes) if len(places[name]) > 1}


def test_every_class_name_has_one_meaning() -> None:
    trees = {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
    assert with_two_meanings(trees) == {}


def test_control_two_meanings_are_seen() -> None:
    one = ast.parse("Pair = tuple[int, int]\n\nclass Run:\n    pass\n\nclass Alone:\n    pass\n")
    other = ast.parse("class Pair:\n    class _Run:\n        pass\n")
    assert with_two_meanings({"one": one, "other": other}) == {"Pair": ["one", "other"], "Run": ["one", "other"]}
