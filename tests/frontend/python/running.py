"""Run one Python function three ways: by Python, by the reference interpreter on what was read, and natively."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay

_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "V": "float"}


def agrees(definition: Callable[..., Any], *arguments: Any, expected: Any = None) -> Any:
    """What the program gives natively; Python and the interpreter give the same, of the same kinds."""
    wanted = definition(*map(as_python, arguments)) if expected is None else expected
    defined = relay.function(definition)
    meant = relay.create_executor("interpreter", mod=defined.module).evaluate()(*arguments)
    found = defined(*arguments)
    for left, middle, right in zip(flat(wanted), flat(meant), flat(found), strict=True):
        assert kind(left) == kind(middle) == kind(right)
        np.testing.assert_allclose(middle, left, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(right, left, rtol=1e-5, atol=1e-6)
    return found


def fails(
    definition: Callable[..., Any], error: type[Exception] | tuple[type[Exception], ...], rule: str, *arguments: Any
) -> None:
    """Where Python raises `error`, the program ends with a `RelayError` of a rule, in the interpreter and natively."""
    with pytest.raises(error):
        definition(*map(as_python, arguments))
    defined = relay.function(definition)
    for run in (relay.create_executor("interpreter", mod=defined.module).evaluate(), defined):
        with pytest.raises(relay.RelayError) as caught:
            run(*arguments)
        assert caught.value.rule in rule.split()


def as_python(value: Any) -> Any:
    """An argument as Python has it: numbers are Python's, and what a function changes is its own."""
    return value.item() if isinstance(value, np.generic) else copy.deepcopy(value)


def kind(value: Any) -> str:
    return _KINDS[np.asarray(value).dtype.kind]


def flat(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of nested tuples, lists and values with names, those of Relay included. What is missing is an array of
    nothing."""
    constructor = getattr(value, "constructor", None)
    if value is None or constructor == "None":
        return [np.zeros(0, np.bool_)]
    if constructor == "Some":
        return flat(value.fields[0])
    if constructor is None and dataclasses.is_dataclass(value):
        return flat([getattr(value, each.name) for each in dataclasses.fields(value)])
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flat(part)]
    if hasattr(value, "fields"):
        found: list[np.ndarray[Any, Any]] = []
        while value.fields:
            found += flat(value.fields[0])
            value = value.fields[1]
        return found
    return [np.asarray(value)]
