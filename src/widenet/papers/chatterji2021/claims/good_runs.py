"""Good runs (Definition 16): all parts of Lemma 15 together."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promise
from widenet.papers.chatterji2021.claims.lemma_15_capture import (
    few_captured,
    harmful_sums,
    harmful_touched,
    helpful_sums,
    helpful_touched,
    many_captured,
    pulls_above,
    pulls_below,
)
from widenet.papers.chatterji2021.claims.lemma_15_first_step import in_window, norm_above, norm_below
from widenet.papers.chatterji2021.claims.starts import PROMISED, SURENESS, RandomStarts, Seldom
from widenet.papers.chatterji2021.claims.whole_clusters import together
from widenet.papers.chatterji2021.cluster_hypotheses import THEOREM_2, wide_enough
from widenet.papers.chatterji2021.runs.first_steps import first_steps, rows_of


def bounds_of(runs: RandomStarts) -> dict[str, Seldom]:
    """Every bound of Lemma 15 on these starts, part 4 for pairs."""
    return {
        "part 1, I_+": helpful_sums(runs),
        "part 1, I_−": harmful_sums(runs),
        "part 2, I_+ low": few_captured(runs, runs.fewest_helpful, ""),
        "part 2, I_+ high": many_captured(runs, runs.most_helpful, ""),
        "part 2, I_− low": few_captured(runs, runs.fewest_harmful, ""),
        "part 2, I_− high": many_captured(runs, runs.most_harmful, ""),
        "part 3, above": pulls_above(runs),
        "part 3, below": pulls_below(runs),
        "part 4, I_+": together(runs, runs.helpful_together, ""),
        "part 4, I_−": together(runs, runs.harmful_together, ""),
        "part 5, I_+": helpful_touched(runs),
        "part 5, I_−": harmful_touched(runs),
        "part 6": in_window(runs, 1.0, ""),
        "part 7, low": norm_above(runs),
        "part 7, high": norm_below(runs),
    }


@claim("chatterji2021.definition_16", Kind.STEP, "Lemma 15, all parts; Definition 16", reads=first_steps,
       given=[*THEOREM_2, wide_enough], title="A random start is good in all parts, with high probability")  # fmt: skip
def definition_16(runs: RandomStarts) -> Promise:
    """With probability at least $1 − δ$ a random start is good: all parts of Lemma 15 hold together, part 4 for pairs
    of points. $δ$ is the sum over the parts that can fail at these widths.
    """
    bounds = bounds_of(runs)
    telling = {name: bound.telling for name, bound in bounds.items()}
    broken = {name: bound.failed & telling[name] for name, bound in bounds.items()}
    allowed = sum(np.where(telling[name], bound.allowed, 0.0) for name, bound in bounds.items())

    def failures(cell: RandomStarts) -> dict[str, int]:
        """Of each part that can fail in this cell."""
        own = runs.cell == runs.cells.index(cell)
        return {name: int(broken[name][own].sum()) for name in bounds if telling[name][own].any()}

    return Promise(
        {
            "together": Seldom(
                np.any(list(broken.values()), axis=0),
                allowed,
                setting=runs.cell,
                text=f"all parts hold together, {PROMISED}",
            )
        },
        details=lambda: rows_of(runs.cells, looked_at=lambda cell: list(failures(cell)), failures=failures),
        note=f"Parts whose bound nothing could break are left out. {SURENESS}",
    )
