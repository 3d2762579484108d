"""What the last parts of the proof read off the weights at T, the first iteration with zero loss."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Evidence, Kind, claim
from widenet.claims.sides import Sense
from widenet.data.xord import PATTERN_SETS, set_index
from widenet.papers.brutzkus2019.claims.trace_evidence import ScoredRuns
from widenet.papers.brutzkus2019.runs.lattice import in_13
from widenet.papers.brutzkus2019.runs.traces import Trace, responses, traces


def held_by(*patterns: int) -> Bool[np.ndarray, " 4"]:
    """The patterns with these numbers, as a row of `PATTERN_SETS`."""
    return PATTERN_SETS[set_index(*patterns)]


def _minus(trace: Trace) -> Float[np.ndarray, "run filter 2"]:
    return trace.end[:, trace.half_width :]


def _no_sum(trace: Trace) -> Float[np.ndarray, " run"]:
    """A sum of responses is at least 0."""
    return np.zeros(len(trace.steps))


@claim("brutzkus2019.equation_15", Kind.STEP, "Eq. 15, proof of Proposition E.18", reads=traces)
def equation_15(seen: Sequence[Trace], *, over: float = 0.0) -> Evidence:
    """At zero loss X_T(1) + X_T(3) = S⁺_T ≥ γ + 1. (Printed with γ + 1 − c_η on the right; P⁻_T = 0 makes the c_η
    unnecessary.)

    A control asks for `over`·c_η more.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    ends = [(trace, trace.at_end(trace.s_plus), trace.setting.step_size) for trace in seen]
    return runs.evidence(
        {
            "S⁺_T ≥ γ + 1": runs.sides(
                (
                    (trace, eta * s_plus, eta * (sum(trace.goals) + over * trace.half_width), True)
                    for trace, s_plus, eta in ends
                ),
                Sense.AT_LEAST,
                trivial=_no_sum,
                quantity="S⁺_T where it is closest to γ + 1",
            ),
            "X_T(1) + X_T(3) = S⁺_T": runs.sides(
                ((trace, trace.at_end(trace.s_plus_1) + _third_cone(trace), s_plus, True) for trace, s_plus, _ in ends),
                Sense.EQUAL,
                quantity="X_T(1) + X_T(3) in units of η",
            ),
        }
    )


def _third_cone(trace: Trace) -> Float[np.ndarray, " run"]:
    """X_T(3), from the filters at T."""
    s, r = np.moveaxis(trace.end[:, : trace.half_width], -1, 0)
    return np.where(in_13(s, r), np.maximum(-s, 0.0), 0.0).sum(axis=1)


@claim("brutzkus2019.equation_19", Kind.STEP, "Eq. 19 and 20, proof of Proposition E.18", reads=traces)
def equation_19(seen: Sequence[Trace], *, against: Sequence[int] = (1, 2, 3, 4)) -> Evidence:
    """For any input z, Σ_j max_i σ(⟨u_j, z_i⟩) ≤ Σ_j max_i σ(⟨u_j, x⁺_i⟩) = P⁺_T + Y_T(2) + Y_T(4).

    A control replaces x⁺.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    sums = [(trace, responses(_minus(trace), held_by(*against)).sum(axis=1)) for trace in seen]
    return runs.evidence(
        {
            "at most that on x⁺, on all 15 sets (by construction)": runs.sides(
                (
                    (
                        trace,
                        np.max([responses(_minus(trace), held).sum(axis=1) for held in PATTERN_SETS], axis=0),
                        on_plus,
                        True,
                    )
                    for trace, on_plus in sums
                ),
                quantity="largest Σ over the filters u on any z, in units of η",
            ),
            # Y(2) + Y(4) is Y, the sum over U24.
            "the sum on x⁺ is P⁺_T + Y_T(2) + Y_T(4)": runs.sides(
                ((trace, on_plus, trace.at_end(trace.p_plus + trace.y), True) for trace, on_plus in sums), Sense.EQUAL
            ),
        }
    )


@claim("brutzkus2019.footnote_14", Kind.STEP, "footnote 14, proof of Proposition E.22", reads=traces)
def footnote_14(seen: Sequence[Trace], *, swapped: bool = False) -> Evidence:
    """At zero loss Σ_j σ(⟨u_j, p_l⟩) = Y_T(l) + Z_T(l) for l = 2, 4 (the units of the other side contribute nothing),
    hence N(z) ≤ S⁻_T + X_T − Y_T(l) − Z_T(l) on the inputs z that hold p_l alone.

    A control exchanges l on the right.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    outputs = [(trace, trace.outputs()) for trace in seen]
    parts = {}
    for pattern in (2, 4):
        other = 6 - pattern if swapped else pattern
        right = {id(trace): trace.at_end(_of_side(trace, other)) for trace in seen}
        parts[f"Σσ(⟨u, p_{pattern}⟩) = Y({pattern}) + Z({pattern})"] = runs.sides(
            ((trace, responses(_minus(trace), held_by(pattern)).sum(axis=1), right[id(trace)], True) for trace in seen),
            Sense.EQUAL,
            quantity=f"Σσ(⟨u, p_{pattern}⟩) in units of η",
        )
        parts[f"N({{{pattern}}}) ≤ S⁻ + X − Y({pattern}) − Z({pattern})"] = runs.sides(
            (
                trace,
                output[:, set_index(pattern)],
                trace.at_end(trace.s_minus + trace.x) - right[id(trace)],
                True,
            )
            for trace, output in outputs
        )
    return runs.evidence(parts)


def _of_side(trace: Trace, pattern: int) -> Float[np.ndarray, "run time"]:
    """Y(l) + Z(l)."""
    return getattr(trace, f"y_{pattern}") + getattr(trace, f"z_{pattern}")


@claim("brutzkus2019.equation_21", Kind.STEP, "Eq. 21, proof of Proposition E.22", reads=traces)
def equation_21(seen: Sequence[Trace], *, over: float = 0.0) -> Evidence:
    """At zero loss Y_T(2) + Y_T(4) + Z_T(2) + Z_T(4) ≥ 1.

    A control asks for `over`·c_η more.
    """
    runs = ScoredRuns(seen, at_zero_loss=True)
    part = runs.sides(
        (
            (
                trace,
                trace.setting.step_size * trace.at_end(_of_side(trace, 2) + _of_side(trace, 4)),
                trace.setting.step_size * (trace.goals[1] + over * trace.half_width),
                True,
            )
            for trace in seen
        ),
        Sense.AT_LEAST,
        trivial=_no_sum,
        quantity="Y(2) + Y(4) + Z(2) + Z(4) where it is closest to 1",
    )
    return runs.evidence({"Y(2) + Y(4) + Z(2) + Z(4) ≥ 1": part})
