"""What the last parts of the proof read off the weights at T, the first iteration with zero loss."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, at_least, at_most, equal
from widenet.claims.sides import Sides
from widenet.data.xord import PATTERN_SETS, set_index
from widenet.papers.brutzkus2019.claims.trajectories import PerRun, Scored, Trajectories
from widenet.papers.brutzkus2019.hypotheses import AT_ZERO_LOSS
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.traces import Trace, responses, traces
from widenet.records import Form


def _third_cone(runs: Trace) -> PerRun:
    """X_T(3), from the filters at T."""
    s, r = np.moveaxis(runs.end[:, : runs.half_width], -1, 0)
    return np.where(in_13(s, r), np.maximum(-s, 0.0), 0.0).sum(axis=1)


def _minus_sums(runs: Trace) -> Float[np.ndarray, "run 15"]:
    ends = runs.end[:, runs.half_width :]
    return np.stack([responses(ends, held).sum(axis=1) for held in PATTERN_SETS], axis=1)


class AtZeroLoss(Trajectories):
    """Trajectories, with their sums at T, in units of η."""

    first_cone: PerRun = derived(lambda runs: runs.at_end(runs.s_plus_1))  #: X_T(1)
    third_cone: PerRun = derived(_third_cone)  #: X_T(3)
    plus_end: PerRun = derived(lambda runs: runs.at_end(runs.p_plus + runs.y))  #: P⁺_T + Y_T; Y(2) + Y(4) is Y over U24
    side_2: PerRun = derived(lambda runs: runs.at_end(runs.y_2 + runs.z_2))  #: Y_T(2) + Z_T(2)
    side_4: PerRun = derived(lambda runs: runs.at_end(runs.y_4 + runs.z_4))  #: Y_T(4) + Z_T(4)
    both_sides: PerRun = derived(lambda runs: runs.at_end((runs.y_2 + runs.z_2) + (runs.y_4 + runs.z_4)))
    minus_sums: Float[np.ndarray, "run 15"] = derived(_minus_sums)  #: Σ_j max_i σ(⟨u_j, z_i⟩) on each pattern set
    on_sets: Float[np.ndarray, "run 15"] = derived(lambda runs: runs.outputs())  #: N on each pattern set


@claim("brutzkus2019.equation_15", Kind.STEP, "Eq. 15, proof of Proposition E.18", reads=traces, given=AT_ZERO_LOSS,
       form=Form.SHARPER,
       title="At zero loss $S⁺$ is at least $γ + 1$")  # fmt: skip
def equation_15(runs: AtZeroLoss, *, over: float = 0.0) -> Promise:
    """At zero loss $X_T(1) + X_T(3) = S⁺_T ≥ γ + 1$. (Printed with $γ + 1 − c_η$ on the right; $P⁻_T = 0$ makes the
    $c_η$ unnecessary.)

    In code: A control asks for `over`·c_η more.
    """
    of = Scored(runs, at_zero_loss=True)
    goal = runs.plus_goal + runs.minus_goal + over * runs.half_width
    large = at_least(
        runs.step_size * runs.s_plus_end,
        runs.step_size * goal,
        trivial=0.0,
        text="$S⁺_T ≥ γ + 1$",
        quantity="S⁺_T where it is closest to γ + 1",
    )
    cones = equal(
        runs.first_cone + runs.third_cone,
        runs.s_plus_end,
        text="$X_T(1) + X_T(3) = S⁺_T$",
        quantity="X_T(1) + X_T(3) in units of η",
    )
    return of.promise({"sum": of.sides(runs, large), "cones": of.sides(runs, cones)})


@claim("brutzkus2019.equation_19", Kind.STEP, "Eq. 19 and 20, proof of Proposition E.18", reads=traces,
       given=AT_ZERO_LOSS, title="No input gets more from the filters $u$ than $x⁺$ does")  # fmt: skip
def equation_19(runs: AtZeroLoss, *, against: Sequence[int] = (1, 2, 3, 4)) -> Promise:
    """For any input $z$, $Σ_j max_i σ(⟨u_j, z_i⟩) ≤ Σ_j max_i σ(⟨u_j, x⁺_i⟩) = P⁺_T + Y_T(2) + Y_T(4)$."""
    of = Scored(runs, at_zero_loss=True)
    on_plus = runs.minus_sums[:, set_index(*against)]
    largest = at_most(
        runs.minus_sums.max(axis=1),
        on_plus,
        text="at most that on $x⁺$, on all 15 sets (by construction)",
        quantity="largest Σ over the filters u on any z, in units of η",
    )
    same = equal(on_plus, runs.plus_end, text="the sum on $x⁺$ is $P⁺_T + Y_T(2) + Y_T(4)$")
    return of.promise({"largest": of.sides(runs, largest), "sum": of.sides(runs, same)})


@claim("brutzkus2019.footnote_14", Kind.STEP, "footnote 14, proof of Proposition E.22", reads=traces,
       given=AT_ZERO_LOSS, title="Only the filters $u$ of its own side answer to $p_l$")  # fmt: skip
def footnote_14(runs: AtZeroLoss, *, swapped: bool = False) -> Promise:
    """At zero loss $Σ_j σ(⟨u_j, p_l⟩) = Y_T(l) + Z_T(l)$ for $l = 2, 4$ (the units of the other side contribute
    nothing). Hence $N(z) ≤ S⁻_T + X_T − Y_T(l) − Z_T(l)$ on the inputs $z$ that hold $p_l$ alone.
    """
    of = Scored(runs, at_zero_loss=True)
    sides = {2: runs.side_4 if swapped else runs.side_2, 4: runs.side_2 if swapped else runs.side_4}

    def answers(place: int) -> Sides:
        return equal(
            runs.minus_sums[:, set_index(place)],
            sides[place],
            text=f"$Σσ(⟨u, p_{place}⟩) = Y({place}) + Z({place})$",
            quantity=f"Σσ(⟨u, p_{place}⟩) in units of η",
        )

    def output(place: int) -> Sides:
        return at_most(
            runs.on_sets[:, set_index(place)],
            runs.rest_end - sides[place],
            text=f"$N({{{place}}}) ≤ S⁻ + X − Y({place}) − Z({place})$",
        )

    return of.promise(
        {
            "answers_2": of.sides(runs, answers(2)),
            "output_2": of.sides(runs, output(2)),
            "answers_4": of.sides(runs, answers(4)),
            "output_4": of.sides(runs, output(4)),
        }
    )


@claim("brutzkus2019.equation_21", Kind.STEP, "Eq. 21, proof of Proposition E.22", reads=traces, given=AT_ZERO_LOSS,
       title="At zero loss the filters $u$ answer to $x⁻$ with at least 1")  # fmt: skip
def equation_21(runs: AtZeroLoss, *, over: float = 0.0) -> Promise:
    """At zero loss $Y_T(2) + Y_T(4) + Z_T(2) + Z_T(4) ≥ 1$.

    In code: A control asks for `over`·c_η more.
    """
    of = Scored(runs, at_zero_loss=True)
    large = at_least(
        runs.step_size * runs.both_sides,
        runs.step_size * (runs.minus_goal + over * runs.half_width),
        trivial=0.0,
        text="$Y(2) + Y(4) + Z(2) + Z(4) ≥ 1$",
        quantity="Y(2) + Y(4) + Z(2) + Z(4) where it is closest to 1",
    )
    return of.promise({"sum": of.sides(runs, large)})
