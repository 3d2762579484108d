"""Full-batch gradient descent on the ReLU loss of many small problems of different sizes at once, in numpy.

Smaller problems are filled up with points of weight 0, coordinates 0 and neurons of vote 0, which change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.papers.brutzkus2018.runs.bad_minima import PointSet
from widenet.papers.brutzkus2018.runs.online import votes


@dataclass(frozen=True, eq=False)
class Descent:
    """Where gradient descent from each start ended.

    Attributes:
      outputs: y N(x) of each run at each point; 1 at points that only fill up.
      any_on: whether some neuron is on there.
      n_samples: how many points are real.
      ended: whether the gradient is exactly 0.
      steps: the most steps any run took.
    """

    outputs: Float[np.ndarray, "run sample"]
    any_on: Bool[np.ndarray, "run sample"]
    n_samples: np.ndarray
    ended: Bool[np.ndarray, " run"]
    steps: int

    @property
    def losses(self) -> Float[np.ndarray, " run"]:
        """L_S at the end."""
        return np.maximum(1 - self.outputs, 0).sum(axis=1) / self.n_samples


def descend(problems: Sequence[tuple[PointSet, np.ndarray]], step_size: float = 0.05, max_steps: int = 6000) -> Descent:
    """Gradient descent from each W until its gradient is exactly 0, with σ'(0) = 0 and v = 1."""
    sizes = np.array([(len(points.labels), *weights.shape) for points, weights in problems])
    n_samples, n_neurons, dim = sizes.max(axis=0)
    shape = len(problems)
    inputs = np.zeros((shape, n_samples, dim))
    rates = np.zeros((shape, n_samples))
    heads = np.zeros((shape, n_neurons))
    rows = np.zeros((shape, n_neurons, dim))
    labels = np.ones((shape, n_samples))
    for index, (points, weights) in enumerate(problems):
        n, neurons, width = sizes[index].tolist()
        inputs[index, :n, :width] = points.inputs
        labels[index, :n] = points.labels
        rates[index, :n] = 1 / n
        heads[index, :neurons] = votes(neurons // 2)
        rows[index, :neurons, :width] = weights
    real = rates > 0

    outputs, any_on = np.ones((shape, n_samples)), np.zeros((shape, n_samples), bool)
    alive = np.arange(shape)
    parts = (inputs, labels, rates, heads, rows)
    steps = 0
    while len(alive):
        x, y, rate, head, w = parts
        z = w @ x.transpose(0, 2, 1)
        on = (z > 0) & (head != 0)[:, :, None]
        margin = y * np.einsum("rn,rns->rs", head, np.where(on, z, 0))
        outputs[alive], any_on[alive] = np.where(real[alive], margin, 1.0), on.any(axis=1)
        pull = np.where((margin < 1) & (rate > 0), rate * y, 0.0)
        moving = ((pull != 0) & on.any(axis=1)).any(axis=1)
        if steps == max_steps:
            alive = alive[moving]
            break
        if not moving.all():
            alive, parts = alive[moving], tuple(part[moving] for part in parts)
            if not len(alive):
                break
            x, y, rate, head, w = parts
            on, pull = on[moving], pull[moving]
        w += step_size * head[:, :, None] * ((on * pull[:, None, :]) @ x)
        steps += 1
    ended = np.ones(shape, bool)
    ended[alive] = False
    return Descent(outputs, any_on, sizes[:, 0], ended, steps)
