"""Every paper package has the same file names, and its claims train nothing and make no settings.

`tests/test_layers.py` has the order of imports.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.test_layers import PARTS, ROOT, imports_of, kind_of

PACKAGES = sorted(path.parent for path in (ROOT / "papers").glob("*/__init__.py"))
FOLDERS = ("runs", "claims", "figures", "drawings")
MODULES = tuple(part for part in PARTS if part not in FOLDERS)
ARCHIVE = "paper_scale"
DATA = ("findings.toml", "glossary.toml", ARCHIVE)
ARRAYS = "widenet.networks.arrays"
"""Output weights and the Leaky ReLU as NumPy's arrays: claims may use them, as nothing there builds a network."""
NEEDED = ("__init__.py", "formulas.py", *FOLDERS)


def misplaced(names: Iterable[str]) -> list[str]:
    """The entries of a package that are none of the skeleton's."""
    allowed = {"__init__.py", *FOLDERS, *DATA}
    return [name for name in sorted(names) if name not in allowed and not _is_module(name)]


def _is_module(name: str) -> bool:
    return name.endswith(".py") and kind_of(name.removesuffix(".py")) in MODULES


def trained(tree: ast.AST) -> Iterator[str]:
    """What a claim imports in order to train, or to build a network; types are no builders."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if _is_in(module, "networks") and module != ARRAYS:
                yield from (f"{module}.{each.name}" for each in names if not each.name[0].isupper())
            case ast.ImportFrom(module="widenet", names=names):
                yield from (f"widenet.{each.name}" for each in names if each.name == "networks")
            case ast.Import(names=names):
                yield from (each.name for each in names if _is_in(each.name, "networks"))
    yield from (name for name in imports_of(tree) if _is_in(name, "training"))


def makers_of_settings(tree: ast.AST) -> list[str]:
    """Functions of a scale and a seed, or of a `Scale` at all: what an experiment runs, and what a claim draws."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            ways = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            types = {ast.unparse(each.annotation) for each in ways if each.annotation}
            if {"scale", "seed"} <= {each.arg for each in ways} or "Scale" in types:
                found.append(getattr(node, "name", "lambda"))
    return found


def _is_in(module: str, package: str) -> bool:
    return module == f"widenet.{package}" or module.startswith(f"widenet.{package}.")


def test_what_claims_may_use_of_networks_is_numpy_alone() -> None:
    tree = ast.parse((ROOT / "networks" / "arrays.py").read_text(encoding="utf-8"))
    assert {name.split(".")[0] for name in imports_of(tree)} == {"numpy", "jaxtyping"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def test_there_are_packages() -> None:
    assert len(PACKAGES) >= 5


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_file_names(package: Path) -> None:
    names = {path.name for path in package.iterdir() if path.name != "__pycache__"}
    assert misplaced(names) == []
    assert [name for name in NEEDED if name not in names] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_archive_has_figures_of_this_paper_alone(package: Path) -> None:
    known = {f"{package.name}.{path.stem}.json.gz" for path in package.glob("figures/*.py")}
    assert [path.name for path in (package / ARCHIVE).glob("*") if path.name not in known] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_claims_and_hypotheses_train_nothing(package: Path) -> None:
    files = [*package.glob("claims/**/*.py"), *package.glob("*hypotheses.py")]
    found = {path.name: sorted(set(trained(ast.parse(path.read_text(encoding="utf-8"))))) for path in files}
    assert {name: imported for name, imported in found.items() if imported} == {}


def test_settings_are_made_in_runs() -> None:
    files = [path for package in PACKAGES for path in package.glob("claims/**/*.py")]
    found = {str(path.relative_to(ROOT)): makers_of_settings(ast.parse(path.read_text("utf-8"))) for path in files}
    assert {name: functions for name, functions in found.items() if functions} == {}


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("def settings(scale: Scale, seed: int) -> list[Setting]: ...", True),
        ("def edge(scale, seed, margin): ...", True),
        ("def drawn(s: Scale, /, *, place: int = 0): ...", True),
        ("settings = lambda scale, seed: []", True),
        ("class Runs:\n    def settings(self, scale, seed): ...", True),
        ("def slope(logs, counts, seed): ...", False),
        ("def decided(loss: float, level: float, scale: float): ...", False),
    ],
)
def test_control_settings(line: str, is_wrong: bool) -> None:
    assert bool(makers_of_settings(ast.parse(line))) == is_wrong


def test_control_names() -> None:
    good = ["__init__.py", "formulas.py", "xor_formulas.py", "user_data.py", "cluster_hypotheses.py", "runs"]
    wrong = ["formulas_xor.py", "helpers", "notes.toml", "settings.py", "specimens.py", "xor_runs.py"]
    assert misplaced([*good, "glossary.toml", *wrong]) == wrong


@pytest.mark.parametrize(
    ("line", "is_wrong"),
    [
        ("from widenet.training import train", True),
        ("from widenet.training.small.softmax import gradient", True),
        ("import widenet.training.recipe", True),
        ("from widenet import training", True),
        ("from widenet import networks", True),
        ("import widenet.networks", True),
        ("from widenet.networks import two_layer", True),
        ("from widenet.networks import TwoLayer", False),
        ("from widenet.networks.two_layer import TwoLayer, start", True),
        ("from widenet.networks.arrays import leaky", False),
        ("from widenet.networks import arrays", True),
        ("from widenet.networks.arrays_of_networks import leaky", True),
        ("from widenet.diagnostics import margins", False),
        ("from widenet.papers.li2018.runs.x import runs", False),
        ("import numpy as np", False),
    ],
)
def test_control_imports(line: str, is_wrong: bool) -> None:
    assert bool(list(trained(ast.parse(line)))) == is_wrong
