"""A module imports only from lower layers, and the public names are a fact."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import widenet

ROOT = Path(widenet.__file__).parent
LAYERS = {
    "errors": 0,
    "types": 0,
    "bits": 0,
    "losses": 1,
    "data": 1,
    "networks": 1,
    "training": 2,
    "diagnostics": 3,
    "claims": 4,
    "papers": 5,
    "store": 6,
    "plots": 6,
    "run": 6,
    "bench": 7,
    "report": 7,
    "console": 7,
    "cli": 8,
}
MAY_NOT_MEET = {
    ("data", "networks"),
    ("networks", "data"),
    ("data", "losses"),
    ("losses", "networks"),
    ("store", "types"),
}
"""Pairs on one level, or below, that must not know each other either."""


def layer_of(module):
    """widenet.claims.base → ("claims", 4)."""
    name = module.split(".")[1] if "." in module else ""
    return name, LAYERS.get(name)


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "widenet":
            if node.module == "widenet":
                yield from (f"widenet.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "widenet")


def upward(source, importer):
    """The imports of this source that go up, or sideways where that is not allowed."""
    name, level = importer
    for target in source:
        other, height = layer_of(target)
        if other and other != name and (height is None or height > level or (name, other) in MAY_NOT_MEET):
            yield target


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    name = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert name in LAYERS, f"{name} has no layer yet: add it here and to docs/layers.md"
    assert list(upward(imports_of(path), (name, LAYERS[name]))) == []


def test_control_an_upward_import_is_found():
    assert list(upward(["widenet.claims.base"], ("training", 2))) == ["widenet.claims.base"]
    assert list(upward(["widenet.data"], ("networks", 1))) == ["widenet.data"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path):
    assert len(path.read_text().splitlines()) <= 400


def test_no_pickle_eval_or_exec():
    for path in FILES:
        tree = ast.parse(path.read_text())
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        assert not called & {"eval", "exec"}, path
        assert not imported & {"pickle", "dill", "cloudpickle", "marshal", "shelve"}, path


def test_public_names():
    assert sorted(widenet.__all__) == sorted(widenet._MODULE_OF)
    for name in widenet.__all__:
        assert getattr(widenet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = widenet.nonsense


def test_importing_widenet_is_cheap():
    code = "import sys, widenet; sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
