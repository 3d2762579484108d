"""What tests of figures ask of comparisons."""

from collections.abc import Iterable

from widenet.figures import Comparison


def verdicts(rows: Iterable[Comparison]) -> dict[str, str]:
    """The verdict of each comparison by its name."""
    return {row.name: row.verdict for row in rows}
