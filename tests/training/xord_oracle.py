"""Gradient descent on XORD as the paper writes it: on the points, through the network, by automatic differentiation."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from widenet.networks import ConvMaxPool
from widenet.types import Dataset, RunStatus


def mean_loss(network, data, margin):
    """(1/m₊) Σ₊ max(γ − N, 0) + (1/m₋) Σ₋ max(1 + N, 0), literally."""
    outputs = jax.vmap(network)(data.inputs)
    positive = data.labels > 0
    losses = hinges(outputs, data.labels, margin)
    sums = jnp.sum(jnp.where(positive, losses, 0)), jnp.sum(jnp.where(positive, 0, losses))
    mean = sums[0] / jnp.maximum(jnp.sum(positive), 1) + sums[1] / jnp.maximum(jnp.sum(~positive), 1)
    return mean, (outputs, 1)


def hinges(outputs, labels, margin):
    slack = jnp.where(labels > 0, margin, 1.0) - labels * outputs
    return jnp.where(slack > 0, slack, 0.0)


def whole_loss(network, data, margin):
    """The same, times the least common multiple of the class sizes: whole numbers instead of fractions."""
    n_positive, n_negative = jnp.sum(data.labels > 0), jnp.sum(data.labels < 0)
    lcm = jnp.lcm(jnp.maximum(n_positive, 1), jnp.maximum(n_negative, 1))
    weights = jnp.where(data.labels > 0, lcm // jnp.maximum(n_positive, 1), lcm // jnp.maximum(n_negative, 1))
    outputs = jax.vmap(network)(data.inputs)
    return jnp.sum(weights * hinges(outputs, data.labels, margin)), (outputs, lcm)


@functools.partial(jax.jit, static_argnames="literal")
def look(filters, votes, data, margin, literal=False):
    """Loss, its gradient, the outputs and the factor between this loss and the paper's."""
    form = mean_loss if literal else whole_loss

    def loss(filters):
        return form(ConvMaxPool(filters, votes), data, margin)

    (value, (outputs, factor)), gradient = jax.value_and_grad(loss, has_aux=True)(filters)
    return value, gradient, outputs, factor


def descend(network, data: Dataset, step_size, margin=1.0, max_steps=30_000, patience: int | None = 20, literal=False):
    """One run, one step at a time: the weights before every step and at the end, steps, status, first zero error."""
    filters, votes = network.filters, network.output_weights
    best, since, zero_error, path, step = np.inf, 0, -1, [np.asarray(filters)], 0
    while True:
        loss, gradient, outputs, factor = look(filters, votes, data, margin, literal)
        if zero_error < 0 and bool(jnp.all(data.labels * outputs > 0)):
            zero_error = step
        best, since = (float(loss), 0) if loss < best else (best, since + 1)
        still = not bool(jnp.any(gradient != 0))
        rule = still if patience is None else since >= patience
        if rule or step == max_steps:
            stuck = RunStatus.STALLED if loss > 0 else RunStatus.CONVERGED
            status = stuck if still else RunStatus.CONVERGED if rule else RunStatus.BUDGET_SPENT
            return np.stack(path), step, status, zero_error
        filters = filters - (step_size / factor) * gradient
        path.append(np.asarray(filters))
        step += 1
