import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import count_sets, make_xord
from widenet.data.xord import (
    PATTERN_SETS,
    PATTERNS,
    SET_LABELS,
    from_set_probabilities,
    pattern_set,
    set_index,
    set_points,
)
from widenet.errors import DataError
from widenet.networks import make_conv_maxpool
from widenet.types import Dataset

KEY = jax.random.key(4)


def label(point):
    """f*, read off the patches."""
    return 1.0 if any(one == other for one, other in point.reshape(-1, 2)) else -1.0


def all_points(n_patches):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=2 * n_patches)))


def test_labels_are_f_star_and_sets_are_what_the_points_hold():
    data = make_xord(n_patches=6).sample(KEY, 300)
    np.testing.assert_array_equal(data.labels, [label(point) for point in np.asarray(data.inputs)])
    for point, held in zip(np.asarray(data.inputs), np.asarray(pattern_set(data.inputs)), strict=True):
        present = {tuple(patch) for patch in point.reshape(-1, 2)}
        assert [tuple(pattern) in present for pattern in PATTERNS] == held.tolist()


def test_the_law_of_the_sets_is_the_one_asked_for():
    n_samples = 20_000
    law = make_xord(n_patches=4, diverse_positive=0.3, diverse_negative=0.6)
    measured = np.asarray(count_sets(law.sample(KEY, n_samples))) / n_samples
    expected = np.asarray(law.probabilities)
    assert expected.sum() == pytest.approx(1)
    assert expected[[14, 9, 1, 7]] == pytest.approx([0.15, 0.3, 0.1, 0.1])
    assert expected[0] == pytest.approx(0.35 / 11)
    assert (np.abs(measured - expected) < 4 * np.sqrt(expected / n_samples)).all()


def test_the_points_of_a_set_are_shuffled():
    law = make_xord(5, 0.0, 0.0, non_diverse=((1, 2), (4,)))
    patches = np.asarray(law.sample_balanced(KEY, 4000).inputs)[:4000].reshape(4000, 5, 2)
    at_place = (patches == PATTERNS[0]).all(axis=2).mean(axis=0)
    # Every place holds p₁ as often as p₂.
    assert np.abs(at_place - 0.5).max() < 4 * 0.5 / np.sqrt(4000)


def test_balanced_draws_have_both_classes_in_order():
    data = make_xord().sample_balanced(KEY, 6)
    np.testing.assert_array_equal(data.labels, np.repeat([1.0, -1.0], 6))
    counts = np.asarray(count_sets(data))
    assert counts[SET_LABELS > 0].sum() == counts[SET_LABELS < 0].sum() == 6


def test_a_balanced_draw_does_not_depend_on_its_batch_mates():
    keys = jax.random.split(KEY, 7)
    law = make_xord()
    together = jax.jit(jax.vmap(lambda key: law.sample_balanced(key, 6)))(keys)
    for run in range(7):
        np.testing.assert_array_equal(together.inputs[run], law.sample_balanced(keys[run], 6).inputs)


def test_xor_is_the_four_points():
    data = make_xord(1, 0.0, 0.0).sample(KEY, 200)
    assert data.dim == 2
    assert len(np.unique(data.inputs, axis=0)) == 4
    np.testing.assert_array_equal(data.labels, data.inputs[:, 0] * data.inputs[:, 1])


@pytest.mark.parametrize("n_patches", [1, 2, 4])
def test_exact_error_is_that_of_all_points(n_patches):
    """The law that is uniform on all 4^d points, and networks that are wrong on some of them."""
    points = all_points(n_patches)
    data = Dataset(jnp.asarray(points), jnp.asarray([label(point) for point in points]))
    law = from_set_probabilities(np.asarray(count_sets(data)) / len(points), n_patches)
    for seed in range(5):
        network = make_conv_maxpool(jax.random.key(seed), 6, 1.0)
        wrong = np.asarray(jax.vmap(network)(data.inputs) * data.labels <= 0).mean()
        outputs = jax.vmap(network)(set_points().inputs)
        assert float(law.error(outputs)) == pytest.approx(wrong, abs=1e-14)


def test_an_output_of_zero_is_wrong_for_both_labels():
    law = make_xord()
    assert float(law.error(jnp.zeros(15))) == pytest.approx(1)
    right = jnp.asarray(SET_LABELS)
    assert float(law.error(right)) == 0
    one_zero = right.at[set_index(2)].set(0.0)
    assert float(law.error(one_zero)) == pytest.approx(0.025)


def test_sets_are_numbered_by_their_patterns():
    assert [set_index(*(int(place) + 1 for place in np.flatnonzero(row))) for row in PATTERN_SETS] == list(range(15))
    np.testing.assert_array_equal(count_sets(set_points()), np.ones(15))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0,), "n_patches must be at least 1, got 0"),
        ((4, 1.5), "diverse_positive must lie between 0 and 1, got 1.5"),
        ((4, 0.5, float("nan")), "diverse_negative must lie between 0 and 1, got nan"),
        ((3, 0.5, 0.5), r"\(1, 2, 3, 4\) does not fit into n_patches = 3; use at least 4"),
        ((4, 0.5, 0.5, ((1, 3),)), r"lists no set with label -1, but 0.5 of them"),
        ((4, 0.5, 0.5, ((2, 4),)), "must not list the diverse sets"),
        ((4, 0.5, 0.5, ((5,),)), r"one or more of the patterns 1, 2, 3 and 4, got \(5,\)"),
    ],
)
def test_impossible_laws_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_xord(*arguments)


def test_points_that_are_not_xord_are_refused():
    data = make_xord().sample(KEY, 5)
    with pytest.raises(DataError, match=r"are -1 or \+1, got 2"):
        count_sets(Dataset(data.inputs.at[0, 0].set(2.0), data.labels))
    with pytest.raises(DataError, match="5 of 5 labels are not those of XORD"):
        count_sets(Dataset(data.inputs, -data.labels))
    with pytest.raises(ValueError, match="made of pairs, got 3"):
        pattern_set(jnp.ones((2, 3)))
