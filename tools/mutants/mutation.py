"""What a mutant is: one edit of one file of source, with a description that outlives moved lines."""

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from tools.mutants.facts import Domain, Facts

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
      meaning: what a user would be told or given wrongly, where a person wrote it.
      is_idle: types or names say that it changes nothing; it has a number, and is not tried.
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
    is_idle: bool = False
    meaning: str = ""

    @property
    def description(self) -> str:
        """The name of the mutant: it stays when lines move."""
        place = f"{self.module.rsplit('.', 1)[-1]}.{self.function}"
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{place}: {self.operator}: {self.before} → {self.after}{again}"

    def applied(self, source: bytes) -> bytes:
        """The source with this edit."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass(frozen=True)
class Known:
    """What is known beside the source.

    Attributes:
      columns: of the paper, by name.
      signs: modules in which labels and signs are −1 and +1.
      steering: `module.NAME` or `module.function.name`: what is assigned there changes no result.
    """

    columns: Mapping[str, Domain] = field(default_factory=dict)
    signs: Collection[str] = ()
    steering: Collection[str] = ()


class Source:
    """A file of source with its tree, and the place of each node in bytes."""

    def __init__(self, module: str, data: bytes, known: Known | None = None) -> None:
        """Parse it."""
        known = known or Known()
        self.module, self.data, self.tree = module, data, ast.parse(data)
        name = module.rsplit(".", 1)[-1]
        self.facts = Facts(self.tree, known.columns, signs=name in known.signs)
        self.drawing: set[str] = set()
        self.tolerances: Callable[[str], set[str]] = lambda _: set()
        self._steering = {each.split(".", 1)[1] for each in known.steering if each.split(".", 1)[0] == name}
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
        self,
        node: ast.expr | ast.keyword,
        function: str,
        operator: str,
        text: str,
        *,
        says: str = "",
        milder: str = "",
        is_idle: bool = False,
    ) -> Mutant:
        """This node replaced by `text`; `says` stands for it in the description."""
        start, end = self.span(node)
        before = short(self.words(node))
        return Mutant(
            module=self.module,
            function=function,
            operator=operator,
            before=before,
            after=says or short(text),
            line=node.lineno,
            start=start,
            end=end,
            text=text,
            milder=milder,
            is_idle=is_idle or self._steers(node, function),
        )

    def _steers(self, node: ast.expr | ast.keyword, function: str) -> bool:
        """Whether it stands in what only steers a search or the order of work."""
        if not self._steering:
            return False
        prefix = "" if function == MODULE else f"{function}."
        return any(
            f"{prefix}{name.id}" in self._steering
            for each in ast.walk(self.tree)
            if isinstance(each, ast.Assign) and _contains(each, node)
            for target in each.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        )


def short(text: str, limit: int = 60) -> str:
    """Words on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _contains(statement: ast.Assign, node: ast.expr | ast.keyword) -> bool:
    return (statement.lineno, statement.col_offset) <= (node.lineno, node.col_offset) and (
        (node.end_lineno or 0, node.end_col_offset or 0) <= (statement.end_lineno or 0, statement.end_col_offset or 0)
    )


def numbered(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Those that are not idle; with the same description told apart; a larger step names its own smaller one.

    Idle ones are numbered too, so that a new fact renames no other mutant.
    """
    seen: dict[str, int] = {}
    found = []
    for each in mutants:
        number = seen[each.description] = seen.get(each.description, 0) + 1
        milder = f"{each.milder} #{number}" if each.milder and number > 1 else each.milder
        found.append(Mutant(**{**each.__dict__, "number": number, "milder": milder}))
    idle = {each.description for each in found if each.is_idle}
    return [
        Mutant(**{**each.__dict__, "milder": ""}) if each.milder in idle else each for each in found if not each.is_idle
    ]
