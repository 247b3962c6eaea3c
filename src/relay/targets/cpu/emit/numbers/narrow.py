"""Floats narrower than 32 bits, by operations on bits: every one of their values is a float32, which is what
registers hold. `round_to` rounds a float32 to the nearest such value (ties to even), `encode` and `decode`
go to and from the bits.

    value = ±1.fraction · 2^(exponent - bias), or ±0.fraction · 2^(1 - bias) where the exponent bits are 0

Both directions rest on one fact: a float32 times 2^-(127 - bias) has, in its top bits, the bits of the narrow format,
denormals included.
"""

from __future__ import annotations

import math

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.targets.cpu.emit.numbers import exponents
from relay.targets.cpu.emit.numbers.lanes import Lanes


@frozen
class Format:
    """`largest` is the largest finite value, `beyond` what larger ones become. `nan_bits` is a quiet NaN; in a format
    without NaN it is 0. A format whose NaN is the sign bit alone has no negative zero."""

    bits: int
    fraction_bits: int
    bias: int
    largest: float
    beyond: float
    nan_bits: int

    @property
    def has_infinity(self) -> bool:
        return math.isinf(self.beyond)

    @property
    def has_negative_zero(self) -> bool:
        return self.nan_bits != self.sign_bit

    @property
    def dropped_bits(self) -> int:
        """Fraction bits of float32 that the format lacks."""
        return 23 - self.fraction_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def scale(self) -> float:
        return 2.0 ** (127 - self.bias)


FORMATS = {
    DType.FLOAT16: Format(16, 10, 15, 65504.0, math.inf, 0x7E00),
    DType.BFLOAT16: Format(16, 7, 127, 3.3895313892515355e38, math.inf, 0x7FC0),
    DType.FLOAT8_E5M2: Format(8, 2, 15, 57344.0, math.inf, 0x7E),
    DType.FLOAT8_E5M2FNUZ: Format(8, 2, 16, 57344.0, math.nan, 0x80),
    DType.FLOAT8_E4M3FN: Format(8, 3, 7, 448.0, math.nan, 0x7F),
    DType.FLOAT8_E4M3FNUZ: Format(8, 3, 8, 240.0, math.nan, 0x80),
    DType.FLOAT4_E2M1FN: Format(4, 1, 1, 6.0, 6.0, 0),
}


def round_to(f: Lanes, x: str, dtype: DType) -> str:
    """The value of `dtype` nearest to a float32, as a float32."""
    if dtype is DType.FLOAT8_E8M0FNU:
        return exponents.round_to(f, x)
    fmt = FORMATS.get(dtype)
    if fmt is None:
        return x
    i = f.integer
    dropped = fmt.dropped_bits
    bits = f.to_bits(x)
    odd = i.op("and", i.op("lshr", bits, i.const(dropped)), i.const(1))
    raised = i.op("add", i.op("add", bits, i.const((1 << (dropped - 1)) - 1)), odd)
    rounded = f.from_bits(i.op("and", raised, i.const(-(1 << dropped))))
    size = f.call("fabs", x)
    if fmt.bias != 127:  # denormals: adding a number whose last place is the format's smallest rounds there
        magic = f.const(fmt.smallest_normal * 2.0**dropped)
        small = f.sub(f.add(size, magic), magic)
        small = f.call("copysign", small, x)
        rounded = f.select(f.fcmp("olt", size, f.const(fmt.smallest_normal)), small, rounded)
        too_large = f.fcmp("ogt", f.call("fabs", rounded), f.const(fmt.largest))
        rounded = f.select(too_large, f.call("copysign", f.const(fmt.beyond), x), rounded)
    if not fmt.has_negative_zero:
        rounded = f.select(f.fcmp("oeq", rounded, f.const(0.0)), f.const(0.0), rounded)
    return f.select(f.fcmp("uno", x, x), x if fmt.nan_bits else f.const(0.0), rounded)


def encode(f: Lanes, x: str, dtype: DType) -> str:
    """The bits, in an integer of the format's width, of a float32 that is a value of `dtype`."""
    if dtype is DType.FLOAT8_E8M0FNU:
        return exponents.encode(f, x)
    fmt = FORMATS[dtype]
    i = f.integer
    narrow = f.like(f"i{8 * dtype.item_bytes}")
    bits = f.to_bits(x)
    sign = i.op("and", i.op("lshr", bits, i.const(32 - fmt.bits)), i.const(fmt.sign_bit))
    size = f.call("fabs", x)
    scaled = size if fmt.bias == 127 else f.mul(size, f.const(1.0 / fmt.scale))
    magnitude = i.op("lshr", f.to_bits(scaled), i.const(fmt.dropped_bits))
    if fmt.has_infinity and fmt.bias != 127:
        infinite = f.fcmp("oeq", size, f.const(float("inf")))
        magnitude = i.select(infinite, i.const(fmt.nan_bits - (1 << (fmt.fraction_bits - 1))), magnitude)
    if not fmt.has_negative_zero:
        sign = i.select(f.fcmp("oeq", x, f.const(0.0)), i.const(0), sign)
    magnitude = i.select(f.fcmp("uno", x, x), i.const(fmt.nan_bits), magnitude)
    return i.convert("trunc", i.op("or", magnitude, sign), narrow)


def round_and_encode(f: Lanes, x: str) -> str:
    """The bits of the bfloat16 nearest to a float32: `encode` of `round_to`, where both can be one."""
    i = f.integer
    fmt = FORMATS[DType.BFLOAT16]
    dropped = fmt.dropped_bits
    bits = f.to_bits(x)
    odd = i.op("and", i.op("lshr", bits, i.const(dropped)), i.const(1))
    raised = i.op("add", i.op("add", bits, i.const((1 << (dropped - 1)) - 1)), odd)
    sign = i.op("and", bits, i.const(-(1 << 31)))
    quiet = i.op("or", sign, i.const(fmt.nan_bits << dropped))
    chosen = i.select(f.fcmp("uno", x, x), quiet, raised)
    return i.convert("trunc", i.op("lshr", chosen, i.const(dropped)), f.like("i16"))


def decode(f: Lanes, bits: str, dtype: DType) -> str:
    """The float32 whose bits as `dtype` these are."""
    if dtype is DType.FLOAT8_E8M0FNU:
        return exponents.decode(f, bits)
    fmt = FORMATS[dtype]
    i = f.integer
    wide = f.like(f"i{8 * dtype.item_bytes}").convert("zext", bits, i)
    if fmt.bias == 127:
        return f.from_bits(i.op("shl", wide, i.const(fmt.dropped_bits)))
    magnitude = i.op("and", wide, i.const(fmt.sign_bit - 1))
    value = f.mul(f.from_bits(i.op("shl", magnitude, i.const(fmt.dropped_bits))), f.const(fmt.scale))
    if fmt.has_infinity:  # what has all exponent bits set became a large number: infinity or NaN with that fraction
        special = i.op("or", f.to_bits(value), i.const(0x7F800000))
        exponent_mask = fmt.nan_bits & ~((1 << fmt.fraction_bits) - 1)
        is_special = i.icmp("uge", magnitude, i.const(exponent_mask))
        value = f.select(is_special, f.from_bits(special), value)
    elif fmt.nan_bits:
        where = magnitude if fmt.has_negative_zero else wide
        value = f.select(i.icmp("eq", where, i.const(fmt.nan_bits)), f.const(math.nan), value)
    sign = i.op("shl", i.op("and", wide, i.const(fmt.sign_bit)), i.const(32 - fmt.bits))
    return f.from_bits(i.op("or", f.to_bits(value), sign))
