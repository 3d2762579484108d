"""What each claim asks for is what the index says: sense, limit, tolerance, what holds anyway, and which cases."""

import json

import pytest

from widenet import papers
from widenet.papers import index

CLAUSES = {row["id"]: row["clauses"] for row in json.loads(index.FILE.read_text(encoding="utf-8"))["claims"]}


@pytest.mark.parametrize("id", papers.claim_ids())
def test_a_claim_asks_for_what_the_index_says(id: str) -> None:
    assert [each.row() for each in papers.find_claim(id).clauses.values()] == CLAUSES[id]
