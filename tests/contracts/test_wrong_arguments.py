"""Every public function and class, given every kind of thing in the place of each of its arguments: what it cannot mean
is a `RelayError` that tells what to give, never an error from inside."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import relay

x = relay.var("x", shape=(2, 3))
MODULE = relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }')


class Thing:
    """What relay knows nothing of."""


KINDS: dict[str, object] = {
    "nothing": None,
    "a text": "abc",
    "an element type that is not there": "float33",
    "a fraction": 3.5,
    "not a number": float("nan"),
    "a negative number": -1,
    "a huge number": 10**30,
    "a truth": True,
    "bytes": b"x",
    "an object": Thing(),
    "a class": Thing,
    "an exception": relay.RelayError,
    "an empty dict": {},
    "a dict": {"a": 1},
    "a set": {1, 2},
    "an empty list": [],
    "a mixed list": [1, "a"],
    "a ragged list": [[1, 2], [3]],
    "a range": range(3),
    "an array": np.ones((2, 2), np.float32),
    "an array of texts": np.array(["a"]),
    "a module and parameters": (MODULE, {}),
    "a module": MODULE,
    "an expression": x,
    "a list of expressions": [x],
    "an expression and a text": (x, "a"),
    "an operator": relay.op.get("exp"),
    "a type": relay.TensorType((2,)),
}

VALID: dict[str, object] = {
    "data": x, "x": x, "lhs": x, "rhs": x, "expr": x, "weight": relay.var("w", shape=(4, 3)),
    "shape": (2, 3), "newshape": (3, 2), "dtype": "float32", "axis": 0, "name": "f", "params": {}, "path": "out.rlx",
    "mod": MODULE, "module": MODULE, "program": MODULE, "function": relay.Function([x], x), "tuple": relay.Tuple([x]),
    "text": '#[version = "0.0.5"]\ndef @main() { 1f }', "opt_level": 0,
}  # fmt: skip
"""What fits arguments of these names; others have their default, or a variable."""

NO_DOORS = {"RelayError", "CompilerBug", "Expr"}
"""Exceptions, which are caught and not made, and the union of all forms."""


def doors() -> Iterator[tuple[str, Any]]:
    """The public functions and classes by name: those of `relay`, and the operators of its faces."""
    for name in relay.__all__:
        value = getattr(relay, name)
        if not isinstance(value, ModuleType) and name not in NO_DOORS:
            yield f"relay.{name}", value
    for face in (relay.op, relay.nn, relay.image, relay.vision, relay.random, relay.dyn, relay.annotation):
        for name in getattr(face, "__all__", vars(face)):
            value = getattr(face, name)
            if callable(value) and not name.startswith("_") and getattr(value, "__module__", "").startswith("relay"):
                yield f"{face.__name__}.{name}", value


DOORS = dict(doors())


def parameters(door: Any) -> list[inspect.Parameter]:
    """What it takes, by name; of frozen classes their fields."""
    if dataclasses.is_dataclass(door):
        missing, empty = dataclasses.MISSING, inspect.Parameter.empty
        return [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=empty if each.default is missing else each.default
            )
            for each in dataclasses.fields(door)
            if each.init and each.default_factory is missing
        ]
    return list(inspect.signature(door).parameters.values())


def given(door: Any, wrong: str, value: object) -> tuple[list[object], dict[str, object]]:
    """Arguments of which all may fit but `wrong`."""
    positional: list[object] = []
    named: dict[str, object] = {}
    for each in parameters(door):
        default = x if each.default is inspect.Parameter.empty else each.default
        fitting = value if each.name == wrong else VALID.get(each.name, default)
        match each.kind:
            case inspect.Parameter.POSITIONAL_ONLY | inspect.Parameter.POSITIONAL_OR_KEYWORD:
                positional.append(fitting)
            case inspect.Parameter.KEYWORD_ONLY:
                named[each.name] = fitting
            case inspect.Parameter.VAR_POSITIONAL:
                positional += [value] if each.name == wrong else []
            case inspect.Parameter.VAR_KEYWORD:
                pass
    return positional, named


def outcome(door: Any, positional: list[object], named: dict[str, object]) -> Exception | None:
    try:
        door(*positional, **named)
    except Exception as error:
        return error
    return None


def is_told(error: Exception) -> bool:
    """Whether an error says what is wrong: by what rule, and where, or against what."""
    if not isinstance(error, relay.RelayError):
        return False
    return bool(error.rule and (error.expected or error.found or error.remedy or error.span))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOORS)
def test_what_does_not_fit_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # some of them write files
    door = DOORS[name]
    for each in parameters(door):
        for kind, value in KINDS.items():
            if callable(value) and each.name == "progress":
                continue  # it is called, and what it raises is its own
            positional, named = given(door, each.name, value)
            raised = outcome(door, positional, named)
            assert raised is None or is_told(raised), (each.name, kind, raised)


def test_there_are_many_doors():
    assert len(DOORS) > 250
    assert {"relay.build", "relay.Function", "relay.const", "relay.op.sum", "relay.nn.conv2d"} <= DOORS.keys()
