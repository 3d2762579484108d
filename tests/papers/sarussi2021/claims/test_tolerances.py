"""Every part of every claim on toys: its room for rounding, what it promises, and which cases it scores.

Nothing here may become wider, or look at fewer cases, unseen. The room is relative to what is promised, the largest
over all cases; where 0 is promised it is a number of its own. Run as a program, this file prints the table anew; read
what has changed before you keep it.
"""

import importlib

import numpy as np
import pytest

from tests.papers.sarussi2021.inputs import given
from tests.papers.sarussi2021.tolerances import ROOMS
from widenet.claims.sides import Fact, Sides
from widenet.papers import find_claim
from widenet.papers.sarussi2021 import PAPER


def judged(claim, monkeypatch):
    """The conjuncts that a judge hands to `evidence`, and the evidence."""
    home = next(place.rpartition(".")[0] for place in PAPER.claims if place.endswith(f".{claim.name}"))
    module = importlib.import_module(f"{PAPER.room}.claims.{home}")
    seen, honest = {}, module.evidence

    def listen(parts, *others, **named):
        seen.update(parts)
        return honest(parts, *others, **named)

    monkeypatch.setattr(module, "evidence", listen)
    return seen, claim(*given(claim))


def digits(value):
    return float(f"{value:.3g}")


def shown(conjunct):
    """Sense, room, what is trivial, how many cases are scored and undecided; least and most promised and measured."""
    if isinstance(conjunct, Fact):
        scored = np.broadcast_to(True if conjunct.scored is None else conjunct.scored, np.shape(conjunct.holds))
        return ("fact", int(scored.sum()))
    assert isinstance(conjunct, Sides)
    scored, size = conjunct.scored, np.abs(conjunct.promised)
    share = np.divide(conjunct.room, size, out=np.full(len(size), -1.0), where=(size > 0) & scored)
    room = digits(share.max() if (share >= 0).any() else conjunct.room.max())
    trivial = "" if np.isnan(conjunct.trivial).all() else f"{conjunct.trivial.min():g}"
    counts = int(scored.sum()), int(conjunct.undecided.sum())
    ends = [digits(end(side[scored])) for side in (conjunct.promised, conjunct.measured) for end in (np.min, np.max)]
    return (conjunct.sign, room, trivial, *counts, *ends)


def table_of(claim, monkeypatch):
    """Parts by name, and hypotheses by key with what they require and find."""
    parts, found = judged(claim, monkeypatch)
    rows: dict[str, tuple] = {name: shown(part) for name, part in parts.items()}
    for each in found.hypotheses:
        actual = each.actual if isinstance(each.actual, str) else digits(each.actual)
        rows[f"hypothesis {each.key}"] = (each.required, actual)
    return rows


@pytest.mark.parametrize("id", PAPER.claim_ids)
def test_the_parts_and_their_room(id, monkeypatch):
    claim = find_claim(id)
    assert table_of(claim, monkeypatch) == ROOMS[claim.name]


def test_no_claim_is_missing():
    assert {id.split(".")[1] for id in PAPER.claim_ids} == ROOMS.keys()


if __name__ == "__main__":
    for each in PAPER.claim_ids:
        with pytest.MonkeyPatch.context() as patch:
            print(repr(each.split(".")[1]), ":", table_of(find_claim(each), patch), ",")
