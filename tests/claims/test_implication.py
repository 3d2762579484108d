"""Hypotheses over a table."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.base import Claim, Kind, Verdict
from widenet.claims.cases import Cases
from widenet.claims.experiments import drawn_on
from widenet.claims.implication import Promised, at_most, hypothesis


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
