"""The mutants of judges and formulas: everything that would make a check say less."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from tools.mutants.mutation import MODULE, Known, Mutant, Source, numbered

EDGES: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.Gt: ">=", ast.LtE: "<", ast.GtE: ">"}
SWAPS = {"all": "any", "any": "all", "min": "max", "max": "min"}
OTHER_EDGE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.GtE: ast.Gt,
}
LOOSER = {"at_most": "+", "less_than": "+", "at_least": "-", "more_than": "-"}
NOT_STRICT = {"more_than": "at_least", "less_than": "at_most"}
COMPARED = {*LOOSER, "equal", "Sides"}
PARTS = {*COMPARED, "Fact", "Rate"}
DROPPED = {"undecided", "scored", "where", "of", "exact", "trivial", "strict", "setting"}
WORDS = {
    *("note", "details", "quantity", "why", "unknown", "name", "required", "key", "text", "event", "normalization"),
    *("title", "statement", "runs"),
}
"""What users see and no verdict rests on. The event of a `Promise` only counts the runs outside of it."""
SHAPES = {"axis", "keepdims", "initial", "ddof", "dtype", "shape", "indexing", "stacklevel"}
TOLERANCES = {
    *("ROUNDING", "BOUND", "IDENTITY", "STEP", "BY_CHANCE", "FITTED", "CLOSED_FORM", "BLURRED", "CLOSE", "NEAR"),
    *("SMALLEST", "NEGLIGIBLE", "room", "blur", "rounding"),
}
"""Tolerances: no statement says whether their very edge is inside. Nor of a name that stands for a share of one."""
TINY = 1e-6
"""A number up to this is a tolerance, which says of what order rounding is."""
ELSEWHERE = ""
NUMPY = '__import__("numpy")'
WEAK = '__import__("tools.mutants.weak", fromlist=["kept"])'
WORDS_OF_CLAIMS = '__import__("widenet.claims.implication", fromlist=["equal"])'
STEPS = (("a tenth", 0.1), ("a factor of two", 1.0))


def weakenings(module: str, data: bytes, *, judges: bool = True, known: Known | None = None) -> list[Mutant]:
    """All mutants of this file; `judges` is False for formulas, where there are no parts and no hypotheses."""
    source = Source(module, data, known)
    given = _given(source.tree)
    functions = [each for each in source.tree.body if isinstance(each, ast.FunctionDef)]
    within = _tolerances(source.tree)
    source.tolerances = lambda function: within.get(function.rpartition(".")[2], TOLERANCES)
    source.drawing = {each.name for each in functions if _is_given_a_generator(each) or _is_seeded(each)}
    return numbered(
        each
        for function, node in _looked_at(source.tree, judges)
        for each in _of(source, function, node, judges, given)
    )


def _looked_at(tree: ast.Module, judges: bool) -> Iterator[tuple[str, ast.expr]]:
    """Every expression that a verdict may rest on, with the function it stands in."""
    material, types = _material(tree), _only_types(tree)
    looked_into = [node for node in tree.body if _is_looked_into(node, material)]
    used = {each.id for node in looked_into for each in ast.walk(node) if _is_read(each)}
    for node in tree.body:
        match node:
            case ast.FunctionDef() if node in looked_into:
                yield from _inside(node, node.name)
            case ast.ClassDef():
                for each in node.body:
                    if isinstance(each, ast.FunctionDef) and _judges(each):
                        yield from _inside(each, f"{node.name}.{each.name}")
                    elif isinstance(each, ast.AnnAssign | ast.Assign) and isinstance(each.value, ast.Call):
                        yield from _expressions(each.value, MODULE)  # a derived column, made while loading
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in types and (
                not judges or name in used
            ):
                yield from _expressions(value, MODULE)
            case ast.Assign(targets=[ast.Tuple()], value=value) if not judges:
                yield from _expressions(value, MODULE)


def _is_looked_into(node: ast.stmt, material: set[str]) -> bool:
    return isinstance(node, ast.ClassDef) or (
        isinstance(node, ast.FunctionDef) and _judges(node) and node.name not in material
    )


def _material(tree: ast.Module) -> set[str]:
    """What draws material, and the helpers that nothing else reads: private ones, and those given a generator."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    readers: dict[str, set[str]] = {}
    for node in tree.body:
        where = node.name if isinstance(node, ast.FunctionDef) else MODULE
        for name in reads(node) - {where}:
            readers.setdefault(name, set()).add(where)
    found = {node.name for node in functions if _draws(node)}
    helpers = {node.name for node in functions if node.name.startswith("_") or _is_given_a_generator(node)}
    while more := {name for name in helpers - found if name in readers and readers[name] <= found}:
        found |= more
    return found


def _all_names(node: ast.AST) -> set[str]:
    """Those of attributes too."""
    return reads(node) | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _tolerances(tree: ast.Module) -> dict[str, set[str]]:
    """For each function, the names in it that stand for a tolerance, or for a number that has one in it."""
    found = {}
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
        assigned = [each for each in ast.walk(node) if isinstance(each, ast.Assign) and len(each.targets) == 1]
        names = set(TOLERANCES)
        for each in assigned:
            if isinstance(each.targets[0], ast.Name) and _all_names(each.value) & names:
                names.add(each.targets[0].id)
        found[node.name] = names
    return found


def _draws(node: ast.FunctionDef) -> bool:
    return {"scale", "seed"} <= {each.arg for each in node.args.args}


def _is_given_a_generator(node: ast.FunctionDef) -> bool:
    return any(each.annotation and "Generator" in ast.unparse(each.annotation) for each in node.args.args)


def _is_seeded(node: ast.FunctionDef) -> bool:
    return "seed" in {each.arg for each in node.args.args}


def reads(node: ast.AST) -> set[str]:
    """The names that are read in it."""
    return {each.id for each in ast.walk(node) if _is_read(each)}


def _only_types(tree: ast.Module) -> set[str]:
    """The names that are read in annotations, and nowhere else."""
    annotations = [each for node in ast.walk(tree) for each in _annotations(node)]
    inside = {place for each in annotations for place in ast.walk(each)}
    elsewhere = {each.id for each in ast.walk(tree) if _is_read(each) and each not in inside}
    return {each.id for each in inside if _is_read(each)} - elsewhere


def _annotations(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            return [annotation] if annotation else []
        case ast.FunctionDef(returns=returns):
            return [returns] if returns else []
    return []


def _is_read(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _judges(node: ast.FunctionDef) -> bool:
    """Not what draws material, chooses settings, speaks about user data, counts runs for a reader, or finds words."""
    arguments = {each.arg for each in node.args.args}
    decorators = {ast.unparse(each) for each in node.decorator_list}
    returns = ast.unparse(node.returns) if node.returns else ""
    return not (
        _draws(node)
        or "user_data" in arguments
        or any(each.endswith(".speaks") for each in decorators)
        or returns in ("str", "Runs")
        or returns.startswith(("dict[str, Any", "dict[str, float", "dict[str, int", "list[dict"))
        or "note" in node.name.split("_")
    )


def _inside(node: ast.FunctionDef, name: str) -> Iterator[tuple[str, ast.expr]]:
    for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)):
        yield from _expressions(default, name)
    body = _one_name_each(node.body[1:] if ast.get_docstring(node) else node.body)
    for_words = _only_for_words(body)
    for statement in body:
        if not (isinstance(statement, ast.Assign | ast.FunctionDef) and _names(statement) <= for_words):
            yield from _expressions(statement, name)


def _one_name_each(body: list[ast.stmt]) -> list[ast.stmt]:
    """`a, b = x, y` as two statements."""
    found: list[ast.stmt] = []
    for each in body:
        match each:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                found += [ast.copy_location(ast.Assign([name], value), each) for name, value in pairs]
            case _:
                found.append(each)
    return found


def _only_for_words(body: list[ast.stmt]) -> set[str]:
    """The names in which a function keeps what it tells in words and nothing else; functions inside it too."""
    found: set[str] = set()
    assigned = [each for each in body if isinstance(each, ast.Assign | ast.FunctionDef)]
    while True:
        counted = [
            each for each in body if not (isinstance(each, ast.Assign | ast.FunctionDef) and _names(each) <= found)
        ]
        read = {each.id for statement in counted for each in _outside_words(statement) if _is_read(each)}
        more = set().union(*(_names(each) for each in assigned)) - read - {ELSEWHERE}
        if more == found:
            return found
        found = more


def _outside_words(node: ast.AST) -> Iterator[ast.AST]:
    if (isinstance(node, ast.keyword) and node.arg in WORDS) or _counts_runs(node):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_words(child)


def _counts_runs(node: ast.AST) -> bool:
    """How many runs there were, and how they ended: a reader sees it, and no verdict rests on it."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Runs"


def _names(statement: ast.Assign | ast.FunctionDef) -> set[str]:
    """What it assigns; an attribute or an element is `ELSEWHERE`, of which nobody knows who reads it."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = [each for target in statement.targets for each in _targets(target)]
    return {each.id if isinstance(each, ast.Name) else ELSEWHERE for each in targets}


def _targets(node: ast.expr) -> list[ast.expr]:
    return [each for one in node.elts for each in _targets(one)] if isinstance(node, ast.Tuple) else [node]


def _expressions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    """Depth first, without words, shapes, places in arrays, annotations and messages."""
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.arguments():
            return
        case ast.keyword(arg=arg) if arg in WORDS | SHAPES:
            return
        case ast.keyword(arg="within" | "of" | "room", value=value):  # the tolerance is widened as a whole
            yield from (each for each in _expressions(value, name) if not isinstance(each[1], ast.Constant))
            return
        case ast.Call() if _counts_runs(node):
            return
        case ast.Assign(targets=[ast.Name(id=target)]) if target in WORDS | {"rows"}:
            return
        case ast.Subscript():
            yield from _expressions(node.value, name)
            if not isinstance(node.slice, (ast.Constant, ast.UnaryOp, ast.Slice, ast.Tuple)):
                yield from _expressions(node.slice, name)
            return
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _expressions(value, name)
            return
        case ast.expr():
            yield name, node
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child, name)


def _given(tree: ast.Module) -> set[ast.AST]:
    """Everything inside a function that is a hypothesis."""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and _is_hypothesis(each)]
    return {each for function in functions for each in ast.walk(function)}


def _is_hypothesis(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).split("(")[0] == "hypothesis" for each in node.decorator_list)


def _of(source: Source, function: str, node: ast.expr, judges: bool, given: set[ast.AST]) -> Iterator[Mutant]:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield from moved(source, function, node, value)
        case ast.Compare():
            yield from _edges(source, function, node)
        case ast.BoolOp() | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            yield from one_side(source, function, node)
        case ast.Call():
            yield from _swapped(source, function, node)
            if judges:
                yield from _called(source, function, node, node in given)


def moved(source: Source, function: str, node: ast.expr, value: float) -> Iterator[Mutant]:
    """A number up and down by a tenth; where that survives, to twice and half of it. Tolerances ten and 1000 times."""
    if 0 < abs(value) <= TINY:
        for sign, way in ((1, "up"), (-1, "down")):
            ten, thousand = (f"({value * factor**sign!r})" for factor in (10.0, 1000.0))
            milder = source.mutant(node, function, f"number {way} ten times", ten)
            yield milder
            yield source.mutant(node, function, f"number {way} 1000 times", thousand, milder=milder.description)
        return
    for sign, way in ((1, "up"), (-1, "down")):
        tenth = value + sign * 0.1 * (abs(value) or 1)
        two = value + (sign * (abs(value) or 1) if sign > 0 else -abs(value) / 2 if value else -1.0)
        idle = [source.facts.is_idle(node, value, new) for new in (tenth, two)]
        milder = source.mutant(node, function, f"number {way} by a tenth", f"({tenth!r})", is_idle=idle[0])
        yield milder
        yield source.mutant(
            node, function, f"number {way} by a factor of two", f"({two!r})", milder=milder.description, is_idle=idle[1]
        )


def _edges(source: Source, function: str, node: ast.Compare) -> Iterator[Mutant]:
    words = source.words(node)
    if len(node.ops) == 1 and type(node.ops[0]) in EDGES and not _all_names(node) & source.tolerances(function):
        new = EDGES[type(node.ops[0])]
        text = f"({source.words(node.left)}) {new} ({source.words(node.comparators[0])})"
        # A drawn number is never equal to its limit.
        is_idle = function in source.drawing or source.facts.has_no_edge(node, OTHER_EDGE[type(node.ops[0])])
        yield source.mutant(node, function, "edge of a comparison", f"({text})", says=new, is_idle=is_idle)
    if not any(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops):
        yield source.mutant(node, function, "comparison always true", f"(({words}) | True)", says="true")


def one_side(source: Source, function: str, node: ast.BoolOp | ast.BinOp) -> Iterator[Mutant]:
    """What is left of a conjunction, or of a disjunction, without one of its members."""
    sides = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
    for place, _ in enumerate(sides):
        left = [f"({source.words(each)})" for other, each in enumerate(sides) if other != place]
        joint = (" and " if isinstance(node.op, ast.And) else " or ") if isinstance(node, ast.BoolOp) else ""
        yield source.mutant(node, function, "one side dropped", f"({joint.join(left)})")


def _swapped(source: Source, function: str, node: ast.Call) -> Iterator[Mutant]:
    match node.func:
        case ast.Name(id=name) if name in SWAPS:
            yield source.mutant(node.func, function, f"{name} made {SWAPS[name]}", SWAPS[name], says=_context(node))
        case ast.Attribute(value=value, attr=name) if name in SWAPS:
            text = f"({source.words(value)}).{SWAPS[name]}"
            yield source.mutant(node.func, function, f"{name} made {SWAPS[name]}", text)


def _context(node: ast.Call) -> str:
    return ast.unparse(node)[:40]


def _called(source: Source, function: str, node: ast.Call, is_given: bool) -> Iterator[Mutant]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in PARTS:
        kind, way = ("hypothesis always met", "met") if is_given else ("part always kept", "kept")
        yield source.mutant(node, function, kind, f"{WEAK}.{way}({source.words(node)})", says=way)
        for keyword in node.keywords:
            if keyword.arg in DROPPED:
                yield source.mutant(keyword, function, f"{keyword.arg}= dropped", "**{}", says="nothing")
            if keyword.arg in ("within", "room"):
                yield from _tolerant(source, function, keyword.value)
    if name in COMPARED:
        yield from _compared(source, function, node, name)


def _compared(source: Source, function: str, node: ast.Call, name: str) -> Iterator[Mutant]:
    given = {each.arg: each.value for each in node.keywords}
    if len(node.args) < 2 or "exact" in given:  # then the sides are for users
        return
    measured, limit = node.args[:2]
    sense = source.words(node.args[2]).rsplit(".", 1)[-1] if len(node.args) > 2 else "AT_MOST"
    sign = LOOSER.get(name, {"AT_MOST": "+", "AT_LEAST": "-"}.get(sense, "") if name == "Sides" else "")
    if sign and not isinstance(limit, ast.Constant):
        yield from _looser(source, function, limit, sign)
    if name in NOT_STRICT:
        text = f"{WORDS_OF_CLAIMS}.{NOT_STRICT[name]}"
        yield source.mutant(node.func, function, "strict no more", text, says=f"{NOT_STRICT[name]} {_context(node)}")
    if name == "equal":
        for other in ("at_most", "at_least"):
            is_zero = isinstance(limit, ast.Constant) and limit.value == 0
            is_idle = other == "at_most" and is_zero and source.facts.is_size(measured)
            says = f"{other} {_context(node)}"
            text = f"{WORDS_OF_CLAIMS}.{other}"
            yield source.mutant(node.func, function, "equality one-sided", text, says=says, is_idle=is_idle)
        text = f"{WEAK}.to_a_tenth({source.words(node)})"
        is_small = isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and abs(limit.value) < 10
        is_idle = is_small and source.facts.is_whole(measured)
        yield source.mutant(node, function, "equality to a tenth", text, says="0.1", is_idle=is_idle)


def _looser(source: Source, function: str, node: ast.expr, sign: str) -> Iterator[Mutant]:
    """A limit loosened by a tenth of itself, and by all of itself (a lower one to half)."""
    milder = ""
    for step, share in STEPS:
        share = 0.5 if sign == "-" and share == 1.0 else share
        array = f"{NUMPY}.asarray({source.words(node)}, float)"
        text = f"(({array}) {sign} {share} * {NUMPY}.abs({array}))[()]"
        found = source.mutant(node, function, f"limit looser by {step}", text, says=f"{sign}{share:.0%}", milder=milder)
        milder = found.description
        yield found


def _tolerant(source: Source, function: str, node: ast.expr) -> Iterator[Mutant]:
    milder = ""
    for factor in (10, 1000):
        text = f"({factor} * {NUMPY}.asarray({source.words(node)}, float))[()]"
        found = source.mutant(node, function, f"tolerance {factor} times", text, says=f"{factor}×", milder=milder)
        milder = found.description
        yield found
