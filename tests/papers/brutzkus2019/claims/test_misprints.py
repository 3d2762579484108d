"""The instances in the table of misprints on the findings page, on the traces of the program and in exact fractions."""

from fractions import Fraction

import numpy as np

from tests.papers.brutzkus2019.claims.settings import toy
from tests.papers.brutzkus2019.claims.xor_toys import by_hand, drawn
from widenet.papers.brutzkus2019.runs.traces import TraceSetting, follow

ETA, GAMMA = Fraction(1, 16), 2
W, U = ((11, 3), (-9, 4)), ((5, -13), (-7, 2))


def exact_steps(w, u, n_steps):
    """N(x⁺), N(x⁻), S⁺ and the fits of the w's after 0, 1, … steps, from fits in units of η; apart from the code."""

    def sign(value):
        return (value > 0) - (value < 0)

    def moved(fits, toward):
        s, r = fits
        along = [2 * sign(s), 0] if abs(s) > abs(r) else [0, 2 * sign(r)]
        step = [plus * along[0], plus * along[1] - minus * 2 * sign(r)]
        return s + toward * step[0], r + toward * step[1]

    found = []
    for _ in range(n_steps):
        n_plus = ETA * (sum(max(map(abs, each)) for each in w) - sum(max(map(abs, each)) for each in u))
        n_minus = ETA * (sum(abs(r) for _, r in w) - sum(abs(r) for _, r in u))
        found.append((n_plus, n_minus, ETA * sum(abs(s) for s, r in w if abs(s) > abs(r)), w))
        plus, minus = n_plus < GAMMA, -n_minus < 1
        w, u = [moved(each, 1) for each in w], [moved(each, -1) for each in u]
    return found


def sixty_fourths(rows):
    return [tuple(Fraction(value, 64) for value in row) for row in rows]


def test_equations_7_and_8_and_14_on_one_start():
    """The start of D4. At t = 16 −N(x⁻) ≥ 1 and the first w moves along p₁ alone; at t = 9 S⁺ stays."""
    steps, trace = exact_steps(sixty_fourths(W), sixty_fourths(U), 18), toy("D4")
    assert steps[16][1] == Fraction(-145, 128)
    (before, after) = (steps[t][3][0] for t in (16, 17))
    assert (after[0] - before[0], after[1] - before[1]) == (2, 0)
    assert (steps[9][1], steps[9][2], steps[10][2]) == (Fraction(53, 512), Fraction(581, 256), Fraction(581, 256))
    for record, place in (("n_plus", 0), ("n_minus", 1), ("s_plus", 2)):
        values = getattr(trace, record)[0, :18] * float(ETA)
        assert values.tolist() == [float(row[place]) for row in steps]
    assert trace.b_step["w13"][:, 0, 16].tolist() == [0, 0]


def test_lemma_b_3_has_no_common_alpha():
    """Both w's are in W_0⁺(1); at t = 1 the first has moved by −η along x_2, the second by η."""
    run = by_hand(1 / 10, [(12, 9), (12, -9)], [(5, 20), (-5, -18)])
    assert run.own_counts[0, 0] == 2
    assert run.in_event.all()
    assert run.active[0, 0].all()
    assert run.across_low[1, 0, 0] == run.across_high[1, 0, 0] == 1, "against the sign of the start, which differs"


def test_lemma_b_4_2_and_proposition_b_5_at_loss_0():
    """−yN ≤ −1 for good, where the print asks for −yN ≥ 1; and −yN < 1, where S⁺ should grow and stays."""
    run = drawn(17, 0.4, 20)
    assert run.reached.all()
    assert (-run.margins[-1] <= -run.goal).all()
    last = run.steps
    sums = [run.own_sums[np.minimum(last + more, len(run.own_sums) - 1), np.arange(20)] for more in (0, 1)]
    assert np.array_equal(sums[0], sums[1])
    assert (run.own_counts > 0).all()


def test_footnote_10_is_no_equivalence():
    """⟨w_0, p₂⟩ = η, a multiple of η, and no fit of this w is ever 0; from 2η it is 0 after one step."""
    steps = exact_steps([(Fraction(3), Fraction(1)), *sixty_fourths(W[1:])], sixty_fourths(U), 60)
    assert {row[3][0][1] for row in steps} == {1, -1}
    assert exact_steps([(Fraction(3), Fraction(2)), *sixty_fourths(W[1:])], sixty_fourths(U), 2)[1][3][0] == (5, 0)
    setting = TraceSetting(half_width=2, step_constant=1 / 8, margin=2.0, n_runs=1)
    fits = np.array([[(3.0, 1.0), *np.array(W[1:]) / 64, *np.array(U) / 64]])
    assert not (follow(setting, fits).largest_r == 0).any()
