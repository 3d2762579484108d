"""The same everywhere: what is compared between machines, and one other machine for a minute."""

import copy
import math
import os
import subprocess
import sys
import threading
import time

import pytest

from tools import comparison, kept_table, machines
from tools.comparison import ABSOLUTE, RELATIVE, compare
from tools.weakened import WEAKENED

CLAIMS = (
    "brutzkus2018.theorem_9_equivalence",
    "brutzkus2019.lemma_3_1",
    "chatterji2021.lemma_6_sums",
    "li2018.equation_1",
    "sarussi2021.lemma_10_1",
)
"""One that is cheap from each paper."""
TESTS = ("tests/diagnostics/test_separability.py", "tests/training/kernels/test_fused.py", "tests/claims")

ROW = {
    "id": "toy.lemma",
    "verdict": "HOLDS",
    "conclusion": True,
    "vacuous": False,
    "open_constant": "",
    "runs": {"tried": 3, "diverged": 0, "unfinished": 0, "outside": 0},
    "hypotheses": [{"key": "norm", "met": True, "actual": 0.5, "slack": 0.5}],
    "parts": [
        {
            "name": "bound",
            "kept": True,
            "sense": "≤",
            "vacuous": False,
            "broken": 0,
            "case": 1,
            "measured": 3.0,
            "promised": 4.0,
            "tightness": 0.75,
        }
    ],
}


def changed(*path, to):
    row = copy.deepcopy(ROW)
    *way, last = path
    inner = row
    for step in way:
        inner = inner[step]
    inner[last] = to
    return [row]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("id",), "toy.other"),
        (("verdict",), "VIOLATED"),
        (("conclusion",), None),
        (("vacuous",), True),
        (("open_constant",), "c"),
        (("runs", "diverged"), 1),
        (("hypotheses",), []),
        (("hypotheses", 0, "key"), "other"),
        (("hypotheses", 0, "met"), None),
        (("hypotheses", 0, "actual"), 0.5 * (1 + 2e-5)),
        (("hypotheses", 0, "slack"), 0.5001),
        (("hypotheses", 0, "slack"), None),
        (("parts", 0, "name"), "other"),
        (("parts", 0, "kept"), None),
        (("parts", 0, "sense"), "≥"),
        (("parts", 0, "vacuous"), True),
        (("parts", 0, "broken"), 1),
        (("parts", 0, "measured"), 3.0001),
        (("parts", 0, "promised"), 4.0001),
        (("parts", 0, "tightness"), 0.7501),
        (("parts", 0, "measured"), "Infinity"),
    ],
)
def test_a_difference_is_found(path, value):
    found = compare([ROW], changed(*path, to=value))
    assert found.is_bad
    assert "DIFFER" in found.in_words()
    assert found.lines()


def test_rounding_is_no_difference_and_is_counted():
    assert compare([ROW], [ROW]).in_words() == "equal; 0 of 5 numbers differ"
    found = compare([ROW], changed("parts", 0, "measured", to=3.0 * (1 + 1e-7)))
    assert not found.is_bad
    assert found.in_words() == "equal; 1 of 5 numbers differ, by at most 7e-08 of themselves"
    noise = copy.deepcopy(ROW)
    noise["hypotheses"][0]["actual"] = 1e-16
    found = compare([noise], changed("hypotheses", 0, "actual", to=3e-13))
    assert not found.is_bad
    assert found.in_words() == "equal; 1 of 5 numbers differ, by at most 1e-09"
    assert RELATIVE < 1e-3
    assert ABSOLUTE < 1e-6


def test_of_another_case_only_how_close_it_comes_is_compared():
    other = changed("parts", 0, "case", to=2)
    other[0]["parts"][0] |= {"measured": 30.0, "promised": 40.0}
    found = compare([ROW], other)
    assert (found.is_bad, found.other_cases) == (False, 1)
    assert found.in_words().endswith("; 1 part shows another case")
    other[0]["parts"][0]["tightness"] = 0.8
    assert compare([ROW], other).is_bad


def equality(measured, promised=0.0, case=1):
    """An equality that is kept, with these sides."""
    row = copy.deepcopy(ROW)
    row["parts"][0] |= {"sense": "=", "key": "k", "measured": measured, "promised": promised, "case": case}
    row["parts"][0] |= {"tightness": 1.0}
    return [row]


@pytest.mark.parametrize("words", ["", "to …", "to 1e-06", "to 1e-06 of it", "to 1e-06 of its size"])
@pytest.mark.parametrize("case", [1, 2])
def test_the_error_of_an_equality_is_compared(monkeypatch, words, case):
    monkeypatch.setattr(comparison, "tolerances", lambda: {("toy.lemma", "k"): words})
    found = compare(equality(1e-6), equality(5.0, case=case))
    assert found.is_bad
    assert any("error: 1e-06 here, 5.0 there" in line for line in found.unequal)
    assert compare(equality(1.0, 1.0), equality(1.0, 1.1)).is_bad
    assert compare(equality(1e-6), equality(None)).is_bad
    assert not compare(equality(None), equality(None)).is_bad


@pytest.mark.parametrize(
    ("words", "one", "two", "is_bad"),
    [
        ("to 1e-06", (1e-8, 0.0), (9e-7, 0.0), False),
        ("to 1e-06", (1e-8, 0.0), (3e-6, 0.0), True),
        ("", (1e-8, 0.0), (9e-7, 0.0), True),
        ("to …", (1e-8, 0.0), (9e-7, 0.0), True),
        ("to 0.001 of it", (100.01, 100.0), (100.09, 100.0), False),
        ("to 0.001 of it", (100.0, 100.0), (100.2, 100.0), True),
        ("to 1e-06 of its size", (1e-8, 0.0), (9e-7, 0.0), False),
        ("to 1e-06 of its size", (1e-8, 0.0), (3e-6, 0.0), True),
    ],
)
def test_an_equality_may_move_within_its_own_tolerance(monkeypatch, words, one, two, is_bad):
    monkeypatch.setattr(comparison, "tolerances", lambda: {("toy.lemma", "k"): words})
    found = compare(equality(*one), equality(*two))
    assert (found.is_bad, found.equalities) == (is_bad, 0 if is_bad else 1)
    if not is_bad:
        assert found.in_words().endswith("; 1 error of an equality within its own tolerance")


def test_tolerances_are_those_that_claims_declare():
    found = comparison.tolerances()
    assert found["li2018.equation_1", "differences"] == "to 1e-06 of its size"
    assert comparison.own_tolerance("to 1e-06 of its size", 0.5) == 1e-6
    told = [
        comparison.own_tolerance(words, 1.0) for words in found.values() if words.startswith("to ") and words != "to …"
    ]
    assert len(told) > 100
    assert all(0 < each < 0.1 for each in told)


def test_the_page_says_the_rule_of_the_comparison():
    page = " ".join(machines.PAGE.read_text(encoding="utf-8").split())
    assert " ".join(comparison.RULE.split()) in page
    relative, absolute = comparison.RULE.split("at most ")[1].split(" of their size plus ")
    assert float(relative) == RELATIVE
    assert float(absolute.split(". ")[0]) == ABSOLUTE


@pytest.mark.parametrize(("share", "is_bad"), [(0.98, False), (1.02, True)])
def test_a_number_may_differ_by_both_tolerances_together(share, is_bad):
    """1e-5 of 1e-4 plus 1e-9 is 2e-9: more than either alone."""
    found = comparison.Differences()
    found.number("toy", "x", 1e-4, 1e-4 + share * 2e-9)
    assert found.is_bad is is_bad


def test_page_and_command_estimate_the_same_time():
    words = "about an hour on two cores"
    assert words in (machines.__doc__ or "")
    assert words in machines.PAGE.read_text(encoding="utf-8")


def test_a_machine_is_told_to_every_library(tmp_path, monkeypatch):
    monkeypatch.setenv("MACHINE_XLA_FLAGS", "--of-the-outer-tests")
    sse = machines.MACHINES[0]
    told = sse.environment(tmp_path)
    assert told["XLA_FLAGS"] == "--xla_cpu_max_isa=SSE4_2 --xla_cpu_experimental_ynn_fusion_type="
    assert (told["OPENBLAS_CORETYPE"], told["NPY_DISABLE_CPU_FEATURES"]) == ("Nehalem", "X86_V3 X86_V4")
    assert told["OPENBLAS_NUM_THREADS"] == "1"
    assert "MACHINE_XLA_FLAGS" not in told
    assert len({each.name for each in machines.MACHINES}) == len(machines.MACHINES) >= 4
    assert len({each.environment(tmp_path)["WIDENET_STORE"] for each in machines.MACHINES}) == 1
    assert {each.cores for each in machines.MACHINES} == {1, 2}


def test_newer_instructions_than_there_are_are_left_out(monkeypatch):
    monkeypatch.setattr(machines, "switches", lambda: {"X86_V3": True, "X86_V4": False})
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    found = {each.name: each for each in machines.possible()}
    assert set(found) == {"sse", "avx", "avx2", "avx2-eigen"}
    assert found["avx2"].without == ()
    assert found["sse"].without == ("X86_V3",)


@pytest.mark.parametrize(
    ("processor", "names"),
    [("aarch64", ("X86_V3", "X86_V4")), ("x86_64", ("AVX2", "AVX512F")), ("x86_64", ("X86_V4",)), ("arm64", ())],
)
def test_without_switches_no_machine_is_offered(monkeypatch, capsys, processor, names):
    monkeypatch.setattr(machines, "switches", lambda: dict.fromkeys(names, True))
    monkeypatch.setattr(machines.platform, "machine", lambda: processor)
    assert machines.possible() == []
    for arguments in ([], ["--machine", "sse"]):
        monkeypatch.setattr(sys, "argv", ["machines", *arguments])
        assert machines.main() == 2
        assert capsys.readouterr().err == machines.NOTHING + "\n"


def test_a_processor_without_new_instructions_stands_in_for_the_oldest(monkeypatch):
    monkeypatch.setattr(machines, "switches", lambda: {"X86_V3": False, "X86_V4": False})
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    assert [(each.name, each.without) for each in machines.possible()] == [("sse", ())]


def test_fewer_cores_than_a_machine_has_are_lent_and_told(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr(machines.Trial, "_checked", lambda self, which, own: used.append(own) or [])
    two = next(each for each in machines.MACHINES if each.cores == 2)
    few, enough = (machines.Trial(two, tmp_path, machines.Cores(cores)) for cores in ([0], [0, 1]))
    few.run("checks", ())
    enough.run("checks", ())
    assert used == [[0], [0, 1]]  # what one core found does not stand for two
    assert machines.row(few, None)[5] == "1 of 2"
    assert machines.row(enough, None)[5] == "2"


def test_a_row_names_the_tree(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout

    assert kept_table.tree(tmp_path) == "unknown"
    git("init", "-q")
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git("add", "a")
    git("commit", "-q", "-m", "a", "--date", "2026-01-02T03:04:05+0000")
    commit = git("log", "-1", "--format=%h").strip()
    assert kept_table.tree(tmp_path) == f"{commit}, 2026-01-02"
    (tmp_path / "a").write_text("2", encoding="utf-8")
    assert kept_table.tree(tmp_path) == f"{commit}+, 2026-01-02"
    alone = machines.row(machines.Trial(machines.HERE, tmp_path, machines.Cores([0])), None, "checks")
    assert len(alone) == len(machines.COLUMNS)
    assert alone[-1].endswith("(checks alone)")


def test_a_table_keeps_what_was_not_tried_again(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- x -->\n<!-- end of table -->\nz\n", encoding="utf-8")
    kept_table.update(page, "<!-- x -->", ("name", "one", "two"), [["sse", "passed", kept_table.NOT_TRIED]], keys=1)
    kept_table.update(page, "<!-- x -->", ("name", "one", "two"), [["avx", "1", "2"]], keys=1)
    kept_table.update(page, "<!-- x -->", ("name", "one", "two"), [["sse", kept_table.NOT_TRIED, "equal"]], keys=1)
    assert kept_table.read(page, "<!-- x -->") == [["sse", "passed", "equal"], ["avx", "1", "2"]]
    assert page.read_text(encoding="utf-8").startswith("a\n<!-- x -->\n| name |")
    assert page.read_text(encoding="utf-8").endswith("<!-- end of table -->\nz\n")


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    """A machine with the oldest instructions, and a folder for its results."""
    if not machines.possible():
        pytest.skip(machines.NOTHING)
    return machines.possible()[0], tmp_path_factory.mktemp("oldest")


def trial(machine, folder):
    return machines.Trial(machine, folder, machines.Cores(sorted(os.sched_getaffinity(0))))


def test_a_minute_on_the_oldest_machine(oldest, tmp_path):
    machine, folder = oldest
    here = trial(machines.HERE, tmp_path)._checked(CLAIMS, sorted(os.sched_getaffinity(0))[:1])
    there = trial(machine, folder).run("checks", CLAIMS).rows
    assert [row["verdict"] for row in here] == ["HOLDS"] * len(CLAIMS)
    found = compare(here, there)
    assert not found.is_bad, "\n".join(found.lines())
    assert found.numbers > 20
    assert all(math.isfinite(row["seconds"]) for row in there)


def test_the_numeric_tests_pass_on_the_oldest_machine(oldest):
    machine, folder = oldest
    done = machine.run("-m", "pytest", *TESTS, "-p", "no:cacheprovider", folder=folder)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("name", WEAKENED)
def test_control_a_weakened_program_fails_on_the_oldest_machine(oldest, name):
    machine, folder = oldest
    options = ("-x", "-p", machines.PLUGIN, "-p", "no:cacheprovider", "--weakened", name)
    done = machine.run("-m", "pytest", WEAKENED[name][1], *options, folder=folder)
    assert done.returncode == 1, done.stdout[-4000:]
    assert "AssertionError" in done.stdout


def test_tests_run_on_as_many_cores_as_are_lent(tmp_path, monkeypatch):
    def ran(machine, *arguments, cores, log, **_):
        asked.append((arguments[arguments.index("-n") + 1] if "-n" in arguments else "", len(cores)))
        log.write_text("3 passed in 1.0s")
        return subprocess.CompletedProcess(arguments, 0)

    asked = []
    monkeypatch.setattr(machines.Machine, "run", ran)
    monkeypatch.setattr(machines, "stamp_of_sources", lambda: "today")
    for workers in (1, 3):
        one = machines.Trial(machines.MACHINES[0], tmp_path, machines.Cores([0, 1, 2, 3]), workers=workers)
        assert one.run("tests", ()).tests == "3 passed"
    assert asked == [("", 1), ("3", 3)]


def test_libraries_have_the_cores_of_a_machine_that_has_several(tmp_path, monkeypatch):
    def ran(machine, *arguments, cores, log, **_):
        asked.append((machine.name, arguments[2:-1], len(cores), machine.environment(tmp_path)["OPENBLAS_NUM_THREADS"]))
        log.write_text("3 passed in 1.0s" if machine.name != "two, broken" else "1 failed in 1.0s")
        return subprocess.CompletedProcess(arguments, int(machine.name == "two, broken"))

    asked = []
    monkeypatch.setattr(machines, "ROOT", tmp_path)
    monkeypatch.setattr(machines.Machine, "run", ran)
    monkeypatch.setattr(machines, "stamp_of_sources", lambda: "today")
    place = machines.COLUMNS.index("on two threads")
    rows = {}
    for machine in (machines.Machine("one", cores=1), machines.Machine("two"), machines.Machine("two, broken")):
        (tmp_path / machine.name).mkdir()
        tried = machines.Trial(machine, tmp_path / machine.name, machines.Cores([0, 1])).run("threads", ())
        rows[machine.name] = machines.row(tried, None)[place]
    failed = "FAILED: 1 failed in 1.0s; see two, broken/threads.log"
    assert rows == {"one": "–", "two": "3 passed", "two, broken": failed}
    how = ("-p", "no:cacheprovider", "--tb=short", "-n")
    assert [(name, cores, threads) for name, _, cores, threads in asked] == [("two", 2, "2"), ("two, broken", 2, "2")]
    assert all(arguments == (*machines.THREADED_TESTS, *how) for _, arguments, _, _ in asked)


def test_what_was_done_with_the_same_sources_is_not_done_again(tmp_path, monkeypatch):
    done = []

    def tested(self, own):
        done.append(own)
        return "5 passed" if len(done) != 2 else "FAILED: 1 failed"

    monkeypatch.setattr(machines.Trial, "_tested", tested)
    stamps = iter("aabbb")
    monkeypatch.setattr(machines, "stamp_of_sources", lambda: next(stamps))
    found = [trial(machines.MACHINES[0], tmp_path).run("tests", ()).tests for _ in range(5)]
    assert found == ["5 passed", "5 passed", "FAILED: 1 failed", "5 passed", "5 passed"]
    assert len(done) == 3  # a failure is never kept
    assert all(len(own) == 1 for own in done)


def test_a_changed_source_is_another_stamp(tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "ROOT", tmp_path)
    names = ("src/a.py", "tests/b.py", "docs/images/c.json", "constraints.txt", "pyproject.toml")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
    stamps = [machines.stamp_of_sources()]
    assert stamps == [machines.stamp_of_sources()]
    for name in names:
        (tmp_path / name).write_text("2", encoding="utf-8")
        stamps.append(machines.stamp_of_sources())
    found = machines.installed()
    assert f"jax {machines.importlib.metadata.version('jax')}" in found
    monkeypatch.setattr(machines, "installed", lambda: [*found[:-1], "numpy 0.0"])
    stamps.append(machines.stamp_of_sources())
    assert len(set(stamps)) == len(names) + 2


def test_cores_are_lent_in_turn():
    cores, order = machines.Cores([0, 1]), []

    def use(name, count):
        with cores.lent(count) as own:
            order.append((name, own))

    with cores.lent(1) as first:
        both = threading.Thread(target=use, args=("both", 2))
        both.start()
        while not cores._queue:  # until it waits
            pass
        one = threading.Thread(target=use, args=("one", 1))
        one.start()
        assert order == []  # a core is free, and who asked first comes first
    both.join()
    one.join()
    assert first == [0]
    assert [(name, sorted(own)) for name, own in order] == [("both", [0, 1]), ("one", order[1][1])]
    assert len(order[1][1]) == 1


def test_ctrl_c_begins_nothing_more_and_keeps_nothing_that_it_cut_short(tmp_path, monkeypatch, capsys):
    begun, something = [], threading.Event()

    def until_stopped(trial, *given):
        begun.append(trial)
        something.set()
        while not trial.is_stopped:
            time.sleep(0.001)
        return ""

    def stop(trials, *args):
        try:
            run(trials, *args)
        finally:
            assert all(each.is_stopped for each in trials)

    def interrupt(*args):
        something.wait()
        raise KeyboardInterrupt

    run = machines._run
    monkeypatch.setattr(machines, "BUILD", tmp_path)
    monkeypatch.setattr(machines, "possible", lambda: [machines.Machine("one", cores=1)])
    monkeypatch.setattr(machines, "stamp_of_sources", lambda: "today")
    monkeypatch.setattr(machines, "_run", stop)
    for part in ("_checked", "_controlled", "_tested"):
        monkeypatch.setattr(machines.Trial, part, until_stopped)
    monkeypatch.setattr(machines.concurrent.futures, "wait", interrupt)
    monkeypatch.setattr(sys, "argv", ["machines", "--jobs", "1"])
    assert machines.main() == 130
    assert len(begun) == 1  # there is one core, which this one had
    assert list(tmp_path.rglob("*.json")) == []
    assert "interrupted" in capsys.readouterr().err
