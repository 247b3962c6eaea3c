"""Transcendental functions on any number of lanes.

float32, largest error in units of the last place (measured by the tests): exp, log, sin, cos 2; tanh, sigmoid, erf and
the rest 4. exp, log, tanh, sigmoid and erf are computed in float32; those seldom met (powers, logarithms to other
bases, hyperbolic functions and their inverses) through float64, by the textbook formula. float64: exp and log 2, tanh
and sigmoid 4; the others call the C library lane by lane.

Infinities, NaN, signed zeros, denormal arguments and results are as IEEE 754 and C have them. Nothing here depends on
the width of registers, and on fused multiply-add only for speed.
"""

from __future__ import annotations

from collections.abc import Callable

from relay.base.diagnostics import CompilerBug
from relay.targets.cpu.emit.numbers import polynomials as p
from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.numbers.libm import call_libm
from relay.tir.expr import UnaryOp

Formula = Callable[[Lanes, str], str]

SIN_COS_LIMIT = 500_000.0  # beyond it the quotient by π/2 no longer multiplies exactly: the C library takes over


def emit_transcendental(f: Lanes, op: UnaryOp, x: str) -> str:
    """`op(x)` for float32 or float64 lanes."""
    table = _FLOAT32 if f.element == "float" else _FLOAT64
    if op in table:
        return table[op](f, x)
    if f.element == "double" and op in _LIBM:
        return call_libm(f, _LIBM[op], x)
    raise CompilerBug("emit", f"`{op}` is not a transcendental function")


def exp(f: Lanes, x: str) -> str:
    """e^x = 2^n · e^r with n the integer nearest to x / ln 2. Adding 1.5·2^(fraction bits) rounds to that integer and
    leaves it in the low bits."""
    single = f.element == "float"
    x = f.clamp_below(f.clamp_above(x, 89.0 if single else 710.0), -104.5 if single else -746.0)
    magic = f.const(1.5 * 2.0 ** (23 if single else 52))
    shifted = f.fma(x, f.const(p.LOG2_E), magic)
    n = f.sub(shifted, magic)
    high, low = (p.LN2_HIGH_32, p.LN2_LOW_32) if single else (p.LN2_HIGH_64, p.LN2_LOW_64)
    r = f.fma(n, f.const(-high), x)
    r = f.fma(n, f.const(-low), r)
    tail = f.polynomial(r, p.EXP_32 if single else p.EXP_64)
    value = f.add(f.fma(tail, f.mul(r, r), r), f.const(1.0))
    scaled = f.scale(value, n)
    if scaled is not None:
        return scaled
    i = f.integer
    return _times_power_of_two(f, value, i.op("sub", f.to_bits(shifted), f.to_bits(magic)))


def _times_power_of_two(f: Lanes, value: str, n: str) -> str:
    """`value · 2^n` in two steps, as 2^n alone may be out of range although the product is not. Rounds once."""
    i = f.integer
    half = i.op("ashr", n, i.const(1))
    return f.mul(f.mul(value, _power_of_two(f, half)), _power_of_two(f, i.op("sub", n, half)))


def _power_of_two(f: Lanes, n: str) -> str:
    i = f.integer
    fraction_bits, bias = (23, 127) if f.element == "float" else (52, 1023)
    return f.from_bits(i.op("shl", i.op("add", n, i.const(bias)), i.const(fraction_bits)))


def log(f: Lanes, x: str) -> str:
    """log(2^n · (1 + f)) = n·ln 2 + log(1 + f) with √½ ≤ 1 + f < √2."""
    single = f.element == "float"
    fraction_bits, smallest = (23, 2.0**-126) if single else (52, 2.0**-1022)
    i = f.integer
    denormal = f.fcmp("olt", x, f.const(smallest))
    scaled = f.select(denormal, f.mul(x, f.const(2.0**fraction_bits)), x)
    # the bits of √½ are taken away so that the exponent field changes at √½ and not at 1
    offset = i.op("sub", f.to_bits(scaled), f.to_bits(f.const(p.SQRT_HALF)))
    n = i.op("ashr", offset, i.const(fraction_bits))
    mantissa = i.op("sub", f.to_bits(scaled), i.op("shl", n, i.const(fraction_bits)))
    n = i.op("sub", n, i.select(denormal, i.const(fraction_bits), i.const(0)))
    nf = i.convert("sitofp", n, f)
    g = f.sub(f.from_bits(mantissa), f.const(1.0))
    half_square = f.mul(f.mul(g, g), f.const(0.5))
    if single:
        cube = f.mul(f.mul(g, g), g)
        tail = f.fma(nf, f.const(p.LN2_LOW_32), f.mul(cube, f.polynomial(g, p.LOG_32)))
        value = f.add(g, f.sub(tail, half_square))
        result = f.fma(nf, f.const(p.LN2_HIGH_32), value)
    else:
        s = f.div(g, f.add(f.const(2.0), g))
        z = f.mul(s, s)
        rest = f.mul(z, f.polynomial(z, p.LOG_64))
        low = f.fma(s, f.add(half_square, rest), f.mul(nf, f.const(p.LN2_LOW_64)))
        result = f.fma(nf, f.const(p.LN2_HIGH_64), f.sub(g, f.sub(half_square, low)))
    infinity, zero = f.const(float("inf")), f.const(0.0)
    result = f.select(f.fcmp("ueq", x, infinity), x, result)  # infinity, and NaN as it came
    result = f.select(f.fcmp("oeq", x, zero), f.const(float("-inf")), result)
    return f.select(f.fcmp("olt", x, zero), f.const(float("nan")), result)


def sigmoid(f: Lanes, x: str) -> str:
    """1 / (1 + e^-x), as e^x / (1 + e^x) on the left, where e^-x would overflow before the result is 0."""
    one = f.const(1.0)
    e = exp(f, f.neg(f.call("fabs", x)))
    numerator = f.select(f.fcmp("olt", x, f.const(0.0)), e, one)
    return f.div(numerator, f.add(one, e))


def tanh(f: Lanes, x: str) -> str:
    """An odd function of small arguments, else 1 - 2 / (e^2|x| + 1), which is then exact enough."""
    size = f.call("fabs", x)
    z = f.mul(x, x)
    if f.element == "float":
        tail, limit = f.polynomial(z, p.TANH_32), 0.9
    else:
        tail, limit = f.div(f.polynomial(z, p.TANH_64_P), f.polynomial(z, p.TANH_64_Q)), 0.625
    near = f.fma(f.mul(x, z), tail, x)
    one = f.const(1.0)
    far = f.sub(one, f.div(f.const(2.0), f.add(exp(f, f.add(size, size)), one)))
    return f.select(f.fcmp("olt", size, f.const(limit)), near, f.call("copysign", far, x))


def erf_32(f: Lanes, x: str) -> str:
    """An odd polynomial up to 1, else 1 minus a polynomial for what is missing to 1, which needs fewer digits."""
    size = f.call("fabs", x)
    near = f.fma(x, f.polynomial(f.mul(x, x), p.ERF_32_NEAR), x)
    t = f.sub(f.clamp_above(size, 3.92), f.const(2.46))
    far = f.sub(f.const(1.0), f.polynomial(t, p.ERF_32_FAR))
    return f.select(f.fcmp("olt", size, f.const(1.0)), near, f.call("copysign", far, x))


def sin(f: Lanes, x: str) -> str:
    sine, cosine, quadrant = _sin_cos(f, x)
    return _beyond_limit(f, "sinf", x, _by_quadrant(f, sine, cosine, quadrant))


def cos(f: Lanes, x: str) -> str:
    sine, cosine, quadrant = _sin_cos(f, x)
    i = f.integer
    return _beyond_limit(f, "cosf", x, _by_quadrant(f, sine, cosine, i.op("add", quadrant, i.const(1))))


def tan(f: Lanes, x: str) -> str:
    sine, cosine, quadrant = _sin_cos(f, x)
    odd = _is_odd(f, quadrant)
    above = f.select(odd, f.neg(cosine), sine)
    below = f.select(odd, sine, cosine)
    return _beyond_limit(f, "tanf", x, f.div(above, below))


def _sin_cos(f: Lanes, x: str) -> tuple[str, str, str]:
    """sin r, cos r and the quadrant of x = quadrant·π/2 + r. The reduction is in float64, where it loses nothing."""
    d = f.like("double")
    wide = f.convert("fpext", x, d)
    magic = d.const(1.5 * 2.0**52)
    shifted = d.add(d.mul(wide, d.const(1.0 / p.HALF_PI)), magic)
    n = d.sub(shifted, magic)
    r = d.fma(n, d.const(-p.HALF_PI_HIGH), wide)
    r = d.convert("fptrunc", d.fma(n, d.const(-p.HALF_PI_LOW), r), f)
    i = f.integer
    quadrant = d.integer.convert("trunc", d.to_bits(shifted), i)
    z = f.mul(r, r)
    sine = f.fma(f.mul(r, z), f.polynomial(z, p.SIN_32), r)
    square = f.mul(z, z)
    cosine = f.fma(square, f.polynomial(z, p.COS_32), f.fma(z, f.const(-0.5), f.const(1.0)))
    return sine, cosine, quadrant


def _is_odd(f: Lanes, quadrant: str) -> str:
    i = f.integer
    return i.icmp("ne", i.op("and", quadrant, i.const(1)), i.const(0))


def _by_quadrant(f: Lanes, sine: str, cosine: str, quadrant: str) -> str:
    i = f.integer
    size = f.select(_is_odd(f, quadrant), cosine, sine)
    sign = i.op("shl", i.op("and", quadrant, i.const(2)), i.const(30))
    return f.from_bits(i.op("xor", f.to_bits(size), sign))


def _beyond_limit(f: Lanes, name: str, x: str, value: str) -> str:
    """The C library's result where the argument is too large for the reduction; the call is made only if a lane is."""
    large = f.fcmp("ogt", f.call("fabs", x), f.const(SIN_COS_LIMIT))
    return call_libm(f, name, x, where=large, otherwise=value)


def atan(f: Lanes, x: str) -> str:
    """Around 0 for |x| ≤ tan π/8, around 1 up to tan 3π/8, else around infinity."""
    size = f.call("fabs", x)
    one, zero = f.const(1.0), f.const(0.0)
    large = f.fcmp("ogt", size, f.const(2.414213562373095))
    middle = f.fcmp("ogt", size, f.const(0.4142135623730951))
    above = f.select(large, f.const(-1.0), f.select(middle, f.sub(size, one), size))
    below = f.select(large, size, f.select(middle, f.add(size, one), one))
    base = f.select(large, f.const(p.HALF_PI), f.select(middle, f.const(p.QUARTER_PI), zero))
    t = f.div(above, below)
    z = f.mul(t, t)
    value = f.add(base, f.fma(f.mul(t, z), f.polynomial(z, p.ATAN_32), t))
    return f.call("copysign", value, x)


def _asin_core(f: Lanes, t: str) -> str:
    z = f.mul(t, t)
    return f.fma(f.mul(t, z), f.polynomial(z, p.ASIN_32), t)


def _asin_parts(f: Lanes, x: str) -> tuple[str, str, str]:
    """|x|, where it is above ½, and asin of |x| or, above ½, of √((1 - |x|)/2)."""
    size = f.call("fabs", x)
    large = f.fcmp("ogt", size, f.const(0.5))
    root = f.call("sqrt", f.mul(f.sub(f.const(1.0), size), f.const(0.5)))
    return size, large, _asin_core(f, f.select(large, root, size))


def asin(f: Lanes, x: str) -> str:
    """asin x = π/2 - 2·asin √((1 - x)/2) for x > ½."""
    _, large, core = _asin_parts(f, x)
    value = f.select(large, f.fma(core, f.const(-2.0), f.const(p.HALF_PI)), core)
    return f.call("copysign", value, x)


def acos(f: Lanes, x: str) -> str:
    """acos x = 2·asin √((1 - x)/2) for x > ½, π minus that of -x for x < -½, else π/2 - asin x."""
    _, large, core = _asin_parts(f, x)
    negative = f.fcmp("olt", x, f.const(0.0))
    twice = f.add(core, core)
    outer = f.select(negative, f.sub(f.const(2 * p.HALF_PI), twice), twice)
    inner = f.sub(f.const(p.HALF_PI), f.call("copysign", core, x))
    return f.select(large, outer, inner)


def _log2_64(d: Lanes, x: str) -> str:
    return d.mul(log(d, x), d.const(p.LOG2_E))


def _log10_64(d: Lanes, x: str) -> str:
    return d.mul(log(d, x), d.const(0.4342944819032518))


def _sinh_64(d: Lanes, x: str) -> str:
    e = exp(d, x)
    far = d.mul(d.sub(e, d.div(d.const(1.0), e)), d.const(0.5))
    return _near_zero(d, x, 1.0 / 6.0, far)


def _cosh_64(d: Lanes, x: str) -> str:
    e = exp(d, x)
    return d.mul(d.add(e, d.div(d.const(1.0), e)), d.const(0.5))


def _asinh_64(d: Lanes, x: str) -> str:
    size = d.call("fabs", x)
    far = log(d, d.add(size, d.call("sqrt", d.add(d.mul(x, x), d.const(1.0)))))
    return _near_zero(d, x, -1.0 / 6.0, d.call("copysign", far, x))


def _acosh_64(d: Lanes, x: str) -> str:
    one = d.const(1.0)
    return log(d, d.add(x, d.mul(d.call("sqrt", d.sub(x, one)), d.call("sqrt", d.add(x, one)))))


def _atanh_64(d: Lanes, x: str) -> str:
    one = d.const(1.0)
    far = d.mul(log(d, d.div(d.add(one, x), d.sub(one, x))), d.const(0.5))
    return _near_zero(d, x, 1.0 / 3.0, far)


def _near_zero(d: Lanes, x: str, third: float, far: str) -> str:
    """x + third·x³ where |x| < 10⁻³, where the formula for the rest loses digits."""
    near = d.fma(d.mul(d.mul(x, x), x), d.const(third), x)
    return d.select(d.fcmp("olt", d.call("fabs", x), d.const(1e-3)), near, far)


def emit_power(f: Lanes, x: str, y: str) -> str:
    """x to the power y, with the special cases of C's `pow` (C17, F.10.4.4)."""
    if f.element == "double":
        return call_libm(f, "pow", x, y)
    d = f.like("double")
    size = f.convert("fpext", f.call("fabs", x), d)
    product = d.mul(f.convert("fpext", y, d), log(d, size))
    value = d.convert("fptrunc", exp(d, product), f)
    zero, one, infinity = f.const(0.0), f.const(1.0), f.const(float("inf"))
    whole = f.fcmp("oeq", f.call("trunc", y), y)
    halved = f.mul(y, f.const(0.5))
    odd = f.like("i1").op("and", whole, f.fcmp("une", f.call("trunc", halved), halved))
    value = f.select(odd, f.call("copysign", value, x), value)
    negative = f.like("i1").op("and", f.fcmp("olt", x, zero), f.fcmp("ogt", x, f.neg(infinity)))
    broken = f.like("i1").op("and", negative, f.fcmp("une", f.call("trunc", y), y))
    value = f.select(broken, f.const(float("nan")), value)
    bits = f.like("i1")
    unit_base = bits.op("and", f.fcmp("oeq", f.call("fabs", x), one), f.fcmp("oeq", f.call("fabs", y), infinity))
    is_one = bits.op("or", f.fcmp("oeq", x, one), bits.op("or", f.fcmp("oeq", y, zero), unit_base))
    return f.select(is_one, one, value)


def _through_64(formula: Formula) -> Formula:
    """The float32 function that a float64 formula rounds to."""

    def run(f: Lanes, x: str) -> str:
        d = f.like("double")
        return d.convert("fptrunc", formula(d, f.convert("fpext", x, d)), f)

    return run


_FLOAT32: dict[UnaryOp, Formula] = {
    UnaryOp.EXP: exp, UnaryOp.LOG: log, UnaryOp.SIGMOID: sigmoid, UnaryOp.TANH: tanh, UnaryOp.ERF: erf_32,
    UnaryOp.SIN: sin, UnaryOp.COS: cos, UnaryOp.TAN: tan, UnaryOp.ASIN: asin, UnaryOp.ACOS: acos, UnaryOp.ATAN: atan,
    UnaryOp.LOG2: _through_64(_log2_64), UnaryOp.LOG10: _through_64(_log10_64),
    UnaryOp.SINH: _through_64(_sinh_64), UnaryOp.COSH: _through_64(_cosh_64),
    UnaryOp.ASINH: _through_64(_asinh_64), UnaryOp.ACOSH: _through_64(_acosh_64),
    UnaryOp.ATANH: _through_64(_atanh_64),
}  # fmt: skip
_FLOAT64: dict[UnaryOp, Formula] = {UnaryOp.EXP: exp, UnaryOp.LOG: log, UnaryOp.SIGMOID: sigmoid, UnaryOp.TANH: tanh}
_LIBM = {
    UnaryOp.LOG2: "log2", UnaryOp.LOG10: "log10", UnaryOp.ERF: "erf", UnaryOp.SIN: "sin", UnaryOp.COS: "cos",
    UnaryOp.TAN: "tan", UnaryOp.ASIN: "asin", UnaryOp.ACOS: "acos", UnaryOp.ATAN: "atan", UnaryOp.SINH: "sinh",
    UnaryOp.COSH: "cosh", UnaryOp.ASINH: "asinh", UnaryOp.ACOSH: "acosh", UnaryOp.ATANH: "atanh",
}  # fmt: skip
