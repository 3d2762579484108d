"""What a room says about its claims and figures, read from the source: listing them needs neither JAX nor time.

A claim is a decorated function or a variant of another claim, with literal words:

    @claim("paper.theorem_1", Kind.MAIN, "Theorem 1", reads=…)
    def theorem_1(runs): \"\"\"The statement.\"\"\"

    theorem_1_as_printed = theorem_1.variant("theorem_1_as_printed", where="…", statement="…", …)

A figure is a call of `Figure` with a literal id, title and caption. A test compares what is read here with what the
imported objects say.
"""

import ast
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from widenet.claims.base import Kind, Verdict
from widenet.papers.base import Paper

ROOMS = Path(__file__).parent


@dataclass(frozen=True)
class ListedClaim:
    """A claim as a reader sees it in a list."""

    id: str
    kind: Kind
    statement: str
    where: str

    @property
    def expected(self) -> Verdict:
        """VIOLATED for a statement that is kept because it is false as printed."""
        return Verdict.VIOLATED if self.id.endswith("_as_printed") else Verdict.HOLDS


@dataclass(frozen=True)
class ListedFigure:
    """A figure as a reader sees it in a list."""

    id: str
    title: str
    caption: str


def listed_claims(paper: Paper) -> list[ListedClaim]:
    """The claims of a paper, in its order."""
    read: dict[str, dict[str, ListedClaim]] = {}
    for place in paper.claims:
        module = place.rsplit(".", 1)[0]
        if module not in read:
            path = ROOMS / paper.key / "claims" / f"{module.replace('.', '/')}.py"
            read[module] = _claims_in(ast.parse(path.read_text(encoding="utf-8")), paper.key)
    return [read[place.rsplit(".", 1)[0]][place.rsplit(".", 1)[1]] for place in paper.claims]


def listed_figures(paper: Paper) -> list[ListedFigure]:
    """The figures of a paper, in its order."""
    return [_figure_in(ROOMS / paper.key / "figures" / f"{name}.py", name) for name in paper.figures]


def _claims_in(tree: ast.Module, key: str) -> dict[str, ListedClaim]:
    found: dict[str, ListedClaim] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(
                name=name, decorator_list=[ast.Call(func=ast.Name("claim"), args=[id, kind, where]), *_]
            ):
                words = inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")[0]
                found[name] = ListedClaim(_text(id), _kind(kind), " ".join(words.split()), _text(where))
            case ast.Assign(
                targets=[ast.Name(name)],
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(origin), attr="variant"), args=[id], keywords=keywords
                ),
            ):
                given = {word.arg: word.value for word in keywords}
                kind = _kind(given["kind"]) if "kind" in given else found[origin].kind
                found[name] = ListedClaim(f"{key}.{_text(id)}", kind, _text(given["statement"]), _text(given["where"]))
    return found


def _figure_in(path: Path, name: str) -> ListedFigure:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(constant)], value=ast.Constant(str(text))):
                texts[constant] = text
            case ast.Assign(targets=[ast.Name(target)], value=ast.Call(func=ast.Name("Figure"), keywords=keywords)):
                if target == name:
                    given = {word.arg: word.value for word in keywords}
                    id, title, caption = (_text(given[each], texts) for each in ("id", "title", "caption"))
                    return ListedFigure(id, title, caption)
    raise ValueError(f"{path.name} has no figure {name} with literal words")


def _text(node: ast.expr, constants: dict[str, str] | None = None) -> str:
    if isinstance(node, ast.Name) and constants and node.id in constants:
        return constants[node.id]
    value: Any = ast.literal_eval(node)
    if not isinstance(value, str):
        raise ValueError(f"line {node.lineno}: expected words, got {value!r}")
    return value


def _kind(node: ast.expr) -> Kind:
    if not isinstance(node, ast.Attribute):
        raise ValueError(f"line {node.lineno}: expected Kind.…")
    return Kind[node.attr]
