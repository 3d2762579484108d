"""Narrow networks from every octant: what decides the outcome, with controls that the same checks reject."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tests.controls import breaks_part, broken_in, every_part_of, lacking_in
from tests.papers.brutzkus2019.claims.narrow_runs import first, from_octants, from_random_starts, judged, narrow_edges
from tests.papers.brutzkus2019.claims.networks import altered, networks, some
from tests.papers.brutzkus2019.claims.requirements import required
from tests.papers.brutzkus2019.claims.trained_edges import ENOUGH
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
from widenet.papers.brutzkus2019.runs.training_set import from_sets
from widenet.types import RunStatus

CLAIMS = (theorem_6_4, observation_small_convergence, observation_small_failure)
SAME, KEPT = "zero loss exactly where W_0⁺(1) ∪ W_0⁺(3) ≠ ∅", "E is decided by the start"
STUCK = "without zero loss nothing moves from the second step on, at loss γ + 1"


@pytest.fixture(scope="module")
def every():
    return from_octants()


@pytest.fixture(scope="module")
def drawn():
    return from_random_starts()


CONTRADICTS, SEEN = "random starts do not contradict it", "every octant is seen"
CHANCE = "random starts have these probabilities"


@breaks_part(observation_small_convergence, SAME)
def test_control_one_run_that_converges_though_it_should_not():
    """From a start without a filter in W13 to zero loss; nothing is known of its items."""
    runs = from_octants()[0]
    stuck = first(~can_converge(runs.start))
    status = {"status": (stuck, RunStatus.CONVERGED), "loss": (stuck, 0.0), "final": (stuck, runs.start[stuck])}
    return judged(observation_small_convergence), judged(observation_small_convergence, **status)


@breaks_part(observation_small_convergence, KEPT)
def test_control_items_that_change_on_the_way():
    runs = from_octants()[0]
    run = first(can_converge(runs.start) & items(runs.start)[:, 2])
    turned = ((run, slice(2, None)), -runs.final[run, 2:])
    return judged(observation_small_convergence), judged(observation_small_convergence, final=turned)


@breaks_part(observation_small_convergence, STUCK)
def test_control_a_loss_that_is_not_the_margin_plus_one():
    stuck = first(~can_converge(from_octants()[1].start))
    inside, outside = (
        judged(observation_small_convergence, 1, loss=(stuck, 3 * (1 + error))) for error in (0.9e-12, 1.1e-12)
    )
    return inside, outside


def chance_control(place):
    name, promised = list(CHANCES.items())[place]

    @breaks_part(observation_small_convergence, f"probability {promised}: {name}")
    def control():
        """A probability is a share of rows; its name shows what was promised, so the octants are changed."""
        with pytest.MonkeyPatch.context() as patch:
            exact = narrow._chances
            wanted = iter(range(10**6))

            def one_more(filters):
                found = list(exact(filters))
                if len(filters) == 4096 and next(wanted) == 0:
                    happens, condition = found[place]
                    happens = happens.copy()
                    happens[first(~happens & condition)] = True
                    found[place] = happens, condition
                return tuple(found)

            patch.setattr(narrow, "_chances", one_more)
            return judged(observation_small_convergence)

    return control


CHANCE_CONTROLS = [chance_control(place) for place in range(4)]


@pytest.mark.parametrize("place", range(4))
def test_control_one_row_of_octants_more(place):
    CHANCE_CONTROLS[place]()


def able(n_able):
    """512 random starts of which so many have a filter in W13."""
    runs = from_random_starts()[0]
    which = can_converge(runs.start)
    rows = np.concatenate([np.resize(np.flatnonzero(which), n_able), np.resize(np.flatnonzero(~which), 512 - n_able)])
    return observation_small_convergence(from_octants(), [some(runs, rows)])


@breaks_part(observation_small_convergence, CHANCE)
def test_control_more_starts_that_can_converge_than_chance_allows():
    most = max(n for n in range(384, 512) if stats.binomtest(n, 512, 0.75).pvalue >= 1e-6)
    return able(most), able(most + 1)


def test_control_conditional_chances_of_random_starts():
    """384 of 512 can converge, as many as are expected, and of these none has a filter in both W⁺(1) and W⁺(3)."""
    runs = from_random_starts()[0]
    one_empty = can_converge(runs.start) & items(runs.start)[:, :2].any(axis=-1)
    rows = [*np.flatnonzero(one_empty)[:384], *np.flatnonzero(~can_converge(runs.start))[:128]]
    assert len(rows) == 512
    assert broken_in(observation_small_convergence(from_octants(), [some(runs, np.array(rows))])) == [CHANCE]


def test_without_random_starts_their_probabilities_are_not_decided():
    evidence = observation_small_convergence(from_octants(), [])
    assert [part.name for part in evidence.parts if part.kept is None] == [CHANCE]


def test_every_octant_is_seen_or_nothing_is_said():
    """4096 rows of octants; one without a run, or with a start above the limit of Lemma E.3, is missing."""
    runs = from_octants()[0]
    missing = (some(runs, slice(1, None)), altered(runs, start=(0, 99 * runs.start[0])))
    for given, kept in (([runs], True), ([], None), *(([runs, each], None) for each in missing)):
        assert narrow._every_octant_is_seen(given).part("").kept is kept


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


def failure_control(item):
    @breaks_part(observation_small_failure, ITEMS[item])
    def control():
        runs = from_octants()[2]
        run = first(runs.converged & items(runs.final)[:, item])
        place, label = ITEM_SETS[item], (1.0 if item < 2 else -1.0)
        return (
            judged(observation_small_failure, 2, outputs=((run, place), 0.0)),
            judged(observation_small_failure, 2, outputs=((run, place), label * 1e-12)),
        )

    return control


FAILURE_CONTROLS = [failure_control(item) for item in range(4)]


@pytest.mark.parametrize("item", range(4))
def test_control_each_item_with_its_set(item):
    FAILURE_CONTROLS[item]()


def test_items_are_asked_of_small_starts_at_zero_loss():
    runs = from_octants()[2]
    run = first(runs.converged & items(runs.final)[:, 0])
    lucky = {"outputs": ((run, ITEM_SETS[0]), 1.0)}
    assert broken_in(judged(observation_small_failure, 2, **lucky)) == [ITEMS[0]]
    assert broken_in(judged(observation_small_failure, 2, loss=(run, 1e-9), **lucky)) == []
    assert broken_in(judged(observation_small_failure, 2, start=(run, 99 * runs.start[run]), **lucky)) == []
    assert broken_in(judged(theorem_6_4, 2, start=(run, 99 * runs.start[run]), loss=(run, 1.0))) == []


test_control_each_hypothesis_at_its_edge = narrow_edges(*CLAIMS[1:])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds(claim, every, drawn):
    assert claim(every, drawn).verdict is Verdict.HOLDS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_what_is_required(claim, every, drawn):
    assert required(claim(every, drawn)) == {"width": "≤ 0", "step_constant": "≤ 0.0243902", "margin": "≥ 1"}


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


def test_control_an_item_that_changes_on_the_way(every, drawn):
    """Both u filters negated at the end of one run: the sides that they take are exchanged."""
    run = int(np.argmax(can_converge(every[0].start) & items(every[0].start)[:, 2]))
    turned = altered(every[0], final=((run, slice(2, None)), -every[0].final[run, 2:]))
    assert broken_in(observation_small_convergence([turned, *every[1:]], drawn)) == [KEPT]


@pytest.mark.parametrize("change", [{"loss": 1e-9}, {"steps": 2}, {"status": RunStatus.DIVERGED}])
def test_control_a_standstill_that_is_none(every, drawn, change):
    stuck = int(np.argmin(can_converge(every[0].start)))
    ((name, value),) = change.items()
    other = altered(every[0], **{name: (stuck, 2.0 + value if name == "loss" else value)})
    assert broken_in(observation_small_convergence([other, *every[1:]], drawn)) == [STUCK]


@pytest.mark.parametrize("place", range(4))
def test_control_each_chance(every, drawn, place):
    chances = list(CHANCES.values())
    chances[place] += Fraction(1, 4096)
    evidence = observation_small_convergence(every, drawn, chances=chances)
    assert len(broken_in(evidence)) == 1
    assert broken_in(evidence)[0].startswith("probability")


def test_control_starts_that_are_not_random(every, drawn):
    """All from one octant, which is always able to converge."""
    able = some(drawn[0], np.flatnonzero(can_converge(drawn[0].start))[:200])
    evidence = observation_small_convergence(every, [able])
    assert broken_in(evidence) == ["random starts have these probabilities"]


@pytest.mark.parametrize("swap", [(0, 1), (2, 3)])
def test_control_the_items_name_their_own_set(every, drawn, swap):
    sets = list(ITEM_SETS)
    sets[swap[0]], sets[swap[1]] = sets[swap[1]], sets[swap[0]]
    evidence = observation_small_failure(every, drawn, item_sets=tuple(sets))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == [ITEMS[place] for place in swap]
    assert evidence.details["items_with_their_set_wrong"][swap[0]] < evidence.details["items_seen"][swap[0]]


@pytest.mark.parametrize("item", range(4))
def test_control_one_set_that_is_right_all_the_same(every, drawn, item):
    whole = every[2]
    run = int(np.argmax(whole.converged & items(whole.final)[:, item]))
    label = 1.0 if item < 2 else -1.0
    lucky = altered(whole, outputs=((run, ITEM_SETS[item]), label))
    assert broken_in(observation_small_failure([*every[:2], lucky], drawn)) == [ITEMS[item]]


@pytest.mark.parametrize("item", range(4))
def test_the_items_of_a_failure_are_those_of_the_end(item):
    """The item holds at the end, and not at the start that the run is said to have come from."""
    runs = from_octants()[2]
    run, other = first(runs.converged & items(runs.final)[:, item]), first(~items(runs.start)[:, item])
    lucky = {"outputs": ((run, ITEM_SETS[item]), 1.0 if item < 2 else -1.0), "start": (run, runs.start[other])}
    assert broken_in(judged(observation_small_failure, 2, **lucky)) == [ITEMS[item]]


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


test_every_part_has_a_control = every_part_of(
    narrow,
    except_for={f"observation_small_convergence: {SEEN}": ENOUGH},
    elsewhere=(theorem_6_4,),
)
