"""Accuracies and fit times of `WideClassifier` beside `MLPClassifier`, as the table of docs/scikit-learn.md.

`python -m benchmarks.accuracies` prints it. Times are processor time, in a process of its own for each pair of data set
and classifier, after all imports, with nothing compiled before.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH, FOLDS = 100, 5
Points = tuple[np.ndarray, np.ndarray]


def spiral(n_points: int = 400, noise: float = 0.02) -> Points:
    """Two arms of one and a half turns each."""
    draws = np.random.default_rng(0)
    arm = np.arange(n_points) % 2
    turn = 3 * np.pi * np.sqrt(draws.uniform(size=n_points))
    arms = np.stack([np.cos(turn + np.pi * arm), np.sin(turn + np.pi * arm)], axis=1) * turn[:, None] / (3 * np.pi)
    return arms + noise * draws.normal(size=arms.shape), arm


def _loaded(name: str) -> Callable[[], Points]:
    def load() -> Points:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(return_X_y=True)

    return load


DATA: dict[str, Callable[[], Points]] = {
    "wine": _loaded("wine"),
    "breast cancer": _loaded("breast_cancer"),
    "digits": _loaded("digits"),
    "spiral": spiral,
}


def _wide(**more: Any) -> Any:
    from widenet.estimators import WideClassifier

    return WideClassifier(WIDTH, random_state=0, **more)


def _perceptron() -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier((WIDTH,), random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "`WideClassifier()`": _wide,
    '`WideClassifier(layers="both", step_size=0.1)`': lambda: _wide(layers="both", step_size=0.1),
    "`MLPClassifier()`": _perceptron,
}


def measure(data: str, model: str, folds: int = FOLDS) -> dict[str, float]:
    """Processor seconds of a first and a second fit, and the accuracy in a cross-validation, of scaled columns."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    inputs, labels = DATA[data]()
    scaled = StandardScaler().fit_transform(inputs)
    found, made = {}, MODELS[model]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLPClassifier says that it has not converged
        for name in ("first", "second"):
            start = time.process_time()
            made.fit(scaled, labels)
            found[name] = time.process_time() - start
        parts = StratifiedKFold(folds, shuffle=True, random_state=0)
        scores = cross_val_score(make_pipeline(StandardScaler(), MODELS[model]()), inputs, labels, cv=parts)
    return found | {"accuracy": float(scores.mean())}


def table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """One row per data set and classifier, in Markdown."""
    lines = ["| data | classifier | accuracy | first fit | second fit |", "|---|---|---|---|---|"]
    for data, models in found.items():
        for model, each in models.items():
            times = f"{each['first']:.2f} s | {each['second']:.2f} s"
            lines.append(f"| {data} | {model} | {each['accuracy']:.3f} | {times} |")
    return "\n".join(lines)


def main() -> None:
    """Measure one pair and print JSON, or all pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pair", nargs="*")
    parser.add_argument("--folds", type=int, default=FOLDS)
    chosen = parser.parse_args()
    if chosen.pair:
        print(json.dumps(measure(*chosen.pair, folds=chosen.folds)))
        return
    found: dict[str, dict[str, dict[str, float]]] = {}
    for data in DATA:
        for model in MODELS:
            print(f"{data}, {model}", file=sys.stderr)
            call = [sys.executable, "-m", "benchmarks.accuracies", data, model]
            found.setdefault(data, {})[model] = json.loads(
                subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout
            )
    print(table(found))


if __name__ == "__main__":
    main()
