"""What each claim of this room is judged on in tests that walk all of them: toys, and what the claim draws itself."""

import functools

import numpy as np

from tests.papers.sarussi2021 import toys
from widenet.claims.base import Claim
from widenet.papers.sarussi2021.runs.clouds import CloudSetting, run_clouds
from widenet.papers.sarussi2021.runs.epochs import ORDER_LEVELS
from widenet.papers.sarussi2021.runs.small_steps import SmallStepSetting, run_small_steps
from widenet.papers.sarussi2021.runs.states import StateSetting, run_states
from widenet.papers.sarussi2021.settings import SmallCloud
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def toy_cell(experiment):
    """One small cell of this experiment."""
    match experiment.rpartition(".")[2]:
        case "ledgers":
            return toys.small_ledger()
        case "epochs":
            return toys.small_epochs()
        case "flows":
            return toys.flow_runs()
        case "clouds":
            return run_clouds(CloudSetting(n_networks=80, n_points=40, seed=1), silent)
        case "states":
            return run_states(StateSetting(n_sets=6), silent)
        case _:
            setting = SmallStepSetting(points=SmallCloud(n_samples=6), deviations=(0.1,), n_runs=2, half_width=2)
            return run_small_steps(setting, silent)


@functools.cache
def order_cells():
    """Runs as the order of Theorem 4.1 is measured on, with planted counts: 1000 n/√ε."""
    cells = []
    for n in (10, 20, 40, 80):
        hits = np.tile(np.round(1000 * n / np.sqrt(ORDER_LEVELS)).astype(int), (2, 1))
        changed = {"hits": hits, "hit_levels": np.array(ORDER_LEVELS), "n_samples": n}
        cells.append(toys.altered(toy_cell("epochs"), **changed))
    return cells


def given(claim: Claim):
    """The arguments of its judge."""
    if claim.draws is not None:
        return (claim.draws(Scale.QUICK, 0),)
    if claim.name == "theorem_4_1_order":
        return (order_cells(),)
    return tuple([toy_cell(experiment.id)] for experiment in claim.reads)
