"""What a mutant is: one edit of one file of source, with a description that outlives moved lines."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

MODULE = "<module>"


@dataclass(frozen=True)
class Mutant:
    """One edit.

    Attributes:
      module: dotted name of the module.
      function: qualified name of the top-level function or method, or `<module>`.
      operator: what kind of weakening it is.
      before, after: the words that changed.
      line: where, for the reader.
      start, end, text: the bytes that `text` replaces.
      milder: the description of the smaller step the same way; this one is only tried where that one survives.
      number: 1, or which one of several with the same description.
    """

    module: str
    function: str
    operator: str
    before: str
    after: str
    line: int
    start: int
    end: int
    text: str
    milder: str = ""
    number: int = 1

    @property
    def description(self) -> str:
        """The name of the mutant: it stays when lines move."""
        place = f"{self.module.rsplit('.', 1)[-1]}.{self.function}"
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{place}: {self.operator}: {self.before} → {self.after}{again}"

    def applied(self, source: bytes) -> bytes:
        """The source with this edit."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Source:
    """A file of source with its tree, and the place of each node in bytes."""

    def __init__(self, module: str, data: bytes) -> None:
        """Parse it."""
        self.module, self.data, self.tree = module, data, ast.parse(data)
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """First byte, and the byte after the last."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
        )

    def words(self, node: ast.expr | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def mutant(
        self, node: ast.expr | ast.keyword, function: str, operator: str, text: str, *, says: str = "", milder: str = ""
    ) -> Mutant:
        """This node replaced by `text`; `says` stands for it in the description."""
        start, end = self.span(node)
        before = short(self.words(node))
        return Mutant(
            self.module, function, operator, before, says or short(text), node.lineno, start, end, text, milder
        )


def short(text: str, limit: int = 60) -> str:
    """Words on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def numbered(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Mutants with the same description told apart; a larger step names its own smaller one."""
    seen: dict[str, int] = {}
    found = []
    for each in mutants:
        number = seen[each.description] = seen.get(each.description, 0) + 1
        milder = f"{each.milder} #{number}" if each.milder and number > 1 else each.milder
        found.append(Mutant(**{**each.__dict__, "number": number, "milder": milder}))
    return found
