"""How often something fails, the worst of several settings, hypotheses, and what a reader's data must be."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.chatterji2021.cluster_toys import centres, clusters, columns, narrowed, with_entry
from tests.papers.records import altered
from widenet.claims.base import NotApplicable
from widenet.claims.rates import Rate
from widenet.claims.sides import Sides
from widenet.claims.user_data import Choices, UserData
from widenet.data.own import recall_for
from widenet.papers.chatterji2021.claims.good_runs import definition_16
from widenet.papers.chatterji2021.claims.lemma_15_capture import lemma_15_1, lemma_15_2, lemma_15_3, lemma_15_5
from widenet.papers.chatterji2021.claims.lemma_15_first_step import lemma_15_6, lemma_15_7
from widenet.papers.chatterji2021.claims.starts import CONFIRMED, RandomStarts, Seldom, Worst, seldom
from widenet.papers.chatterji2021.claims.whole_clusters import lemma_15_4
from widenet.papers.chatterji2021.cluster_hypotheses import THEOREM_2, one_cluster, opposite, products
from widenet.papers.chatterji2021.runs.first_steps import rows_of, starts_on
from widenet.papers.chatterji2021.user_data import MOST_PAIRED, reason_in_clusters
from widenet.types import Dataset


def rate_of(sides, allowed, setting=0):
    """The rate at which these sides break, one case per run."""
    settings = np.broadcast_to(setting, sides.measured.shape)
    return Seldom(sides.broken, np.full(len(settings), allowed), ~sides.decided, sides=sides, setting=settings).part("")


def test_a_bound_without_sides_tells_nothing():
    assert not Seldom(np.ones(3, bool), 0.1, setting=np.arange(3)).telling.any()


def failing(count, runs, allowed):
    return rate_of(Sides(np.arange(runs) < count, 0.5), allowed)


@pytest.mark.parametrize(
    ("runs", "allowed", "fails"), [(100, 0.1, 16), (100, 0.05, 10), (200, 0.056, 18), (30, 0.02, 3), (100, 7.6e-5, 1)]
)
def test_from_how_many_failures_on_it_is_broken(runs, allowed, fails):
    """The exact counts of the rule: one failure less does not break it."""
    assert failing(fails, runs, allowed).kept is False
    assert failing(fails - 1, runs, allowed).kept is not False


def test_what_no_number_of_runs_confirms():
    """δ = 10⁻²⁰: 59 runs without a failure are enough, 58 are not; a single failure refutes it."""
    assert CONFIRMED == 0.05
    assert [failing(0, runs, 1e-20).kept for runs in (58, 59)] == [None, True]
    assert failing(1, 1000, 1e-20).kept is False
    assert failing(0, 59, 0.0).kept is True
    assert failing(1, 59, 0.0).kept is False


def test_what_is_promised_of_a_tiny_rate_is_said():
    """Runs that exclude 5 % say nothing of 10⁻⁹; so the bound that they keep is not shown as 10⁻⁹."""
    kept, refuted = failing(0, 59, 1e-9), failing(1, 59, 1e-9)
    assert Rate(np.zeros(59, bool), 1e-9).part("").kept is None
    assert (kept.kept, refuted.kept) == (True, False)
    own = Seldom(np.zeros(59, bool), np.full(59, 1e-9), setting=np.zeros(59, int))
    assert own.part("").promised == CONFIRMED
    assert own.clause()["tolerance"] == "δ, or 0.05 where that is more"
    assert Seldom(np.zeros(59, bool), np.full(59, np.nan), setting=np.zeros(59, int)).part("").kept is None


def test_every_such_bound_says_what_it_promises():
    said = [
        (claim.name, clause)
        for claim in (lemma_15_1, lemma_15_2, lemma_15_3, lemma_15_4, lemma_15_5, lemma_15_6, lemma_15_7, definition_16)
        for clause in claim.clauses.values()
        if clause.sense == "rate ≤"
    ]
    assert len(said) == 17
    for name, clause in said:
        assert clause.text.endswith("but for a share $max{δ, 0.05}$ of the starts"), name
        assert str(clause) == "rate ≤ δ, or 0.05 where that is more", name


def test_a_larger_rate_is_confirmed_by_fewer_runs():
    assert failing(0, 20, 0.325).kept is True
    assert failing(0, 20, 0.1).kept is None


def test_runs_that_are_lost_decide_nothing():
    sides = Sides(np.r_[np.zeros(59), np.nan], 0.5)
    assert rate_of(sides, 1e-20).kept is None
    assert rate_of(sides, 0.3).kept is True


def worst(*settings):
    """Settings of 100 runs: the largest number and its limit, what holds anyway, how many fail, and δ."""
    largest, limit, trivial, failed, allowed = (np.repeat(each, 100) for each in zip(*settings, strict=True))
    measured = np.where(np.tile(np.arange(100), len(settings)) < failed, 2 * limit, largest)
    sides = Sides(measured, limit, trivial=trivial)
    setting = np.repeat(np.arange(len(settings)), 100)
    return Worst(sides.broken, allowed, sides=sides, setting=setting).part("x")


KEPT, CLOSE, VACUOUS = (0.1, 1.0, 9.0, 0, 0.1), (0.9, 1.0, 9.0, 0, 0.1), (1.0, 1.0, 0.5, 0, 0.1)
UNKNOWN, BROKEN = (0.5, 1.0, 9.0, 0, 1e-3), (0.5, 1.0, 9.0, 50, 0.1)


def test_the_worst_of_several_settings():
    assert worst(KEPT, CLOSE, VACUOUS).tightness == 0.9
    assert worst(VACUOUS, KEPT).tightness == 0.1
    assert worst(KEPT, UNKNOWN).kept is None
    assert worst(UNKNOWN, BROKEN, KEPT).kept is False
    total = worst(KEPT, UNKNOWN, BROKEN)
    assert (total.name, total.n_cases, total.broken, total.undecided) == ("x", 300, 50, 0)


def test_every_cell_is_looked_at():
    runs = RandomStarts.join([clusters(), centres()])
    seen = seldom(runs, Sides(runs.norm, np.where(runs.n_points == 8, 1e9, 0)), 0.1).part("")
    assert seen.kept is False
    assert seen.n_cases == 120


def met(cells):
    return {each.key: each.measured(each(RandomStarts.join(cells))).met for each in THEOREM_2}


def actual(hypothesis, *cells):
    return hypothesis.measured(hypothesis(RandomStarts.join(cells))).actual


def test_conditions_are_those_of_the_worst_cell():
    assert all(met([clusters(), centres(), clusters("exact")]).values())
    for key, change in {
        "unit_inputs": {"products": with_entry((1, 1), 0.99)},
        "bandwidth": {"bandwidth": 1 / 1999},
        "start": {"deviation": lambda s: 0.9 * s},
        "first_step": {"step": lambda a: 2 * a},
    }.items():
        for order in (1, -1):
            found = met([clusters(), altered(centres(), **change)][::order])
            assert [name for name, each in found.items() if not each] == [key]
    assert met([altered(clusters(), deviation=np.nan)])["start"] is False


def test_beta_up_to_its_ends():
    for beta, positive, below in ((1e-9, True, True), (0.0, False, True), (0.4999, True, True), (0.5, True, False)):
        found = met([altered(clusters(), beta=beta)])
        assert (found["beta_positive"], found["beta_below_half"]) == (positive, below)


@pytest.mark.parametrize(("excess", "inside"), [(5e-13, True), (5e-12, False)])
def test_the_room_of_products(excess, inside):
    cell = altered(clusters(), radius=0.1, overlap=0.2)
    for hypothesis, at, value in (
        (products, (0, 7), -excess),
        (one_cluster, (0, 1), 0.8 - excess),
        (opposite, (0, 5), 0.8 + excess),
    ):
        moved = RandomStarts.join([altered(cell, products=with_entry(at, value))])
        assert hypothesis.measured(hypothesis(moved)).met is inside


def test_exact_numbers_under_the_name_of_section_4_are_noticed():
    assert [key for key, each in met([altered(clusters("exact"), scaling="sec4")]).items() if not each] == [
        "start", "first_step",
    ]  # fmt: skip


def test_products_of_pairs():
    cell = clusters()
    assert actual(products, cell, cell) == cell.products.min()
    assert actual(products, cell, altered(cell, products=with_entry((0, 7), -0.1))) == -0.1
    apart = altered(cell, products=with_entry((0, 1), 0.5))
    assert actual(one_cluster, cell, apart) == pytest.approx(0.5 - 1 + 2 * cell.radius)
    close = altered(cell, products=with_entry((0, 5), 0.9))
    assert actual(opposite, cell, close) == pytest.approx(0.9 - (1 + cell.overlap) / 2 - 2 * cell.radius)
    assert actual(opposite, narrowed(cell, 4)) == -1
    assert actual(one_cluster, altered(cell, products=with_entry((0, 7), -0.1))) >= 0  # pyright: ignore[reportOperatorIssue]
    assert columns(cell).centre_gap == np.inf
    assert columns(centres()).centre_gap < 1e-12


def test_rows_and_runs():
    cells = [clusters(), centres(n_runs=10)]
    assert RandomStarts.join(cells).counts()["tried"] == 70
    first, second = rows_of(cells, norm=lambda cell: cell.dim)["cells"]
    assert (first["points"], second["points"], first["norm"], first["runs"]) == (8, 4, 2, 60)
    assert (first["half_width"], first["beta"], first["imbalance"]) == (2000, 0.45, 0.0)
    assert (first["radius"], first["overlap"]) == (clusters().radius, clusters().overlap)


def user_data(inputs, labels, **choices):
    return UserData(Dataset(jnp.asarray(inputs), jnp.asarray(labels, float)), Choices(**choices))


def circle(n, radius=1.0):
    angles = 2 * np.pi * np.arange(n) / n
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def signs(n):
    return np.where(np.arange(n) % 2, 1.0, -1.0)


def test_how_many_points():
    assert MOST_PAIRED == 100
    for n, speaks in ((3, False), (4, True), (100, True), (101, False)):
        assert (reason_in_clusters(user_data(circle(n), signs(n))) is None) is speaks


def test_how_long_they_may_be():
    for radius, speaks in ((1 + 2e-10, True), (1 - 2e-10, True), (1 + 1e-9, False), (1 - 1e-9, False)):
        assert (reason_in_clusters(user_data(circle(8, radius), signs(8))) is None) is speaks
    said = reason_in_clusters(user_data(circle(8) * np.linspace(1, 2, 8)[:, None], signs(8)))
    assert str(said) == (
        "It is about inputs of norm 1, and this data has norms from 1 to 2. Divide every row by its norm and ask again."
    )
    assert "1 to 3e-08 only. Divide every row by its norm once more, in float64" in str(
        reason_in_clusters(user_data(circle(8, 1 + 3e-8), signs(8)))
    )


def test_which_labels():
    assert "the labels 1." in str(reason_in_clusters(user_data(circle(8), np.ones(8))))
    assert "the labels 0, 1, 2." in str(reason_in_clusters(user_data(circle(9), np.arange(9) % 3)))
    assert "0, 1, 2, 3, 4." in str(reason_in_clusters(user_data(circle(8), np.arange(8))))


def test_settings_on_a_readers_data():
    assert isinstance(starts_on(user_data(circle(3), signs(3))), NotApplicable)
    found = starts_on(user_data(circle(8), signs(8), n_runs=70, seed=5))
    assert not isinstance(found, NotApplicable)
    assert [(each.scaling, each.n_runs, each.half_width, each.beta, each.seed) for each in found.settings] == [
        ("sec4", 70, 1000, 0.45, 5), ("exact", 70, 1000, 0.45, 5),
    ]  # fmt: skip
    few = starts_on(user_data(circle(8), signs(8), n_runs=2))
    assert not isinstance(few, NotApplicable)
    assert few.settings[0].n_runs == 60
    assert recall_for(few.settings[0])
