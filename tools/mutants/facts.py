"""What types and names say about a number, so that mutants which change nothing are not proposed.

A count that is above 0 is above 0.1 too, and a norm is never below 0. A whole number is told by its annotation
(`Int[…]`, `Count`, `int`, an alias of these), by `len`, `n_…` and the like; the columns of a paper by their names.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

OPERATORS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
WORDS: dict[str, type[ast.cmpop]] = {
    "at_most": ast.LtE,
    "at_least": ast.GtE,
    "less_than": ast.Lt,
    "more_than": ast.Gt,
    "equal": ast.Eq,
}
"""The words that compare two columns."""
COUNTS = {"len", "count_nonzero", "bit_count", "bincount"}
SIZES = {"abs", "absolute", "norm", "sqrt", "exp", "square", "var", "std"} | COUNTS
ROUNDED = {"floor", "ceil", "rint", "round", "int", "argmax", "argmin", "searchsorted", "arange"}
KEPT = {
    "max",
    "min",
    "maximum",
    "minimum",
    "sum",
    "asarray",
    "array",
    "ravel",
    "repeat",
    "sort",
    "unique",
    "concatenate",
}
"""What keeps whole numbers whole, and sizes at or above 0."""
WHOLE_KEPT = {"diff", "roll", "tile", "reshape", "flatten", "take", "stack", "cumsum"}
"""What keeps whole numbers whole."""


@dataclass(frozen=True)
class Domain:
    """Which numbers an expression can be: whole ones, none below 0, or −1 and +1 alone."""

    whole: bool = False
    positive: bool = False
    sign: bool = False

    def samples(self, *near: float) -> list[float]:
        """Numbers of this kind between and around these."""
        if self.sign:
            return [-1.0, 1.0]
        low, high = math.floor(min(near)) - 2, math.ceil(max(near)) + 2
        found: Iterable[float] = range(low, high + 1)
        if not self.whole:
            found = sorted({*near, *(each + way for each in near for way in (-0.01, 0.01)), low, high})
        return [float(each) for each in found if each >= 0 or not self.positive]

    def is_known(self) -> bool:
        """Whether anything is known."""
        return self.whole or self.positive or self.sign


ANY, COUNT, SIZE, WHOLE, SIGN = Domain(), Domain(True, True), Domain(positive=True), Domain(True), Domain(sign=True)


class Facts:
    """What is known about the numbers of a module.

    Arguments:
      columns: what the columns of the paper are, by name.
      signs: whether labels and signs of this module are −1 and +1.
    """

    def __init__(self, tree: ast.Module, columns: Mapping[str, Domain] | None = None, *, signs: bool = False) -> None:
        """Read every comparison with a number."""
        self._columns, self._signs = {**(columns or {}), **columns_of([tree])}, signs
        self._names: dict[str, Domain] = {}
        self._beside: dict[ast.expr, tuple[type[ast.cmpop], Domain]] = {}
        self._counting = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _is_int(node.returns, set())
        }
        self._whole = {each for node in ast.walk(tree) for each in _whole_numbers(node)}
        self._counted = {each for node in ast.walk(tree) for each in _counted(node)}
        self._guards: set[ast.expr] = set()
        for node in tree.body:
            self._names = {}
            _learn(node, self, self._names)
            for each in ast.walk(node):
                for number, op, other in _comparisons(each):
                    self._beside[number] = (op, self.domain(other))
                self._guards |= {one for one, count in _guards(each) if self.domain(count).whole}
        self._names = {}

    def is_idle(self, number: ast.expr, old: float, new: float) -> bool:
        """Whether the comparison that this number stands in says the same of every possible value with another one."""
        if number in self._whole and not float(new).is_integer():
            return True
        if number in self._guards and 0 < new <= old:
            return True
        if number in self._counted:
            return math.ceil(old) == math.ceil(new)
        op, domain = self._beside.get(number, (ast.Eq, ANY))
        return domain.is_known() and _same(domain, (op, old), (op, new), old, new)

    def has_no_edge(self, node: ast.Compare, new: type[ast.cmpop]) -> bool:
        """Whether another sign of comparison says the same of every possible value."""
        for number, op, _ in _comparisons(node):
            _, domain = self._beside[number]
            value, other = _value(number), new if number is node.comparators[0] else MIRRORED[new]
            return domain.is_known() and value is not None and _same(domain, (op, value), (other, value), value)
        return False

    def is_sign(self, node: ast.expr) -> bool:
        """Whether dividing by it is multiplying by it."""
        return self.domain(node).sign

    def is_whole(self, node: ast.expr) -> bool:
        """Whether it is a whole number."""
        return self.domain(node).whole

    def is_size(self, node: ast.expr) -> bool:
        """Whether it is never below 0."""
        return self.domain(node).positive

    def domain(self, node: ast.expr) -> Domain:
        """What is known about an expression."""
        match node:
            case ast.Constant(value=bool()):
                return COUNT
            case ast.Constant(value=int() | float() as value):
                return Domain(float(value).is_integer(), value >= 0)
            case ast.Name(id=name) | ast.Attribute(attr=name) if self._signs and _is_sign(name):
                return SIGN
            case ast.Name(id=name):
                return self._names.get(name) or (COUNT if name.startswith("n_") else ANY)
            case ast.Attribute(attr="size" | "ndim", value=ast.Name(id="np" | "jnp")):
                return ANY
            case ast.Attribute(attr="T", value=value):
                return self.domain(value)
            case ast.Attribute(attr=name):
                return self._columns.get(name) or (COUNT if name.startswith("n_") or name == "ndim" else ANY)
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return COUNT
            case ast.Subscript(value=value):
                return self.domain(value)
            case ast.Compare():
                return COUNT
            case ast.BinOp(left=left, op=op, right=right):
                return _combined(self.domain(left), op, self.domain(right), right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                known = self.domain(operand)
                return Domain(known.whole, sign=known.sign)
            case ast.List(elts=[first, *others]) if all(self.domain(each) == self.domain(first) for each in others):
                return self.domain(first)
            case ast.ListComp(elt=each):
                return self.domain(each)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return self._of_call(name, node)
        return ANY

    def _of_call(self, name: str, node: ast.Call) -> Domain:
        given = list(node.args)
        if isinstance(node.func, ast.Attribute) and not _is_library(node.func.value):
            given.insert(0, node.func.value)
        first = self.domain(given[0]) if given else ANY
        if name in COUNTS:
            return COUNT
        if name in self._counting:
            return WHOLE
        if name in SIZES:
            return Domain(name in ("abs", "absolute", "square") and (first.whole or first.sign), True)
        if name in ROUNDED:
            return Domain(True, name == "arange" or first.positive)
        if name in ("maximum", "minimum") and len(given) > 1:
            both = [self.domain(each) for each in given[:2]]
            is_positive = any if name == "maximum" else all
            return Domain(all(each.whole for each in both), is_positive(each.positive for each in both))
        if name in WHOLE_KEPT:
            return Domain(first.whole)
        return first if name in KEPT else ANY


def columns_of(trees: Iterable[ast.Module]) -> dict[str, Domain]:
    """The annotated columns of these modules that are whole numbers, and those alone of which no other is not."""
    trees = list(trees)
    aliases = {
        target.id
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(target := node.targets[0], ast.Name)
        and _is_int(node.value, set())
    }
    found: dict[str, bool] = {}
    for tree in trees:
        for name, hint in _annotated(tree):
            found[name] = found.get(name, True) and _is_int(hint, aliases)
    return {name: WHOLE for name, is_whole in found.items() if is_whole}


def _annotated(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
        for each in node.body:
            match each:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=hint, value=value):
                    yield name, ast.Name("int") if _is_arange(value) else hint
                case ast.FunctionDef(name=name, returns=ast.expr() as hint):
                    yield name, hint


def _is_arange(value: ast.expr | None) -> bool:
    """Whether a column is 0, 1, 2, …, whatever its type."""
    match value:
        case ast.Call(args=[ast.Lambda(body=ast.Call(func=ast.Attribute(attr="arange"), args=args))]):
            return all(_value(each) in (None, 0.0, 1.0) for each in args)
    return False


def _is_int(hint: ast.expr | None, aliases: set[str]) -> bool:
    match hint:
        case ast.Name(id=name):
            return name in {"int", "Count", "bool", *aliases}
        case ast.Subscript(value=ast.Name(id="Int" | "Bool")):
            return True
    return False


def _learn(node: ast.stmt, facts: Facts, names: dict[str, Domain]) -> None:
    """Names of a function that are whole numbers by their annotation, or by the one expression that they stand for."""
    functions = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef)]
    for function in functions:
        for each in (*function.args.args, *function.args.kwonlyargs):
            if _is_int(each.annotation, set()):
                names[each.arg] = COUNT if each.arg.startswith("n_") else WHOLE
        names |= {each: WHOLE for each in _places(function)}
        assigned: dict[str, list[ast.expr | None]] = {}
        for each in ast.walk(function):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                assigned.setdefault(each.id, []).append(None)
            if isinstance(each, ast.Assign):
                for name, value in _pairs(each.targets[0], each.value):
                    assigned.setdefault(name, []).append(value)
        for name, values in assigned.items():
            expressions = [each for each in values if each is not None]
            if len(values) == 2 and len(expressions) == 1 and name not in names:
                names[name] = facts.domain(expressions[0])
            elif name not in _places(function):
                names.pop(name, None)


def _places(function: ast.FunctionDef) -> set[str]:
    """Names that count in `for number, … in enumerate(…)` and `for number in range(…)`, and stand for nothing else."""
    loops = [each for each in ast.walk(function) if isinstance(each, ast.For | ast.comprehension)]
    found: list[str] = []
    for each in loops:
        match each.target, each.iter:
            case ast.Tuple(elts=[ast.Name(id=name), _]), ast.Call(func=ast.Name(id="enumerate")):
                found.append(name)
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range")):
                found.append(name)
    stored = [each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    return {name for name in found if stored.count(name) == found.count(name)}


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each name of an assignment with the expression that it is, or is a part of."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for one, its in zip(names, values, strict=True):
                yield from _pairs(one, its)
        case ast.Tuple(elts=names), ast.Attribute() | ast.Subscript():
            for one in names:
                yield from _pairs(one, value)


def _comparisons(node: ast.AST) -> Iterator[tuple[ast.expr, type[ast.cmpop], ast.expr]]:
    """(a number, the sign as seen from the other side, the other side)."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            if _value(right) is not None:
                yield right, type(op), left
            elif _value(left) is not None:
                yield left, MIRRORED[type(op)], right
        case ast.Call(func=ast.Name(id=name), args=[measured, limit]) if name in WORDS and _value(limit) is not None:
            if not any(each.arg in ("within", "room") for each in node.keywords):
                yield limit, WORDS[name], measured


def _whole_numbers(node: ast.AST) -> Iterator[ast.expr]:
    """Defaults of parameters that are whole numbers by their annotation."""
    if isinstance(node, ast.arguments):
        places = [*node.posonlyargs, *node.args]
        pairs = [*zip(places[len(places) - len(node.defaults) :], node.defaults, strict=True)]
        pairs += [(each, value) for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value]
        yield from (value for each, value in pairs if _is_int(each.annotation, set()))


def _counted(node: ast.AST) -> Iterator[ast.expr]:
    """How many there are: `arange(1.8)` has as many entries as `arange(2)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="arange"), args=[number]) if _value(number) is not None:
            yield number


def _guards(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The 1 of `x / maximum(count, 1)`, beside which only a count of 0 is smaller: then there is nothing to divide."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Call(args=[count, number]) as call) if _value(number) == 1.0:
            if ast.unparse(call.func) in ("max", "np.maximum"):
                yield number, count


def _value(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
    return None


def _same(domain: Domain, one: tuple[type[ast.cmpop], float], two: tuple[type[ast.cmpop], float], *near: float) -> bool:
    (op, value), (other_op, other) = one, two
    return all(OPERATORS[op](x, value) == OPERATORS[other_op](x, other) for x in domain.samples(*near))


def _combined(left: Domain, op: ast.operator, right: Domain, by: ast.expr) -> Domain:
    whole = left.whole and right.whole
    both = left.positive and right.positive
    match op:
        case ast.Add():
            return Domain(whole, both)
        case ast.Sub():
            return Domain(whole)
        case ast.Mult():
            return Domain(whole, both, left.sign and right.sign)
        case ast.Div():
            return Domain(False, both)
        case ast.FloorDiv() | ast.Mod():
            return Domain(whole, both)
        case ast.Pow():
            is_even = isinstance(by, ast.Constant) and by.value in (2, 4)
            return Domain(left.whole and both, left.positive or is_even)
    return ANY


def _is_sign(name: str) -> bool:
    return name.lower().split("_")[-1] in ("labels", "signs", "sign")


def _is_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in (
        "np",
        "jnp",
        "math",
        "np.linalg",
        "jnp.linalg",
    )
