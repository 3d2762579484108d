"""Narrow networks from every octant: what decides the outcome, with controls that the same checks reject."""

import dataclasses
from fractions import Fraction

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
from tests.papers.brutzkus2019.claims.networks import altered, networks, some
from widenet.claims import Verdict
from widenet.diagnostics.exploration import on_positive_axis, plus_and_minus
from widenet.papers.brutzkus2019.claims import narrow
from widenet.papers.brutzkus2019.claims.narrow import (
    CHANCES,
    ITEM_SETS,
    ITEMS,
    can_converge,
    items,
    must_fail,
    observation_small_convergence,
    observation_small_failure,
    theorem_6_4,
)
from widenet.papers.brutzkus2019.sources import from_sets
from widenet.types import RunStatus

CLAIMS = (theorem_6_4, observation_small_convergence, observation_small_failure)
SAME, KEPT, STUCK, CHANCE = "zero_loss", "items_kept", "standstill", "chances"
ITEM_KEYS = list(ITEMS)


@pytest.fixture(scope="module")
def every():
    return from_octants()


@pytest.fixture(scope="module")
def drawn():
    return from_random_starts()


def without_a_filter(place=0):
    """The first run from a start without a filter in W13."""
    return first(~can_converge(from_octants()[place].start))


def lucky():
    """From such a start to zero loss; nothing is known of its items."""
    run = without_a_filter()
    start = from_octants()[0].start[run]
    return planted(status=(run, RunStatus.CONVERGED), loss=(run, 0.0), final=(run, start))


def turned():
    """Both u filters negated at the end of one run: the sides that they take are exchanged."""
    runs = from_octants()[0]
    run = first(can_converge(runs.start) & items(runs.start)[:, 2])
    return planted(final=((run, slice(2, None)), -runs.final[run, 2:]))


def still_at(share):
    """A run without a filter in W13 at γ = 2, at this share of the loss γ + 1."""
    return planted(1, loss=(without_a_filter(1), 3 * share))


def promising(place, more):
    """One probability larger by so much."""
    chances = [chance for _, chance in CHANCES.values()]
    chances[place] += more
    return {"chances": chances}


def able(n_able):
    """512 random starts of which so many have a filter in W13."""
    runs = from_random_starts()[0]
    which = can_converge(runs.start)
    rows = np.concatenate([np.resize(np.flatnonzero(which), n_able), np.resize(np.flatnonzero(~which), 512 - n_able)])
    return from_octants(), [some(runs, rows)]


def most_able():
    """As many as chance allows."""
    return max(n for n in range(384, 512) if stats.binomtest(n, 512, 0.75).pvalue >= 1e-6)


def with_output(item, value):
    """The set of an item in the first run in which it holds at zero loss: right where this is positive."""
    runs = from_octants()[2]
    run = first(runs.converged & items(runs.final)[:, item])
    return planted(2, outputs=((run, ITEM_SETS[item]), value if item < 2 else -value))


test_control = controls(
    narrow,
    every_run,
    (observation_small_convergence, SAME, {}, at(lucky)),
    (observation_small_convergence, KEPT, {}, at(turned)),
    (observation_small_convergence, STUCK, at(lambda: still_at(1 + 0.9e-12)), at(lambda: still_at(1 + 1.1e-12))),
    *(
        (observation_small_convergence, key, {}, promising(place, Fraction(1, 4096)))
        for place, key in enumerate(CHANCES)
    ),
    *(
        (observation_small_convergence, key, {}, promising(place, -Fraction(1, 4096)))
        for place, key in enumerate(CHANCES)
    ),
    (observation_small_convergence, CHANCE, at(lambda: able(most_able())), at(lambda: able(most_able() + 1))),
    *(
        (
            observation_small_failure,
            key,
            at(lambda item=item: with_output(item, 0.0)),
            at(lambda item=item: with_output(item, 1e-12)),
        )
        for item, key in enumerate(ITEMS)
    ),
    (observation_small_convergence, "octants", {}, leaves_open(without_an_octant)),
    *edges(observation_small_convergence),
    *edges(observation_small_failure),
    but=(theorem_6_4,),
)


def test_control_conditional_chances_of_random_starts():
    """384 of 512 can converge, as many as are expected, and of these none has a filter in both W⁺(1) and W⁺(3)."""
    runs = from_random_starts()[0]
    one_empty = can_converge(runs.start) & items(runs.start)[:, :2].any(axis=-1)
    rows = [*np.flatnonzero(one_empty)[:384], *np.flatnonzero(~can_converge(runs.start))[:128]]
    assert len(rows) == 512
    assert broken_in(observation_small_convergence(from_octants(), [some(runs, np.array(rows))])) == [CHANCE]


def test_without_random_starts_their_probabilities_are_not_decided():
    evidence = observation_small_convergence(from_octants(), [])
    assert [part.key for part in evidence.parts if part.kept is None] == [CHANCE]


def test_a_probability_that_was_lost_is_not_taken_for_one_that_does_not_occur():
    drawn = narrow.Narrow.join(from_random_starts()).cells[0]
    part = observation_small_convergence(from_octants(), [drawn]).part(CHANCE)
    assert (part.kept, part.n_cases) == (True, 4)
    for place in range(4):
        lost = drawn.replace(p_values=np.where(np.arange(4) == place, np.nan, drawn.p_values))
        part = observation_small_convergence(from_octants(), [lost]).part(CHANCE)
        assert (part.kept, part.n_cases, part.undecided) == (None, 4, 1)
    able = some(drawn, np.flatnonzero(~can_converge(drawn.start)))
    assert observation_small_convergence(from_octants(), [able]).part(CHANCE).n_cases == 1


def test_every_octant_is_seen_or_nothing_is_said():
    """4096 rows of octants; one without a run, or with a start above the limit of Lemma E.3, is missing."""
    runs = from_octants()[0]
    missing = (some(runs, slice(1, None)), altered(runs, start=(0, 99 * runs.start[0])))
    for given, kept in (([runs], True), ([], None), *(([runs, each], None) for each in missing)):
        assert narrow._every_octant_is_seen(narrow.Narrow.join(given)).part("").kept is kept


def test_what_decides_convergence_is_asked_of_small_starts():
    """From a start without a filter in W13: what would break a part breaks none where the start is large."""
    runs = from_octants()[0]
    runs = some(runs, [int(np.argmin(can_converge(runs.start))), 0, 1, 2])
    large = {"start": (0, 99 * runs.start[0])}
    turned = {"final": ((0, slice(2, None)), -runs.start[0, 2:])}
    lucky = {"status": (0, RunStatus.CONVERGED), "loss": (0, 0.0)}
    for changes, parts in (
        (lucky, [SAME]),
        ({**lucky, **turned}, [SAME, KEPT]),
        (turned, []),
        ({"steps": (0, 1)}, []),
        ({"steps": (0, 2)}, [STUCK]),
    ):
        assert broken_in(observation_small_convergence([altered(runs, **changes)], [])) == parts
        assert broken_in(observation_small_convergence([altered(runs, **large, **changes)], [])) == []


def test_items_are_asked_of_small_starts_at_zero_loss():
    runs = from_octants()[2]
    run = first(runs.converged & items(runs.final)[:, 0])
    lucky = {"outputs": ((run, ITEM_SETS[0]), 1.0)}
    assert broken_in(judged(observation_small_failure, 2, **lucky)) == [ITEM_KEYS[0]]
    assert broken_in(judged(observation_small_failure, 2, loss=(run, 1e-9), **lucky)) == []
    assert broken_in(judged(observation_small_failure, 2, start=(run, 99 * runs.start[run]), **lucky)) == []
    assert broken_in(judged(theorem_6_4, 2, start=(run, 99 * runs.start[run]), loss=(run, 1.0))) == []


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds(claim, every, drawn):
    assert claim(every, drawn).verdict is Verdict.HOLDS


def test_a_run_that_was_cut_off_decides_nothing(every, drawn):
    run = int(np.argmax(must_fail(every[0].start)))
    cut = altered(every[0], status=(run, RunStatus.BUDGET_SPENT), loss=(run, 1.0))
    for claim in CLAIMS[:2]:
        assert claim([cut, *every[1:]], drawn).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"required_margin": 0.999}, "margin"),
        ({"step_size": 1 / 80}, "step_constant"),
        ({"points": from_sets({14: 2, 9: 1, 1: 1})}, "diverse"),
    ],
)
def test_control_each_hypothesis_just_outside(every, drawn, change, key):
    for claim in CLAIMS:
        assert key in lacking_in(claim([dataclasses.replace(every[0], **change), *every[1:]], drawn))


def test_control_the_minus_filters_do_not_decide_convergence(every, drawn):
    evidence = observation_small_convergence(
        every, drawn, criterion=lambda filters: on_positive_axis(plus_and_minus(filters)[1]).any(axis=-1)
    )
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [SAME]
    assert 0.3 < evidence.details["converged_against_the_criterion"] / evidence.runs.tried < 0.45


def test_control_one_run_that_converges_without_a_filter(every, drawn):
    stuck = int(np.argmin(can_converge(every[0].start)))
    lucky = altered(every[0], status=(stuck, RunStatus.CONVERGED), loss=(stuck, 0.0))
    assert SAME in broken_in(observation_small_convergence([lucky, *every[1:]], drawn))


@pytest.mark.parametrize("change", [{"loss": 1e-9}, {"steps": 2}, {"status": RunStatus.DIVERGED}])
def test_control_a_standstill_that_is_none(every, drawn, change):
    stuck = int(np.argmin(can_converge(every[0].start)))
    ((name, value),) = change.items()
    other = altered(every[0], **{name: (stuck, 2.0 + value if name == "loss" else value)})
    assert broken_in(observation_small_convergence([other, *every[1:]], drawn)) == [STUCK]


def test_control_starts_that_are_not_random(every, drawn):
    """All from one octant, which is always able to converge."""
    able = some(drawn[0], np.flatnonzero(can_converge(drawn[0].start))[:200])
    evidence = observation_small_convergence(every, [able])
    assert broken_in(evidence) == [CHANCE]


@pytest.mark.parametrize("swap", [(0, 1), (2, 3)])
def test_control_the_items_name_their_own_set(every, drawn, swap):
    sets = list(ITEM_SETS)
    sets[swap[0]], sets[swap[1]] = sets[swap[1]], sets[swap[0]]
    evidence = observation_small_failure(every, drawn, item_sets=tuple(sets))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [ITEM_KEYS[place] for place in swap]
    assert evidence.details["items_with_their_set_wrong"][swap[0]] < evidence.details["items_seen"][swap[0]]


@pytest.mark.parametrize("item", range(4))
def test_the_items_of_a_failure_are_those_of_the_end(item):
    """The item holds at the end, and not at the start that the run is said to have come from."""
    runs = from_octants()[2]
    run, other = first(runs.converged & items(runs.final)[:, item]), first(~items(runs.start)[:, item])
    lucky = {"outputs": ((run, ITEM_SETS[item]), 1.0 if item < 2 else -1.0), "start": (run, runs.start[other])}
    assert broken_in(judged(observation_small_failure, 2, **lucky)) == [ITEM_KEYS[item]]


def test_an_item_that_was_never_seen_decides_nothing(every):
    never = some(every[2], np.flatnonzero(~items(every[2].final)[:, 0]))
    evidence = observation_small_failure([never], [])
    assert [each.kept for each in evidence.parts] == [None, True, True, True]


def test_runs_without_zero_loss_are_outside(every, drawn):
    runs = observation_small_failure(every, drawn).runs
    assert 0.2 < runs.outside / runs.tried < 0.3


def test_control_a_start_that_is_too_large():
    """σ_g sixty times its limit: the start is no longer small, and nothing is scored."""
    wild = networks(2, 1 / 41, 8.0, 500, 3000, seed=0, relative_deviation=60.0)
    evidence = observation_small_failure([], [wild])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.runs.outside > 490
