"""float8_e8m0fnu: the powers of two from 2^-127 to 2^127, each by its exponent, and NaN. It has no sign and no zero
(Open Compute Project, "OCP Microscaling Formats (MX) Specification" 1.0, section 5.4.1).

A float32 has the same exponent in the same eight bits; only 2^-127 is a denormal there.
"""

from __future__ import annotations

from relay.targets.cpu.emit.numbers.lanes import Lanes

_FRACTION_BITS = 23
_SMALLEST = 0x00400000  # 2^-127 as float32
_INFINITY = 0x7F800000
_NAN = 0x7FC00000


def round_to(f: Lanes, x: str) -> str:
    """The power of two nearest to a float32, the larger one of two that are as near; NaN for what is beyond the
    largest, for 0 and for what is negative. Numbers below the smallest become it; those between it and the next become
    the next, as they do in `ml_dtypes`."""
    i = f.integer
    bits = f.to_bits(x)
    raised = i.op("add", bits, i.const(_SMALLEST))  # half of the distance to the next power of two
    power = i.op("and", raised, i.const(_INFINITY))
    power = i.select(i.icmp("ule", bits, i.const(_SMALLEST)), i.const(_SMALLEST), power)
    is_power = i.icmp("ult", i.op("sub", bits, i.const(1)), i.const(_INFINITY - _SMALLEST - 1))
    return f.from_bits(i.select(is_power, power, i.const(_NAN)))


def encode(f: Lanes, x: str) -> str:
    """The exponent of a float32 that is such a power, or NaN."""
    i = f.integer
    return i.convert("trunc", i.op("lshr", f.to_bits(x), i.const(_FRACTION_BITS)), f.like("i8"))


def decode(f: Lanes, bits: str) -> str:
    """The float32 with this exponent."""
    i = f.integer
    power = i.op("shl", f.like("i8").convert("zext", bits, i), i.const(_FRACTION_BITS))
    power = i.select(i.icmp("eq", power, i.const(0)), i.const(_SMALLEST), power)
    return f.from_bits(i.select(i.icmp("eq", power, i.const(_INFINITY)), i.const(_NAN), power))
