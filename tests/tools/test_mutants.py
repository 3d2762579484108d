"""The weakenings are those that are promised, and only what is weaker counts as a survivor."""

import ast
import math
import tomllib
from types import ModuleType

import numpy as np
import pytest

from tools.mutants.exchange import Calls, does_other, functions_in
from tools.mutants.hunt import only_stricter
from tools.mutants.mutation import MODULE, Known, Mutant
from tools.mutants.ordinary import ordinary
from tools.mutants.sessions import _imports
from tools.mutants.table import equivalents, outcomes, page, pruned, summary
from tools.mutants.targets import EQUIVALENT, OTHERS, ROOT, WRITTEN, find, papers
from tools.mutants.weak import kept, met, to_a_tenth
from tools.mutants.weakenings import weakenings
from tools.mutants.written import by_file, written
from widenet.claims.conclusion import evidence
from widenet.claims.implication import hypothesis
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sense, Sides

JUDGE = '''
LIMIT = 8
UNUSED = 9

class Steps(Ledger):
    level: Float[np.ndarray, " run"] = derived(lambda runs: 17 * runs.low)

@hypothesis("width")
def width(runs):
    return more_than(min(runs.widths), 4)

@claim("toy.theorem", Kind.MAIN, "p. 1", draws=drawn, given=[width])
def theorem(runs: Steps, *, factor=2.0) -> Promise:
    """The bound holds with 3."""
    told = runs.count > 5
    lost = runs.diverged | runs.blurred
    return Promise(
        {
            "bound": at_most(runs.updates, LIMIT * factor, within=ROUNDING, undecided=lost, text=f"{7}"),
            "equal": equal(runs.left, runs.right, room=runs.size, where=runs.inside),
            "below": less_than(runs.low, runs.high, within=STEP, of=runs.scale, trivial=0.5),
            "seen": Fact(runs.seen),
        },
        event=runs.inside > 12,
        note=f"{told} {len(runs) < 6}",
    )

def drawn(scale, seed):
    return 11
'''


def found(source: str = JUDGE, judges: bool = True) -> dict[str, Mutant]:
    mutants = weakenings("widenet.papers.toy.claims.steps", source.encode(), judges=judges)
    for each in mutants:
        ast.parse(each.applied(source.encode()))
    assert len({each.description for each in mutants}) == len(mutants)
    return {each.description: each for each in mutants}


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("<module>: number up by a tenth: 8 →", "LIMIT = (8.8)"),
        ("<module>: number up by a tenth: 17 →", "(18.7) * runs.low"),
        ("number down by a tenth: 2.0", "factor=(1.8)"),
        ("number down by a factor of two: 2.0", "factor=(1.0)"),
        ("one side dropped: runs.diverged | runs.blurred → ((runs.blurred))", "lost = ((runs.blurred))"),
        ("limit looser by a tenth: LIMIT * factor", "+ 0.1 * "),
        ("limit looser by a factor of two: LIMIT * factor", "+ 1.0 * "),
        ("tolerance 10 times: ROUNDING", "within=(10 * "),
        ("tolerance 1000 times: ROUNDING", "within=(1000 * "),
        ("tolerance 10 times: runs.size", "room=(10 * "),
        ("undecided= dropped", "within=ROUNDING, **{}"),
        ("where= dropped", "room=runs.size, **{})"),
        ("of= dropped", "within=STEP, **{}, trivial"),
        ("trivial= dropped", "of=runs.scale, **{})"),
        ("part always kept: equal(runs.left", ".kept(equal(runs.left, runs.right, room="),
        ("part always kept: Fact(runs.seen)", ".kept(Fact(runs.seen))"),
        ("equality one-sided: equal → at_least", ".at_least(runs.left"),
        ("equality to a tenth", ".to_a_tenth(equal(runs.left"),
        ("strict no more: less_than", ".at_most(runs.low, runs.high"),
        ("strict no more: more_than", ".at_least(min(runs.widths), 4)"),
        ("hypothesis always met: more_than", ".met(more_than(min(runs.widths), 4))"),
        ("min made max", "max(runs.widths)"),
        ("number up by a tenth: 4", "(4.4)"),
    ],
)
def test_each_kind_of_weakening(words, edit):
    (mutant,) = (each for name, each in found().items() if words in name)
    assert edit in mutant.applied(JUDGE.encode()).decode()


def test_words_drawings_and_unused_constants_are_left_alone():
    text = "\n".join(found())
    for number in ("3", "5", "6", "7", "9", "11", "12"):
        assert f": {number} →" not in text
    assert "told" not in text
    assert "drawn" not in text


def test_helpers_of_what_draws_are_left_alone():
    source = """
def drawn(scale, seed):
    return [one(np.random.default_rng(seed)), _other(), shared(12)]

def one(draw: np.random.Generator):
    return _deeper(21)

def _deeper(size):
    return 22 * size

def _other():
    return 23

def shared(size):
    return 13 * size

def _also_judged(size):
    return 14 * size

@claim("toy.theorem", Kind.MAIN, "p. 1", draws=drawn)
def theorem(sizes):
    return {"bound": at_most(_also_judged(sizes), 15)}
"""
    text = "\n".join(found(source))
    assert [number for number in range(10, 30) if f": {number} →" in text] == [13, 14, 15]


def test_types_and_counts_of_runs_are_left_alone():
    source = """
Values = float | int
BOTH = first | second

def judged(values: Values, runs) -> Values:
    over = runs.loss > 31
    return Promise({"bound": at_most(values | BOTH, 32)}, runs=Runs(tried=33, unfinished=int(over.sum())))

def ended(runs) -> Runs:
    return Runs(tried=34)

def _note(runs):
    return len(runs) < 35

def footnote_1(runs):
    return {"bound": at_most(runs, 36)}
"""
    text = "\n".join(found(source))
    assert "float" not in text
    assert "<module>: one side dropped: first | second" in text
    assert [number for number in range(30, 40) if f": {number} →" in text] == [32, 36]


def test_sides_that_were_compared_exactly_are_for_the_reader():
    text = "\n".join(found("def f(a, b):\n    return equal(a, b, exact=a == b)\n"))
    assert "exact= dropped" in text
    assert "equality" not in text


def test_a_tolerance_has_no_edge():
    text = "\n".join(found("def f(a):\n    return (a <= STEP) & (a <= 1)\n"))
    assert "edge of a comparison: a <= 1" in text
    assert "edge of a comparison: a <= STEP" not in text
    assert "comparison always true: a <= STEP" in text


def test_a_part_that_is_put_into_a_dictionary_is_no_word():
    judge = """
@claim("toy.theorem", Kind.MAIN, "p. 1", draws=drawn)
def theorem(runs):
    parts = {}
    parts["second"] = less_than(runs.low, 2.0)
    return parts
"""
    assert any("strict no more" in name for name in found(judge))
    assert any("2.0" in name for name in found(judge))


def test_a_larger_step_waits_for_the_smaller_one():
    mutants = found()
    larger = [each for each in mutants.values() if each.milder]
    assert larger
    assert all(each.milder in mutants for each in larger)
    twice = found("def f(x):\n    return 2 * x + 2\n", judges=False)
    second = next(each for each in twice.values() if each.milder and each.number == 2)
    assert second.milder.endswith("#2")
    assert second.milder in twice


def test_a_weak_part_and_a_weak_hypothesis_show_the_same_numbers():
    parts = {
        "sides": Sides([3.0], 2.0),
        "equal": Sides([3.0], 2.0, Sense.EQUAL),
        "fact": Fact([False]),
        "rate": Rate(np.ones(99, bool), 0.01),
    }
    strong, weak = evidence(parts), evidence({name: kept(each) for name, each in parts.items()})
    assert [part.kept for part in strong.parts] == [False] * 4
    assert [part.kept for part in weak.parts] == [True] * 4
    assert [part.measured for part in strong.parts] == [part.measured for part in weak.parts]
    assert kept(strong.parts[0]).kept
    assert kept({"sides": parts["sides"]})["sides"].kept
    for below in (Sides(2, 1), Sides(2, 2, strict=True), Sides(math.nan, 1, undecided=True), Sides(0, 1, Sense.EQUAL)):
        assert not below.hypothesis("a", "a").met
        assert met(below).hypothesis("a", "a").met
        assert not below.hypothesis("a", "a").met, "the sound one stays as it was"
    near = Sides([1.05, 0.05], [1.0, 0.0], Sense.EQUAL)
    assert (near.kept, to_a_tenth(near).kept, to_a_tenth(Sides(1.2, 1.0, Sense.EQUAL)).kept) == (False, True, False)


def said(kept: bool | None = True, tightness=0.5, met=True, slack=1.0):
    return {"node": {"evidence": [["toy.x", [["part", kept, tightness]], [["width", met, slack]]]]}}


@pytest.mark.parametrize(
    ("after", "stricter"),
    [
        (said(), False),
        (said(tightness=0.6), True),
        (said(tightness=0.4), False),
        (said(slack=0.9), True),
        (said(slack=1.1), False),
        (said(tightness=0.6, slack=1.1), False),
        (said(kept=False), True),
        (said(kept=None), True),
        (said(met=False), True),
        (said(tightness=0.5 * (1 + 1e-12)), False),
        ({"node": {"evidence": []}}, False),
    ],
)
def test_only_a_change_that_asks_for_more_is_called_stricter(after, stricter):
    assert only_stricter(said(), after) is stricter
    assert not only_stricter(said(kept=False), said())


def test_ordinary_mutants():
    source = "def f(x):\n    if not x > 1:\n        return x + 2 * len(x)\n    return all(x) and True\n"
    kinds = {each.operator for each in ordinary("widenet.diagnostics.toy", source.encode())}
    assert kinds == {
        "comparison", "arithmetic", "number off by one", "sign or negation dropped", "all made any", "one side dropped",
        "the other answer",
    }  # fmt: skip


def test_a_union_of_types_is_no_place_to_weaken():
    source = b"Step = float | Array[int] | None\nSETS = FIRST | SECOND\nBOTH = FIRST | roll(FIRST)\n"
    assert {each.before for each in ordinary("widenet.diagnostics.toy", source)} == {
        "FIRST | SECOND", "FIRST | roll(FIRST)",
    }  # fmt: skip


def test_what_is_inside_a_method_belongs_to_it():
    """As tests are seen to enter it; of private classes too."""
    method = "    def go(self):\n        def on(x):\n            return x + 1\n        return on(self)\n"
    function = "def f(x):\n    def g(y):\n        return y + 1\n    return g(x)\n"
    source = f"class Open:\n{method}\nclass _Closed:\n{method}\n{function}"
    functions = {each.function for each in ordinary("widenet.diagnostics.toy", source.encode())}
    assert functions == {"Open.go", "_Closed.go", "f"}


@pytest.mark.parametrize("name", [*papers(), *OTHERS])
def test_every_mutant_can_be_read_and_every_equivalent_one_exists(name):
    target, descriptions = find(name), set()
    # Two folders of training may have a module of one name, so modules are found by the end of their path.
    sources = {".".join(path.with_suffix("").parts): path.read_bytes() for path in target.files}
    for place, each in enumerate(target.mutants()):
        descriptions.add(each.description)
        if place % 20 == 0:
            ast.parse(each.applied(next(data for path, data in sources.items() if path.endswith(each.module))))
    listed = {each for each in equivalents() if _targets_of(each) == [name]}  # else a name of several papers
    assert listed <= descriptions, "these no longer exist: python -m tools.mutants --prune"


def test_weakenings_that_were_written_can_be_made_and_are_code():
    """Each changes one place of today's source, which still can be read, and says what a user would notice."""
    entries = [each for own in by_file().values() for each in own]
    keys = [each.key for each in entries]
    assert len(keys) == len(set(keys))
    assert len(keys) >= 72  # none is dropped: what the code no longer does is weakened where it is done now
    made = {each.operator: each for name in WRITTEN for each in find(name).mutants()}
    assert set(made) == set(keys)
    for entry in entries:
        source, mutant = (ROOT / entry.file).read_text(encoding="utf-8"), made[entry.key]
        assert source.count(entry.old) == 1, f"carry {entry.key} over to what {entry.file} is now"
        edited = mutant.applied(source.encode()).decode()
        assert edited == source.replace(entry.old, entry.new)
        assert ast.dump(ast.parse(edited)) != ast.dump(ast.parse(source))
        assert mutant.meaning == entry.meaning
        assert mutant.function != MODULE


def test_a_weakening_without_its_place_is_named(tmp_path):
    path = next(iter(by_file()))
    with pytest.raises(ValueError, match=r"0 times, not once; carry the weakening over .* with the same meaning: \w"):
        list(written(path, "widenet.certificates.any", b"x = 1\n"))
    twice = by_file()[path][0].old.encode()
    with pytest.raises(ValueError, match="2 times, not once"):
        list(written(path, "widenet.certificates.any", twice + b"\n" + twice))


def test_the_table_tells_what_a_written_weakening_means():
    (first, *_), found = list(find("estimators").mutants()), Finished({})
    for result, head in (("caught", "## Caught: 1"), ("survived", "## Survived: 1")):
        found.results = {first.description: result}
        told = page("estimators", outcomes(found, [first]), [])  # type: ignore[arg-type]
        assert f"`{first.description}` (a test) {first.meaning}" in told.partition(head)[2]


def _targets_of(description: str) -> list[str]:
    stem = description.split(".")[0]
    return [name for name in (*papers(), *OTHERS) if stem in {path.stem for path in find(name).files}]


class Finished:
    """A hunt whose results are known."""

    def __init__(self, results):
        self.results = results

    def result(self, mutant):
        answer = self.results.get(mutant.description)
        return answer and {"result": answer, "by": "a test"}


def test_the_table_tells_coarse_from_survived_and_leaves_out_what_was_not_tried():
    mutants = list(found().values())
    room, wide = (next(each for each in mutants if f"tolerance {n} times" in each.operator) for n in (10, 1000))
    strict = next(each for each in mutants if each.operator == "strict no more")
    rows = outcomes(Finished({room.description: "survived", wide.description: "caught"}), mutants)  # type: ignore[arg-type]
    assert [row["result"] for row in rows] == ["coarse"]
    rows = outcomes(Finished({room.description: "survived", strict.description: "caught"}), mutants)  # type: ignore[arg-type]
    assert sorted(row["result"] for row in rows) == ["caught", "survived"]
    assert summary(rows).startswith("1 of 2 caught (50.0%), 0 only at a larger step, 1 survived. Of those")
    assert room.description in page("toy", rows, ["tests/test_x.py::test_y"])


def code_of(source: str, name: str = "f"):
    return next(each for each in functions_in(compile(source, "toy", "exec")) if each.co_qualname == name)


@pytest.mark.parametrize(
    ("edited", "other"),
    [
        ("def f(x):\n    return x < 2\n", True),
        ("def f(x):\n    return [y < 1 for y in x]\n", True),
        ("\n\ndef f(x):\n    return x < 1\n", False),
        ("@print\ndef f(x):\n    return x < 1\n", False),
        ("def f(x=3):\n    return x < 1\n", False),
        ("y = 2\ndef f(x):\n    return x < 1\n", False),
    ],
)
def test_only_an_edit_of_the_body_is_an_exchange_of_code(edited, other):
    assert does_other(code_of("def f(x):\n    return x < 1\n"), code_of(edited)) is other


def test_a_function_that_needs_another_closure_keeps_its_code():
    before = "def outer(a):\n    def inner(x):\n        return x < a\n    return inner\n"
    after = before.replace("x < a", "x < 1")
    assert not does_other(*(code_of(each, "outer.<locals>.inner") for each in (before, after)))


def test_functions_called_while_loading_are_noted(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text("class A:\n    def f(self):\n        return 2\n\ndef g():\n    return 1\n\nA().f()\n")
    calls = Calls([path])
    with calls.noted():
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "toy"})
    assert (str(path), "A.f") in calls.entered
    assert (str(path), "g") not in calls.entered


def test_what_no_longer_exists_is_struck():
    text = '[signs]\nx = "a reason"\n\n[equivalent]\n"a.f: b → c" = "one"\n"a.g: b → c" = "two"\n'
    assert pruned(text, {"a.g: b → c"}) == text.replace('"a.f: b → c" = "one"\n', "")
    assert pruned(text, {"a.f: b → c", "a.g: b → c"}) == text


def test_the_list_stays_short():
    declared = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["declared"]
    assert len(equivalents()) + len(declared) <= 400


WHOLE = """
Ones = Int[np.ndarray, " run"]

class Ledger(Cases):
    hits: Ones
    passes: Count
    loss: Float[np.ndarray, " run"]

def judge(runs, points, width: int, *, first: int = 3, share: float = 4.0):
    n = len(points)
    return {
        "a": at_most(runs.hits, 21), "b": less_than(runs.loss, 22), "c": n > 23, "d": width < 24,
        "e": runs.n_samples >= 25,
        "f": runs.hits * runs.passes > 0, "g": np.abs(runs.loss) >= 0.0, "h": equal(runs.hits, 2), "i": np.arange(5),
        "j": at_most(runs.hits, 6, within=0.5), "k": 7 <= runs.passes, "l": runs.loss > 8,
    }
"""


@pytest.mark.parametrize(
    ("value", "is_up", "is_down"),
    [
        ("3", False, False),  # an int by its annotation
        ("4.0", True, True),
        ("0", False, True),
        ("0.0", True, False),  # a size is never below 0
        ("2", True, True),  # an equality breaks
        ("5", True, False),
        ("6", True, True),  # with a tolerance nothing is whole
        ("7", True, False),
        ("8", True, True),
    ],
)
def test_a_whole_number_is_not_moved_by_a_tenth(value, is_up, is_down):
    mutants = found(WHOLE)
    ways = [any(f": number {way} by a tenth: {value} →" in each for each in mutants) for way in ("up", "down")]
    assert ways == [is_up, is_down]


def test_more_places_where_types_tell_a_whole_number():
    body = """
class Ledger(Cases):
    hits: Int[np.ndarray, "run two"]
    times: Float[np.ndarray, " time"] = derived(lambda run: np.arange(len(run.hits)))

def judge(runs, table):
    low, high = runs.hits.T
    found = [number > 31 for number, each in enumerate(table)]
    return (low >= 32, np.diff(runs.hits) > 33, runs.times > 4, found, runs.loss / np.maximum(runs.hits, 1),
            equal(runs.hits, 5), equal(runs.loss, 6), np.stack([passed(runs), passed(table)]) > 7, lost(runs) > 8)

def passed(runs) -> Int[np.ndarray, " run"]:
    return runs.passes

def lost(runs):
    return runs.lost
"""
    mutants = "\n".join(found(body))
    assert "number up by a tenth: 4 →" not in mutants
    assert "number up by a tenth: 7 →" not in mutants  # a function that counts, by its annotation
    assert "number up by a tenth: 8 →" in mutants
    assert "number down by a tenth: 1 →" not in mutants  # beside a count of 0 alone
    assert "number up by a tenth: 1 →" in mutants
    assert [each for each in (5, 6) if f"equal(runs.{'hits' if each == 5 else 'loss'}, {each}) → 0.1" in mutants] == [6]
    assert "edge of a comparison: low >= 32" in mutants


def test_a_tolerance_is_moved_by_an_order_of_magnitude():
    mutants = found("SOLVED = 1e-9\n\ndef judge(runs):\n    return Fact(runs.gap > SOLVED)\n")
    ways = [f"number {way} {factor} times: 1e-9" for way in ("up", "down") for factor in ("ten", 1000)]
    assert all(any(way in each for each in mutants) for way in ways)
    assert not any("by a tenth: 1e-9" in each for each in mutants)


def test_a_tolerance_is_widened_as_a_whole():
    mutants = "\n".join(found("def judge(runs):\n    return equal(runs.a, 0.0, within=1e-3, of=2 + max(runs.b))\n"))
    assert "tolerance 10 times: 1e-3" in mutants
    assert "max made min" in mutants
    assert "by a tenth: 1e-3" not in mutants
    assert "by a tenth: 2" not in mutants


def test_words_in_inner_functions_and_edges_of_tolerances_are_left_alone():
    body = """
def judge(runs):
    lost, told = runs.loss > 1, runs.loss > 2
    inside = runs.size * (1 + STEP)
    def words(cell):
        return cell.loss > 3
    return Promise({"a": Fact(lost, where=runs.cosine > inside)}, details=lambda: words(told))
"""
    mutants = "\n".join(found(body))
    assert "runs.loss > 1 → true" in mutants
    assert "> 2" not in mutants
    assert "> 3" not in mutants
    assert "runs.cosine > inside → true" in mutants
    assert "runs.cosine > inside → >=" not in mutants


def test_a_large_whole_number_is_moved():
    text = "\n".join(found(WHOLE))
    for value in (21, 22, 23, 24, 25):
        for way in ("up", "down"):
            assert f"number {way} by a tenth: {value} →" in text


def test_signs_and_what_steers_are_left_alone():
    body = b"    small = x < 6\n    return x * labels, labels * x, labels > 0, x > 0, small\n"
    source = b"SLICE = 5\ndef f(x, labels):\n" + body
    plain = {each.description for each in ordinary("widenet.diagnostics.toy", source)}
    known = Known(signs=["toy"], steering=["toy.SLICE", "toy.f.small", "other.f.x"])
    fewer = {each.description for each in ordinary("widenet.diagnostics.toy", source, known)}
    assert sorted(each.removeprefix("toy.") for each in plain - fewer) == [
        "<module>: number off by one: 5 → (4)",
        "<module>: number off by one: 5 → (6)",
        "f: arithmetic: x * labels → /",
        "f: comparison: labels > 0 → >=",
        "f: comparison: x < 6 → <=",
        "f: number off by one: 0 → (-1)",
        "f: number off by one: 6 → (5)",
        "f: number off by one: 6 → (7)",
    ]


def test_what_uses_a_hypothesis_of_a_weakened_module_is_loaded_anew():
    @hypothesis("size")
    def size(runs):
        return runs

    here = {size.measure.__module__}
    for value in (size, [size], (1, (size,)), size.of(0)):
        module = ModuleType("toy")
        vars(module)["GIVEN"] = value
        assert _imports(module, here)
        assert not _imports(module, {"widenet.papers.other"})
