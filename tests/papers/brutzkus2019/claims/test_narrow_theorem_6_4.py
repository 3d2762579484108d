"""Theorem 6.4 from every octant, with controls that the same checks reject."""

import dataclasses
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from tests.control_table import at, broken_in, controls, leaves_open
from tests.controls import lacking_in
from tests.papers.brutzkus2019.claims.narrow_runs import (
    edges,
    every_run,
    first,
    from_octants,
    from_random_starts,
    judged,
    planted,
    without_an_octant,
)
from tests.papers.brutzkus2019.claims.networks import altered, networks, number, part, some
from widenet.claims import Verdict
from widenet.data.xord import SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims import narrow
from widenet.papers.brutzkus2019.claims.narrow import (
    ITEM_SETS,
    Narrow,
    can_converge,
    items,
    must_fail,
    observation_small_convergence,
    observation_small_failure,
    theorem_6_4,
)
from widenet.papers.brutzkus2019.formulas import large_start_probability
from widenet.papers.brutzkus2019.runs.octants import all_octants, from_octant, share_of
from widenet.papers.brutzkus2019.runs.trained import narrow_budget, train_from
from widenet.types import RunStatus

CLAIMS = (theorem_6_4, observation_small_convergence, observation_small_failure)
ZERO_LOSS, WRONG, EVENT, CONTRADICTS = "zero_loss", "wrong", "event", "frequency"


@pytest.fixture(scope="module")
def every():
    return from_octants()


@pytest.fixture(scope="module")
def drawn():
    return from_random_starts()


def in_the_event(place, **arrays):
    """The first run of the event, altered."""
    run = first(must_fail(from_octants()[place].start))
    return planted(place, **{name: (run, value) for name, value in arrays.items()})


def signs(**others):
    """Right on all sets but {1, 2}, and on these as given: an error there is on none of A_1, …, A_4."""
    outputs = SET_LABELS.copy()
    outputs[set_index(1, 2)] = -1.0
    for patterns, value in others.items():
        outputs[set_index(*map(int, patterns[1:]))] = value
    return outputs


def hits(n_hits):
    """Random starts of one margin of which so many of 2048 end at zero loss with an error on a whole A_i."""
    runs = from_random_starts()[2]
    hit = runs.converged & ~runs.right_on(ITEM_SETS)
    rows = np.concatenate([np.resize(np.flatnonzero(hit), n_hits), np.resize(np.flatnonzero(~hit), 2048 - n_hits)])
    return from_octants(), [*from_random_starts()[:2], some(runs, rows)]


def fewest_hits():
    """One-sided, at a millionth."""
    return min(n for n in range(1000, 1500) if stats.binom.cdf(n, 2048, 0.6875 * (1 - 1e-10)) >= 1e-6)


test_control = controls(
    narrow,
    every_run,
    # (1 − 10⁻¹⁰)·33/48 lies 6.9e-11 below the exact probability, 33/48 but for 1e-56.
    (theorem_6_4, EVENT, {"share": 33 / 48 / (1 - 1e-10)}, {"share": 33 / 48 * (1 + 1.01e-10)}),
    (theorem_6_4, ZERO_LOSS, {}, at(lambda: in_the_event(1, loss=1e-9))),
    (
        theorem_6_4,
        WRONG,
        at(lambda: in_the_event(2, outputs=signs(_4=0.0))),
        at(lambda: in_the_event(2, outputs=signs())),
    ),
    (theorem_6_4, CONTRADICTS, at(lambda: hits(fewest_hits())), at(lambda: hits(fewest_hits() - 1))),
    (theorem_6_4, "octants", {}, leaves_open(without_an_octant)),
    *edges(theorem_6_4),
    but=(observation_small_convergence, observation_small_failure),
)


def test_what_is_wrong_is_asked_at_zero_loss():
    run = first(must_fail(from_octants()[1].start))
    assert broken_in(judged(theorem_6_4, 1, loss=(run, 1e-9), outputs=(run, SET_LABELS))) == [ZERO_LOSS]


def test_how_runs_end_is_counted():
    """One run more is wrong at zero loss outside the event, and one is right in it."""
    runs = from_octants()[2]
    lucky, unlucky = first(must_fail(runs.start)), first(runs.converged & ~must_fail(runs.start))
    outputs = runs.outputs.copy()
    outputs[lucky], outputs[unlucky] = SET_LABELS, -SET_LABELS
    before, after = (
        judged(theorem_6_4, 2, **changes).details["cases"][2] for changes in ({}, {"outputs": (slice(None), outputs)})
    )
    names = ("in_the_event", "zero_loss_and_wrong", "zero_loss_and_wrong_outside_the_event")
    assert [before[name] for name in names] == [2816, 2816, 0]
    assert [after[name] for name in names] == [2816, 2816, 1]


def test_runs_that_were_cut_off_may_be_hits():
    assert broken_in(theorem_6_4(*hits(1000))) == [CONTRADICTS]
    runs = from_random_starts()[2]
    cut = dataclasses.replace(runs, status=np.full(2048, RunStatus.BUDGET_SPENT), loss=np.ones(2048))
    assert part(theorem_6_4(from_octants(), [cut]), CONTRADICTS).kept is True


def test_an_error_elsewhere_is_no_hit(drawn):
    """All random starts end wrong on {1, 2}, and right on A_1, …, A_4: none of them counts."""
    outputs = np.tile(SET_LABELS, (2048, 1))
    outputs[:, set_index(1, 2)] = -1.0
    frequency = part(theorem_6_4(from_octants(), [dataclasses.replace(drawn[2], outputs=outputs)]), CONTRADICTS)
    assert (frequency.kept, frequency.measured) == (False, 0.0)


def test_the_event_is_that_of_the_start():
    """A run that starts in the event is right everywhere, and its filters end where those of a run outside do."""
    runs = from_octants()[1]
    run, other = first(must_fail(runs.start) & runs.converged), first(runs.converged & ~must_fail(runs.final))
    changes = {"final": (run, runs.final[other]), "outputs": (run, SET_LABELS)}
    assert broken_in(judged(theorem_6_4, 1, **changes)) == [WRONG]


def test_the_event_is_33_of_48(every, drawn):
    assert share_of(must_fail, 4) == Fraction(33, 48)
    evidence = theorem_6_4(every, drawn)
    assert number(evidence.promised) == pytest.approx(0.68749999993125, abs=1e-15)
    assert evidence.measured == 0.6875


def test_the_constant_of_theorem_6_4():
    """A fit is Gaussian with σ = η/16 at most; one of eight reaches η with probability 1.02e-56, far below 1e-10."""
    with mpmath.workdps(80):
        exact = 1 - (1 - mpmath.erfc(16 / mpmath.sqrt(2))) ** 8
    found = large_start_probability(2, relative_deviation=math.sqrt(2) / 4)
    assert found == pytest.approx(float(exact), rel=1e-12)
    assert found == pytest.approx(1.02e-56, rel=0.01)


@pytest.mark.parametrize(("step_constant", "margin"), [(1 / 41, 1.0), (1 / 41, 8.0), (1 / 100, 2.0)])
def test_fits_up_to_the_step_size_are_enough(step_constant, margin):
    """One start in each of the 4096 rows of octants, with fits drawn evenly up to η, so most outside Lemma E.3."""
    step, draw = step_constant / 2, np.random.default_rng(64)
    fits = np.sort(step * draw.uniform(0.001, 0.999, (4096, 4, 2)), axis=-1)
    start = from_octant(all_octants(4), fits[..., 1], fits[..., 0])
    runs = train_from(start, step, margin, max_steps=2 * narrow_budget(step_constant, margin) + 1000)
    assert Narrow.join([runs]).below_step.all()
    assert runs.small_start.mean() < 0.01
    assert (runs.converged == can_converge(runs.start)).all()
    assert (items(runs.start) == items(runs.final))[runs.converged].all()
    assert (~runs.right_on(ITEM_SETS))[must_fail(runs.start)].all()


@pytest.mark.parametrize(("share", "vacuous"), [(1e-9, False), (0.0, True), (33 / 48, False)])
def test_a_share_of_zero_says_nothing(drawn, share, vacuous):
    few = some(drawn[0], slice(4))
    assert part(theorem_6_4([few], [few], share=share), EVENT).vacuous is vacuous


def test_control_one_row_of_octants_more_is_promised(every, drawn):
    assert broken_in(theorem_6_4(every, drawn, share=33 / 48 + 1 / 4096)) == [EVENT]


def test_frequencies_are_only_consistent(every, drawn):
    """For γ ≥ 2 the outcome is the event itself, so 33/48 is attained and no interval excludes it."""
    rows = theorem_6_4(every, drawn).details["cases"]
    for row in rows:
        if row["required_margin"] >= 2:
            assert row["zero_loss_and_wrong"] == row["in_the_event"]
            assert row["zero_loss_and_wrong_outside_the_event"] == 0
    low, high = rows[-1]["interval"]
    assert low < 33 / 48 < high
    assert rows[0]["zero_loss_and_wrong_outside_the_event"] > 0  # γ = 1: other runs fail too


def test_control_wider_networks():
    """k = 8 ends at zero loss and wrong in a fifth of the runs."""
    wider = [networks(8, 1 / 41, 8.0, 600, 3000, seed=0)]
    evidence = theorem_6_4([], wider)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert set(lacking_in(evidence)) == {"width"}
    of_any_width = dataclasses.replace(
        theorem_6_4, given=[each for each in theorem_6_4.given or () if each.key != "width"]
    )
    assert of_any_width([], wider).verdict is Verdict.VIOLATED
    assert CONTRADICTS in broken_in(of_any_width([], wider))


def test_control_runs_that_end_otherwise(every, drawn):
    whole = every[2]
    outputs = np.where(must_fail(whole.start)[:, None], 1.0, whole.outputs)
    outputs[:, [set_index(2), set_index(4), set_index(2, 4)]] = -1.0
    evidence = theorem_6_4([dataclasses.replace(whole, outputs=outputs)], drawn)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["runs_that_do_not_end_as_the_event_says"] == 33 * 4096 // 48
    assert part(evidence, WRONG).broken == 33 * 4096 // 48


def test_control_one_run_that_is_wrong_on_no_whole_hard_set(every, drawn):
    """Wrong on {1, 2} alone: an error, but on none of A_1, …, A_4."""
    run = int(np.argmax(must_fail(every[0].start)))
    right = np.where(np.arange(15) == set_index(1, 2), -1.0, 1.0)
    right[[set_index(2), set_index(4), set_index(2, 4)]] = -1.0
    evidence = theorem_6_4([altered(every[0], outputs=(run, right)), *every[1:]], drawn)
    assert broken_in(evidence) == [WRONG]
    assert part(evidence, WRONG).broken == 1


def test_control_a_loss_that_is_not_quite_zero(every, drawn):
    run = int(np.argmax(must_fail(every[0].start)))
    assert broken_in(theorem_6_4([altered(every[0], loss=(run, 1e-9)), *every[1:]], drawn)) == [ZERO_LOSS]


def test_missing_octants_decide_nothing(every, drawn):
    for claim in CLAIMS[:2]:
        assert claim([], drawn).verdict is Verdict.INSUFFICIENT_EVIDENCE
        assert claim([some(every[0], slice(1, None)), *every[1:]], drawn).conclusion is None
    assert theorem_6_4(every, []).conclusion is None


def test_a_run_from_a_large_start_is_not_asked():
    """A run in the event that ends with no point wrong breaks the statement, unless its first w starts too far out."""
    runs = from_octants()[1]
    run = first(must_fail(runs.start) & runs.converged)
    right = {"outputs": (run, SET_LABELS)}
    assert broken_in(judged(theorem_6_4, 1, **right)) == [WRONG]
    scale = runs.step_size / np.abs(runs.start[run] @ [[1.0, 1.0], [1.0, -1.0]]).max()
    assert must_fail(scale * runs.start)[run]
    for size, broken in ((0.999, [WRONG]), (1.001, [])):
        assert broken_in(judged(theorem_6_4, 1, start=(run, size * scale * runs.start[run]), **right)) == broken
