"""Data that misses an assumption by a little: the right one is named, with the right sign and size of its slack."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from widenet import papers
from widenet.certificates.data_forms import DataForm, views_of
from widenet.certificates.portrait import portray
from widenet.certificates.preparation import Scaling, prepare
from widenet.certificates.reading import read
from widenet.certificates.rows import ClaimRow, ask_all
from widenet.certificates.time_limit import TimeLimit
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.errors import DataError
from widenet.run.outcomes import cells_of

CHOICES = Choices(n_runs=1, n_neurons=2, max_updates=50)
RIGHT = np.array([[0.6, 0.8], [0.8, 0.6], [1.0, 0.0]])
LABELS = [1, 1, 1, -1, -1, -1]
LITTLE = pytest.mark.parametrize("little", [1e-9, 0.02])


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    """All examples share one store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WIDENET_STORE", str(tmp_path_factory.mktemp("thresholds")))
        yield


def asked(id: str, points: np.ndarray, labels: list[int] = LABELS) -> ClaimRow:
    view = DataForm("", UserData(from_arrays(points, labels), CHOICES), np.arange(len(points)))
    (row,) = ask_all([papers.find_claim(id)], [view], _cells(), TimeLimit(1000.0))
    return row


@functools.cache
def _cells():
    return cells_of(None)


def missing(row: ClaimRow) -> dict[str, float | None]:
    return {each.key: each.slack for each in row.missing}


def slack(row: ClaimRow, key: str) -> float:
    (found,) = [each.slack for each in row.hypotheses if each.key == key]
    assert found is not None
    return found


def two_sides() -> np.ndarray:
    """Unit vectors of two classes; none is the mirror image of another."""
    turn = np.array([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    return np.concatenate([RIGHT, -RIGHT @ turn])


@LITTLE
def test_a_point_that_is_a_little_too_long(little):
    long = asked("brutzkus2018.theorem_8", two_sides() * (1 + little))
    assert missing(long) == {"input_norm": pytest.approx(-little, rel=1e-3, abs=2e-12)}
    short = asked("brutzkus2018.theorem_8", two_sides() * (1 - little))
    assert not missing(short)
    assert slack(short, "input_norm") == pytest.approx(little, rel=1e-3, abs=2e-12)


@pytest.mark.parametrize("little", [1e-9, 2e-7])
def test_points_that_are_not_quite_unit_vectors(little):
    row = asked("chatterji2021.theorem_1_start", two_sides() * (1 + little))
    # In coordinates with the bias, (x, 1)/√2, a length that is off by ε is off by ε/2.
    assert missing(row) == {"unit_inputs": pytest.approx(-little / 2, rel=1e-2, abs=2e-12)}


@LITTLE
@pytest.mark.parametrize("sign", [1, -1])
def test_a_point_a_little_on_the_wrong_side(little, sign):
    points = np.array([[0.5, 0.0], [0.4, 0.0], [sign * little, 0.0], [-0.5, 0.0], [-0.4, 0.0], [-0.3, 0.0]])
    for id in ("brutzkus2018.theorem_2", "sarussi2021.theorem_4_1"):
        row = asked(id, points)
        if sign < 0:
            assert "separable" in missing(row)
            assert any("not separable" in each.why for each in row.missing if each.key == "separable")
        else:
            assert "separable" not in missing(row)
            assert slack(row, "separable") >= 0


@pytest.mark.parametrize("little", [1e-6, 0.1])
def test_a_point_and_almost_its_mirror_image(little):
    points = two_sides()
    points[3] = -np.array([math.cos(little), math.sin(little)])  # of (1, 0), turned by a little
    row = asked("li2018.assumption_a1", points)
    assert slack(row, "opposite_distance") == pytest.approx(2 * math.sin(little / 2), rel=1e-6, abs=1e-12)
    points[3] = [-1.0, 0.0]
    assert "opposite_distance" in missing(asked("li2018.assumption_a1", points))


@LITTLE
def test_equal_points_of_two_classes_are_not_apart(little):
    points = two_sides()
    points[3] = points[2]
    assert slack(asked("li2018.assumption_a1", points), "distance") == 0
    assert "distance" in missing(asked("li2018.assumption_a1", points))
    points[3] = [math.cos(little), math.sin(little)]
    assert slack(asked("li2018.assumption_a1", points), "distance") == pytest.approx(2 * math.sin(little / 2), rel=1e-5)


finite = st.floats(-1e3, 1e3, allow_nan=False) | st.sampled_from(
    [0.0, -0.0, 1e-99, 1e99, -1e99, 5e-324, 1e308, math.nan]
)


@given(
    points=arrays.arrays(np.float64, (5, 2), elements=finite),
    labels=st.lists(st.sampled_from(["a", "b", "c", "", "nan"]), min_size=5, max_size=5),
    scaling=st.sampled_from(Scaling),
)
def test_whatever_is_given_is_looked_at_or_refused_in_one_sentence(points, labels, scaling):
    seen = looked_at(points, labels, scaling)
    if isinstance(seen, str):
        assert "\n" not in seen
        return
    prepared, portrait, views = seen
    norms = np.linalg.norm(np.asarray(prepared.data.inputs), axis=1)
    assert scaling is Scaling.NONE or norms.max() <= 1
    assert all(len(view.rows) == view.user_data.data.n_samples for view in views)
    for found in portrait.separability:
        # A separator that was found is one; and contradicting points are never separated.
        assert not (found.separable and portrait.n_contradicting)
        assert found.separable is not True or (found.margin or 0) > 0


def looked_at(points: np.ndarray, labels: list[str], scaling: Scaling):
    try:
        table = read(points, labels)
        prepared = prepare(table, scaling)
        portrait = portray(table, prepared)
        return prepared, portrait, views_of(table, prepared, portrait, CHOICES)[0]
    except DataError as refusal:
        return str(refusal)
