import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import make_separable

KEY = jax.random.key(3)


@pytest.mark.parametrize(
    ("dim", "separator_norm", "margin_max"),
    [(1, 5.0, 1.0), (2, 1.5, 1.0), (2, 1e6, 1.0), (784, 300.0, 0.1)],
)
def test_separator_separates_inside_the_unit_ball(dim, separator_norm, margin_max):
    distribution = make_separable(KEY, dim, separator_norm, margin_max)
    data = distribution.sample(KEY, 500)
    margins = np.asarray(data.labels) * (np.asarray(data.inputs) @ np.asarray(distribution.separator))
    assert margins.min() >= 1
    assert margins.max() <= separator_norm * margin_max * (1 + 1e-11)
    assert np.linalg.norm(data.inputs, axis=1).max() <= 1
    assert np.linalg.norm(distribution.direction) == pytest.approx(1, abs=1e-15)


def test_separator_of_norm_one_leaves_only_itself():
    distribution = make_separable(KEY, 2, 1.0)
    data = distribution.sample(KEY, 500)
    np.testing.assert_allclose(data.inputs, data.labels[:, None] * distribution.separator, atol=2e-6)
    assert (data.labels * (data.inputs @ distribution.separator)).min() >= 1 - 1e-12
    assert np.linalg.norm(data.inputs, axis=1).max() <= 1 + 1e-12


def test_the_distribution_is_the_one_of_the_recipe():
    # Margins uniform; the rest uniform in the orthogonal ball: (r/√(1−m²))^{d−1} is uniform, and has no direction.
    dim, n_samples = 4, 20_000
    distribution = make_separable(KEY, dim, 5.0, 0.8)
    data = distribution.sample(KEY, n_samples)
    direction = np.asarray(distribution.direction)
    signed = np.asarray(data.labels)[:, None] * np.asarray(data.inputs)
    margins = signed @ direction
    across = signed - margins[:, None] * direction
    depth = (np.linalg.norm(across, axis=1) / np.sqrt(1 - margins**2)) ** (dim - 1)
    standard_error = 1 / np.sqrt(12 * n_samples)
    assert np.mean((margins - 0.2) / 0.6) == pytest.approx(0.5, abs=4 * standard_error)
    assert np.mean(depth) == pytest.approx(0.5, abs=4 * standard_error)
    assert np.linalg.norm(across.mean(axis=0)) < 4 / np.sqrt(n_samples)
    assert abs(np.mean(data.labels)) < 4 / np.sqrt(n_samples)


def test_constructor_and_draw_together_under_vmap():
    def draw(key, separator_norm):
        make_key, sample_key = jax.random.split(key)
        distribution = make_separable(make_key, 11, separator_norm, 0.5)
        return distribution.separator, distribution.sample(sample_key, 9)

    keys, norms = jax.random.split(KEY, 5), jnp.linspace(3.0, 9.0, 5)
    separators, together = jax.jit(jax.vmap(draw))(keys, norms)
    draw_alone = jax.jit(draw)
    for run in range(5):
        separator, alone = draw_alone(keys[run], norms[run])
        np.testing.assert_array_equal(separators[run], separator)
        np.testing.assert_array_equal(together.inputs[run], alone.inputs)
        np.testing.assert_array_equal(together.labels[run], alone.labels)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0, 2.0), "dim must be a whole number of at least 1, got 0"),
        ((3, 0.5), "separator_norm must be at least 1"),
        ((3, float("nan")), "separator_norm must be at least 1"),
        ((3, 2.0, 0.4), "between 1/separator_norm = 0.5 and 1, got 0.4"),
        ((3, 2.0, 1.5), "between 1/separator_norm = 0.5 and 1, got 1.5"),
    ],
)
def test_impossible_numbers_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_separable(KEY, *arguments)
