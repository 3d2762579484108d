"""The classifier as scikit-learn's users have it: its own battery, pipelines, searches; and against the engine."""

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from widenet import certificates
from widenet.estimators import WideClassifier
from widenet.training import SGD

SMALL: dict[str, Any] = {"width": 10, "max_epochs": 20, "random_state": 0}


def blobs(n_samples: int, centers: int, seed: int, dim: int = 2) -> tuple[np.ndarray, np.ndarray]:
    found: Any = make_blobs(n_samples, dim, centers=centers, random_state=seed)
    return found


def iris() -> tuple[np.ndarray, np.ndarray]:
    found: Any = load_iris(return_X_y=True)
    return found


def test_the_battery_of_scikit_learn() -> None:
    results: Any = check_estimator(WideClassifier(**SMALL), on_skip=None, on_fail=None)
    assert {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"} == {}
    assert sum(each["status"] == "passed" for each in results) > 50


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.93), (load_wine, 0.94), (load_breast_cancer, 0.94)])
def test_real_data_in_a_pipeline(load, least: float) -> None:
    inputs, labels = load(return_X_y=True)
    model = make_pipeline(StandardScaler(), WideClassifier(40, max_epochs=30, n_runs=2, random_state=0))
    assert cross_val_score(model, inputs, labels, cv=3).mean() > least


def test_a_search_finds_the_better_step() -> None:
    inputs, labels = blobs(90, 3, 1)
    model = make_pipeline(StandardScaler(), WideClassifier(**SMALL))
    steps = [1e-6, 0.5]
    search = GridSearchCV(model, {"wideclassifier__step_size": steps}, cv=2).fit(inputs, labels)
    assert search.best_params_ == {"wideclassifier__step_size": 0.5}
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_it_is_training_by_the_plain_kernel(n_classes: int, loss: str) -> None:
    """The same start and order, step by step with automatic differentiation."""
    import jax
    import jax.numpy as jnp

    from widenet.estimators import LOSSES
    from widenet.training import Recipe, ensemble
    from widenet.types import Dataset

    inputs, labels = blobs(20, n_classes, 2, dim=3)
    model = WideClassifier(8, loss=loss, max_epochs=3, n_runs=3, dtype="float64", random_state=5)
    start = model.fit(inputs, labels)._fresh(3)
    numbers = 2.0 * labels - 1 if n_classes == 2 else labels.astype(float)
    data = Dataset(jnp.asarray(inputs / np.linalg.norm(inputs, axis=1).max()), jnp.asarray(numbers))
    recipe = Recipe(LOSSES[loss][n_classes > 2], SGD(0.5, kernel="plain"), 60)
    keys = jax.random.split(model._key(1), 3)
    done = ensemble(jax.tree.map(jnp.asarray, start), data, recipe, keys)
    np.testing.assert_allclose(model.hidden_weights_, done.network.hidden_weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.bias_, done.network.bias, rtol=1e-10, atol=1e-12)
    assert np.abs(model.hidden_weights_ - start.hidden_weights).max() > 0.01
    for run in range(3):
        network = jax.tree.map(lambda leaf, run=run: leaf[run], done.network)
        expected = jax.vmap(network)(data.inputs)
        np.testing.assert_allclose(model.decisions_of_runs(inputs)[run], expected, rtol=1e-9, atol=1e-12)


def test_the_runs_of_an_ensemble_differ_and_their_mean_decides() -> None:
    inputs, labels = blobs(40, 2, 0)
    model = WideClassifier(**SMALL, n_runs=5).fit(inputs, labels)
    each = model.decisions_of_runs(inputs)
    assert each.shape == (5, 40)
    assert len(np.unique(each[:, 0])) == 5
    np.testing.assert_array_equal(model.decision_function(inputs), each.mean(axis=0))
    np.testing.assert_allclose(model.predict_proba(inputs)[:, 1], 1 / (1 + np.exp(-each.mean(axis=0))))
    np.testing.assert_array_equal(model.predict(inputs), (each.mean(axis=0) > 0).astype(int))


def test_probabilities_of_many_classes_are_those_of_the_cross_entropy() -> None:
    inputs, labels = iris()
    model = WideClassifier(**SMALL).fit(inputs, np.array(["a", "b", "c"])[labels])
    powers = np.exp(model.decision_function(inputs))
    np.testing.assert_allclose(model.predict_proba(inputs), powers / powers.sum(axis=1, keepdims=True))
    assert set(model.predict(inputs)) <= {"a", "b", "c"}


def test_the_hinge_loss_has_no_probabilities() -> None:
    model = WideClassifier(loss="hinge")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = model.predict_proba


def test_epochs_one_by_one_go_on_where_the_last_one_ended() -> None:
    inputs, labels = blobs(40, 3, 3)
    model = WideClassifier(20, random_state=0)
    scores = []
    for _ in range(15):
        model.partial_fit(inputs, labels, classes=[0, 1, 2])
        scores.append(model.loss_[0])
    assert scores[-1] < 0.5 * scores[0]
    assert model.n_iter_ == 15
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(inputs, labels + 1)
    with pytest.raises(AttributeError, match="after fit only"):
        _ = model.certificate_
    with pytest.raises(ValueError, match="since the first call"):
        model.partial_fit(inputs, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="must name all classes"):
        WideClassifier().partial_fit(inputs, labels)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width": 7}, "width must be even"),
        ({"width": 0}, "width must be a whole number"),
        ({"loss": "square"}, "loss must be"),
        ({"layers": "all"}, "layers must be"),
        ({"dtype": "float16"}, "dtype must be"),
        ({"step_size": -1.0}, "step_size must be a positive number"),
        ({"init_scale": 0.0}, "init_scale must be a positive number"),
        ({"slope": 1.0}, "slope must be"),
        ({"n_runs": True}, "n_runs must be a whole number"),
        ({"max_epochs": 1.5}, "max_epochs must be a whole number"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(wrong: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        WideClassifier(**wrong).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_runs_that_diverge_are_named() -> None:
    inputs, labels = blobs(30, 2, 0)
    lost = WideClassifier(**SMALL, layers="both", step_size=1e30)
    with pytest.raises(ValueError, match="every run diverged"):
        lost.fit(inputs, labels)
    with pytest.raises(NotFittedError):
        lost.predict(inputs)
    model = WideClassifier(**SMALL, n_runs=2).fit(inputs, labels)
    model.status_[0] = "DIVERGED"
    assert model.decisions_of_runs(inputs).shape == (1, 30)
    assert issubclass(ConvergenceWarning, UserWarning)


def test_the_certificate_is_about_the_data_of_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, labels = blobs(30, 2, 0)
    model = WideClassifier(**SMALL, step_size=0.25, init_scale=0.01, n_runs=3).fit(inputs, labels)
    asked: dict[str, Any] = {}
    known = set(inspect.signature(certificates.certify).parameters)

    def certify(points: np.ndarray, names: np.ndarray, **choices: Any) -> str:
        asked.update(points=points, names=names, **choices)
        return "a certificate"

    monkeypatch.setattr(certificates, "certify", certify)
    assert model.certificate_ == "a certificate"
    np.testing.assert_array_equal(asked.pop("points"), inputs)
    np.testing.assert_array_equal(asked.pop("names"), labels)
    assert set(asked) <= known
    assert (asked["width"], asked["step_size"], asked["init_scale"], asked["slope"]) == (10, 0.25, 0.01, 0.1)
