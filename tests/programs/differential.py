"""One program, run three ways: the reference interpreter, native code, and plain Python. All must agree."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import relay
from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule
from relay.runtime.artefact.manifest import HeapResult
from relay.runtime.values.values import DataValue, RefValue
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.programs.generate import Program
from tests.programs.to_python import as_python, run_python

STEP_LIMIT = 100_000
RELATIVE, ABSOLUTE = 1e-3, 1e-3  # sums of a few hundred floats, in another order


class Disagreement(AssertionError):
    """Two ways of running one program differ."""


def check(program: Program, opt_level: int, folder: Path) -> None:
    """Run a program three ways. Raises `Disagreement`, after writing a folder with which it can be run again."""
    try:
        compare(program, opt_level)
    except Exception as error:
        place = write_repro(program, opt_level, folder, error)
        raise Disagreement(f"{type(error).__name__}: {error}\nat level {opt_level}; kept in {place}") from error


def compare(program: Program, opt_level: int) -> None:
    def called(result: Any) -> Any:
        return called_with(result, program.calls)

    meant = called(evaluate(program.module, program.arguments, step_limit=STEP_LIMIT))
    assert_same(called(run_python(program.module, program.arguments)), meant, "Python", "the interpreter")
    module = RemoveUnusedFunctions(program.module)  # else most time would go to functions of the prelude
    executable = relay.build(module, "llvm -heap=checked", opt_level=opt_level)
    alive: list[int] = []
    if isinstance(executable.entry.result, HeapResult):
        executable["main"].observe_heap(lambda use: alive.append(use.alive))
    assert_same(called(executable(*program.arguments)), meant, "native code", "the interpreter")
    if not isinstance(executable.entry.result, HeapResult) and not executable.entry.symbols:
        graph = relay.create_executor("graph", module, opt_level=opt_level).evaluate()
        assert_same(graph(*program.arguments), meant, "the graph executor", "the interpreter")
    if any(alive):
        raise Disagreement(f"{alive[0]} objects are left when the result has been released")


def assert_same(found: Any, expected: Any, finder: str, other: str) -> None:
    stack = [(plain(found), plain(expected), "result")]
    while stack:
        left, right, path = stack.pop()
        if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
            stack += [(a, b, f"{path}.{i}") for i, (a, b) in enumerate(zip(left, right, strict=True))]
        elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape == right.shape:
            if left.dtype != right.dtype or not np.allclose(left, right, RELATIVE, ABSOLUTE, equal_nan=True):
                raise Disagreement(f"{path}: {finder} gives {left!r}, {other} gives {right!r}")
        elif left != right:
            raise Disagreement(f"{path}: {finder} gives {left!r}, {other} gives {right!r}")


def called_with(value: Any, calls: tuple[Any, ...]) -> Any:
    """A result with each function in it replaced by what it gives when it is called with each of `calls`; twice, since
    it may have changed what it holds. Without recursion along lists."""
    if not calls:
        return value
    if callable(value):
        return tuple(value(each) for each in (*calls, *calls))
    if isinstance(value, RefValue):
        return called_with(value.value, calls)
    if isinstance(value, list):  # a ref in Python
        return called_with(value[0], calls)
    if isinstance(value, DataValue):
        return (value.constructor, *(called_with(each, calls) for each in value.fields))
    return tuple(called_with(each, calls) for each in value) if isinstance(value, tuple) else value


def plain(value: Any) -> Any:
    """Data as tuples that begin with the constructor's name, whichever way they were made."""
    match value:
        case np.ndarray() | np.generic() | bool() | int() | float():
            return np.asarray(value)
        case str():
            return value
        case tuple():
            return tuple(map(plain, value))
        case _:
            constructor = value.constructor
            name = constructor if isinstance(constructor, str) else constructor.name_hint
            return (name, *map(plain, value.fields))


def write_repro(program: Program, opt_level: int, folder: Path, error: Exception) -> Path:
    """The program as text and as Python, its arguments, what went wrong, and a script that runs it again."""
    text = str(program)
    place = folder / hashlib.sha256(f"{text}{opt_level}".encode()).hexdigest()[:12]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    module: IRModule = program.module
    (place / "program.relay").write_text(module.astext())
    (place / "error.txt").write_text(f"{type(error).__name__}: {error}\n{text}\n")
    (place / "program.py").write_text(as_python(module))
    arrays = [each for each in program.arguments if isinstance(each, np.ndarray)]
    np.savez(place / "arguments.npz", *arrays)
    (place / "run.py").write_text(_RUN.format(opt_level=opt_level))
    return place


_RUN = '''"""Runs the program of this folder natively and in the reference interpreter."""
from pathlib import Path

import numpy as np

import relay

here = Path(__file__).parent
module = relay.parse((here / "program.relay").read_text(), "program.relay")
arguments = list(np.load(here / "arguments.npz").values())
print("interpreter:", relay.create_executor("interpreter", mod=module).evaluate()(*arguments))
print("native:     ", relay.build(module, opt_level={opt_level})(*arguments))
'''
