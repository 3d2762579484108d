"""Eq. 12 and 13: what one step does to the filters u that still look at p₁ or p₃.

On trajectories there are none after the first step (`minus_filters`), and at t = 0 both points are active. So these two
statements are tested on units made for the purpose (`placed_units`).
"""

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Count, derived
from widenet.claims.implication import Promise, Promised, at_least, equal
from widenet.claims.sides import Fact
from widenet.papers.brutzkus2019.claims.trajectories import Trajectories
from widenet.papers.brutzkus2019.hypotheses import start_size, units_in_u13
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.placed_units import PlacedUnits, placed_units
from widenet.papers.brutzkus2019.runs.traces import traces
from widenet.records import Form

PLACED = (start_size.of(0), units_in_u13.of(0))


def _n_in_u13(units: PlacedUnits) -> int:
    s, r = np.abs(units.starts).T
    return int(len(s) * (s > r).all())


class SizedUnits(PlacedUnits):
    """Placed units, with how large they start."""

    n_in_u13: Count = derived(_n_in_u13)  #: how many starts, if all are in U13, else 0
    largest_fit: Float[np.ndarray, " unit"] = derived(lambda units: np.tile(np.abs(units.starts).max(axis=1), 2))


class Alongside(Trajectories):
    """Trajectories that are only shown beside the units: they count nowhere."""

    def counts(self) -> dict[str, int]:
        """None."""
        return {"tried": 0, "diverged": 0, "unfinished": 0}


@claim("brutzkus2019.equation_12", Kind.STEP, "Eq. 12, proof of Lemma E.11", reads=(placed_units, traces),
       given=PLACED, title="Where only $x⁻$ is active, a unit of $U13$ moves to $U24$")  # fmt: skip
def equation_12(units: SizedUnits, runs: Alongside, *, plus: bool = False) -> Promise:
    """In a step where only $x⁻$ is active, every unit of $U13(t)$ moves to $U24(t+1)$, and the responses of these units
    to $x⁺$ do not fall. (After $t = 0$ no trajectory in the event has such a unit, so it is tested on units placed
    there.)
    """
    after, t = units.after_plus if plus else units.after_minus, runs.per("time")
    keeps = at_least(
        np.abs(after).max(axis=1),
        np.abs(units.fits).max(axis=1),
        text="the response to $x⁺$ does not fall",
        quantity="a unit's response to x⁺ after the step, in units of η",
    )
    lands = Fact(~in_13(after[:, 0], after[:, 1]), text="every unit moves to $U24$")
    return _on_units(units, {"keeps": keeps, "lands": lands}, t, t.only_minus)


@claim("brutzkus2019.equation_13", Kind.STEP, "Eq. 13, proof of Lemma E.12", reads=(placed_units, traces),
       given=PLACED, form=Form.REPAIR,
       title="Where only $x⁺$ is active, $|R|$ of a unit of $U13$ stays")  # fmt: skip
def equation_13(units: SizedUnits, runs: Alongside, *, plus: bool = True) -> Promise:
    """In a step where only $x⁺$ is active, the response to $x⁻$ of a unit of $U13(t)$ does not change. (Printed for
    $U13(t+1)$. After $t = 0$ no trajectory in the event has such a unit, so it is tested on units placed there.)
    """
    after, t = units.after_plus if plus else units.after_minus, runs.per("time")
    same = equal(
        np.abs(np.abs(after[:, 1]) - np.abs(units.fits[:, 1])),
        0.0,
        text="$|R|$ does not change",
        quantity="largest change of |R|, in units of η",
    )
    return _on_units(units, {"same": same}, t, t.only_plus)


def _on_units(units: SizedUnits, parts: Promised, t: Alongside, steps: np.ndarray) -> Promise:
    # The same steps on trajectories, and how many of them have a unit that these statements speak about.
    taken = int((steps & t.in_event).sum())
    met = int((steps & t.in_event & (t.u13 > 0)).sum())
    return Promise(
        parts,
        details={"steps_on_trajectories": taken, "of_them_with_a_unit_in_U13": met},
        note=f"Tested on {len(units)} units placed in U13; {met} of {taken} such steps on trajectories have one.",
    )
