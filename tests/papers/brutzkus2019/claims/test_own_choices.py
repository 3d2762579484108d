"""What a user chooses reaches the runs, or the claim says that it does not, and what it uses instead."""

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.networks import points, user_data
from widenet import papers
from widenet.claims import Evidence, NotApplicable
from widenet.papers.brutzkus2019.claims.narrow import theorem_6_4
from widenet.papers.brutzkus2019.claims.sign_flip import lemma_f_2
from widenet.papers.brutzkus2019.claims.wide import theorem_6_3
from widenet.papers.brutzkus2019.claims.xord_structure import observation_decoy
from widenet.papers.brutzkus2019.runs.decoy import Decoy
from widenet.run.outcomes import cells_of
from widenet.run.own_data import ask
from widenet.store import Store

DATA = points("1234", "1243", "1244", "2424", "4242", "2244")
"""Six points, one of them not diverse."""
CHOICES = {
    "n_runs": 3,
    "n_neurons": 8,
    "slope": 0.3,
    "step_size": 0.5,
    "init_scale": 0.25,
    "max_updates": 7,
    "required_margin": 5.0,
    "diverse_only": True,
    "seed": 5,
}
SPEAKING = [
    claim for claim in papers.claims_of("brutzkus2019") if not isinstance(claim.on(user_data(DATA)), NotApplicable)
]


def settings(claim, chosen):
    """What is run, as it is compared; the training set of the decoy is no setting."""
    found = claim.on(chosen).settings
    return (found.points, found.margin) if isinstance(found, Decoy) else found


def test_the_claims_that_apply_to_data():
    names = {claim.name for claim in SPEAKING}
    assert {"theorem_6_3", "theorem_6_4", "equation_7_8", "lemma_f_2", "remark_4_1", "observation_decoy"} <= names
    assert len(names) == 17


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("claim", SPEAKING, ids=lambda claim: claim.name)
def test_a_choice_reaches_the_runs_or_is_said_not_to(claim, choice):
    chosen = user_data(DATA, **{choice: CHOICES[choice]})
    reaches = settings(claim, chosen) != settings(claim, user_data(DATA))
    if claim is observation_decoy and choice == "seed":
        assert not reaches, "nothing is drawn"
        return
    assert reaches != (f"{choice} = {CHOICES[choice]} (" in claim.on(chosen).note)


def test_nothing_is_said_of_what_was_not_chosen():
    for claim in SPEAKING:
        assert claim.on(user_data(DATA)).note == ""
        assert claim.on(user_data(DATA, n_runs=None, max_updates=None)).note == ""


def test_the_width_that_is_trained_is_named_where_it_is_not_the_chosen_one():
    instead = "n_neurons = 8 (networks with k = 2, 4 neurons, are trained)"
    assert instead in theorem_6_4.on(user_data(DATA, n_neurons=8)).note
    assert theorem_6_3.on(user_data(DATA, n_neurons=8)).note == ""
    assert theorem_6_3.on(user_data(DATA, n_neurons=8)).settings[0].half_width == 4
    assert lemma_f_2.on(user_data(DATA, n_neurons=4, n_runs=20, required_margin=1.0)).note == ""
    assert "n_runs = 21 (20 pairs are compared)" in lemma_f_2.on(user_data(DATA, n_runs=21)).note


@pytest.mark.parametrize("claim", [theorem_6_3, observation_decoy], ids=lambda claim: claim.name)
def test_the_evidence_says_what_was_not_used(claim, tmp_path):
    """The hypothesis is measured on the width that was trained, and the note tells it where another was chosen."""
    chosen = user_data(points("1234", "2424"), n_neurons=8, n_runs=1, max_updates=3)
    evidence = ask(claim, chosen, cells_of(Store(tmp_path)))
    assert isinstance(evidence, Evidence)
    assert ("n_neurons = 8 (" in evidence.note) is (claim is observation_decoy)
    if claim is theorem_6_3:
        (width,) = [each for each in evidence.hypotheses if each.key == "width"]
        assert (width.actual, width.met) == (4, False)
        assert evidence.conclusion is None, "three steps decide nothing"
        assert np.all([each["steps"] == [3, 3] for each in evidence.details["cases"]])
