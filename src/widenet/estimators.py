"""A wide two-layer network as a scikit-learn classifier: many of them at once, trained by the engine."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from widenet.losses import cross_entropy, hinge, logistic, multiclass_hinge
from widenet.networks.activations import leaky_relu, relu
from widenet.networks.arrays import leaky
from widenet.networks.two_layer import TwoLayer, make_two_layer
from widenet.training.ensemble import ensemble
from widenet.training.methods import SGD
from widenet.training.orders import Permutation
from widenet.training.recipe import Recipe
from widenet.types import Dataset, Layers, RunStatus

LOSSES = {"logistic": (logistic, cross_entropy), "hinge": (hinge, multiclass_hinge)}
"""By name: the loss for two classes, and for more."""


def _has_probabilities(model: "WideClassifier") -> bool:
    if model.loss != "logistic":
        raise AttributeError(f"predict_proba needs loss='logistic'; the loss {model.loss!r} has no probabilities")
    return True


class WideClassifier(ClassifierMixin, BaseEstimator):
    """N(x) = Σ_r a_r σ(⟨w_r, x⟩ + b_r), trained by SGD from a small start: the networks that the theorems are about.

    Inputs are divided by the largest norm of the training set, as the theorems ask for points of the unit ball. With
    several runs, networks that differ in start and order are trained as one program, and their outputs are averaged.

    Parameters:
      width: neurons, an even number.
      loss: "logistic" or "hinge"; with more than two classes the cross entropy, or the hinge of the closest class.
      slope: of the Leaky ReLU; 0 is ReLU.
      init_scale: R, the length of each neuron's weights at the start; 1/√width by default.
      step_size: η.
      batch_size: samples per step.
      max_epochs: passes over the data. With the hinge loss a run that has reached loss 0 stops before.
      layers: "hidden", as in the theorems, or "both".
      bias: whether neurons have biases.
      n_runs: networks.
      dtype: "float32" or "float64"; predictions are always computed in float64.
      random_state: of starts and orders.

    Attributes:
      classes_: the labels, sorted.
      n_features_in_: columns of the inputs.
      scale_: what inputs are divided by.
      hidden_weights_, output_weights_, bias_: the weights of all runs, runs first.
      status_: how each run ended, by the names of `RunStatus`; `loss_`: the training loss of each.
      n_iter_: epochs of the run that took longest.
    """

    def __init__(
        self,
        width=100,
        *,
        loss="logistic",
        slope=0.1,
        init_scale: Any = None,
        step_size=0.5,
        batch_size=1,
        max_epochs=100,
        layers="hidden",
        bias=True,
        n_runs=1,
        dtype="float32",
        random_state: Any = None,
    ):
        """Nothing is looked at before `fit`, not even types, as scikit-learn asks."""
        self.width, self.loss, self.slope, self.init_scale = width, loss, slope, init_scale
        self.step_size, self.batch_size, self.max_epochs = step_size, batch_size, max_epochs
        self.layers, self.bias, self.n_runs, self.dtype = layers, bias, n_runs, dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "WideClassifier":
        """Train from a fresh start.

        Raises:
          ValueError: a parameter or the data cannot be used; every run diverged.
        """
        inputs, names = self._validated(X, y)
        self._begin(inputs, np.unique(names))
        self._train(inputs, names, self.max_epochs)
        self._seen = (inputs, names)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "WideClassifier":
        """One more epoch, on this data; the first call must name all classes, and sets the scale of the inputs.

        Raises:
          ValueError: as `fit`; a label is not among the classes.
        """
        is_first = not hasattr(self, "classes_")
        if is_first and classes is None:
            raise ValueError("the first call of partial_fit must name all classes")
        inputs, names = self._validated(X, y, reset=is_first)
        if is_first:
            self._begin(inputs, np.unique(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes are {self.classes_.tolist()} since the first call, got {list(classes)}")
        self._train(inputs, names, 1)
        self._seen = None
        return self

    def decision_function(self, X: Any) -> Float[np.ndarray, " sample *output"]:
        """The mean output of all runs: positive for the second of two classes, or a column per class."""
        return self.decisions_of_runs(X).mean(axis=0)

    def decisions_of_runs(self, X: Any) -> Float[np.ndarray, "run sample *output"]:
        """The outputs of every run that did not diverge."""
        check_is_fitted(self, "hidden_weights_")
        inputs: Any = validate_data(self, X, reset=False, dtype=np.float64)
        inputs = inputs / self.scale_
        whole = self.status_ != RunStatus.DIVERGED.name
        outputs = []
        for rows, votes, biases in zip(
            self.hidden_weights_[whole], self.output_weights_[whole], self.bias_[whole], strict=True
        ):
            z = inputs @ rows.T + biases
            outputs.append(leaky(z, self.slope) @ votes.T)
        return np.stack(outputs)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample."""
        decided = self.decision_function(X)
        chosen = (decided > 0).astype(int) if decided.ndim == 1 else decided.argmax(axis=1)
        return self.classes_[chosen]

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

        Its theorems are about Leaky ReLUs: with slope 0 it takes the slope that `certify` chooses, and says which.

        Raises:
          AttributeError: `fit` was not called last: `partial_fit` keeps no data.
        """
        seen = getattr(self, "_seen", None)
        if seen is None:
            raise AttributeError("there is a certificate after fit only: partial_fit keeps no data")
        from widenet.certificates import certify  # late: it loads every theorem

        inputs, names = seen
        return certify(
            inputs,
            names,
            width=self.width,
            step_size=self.step_size,
            init_scale=self.init_scale,
            slope=self.slope or None,
            seed=self._seed,
        )

    def _validated(self, X: Any, y: Any, reset: bool = True) -> tuple[np.ndarray, np.ndarray]:
        self._check_parameters()
        checked: Any = validate_data(self, X, y, reset=reset, dtype=np.float64, ensure_min_samples=2)
        inputs, names = checked
        check_classification_targets(names)
        return inputs, names

    def _check_parameters(self) -> None:
        """One sentence for what would otherwise surface deep inside a compiled program."""
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be 'logistic' or 'hinge', got {self.loss!r}")
        if self.layers not in ("hidden", "both"):
            raise ValueError(f"layers must be 'hidden' or 'both', got {self.layers!r}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        for name in ("width", "batch_size", "max_epochs", "n_runs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if self.width % 2:
            raise ValueError(f"width must be even: half of the neurons vote for a class; got {self.width}")
        for name in ("step_size", "init_scale"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        if not 0 <= self.slope < 1:
            raise ValueError(f"slope must be at least 0 and less than 1, got {self.slope!r}")

    def _begin(self, inputs: np.ndarray, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ValueError(f"a classifier needs two classes or more; the data has 1 class, {classes[0]!r}")
        self.classes_ = classes
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        largest = float(np.linalg.norm(inputs, axis=1).max())
        self.scale_ = largest if 0 < largest < np.inf else 1.0
        self._epochs, self._weights = 0, self._fresh(inputs.shape[1])

    def _fresh(self, dim: int) -> TwoLayer:
        """Every run at its start."""
        n_outputs = None if len(self.classes_) == 2 else len(self.classes_)
        activation = leaky_relu(self.slope) if self.slope else relu()

        def one(key: Array) -> TwoLayer:
            return make_two_layer(
                key,
                self.width,
                dim,
                activation,
                radius=self.init_scale,
                bias=self.bias,
                n_outputs=n_outputs,
                dtype=jnp.dtype(self.dtype),
            )

        return jax.device_get(jax.vmap(one)(jax.random.split(self._key(0), self.n_runs)))

    def _key(self, purpose: int) -> Array:
        return jax.random.fold_in(jax.random.key(self._seed), purpose)

    def _train(self, inputs: np.ndarray, names: np.ndarray, epochs: int) -> None:
        unknown = np.setdiff1d(names, self.classes_)
        if len(unknown):
            raise ValueError(f"the label {unknown[0]!r} is not among the classes {self.classes_.tolist()}")
        data = Dataset(jnp.asarray(inputs / self.scale_, self.dtype), jnp.asarray(self._labels(names), self.dtype))
        batch = min(int(self.batch_size), data.n_samples)
        method = SGD(self.step_size, Permutation(), batch)
        loss = LOSSES[self.loss][len(self.classes_) > 2]
        per_epoch = method.steps_per_epoch(data.n_samples)
        recipe = Recipe(loss, method=method, max_steps=epochs * per_epoch, layers=Layers(self.layers))
        keys = jax.random.split(self._key(1 + self._epochs), self.n_runs)
        done = jax.device_get(ensemble(jax.tree.map(jnp.asarray, self._weights), data, recipe, keys))
        lost = int(np.sum(done.status == RunStatus.DIVERGED))
        if lost == self.n_runs:
            raise ValueError(f"every run diverged with step_size {self.step_size}; take a smaller one")
        self._weights = done.network
        self._epochs += epochs
        self.n_iter_ = int(-(-int(np.max(done.steps)) // per_epoch)) + self._epochs - epochs
        self.loss_ = np.asarray(done.loss, np.float64)
        self.status_ = np.array([RunStatus(int(status)).name for status in done.status])
        self._publish(done.network)
        if lost:
            message = f"{lost} of {self.n_runs} runs diverged and are left out; take a smaller step_size"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _labels(self, names: np.ndarray) -> Int[np.ndarray, " sample"]:
        numbers = np.searchsorted(self.classes_, names)
        return 2 * numbers - 1 if len(self.classes_) == 2 else numbers

    def _publish(self, network: TwoLayer) -> None:
        self.hidden_weights_ = np.asarray(network.hidden_weights, np.float64)
        self.output_weights_ = np.asarray(network.output_weights, np.float64)
        zeros = np.zeros(self.hidden_weights_.shape[:2])
        self.bias_ = zeros if network.bias is None else np.asarray(network.bias, np.float64)
