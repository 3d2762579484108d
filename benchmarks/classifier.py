"""`WideClassifier` beside scikit-learn's `MLPClassifier`, as their users call them: digits, both layers, mini-batches.

Both train width × 64 and 10 × width weights and the biases of the neurons by plain SGD on the cross entropy.
`MLPClassifier` has ten more numbers, the biases of its outputs, and starts elsewhere, so weights cannot be compared;
what must agree is the training accuracy.
"""

import functools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import Disagreement, Peer
from widenet.estimators import WideClassifier

CLOSE, ENOUGH = 0.03, 0.9
"""How far apart the mean training accuracies may be, and how good they must be."""
STEP, BATCH = 0.5, 32


@dataclass(frozen=True)
class ClassifierWorkload:
    """Networks on the 1797 digits of scikit-learn, scaled to the unit ball."""

    n_runs: int
    width: int

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        n_samples, dim = self.data[0].shape
        return {"runs": self.n_runs, "neurons": self.width, "samples": n_samples, "inputs": dim, "batch": BATCH}

    @functools.cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the unit ball, and their digits; as many as make whole batches."""
        from sklearn.datasets import load_digits

        loaded: Any = load_digits(return_X_y=True)
        inputs, labels = loaded
        whole = len(labels) // BATCH * BATCH
        return inputs[:whole] / np.linalg.norm(inputs[:whole], axis=1).max(), labels[:whole]

    @property
    def steps_per_epoch(self) -> int:
        """Batches of one pass."""
        return len(self.data[1]) // BATCH

    def ours(self, steps: int, long: int) -> Peer:
        """All networks at once."""

        def train(steps: int) -> np.ndarray:
            model = WideClassifier(
                self.width,
                slope=0.0,
                step_size=STEP,
                batch_size=BATCH,
                max_epochs=steps // self.steps_per_epoch,
                layers="both",
                scale="largest",
                n_runs=self.n_runs,
                random_state=0,
            ).fit(*self.data)
            return (model.decisions_of_runs(self.data[0]).argmax(axis=2) == self.data[1]).mean(axis=1)

        return Peer("widenet (WideClassifier)", train, self.n_runs, steps, long, "float32")

    def theirs(self, steps: int) -> Peer:
        """One network; several are several calls."""
        from sklearn import neural_network

        perceptron: Any = neural_network.MLPClassifier

        def train(steps: int) -> np.ndarray:
            model = perceptron(
                (self.width,),
                solver="sgd",
                alpha=0.0,
                batch_size=BATCH,
                learning_rate_init=STEP,
                momentum=0.0,
                nesterovs_momentum=False,
                max_iter=steps // self.steps_per_epoch,
                n_iter_no_change=10**6,
                random_state=0,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it says that it has not converged
                model.fit(self.data[0].astype(np.float32), self.data[1])
            return np.array([model.score(self.data[0].astype(np.float32), self.data[1])])

        return Peer("scikit-learn MLPClassifier", train, 1, steps, note="float32, one network per call")


def require_accuracy(found: dict[str, np.ndarray]) -> str:
    """The mean accuracies in words.

    Raises:
      Disagreement: they are not close, or not good.
    """
    means = {name: float(np.mean(values)) for name, values in found.items()}
    said = ", ".join(f"{name} {100 * mean:.1f} %" for name, mean in means.items())
    if max(means.values()) - min(means.values()) > CLOSE or min(means.values()) < ENOUGH:
        raise Disagreement(f"training accuracies: {said}; they must be above {ENOUGH:.0%} and within {CLOSE:.0%}")
    return f"Training accuracy: {said}."
