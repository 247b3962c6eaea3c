"""Programs that people write: each gives what CPython and NumPy give, or is refused with what to write instead."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import relay
from relay.driver.notations.python_source import CompiledFunction
from relay.frontend.python.tuples import form_of, parts_of_form

from .programs import language, lists, networks, numerics, trees
from .running import as_python, kind

REFUSED = {
    "chooses_a_string", "factorial_of_a_computed_number",
    "rare_functions_of_numpy",
}  # fmt: skip
NATIVE = {"rose_facts", "tree_sort", "beam_search", "two_bodies", "state_out", "k_means", "closures_see_the_last_value"}
PROGRAMS = [
    pytest.param(each, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in (numerics, lists, networks, trees, language)
    for name, each in vars(module).items()
    if hasattr(each, "inputs")
]


@pytest.mark.parametrize("definition", [each for each in PROGRAMS if each.values[0].__name__ not in REFUSED])
def test_a_program(definition: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each runs in the interpreter, some natively."""
    compiled = relay.function(definition)
    is_native = definition.__name__ in NATIVE
    run = None if is_native else relay.create_executor("interpreter", mod=compiled.module).evaluate()
    for given in definition.inputs:
        left = list(inspect.signature(definition).parameters.values())[len(given) :]
        arguments = (*given, *(each.default for each in left))
        found = compiled(*given) if run is None else run(*map(plain, arguments))
        with monkeypatch.context() as patched:  # what a program calls is Python's here
            patched.setattr(CompiledFunction, "__call__", lambda self, *a, **k: self.definition(*a, **k))
            wanted = definition(*map(as_python, given))
        same(found, wanted)


@pytest.mark.parametrize("definition", [each for each in PROGRAMS if each.values[0].__name__ in REFUSED])
def test_a_program_that_is_refused(definition: Any) -> None:
    with pytest.raises(relay.RelayError) as caught:
        relay.function(definition).module.astext()
    assert caught.value.span is not None
    assert caught.value.remedy


def test_most_are_right() -> None:
    assert len(REFUSED) < 0.05 * len(PROGRAMS)


def same(found: Any, wanted: Any) -> None:
    for left, right in zip(leaves(wanted), leaves(found), strict=True):
        assert kind(left) == kind(right)
        assert left.shape == right.shape
        np.testing.assert_allclose(right, left, rtol=2e-4, atol=1e-4)


def plain(value: Any) -> Any:
    """A value as the tuple that a program takes for it."""
    parts = value if form_of(value) is None else parts_of_form(value)
    return type(parts)(map(plain, parts)) if isinstance(parts, list | tuple) else parts


def leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of nested tuples, lists and options."""
    value = plain(value)
    if value is None:
        return []
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    if getattr(value, "constructor", None) in ("Some", "None", "Cons", "Nil"):
        return [leaf for part in value.fields for leaf in leaves(part)]
    return [np.asarray(value)]
