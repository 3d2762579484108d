"""Labels that a loss of signs cannot use, and answers of the wrong shape, are named."""

import re

import jax
import jax.numpy as jnp
import pytest

from tests.training.problems import networks, run_keys, toy
from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import make_two_layer, relu
from widenet.training import SGD, Recipe, ensemble
from widenet.types import Dataset


@pytest.mark.parametrize("loss", [hinge, logistic])
@pytest.mark.parametrize(("label", "shown"), [(0.0, "0"), (2.0, "2"), (0.5, "0.5"), (float("nan"), "nan")])
def test_labels_of_signs_are_minus_or_plus_one(loss, label, shown):
    data = toy()
    data = Dataset(data.inputs, data.labels.at[3].set(label))
    with pytest.raises(ValueError, match=re.escape(f"labels must be -1 or +1 for {loss.__name__}, got {shown};")):
        ensemble(networks(2), data, Recipe(loss, SGD(0.1), 5), run_keys(2))


def test_classes_are_no_signs():
    """Class 0 is a label like any other where there is one output per class."""
    data = toy()
    several = jax.vmap(lambda key: make_two_layer(key, 4, data.dim, relu(), n_outputs=2))(run_keys(2))
    classes = Dataset(data.inputs, (data.labels > 0).astype(data.labels.dtype))
    done = ensemble(several, classes, Recipe(cross_entropy, SGD(0.1), 5), run_keys(2))
    assert done.steps.tolist() == [5, 5]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"loss": lambda outputs, labels: jnp.sum(outputs)}, "not float64 of shape ()"),
        ({"loss": lambda outputs, labels: {"losses": outputs}}, "not a dict"),
        ({"stop": lambda outputs, labels, losses: losses < 1}, "not bool of shape (24,)"),
        ({"stop": lambda outputs, labels, losses: jnp.max(losses)}, "not float64 of shape ()"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_named_in_words(wrong, sentence):
    asked = {"loss": hinge, "method": SGD(0.1), "max_steps": 5} | wrong
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ensemble(networks(2), toy(), Recipe(**asked), run_keys(2))
