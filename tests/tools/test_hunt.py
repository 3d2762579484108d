"""Which tests are asked about a mutant, in which order, and what is made of their answers."""

import json

import pytest

from tools.mutants import baseline
from tools.mutants.baseline import Baseline
from tools.mutants.hunt import Hunt
from tools.mutants.mutation import Mutant
from tools.mutants.targets import ROOT, find


def test_own_tests_come_first_and_the_quickest_of_them(tmp_path):
    target = find("diagnostics")
    enters = [[str(target.files[1].relative_to(ROOT)), "f"]]
    tests = {
        "tests/diagnostics/test_margins.py": {"a": 0.1, "b": 0.2},
        f"tests/diagnostics/test_{target.files[1].stem}.py": {"slow": 9.0, "quick": 1.0},
    }
    files = {
        name: {
            "digest": "",
            "tests": {n: {"seconds": s, "enters": enters, "shares": [], "passed": True} for n, s in some.items()},
        }
        for name, some in tests.items()
    }
    (tmp_path / "diagnostics-tests.json").write_text(json.dumps(files))
    mutant = Mutant(f"widenet.diagnostics.{target.files[1].stem}", "f", "x", "a", "b", 1, 0, 0, "")
    assert list(Baseline(target, tmp_path).noticing(mutant, 30.0)) == ["quick", "slow", "a", "b"]
    assert list(Baseline(target, tmp_path).noticing(mutant, 5.0)) == ["quick", "a", "b"]


def test_tests_that_could_not_be_run_catch_nothing(tmp_path, monkeypatch):
    """A library that is gone would otherwise catch every mutant."""
    target = find("diagnostics")
    test = {"seconds": 1.0, "enters": [["src/widenet/diagnostics/margins.py", "f"]], "shares": [], "passed": True}
    files = {"tests/diagnostics/test_margins.py": {"digest": "", "tests": {"one": test | {"evidence": []}}}}
    (tmp_path / "diagnostics-tests.json").write_text(json.dumps(files))
    mutant = Mutant("widenet.diagnostics.margins", "f", "x", "a", "b", 1, 0, 0, "")
    hunt = Hunt(Baseline(target, tmp_path), tmp_path, 30.0)

    def ending(ended, **tests):
        return lambda *_: {"ended": ended, "tests": tests}

    for ended in (3, "does not load: ModuleNotFoundError", "does not load: OSError"):
        with pytest.raises(SystemExit, match="could not be run"):
            hunt._try(mutant, ending(ended))
    assert hunt._try(mutant, ending(1, one={"passed": False}))["by"] == "one"
    assert hunt._try(mutant, ending("does not load: TypeError"))["result"] == "caught"
    # The weakened number stands in the name of a test: its cases are run under their new names.
    again, ends = [], [0]

    def in_child(tests, **how):
        again.append((tests, how["spared"]))
        return {"ended": ends[0], "tests": {"one[1.1]": {"passed": ends[0] == 0, "evidence": []}}}

    monkeypatch.setattr("tools.mutants.hunt.in_child", in_child)
    for ends[0], result in ((1, "caught"), (0, "survived"), (4, "survived"), (5, "survived")):
        assert hunt._try(mutant, ending(4))["result"] == result
    assert again == [(["one"], set())] * 4


def test_tests_that_enter_the_function_themselves_come_before_others_of_their_file(tmp_path):
    """A compiled function is entered once per process, so the others of the file count too, but later."""
    target = find("training")
    path = "src/widenet/training/kernels/block.py"
    tests = {
        "tests/training/kernels/test_kernels.py": {"enters": (2.0, [[path, "f"]]), "waits": (0.1, [])},
        "tests/training/test_closest.py": {"is elsewhere": (0.0, [])},
    }
    files = {
        name: {
            "digest": "",
            "tests": {n: {"seconds": s, "enters": e, "shares": [], "passed": True} for n, (s, e) in some.items()},
        }
        for name, some in tests.items()
    }
    (tmp_path / "training-tests.json").write_text(json.dumps(files))
    mutant = Mutant("widenet.training.kernels.block", "f", "x", "a", "b", 1, 0, 0, "")
    assert list(Baseline(target, tmp_path).noticing(mutant, 30.0)) == ["enters", "waits"]


def test_tests_that_only_read_a_constant_are_tried_too(tmp_path):
    target = find("brutzkus2019")
    tests = {
        "tests/papers/brutzkus2019/test_formulas.py": ["reads"],
        "tests/papers/brutzkus2019/claims/test_wide.py": ["is elsewhere"],
    }
    test = {"seconds": 0.1, "enters": [], "shares": [], "passed": True}
    files = {name: {"digest": "", "tests": dict.fromkeys(some, test)} for name, some in tests.items()}
    (tmp_path / "brutzkus2019-tests.json").write_text(json.dumps(files))
    for function, expected in (("<module>", ["reads"]), ("c_value", [])):
        mutant = Mutant("widenet.papers.brutzkus2019.formulas", function, "x", "a", "b", 1, 0, 0, "")
        assert list(Baseline(target, tmp_path).noticing(mutant, 30.0)) == expected


def test_own_tests_are_all_files_with_the_name_of_the_module():
    target = find("brutzkus2019")
    own = target.own_tests("widenet.papers.brutzkus2019.claims.wide")
    assert own == {"test_wide.py", "test_wide_angle.py", "test_wide_theorem_6_3.py"}
    assert target.own_tests("widenet.papers.brutzkus2019.formulas") == {"test_formulas.py"}


def test_survivors_are_tried_again_after_tests_have_changed(tmp_path):
    """A result is out of date as soon as a test is added, but which ones survived is still known."""
    caught, survivor, unknown = (Mutant("widenet.diagnostics.margins", "f", w, "a", "b", 1, 0, 0, "") for w in "xyz")
    rows = [
        {"mutant": caught.description, "digest": "old", "result": "caught"},
        {"mutant": survivor.description, "digest": "old", "result": "survived"},
    ]
    (tmp_path / "diagnostics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    hunt = Hunt(Baseline(find("diagnostics"), tmp_path), tmp_path, 30.0)
    assert [hunt.survived(each) for each in (caught, survivor, unknown)] == [False, True, False]
    assert hunt.result(survivor) is None


def test_files_that_have_not_changed_are_not_run_again(tmp_path, monkeypatch):
    target, ran = find("diagnostics"), []

    def in_child(tests, **_):
        ran.extend(tests)
        test = {"seconds": 1.0, "enters": [], "passed": True, "evidence": []}
        return {"ended": 0, "tests": {f"{tests[0]}::test": test}}

    monkeypatch.setattr(baseline, "in_child", in_child)
    names = sorted(str(path.relative_to(ROOT)) for path in target.test_files())
    one = Baseline(target, tmp_path)
    one.refresh({names[0].rsplit("/", 1)[1]})
    assert ran == names[:1]
    one.refresh(jobs=2)
    assert sorted(ran) == names
    Baseline(target, tmp_path).refresh(jobs=2)
    assert sorted(ran) == names
    assert Baseline(target, tmp_path).failing() == []
