"""Data at a threshold, moved by a little: what a claim says about it there."""

import functools
import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from widenet import papers
from widenet.claims import Evidence, Hypothesis, NotApplicable
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.run import Mishap, ask
from widenet.run.cells import Cells
from widenet.run.outcomes import cells_of

LITTLE = st.floats(-9.0, -1.0).map(lambda exponent: 10.0**exponent)
"""ε, from 1e-9 to 1e-1, in every order of magnitude."""
TOLERANCE = 1e-12
"""What `widenet.claims.tolerances.ROUNDING` allows; a slack has it added."""


def asked(id: str, points: Any, labels: Sequence[int], **choices: Any) -> Evidence | NotApplicable:
    """What the claim says about these points, which are taken as they are."""
    regime = id.startswith(("li2018.", "brutzkus2019."))  # two neurons are far from theirs
    narrow = {} if regime else {"n_neurons": 2}
    chosen: dict[str, Any] = {"n_runs": 1, **narrow} | choices
    user_data = UserData(from_arrays(points, labels), Choices(**chosen))
    answer = ask(papers.find_claim(id), user_data, _cells(os.environ["WIDENET_STORE"]))
    assert not isinstance(answer, Mishap), answer
    return answer


@functools.cache
def _cells(folder: str) -> Cells:
    return cells_of(None)


def found(id: str, points: Any, labels: Sequence[int], **choices: Any) -> Evidence:
    """The same, where the claim must speak."""
    answer = asked(id, points, labels, **choices)
    assert isinstance(answer, Evidence), answer
    return answer


def hypothesis_of(evidence: Evidence, key: str) -> Hypothesis:
    """The one of this key."""
    (only,) = [each for each in evidence.hypotheses if each.key == key]
    return only


def not_met(evidence: Evidence) -> set[str]:
    """The keys of all hypotheses that fail or are open."""
    return {each.key for each in evidence.hypotheses if not each.met}


def require(
    evidence: Evidence, key: str, *, met: bool, actual: float, slack: float, others: Collection[str] = ()
) -> None:
    """This hypothesis has this answer, with these numbers, and all others but `others` are met."""
    one = hypothesis_of(evidence, key)
    assert not_met(evidence) == {*others} | (set() if met else {key})
    assert one.met is met
    assert one.actual == pytest.approx(actual, rel=1e-9, abs=3e-12)
    assert one.slack == pytest.approx(slack, rel=1e-3, abs=3e-12)
    assert one.slack is not None
    assert one.slack >= 0 if met else one.slack <= 0


def nearly_inseparable(first: float) -> tuple[np.ndarray, np.ndarray]:
    """Signed points (first, ±1) and (1, 0), scaled into the ball: separable if and only if `first` is positive."""
    signed = np.array([(first, 1.0), (first, -1.0), (1.0, 0.0), (1.0, 0.3)]) / 2
    labels = np.array([1, -1, 1, -1])
    return signed * labels[:, None], labels
