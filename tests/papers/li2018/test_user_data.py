"""What is said about a user's rows and choices: how rows were prepared, and which choices were not followed."""

import numpy as np
import pytest

from tests.thresholds import asked, found, hypothesis_of
from widenet import papers
from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.base import Evidence, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.li2018.sources import TOY, merged, prepare
from widenet.papers.li2018.user_data import DIVIDED

SAID = (
    "Your 8 rows were prepared first: 1 zero row dropped; every row divided by its norm (0.5 to 3); 1 duplicate "
    "(same direction and label) merged. 6 points remain."
)
TOYS = TOY.draw(5)
ROWS = np.concatenate([3 * TOYS.points, np.zeros((1, 20)), 0.5 * TOYS.points[:1]])
LABELS = [*TOYS.classes.tolist(), 0, int(TOYS.classes[0])]

OWN = UserData(from_arrays(ROWS, LABELS))
SPEAKING = [
    "li2018.theorem_4_1_obstruction",
    *(each.id for each in papers.claims_of("li2018") if isinstance(each.on(OWN), Applied)),
]
SMALL = {"max_updates": 200, "n_runs": 1}


def test_every_claim_that_applies_to_data_tells_how_it_was_prepared():
    assert not [each for each in papers.claims_of("li2018") if not isinstance(each.on(OWN), Applied | NotApplicable)]
    assert {id.split(".")[1] for id in SPEAKING} == {
        "assumption_a1",
        "cross_class_sine",
        "equation_1",
        "equation_3",
        "lemma_5_1",
        "lemma_5_2",
        "lemma_a_1_gradient",
        "lemma_a_1_move",
        "lemma_a_1_size",
        "lemma_a_2",
        "lemma_a_2_sharp",
        "lemma_a_3_sum",
        "lemma_a_4",
        "lemma_a_4_step",
        "lemma_b_1",
        "lemma_b_2",
        "lemma_b_4_loss",
        "pseudo_gradient",
        "section_5_observation",
        "section_5_pseudo_network",
        "section_5_residuals",
        "section_6_rank",
        "theorem_4_1",
        "theorem_4_1_margin",
        "theorem_4_1_markov",
        "theorem_4_1_obstruction",
        "theorem_4_1_reduction",
        "theorem_4_1_start",
    }
    silent = {"lemma_b_3", "lemma_b_4", "lemma_b_4_batches", "lemma_b_4_coupled", "section_4_width_free"}
    for name in sorted(silent):
        assert not isinstance(asked(f"li2018.{name}", TOYS.points, TOYS.classes.tolist()), Evidence)


@pytest.mark.parametrize("id", [id for id in SPEAKING if not id.endswith("_obstruction")])
def test_what_was_done_to_rows_is_said(id):
    evidence = found(id, ROWS, LABELS, **SMALL)
    assert SAID in evidence.note
    for each in evidence.hypotheses:
        assert each.normalization == (DIVIDED if each.key == "unit_norm" else "")
        assert each.met
    same = found(id, TOYS.points, TOYS.classes.tolist(), **SMALL)
    assert "prepared" not in same.note
    assert not any(each.normalization for each in same.hypotheses)


def test_the_obstruction_tells_it_too():
    hexagon = np.array([[1, 0], [-1, 2], [-1, -2], [-1, 0], [1, -2], [1, 2]], float)
    evidence = found(
        "li2018.theorem_4_1_obstruction", np.concatenate([hexagon, hexagon[:2]]), [-1, -1, -1, 1, 1, 1, -1, -1]
    )
    assert "2 duplicates (same direction and label) merged. 6 points remain." in evidence.note


def test_counts_and_factors():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0], [0.0, 0.25], [0.0, 0.0]])
    sample, done = prepare(UserData(from_arrays(rows, [-1, -1, -1, 1, 1])).digest)
    assert (done.n_rows, done.n_zero, done.n_points, done.n_merged, done.least, done.most) == (5, 2, 2, 1, 0.25, 10.0)
    assert "2 zero rows dropped; every row divided by its norm (0.25 to 10); 1 duplicate " in done.sentence
    assert sorted(sample.shares) == pytest.approx([1 / 3, 2 / 3])
    as_they_are = prepare(UserData(from_arrays(np.eye(2), [-1, 1])).digest)[1]
    assert as_they_are.sentence == ""
    longer = prepare(UserData(from_arrays(np.diag([1.0, 1 + 1e-9]), [-1, 1])).digest)[1]
    shorter = prepare(UserData(from_arrays(np.diag([1 - 1e-9, 1.0]), [-1, 1])).digest)[1]
    assert longer.rescales
    assert shorter.rescales


def test_rows_of_one_direction_are_one_point_whatever_their_length():
    """1/3 of a row and the row itself differ in the last bit after division by their norms."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(50, 7))
    lengths = draw.uniform(0.1, 10, 50)[:, None]
    kept, counts = merged(
        np.concatenate([each / np.linalg.norm(each, axis=1)[:, None] for each in (rows, lengths * rows)])
    )
    assert len(kept) == 50
    assert counts.tolist() == [2] * 50
    apart = np.array([[1.0, 0.0], [1.0, 1e-13], [1.0, 1e-15]])
    assert merged(apart)[1].tolist() == [2, 1]


def test_one_direction_in_two_classes_is_no_distance():
    """Up to rounding it is 0, so it is not met, or open; it must not be met."""
    draw = np.random.default_rng(1)
    for sign, key in ((1, "distance"), (-1, "opposite_distance")):
        for _ in range(10):
            row = draw.normal(size=3)
            rows = np.stack([row, sign * row * draw.uniform(0.1, 10), np.cross(row, [1, 0, 0])])
            evidence = found("li2018.assumption_a1", rows, [-1, 1, -1])
            assert not hypothesis_of(evidence, key).met
            assert evidence.verdict in (Verdict.HYPOTHESES_NOT_MET, Verdict.INSUFFICIENT_EVIDENCE)


def test_runs_and_updates_that_are_followed():
    """n_runs and max_updates reach the settings, as far as the note says."""
    user_data = UserData(from_arrays(TOYS.points, TOYS.classes), Choices(n_runs=30, max_updates=7, seed=5))
    for name, count in (("theorem_4_1", 20), ("lemma_5_1", 3)):
        settings = papers.find_claim(f"li2018.{name}").on(user_data).settings
        assert len(settings) == count
        assert {each.n_steps for each in settings} == {7}
        assert settings[0].seed == 5
    note = found("li2018.theorem_4_1", TOYS.points, TOYS.classes.tolist(), n_runs=30, max_updates=7).note
    assert "n_runs = 30 (at most 20)" in note
    assert "max_updates" not in note
    assert "drawn from these points with replacement" in note


@pytest.mark.parametrize(
    "name",
    ["equation_1", "lemma_a_1_gradient", "lemma_a_1_size", "lemma_a_2", "theorem_4_1_start", "theorem_4_1_markov"],
)
def test_the_seed_is_followed(name):
    def numbers(seed):
        parts = found(f"li2018.{name}", TOYS.points, TOYS.classes.tolist(), seed=seed).parts
        return [(part.sides, part.broken) for part in parts]

    assert numbers(0) != numbers(1)
    assert numbers(0) == numbers(0)


def test_two_neurons_that_are_off_at_every_point_fail_nothing():
    """Outputs and their bound are both 0 there."""
    answer = asked("li2018.theorem_4_1", TOYS.points, TOYS.classes.tolist(), n_neurons=2, n_runs=20)
    assert isinstance(answer, Evidence)
    assert [each["width"] for each in answer.settings] == [2] * 20
