"""A compiled program for programs in C and C++: a library, and the headers that say how to call it."""

from __future__ import annotations

import re
from pathlib import Path

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.driver.libraries.c_header import DEVICE_HEADER, c_header
from relay.driver.libraries.cpp_header import cpp_header
from relay.lower.targets import HostTarget
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.manifest import HeapResult, ValueSpec
from relay.runtime.artefact.value_types import is_plain_data
from relay.targets.cpu.link.library import LIBRARY_SUFFIXES
from relay.targets.cpu.support.library import device_header

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*", re.ASCII)


def export_library(host: HostTarget, artefact: Artefact, path: Path, name: str | None = None) -> None:
    """Write `path`, a self-contained library (`model.so`, `model.o` or `model.a`), and the headers of the same name
    (`model.h` for C, `model.hpp` for C++); beside one that uses devices also the header of these.

    All that they declare begins with `name`, else with the name of the file: a program may use any number of libraries.

    Raises `RelayError` when there is no linker, when a file cannot be written, for other suffixes (rule
    `unknown-output-kind`), for a name that C does not take (`bad-name`), and when `main` takes or gives functions or
    refs (rule `cannot-export`): programs in C have none.
    """
    if path.suffix not in LIBRARY_SUFFIXES:
        raise RelayError(
            rule="unknown-output-kind",
            message=f"cannot tell what to write to {path}",
            expected="a name that ends in " + ", ".join(LIBRARY_SUFFIXES),
            found=path.suffix or "no suffix",
        )
    _check_types(artefact)
    known_as = _library_name(path, name)
    header = c_header(artefact.manifest, path.name, known_as)
    host.link(artefact, path, known_as)
    write_atomically(path.with_suffix(".h"), [header.encode()])
    write_atomically(path.with_suffix(".hpp"), [cpp_header(artefact.manifest, path.name, known_as).encode()])
    if artefact.manifest.devices:
        write_atomically(path.with_name(DEVICE_HEADER), [device_header().encode()])


def _check_types(artefact: Artefact) -> None:
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


def _library_name(path: Path, name: str | None) -> str:
    """What the names in a library begin with. Raises `RelayError` (rule `bad-name`)."""
    if name is None:
        made = re.sub(r"[^A-Za-z_0-9]", "_", path.stem)
        return made if made[:1].isalpha() else f"model_{made}"
    if not _IDENTIFIER.fullmatch(name):
        raise RelayError(
            rule="bad-name",
            message="the names in a library cannot begin so in C",
            expected="letters, digits and _, such as classify",
            found=name,
        )
    return name
