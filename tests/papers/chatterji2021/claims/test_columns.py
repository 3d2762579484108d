"""Every column of every record that claims read: on two unequal cells, and on none."""

import numpy as np
import pytest

from tests.papers.chatterji2021.claims.test_theorem_2_later_steps import phase
from tests.papers.chatterji2021.cluster_toys import centres, clusters
from tests.papers.chatterji2021.toys import axes_run, drawn, placed
from widenet.claims.cases import columns_of
from widenet.papers.chatterji2021.claims.active_units import Activity
from widenet.papers.chatterji2021.claims.columns import FollowedDescent, Looked
from widenet.papers.chatterji2021.claims.lifted_units import Lifted
from widenet.papers.chatterji2021.claims.theorem_2 import Phases

RECORDS = {
    Looked: lambda: [placed(), drawn()],
    FollowedDescent: lambda: [axes_run(), axes_run(3, 5, 2e-8, 20)],
    Lifted: lambda: [clusters(), centres(n_runs=10)],
    Activity: lambda: [centres(2000, 5, 0.25, "exact"), centres(3000, 7, 0.25, "exact")],
    Phases: lambda: [phase(), phase(losses=phase().losses[:50], n_points=5)],
}
PAIRED = ("products", "same_cluster", "opposite", "clusters", "labels", "halves")
"""What has one entry per point, or pair of points, is joined where data sets have equally many."""


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_column_of_a_table_is_that_of_its_cells(kind):
    cells = RECORDS[kind]()
    table, blank = kind.join(cells), kind.join([])
    for name, about in columns_of(kind).items():
        others = [axis for axis in about.axes if axis != kind.rows and not axis.isdigit()]
        if len(others) > 1 or name in PAIRED:
            continue
        axis = others[0] if others else kind.rows if kind.rows in about.axes else "cell"
        assert len(getattr(blank.per(axis), name)) == 0, name
        parts = [np.asarray(getattr(kind.join([cell]).cells[0], name)) for cell in cells]
        if others and kind.rows not in about.axes:
            parts = [np.tile(part, len(cell)) for part, cell in zip(parts, cells, strict=True)]
        expected = np.concatenate([np.atleast_1d(part) if not others else part.ravel() for part in parts])
        np.testing.assert_array_equal(getattr(table.per(axis), name), expected, err_msg=name)
