"""A compiled program for programs in C: a shared library, and the header that says how to call it."""

from __future__ import annotations

from pathlib import Path

from relay.driver.c_header import c_header
from relay.lower.backend import Backend
from relay.runtime.artefact import Artefact
from relay.runtime.files import write_atomically


def export_library(backend: Backend, artefact: Artefact, path: Path) -> None:
    """Write `path`, a self-contained shared library, and the header of the same name (`model.so`, `model.h`).

    Raises `RelayError` when there is no linker, or when a file cannot be written.
    """
    header = c_header(artefact.manifest, path.name)
    backend.link(artefact, path)
    write_atomically(path.with_suffix(".h"), [header.encode()])
