"""Moved to the room, where runs import it; claims that are not converted import it from here."""

from widenet.papers.brutzkus2018.specimens import *  # noqa: F403
