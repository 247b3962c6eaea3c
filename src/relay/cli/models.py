"""Reading what a user names on the command line: ONNX, Relay text or JSON, compiled files, shapes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relay.base.diagnostics import RelayError
from relay.driver.parameters import load_params
from relay.frontend.onnx import from_onnx
from relay.ir.module import IRModule
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.text.json import from_json

COMPILED_SUFFIXES = (".so", ".rlx")


@dataclass(frozen=True, slots=True)
class Model:
    """A program and its parameters."""

    module: IRModule
    params: dict[str, Any]


def add_model_options(command: argparse.ArgumentParser) -> None:
    """The options of every command that reads a program."""
    command.add_argument("model", help="a model: .onnx, .relay (text) or .json")
    command.add_argument("--params", metavar="FILE", help="parameters (.safetensors) for a model in text or JSON")
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
    params = load_params(options.params) if options.params else {}
    match path.suffix:
        case ".onnx":
            module, weights = from_onnx(path, shape=shapes or None)
            return Model(module, {**weights, **params})
        case ".relay":
            return Model(parse(read_text(path), OPERATORS, str(path)), params)
        case ".json":
            return Model(from_json(read_text(path), OPERATORS), params)
        case suffix:
            raise RelayError(
                rule="unknown-model-kind",
                message=f"cannot tell what {path} is",
                expected="a file whose name ends in .onnx, .relay or .json",
                found=suffix or "no suffix",
            )


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
    if not equals or not name:
        raise RelayError(rule="bad-shape", message=f"`{text}` gives no shape", expected="NAME=1,3,224,224")
    parts = [part.strip() for part in extents.split(",") if part.strip()]
    return name, tuple(int(part) if part.lstrip("-").isdigit() else part for part in parts)
