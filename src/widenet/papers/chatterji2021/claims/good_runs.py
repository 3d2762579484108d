"""Good runs (Definition 16): all parts of Lemma 15 together."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Part, Silence, claim
from widenet.claims.sides import Rate, Sense, evidence
from widenet.claims.specimen import Specimen
from widenet.papers.chatterji2021.claims.captured import (
    few_captured,
    harmful_sums,
    helpful_sums,
    many_captured,
    pulls_above,
    pulls_below,
    touched,
)
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.starts import (
    CONFIRMED,
    SURENESS,
    Seldom,
    conditions,
    rows_of,
    runs_of,
    starts_on,
    worst,
)
from widenet.papers.chatterji2021.claims.whole_clusters import together
from widenet.papers.chatterji2021.claims.window import in_window, norm_within, wide_enough
from widenet.papers.chatterji2021.runs.first_steps import FirstSteps, FirstStepSetting, first_steps


def bounds_of(cell: FirstSteps) -> dict[str, Seldom]:
    """Every bound of Lemma 15 on these starts, part 4 for pairs."""
    return {
        "part 1, I_+": helpful_sums(cell),
        "part 1, I_−": harmful_sums(cell),
        "part 2, I_+ low": few_captured(cell, cell.helpful),
        "part 2, I_+ high": many_captured(cell, cell.helpful),
        "part 2, I_− low": few_captured(cell, cell.harmful),
        "part 2, I_− high": many_captured(cell, cell.harmful),
        "part 3, above": pulls_above(cell),
        "part 3, below": pulls_below(cell),
        "part 4, I_+": together(cell, cell.helpful_pairs),
        "part 4, I_−": together(cell, cell.harmful_pairs),
        "part 5, I_+": touched(cell, helpful=True),
        "part 5, I_−": touched(cell, helpful=False),
        "part 6": in_window(cell, 1.0),
        "part 7, low": norm_within(cell, 0.6, Sense.AT_LEAST),
        "part 7, high": norm_within(cell, 3.0, Sense.AT_MOST),
    }


@claim("chatterji2021.definition_16", Kind.STEP, "Lemma 15, all parts; Definition 16", reads=first_steps)
def definition_16(cells: Sequence[FirstSteps]) -> Evidence:
    """With probability at least 1 − δ a random start is good: all parts of Lemma 15 hold together, part 4 for pairs of
    points; δ is the sum over the parts that can fail at these widths.
    """
    return evidence(
        {"all parts hold together": worst([_together(cell) for cell in cells])},
        (*conditions(cells), wide_enough(cells)),
        runs=runs_of(cells),
        details=rows_of(cells, looked_at=lambda cell: list(_telling(cell)), failures=_failures),
        note=noted(cells, f"Parts whose bound nothing could break are left out. {SURENESS}"),
    )


def _telling(cell: FirstSteps) -> dict[str, Seldom]:
    """The bounds that can fail."""
    return {name: bound for name, bound in bounds_of(cell).items() if bound.says_something}


def _together(cell: FirstSteps) -> Part:
    telling = _telling(cell).values()
    failed = np.any([bound.sides.broken for bound in telling], axis=0)
    allowed = sum(bound.allowed for bound in telling)
    part = Rate(failed, allowed).part("")
    return part if part.kept is not None else Rate(failed, max(allowed, CONFIRMED)).part("")


def _failures(cell: FirstSteps) -> dict[str, int]:
    return {name: int(bound.sides.broken.sum()) for name, bound in _telling(cell).items()}


@definition_16.speaks
def good_on(specimen: Specimen) -> list[FirstStepSetting] | Silence:
    """Random starts on the reader's data."""
    return starts_on(specimen)
