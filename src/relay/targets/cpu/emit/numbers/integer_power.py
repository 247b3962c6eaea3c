"""Wrapping integer power by repeated squaring, as a function of the module: as many turns as the exponent has bits."""

from __future__ import annotations

from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.numbers.typenames import mangled, vector_of

_TEMPLATE = """\
define internal {t} @{name}({t} %base, {t} %exponent) nounwind noinline memory(none) {{
entry:
  br label %next
next:
  %result = phi {t} [ {one}, %entry ], [ %result.next, %next ]
  %square = phi {t} [ %base, %entry ], [ %square.next, %next ]
  %rest = phi {t} [ %exponent, %entry ], [ %rest.next, %next ]
  %low = and {t} %rest, {one}
  %odd = icmp ne {t} %low, {zero}
  %product = mul {t} %result, %square
  %result.next = select {mask} %odd, {t} %product, {t} %result
  %square.next = mul {t} %square, %square
  %rest.next = lshr {t} %rest, {one}
  %left = icmp ne {t} %rest.next, {zero}
  %more = {any_left}
  br i1 %more, label %next, label %done
done:
  ret {t} %result.next
}}
"""


def call_unsigned_power(i: Lanes, base: str, exponent: str) -> str:
    """`base ** exponent`, wrapping, with the exponent taken as unsigned."""
    module = i.function.module
    mask = vector_of("i1", i.lanes)
    any_left = "or i1 %left, false"
    if i.lanes > 1:
        reduce = f"llvm.vector.reduce.or.v{i.lanes}i1"
        module.declare(reduce, f"i1 @{reduce}({mask})")
        any_left = f"call i1 @{reduce}({mask} %left)"
    name = f"relay.power.{mangled(i.element, i.lanes)}"
    module.helpers.setdefault(
        name,
        _TEMPLATE.format(t=i.type, name=name, one=i.const(1), zero=i.const(0), mask=mask, any_left=any_left),
    )
    return i.function.op(f"call {i.type} @{name}({i.type} {base}, {i.type} {exponent})")
