"""Native code that other compilers make for the regions of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.target import Target
from relay.ir.expr import Function
from relay.lower.kernels.external import COMPILER, external_function
from relay.transform.framework.external import ExternalCompiler, ExternalFunction


def external_objects(
    kernels: Sequence[Function], compilers: Mapping[str, ExternalCompiler], target: Target
) -> tuple[bytes, ...]:
    """The objects that each compiler makes of all of its kernels.

    Raises `RelayError` (rule `external-compiler`) when one fails, or gives anything but objects.
    """
    by_compiler: dict[str, list[ExternalFunction]] = {}
    for kernel in kernels:
        by_compiler.setdefault(str(kernel.attrs[COMPILER]), []).append(external_function(kernel))
    found: list[bytes] = []
    for name, functions in by_compiler.items():
        found += _objects(name, compilers[name], functions, target)
    return tuple(found)


def _objects(
    name: str, compiler: ExternalCompiler, functions: Sequence[ExternalFunction], target: Target
) -> list[bytes]:
    symbols = ", ".join(function.symbol for function in functions)
    try:
        made: Any = compiler(tuple(functions), target)
    except (RelayError, CompilerBug):
        raise
    except Exception as error:
        raise RelayError(
            rule="external-compiler",
            message=f"the compiler `{name}` failed on {symbols}",
            found=f"{type(error).__name__}: {error}",
        ) from error
    objects = list(made) if isinstance(made, (list, tuple)) else [made]
    if not objects or not all(isinstance(each, bytes) and each for each in objects):
        raise RelayError(
            rule="external-compiler",
            message=f"the compiler `{name}` gave no object code for {symbols}",
            expected="a list of relocatable objects, each of type bytes",
            found=", ".join(type(each).__name__ for each in objects) or "an empty list",
        )
    return objects
