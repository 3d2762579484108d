"""What a paper is: what to cite, and the table of contents of its package."""

import functools
import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Paper:
    """A paper and what its package holds, in the order of the paper. Nothing is imported before it is asked for.

    Attributes:
      key: author and year; the name of the package.
      claims: `module.name` of each claim, below the package's `claims`.
      figures: the name of each figure, which is also its module below `figures` and `drawings`.
    """

    key: str
    title: str
    authors: str
    venue: str
    arxiv: str
    in_one_line: str
    claims: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Paper {self.key}: {self.title} ({len(self.claims)} claims, {len(self.figures)} figures)>"

    @property
    def package(self) -> str:
        """The dotted name of its package."""
        return f"widenet.papers.{self.key}"

    @functools.cached_property
    def claim_ids(self) -> tuple[str, ...]:
        """The ids of the claims."""
        return tuple(f"{self.key}.{place.split('.')[-1]}" for place in self.claims)

    @property
    def figure_ids(self) -> tuple[str, ...]:
        """The ids of the figures."""
        return tuple(f"{self.key}.{name}" for name in self.figures)

    def load_claim(self, id: str) -> Any:
        """The claim of this id; its module is imported now."""
        module, name = self.claims[self.claim_ids.index(id)].rsplit(".", 1)
        return getattr(self._module(f"claims.{module}"), name)

    def load_figure(self, id: str) -> Any:
        """The figure of this id; its module is imported now."""
        name = self.figures[self.figure_ids.index(id)]
        return getattr(self._module(f"figures.{name}"), name)

    def module_of(self, id: str) -> str:
        """The module that defines the claim or figure of this id.

        Raises:
          ValueError: there is none.
        """
        if id in self.figure_ids:
            return f"{self.package}.figures.{self.figures[self.figure_ids.index(id)]}"
        return f"{self.package}.claims.{self.claims[self.claim_ids.index(id)].rsplit('.', 1)[0]}"

    def drawing(self, name: str) -> str:
        """The module of the package that draws: it has `draw`, and `animate` where the figure moves."""
        return f"{self.package}.drawings.{name}"

    @functools.cached_property
    def instances(self) -> tuple[str, ...]:
        """The module that says what stands in the plane where a statement is false; none where none does."""
        module = f"{self.package}.instances"
        return () if importlib.util.find_spec(module) is None else (module,)

    def _module(self, place: str) -> Any:
        return importlib.import_module(f"{self.package}.{place}")
