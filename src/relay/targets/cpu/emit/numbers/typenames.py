"""How element types are written in LLVM text: in registers, in memory, and as constants.

dtype            in a register     in memory
bool             i1                i8, 0 or 1
int2 … uint4     i8, extended      i8, extended (when read, the other bits may be anything)
int8 … uint64    i8 … i64          the same
float4 … bf16    float (widened)   i8, i16 (the bits)
float32, 64      float, double     the same
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache

from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType

_REGISTER = {DType.BOOL: "i1", DType.FLOAT64: "double"}


@cache
def register_element(dtype: DType) -> str:
    """The LLVM type of one element in a register."""
    if dtype in _REGISTER:
        return _REGISTER[dtype]
    return "float" if dtype.is_float else f"i{8 * dtype.item_bytes}"


@cache
def memory_element(dtype: DType) -> str:
    """The LLVM type of one element in memory."""
    if dtype in (DType.FLOAT32, DType.FLOAT64):
        return register_element(dtype)
    return f"i{8 * dtype.item_bytes}"


@cache
def vector_of(element: str, lanes: int) -> str:
    """`element` for one lane, else the vector type.

    >>> vector_of("float", 16)
    '<16 x float>'
    """
    return element if lanes == 1 else f"<{lanes} x {element}>"


@cache
def mangled(element: str, lanes: int) -> str:
    """The suffix of overloaded intrinsics.

    >>> mangled("float", 16), mangled("i64", 1)
    ('v16f32', 'i64')
    """
    scalar = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(element, element)
    return scalar if lanes == 1 else f"v{lanes}{scalar}"


def register_type(dtype: DType, lanes: int) -> str:
    return vector_of(register_element(dtype), lanes)


def memory_type(dtype: DType, lanes: int) -> str:
    return vector_of(memory_element(dtype), lanes)


@cache
def float_bits(value: float, element: str) -> str:
    """A floating-point constant by its bits: exact, special values included.

    >>> float_bits(0.1, "float")
    '0x3FB99999A0000000'
    """
    if element == "float":
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    elif element != "double":
        raise CompilerBug("emit", f"{element} is not a floating-point type")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@cache
def constant(value: int | float | bool, element: str, lanes: int) -> str:
    """A constant operand without its type, the same in every lane. Integers wrap to the width.

    >>> constant(-1, "i8", 4), constant(True, "i1", 1)
    ('splat (i8 -1)', 'true')
    """
    if element in ("float", "double"):
        text = float_bits(float(value), element)
    elif element == "i1":
        text = "true" if value else "false"
    else:
        bits = int(element[1:])
        wrapped = int(value) & ((1 << bits) - 1)
        text = str(wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped)
    return text if lanes == 1 else f"splat ({element} {text})"


def sequence(values: Iterable[int], element: str) -> str:
    """A vector constant with these lanes."""
    return "<" + ", ".join(f"{element} {value}" for value in values) + ">"
