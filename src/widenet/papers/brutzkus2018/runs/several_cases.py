"""Experiments whose cells hold several cases each, in a field `cases`."""

from collections.abc import Iterable
from typing import Any


class SeveralCases:
    """A table with one cell per case, whether cells or single cases are joined."""

    @classmethod
    def join(cls, cells: Iterable[Any]) -> Any:
        """Of all cases."""
        joined: Any = super()
        return joined.join([case for cell in cells for case in getattr(cell, "cases", (cell,))])
