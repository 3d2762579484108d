"""What a cell depends on: the code that the module of its `run` can reach.

The reach of a module is the transitive closure of its imports inside the package, read from the source. A name that
comes through the `__init__` of a package is followed to the module that defines it, so re-exports cost nothing. The
digest is taken over syntax trees without docstrings: comments, blank lines and wording recompute nothing. Data files
are in it through the checksums that the modules which read them carry and verify.

A module of somebody else's package reaches the modules of that package too, and a file of its own those beside it. No
import tells what its run reads there, or imports by a computed name: so the digest has every file of the folders of
such modules (`_beside`). Where packages are installed, neighbours are strangers.

To parse all files takes over a second. A report keeps what it read, by the content of the files, for the next one.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import platform
import threading
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from widenet.errors import InputError

PACKAGE = "widenet"
ROOT = Path(__file__).parent.parent
WITHOUT_NUMBERS = frozenset(
    {
        "widenet.errors",
        "widenet.progress",
        "widenet.claims.cases",
        "widenet.claims.experiments",
        "widenet.claims.applicability",
        "widenet.claims.user_data",
    }
)
"""Modules of words and bookkeeping that every run reaches and that no number can depend on."""
MOST_FILES = 1000
MOST_BYTES = 2**28
"""How much may lie in the folder of a file of your own, which is read whole to know whether anything there changed."""
NO_INPUTS = (".log", ".out", ".err", ".pyc")
"""Names that end so are of logs, which grow while a run is at work."""


class Import(NamedTuple):
    """One import: `from ..module import name as known_as` has two dots; `import module` takes no name."""

    dots: int
    module: str
    name: str | None
    known_as: str | None


@dataclass(frozen=True)
class SourceFile:
    """What is read from a file: its syntax tree as text, without docstrings and places, and its imports."""

    text: str
    imports: tuple[Import, ...]


@dataclass
class SourceNotes:
    """What this process found in files, by the SHA-256 of their contents, and what an earlier one did.

    Attributes:
      imports: of each file.
      digests: of the syntax trees of all files that a module reaches.
    """

    imports: dict[str, list[Import]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    earlier_imports: dict[str, list[Import]] = field(default_factory=dict)
    earlier_digests: dict[str, str] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Learn what an earlier process noted. A file that is damaged or of another Python is as good as none."""
        try:
            head, _, body = path.read_text(encoding="utf-8").partition("\n")
            if head != _head(body):
                return
            found = json.loads(body)
        except (OSError, ValueError):
            return
        self.earlier_imports |= {name: [Import(*each) for each in rows] for name, rows in found["imports"].items()}
        self.earlier_digests |= found["digests"]

    def write(self, path: Path) -> None:
        """Keep it for the next process; where the disk refuses, that one reads the files again."""
        body = json.dumps({"imports": self.imports, "digests": self.digests}, separators=(",", ":"))
        text, fresh = f"{_head(body)}\n{body}", path.with_name(f".{path.name}.{os.getpid()}")
        try:
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                fresh.unlink()


def _head(body: str) -> str:
    """Python writes syntax trees differently from version to version."""
    return f"{platform.python_version()} {hashlib.sha256(body.encode()).hexdigest()}"


NOTES = SourceNotes()
"""Of this process."""


def digest(module: str, root: Path = ROOT) -> str:
    """The SHA-256 over the syntax trees of all modules in reach that can matter to a number.

    Raises:
      InputError: more lies beside a file of your own than can be read each time.
    """
    return _with_beside(_digest_of_code(module, root), (module,), root)


@functools.cache
def _digest_of_code(module: str, root: Path) -> str:
    names = sorted(reach(module, root) - WITHOUT_NUMBERS)
    files = _digest_of_files(names, root)
    if files not in NOTES.digests and files in NOTES.earlier_digests:
        NOTES.digests[files] = NOTES.earlier_digests[files]
    elif files not in NOTES.digests:
        total = hashlib.sha256()
        for name in names:
            text = _read(_file(name, root)).text
            # The length keeps the end of one module apart from the name of the next.
            total.update(f"{name}\0{len(text)}\0{text}".encode())
        NOTES.digests[files] = total.hexdigest()
    return NOTES.digests[files]


def source_digest(modules: tuple[str, ...], root: Path = ROOT) -> str:
    """The SHA-256 over the files of all modules in reach, words and comments included.

    For what is cheap to find again, such as evidence: its texts come from docstrings, too.
    """
    return _with_beside(_digest_of_sources(modules, root), modules, root)


@functools.cache
def _digest_of_sources(modules: tuple[str, ...], root: Path) -> str:
    return _digest_of_files(sorted(frozenset().union(*(reach(module, root) for module in modules))), root)


def _digest_of_files(names: Iterable[str], root: Path) -> str:
    total = hashlib.sha256()
    for name in names:
        total.update(f"{name}\0{_file_digest(_file(name, root))}\0".encode())
    return total.hexdigest()


def _with_beside(code: str, modules: tuple[str, ...], root: Path) -> str:
    """The digest of the code, and of what lies beside those files of it that are neither ours nor installed."""
    folders = _own_folders(modules, root)
    if not folders:
        return code
    total = hashlib.sha256(code.encode())
    for folder, known in folders.items():
        for path in _beside(folder):
            if path not in known:
                total.update(f"{path.name}\0{_content_digest(path)}\0".encode())
    return total.hexdigest()


@functools.cache
def _own_folders(modules: tuple[str, ...], root: Path) -> dict[Path, frozenset[Path]]:
    """The folders of modules of somebody's own, each with the modules in it that the digest has anyway."""
    names = frozenset().union(*(reach(module, root) for module in modules))
    files = sorted(_file(name, root) for name in names if name.split(".")[0] != PACKAGE)
    own = [each for each in files if not _is_installed(each)]
    folders = dict.fromkeys(each.parent for each in own)
    return {folder: frozenset(each for each in own if each.parent == folder) for folder in folders}


def _beside(folder: Path) -> list[Path]:
    """The files of a folder that a run could read, by name: not what is hidden, logs, tests, and plans of sweeps.

    Those of folders below are not among them: that is where results can lie.

    Raises:
      InputError: they are too many, or too large.
    """
    found, size = [], 0
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "test_")) or path.name.endswith(NO_INPUTS) or not path.is_file():
            continue
        if _is_printed_to(path) or _is_plan(path):
            continue
        found.append(path)
        size += path.stat().st_size
    if len(found) > MOST_FILES or size > MOST_BYTES:
        raise InputError(
            f"the folder {folder} of your file has {len(found):,} files of {size / 2**20:,.0f} MiB in all. Results "
            f"depend on the files beside yours, at most {MOST_FILES:,} of {MOST_BYTES // 2**20} MiB; move it to a "
            "folder of its own."
        )
    return found


def _is_printed_to(path: Path) -> bool:
    """Whether this process writes its words there: `widenet check … > found.txt`."""
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(stream), path.stat()):
                return True
    return False


def _is_plan(path: Path) -> bool:
    """Whether this file asks for a sweep. Another point that is asked for changes no result of the others."""
    if path.suffix != ".toml":
        return False
    try:
        return {"of", "over"} <= tomllib.loads(path.read_text(encoding="utf-8")).keys()
    except (OSError, ValueError):
        return False


def _content_digest(path: Path) -> str:
    """Of a module its syntax tree, as of those in reach; it stays what it was when this process could import it."""
    if path.suffix == ".py":
        with contextlib.suppress(SyntaxError, ValueError):
            return hashlib.sha256(_read(path).text.encode()).hexdigest()
    about = path.stat()
    return _data_digest(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=2 * MOST_FILES)
def _data_digest(path: Path, changed: int, size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reach(module: str, root: Path = ROOT) -> frozenset[str]:
    """The module, and every module of the package that it imports, directly or not.

    Raises:
      ValueError: the source of a module is not at hand.
    """
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(_imported(name, root))
    return frozenset(seen)


@functools.cache
def _imported(module: str, root: Path) -> frozenset[str]:
    """The modules that define what this one imports from the package, or from its own."""
    found, own = set(), module.split(".")[0]
    for each in _imports(_file(module, root)):
        source = _absolute(module, each, root)
        top = source.split(".")[0]
        if top in (PACKAGE, own) or (own != PACKAGE and _is_beside(top, _folder(own))):
            found.add(source if each.name is None else _home(source, each.name, root))
    return frozenset(found)


def _is_beside(top: str, folder: Path) -> bool:
    """Whether this is a module of the same folder. Where packages are installed, neighbours are strangers."""
    places = (folder / f"{top}.py", folder / top / "__init__.py")
    return not _is_installed(folder) and any(each.is_file() for each in places)


def _is_installed(path: Path) -> bool:
    return bool({"site-packages", "dist-packages"} & set(path.parts))


def _home(module: str, name: str, root: Path) -> str:
    """The module in which `from module import name` finds it defined."""
    below = f"{module}.{name}"
    if _find(below, root) is not None:
        return below
    path = _file(module, root)
    if path.name != "__init__.py":
        return module
    for each in _imports(path):
        source = _absolute(module, each, root)
        if each.name is not None and each.known_as == name and source.split(".")[0] == module.split(".")[0]:
            return _home(source, each.name, root)
    return module


def _absolute(module: str, imported: Import, root: Path) -> str:
    """The full name of the module that `module` imports from."""
    if not imported.dots:
        return imported.module
    is_package = _file(module, root).name == "__init__.py"
    parts = module.split(".")
    above = parts[: len(parts) - imported.dots + is_package]
    return ".".join([*above, imported.module] if imported.module else above)


def _file(module: str, root: Path) -> Path:
    found = _find(module, root)
    if found is None:
        raise ValueError(f"there is no source of the module {module} to read")
    return found


@functools.cache
def _find(module: str, root: Path) -> Path | None:
    top, *parts = module.split(".")
    place = (root if top == PACKAGE else _folder(top)).joinpath(*parts)
    candidates = (place.with_name(f"{place.name}.py"), place / "__init__.py") if parts else (place / "__init__.py",)
    if not parts and top != PACKAGE:
        candidates += (place / f"{top}.py",)
    return next((each for each in candidates if each.is_file()), None)


def _folder(top: str) -> Path:
    """Where the modules of somebody else's package lie."""
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # __main__, typed in by somebody
        spec = None
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no source of the module {top} to read; put it into a file and import that")
    return Path(spec.origin).parent


def _imports(path: Path) -> list[Import]:
    name = _file_digest(path)
    if name not in NOTES.imports:
        known = NOTES.earlier_imports.get(name)
        NOTES.imports[name] = list(_read(path).imports) if known is None else known
    return NOTES.imports[name]


_PARSING = threading.Lock()
"""CPython counts the depth of a tree for all threads together, and raises a `SystemError` where two parse at once."""


@functools.cache
def _read(path: Path) -> SourceFile:
    text = path.read_text(encoding="utf-8")
    with _PARSING:
        tree = ast.parse(text)
    imports: list[Import] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                imports += [Import(0, alias.name, None, None) for alias in names]
            case ast.ImportFrom(module, names, level):
                imports += [Import(level or 0, module or "", each.name, each.asname or each.name) for each in names]
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                node.body = [each for each in node.body if not _is_words(each)]
    return SourceFile(ast.dump(tree, include_attributes=False), tuple(imports))


def _is_words(node: ast.stmt) -> bool:
    """A docstring, or the string below a constant that explains it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
