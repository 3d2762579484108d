"""Where the time of a block goes: the same training with one part more at a time.

A part is what a row has beyond the one above it. The first four do the work of a block without its meaning (nothing is
learned, but every array has its true size); the last two are the kernel `blocked` itself.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from benchmarks.limits import TINY
from benchmarks.measure import Peer
from benchmarks.threads import in_threads, shares
from benchmarks.workloads import ROWS, SgdWorkload
from widenet.networks.two_layer import EXACT
from widenet.training import SGD, Listed, Permutation
from widenet.training.engine.batch import in_turn, together
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.methods.base import without_runs
from widenet.types import Layers

ROWS_OF_DATA, PREACTIVATIONS, INNER_PRODUCTS, UPDATE = "rows of data", "+ W x", "+ inner products", "+ W + C X"
WALK, ORDER = "+ walk (blocked)", "+ drawing the order"


def peers(workload: SgdWorkload, steps: int) -> list[Peer]:
    """One program per row of the table, the whole training first; `steps` must be a multiple of `ROWS`."""
    on_cpu, inputs = jax.default_backend() == "cpu", workload.data.inputs
    chosen = jnp.asarray(workload.orders(steps))
    places = [(jnp.asarray(share),) for share in (shares(workload.n_runs) if on_cpu else [np.arange(workload.n_runs)])]

    def per_run(leaf):
        return jnp.broadcast_to(leaf, (workload.n_runs, *jnp.shape(leaf)[1:]))

    networks = jax.tree.map(per_run, workload.networks)

    def peer(name: str, train: Callable[[Array], Any]) -> Peer:
        def all_runs(_: int) -> Any:
            return jnp.concatenate(in_threads(lambda share: jax.block_until_ready(train(share)), places))

        return Peer(name, all_runs, workload.n_runs, steps)

    def in_blocks(stage: str) -> Callable[[Array], Any]:
        def one(run):
            return _blocks(run[0], inputs, run[1].reshape(-1, ROWS), stage)

        program = jax.jit((lambda runs: jax.lax.map(one, runs)) if on_cpu else jax.vmap(one))
        return lambda share: program((networks.hidden_weights[share], chosen[share]))

    def in_kernel(listed: bool) -> Callable[[Array], Any]:
        advance, method = in_turn if on_cpu else together, without_runs(SGD(1.0, kernel="blocked"))

        def train(share: Array) -> Any:
            order = Listed(chosen[share]) if listed else Permutation()
            nets, none = jax.tree.map(lambda leaf: leaf[share], networks), jnp.zeros(len(share), jnp.int32)
            state = State(nets, Tally.zero(len(share)))
            sizes, span = jnp.full(len(share), workload.step_size), (jnp.int32(0), jnp.int32(steps))
            own = workload.data, order, workload.keys[share], sizes, None
            segment = Segment(*own, *span, workload.loss, Layers.HIDDEN, 1)
            after, _ = advance(method, state, none, segment, span, jnp.ones(len(share), bool))
            return after.network.hidden_weights

        return train

    stages = (UPDATE, INNER_PRODUCTS, PREACTIVATIONS, ROWS_OF_DATA)
    whole = [peer(ORDER, in_kernel(listed=False)), peer(WALK, in_kernel(listed=True))]
    return [*whole, *(peer(stage, in_blocks(stage)) for stage in stages)]


def _blocks(
    weights: Float[Array, "neuron dim"], inputs: Float[Array, "sample dim"], chosen: Int[Array, "block row"], stage: str
) -> Float[Array, "neuron dim"]:
    """The work of all blocks up to that stage."""

    def work(carry: tuple[Array, Array], rows: Array) -> tuple[tuple[Array, Array], None]:
        weights, seen = carry
        x = inputs[rows]
        if stage == ROWS_OF_DATA:
            return (weights, seen + jnp.sum(x)), None
        hidden = jnp.dot(x, weights.T, precision=EXACT)
        if stage == PREACTIVATIONS:
            return (weights, seen + jnp.sum(hidden)), None
        gram = jnp.dot(x, x.T, precision=EXACT)
        if stage == INNER_PRODUCTS:
            return (weights, seen + jnp.sum(hidden) + jnp.sum(gram)), None
        coefficients = TINY * (hidden + jnp.sum(gram, axis=1, keepdims=True))
        return (weights + jnp.dot(coefficients.T, x, precision=EXACT), seen), None

    weights, seen = jax.lax.scan(work, (weights, jnp.zeros((), weights.dtype)), chosen)[0]
    return weights + TINY * seen
