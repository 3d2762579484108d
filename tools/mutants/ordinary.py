"""The usual mutants of any program, for diagnostics and training: a wrong sign, a wrong edge, a number that is off."""

import ast
from collections.abc import Iterator

from tools.mutants.mutation import MODULE, Known, Mutant, Source, numbered
from tools.mutants.weakenings import EDGES, OTHER_EDGE, SHAPES, SWAPS, TOLERANCES, moved, one_side, reads

ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
EQUAL: dict[type[ast.cmpop], str] = {ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is"}


def ordinary(module: str, data: bytes, known: Known | None = None) -> list[Mutant]:
    """All mutants of this file."""
    source = Source(module, data, known)
    return numbered(each for function, node in _looked_at(source.tree, MODULE) for each in _of(source, function, node))


def _looked_at(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.JoinedStr() | ast.Raise():
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.keyword(arg=arg) if arg in SHAPES:
            return
        case ast.BinOp() if name == MODULE and _is_type(node):
            return
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _looked_at(value, name)
            return
        case ast.ClassDef():
            for child in node.body:  # what is no method is run when the module is loaded
                yield from _looked_at(child, node.name if isinstance(child, ast.FunctionDef) else MODULE)
            return
        case ast.FunctionDef():
            is_method = "." not in name and name.lstrip("_")[0].isupper()
            inner = node.name if name == MODULE else f"{name}.{node.name}" if is_method else name
            for child in (*node.args.defaults, *node.body):
                yield from _looked_at(child, inner)
            return
        case ast.expr():
            yield name, node
    for child in ast.iter_child_nodes(node):
        yield from _looked_at(child, name)


def _is_type(node: ast.expr) -> bool:
    """Whether it is a union of types, which nobody checks while mutants are tried."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_type(left) and _is_type(right)
        case ast.Name(id=name):
            return not name.isupper()
    return isinstance(node, ast.Subscript) or (isinstance(node, ast.Constant) and node.value is None)


def _of(source: Source, function: str, node: ast.expr) -> Iterator[Mutant]:
    match node:
        case ast.Constant(value=bool() as value):
            yield source.mutant(node, function, "the other answer", str(not value))
        case ast.Constant(value=int() as value):
            for other in (value + 1, value - 1):
                is_idle = source.facts.is_idle(node, value, other)
                yield source.mutant(node, function, "number off by one", f"({other})", is_idle=is_idle)
        case ast.Constant(value=float() as value):
            yield from moved(source, function, node, value)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in {**EDGES, **EQUAL}:
            new = {**EDGES, **EQUAL}[type(op)]
            text = f"(({source.words(left)}) {new} ({source.words(right)}))"
            is_idle = type(op) in EDGES and (
                bool(reads(node) & TOLERANCES) or source.facts.has_no_edge(node, OTHER_EDGE[type(op)])
            )
            yield source.mutant(node, function, "comparison", text, says=new, is_idle=is_idle)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            text = f"(({source.words(left)}) {ARITHMETIC[type(op)]} ({source.words(right)}))"
            is_idle = isinstance(op, ast.Mult | ast.Div) and source.facts.is_sign(right)
            yield source.mutant(node, function, "arithmetic", text, says=ARITHMETIC[type(op)], is_idle=is_idle)
        case ast.BoolOp() | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            yield from one_side(source, function, node)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield source.mutant(node, function, "sign or negation dropped", f"({source.words(operand)})")
        case ast.Call(func=ast.Name(id=name)) if name in SWAPS:
            yield source.mutant(node.func, function, f"{name} made {SWAPS[name]}", SWAPS[name])
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in SWAPS:
            text = f"({source.words(value)}).{SWAPS[name]}"
            yield source.mutant(node.func, function, f"{name} made {SWAPS[name]}", text)
