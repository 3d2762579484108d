"""What can be weakened, and which tests should notice."""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.facts import SIGN, columns_of
from tools.mutants.mutation import Known, Mutant
from tools.mutants.ordinary import ordinary
from tools.mutants.weakenings import weakenings
from tools.mutants.written import by_file, written

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "widenet"
WRITTEN = ("certificates", "estimators")
"""Parts whose weakenings are written by hand."""
OTHERS = ("diagnostics", "training", *WRITTEN)
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
LIMITS = "test_limits.py"
"""Of each paper: limits written by hand."""
INDEX = ROOT / "tests" / "papers" / "test_index.py"
"""Whether claims ask for what the generated index says: of all tests the last that is tried."""


@dataclass(frozen=True)
class Target:
    """A paper, or a part of the package.

    Attributes:
      name: what the command calls it.
      files: the modules that are weakened.
      tests: the folder in which tests may notice.
      pattern: of the names of their files.
      by_file: whether it is enough to know which file of tests reaches a function. Compiled functions are entered
        once per process, so that who entered first says nothing about the others.
    """

    name: str
    files: tuple[Path, ...]
    tests: Path
    by_file: bool = False
    pattern: str = "test_*.py"

    @property
    def is_written(self) -> bool:
        """Whether weakenings of meaning were written by hand."""
        return self.name in WRITTEN

    @property
    def is_paper(self) -> bool:
        """Whether judges are weakened, and not ordinary code."""
        return self.name not in OTHERS

    def mutants(self) -> Iterator[Mutant]:
        """All of them, file by file."""
        known = self._known()
        for path in self.files:
            data = path.read_bytes()
            if self.is_written:
                yield from written(path, module_of(path), data)
            elif self.is_paper:
                yield from weakenings(module_of(path), data, judges="formulas" not in path.stem, known=known)
            else:
                yield from ordinary(module_of(path), data, known)

    def _known(self) -> Known:
        listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
        folder = PACKAGE / "papers" / self.name
        trees = [ast.parse(path.read_bytes()) for path in folder.rglob("*.py")] if self.is_paper else []
        two_classes = {"labels": SIGN} if self.name in listed.get("two_classes", {}) else {}
        return Known(columns_of(trees) | two_classes, listed.get("signs", {}), listed.get("steering", {}))

    def test_files(self) -> list[Path]:
        """The files of tests, in order; of a paper, those of its claims and formulas, and what it declares."""
        if self.is_paper:
            formulas, claims = self.tests.glob("test_*formulas*.py"), (self.tests / "claims").glob("test_*.py")
            return [*sorted(formulas), *sorted(claims), self.tests / LIMITS, INDEX]
        return sorted(path for path in self.tests.rglob(self.pattern) if not re.search("gpu|devices", path.name))

    def is_own(self, test: str, module: str) -> bool:
        """Whether a file of tests carries the name of this module, alone or with a noun of its own after it."""
        about, name = Path(test).stem.removeprefix("test_"), module.rsplit(".", 1)[-1]
        return is_named_after(about, name) and about not in {path.stem for path in self.files} - {name}

    def own_tests(self, module: str) -> set[str]:
        """The names of these files."""
        return {path.name for path in self.test_files() if self.is_own(path.name, module)}


def is_named_after(test: str, module: str) -> bool:
    """Whether `wide_angle` is about `wide`."""
    return test == module or test.startswith(f"{module}_")


def find(name: str) -> Target:
    """The target of this name."""
    if name in WRITTEN:
        files = tuple(path for path in by_file() if path.is_relative_to(PACKAGE / name) or path.stem == name)
        # Tests look at one certificate that the first of them made: by file, since only that one enters anything.
        if name == "estimators":
            return Target(name, files, ROOT / "tests", by_file=True, pattern="test_estimators*.py")
        return Target(name, files, ROOT / "tests" / name, by_file=True)
    if name in OTHERS:
        files = tuple(sorted((PACKAGE / name).rglob("*.py")))
        return Target(name, files, ROOT / "tests" / name, by_file=name == "training")
    folder = PACKAGE / "papers" / name
    if not (folder / "claims").is_dir():
        raise SystemExit(f"no paper or part {name!r}; there are {', '.join(papers())}, {', '.join(OTHERS)}.")
    tops = [path for kind in ("formulas", "hypotheses") for path in sorted(folder.glob(f"*{kind}.py"))]
    files = (*tops, *sorted((folder / "claims").glob("*.py")))
    return Target(name, tuple(path for path in files if path.stem != "__init__"), ROOT / "tests" / "papers" / name)


def papers() -> list[str]:
    """The papers that have claims."""
    return sorted(path.parent.name for path in (PACKAGE / "papers").glob("*/claims") if any(path.glob("[a-z]*.py")))


def module_of(path: Path) -> str:
    """The dotted name."""
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def path_of(module: str) -> Path:
    """The file of a module."""
    return ROOT / "src" / Path(*module.split(".")).with_suffix(".py")
