"""Records altered so that an output or a sum is beyond its goal, or one point is alone for a while."""

from tests.papers.brutzkus2019.claims.settings import altered, plus, with_outputs
from widenet.papers.brutzkus2019.runs.traces import Trace

PRINTED_PLUS, PRINTED_MINUS = "N(x⁺) ≤ γ + 3c_η", "−N(x⁻) ≤ 1 + 3c_η"
PLUS, MINUS, SUM = "N(x⁺) < γ + 4c_η", "−N(x⁻) < 1 + 4c_η", "S⁺ ≤ γ + 1 + 8c_η"


def overshooting(trace: Trace, t: int, name: str, n_c: float) -> Trace:
    """A record in which N(x⁺), −N(x⁻) or S⁺ is γ, 1 or γ + 1 and `n_c`·c_η more at t."""
    gamma, one = trace.goals
    goal = {PLUS: gamma, MINUS: one, SUM: gamma + one}[name] + n_c * trace.half_width
    now_there = {PLUS: trace.n_plus, MINUS: -trace.n_minus, SUM: trace.s_plus}[name][0, t]
    more = goal - now_there
    if name == SUM:
        return altered(altered(trace, "s_plus", t, plus(more)), "p_plus", t, plus(more))
    return altered(trace, "p_plus" if name == PLUS else "p_minus", t, plus(-more if name == PLUS else more))


def stuck(trace: Trace, first: int, length: int) -> Trace:
    """A record in which only x⁻ is active at so many iterations in a row."""
    gamma, times = trace.goals[0], slice(first, first + length)
    return with_outputs(trace, times, plus=gamma, minus=trace.goals[1] - 1)
