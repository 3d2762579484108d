"""A user's choices reach the runs of every claim of this paper, or its note says which do not."""

import pytest

from tests.papers.chatterji2021.claims.test_user_data import cloud, user_data
from tests.papers.chatterji2021.toys import corners
from widenet import papers
from widenet.claims import NotApplicable
from widenet.claims.applicability import Applied
from widenet.papers.chatterji2021.claims.network import appendix_a
from widenet.papers.chatterji2021.claims.smoothness import lemma_6
from widenet.papers.chatterji2021.claims.theorem_2 import theorem_2b
from widenet.papers.chatterji2021.runs.networks import NetworkSetting
from widenet.progress import silent
from widenet.run.outcomes import cells_of
from widenet.run.own_data import ask
from widenet.store import Store

CLAIMS = papers.claims_of("chatterji2021")
ON_DATA = [claim for claim in CLAIMS if not isinstance(claim.on(corners()), NotApplicable)]
WITHOUT_NETWORKS = {"lemma_21", "appendix_c"}


def applied(claim, about):
    """What the claim runs, and what it says beside it."""
    answer = claim.on(about)
    assert not isinstance(answer, NotApplicable), answer
    return answer if isinstance(answer, Applied) else Applied(answer)


def material(claim, about):
    """The settings or the drawn material, flat."""
    settings = applied(claim, about).settings
    flat = [settings] if claim.draws and not isinstance(settings, list) else settings
    return [each for group in flat for each in (group if isinstance(group, list) else [group])]


def widths(setting) -> set[int]:
    """How many neurons its networks have."""
    networks = getattr(setting, "networks", setting)
    return {2 * networks.half_width} if hasattr(networks, "half_width") else set()


def test_all_claims_about_networks_are_looked_at():
    assert {claim.name for claim in ON_DATA} > WITHOUT_NETWORKS
    assert len(ON_DATA) > 30


@pytest.mark.parametrize("claim", [each for each in ON_DATA if each.name not in WITHOUT_NETWORKS], ids=lambda c: c.name)
def test_a_width_is_honoured_or_the_note_says_so(claim):
    made = material(claim, corners(n_neurons=36))
    kept = all(widths(each) <= {36} for each in made if not hasattr(each, "n_draws"))
    named = "not n_neurons = 36" in applied(claim, corners(n_neurons=36)).note
    assert kept != named or claim.name in ("section_2_gradient", "equations_19_20")
    assert not applied(claim, corners()).note


@pytest.mark.parametrize("claim", [each for each in ON_DATA if each.reads], ids=lambda c: c.name)
@pytest.mark.parametrize("n_runs", [1, 7])
def test_a_number_of_runs_is_honoured_or_the_note_says_so(claim, n_runs):
    made = [each for each in material(claim, corners(n_runs=n_runs)) if not hasattr(each, "n_draws")]
    for kind in {type(each) for each in made}:
        group = [each for each in made if type(each) is kind]
        counts = {
            getattr(getattr(each, "networks", each), name, None) for each in group for name in ("n_runs", "n_networks")
        }
        counts -= {None}
        honoured = counts == {n_runs} if counts else len(group) == n_runs
        said = f"not n_runs = {n_runs}:" in applied(claim, corners(n_runs=n_runs)).note and kind is not NetworkSetting
        assert honoured != said, (claim.name, kind)


def test_what_runs_do_not_honour_is_in_the_note(tmp_path):
    about = user_data(*cloud(4), n_neurons=2, n_runs=3, max_updates=2)
    found = ask(papers.find_claim("chatterji2021.theorem_1"), about, cells_of(Store(tmp_path)))
    own = applied(papers.find_claim("chatterji2021.theorem_1"), about).note
    assert found.note.endswith(f" {own}")  # pyright: ignore[reportAttributeAccessIssue]
    assert found.note.endswith("There is 1 run, not n_runs = 3: the start is built, not drawn.")  # pyright: ignore[reportAttributeAccessIssue]


def said_by(name, about):
    return applied(papers.find_claim(f"chatterji2021.{name}"), about).note


def test_sentences():
    said = said_by("theorem_1", user_data(*cloud(30), n_neurons=4, n_runs=3))
    assert "neurons, not n_neurons = 4: the start needs one for each distinct point of a label" in said
    assert said.endswith("There is 1 run, not n_runs = 3: the start is built, not drawn.")
    assert said_by("lemma_15_1", corners(n_neurons=400, n_runs=5)) == (
        "These networks have 2,000 neurons, not n_neurons = 400: Theorem 2 is about wide ones. "
        "There are 60 runs, not n_runs = 5: fewer bound no small failure rate."
    )
    for name in ("section_2_gradient", "equations_19_20"):
        assert said_by(name, corners(n_neurons=36)) == (
            "These networks have 4 neurons, not n_neurons = 36: differences are taken weight by weight."
        )
        assert not said_by(name, corners(n_neurons=4))
    assert "not n_neurons = 2" in said_by("theorem_1_start", user_data(*cloud(30), n_neurons=2))
    assert not said_by("theorem_1_start", user_data(*cloud(30), n_neurons=100))


def test_appendix_a_has_the_width_that_was_chosen():
    """400 neurons were cut to 40 without a word."""
    (setting,) = appendix_a.on(corners(n_neurons=400))
    assert setting.half_width == 200
    assert setting.n_steps == 100
    assert appendix_a([appendix_a.reads[0].run(setting, silent)]).note == ""
    said = appendix_a.on(corners(n_neurons=10**8))
    assert isinstance(said, NotApplicable)
    assert "Choose at most 25,000,000 neurons" in said
    assert [each.seed for each in appendix_a.on(corners(n_runs=3, seed=4))] == [4, 5, 6]


def test_runs_and_networks_that_were_chosen():
    assert [each.seed for each in material(theorem_2b, corners(n_runs=3, seed=4))] == [4, 5, 6]
    for n in (4, 150):
        (looks,) = lemma_6.on(user_data(*cloud(n), n_runs=2))
        assert looks.networks.n_networks == 2
