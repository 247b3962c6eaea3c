"""SimplifyKnownCases: see `module`."""

from relay.transform.simplify_known_cases.module import SimplifyKnownCases

__all__ = ["SimplifyKnownCases"]
