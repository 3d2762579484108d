"""Eq. 12 and 13 on units placed in U13, and the steps that break them."""

import numpy as np

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims.minus_steps import check_equation_12, check_equation_13, make_units

UNITS = make_units(np.array([(0.25, 0.125), (-0.25, 0.125), (0.25, -0.0625), (-0.125, -0.0625)]))


def test_both_hold():
    for check in (check_equation_12, check_equation_13):
        evidence = check(UNITS)
        assert evidence.verdict is Verdict.HOLDS
        assert evidence.runs.tried == 8


def test_control_equation_12_with_only_the_positive_point_active():
    """u_0 − ηp_i with s_0 = η/4 falls from 7/4 to 1/4."""
    evidence = check_equation_12(UNITS, plus=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == -1.75  # s_0 = 1/8: from 15/8 to 1/8
    assert check_equation_12(make_units(UNITS.starts[:3]), plus=True).measured == -1.5


def test_control_equation_13_with_only_the_negative_point_active():
    evidence = check_equation_13(UNITS, plus=False)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 2


def test_control_units_outside_the_event_or_not_in_u13():
    assert check_equation_12(make_units(np.array([(0.4, 0.1)]))).verdict is Verdict.HYPOTHESES_NOT_MET
    assert check_equation_13(make_units(np.array([(0.1, 0.2)]))).verdict is Verdict.HYPOTHESES_NOT_MET
    assert check_equation_12(make_units(np.zeros((0, 2)))).verdict is Verdict.HYPOTHESES_NOT_MET
