"""SimplifyKnownCases: see `module`."""

from relay.transform.functions.simplify_known_cases.module import SimplifyKnownCases

__all__ = ["SimplifyKnownCases"]
