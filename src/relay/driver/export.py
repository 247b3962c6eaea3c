"""A compiled program for programs in C: a shared library, and the header that says how to call it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from relay.base.diagnostics import RelayError
from relay.lower.backend import Backend
from relay.runtime.artefact import Artefact
from relay.runtime.files import write_atomically
from relay.runtime.manifest import EntrySpec, HeapResult, InputSpec, Manifest, TensorSpec


def export_library(backend: Backend, artefact: Artefact, path: Path) -> None:
    """Write `path`, a self-contained shared library, and the header of the same name (`model.so`, `model.h`).

    Raises `RelayError` when there is no linker, or when a file cannot be written.
    """
    if isinstance(artefact.manifest.entry("main").result, HeapResult):
        raise RelayError(
            rule="not-exported-yet",
            message="`main` branches, calls functions or gives data, which a shared library cannot do yet",
            expected="a straight-line program on tensors",
            remedy="save it as an artefact, and load that with relay.load",
        )
    header = c_header(artefact.manifest, path.name)
    backend.link(artefact, path)
    write_atomically(path.with_suffix(".h"), [header.encode()])


def c_header(manifest: Manifest, library: str) -> str:
    """The C header of a library: what goes in, what comes out, and the prototypes."""
    entry = manifest.entry("main")
    prefix = re.sub(r"\W", "_", Path(library).stem).upper()
    prefix = prefix if prefix[:1].isalpha() else f"MODEL_{prefix}"
    facts = {**manifest.provenance, "target": str(manifest.target)}
    provenance = "".join(f"   {key}: {_comment(value)}\n" for key, value in sorted(facts.items()))
    return f"""/* {_comment(library)}, a model compiled by relay. It needs nothing but the C library.
{provenance}
   buffers[i], row-major and aligned to its elements:
{"".join(_buffer_lines(entry))}{"".join(_symbol_lines(entry))} */
#ifndef {prefix}_H
#define {prefix}_H

#include <stdint.h>

#define {prefix}_INPUTS {len(entry.inputs)}
#define {prefix}_OUTPUTS {len(entry.outputs)}
#define {prefix}_SYMBOLS {len(entry.symbols)}

#ifdef __cplusplus
extern "C" {{
#endif

/* Run the model: `buffers` are the addresses of the inputs, then of the outputs; `symbols` the extents that the types
   leave open (NULL when there are none). Any number of threads may call at once. Gives
{"".join(_status_lines(entry))} */
int32_t relay_run(void *const *buffers, const int64_t *symbols);

/* Let the process use at most this many threads. */
void relay_set_num_threads(int32_t count);

#ifdef __cplusplus
}}
#endif

#endif
"""


def _buffer_lines(entry: EntrySpec) -> Iterator[str]:
    for position, spec in enumerate((*entry.inputs, *entry.outputs)):
        role = "input" if position < len(entry.inputs) else "output"
        yield f"     {position}  {role:6} {_comment(str(spec))}{_size(spec)}\n"


def _size(spec: InputSpec) -> str:
    if not isinstance(spec, TensorSpec):
        return ""
    total = spec.dtype.item_bytes
    for extent in spec.shape:
        if not isinstance(extent, int):
            return ""
        total *= extent
    return f", {total} bytes"


def _symbol_lines(entry: EntrySpec) -> Iterator[str]:
    if entry.symbols:
        yield "   symbols[i]:\n"
    for position, symbol in enumerate(entry.symbols):
        yield f"     {position}  {_comment(symbol.name)}\n"


def _status_lines(entry: EntrySpec) -> Iterator[str]:
    yield "      0  when the outputs are written\n"
    yield "     -1  when memory ran out\n"
    for number, failure in enumerate(entry.failures, start=1):
        yield f"     {number:2}  {_comment(failure)}\n"


def _comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return " ".join(text.split()).replace("*/", "* /").replace("\\", "/")
