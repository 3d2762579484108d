"""Checks that are weakened on purpose, to see whether a test notices. See docs/mutants.md."""
