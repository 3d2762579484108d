"""Orders chosen against Theorem 2: the engine follows what the NumPy run chose, and the theorem still holds."""

import numpy as np

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.convergence import check_theorem_2
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.adversary import against
from widenet.papers.brutzkus2018.runs.ledger import Pick, keep_ledger, start_of
from widenet.papers.brutzkus2018.runs.trials import random_trials

TRIALS = random_trials(1, 1, 10, 3e3, max_nonzero_updates)[0]
CHOSEN = against(TRIALS)


def test_the_engine_counts_the_updates_that_were_chosen():
    expected = [keep_ledger(start_of(TRIALS, run), pick, 10**5).updates for pick in Pick for run in range(len(TRIALS))]
    run = CHOSEN.train(20_000)
    assert run.updates.tolist() == expected
    assert (run.zero_loss_step >= 0).all()


def test_theorem_2_holds_in_the_worst_orders_and_a_wrong_constant_does_not():
    assert check_theorem_2(CHOSEN).verdict is Verdict.HOLDS
    hundredth = lambda *arguments: max_nonzero_updates(*arguments) / 100  # noqa: E731
    assert check_theorem_2(CHOSEN, bound=hundredth).verdict is Verdict.VIOLATED


def test_slowest_picks_the_smallest_cosine_of_all_active_samples():
    start = start_of(TRIALS, 5)
    ledger = keep_ledger(start, Pick.SLOWEST, 10)
    one = keep_ledger(start, Pick.SLOWEST, 1)
    cosines = {}
    for row in range(len(start.labels)):
        z = start.hidden @ start.inputs[row]
        slopes = np.where(z >= 0, 1.0, start.slope)
        if start.labels[row] * ((z * slopes) @ start.output) < 1:
            step = start.step_size * start.labels[row] * start.output * slopes
            after = start.hidden + np.outer(step, start.inputs[row])
            cosines[row] = np.vdot(after, start.votes[:, None] * start.separator) / np.linalg.norm(after)
    assert len(cosines) > 5
    assert one.samples[0] == min(cosines, key=cosines.__getitem__) == ledger.samples[0]
