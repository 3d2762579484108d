"""What a cell depends on: the code that the module of its `run` can reach.

The reach of a module is the transitive closure of its imports inside the package, read from the source. A name that
comes through the `__init__` of a package is followed to the module that defines it, so re-exports cost nothing. The
digest is taken over syntax trees without docstrings: comments, blank lines and wording recompute nothing. Data files
are in it through the checksums that the modules which read them carry and verify.
"""

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "widenet"
ROOT = Path(__file__).parent.parent


def digest(module: str, root: Path = ROOT) -> str:
    """The SHA-256 over the syntax trees of all modules in reach."""
    total = hashlib.sha256()
    for name in sorted(reach(module, root)):
        text = _text_of(_file(name, root))
        # The length keeps the end of one module apart from the name of the next.
        total.update(f"{name}\0{len(text)}\0{text}".encode())
    return total.hexdigest()


def reach(module: str, root: Path = ROOT) -> frozenset[str]:
    """The module, and every module of the package that it imports, directly or not."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(_imported(_file(name, root), root))
    return frozenset(seen)


@functools.cache
def _imported(path: Path, root: Path) -> tuple[str, ...]:
    """The modules that define what this file imports from the package."""
    found: dict[str, None] = {}
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            found |= {_home(node.module, alias.name, root): None for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name: None for alias in node.names if alias.name.split(".")[0] == PACKAGE}
    return tuple(found)


def _home(module: str, name: str, root: Path) -> str:
    """The module in which `from module import name` finds it defined."""
    below = f"{module}.{name}"
    if _exists(below, root):
        return below
    path = _file(module, root)
    if path.name != "__init__.py":
        return module
    for source, original, known_as in _re_exports(path):
        if known_as == name:
            return _home(source, original, root)
    return module


def _re_exports(path: Path) -> Iterator[tuple[str, str, str]]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            yield from ((node.module, alias.name, alias.asname or alias.name) for alias in node.names)


def _exists(module: str, root: Path) -> bool:
    return any(candidate.is_file() for candidate in _candidates(module, root))


def _file(module: str, root: Path) -> Path:
    for candidate in _candidates(module, root):
        if candidate.is_file():
            return candidate
    raise ValueError(f"there is no module {module} under {root}")


def _candidates(module: str, root: Path) -> tuple[Path, Path]:
    parts = module.split(".")[1:]
    place = root.joinpath(*parts)
    return place.with_suffix(".py") if parts else root / "__init__.py", place / "__init__.py"


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _text_of(path: Path) -> str:
    """The syntax tree as text, without docstrings and places."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [each for each in node.body if not _is_words(each)]
    return ast.dump(tree, include_attributes=False)


def _is_words(node: ast.stmt) -> bool:
    """A docstring, or the string below a constant that explains it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
