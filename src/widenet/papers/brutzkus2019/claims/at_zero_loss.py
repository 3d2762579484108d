"""What the last parts of the proof read off the weights at T, the first iteration with zero loss."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Claim, Evidence, Kind
from widenet.data.xord import PATTERN_SETS, set_index
from widenet.papers.brutzkus2019.claims.trace_evidence import Items, Sides, all_runs, at_end_of, at_the_end, judge
from widenet.papers.brutzkus2019.runs.traces import Trace, responses
from widenet.types import Progress, silent


def held_by(*patterns: int) -> np.ndarray:
    """The patterns with these numbers, as a row of `PATTERN_SETS`."""
    return PATTERN_SETS[set_index(*patterns)]


def _minus(seen: Trace) -> np.ndarray:
    return seen.ending.end[:, seen.setting.half_width :]


def check_equation_15(items: Items, progress: Progress = silent, *, over: float = 0.0) -> Evidence:
    """X_T(1) + X_T(3) = S⁺_T ≥ γ + 1 (printed: γ + 1 − c_η). A control asks for `over`·c_η more."""

    def sides(seen: Trace) -> Sides:
        k, end = seen.setting.half_width, at_end_of(seen, seen.s_plus)
        return at_the_end((end - sum(seen.setting.goals)) / k, over, upper=False)

    return judge(items, sides, "smallest (S⁺_T − γ − 1)/c_η", progress, converged=True)


def check_equation_19(items: Items, progress: Progress = silent, *, against: Sequence[int] = (1, 2, 3, 4)) -> Evidence:
    """Σ_j max σ(⟨u, z_i⟩) ≤ Σ_j max σ(⟨u, x⁺_i⟩) = P⁺ + Y(2) + Y(4) on all 15 sets. A control replaces x⁺."""

    def sides(seen: Trace) -> Sides:
        fits = _minus(seen)
        right = responses(fits, held_by(*against)).sum(axis=1)
        left = [responses(fits, held).sum(axis=1) for held in PATTERN_SETS]
        # Y(2) + Y(4) is Y, the sum over U24.
        identity = np.abs(right - at_end_of(seen, seen.p_plus) - at_end_of(seen, seen.y))
        return at_the_end(np.max(left, axis=0), right) & at_the_end(identity, 0.0)

    return judge(items, sides, "largest Σ over the filters u on any z, in units of η", progress, converged=True)


def check_footnote_14(items: Items, progress: Progress = silent, *, swapped: bool = False) -> Evidence:
    """Σ_j σ(⟨u, p_l⟩) = Y(l) + Z(l), so N({l}) ≤ S⁻ + X − Y(l) − Z(l), l = 2, 4. A control exchanges l on the right."""

    def sides(seen: Trace) -> Sides:
        fits, outputs = _minus(seen), seen.ending.outputs()
        at = {name: at_end_of(seen, getattr(seen, name)) for name in ("s_minus", "x", "y_2", "y_4", "z_2", "z_4")}
        found = None
        for pattern in (2, 4):
            other = 6 - pattern if swapped else pattern
            right = at[f"y_{other}"] + at[f"z_{other}"]
            one = at_the_end(np.abs(responses(fits, held_by(pattern)).sum(axis=1) - right), 0.0)
            one &= at_the_end(outputs[:, set_index(pattern)], at["s_minus"] + at["x"] - right)
            found = one if found is None else found & one
        assert found is not None
        return found

    words = "difference of the two sides of Σσ(⟨u, p₂⟩) = Y(2) + Z(2), in units of η"
    return judge(items, sides, words, progress, converged=True)


def check_equation_21(items: Items, progress: Progress = silent, *, over: float = 0.0) -> Evidence:
    """Y(2) + Y(4) + Z(2) + Z(4) ≥ 1 at T. A control asks for `over`·c_η more."""

    def sides(seen: Trace) -> Sides:
        k = seen.setting.half_width
        total = sum(at_end_of(seen, series) for series in (seen.y_2, seen.y_4, seen.z_2, seen.z_4))
        return at_the_end((np.asarray(total) - seen.setting.goals[1]) / k, over, upper=False)

    return judge(items, sides, "smallest (Y(2) + Y(4) + Z(2) + Z(4) − 1)/c_η", progress, converged=True)


equation_15 = Claim(
    "brutzkus2019.equation_15",
    Kind.STEP,
    "At zero loss X_T(1) + X_T(3) = S⁺_T ≥ γ + 1. (Printed with γ + 1 − c_η on the right; P⁻_T = 0 makes the c_η "
    "unnecessary.)",
    "Eq. 15, proof of Proposition E.18",
    check_equation_15,
    all_runs,
)
equation_19 = Claim(
    "brutzkus2019.equation_19",
    Kind.STEP,
    "For any input z, Σ_j max_i σ(⟨u_j, z_i⟩) ≤ Σ_j max_i σ(⟨u_j, x⁺_i⟩) = P⁺_T + Y_T(2) + Y_T(4).",
    "Eq. 19 and 20, proof of Proposition E.18",
    check_equation_19,
    all_runs,
)
footnote_14 = Claim(
    "brutzkus2019.footnote_14",
    Kind.STEP,
    "At zero loss Σ_j σ(⟨u_j, p_l⟩) = Y_T(l) + Z_T(l) for l = 2, 4 (the units of the other side contribute nothing), "
    "hence N(z) ≤ S⁻_T + X_T − Y_T(l) − Z_T(l) on the inputs z that hold p_l alone.",
    "footnote 14, proof of Proposition E.22",
    check_footnote_14,
    all_runs,
)
equation_21 = Claim(
    "brutzkus2019.equation_21",
    Kind.STEP,
    "At zero loss Y_T(2) + Y_T(4) + Z_T(2) + Z_T(4) ≥ 1.",
    "Eq. 21, proof of Proposition E.22",
    check_equation_21,
    all_runs,
)

CLAIMS = (equation_15, equation_19, footnote_14, equation_21)
