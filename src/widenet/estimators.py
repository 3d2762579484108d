"""A wide two-layer network as a scikit-learn classifier: several of them at once, trained side by side."""

import contextlib
import itertools
import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import expit, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from widenet.losses import cross_entropy, hinge, logistic, multiclass_hinge
from widenet.networks.arrays import outputs_by_blocks, plus_minus_weights
from widenet.training.epochs import NetworkWeights, WeightedPasses
from widenet.training.weighted import WeightedSamples, distinct
from widenet.types import Layers, RunStatus

LOSSES = {"logistic": (logistic, cross_entropy), "hinge": (hinge, multiclass_hinge)}
"""By name: the loss for two classes, and for more."""
FAR_UP = 2.0
"""A training loss of more than this times that of the start is worth a warning."""
STARTS, ORDERS, HELD_OUT = range(3)
"""What a random stream is for."""


def _has_probabilities(model: "WideClassifier") -> bool:
    if model.loss != "logistic":
        raise AttributeError(f"predict_proba needs loss='logistic'; the loss {model.loss!r} has no probabilities")
    return True


class WideClassifier(ClassifierMixin, BaseEstimator):
    """N(x) = Σ_r a_r σ(⟨w_r, x⟩ + b_r), trained by SGD from a small start: the networks that the theorems are about.

    With several runs, networks that differ in start and order are trained side by side, and their outputs are averaged.

    Parameters:
      width: neurons, an even number.
      loss: "logistic" or "hinge"; with more than two classes the cross entropy, or the hinge of the closest class.
      slope: of the Leaky ReLU; 0 is ReLU.
      init_scale: R, the length of each neuron's weights at the start; 1/√width by default.
      scale: what inputs are divided by: "typical", the root mean square of their norms, or "largest", the largest norm,
        which puts them in the unit ball of the theorems.
      step_size: η.
      batch_size: samples per step; the last step of an epoch may have fewer.
      max_epochs: passes over the data. With the hinge loss training ends once every run has reached loss 0.
      layers: "hidden", as in the theorems, or "both".
      bias: whether neurons have biases.
      n_runs: networks.
      class_weight: None, "balanced", or a dictionary of weights by label; sample weights are multiplied by it.
      early_stopping: hold out a part of the samples, stop when the accuracy there no longer improves, and keep the
        networks of the best epoch.
      validation_fraction: the part of each class that is held out.
      n_iter_no_change: epochs without a better held-out accuracy before training stops.
      tol: by how much an accuracy must be better.
      verbose: print the training loss of every epoch.
      dtype: "float32" or "float64"; predictions are always computed in float64.
      random_state: of starts, orders and held-out samples.

    Attributes:
      classes_: the labels, sorted.
      n_features_in_: columns of the inputs.
      scale_: what inputs are divided by.
      hidden_weights_, output_weights_, bias_: the weights of all runs, runs first.
      status_: how each run ended, by the names of `RunStatus`; `loss_`: the training loss of each.
      loss_curve_: the training loss of each epoch, every sample seen before its own step; the mean of the runs.
      n_iter_: epochs.
      validation_scores_, best_validation_score_: held-out accuracies after each epoch, with early stopping.
    """

    def __init__(
        self,
        width=100,
        *,
        loss="logistic",
        slope=0.1,
        init_scale: Any = None,
        scale="typical",
        step_size=0.5,
        batch_size=1,
        max_epochs=100,
        layers="hidden",
        bias=True,
        n_runs=1,
        class_weight: Any = None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-4,
        verbose: Any = False,
        dtype="float32",
        random_state: Any = None,
    ):
        """Nothing is looked at before `fit`, not even types, as scikit-learn asks."""
        self.width, self.loss, self.slope, self.init_scale = width, loss, slope, init_scale
        self.scale = scale
        self.step_size, self.batch_size, self.max_epochs = step_size, batch_size, max_epochs
        self.layers, self.bias, self.n_runs, self.dtype = layers, bias, n_runs, dtype
        self.class_weight, self.early_stopping = class_weight, early_stopping
        self.validation_fraction, self.n_iter_no_change, self.tol = validation_fraction, n_iter_no_change, tol
        self.verbose, self.random_state = verbose, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "WideClassifier":
        """Train from a fresh start.

        A sample of weight 2 counts as two equal rows, and one of weight 0 as none.

        Raises:
          ValueError: a parameter or the data cannot be used, which leaves the classifier as it was; or every run
            diverged, which leaves it unfitted.
        """
        self._check_parameters()
        with self._as_it_was_if_refused():
            inputs, names, given = self._validated(X, y, sample_weight)
            self._name_classes(np.unique(names))
            labels, weights = self._numbers(names, given)
            out = self._chosen(labels, weights) if self.early_stopping else np.zeros(len(labels), bool)
            samples = distinct(inputs[~out], labels[~out], weights[~out])
            held_out = distinct(inputs[out], labels[out], weights[out]) if self.early_stopping else None
            self._begin(samples)
        self._train(samples, int(self.max_epochs), held_out)
        self._seen = (inputs, names)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> "WideClassifier":
        """One more epoch, on this data; the first call must name all classes, and sets the scale of the inputs.

        Raises:
          ValueError: as `fit`; a label is not among the classes; a choice that needs all data at once. All of them
            leave the classifier as it was.
        """
        self._check_parameters()
        if self.early_stopping:
            raise ValueError("early_stopping=True needs fit: partial_fit makes one epoch and holds nothing out")
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs fit; partial_fit takes a dictionary of weights by label")
        is_first = not hasattr(self, "hidden_weights_")
        if is_first and classes is None:
            raise ValueError("the first call of partial_fit must name all classes")
        with self._as_it_was_if_refused():
            inputs, names, given = self._validated(X, y, sample_weight, reset=is_first)
            if is_first:
                self._name_classes(np.unique(classes))
            elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(f"classes are {self.classes_.tolist()} since the first call, got {list(classes)}")
            samples = distinct(inputs, *self._numbers(names, given))
            if is_first:
                self._begin(samples)
        self._train(samples, 1)
        self._seen = None
        return self

    def decision_function(self, X: Any) -> Float[np.ndarray, " sample *output"]:
        """The mean output of all runs: positive for the second of two classes, or a column per class."""
        return self.decisions_of_runs(X).mean(axis=0)

    def decisions_of_runs(self, X: Any) -> Float[np.ndarray, "run sample *output"]:
        """The outputs of every run that did not diverge."""
        check_is_fitted(self, "hidden_weights_")
        inputs: Any = validate_data(self, X, reset=False, dtype=np.float64)
        whole = self.status_ != RunStatus.DIVERGED.name
        output = self.output_weights_[:, None] if self.output_weights_.ndim == 2 else self.output_weights_
        return self._outputs(NetworkWeights(self.hidden_weights_, output, self.bias_), inputs / self.scale_, whole)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample."""
        decided = self.decision_function(X)
        return self.classes_[_decided(decided)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Float[np.ndarray, "sample class"]:
        """The probabilities that the logistic loss gives the classes, from the mean output."""
        decided = self.decision_function(X)
        if decided.ndim == 2:
            return softmax(decided, axis=1)
        second = expit(decided)
        return np.stack([1 - second, second], axis=1)

    @property
    def certificate_(self) -> Any:
        """What theory says about the data of `fit` and this width, step and start; made at each call, see `certify`.

        Theorems are about points of the unit ball, so step and start are converted: without biases, networks that start
        there learn from points divided by the largest norm what these learn from points divided by `scale_`. `certify`
        may change the points otherwise: it standardizes columns of different units, and may add a constant coordinate,
        (x, 1)/√2. Step and start stay as converted then, and do not do the same as here. With early stopping the
        certificate is about all samples, and the largest norm and `scale_` are those of the samples not held out.
        Samples of weight 0 are left out; other weights, and those of classes, are not used.
        Theorems are about Leaky ReLUs: with slope 0 it takes the slope that `certify` chooses, and says which.

        Raises:
          AttributeError: `fit` was not called last, or it failed: `partial_fit` keeps no data.
        """
        seen = getattr(self, "_seen", None)
        if seen is None:
            raise AttributeError("there is a certificate after fit only: partial_fit keeps no data")
        from widenet.certificates import certify  # late: it loads every theorem

        inputs, names = seen
        # Points c times as long, with weights c times as small, learn the same with a step c² times as small.
        times = self._largest / self.scale_
        radius = self.init_scale if self.init_scale is not None or times == 1 else self.width**-0.5
        return certify(
            inputs,
            names,
            width=self.width,
            step_size=self.step_size * times**2,
            init_scale=radius if radius is None else radius * times,
            slope=self.slope or None,
            seed=self._seed,
        )

    @contextlib.contextmanager
    def _as_it_was_if_refused(self) -> Iterator[None]:
        """Data that cannot be used changes nothing of an earlier fit."""
        before = dict(vars(self))
        try:
            yield
        except Exception:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _validated(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = True
    ) -> tuple[np.ndarray, np.ndarray, Float[np.ndarray, " counted"]]:
        """The rows that have a weight, and their weights."""
        _check_kinds(y)
        checked: Any = validate_data(self, X, y, reset=reset, dtype=np.float64, ensure_min_samples=2)
        inputs, names = checked
        check_classification_targets(names)
        weights = _weights_of(sample_weight, len(names))
        counted = weights > 0
        return inputs[counted], names[counted], weights[counted]

    def _check_parameters(self) -> None:
        """One sentence for what would otherwise surface deep inside a compiled program."""
        for name, choices in _WORDS.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be {choices[0]!r} or {choices[1]!r}, got {getattr(self, name)!r}")
        for name in ("width", "batch_size", "max_epochs", "n_runs", "n_iter_no_change"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if self.width % 2:
            raise ValueError(f"width must be even: half of the neurons vote for a class; got {self.width}")
        for name in ("bias", "early_stopping"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}; write {name}=True or {name}=False")
        if not isinstance(self.verbose, bool | np.bool_ | Integral) or self.verbose < 0:
            raise ValueError(f"verbose must be True, False or a whole number of at least 0, got {self.verbose!r}")
        for name, (rule, is_good) in _NUMBERS.items():
            value = getattr(self, name)
            if not (_is_number(value) and is_good(value)) and not (name == "init_scale" and value is None):
                raise ValueError(f"{name} must be {rule}, got {value!r}")
        chosen = self.class_weight
        if not (chosen is None or isinstance(chosen, dict) or (isinstance(chosen, str) and chosen == "balanced")):
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dictionary of weights by label, got {chosen!r}"
            )

    def _name_classes(self, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ValueError(f"a classifier needs two classes or more; the data has 1 class, {classes.tolist()[0]!r}")
        for name in _FOUND:
            vars(self).pop(name, None)  # a fit that diverges leaves nothing of an earlier one
        self.classes_ = classes
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _begin(self, samples: WeightedSamples) -> None:
        with np.errstate(over="ignore"):
            squares = (samples.inputs**2).sum(axis=1)
        self._largest = float(np.sqrt(squares.max())) or 1.0
        typical = float(np.sqrt(np.average(squares, weights=samples.totals))) or 1.0
        self.scale_ = self._largest if self.scale == "largest" else typical
        if not 0 < self.scale_ < np.inf:
            raise ValueError("the inputs are too large or too small to be squared; divide them by their typical size")
        self.n_iter_, self._weights = 0, self._fresh(samples.inputs.shape[1])
        self.loss_curve_: list[float] = []

    def _fresh(self, dim: int) -> NetworkWeights:
        """Every run at its start: rows uniform on a sphere, and half of the neurons for a class, half against it."""
        scale, several = self.width**-0.5, len(self.classes_) > 2
        radius = scale if self.init_scale is None else self.init_scale
        hidden, output = [], []
        for run in range(self.n_runs):
            draws = np.random.default_rng([self._seed, STARTS, run])
            rows = draws.standard_normal((self.width, dim))
            hidden.append(radius * rows / np.linalg.norm(rows, axis=1, keepdims=True))
            fair = draws.random((len(self.classes_), self.width)) < 0.5  # each neuron for or against each class
            halves = [plus_minus_weights(int(self.width) // 2, scale)]
            output.append(np.where(fair, scale, -scale) if several else halves)
        bias = np.zeros((self.n_runs, self.width), self.dtype) if self.bias else None
        return NetworkWeights(np.stack(hidden).astype(self.dtype), np.stack(output).astype(self.dtype), bias)

    def _orders(self, visits: Int[np.ndarray, " sample"]) -> Iterator[Int[np.ndarray, "run position"]]:
        """A random order for every epoch of every run, the same whatever is trained beside it."""
        positions = np.repeat(np.arange(len(visits), dtype=np.int32), visits)
        for epoch in itertools.count(self.n_iter_):
            draws = [np.random.default_rng([self._seed, ORDERS, run, epoch]) for run in range(self.n_runs)]
            yield np.stack([each.permutation(positions) for each in draws])

    def _numbers(
        self, names: np.ndarray, given: Float[np.ndarray, " row"]
    ) -> tuple[Int[np.ndarray, " row"], Float[np.ndarray, " row"]]:
        """The numbers of the classes, and the weights times those of the classes."""
        strange = np.setdiff1d(names, self.classes_)
        if len(strange):
            raise ValueError(f"the label {strange.tolist()[0]!r} is not among the classes {self.classes_.tolist()}")
        labels = np.searchsorted(self.classes_, names)
        weights = given * self._weights_of_classes(labels, given)[labels]
        if not weights.any():
            raise ValueError("all sample weights are zero; at least one sample must count")
        return labels, weights

    def _weights_of_classes(
        self, labels: Int[np.ndarray, " row"], given: Float[np.ndarray, " row"]
    ) -> Float[np.ndarray, " class"]:
        n_classes = len(self.classes_)
        if self.class_weight is None:
            return np.ones(n_classes)
        if isinstance(self.class_weight, str):
            return given.sum() / (n_classes * np.bincount(labels, given, n_classes))
        weights = np.ones(n_classes)
        for name, weight in self.class_weight.items():
            if not (_is_number(weight) and 0 <= weight < np.inf):
                raise ValueError(f"the class_weight of {name!r} must be a number of at least 0, got {weight!r}")
            place = [number for number, known in enumerate(self.classes_.tolist()) if known == name]
            if not place:
                raise ValueError(
                    f"class_weight names {name!r}, which is not among the classes {self.classes_.tolist()}"
                )
            weights[place] = weight
        return weights

    def _chosen(self, labels: Int[np.ndarray, " row"], weights: Float[np.ndarray, " row"]) -> Bool[np.ndarray, " row"]:
        """Which rows are held out: a random part of each class, and never all of one."""
        draws, chosen = np.random.default_rng([self._seed, HELD_OUT]), np.zeros(len(labels), bool)
        for number in range(len(self.classes_)):
            rows = np.flatnonzero((labels == number) & (weights > 0))
            size = min(round(self.validation_fraction * len(rows)), len(rows) - 1)
            chosen[draws.permutation(rows)[: max(size, 0)]] = True
        if not chosen.any():
            raise ValueError(
                f"early_stopping holds out {self.validation_fraction:g} of each class, which is less than one sample"
                " here; take a larger validation_fraction, or early_stopping=False"
            )
        return chosen

    def _train(self, samples: WeightedSamples, epochs: int, held_out: WeightedSamples | None = None) -> None:
        several = len(self.classes_) > 2
        samples = samples._replace(inputs=samples.inputs / self.scale_)
        loss, labels = LOSSES[self.loss][several], samples.labels if several else 2 * samples.labels - 1
        passes = WeightedPasses(
            loss, float(self.step_size), int(self.batch_size), float(self.slope), Layers(self.layers)
        )
        weights, orders = samples.step_weights, self._orders(samples.visits)
        whole = float(weights @ samples.visits)
        start = self._weights
        before = float(self._losses(start, samples).mean())
        best, status, scores, waiting = start, np.zeros(0), [], 0
        last, first = self.n_iter_ + epochs, self.n_iter_ + 1
        course = passes.train(start, samples.inputs, labels, weights, orders)
        for epoch, (trained, sums) in enumerate(itertools.islice(course, epochs), first):
            lost = ~(np.isfinite(sums) & _are_finite(trained))
            if lost.all():
                found = f"all {self.n_runs} runs diverged" if self.n_runs > 1 else "training diverged"
                raise ValueError(f"{found} in epoch {epoch}: weights overflow with {self._smaller()}")
            self.n_iter_ = epoch
            self.loss_curve_.append(float(sums[~lost].mean() / whole))
            rests = (sums == 0) & (self.loss == "hinge")  # no sample has moved a weight during this epoch
            ended = np.where(lost, RunStatus.DIVERGED, np.where(rests, RunStatus.CONVERGED, RunStatus.BUDGET_SPENT))
            words = f"epoch {epoch} of {last}: training loss {self.loss_curve_[-1]:.4g}"
            if held_out is None:
                best, status = trained, ended
            else:
                decided = _decided(self._outputs(trained, held_out.inputs / self.scale_, ~lost).mean(axis=0))
                score = float(np.average(decided == held_out.labels, weights=held_out.totals))
                words += f", held-out accuracy {score:.4g}"
                waiting = 0 if score > max(scores, default=-np.inf) + self.tol else waiting + 1
                if score > max(scores, default=-np.inf):
                    best, status = trained, ended
                scores.append(score)
            if self.verbose:
                print(words, flush=True)
            if (rests | lost).all() or waiting >= self.n_iter_no_change:
                break
        if held_out is not None:
            self.validation_scores_, self.best_validation_score_ = scores, max(scores)
            if waiting >= self.n_iter_no_change:
                status = np.where(status == RunStatus.DIVERGED, status, RunStatus.CONVERGED)
        self._publish(jax.device_get(best), status, samples)
        self._warn(before)

    def _publish(self, weights: NetworkWeights, status: np.ndarray, samples: WeightedSamples) -> None:
        self._weights = weights
        self.status_ = np.array([RunStatus(int(each)).name for each in status])
        self.loss_ = self._losses(weights, samples)
        self.hidden_weights_ = np.asarray(weights.hidden, np.float64)
        output = np.asarray(weights.output, np.float64)
        self.output_weights_ = output if len(self.classes_) > 2 else output[:, 0]
        zeros = np.zeros(self.hidden_weights_.shape[:2])
        self.bias_ = zeros if weights.bias is None else np.asarray(weights.bias, np.float64)

    def _warn(self, before: float) -> None:
        lost = self.status_ == RunStatus.DIVERGED.name
        after = float(self.loss_[~lost].mean())
        if lost.any():
            words = (
                f"{lost.sum()} of {self.n_runs} runs diverged and are left out: weights overflow with {self._smaller()}"
            )
            warnings.warn(words, ConvergenceWarning, stacklevel=4)
        elif after > FAR_UP * before:
            words = f"the training loss rose from {before:.3g} to {after:.3g} with {self._smaller()}"
            warnings.warn(words, ConvergenceWarning, stacklevel=4)

    def _smaller(self) -> str:
        return f"step_size={self.step_size:g}; take a smaller one, such as {self.step_size / 10:g}"

    def _outputs(
        self, weights: NetworkWeights, inputs: Float[np.ndarray, "sample dim"], runs: Bool[np.ndarray, " run"]
    ) -> Float[np.ndarray, "chosen sample *output"]:
        """What some of the runs say, in float64, a block of samples at a time."""
        found = []
        for run in np.flatnonzero(runs):
            hidden, output = (np.asarray(part[run], np.float64) for part in weights[:2])
            bias = None if weights.bias is None else np.asarray(weights.bias[run], np.float64)
            found.append(outputs_by_blocks(hidden, output, inputs, float(self.slope), bias))
        outputs = np.stack(found)
        return outputs if len(self.classes_) > 2 else outputs[:, :, 0]

    def _losses(self, weights: NetworkWeights, samples: WeightedSamples) -> Float[np.ndarray, " run"]:
        """The mean training loss of each run, as `widenet.losses` has it, in float64."""
        with np.errstate(all="ignore"):  # a run that diverged has no outputs
            outputs = self._outputs(weights, samples.inputs, np.ones(self.n_runs, bool))
            if outputs.ndim == 2:
                lead = (1 - 2 * samples.labels) * outputs
            else:
                is_own = np.arange(len(self.classes_)) == samples.labels[:, None]
                leads = np.where(is_own, -np.inf, outputs - outputs[:, is_own][:, :, None])
                lead = leads.max(axis=2) if self.loss == "hinge" else np.asarray(logsumexp(leads, axis=2))
            losses = np.maximum(1 + lead, 0) if self.loss == "hinge" else np.logaddexp(0, lead)
            return np.average(losses, axis=1, weights=samples.totals)


_FOUND = (
    *("hidden_weights_", "output_weights_", "bias_", "status_", "loss_"),
    *("validation_scores_", "best_validation_score_", "_seen"),
)
_WORDS = {
    "loss": ("logistic", "hinge"),
    "scale": ("typical", "largest"),
    "layers": ("hidden", "both"),
    "dtype": ("float32", "float64"),
}
_NUMBERS = {
    "step_size": ("a positive number", lambda value: 0 < value < np.inf),
    "init_scale": ("a positive number", lambda value: 0 < value < np.inf),
    "slope": ("at least 0 and less than 1", lambda value: 0 <= value < 1),
    "validation_fraction": ("more than 0 and less than 1", lambda value: 0 < value < 1),
    "tol": ("a number of at least 0", lambda value: 0 <= value < np.inf),
}


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _decided(outputs: Float[np.ndarray, " sample *output"]) -> Int[np.ndarray, " sample"]:
    return (outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)


def _are_finite(weights: NetworkWeights) -> Bool[np.ndarray, " run"]:
    leaves = [np.asarray(leaf) for leaf in weights if leaf is not None]
    return np.all([np.isfinite(leaf.reshape(len(leaf), -1)).all(axis=1) for leaf in leaves], axis=0)


def _check_kinds(y: Any) -> None:
    """Labels are numbers, or texts; not both, and none is missing.

    Raises:
      ValueError: they are not, in a column that scikit-learn would sort or turn into text.
    """
    plain = isinstance(y, list | tuple)
    kind = getattr(getattr(y, "dtype", None), "kind", "b")
    values = y if plain else y.tolist() if kind == "O" else []
    first: dict[str, Any] = {}
    for value in values:
        kind = "text" if isinstance(value, str) else "a number" if isinstance(value, bool | Real | np.bool_) else None
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            raise ValueError(f"a label is missing: y has {value!r}; drop such rows, or give them a label of their own")
        if kind:
            first.setdefault(kind, value)
    if len(first) > 1:
        raise ValueError(
            f"y mixes labels that are text, such as {first['text']!r}, with numbers, such as {first['a number']!r};"
            " make them all text, as in [str(label) for label in y]"
        )


def _weights_of(sample_weight: Any, n_samples: int) -> Float[np.ndarray, " row"]:
    if sample_weight is None:
        return np.ones(n_samples)
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be one number per sample, got {sample_weight!r}") from None
    if weights.ndim == 0:
        weights = np.full(n_samples, weights)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number for each of {n_samples} samples, got shape {weights.shape}"
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ValueError(f"sample_weight must be finite and at least 0, got {weights[wrong][0]:g}")
    if not weights.any():
        raise ValueError("all sample weights are zero; at least one sample must count")
    return weights
