"""SimplifyKnownCases: see `module`."""

from relay.transform.simplify_known_cases.module import simplify_known_cases

__all__ = ["simplify_known_cases"]
