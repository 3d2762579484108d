"""Two-layer networks trained in plain NumPy, one sample sum at a time: the oracle of the methods."""

import math

import numpy as np


def outputs_of(weights, second, bias, slope, x):
    z = weights @ x + bias
    return second @ np.where(z > 0, z, slope * z)


def logistic_gradient(weights, second, bias, slope, inputs, labels):
    """The gradient of the mean logistic loss in (W, a, b), and log of that loss; sample by sample."""
    gradients, losses = [np.zeros_like(part) for part in (weights, second, bias)], []
    for x, y in zip(inputs, labels, strict=True):
        z = weights @ x + bias
        on, margin = np.where(z > 0, 1.0, slope), y * outputs_of(weights, second, bias, slope, x)
        pull = -y / (1 + math.exp(margin)) / len(labels)
        gradients[0] += pull * np.outer(second * on, x)
        gradients[1] += pull * z * on
        gradients[2] += pull * second * on
        losses.append(math.log1p(math.exp(-margin)))
    return gradients, math.log(math.fsum(losses) / len(losses))


def parts_of(network, run):
    """(W, a, b) of one run as NumPy arrays."""
    bias = np.zeros(network.n_neurons) if network.bias is None else np.asarray(network.bias[run])
    return [np.array(part) for part in (network.hidden_weights[run], network.output_weights[run], bias)]


def train_by_hand(network, run, batches, change, *, both=False, slope=0.2):
    """(W, a, b) after every step, and every log-loss; `change` makes of it and the gradients what is subtracted."""
    parts, moving = parts_of(network, run), (True, both, network.bias is not None)
    path, told = [[part.copy() for part in parts]], []
    for taken, (inputs, labels) in enumerate(batches):
        gradients, log_loss = logistic_gradient(parts[0], parts[1], parts[2], slope, inputs, labels)
        told.append(log_loss)
        changes = change(gradients, log_loss, taken)
        parts = [part - step if moves else part for part, step, moves in zip(parts, changes, moving, strict=True)]
        path.append([part.copy() for part in parts])
    return path, told
