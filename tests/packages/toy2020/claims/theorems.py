"""One claim for each thing that can come out."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tests.packages.toy2020.runs.numbers import Numbers, NumbersSetting, numbers
from widenet.claims.base import Kind, NotApplicable, Runs, claim
from widenet.claims.cases import Cases
from widenet.claims.implication import Given, Promise, Promised, at_least, at_most, hypothesis
from widenet.claims.sides import Fact, Sides
from widenet.claims.user_data import UserData
from widenet.records import Scale

RUNS = Runs(tried=64, diverged=2)


@dataclass(frozen=True, eq=False)
class Toys(Cases):
    """What is drawn where nothing is trained."""

    size: Float[np.ndarray, " run"]


def nothing(scale: Scale, seed: int) -> Toys:
    return Toys(np.ones(1))


def two(scale: Scale, seed: int) -> Toys:
    return Toys(np.array([1.0, 3.0]))


@hypothesis("‖x‖")
def input_norm(runs: Cases) -> Sides:
    return at_most(np.ones(len(runs)), 1)


def margin_of(actual: float = 1.25) -> Given:
    @hypothesis("margin of [w*, x]", extreme=False)
    def margin(runs: Cases) -> Sides:
        return at_least(np.full(len(runs), actual), 1, why=lambda _: "" if actual >= 1 else "Row 7 is too close.")

    return margin


CONDITIONS = (input_norm, margin_of())


@claim("toy2020.lemma_a_1", Kind.STEP, "Lemma A.1, p. 12", draws=nothing, given=CONDITIONS)
def lemma_a_1(toys: Toys) -> Promise:
    """For all x in [0, 1], the step of the proof is true."""
    return Promise({"every_step": Fact(np.ones(64, bool), text="every step")}, runs=RUNS)


def theorem_2_on(user_data: UserData) -> list[NumbersSetting] | NotApplicable:
    """Data with both labels."""
    if not user_data.has_signs_as_labels:
        return NotApplicable("It needs the labels −1 and +1, both of them.")
    return [NumbersSetting(place=0, seconds=0.0, seed=user_data.choices.seed, own_data=user_data.digest)]


@claim("toy2020.theorem_2", Kind.MAIN, "Theorem 2, p. 5", reads=numbers, on=theorem_2_on, given=CONDITIONS)
def theorem_2(runs: Numbers, *, bound: float = 12345.0) -> Promise:
    """For all x in [0, 1], SGD makes at most
    M_k updates, and then the loss is 0.

    This paragraph is for developers.
    """
    updates = 321.0 + 0 * runs.losses[:, -1]
    return Promise(
        {
            "updates": at_most(updates, bound, quantity="non-zero updates", text="at most M_k updates"),
            "zero_loss": Fact(True, text="loss 0 at the end"),
        },
        runs=RUNS,
        details={"places": runs.place},
        note="The printed count lacks a ceiling." if bound < 321 else "",
    )


@claim("toy2020.theorem_6", Kind.TREND, "Theorem 6", reads=numbers, on=theorem_2_on, given=CONDITIONS)
def theorem_6(runs: Numbers) -> Promised:
    """It reads the same runs as Theorem 2."""
    return {"loss": at_least(runs.losses[:, -1] + 5, 1.0, text="at least 1")}


theorem_9_as_printed = theorem_2.variant(
    "theorem_9_as_printed",
    where="Theorem 9, p. 7",
    statement="For all x in [0, 1], SGD makes at most 300 updates.",
    bound=300.0,
)


@claim("toy2020.proposition_1_2", Kind.CONSTRUCTION, "Proposition 1", draws=nothing, given=(input_norm, margin_of(0.5)))
def proposition_1_2(toys: Toys) -> Promise:
    """A construction outside its hypotheses."""
    return Promise({"level": at_most(toys.size, 2.0)}, note="It was outside.")


@claim("toy2020.theorem_5", Kind.MAIN, "Theorem 5", draws=nothing, given=CONDITIONS)
def theorem_5(toys: Toys) -> Promised:
    """The test error is at most 3."""
    return {"test_error": at_most(0.1 * toys.size, 3.0, trivial=1.0, text="test error")}
