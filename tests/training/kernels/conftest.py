"""What kernels for tensor cores need of the processor on which tests interpret them."""

import jax
import jax.numpy as jnp
import pytest


@pytest.fixture
def half_precision() -> None:
    """Skips where XLA cannot make float16 numbers: on a processor without F16C, or one that is told to do without."""
    try:
        jax.jit(lambda x: x.astype(jnp.float16))(jnp.ones(8, jnp.float32)).block_until_ready()
    except jax.errors.JaxRuntimeError:
        pytest.skip("XLA has no float16 on this processor")
