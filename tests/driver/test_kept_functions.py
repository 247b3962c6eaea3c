"""Decorated functions that were compiled before: what nothing changed about is not read again."""

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import relay
from relay.driver.notations.python_source import CompiledFunction, defaults_by_position, left_out, with_defaults

LEVEL = 2.0


class Pair(NamedTuple):
    first: float
    second: float


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    return tmp_path


def is_read(function: CompiledFunction) -> bool:
    return "reading" in vars(function)


def scaled(scale: object, table: object = None, bias: float = 1.0) -> CompiledFunction:
    @relay.function
    def inner(x: relay.Tensor[(3,)]) -> relay.Tensor[(3,)]:
        return x * scale + bias * LEVEL

    @relay.function
    def outer(x: relay.Tensor[(3,)], times: int = 2):
        for _ in range(times):
            x = inner(x)
        return x if table is None else x + table

    return outer


X = np.array([1, 2, 3], np.float32)


def test_what_is_unchanged_is_not_read():
    first = scaled(2.0)
    expected = first(X)
    again = scaled(2.0)
    np.testing.assert_array_equal(again(X), expected)
    np.testing.assert_array_equal(again(X, times=1), first(X, 1))
    assert is_read(first)
    assert not is_read(again)
    assert "x" in again.astext()  # asked for the program, it is read
    assert is_read(again)


@pytest.mark.parametrize(
    "change", [(3.0,), (2,), (2.0, X), (2.0, None, 4.0), (np.float32(2.0),), (np.array([2.0, 2, 2], np.float32),)]
)
def test_what_changed_is_read(change):
    scaled(2.0)(X)
    changed = scaled(*change)
    scale, table, bias = (*change, None, 1.0)[:3] if len(change) == 1 else (*change, 1.0)[:3]
    level = bias * LEVEL
    np.testing.assert_allclose(changed(X), (X * scale + level) * scale + level + (0 if table is None else table))
    assert is_read(changed)


def test_globals_belong_to_it(monkeypatch):
    scaled(2.0)(X)
    monkeypatch.setitem(globals(), "LEVEL", 5.0)
    changed = scaled(2.0)
    np.testing.assert_allclose(changed(X, 1), X * 2 + 5)
    assert is_read(changed)


def test_what_a_program_was_read_from_is_what_it_is_compiled_from(monkeypatch):
    early = scaled(2.0)
    _ = early.module
    monkeypatch.setitem(globals(), "LEVEL", 5.0)
    np.testing.assert_allclose(early(X, 1), X * 2 + 2)
    np.testing.assert_allclose(scaled(2.0)(X, 1), X * 2 + 5)  # the early one was not kept for it


@pytest.mark.parametrize("other", [SimpleNamespace(level=2.0), {1: object()}, lambda x: x])
def test_what_cannot_be_told_is_read(other):
    def made():
        @relay.function
        def plain(x: float):
            return x if other is None else x + 1.0

        return plain

    for each in (made(), made()):
        assert each(1.0) == 2.0
        assert is_read(each)


def test_values_whose_parts_have_names_are_read():
    def made():
        @relay.function
        def turned(x: float):
            return Pair(x, -x)

        return turned

    for each in (made(), made()):
        assert each(2.0).second == -2.0
        assert is_read(each)


def test_under_a_context_nothing_is_kept(kept: Path):
    with relay.PassContext(opt_level=0):
        scaled(2.0)(X)
    assert not list(kept.glob("models/*/*"))


def test_defaults_of_what_is_left_out():
    def call(x, y=1, *, z=2, w): ...

    left = left_out(defaults_by_position(call))
    assert with_defaults(left, (), {"x": 0, "w": 5}) == {"x": 0, "w": 5, "y": 1, "z": 2}
    assert with_defaults(left, (0, 7), {"w": 5}) == {"w": 5, "z": 2}
    assert with_defaults(left, (0, 7, 8, 9), {}) == {}
    assert with_defaults(left_out(()), (), {"a": 1}) == {"a": 1}
