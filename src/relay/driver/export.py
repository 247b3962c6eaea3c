"""A compiled program for programs in C: a shared library, and the header that says how to call it."""

from __future__ import annotations

from pathlib import Path

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.driver.c_header import DEVICE_HEADER, c_header
from relay.lower.targets import HostTarget
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.manifest import HeapResult, ValueSpec
from relay.runtime.artefact.value_types import is_plain_data
from relay.targets.cpu.support.library import device_header


def export_library(host: HostTarget, artefact: Artefact, path: Path) -> None:
    """Write `path`, a self-contained shared library, and the header of the same name (`model.so`, `model.h`); beside
    one that uses devices also the header of these.

    Raises `RelayError` when there is no linker, when a file cannot be written, and when `main` takes or gives functions
    or refs (rule `cannot-export`): programs in C have none.
    """
    main = artefact.manifest.entry("main")
    data = {each.name: each for each in artefact.manifest.data}
    given = [main.result.type] if isinstance(main.result, HeapResult) and main.result.type is not None else []
    taken = [each.type for each in main.inputs if isinstance(each, ValueSpec)]
    for type_ in (*taken, *given):
        if not is_plain_data(type_, data):
            raise RelayError(
                rule="cannot-export",
                message=f"`main` takes or gives a value of type {type_}, which programs in C can neither make nor use",
                expected="tensors, tuples and data",
                remedy="save it, which Python can load; or give results in place of functions",
            )
    header = c_header(artefact.manifest, path.name)
    host.link(artefact, path)
    write_atomically(path.with_suffix(".h"), [header.encode()])
    if artefact.manifest.devices:
        write_atomically(path.with_name(DEVICE_HEADER), [device_header().encode()])
