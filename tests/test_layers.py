"""A module imports only from lower layers, papers keep their order and their walls, and the public names are a fact."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import widenet

ROOT = Path(widenet.__file__).parent
LAYERS = {
    "errors": 0,
    "records": 0,
    "seeds": 0,
    "progress": 0,
    "types": 0,
    "bits": 0,
    "old_names": 0,
    "losses": 1,
    "data": 1,
    "networks": 1,
    "training": 2,
    "diagnostics": 3,
    "claims": 4,
    "figures": 4,
    "papers": 5,
    "drawings": 6,
    "store": 6,
    "plots": 6,
    "run": 6,
    "report": 7,
    "console": 7,
    "certificates": 7,
    "estimators": 7,
    "sweeps": 7,
    "cli": 8,
    "__main__": 9,
}
"""`papers` are the packages without their `drawings`, which know how pictures are made."""
MAY_NOT_MEET = {
    ("claims", "figures"),
    ("data", "losses"),
    ("data", "networks"),
    ("losses", "networks"),
    ("networks", "data"),
    ("store", "types"),
}
"""Pairs on one level, or below, that must not know each other either."""
PARTS = {
    "formulas": 0,
    "sources": 1,
    "user_data": 3,  # beside runs: an experiment names what it runs on a data set, made of its own settings
    "runs": 3,
    "instances": 4,
    "hypotheses": 4,
    "claims": 5,
    "figures": 6,
    "drawings": 7,
}
"""The order inside a paper package. A figure may ask for the band of a claim; no claim asks a figure."""
DRAW = ("papers/*/drawings/*.py", "plots/*.py", "certificates/pictures.py", "sweeps/drawing.py")
"""Who may import matplotlib."""
LONGEST = 600

FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def module_of(path: Path) -> str:
    """widenet/claims/base.py → widenet.claims.base; a package is known by its folder."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    """widenet.claims.base → claims."""
    parts = module.split(".")
    if parts[1:2] == ["papers"] and parts[3:4] == ["drawings"]:
        return "drawings"
    return parts[1] if len(parts) > 1 else ""


def imports_of(tree: ast.AST) -> Iterator[str]:
    """What is imported, anywhere in the file; names taken from the package itself as modules of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            elif node.module == "widenet":
                yield from (f"widenet.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def mistakes(module: str, imported: Iterable[str]) -> list[str]:
    """The imports of this module that go up, sideways where that is not allowed, or through the wall of a paper."""
    name, wrong = layer_of(module), []
    if name not in LAYERS:
        return [f"{module} has no layer yet: add {name} here and to docs/layers.md"]
    for target in imported:
        if target.startswith("."):
            wrong.append(f"{module} imports {target}: modules are named in full")
        if target.split(".")[0] != "widenet":
            continue
        other = layer_of(target)
        is_up = other not in LAYERS or LAYERS[other] > LAYERS[name]
        if other and other != name and (is_up or (name, other) in MAY_NOT_MEET):
            wrong.append(f"{module} imports {target}")
        wrong += _through_walls(module, target)
    return wrong


def _through_walls(module: str, target: str) -> list[str]:
    """Papers do not know each other; inside one, each part knows those before it."""
    own, others = module.split(".")[1:], target.split(".")[1:]
    if own[:1] != ["papers"] or len(own) < 2 or not (ROOT / "papers" / own[1]).is_dir():
        return []
    paper, part = own[1], own[2:3]
    if others == ["papers", "base"] and not part:
        return []
    if others[:1] == ["papers"]:
        if others[1:2] != [paper]:
            return [f"{module} imports {target}: another paper"]
        there = others[2:3]
        own_place, place = (PARTS.get(kind_of(each[0])) if each else None for each in (part, there))
        if own_place is not None and place is not None and part != there and place > own_place:
            return [f"{module} imports {target}: {there[0]} come after {part[0]}"]
    if others == [] and part == ["runs"]:
        return [f"{module} imports {target}: runs name the modules that they need"]
    return []


def kind_of(part: str) -> str:
    """The part of a package that a module is, without its theme: `xor_formulas` are formulas. "" for any other name."""
    return next((kind for kind in PARTS if part == kind or part.endswith(f"_{kind}")), "")


def test_imports_go_down() -> None:
    wrong = [line for path in FILES for line in mistakes(module_of(path), imports_of(ast.parse(path.read_text())))]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("module", "target", "is_wrong"),
    [
        ("widenet.training.train", "widenet.claims.base", True),
        ("widenet.networks.two_layer", "widenet.data", True),
        ("widenet.claims.base", "widenet.figures.base", True),
        ("widenet.claims.base", "widenet.records", False),
        ("widenet.records", "widenet.types", False),
        ("widenet.types", "widenet.data", True),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.formulas", False),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.sources", False),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.user_data", False),
        ("widenet.papers.li2018.sources", "widenet.papers.li2018.user_data", True),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.xor_hypotheses", True),
        ("widenet.papers.li2018.hypotheses", "widenet.papers.li2018.xor_sources", False),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.runs.y", False),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.claims.y", True),
        ("widenet.papers.li2018.runs.x", "widenet.papers.li2018.figures.y", True),
        ("widenet.papers.li2018.runs.x", "widenet.papers.brutzkus2018.formulas", True),
        ("widenet.papers.li2018.runs.x", "widenet", True),
        ("widenet.papers.li2018.runs.x", "widenet.store", True),
        ("widenet.papers.li2018.formulas", "widenet.papers.li2018.sources", True),
        ("widenet.papers.li2018.claims.x", "widenet.papers.li2018.figures.y", True),
        ("widenet.papers.li2018.figures.x", "widenet.papers.li2018.claims.y", False),
        ("widenet.papers.li2018.figures.x", "widenet.papers.li2018.drawings.y", True),
        ("widenet.papers.li2018.figures.x", "widenet.plots.style", True),
        ("widenet.papers.li2018.drawings.x", "widenet.plots.style", False),
        ("widenet.papers.li2018.drawings.x", "widenet.papers.li2018.runs.y", False),
        ("widenet.papers.li2018.drawings.x", "widenet.report", True),
        ("widenet.papers.li2018", "widenet.papers.base", False),
        ("widenet.papers.li2018.claims.x", "widenet.papers.base", True),
        ("widenet.papers", "widenet.papers.li2018", False),
        ("widenet.papers.index", "widenet.claims.base", False),
        ("widenet.run.plan", "widenet.console", True),
        ("widenet.data.xor", ".base", True),
        ("widenet.nowhere", "widenet.types", True),
        ("widenet.data.xor", "numpy", False),
    ],
)
def test_control_a_wrong_import_is_found(module: str, target: str, is_wrong: bool) -> None:
    assert bool(mistakes(module, [target])) == is_wrong


def test_files_stay_short_and_plain() -> None:
    """Few lines, no code made from text, no pickles; pictures and late imports only where they belong."""
    wrong = []
    for path in FILES:
        text, place = path.read_text(), path.relative_to(ROOT)
        tree = ast.parse(text)
        called = {
            each.func.id for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
        }
        tops = {name.split(".")[0] for name in imports_of(tree)}
        if len(text.splitlines()) > LONGEST:
            wrong.append(f"{place} has {len(text.splitlines())} lines")
        wrong += [f"{place} calls {name}" for name in called & {"eval", "exec", "__import__"}]
        wrong += [f"{place} imports {name}" for name in tops & {"pickle", "dill", "cloudpickle", "marshal", "shelve"}]
        if "matplotlib" in tops and not any(place.match(pattern) for pattern in DRAW):
            wrong.append(f"{place} imports matplotlib")
        if place.match("papers/*/runs/*.py") and "importlib" in tops:
            wrong.append(f"{place} imports importlib: nobody could tell what its cells depend on")
    assert wrong == [], "\n".join(wrong)


def test_public_names() -> None:
    assert sorted(widenet.__all__) == sorted([*widenet._MODULE_OF, "__version__"])
    for name in widenet.__all__:
        assert getattr(widenet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = widenet.nonsense


@pytest.mark.parametrize("package", ["data", "run"])
def test_names_of_packages_that_load_on_first_use(package: str) -> None:
    module = getattr(__import__(f"widenet.{package}"), package)
    assert set(module._MODULE_OF) <= set(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = module.nonsense


def test_importing_widenet_is_cheap() -> None:
    code = "import sys, widenet; sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
