"""Floats narrower than 32 bits, by operations on bits: every one of their values is a float32, which is what
registers hold. `round_to` rounds a float32 to the nearest such value (ties to even), `encode` and `decode`
go to and from the bits.

    value = ±1.fraction · 2^(exponent - bias), or ±0.fraction · 2^(1 - bias) where the exponent bits are 0

Both directions rest on one fact: a float32 times 2^-(127 - bias) has, in its top bits, the bits of the narrow format,
denormals included.
"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.targets.cpu.emit.lanes import Lanes


@frozen
class Format:
    """`largest` is the largest finite value; formats without infinity give NaN beyond it. `nan_bits` is a quiet NaN."""

    bits: int
    fraction_bits: int
    bias: int
    largest: float
    has_infinity: bool
    nan_bits: int

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
    DType.FLOAT16: Format(16, 10, 15, 65504.0, True, 0x7E00),
    DType.BFLOAT16: Format(16, 7, 127, 3.3895313892515355e38, True, 0x7FC0),
    DType.FLOAT8_E5M2: Format(8, 2, 15, 57344.0, True, 0x7E),
    DType.FLOAT8_E4M3FN: Format(8, 3, 7, 448.0, False, 0x7F),
}


def round_to(f: Lanes, x: str, dtype: DType) -> str:
    """The value of `dtype` nearest to a float32, as a float32."""
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
        beyond = float("inf") if fmt.has_infinity else float("nan")
        too_large = f.fcmp("ogt", f.call("fabs", rounded), f.const(fmt.largest))
        rounded = f.select(too_large, f.call("copysign", f.const(beyond), x), rounded)
    return f.select(f.fcmp("uno", x, x), x, rounded)


def encode(f: Lanes, x: str, dtype: DType) -> str:
    """The bits, in an integer of the format's width, of a float32 that is a value of `dtype`."""
    fmt = FORMATS[dtype]
    i = f.integer
    narrow = f.like(f"i{fmt.bits}")
    bits = f.to_bits(x)
    sign = i.op("and", i.op("lshr", bits, i.const(32 - fmt.bits)), i.const(fmt.sign_bit))
    size = f.call("fabs", x)
    scaled = size if fmt.bias == 127 else f.mul(size, f.const(1.0 / fmt.scale))
    magnitude = i.op("lshr", f.to_bits(scaled), i.const(fmt.dropped_bits))
    if fmt.has_infinity and fmt.bias != 127:
        infinite = f.fcmp("oeq", size, f.const(float("inf")))
        magnitude = i.select(infinite, i.const(fmt.nan_bits - (1 << (fmt.fraction_bits - 1))), magnitude)
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
    fmt = FORMATS[dtype]
    i = f.integer
    wide = f.like(f"i{fmt.bits}").convert("zext", bits, i)
    if fmt.bias == 127:
        return f.from_bits(i.op("shl", wide, i.const(fmt.dropped_bits)))
    magnitude = i.op("and", wide, i.const(fmt.sign_bit - 1))
    value = f.mul(f.from_bits(i.op("shl", magnitude, i.const(fmt.dropped_bits))), f.const(fmt.scale))
    if fmt.has_infinity:  # what has all exponent bits set became a large number: infinity or NaN with that fraction
        special = i.op("or", f.to_bits(value), i.const(0x7F800000))
        exponent_mask = fmt.nan_bits & ~((1 << fmt.fraction_bits) - 1)
        is_special = i.icmp("uge", magnitude, i.const(exponent_mask))
        value = f.select(is_special, f.from_bits(special), value)
    else:
        value = f.select(i.icmp("eq", magnitude, i.const(fmt.nan_bits)), f.const(float("nan")), value)
    sign = i.op("shl", i.op("and", wide, i.const(fmt.sign_bit)), i.const(32 - fmt.bits))
    return f.from_bits(i.op("or", f.to_bits(value), sign))
