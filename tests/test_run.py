"""Claims and figures through the store, with small ones made for the purpose."""

import dataclasses
import json
import math

import numpy as np
import pytest
import xarray as xr

from widenet import claims, papers, run
from widenet.claims import Claim, Evidence, Hypothesis, Kind, Runs, Verdict
from widenet.errors import StoreError, UnknownName
from widenet.papers import Comparison, Figure, Paper
from widenet.store import Store
from widenet.types import Scale

EVIDENCE = Evidence(
    verdict=Verdict.HOLDS,
    hypotheses=(
        Hypothesis(key="margin", name="margin", required="> 0", actual=0.1, slack=0.1, met=True),
        Hypothesis(key="bound", name="bound", required="≤ ∞", actual=math.inf, slack=-math.inf, met=True),
        Hypothesis(key="rate", name="rate", required="≥ 0", actual=math.nan, slack=None, met=True),
        Hypothesis(key="labels", name="labels", required="±1", actual="±1", slack=None, met=True),
    ),
    runs=Runs(tried=20, diverged=1),
    conclusion=True,
    promised=math.inf,
    measured=0.1 + 0.2,
    tightness=None,
    interval=(0.0, math.inf),
    config={"sizes": (4, 8), "limit": math.inf, "name": "η"},
    note="a note",
)

CHECK_FIELDS = {
    "machine",
    "quantity",
    "id",
    "paper",
    "kind",
    "statement",
    "where",
    "verdict",
    "hypotheses",
    "promised",
    "measured",
    "tightness",
    "vacuous",
    "runs",
    "interval",
    "conclusion",
    "note",
    "expected",
    "expected_verdict",
    "scale",
    "seed",
    "config",
    "seconds",
    "reused",
    "version",
}
FIGURE_FIELDS = {
    "machine",
    "id",
    "paper",
    "title",
    "comparisons",
    "scale",
    "seed",
    "config",
    "seconds",
    "reused",
    "version",
}


class Counter:
    """Counts how often something was really computed."""

    def __init__(self, result):
        self.result, self.calls = result, 0

    def __call__(self, *arguments, **sizes):
        self.calls += 1
        return self.result


def make_claim(check, id: str = "paper.theorem_1", kind: Kind = Kind.MAIN, **more) -> Claim:
    return Claim(id=id, kind=kind, statement="It holds.", where="p. 1", check=check, setting=lambda *_: None, **more)


def make_numbers(rate: float = 0.5) -> xr.Dataset:
    return xr.Dataset(
        {"error": (("width", "run"), np.array([[rate, np.nan], [1.0, np.inf]]))},
        coords={"width": [4, 8]},
        attrs={"widths": (4, 8), "dtype": "float32"},
    )


def compare(numbers: xr.Dataset) -> list[Comparison]:
    measured = float(numbers["error"][0, 0])
    return [Comparison(name="rate", reported="half", measured=measured, interval=None, band=(0.4, math.inf))]


def make_figure(compute, id: str = "paper.figure_1", **sizes) -> Figure:
    every_scale = {scale: {"widths": (4, 8), **sizes} for scale in Scale}
    return Figure(id=id, title="A title", caption="", compute=compute, compare=compare, sizes=every_scale)


def make_paper(key: str, figures: tuple[Figure, ...]) -> Paper:
    return Paper(key=key, title="", authors="", venue="", arxiv="", in_one_line="", figures=figures)


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def registries(monkeypatch):
    checks = [
        make_claim(Counter(EVIDENCE), "alpha2020.lemma_1", Kind.STEP),
        make_claim(Counter(EVIDENCE), "alpha2020.theorem_1", Kind.MAIN),
        make_claim(Counter(EVIDENCE), "beta2021.trend_1", Kind.TREND),
        make_claim(Counter(EVIDENCE), "alpha2020.theorem_2", Kind.MAIN),
    ]
    figures = (make_figure(Counter(make_numbers()), "alpha2020.figure_1"),)
    monkeypatch.setattr(claims, "CLAIMS", tuple(checks))
    monkeypatch.setattr(papers, "PAPERS", (make_paper("alpha2020", figures), make_paper("beta2021", ())))
    monkeypatch.setattr(papers, "FIGURES", figures)


def strict_json(row: dict) -> str:
    return json.dumps(row, allow_nan=False)


# Checks


def test_a_reused_outcome_equals_the_fresh_one(store):
    check = Counter(EVIDENCE)
    claim = make_claim(check)
    fresh = run.check(claim, Scale.QUICK, 0, store)
    reused = run.check(claim, Scale.QUICK, 0, Store(store.root))
    assert check.calls == 1
    assert (fresh.reused, reused.reused) == (False, True)
    assert reused.seconds == fresh.seconds
    # NaN is not equal to itself, its text is.
    assert repr(dataclasses.replace(reused, reused=False)) == repr(fresh)
    assert reused.row() | {"reused": False} == fresh.row()


def test_infinities_and_nan_survive_the_store(store):
    claim = make_claim(Counter(EVIDENCE))
    for _ in range(2):
        found = run.check(claim, Scale.QUICK, 0, store).evidence
        assert found.promised == math.inf
        assert found.interval == (0.0, math.inf)
        assert found.measured == 0.1 + 0.2
        assert [found.hypotheses[1].actual, found.hypotheses[1].slack] == [math.inf, -math.inf]
        assert isinstance(found.hypotheses[2].actual, float)
        assert math.isnan(found.hypotheses[2].actual)
        assert found.hypotheses[3].actual == "±1"


def test_each_scale_seed_and_claim_is_its_own_cell(store):
    check = Counter(EVIDENCE)
    for claim in (make_claim(check), make_claim(check, "paper.theorem_2")):
        for scale in Scale:
            for seed in (0, 1):
                assert not run.check(claim, scale, seed, store).reused
    assert check.calls == 8


def test_a_changed_version_recomputes(store, monkeypatch):
    check = Counter(EVIDENCE)
    claim = make_claim(check)
    run.check(claim, Scale.QUICK, 0, store)
    with monkeypatch.context() as patch:
        patch.setattr(run, "version", lambda: "0.1.0+changed")
        outcome = run.check(claim, Scale.QUICK, 0, store)
        assert (outcome.reused, outcome.row()["version"]) == (False, "0.1.0+changed")
    assert check.calls == 2
    assert run.check(claim, Scale.QUICK, 0, store).reused


def test_a_damaged_cell_recomputes(store):
    check = Counter(EVIDENCE)
    run.check(make_claim(check), Scale.QUICK, 0, store)
    (path,) = store.root.rglob("*.npz")
    path.write_bytes(path.read_bytes()[:-1])
    assert not run.check(make_claim(check), Scale.QUICK, 0, store).reused
    assert run.check(make_claim(check), Scale.QUICK, 0, store).reused
    assert (check.calls, len(store.damaged)) == (2, 1)


def test_an_unwritable_store_is_found_before_the_computation(tmp_path):
    (tmp_path / "file").touch()
    check, compute = Counter(EVIDENCE), Counter(make_numbers())
    store = Store(tmp_path / "file" / "store")
    with pytest.raises(StoreError, match="cannot write results to"):
        run.check(make_claim(check), Scale.QUICK, 0, store)
    with pytest.raises(StoreError, match="cannot write results to"):
        run.compute(make_figure(compute), Scale.QUICK, 0, store)
    assert check.calls == compute.calls == 0


def test_a_check_that_raises_leaves_no_cell(store):
    def broken(setting, progress):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        run.check(make_claim(broken), Scale.QUICK, 0, store)
    assert list(store.list()) == []


def test_setting_and_progress_reach_the_check(store):
    seen = []

    def check(setting, progress):
        progress(0.5, "half way")
        seen.append(setting)
        return EVIDENCE

    claim = dataclasses.replace(make_claim(check), setting=lambda scale, seed: (scale, seed))
    run.check(claim, Scale.PAPER, 7, store, lambda fraction, words: seen.append((fraction, words)))
    assert seen == [(0.0, "making the data and the networks"), (0.5, "half way"), (Scale.PAPER, 7)]


def test_the_row_of_a_check_is_the_contract(store):
    row = run.check(make_claim(Counter(EVIDENCE)), Scale.QUICK, 3, store).row()
    assert json.loads(strict_json(row)) == row
    assert set(row) == CHECK_FIELDS
    assert set(row["hypotheses"][0]) == {"name", "required", "actual", "slack", "met"}
    assert row["runs"] == {"tried": 20, "diverged": 1, "unfinished": 0, "outside": 0}
    assert (row["promised"], row["interval"]) == ("Infinity", [0.0, "Infinity"])
    assert [each["actual"] for each in row["hypotheses"]] == [0.1, "Infinity", "NaN", "±1"]
    assert row["config"] == {"sizes": [4, 8], "limit": "Infinity", "name": "η"}
    assert (row["paper"], row["kind"], row["scale"], row["seed"]) == ("paper", "main result", "quick", 3)


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("expected", [Verdict.HOLDS, Verdict.VIOLATED])
def test_only_an_unexpected_violation_fails(store, verdict, expected):
    id = "paper.lemma_as_printed" if expected is Verdict.VIOLATED else "paper.lemma"
    check = Counter(EVIDENCE.model_copy(update={"verdict": verdict}))
    outcome = run.check(make_claim(check, id, expected=expected), Scale.QUICK, 0, store)
    assert outcome.failed == (verdict is Verdict.VIOLATED and expected is Verdict.HOLDS)
    assert outcome.row()["expected"] is not outcome.failed
    assert outcome.row()["expected_verdict"] == expected


# Figures


def test_a_reused_figure_equals_the_fresh_one(store):
    compute = Counter(make_numbers())
    fresh = run.compute(make_figure(compute), Scale.QUICK, 0, store)
    reused = run.compute(make_figure(compute), Scale.QUICK, 0, Store(store.root))
    assert compute.calls == 1
    assert (fresh.reused, reused.reused) == (False, True)
    assert fresh.numbers.attrs == {"widths": [4, 8], "dtype": "float32"}
    xr.testing.assert_identical(fresh.numbers, reused.numbers)
    assert reused.row() | {"reused": False} == fresh.row()


def test_comparisons_follow_the_code_and_numbers_do_not(store):
    compute = Counter(make_numbers())
    figure = make_figure(compute)
    run.compute(figure, Scale.QUICK, 0, store)
    compute.result = make_numbers(rate=0.9)
    narrow = Comparison(name="new", reported="", measured=0.0, interval=None, band=(1.0, 1.0))
    changed = dataclasses.replace(figure, compare=lambda numbers: [*compare(numbers), narrow])
    outcome = run.compute(changed, Scale.QUICK, 0, store)
    assert outcome.reused
    assert [each.measured for each in outcome.comparisons] == [0.5, 0.0]
    assert [each["verdict"] for each in outcome.row()["comparisons"]] == ["AGREES", "DIFFERS"]


def test_the_sizes_of_a_figure_are_in_its_key(store):
    compute = Counter(make_numbers())
    run.compute(make_figure(compute), Scale.QUICK, 0, store)
    run.compute(make_figure(compute, runs=3), Scale.QUICK, 0, store)
    run.compute(make_figure(compute, dtype="float32"), Scale.QUICK, 0, store)
    assert compute.calls == 3
    assert sorted(manifest.key.dtype for manifest in store.list()) == ["float32", "float64", "float64"]


def test_a_claim_and_a_figure_of_one_name_are_two_cells(store):
    run.check(make_claim(Counter(EVIDENCE), "paper.same"), Scale.QUICK, 0, store)
    assert not run.compute(make_figure(Counter(make_numbers()), "paper.same"), Scale.QUICK, 0, store).reused


def test_the_row_of_a_figure_is_the_contract(store):
    row = run.compute(make_figure(Counter(make_numbers())), Scale.QUICK, 3, store).row()
    assert json.loads(strict_json(row)) == row
    assert set(row) == FIGURE_FIELDS
    assert row["config"] == {"widths": [4, 8]}
    assert row["comparisons"] == [
        {
            "name": "rate",
            "reported": "half",
            "measured": 0.5,
            "interval": None,
            "band": [0.4, "Infinity"],
            "basis": "",
            "verdict": "AGREES",
        }
    ]


# Names


def test_main_results_come_first_in_their_own_order(registries):
    assert [claim.id for claim in run.claims_of(None)] == [
        "alpha2020.theorem_1",
        "alpha2020.theorem_2",
        "beta2021.trend_1",
        "alpha2020.lemma_1",
    ]
    assert [claim.id for claim in run.claims_of("beta2021")] == ["beta2021.trend_1"]
    assert [figure.id for figure in run.figures_of(None)] == ["alpha2020.figure_1"]
    assert run.figures_of("beta2021") == ()


def test_names_are_found(registries):
    assert run.find_claim("alpha2020.lemma_1").kind is Kind.STEP
    assert run.find_figure("alpha2020.figure_1").paper == "alpha2020"
    assert run.find_paper("beta2021").key == "beta2021"
    assert run.parse_scale("paper") is Scale.PAPER


@pytest.mark.parametrize(
    ("find", "name", "near"),
    [
        (run.find_claim, "alpha2020.theorm_2", "alpha2020.theorem_2"),
        (run.find_figure, "alpha2020.fig_1", "alpha2020.figure_1"),
        (run.find_paper, "alpha2002", "alpha2020"),
        (run.claims_of, "bta2021", "beta2021"),
        (run.figures_of, "bta2021", "beta2021"),
        (run.parse_scale, "papr", "paper"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(registries, find, name, near):
    with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
        find(name)


# Version


def test_version_names_the_program():
    package, digest = run.version().split("+")
    assert package
    assert len(digest) == 12
    assert int(digest, 16) >= 0


def test_the_digest_follows_the_numeric_layers_only(tmp_path):
    for name in ("types.py", "data/xor.py", "claims/deep/one.py", "plots/style.py", "data/files/raw.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    first = run.source_digest(tmp_path)
    (tmp_path / "plots/style.py").write_text("changed")
    (tmp_path / "data/files/raw.gz").write_text("changed")
    assert run.source_digest(tmp_path) == first
    (tmp_path / "claims/deep/one.py").write_text("changed")
    changed = run.source_digest(tmp_path)
    (tmp_path / "data/xor.py").rename(tmp_path / "data/xord.py")
    assert len({first, changed, run.source_digest(tmp_path)}) == 3
