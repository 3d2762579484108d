"""XOR with k = 2: not solved in three runs of four."""

import dataclasses
from fractions import Fraction

import numpy as np
from scipy import stats

from tests.control_table import at, controls, leaves_open
from tests.controls import broken_in, lacking_in
from tests.papers.brutzkus2019.claims.xor_edges import (
    deviation_rows,
    narrow_runs,
    second_outside,
    still_moving,
    with_start,
)
from tests.papers.brutzkus2019.claims.xor_toys import altered, as_expected, chosen, drawn, octants, toy, undecided
from widenet.claims.base import Verdict
from widenet.diagnostics.exploration import XOR_LABELS
from widenet.papers.brutzkus2019.claims import xor_narrow
from widenet.papers.brutzkus2019.claims.xor_narrow import (
    lemma_b_7,
    observation_xor_realizable,
    theorem_3_4,
    theorem_b_8,
    theorem_b_8_standstill,
    theorem_b_8_standstill_as_printed,
)
from widenet.papers.brutzkus2019.xor_sources import draw_xor_start, every_octant
from widenet.types import RunStatus

CLAIMS = [observation_xor_realizable, lemma_b_7, theorem_3_4, theorem_b_8]
PROBABILITY, POINTS = "probability of an error is 3/4", "wrong where no filter starts, and only there"
ZERO, NUMBER = "N is 0 at the wrong points", "the final loss is their number"
LAW, FREQUENCY = "losses 0, 1, 2 with probability 1/4, 1/2, 1/4", "frequency among drawn runs"
ENDS = "every run ends"


test_verdict_on_the_default_setting = as_expected(CLAIMS)


def narrow(half_width, n_runs):
    return [every_octant(0.1), draw_xor_start(half_width, 0.1, n_runs)]


def test_control_lemma_b_7_at_k_3():
    evidence = lemma_b_7(narrow(3, 4000))
    assert lacking_in(evidence) == ["width"]
    assert broken_in(evidence) == ["frequency among drawn starts"]
    low, high = evidence.details["interval"]
    assert low < 7 / 16 < high


def test_control_lemma_b_7_with_another_number_and_on_few_runs():
    assert lemma_b_7(narrow(2, 4000), promised=Fraction(7, 16)).verdict is Verdict.VIOLATED
    # A number that no frequency of 4000 tells apart.
    assert broken_in(lemma_b_7(narrow(2, 4000), promised=Fraction(3073, 4096))) == ["exact probability"]
    assert lemma_b_7(narrow(2, 100)).verdict is Verdict.INSUFFICIENT_EVIDENCE


def often(count, n_runs):
    """Drawn starts of which so many leave a point without a filter."""
    start = draw_xor_start(2, 0.1, 4000)
    some = np.any(start.forgotten, axis=1)
    rows = np.concatenate([np.resize(np.flatnonzero(some), count), np.resize(np.flatnonzero(~some), n_runs - count)])
    return [every_octant(0.1), dataclasses.replace(start, fits=start.fits[rows])]


MOST = max(count for count in range(300, 400) if stats.binomtest(count, 400, 0.75).pvalue >= 1e-6)


def test_few_runs_can_refute_and_not_confirm():
    assert lemma_b_7(often(300, 400)).verdict is Verdict.HOLDS
    assert undecided(lemma_b_7(often(300, 399))) == ["frequency among drawn starts"]
    assert broken_in(lemma_b_7(often(399, 399))) == ["frequency among drawn starts"]


def test_one_octant_more_or_less_is_noticed():
    octants_ = every_octant(0.1)
    rows = np.arange(4096)
    rows[int(np.argmax(octants_.forgotten.any(axis=1)))] = int(np.argmin(octants_.forgotten.any(axis=1)))
    other = dataclasses.replace(octants_, fits=octants_.fits[rows])
    assert broken_in(lemma_b_7([draw_xor_start(2, 0.1, 400), other])) == ["exact probability"]


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
    assert broken_in(evidence) == [PROBABILITY, POINTS, FREQUENCY]
    assert evidence.measured == 0.5


def test_control_another_probability():
    evidence = theorem_3_4([drawn(2, 0.1, 1000)], [octants()], promised=Fraction(3073, 4096))
    assert broken_in(evidence) == [PROBABILITY]


def test_control_each_part_on_a_run_by_hand():
    """x_3 has no filter: N(x_3) = 0 and the loss is 1."""

    def judged(**arrays):
        return broken_in(theorem_3_4([altered(toy("X2"), **arrays)], [octants()]))

    assert judged() == []
    last, goal = (-1, 0), toy("X2").goal
    # x_1 has filters, and is wrong.
    assert judged(own_sums=((*last, 0), 0.0), opposing_sums=((*last, 0), 1e-9)) == [POINTS, NUMBER]
    # N(x_3) is −10⁻⁹ in place of 0; the loss is 1 to nine digits.
    assert judged(opposing_sums=((*last, 2), 1e-9)) == [ZERO, NUMBER]
    # x_1 is right with a loss of 10⁻⁹.
    assert judged(own_sums=((*last, 0), goal * (1 - 1e-9)), opposing_sums=((*last, 0), 0.0)) == [NUMBER]


def test_what_a_run_outside_the_event_does_is_not_scored():
    wrong = altered(second_outside(toy("X2")), own_sums=((-1, 1), 0.0), opposing_sums=((-1, 1), 1.0))
    assert broken_in(theorem_3_4([wrong], [octants()])) == []
    inside = with_start(wrong, fits=chosen(toy("X2"), np.zeros(2, int)).fits)
    assert broken_in(theorem_3_4([inside], [octants()])) == [POINTS, ZERO, NUMBER]


def test_control_an_output_above_zero_and_a_loss_below_one():
    """N(x_3) = 10⁻⁹, where no filter starts."""
    above = altered(toy("X2"), own_sums=((*LAST, 2), 1e-9))
    assert broken_in(theorem_3_4([above, drawn(2, 0.1, 1000)], [octants()])) == [POINTS, ZERO, NUMBER]


def test_control_a_smaller_probability():
    fewer = Fraction(3071, 4096)
    assert broken_in(lemma_b_7(narrow(2, 400), promised=fewer)) == ["exact probability"]
    assert broken_in(theorem_3_4([drawn(2, 0.1, 1000)], [octants()], promised=fewer)) == [PROBABILITY]


def test_one_octant_that_is_not_known_among_several_sets():
    moving = altered(octants(), status=(3, RunStatus.BUDGET_SPENT))
    for order in ([octants(), moving], [moving, octants()]):
        assert undecided(theorem_3_4([drawn(2, 0.1, 1000)], order)) == [PROBABILITY, LAW, ENDS]


def test_control_a_loss_of_an_octant_that_is_none_of_three():
    run = octants()
    number = int(np.flatnonzero(run.final_loss == 0)[0])
    sums = {"own_sums": run.goal * (1 - 1e-9), "opposing_sums": 0.0}
    other = altered(run, **{name: ((-1, number, 0), value) for name, value in sums.items()})
    assert LAW in broken_in(theorem_3_4([drawn(2, 0.1, 1000)], [other]))


LAST = (-1, 0)


def failing(count, n_runs):
    """Drawn runs of which so many fail, each where it should."""
    run = drawn(2, 0.1, 1000)
    rows = [np.flatnonzero((run.final_loss > 0) == failed) for failed in (True, False)]
    return chosen(run, np.concatenate([np.resize(rows[0], count), np.resize(rows[1], n_runs - count)]))


def test_too_few_drawn_runs_decide_no_frequency():
    assert undecided(theorem_3_4([failing(300, 399)], [octants()])) == [FREQUENCY]


def test_control_one_octant_with_another_loss():
    """The law of the loss is off by one octant in 4096, the probability of an error is not."""
    run = octants()
    number = int(np.flatnonzero(run.final_loss == 1)[0])
    right = int(np.flatnonzero(~run.forgotten[number])[0])
    again = altered(run, own_sums=((-1, number, right), 0.0), opposing_sums=((-1, number, right), 0.0))
    assert broken_in(theorem_3_4([drawn(2, 0.1, 1000)], [again])) == [POINTS, NUMBER, LAW]


def test_control_the_frequency_alone():
    """Runs that all fail, each where it should."""
    run = drawn(2, 0.1, 1000)
    evidence = theorem_3_4([chosen(run, np.resize(np.flatnonzero(run.final_loss > 0), 1000))], [octants()])
    assert broken_in(evidence) == [FREQUENCY]


def test_control_wide_networks_do_not_fail():
    evidence = theorem_3_4([drawn(50, 0.1, 200)], [octants()])
    assert lacking_in(evidence) == ["width"]
    assert evidence.conclusion is False
    assert evidence.details["failed"] == 0


def test_control_few_runs_and_another_step():
    assert undecided(theorem_3_4([drawn(2, 0.1, 50)], [octants()])) == [FREQUENCY]
    assert theorem_3_4([drawn(2, 0.02, 1000)], [octants(0.02)]).verdict is Verdict.HOLDS


def test_control_runs_that_still_move_decide_nothing():
    run = drawn(2, 0.1, 1000)
    moving = still_moving(run, 3)
    evidence = theorem_3_4([moving], [octants()])
    assert undecided(evidence) == [ENDS]
    assert not broken_in(evidence)
    evidence = theorem_3_4([run], [still_moving(octants(), 3)])
    assert undecided(evidence) == [PROBABILITY, LAW, ENDS]
    assert not broken_in(evidence)
    assert theorem_b_8([moving], [octants()], changes=1).verdict is Verdict.INSUFFICIENT_EVIDENCE


def by_hand(**arrays):
    """X2 with other records, among many drawn runs; x_3 has no filter."""
    return at([drawn(2, 0.1, 1000), altered(toy("X2"), **arrays)], [octants()])


def with_octants(old, new):
    """One octant that ends with the first loss is replaced by one with the second."""
    run, rows = octants(), np.arange(4096)
    rows[int(np.argmax(run.final_loss == old))] = int(np.argmax(run.final_loss == new))
    return at(drawn(2, 0.1, 1000), [chosen(run, rows)])


def often_failing(count):
    return at(failing(count, 400), [octants()])


def promising(number):
    return at(drawn(2, 0.1, 1000), [octants()], promised=number)


GOAL = toy("X2").goal
MORE, FEWER = Fraction(3073, 4096), Fraction(3071, 4096)
"""Numbers that no frequency tells apart from 3/4."""
STUCK = (theorem_b_8, theorem_b_8_standstill, theorem_b_8_standstill_as_printed)
test_control = controls(
    xor_narrow,
    narrow_runs,
    *deviation_rows(narrow_runs(), theorem_3_4),
    (theorem_3_4, "width", at(drawn(2, 0.1, 50), [octants()]), at(drawn(3, 0.1, 50), [octants()])),
    (theorem_3_4, "width", at(drawn(2, 0.1, 50), [octants()]), at(drawn(1, 0.1, 50), [octants()])),
    (theorem_3_4, "probability", by_hand(), promising(MORE)),
    (theorem_3_4, "probability", by_hand(), promising(FEWER)),
    # Its loss is 1 at least, so the loss is no longer the number of points without a filter.
    (
        theorem_3_4,
        "forgotten",
        by_hand(),
        by_hand(own_sums=((*LAST, 0), 0.0), opposing_sums=((*LAST, 0), 1e-9)),
        "loss",
    ),
    # N(x_3) is a little off 0, and the loss at x_3 is then not 1; above 0 it is no longer wrong.
    (theorem_3_4, "zero_output", by_hand(), by_hand(opposing_sums=((*LAST, 2), 1e-9)), "loss"),
    (theorem_3_4, "zero_output", by_hand(), by_hand(own_sums=((*LAST, 2), 1e-9)), "loss", "forgotten"),
    # x_1 is right with a loss of 10⁻⁹.
    (
        theorem_3_4,
        "loss",
        by_hand(),
        by_hand(own_sums=((*LAST, 0), GOAL * (1 - 1e-9)), opposing_sums=((*LAST, 0), 0.0)),
    ),
    (theorem_3_4, "loss", by_hand(), by_hand(own_sums=((*LAST, 2), 1e-9)), "zero_output", "forgotten"),
    (theorem_3_4, "losses", with_octants(1, 1), with_octants(1, 2)),
    (theorem_3_4, "drawn", often_failing(MOST), often_failing(MOST + 1)),
    # A run that still moves breaks nothing.
    (theorem_3_4, "ends", by_hand(), leaves_open(still_moving(drawn(2, 0.1, 1000), 3), [octants()])),
    but=(lemma_b_7, observation_xor_realizable, *STUCK),
)
test_control_of_starts = controls(
    xor_narrow,
    narrow(2, 400),
    (lemma_b_7, "width", at(narrow(2, 400)), at(narrow(3, 400))),
    (lemma_b_7, "width", at(narrow(2, 400)), at(narrow(1, 400))),
    (lemma_b_7, "exact", at(often(300, 400)), at(often(300, 400), promised=MORE)),
    (lemma_b_7, "exact", at(often(300, 400)), at(often(300, 400), promised=FEWER)),
    (lemma_b_7, "drawn", at(often(MOST, 400)), at(often(MOST + 1, 400))),
    but=(theorem_3_4, observation_xor_realizable, *STUCK),
)
