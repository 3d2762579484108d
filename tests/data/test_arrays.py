import re

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import from_arrays, scale_to_unit_ball, with_bias
from widenet.errors import DataError

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_become_a_data_set(dtype):
    data = from_arrays([[1, 2], [3, 4]], [1, -1], dtype=dtype)
    assert data.inputs.dtype == data.labels.dtype == dtype
    np.testing.assert_array_equal(data.inputs, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(data.labels, [1, -1])


@pytest.mark.parametrize(
    ("inputs", "labels", "sentence"),
    [
        ([[1.0], [2.0]], [0, 1], "got the values 0, 1 (first at labels[0]); map 0 to -1 with 2*labels - 1."),
        ([[1.0], [2.0]], [True, False], "map 0 to -1 with 2*labels - 1."),
        ([[1.0], [2.0]], [3, 5], "got the values 3, 5 (first at labels[0]); map 3 to -1 and 5 to +1."),
        ([[1.0]] * 3, [1, -1, 2], "got the values -1, 1, 2 (first at labels[2]); number three classes and more from 0"),
        ([[1.0]] * 7, np.arange(7) / 2, "got the values 0, 0.5, 1, 1.5, 2, … (first at labels[0])"),
        ([[1.0, 2.0], [3.0, NAN]], [1, -1], "inputs[1, 1] is nan, not finite; remove or repair that point (1 such"),
        ([[INF, 2.0], [-INF, 0.0]], [1, -1], "inputs[0, 0] is inf, not finite"),
        ([[1.0], [2.0]], [1, NAN], "labels[1] is nan, not finite"),
        (np.zeros((0, 3)), [], "the data set is empty"),
        (np.zeros((2, 0)), [1, -1], "the 2 inputs have no coordinates"),
        ([[1.0], [2.0]], [1, 1], "every label is +1; give points of both classes"),
        ([[1.0], [2.0]], [1, -1, 1], "there are 2 inputs and 3 labels"),
        (
            [1.0, 2.0],
            [1, -1],
            "two axes (points, then coordinates), got shape (2,); reshape them to (n, 1).",
        ),
        (np.zeros((2, 3, 4)), [1, -1], "got shape (2, 3, 4); reshape them to (n, -1), which makes each point one row."),
        (5.0, [1], "got shape ()"),
        ([[1.0], [2.0]], [[1], [-1]], "labels must have one axis, got shape (2, 1)"),
        ([["1", "2"], ["3", "four"]], [1, -1], "inputs[1, 1] is 'four', not a number"),
        ([[1.0], [None]], [1, -1], "inputs[1, 0] is nan"),
        ([[1.0], [{}]], [1, -1], "inputs[1, 0] is {}, not a number"),
        ([[1.0], [2.0]], ["yes", "no"], "labels[0] is 'yes', not a number"),
        ([[1.0, 2.0], [3.0]], [1, -1], "inputs are not a rectangular array: row 0 has 2 entries and row 1 has 1; give"),
        ([[1.0, 2.0], 3.0], [1, -1], "inputs are not a rectangular array; give every row the same length."),
        ([[1j], [2j]], [1, -1], "inputs are complex numbers"),
    ],
)
def test_bad_arrays_get_one_sentence(inputs, labels, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)) as error:
        from_arrays(inputs, labels)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("labels", [[0, 1, 2, 1], [3, 5, 9, 5], [2.0, 1.0, 4.0, 4.0]])
def test_three_classes_and_more_are_numbers(labels):
    data = from_arrays(np.eye(4), labels)
    np.testing.assert_array_equal(data.labels, labels)


def test_a_number_too_large_for_the_dtype_is_refused():
    with pytest.raises(DataError, match=r"inputs\[0, 0\] is 1e\+200, does not fit in float32"):
        from_arrays([[1e200], [1.0]], [1, -1], dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("dim", [1, 3, 784])
def test_scaling_ends_inside_the_unit_ball_in_any_summation_order(dtype, size, dim):
    inputs = np.random.default_rng(dim).normal(size=(40, dim)) * size
    scaled, factor = scale_to_unit_ball(from_arrays(inputs, np.resize([-1, 1], 40), dtype=dtype))
    rows = np.asarray(scaled.inputs)
    assert rows.dtype == dtype
    forwards, backwards = np.zeros(40, dtype), np.zeros(40, dtype)
    for column in range(dim):
        forwards += rows[:, column] ** 2
        backwards += rows[:, dim - 1 - column] ** 2
    assert max(forwards.max(), backwards.max()) <= 1
    assert np.linalg.norm(rows, axis=1).max() <= 1
    assert jnp.linalg.norm(scaled.inputs, axis=1).max() <= 1
    assert np.linalg.norm(rows.astype(float), axis=1).max() == pytest.approx(
        1, abs=1e-12 if dtype == np.float64 else 1e-3
    )
    np.testing.assert_allclose(rows * factor, inputs, rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_scaling_reaches_the_ends_of_the_number_range():
    scaled, factor = scale_to_unit_ball(from_arrays([[1e300, 1e300], [1e299, 0.0]], [1, -1]))
    assert factor == pytest.approx(np.sqrt(2) * 1e300)
    np.testing.assert_allclose(scaled.inputs[0], np.sqrt([0.5, 0.5]))
    scaled, factor = scale_to_unit_ball(from_arrays([[3e-300, 4e-300], [0.0, 0.0]], [1, -1]))
    assert factor == pytest.approx(5e-300)
    np.testing.assert_allclose(scaled.inputs[0], [0.6, 0.8])


def test_inputs_that_are_all_zero_cannot_be_scaled():
    with pytest.raises(DataError, match="every input is zero"):
        scale_to_unit_ball(from_arrays(np.zeros((2, 3)), [1, -1]))


def test_inputs_too_long_for_a_norm_are_refused():
    with pytest.raises(DataError, match="too large to take a norm"):
        scale_to_unit_ball(from_arrays(np.full((2, 9), 1.5e308), [1, -1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bias_is_a_coordinate_that_keeps_the_unit_ball(dtype):
    data = from_arrays(np.vstack([np.eye(3), [[0.5, -0.2, 0.1]]]), [1, 1, -1, -1], dtype=dtype)
    lifted = with_bias(data)
    assert lifted.inputs.dtype == dtype
    assert np.linalg.norm(lifted.inputs, axis=1).max() <= 1
    separator, bias = np.array([1.0, -2.0, 3.0], dtype), dtype(0.7)
    lifted_separator = np.sqrt(dtype(2)) * np.append(separator, bias)
    np.testing.assert_allclose(
        lifted.inputs @ lifted_separator, data.inputs @ separator + bias, rtol=20 * np.finfo(dtype).eps
    )


def test_nothing_at_all_is_called_empty():
    with pytest.raises(DataError, match="the data set is empty"):
        from_arrays([], [])
