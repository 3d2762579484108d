"""Leaps over cycles: the steps of gradient descent on XORD that only repeat what was seen are counted, not taken.

Between two events (a filter crosses s = 0, r = 0 or |s| = |r|, a loss or a sign switches) all steps are the same. But
events do not become rare with small steps: a filter or a loss at a kink is thrown over it again and again. What repeats
is the cycle of these throws, so a whole cycle is the unit here. A lane goes through three phases:

1. SEARCH: take steps until the increments of the outputs have repeated themselves for a while.
2. MEASURE: take one more cycle. It moves the weights by D.
3. CHECK: take one more, and look at everything that decides a step. The next cycle is a copy of this one, shifted by
   D, as long as nothing changes its sign. All of it is linear in the weights between kinks, so each step allows some
   copies, |x| / |change of x by D| for the x that comes to 0 first. The smallest of these numbers is leapt over.

Only the last phase decides; the first is a guess that costs time where it is wrong, and nothing else. A leap is taken
only where no sum is rounded (`GRID` in `widenet.training.xord`), so the weights after it have the bits that single
steps would have given. Elsewhere single steps are taken.
"""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

LONGEST = 128
"""Steps in the longest cycle that is found."""

LARGEST = 512.0
"""Multiples of the grid below this add without rounding."""

SEARCH, MEASURE, CHECK = 0, 1, 2

FEWEST = 64
"""Steps that must have been as those a cycle before: inside a long cycle a short one often seems to repeat."""

LENGTHS = np.arange(1, LONGEST + 1)[:, None]


class Cycle(eqx.Module):
    """What is known of the cycle of every lane, as long as it lasts.

    Attributes:
      phase: SEARCH, MEASURE or CHECK.
      length: steps in the cycle.
      first, second: the weights at its beginning.
      drift_first, drift_second: what the cycle before added to them, D.
      copied: whether this cycle is a copy of the one before.
    """

    phase: Int[Array, " lane"]
    length: Int[Array, " lane"]
    first: Float[Array, "channel lane"]
    second: Float[Array, "channel lane"]
    drift_first: Float[Array, "channel lane"]
    drift_second: Float[Array, "channel lane"]
    copied: Bool[Array, " lane"]


class Seen(eqx.Module):
    """What every step adds to.

    Attributes:
      signs: a number for each of the last steps, the latest first; equal steps have equal numbers.
      matches: for each length, how many of the last steps were as the step that long before.
      left: steps until the cycle is over.
      limit: how many copies of it are certain, as far as it was seen.
      lowest, highest: how much a shift by D changes the loss, over the steps seen.
    """

    signs: Float[Array, "length lane"]
    matches: Int[Array, "length lane"]
    left: Int[Array, " lane"]
    limit: Float[Array, " lane"]
    lowest: Float[Array, " lane"]
    highest: Float[Array, " lane"]


class LeapRule(eqx.Module):
    """What a leap must respect.

    Attributes:
      allowed: lanes that may leap.
      by_loss: whether the best loss decides when to stop. Then the best must lie in the cycle, and all its losses must
        fall alike: so every copy has a new best at the same place. And the cycle must itself be a copy: it has shown
        that the rule does not stop between two bests.
      since_best: steps since the best loss.
      steps_left: of the budget.
    """

    allowed: Bool[Array, " lane"]
    by_loss: Bool[Array, ""]
    since_best: Int[Array, " lane"]
    steps_left: Int[Array, " lane"]


def nothing_known(n_channels: int, n_lanes: int) -> tuple[Cycle, Seen]:
    """Before the first step."""
    whole, real, grid = jnp.zeros(n_lanes, jnp.int32), jnp.zeros(n_lanes), jnp.zeros((n_channels, n_lanes))
    table = jnp.zeros((LONGEST, n_lanes))
    cycle = Cycle(whole + SEARCH, whole, grid, grid, grid, grid, whole > 0)
    return cycle, Seen(table, table.astype(jnp.int32), whole, real, real, real)


def forget(cycle: Cycle, seen: Seen, fresh: Bool[Array, " lane"]) -> tuple[Cycle, Seen]:
    """Search from the beginning where a new run has taken the lane."""
    phase, matches = jnp.where(fresh, SEARCH, cycle.phase), jnp.where(fresh, 0, seen.matches)
    return dataclasses.replace(cycle, phase=phase), dataclasses.replace(seen, matches=matches)


def listen(seen: Seen, sign: Float[Array, " lane"]) -> Seen:
    """One more step, known by its number."""
    return dataclasses.replace(
        seen,
        signs=jnp.concatenate([sign[None], seen.signs[:-1]]),
        matches=jnp.where(seen.signs == sign, seen.matches + 1, 0),
        left=seen.left - 1,
    )


def certain_copies(value: Float[Array, "row lane"], change: Float[Array, "row lane"]) -> Float[Array, " lane"]:
    """The largest whole n such that value + change, …, value + n·change have the sign of value, in every row."""
    ratio = -value / change  # not a number, and so no limit, where a value of 0 does not change
    # A quotient that was rounded to a whole number is at worst one too small this way, never too large.
    return jnp.maximum(jnp.ceil(jnp.min(jnp.where(ratio >= 0, ratio, jnp.inf), axis=0)) - 1, 0)


def see(
    cycle: Cycle,
    seen: Seen,
    first: Float[Array, "channel lane"],
    second: Float[Array, "channel lane"],
    fits: tuple[Float[Array, "row lane"], Float[Array, "row lane"]],
    losses: tuple[Float[Array, " lane"], Float[Array, " lane"]],
) -> tuple[Float[Array, " lane"], Float[Array, " lane"], Float[Array, " lane"]]:
    """The new limit, lowest and highest after one more step of the cycle.

    Arguments:
      first, second: the weights before the step.
      fits: what must keep its sign beside the filters, here and shifted by D.
      losses: the loss here and shifted by D.
    """
    filters = [(first, cycle.drift_first), (second, cycle.drift_second)]
    # |s| = |r| where one of the two weights is 0.
    filters += [(first + sign * second, cycle.drift_first + sign * cycle.drift_second) for sign in (1, -1)]
    copies = [certain_copies(*pair) for pair in (*filters, (fits[0], fits[1] - fits[0]))]
    slope = losses[1] - losses[0]
    limit = jnp.min(jnp.stack([seen.limit, *copies]), axis=0)
    return limit, jnp.minimum(seen.lowest, slope), jnp.maximum(seen.highest, slope)


def turns(
    cycle: Cycle, seen: Seen, allowed: Bool[Array, " lane"]
) -> tuple[Bool[Array, " lane"], Bool[Array, " lane"], Int[Array, " lane"]]:
    """After a step: in which lanes a cycle is found, in which one is over, and the length of the shortest found."""
    found = seen.matches >= np.maximum(LENGTHS, FEWEST)
    starts = (cycle.phase == SEARCH) & jnp.any(found, axis=0) & allowed
    over = (cycle.phase != SEARCH) & (seen.left == 0)
    return starts, over, jnp.argmax(found, axis=0).astype(jnp.int32) + 1


def leap(
    cycle: Cycle, seen: Seen, first: Float[Array, "channel lane"], second: Float[Array, "channel lane"], rule: LeapRule
) -> tuple[Float[Array, "channel lane"], Float[Array, "channel lane"], Int[Array, " lane"], Cycle, Seen]:
    """The weights after the leap, how many cycles were leapt over, and the cycle that begins then."""
    starts, over, shortest = turns(cycle, seen, rule.allowed)
    drift_first, drift_second = first - cycle.first, second - cycle.second
    same = jnp.all((drift_first == cycle.drift_first) & (drift_second == cycle.drift_second), axis=0)
    sure = over & (cycle.phase == CHECK) & same & (seen.limit >= 1) & rule.allowed
    falls = (seen.lowest == seen.highest) & (seen.highest < 0)
    certain = sure & (~rule.by_loss | (cycle.copied & falls & (rule.since_best <= cycle.length)))
    count = jnp.where(certain, jnp.minimum(seen.limit, rule.steps_left // jnp.maximum(cycle.length, 1)), 0.0)
    size = jnp.sum(jnp.abs(first + count * drift_first) + jnp.abs(second + count * drift_second), axis=0)
    count = jnp.where(size < LARGEST, count, 0.0)
    # Where no leap is taken nothing is added: D may be infinite there.
    first = jnp.where(count > 0, first + count * drift_first, first)
    second = jnp.where(count > 0, second + count * drift_second, second)

    checks = over & (cycle.phase == MEASURE) | (sure & rule.by_loss & ~cycle.copied)
    begins, ends = starts | checks, over & ~checks
    length = jnp.where(starts, shortest, cycle.length)
    phases = [jnp.int32(phase) for phase in (MEASURE, CHECK, SEARCH)]
    return (
        first,
        second,
        count.astype(jnp.int32),
        Cycle(
            phase=jnp.select([starts, checks, ends], phases, cycle.phase),
            length=length,
            first=jnp.where(begins, first, cycle.first),
            second=jnp.where(begins, second, cycle.second),
            drift_first=jnp.where(over, drift_first, cycle.drift_first),
            drift_second=jnp.where(over, drift_second, cycle.drift_second),
            copied=jnp.where(begins, sure, cycle.copied),
        ),
        Seen(
            signs=seen.signs,
            matches=jnp.where(ends, 0, seen.matches),
            left=jnp.where(begins, length, seen.left),
            limit=jnp.where(begins, jnp.inf, seen.limit),
            lowest=jnp.where(begins, jnp.inf, seen.lowest),
            highest=jnp.where(begins, -jnp.inf, seen.highest),
        ),
    )
