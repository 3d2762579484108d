"""How much a search may compute. It counts products of two numbers, which no clock, load or processor changes."""

import math
import time

USUAL = 8e10
"""Products: at most a minute or so on one core."""
PER_CALL = 1e5
"""What calling a solver takes beside its products."""


class Work:
    """Counts down what a search may still compute.

    Attributes:
      left: products. What a solver needs is not known exactly beforehand, so a little more may be done.
    """

    def __init__(self, products: float | int = USUAL, *, seconds: float | int = math.inf):
        """So many `products`; and so many `seconds` of computing from now on, where you asked for such a limit."""
        self.left = float(products)
        self._deadline = math.inf if seconds == math.inf else time.process_time() + seconds

    def spend(self, products: float | int) -> None:
        """So much was done."""
        self.left -= float(products)

    def end(self) -> None:
        """What comes next needs more than is left."""
        self.left = min(self.left, 0.0)

    @property
    def seconds(self) -> float:
        """Those that are left; infinite where you asked for no limit in seconds."""
        return math.inf if self._deadline == math.inf else self._deadline - time.process_time()

    @property
    def is_spent(self) -> bool:
        """Whether nothing new may begin."""
        return self.left <= 0 or self.seconds <= 0
