"""One claim for each thing that can come out."""

from collections.abc import Sequence

import numpy as np

from tests.rooms.toy2020.runs.numbers import Numbers, NumbersSetting, numbers
from widenet.claims.base import Evidence, Kind, Runs, Silence, at_least, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.records import Scale

RUNS = Runs(tried=64, diverged=2)


def nothing(scale: Scale, seed: int) -> int:
    return seed


def conditions(margin: float = 1.25):
    return (
        at_most("input_norm", "largest ‖x‖", 1.0, 1.0),
        at_least("margin", "margin of [w*, x]", margin, 1.0, why="" if margin >= 1 else "Row 7 is too close."),
    )


@claim("toy2020.lemma_a_1", Kind.STEP, "Lemma A.1, p. 12", draws=nothing)
def lemma_a_1(seed: int) -> Evidence:
    """For all x in [0, 1], the step of the proof is true."""
    return evidence({"every step": Fact(np.ones(64, bool))}, conditions(), runs=RUNS)


def theorem_2_on(specimen: Specimen) -> list[NumbersSetting] | Silence:
    """Data with both labels."""
    if not specimen.has_signs_as_labels:
        return Silence("It needs the labels −1 and +1, both of them.")
    return [NumbersSetting(place=0, seconds=0.0, seed=specimen.choices.seed, own_data=specimen.digest)]


@claim("toy2020.theorem_2", Kind.MAIN, "Theorem 2, p. 5", reads=numbers, on=theorem_2_on)
def theorem_2(runs: Sequence[Numbers], *, bound: float = 12345.0) -> Evidence:
    """For all x in [0, 1], SGD makes at most
    M_k updates, and then the loss is 0.

    This paragraph is for developers.
    """
    sides = Sides(np.array([321.0 + 0 * run.losses[-1] for run in runs]), bound, quantity="non-zero updates")
    parts = {"at most M_k updates": sides, "loss 0 at the end": Fact(True)}
    note = "The printed count lacks a ceiling." if bound < 321 else ""
    return evidence(parts, conditions(), runs=RUNS, details={"places": [run.place for run in runs]}, note=note)


@claim("toy2020.theorem_6", Kind.TREND, "Theorem 6", reads=numbers, on=theorem_2_on)
def theorem_6(runs: Sequence[Numbers]) -> Evidence:
    """It reads the same runs as Theorem 2."""
    return evidence({"at least 1": Sides([run.losses[-1] + 5 for run in runs], 1.0, Sense.AT_LEAST)}, conditions())


theorem_9_as_printed = theorem_2.variant(
    "theorem_9_as_printed",
    where="Theorem 9, p. 7",
    statement="For all x in [0, 1], SGD makes at most 300 updates.",
    bound=300.0,
)


@claim("toy2020.proposition_1_2", Kind.CONSTRUCTION, "Proposition 1", draws=nothing)
def proposition_1_2(seed: int) -> Evidence:
    """A construction outside its hypotheses."""
    return evidence({"level": Sides(1.0, 2.0)}, conditions(margin=0.5), note="It was outside.")


@claim("toy2020.theorem_5", Kind.MAIN, "Theorem 5", draws=nothing)
def theorem_5(seed: int) -> Evidence:
    """The test error is at most 3."""
    return evidence({"test error": Sides(0.1, 3.0, trivial=1.0)}, conditions())
