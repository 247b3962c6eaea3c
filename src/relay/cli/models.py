"""What a user names on the command line: a model, its parameters, shapes of inputs, a target."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import relay
from relay.base.diagnostics import RelayError
from relay.cli.console import progress_bar
from relay.modelfiles import compiling, reading
from relay.modelfiles.reading import SOURCE_SUFFIXES, Model
from relay.runtime.executable import Executable

COMPILED_SUFFIXES = (".so", ".rlx")


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
    command.add_argument(
        "--schedules", metavar="FILE", help="schedules on record, as `relay show --stage schedule` prints them"
    )


def add_donation(command: argparse.ArgumentParser) -> None:
    """The option of commands that compile for calls which give arrays away."""
    command.add_argument(
        "--donate",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="inputs of @main that callers give away: its results are in their memory",
    )


def with_schedules(execute: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], None]:
    """A command that compiles by the schedules that its options name."""

    @wraps(execute)
    def run(options: argparse.Namespace) -> None:
        if options.schedules is None:
            execute(options)
        else:
            with relay.PassContext(schedules=relay.te.ScheduleRecords.load(options.schedules)):
                execute(options)

    return run


def read_model(options: argparse.Namespace) -> Model:
    """The program that the options name. Raises `RelayError` (of `modelfiles.reading`, and `bad-shape`)."""
    return reading.read_model(options.model, _params(options), dict(map(_shape, options.shape)))


def compile_model(options: argparse.Namespace, quiet: bool) -> Executable:
    """What the options name, compiled, or loaded if it was before, with progress on the terminal."""
    shapes = dict(map(_shape, options.shape))
    with progress_bar(quiet) as report:
        return compiling.compile_model(
            options.model, options.target, _params(options), options.opt_level, shapes, report
        )


def _params(options: argparse.Namespace) -> dict[str, Any]:
    return relay.load_params(options.params) if options.params else {}


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
