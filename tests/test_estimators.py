"""The classifier as scikit-learn's users have it: its own battery, pipelines, searches; and against the engine."""

import inspect
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from widenet import certificates
from widenet.estimators import LOSSES, WideClassifier
from widenet.networks import TwoLayer, leaky_relu
from widenet.training import SGD, Listed, Recipe, ensemble
from widenet.training.weighted import distinct
from widenet.types import Dataset

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


@pytest.mark.parametrize("layers", ["hidden", "both"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_it_is_training_by_the_plain_kernel(n_classes: int, loss: str, layers: str) -> None:
    """The same start and order, step by step with automatic differentiation."""
    inputs, labels = blobs(20, n_classes, 2, dim=3)
    choices: dict[str, Any] = {"loss": loss, "layers": layers, "n_runs": 3, "dtype": "float64", "random_state": 5}
    model = WideClassifier(8, max_epochs=3, **choices).fit(inputs, labels)
    begun = WideClassifier(8, **choices)
    begun._name_classes(np.arange(n_classes))
    begun._begin(distinct(inputs, labels, np.ones(20)))
    start = begun._fresh(3)
    scaled = inputs / np.sqrt((np.linalg.norm(inputs, axis=1) ** 2).mean())
    samples = distinct(inputs, labels, np.ones(20))
    samples = samples._replace(inputs=samples.inputs / begun.scale_)
    orders = list(itertools.islice(begun._orders(samples.visits), 3))

    output = start.output[:, 0] if n_classes == 2 else start.output
    b = None if start.bias is None else jnp.asarray(start.bias)
    networks = TwoLayer(jnp.asarray(start.hidden), jnp.asarray(output), b, leaky_relu(0.1))
    numbers = 2.0 * samples.labels - 1 if n_classes == 2 else samples.labels.astype(float)
    data = Dataset(jnp.asarray(samples.inputs), jnp.asarray(numbers))
    listed = Listed(np.concatenate(orders, axis=1))
    recipe = Recipe(LOSSES[loss][n_classes > 2], SGD(0.5, order=listed, kernel="plain"), 60, layers=layers)
    done: Any = ensemble(networks, data, recipe, jax.random.split(jax.random.key(0), 3))
    np.testing.assert_allclose(model.hidden_weights_, done.network.hidden_weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.output_weights_, done.network.output_weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.bias_, done.network.bias, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.loss_, done.loss, rtol=1e-10, atol=1e-14)
    assert np.abs(model.hidden_weights_ - start.hidden).max() > 0.01
    for run in range(3):
        network = jax.tree.map(lambda leaf, run=run: leaf[run], done.network)
        expected = jax.vmap(network)(jnp.asarray(scaled))
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
        ({"scale": 2.0}, "scale must be 'typical' or 'largest', got 2.0"),
        ({"layers": "all"}, "layers must be"),
        ({"dtype": "float16"}, "dtype must be"),
        ({"step_size": -1.0}, "step_size must be a positive number"),
        ({"init_scale": 0.0}, "init_scale must be a positive number"),
        ({"slope": 1.0}, "slope must be"),
        ({"n_runs": True}, "n_runs must be a whole number"),
        ({"max_epochs": 1.5}, "max_epochs must be a whole number"),
        ({"bias": "no"}, "bias must be True or False, got 'no'; write bias=True or bias=False"),
        ({"bias": 0}, "bias must be True or False"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"verbose": -1}, "verbose must be True, False or a whole number"),
        ({"step_size": "0.5"}, "step_size must be a positive number, got '0.5'"),
        ({"slope": None}, "slope must be at least 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must be more than 0 and less than 1"),
        ({"tol": -0.1}, "tol must be a number of at least 0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be a whole number"),
        ({"class_weight": "rare"}, "class_weight must be None, 'balanced' or a dictionary"),
        ({"class_weight": {2: 1.0}}, r"class_weight names 2, which is not among the classes \[0, 1\]"),
        ({"class_weight": {0: -1.0}}, "the class_weight of 0 must be a number of at least 0"),
        ({"class_weight": {0: 0.0, 1: 0}}, "all sample weights are zero"),
        ({"early_stopping": True}, "which is less than one sample here; take a larger validation_fraction"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(wrong: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        WideClassifier(**wrong).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_runs_that_diverge_are_named() -> None:
    inputs, labels = blobs(30, 2, 0)
    lost = WideClassifier(**SMALL, layers="both").fit(inputs, labels).set_params(step_size=1e30)
    with pytest.raises(
        ValueError, match=r"^training diverged in epoch 1: weights overflow with step_size=1e\+30; take"
    ):
        lost.fit(inputs, labels)
    with pytest.raises(NotFittedError):
        lost.predict(inputs)
    with pytest.raises(ValueError, match=r"^all 3 runs diverged in epoch 1"):
        lost.set_params(n_runs=3).fit(inputs, labels)


def test_one_run_that_diverges_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, labels = blobs(30, 2, 0)
    whole = WideClassifier(**SMALL, n_runs=2).fit(inputs, labels)
    fresh = WideClassifier._fresh

    def one_is_endless(self: WideClassifier, dim: int) -> Any:
        start = fresh(self, dim)
        start.hidden[0] = np.nan
        return start

    monkeypatch.setattr(WideClassifier, "_fresh", one_is_endless)
    with pytest.warns(ConvergenceWarning, match="1 of 2 runs diverged and are left out"):
        model = WideClassifier(**SMALL, n_runs=2).fit(inputs, labels)
    assert model.status_.tolist() == ["DIVERGED", "BUDGET_SPENT"]
    np.testing.assert_array_equal(model.decisions_of_runs(inputs), whole.decisions_of_runs(inputs)[1:])
    assert len(model.loss_curve_) == 20
    assert np.isfinite(model.loss_curve_).all()


def test_a_step_that_only_makes_it_worse_is_named() -> None:
    inputs, labels = blobs(30, 2, 1)
    labels[::3] = 1 - labels[::3]
    with pytest.warns(
        ConvergenceWarning,
        match=r"the training loss rose from 0\.\d+ to .* with step_size=10000; take a smaller one, such as 1000",
    ):
        WideClassifier(**SMALL, step_size=1e4).fit(inputs, labels)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, "a", 1, 0], "y mixes labels that are text, such as 'a', with numbers, such as 0"),
        (pd.Series(["a", 1, "a", 1]), "y mixes labels that are text, such as 'a', with numbers, such as 1"),
        ([True, "a", True, "a"], "y mixes labels that are text, such as 'a', with numbers, such as True"),
        (["a", None, "a", "b"], "a label is missing: y has None"),
        (pd.Series(["a", None, "b", "a"], dtype="string"), "a label is missing"),
    ],
)
def test_labels_that_cannot_be_sorted_are_one_sentence(labels: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        WideClassifier(**SMALL).fit(np.eye(4), labels)


@pytest.mark.parametrize("labels", [np.array([0, 1, 0, 1]), ["a", "b", "a", "b"], pd.Categorical(["a", "b", "a", "b"])])
def test_labels_of_one_kind_are_kept(labels: Any) -> None:
    model = WideClassifier(**SMALL).fit(np.eye(4), labels)
    assert model.classes_.tolist() == sorted(set(labels))
    assert set(model.predict(np.eye(4))) <= set(labels)


def spread(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that overlap."""
    draws = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [90, 30])
    return draws.normal(size=(120, 2)) + labels[:, None], labels


def test_a_weight_is_a_number_of_rows() -> None:
    inputs, labels = spread()
    weights = np.random.default_rng(1).integers(4, size=120)
    weighted = WideClassifier(**SMALL).fit(inputs, labels, sample_weight=weights)
    repeated = WideClassifier(**SMALL).fit(inputs.repeat(weights, axis=0), labels.repeat(weights))
    np.testing.assert_array_equal(weighted.decision_function(inputs), repeated.decision_function(inputs))
    assert weighted.loss_ == repeated.loss_
    plain = WideClassifier(**SMALL).fit(inputs, labels)
    assert np.abs(weighted.decision_function(inputs) - plain.decision_function(inputs)).max() > 0.01
    one_by_one = WideClassifier(**SMALL)
    for _ in range(20):
        one_by_one.partial_fit(inputs, labels, [0, 1], sample_weight=weights)
    assert one_by_one.scale_ == weighted.scale_
    np.testing.assert_allclose(one_by_one.decision_function(inputs), weighted.decision_function(inputs), rtol=1e-5)


def test_the_order_of_the_rows_makes_no_difference() -> None:
    inputs, labels = spread()
    shuffled = np.random.default_rng(1).permutation(120)
    one, other = (WideClassifier(**SMALL).fit(inputs[rows], labels[rows]) for rows in (np.arange(120), shuffled))
    np.testing.assert_array_equal(one.hidden_weights_, other.hidden_weights_)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), r"one number for each of 120 samples, got shape \(3,\)"),
        (-np.ones(120), "sample_weight must be finite and at least 0, got -1"),
        (np.full(120, np.nan), "sample_weight must be finite and at least 0, got nan"),
        (np.zeros(120), "all sample weights are zero"),
        (["heavy"] * 120, "sample_weight must be one number per sample"),
    ],
)
def test_wrong_sample_weights_are_one_sentence(weights: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        WideClassifier(**SMALL).fit(*spread(), sample_weight=weights)


def test_weights_of_classes_are_weights_of_their_samples() -> None:
    inputs, labels = spread()
    for class_weight, of_samples in (("balanced", [2 / 3, 2.0]), ({1: 3.0}, [1.0, 3.0]), ({0: 0.5, 1: 2}, [0.5, 2.0])):
        weights = np.array(of_samples)[labels]
        by_class = WideClassifier(**SMALL, class_weight=class_weight).fit(inputs, labels)
        by_sample = WideClassifier(**SMALL).fit(inputs, labels, sample_weight=weights)
        np.testing.assert_allclose(by_class.decision_function(inputs), by_sample.decision_function(inputs), rtol=1e-4)
    given = np.arange(120) % 3
    both = WideClassifier(**SMALL, class_weight={1: 2.0}).fit(inputs, labels, sample_weight=given)
    product = WideClassifier(**SMALL).fit(inputs, labels, sample_weight=given * (labels + 1))
    np.testing.assert_array_equal(both.decision_function(inputs), product.decision_function(inputs))
    shares = np.bincount(labels, given)
    balanced = WideClassifier(**SMALL, class_weight="balanced").fit(inputs, labels, sample_weight=given)
    even = WideClassifier(**SMALL).fit(inputs, labels, sample_weight=given * (given.sum() / (2 * shares))[labels])
    np.testing.assert_allclose(balanced.decision_function(inputs), even.decision_function(inputs), rtol=1e-4)
    with pytest.raises(ValueError, match="class_weight='balanced' needs fit"):
        WideClassifier(**SMALL, class_weight="balanced").partial_fit(inputs, labels, [0, 1])


def test_balanced_weights_find_the_rare_class() -> None:
    inputs, labels = spread()
    found = [
        WideClassifier(**SMALL, class_weight=chosen).fit(inputs, labels).predict(inputs)[labels == 1].mean()
        for chosen in (None, "balanced")
    ]
    assert found[1] > found[0] + 0.1


def test_early_stopping_keeps_the_best_epoch_and_trains_on_the_rest() -> None:
    inputs, labels = spread()
    choices: dict[str, Any] = {"width": 10, "random_state": 0, "step_size": 0.05}
    model = WideClassifier(**choices, early_stopping=True, n_iter_no_change=3, validation_fraction=0.2)
    model.fit(inputs, labels)
    scores = model.validation_scores_
    assert model.n_iter_ == len(scores) == len(model.loss_curve_) < 100
    assert model.best_validation_score_ == max(scores)
    assert model.status_.tolist() == ["CONVERGED"]
    held_out = model._chosen(labels, np.ones(120))
    assert held_out[labels == 0].sum() == 18
    assert held_out[labels == 1].sum() == 6
    assert model.score(inputs[held_out], labels[held_out]) == max(scores)
    best = int(np.argmax(scores))
    assert len(scores) - 1 - best == 3
    again = WideClassifier(**choices, early_stopping=True, validation_fraction=0.2, max_epochs=best + 1)
    np.testing.assert_array_equal(again.fit(inputs, labels).hidden_weights_, model.hidden_weights_)
    assert again.status_.tolist() == ["BUDGET_SPENT"]


def test_held_out_samples_have_no_influence_on_the_weights() -> None:
    inputs, labels = spread()
    choices: dict[str, Any] = {"width": 10, "random_state": 0, "early_stopping": True, "n_iter_no_change": 500}
    model = WideClassifier(**choices, max_epochs=1).fit(inputs, labels)
    held_out = model._chosen(labels, np.ones(120))
    assert 0 < held_out.sum() < 60
    other = WideClassifier(**choices, max_epochs=1).fit(np.where(held_out[:, None], 100 * inputs + 7, inputs), labels)
    np.testing.assert_array_equal(model.hidden_weights_, other.hidden_weights_)
    assert other.scale_ == model.scale_


def test_partial_fit_has_no_early_stopping() -> None:
    inputs, labels = spread()
    with pytest.raises(ValueError, match="early_stopping=True needs fit"):
        WideClassifier(**SMALL, early_stopping=True).partial_fit(inputs, labels, [0, 1])


def test_the_curve_is_the_mean_loss_of_every_epoch() -> None:
    """With a step too small to move anything it is the loss itself."""
    inputs, labels = spread()
    model = WideClassifier(**SMALL, step_size=1e-9, n_runs=2, dtype="float64").fit(inputs, labels)
    np.testing.assert_allclose(model.loss_curve_, model.loss_.mean(), rtol=1e-6)
    faster = WideClassifier(**SMALL).fit(inputs, labels)
    assert len(faster.loss_curve_) == faster.n_iter_ == 20
    assert faster.loss_curve_[-1] < faster.loss_curve_[0]
    margins = (2 * labels - 1) * faster.decision_function(inputs)
    np.testing.assert_allclose(faster.loss_, np.log1p(np.exp(-margins)).mean(), rtol=1e-6)


def test_verbose_prints_a_line_per_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    inputs, labels = spread()
    model = WideClassifier(**{**SMALL, "max_epochs": 2}, verbose=True, early_stopping=True).fit(inputs, labels)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"epoch {number} of 2: training loss {loss:.4g}, held-out accuracy {score:.4g}"
        for number, (loss, score) in enumerate(zip(model.loss_curve_, model.validation_scores_, strict=True), 1)
    ]
    WideClassifier(**SMALL).fit(inputs, labels)
    assert capsys.readouterr().out == ""


def test_the_hinge_ends_at_loss_zero() -> None:
    inputs, labels = blobs(30, 2, 3)
    model = WideClassifier(20, loss="hinge", max_epochs=200, random_state=0).fit(inputs, labels)
    assert model.status_.tolist() == ["CONVERGED"]
    assert model.n_iter_ < 200
    np.testing.assert_allclose(model.loss_, 0, atol=1e-6)
    assert ((2 * labels - 1) * model.decision_function(inputs)).min() > 1 - 1e-5
    short = WideClassifier(20, loss="hinge", max_epochs=1, random_state=0).fit(inputs, labels)
    assert short.status_.tolist() == ["BUDGET_SPENT"]
    assert short.loss_ > 0


def test_no_biases_stay_zero() -> None:
    inputs, labels = spread()
    model = WideClassifier(**SMALL, bias=False).fit(inputs, labels)
    assert not model.bias_.any()
    np.testing.assert_allclose(model.decision_function(0 * inputs[:1]), 0, atol=1e-12)
    assert WideClassifier(**SMALL).fit(inputs, labels).bias_.any()


def test_a_run_is_the_same_alone_and_in_company() -> None:
    inputs, labels = spread()
    alone, company = (WideClassifier(**SMALL, n_runs=n_runs).fit(inputs, labels) for n_runs in (1, 3))
    np.testing.assert_allclose(company.hidden_weights_[0], alone.hidden_weights_[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("init_scale", [None, 0.01])
@pytest.mark.parametrize("scale", ["typical", "largest"])
def test_the_certificate_is_about_the_data_of_fit(
    monkeypatch: pytest.MonkeyPatch, scale: str, init_scale: float | None
) -> None:
    inputs, labels = blobs(30, 2, 0)
    choices: dict[str, Any] = {**SMALL, "step_size": 0.25, "n_runs": 3, "scale": scale, "init_scale": init_scale}
    model = WideClassifier(**choices, bias=False, dtype="float64").fit(inputs, labels)
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
    assert (asked["width"], asked["slope"], asked["seed"]) == (10, 0.1, model._seed)
    # In the unit ball, this step and start give the same classifier.
    told = {"step_size": asked["step_size"], "init_scale": asked["init_scale"], "scale": "largest"}
    same = WideClassifier(**{**choices, **told}, bias=False, dtype="float64").fit(inputs, labels)
    np.testing.assert_allclose(same.decisions_of_runs(inputs), model.decisions_of_runs(inputs), rtol=1e-9, atol=1e-12)
    if scale == "largest":
        assert (asked["step_size"], asked["init_scale"]) == (0.25, init_scale)
        assert model.scale_ == np.linalg.norm(inputs, axis=1).max()


def test_a_relu_takes_the_slope_of_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(certificates, "certify", lambda points, names, **choices: asked.update(choices))
    _ = WideClassifier(**SMALL, slope=0).fit(*blobs(30, 2, 0)).certificate_
    assert asked["slope"] is None
