"""Run one Python function three ways: by Python, by the reference interpreter on what was read, and natively."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import relay


def agrees(definition: Callable[..., Any], *arguments: Any, expected: Any = None) -> Any:
    """What the program gives natively; Python and the interpreter give the same."""
    wanted = definition(*arguments) if expected is None else expected
    defined = relay.function(definition)
    meant = relay.create_executor("interpreter", mod=defined.module).evaluate()(*arguments)
    found = defined(*arguments)
    for left, middle, right in zip(flat(wanted), flat(meant), flat(found), strict=True):
        np.testing.assert_allclose(middle, left, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(right, left, rtol=1e-5, atol=1e-6)
    return found


def flat(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of nested tuples and lists, those of Relay included."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flat(part)]
    if hasattr(value, "fields"):
        found: list[np.ndarray[Any, Any]] = []
        while value.fields:
            found += flat(value.fields[0])
            value = value.fields[1]
        return found
    return [np.asarray(value)]
