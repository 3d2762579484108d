"""Writes what the controls of the claims change and what then breaks, for the report: python -m tools.controls."""

from tests.told_controls import all_told
from widenet.papers import claim_ids
from widenet.papers.controls import FILE, text


def main() -> None:
    """Make every control, and keep its numbers in the order of the papers."""
    found = all_told()
    FILE.write_text(text({id: found[id] for id in claim_ids() if id in found}), encoding="utf-8")


if __name__ == "__main__":
    main()
