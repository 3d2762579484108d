"""What papers/ is made of, counted: `python -m tools.counts`.

Counts of the syntax tree, for docs/claims.md: what judges do by hand that the core does for them, and lines by kind.
"""

import ast
import io
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tools.mutants.table import equivalents
from tools.mutants.targets import EQUIVALENT

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "src" / "widenet" / "papers"
EXTREMES = {"max", "min", "nanmax", "nanmin", "amax", "amin"}
LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def judges_in(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions under `@claim(…)`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(_called(each) == "claim" for each in node.decorator_list):
            yield node


def hypotheses_in(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions under `@hypothesis(…)`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(_called(each) == "hypothesis" for each in node.decorator_list):
            yield node


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _iterated(node: ast.AST) -> list[ast.expr]:
    return [node.iter] if isinstance(node, ast.For) else [each.iter for each in getattr(node, "generators", [])]


def loops_over_runs(tree: ast.AST) -> int:
    """Loops and comprehensions over `.cells`, or over `.each()`, the runs of a table."""
    words = (ast.unparse(each) for node in ast.walk(tree) if isinstance(node, LOOPS) for each in _iterated(node))
    return sum(".cells" in each or ".each()" in each for each in words)


def own_lines(judge: ast.FunctionDef) -> int:
    """Lines of its body, without the docstring: how long the inequality is."""
    body = judge.body[1:] if ast.get_docstring(judge) is not None else judge.body
    return sum((each.end_lineno or each.lineno) - each.lineno + 1 for each in body)


def calls(tree: ast.AST, *names: str) -> int:
    """Calls of functions or methods of these names."""
    return sum(isinstance(node, ast.Call) and _called(node) in names for node in ast.walk(tree))


def methods_called(tree: ast.AST, name: str) -> int:
    """Calls of methods of this name."""
    functions = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(isinstance(each, ast.Attribute) and each.attr == name for each in functions)


def own_counts(tree: ast.AST) -> int:
    """Records that say themselves how many runs there were: `def counts(self) -> dict[str, int]`."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "counts")
    return sum(each.returns is not None and ast.unparse(each.returns) == "dict[str, int]" for each in found)


def about_user_data(tree: ast.AST) -> Counter[str]:
    """`on=` of experiments, their variants and claims, and `@drawn_on`."""
    found = Counter[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(each.arg == "on" for each in node.keywords):
            found["on="] += 1
        if isinstance(node, ast.Call) and _called(node) == "drawn_on":
            found["drawn_on"] += 1
    return found


def lines_by_kind(text: str) -> Counter[str]:
    """Blank lines, comments, texts of several lines such as docstrings, decorators, imports, and other code."""
    lines = text.splitlines()
    kinds = ["code"] * len(lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _mark(kinds, node.lineno, node.end_lineno, "imports")
        for each in getattr(node, "decorator_list", []):
            _mark(kinds, each.lineno, each.end_lineno, "decorators")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            _mark(kinds, node.lineno, node.end_lineno, "texts")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].lstrip().startswith("#"):
            kinds[token.start[0] - 1] = "comments"
    for place, line in enumerate(lines):
        if not line.strip():
            kinds[place] = "blank"
    return Counter(kinds)


def _mark(kinds: list[str], start: int, end: int | None, kind: str) -> None:
    kinds[start - 1 : end] = [kind] * ((end or start) - start + 1)


def counted() -> dict[str, int]:
    """Every count, by what it counts."""
    found, lengths = Counter[str](), list[int]()
    for path in sorted(PAPERS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree, part = ast.parse(text), path.relative_to(PAPERS).parts[1:2]
        judges, hypotheses = list(judges_in(tree)), list(hypotheses_in(tree))
        found["judges"] += len(judges)
        found["hypotheses"] += len(hypotheses)
        lengths += map(own_lines, judges)
        found["loops over cells or runs in judges"] += sum(map(loops_over_runs, judges))
        found["extremes in judges"] += sum(calls(each, *EXTREMES) for each in judges)
        found["extremes in hypotheses"] += sum(calls(each, *EXTREMES) for each in hypotheses)
        found["Runs(…) counted in judges"] += sum(calls(each, "Runs") for each in judges)
        if part == ("claims",):
            found["loops over cells or runs elsewhere in claims/"] += loops_over_runs(tree) - sum(
                map(loops_over_runs, judges)
            )
            found[".map(…) in claims/"] += methods_called(tree, "map")
        found["counts() of records"] += own_counts(tree)
        found.update(about_user_data(tree))
        found.update({f"lines of papers/: {kind}": number for kind, number in lines_by_kind(text).items()})
        found["lines of papers/"] += len(text.splitlines())
    for name, folder in (("src/", ROOT / "src"), ("tests/", ROOT / "tests"), ("tests/papers/", ROOT / "tests/papers")):
        found[f"lines of {name}"] = sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))
    found["lines of all judges"], found["lines of a judge, median"] = sum(lengths), int(median(lengths))
    declared = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["declared"]
    return {**found, "equivalent mutants": len(equivalents()) + len(declared)}


if __name__ == "__main__":
    for what, number in counted().items():
        print(f"{number:>7,}  {what}")
