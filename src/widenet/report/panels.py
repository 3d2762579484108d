"""The picture of a figure on its page: its panels as drawings in the page's own font and colours."""

import base64
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from widenet.plots import PANELS


@dataclass(frozen=True)
class DrawnPanel:
    """One drawing. `is_wide` where it takes the whole width."""

    title: str
    is_wide: bool
    svg: Markup


@dataclass(frozen=True)
class Panels:
    """What stands on the page.

    Attributes:
      panels: drawings inside the page; none where the figure has only a file.
      file: the name of that file in the folder of figures, or its content as a `data:` address.
    """

    panels: tuple[DrawnPanel, ...] = ()
    note: str = ""
    file: str = ""
    data: str = ""

    @property
    def are_pairs(self) -> bool:
        """Whether the drawings stand two by two, as on the sheet: beside each other is what belongs together.

        Wide ones stand between them. One alone is as large as one of two.
        """
        rows = (list(row) for is_wide, row in itertools.groupby(self.panels, lambda each: each.is_wide) if not is_wide)
        return all(len(row) in (1, 2, 4, 8) for row in rows)


def panels_of(id: str, files: Mapping[str, bytes], inside: bool) -> Panels:
    """The panels among the files of a figure; without any the whole picture, `inside` the page or as its file."""
    if id + PANELS in files:
        found = json.loads(files[id + PANELS])
        drawn = tuple(
            DrawnPanel(each["title"], each["wide"], Markup(_named_apart(each["svg"], f"{id}-{place}")))
            for place, each in enumerate(found["panels"])
        )
        return Panels(drawn, found.get("note", ""))
    if inside:
        content = base64.b64encode(files[f"{id}.svg"]).decode("ascii")
        return Panels(data=f"data:image/svg+xml;base64,{content}")
    return Panels(file=f"{id}.svg")


def _named_apart(svg: str, name: str) -> str:
    """The drawing with names that no other drawing of the page has."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    svg = re.sub(r"^.*?(?=<svg\b)", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    return re.sub(r'((?:xlink:)?href)="#', rf'\1="#{name}-', svg)
