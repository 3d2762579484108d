"""Parameters and members have callers too: a default that nothing replaces is a constant, and is written as one.

Calls are found by the name of what is called. A name that several functions share counts for all of them.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import widenet.data
from tests.test_callers import OTHERS, ROOT, documented, exported, home, is_registered, trees

TESTS = ROOT.parents[1] / "tests"
SET_BY_TESTS = {
    "block": "the size of pieces, on which no result depends",
    "clock": "the seconds of a test",
    "image_side": "of images that are small enough for a test",
    "limit": "how much is kept before a recorder is full",
    "root": "where the sources of a toy package lie",
}
"""Parameters that only tests set, by name, and what they are."""
EXCEPTIONS = {
    "widenet.old_names.OldNames.find_spec": "the protocol of importlib",
}
MEMBERS = {"widenet.store.leases.Owner.token": "in the file of a lease, by `vars`"}
"""Members that are read in another way."""


class Call(NamedTuple):
    """What a call passes."""

    positions: int
    keywords: frozenset[str]
    is_open: bool
    """Whether it passes what cannot be read here: `*several` or `**others`."""

    def passes(self, name: str, place: int | None) -> bool:
        return self.is_open or name in self.keywords or (place is not None and self.positions > place)


GIVEN_AWAY = Call(positions=1000, keywords=frozenset(), is_open=False)
"""Whoever is given a function may call it with any positional arguments."""


class Parameter(NamedTuple):
    """One with a default."""

    function: str
    called: str
    name: str
    place: int | None
    """Its place among the positional ones, None if it has none."""


def name_of(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def calls(sources: Iterable[ast.Module]) -> dict[str, list[Call]]:
    """What is called by which name; `partial(f, …)` calls f."""
    found: dict[str, list[Call]] = {}
    for tree in sources:
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
        taken = {each.asname or each.name: each.name for node in imports for each in node.names}
        owned = taken.keys() | {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}

        def add(function: ast.expr, call: Call, taken: dict[str, str] = taken) -> None:
            name = name_of(function)
            if name is not None:
                found.setdefault(taken.get(name, name), []).append(call)

        called = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called.add(id(node.func))
                keywords = frozenset(each.arg for each in node.keywords if each.arg is not None)
                is_open = any(isinstance(each, ast.Starred) for each in node.args) or len(keywords) < len(node.keywords)
                add(node.func, Call(len(node.args), keywords, is_open))
                if name_of(node.func) == "partial":
                    add(node.args[0], Call(len(node.args) - 1, keywords, is_open))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                base = node if isinstance(node, ast.Name) else node.value
                if name_of(base) in owned:
                    add(node, GIVEN_AWAY)
    return found


def functions(tree: ast.Module) -> Iterator[tuple[str, str, ast.FunctionDef, int]]:
    """(name, the name by which it is called, definition, arguments that a call does not write) of what is public."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            if node.decorator_list and is_registered(node):
                continue
            yield node.name, node.name, node, 0
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and (method.name == "__init__" or not method.name.startswith("_")):
                called = node.name if method.name == "__init__" else method.name
                is_static = any(ast.unparse(each) == "staticmethod" for each in method.decorator_list)
                yield f"{node.name}.{method.name}", called, method, 0 if is_static else 1


def parameters(module: str, tree: ast.Module) -> Iterator[Parameter]:
    """Those with a default."""
    for name, called, node, hidden in functions(tree):
        given = [*node.args.posonlyargs, *node.args.args]
        first = len(given) - len(node.args.defaults)
        for place, argument in enumerate(given[first:], first):
            yield Parameter(f"{module}.{name}", called, argument.arg, place - hidden)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if default is not None:
                yield Parameter(f"{module}.{name}", called, argument.arg, None)


def never_passed(wanted: Iterable[Parameter], known: dict[str, list[Call]]) -> list[str]:
    return [
        f"{each.function}({each.name}=)"
        for each in wanted
        if not any(call.passes(each.name, each.place) for call in known.get(each.called, ()))
    ]


@cache
def written() -> tuple[ast.Module, ...]:
    """Everything but tests; of templates the expressions that Python can read too."""
    templates = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.j2"))
    shown = [each.strip() for each in re.findall(r"\{\{-?(.+?)-?\}\}", templates) if is_python(each.strip())]
    beside = [path for folder in OTHERS for path in folder.rglob("*.py") if not path.name.startswith("test_")]
    read = [ast.parse(path.read_text(encoding="utf-8")) for path in beside]
    return (*trees().values(), *read, *map(ast.parse, documented()), *map(ast.parse, shown))


def is_python(expression: str) -> bool:
    try:
        ast.parse(expression)
    except SyntaxError:
        return False
    return True


@cache
def known_calls(*, with_tests: bool) -> dict[str, list[Call]]:
    tested = [ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")] if with_tests else []
    return calls([*written(), *tested])


def is_for_you(function: str) -> bool:
    """Whether `import widenet` or `widenet.data` offers it, or its class. Calls of yours are not here; a test is."""
    module, _, name = function.rpartition(".")
    offered = exported() | {home("widenet.data", each) for each in widenet.data.__all__}
    return any((module, name) == each or module == ".".join(each) for each in offered)


def of_package(*, papers: bool) -> list[Parameter]:
    found = [each for module, tree in trees().items() for each in parameters(module, tree)]
    return [each for each in found if each.function.startswith("widenet.papers.") == papers]


def test_every_parameter_is_passed_somewhere() -> None:
    wanted = [each for each in of_package(papers=False) if not is_for_you(each.function)]
    wanted = [each for each in wanted if each.name not in SET_BY_TESTS and each.function not in EXCEPTIONS]
    assert not never_passed(wanted, known_calls(with_tests=False)), "write the default into the function"


def test_every_parameter_for_you_is_passed_in_a_test() -> None:
    wanted = [each for each in of_package(papers=False) if is_for_you(each.function)]
    assert not never_passed(wanted, known_calls(with_tests=True)), "test it, or remove it"


def test_every_constant_of_a_paper_is_changed_in_a_test() -> None:
    """Where a paper has a constant, a parameter with its value as the default lets a control put a wrong one there."""
    wanted = of_package(papers=True)
    assert not never_passed(wanted, known_calls(with_tests=True)), "test a wrong one, or write it into the function"


def test_every_member_has_a_reader() -> None:
    """Methods, properties and fields of public classes: by name, in code, in templates and in names given as text."""
    texts = [path.read_text(encoding="utf-8") for path in ROOT.rglob("*.j2")]
    nodes = [node for tree in written() for node in ast.walk(tree)]
    texts += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    read = {word for text in texts for word in re.findall(r"\w+", text)}
    read |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    lonely = [each for each in members() if each.rpartition(".")[2] not in read and each not in MEMBERS]
    assert not lonely, "delete them, or use them"


def members() -> Iterator[str]:
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not is_for_you(f"{module}.{node.name}"):
                defined = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
                defined |= {each.id for each in fields if isinstance(each, ast.Name)}
                yield from (f"{module}.{node.name}.{name}" for name in defined if not name.startswith("_"))


def test_control_a_parameter_that_nobody_passes_is_seen() -> None:
    tree = ast.parse(
        "def f(a, b=1, *, c=2, d=3): ...\n\nclass A:\n"
        "    def __init__(self, e=4): ...\n    def g(self, h=5, i=6): ...\n"
    )
    calling = ast.parse("from m import f as k\nk(0, c=1)\nA(1)\nx.g(1)\n")
    found = never_passed(parameters("m", tree), calls([calling]))
    assert found == ["m.f(b=)", "m.f(d=)", "m.A.g(i=)"]
    for text in ("f(*some)", "f(**some)", "partial(f, 0, 1, d=2)", "from m import f\nmap(f, some)\nf(d=1)"):
        assert never_passed(parameters("m", tree), calls([calling, ast.parse(text)])) == ["m.A.g(i=)"], text


def test_exceptions_exist() -> None:
    known = of_package(papers=False)
    assert set(EXCEPTIONS) <= {each.function for each in known}
    assert set(SET_BY_TESTS) <= {each.name for each in known}
    assert set(MEMBERS) <= set(members())
