"""Claims and figures judged from cells, and the rows that `--json` prints."""

import dataclasses
import json
import math

import numpy as np
import pytest
import xarray as xr

from tests.packages import BROKEN, EMPTY, TOY
from tests.packages.toy2020.claims import theorems
from tests.packages.toy2020.figures.figure_1 import figure_1
from tests.packages.toy2020.figures.figure_2 import figure_2
from tests.packages.toy2020.runs.numbers import LOG, Numbers, NumbersSetting
from tests.stored import stored
from widenet import papers
from widenet.claims import Claim, Evidence, Fact, Hypothesis, Kind, Part, Promise, Promised, Runs, Verdict
from widenet.console import catalogue
from widenet.errors import InputError, StoreError, UnknownName
from widenet.figures import Comparison
from widenet.records import Scale
from widenet.run import Cells, CheckOutcome, Circumstances, InProcess, check, judge, show, version
from widenet.store import Store

EVIDENCE = Evidence(
    hypotheses=(
        Hypothesis(key="margin", name="margin", required="> 0", actual=0.1, slack=0.1, met=True),
        Hypothesis(key="bound", name="bound", required="≤ ∞", actual=math.inf, slack=-math.inf, met=True),
        Hypothesis(key="rate", name="rate", required="≥ 0", actual=math.nan, slack=None, met=True, why="because"),
        Hypothesis(key="labels", name="labels", required="±1", actual="±1", slack=None, met=True),
    ),
    parts=(Part(name="bound", kept=True, promised=math.inf, measured=0.1 + 0.2, interval=(0.0, math.inf)),),
    runs=Runs(tried=20, diverged=1),
    details={"sizes": (4, 8), "limit": math.inf, "name": "η"},
    note="a note",
)
CIRCUMSTANCES = Circumstances(Scale.QUICK, 0, settings=[], seconds=0.0, reused=False, machine="", versions={}, cells=[])

OLD_FIELDS = {
    *("id", "paper", "kind", "statement", "where", "verdict", "hypotheses", "quantity", "promised", "measured"),
    *("tightness", "vacuous", "runs", "interval", "conclusion", "note", "expected", "expected_verdict", "scale"),
    *("seed", "config", "seconds", "reused", "version", "machine"),
}
FIGURE_FIELDS = {
    *("id", "paper", "title", "comparisons", "scale", "seed", "config", "seconds", "reused", "version", "machine"),
    *("cells", "versions"),
}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def cells(store) -> Cells:
    return Cells(store, InProcess())


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    return lambda: path.read_text().count("start")


def drawn(kept: bool | None = True, id: str = "paper.theorem_1", draws=theorems.nothing) -> Claim:
    def judge(toys: theorems.Toys) -> Promised:
        return {"fact": Fact(math.nan if kept is None else kept)}

    return Claim(id, Kind.MAIN, "It holds.", "p. 1", judge, draws=draws)


def test_a_stored_outcome_equals_the_computed_one(store, log):
    computed = judge(theorems.theorem_2, Scale.QUICK, 0, Cells(store, InProcess()))
    stored = judge(theorems.theorem_2, Scale.QUICK, 0, Cells(Store(store.root), InProcess()))
    assert log() == 3
    assert (computed.circumstances.reused, stored.circumstances.reused) == (False, True)
    assert stored.row() | {"reused": False} == computed.row()
    assert stored.evidence == computed.evidence


def test_claims_and_figures_that_read_the_same_runs_share_them(cells, log):
    judge(theorems.theorem_2, Scale.QUICK, 0, cells)
    judge(theorems.theorem_6, Scale.QUICK, 0, cells)
    judge(theorems.theorem_9_as_printed, Scale.QUICK, 0, cells)
    show(figure_1, Scale.QUICK, 0, cells)
    show(figure_2, Scale.QUICK, 0, cells)
    assert log() == 3 + 1


def test_a_reworded_note_or_another_tolerance_trains_nothing(cells, log):
    judge(theorems.theorem_2, Scale.QUICK, 0, cells)

    def stricter(runs: Numbers) -> Promise:
        return dataclasses.replace(theorems.theorem_2.judge(runs, bound=200.0), note="in other words")

    changed = dataclasses.replace(theorems.theorem_2, judge=stricter, statement="Reworded.")
    outcome = judge(changed, Scale.QUICK, 0, Cells(cells.store, InProcess()))
    assert (outcome.evidence.verdict, outcome.evidence.note) == (Verdict.VIOLATED, "in other words")
    assert outcome.circumstances.reused
    assert log() == 3


def test_another_band_trains_nothing(cells, log):
    assert len(show(figure_1, Scale.QUICK, 0, cells).comparisons) == 2
    narrow = Comparison(name="new", reported="", measured=0.0, interval=None, band=(1.0, 1.0))
    changed = dataclasses.replace(figure_1, compare=lambda numbers: [*figure_1.compare(numbers), narrow])
    outcome = show(changed, Scale.QUICK, 0, Cells(cells.store, InProcess()))
    assert [each["verdict"] for each in outcome.row()["comparisons"]] == ["AGREES", "DIFFERS", "DIFFERS"]
    assert (outcome.circumstances.reused, log()) == (True, 1)


def test_each_scale_and_seed_has_runs_of_its_own(cells, log):
    def settings(scale, seed):
        return [NumbersSetting(place=list(Scale).index(scale), seconds=0.0, seed=seed, size=4)]

    claim = dataclasses.replace(theorems.theorem_2, reads=(theorems.theorem_2.reads[0].at(settings),))
    for scale in Scale:
        for seed in (0, 1):
            assert not judge(claim, scale, seed, cells).circumstances.reused
    assert log() == 4


def test_scale_and_seed_reach_what_a_claim_draws(cells):
    seen = []
    claim = drawn(draws=lambda scale, seed: seen.append((scale, seed)) or theorems.nothing(scale, seed))
    outcome = judge(claim, Scale.PAPER, 7, cells)
    assert seen == [(Scale.PAPER, 7)]
    assert (outcome.circumstances.cells, outcome.circumstances.reused) == ([], False)
    assert stored(cells.store) == []


def test_the_row_of_a_check_is_the_contract(cells):
    row = dataclasses.replace(judge(drawn(), Scale.QUICK, 3, cells), evidence=EVIDENCE).row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    about = {"form", "finding", "symbols", "repaired_by", "false_as_printed", "same_runs", "figures"}
    more = {"title", "parts", "details", "cells", "open_constant", "versions", "instance"}
    assert set(row) == OLD_FIELDS | more | about
    assert (row["form"], row["finding"], row["symbols"], row["same_runs"]) == ("the paper's", None, [], [])
    assert set(row["hypotheses"][0]) == {"key", "name", "required", "actual", "slack", "met", "why", "normalization"}
    assert row["runs"] == {"tried": 20, "diverged": 1, "unfinished": 0, "outside": 0}
    assert (row["promised"], row["interval"]) == ("Infinity", [0.0, "Infinity"])
    assert [each["actual"] for each in row["hypotheses"]] == [0.1, "Infinity", "NaN", "±1"]
    assert row["details"] == {"sizes": [4, 8], "limit": "Infinity", "name": "η"}
    assert (row["paper"], row["kind"], row["scale"], row["seed"]) == ("paper", "main result", "quick", 3)
    (part,) = row["parts"]
    assert set(part) == set(Part.model_fields)
    assert row["machine"] == f"cpu, numpy {np.__version__}"
    assert row["version"] == version()


def test_the_row_says_what_show_says():
    """Whose statement it is, what became of it, its symbols, and what it belongs to."""
    claim = papers.find_claim("sarussi2021.definition_6_2_as_printed")
    row = CheckOutcome(claim, EVIDENCE, CIRCUMSTANCES).row()
    about = catalogue.about(claim.id)
    assert (row["form"], row["repaired_by"]) == ("false as printed", "sarussi2021.definition_6_2")
    assert row["finding"]["survives"] == "yes"
    assert [each["word"] for each in row["symbols"]] == [each["word"] for each in about["symbols"]] != []
    assert {name: row[name] for name in ("form", "finding", "same_runs", "figures", "false_as_printed")} == {
        name: about[name] for name in ("form", "finding", "same_runs", "figures", "false_as_printed")
    }


def test_the_row_names_its_cells_and_their_settings(cells):
    row = judge(theorems.theorem_2, Scale.QUICK, 3, cells).row()
    assert [each["place"] for each in row["config"]] == [0, 1, 2]
    assert {each["experiment"] for each in row["config"]} == {"toy2020.numbers"}
    assert sorted(row["cells"]) == [cell.key.digest for cell in stored(cells.store)]
    assert row["details"] == {"places": [0, 1, 2]}
    assert "jax" in row["machine"]
    assert (row["versions"]["numpy"], "diffrax" in row["versions"]) == (np.__version__, True)
    assert [part["name"] for part in row["parts"]] == ["at most M_k updates", "loss 0 at the end"]


@pytest.mark.parametrize("kept", [True, False, None])
@pytest.mark.parametrize("expected", [Verdict.HOLDS, Verdict.VIOLATED])
def test_only_an_unexpected_violation_fails(cells, kept, expected):
    id = "paper.lemma_as_printed" if expected is Verdict.VIOLATED else "paper.lemma"
    outcome = judge(drawn(kept, id), Scale.QUICK, 0, cells)
    assert outcome.failed == (kept is False and expected is Verdict.HOLDS)
    decided = Verdict.HOLDS if kept else Verdict.INSUFFICIENT_EVIDENCE if kept is None else Verdict.VIOLATED
    assert outcome.row()["expected"] is (decided is expected), "what decides nothing is not as expected"
    assert outcome.row()["expected_verdict"] == expected


def test_the_row_of_a_figure_is_the_contract(cells):
    outcome = show(figure_1, Scale.QUICK, 3, cells)
    row = outcome.row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert set(row) == FIGURE_FIELDS
    assert row["config"] == [{"experiment": "toy2020.curves", "epochs": 8, "seed": 3}]
    assert set(row["comparisons"][0]) == {*Comparison.model_fields, "verdict"}
    xr.testing.assert_identical(outcome.numbers, show(figure_1, Scale.QUICK, 3, cells).numbers)


def test_a_figure_reduces_several_experiments(cells):
    assert show(figure_2, Scale.QUICK, 0, cells).numbers["place"].values.tolist() == [0, 1, 2]


def test_an_unwritable_store_is_found_before_the_computation(tmp_path, log):
    (tmp_path / "file").touch()
    cells = Cells(Store(tmp_path / "file" / "store"), InProcess())
    with pytest.raises(StoreError, match="cannot write results to"):
        judge(theorems.theorem_2, Scale.QUICK, 0, cells)
    with pytest.raises(StoreError, match="cannot write results to"):
        show(figure_1, Scale.QUICK, 0, cells)
    assert log() == 0


class TestCheck:
    """`wn.check`."""

    @pytest.fixture(autouse=True)
    def packages(self, monkeypatch):
        monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY, BROKEN))

    def test_a_claim_or_its_id(self, store, log):
        heard = []
        found = check("toy2020.theorem_2", store=store, progress=lambda fraction, words: heard.append(fraction))
        assert found.verdict is Verdict.HOLDS
        assert heard == sorted(heard)
        assert heard[-1] == 1.0
        assert check(theorems.theorem_2, scale="quick", store=store) == found
        assert log() == 3

    def test_results_are_kept_where_the_command_line_keeps_them(self, tmp_path, monkeypatch, log):
        monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "named"))
        check("toy2020.theorem_2", seed=4)
        check("toy2020.theorem_2", seed=4)
        assert log() == 3
        assert len(stored(Store(tmp_path / "named"))) == 3

    def test_unknown_names(self, store):
        with pytest.raises(UnknownName, match=r"did you mean 'toy2020.theorem_2'"):
            check("toy2020.theorm_2", store=store)
        with pytest.raises(UnknownName, match="did you mean 'paper'"):
            check("toy2020.theorem_2", scale="papr", store=store)


@pytest.mark.parametrize("seed", [-1, 2**32, True])
def test_a_seed_is_a_whole_number_in_its_range(store, seed):
    with pytest.raises(InputError, match=f"^seed must be a whole number between 0 and 4294967295, got {seed!r}.$"):
        check(theorems.theorem_2, seed=seed, store=store)
