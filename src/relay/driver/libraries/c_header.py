"""The C header of an exported program: what goes in, what comes out, and the prototypes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from relay.runtime.artefact.device_spec import DeviceSpec
from relay.runtime.artefact.manifest import (
    EntrySpec,
    HeapResult,
    InputSpec,
    Label,
    Manifest,
    TensorLabel,
    TensorSpec,
)
from relay.runtime.artefact.nesting import shown_result
from relay.runtime.artefact.status import DEVICE_FAILED, DEVICE_MISSING, NO_TILES, OUT_OF_MEMORY, STACK_USED_UP
from relay.runtime.artefact.value_types import DataSpec
from relay.runtime.memory.tiles import TILES

DEVICE_HEADER = "relay_device.h"
"""Stands beside the header of a library that uses devices."""


def c_header(manifest: Manifest, library: str, name: str) -> str:
    """The header of the file `library`, whose functions and types begin with `name` and its constants with that in
    capitals."""
    entry = manifest.entry("main")
    prefix = name.upper()
    provenance = "".join(f"   {key}: {comment(value)}\n" for key, value in sorted(manifest.provenance.items()))
    on_heap = isinstance(entry.result, HeapResult)
    kinds = "".join(_kind_lines(manifest.labels, prefix)) if on_heap else ""
    outputs = () if on_heap else entry.outputs
    told = [
        *_buffer_lines(entry.inputs, outputs, name),
        *_result_lines(entry),
        *_donation_lines(entry, on_heap),
        *_symbol_lines(entry),
        *map(_data_lines, manifest.data),
    ]
    return f"""/* {comment(library)}, a model compiled by relay. It needs nothing but the C library.
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

{_values(name) + _run_on_heap(manifest, name) if on_heap else _run(manifest, name)}
/* Let this library use at most so many threads. */
void {name}_set_num_threads(int32_t count);
{_devices(manifest.devices, name)}
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


def _values(name: str) -> str:
    """How values are made and read."""
    return _VALUES.replace("relay_", f"{name}_")


def _devices(devices: Sequence[DeviceSpec], name: str) -> str:
    """How the library is given its devices."""
    if not devices:
        return ""
    formats = "".join(f"     {each}  which must load {', '.join(map(comment, each.formats))}\n" for each in devices)
    return f"""
/* Give the library a device that it uses, before the first call; `{DEVICE_HEADER}` says what that is.
{formats}   Gives 0; -1 for another name, -2 for a table of another version. */
struct relay_device;
int32_t {name}_connect_device(const char *name, const struct relay_device *device);

/* Give back all that the library has of its devices, which it uses no more. No call may run meanwhile. */
void {name}_devices_close(void);
"""


def _run(manifest: Manifest, name: str) -> str:
    return f"""/* Run the model: `buffers` are the addresses of the inputs, then of the outputs; `symbols` the extents
   that the types leave open (NULL when there are none). Any number of threads may call at once. Gives
{"".join(_status_lines(manifest))} */
int32_t {name}_run(void *const *buffers, const int64_t *symbols);
"""


def _run_on_heap(manifest: Manifest, name: str) -> str:
    return f"""/* Run the model: `buffers` are the inputs, addresses of tensors' elements or values; `symbols` the
   extents that the types leave open (NULL when there are none). The arena owns the result, which may lie in arrays
   that were handed in: leave these as they are while it is in use. Values that are handed in, results of other calls
   among them, stay what they are. Any number of threads may call at once, each with its own arena. Gives
{"".join(_status_lines(manifest))} */
int32_t {name}_run({name}_arena *arena, void *const *buffers, const int64_t *symbols, {name}_value *result);
"""


def _buffer_lines(inputs: Sequence[InputSpec], outputs: Sequence[TensorSpec], name: str) -> Iterator[str]:
    for position, spec in enumerate((*inputs, *outputs)):
        role = "input" if position < len(inputs) else "output"
        yield f"     {position}  {role:6} {comment(str(spec))}{_size(spec, name)}\n"


def _result_lines(entry: EntrySpec) -> Iterator[str]:
    """What comes back as a value."""
    if isinstance(entry.result, HeapResult):
        yield f"   *result is {comment(shown_result(entry))}, a value.\n"


def _donation_lines(entry: EntrySpec, on_heap: bool) -> Iterator[str]:
    """What becomes of the arrays that the caller gives away. Values stay the caller's."""
    for each in entry.donations:
        output = None if on_heap or each.output is None else len(entry.inputs) + each.output
        place = "results may lie there" if output is None else f"give its address for {output} too"
        if isinstance(entry.inputs[each.input], TensorSpec):
            yield f"   buffers[{each.input}] is written, and holds anything after a failure; {place}.\n"


def _size(spec: InputSpec, name: str) -> str:
    if not isinstance(spec, TensorSpec):
        return f", a {name}_value"
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
        yield f"     {position}  {comment(symbol.name)}\n"


def _data_lines(data: DataSpec) -> str:
    cases = " | ".join(
        f"{name}({', '.join(map(str, fields))})" if fields else name for name, fields in data.constructors.items()
    )
    return f"   type {comment(data.name)} = {comment(cases)}\n"


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
            yield f"#define {prefix}_{name} {number} /* {comment(label.name)} */\n"


def statuses(manifest: Manifest) -> Iterator[tuple[int, str]]:
    """What a run may give, and when."""
    entry = manifest.entry("main")
    yield 0, "the outputs are written"
    yield OUT_OF_MEMORY, "memory ran out"
    if isinstance(entry.result, HeapResult):
        yield STACK_USED_UP, "calls nest deeper than 1 GiB of stack holds"
    if TILES in manifest.machine.features:
        yield NO_TILES, "the system does not permit the tiles of AMX"
    if manifest.devices:
        yield DEVICE_MISSING, "a device is not connected"
        yield DEVICE_FAILED, "a device failed: its `last_error` says why"
    for number, failure in enumerate(entry.failures, start=1):
        yield number, comment(str(failure))


def _status_lines(manifest: Manifest) -> Iterator[str]:
    for status, told in statuses(manifest):
        yield f"     {status:2}  {told if status > 0 else f'when {told}'}\n"


def comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return " ".join(text.split()).replace("*/", "* /").replace("\\", "/")
