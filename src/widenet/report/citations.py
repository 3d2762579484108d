"""A paper as BibTeX."""

import re

from widenet.papers.base import Paper


def bibtex(paper: Paper) -> str:
    """An entry of the paper, with its address at arXiv."""
    venue, _, year = paper.venue.rpartition(" ")
    venue, volume = _volume(venue.rstrip(","))
    fields = {
        "title": f"{{{paper.title}}}",
        "author": " and ".join(paper.authors.split(", ")),
        "journal" if volume else "booktitle": venue,
        "volume": volume,
        "year": year,
        "eprint": paper.arxiv,
        "archivePrefix": "arXiv",
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{'article' if volume else 'inproceedings'}{{{paper.key},\n{lines}\n}}"


def _volume(venue: str) -> tuple[str, str]:
    """`("JMLR", "22")` of "JMLR 22"."""
    found = re.fullmatch(r"(.*\D) (\d+)", venue)
    return (found[1], found[2]) if found else (venue, "")
