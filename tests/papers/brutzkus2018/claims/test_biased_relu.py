"""Footnote 4 for Section 7: Lemma 12 and Theorem 9 fail with biases, Theorem 8 does not."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls, spared
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import biased_relu
from widenet.papers.brutzkus2018.claims.biased_relu import (
    footnote_4_lemma_12,
    footnote_4_lemma_12_as_printed,
    footnote_4_theorem_8,
    footnote_4_theorem_9,
    footnote_4_theorem_9_as_printed,
)
from widenet.papers.brutzkus2018.runs.biased_relu import (
    narrow_starts,
    one_escape,
    sets_with_biases,
    small_starts,
    starts_below_one,
    train_biased_relu,
)
from widenet.papers.brutzkus2018.runs.exact_sgd import fractions
from widenet.papers.brutzkus2018.runs.online import OnlineStart, train_online
from widenet.records import Scale

ESCAPE = one_escape(Scale.QUICK, 0)[0]
BELOW_ONE = starts_below_one(Scale.QUICK, 0)


def test_the_escape_step_by_step():
    """K_0 = {e_1}; after the update on e_2 it is empty; one update on e_1 later N = (29/10, 7/2)."""
    (end,) = ESCAPE.ends
    assert end.stuck.tolist() == [[True, False], [False, False], [False, False]]
    assert end.updates.tolist() == [1, 1]
    assert end.outputs.tolist() == [Fraction(29, 10), Fraction(7, 2)]
    assert end.solved
    evidence = footnote_4_lemma_12_as_printed([ESCAPE])
    assert (evidence.verdict, broken_in(evidence)) == (Verdict.VIOLATED, ["leaving"])
    assert footnote_4_lemma_12([ESCAPE]).verdict is Verdict.HOLDS


def test_the_same_run_in_float64():
    """A second derivation, with the engine of the other claims on (e_j, 1)."""
    inputs = np.array([[1.0, 0, 1], [0, 1, 1]])
    start = OnlineStart(inputs, np.ones((1, 2)), np.array([[[-0.1, 0.5, 0], [-1, -1, 0]]]), 1.0)
    runs = train_online(start, watch_stuck=True)
    assert runs.left is not None
    assert (runs.left.tolist(), runs.updates.tolist()) == ([1], [[1, 1]])
    np.testing.assert_allclose(runs.outputs, [[2.9, 3.5]])


def empty_at_the_start():
    """All points are outside K from the start, so none can leave."""
    return [train_biased_relu(fractions([[[1, 1, 0], [-1, -1, 0]]]) / 4, Fraction(1), Fraction(1))]


def test_a_start_with_an_empty_K_spares_the_lemma():
    spared(footnote_4_lemma_12_as_printed, at(empty_at_the_start))


def with_stuck(*rows):
    """The escape with another history of K."""
    (end,) = ESCAPE.ends
    other = dataclasses.replace(end, stuck=np.array(rows, bool))
    return at([ESCAPE, dataclasses.replace(ESCAPE, ends=(other,)), ESCAPE])


def altered(runs, which=slice(None), **changes):
    """Runs whose problem, of these ends, and whose starts or numbers are others; how they ended stays."""
    problem = runs.ends[0].problem
    own = {name: value for name, value in changes.items() if hasattr(problem, name)}
    other = dataclasses.replace(problem, **own)
    chosen = runs.ends[which]
    ends = tuple(dataclasses.replace(end, problem=other) if end in chosen else end for end in runs.ends)
    for end, was in zip(ends, runs.ends, strict=True):
        end.__dict__["outputs"] = was.outputs
    rest = {name: value for name, value in changes.items() if name not in own}
    return dataclasses.replace(runs, ends=ends, **rest)


def moved(array, place, value):
    other = array.copy()
    other[place] = Fraction(value)
    return other


TINY, TENTH = Fraction(1, 10**9), Fraction(1, 10)


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("gram_error", 2e-9, lambda runs, problem: {"inputs": moved(problem.inputs, (0, 1), 2 * TINY)}),
        ("constant_error", 1e-9, lambda runs, problem: {"inputs": moved(problem.inputs, (1, -1), 1 + TINY)}),
        ("slope", 1e-9, lambda runs, problem: {"slope": TINY}),
        ("weight_error", 1e-9, lambda runs, problem: {"votes": moved(problem.votes, 0, 1 - TINY)}),
        ("smallest_label", 1 - 1e-9, lambda runs, problem: {"labels": moved(problem.labels, 1, 1 - TINY)}),
        ("excess", 1e-9, lambda runs, problem: {"starts": moved(runs.starts, (0, -1, 0), runs.entry_bound + TINY)}),
        ("smallest_start", 0.0, lambda runs, problem: {"starts": at_its_kink(runs.starts)}),
        ("size", 1.0, lambda runs, problem: {"entry_bound": Fraction(1, 4)}),
        ("step_beyond", 0.0, lambda runs, problem: {"step_size": Fraction(2, 5)}),
    ],
)
def test_what_the_hypotheses_measure(name, value, changes):
    runs = BELOW_ONE[1]
    for which in (slice(None), slice(1), slice(-1, None)):  # in all problems, or in one of several
        other = altered(runs, which, **changes(runs, runs.ends[0].problem))
        assert getattr(biased_relu.BiasedRuns.join([other]), name)[0] == pytest.approx(value, abs=1e-15)


def at_its_kink(starts):
    """w = −1/10 at the first point, and b = 1/10."""
    return moved(moved(starts, (3, 0, 0), -TENTH), (3, 0, -1), TENTH)


def test_where_a_run_gets_stuck_is_decided_by_the_start():
    evidence = footnote_4_theorem_9(BELOW_ONE)
    assert evidence.verdict is Verdict.HOLDS
    assert [row["expected_share"] for row in evidence.details["cases"]] == pytest.approx([1 / 3, 1 / 16, 1 / 6])
    assert all(part.n_cases > 20 for part in evidence.parts[1:])


@pytest.mark.parametrize("seed", range(4))
def test_the_law_of_the_largest_of_d_plus_one(seed):
    """Apart from the runs: −b is the largest of d + 1 numbers of one symmetric law with probability 1/(d + 1)."""
    dim = 4
    rows = np.random.default_rng(seed).normal(size=(20_000, dim + 1))
    share = (rows[:, :dim].max(axis=1) <= -rows[:, dim]).mean()
    assert abs(share - 1 / (dim + 1)) < 6 * (0.2 * 0.8 / 20_000) ** 0.5


SOLVED = biased_relu.BiasedRuns.join(BELOW_ONE[1:2]).solved
FIRST_SOLVED, FIRST_STUCK = int(np.argmax(SOLVED)), int(np.argmin(SOLVED))


def exchanged(run, by):
    """One run ended as another did."""
    runs = BELOW_ONE[1]
    ends = list(runs.ends)
    ends[run] = dataclasses.replace(ends[run], weights=ends[by].weights)
    return at([*BELOW_ONE, dataclasses.replace(runs, ends=tuple(ends))])


def test_a_run_that_has_not_ended_decides_nothing():
    ends = tuple(dataclasses.replace(end, ended=False) for end in BELOW_ONE[0].ends)
    evidence = footnote_4_theorem_9([dataclasses.replace(BELOW_ONE[0], ends=ends)])
    assert [part.kept for part in evidence.parts] == [True, None, None]


def test_theorem_9_is_violated_with_biases():
    """1/441 of the starts are stuck where 0.95 is promised."""
    evidence = footnote_4_theorem_9_as_printed(narrow_starts(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised == 0.05
    assert evidence.measured is not None
    assert evidence.measured > 0.9


def all_off_everywhere():
    """Biases −1/5 and weights below 1/5: nothing is ever on. k = 1 ≤ log2(2/ln(1/δ)) at δ = 0.4."""
    start = fractions([[["1/10", "-1/10", "-1/5"], ["-1/10", "1/10", "-1/5"]]])
    return [train_biased_relu(np.repeat(start, 20, axis=0), Fraction(1, 5), Fraction(1, 2), 0.4)]


def test_as_printed_too_a_run_that_has_not_ended_decides_nothing():
    (runs,) = all_off_everywhere()
    ends = tuple(dataclasses.replace(end, ended=False) for end in runs.ends)
    assert footnote_4_theorem_9_as_printed([dataclasses.replace(runs, ends=ends)]).parts[0].kept is None


def test_starts_that_are_all_off_spare_theorem_9():
    spared(footnote_4_theorem_9_as_printed, at(all_off_everywhere))


def test_the_width_of_theorem_9():
    """d = 20, k = 2: log2(20/ln(1/δ)) is 2.739 at δ = 0.05, and 2 at δ = e^{−5}."""
    (runs,) = narrow_starts(Scale.QUICK, 0)
    few = dataclasses.replace(runs, starts=runs.starts[:2], ends=runs.ends[:2], delta=np.exp(-5.0))
    assert biased_relu.BiasedRuns.join([few]).excess_of_narrow[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_no_seed_matters(seed):
    assert footnote_4_lemma_12(small_starts(Scale.QUICK, seed)).verdict is Verdict.HOLDS
    assert footnote_4_theorem_8(sets_with_biases(Scale.QUICK, seed)).verdict is Verdict.HOLDS


SETS = sets_with_biases(Scale.QUICK, 0)


def test_the_pair_that_theorem_8_lacks_without_biases():
    """S = {(e_1, +1), (−e_1, −1)}: loss 1, and the ball has radius 1/√2, the distance at which a neuron switches on."""
    first = SETS[0]
    assert (first.level, first.gradient, first.changed) == (1.0, 0.0, 0)
    assert first.radius == pytest.approx(2**-0.5)


def other_law(dim, half):
    """2^{−dk}, the law for biases that start at 0."""
    return 2.0 ** (-dim * half)


LEMMA, NINE, PRINTED = footnote_4_lemma_12, footnote_4_theorem_9, footnote_4_theorem_9_as_printed
PRINTED_LEMMA = footnote_4_lemma_12_as_printed
test_control = controls(
    biased_relu,
    {
        LEMMA: [ESCAPE, ESCAPE],
        PRINTED_LEMMA: empty_at_the_start,
        NINE: BELOW_ONE,
        PRINTED: all_off_everywhere,
        footnote_4_theorem_8: SETS,
    },
    (footnote_4_theorem_8, "level"),
    (footnote_4_theorem_8, "gradient"),
    (footnote_4_theorem_8, "ball"),
    (PRINTED_LEMMA, "entering"),
    (LEMMA, "entering", with_stuck([1, 0], [0, 0], [0, 0]), with_stuck([1, 0], [0, 0], [0, 1])),
    (PRINTED_LEMMA, "leaving", {}, at([ESCAPE])),
    (NINE, "stuck", exchanged(FIRST_STUCK, FIRST_STUCK), exchanged(FIRST_STUCK, FIRST_SOLVED)),
    (NINE, "solved", exchanged(FIRST_SOLVED, FIRST_SOLVED), exchanged(FIRST_SOLVED, FIRST_STUCK)),
    (NINE, "law", {}, {"law": other_law}),
    (PRINTED, "rarely_solved", {"solved": np.arange(20) < 3}, {"solved": np.arange(20) < 13}),
    (NINE, "step_size", {}, {"step_size": Fraction(0)}, "large_step"),
    (footnote_4_theorem_8, "constant", {}, {"changed": 1}),
)
