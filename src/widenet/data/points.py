"""Points drawn in plain NumPy, for runs so small that compiling a sampler would cost more than they do."""

import numpy as np
from jaxtyping import Float

ROOM = 1e-12
"""Points keep this far inside ‖x‖ ≤ 1 and y⟨w*, x⟩ ≥ 1, so that rounding does not carry them out."""


def separable_points(
    draw: np.random.Generator, dim: int, n_samples: int, separator_norm: float, largest_margin: float = 1.0
) -> tuple[Float[np.ndarray, "sample dim"], Float[np.ndarray, " sample"], Float[np.ndarray, " dim"]]:
    """(inputs, labels, w*) with the law of `widenet.data.separable`: margins uniform on [1/‖w*‖, largest_margin]."""
    direction = unit_rows(draw, 1, dim)[0]
    labels = draw.choice([-1.0, 1.0], n_samples)
    margins = np.minimum(draw.uniform((1 + ROOM) / separator_norm, largest_margin, n_samples), 1 - ROOM)
    across = draw.normal(size=(n_samples, dim))
    across -= np.outer(across @ direction, direction)
    if dim > 1:
        radii = np.sqrt((1 - ROOM) ** 2 - margins**2) * draw.random(n_samples) ** (1 / (dim - 1))
        across *= (radii / np.linalg.norm(across, axis=1))[:, None]
    inputs = np.outer(labels * margins, direction) + across * (dim > 1)
    return inputs, labels, separator_norm * direction


def unit_rows(draw: np.random.Generator, count: int, dim: int) -> Float[np.ndarray, "row dim"]:
    """Rows uniform on the unit sphere."""
    rows = draw.normal(size=(count, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
