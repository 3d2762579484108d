"""Part of a toy room."""
