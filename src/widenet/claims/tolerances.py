"""The one table of tolerances: what rounding in float64 may add to a side of a statement, and where it is used.

All are relative to the size of what is compared unless they say otherwise. They are far below every slack that a
statement is measured with, and far above what was seen: a step is some ten roundings of 1.1e-16.
"""

ROUNDING = 1e-12
"""A norm, a margin or a formula: a handful of roundings."""

BOUND = 1e-11
"""A bound that goes through the roots of a quadratic."""

IDENTITY = 1e-10
"""Two ways to compute the same output or the same step."""

STEP = 1e-9
"""One side of an inequality that is followed along a run, or a difference of two of its values."""

BY_CHANCE = 1e-6
"""No rounding, but the same kind of number: a p-value below this is not chance, in a test of draws against a law."""

FITTED = 1e-6
"""N(x) against a label that was fitted by solving a linear system: what is left when large numbers cancel."""

CLOSED_FORM = 1e-6
"""A small difference of measured losses against its closed form."""

LARGEST_ROUNDING = 1e-6
"""The largest of those above. What lies farther beyond a promise and is kept, is so for another reason."""
