"""Good runs: all parts of Lemma 15 together, those that can fail."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.chatterji2021.cluster_toys import clusters, columns, expects, narrowed, rows_of_beta, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.claims.user_data import UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import good_runs
from widenet.papers.chatterji2021.claims.good_runs import bounds_of, definition_16
from widenet.papers.chatterji2021.claims.starts import RandomStarts


def judge(keep=8, **fields):
    return definition_16([altered(narrowed(clusters(), keep), **fields)])


def test_parts_are_listed_and_those_that_say_nothing_left_out():
    (row,) = judge().details["cells"]
    assert "part 3, above" not in row["looked_at"]
    assert {"part 1, I_+", "part 2, I_− high", "part 4, I_+", "part 7, high"} <= set(row["looked_at"])
    assert set(row["failures"].values()) == {0}
    assert judge(helpful=with_entry((slice(0, 12), 3), 0)).details["cells"][0]["failures"]["part 2, I_+ low"] == 12


def test_every_part_of_the_lemma_is_among_them():
    assert {name.split(",")[0] for name in bounds_of(columns(clusters()))} == {
        f"part {number}" for number in range(1, 8)
    }


def test_the_constants_of_parts_6_and_7():
    cell, norm = clusters(), f.norm_unit(2, 2000, 0.45)
    share = f.window_share(2000, cell.step, cell.deviation, cell.overlap, cell.radius)
    found = bounds_of(columns(cell))
    expects(found["part 6"], 2000 * share, 2000, f.window_failure(2000, cell.step, cell.deviation, 8))
    expects(found["part 7, low"], 0.6 * norm, np.nan, np.exp(-6000 / 2048))
    expects(found["part 7, high"], 3 * norm, np.nan, np.exp(-6000 / 1024))


def test_what_can_always_fail_or_never_says_nothing():
    wide = bounds_of(columns(altered(clusters(), half_width=10**9)))["part 3, above"]
    assert not bounds_of(columns(clusters()))["part 3, above"].telling.any()
    assert wide.telling.all()
    assert not dataclasses.replace(wide, allowed=np.ones(60)).telling.any()
    assert dataclasses.replace(wide, allowed=np.full(60, 0.99)).telling.all()


def test_each_setting_is_told_by_its_own_bounds():
    cells = [clusters(), altered(clusters(), half_width=10**9)]
    assert bounds_of(RandomStarts.join(cells))["part 3, above"].telling.tolist() == [False] * 60 + [True] * 60
    first, second = definition_16(cells).details["cells"]
    assert "part 3, above" in set(second["looked_at"]) - set(first["looked_at"])


def test_each_part_alone_makes_a_run_bad():
    wrong = {
        "part 1, I_+": {"helpful_sum": 0.0},
        "part 1, I_−": {"harmful_sum": 1e9},
        "part 2, I_+ high": {"helpful": 2000.0},
        "part 2, I_− low": {"harmful": 0.0},
        "part 2, I_− high": {"harmful": 2000.0},
        "part 4, I_+": {"helpful_pairs": 0.0},
        "part 4, I_−": {"harmful_pairs": 0.0},
        "part 7, low": {"norm": 1e-9},
        "part 7, high": {"norm": 1e9},
    }
    for name, change in wrong.items():
        ((field, value),) = change.items()
        cell = altered(clusters(), **{field: lambda a, value=value: 0 * a + value})
        assert definition_16([cell]).verdict is Verdict.VIOLATED, name
        assert definition_16([cell]).details["cells"][0]["failures"][name] == 60, name


def test_the_allowed_rate_is_the_sum():
    """2, 7 and 9 failures of 60 against δ = 0.056 and a little from the counts."""
    bad = [judge(norm=with_entry(slice(0, n), 1e9)).parts[0] for n in (2, 7, 9)]
    assert [part.kept for part in bad] == [None, None, False]
    assert bad[0].promised == pytest.approx(0.068, abs=0.012)


def test_a_readers_data():
    corners = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]) / np.sqrt(2)
    assert len(definition_16.on(UserData(from_arrays(corners, np.array([1.0, 1, -1, -1])))).settings) == 2


test_control = controls(
    good_runs,
    clusters,
    (definition_16, "together", {}, {"helpful": with_entry((slice(0, 12), 3), 0)}),
    *rows_of_beta(definition_16),
    (definition_16, "wide_enough", {}, {"dim": 1, "scaling": "exact"}, "start", "first_step"),
)
