"""Inputs made from a seed, for trying and timing a program without data."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.runtime.arguments.made_up import made_up_array
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec


def add_extent_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--extent",
        action="append",
        default=[],
        metavar="NAME=N",
        help="a symbol's value in made-up inputs (else 1)",
    )


def read_extents(options: argparse.Namespace) -> dict[str, int]:
    """The values of symbols that the options give. Raises `RelayError` (rule `bad-extent`)."""
    return dict(map(_extent, options.extent))


def random_inputs(entry: EntrySpec, seed: int, extents: Mapping[str, int]) -> dict[str, NDArray[np.generic]]:
    """Normally distributed floats, and coin flips for all else, by the entry's names; symbols are 1 unless given.

    Raises `RelayError` (rule `unknown-symbol`) for an extent of no symbol.
    """
    names = [symbol.name for symbol in entry.symbols]
    for name in extents:
        if name not in names:
            raise RelayError(
                rule="unknown-symbol",
                message=f"`{name}` is no symbol of the inputs",
                expected="one of " + ", ".join(names) if names else "no --extent: every extent is known",
                found=name,
            )
    generator = np.random.default_rng(seed)
    values: dict[Symbol, int] = {symbol: extents.get(symbol.name, 1) for symbol in entry.symbols}
    arrays: dict[str, NDArray[np.generic]] = {}
    for spec in entry.inputs:
        if not isinstance(spec, TensorSpec):
            raise RelayError(
                rule="input-kind",
                message=f"input `{spec.name}` is a {spec.type}, which cannot be made up",
                remedy="call the program from Python: relay.load(path)(...)",
            )
        shape = tuple(evaluate(extent, values) for extent in spec.shape)
        arrays[spec.name] = made_up_array(generator, shape, spec.dtype)
    return arrays


def _extent(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not (name and value.isascii() and value.isdigit()):
        raise RelayError(rule="bad-extent", message=f"`{text}` gives no extent", expected="NAME=4", found=text)
    return name, int(value)
