"""Shared by all tests: strict promotion, a private store, and hypothesis without deadlines."""

import os

import hypothesis
import jax
import pytest

# Mixed precision is a mistake until somebody means it.
jax.config.update("jax_numpy_dtype_promotion", "standard")
jax.config.update("jax_numpy_rank_promotion", "allow")

hypothesis.settings.register_profile("widenet", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("widenet")


@pytest.fixture(autouse=True)
def private_store(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's own results."""
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path_factory.mktemp("store")))
    assert os.environ["WIDENET_STORE"]
