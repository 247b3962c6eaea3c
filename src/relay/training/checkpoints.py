"""Checkpoints: a state and notes about it in one safetensors file, written whole or not at all.

Tensors are called `params/…`, `optimizer/…`, `progress/…` and `sums/…`; notes are JSON in the metadata of the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import PATH, takes
from relay.base.diagnostics import RelayError
from relay.base.files import read_file, write_atomically
from relay.base.frozen import frozen
from relay.driver.parameters import safetensors_library
from relay.training.state import Arrays, TrainingState

_FORMAT = "relay.training 1"
_GROUPS = ("params", "optimizer", "progress", "sums")
_LENGTH_BYTES = 8


@frozen(eq=False)
class Checkpoint:
    """What a file holds: the arrays of a state, how many batches waited for an update, and notes."""

    params: Arrays
    optimizer: Arrays
    progress: Arrays
    sums: Arrays
    pending: int
    notes: Mapping[str, Any]


@takes(path=PATH)
def save_checkpoint(path: str | os.PathLike[str], state: TrainingState, notes: Mapping[str, Any] | None = None) -> None:
    """Write a state, and `notes` that JSON can hold. The file is replaced when the new one is on the disk, so that a
    crash or a full disk leaves what was there. Needs `relay-ir[training]`.

    Raises `RelayError`: `cannot-write`, `state-lost`, `missing-package`.
    """
    groups = (state.params, state.optimizer, state.progress, state.sums)
    arrays = {
        f"{group}/{name}": each for group, held in zip(_GROUPS, groups, strict=True) for name, each in held.items()
    }
    about = {"format": _FORMAT, "pending": str(state.pending), "notes": json.dumps(dict(notes or {}))}
    write_atomically(Path(path), [safetensors_library().save(arrays, about)])


@takes(path=PATH)
def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint. Needs `relay-ir[training]`.

    Raises `RelayError`: `cannot-read`, `bad-checkpoint` for a file that is damaged or something else.
    """
    data = read_file(path)
    library = safetensors_library()
    try:
        about = json.loads(data[_LENGTH_BYTES : _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")])
        about = about.get("__metadata__", {})
        if about.get("format") != _FORMAT:
            raise ValueError(f"its format is {about.get('format')!r}")
        arrays: dict[str, NDArray[np.generic]] = library.load(data)
        groups = {name: dict[str, NDArray[np.generic]]() for name in _GROUPS}
        for name, each in arrays.items():
            group, _, own = name.partition("/")
            groups[group][own] = each
        return Checkpoint(**groups, pending=int(about["pending"]), notes=json.loads(about["notes"]))
    except Exception as error:  # whatever safetensors raises for damaged files
        raise RelayError(
            rule="bad-checkpoint", message=f"cannot read the checkpoint {os.fspath(path)}",
            expected="a file that save_checkpoint wrote", found=str(error),
        ) from error  # fmt: skip
