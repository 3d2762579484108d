"""One loop over all rooms: evidence or `NotApplicable` from each claim, never an exception."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from tests.packages import EMPTY, TOY
from tests.packages.toy2020.claims import theorems
from tests.packages.toy2020.runs.numbers import LOG, Numbers
from tests.stored import stored
from widenet import papers
from widenet.claims import Evidence, NotApplicable, Verdict
from widenet.data import from_arrays
from widenet.errors import DataError, InputError, StoreError, UnknownName
from widenet.papers.brutzkus2018.claims import convergence, landscape, zero_loss
from widenet.run import Mishap, check, check_on, executors
from widenet.store import Store
from widenet.types import Dataset

DATA = from_arrays([[0.6, 0.8], [-0.5, 0.1]], [1, -1])


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    return lambda: path.read_text().count("start")


def test_every_claim_answers_in_the_order_of_the_papers(log):
    answers = check_on(DATA)
    assert list(answers) == list(papers.claim_ids())
    spoken = {id for id, answer in answers.items() if isinstance(answer, Evidence)}
    assert spoken == {"toy2020.theorem_2", "toy2020.theorem_6"}
    assert "about constructions or laws" in str(answers["toy2020.lemma_a_1"])
    assert log() == 1, "claims that read the same runs share one training"


def test_one_paper_alone_can_be_asked():
    everyone = check_on(DATA)
    assert check_on(DATA, paper="toy2020") == {id: everyone[id] for id in papers.claim_ids("toy2020")}
    with pytest.raises(InputError, match="paper 'toy2021'"):
        check_on(DATA, paper="toy2021")


def test_a_second_look_trains_nothing_and_other_choices_do(log, tmp_path):
    store = Store(tmp_path / "mine")
    first = check_on(DATA, store=store)
    assert check_on(DATA, store=store) == first
    assert log() == 1
    check_on(DATA, store=store, seed=1)
    check_on(from_arrays(DATA.inputs / 2, DATA.labels), store=store)
    assert log() == 3
    assert len(stored(store)) == 3


def test_results_are_kept_where_the_command_line_keeps_them(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "named"))
    check_on(DATA)
    assert len(stored(Store(tmp_path / "named"))) == 1


def test_a_claim_that_cannot_speak_says_why():
    answers = check_on(Dataset(DATA.inputs, jnp.asarray([0.0, 1.0])))
    assert answers["toy2020.theorem_2"] == NotApplicable("It needs the labels −1 and +1, both of them.")


@pytest.mark.parametrize(
    ("second", "verdict", "words"),
    [
        ([0.5, -0.2], Verdict.HOLDS, ""),
        ([0.5, 1e-11], Verdict.INSUFFICIENT_EVIDENCE, "undecided: no separator was found, and a weighted mean of 2"),
        ([0.5, 0.0], Verdict.HYPOTHESES_NOT_MET, "not separable through the origin by any vector of norm below"),
    ],
)
def test_the_certificate_says_why_data_is_not_known_to_be_separable(monkeypatch, second, verdict, words):
    claims = [convergence.theorem_2, zero_loss.section_2_zero_minimum, landscape.proposition_1_2]
    monkeypatch.setattr(papers, "claims_of", lambda _: claims)
    for answer in check_on(from_arrays([[0.5, 0.0], second], [1, -1]), n_runs=1, n_neurons=2).values():
        assert isinstance(answer, Evidence)
        assert answer.verdict is verdict
        (found,) = (each for each in answer.hypotheses if each.key == "separable")
        assert found.met is {Verdict.HOLDS: True, Verdict.INSUFFICIENT_EVIDENCE: None}.get(verdict, False)
        assert words in found.why


def test_progress_goes_from_nothing_to_all():
    heard = []
    check_on(DATA, progress=lambda fraction, words: heard.append((fraction, words)))
    fractions = [fraction for fraction, _ in heard]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert "naps" in [words for _, words in heard]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (DataError("row 7 is zero."), NotApplicable, "It cannot be checked on this data: row 7 is zero."),
        (ZeroDivisionError("oh"), Mishap, "which is a mistake in widenet: ZeroDivisionError: oh"),
    ],
)
@pytest.mark.parametrize("place", ["on", "judge"])
def test_no_exception_of_a_claim_gets_out(monkeypatch, caplog, place, error, kind, words):
    def raising(runs: Numbers):
        raise error

    broken = dataclasses.replace(theorems.theorem_2, **{"judge" if place == "judge" else "settings_on": raising})
    monkeypatch.setattr(theorems, "theorem_2", broken)
    answers = check_on(DATA)
    assert type(answers["toy2020.theorem_2"]) is kind
    assert words in answers["toy2020.theorem_2"]
    assert isinstance(answers["toy2020.theorem_6"], Evidence)
    assert bool(caplog.records) == (kind is Mishap)


def test_a_store_that_cannot_be_written_is_no_matter_of_the_claims(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        check_on(DATA, store=Store(tmp_path / "file" / "store"))


def test_wrong_choices_and_data_are_one_sentence():
    with pytest.raises(UnknownName, match="there is no choice 'n_neuron'; did you mean 'n_neurons'"):
        check_on(DATA, n_neuron=4)
    with pytest.raises(InputError, match=r"^n_neurons must be a multiple of 2, got 3\.$"):
        check_on(DATA, n_neurons=3)
    with pytest.raises(InputError, match=r"^n_runs must be a valid integer, got 'x'\.$"):
        check_on(DATA, n_runs="x")
    with pytest.raises(DataError, match="one data set"):
        check_on(Dataset(jnp.asarray(np.zeros((2, 3, 4))), jnp.ones((2, 3))))
    with pytest.raises(DataError, match=r"^data must be a Dataset, .* got int; widenet\.from_arrays"):
        check_on(3)


def test_data_may_be_a_file_or_a_pair_of_arrays(tmp_path):
    inputs, labels = np.asarray(DATA.inputs), np.asarray(DATA.labels)
    table, archive = tmp_path / "own.csv", tmp_path / "own.npz"
    np.savetxt(table, np.column_stack([inputs, labels]), delimiter=",")
    np.savez(archive, inputs=inputs, labels=labels)
    expected = check_on(DATA)
    for given in ((inputs, labels), (inputs.tolist(), labels.tolist()), table, str(table), archive):
        assert check_on(given) == expected


def test_compiled_programs_are_kept_as_on_the_command_line(monkeypatch, tmp_path):
    heard = []
    monkeypatch.setattr(executors, "keep_compiled_programs", heard.append)
    check_on(DATA, store=Store(tmp_path))
    check("toy2020.theorem_2", store=Store(tmp_path))
    assert heard == [tmp_path / "compiled"] * 2
