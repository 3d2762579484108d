"""What must be true of the classifier, beside a few lines of NumPy that share nothing with it."""

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from widenet import certificates
from widenet.estimators import WideClassifier

SMALL: dict[str, Any] = {"width": 6, "max_epochs": 10, "random_state": 0, "dtype": "float64"}


def clouds(count: int = 60, classes: int = 2, seed: int = 0, apart: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping, the first class twice as large as each other."""
    draw = np.random.default_rng(seed)
    labels = np.maximum(np.arange(count) % (classes + 1) - 1, 0)
    return draw.normal(size=(count, 2)) + apart * labels[:, None] * [1.0, -0.5], labels


def hand_outputs(model: WideClassifier, inputs: np.ndarray, run: int = 0) -> np.ndarray:
    """Σ_r a_r σ(⟨w_r, x⟩ + b_r), neuron by neuron."""
    votes = np.atleast_2d(model.output_weights_[run])
    found = np.zeros((len(inputs), len(votes)))
    for neuron, (row, bias) in enumerate(zip(model.hidden_weights_[run], model.bias_[run], strict=True)):
        z = (inputs / model.scale_) @ row + bias
        found += np.where(z > 0, z, model.slope * z)[:, None] * votes[:, neuron]
    return found


def hand_loss(model: WideClassifier, inputs: np.ndarray, labels: np.ndarray, run: int = 0) -> float:
    """The mean loss of one network; labels are numbers from 0."""
    outputs = hand_outputs(model, inputs, run)
    if outputs.shape[1] == 1:
        margins = (2 * labels - 1) * outputs[:, 0]
        return float(np.mean(np.log(1 + np.exp(-margins)) if model.loss == "logistic" else np.maximum(1 - margins, 0)))
    own = outputs[np.arange(len(labels)), labels]
    if model.loss == "logistic":
        return float(np.mean(np.log(np.exp(outputs).sum(axis=1)) - own))
    others = np.where(np.eye(outputs.shape[1], dtype=bool)[labels], -np.inf, outputs).max(axis=1)
    return float(np.mean(np.maximum(1 - own + others, 0)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_point_of_the_curve_is_the_loss_before_the_epoch(loss: str, classes: int) -> None:
    """With all samples in one step, the loss that each sample has before its own step is that of the epoch before."""
    inputs, labels = clouds(classes=classes)
    choices: dict[str, Any] = {**SMALL, "loss": loss, "batch_size": 60, "n_runs": 2, "step_size": 0.1}
    curve = WideClassifier(**choices).fit(inputs, labels).loss_curve_
    assert len(curve) == 10
    for epochs in range(1, 10):
        shorter = WideClassifier(**{**choices, "max_epochs": epochs}).fit(inputs, labels)
        losses = [hand_loss(shorter, inputs, labels, run) for run in range(2)]
        np.testing.assert_allclose(shorter.loss_, losses, rtol=1e-9)
        np.testing.assert_allclose(curve[epochs], np.mean(losses), rtol=1e-9)
    assert abs(curve[9] - curve[8]) > 1e-4


def hand_epoch(model: WideClassifier, run: int, points: np.ndarray, signs: np.ndarray, order: tuple[int, ...]) -> Any:
    """One step per sample in this order, hidden layer and biases, logistic loss."""
    rows, bias, votes = model.hidden_weights_[run].copy(), model.bias_[run].copy(), model.output_weights_[run]
    for place in order:
        z = rows @ points[place] + bias
        slopes = np.where(z > 0, 1.0, model.slope)
        margin = signs[place] * (votes @ (z * slopes))
        move = model.step_size * signs[place] / (1 + np.exp(margin)) * votes * slopes
        rows += move[:, None] * points[place]
        bias += move
    return rows, bias


def test_every_epoch_of_every_run_is_sgd_in_an_order_of_its_own() -> None:
    """Of the 24 orders of four samples just one gives the weights that were found, which it is changes."""
    inputs, labels = clouds()
    inputs, labels = inputs[2:6], labels[2:6]
    choices: dict[str, Any] = {**SMALL, "n_runs": 2}
    models = [WideClassifier(**{**choices, "max_epochs": count}).fit(inputs, labels) for count in range(1, 14)]
    points, signs, found = inputs / models[0].scale_, 2 * labels - 1, [[], []]
    for before, after in itertools.pairwise(models):
        for run in range(2):
            fits = []
            for order in itertools.permutations(range(4)):
                rows, bias = hand_epoch(before, run, points, signs, order)
                close = np.abs(rows - after.hidden_weights_[run]).max() + np.abs(bias - after.bias_[run]).max()
                fits += [order] if close < 1e-11 else []
            assert len(fits) == 1
            found[run] += fits
    assert found[0] != found[1]
    assert all(len(set(orders)) > 6 for orders in found)
    # Epoch by epoch, with partial_fit, the orders are the same ones.
    one_by_one = WideClassifier(**choices)
    for model in models:
        one_by_one.partial_fit(inputs, labels, [0, 1])
        np.testing.assert_allclose(one_by_one.hidden_weights_, model.hidden_weights_, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_runs_start_from_weights_of_their_own(classes: int) -> None:
    inputs, labels = clouds(classes=classes)
    still: dict[str, Any] = {**SMALL, "n_runs": 4, "step_size": 1e-12, "max_epochs": 1}
    model = WideClassifier(**still).fit(inputs, labels)
    rows = model.hidden_weights_
    np.testing.assert_allclose(np.linalg.norm(rows, axis=2), 6**-0.5)
    np.testing.assert_allclose(np.abs(model.output_weights_), 6**-0.5)
    for one, other in itertools.combinations(range(4), 2):
        assert np.abs(rows[one] - rows[other]).max() > 0.1
    other_seed = WideClassifier(**{**still, "random_state": 1}).fit(inputs, labels).hidden_weights_
    assert np.abs(other_seed - rows).max() > 0.1
    far = WideClassifier(**still, init_scale=3.0).fit(inputs, labels)
    np.testing.assert_allclose(far.hidden_weights_, 3 * 6**0.5 * rows)


def held_out_by_influence(inputs: np.ndarray, labels: np.ndarray, **choices: Any) -> tuple[WideClassifier, np.ndarray]:
    """The samples that may be moved, with another label or far away, and no weight and no scale changes a bit."""
    model = WideClassifier(**choices).fit(inputs, labels)
    free = []
    for place in range(len(labels)):
        moved = inputs.copy()
        moved[place] += 100.0
        other = WideClassifier(**choices).fit(moved, labels)
        same = [np.array_equal(getattr(other, name), getattr(model, name)) for name in ("hidden_weights_", "scale_")]
        free += [place] if all(same) else []
    return model, np.array(free)


def test_what_is_held_out_has_no_influence_and_scores_every_epoch() -> None:
    inputs, labels = clouds(count=24)
    early: dict[str, Any] = {**SMALL, "early_stopping": True, "validation_fraction": 0.25, "max_epochs": 1}
    model, out = held_out_by_influence(inputs, labels, **early)
    assert [len(out[labels[out] == kind]) for kind in (0, 1)] == [4, 2]
    kept = np.delete(np.arange(24), out)
    typical = np.sqrt(np.mean(np.sum(inputs[kept] ** 2, axis=1)))
    np.testing.assert_allclose(model.scale_, typical)
    # The weights of samples and classes count in the score, as rows would.
    weights = 1.0 + np.arange(24) % 3
    for epochs in range(1, 6):
        choices = {**early, "max_epochs": epochs, "class_weight": {1: 2.5}, "tol": 10.0, "n_iter_no_change": 9}
        model = WideClassifier(**choices).fit(inputs, labels, sample_weight=weights)
        if model.n_iter_ == 1 + int(np.argmax(model.validation_scores_)):  # the networks at hand are those of the end
            right = (hand_outputs(model, inputs[out])[:, 0] > 0) == labels[out]
            counted = weights[out] * np.where(labels[out] == 1, 2.5, 1.0)
            np.testing.assert_allclose(model.validation_scores_[-1], (right * counted).sum() / counted.sum())
    _, elsewhere = held_out_by_influence(inputs, labels, **{**early, "random_state": 1})
    assert elsewhere.tolist() != out.tolist()


def test_training_stops_and_returns_as_the_scores_say() -> None:
    """The scores of a long training tell what a shorter one does: where it ends, and which epoch it keeps."""
    inputs, labels = clouds(count=200, apart=0.7)
    early: dict[str, Any] = {**SMALL, "early_stopping": True, "validation_fraction": 0.4, "step_size": 1.0}
    patient = WideClassifier(**{**early, "max_epochs": 40, "n_iter_no_change": 40}).fit(inputs, labels)
    scores = patient.validation_scores_
    assert len(scores) == 40
    later_rises = 0
    for patience, tol in itertools.product((3, 8, 15), (0.0, 0.03)):
        best, waiting, last = -np.inf, 0, 0
        for last, score in enumerate(scores, 1):  # noqa: B007
            waiting = 0 if score > best + tol else waiting + 1
            best = max(best, score)
            if waiting == patience:
                break
        choices = {**early, "max_epochs": 40, "n_iter_no_change": patience, "tol": tol}
        model = WideClassifier(**choices).fit(inputs, labels)
        assert (model.n_iter_, model.validation_scores_) == (last, scores[:last])
        assert model.best_validation_score_ == best == max(scores[:last])
        assert model.status_.tolist() == ["CONVERGED" if waiting == patience else "BUDGET_SPENT"]
        first = scores.index(best) + 1
        shorter = WideClassifier(**{**choices, "max_epochs": first}).fit(inputs, labels)
        np.testing.assert_array_equal(model.hidden_weights_, shorter.hidden_weights_)
        later_rises += sum(scores[at] > scores[at - 1] for at in range(first, last))
    assert later_rises  # else it was not seen that a rise to less than the best is no best epoch


def test_the_typical_norm_counts_weights() -> None:
    inputs, labels = clouds()
    weights = np.where(np.arange(60) < 30, 0.25, 3.0)
    model = WideClassifier(**SMALL).fit(inputs, labels, sample_weight=weights)
    squares = (inputs**2).sum(axis=1)
    np.testing.assert_allclose(model.scale_, np.sqrt((weights * squares).sum() / weights.sum()))
    assert abs(model.scale_ - np.sqrt(squares.mean())) > 0.01
    largest = WideClassifier(**SMALL, scale="largest").fit(inputs, labels, sample_weight=weights)
    np.testing.assert_allclose(largest.scale_, np.sqrt(squares.max()))


def test_the_hinge_has_converged_where_no_sample_has_a_loss() -> None:
    inputs, labels = clouds(apart=8.0)
    choices: dict[str, Any] = {**SMALL, "loss": "hinge", "max_epochs": 400}
    model = WideClassifier(**choices).fit(inputs, labels)
    assert model.status_.tolist() == ["CONVERGED"]
    assert model.loss_curve_[-1] == 0
    assert min(model.loss_curve_[:-1]) > 0
    assert ((2 * labels - 1) * hand_outputs(model, inputs)[:, 0]).min() >= 1
    # A tolerance is one of accuracies: it does not say when a loss is small enough.
    patient = WideClassifier(**choices, tol=0.5).fit(inputs, labels)
    assert patient.loss_curve_ == model.loss_curve_


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_of_probabilities_are_those_of_the_classes(classes: int) -> None:
    inputs, labels = clouds(classes=classes, apart=3.0)
    names = np.array(["zebra", "ant", "moth"])[labels]
    model = WideClassifier(**{**SMALL, "max_epochs": 60}).fit(inputs, names)
    assert model.classes_.tolist() == sorted(set(names))
    outputs = hand_outputs(model, inputs)
    if classes == 2:
        outputs = np.hstack([0 * outputs, outputs])
    powers = np.exp(outputs)
    found = model.predict_proba(inputs)
    np.testing.assert_allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=1e-9)
    own = found[np.arange(len(names)), np.searchsorted(model.classes_, names)]
    assert own.mean() > 0.7  # each sample's own class gets the most
    np.testing.assert_allclose(hand_loss(model, inputs, np.searchsorted(model.classes_, names)), -np.log(own).mean())
    np.testing.assert_array_equal(model.predict(inputs), model.classes_[found.argmax(axis=1)])


def test_another_random_state_is_another_network_and_the_same_is_the_same() -> None:
    inputs, labels = clouds()
    one, again, other = (WideClassifier(**{**SMALL, "random_state": seed}).fit(inputs, labels) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.hidden_weights_, again.hidden_weights_)
    assert np.abs(one.hidden_weights_ - other.hidden_weights_).max() > 0.01
    for dtype, type_ in (("float32", np.float32), ("float64", np.float64)):
        rows = WideClassifier(**{**SMALL, "dtype": dtype}).fit(inputs, labels).hidden_weights_
        assert np.array_equal(rows, rows.astype(np.float32)) == (type_ is np.float32)


def public(model: WideClassifier) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}


def test_a_fit_leaves_nothing_of_an_earlier_one() -> None:
    inputs, labels = clouds()
    others, kinds = clouds(classes=3, seed=1)
    others = np.hstack([others, others**2])
    used = WideClassifier(**SMALL, early_stopping=True, validation_fraction=0.3).fit(others, kinds)
    used.set_params(early_stopping=False)
    used.fit(inputs, labels)
    fresh = WideClassifier(**SMALL).fit(inputs, labels)
    assert public(used).keys() == public(fresh).keys()
    for name, value in public(fresh).items():
        np.testing.assert_array_equal(public(used)[name], value)


REFUSED: list[Any] = [
    (clouds()[0], np.array(["a", "c"])[clouds()[1]], {"class_weight": {"b": 2.0}}),
    (clouds()[0] * 1e200, clouds()[1], {}),
    (clouds()[0], clouds()[1], {"early_stopping": True, "validation_fraction": 1e-3}),
    (clouds()[0], np.zeros(60), {}),
    (clouds()[0], clouds()[1], {"width": 7}),
]


@pytest.mark.parametrize(("inputs", "labels", "choices"), REFUSED)
def test_a_refused_fit_changes_nothing(
    inputs: np.ndarray, labels: np.ndarray, choices: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, names = clouds(seed=5)
    model = WideClassifier(**SMALL).fit(own, np.array(["a", "b"])[names])
    before = {name: np.copy(value) for name, value in public(model).items()}
    with pytest.raises(ValueError, match=r"class|sample|inputs|width"):
        model.set_params(**choices).fit(inputs, labels)
    for name, value in before.items():
        np.testing.assert_array_equal(public(model)[name], value)
    assert public(model).keys() == before.keys()
    asked: list[Any] = []
    monkeypatch.setattr(certificates, "certify", lambda points, *_, **__: asked.append(points))
    _ = model.certificate_
    np.testing.assert_array_equal(asked[0], own)
    # What goes on, goes on from the weights of the classes that it names.
    model.set_params(**{**WideClassifier().get_params(), **SMALL})
    again = WideClassifier(**SMALL).fit(own, np.array(["a", "b"])[names])
    for each in (model, again):
        each.partial_fit(own, np.array(["a", "b"])[names])
    np.testing.assert_array_equal(model.hidden_weights_, again.hidden_weights_)


@pytest.mark.parametrize("fitted", [False, True])
def test_a_refused_partial_fit_changes_nothing(fitted: bool) -> None:
    inputs, labels = clouds()
    model = WideClassifier(**SMALL)
    if fitted:
        model.partial_fit(inputs, labels, [0, 1])
    before = {name: np.copy(value) for name, value in public(model).items()}
    with pytest.raises(ValueError, match="the label 2 is not among the classes"):
        model.partial_fit(inputs, labels + 1, [0, 1])
    assert {name: value.tolist() for name, value in before.items()} == {
        name: np.asarray(value).tolist() for name, value in public(model).items()
    }
    model.partial_fit(inputs, labels, [0, 1])
    again = WideClassifier(**SMALL)
    for _ in range(1 + fitted):
        again.partial_fit(inputs, labels, [0, 1])
    np.testing.assert_array_equal(model.hidden_weights_, again.hidden_weights_)


def test_there_is_no_certificate_of_other_data_than_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "certify", lambda *_, **__: "a certificate")
    inputs, labels = clouds()
    model = WideClassifier(**SMALL, layers="both")
    with pytest.raises(AttributeError, match="after fit only"):
        _ = model.certificate_
    model.fit(inputs, labels).partial_fit(inputs + 1, labels)
    with pytest.raises(AttributeError, match="after fit only"):
        _ = model.certificate_
    model.fit(inputs, labels).set_params(step_size=1e200)
    with pytest.raises(ValueError, match="diverged"):
        model.fit(inputs + 1, labels)
    for gone in (lambda: model.certificate_, lambda: model.predict(inputs)):
        with pytest.raises((AttributeError, NotFittedError)):
            gone()
    # The classes of a fit that came to nothing bind nobody.
    model.set_params(step_size=0.1).partial_fit(inputs, np.array(["x", "y"])[labels], ["x", "y"])
    assert model.classes_.tolist() == ["x", "y"]


@pytest.mark.parametrize("true", [True, np.True_])
def test_choices_from_numpy_are_choices(true: Any) -> None:
    inputs, labels = clouds()
    with pytest.raises(ValueError, match="early_stopping=True needs fit"):
        WideClassifier(**SMALL, early_stopping=true).partial_fit(inputs, labels, [0, 1])
    for name, plain in (("width", 6), ("n_runs", 2), ("batch_size", 3), ("max_epochs", 4), ("step_size", 0.2)):
        one, other = (
            WideClassifier(**{**SMALL, name: value}).fit(inputs, labels) for value in (plain, np.array([plain])[0])
        )
        np.testing.assert_array_equal(one.hidden_weights_, other.hidden_weights_)


@pytest.mark.parametrize(
    "change",
    [
        {"width": 8}, {"loss": "hinge"}, {"slope": 0.3}, {"init_scale": 0.7}, {"scale": "largest"}, {"step_size": 0.3},
        {"batch_size": 2}, {"max_epochs": 11}, {"layers": "both"}, {"bias": False}, {"n_runs": 2},
        {"class_weight": {1: 2.0}}, {"early_stopping": True}, {"dtype": "float32"}, {"random_state": 1},
    ],
)  # fmt: skip
def test_every_choice_changes_what_is_learned(change: dict) -> None:
    inputs, labels = clouds()
    one, other = (WideClassifier(**{**SMALL, **more}).fit(inputs, labels) for more in ({}, change))
    assert not np.array_equal(one.decision_function(inputs), other.decision_function(inputs))


def test_the_certificate_is_about_all_samples_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those held out as well; not those of weight 0."""
    inputs, labels = clouds()
    asked: list[Any] = []
    monkeypatch.setattr(certificates, "certify", lambda points, names, **_: asked.append((points, names)))
    weights = np.arange(60) % 4
    _ = WideClassifier(**SMALL, early_stopping=True).fit(inputs, labels, sample_weight=weights).certificate_
    np.testing.assert_array_equal(asked[0][0], inputs[weights > 0])
    np.testing.assert_array_equal(asked[0][1], labels[weights > 0])
