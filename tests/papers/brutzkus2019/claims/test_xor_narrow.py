"""XOR with k = 2: solvable, and not solved in three runs of four."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.papers.brutzkus2019.claims.xor_toys import (
    X2,
    altered,
    at_quick_scale,
    broken,
    drawn,
    not_met,
    octants,
    undecided,
)
from widenet.claims.base import Verdict
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.claims.xor_narrow import (
    SOLUTION,
    NarrowStarts,
    XorNetworks,
    lemma_b_7,
    observation_xor_realizable,
    outputs,
    theorem_3_4,
    theorem_b_8,
)
from widenet.papers.brutzkus2019.runs.xor_starts import draw_xor_start, every_octant
from widenet.types import RunStatus

SINGLES = np.random.default_rng(0).normal(size=(2, 100, 1, 2))
CLAIMS = [observation_xor_realizable, lemma_b_7, theorem_3_4, theorem_b_8]
PROBABILITY, POINTS, ZERO, NUMBER, LAW, FREQUENCY, ENDS = (
    part.name for part in theorem_3_4([drawn(2, 0.1, 1000)], [octants()]).parts
)
MINIMUM, ANSWERS, _ = (part.name for part in theorem_b_8([X2], [X2]).parts)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    evidence = at_quick_scale(claim)
    assert evidence.verdict is claim.expected
    assert not not_met(evidence)


def test_the_solution_is_exactly_at_the_margin():
    assert np.array_equal(XOR_LABELS * outputs(*SOLUTION), np.ones(4))
    assert observation_xor_realizable(XorNetworks(*SOLUTION, *SINGLES)).verdict is Verdict.HOLDS


def test_control_a_solution_without_its_fourth_filter():
    evidence = observation_xor_realizable(XorNetworks(SOLUTION[0], XOR_POINTS[[1, 1]] / 2, *SINGLES))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == ["loss 0", "all four signs right"]
    assert evidence.measured == 1


def test_control_a_solution_that_is_a_little_too_short():
    plus = SOLUTION[0] * np.array([[0.9998], [1.0]])
    assert broken(observation_xor_realizable(XorNetworks(plus, SOLUTION[1], *SINGLES))) == ["loss 0"]


def test_control_the_construction_has_two_filters_of_each_sign():
    three = (np.concatenate([half, np.zeros((1, 2))]) for half in SOLUTION)
    assert not_met(observation_xor_realizable(XorNetworks(*three, *SINGLES))) == ["width"]


def test_control_singles_that_do_solve_it_would_be_noticed():
    """With two filters of each sign in place of one, the search finds solutions."""
    pairs = np.stack([SOLUTION[0], SOLUTION[0]]), np.stack([SOLUTION[1], SOLUTION[1]])
    evidence = observation_xor_realizable(XorNetworks(*SOLUTION, *pairs))
    assert broken(evidence) == ["no network with k = 1 is right everywhere"]
    none = observation_xor_realizable(XorNetworks(*SOLUTION, *SINGLES[:, :0]))
    assert none.verdict is Verdict.INSUFFICIENT_EVIDENCE


def narrow(half_width, n_runs):
    return NarrowStarts(draw_xor_start(half_width, 0.1, n_runs), every_octant(0.1))


def test_control_lemma_b_7_at_k_3():
    evidence = lemma_b_7(narrow(3, 4000))
    assert not_met(evidence) == ["width"]
    assert broken(evidence) == ["frequency among drawn starts"]
    interval = evidence.parts[1].interval
    assert interval is not None
    assert interval[0] < 7 / 16 < interval[1]


def test_control_lemma_b_7_with_another_number_and_on_few_runs():
    assert lemma_b_7(narrow(2, 4000), promised=Fraction(7, 16)).verdict is Verdict.VIOLATED
    # A number that no frequency of 4000 tells apart.
    assert broken(lemma_b_7(narrow(2, 4000), promised=Fraction(3073, 4096))) == ["exact probability"]
    assert lemma_b_7(narrow(2, 100)).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_theorem_3_4_exactly():
    evidence = theorem_3_4([drawn(2, 0.1, 1000)], [octants()])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.measured == 0.75
    assert np.bincount(octants().final_loss.astype(int)).tolist() == [1024, 2048, 1024]


def test_control_an_output_of_zero_called_positive_hides_half_of_the_failures():
    def weakly_right(values):
        return np.where(values >= 0, 1.0, -1.0) == XOR_LABELS

    evidence = theorem_3_4([drawn(2, 0.1, 1000)], [octants()], rule=weakly_right)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [PROBABILITY, POINTS, FREQUENCY]
    assert evidence.measured == 0.5


def test_control_another_probability():
    evidence = theorem_3_4([drawn(2, 0.1, 1000)], [octants()], promised=Fraction(3073, 4096))
    assert broken(evidence) == [PROBABILITY]


def test_control_each_part_on_a_run_by_hand():
    """x_3 has no filter: N(x_3) = 0 and the loss is 1."""

    def judged(**arrays):
        return broken(theorem_3_4([altered(X2, **arrays)], [octants()]))

    assert judged() == []
    last, goal = (-1, 0), X2.start.goal
    # x_1 has filters, and is wrong.
    assert judged(own_sums=((*last, 0), 0.0), opposing_sums=((*last, 0), 1e-9)) == [POINTS, NUMBER]
    # N(x_3) is −10⁻⁹ in place of 0; the loss is 1 to nine digits.
    assert judged(opposing_sums=((*last, 2), 1e-9)) == [ZERO, NUMBER]
    # x_1 is right with a loss of 10⁻⁹.
    assert judged(own_sums=((*last, 0), goal * (1 - 1e-9)), opposing_sums=((*last, 0), 0.0)) == [NUMBER]


def test_control_one_octant_with_another_loss():
    """The law of the loss is off by one octant in 4096, the probability of an error is not."""
    run = octants()
    number = int(np.flatnonzero(run.final_loss == 1)[0])
    right = int(np.flatnonzero(~run.start.forgotten[number])[0])
    again = altered(run, own_sums=((-1, number, right), 0.0), opposing_sums=((-1, number, right), 0.0))
    assert broken(theorem_3_4([drawn(2, 0.1, 1000)], [again])) == [POINTS, NUMBER, LAW]


def test_control_the_frequency_alone():
    """Runs that all fail, each where it should."""
    run = drawn(2, 0.1, 1000)
    failing = np.resize(np.flatnonzero(run.final_loss > 0), 1000)
    fields = {each.name: getattr(run, each.name) for each in dataclasses.fields(run)}
    axis = {name: 0 if name in ("end", "steps", "status") else 1 for name in fields if name != "start"}
    chosen = {name: np.take(fields[name], failing, axis=place) for name, place in axis.items()}
    start = dataclasses.replace(run.start, fits=run.start.fits[failing])
    evidence = theorem_3_4([dataclasses.replace(run, start=start, **chosen)], [octants()])
    assert broken(evidence) == [FREQUENCY]


def test_control_wide_networks_do_not_fail():
    evidence = theorem_3_4([drawn(50, 0.1, 200)], [octants()])
    assert not_met(evidence) == ["width"]
    assert evidence.conclusion is False
    assert evidence.details["failed"] == 0


def test_control_few_runs_and_another_step():
    assert undecided(theorem_3_4([drawn(2, 0.1, 50)], [octants()])) == [FREQUENCY]
    assert theorem_3_4([drawn(2, 0.02, 1000)], [octants(0.02)]).verdict is Verdict.HOLDS


def test_control_runs_that_still_move_decide_nothing():
    run = drawn(2, 0.1, 1000)
    moving = altered(run, status=(3, RunStatus.BUDGET_SPENT), own_sums=((-1, 3), 0.0))
    evidence = theorem_3_4([moving], [octants()])
    assert undecided(evidence) == [ENDS]
    assert not broken(evidence)
    octant = altered(octants(), status=(3, RunStatus.BUDGET_SPENT), own_sums=((-1, 3), 0.0))
    evidence = theorem_3_4([run], [octant])
    assert undecided(evidence) == [PROBABILITY, LAW, ENDS]
    assert not broken(evidence)
    assert theorem_b_8([moving], [octants()], changes=1).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_large_changes_do_lower_the_loss():
    evidence = theorem_b_8([drawn(2, 0.1, 200)], [octants()], share=400.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert broken(evidence) == [MINIMUM]
    assert evidence.measured is not None
    assert evidence.measured < 0


def test_control_local_minimum_of_a_run_by_hand():
    """The smallest fit is 3/64 η, and ⟨w, x_1⟩ is 6η: only a change by far more than it lets some w answer to x_3."""
    assert broken(theorem_b_8([X2], [X2], changes=400, share=200.0)) == [MINIMUM]
    assert theorem_b_8([X2], [X2], changes=200, share=0.99).conclusion is True
    assert theorem_b_8([X2], [X2]).details == {"changes_per_run": 20, "share_of_the_smallest_fit": 0.5}


def test_control_a_filter_that_answers_to_a_wrong_point():
    """One w with ⟨w, x_3⟩ = 10⁻⁶, so little that no small change shows it: they are smaller still."""
    evidence = theorem_b_8([altered(X2, end=((0, 0, 0, 0), -1e-6))], [X2], changes=0)
    assert ANSWERS in broken(evidence)


def test_runs_outside_the_event_are_counted_and_not_scored():
    run = drawn(2, 0.1, 400, spread=4.0)
    evidence = theorem_b_8([run], [octants()], changes=1)
    outside = int((~run.start.in_event).sum())
    assert 0 < outside < 400
    assert evidence.runs.outside == outside
    assert evidence.runs.tried <= 400 - outside + 4096
    failed = (run.final_loss[run.start.in_event] > 0).sum() + 3072
    assert evidence.runs.tried == failed


def test_control_no_failed_run_no_verdict():
    wide = drawn(50, 0.1, 20)
    evidence = theorem_b_8([wide], [wide])
    assert evidence.conclusion is None
    assert not_met(evidence) == ["width"]
