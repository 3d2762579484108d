"""From Python: answers about your data, a figure with its picture, and both sides of every run."""

import numpy as np
import pytest
import xarray as xr

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.claims import Evidence, Part, Runs
from widenet.claims.conclusion import evidence
from widenet.claims.sides import Sides
from widenet.errors import InputError, UnknownName
from widenet.run import Answers
from widenet.store import Store

DATA = ([[0.6, 0.8], [-0.5, 0.1]], [1, -1])


@pytest.fixture
def toys(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.mark.usefixtures("toys")
def test_answers_are_sorted_by_whether_a_claim_applies():
    answers = wn.check_on(DATA)
    assert isinstance(answers, Answers)
    assert list(answers.applicable) == ["toy2020.theorem_2", "toy2020.theorem_6"]
    assert set(answers.applicable) | set(answers.not_applicable) == set(papers.claim_ids())
    assert repr(answers) == "<Answers: 6 claims, 2 applicable (2 HOLDS)>"
    with pytest.raises(KeyError, match="did you mean"):
        answers["toy2020.theorem"]
    assert answers.get("toy2020.theorem") is None
    frame = answers.to_frame()
    assert list(frame.index) == list(answers)
    row, evidence = frame.loc["toy2020.theorem_2"], answers["toy2020.theorem_2"]
    assert isinstance(evidence, Evidence)
    assert (row.verdict, row.measured, row.promised) == ("HOLDS", evidence.measured, evidence.promised)
    assert (row.tightness, row.cases) == (evidence.tightness, evidence.headline.n_cases)
    assert row.warning == evidence.headline.warning == ""
    assert frame.loc["toy2020.lemma_a_1"].why == answers["toy2020.lemma_a_1"]


def test_an_answer_that_is_kept_by_far_says_so():
    found = evidence({"updates": Sides([0.2, 0.5], 1000.0)})
    (warning,) = Answers({"paper.claim": found}).to_frame().warning
    assert warning == "Tested far from the edge: the closest case uses 0.05 % of what is promised."


def test_a_table_of_one_part_of_each_claim():
    found = evidence({"updates": Sides([2.0], 8.0), "loss": Sides([0.5], 1.0)})
    answers = Answers({"paper.claim": found})
    assert answers.to_frame().tightness.tolist() == [0.25]
    assert answers.to_frame(part="loss")[["measured", "promised", "tightness"]].values.tolist() == [[0.5, 1.0, 0.5]]
    with pytest.raises(UnknownName, match="lose"):
        answers.to_frame(part="lose")


@pytest.mark.usefixtures("toys")
def test_claims_are_named_by_id_or_given():
    one = wn.check_on(DATA, "toy2020.theorem_6")
    assert list(one) == ["toy2020.theorem_6"]
    both = wn.check_on(DATA, wn.find_claim("toy2020.theorem_2"), "toy2020.theorem_6")
    assert list(both) == ["toy2020.theorem_2", "toy2020.theorem_6"]
    assert both["toy2020.theorem_6"] == one["toy2020.theorem_6"]
    with pytest.raises(UnknownName, match="theorem_7"):
        wn.check_on(DATA, "toy2020.theorem_7")
    with pytest.raises(InputError, match="name claims or a paper, not both"):
        wn.check_on(DATA, "toy2020.theorem_6", paper="toy2020")


@pytest.mark.usefixtures("toys")
def test_a_figure_has_numbers_comparisons_and_a_picture():
    import matplotlib.figure

    (id,) = papers.figure_ids("toy2020")[:1]
    found = wn.figure(id)
    assert found.id == id
    assert found.numbers.data_vars
    assert found.comparisons
    assert repr(found).startswith(f"<Figure {id}: ")
    assert isinstance(found.draw(), matplotlib.figure.Figure)
    with pytest.raises(UnknownName, match="figure_99"):
        wn.figure("toy2020.figure_99")
    with pytest.raises(InputError, match="seed"):
        wn.figure(id, seed=-1)


@pytest.mark.usefixtures("toys")
def test_a_figure_is_kept_where_you_say_and_tells_how_far_it_is(tmp_path):
    (id,) = papers.figure_ids("toy2020")[:1]
    told = []
    first = wn.figure(id, store=Store(tmp_path), progress=lambda share, words: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1
    told.clear()
    again = wn.figure(id, store=Store(tmp_path), progress=lambda share, words: told.append(share))
    assert told == [], "every run is in the store"
    xr.testing.assert_identical(first.numbers, again.numbers)


def test_both_sides_of_every_run():
    evidence = wn.check("brutzkus2018.footnote_1")
    (part,) = evidence.parts
    cases = part.cases
    assert {"measured", "promised", "tightness", "kept", "cell", "run"} <= set(cases)
    assert len(cases) == part.n_cases
    assert cases.kept.dtype == "boolean"
    assert cases.kept.all()
    assert (cases.groupby("cell").run.min() == 0).all()
    closest = cases.loc[part.case]
    assert (closest.measured, closest.promised, closest.tightness) == (part.measured, part.promised, part.tightness)
    assert part.median_tightness == pytest.approx(np.median(cases.tightness))
    assert evidence.part("norm") is part
    with pytest.raises(UnknownName, match="no part 'nrm'"):
        evidence.part("nrm")


@pytest.mark.usefixtures("toys")
def test_evidence_knows_its_settings():
    evidence = wn.check("toy2020.theorem_2")
    assert [each["experiment"] for each in evidence.settings] == [each.id for each in _reads("toy2020.theorem_2")]
    assert "settings" not in evidence.model_dump()


def _reads(id):
    claim = papers.find_claim(id)
    return [each for each in claim.reads for _ in each.settings(wn.Scale.QUICK, 0)]


def test_evidence_from_a_file_has_the_cases_that_were_kept():
    part = Part(name="a", key="a", kept=True, sense="≤", sides=((1.0, 2.0), (1.5, 2.0)))
    again = Evidence.model_validate_json(
        Evidence(hypotheses=(), parts=(part,), runs=Runs(tried=2)).model_dump_json(
            include={"hypotheses": True, "parts": True, "runs": True}
        )
    )
    assert again.part("a").cases.measured.tolist() == [1.0, 1.5]
    assert again.parts == (part,)


@pytest.mark.usefixtures("toys")
def test_several_claims_are_several_arguments_or_one_list():
    several = ["toy2020.theorem_2", "toy2020.theorem_6"]
    assert list(wn.check_on(DATA, several)) == list(wn.check_on(DATA, *several)) == several


def test_what_a_check_found_is_shown_in_one_line():
    part = Part(name="at most 8 updates", key="updates", kept=True, sense="≤", measured=2.0, promised=8.0)
    assert repr(part) == "<Part updates: at most 8 updates: 2 ≤ 8, kept>"
    assert repr(Part(name="a", key="a", kept=None)) == "<Part a: a: undecided>"
    hypothesis = wn.Hypothesis(key="norm", name="largest ‖x‖", required="≤ 1", actual=2.0, slack=-1.0, met=False)
    assert repr(hypothesis) == "<Hypothesis norm: largest ‖x‖ is 2, required ≤ 1: not met>"
    comparison = wn.Comparison(name="slope", reported="-1", measured=-0.9, interval=None, band=(-2.0, 0.0))
    assert repr(comparison) == "<Comparison: slope: measured -0.9, reported -1: AGREES>"


def test_names_are_short(tmp_path):
    assert repr(wn.find_figure("brutzkus2018.figure_1")).startswith("<Figure brutzkus2018.figure_1: MNIST 3 against 5")
    assert repr(wn.find_claim("brutzkus2018.theorem_2").reads) == "(<Experiment brutzkus2018.recorded_runs>,)"
    assert repr(papers.PAPERS[0]).startswith("<Paper brutzkus2018: SGD Learns")
    assert repr(Store(tmp_path)) == f"<Store {tmp_path}>"
    assert repr(wn.find_claim("brutzkus2018.footnote_1")) == (
        "<Claim brutzkus2018.footnote_1: A separator of the unit ball has norm at least 1>"
    )
    assert wn.__version__.count(".") == 2
