"""`relay run`: a model on arrays from files. A compiled one is run without loading the compiler."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.cli.input_files import read_inputs
from relay.cli.inputs import add_extent_option, random_inputs, read_extents
from relay.cli.models import COMPILED_SUFFIXES, add_model_options, compile_model, with_schedules
from relay.modelfiles.reading import SOURCE_SUFFIXES
from relay.runtime.artefact.manifest import EntrySpec
from relay.runtime.call.entry_point import Result
from relay.runtime.executable import load
from relay.runtime.values.values import DataValue


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command, (*COMPILED_SUFFIXES, *SOURCE_SUFFIXES))
    command.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="an input: .npy, .npz (all that are in it, without NAME) or an image; may be repeated",
    )
    command.add_argument("--random", action="store_true", help="fill the inputs that are not given from a seed")
    command.add_argument("--seed", type=int, default=0, help="the seed of --random (default: 0)")
    add_extent_option(command)
    command.add_argument("--output", metavar="FILE.npz", help="where to write the results")
    command.add_argument("--json", action="store_true", help="describe the results as JSON")
    command.set_defaults(execute=execute)


@with_schedules
def execute(options: argparse.Namespace) -> None:
    compiled = Path(options.model).suffix in COMPILED_SUFFIXES
    executable = load(options.model) if compiled else compile_model(options, quiet=options.json)
    arrays = read_inputs(options.input, executable.entry)
    if options.random:
        arrays = {**random_inputs(executable.entry, options.seed, read_extents(options)), **arrays}
    leaves = _leaves(executable(**arrays))
    results = dict(zip(_names(executable.entry, len(leaves)), leaves, strict=True))
    if options.output:
        _save(Path(options.output), results)
    if options.json:
        print(json.dumps({name: {"shape": a.shape, "dtype": str(a.dtype)} for name, a in results.items()}))
        return
    for name, array in results.items():
        print(f"{name}: {array.dtype}{list(array.shape)}")
        if not options.output:
            print(array)


def _names(entry: EntrySpec, count: int) -> list[str]:
    """The names of results; those of a program with a heap have none of their own."""
    if entry.outputs:
        return [spec.name for spec in entry.outputs]
    return ["output"] if count == 1 else [f"output{position}" for position in range(count)]


def _save(path: Path, results: dict[str, NDArray[np.generic]]) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **results)  # pyright: ignore[reportArgumentType]
    write_atomically(path, [buffer.getvalue()])


def _leaves(result: Result) -> list[NDArray[np.generic]]:
    if isinstance(result, tuple):
        return [leaf for part in result for leaf in _leaves(part)]
    if not isinstance(result, np.ndarray):
        kind = "value of a data type" if isinstance(result, DataValue) else "function or ref"
        raise RelayError(
            rule="result-kind",
            message=f"the program gives a {kind}, which is no array",
            expected="an array, or tuples of arrays",
            found=repr(result),
            remedy="call it from Python: relay.load(path)(...)",
        )
    return [result]
