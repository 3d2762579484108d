"""Programs of this repository that are neither the package nor its tests."""
