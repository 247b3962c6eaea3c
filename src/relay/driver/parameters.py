"""Weights: bound into a program as constants, and kept in files."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import MAPPING, PATH, takes
from relay.base.diagnostics import RelayError
from relay.base.dtypes import dtype_of
from relay.base.files import write_atomically
from relay.ir.expr import Constant, Function, Var
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ir.variables import substitute
from relay.runtime.arguments.dlpack import from_dlpack


def bind_params(module: IRModule, params: Mapping[str, Any], name: str = "main") -> IRModule:
    """A module whose function `name` has these parameters, by name, replaced by constants.

    Raises `RelayError`: `unknown-parameter` when the function has none of that name, `parameter-type` when the array
    does not fit the parameter's annotation.
    """
    if not params:
        return module
    function = module[name]
    by_name = {parameter.name_hint: parameter for parameter in function.params}
    constants: dict[Var, Constant] = {}
    for key, value in params.items():
        if key not in by_name:
            raise RelayError(
                rule="unknown-parameter",
                message=f"@{name} has no parameter %{key}",
                expected="one of " + ", ".join(f"%{each}" for each in by_name),
                found=f"%{key}",
            )
        constants[by_name[key]] = Constant(param_array(by_name[key], value))
    kept = tuple(parameter for parameter in function.params if parameter not in constants)
    body = substitute(function.body, constants)
    bound = Function(kept, body, function.ret_type, function.type_params, function.attrs, span=function.span)
    return module.with_function(name, bound)


def param_array(parameter: Var, value: Any) -> NDArray[np.generic]:
    """What is given for a parameter, as an array that shares its memory where it can. Raises `RelayError`:
    `parameter-kind`, `parameter-type`."""
    array = _array(parameter.name_hint, value)
    _check(parameter, array)
    return array


def _array(name: str, value: Any) -> NDArray[np.generic]:
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            return from_dlpack(value)
        array = np.asarray(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _no_array(name, str(error)) from error
    if array.dtype.kind == "O":
        raise _no_array(name, f"a {type(value).__name__}")
    return array


def _no_array(name: str, found: str) -> RelayError:
    return RelayError(
        rule="parameter-kind",
        message=f"what is given for parameter %{name} is no array",
        expected="a NumPy array or a CPU tensor that DLPack can share",
        found=found,
    )


def _check(parameter: Var, array: NDArray[np.generic]) -> None:
    type_ = parameter.type_annotation
    if not isinstance(type_, TensorType):
        return
    pairs = zip(type_.shape, array.shape, strict=False)
    fits = len(type_.shape) == array.ndim and all(not isinstance(e, int) or e == f for e, f in pairs)
    if not fits or dtype_of(array.dtype) != type_.dtype:
        raise RelayError(
            rule="parameter-type",
            message=f"the array for parameter %{parameter.name_hint} does not fit it",
            expected=str(type_),
            found=str(TensorType(array.shape, dtype_of(array.dtype))),
        )


@takes(params=MAPPING, path=PATH)
def save_params(params: Mapping[str, NDArray[np.generic]], path: str | os.PathLike[str]) -> None:
    """Write parameters to a safetensors file. Needs `relay-ir[params]`. Raises `RelayError` (rule `cannot-write`)."""
    arrays = {key: np.ascontiguousarray(value) for key, value in params.items()}
    write_atomically(Path(path), [safetensors_library().save(arrays)])


@takes(path=PATH)
def load_params(path: str | os.PathLike[str]) -> dict[str, NDArray[np.generic]]:
    """Read parameters from a safetensors file. Needs `relay-ir[params]`.

    Raises `RelayError` (rule `bad-params`) when the file is missing or damaged.
    """
    library = safetensors_library()
    try:
        if not Path(path).is_file():
            raise OSError("no such file")
        return dict(library.load_file(os.fspath(path)))
    except Exception as error:
        raise RelayError(
            rule="bad-params",
            message=f"cannot read parameters from {os.fspath(path)}",
            expected="a safetensors file",
            found=str(error),
        ) from error


def safetensors_library() -> Any:
    """`safetensors.numpy`. Raises `RelayError` (rule `missing-package`)."""
    try:
        return importlib.import_module("safetensors.numpy")
    except ImportError as error:
        raise RelayError(
            rule="missing-package",
            message="parameters are kept in safetensors files, and that package is not installed",
            remedy='pip install "relay-ir[params]"',
        ) from error
