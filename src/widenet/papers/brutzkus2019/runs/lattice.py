"""The compiled program behind `traces`: Eq. 7 and 8 for many runs side by side, and what is looked at on the way.

A filter is its two fits (s, r) in units of η. Runs are the last axis, the one that the processor works on side by side.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

CHUNK = 256
"""Steps between two looks of the interpreter."""


def in_13(s: Float[Array, "*any"], r: Float[Array, "*any"]) -> Bool[Array, "*any"]:
    """Whether the best of the four patterns is p₁ or p₃; ties go as in `ConvMaxPool`."""
    along = jnp.abs(r)
    return jnp.where(s > 0, s >= along, -s > along)


def moves(
    s: Float[Array, "*any"],
    r: Float[Array, "*any"],
    votes: float | Float[Array, "..."],
    plus: bool | float | Float[Array, "..."],
    minus: bool | float | Float[Array, "..."],
) -> tuple[Float[Array, "*any"], Float[Array, "*any"]]:
    """One step of Eq. 7 (votes +1) and Eq. 8 (votes −1): what is added to s and r.

    plus and minus say whether N(x⁺) < γ and −N(x⁻) < 1. A step along p adds 2 to the fit with p, because ⟨p, p⟩ = 2.
    """
    is_13 = in_13(s, r)
    ds = 2 * votes * jnp.where(is_13, plus, 0.0) * jnp.sign(s)
    dr = 2 * votes * (jnp.where(is_13, 0.0, plus) - minus) * jnp.sign(r)
    return ds, dr


@functools.partial(jax.jit, static_argnames="record")
def advance_chunk(state, start, goals: Float[Array, " 2"], record: bool):
    """`CHUNK` steps of a block; runs are the last axis."""
    half = start[0].shape[0] // 2
    votes = jnp.where(jnp.arange(2 * half) < half, 1.0, -1.0)[:, None]
    at_start = in_13(*start)

    def step(state, _):
        s, r, steps, _ = state
        is_13 = in_13(s, r)
        on_minus = jnp.abs(r)
        on_plus = jnp.where(is_13, jnp.abs(s), on_minus)
        plus = (jnp.sum(votes * on_plus, axis=0) < goals[0]).astype(s.dtype)
        minus = (-jnp.sum(votes * on_minus, axis=0) < goals[1]).astype(s.dtype)
        ds, dr = moves(s, r, votes, plus, minus)
        moving = jnp.any((ds != 0) | (dr != 0), axis=0)
        seen = _observe(s, r, ds, dr, is_13, on_plus, on_minus, start, at_start) if record else {}
        return (s + ds, r + dr, steps + moving, moving), (plus + minus > 0, seen)

    state, (active, seen) = jax.lax.scan(step, state, length=CHUNK)
    return state, active[-1], seen


def _observe(s, r, ds, dr, is_13, on_plus, on_minus, start, at_start) -> dict[str, Array]:
    """What is recorded at one t, by the names of `Trace`; ds and dr are the steps from t to t + 1."""
    half = s.shape[0] // 2
    by_sign = lambda value: value.reshape(2, half, -1)  # the w's, then the u's  # noqa: E731
    total = lambda mask, value: jnp.sum(jnp.where(mask, value, 0.0), axis=-2)  # noqa: E731
    count = lambda mask: jnp.sum(mask, axis=-2, dtype=jnp.int16)  # noqa: E731
    right, up, u = start[0] > 0, start[1] > 0, slice(half, None)
    next_13 = in_13(s + ds, r + dr)
    flipped = jnp.where(at_start, (s > 0) != right, False)
    moved, left = count(by_sign((is_13 != at_start) | flipped))[0], count(~at_start[u] & is_13[u])
    plus_13, minus_13 = total(by_sign(is_13), by_sign(on_plus)), total(by_sign(is_13), by_sign(on_minus))
    minus_24, n_13 = total(by_sign(~is_13), by_sign(on_minus)), count(by_sign(is_13))
    by_start = jnp.stack([~at_start & up, ~at_start & ~up, at_start & up, at_start & ~up])[:, u]
    parts = total(by_start, on_minus[u])
    seen = {
        "s_plus": plus_13[0],
        "s_minus": minus_13[0],
        "p_plus": plus_13[1],
        "p_minus": minus_13[1],
        "x": minus_24[0],
        "y": minus_24[1],
        "s_plus_1": total((is_13 & (s > 0))[:half], on_plus[:half]),
        **{name: parts[place] for place, name in enumerate(("y_2", "y_4", "z_2", "z_4"))},
        "y_kept": total(~is_13[u] & ~next_13[u], jnp.abs(r + dr)[u]),
        "largest_r": jnp.max(jnp.where(at_start, on_minus, 0.0)[:half], axis=0),
        "w13": n_13[0],
        "u13": n_13[1],
        "w_moved": moved,
        "u_left": left,
        "u_lost": count(~is_13[u] & next_13[u]),
        "u_flipped": count((r > 0)[u] != up[u]),
    }
    towards, along = jnp.sign(start[0]), jnp.sign(start[1])
    integers = {
        "range": jnp.stack([(s - start[0]) * towards, (r - start[1]) * along]).reshape(2, 2, half, -1),
        "step": jnp.stack([ds * towards, dr * jnp.sign(r)])[:, :half].reshape(2, 1, half, -1),
    }
    for kind, value in integers.items():
        for part, inside in (("13", at_start), ("24", ~at_start)):
            mask = by_sign(inside)[: value.shape[1]]
            low = jnp.min(jnp.where(mask, value, jnp.inf), axis=-2)
            high = jnp.max(jnp.where(mask, value, -jnp.inf), axis=-2)
            extremes = jnp.where(jnp.any(mask, axis=-2), jnp.stack([low, high]) / 2, 0.0).astype(jnp.int32)
            for place, letter, sign in np.ndindex(2, 2, value.shape[1]):
                seen[f"{'ab'[letter]}_{kind}_{'wu'[sign]}{part}_{place}"] = extremes[place, letter, sign]
    return seen
