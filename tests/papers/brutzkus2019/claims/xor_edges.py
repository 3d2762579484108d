"""Controls of the hypotheses that the claims about XOR share: each just inside and just outside its edge."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.controls import breaks_hypothesis, each_of
from tests.papers.brutzkus2019.claims.xor_toys import chosen, drawn, octants, toy
from widenet.claims.base import Claim, Evidence
from widenet.papers.brutzkus2019.runs.xor import XorTrace, trace_xor
from widenet.papers.brutzkus2019.runs.xor_starts import EVENT_RADIUS, XorStart
from widenet.types import RunStatus

Pair = Callable[[], tuple[Evidence, Evidence]]
ENDS = "a run that still moves is not known to break anything: it leaves the verdict undecided"


def with_start(run: XorTrace, **changes: Any) -> XorTrace:
    """The same records from another start."""
    return dataclasses.replace(run, start=dataclasses.replace(run.start, **changes))


def with_fit(run: XorTrace, size: float) -> XorTrace:
    """The first fit of the first w has this size, in units of η, in every run."""
    fits = run.start.fits.copy()
    fits[:, 0, 0, 0] = np.sign(fits[:, 0, 0, 0]) * size
    return with_start(run, fits=fits)


def second_outside(run: XorTrace) -> XorTrace:
    """One run twice, the second time from a start outside the event of Lemma B.2."""
    twice = chosen(run, np.zeros(2, int))
    fits = twice.start.fits.copy()
    fits[1, 0, 0, 0] = 0.36
    return with_start(twice, fits=fits)


def with_deviation(run: XorTrace, relative: float) -> XorTrace:
    """Scaled so that 16√k·σ_g/η, σ_g as drawn, is this."""
    start = run.start
    now = 16 * math.sqrt(start.half_width / 2) * math.sqrt(np.square(start.fits).mean())
    return with_start(run, fits=start.fits * (relative / now))


@functools.cache
def leaning(inside: int) -> XorTrace:
    """k = 64 with so many filters w in the half-plane of x_1, and 32 in every other."""
    fits = np.zeros((1, 2, 64, 2))
    fits[..., 0] = np.where(np.arange(64) < 32, 0.2, -0.2)
    fits[..., 1] = np.where(np.arange(64) % 2, 0.1, -0.1)
    fits[0, 0, :, 0] = np.where(np.arange(64) < inside, 0.2, -0.2)
    return trace_xor(XorStart(fits, 0.1 / 64, 0.1))


def setting_edges(
    judged: Callable[[XorTrace], Evidence], base: Callable[[], XorTrace], many: Callable[[], XorTrace]
) -> dict[tuple[str, str], Pair]:
    """What Section 3 asks for: c_η < 1/2, kη ≤ c_η, and σ_g."""

    def with_constant(value: float) -> Evidence:
        return judged(with_start(base(), step_constant=value))

    def with_step(error: float) -> Evidence:
        return with_constant(base().start.half_width * base().start.step_size / (1 + error))

    def with_spread(error: float) -> Evidence:
        return judged(with_deviation(many(), 1 + 6 / math.sqrt(2 * many().start.fits.size) + error))

    return {
        ("step_constant", ""): lambda: (with_constant(math.nextafter(0.5, 0)), with_constant(0.5)),
        ("step_size", ""): lambda: (with_step(0.9e-12), with_step(1.1e-12)),
        ("deviation", ""): lambda: (with_spread(-1e-7), with_spread(1e-7)),
    }


def event_edges(judged: Callable[..., Evidence], base: Callable[[], XorTrace]) -> dict[tuple[str, str], Pair]:
    """The event of Lemma B.2: no fit above √2/4 of η, none 0, in every setting."""

    def with_size(size: float, *others: XorTrace) -> Evidence:
        return judged(*others, with_fit(base(), size))

    inside, outside = EVENT_RADIUS - 1e-9, EVENT_RADIUS + 1e-9
    return {
        ("in_event", "size"): lambda: (with_size(inside), with_size(outside)),
        ("in_event", "kink"): lambda: (with_size(0.3), with_size(0.0)),
        ("in_event", "beside another"): lambda: (with_size(inside, base()), with_size(outside, base())),
    }


def shared_edges(
    *claims: Claim, wide: bool = False, event: bool = True, at_zero_loss: bool = False, explored: bool = False
) -> Callable:
    """One test case for each of these claims and each edge.

    Arguments:
      wide: k > 16 is asked for.
      event: the event of Lemma B.2 is.
      at_zero_loss: loss 0 at the end is.
      explored: the event of Lemma 3.1 is.
    """

    def base() -> XorTrace:
        return with_start(drawn(17, 0.4, 1), deviation=None) if wide else toy("X3")

    def stalled() -> XorTrace:
        return dataclasses.replace(base(), status=np.full_like(base().status, RunStatus.STALLED))

    tests = {}
    for claim in claims:

        def judged(*runs: XorTrace, claim: Claim = claim) -> Evidence:
            return claim(list(runs))

        found = setting_edges(judged, base, functools.partial(drawn, 17, 0.4, 30))
        if wide:
            found["width", ""] = lambda judged=judged: (judged(drawn(17, 0.4, 30)), judged(drawn(16, 0.4, 30)))
        if event:
            found |= event_edges(judged, base)
        if at_zero_loss:
            found["in_event", "loss"] = lambda judged=judged: (judged(base()), judged(stalled()))
        if explored:
            found["in_event", "few"] = lambda judged=judged: (judged(leaning(16)), judged(leaning(15)))
            found["in_event", "many"] = lambda judged=judged: (judged(leaning(48)), judged(leaning(49)))
        for (key, words), make in found.items():
            tests[f"{claim.name}-{key}-{words}"] = breaks_hypothesis(claim, key)(make)
    return each_of(tests)


def narrow_edges(claim: Claim) -> Callable:
    """One test case for each edge of what k = 2, Section 3 and the event of Lemma B.2 ask for, of the drawn runs."""

    def judged(*runs: XorTrace) -> Evidence:
        return claim(list(runs)) if len(claim.reads) == 1 else claim(list(runs), [octants()])

    def base() -> XorTrace:
        return toy("X2")

    found = {**setting_edges(judged, base, functools.partial(drawn, 2, 0.1, 200)), **event_edges(judged, base)}
    found["width", ""] = lambda: (judged(drawn(2, 0.1, 50)), judged(drawn(3, 0.1, 50)))
    return each_of(
        {f"{claim.name}-{key}-{words}": breaks_hypothesis(claim, key)(make) for (key, words), make in found.items()}
    )
