"""Every experiment at other seeds than 0: its settings exist, and its runs do not fail."""

import pytest

from tests.run.ran import experiments
from tests.run.toy_sizes import toy
from widenet import papers
from widenet.claims import Verdict
from widenet.progress import silent
from widenet.records import Scale
from widenet.run import Task

SEEDS = range(21)
OTHER_SEEDS = (1, 13)
EXPERIMENTS = experiments()
DRAWING = {claim.id: claim for claim in papers.claims_of() if claim.draws is not None}


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("id", EXPERIMENTS)
def test_the_settings_of_every_seed_exist(id, scale):
    """As many as at seed 0, of the same kinds."""
    settings = {seed: EXPERIMENTS[id].settings(scale, seed) for seed in SEEDS}
    assert {tuple(map(type, each)) for each in settings.values()} == {tuple(map(type, settings[0]))}


def test_another_seed_is_another_key():
    """Of most experiments. Some have no randomness; their settings have no seed, or do not pass it on."""
    keys = {
        id: [{Task(each, setting).key.digest for setting in each.settings(Scale.QUICK, seed)} for seed in (0, 1)]
        for id, each in EXPERIMENTS.items()
    }
    same = {id for id, (one, two) in keys.items() if one == two}
    assert len(same) < len(keys) / 4, same


@pytest.mark.parametrize("claim", papers.claims_of("li2018"), ids=lambda claim: claim.id)
def test_a_seed_shares_no_runs_with_the_next(claim):
    """Runs are numbered from a seed on: with the numbers 1, 2, … seed 1 would be seed 0 but for one run."""
    for each in claim.reads or ():
        one, two = ({setting.model_dump_json() for setting in each.settings(Scale.QUICK, seed)} for seed in (0, 1))
        assert one == two or not one & two


@pytest.mark.parametrize("seed", OTHER_SEEDS)
@pytest.mark.parametrize("id", EXPERIMENTS)
def test_a_toy_of_every_experiment_runs_at_other_seeds(id, seed):
    experiment = EXPERIMENTS[id]
    setting = toy(experiment, seed, place=seed)
    experiment.run(setting, silent)


@pytest.mark.parametrize("seed", OTHER_SEEDS)
@pytest.mark.parametrize("id", DRAWING)
def test_claims_with_cases_of_their_own_come_out_as_expected_at_other_seeds(id, seed):
    claim = DRAWING[id]
    assert claim.draws is not None
    evidence = claim(claim.draws(Scale.QUICK, seed))
    assert evidence.verdict in (claim.expected, Verdict.CONSTANT_UNSPECIFIED), str(evidence)
