"""Types and extents that must be equal: how they are found, and why they cannot be."""
