"""The C header of an exported program: what goes in, what comes out, and the prototypes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, DeviceSpec
from relay.runtime.artefact.manifest import EntrySpec, HeapResult, InputSpec, Label, Manifest, TensorLabel, TensorSpec
from relay.runtime.artefact.status import DEVICE_FAILED, DEVICE_MISSING
from relay.runtime.artefact.value_types import DataSpec
from relay.runtime.memory.tiles import TILES

DEVICE_HEADER = "relay_device.h"
"""Stands beside the header of a library that uses devices."""


def c_header(manifest: Manifest, library: str) -> str:
    """The header of a library by the name `library`."""
    entry = manifest.entry("main")
    prefix = re.sub(r"\W", "_", Path(library).stem).upper()
    prefix = prefix if prefix[:1].isalpha() else f"MODEL_{prefix}"
    provenance = "".join(f"   {key}: {_comment(value)}\n" for key, value in sorted(manifest.provenance.items()))
    on_heap = isinstance(entry.result, HeapResult)
    kinds = "".join(_kind_lines(manifest.labels, prefix)) if on_heap else ""
    outputs = () if on_heap else entry.outputs
    told = [
        *_buffer_lines(entry.inputs, outputs),
        *_donation_lines(entry, on_heap),
        *_symbol_lines(entry),
        *map(_data_lines, manifest.data),
    ]
    return f"""/* {_comment(library)}, a model compiled by relay. It needs nothing but the C library.
{provenance}
   buffers[i], row-major and aligned to its elements:
{"".join(told)} */
#ifndef {prefix}_H
#define {prefix}_H

#include <stdint.h>

#define {prefix}_INPUTS {len(entry.inputs)}
#define {prefix}_OUTPUTS {len(outputs)}
#define {prefix}_SYMBOLS {len(entry.symbols)}
{kinds}
#ifdef __cplusplus
extern "C" {{
#endif

{_VALUES if on_heap else ""}{_run_on_heap(manifest) if on_heap else _run(manifest)}
/* Let the process use at most this many threads. */
void relay_set_num_threads(int32_t count);
{_devices(manifest.devices)}
#ifdef __cplusplus
}}
#endif

#endif
"""


_VALUES = """/* A value: a tensor, a tuple, or one of a data type. Its kind is one of the numbers above. What an arena
   owns lives until the arena is freed; an arena is used by one thread at a time. */
typedef struct relay_value_object *relay_value;
typedef struct relay_arena relay_arena;

/* NULL when memory ran out. */
relay_arena *relay_arena_new(void);
void relay_arena_free(relay_arena *arena);

/* A tensor that uses `data`, which must live as long as the arena. NULL when memory ran out. */
relay_value relay_tensor(relay_arena *arena, int32_t kind, const void *data, int32_t axes, const int64_t *extents);
/* A tuple, or a value of a data type. NULL when memory ran out, or when a field is NULL. */
relay_value relay_cell(relay_arena *arena, int32_t kind, int32_t count, const relay_value *fields);

int32_t relay_kind(relay_value value);
relay_value relay_field(relay_value cell, int32_t position);
const void *relay_data(relay_value tensor);
const int64_t *relay_extents(relay_value tensor);

"""


def _devices(devices: Sequence[DeviceSpec]) -> str:
    """How the library is given its devices."""
    if not devices:
        return ""
    formats = "".join(f"     {each}  which must load {', '.join(map(_comment, each.formats))}\n" for each in devices)
    return f"""
/* Give the library a device that it uses, before the first call; `{DEVICE_HEADER}` says what that is.
{formats}   Gives 0; -1 for another name, -2 for a table of another version. */
struct relay_device;
int32_t relay_connect_device(const char *name, const struct relay_device *device);

/* Give back all that the library has of its devices, which it uses no more. No call may run meanwhile. */
void {CLOSE_SYMBOL}(void);
"""


def _run(manifest: Manifest) -> str:
    return f"""/* Run the model: `buffers` are the addresses of the inputs, then of the outputs; `symbols` the extents
   that the types leave open (NULL when there are none). Any number of threads may call at once. Gives
{"".join(_status_lines(manifest))} */
int32_t relay_run(void *const *buffers, const int64_t *symbols);
"""


def _run_on_heap(manifest: Manifest) -> str:
    return f"""/* Run the model: `buffers` are the inputs, addresses of tensors' elements or values; `symbols` the
   extents that the types leave open (NULL when there are none). The arena owns the result, which may lie in arrays
   that were handed in: leave these as they are while it is in use. Values that are handed in, results of other calls
   among them, stay what they are. Any number of threads may call at once, each with its own arena. Gives
{"".join(_status_lines(manifest))} */
int32_t relay_run(relay_arena *arena, void *const *buffers, const int64_t *symbols, relay_value *result);
"""


def _buffer_lines(inputs: Sequence[InputSpec], outputs: Sequence[TensorSpec]) -> Iterator[str]:
    for position, spec in enumerate((*inputs, *outputs)):
        role = "input" if position < len(inputs) else "output"
        yield f"     {position}  {role:6} {_comment(str(spec))}{_size(spec)}\n"


def _donation_lines(entry: EntrySpec, on_heap: bool) -> Iterator[str]:
    """What becomes of the arrays that the caller gives away. Values stay the caller's."""
    for each in entry.donations:
        output = None if on_heap or each.output is None else len(entry.inputs) + each.output
        place = "results may lie there" if output is None else f"give its address for {output} too"
        if isinstance(entry.inputs[each.input], TensorSpec):
            yield f"   buffers[{each.input}] is written, and holds anything after a failure; {place}.\n"


def _size(spec: InputSpec) -> str:
    if not isinstance(spec, TensorSpec):
        return ", a relay_value"
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


def _data_lines(data: DataSpec) -> str:
    cases = " | ".join(
        f"{name}({', '.join(map(str, fields))})" if fields else name for name, fields in data.constructors.items()
    )
    return f"   type {_comment(data.name)} = {_comment(cases)}\n"


def _kind_lines(labels: tuple[Label, ...], prefix: str) -> Iterator[str]:
    """The kinds of values that may be met in inputs and results."""
    yield "\n/* Kinds of values. */\n"
    for number, label in enumerate(labels):
        if isinstance(label, TensorLabel):
            yield f"#define {prefix}_{str(label.dtype).upper()}_{label.rank} {number} /* {label} */\n"
        elif label.kind == "tuple":
            yield f"#define {prefix}_TUPLE {number}\n"
        elif label.kind == "data":
            name = re.sub(r"\W", "_", label.name).upper()
            yield f"#define {prefix}_{name} {number} /* {_comment(label.name)} */\n"


def _status_lines(manifest: Manifest) -> Iterator[str]:
    entry = manifest.entry("main")
    yield "      0  when the outputs are written\n"
    yield "     -1  when memory ran out\n"
    if isinstance(entry.result, HeapResult):
        yield "     -2  when calls nest deeper than 1 GiB of stack holds\n"
    if TILES in manifest.machine.features:
        yield "     -4  when the system does not permit the tiles of AMX\n"
    if manifest.devices:
        yield f"     {DEVICE_MISSING}  when a device is not connected\n"
        yield f"     {DEVICE_FAILED}  when a device failed: its `last_error` says why\n"
    for number, failure in enumerate(entry.failures, start=1):
        yield f"     {number:2}  {_comment(str(failure))}\n"


def _comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return " ".join(text.split()).replace("*/", "* /").replace("\\", "/")
