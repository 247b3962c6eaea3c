"""CaseOfKnownConstructor: see `module`."""

from relay.transform.functions.case_of_known_constructor.module import CaseOfKnownConstructor

__all__ = ["CaseOfKnownConstructor"]
