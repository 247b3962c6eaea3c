"""An AArch64 processor in this process, and shared libraries loaded into its memory.

Whatever is placed there ends with its last page, and no page follows: a load or store beyond the end of a buffer stops
the run, even where the machine at hand would let it pass.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from unicorn import UC_ARCH_ARM64, UC_HOOK_CODE, UC_MODE_ARM, UC_PROT_ALL, UC_PROT_READ, UC_PROT_WRITE, Uc
from unicorn.arm64_const import UC_ARM64_REG_D0, UC_ARM64_REG_LR, UC_ARM64_REG_PC, UC_ARM64_REG_SP, UC_ARM64_REG_X0

_PROCESS = ctypes.CDLL(None)
PAGE_BYTES = 4096
STACK_BYTES = 1 << 20
GATES_BYTES = 2 * PAGE_BYTES
_START = 1 << 32  # far from what fits 32 bits, so that a shortened address is found out
_RETURN_INSTRUCTION = 0xD65F03C0
_INSTRUCTION_BYTES = 4


class Machine:
    """One processor and its memory. `place` puts bytes there, `load` a library, and `call` runs a function."""

    def __init__(self) -> None:
        self._processor = Uc(UC_ARCH_ARM64, UC_MODE_ARM)
        self._next = _START
        returns = np.full(GATES_BYTES // _INSTRUCTION_BYTES, _RETURN_INSTRUCTION, "<u4")
        self._gates = self.place(returns.tobytes(), UC_PROT_ALL)
        """Where functions of the C library stand: single returns, before which Python does the work. The first is where
        `call` ends."""
        self._functions: list[str] = ["the end of the call"]
        self._processor.hook_add(UC_HOOK_CODE, self._run_gate, begin=self._gates, end=self._gates + GATES_BYTES - 1)
        self._stack = self.place(bytes(STACK_BYTES), UC_PROT_READ | UC_PROT_WRITE) + STACK_BYTES
        self._failure: Exception | None = None

    def place(self, content: bytes, rights: int = UC_PROT_READ, alignment: int = 64) -> int:
        """The address of a copy of these bytes, as near to the end of its pages as the alignment allows."""
        mapped = -(-max(1, len(content)) // PAGE_BYTES) * PAGE_BYTES
        self._processor.mem_map(self._next, mapped, rights)
        address = (self._next + mapped - len(content)) // alignment * alignment
        self._processor.mem_write(address, content)
        self._next += mapped + PAGE_BYTES
        return address

    def read(self, address: int, size_bytes: int) -> bytes:
        return bytes(self._processor.mem_read(address, size_bytes))

    def write(self, address: int, content: bytes) -> None:
        self._processor.mem_write(address, content)

    def argument(self, position: int) -> int:
        """An argument of the function that is being called."""
        return self._processor.reg_read(UC_ARM64_REG_X0 + position)

    def number(self, position: int) -> int:
        """The bits of a floating-point argument of the function that is being called."""
        return self._processor.reg_read(UC_ARM64_REG_D0 + position)

    def call(self, address: int, *words: int) -> int:
        """The int32 that the function there gives for these words: eight in registers, the others on the stack."""
        for position, word in enumerate(words[:8]):
            self._processor.reg_write(UC_ARM64_REG_X0 + position, word)
        stack = (self._stack - 8 * len(words[8:])) // 16 * 16
        self.write(stack, np.array(words[8:], "<i8").tobytes())
        self._processor.reg_write(UC_ARM64_REG_SP, stack)
        self._processor.reg_write(UC_ARM64_REG_LR, self._gates)
        self._failure = None
        self._processor.emu_start(address, self._gates)
        if self._failure is not None:
            raise self._failure
        return ctypes.c_int32(self.argument(0)).value

    def load(self, library: bytes) -> Mapping[str, int]:
        """Where the exported symbols of a shared library are, once it stands in memory."""
        image = LibraryImage.of(library)
        base = self.place(bytes(image.memory.nbytes), UC_PROT_ALL, PAGE_BYTES)
        addresses = {
            name: base + offset if is_defined else self._gate(name)
            for name, (is_defined, offset) in image.symbols.items()
        }
        image.relocate(base, addresses)
        self.write(base, image.memory.tobytes())
        return {name: addresses[name] for name, (is_defined, _) in image.symbols.items() if is_defined}

    def _gate(self, name: str) -> int:
        if name not in self._functions:
            self._functions.append(name)
        return self._gates + _INSTRUCTION_BYTES * self._functions.index(name)

    def _run_gate(self, processor: Uc, address: int, size: int, context: object) -> None:
        """Does what a function of the C library does. What goes wrong here is raised when the processor has stopped."""
        name = self._functions[(address - self._gates) // _INSTRUCTION_BYTES]
        try:
            if name in C_FUNCTIONS:
                processor.reg_write(UC_ARM64_REG_X0, C_FUNCTIONS[name](self) & (1 << 64) - 1)
            else:
                self._run_mathematics(name)
        except Exception as error:
            self._failure = error
            processor.reg_write(UC_ARM64_REG_PC, self._gates)
            processor.emu_stop()

    def _run_mathematics(self, name: str) -> None:
        """A function of floats that this machine's C library has too."""
        if name not in MATHEMATICS:
            raise NotImplementedError(f"the emulated machine has no function `{name}`")
        count, kind = MATHEMATICS[name]
        function = getattr(_PROCESS, name)
        number = np.ctypeslib.as_ctypes_type(kind)
        function.argtypes, function.restype = [number] * count, number
        words = [self.number(position) for position in range(count)]
        operands = np.array(words, "<u8").view(kind)[:: 8 // kind.itemsize]
        result = np.array([function(*operands.tolist())] * (8 // kind.itemsize), kind)
        self._processor.reg_write(UC_ARM64_REG_D0, int(result.view("<u8")[0]))


def _memcpy(machine: Machine) -> int:
    machine.write(machine.argument(0), machine.read(machine.argument(1), machine.argument(2)))
    return machine.argument(0)


def _memset(machine: Machine) -> int:
    machine.write(machine.argument(0), bytes([machine.argument(1) & 255]) * machine.argument(2))
    return machine.argument(0)


def _posix_memalign(machine: Machine) -> int:
    slot, alignment, size = map(machine.argument, range(3))
    memory = machine.place(b"\xcd" * size, UC_PROT_READ | UC_PROT_WRITE, alignment)
    machine.write(slot, memory.to_bytes(8, "little"))
    return 0


def _sincos(machine: Machine) -> int:
    angle = np.array([machine.number(0)], "<u8").view("<f8")
    for position, function in enumerate((_PROCESS.sin, _PROCESS.cos)):
        function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
        machine.write(machine.argument(position), np.array([function(angle[0])], "<f8").tobytes())
    return 0


C_FUNCTIONS: Mapping[str, Callable[[Machine], int]] = {
    "memcpy": _memcpy,
    "memmove": _memcpy,
    "memset": _memset,
    "posix_memalign": _posix_memalign,
    "sincos": _sincos,
    "free": lambda machine: 0,
    "mmap": lambda machine: -1,  # no pages for a thread pool: parallel loops run on the caller's thread
}
_OF_ONE = "log2 log10 erf sin cos tan asin acos atan sinh cosh asinh acosh atanh"
MATHEMATICS = {
    **dict.fromkeys(_OF_ONE.split(), (1, np.dtype("<f8"))),
    **dict.fromkeys(("sinf", "cosf", "tanf"), (1, np.dtype("<f4"))),
    **dict.fromkeys(("pow", "fmod"), (2, np.dtype("<f8"))),
    "fmodf": (2, np.dtype("<f4")),
}
"""Functions of so many numbers of a type."""

_HEADER = np.dtype([("", "V32"), ("segments", "<u8"), ("", "V14"), ("entry_bytes", "<u2"), ("entries", "<u2")])
_SEGMENT = np.dtype(
    [
        ("type", "<u4"),
        ("", "V4"),
        ("offset", "<u8"),
        ("address", "<u8"),
        ("", "V8"),
        ("held", "<u8"),
        ("size", "<u8"),
        ("", "V8"),
    ]
)
_DYNAMIC = np.dtype([("tag", "<i8"), ("value", "<u8")])
_SYMBOL = np.dtype([("name", "<u4"), ("", "V2"), ("section", "<u2"), ("value", "<u8"), ("", "V8")])
_RELOCATION = np.dtype([("place", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_LOADED, _LINKED = 1, 2  # types of segments
_HASH, _NAMES, _SYMBOLS, _RELA, _RELA_BYTES, _PLT_BYTES, _PLT = 4, 5, 6, 7, 8, 2, 23  # tags of what is linked
_ABSOLUTE, _GLOBAL, _JUMP, _RELATIVE = 257, 1025, 1026, 1027  # types of relocations


@dataclass(slots=True)
class LibraryImage:
    """A shared library as it stands in memory, counted from 0 (ELF for the Arm 64-bit Architecture, ABI 2024Q3).
    `symbols` tells of each whether it is defined, and where."""

    memory: NDArray[np.uint8]
    names: list[str] = field(default_factory=list)
    symbols: dict[str, tuple[bool, int]] = field(default_factory=dict)
    tables: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, library: bytes) -> LibraryImage:
        header = np.frombuffer(library, _HEADER, 1)[0]
        segments = np.frombuffer(library, _SEGMENT, header["entries"], header["segments"])
        loaded = segments[segments["type"] == _LOADED]
        image = cls(np.zeros(int((loaded["address"] + loaded["size"]).max()), np.uint8))
        for each in loaded:
            content = np.frombuffer(library, np.uint8, each["held"], each["offset"])
            image.memory[each["address"] : each["address"] + each["held"]] = content
        linked = segments[segments["type"] == _LINKED][0]
        entries = image._table(_DYNAMIC, int(linked["address"]), int(linked["held"]) // _DYNAMIC.itemsize)
        known = {int(each["tag"]): int(each["value"]) for each in entries}
        image.tables = [
            (known.get(_RELA, 0), known.get(_RELA_BYTES, 0)),
            (known.get(_PLT, 0), known.get(_PLT_BYTES, 0)),
        ]
        count = int(image._table(np.dtype("<u4"), known[_HASH], 2)[1])
        for each in image._table(_SYMBOL, known[_SYMBOLS], count):
            start = known[_NAMES] + int(each["name"])
            name = image.memory[start : start + 4096].tobytes().split(b"\0")[0].decode()
            image.names.append(name)
            if name:
                image.symbols[name] = (bool(each["section"]), int(each["value"]))
        return image

    def relocate(self, base: int, addresses: Mapping[str, int]) -> None:
        """Fill in the addresses that depend on where the image stands."""
        for start, size in self.tables:
            for each in self._table(_RELOCATION, start, size // _RELOCATION.itemsize):
                addend, name = int(each["addend"]), self.names[int(each["symbol"])]
                match int(each["type"]):
                    case x if x == _RELATIVE:
                        value = base + addend
                    case x if x in (_ABSOLUTE, _GLOBAL, _JUMP):
                        value = addresses[name] + addend
                    case other:
                        raise NotImplementedError(f"relocations of type {other}")
                place = int(each["place"])
                self.memory[place : place + 8] = np.array([value], "<u8").view(np.uint8)

    def _table(self, entry: np.dtype[np.void], start: int, count: int) -> NDArray[np.void]:
        return np.frombuffer(self.memory.data, entry, count, start)
