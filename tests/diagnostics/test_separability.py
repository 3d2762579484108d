import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import from_arrays, load_mnist35, make_separable, with_bias
from widenet.diagnostics import find_separator, separability
from widenet.diagnostics.separability import find_separator_within
from widenet.diagnostics.work import PER_CALL, Work
from widenet.errors import DataError
from widenet.types import Dataset


def data(inputs, labels):
    return Dataset(jnp.asarray(inputs, float), jnp.asarray(labels, float))


def points_at_margin(smallest_margin, dim=4, n_samples=60, seed=0):
    """Points of length 1 whose margins along a random direction start at this one."""
    random = np.random.default_rng(seed)
    direction = np.eye(dim)[0]
    margins = np.append(smallest_margin, random.uniform(smallest_margin, 2 * smallest_margin, n_samples - 1))
    across = random.normal(size=(n_samples, dim - 1))
    across *= np.sqrt(1 - margins**2)[:, None] / np.linalg.norm(across, axis=1, keepdims=True)
    signs = random.choice([-1.0, 1.0], n_samples)
    turn, _ = np.linalg.qr(random.normal(size=(dim, dim)))
    return data(signs[:, None] * np.column_stack([margins, across]) @ turn, signs), turn.T @ direction


def assert_certified(found, dataset):
    """The certificate is worth what it says, by arithmetic of this test alone."""
    signed = np.asarray(dataset.labels)[:, None] * np.asarray(dataset.inputs, float)
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    assert np.linalg.norm(found.weights @ signed) <= found.residual
    assert found.norm_lower == pytest.approx(1 / found.residual if found.residual else np.inf)
    if found.separable:
        assert (signed @ found.separator).min() >= 1
        assert np.linalg.norm(found.separator) == pytest.approx(found.norm_upper, rel=1e-12)
        assert found.norm_lower <= found.norm_upper * (1 + 1e-12)
        assert found.margin == 1 / found.norm_upper
    else:
        assert found.separator is None
        assert found.norm_upper == np.inf
        assert found.margin == 0


@pytest.mark.parametrize(("dim", "n_samples"), [(1, 5), (10, 4000)])
def test_known_separator_is_inside_the_certificate(dim, n_samples):
    distribution = make_separable(jax.random.key(dim), dim, 8.0, 0.3)
    dataset = distribution.sample(jax.random.key(1), n_samples)
    found = find_separator(dataset)
    assert found.separable
    assert_certified(found, dataset)
    assert found.norm_lower <= 8
    assert found.norm_upper == pytest.approx(found.norm_lower, rel=1e-9)
    assert "separable through the origin: a certified separator has norm" in found.sentence


def test_the_basis_needs_exactly_the_root_of_its_dimension():
    found = find_separator(Dataset(jnp.eye(9), jnp.ones(9)))
    assert found.norm_upper == pytest.approx(3, rel=1e-12)
    assert found.norm_lower == pytest.approx(3, rel=1e-12)
    assert found.separator == pytest.approx(np.ones(9), rel=1e-12)


@pytest.mark.parametrize(("margin", "gap"), [(1e-3, 1e-8), (1e-6, 1e-2)])
def test_barely_separable(margin, gap):
    dataset, _ = points_at_margin(margin)
    found = find_separator(dataset)
    assert found.separable
    assert_certified(found, dataset)
    # The direction used to build the points has this margin, so the best one has at least it.
    assert found.norm_lower <= 1 / margin
    assert found.norm_upper <= found.norm_lower * (1 + gap)


@pytest.mark.parametrize("margin", [1e-9, 1e-11])
def test_never_wrong_at_the_edge_of_float64(margin):
    dataset, _ = points_at_margin(margin)
    found = find_separator(dataset)
    assert found.separable in (True, None)
    assert_certified(found, dataset)


def test_working_set_grows_to_the_same_answer(monkeypatch):
    dataset, _ = points_at_margin(0.05, n_samples=600)
    at_once = find_separator(dataset)
    monkeypatch.setattr(separability, "WORKING_SET", 7)
    in_pieces = find_separator(dataset)
    assert_certified(in_pieces, dataset)
    assert in_pieces.norm_upper == pytest.approx(at_once.norm_upper, rel=1e-9)


@pytest.mark.parametrize("size", [1e-100, 1e-5, 1e100])
def test_units_do_not_matter(size):
    dataset, _ = points_at_margin(0.1)
    reference = find_separator(dataset)
    scaled = data(dataset.inputs * size, dataset.labels)
    found = find_separator(scaled)
    assert_certified(found, scaled)
    assert found.norm_upper * size == pytest.approx(reference.norm_upper, rel=1e-9)


@pytest.mark.parametrize(
    ("inputs", "labels", "in_the_proof"),
    [
        ([[1.0, 2.0], [1.0, 2.0], [3.0, 0.0]], [1, -1, 1], {0, 1}),
        ([[1.0, 2.0], [-1.0, -2.0], [3.0, 0.0]], [1, 1, 1], {0, 1}),
        ([[0.0, 0.0], [3.0, 0.0]], [1, 1], {0}),
        ([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], [1, 1, 1], {0, 1, 2}),
        ([[2.0, 4.0], [1e-6, 2e-6]], [1, -1], {0, 1}),
    ],
    ids=["contradiction", "antipodal, same label", "a point at 0", "triangle around 0", "very unequal lengths"],
)
def test_what_cannot_be_separated_comes_with_a_proof(inputs, labels, in_the_proof):
    dataset = data(inputs, labels)
    found = find_separator(dataset)
    assert found.separable is False
    assert_certified(found, dataset)
    assert found.residual <= 1e-14
    assert set(np.flatnonzero(found.weights).tolist()) == in_the_proof
    assert found.sentence.startswith("not separable through the origin")
    assert f": a weighted mean of {len(in_the_proof)} signed" in found.sentence


def test_antipodal_points_with_opposite_labels_are_separable():
    found = find_separator(data([[0.6, 0.8], [-0.6, -0.8]], [1, -1]))
    assert found.separable
    assert found.separator == pytest.approx([0.6, 0.8], rel=1e-12)


def test_random_labels_on_many_points_are_refuted():
    random = np.random.default_rng(0)
    dataset = data(random.normal(size=(3000, 20)), random.choice([-1, 1], 3000))
    found = find_separator(dataset)
    assert found.separable is False
    assert_certified(found, dataset)
    assert np.count_nonzero(found.weights) <= 21


def test_a_bias_can_be_what_is_missing():
    dataset = from_arrays([[0.1], [0.2], [0.6], [0.9]], [-1, -1, 1, 1])
    assert find_separator(dataset).separable is False
    assert find_separator(with_bias(dataset)).separable is True


def test_float32_is_judged_in_float64():
    inputs = np.array([[0.1, 0.2], [-0.3, 0.1]], np.float32)
    dataset = from_arrays(inputs, [1, -1], dtype=np.float32)
    found = find_separator(dataset)
    assert_certified(found, dataset)


def test_linear_program_gives_the_same_answers(monkeypatch):
    """The second opinion, alone."""

    def nothing(rows, work):
        return np.zeros(rows.shape[1]), np.zeros(len(rows))

    separable, _ = points_at_margin(0.05)
    contradictory = data([[1.0, 2.0], [1.0, 2.0], [3.0, 0.0]], [1, -1, 1])
    monkeypatch.setattr(separability, "_least_distance", nothing)
    found = find_separator(separable)
    assert found.separable
    assert_certified(found, separable)
    refuted = find_separator(contradictory)
    assert refuted.separable is False
    assert_certified(refuted, contradictory)


def test_control_a_solver_that_lies_is_not_believed(monkeypatch):
    """Neither a vector that does not separate nor weights that do not cancel prove anything."""

    def lie(rows, work):
        return np.ones(rows.shape[1]), np.ones(len(rows))

    monkeypatch.setattr(separability, "_least_distance", lie)
    monkeypatch.setattr(separability, "_linear_program", lie)
    dataset, _ = points_at_margin(0.05)
    found = find_separator(dataset)
    assert found.separable is None
    assert_certified(found, dataset)
    assert found.sentence.startswith("undecided")


def test_numbers_from_both_ends_of_the_range_are_refused():
    with pytest.raises(DataError, match="150 orders of magnitude"):
        find_separator(data([[1e200], [1e-200]], [1, 1]))


@pytest.mark.parametrize(("second", "labels"), [(np.nan, (1, -1)), (2.0, (0, 1))])
def test_unchecked_data_is_refused(second, labels):
    with pytest.raises(DataError, match="from_arrays"):
        find_separator(data([[1.0], [second]], labels))


def test_mnist_3_against_5_is_separable():
    """The hypothesis of brutzkus2018's experiment: 3000 training images, separable through the origin."""
    train, _ = load_mnist35()
    found = find_separator(train)
    assert found.separable
    assert_certified(found, train)
    assert 311 < found.norm_lower <= found.norm_upper < 312


@pytest.mark.parametrize("tiny", [1e-155, 1e-163, 1e-300])
def test_entries_that_would_vanish_when_squared_are_refused(tiny):
    with pytest.raises(DataError, match="150 orders of magnitude"):
        find_separator(data([[1.0, 0.0], [0.0, tiny]], [1, 1]))


def test_numbers_at_the_edge_of_float64_get_a_sentence_or_an_answer():
    with pytest.raises(DataError, match="separator overflows"):
        find_separator(data([[1e-310]], [1]))
    with pytest.raises(DataError, match="150 orders of magnitude"):
        find_separator(data([[1.7e308, 1.0], [1e308, 2.0]], [1, 1]))


def test_a_margin_beyond_float64_is_not_called_impossible():
    points = [[-0.8457692060365238, -0.5335489200816997], [-0.8457692060365345, -0.5335489200816829]]
    found = find_separator(data(points, [1, -1]))
    assert found.separable is not True
    assert "by any vector of norm below" in found.sentence


def test_the_vector_says_whether_there_is_none_or_it_is_not_known():
    found = find_separator(data([[0.5, 0.0], [0.1, 0.2]], [1, 1]))
    assert found.vector(2) is found.separator
    none = find_separator(data([[0.5, 0.0], [-0.5, 0.0]], [1, 1]))
    assert none.separable is False
    assert none.vector(2).tolist() == [0, 0]
    unknown = find_separator(data([[0.5, 0.0], [-0.5, 1e-11]], [1, 1]))
    assert unknown.separable is None
    assert np.isnan(unknown.vector(2)).all()
    assert unknown.vector(2).shape == (2,)


EPSILON = 2.0**-52


def judge(rows, candidate=(0.0, 0.0), weights=(0.5, 0.5)):
    """What two vectors prove."""
    return separability._judge(np.array(rows, float), np.array(candidate, float), np.array(weights, float))


def test_the_residual_counts_what_rounding_can_hide():
    """Two points that cancel: of length 0, known up to 4ε, and so is the shortest separator, at 1/(4ε) or above."""
    found = judge([[1, 0], [-1, 0]])
    assert found.residual == 4 * EPSILON
    assert found.norm_lower == 1 / (4 * EPSILON)
    three = judge([[1, 0], [-0.5, 1], [-0.5, -1]], weights=(0.5, 0.5, 0.5))
    assert three.weights == pytest.approx([1 / 3] * 3)
    assert three.residual == pytest.approx(5 * EPSILON * np.hypot(2 / 3, 2 / 3), rel=1e-12, abs=EPSILON / 2)


@pytest.mark.parametrize(("steps", "separable"), [(7.5, None), (8.5, True)])
def test_a_margin_counts_from_where_rounding_cannot_make_it(steps, separable):
    """⟨(1, −1), (1, 1 − δ)⟩ = δ, known up to 4ε·2: from δ = 8ε on it is sure to be positive."""
    found = judge([[1, 1 - steps * EPSILON]], (1, -1), (1,))
    assert found.separable is separable
    # With d = 1/√2, d·(1 − δ) lies below 1, so it is rounded by at most ε/4, or not at all where a product and a sum
    # are fused: the sure margin is √½·(δ − 8ε) up to that.
    smallest = np.sqrt(0.5) * (steps - 8) * EPSILON
    if separable:
        assert 1 / (smallest + 0.3 * EPSILON) <= found.norm_upper <= 1 / (smallest - 0.3 * EPSILON)
    else:
        assert smallest + 0.3 * EPSILON <= 0
        assert found.norm_upper == np.inf


def test_a_margin_is_shortened_by_what_rounding_can_do():
    """At δ = 1000ε a rounding of ε/4 is 0.04 %, and the 8ε that are taken off are 0.8 %."""
    found = judge([[1, 1 - 1000 * EPSILON]], (1, -1), (1,))
    assert found.norm_upper == pytest.approx(np.sqrt(2) / (992 * EPSILON), rel=5e-4)


@pytest.mark.parametrize(("gap", "separable"), [(1.9e-12, False), (2.1e-12, None)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_mean_counts_as_zero_from_a_trillionth_of_its_points(gap, separable, size):
    assert judge([[size, 0], [-size, size * gap]]).separable is separable


def test_weights_that_are_noise_are_left_out_of_the_proof():
    assert judge([[1, 0], [-1, 0]], weights=(1, 0.9 * EPSILON)).weights.tolist() == [1, 0]
    assert judge([[1, 0], [-1, 0]], weights=(1, EPSILON)).weights.tolist() == [1, 0]
    assert judge([[1, 0], [-1, 0]], weights=(1, 1.1 * EPSILON)).weights[1] > 0
    assert judge([[1, 0], [-1, 0]], weights=(3, 1)).weights.tolist() == [0.75, 0.25]
    assert judge([[1, 0], [-1, 0]], weights=(0, 0)).weights.tolist() == [0.5, 0.5]


def test_of_two_answers_the_one_that_decides_and_then_the_stronger():
    decided, weak = judge([[1, 0], [-1, 0]]), judge([[1, 0], [-1, 1e-3]])
    strong = judge([[1, 0], [-1, 1e-6]])
    assert (decided.separable, weak.separable, strong.separable) == (False, None, None)
    assert separability._better(weak, decided) is decided
    assert separability._better(weak, strong) is strong
    assert separability._better(strong, weak) is strong
    assert separability._better(weak, dataclasses.replace(weak)) is weak
    loose = dataclasses.replace(decided, norm_lower=1.0)
    assert separability._better(strong, loose) is loose


def test_the_certificate_is_in_the_units_of_the_data():
    for size in (2.0**-20, 1.0, 3.0, 2.0**20):
        found = find_separator(data([[size, 0], [size, 0]], [1, 1]))
        assert found.norm_upper == pytest.approx(1 / size, rel=1e-12)
        assert found.norm_lower == pytest.approx(1 / size, rel=1e-12)
        assert found.residual == pytest.approx(size, rel=1e-12)
        assert found.margin == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize(
    ("smallest", "refused"), [(0.51e-150, False), (0.5e-150, False), (0.49e-150, True), (0.0, False)]
)
def test_the_range_of_entries_ends_at_150_orders_of_magnitude(smallest, refused):
    dataset = data([[0.75, smallest]], [1])
    if refused:
        with pytest.raises(DataError, match="150 orders"):
            find_separator(dataset)
    else:
        assert find_separator(dataset).separable


def test_one_data_set_with_a_point_is_asked_for():
    for inputs in (np.zeros((0, 2)), np.zeros((2, 3, 2))):
        with pytest.raises(DataError, match="one data set with at least one point"):
            find_separator(Dataset(jnp.asarray(inputs), jnp.ones(inputs.shape[:-1])))


@pytest.mark.parametrize("exponent", np.linspace(-9, -1, 17))
def test_a_narrow_margin_is_found_to_five_digits(exponent):
    """With a norm of some 1e6 the solver stops early, and the points of its proof give the rest."""
    margin = 10.0**exponent
    inputs = np.array([(margin, 1.0), (-margin, 1.0), (1.0, 0.0), (-1.0, -0.3)])
    found = find_separator(from_arrays(inputs, [1, -1, 1, -1]))
    assert found.margin == pytest.approx(margin, rel=2e-5)
    assert found.norm_lower <= 1 / margin * (1 + 1e-12)


def test_a_search_that_runs_out_of_time_decides_nothing_it_did_not_check(monkeypatch):
    """Points on a circle, seven at a time: the first round sees too few of them to separate the rest."""
    monkeypatch.setattr(separability, "WORKING_SET", 7)
    angles = np.linspace(-1.5, 1.5, 200)
    dataset = data(np.column_stack([np.cos(angles), np.sin(angles) + 3 * np.sin(40 * angles)]), np.ones(200))
    late, found = find_separator(dataset, seconds=0.0), find_separator(dataset)
    assert found.separable is not None
    assert not found.is_truncated
    assert late.separable is None
    assert late.is_truncated
    assert late.norm_lower <= found.norm_upper


def on_a_circle(contradicts: bool):
    """Points that take several rounds, seven at a time; the last one may be the mirror image of the first."""
    angles = np.linspace(-1.5, 1.5, 200)
    points = np.column_stack([np.cos(angles), np.sin(angles) + 3 * np.sin(40 * angles)])
    if contradicts:
        points[-1] = -points[0]
    else:
        points[:, 0] += 4
    return data(points, np.ones(200))


@pytest.mark.parametrize("contradicts", [True, False])
@pytest.mark.parametrize("products", [0.0, 1e3, 5e4, 1.2e5, 2e5, 4e5, 1e6, 1e10])
def test_a_search_that_runs_out_of_work_decides_nothing_it_did_not_check(monkeypatch, contradicts, products):
    monkeypatch.setattr(separability, "WORKING_SET", 7)
    dataset = on_a_circle(contradicts)
    found = find_separator_within(dataset, Work(products))
    assert_certified(found, dataset)
    assert found.separable in (None, not contradicts)
    assert found.is_truncated is (found.separable is None)
    if products in (0.0, 1e10):
        assert (found.separable is None) is (products == 0.0)


def alone(monkeypatch):
    """The linear program, without what usually comes before it."""

    def nothing(rows, work):
        return np.zeros(rows.shape[1]), np.zeros(len(rows))

    monkeypatch.setattr(separability, "_least_distance", nothing)


@pytest.mark.parametrize("iterations", [4, 5])
def test_a_linear_program_that_runs_out_of_iterations_decides_nothing(monkeypatch, iterations):
    alone(monkeypatch)
    dataset, _ = points_at_margin(0.05, dim=4)
    size = dataset.inputs.size
    enough = PER_CALL + (separability.BEGINNING + iterations * separability.ITERATION) * size
    programs = []
    solve = separability.scipy.optimize.linprog
    monkeypatch.setattr(
        separability.scipy.optimize, "linprog", lambda *args, **named: programs.append(named) or solve(*args, **named)
    )
    found = find_separator_within(dataset, Work(enough))
    assert [each["options"] for each in programs] == [{"maxiter": iterations}]
    assert (found.separable, found.is_truncated) == (None, True)
    assert find_separator_within(dataset, Work()).separable


def test_a_linear_program_that_could_not_end_is_not_begun(monkeypatch):
    alone(monkeypatch)
    monkeypatch.setattr(separability.scipy.optimize, "linprog", None)
    dataset, _ = points_at_margin(0.05, dim=4)
    few = PER_CALL + (separability.BEGINNING + 3 * separability.ITERATION) * dataset.inputs.size
    found = find_separator_within(dataset, Work(few))
    assert (found.separable, found.is_truncated) == (None, True)


def test_searches_share_their_work():
    dataset, _ = points_at_margin(0.05)
    work = Work(1e6)
    answers = [find_separator_within(dataset, work).separable for _ in range(20)]
    assert answers[0] is True
    assert answers[-1] is None
    assert answers == sorted(answers, key=lambda each: each is None)
    assert find_separator(dataset).separable  # which has work of its own
