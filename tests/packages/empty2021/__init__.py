"""Part of a toy paper package."""
