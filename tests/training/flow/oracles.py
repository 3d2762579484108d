"""Flows that are solved by hand, and small problems on which the solver is held against gradient descent.

One neuron w with output weight a, one point x with label 1, so the margin is q = a σ(⟨w, x⟩). While σ' = s,
dq/dt = κ g(q) with κ = a² s² ‖x‖² and g = −ℓ'. With the logistic loss g = 1/(1 + e^q), so d(e^q + q)/dt = κ.

Sliding: points (1, β) with label 1 and (0, 1) with label −1, one neuron with a = 1. On w₂ = 0 both one-sided fields
lead to w₂ = 0 while α < 2 β/(1 + e^{w₁}) < 1, because dw₂/dt = (β g₁ − σ'/2)/2 there with g₁ = 1/(1 + e^{w₁}). So σ'
at the second point is 2 β g₁, and w₁ = q follows the logistic form with κ = 1/2, until that σ' has fallen to α.
"""

import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

from widenet.networks import TwoLayer, leaky_relu
from widenet.networks.activations import PiecewiseLinear
from widenet.types import Dataset

SLOPE = 0.2
OUTER = 0.7
POINT = np.array([1.0, 2.0])
BETA = 0.8


def pull(slope):
    """κ of the single point."""
    return (OUTER * slope) ** 2 * (POINT @ POINT)


def level(margin):
    """e^q + q, which grows at the rate κ."""
    return np.exp(margin) + margin


def margin_at(target):
    """q with e^q + q = target."""
    return brentq(lambda q: q + np.exp(q) - target, -50, max(1, np.log(max(target, 1))) + 1, xtol=1e-14)


def late_margin(log_target):
    """q with e^q + q = exp(log_target), where neither exists as a number."""
    margin = log_target
    for _ in range(100):
        margin = log_target - np.log1p(margin * np.exp(-margin))
    return margin


def slide_end(start):
    """When the sliding of a neuron that starts at (start, 0) is over."""
    return (level(np.log(2 * BETA / SLOPE - 1)) - level(start)) * 2


def one_point():
    """One point, twice: the two share a kink."""
    return Dataset(jnp.asarray([POINT, POINT]), jnp.ones(2))


def two_points(labels=(1.0, -1.0)):
    return Dataset(jnp.asarray([[1.0, BETA], [0.0, 1.0]]), jnp.asarray(labels))


def one_neuron(row, outer=OUTER, slope=SLOPE):
    return TwoLayer(jnp.asarray([row]), jnp.asarray([outer]), None, leaky_relu(slope))


def problem(seed, kind="", n_samples=12, dim=3, n_neurons=6, scale=0.1):
    """(inputs, labels, rows) in general position, or with kinks that several samples share."""
    draw = np.random.default_rng(seed)
    direction = np.ones(dim) / dim**0.5
    inputs = draw.normal(size=(n_samples, dim))
    labels = np.where(inputs @ direction > 0, 1.0, -1.0)
    inputs += 0.2 * labels[:, None] * direction
    half = n_samples // 2
    if kind == "mirrored":
        inputs[half:], labels[half:] = -inputs[:half], -labels[:half]
    if kind == "contradicting":
        inputs[half:], labels[half:] = 0.5 * inputs[:half], -labels[:half]
    if kind == "whole":  # multiples, a zero input, kinks that meet in whole numbers
        inputs = np.round(inputs)
        inputs[0] = 0
    if kind in ("random", "whole"):
        labels = np.where(draw.random(n_samples) > 0.5, 1.0, -1.0)
    return inputs, labels, scale * draw.normal(size=(n_neurons, dim))


def in_space(inputs, labels, rows):
    """A problem of the plane with a third coordinate that is 0 and stays so."""
    inputs, rows = (np.pad(part, ((0, 0), (0, 1))) for part in (inputs, rows))
    return inputs, labels, rows


def stacked(problems, slopes: float | np.ndarray = 0.1):
    """Networks and data of several problems, one run each."""
    inputs, labels, rows = (jnp.asarray(np.stack(parts)) for parts in zip(*problems, strict=True))
    n_runs, n_neurons, _ = rows.shape
    outer = np.repeat([1.0, -1.0], n_neurons // 2) / n_neurons**0.5
    activation = PiecewiseLinear(jnp.broadcast_to(jnp.asarray(slopes), (n_runs,)), jnp.ones(n_runs))
    networks = TwoLayer(rows, jnp.tile(jnp.asarray(outer), (n_runs, 1)), None, activation)
    return networks, Dataset(inputs, labels)
