"""The text of a definition is found as Python's own `inspect` finds it."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import textwrap
import tokenize
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay.base.diagnostics import RelayError
from relay.frontend.python.syntax.source import definition_of, read_source

ODD = '''
def decorated(*parts):
    return lambda definition: definition

def a_text_further_left(x):
    text = """
no end of the function
    """
    return x, text

@decorated(
1,
)
def a_bracket_further_left(
x,
):
    # a comment
# one further left

    return (
x
)

def what_is_never_run(x):
    return x
    text = """
x""" + \\
"y"
    return text

if True:
\tdef tabs_and_blanks(x):
\t\ty = x

\t\treturn y
# outside

def one_line(x): return x
ONE = 1

def last_one(x):
    def inner(y):
        return y

    # a comment at the end
'''


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    for value in vars(module).values():
        for each in (value, *vars(value).values()) if isinstance(value, type) else (value,):
            if isinstance(each, types.FunctionType) and each.__code__.co_filename == module.__file__:
                yield each


def module_of(text: str, folder: Path) -> types.ModuleType:
    path = folder / "odd.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("odd", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_definitions_are_found_as_python_finds_them(tmp_path: Path) -> None:
    compared = 0
    for module in (module_of(ODD, tmp_path), argparse, tokenize, textwrap, inspect, ast):
        for function in functions_of(module):
            if function.__name__ == "<lambda>":
                continue
            found = definition_of(function)
            lines, first = inspect.getsourcelines(function)
            expected = ast.parse(textwrap.dedent("".join(lines)))
            assert found.tree is not None, function
            assert ast.dump(found.tree) == ast.dump(expected), function
            assert found.first_line == first
            compared += 1
    assert compared > 200


def test_a_lambda_is_no_definition() -> None:
    functions = [
        lambda x: x,
        lambda x: (
            x
        ),
    ]  # fmt: skip
    for each in functions:
        with pytest.raises(RelayError, match="only a `def` or a `class` can be read"):
            read_source(each)
