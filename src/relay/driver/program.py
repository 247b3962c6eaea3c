"""What users hand in as a program, made a module: the door of `build`, `create_executor` and what is like them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias, Union, cast

from relay.base.arguments import MAPPING, TEXT, WHOLE_NUMBER, Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.ir.expr import EXPRESSION, Expr
from relay.ir.module import MODULE, IRModule
from relay.ir.variables import free_vars

GivenProgram: TypeAlias = Union[IRModule, Expr, "tuple[IRModule | Expr, Mapping[str, Any]]"]
"""A module, an expression that becomes its `@main`, or either with parameters, as importers give both."""


def _instead(value: object) -> str:
    """What to write where something else stands for a program."""
    name = type(value).__name__
    if isinstance(value, (os.PathLike, bytes)) or name == "ModelProto":
        return "compile it in one step: relay.compile_model(…), or import it: relay.frontend.from_onnx(…)"
    if isinstance(value, str):
        how = "read it: relay.parse(text)" if "\n" in value else f"compile the file: relay.compile_model({value!r})"
        return f"{how}; import ONNX: relay.frontend.from_onnx(…)"
    if any(each.__module__.startswith("torch.") for each in type(value).__mro__):
        return "give it with what it takes: relay.compile(model, (example,)); or import it: relay.frontend.from_pytorch"
    if name == "Executable":
        return "it is compiled already: call it"
    return EXPRESSION.remedy(value)


PROGRAM = Kind((*MODULE.types, *EXPRESSION.types), "a program: a module, or an expression", _instead)
TARGET = Kind(
    (str, Target), "a target",
    lambda value: "parameters have a name: params=…" if isinstance(value, Mapping) else 'write "llvm"',
)  # fmt: skip


def given_program(program: GivenProgram) -> tuple[IRModule, dict[str, Any]]:
    """The module that a program is, and the parameters that came with it.

    Raises `RelayError`: `wrong-argument` for what is no program, `unbound-variable` for a function that uses variables
    which nothing binds.
    """
    given: Any = program
    params: Any = {}
    if isinstance(given, tuple) and len(cast("tuple[Any, ...]", given)) == 2:
        given, params = cast("tuple[Any, Any]", given)
    expect(given, PROGRAM, "what is compiled or run")
    if isinstance(given, IRModule):  # as it is now: users may edit theirs later
        module = IRModule(given.functions, given.type_definitions)
    else:
        module = IRModule.from_expr(cast("Expr", given))
    for name, function in module.functions.items():
        free = free_vars(function)
        if free:
            raise RelayError(
                rule="unbound-variable",
                message=f"@{name.name_hint} uses a variable that nothing binds",
                span=free[0].span,
                found=", ".join(f"%{each.name_hint}" for each in free),
                remedy=f"make it a parameter: relay.Function([{', '.join(each.name_hint for each in free)}, …], body)",
            )
    return module, checked_params(params)


def checked_params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters by name, as users hand them in. Raises `RelayError` (rule `wrong-argument`)."""
    if params is None:
        return {}
    expect(params, MAPPING, "what is given for `params`")
    expect_each(params, TEXT, "the name of a parameter")
    return dict(params)


def checked_level(opt_level: int | None) -> int | None:
    """An optimization level, as users hand it in. Raises `RelayError` (rule `wrong-argument`)."""
    if opt_level is not None:
        expect(opt_level, WHOLE_NUMBER, "the optimization level")
    return opt_level
