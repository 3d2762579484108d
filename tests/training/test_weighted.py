"""Weighted samples: a weight is a number of rows, in epochs that stay short and steps that stay small."""

import numpy as np

from widenet.training.weighted import MOST_VISITS, WeightedSamples, distinct


def drawn(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    return draws.normal(size=(n_rows, 2)), draws.integers(3, size=n_rows), draws.integers(5, size=n_rows).astype(float)


def of(*totals: float) -> WeightedSamples:
    return WeightedSamples(np.zeros((len(totals), 1)), np.zeros(len(totals), int), np.array(totals))


def test_a_weight_of_two_is_two_rows_and_a_weight_of_zero_none() -> None:
    inputs, labels, weights = drawn(20)
    times = weights.astype(int)
    shuffled = np.random.default_rng(1).permutation(20)
    weighted = distinct(inputs[shuffled], labels[shuffled], weights[shuffled])
    repeated = distinct(inputs.repeat(times, axis=0), labels.repeat(times), np.ones(times.sum()))
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(weighted.totals) == (weights > 0).sum()
    assert weighted.totals.sum() == weights.sum()


def test_every_row_keeps_its_label_and_its_weight() -> None:
    inputs, labels, weights = drawn(20)
    found = distinct(inputs, labels, weights)
    known = {
        (*point, label, weight) for point, label, weight in zip(inputs.tolist(), labels, weights, strict=True) if weight
    }
    assert {
        (*point, label, weight) for point, label, weight in zip(found.inputs.tolist(), *found[1:], strict=True)
    } == known


def test_equal_points_of_two_labels_stay_apart_and_minus_zero_is_zero() -> None:
    found = distinct(np.array([[0.0], [-0.0], [0.0]]), np.array([0, 0, 1]), np.ones(3))
    assert sorted(zip(found.labels.tolist(), found.totals.tolist(), strict=True)) == [(0, 2.0), (1, 1.0)]


def test_whole_weights_are_visits() -> None:
    samples = of(1, 3, 2)
    np.testing.assert_array_equal(samples.visits, [1, 3, 2])
    np.testing.assert_array_equal(samples.step_weights, np.ones(3))


def test_no_step_is_longer_than_the_step_size_and_shares_are_those_of_the_weights() -> None:
    for samples in (of(1, 1.5, 0.2), of(1e6, 3e6, 1.0), of(1e-7, 1e-3), of(0.505, 50.5), of(*[1.0] * 9, 1000.0)):
        weights, visits = samples.step_weights, samples.visits
        assert weights.max() <= 1 + 1e-8
        np.testing.assert_allclose(weights * visits / (weights @ visits), samples.totals / samples.totals.sum())
        assert visits.sum() <= (MOST_VISITS + 1) * len(visits)


def test_small_weights_do_not_make_small_steps() -> None:
    np.testing.assert_allclose(of(0.01, 0.01).step_weights, 1)
    np.testing.assert_array_equal(of(0.01, 0.01).visits, 1)
    np.testing.assert_array_equal(of(0.01, 0.03).visits, [1, 2])
