"""What a hypothesis is: measured, with how far it is from failing, and three answers."""

from pydantic import Field

from widenet.records import ClosedModel

KEY = r"^[a-z][a-z0-9_]*$"
"""Keys of hypotheses and promises: ASCII snake_case."""

NOT_KNOWN = "undecided: neither a separator nor a proof that there is none was found"


class Hypothesis(ClosedModel):
    """One hypothesis, measured.

    Attributes:
      key: what programs find it by ("separable"); the same in every claim that needs it.
      name: what a reader sees.
      slack: how far it is from failing, in the units of `actual`: positive or zero when met, negative when not; None
        where there is no distance.
      met: None where it could not be decided (a search that found neither answer): the verdict then decides nothing.
      why: the sentence of a certificate, where there is one.
      normalization: the choice that makes it true of every run ("R is the largest row norm"), or "". Such a hypothesis
        has no slack: it cannot be near to failing, and it must not look as if it were.
    """

    key: str = Field(pattern=KEY)
    name: str
    required: str
    actual: float | str
    slack: float | None
    met: bool | None
    why: str = ""
    normalization: str = ""

    def __repr__(self) -> str:
        return f"<Hypothesis {self.key}: {self}>"

    def __str__(self) -> str:
        """What was found, what is required, and whether that meets it: one line."""
        return f"{self.sides}: {({True: 'met', False: 'not met', None: 'undecided'})[self.met]}"

    @property
    def sides(self) -> str:
        """What was found, and what is required."""
        actual = self.actual if isinstance(self.actual, str) else f"{self.actual:.4g}"
        return f"{self.name} is {actual}, required {self.required}"


def normalized(hypothesis: Hypothesis, choice: str) -> Hypothesis:
    """A hypothesis that `choice` makes true, such as a maximum divided by itself; shown without a slack while met."""
    return hypothesis.model_copy(update={"slack": None, "normalization": choice}) if hypothesis.met else hypothesis


def undecided(key: str, name: str, required: str, *, actual: float | str = "not known", why: str) -> Hypothesis:
    """A hypothesis of which it is not known whether it is met: nothing follows from it, either way."""
    return Hypothesis(key=key, name=name, required=required, actual=actual, slack=None, met=None, why=why)
