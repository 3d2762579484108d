"""Rates of failure, judged over independent runs."""

import math

import numpy as np
import pytest

from widenet.claims.rates import Rate
from widenet.claims.sides import Sides
from widenet.claims.statistics import clopper_pearson


def at_settings(failed, allowed, **more):
    """Two settings of 1,200 runs, each with its own rate."""
    both = np.repeat(allowed, 1200)
    return Rate(np.concatenate(failed), both, setting=np.repeat([0, 1], 1200), **more).part("x")


class TestRate:
    def test_enough_runs_confirm(self):
        part = Rate(np.zeros(59, bool), 0.05).part("x")
        assert (part.kept, part.tightness, part.measured, part.promised) == (True, 0.0, 0.0, 0.05)
        assert Rate(np.zeros(58, bool), 0.05).part("x").kept is None

    def test_many_failures_refute(self):
        part = Rate(np.arange(100) < 30, 0.1).part("x")
        assert (part.kept, part.broken) == (False, 30)
        assert part.tightness == pytest.approx(3.0)
        assert part.interval is not None
        assert part.interval[0] > 0.1

    def test_lost_runs_decide_nothing(self):
        lost = np.arange(100) < 10
        assert Rate(np.zeros(100, bool), 0.05, undecided=lost).part("x").kept is None
        assert Rate(np.arange(100) >= 50, 0.05, undecided=lost).part("x").kept is False
        assert Rate(np.arange(100) >= 50, 0.05, undecided=lost).part("x").undecided == 10

    def test_the_share_that_is_shown_counts_lost_runs_as_the_verdict_does(self):
        """2 sure failures and 10 lost runs of 100: kept below 0.5 with 12 failures, broken above 1e-3 with 2."""
        failed, lost = np.arange(100) < 2, np.arange(100) >= 90
        kept, broken, neither = (Rate(failed, allowed, undecided=lost).part("x") for allowed in (0.5, 1e-3, 0.1))
        assert (kept.kept, kept.measured, kept.tightness) == (True, 0.12, 0.24)
        assert (broken.kept, broken.measured, broken.tightness) == (False, 0.02, 20.0)
        assert (neither.kept, neither.measured, neither.tightness) == (None, 0.02, None)
        limits = (clopper_pearson(2, 100)[0], clopper_pearson(12, 100)[1])
        assert kept.interval == broken.interval == neither.interval == limits
        assert (kept.broken, kept.undecided) == (2, 10)

    @pytest.mark.parametrize("allowed", [1.0, 1.7])
    def test_a_rate_of_one_is_vacuous(self, allowed):
        part = Rate(np.ones(10, bool), allowed).part("x")
        assert (part.kept, part.vacuous) == (True, True)

    @pytest.mark.parametrize(("failed", "kept"), [(0, None), (1, False)])
    def test_a_rate_that_underflows_is_refuted_by_one_failure_and_never_confirmed(self, failed, kept):
        part = Rate(np.arange(1000) < failed, 0.0).part("x")
        assert (part.kept, part.tightness) == (kept, np.inf if failed else None)

    def test_no_number_and_no_runs_decide_nothing(self):
        assert Rate(np.ones(100, bool), math.nan).part("x").kept is None
        assert Rate([], 0.5).part("x").kept is None


class TestRatesOfWhatIsNotKnown:
    def test_a_run_whose_sides_are_undecided_did_not_succeed(self):
        for lost in (np.full(60, math.nan), np.r_[0.0, np.full(59, math.inf)]):
            sides = Sides(lost, 1.0)
            part = Rate(sides.broken, 0.05, sides=sides).part("r")
            assert (part.kept, part.undecided) == (None, int((~np.isfinite(lost)).sum()))
        kept = Sides(np.zeros(60), 1.0)
        assert Rate(kept.broken, 0.05, sides=kept).part("r").kept
        failed = Rate(np.ones(60, bool), 0.05, sides=Sides(np.full(60, math.nan), 1.0)).part("r")
        assert failed.kept is False, "a run may fail for another reason than its sides"
        outside = Sides(np.full(60, math.nan), 1.0, where=np.zeros(60, bool), event="none")
        assert Rate(np.zeros(60, bool), 0.05, sides=outside).part("r").kept, "its sides say nothing about these runs"

    def test_a_failure_that_is_nan_is_not_known(self):
        part = Rate(np.r_[np.zeros(99), math.nan], 0.5).part("r")
        assert (part.kept, part.broken, part.undecided) == (True, 0, 1)
        assert Rate(np.full(60, math.nan), 0.05).part("r").kept is None
        assert np.isnan(Rate(np.full(2, math.nan), 0.05).columns()["kept"]).all()

    def test_many_settings_are_not_found_broken_by_chance_more_often_than_one(self):
        """At the rate that is allowed, one setting is called broken in 5 % of repetitions, and so are a hundred."""
        draw, repeats, settings, runs = np.random.default_rng(5), 300, 20, 60
        setting = np.repeat(np.arange(settings), runs)
        wrong = sum(
            Rate(draw.random(settings * runs) < 0.1, 0.1, setting=setting).part("r").kept is False
            for _ in range(repeats)
        )
        assert clopper_pearson(wrong, repeats, 1 - 1e-9)[0] <= 0.05
        failed = np.zeros(settings * runs, bool)
        failed[:20] = True
        part = Rate(failed, 0.1, setting=setting).part("r")
        assert part.kept is False
        assert part.interval is not None
        assert part.interval[0] == clopper_pearson(20, runs, 1 - 0.05 / settings)[0], "the limit it rests on"
        assert Rate(failed[:runs], 0.1).part("r").interval == clopper_pearson(20, runs)

    def test_of_several_promises_in_a_setting_the_smallest_counts(self):
        allowed = np.r_[np.full(200, 0.05), np.full(200, 1e-9)]
        assert Rate(np.zeros(400, bool), allowed, setting=np.zeros(400, int)).part("r").kept is None


class TestRateOfSeveralSettings:
    none, some = np.zeros(1200, bool), np.arange(1200) < 40

    @pytest.mark.parametrize(("first", "second", "kept"), [(0.5, 0.0027, False), (0.0027, 0.5, True)])
    def test_each_has_its_own_rate(self, first, second, kept):
        """40 of 1,200 is a share of 0.033; the setting in which most fail is shown, in either order."""
        for flip in (slice(None), slice(None, None, -1)):
            part = at_settings([self.none, self.some][flip], [first, second][flip])
            assert (part.kept, part.promised, part.measured) == (kept, second, 40 / 1200)
            assert (part.n_cases, part.broken) == (2400, 40)
            assert (len(part.cases), int((~part.cases.kept).sum())) == (2400, 40)

    def test_one_with_too_few_runs_leaves_it_undecided(self):
        assert at_settings([self.none, self.some], [1e-9, 0.5]).kept is None

    def test_the_sides_of_the_worst_are_shown(self):
        sides = Sides(np.repeat([1.0, 3.0], 1200), 2.0)
        part = at_settings([self.none, self.some], [0.5, 0.0027], sides=sides)
        assert (part.kept, part.measured, part.promised) == (False, 3.0, 2.0)

    def test_without_runs_nothing_is_decided(self):
        assert Rate(np.zeros(0), np.zeros(0), setting=np.zeros(0)).part("x").kept is None
