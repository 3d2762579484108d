"""What a room says about its claims and figures, read from the source: listing them needs neither JAX nor time.

A claim is a decorated function or a variant of another claim, with literal words:

    @claim("paper.theorem_1", Kind.MAIN, "Theorem 1", reads=…)
    def theorem_1(runs): \"\"\"The statement.\"\"\"

    theorem_1_as_printed = theorem_1.variant("theorem_1_as_printed", where="…", statement="…", …)

A figure is a call of `Figure` with a literal id, title and caption. A test compares what is read here with what the
imported objects say.
"""

import ast
import importlib.util
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from widenet.claims.base import Kind, Verdict, expected_of
from widenet.papers.base import Paper


@dataclass(frozen=True)
class ListedClaim:
    """A claim as a reader sees it in a list."""

    id: str
    kind: Kind
    statement: str
    where: str

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]

    @property
    def expected(self) -> Verdict:
        """VIOLATED for a statement that is kept because it is false as printed."""
        return expected_of(self.id)


@dataclass(frozen=True)
class ListedFigure:
    """A figure as a reader sees it in a list."""

    id: str
    title: str
    caption: str

    @property
    def paper(self) -> str:
        """The key of the paper."""
        return self.id.split(".")[0]


def listed_claims(paper: Paper) -> list[ListedClaim]:
    """The claims of a paper, in its order.

    Raises:
      ValueError: a claim of its table of contents is not written as this module reads it.
    """
    read: dict[str, dict[str, ListedClaim]] = {}
    listed = []
    for place in paper.claims:
        module, name = place.rsplit(".", 1)
        path = _room(paper) / "claims" / f"{module.replace('.', '/')}.py"
        if module not in read:
            read[module] = _claims_in(ast.parse(path.read_text(encoding="utf-8"), str(path)), paper.key)
        if name not in read[module]:
            raise ValueError(f"{path} has no claim {name} with literal words")
        listed.append(read[module][name])
    return listed


def listed_figures(paper: Paper) -> list[ListedFigure]:
    """The figures of a paper, in its order.

    Raises:
      ValueError: a figure of its table of contents is not written as this module reads it.
    """
    return [_figure_in(_room(paper) / "figures" / f"{name}.py", name) for name in paper.figures]


def _room(paper: Paper) -> Path:
    spec = importlib.util.find_spec(paper.room)
    if spec is None or spec.origin is None:
        raise ValueError(f"{paper.key} has no room")
    return Path(spec.origin).parent


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
                if "kind" not in given and origin not in found:
                    raise ValueError(f"line {node.lineno}: a variant of a claim of another file needs its kind")
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
    raise ValueError(f"{path} has no figure {name} with literal words")


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
