"""Where a network with kinks may go: sides, crossings, and sliding along kinks.

A sample x and a neuron w meet at the kink ⟨w, x⟩ = 0. On either side of it the gradient is smooth, and only the
summand of this neuron and sample jumps. So a flow that arrives there does one of two things. If the field beyond the
kink leads on, the neuron *crosses*. If it leads back, no classical solution exists: the neuron *slides* along the
kink, with the one σ' between the two slopes that keeps ⟨w, x⟩ = 0. This is the solution of the differential inclusion
with Clarke's subdifferential (Filippov's convex combination). It ends when that σ' reaches one of the slopes.

A neuron may slide along several kinks at once: the σ' then solve a small linear system. Neurons do not mix, because
outputs are continuous at kinks. Samples that are multiples of each other share one kink, and are handled as one.
A neuron that starts on a kink which repels it from both sides may go either way; it takes the side whose slope is
closest to the activation's derivative at 0.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from widenet.networks.two_layer import EXACT
from widenet.training.flow.events import CLOSE, LOOKS, TO_POWERS, first_below_zero, put
from widenet.types import Dataset

ROUNDING = 1e-13
"""A cosine between a neuron and a sample that is this small is 0: its sign is rounding."""
NEAR = 8 * ROUNDING
"""Kinks of one neuron that it meets together."""


class Kinks(eqx.Module):
    """The kinks that the samples make.

    Attributes:
      inputs: the samples, with a last coordinate of 1 for a bias.
      norms: their norms.
      first: for every sample the first one that is a multiple of it: the name of their common kink.
      ratio: a sample is `ratio` times the first of its kink.
    """

    inputs: Float[Array, "sample dim"]
    norms: Float[Array, " sample"]
    first: Int[Array, " sample"]
    ratio: Float[Array, " sample"]


def kinks_of(data: Dataset, bias: bool) -> Kinks:
    """The kinks of one data set."""
    inputs = data.inputs
    if bias:
        inputs = jnp.concatenate([inputs, jnp.ones_like(inputs[:, :1])], axis=1)
    norms = jnp.sqrt(jnp.sum(inputs**2, axis=1))
    units = inputs / jnp.where(norms > 0, norms, 1)[:, None]

    def first_multiple(unit: Array) -> tuple[Array, Array]:
        same = jnp.max(jnp.abs(units - unit[None]), axis=1) < ROUNDING
        opposite = jnp.max(jnp.abs(units + unit[None]), axis=1) < ROUNDING
        index = jnp.argmax(same | opposite)
        return index, jnp.where(same[index], 1.0, -1.0)

    first, sign = jax.lax.map(first_multiple, units)
    ratio = sign * norms / jnp.where(norms > 0, norms[first], 1)
    return Kinks(inputs, norms, first.astype(jnp.int32), ratio)


class Pattern(eqx.Module):
    """On which side of every kink every neuron is, and where it slides.

    Attributes:
      sides: +1 and −1; 0 while the neuron slides along the kink of that sample.
      slots: the kinks a neuron slides along, by the first sample of each; −1 in an empty slot.
      inverse: of the Gram matrix of those samples; 0 in the rows and columns of empty slots.
      episodes: the number of the episode of sliding in each slot, counted over the run.
    """

    sides: Int[Array, "neuron sample"]
    slots: Int[Array, "neuron slot"]
    inverse: Float[Array, "neuron slot slot"]
    episodes: Int[Array, "neuron slot"]

    @classmethod
    def empty(cls, n_neurons: int, n_samples: int, n_slots: int, dtype: Any) -> "Pattern":
        """No sides yet, and nothing slides."""
        slots = jnp.full((n_neurons, n_slots), -1, jnp.int32)
        inverse = jnp.zeros((n_neurons, n_slots, n_slots), dtype)
        return cls(jnp.zeros((n_neurons, n_samples), jnp.int8), slots, inverse, slots)

    def frozen(self, kinks: Kinks, slope: Float[Array, ""]) -> "Frozen":
        """What the field needs of this pattern."""
        return Frozen(factors_of(self.sides, slope), kinks.inputs[jnp.maximum(self.slots, 0)], self.inverse)


class Frozen(eqx.Module):
    """A pattern as the field sees it, constant during a step of the solver.

    Attributes:
      factors: σ' of every neuron at every sample, 0 where it slides.
      normals: the samples of the kinks that each neuron slides along; anything in an empty slot.
      inverse: as in `Pattern`.
    """

    factors: Float[Array, "neuron sample"]
    normals: Float[Array, "neuron slot dim"]
    inverse: Float[Array, "neuron slot slot"]


def first_pattern(
    rows: Float[Array, "neuron dim"],
    kinks: Kinks,
    slope: Float[Array, ""],
    at_zero: Float[Array, ""],
    n_slots: int,
) -> Pattern:
    """The pattern before the first step. Exactly on a kink the side is a first guess, which the flow may correct."""
    z = jnp.dot(rows, kinks.inputs.T, precision=EXACT)
    guess = jnp.where(jnp.abs(at_zero - 1) <= jnp.abs(at_zero - slope), 1, -1)
    # Where samples share a kink, their sides must fit together.
    side = jnp.where(z > 0, 1, jnp.where(z < 0, -1, guess))
    sides = side[:, kinks.first] * jnp.sign(kinks.ratio).astype(side.dtype)[None]
    sides = jnp.where(kinks.norms[None] > 0, sides, guess)
    n_neurons, n_samples = sides.shape
    empty = Pattern.empty(n_neurons, n_samples, n_slots, rows.dtype)
    return Pattern(sides.astype(jnp.int8), empty.slots, empty.inverse, empty.episodes)


def factors_of(sides: Int[Array, "*neuron sample"], slope: Float[Array, ""]) -> Float[Array, "*neuron sample"]:
    """σ' on these sides, 0 where there is none."""
    return jnp.where(sides > 0, jnp.ones_like(slope), jnp.where(sides < 0, slope, jnp.zeros_like(slope)))


def pushes(
    base: Float[Array, "*neuron dim"],
    normals: Float[Array, "*neuron slot dim"],
    inverse: Float[Array, "*neuron slot slot"],
) -> Float[Array, "*neuron slot"]:
    """How strongly each kink holds a neuron that slides along it, so that `base` + Σ push·normal is tangent to all."""
    towards = jnp.einsum("...d,...md->...m", base, normals, precision=EXACT)
    return -jnp.einsum("...mk,...k->...m", inverse, towards, precision=EXACT)


def tangent(
    base: Float[Array, "*neuron dim"],
    normals: Float[Array, "*neuron slot dim"],
    inverse: Float[Array, "*neuron slot slot"],
) -> Float[Array, "*neuron dim"]:
    """The velocity of neurons, some of which slide, from what all other samples do."""
    return base + jnp.einsum("...m,...md->...d", pushes(base, normals, inverse), normals, precision=EXACT)


def first_arrival(
    rows: Float[Array, "look neuron dim"],
    pattern: Pattern,
    kinks: Kinks,
    slope: Float[Array, ""],
    scale: Float[Array, " neuron"],
    needed: Bool[Array, ""],
) -> tuple[Float[Array, ""], Int[Array, ""]]:
    """(share of a step before the first neuron is at a kink, neuron · samples + sample), or (1, −1) if none is.

    `rows` are the neurons at the `LOOKS`. The dense output of the solver is a polynomial of degree four, so these five
    looks determine every pre-activation between them.
    """
    z = jnp.einsum("knd,sd->kns", rows, kinks.inputs, precision=EXACT)
    size = kinks.norms[None] * scale[:, None]
    has_kink = (pattern.sides != 0) & (size > 0) & (slope != 1) & needed
    inward = jnp.where(has_kink, pattern.sides.astype(size.dtype) / jnp.where(size > 0, size, 1), 0)
    seen = (z * inward[None] + ROUNDING).reshape(len(LOOKS), -1)  # cosines, positive on the side of the pattern
    which = jnp.argmax(jnp.any(seen[1:] < 0, axis=1))
    low, before = jnp.asarray(LOOKS)[which], seen[which]

    # Of those that have arrived at the end, the one that a straight line says is first; then those that were earlier.
    def earlier(found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        high, after, _ = found
        spot = jnp.argmin(jnp.where(after < 0, before / (before - after), jnp.inf))
        powers = jnp.dot(jnp.asarray(TO_POWERS), seen[:, spot], precision=EXACT)
        share = first_below_zero(powers, low, high)
        weights = jnp.dot(share ** jnp.arange(4.0, -1.0, -1.0), jnp.asarray(TO_POWERS), precision=EXACT)
        there = put(jnp.dot(weights, seen, precision=EXACT), spot, 1.0)
        return share, there, spot.astype(jnp.int32)

    start = (jnp.asarray(LOOKS)[which + 1], seen[which + 1], jnp.full((), -1, jnp.int32))
    high, _, spot = jax.lax.while_loop(lambda found: jnp.any(found[1] < 0) & (found[0] - low > CLOSE), earlier, start)
    return jnp.where(spot >= 0, high, 1.0), spot


def slot_room(
    pulls: Float[Array, "neuron sample"], pattern: Pattern, frozen: Frozen, kinks: Kinks, slope: Float[Array, ""]
) -> Float[Array, "neuron slot"]:
    """How far the σ' of sliding neurons is from the two slopes, relative to them. Below 0 the sliding is over.

    `pulls` are the velocities −∂L/∂z at σ' = 1.
    """
    base = jnp.dot(pulls * frozen.factors, kinks.inputs, precision=EXACT)
    push = pushes(base, frozen.normals, frozen.inverse)
    plus, minus = _extremes(pulls, pattern.slots, kinks, slope)
    size = jnp.abs(plus) + jnp.abs(minus)
    within = jnp.minimum(push - plus, minus - push) / jnp.where(size > 0, size, 1)
    return jnp.where(pattern.slots >= 0, within + ROUNDING, jnp.inf)


def _extremes(
    pulls: Float[Array, "*neuron sample"], slots: Int[Array, "*neuron slot"], kinks: Kinks, slope: Float[Array, ""]
) -> tuple[Float[Array, "*neuron slot"], Float[Array, "*neuron slot"]]:
    """What the samples of a kink would push with on its positive and on its negative side."""
    belongs = kinks.first.reshape(*[1] * slots.ndim, -1) == slots[..., None]
    up = jnp.where(kinks.ratio > 0, jnp.ones_like(slope), slope) * kinks.ratio
    down = jnp.where(kinks.ratio > 0, slope, jnp.ones_like(slope)) * kinks.ratio

    def side(weight: Array) -> Array:
        pushed = pulls * weight.reshape(*[1] * (pulls.ndim - 1), -1)
        return jnp.sum(jnp.where(belongs, pushed[..., None, :], 0), axis=-1)

    return side(up), side(down)


class Turn(eqx.Module):
    """What happened to one neuron at a kink.

    Attributes:
      pattern: afterwards.
      row: the neuron, put exactly on the kinks that it slides along.
      crossed, slid, released: which of the three it was; none of them if the kink was only touched.
      corner: whether it arrived at other kinks at the same moment. Beyond such a point the flow need not be unique.
      full: whether it should slide, but has no slot left.
      slot: the one that was taken or left.
    """

    pattern: Pattern
    row: Float[Array, " dim"]
    crossed: Bool[Array, ""]
    slid: Bool[Array, ""]
    released: Bool[Array, ""]
    corner: Bool[Array, ""]
    full: Bool[Array, ""]
    slot: Int[Array, ""]


def turn(
    row: Float[Array, " dim"],
    pulls: Float[Array, " sample"],
    neuron: Int[Array, ""],
    place: Int[Array, ""],
    pattern: Pattern,
    kinks: Kinks,
    slope: Float[Array, ""],
    scale: Float[Array, ""],
    episode: Int[Array, ""],
) -> Turn:
    """Carry one neuron over the end of its pattern: `place` is a sample, or the number of samples plus a slot."""
    n_samples, n_slots = kinks.inputs.shape[0], pattern.slots.shape[1]
    at_slot = place >= n_samples
    sides, slots, inverse = pattern.sides[neuron], pattern.slots[neuron], pattern.inverse[neuron]
    normals = kinks.inputs[jnp.maximum(slots, 0)]
    held = jnp.clip(place - n_samples, 0, n_slots - 1)
    name = jnp.where(at_slot, slots[held], kinks.first[jnp.minimum(place, n_samples - 1)])
    group = kinks.first == name

    def speeds(sides: Array) -> Array:
        base = jnp.dot(pulls * factors_of(sides, slope), kinks.inputs, precision=EXACT)
        return jnp.dot(kinks.inputs, tangent(base, normals, inverse), precision=EXACT)

    # Arriving at a kink: cross it together with others met at the same moment, or alone, or not at all.
    z = jnp.dot(kinks.inputs, row, precision=EXACT)
    leaving = sides.astype(row.dtype) * speeds(sides) < 0  # nobody leaves without a side, nor a point of length 0
    arrives = jnp.any(leaving & group)
    many = group | (leaving & (jnp.abs(z) <= NEAR * kinks.norms * scale))
    corner = ~at_slot & arrives & jnp.any(many & ~group)

    def beyond(those: Array) -> tuple[Array, Array]:
        over = jnp.where(those, -sides, sides).astype(sides.dtype)
        return over, jnp.all(jnp.where(those, over.astype(row.dtype) * speeds(over) >= 0, True))

    (all_over, one_over), (all_go, one_goes) = jax.vmap(beyond)(jnp.stack([many, group]))
    crossed = ~at_slot & arrives & (all_go | one_goes)
    slides = ~at_slot & arrives & ~crossed
    free = jnp.argmax(slots < 0).astype(jnp.int32)
    full = slides & (slots[free] >= 0)
    slid = slides & ~full

    # Leaving a kink that held it: to the side whose slope has been reached.
    base = jnp.dot(pulls * factors_of(sides, slope), kinks.inputs, precision=EXACT)
    push = pushes(base, normals, inverse)
    plus, minus = _extremes(pulls, slots, kinks, slope)
    up = jnp.where(push[held] - plus[held] < minus[held] - push[held], 1, -1)
    left = (up * jnp.sign(kinks.ratio)).astype(sides.dtype)

    taken = put(slots, free, name)
    exact = jnp.where(slid, taken, slots)
    touched = jnp.where(~at_slot & ~arrives & (slots[free] < 0), taken, exact)
    new_slots = jnp.where(at_slot, put(slots, held, -1), exact)
    held_by, inverses = jax.vmap(lambda slots: _inverse(slots, kinks))(jnp.stack([touched, new_slots]))
    # Back onto the kinks, before a slot is left, and where a kink was only touched.
    off = jnp.dot(inverses[0], jnp.dot(held_by[0], row, precision=EXACT), precision=EXACT)
    row = row - jnp.dot(held_by[0].T, off, precision=EXACT)
    new_sides = jnp.where(crossed, jnp.where(all_go, all_over, one_over), sides)
    new_sides = jnp.where(group & slid, 0, jnp.where(group & at_slot, left, new_sides)).astype(sides.dtype)
    slot = jnp.where(at_slot, held, free)
    numbers = pattern.episodes[neuron]
    numbers = jnp.where(slid, put(numbers, free, episode), jnp.where(at_slot, put(numbers, held, -1), numbers))
    after = Pattern(
        put(pattern.sides, neuron, new_sides),
        put(pattern.slots, neuron, new_slots),
        put(pattern.inverse, neuron, inverses[1]),
        put(pattern.episodes, neuron, numbers),
    )
    return Turn(after, row, crossed, slid, at_slot, corner, full, slot)


def _inverse(slots: Int[Array, " slot"], kinks: Kinks) -> tuple[Float[Array, "slot dim"], Float[Array, "slot slot"]]:
    """(the samples in these slots, the inverse of their Gram matrix, or its pseudoinverse where it is singular)."""
    normals = jnp.where((slots >= 0)[:, None], kinks.inputs[jnp.maximum(slots, 0)], 0)
    gram = jnp.dot(normals, normals.T, precision=EXACT)
    return normals, jnp.linalg.pinv(gram, rtol=1e-12, hermitian=True)
