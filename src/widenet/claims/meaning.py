"""What a claim means to somebody who trains a network and knows no theory."""

import enum

from widenet.records import ClosedModel


class Topic(enum.StrEnum):
    """What a promise is about. Certificates list promises in this order."""

    UPDATES = "how long training takes"
    RATE = "how fast the loss falls"
    TEST_ERROR = "errors on new points"
    BOUNDARY = "the shape of the boundary"
    LIMIT = "where training leads"
    STABILITY = "how much the neurons change"
    POWER = "what the network can represent"
    TRAPS = "where training can get stuck"

    @property
    def is_warning(self) -> bool:
        """Whether it tells what cannot be relied on, so that it is good to know and no good news."""
        return self in (Topic.POWER, Topic.TRAPS)


class Meaning(ClosedModel):
    """A promise in plain words.

    Attributes:
      topic: what it is about.
      promise: one sentence; `{promised}` in it is the number promised.
      seen: how what was measured is told, with `{measured}`, or names of `details` of the evidence, in it; "" where
        there is no such number.
    """

    topic: Topic
    promise: str
    seen: str = ""
