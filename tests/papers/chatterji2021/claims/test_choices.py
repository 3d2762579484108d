"""A user's choices reach the runs of every claim of this paper, or its note says which do not."""

import dataclasses

import pytest

from tests.papers.chatterji2021.claims.test_specimens import cloud, specimen
from tests.papers.chatterji2021.toys import corners
from widenet import papers
from widenet.claims import Silence
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.network import appendix_a, equations_19_20, section_2_gradient
from widenet.papers.chatterji2021.claims.smoothness import lemma_6
from widenet.papers.chatterji2021.claims.theorem_2 import theorem_2b
from widenet.papers.chatterji2021.runs.networks import NetworkSetting
from widenet.progress import silent

CLAIMS = papers.claims_of("chatterji2021")
ON_DATA = [claim for claim in CLAIMS if not isinstance(claim.on(corners()), Silence)]
WITHOUT_NETWORKS = {"lemma_21", "appendix_c"}


def material(claim, about):
    """The settings or the drawn material, flat."""
    answer = claim.on(about)
    assert not isinstance(answer, Silence), answer
    flat = [answer] if claim.draws and not isinstance(answer, list) else answer
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
    said = {getattr(each, "unmet", "") for each in made}
    kept = all(widths(each) <= {36} for each in made if not hasattr(each, "n_draws"))
    named = any("not n_neurons = 36" in each for each in said)
    assert kept != named or claim.name in ("section_2_gradient", "equations_19_20")
    assert not any(getattr(each, "unmet", "") for each in material(claim, corners()))


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
        said = all(f"not n_runs = {n_runs}:" in getattr(each, "unmet", "") for each in group)
        assert honoured != said, (claim.name, kind)


def says(experiment) -> bool:
    """Whether its runs carry what they do not honour; networks that are looked at honour everything."""
    return any(field.name == "unmet" for field in dataclasses.fields(experiment.result_type))


@pytest.mark.parametrize(
    "claim", [each for each in ON_DATA if any(says(read) for read in each.reads)], ids=lambda c: c.name
)
def test_what_runs_do_not_honour_is_in_the_note(claim):
    """Small stand-ins for the runs: two steps, one start, eight neurons."""
    answer = claim.on(corners(max_updates=2))
    groups, cells = [answer] if len(claim.reads) == 1 else answer, []
    for experiment, group in zip(claim.reads, groups, strict=True):
        runs = [experiment.run(_small(each), silent) for each in group if not isinstance(each, NetworkSetting)]
        cells.append([dataclasses.replace(run, unmet="Marked.") for run in runs] if says(experiment) else runs)
    assert "Marked." in claim(*cells).note


def _small(setting):
    fewer = {"n_runs": 1, "half_width": 4, "n_draws": 2}
    return setting.model_copy(update={name: value for name, value in fewer.items() if hasattr(setting, name)})


def test_sentences():
    (run,) = papers.find_claim("chatterji2021.theorem_1").on(specimen(*cloud(30), n_neurons=4, n_runs=3))
    assert "neurons, not n_neurons = 4: the start needs one for each distinct point of a label" in run.unmet
    assert run.unmet.endswith("There is 1 run, not n_runs = 3: the start is built, not drawn.")
    start = papers.find_claim("chatterji2021.lemma_15_1").on(corners(n_neurons=400, n_runs=5))[0]
    assert start.unmet == (
        "These networks have 2,000 neurons, not n_neurons = 400: Theorem 2 is about wide ones. "
        "There are 60 runs, not n_runs = 5: fewer bound no small failure rate."
    )
    assert noted([start, start], "First.") == f"First. {start.unmet}"
    for claim in (section_2_gradient, equations_19_20):
        assert claim(claim.on(corners(n_neurons=36))).note == (
            "These networks have 4 neurons, not n_neurons = 36: differences are taken weight by weight."
        )
        assert not claim(claim.on(corners(n_neurons=4))).note
    built = papers.find_claim("chatterji2021.theorem_1_start")
    assert "not n_neurons = 2" in built(built.on(specimen(*cloud(30), n_neurons=2))).note
    assert not built(built.on(specimen(*cloud(30), n_neurons=100))).note


def test_appendix_a_has_the_width_that_was_chosen():
    """400 neurons were cut to 40 without a word."""
    (setting,) = appendix_a.on(corners(n_neurons=400))
    assert setting.half_width == 200
    assert setting.n_steps == 100
    assert appendix_a([appendix_a.reads[0].run(setting, silent)]).note == ""
    said = appendix_a.on(corners(n_neurons=10**8))
    assert isinstance(said, Silence)
    assert "Choose at most 25,000,000 neurons" in said
    assert [each.seed for each in appendix_a.on(corners(n_runs=3, seed=4))] == [4, 5, 6]


def test_runs_and_networks_that_were_chosen():
    assert [each.seed for each in theorem_2b.on(corners(n_runs=3, seed=4))] == [4, 5, 6]
    for n in (4, 150):
        (looks,) = lemma_6.on(specimen(*cloud(n), n_runs=2))
        assert looks.networks.n_networks == 2
