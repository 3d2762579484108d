"""What every claim asks for, in the words a reader sees: the sense of each part with its room for rounding, and what
each hypothesis requires.

A promise that is one round number in every case stands beside its sense, and so does what holds anyway. No sense may
turn, no room may grow and no requirement may become weaker unseen. Numbers that are measured on toys are not kept here:
they differ in the last digits between machines, and a copy of them would say nothing about whether they are right. Run
as a program, this file prints the table anew; compare it with the paper before you keep it.
"""

import re

import numpy as np
import pytest

from tests.papers.sarussi2021.inputs import SIZES, given, handed
from tests.papers.sarussi2021.requirements import REQUIRED
from widenet.claims.sides import Sides
from widenet.papers import find_claim
from widenet.papers.sarussi2021 import PAPER


def room_of(sides, size=None):
    """In which unit the room is the same round number in every case: the promise, what is measured, 1, or 1 + promise.

    `size` is another unit, computed apart, of parts where what cancels is larger than both sides.
    """
    units = {
        " of it": sides.promised,
        " of what is measured": sides.measured,
        "": 1.0,
        " of 1 + it": 1 + sides.promised,
    }
    if size is not None:
        units = {" of its size": size}
    known = np.isfinite(sides.room) & sides.scored
    if not sides.room[known].any():
        return ""
    for words, unit in units.items():
        whole = np.abs(np.broadcast_to(unit, sides.room.shape))[known]
        shares = sides.room[known][whole > 0] / whole[whole > 0]
        if len(shares) and np.ptp(shares) <= 1e-4 * shares.max() and is_round(shares.max()):
            return f" to {shares.max():.1g}{words}"
    return " to …"


def is_round(number):
    return abs(float(f"{number:.1g}") / number - 1) < 1e-4


def table_of(claim):
    """Parts by name, and hypotheses by key."""
    parts, found = handed(claim, *given(claim))
    senses = {name: sense_of(claim, name, part) for name, part in parts.items()}
    # A limit with so many digits was itself computed from the toy.
    limits = {f"hypothesis {each.key}": re.sub(r"\d\.\d{5,}", "…", each.required) for each in found.hypotheses}
    return senses | limits


def sense_of(claim, name, part):
    if not isinstance(part, Sides):
        return "fact"
    unit = SIZES.get(claim.name, {}).get(name)
    room = room_of(part, None if unit is None else unit(part, *given(claim)))
    anyway = f", {part.trivial[0]:g} holds anyway" if np.isfinite(part.trivial).any() else ""
    return f"{part.sign}{constant_of(part)}{room}{anyway}"


def constant_of(sides):
    promised = sides.promised[sides.scored]
    whole = len(promised) and (promised == promised[0]).all() and promised[0] == float(f"{promised[0]:.3g}")
    return f" {promised[0]:g}" if whole else ""


@pytest.mark.parametrize("id", PAPER.claim_ids)
def test_the_parts_and_the_hypotheses(id):
    claim = find_claim(id)
    assert table_of(claim) == REQUIRED[claim.name]


def test_no_claim_is_missing():
    assert {id.split(".")[1] for id in PAPER.claim_ids} == REQUIRED.keys()


if __name__ == "__main__":
    for each in PAPER.claim_ids:
        print(f"{each.split('.')[1]!r}: {table_of(find_claim(each))},")
