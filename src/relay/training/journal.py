"""What happened in a training, as lines of JSON: one for each step, one for each epoch."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from relay.base.arguments import PATH, takes
from relay.base.diagnostics import RelayError
from relay.base.files import read_file, write_atomically


class Journal:
    """The records of a training, and a file that they go to as they come, if there is one. `kept`: how many of those in
    the file are of the training that goes on; the others are dropped."""

    def __init__(self, path: Path | None, kept: int) -> None:
        self.records: list[dict[str, Any]] = []
        self._path = path
        if path is not None:
            if kept:
                self.records = read_journal(path)[:kept] if path.exists() else []
            write_atomically(path, map(_line, self.records))

    def add(self, record: Mapping[str, Any]) -> None:
        """Raises `RelayError` (rule `cannot-write`)."""
        self.records.append(dict(record))
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:
                file.write(_line(record))
        except OSError as error:
            raise RelayError(
                rule="cannot-write", message=f"cannot write to {self._path}", found=str(error.strerror)
            ) from error


def _line(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(dict(record)) + "\n").encode()


@takes(path=PATH)
def read_journal(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The records that a training wrote to a file. A last line that was cut off is left out.

    Raises `RelayError`: `cannot-read`, `bad-journal`.
    """
    whole_lines = read_file(path).split(b"\n")[:-1]
    return [_record(line, f"line {number} of {os.fspath(path)}") for number, line in enumerate(whole_lines, 1)]


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _no_record(where, str(error)) from error
    if not isinstance(found, dict) or not isinstance(cast("dict[str, Any]", found).get("step"), int):
        raise _no_record(where, "no object with the number of a step")
    return cast("dict[str, Any]", found)


def _no_record(where: str, found: str) -> RelayError:
    return RelayError(
        rule="bad-journal", message=f"{where} is no record of a training", expected="JSON that a training wrote",
        found=found,
    )  # fmt: skip
