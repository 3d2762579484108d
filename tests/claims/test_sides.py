"""The one definition of kept, broken, closest, tightness and vacuous."""

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widenet.claims import Part, Runs, Verdict
from widenet.claims.conclusion import evidence
from widenet.claims.rates import Rate
from widenet.claims.sides import Fact, Sense, Sides

AT_MOST, AT_LEAST, EQUAL = Sense.AT_MOST, Sense.AT_LEAST, Sense.EQUAL


def tightness(measured, promised, sense=AT_MOST, **more):
    return Sides(measured, promised, sense, **more).part("x").tightness


@pytest.mark.parametrize(
    ("measured", "promised", "sense", "kept"),
    [
        (1.0, 2.0, AT_MOST, True),
        (2.0, 2.0, AT_MOST, True),
        (2.1, 2.0, AT_MOST, False),
        (1.0, 2.0, AT_LEAST, False),
        (2.1, 2.0, AT_LEAST, True),
        (2.0, 2.0, EQUAL, True),
        (2.1, 2.0, EQUAL, False),
        (math.nan, 2.0, AT_MOST, None),
        (1.0, math.inf, AT_MOST, None),
        (-math.inf, 1.0, AT_MOST, None),
    ],
)
def test_kept_and_broken(measured, promised, sense, kept):
    assert Sides(measured, promised, sense).kept is kept


@pytest.mark.parametrize(
    ("sides", "shown"),
    [
        (Sides([1.0, 2.0], 3.0), "<Sides: 2 cases, kept; closest 2 ≤ 3>"),
        (Sides([1.0, 2.0], 2.0, strict=True), "<Sides: 2 cases, 1 broken; closest 2 < 2>"),
        (Sides([1.0, math.nan], 3.0, AT_LEAST, where=[False, True]), "<Sides: 1 cases, 1 undecided>"),
    ],
)
def test_sides_are_shown_by_their_closest_case(sides, shown):
    assert repr(sides) == shown


def test_one_undecided_case_leaves_it_open_and_one_broken_case_breaks_it():
    assert Sides([1.0, math.nan], 2.0).kept is None
    assert Sides([3.0, math.nan], 2.0).kept is False
    part = Sides([1.0, math.nan, 3.0], 2.0).part("x")
    assert (part.n_cases, part.broken, part.undecided) == (3, 1, 1)


def test_cases_outside_the_event_are_not_looked_at():
    sides = Sides([1.0, 9.0, math.nan], 2.0, scored=[True, False, False])
    assert sides.kept is True
    assert (sides.closest, sides.part("x").n_cases) == (0, 1)
    assert Sides([9.0], 2.0, scored=[False]).kept is None


def test_room_is_what_rounding_may_add_whatever_its_sign():
    assert Sides(2.0 + 1e-13, 2.0, room=1e-12).kept is True
    assert Sides(2.0 + 1e-11, 2.0, room=1e-12).kept is False
    assert Sides(-2.0 + 1e-13, -2.0, room=-2.0 * 1e-12).kept is True
    assert Sides([1.0, 1.0001], 1.0, room=[0.0, 0.0002]).kept is True
    # A tenth beyond the promise is no rounding, whatever the room: the case decides nothing.
    assert Sides([1.0, 1.1], 1.0, room=[0.0, 0.2]).kept is None


def test_sides_compared_exactly_keep_their_decision():
    sides = Sides([1.0, 1.0, 2.0], [1.0, 1.0, 1.0], exact=([True, False, True]))
    assert sides.broken.tolist() == [False, True, False]
    assert sides.closest == 1
    assert sides.closeness.tolist() == [1.0, np.nextafter(1.0, 2.0), 1.0]


def test_of_equally_close_cases_the_one_farthest_beyond_is_shown():
    assert Sides([-3.0, -1.0, -2.0], 0.0).part("x").measured == -1.0
    assert Sides([3.0, 1.0], 0.0, AT_LEAST).part("x").measured == 1.0


def test_strict_statements_are_broken_by_equality():
    assert Sides(2, 2, strict=True).kept is False
    assert Sides(1, 2, strict=True).kept is True
    with pytest.raises(ValueError, match="strict=True needs an inequality"):
        Sides(2, 2, EQUAL, strict=True)


@pytest.mark.parametrize("made", [lambda **how: Sides(1, 2, **how), lambda **how: Fact([True], **how)])
def test_the_words_of_an_event_need_the_cases_that_it_picks(made):
    assert made(event="late steps", where=[True]).event == "late steps"
    with pytest.raises(ValueError, match="event='late steps' alone; add where= or drop it"):
        made(event="late steps")


@pytest.mark.parametrize(
    ("sense", "strict", "sign"),
    [(AT_MOST, False, "≤"), (AT_MOST, True, "<"), (AT_LEAST, False, "≥"), (AT_LEAST, True, ">"), (EQUAL, False, "=")],
)
def test_a_reader_sees_whether_equality_is_enough(sense, strict, sign):
    assert Sides(1, 2, sense, strict=strict).part("x").sense == sign


def test_where_no_case_is_decided_the_nearest_one_is_shown():
    part = Sides([2000, 1999], [1e9, 1e8], undecided=True).part("x")
    assert (part.kept, part.measured, part.promised, part.tightness) == (None, 1999.0, 1e8, None)
    part = Sides([math.nan, 3.0, 4.0], [1.0, math.inf, 5.0], scored=[True, True, False]).part("x")
    assert (part.measured, part.promised) == (None, 1.0)
    part = Sides([math.nan, 3.0], [math.nan, math.inf]).part("x")
    assert (part.measured, part.promised) == (3.0, None)


@pytest.mark.parametrize(
    ("measured", "promised", "sense", "expected"),
    [
        (1.0, 4.0, AT_MOST, 0.25),
        (4.0, 1.0, AT_LEAST, 0.25),
        (-4.0, -1.0, AT_MOST, 0.25),
        (-1.0, -4.0, AT_LEAST, 0.25),
        (4.0, 4.0, AT_MOST, 1.0),
        (4.0, 4.0, AT_LEAST, 1.0),
        (0.0, 0.0, AT_MOST, 1.0),
        (0.0, 0.0, EQUAL, 1.0),
        (0.0, 3.0, AT_MOST, 0.0),
        (-1.0, 3.0, AT_MOST, 0.0),
        (3.0, -1.0, AT_LEAST, 0.0),
        (6.0, 4.0, AT_MOST, 1.5),
        (4.0, 6.0, AT_LEAST, 1.5),
        (-4.0, -6.0, AT_MOST, 1.5),
        (3.0, 2.0, EQUAL, 1.5),
        (2.0, 3.0, EQUAL, 1.5),
        (1.0, 0.0, AT_MOST, math.inf),
        (1.0, -1.0, EQUAL, math.inf),
        (math.nan, 1.0, AT_MOST, None),
    ],
)
def test_tightness_whichever_way_the_inequality_points(measured, promised, sense, expected):
    assert tightness(measured, promised, sense) == expected


def test_what_only_rounding_carries_over_the_promise_is_attained():
    assert tightness(1e-15, 0.0, AT_MOST, room=1e-12) == 1.0
    assert tightness(1.0 + 1e-14, 1.0, AT_MOST, room=1e-12) == 1.0
    assert tightness(-1e-15, 0.0, EQUAL, room=1e-12) == 1.0


numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, math.nan, math.inf, -math.inf, 1e-300])


@given(measured=numbers, promised=numbers, sense=st.sampled_from(Sense), room=st.sampled_from([0.0, 1e-9, 1.0]))
def test_tightness_is_at_most_one_exactly_while_the_statement_is_kept(measured, promised, sense, room):
    sides = Sides(measured, promised, sense, room)
    close = float(sides.closeness[0])
    if sides.kept is None:
        assert math.isnan(close)
    else:
        assert (0 <= close <= 1) == sides.kept
    part = sides.part("x")
    assert part.kept is sides.kept
    mirrored = {AT_MOST: AT_LEAST, AT_LEAST: AT_MOST, EQUAL: EQUAL}[sense]
    np.testing.assert_array_equal(Sides(-measured, -promised, mirrored, room).closeness, sides.closeness)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.sampled_from(Sense))
def test_the_closest_case_is_the_tightest_and_breaks_if_any_does(cases, sense):
    measured, promised = np.array(cases).T
    sides = Sides(measured, promised, sense, room=1e-9)
    if sides.closest is None:
        assert not sides.decided.any()
        return
    assert sides.decided[sides.closest]
    assert bool(sides.broken[sides.closest]) == bool(sides.broken.any())
    if sense is not EQUAL:
        assert sides.closeness[sides.closest] == np.nanmax(sides.closeness)


def test_the_closest_case_of_an_equality_deviates_most():
    part = Sides([1.0, 2.0 + 3e-13, 3.0], [1.0, 2.0, 3.0], EQUAL, room=1e-12).part("x")
    assert (part.kept, part.promised, part.tightness) == (True, 2.0, 1.0)


@pytest.mark.parametrize(
    ("promised", "sense", "trivial", "vacuous"),
    [
        ([1.0, 2.0], AT_MOST, 1.0, True),
        ([0.5, 2.0], AT_MOST, 1.0, False),
        ([0.0, -1.0], AT_LEAST, 0.0, True),
        ([0.0, 0.1], AT_LEAST, 0.0, False),
        ([1.0, 2.0], AT_MOST, None, False),
        ([0.5, 0.5], AT_MOST, [0.4, 0.6], False),
        ([0.5, math.inf], AT_MOST, math.inf, False),
    ],
)
def test_a_promise_of_what_holds_anyway_is_vacuous(promised, sense, trivial, vacuous):
    assert Sides([0.2, 0.2], promised, sense, trivial=trivial).vacuous is vacuous


def test_a_case_whose_promise_holds_anyway_does_not_show_how_close_the_others_come():
    counts, limits, anyway = [1.0, 30.0, 50.0], [0.9, 10.0, 20.0], [1.0, 3.0, 3.0]
    part = Sides(counts, limits, AT_LEAST, trivial=anyway).part("x")
    assert (part.kept, part.n_cases, part.case) == (True, 3, 2)
    assert part.tightness == pytest.approx(0.4)
    assert part.median_tightness == pytest.approx((1 / 3 + 0.4) / 2)
    assert len(part.sides) == 3
    assert Sides(counts, limits, AT_LEAST).part("x").tightness == pytest.approx(0.9)
    # Where all are such, the part is vacuous and the closest of them is shown; one that breaks is never left out.
    assert Sides(counts, limits, AT_LEAST, trivial=99.0).part("x").tightness == pytest.approx(0.9)
    # A promise of just what holds anyway may be attained, and that is worth showing.
    assert Sides([1.0, 0.1], [1.0, 0.5], trivial=1.0).part("x").tightness == 1
    broken = Sides([0.5, 30.0], [0.9, 10.0], AT_LEAST, trivial=[1.0, 3.0]).part("x")
    assert (broken.kept, broken.case) == (False, 0)


def test_how_close_a_case_comes_may_be_counted_from_where_nothing_is_used():
    short, longer, attained = 0.999, 0.96, 5 / 6
    plain = Sides([short, longer], 5 / 6, AT_LEAST).part("x")
    counted = Sides([short, longer], 5 / 6, AT_LEAST, counted_from=1.0).part("x")
    assert plain.tightness == pytest.approx(0.868, abs=1e-3)
    assert counted.tightness == pytest.approx(0.04 / (1 / 6))
    assert (counted.kept, counted.measured, counted.promised, counted.case) == (True, longer, 5 / 6, 1)
    assert Sides([short, attained], 5 / 6, AT_LEAST, counted_from=1.0).part("x").tightness == 1.0
    assert Sides([short, 0.8], 5 / 6, AT_LEAST, counted_from=1.0).part("x").tightness == pytest.approx(0.2 / (1 / 6))


def test_an_undecided_promise_is_not_called_vacuous():
    assert not Sides([math.nan], [math.nan], trivial=1.0).vacuous
    assert not Sides([1.0], [math.inf], trivial=math.inf).vacuous


def test_cases_may_have_any_shape():
    sides = Sides(np.ones((2, 3)), np.array([[2.0], [0.5]]), trivial=np.ones((2, 3)), scored=np.ones((2, 3), bool))
    part = sides.part("x")
    assert (part.n_cases, part.broken, part.measured, part.promised) == (6, 3, 1.0, 0.5)
    nothing = Sides(np.zeros(0), np.zeros(0)).part("x")
    assert (nothing.kept, nothing.n_cases, nothing.measured) == (None, 0, None)
    lost = Sides([math.nan, math.nan], 1.0).part("x")
    assert (lost.kept, lost.undecided, lost.tightness) == (None, 2, None)


class TestFact:
    @pytest.mark.parametrize(
        ("fact", "kept"),
        [
            (Fact(True), True),
            (Fact(False), False),
            (Fact([True, False]), False),
            (Fact([True, True], undecided=[False, True]), None),
            (Fact([False, False], undecided=[False, True]), False),
            (Fact([True, False], scored=[True, False]), True),
            (Fact([True, False], scored=False), None),
            (Fact([]), None),
        ],
    )
    def test_kept(self, fact, kept):
        assert fact.part("x").kept is kept

    def test_counts(self):
        part = Fact([True, False, False, False], undecided=[0, 0, 1, 1], scored=[1, 1, 1, 0]).part("x")
        assert (part.n_cases, part.broken, part.undecided) == (3, 1, 1)


class TestEvidence:
    def test_parts_keep_their_names_and_order(self):
        given = Part(name="another name", kept=True)
        found = evidence({"bound": Sides([1.0, 2.0], 4.0), "zero loss": Fact(True), "given": given})
        assert [part.name for part in found.parts] == ["bound", "zero loss", "given"]
        assert found.runs == Runs(tried=2)
        assert (found.verdict, found.tightness, found.quantity) == (Verdict.HOLDS, 0.5, "bound")

    def test_a_conclusion_has_parts(self):
        with pytest.raises(ValueError, match="at least one part"):
            evidence({})

    @pytest.mark.parametrize("odd", [3, None, [True], "x"])
    def test_a_part_is_a_conjunct(self, odd):
        sentence = f"^part 'a' must be Sides, Fact, Rate or Part, got {type(odd).__name__}; compare two columns"
        with pytest.raises(TypeError, match=sentence):
            inspect.unwrap(evidence)({"a": odd})  # without the type checks that tests add

    @pytest.mark.parametrize("sense", ["<=", "<", "AT_MOST", ""])
    def test_a_sense_is_one_of_three(self, sense):
        sentence = f"^sense must be one of ≤, ≥, =, got {sense!r}; at_most, at_least"
        with pytest.raises(ValueError, match=sentence):
            Sides([1], [1], sense)
        assert Sides([1], [1], "≥").sense is Sense.AT_LEAST

    def test_details_of_numpy_become_plain(self):
        details = {"n": np.int64(3), "list": np.arange(2), "deep": ({"x": np.float64(0.5)},), "words": "η"}
        found = evidence({"x": Fact(True)}, [Sides(1, 1).hypothesis("a", "a")], details=details, note="a note")
        assert found.details == {"n": 3, "list": [0, 1], "deep": [{"x": 0.5}], "words": "η"}
        assert found.model_dump_json()
        assert found.note == "a note"


LAST_BIT = 1 + 2.0**-52


@pytest.mark.parametrize("sense", [Sense.AT_MOST, Sense.AT_LEAST])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_a_last_bit_does_not_select_another_case(sense, size):
    """The first of those that come equally close; one that comes closer by more than rounding is found behind them."""
    promised = np.full(4, 2.0) * size
    for bits in ([1, LAST_BIT, 1], [LAST_BIT, 1, 1], [1, 1, LAST_BIT]):
        near = 1.8 if sense is Sense.AT_MOST else 2.2
        closer = 1.8001 if sense is Sense.AT_MOST else 2.1999
        measured = near * np.array([*bits, 0.9 if sense is Sense.AT_MOST else 1.1]) * size
        assert Sides(measured, promised, sense).closest == 0
        assert Sides([*measured, closer * size], [*promised, 2.0 * size], sense).closest == 4


def test_an_equality_kept_up_to_rounding_shows_its_first_case():
    noise = np.array([0.0, 3e-16, -2e-16, 9e-14])
    sides = Sides(1 + noise, np.ones(4), Sense.EQUAL, 1e-12)
    assert (sides.kept, sides.closest) == (True, 0)
    assert Sides(1 + np.array([*noise, 2e-13]), np.ones(5), Sense.EQUAL, 1e-12).closest == 4, "a fifth of its room"
    assert Sides([1.0, 1.0, 1.5, 2.0], np.ones(4), Sense.EQUAL, 1e-12).closest == 3, "one that breaks it"
    assert Sides([1.0, 1.0, 1.5, 2.0], np.ones(4), Sense.EQUAL).closest == 3


def test_a_broken_case_is_shown_before_one_that_rounding_alone_keeps():
    sides = Sides([1 + 5e-13, 1 + 2e-12], [1.0, 1.0], room=1e-12)
    assert sides.broken.tolist() == [False, True]
    assert sides.closest == 1


@pytest.mark.parametrize("sizes", [(1e6, 3e-3), (3e-3, 1e6), (1.0, 1e-30)])
def test_a_last_bit_of_a_large_case_does_not_select_a_small_one(sizes):
    """Attained in both: the first is shown, whichever of them is rounded down."""
    sides = np.array(sizes)
    for place in (0, 1):
        measured = sides.copy()
        measured[place] = np.nextafter(measured[place], 0)
        assert Sides(measured, sides).closest == Sides(sides, sides).closest == 0


def test_what_is_left_of_a_zero_is_attained_within_its_room():
    for left in (0.0, -1e-17, 1e-17):
        assert Sides([left, -1.0], [0.0, 0.0], room=1e-12).part("x").tightness == 1
    assert Sides([-1e-6], [0.0], room=1e-12).part("x").tightness == 0
    assert Sides([-1.0, 0.0], [-1.0, 0.0], room=1e-12).closest == 0
    assert Sides([np.nextafter(-1.0, -2), 0.0], [-1.0, 0.0], room=1e-12).closest == 0


class TestPairs:
    def test_both_sides_of_every_decided_case(self):
        part = Sides([1.0, np.nan, 3.0], 4.0).part("")
        assert part.sides == ((1.0, 4.0), (3.0, 4.0))

    def test_of_many_cases_the_percentiles_of_tightness(self):
        measured = np.random.default_rng(0).permutation(np.arange(1.0, 1002.0))
        part = Sides(measured, 2000.0).part("")
        assert [pair[0] for pair in part.sides] == list(np.arange(1.0, 1002.0, 10.0))
        assert part.sides[-1] == (part.measured, part.promised)

    def test_control_a_fact_has_none(self):
        assert Fact([True, False]).part("").sides == ()


@pytest.mark.parametrize(
    ("measured", "promised", "sense", "says"),
    [
        ([1.0, 2.0], 3.0, Sense.AT_MOST, True),
        ([0.0, 2.0], 0.0, Sense.AT_MOST, True),
        ([0.0, 0.0], 0.0, Sense.AT_MOST, False),
        ([1.0, 1.0], 1.0, Sense.EQUAL, False),
    ],
)
def test_nothing_where_nothing_is_promised_and_equalities_are_no_near_misses(measured, promised, sense, says):
    """How close they come says nothing of them, and they are left out of the shares of promises."""
    assert Sides(np.array(measured), promised, sense).part("x").comes_apart is says


class TestOneRule:
    """A hypothesis and a promise decide the same comparison alike, and rounding decides neither."""

    def test_a_met_hypothesis_hides_none_that_is_not(self):
        infinite = Sides([math.inf, 5.0], [math.inf, 1.0]).hypothesis("h", "h")
        assert (infinite.met, infinite.actual) == (False, math.inf), "∞ ≤ ∞ has no slack, and is not known to be met"
        assert not Sides([5.0, math.inf], [1.0, math.inf]).hypothesis("h", "h").met
        assert Sides([5.0], [math.inf]).hypothesis("h", "h").met
        near, missed = Sides([1 - 1e-13, 1.0], [1.0, 1.0], strict=True), Sides([2.0, -9.0], [1.0, 1.0], strict=True)
        assert [(each.hypothesis("h", "h").met, each.hypothesis("h", "h").actual) for each in (near, missed)] == [
            (False, 1.0),
            (False, 2.0),
        ]
        mixed = Sides([1.5, 9.0], [1.0, 1.0], room=[0.0, 8.5]).hypothesis("h", "h")
        assert (mixed.met, mixed.actual) == (False, 1.5), "the second has room for it"
        assert not Sides([2.0], 1.0, within=1e-12, of=[math.inf]).hypothesis("h", "h").met

    def test_what_was_compared_exactly_is_a_hypothesis_too(self):
        assert not Sides([1.0], [1.0], exact=[False]).hypothesis("h", "h").met
        assert Sides([2.0], [1.0], exact=[True]).hypothesis("h", "h").met

    def test_a_strict_comparison_has_no_tolerance(self):
        hows: tuple[dict[str, Any], ...] = ({"within": 1e-12}, {"room": 1e-12}, {"room": np.array([1e-12])})
        for how in hows:
            with pytest.raises(ValueError, match="strict comparison has no tolerance"):
                Sides([1.0], [1.0], strict=True, **how)

    @pytest.mark.parametrize("size", [1e-3, 1.0, 1e6, -1e6, 1e300])
    def test_the_tolerance_beside_one_number_grows_with_it(self, size):
        rounded = size + abs(size) * 4e-16
        assert Sides([rounded], size, within=1e-12).kept
        assert not Sides([size + 2e-12 * max(1.0, abs(size))], size, within=1e-12).kept
        assert Sides([math.inf, 1.0], math.inf, within=1e-12).room.tolist() == [1e-12, 1e-12]

    def test_a_tolerance_that_dwarfs_the_limit_decides_nothing(self):
        part, given = Sides([5e-13], 1e-15, within=1e-12), Sides([5e-13], 1e-15, within=1e-12).hypothesis("h", "h")
        assert (part.kept, given.met) == (None, None)
        assert Sides([1e-13], 0.0, within=1e-12).hypothesis("h", "h").met
        wide = Sides([1.02], [1.0], room=0.05).hypothesis("h", "h")
        assert wide.met, "a frequency may differ from a probability by more than rounding"

    def test_float32_may_miss_by_its_own_rounding(self):
        once = np.float32(0.1) * np.float32(3)
        for sides in (Sides(np.array([once]), 0.3, "=", within=1e-12), Sides(np.array([once]), 0.3, within=1e-12)):
            assert sides.kept is None
            assert sides.hypothesis("h", "h").met is None
        assert Sides(np.array([0.31], np.float32), 0.3, within=1e-12).kept is False
        assert Sides(np.array([1e-9], np.float32), 0.0).kept is False, "rounding of what? 0 has no size"
        assert Sides(np.array([0.29], np.float32), 0.3).kept
        assert Sides(np.array([0.1 + 0.2]), 0.3, "=").kept is False, "float64 is compared as it is"

    @pytest.mark.parametrize(("sense", "beyond"), [("≤", 0.31), ("≥", 0.29)])
    def test_float32_may_be_equal_by_its_own_rounding_where_a_comparison_is_strict(self, sense, beyond):
        once = np.array([0.3], np.float32)
        sides = Sides(once, once.astype(np.float64), sense, strict=True)
        assert (sides.kept, sides.hypothesis("h", "h").met) == (None, None)
        missed = Sides(np.array([beyond], np.float32), 0.3, sense, strict=True)
        assert (missed.kept, missed.hypothesis("h", "h").met) == (False, False)
        assert Sides(np.array([0.0], np.float32), 0.0, sense, strict=True).kept is False, "0 is not rounded"
        assert Sides(np.array([0.3]), 0.3, sense, strict=True).kept is False, "float64 is compared as it is"

    def test_whole_numbers_beyond_float64(self):
        large = 2**53
        assert Sides([large + 1], [large]).kept is False
        assert Sides([large], [large + 1], strict=True).kept
        assert Sides([large + 1], [large], Sense.AT_LEAST).kept
        assert Sides([large], [large + 1], Sense.AT_LEAST, strict=True).kept is False
        assert Sides([large + 1], [large], Sense.EQUAL).kept is False
        assert Sides([-large - 1], [-large], Sense.EQUAL).kept is False
        assert Sides([large + 1, 7], [large + 1, 5]).broken.tolist() == [False, True]

    def test_complex_numbers_have_no_order(self):
        with pytest.raises(TypeError, match="measured must be a number"):
            Sides([1 + 0.5j], [2.0])

    @pytest.mark.parametrize("where", [[0, 2], [1.0, math.nan], [0.5, 1.0]])
    def test_cases_are_picked_by_answers_and_not_by_places(self, where):
        for made in (
            lambda: Sides([1.0, 2.0], 3.0, where=np.array(where), event="some"),
            lambda: Rate([False, True], 0.1, where=np.array(where), event="some").part("r"),
        ):
            with pytest.raises(ValueError, match="where takes one yes or no per case"):
                made()

    def test_a_run_that_was_cut_off_breaks_its_bound_or_says_nothing(self):
        counts, limit = np.array([5.0, 7.0, 5.0, np.nextafter(6.0, 7)]), 6.0
        cut = np.array([True, True, False, True])
        sides = Sides(counts, limit, within=1e-12, cut_off=cut)
        assert (sides.broken.tolist(), sides.decided.tolist()) == (
            [False, True, False, False],
            [False, True, True, False],
        )
        assert Sides(counts[[0, 2]], limit, cut_off=cut[[0, 2]]).kept is None
        assert Sides([3.0], [4.0], Sense.AT_LEAST, cut_off=True).kept is False
        assert Sides([2, 3], [2, 2], exact=[True, False], cut_off=True).broken.tolist() == [False, True]
