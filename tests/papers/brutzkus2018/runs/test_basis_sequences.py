"""Families of basis sequences come back from their counts as they were."""

import dataclasses
from fractions import Fraction

from widenet.papers.brutzkus2018.runs.basis_sequences import (
    BasisFamily,
    SequenceSetting,
    basis_sequences,
    count,
    equation_6_grid,
    equation_6_settings,
    gap_settings,
    large_step_sequences,
    random_sequences,
    random_settings,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.run.records import decode, encode


def test_the_record_gives_back_the_runs_and_their_counts():
    for runs in (random_sequences(1, 20), large_step_sequences(), equation_6_grid(1)):
        counted = count(runs)
        assert counted.sequences == runs
        assert counted.updates.tolist() == [run.updates() for run in runs]
        assert counted.mistakes.tolist() == [run.mistakes() for run in runs]


def test_counts_come_back_from_their_cell():
    counted = count(large_step_sequences())
    assert decode(basis_sequences.result_type, *encode(counted)).sequences == counted.sequences


def test_families():
    """Every other random run has round parameters; all others are under Eq. 6."""
    assert all(run.slope.denominator <= 10 for run in random_sequences(0, 20)[1::2])
    under = [*equation_6_grid(2), *large_step_sequences()]
    assert {(run.gain, run.radius) for run in under} == {(Fraction(1, 2), Fraction(1))}
    for family, runs in (
        (BasisFamily.RANDOM, random_sequences(3, 2)),
        (BasisFamily.EQUATION_6, equation_6_grid(2)),
        (BasisFamily.LARGE_STEPS, large_step_sequences()),
    ):
        setting = SequenceSetting(family=family, size=2, seed=3)
        assert basis_sequences.run(setting, silent).sequences == runs


def test_claims_that_need_the_same_runs_have_the_same_settings():
    for scale in Scale:
        assert random_settings(scale, 5)[0] in gap_settings(scale, 5)
        assert equation_6_settings(scale, 5) == equation_6_settings(scale, 6)


def test_the_start_of_a_run_is_measured():
    run = random_sequences(0, 1)[0]
    assert run.start_distance == 0
    assert dataclasses.replace(run, minus=run.minus + Fraction(1, 10**6)).start_distance == Fraction(1, 10**6)
    assert dataclasses.replace(run, plus=run.minus, minus=run.plus).start_distance == 2 * run.minus
