"""Hypotheses over a table."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.base import Claim, Kind, Verdict
from widenet.claims.cases import Cases
from widenet.claims.experiments import drawn_on
from widenet.claims.implication import Promised, at_most, hypothesis
from widenet.errors import ClaimError


@dataclass(frozen=True, eq=False)
class Toy(Cases):
    """Starts, some of them drawn."""

    size: Float[np.ndarray, " run"]
    drawn: Float[np.ndarray, " run"]


@hypothesis("size of a drawn start")
def size(runs):
    return at_most(runs.size, 1, where=runs.drawn > 0, optional=True)


def judge(runs: Toy) -> Promised:
    return {"small": at_most(runs.size, 5)}


def toy(drawn):
    return Toy(np.array([0.5, 3.0]), np.array(drawn))


CLAIM = Claim("paper.claim", Kind.STEP, "", "", judge, draws=lambda scale, seed: toy([1.0, 0.0]), given=(size,))


def test_an_optional_hypothesis_is_left_out_where_there_is_no_case_of_it():
    assert CLAIM.clauses["size"].optional
    assert [each.met for each in CLAIM(toy([1.0, 0.0])).hypotheses] == [True]
    assert [each.met for each in CLAIM(toy([0.0, 1.0])).hypotheses] == [False]
    none = CLAIM(toy([0.0, 0.0]))
    assert (none.hypotheses, none.verdict) == ((), Verdict.HOLDS)


@drawn_on(lambda user_data: NotApplicable("No.") if user_data is None else toy([user_data, 0.0]))
def draw_own(scale, seed):
    return toy([1.0])


def test_drawn_cases_say_how_they_are_made_from_your_data():
    own = dataclasses.replace(CLAIM, draws=draw_own, reads=())
    assert own.on(2.0).drawn.tolist() == [2.0, 0.0]
    assert own.on(None) == "No."
    assert isinstance(CLAIM.on(2.0), NotApplicable)
    printed = own.variant("claim_as_printed", where="", statement="")
    assert isinstance(printed.on(2.0), NotApplicable)
    overridden = dataclasses.replace(printed, settings_on=lambda user_data: toy([user_data]))
    assert isinstance(overridden.on(2.0), NotApplicable), "a false statement promises nothing, whatever it says itself"
    assert overridden.ways == ()


class TestContract:
    """What a claim lists without runs is what it promises on them."""

    def made(self, judge, *given) -> Claim:
        return dataclasses.replace(CLAIM, judge=judge, given=given)

    def test_keys_must_not_depend_on_data(self):
        def judge(runs: Toy) -> Promised:
            return {f"n_{len(runs)}": at_most(runs.size, 5)}

        claim = self.made(judge)
        assert list(claim.clauses) == ["n_0"]
        with pytest.raises(ClaimError, match=r"^paper.claim: promise keys .* got n_2 on these runs and n_0 with"):
            claim(toy([1.0, 0.0]))

    def test_no_promise_may_come_or_go(self):
        def judge(runs: Toy) -> Promised:
            more = {"more": at_most(runs.size, 6)} if len(runs) else {}
            return {"small": at_most(runs.size, 5), **more}

        with pytest.raises(ClaimError, match="got small, more on these runs and small without runs"):
            self.made(judge)(toy([1.0, 0.0]))

    def test_runs_that_break_a_promise_cannot_leave_it_out(self):
        def judge(runs: Toy, *, limit: float | None = None) -> Promised:
            broken = len(runs) > 0 and bool(np.any(runs.size > 1))
            more = {} if broken or limit else {"more": at_most(runs.size, 1)}
            return {"small": at_most(runs.size, 5), **more}

        claim = self.made(judge)
        with pytest.raises(ClaimError, match="got small on these runs and more, small without runs"):
            claim(toy([1.0, 0.0]))
        assert claim(toy([1.0, 0.0]), limit=3.0).verdict is Verdict.HOLDS  # a control may

    def test_a_hand_reduction_gets_a_sentence(self):
        def judge(runs: Toy) -> Promised:
            return {"small": at_most(runs.size.max(), 5)}

        claim = self.made(judge)
        words = r"^paper.claim: the judge must .* zero-size array .* \(test_implication.py, line \d+\); compare"
        for use in (lambda: claim.clauses, lambda: claim(toy([1.0, 0.0]))):
            with pytest.raises(ClaimError, match=words):
                use()

    def test_a_limit_of_the_wrong_length_gets_a_sentence(self):
        @hypothesis("size")
        def of_two(runs):
            return at_most(runs.size, np.ones(2))

        with pytest.raises(ClaimError, match=r"the hypothesis 'of_two' must work .* got shapes \(0,\), \(2,\)"):
            assert self.made(judge, of_two).clauses


class TestAmongGiven:
    """The hypotheses are the event; a run of which that is not known is not left out."""

    def verdict(self, sizes, *, limit=1.0, **how) -> Verdict:
        @hypothesis("size")
        def small(runs):
            return at_most(runs.size, limit, **{name: np.asarray(each(runs)) for name, each in how.items()})

        def judge(runs: Toy) -> Promised:
            return {"drawn": at_most(runs.drawn, 5)}

        claim = dataclasses.replace(CLAIM, judge=judge, given=(small,), among_given=True)
        return claim(Toy(np.array(sizes), np.array([9.0, *np.zeros(len(sizes) - 1)]))).verdict

    def test_a_run_outside_is_not_judged(self):
        assert self.verdict([2.0, 0.5, 0.5]) is Verdict.HOLDS
        assert self.verdict([0.5, 0.5, 0.5]) is Verdict.VIOLATED

    def test_a_run_that_may_be_inside_leaves_it_open(self):
        lost = self.verdict([2.0, 0.5, 0.5], undecided=lambda runs: runs.size > 1)
        assert lost is Verdict.INSUFFICIENT_EVIDENCE
        assert self.verdict([np.nan, 0.5, 0.5]) is Verdict.HYPOTHESES_NOT_MET
        assert self.verdict([np.inf, 0.5, 0.5]) is Verdict.HYPOTHESES_NOT_MET

    def test_a_run_that_a_hypothesis_says_nothing_about_is_inside(self):
        assert self.verdict([2.0, 0.5, 0.5], where=lambda runs: runs.size < 1) is Verdict.VIOLATED

    def test_what_was_compared_exactly_decides_who_is_inside(self):
        assert self.verdict([0.5, 0.5], exact=lambda runs: runs.drawn == 0) is Verdict.HOLDS
