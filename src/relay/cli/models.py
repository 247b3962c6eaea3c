"""Reading what a user names on the command line: ONNX, Relay text or JSON, compiled files, shapes.

Everything of the compiler is reached through names that are loaded when they are used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import relay
from relay.base.diagnostics import RelayError
from relay.cli.console import progress_bar

if TYPE_CHECKING:
    from relay.driver.compilation import Compilation
    from relay.ir.module import IRModule

COMPILED_SUFFIXES = (".so", ".rlx")
SOURCE_SUFFIXES = (".onnx", ".relay", ".json")


@dataclass(frozen=True, slots=True)
class Model:
    """A program and its parameters."""

    module: IRModule
    params: dict[str, Any]

    def compilation(self, options: argparse.Namespace) -> Compilation:
        """Its way to native code, as the options ask. Nothing runs until a stage is asked for."""
        return relay.driver.compile_stages(self.module, options.target, self.params, options.opt_level)


def add_model_options(command: argparse.ArgumentParser, suffixes: Sequence[str] = SOURCE_SUFFIXES) -> None:
    """The options of every command that reads a program."""
    command.add_argument("model", help=f"the model: a file whose name ends in {', '.join(suffixes)}")
    command.add_argument("--params", metavar="FILE", help="parameters (.safetensors) that the model takes by name")
    command.add_argument(
        "--shape", action="append", default=[], metavar="NAME=D,D,…", help="the shape of an input; may be repeated"
    )
    command.add_argument("--target", default="llvm", help='such as "llvm -mattr=+avx2,+fma" (default: this machine)')
    command.add_argument(
        "-O", dest="opt_level", type=int, default=3, choices=range(5), metavar="LEVEL", help="0 to 4 (default: 3)"
    )


def read_model(options: argparse.Namespace) -> Model:
    """The program that the options name. Raises `RelayError` (`unknown-model-kind`, `cannot-read`, or the reader's)."""
    path = Path(options.model)
    shapes = dict(map(_shape, options.shape))
    if shapes and path.suffix != ".onnx":
        raise RelayError(
            rule="shape-of-text",
            message="--shape sets the shapes of an ONNX model; a program in Relay states its own",
            remedy="change the types of the parameters of @main",
        )
    params = relay.load_params(options.params) if options.params else {}
    match path.suffix:
        case ".onnx":
            module, weights = relay.frontend.from_onnx(path, shape=shapes or None)
            return Model(module, {**weights, **params})
        case ".relay":
            return Model(relay.parse(read_text(path), str(path)), params)
        case ".json":
            return Model(relay.load_json(read_text(path)), params)
        case suffix:
            raise RelayError(
                rule="unknown-model-kind",
                message=f"cannot tell what {path} is",
                expected="a file whose name ends in " + ", ".join(SOURCE_SUFFIXES),
                found=suffix or "no suffix",
            )


def compile_model(options: argparse.Namespace, quiet: bool) -> relay.Executable:
    """What the options name, compiled and loaded, with progress on the terminal."""
    model = read_model(options)
    with progress_bar(quiet) as report:
        return relay.build(model.module, options.target, model.params, options.opt_level, report)


def read_text(path: Path) -> str:
    """The text of a file. Raises `RelayError` (rule `cannot-read`)."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RelayError(rule="cannot-read", message=f"cannot read {path}", found=str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise RelayError(rule="cannot-read", message=f"{path} is not UTF-8 text", found=str(error)) from error


def _shape(text: str) -> tuple[str, tuple[int | str, ...]]:
    name, equals, extents = text.rpartition("=")
    parts = [part.strip() for part in extents.split(",")] if extents.strip() else []
    if not equals or not name or not all(part.isidentifier() or part.isdecimal() for part in parts):
        raise RelayError(
            rule="bad-shape",
            message=f"`{text}` gives no shape",
            expected="NAME=1,3,224,224, or NAME=n,3,224,224 with a symbol",
            found=text,
        )
    return name, tuple(int(part) if part.isdecimal() else part for part in parts)
