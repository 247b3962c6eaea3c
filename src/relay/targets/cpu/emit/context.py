"""What the emitter knows while it writes one function: the machine, and what stands for symbols, buffers and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import NoReturn, TypeVar

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.targets.cpu.target import CpuTarget
from relay.tir.buffer import Buffer
from relay.tir.expr import Value, ValueVar
from relay.tir.stmt import For


@frozen
class Machine:
    """The facts about a target that decide which instructions are written. `saturates`: vectors of floats become
    integers by instructions that take what is beyond the range to its end."""

    vector_bits: int
    has_fma: bool
    has_half_conversion: bool
    saturates: bool
    scalers: Mapping[str, str]
    dots: Mapping[int, str]
    float_dots: Mapping[int, str]
    contract: bool
    threads: int

    @classmethod
    def of(cls, target: CpuTarget, contract: bool) -> Machine:
        arm64 = target.triple.startswith(("aarch64", "arm64"))
        fused = arm64 or target.has("fma") or target.has("avx512f")
        return cls(
            vector_bits=target.register_bits,
            has_fma=fused,
            has_half_conversion=arm64 or target.has("f16c") or target.has("avx512f"),
            saturates=arm64,
            scalers=_scalers(target),
            dots=dot_instructions(target),
            float_dots=float_dot_instructions(target),
            contract=contract and fused,
            threads=target.num_threads,
        )


def _scalers(target: CpuTarget) -> Mapping[str, str]:
    """The instructions that multiply vectors by powers of two, by LLVM type."""
    stem = "llvm.x86.avx512.mask.scalef"
    found: dict[str, str] = {}
    if target.has("avx512f"):
        found = {"<16 x float>": f"{stem}.ps.512", "<8 x double>": f"{stem}.pd.512"}
    if target.has("avx512vl"):
        found |= {"<8 x float>": f"{stem}.ps.256", "<4 x float>": f"{stem}.ps.128", "<4 x double>": f"{stem}.pd.256"}
    return found


def dot_instructions(target: CpuTarget) -> Mapping[int, str]:
    """The instructions that products of bytes are made with, by how many 32-bit lanes they work on: those that do all
    of it (vpdpbusd), else those that add up pairs of 16-bit products (pmaddwd)."""
    found: dict[int, str] = {}
    if target.triple.startswith(("x86_64", "i386", "i686")):
        found[4] = "llvm.x86.sse2.pmadd.wd"
    if target.has("avx2"):
        found[8] = "llvm.x86.avx2.pmadd.wd"
    if target.has("avx512bw"):
        found[16] = "llvm.x86.avx512.pmaddw.d.512"
    vnni = "llvm.x86.avx512.vpdpbusd"
    if target.has("avxvnni") or (target.has("avx512vnni") and target.has("avx512vl")):
        found |= {4: f"{vnni}.128", 8: f"{vnni}.256"}
    if target.has("avx512vnni"):
        found[16] = f"{vnni}.512"
    return found


def float_dot_instructions(target: CpuTarget) -> Mapping[int, str]:
    """The instructions that add up products of bfloat16 (vdpbf16ps), by how many 32-bit lanes they work on."""
    if not target.has("avx512bf16"):
        return {}
    stem = "llvm.x86.avx512bf16.dpbf16ps"
    narrow = {4: f"{stem}.128", 8: f"{stem}.256"} if target.has("avx512vl") else {}
    return {**narrow, 16: f"{stem}.512"}


@frozen
class Place:
    """Where a buffer is: its address (known from region `depth` on), strides in elements, and what its loads share."""

    pointer: str
    depth: int
    strides: tuple[IntExpr, ...]
    load_key: object
    item_bytes: int
    invariant: bool = False


Key = TypeVar("Key")
Fact = TypeVar("Fact")


class Known(dict[Key, Fact]):
    """What is known of symbols, buffers or names. What is not there yet `find` tells, once."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[Key], Fact]) -> None:
        self._find = find
        super().__init__()

    def __missing__(self, key: Key) -> Fact:
        fact = self[key] = self._find(key)
        return fact


def _nowhere(kernel_name: str, key: object) -> NoReturn:
    raise CompilerBug("emit", f"{kernel_name}: `{key}` is defined nowhere")


@mutable(eq=True)
class Emitter:
    """State of the emission of one function. `emit_value` is the walk over values, held here because indices hold
    values and values hold indices."""

    function: FunctionText
    machine: Machine
    kernel_name: str
    emit_value: Callable[[Emitter, Value], str]
    symbols: Known[Symbol, tuple[str, int]] = field(init=False)
    ranges: dict[Symbol, IntExpr] = field(default_factory=dict)
    places: Known[Buffer, Place] = field(init=False)
    variables: Known[ValueVar, str] = field(init=False)
    memo: dict[int, str] = field(default_factory=dict)
    works: dict[For, IntExpr] = field(default_factory=dict)  # how long loops take (`emit/kernels/work.py`)
    guard: Guard | None = None
    in_parallel: bool = False
    scratch: str = "%scratch"  # what the function works in,
    scratch_bytes: IntExpr = 0  # so many bytes of which are taken here
    tiles: str = ""  # which shapes of tiles are set where the function begins (`emit/tiles.py`)
    polls: int = 2  # how many more loops poll, one in another, where the call decides how long they are: inner ones
    # are short, or many (`emit/polls.py`)
    stopped: str = ""  # the block to which who is told to end goes
    flushes: bool = False  # has a product been written that takes denormals for 0?

    def __post_init__(self) -> None:
        nowhere = partial(_nowhere, self.kernel_name)
        self.symbols, self.places, self.variables = Known(nowhere), Known(nowhere), Known(nowhere)

    @property
    def module(self) -> ModuleText:
        return self.function.module

    def lanes(self, element: str, lanes: int) -> Lanes:
        return Lanes(self.function, element, lanes, self.machine.has_fma, self.machine.scalers)


@frozen
class Guard:
    """The lanes in which what is being emitted will be used: an `i1` or vector of them."""

    mask: str
    lanes: int


def row_major_strides(shape: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
    """Elements from one entry of each axis to the next, last axis contiguous.

    >>> row_major_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[IntExpr] = []
    step: IntExpr = 1
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))
