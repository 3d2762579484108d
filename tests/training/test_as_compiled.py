"""What depends on how XLA compiles is tested as users have it: the tests here are not optimized (tests/conftest.py)."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHOSEN = "test_batch_invariance and not flow"


def test_the_same_bits_in_every_batch_with_the_optimizer_of_xla():
    files = ("tests/training/test_ensemble.py", "tests/training/methods/test_methods.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-k", CHOSEN, *files],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"XLA_FLAGS": os.environ["MACHINE_XLA_FLAGS"]},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
