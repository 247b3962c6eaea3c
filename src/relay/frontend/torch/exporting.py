"""From what users have to a functional graph: modules are exported, and what changes tensors in place is rewritten."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.frontend.torch.archive import read_archive
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.tracing import decompositions_without, whole_recurrent_layers

if TYPE_CHECKING:
    from torch import nn
    from torch.export import ExportedProgram

Model: TypeAlias = Union["nn.Module", "ExportedProgram", str, os.PathLike[str], bytes]


@frozen(eq=False)
class FunctionalProgram:
    """`guards` are what the export took for granted, in Python."""

    program: ExportedProgram
    guards: Sequence[str]


def functional_program(
    model: Model, example_args: Sequence[Any], example_kwargs: Mapping[str, Any] | None, dynamic_shapes: Any,
    kept: Collection[str],
) -> FunctionalProgram:  # fmt: skip
    """The model as a program that changes nothing in place. Operators called `kept` are left as they are; PyTorch takes
    all others apart as far as it can.

    Raises `RelayError`: `cannot-export`, `not-a-pytorch-model`, `cannot-read`, `missing-package`.
    """
    with whole_recurrent_layers(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`isinstance.treespec", FutureWarning)  # PyTorch speaks to itself there
        program = _program(model, example_args, example_kwargs, dynamic_shapes)
        return FunctionalProgram(_taken_apart(program, kept), _guards(program))


def _taken_apart(program: ExportedProgram, kept: Collection[str]) -> ExportedProgram:
    try:
        return program.run_decompositions(decompositions_without(kept))
    except Exception as error:  # each operator is asked for its shape, and raises what it likes
        raise _cannot_export("PyTorch cannot take the exported program apart", error) from error


def _guards(program: ExportedProgram) -> Sequence[str]:
    return program._guards_code  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] # no other place tells them


def _program(
    model: Model, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any
) -> ExportedProgram:
    if isinstance(model, torch_package("torch.nn").Module):
        return _exported(cast("nn.Module", model), args, kwargs, dynamic_shapes)
    if args or kwargs or dynamic_shapes is not None:
        raise RelayError(
            rule="wrong-argument", message="example inputs and dynamic shapes are for modules, which are exported here",
            expected="a torch.nn.Module with them, or an exported program without", found=type(model).__name__,
        )  # fmt: skip
    if isinstance(model, torch_package("torch.export").ExportedProgram):
        return cast("ExportedProgram", model)
    if isinstance(model, (str, os.PathLike, bytes)):
        return read_archive(model if isinstance(model, bytes) else Path(model))
    raise RelayError(
        rule="not-a-pytorch-model", message="cannot import a model from this value",
        expected="a torch.nn.Module, a torch.export.ExportedProgram, or the path or bytes of a .pt2 file",
        found=type(model).__name__,
    )  # fmt: skip


def _exported(
    module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any] | None, dynamic_shapes: Any
) -> ExportedProgram:
    try:
        return torch_package("torch.export").export(
            module, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes
        )
    except Exception as error:  # torch.export raises what the module raises, and much of its own
        raise _cannot_export(f"torch.export cannot export {type(module).__name__}", error) from error


def _cannot_export(message: str, error: Exception) -> RelayError:
    return RelayError(
        rule="cannot-export", message=message, found=f"{type(error).__name__}: {_first_paragraph(str(error))}",
        remedy="export it with torch.export.export, whose guide tells how, and give the program",
    )  # fmt: skip


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().partition("\n\n")[0].split())
