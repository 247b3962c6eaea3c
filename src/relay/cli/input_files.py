"""Inputs from files: `.npy`, `.npz`, and images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec

Arrays = dict[str, NDArray[np.generic]]

_IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
_COLORS = 3


def read_inputs(given: Sequence[str], entry: EntrySpec) -> Arrays:
    """The inputs that the words of `--input` name: `NAME=FILE`, or `FILE` of a program with one input, or of a `.npz`
    that holds inputs by their names.

    An image is RGB, resized to what the input wants (`[3, rows, columns]` or `[rows, columns, 3]`, with or without a
    batch of one), from 0 to 1 where that is floats. Raises `RelayError`: `bad-input`, `cannot-read`.
    """
    arrays: Arrays = {}
    for text in given:
        name, equals, file = text.rpartition("=")
        if not equals and file.endswith(".npz"):
            arrays |= _load(file)
            continue
        if not equals:
            name = _only_input(entry, text)
        if Path(file).suffix.lower() in _IMAGES:
            arrays[name] = _image(file, _spec(entry, name, text))
        else:
            arrays[name] = _one(_load(file), name, file)
    return arrays


def _only_input(entry: EntrySpec, text: str) -> str:
    if len(entry.inputs) != 1:
        raise RelayError(
            rule="bad-input",
            message=f"`{text}` does not say which input it is",
            expected="NAME=FILE, of " + ", ".join(each.name for each in entry.inputs),
        )
    return entry.inputs[0].name


def _spec(entry: EntrySpec, name: str, text: str) -> TensorSpec:
    spec = next((each for each in entry.inputs if each.name == name), None)
    if not isinstance(spec, TensorSpec) or not _layout(spec):
        raise RelayError(
            rule="bad-input",
            message=f"`{text}`: an image is no value of this input",
            expected="an input of shape [3, rows, columns] or [rows, columns, 3], with or without a batch",
            found="no such input" if spec is None else str(spec),
        )
    return spec


def _layout(spec: TensorSpec) -> str:
    """Where the colors are of an input that takes an image; the empty string for others."""
    shape = spec.shape[1:] if len(spec.shape) == _COLORS + 1 else spec.shape
    if len(shape) != _COLORS:
        return ""
    return "first" if shape[0] == _COLORS else "last" if shape[-1] == _COLORS else ""


def _image(file: str, spec: TensorSpec) -> NDArray[np.generic]:
    try:
        from PIL import Image
    except ImportError as error:
        raise RelayError(
            rule="missing-package",
            message="images are read by the package `pillow`, which is not installed",
            remedy='pip install "relay-ir[images]"',
        ) from error
    first = _layout(spec) == "first"
    rows, columns = spec.shape[-2:] if first else spec.shape[-3:-1]
    try:
        with Path(file).open("rb") as opened:
            image = Image.open(opened).convert("RGB")
    except Exception as error:  # whatever the readers of all kinds of images raise for damaged ones
        raise _unreadable(file, error) from error
    if isinstance(rows, int) and isinstance(columns, int):
        image = image.resize((columns, rows))
    pixels: NDArray[Any] = np.asarray(image)
    array = pixels.astype(np.float32) / 255 if spec.dtype.is_float else pixels
    array = array.transpose(2, 0, 1) if first else array
    batch = (1,) * (len(spec.shape) - _COLORS)
    return np.ascontiguousarray(array.reshape(*batch, *array.shape).astype(spec.dtype.numpy))


def _load(file: str) -> Arrays:
    """The arrays of a file by their names; that of a `.npy` has none."""
    try:
        with Path(file).open("rb") as opened:
            loaded = np.load(opened, allow_pickle=False)
            return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    except Exception as error:  # whatever NumPy and zipfile raise for damaged files
        raise _unreadable(file, error) from error


def _one(arrays: Arrays, name: str, file: str) -> NDArray[np.generic]:
    """The array of an input: that of its name, or the only one there is."""
    if name in arrays:
        return arrays[name]
    if len(arrays) != 1:
        raise RelayError(
            rule="cannot-read", message=f"{file} holds no array `{name}`", found=", ".join(arrays) or "no array at all"
        )
    return next(iter(arrays.values()))


def _unreadable(file: str, error: Exception) -> RelayError:
    return RelayError(
        rule="cannot-read",
        message=f"cannot read the input {file}",
        expected="an array that numpy.save or numpy.savez wrote, or an image",
        found=str(error),
    )
