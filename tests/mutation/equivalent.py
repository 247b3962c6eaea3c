"""Mutants that do what the function does, by name, with the reason: no test can find them."""

EQUIVALENT: dict[str, str] = {}
