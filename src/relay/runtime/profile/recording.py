"""The native code of an artefact, loaded so that it writes down when each kernel and each entry began and ended.

The objects are those of the artefact, byte for byte. Between an entry and its kernels stands a *recorder*: small
functions under the kernels' names, made when they are asked for, that read the clock, run the kernel, read the clock
and write a record. A kernel takes as long as it always does; a call of it takes about 0.1 µs longer. What runs on a
device is recorded when it has run (`timed_device`).
"""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.device_spec import DeviceSpec
from relay.runtime.artefact.work import KernelWork
from relay.runtime.call.native import NativeCode, exported_symbols
from relay.runtime.cpython.quick_build import BUILD_SYMBOL
from relay.runtime.cpython.quick_call import CALL_SYMBOL
from relay.runtime.devices.connected import connect
from relay.runtime.devices.device import OpenedDevice
from relay.runtime.memory.mapped import Constants
from relay.runtime.memory.objects import LoadedObjects, load_objects, load_support
from relay.runtime.memory.stopping import LIMIT_SYMBOLS
from relay.runtime.profile.timed_device import DeviceWork, OnDevice, TimedDevice

ENTRY, CHUNK, FIRST_REGION = -1, -2, -3
"""What a record is of that is of no kernel: an entry, a part of a parallel loop that one thread ran, or a region of a
device, which are numbered downwards."""

KIND, START, END, THREAD, EXTENTS = range(5)
"""The words of a record: number of the kernel (or one of the above), nanoseconds, nanoseconds, thread, extents…"""

MOST_RECORDS = 1 << 21
_HEAD = "{ i64, i64, i64, ptr }"  # next record, room, whether to record parts of loops, records
_PARALLEL = "relay_parallel_for"


class Recorder:
    """Where records are written. Any number of threads may write; one reads, when nothing runs."""

    def __init__(self, most_extents: int) -> None:
        self.words = EXTENTS + max(most_extents, 1)
        self._head = (ctypes.c_int64 * 4)()
        self.make_room(1 << 12)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._head)

    @property
    def room(self) -> int:
        return self._head[1]

    def make_room(self, records: int) -> None:
        """Room for so many records, and one more that takes what finds none. Raises `RelayError`."""
        if records > MOST_RECORDS:
            raise RelayError(
                rule="profile-too-long",
                message="a run of the program calls too many kernels to keep a record of each",
                expected=f"at most {MOST_RECORDS} calls",
                found=f"{records} calls",
                remedy="profile it on smaller inputs",
            )
        self._records = np.zeros((records + 1, self.words), np.int64)
        self._head[1], self._head[3] = records, self._records.ctypes.data

    def begin(self, parts_of_loops: bool = False) -> None:
        """Forget what is written."""
        self._head[0], self._head[2] = 0, int(parts_of_loops)

    @property
    def wanted(self) -> int:
        """How many records there would be, had there been room."""
        return self._head[0]

    def note(self, kind: int, start_ns: int, end_ns: int, moved_bytes: int = 0) -> None:
        """Write a record from Python, while no native code of the call runs. Bytes stand where extents do."""
        number = self._head[0]
        self._head[0] = number + 1
        words = kind, start_ns, end_ns, threading.get_ident(), moved_bytes
        self._records[min(number, self.room), : EXTENTS + 1] = words

    def records(self) -> NDArray[np.int64]:
        """[record, word], in the order in which they ended. A copy."""
        return self._records[: min(self.wanted, self.room)].copy()


@frozen(eq=False)
class RecordedKernels:
    """Kernels that write records, in the order of their numbers: the addresses of what runs them, by name, and what
    other code is given beside them. `on_devices`: what devices do, by the kinds of its records: numbers behind those of
    kernels, and those of regions."""

    recorder: Recorder
    kernels: tuple[KernelWork, ...]
    addresses: Mapping[str, int]
    imports: Mapping[str, int]
    _kept: tuple[object, ...]
    on_devices: dict[OnDevice, int] = field(default_factory=dict["OnDevice", int])

    @property
    def names(self) -> dict[int, str]:
        """What the kinds of records are of, but for entries and parts of loops."""
        kernels = {number: each.name for number, each in enumerate(self.kernels)}
        return kernels | {kind: str(what) for what, kind in self.on_devices.items()}

    def timed(self, spec: DeviceSpec, device: OpenedDevice) -> TimedDevice:
        """A device whose launches and transfers write records."""

        def note(what: OnDevice, start_ns: int, end_ns: int, moved_bytes: int) -> None:
            met = len(self.on_devices)
            kind = FIRST_REGION - met if what.work is DeviceWork.REGION else len(self.kernels) + met
            self.recorder.note(self.on_devices.setdefault(what, kind), start_ns, end_ns, moved_bytes)

        return TimedDevice(device, str(spec), note)


@frozen(eq=False)
class RecordedCode:
    """Code whose kernels and entries write records."""

    code: NativeCode
    kernels: RecordedKernels


def load_recorded_kernels(
    objects: Sequence[bytes], support: LoadedObjects, calls: Mapping[str, KernelWork]
) -> RecordedKernels:
    """Load the objects of kernels a second time. `calls` are the names under which they are called and recorded, each
    with the kernel that it runs."""
    recorder, machine = Recorder(max((len(work.symbols) for work in calls.values()), default=0)), _machine()
    loops = _loop_text(recorder, support.address(_PARALLEL))
    loop = load_objects([_object(loops, machine)], [_PARALLEL])
    imports = {**support.addresses, _PARALLEL: loop.address(_PARALLEL)}
    inner = load_objects(objects, {work.name for work in calls.values()}, imports)
    text = _kernel_text(recorder, calls, inner.addresses)
    around = load_objects([_object(text, machine)], calls)
    works = tuple(replace(work, name=name) for name, work in calls.items())
    return RecordedKernels(recorder, works, around.addresses, imports, (loop, inner, around))


def load_recorded_code(artefact: Artefact) -> RecordedCode:
    """Load the objects of an artefact a second time, with a recorder between them.

    An artefact's last object holds the entries, the others hold kernels."""
    manifest = artefact.manifest
    if not manifest.kernels and len(artefact.objects) > 1:
        raise unknown_kernels()
    support = load_support(artefact.support)
    calls = {kernel.name: kernel for kernel in manifest.kernels}
    kernels = load_recorded_kernels(artefact.objects[:-1], support, calls)
    symbols = exported_symbols(manifest)
    inner = load_objects(artefact.objects[-1:], symbols, {**kernels.imports, **kernels.addresses})
    entries = [entry.native_symbol for entry in manifest.entries]
    text = _entry_text(kernels.recorder, entries, inner.addresses)
    outer = load_objects([_object(text, _machine())], entries)
    library = {symbol: support.address(symbol) for symbol in (CALL_SYMBOL, BUILD_SYMBOL, *LIMIT_SYMBOLS)}
    addresses = {**inner.addresses, **outer.addresses, **library}
    devices = connect(manifest.devices, addresses.__getitem__, kernels.timed)
    if devices.close is not None:
        weakref.finalize(inner, devices.close).atexit = False  # before the objects are unloaded
    code = NativeCode(addresses.__getitem__, Constants.of(artefact, support), (kernels, inner, outer), devices)
    return RecordedCode(code, kernels)


def unknown_kernels() -> RelayError:
    """Of an artefact that says nothing of the work of its kernels."""
    return RelayError(
        rule="cannot-profile",
        message="the artefact does not tell its kernels: an older version of the compiler made it",
        remedy="compile the model again",
    )


def _machine() -> llvm.TargetMachine:
    return llvm.Target.from_default_triple().create_target_machine(opt=1, reloc="pic", codemodel="small")


def _object(text: str, machine: llvm.TargetMachine) -> bytes:
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def _prelude(recorder: Recorder) -> str:
    """`relay.now` gives nanoseconds; `relay.record` writes the first words of a record, and gives its address."""
    head = f"inttoptr (i64 {recorder.address} to ptr)"
    return f"""
declare i32 @clock_gettime(i32, ptr)
declare ptr @pthread_self()

define internal i64 @relay.now() nounwind {{
  %time = alloca {{ i64, i64 }}
  %status = call i32 @clock_gettime(i32 {time.CLOCK_MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %rest = getelementptr {{ i64, i64 }}, ptr %time, i64 0, i32 1
  %nanoseconds = load i64, ptr %rest
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %nanoseconds
  ret i64 %now
}}

define internal ptr @relay.record(i64 %kind, i64 %start, i64 %end) nounwind {{
  %number = atomicrmw add ptr {head}, i64 1 monotonic
  %room = load i64, ptr getelementptr ({_HEAD}, ptr {head}, i64 0, i32 1)
  %fits = icmp ult i64 %number, %room
  %place = select i1 %fits, i64 %number, i64 %room
  %records = load ptr, ptr getelementptr ({_HEAD}, ptr {head}, i64 0, i32 3)
  %first = mul i64 %place, {recorder.words}
  %record = getelementptr i64, ptr %records, i64 %first
  store i64 %kind, ptr %record
  %start.place = getelementptr i64, ptr %record, i64 {START}
  store i64 %start, ptr %start.place
  %end.place = getelementptr i64, ptr %record, i64 {END}
  store i64 %end, ptr %end.place
  %thread = call ptr @pthread_self()
  %thread.place = getelementptr i64, ptr %record, i64 {THREAD}
  store ptr %thread, ptr %thread.place
  ret ptr %record
}}
"""


def _kernel_text(recorder: Recorder, calls: Mapping[str, KernelWork], addresses: Mapping[str, int]) -> str:
    parts = [_prelude(recorder)]
    for number, (name, kernel) in enumerate(calls.items()):
        words = [f"i64 %a{position}" for position in range(kernel.pointers + len(kernel.symbols))]
        lines = [
            f'define void @"{name}"({", ".join(words)}) nounwind {{',
            "  %start = call i64 @relay.now()",
            f"  call void inttoptr (i64 {addresses[kernel.name]} to ptr)({', '.join(words)})",
            "  %end = call i64 @relay.now()",
            f"  %record = call ptr @relay.record(i64 {number}, i64 %start, i64 %end)",
        ]
        for position in range(len(kernel.symbols)):
            lines.append(f"  %place{position} = getelementptr i64, ptr %record, i64 {EXTENTS + position}")
            lines.append(f"  store i64 %a{kernel.pointers + position}, ptr %place{position}")
        parts.append("\n".join((*lines, "  ret void\n}\n")))
    return "\n".join(parts)


def _entry_text(recorder: Recorder, symbols: Sequence[str], addresses: Mapping[str, int]) -> str:
    def entry(symbol: str) -> str:
        return f"""
define i32 @"{symbol}"(ptr %a, ptr %b, ptr %c, ptr %d) {{
  %start = call i64 @relay.now()
  %status = call i32 inttoptr (i64 {addresses[symbol]} to ptr)(ptr %a, ptr %b, ptr %c, ptr %d)
  %end = call i64 @relay.now()
  %record = call ptr @relay.record(i64 {ENTRY}, i64 %start, i64 %end)
  ret i32 %status
}}
"""

    return "\n".join((_prelude(recorder), *map(entry, symbols)))


def _loop_text(recorder: Recorder, address: int) -> str:
    """A parallel loop whose parts, where the recorder wants them, are recorded on the threads that run them."""
    head = f"inttoptr (i64 {recorder.address} to ptr)"
    shared = "i64 %count, i64 %grain, i64 %backwards, ptr %scratch, i64 %scratch.bytes, i32 %most"
    return f"""{_prelude(recorder)}
define internal void @relay.part(ptr %loop, i64 %begin, i64 %end, ptr %scratch) nounwind {{
  %function = load ptr, ptr %loop
  %context.place = getelementptr {{ ptr, ptr }}, ptr %loop, i64 0, i32 1
  %context = load ptr, ptr %context.place
  %started = call i64 @relay.now()
  call void %function(ptr %context, i64 %begin, i64 %end, ptr %scratch)
  %ended = call i64 @relay.now()
  %record = call ptr @relay.record(i64 {CHUNK}, i64 %started, i64 %ended)
  ret void
}}

define void @{_PARALLEL}(ptr %function, ptr %context, {shared}) nounwind {{
  %wanted = load i64, ptr getelementptr ({_HEAD}, ptr {head}, i64 0, i32 2)
  %is.wanted = icmp ne i64 %wanted, 0
  br i1 %is.wanted, label %recorded, label %plain
plain:
  call void inttoptr (i64 {address} to ptr)(ptr %function, ptr %context, {shared})
  ret void
recorded:
  %loop = alloca {{ ptr, ptr }}
  store ptr %function, ptr %loop
  %context.place = getelementptr {{ ptr, ptr }}, ptr %loop, i64 0, i32 1
  store ptr %context, ptr %context.place
  call void inttoptr (i64 {address} to ptr)(ptr @relay.part, ptr %loop, {shared})
  ret void
}}
"""
