"""Section 6.2: explicit weights of a Leaky ReLU network that give n points any labels at all.

Three constructions. `bumps` is the route of the paper's proof: a pair of nearby hyperplanes makes a function that is 0
off a group of d − 1 points and 1 on it. `random_gates` and `swept_gates` choose which neurons are on at which point,
after which the output is linear in the weights and a linear system remains (`fit`). Everything is for output weights
±1; divide the weights by v for ±v.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.tolerances import FITTED
from widenet.networks.arrays import leaky
from widenet.papers.brutzkus2018.formulas import swept_half_width

Inputs = Float[np.ndarray, "sample dim"]
Gates = Float[np.ndarray, "gate dim"]
Hidden = Float[np.ndarray, "neuron dim"]

LARGEST = 1e100
"""λ where there is none: the weights stay finite and fit nothing."""


def outputs(weights: Hidden, inputs: Inputs, slope: float) -> Float[np.ndarray, " sample"]:
    """N(x) with output weights (+1, …, +1, −1, …, −1)."""
    z = inputs @ weights.T
    hidden, half = leaky(z, slope), len(weights) // 2
    return (hidden[:, :half] - hidden[:, half:]).sum(axis=1)


def all_outputs(
    weights: Float[np.ndarray, "value neuron dim"], inputs: Inputs, slope: float
) -> Float[np.ndarray, "sample value"]:
    """N(x) of several networks, one column each."""
    return np.stack([outputs(each, inputs, slope) for each in weights], axis=1)


@dataclass(frozen=True, eq=False)
class Fit:
    """A network that takes given values on given points."""

    weights: Float[np.ndarray, "value neuron dim"]  #: one per column of values, (values, 2k, d); the +1 neurons first
    rank: int  #: of the linear system; n or more unknowns of full rank fit any values
    scale: float  #: λ, how far the common part of the two halves had to be pushed out


@dataclass(frozen=True, eq=False)
class Memorized:
    """The best weights found for each column of values, their largest error, and the gates they use."""

    weights: Float[np.ndarray, "value neuron dim"]
    error: float
    gates: str


def fit(inputs: Inputs, values: Float[np.ndarray, "sample value"], gates: Gates, slope: float) -> Fit:
    """Rows λg + D/2 with output +1 and λg − D/2 with output −1, for the gates g and a solution D.

    Both halves have the gates in common, so for λ large enough the gates decide every sign, the λ part cancels, and
    N(x_i) = Σ_r σ'(⟨g_r, x_i⟩)⟨D_r, x_i⟩: a linear system with n equations and kd unknowns.
    """
    n_samples, dim = inputs.shape
    half = len(gates)
    z = inputs @ gates.T
    slopes = np.where(z >= 0, 1.0, slope)
    system = (slopes[:, :, None] * inputs[:, None, :]).reshape(n_samples, half * dim)
    solution, _, rank, _ = np.linalg.lstsq(system, values, rcond=1e-13)
    change = solution.T.reshape(-1, half, dim) / 2
    # A gate that is orthogonal to a point decides no sign there, and no λ is large enough.
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 + 2 * (np.abs(change @ inputs.T) / np.abs(z).T).max(axis=(1, 2))
    scale = np.where(np.isfinite(scale), scale, LARGEST)
    common = scale[:, None, None] * gates
    return Fit(np.concatenate([common + change, common - change], axis=1), int(rank), float(scale.max()))


def random_gates(draw: np.random.Generator, half_width: int, dim: int) -> Gates:
    """k Gaussian gates. In two dimensions they leave the system singular: use `swept_gates`."""
    return draw.normal(size=(half_width, dim))


def swept_gates(draw: np.random.Generator, half_width: int, inputs: Inputs) -> Gates:
    """k ≥ ⌈n/d⌉ gates whose system has full rank on every generic X, for every slope in (0, 1).

    A gate g(t) = cos t·p + sin t·q that turns through half a plane changes its sign on each point exactly once. Put
    one gate before the first change and one after every d changes. Two neighbours then differ on d points only, by
    ±(1 − α) times their rows, which are independent; modulo these, the first gate has at most d points left, with
    rows scaled by 1 or α. So the rank is n.
    """
    n_samples, dim = inputs.shape
    p, q = np.linalg.qr(draw.normal(size=(dim, 2)))[0].T
    angles = np.sort(np.arctan2(-(inputs @ p), inputs @ q) % np.pi)
    needed = -(-n_samples // dim)
    cuts = [angles[0] / 2] + [(angles[j * dim - 1] + angles[j * dim]) / 2 for j in range(1, needed)]
    turned = np.array(cuts[:half_width])
    gates = np.outer(np.cos(turned), p) + np.outer(np.sin(turned), q)
    extra = draw.normal(size=(half_width - len(gates), dim))
    return np.concatenate([gates, extra])


def memorize(
    draw: np.random.Generator,
    inputs: Inputs,
    values: Float[np.ndarray, "sample value"],
    half_width: int,
    slope: float,
    *,
    random_draws: int = 50,
    planes: int = 20,
) -> Memorized:
    """Random gates until one system is solved closely enough, then swept ones; the best found otherwise."""
    n_samples, dim = inputs.shape
    if dim == 2:
        random_draws = 0
    if half_width < swept_half_width(n_samples, dim):
        planes = 0
    best = None
    for attempt in range(random_draws + planes):
        swept = attempt >= random_draws
        gates = swept_gates(draw, half_width, inputs) if swept else random_gates(draw, half_width, dim)
        found = fit(inputs, values, gates, slope)
        error = float(np.abs(all_outputs(found.weights, inputs, slope) - values).max())
        if best is None or error < best.error:
            best = Memorized(found.weights, error, "swept" if swept else "random")
        if best.error <= FITTED:
            break
    return best or Memorized(np.zeros((values.shape[1], 2 * half_width, dim)), float(np.inf), "none")


def bumps(inputs: Inputs, labels: Float[np.ndarray, " sample"], slope: float, *, spread: float = 0.5) -> Hidden:
    """Four neurons for every d − 1 points of one label; the +1 neurons first.

    For a group, h is a unit vector orthogonal to it and g has ⟨g, x⟩ = 1 on it. σ(⟨h + εg, x⟩) + σ(⟨h − εg, x⟩)
    − 2σ(⟨h, x⟩) is (1 − α)ε on the group, and 0 where |⟨h, x⟩| > ε|⟨g, x⟩|. `spread` is ε in units of the largest
    that keeps the bump off all other points.
    """
    dim = inputs.shape[1]
    halves: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for label in (1.0, -1.0):
        members = np.flatnonzero(labels == label)
        for first in range(0, len(members), dim - 1):
            group = members[first : first + dim - 1]
            normal = np.linalg.svd(inputs[group])[2][-1]
            lift = np.linalg.lstsq(inputs[group], np.ones(len(group)), rcond=None)[0]
            others = np.delete(inputs, group, axis=0)
            reach = np.abs(others @ normal) / np.maximum(np.abs(others @ lift), 1e-300)
            width = spread * reach.min(initial=1.0)
            height = 1 / ((1 - slope) * width)
            plus, minus = halves if label > 0 else halves[::-1]
            plus += [height * (normal + width * lift), height * (normal - width * lift)]
            minus += [height * normal, height * normal]
    return np.array(halves[0] + halves[1])
