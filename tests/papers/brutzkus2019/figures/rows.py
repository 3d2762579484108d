"""What tests of figures ask of comparisons."""

from collections.abc import Callable, Iterable

import xarray as xr

from widenet.figures import Comparison


def verdicts(rows: Iterable[Comparison]) -> dict[str, str]:
    """The verdict of each comparison by its name."""
    return {row.name: row.verdict for row in rows}


def tells_the_opposite(numbers: xr.Dataset, compare: Callable[[xr.Dataset], list[Comparison]]) -> None:
    """The wide network has errors and is wrong, the narrow one recovers f*, and no filter is near its pattern: every
    comparison says so.
    """
    opposite = numbers.assign(
        train_error=numbers.train_error.where(numbers.network == "narrow", 0.1),
        n_wrong_sets=numbers.n_wrong_sets.where(numbers.network == "wide", 0).where(numbers.network == "narrow", 3),
        wide_filters=numbers.wide_filters[..., ::-1] * [1, -1],
    )
    rows = [row for row in compare(opposite) if not row.added]
    unchanged = "training error of the network shown, k = 2"
    assert {row.name: row.verdict for row in rows} == {
        row.name: "AGREES" if row.name == unchanged else "DIFFERS" for row in rows
    }
    lost = numbers.assign(train_error=numbers.train_error.where(numbers.network == "wide", 0.1))
    found = verdicts(compare(lost))
    assert found[unchanged] == "DIFFERS"
    assert found["share of runs: zero training error and wrong elsewhere, k = 2"] == "DIFFERS"
