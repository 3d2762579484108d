import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet import losses

ONE = jnp.asarray(1.0)


def test_hinge_value_and_subgradient_at_the_kink():
    margins = jnp.asarray([-1.0, 0.0, 1.0, 1.5])
    np.testing.assert_array_equal(losses.hinge(margins, jnp.ones(4)), [2.0, 1.0, 0.0, 0.0])
    slopes = jax.vmap(jax.grad(losses.hinge), (0, None))(margins, ONE)
    np.testing.assert_array_equal(slopes, [-1.0, -1.0, 0.0, 0.0])


def test_logistic_does_not_freeze():
    margins = jnp.asarray([-800.0, 0.0, 40.0, 700.0])
    values = losses.logistic(margins, jnp.ones(4))
    np.testing.assert_allclose(values, [800.0, np.log(2), np.exp(-40.0), np.exp(-700.0)], rtol=1e-14)
    plain = jnp.log(1 + jnp.exp(-margins[2]))
    assert plain == 0  # the control: the plain form has frozen
    assert jax.grad(losses.logistic)(margins[3], ONE) != 0


@pytest.mark.parametrize("margin", [-50.0, 0.0, 1.0, 29.9, 30.1, 100.0])
def test_log_logistic_is_the_logarithm_where_the_loss_exists(margin):
    m = jnp.asarray(margin)
    np.testing.assert_allclose(losses.log_logistic(m, ONE), jnp.log(losses.logistic(m, ONE)), rtol=1e-14)


def test_log_logistic_survives_underflow():
    assert losses.logistic(jnp.asarray(2000.0), ONE) == 0
    assert losses.log_logistic(jnp.asarray(2000.0), ONE) == -2000.0
    assert jax.grad(losses.log_logistic)(jnp.asarray(2000.0), ONE) == -1


def test_log_cross_entropy_is_the_logarithm_and_survives_underflow():
    outputs, labels = jnp.asarray([[3.0, -1.0, 0.5], [0.0, 40.0, 1.0]]), jnp.asarray([0.0, 1.0])
    values = losses.cross_entropy(outputs, labels)
    np.testing.assert_allclose(losses.log_cross_entropy(outputs, labels), jnp.log(values), rtol=1e-13)
    far = jnp.asarray([[0.0, 2000.0]])
    assert losses.cross_entropy(far, ONE[None])[0] == 0
    assert losses.log_cross_entropy(far, ONE[None])[0] == -2000.0


@pytest.mark.parametrize("loss", [losses.logistic, losses.hinge, losses.cross_entropy], ids=lambda loss: loss.__name__)
def test_log_mean_is_the_logarithm_of_the_mean(loss):
    draw, several = np.random.default_rng(0), loss is losses.cross_entropy
    outputs = jnp.asarray(draw.normal(size=(9, 3) if several else 9))
    labels = jnp.asarray(draw.integers(0, 3, 9) if several else draw.choice([-1.0, 1.0], 9), float)
    expected = np.log(np.mean(loss(outputs, labels)))
    np.testing.assert_allclose(losses.log_mean(loss, outputs, labels), expected, rtol=1e-13)


def test_log_mean_survives_underflow():
    far = jnp.asarray([900.0, 1000.0, 1000.0, 1000.0])
    np.testing.assert_allclose(losses.log_mean(losses.logistic, far, jnp.ones(4)), -900 - np.log(4), rtol=1e-15)


def test_zero_one_counts_undecided_as_wrong():
    np.testing.assert_array_equal(losses.zero_one(jnp.asarray([2.0, 0.0, -1.0]), jnp.ones(3)), [0, 1, 1])


@pytest.mark.parametrize("loss", [losses.hinge, losses.logistic, losses.log_logistic, losses.zero_one])
def test_silent_broadcasting_is_refused(loss):
    with pytest.raises(Exception, match=r"(?i)shape|type-check"):
        loss(jnp.ones(3), jnp.ones((3, 1)))


def test_cross_entropy_is_the_negative_log_softmax_and_does_not_freeze():
    outputs = jnp.asarray([[0.3, -1.0, 2.0], [5.0, 5.0, 5.0], [50.0, 0.0, 1.0], [-900.0, 900.0, 0.0]])
    labels = jnp.asarray([2.0, 0.0, 0.0, 0.0])
    expected = [-jax.nn.log_softmax(outputs[0])[2], np.log(3), np.exp(-50.0) * (1 + np.e), 1800.0]
    np.testing.assert_allclose(losses.cross_entropy(outputs, labels), expected, rtol=1e-14)
    assert -jax.nn.log_softmax(outputs[2])[0] == 0  # the control: the plain form has frozen
    slopes = jax.grad(lambda o: jnp.sum(losses.cross_entropy(o, labels)))(outputs)
    np.testing.assert_allclose(slopes, jax.nn.softmax(outputs) - np.eye(3)[[2, 0, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(slopes[2, 1:], np.exp([-50.0, -49.0]), rtol=1e-14)


def test_two_classes_are_the_losses_of_one_output():
    outputs, labels = jnp.asarray([[0.2, 1.7], [3.0, 1.0], [0.0, 1.0]]), jnp.asarray([1.0, 1.0, 1.0])
    margins = outputs[:, 1] - outputs[:, 0]
    np.testing.assert_allclose(losses.cross_entropy(outputs, labels), losses.logistic(margins, labels), rtol=1e-15)
    np.testing.assert_array_equal(losses.multiclass_hinge(outputs, labels), losses.hinge(margins, labels))
    assert not np.any(jax.grad(lambda o: jnp.sum(losses.multiclass_hinge(o, labels)))(outputs)[2])  # margin exactly 1


def test_a_tie_between_classes_is_wrong():
    outputs = jnp.asarray([[1.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(losses.zero_one(outputs, jnp.asarray([0.0, 1.0, 0.0])), [1, 0, 1])


@pytest.mark.parametrize("loss", [losses.cross_entropy, losses.multiclass_hinge, losses.zero_one])
def test_one_output_is_not_a_class(loss):
    with pytest.raises(ValueError, match=r"shape|axis"):
        loss(jnp.ones((3, 1)), jnp.ones(3))
