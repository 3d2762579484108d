"""What every claim asks for, in the words a reader sees: the sense of each part, and what each hypothesis requires.

No sense may turn and no requirement may become weaker unseen. Numbers that are measured on toys are not kept here: they
differ in the last digits between machines, and a copy of them would say nothing about whether they are right. Run as a
program, this file prints the table anew; compare it with the paper before you keep it.
"""

import importlib
import re

import pytest

from tests.papers.sarussi2021.inputs import given
from tests.papers.sarussi2021.requirements import REQUIRED
from widenet.claims.sides import Sides
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


def table_of(claim, monkeypatch):
    """Parts by name, and hypotheses by key."""
    parts, found = judged(claim, monkeypatch)
    senses = {name: part.sign if isinstance(part, Sides) else "fact" for name, part in parts.items()}
    # A limit with so many digits was itself computed from the toy.
    limits = {f"hypothesis {each.key}": re.sub(r"\d\.\d{5,}", "…", each.required) for each in found.hypotheses}
    return senses | limits


@pytest.mark.parametrize("id", PAPER.claim_ids)
def test_the_parts_and_the_hypotheses(id, monkeypatch):
    claim = find_claim(id)
    assert table_of(claim, monkeypatch) == REQUIRED[claim.name]


def test_no_claim_is_missing():
    assert {id.split(".")[1] for id in PAPER.claim_ids} == REQUIRED.keys()


if __name__ == "__main__":
    for each in PAPER.claim_ids:
        with pytest.MonkeyPatch.context() as patch:
            print(repr(each.split(".")[1]), ":", table_of(find_claim(each), patch), ",")
