"""Functions of the C library applied lane by lane, out of line: for what is rare or wants all of float64's digits."""

from __future__ import annotations

from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.numbers.typenames import mangled, vector_of


def call_libm(f: Lanes, name: str, *operands: str, where: str | None = None, otherwise: str = "") -> str:
    """`name(*operands)` in each lane; with `where`, only in the lanes of that mask, the others being `otherwise`.

    The loop over lanes is a function of the module, called only if the mask has a lane set.
    """
    function = f.function
    if where is None:
        helper = _every_lane(f, name, len(operands))
        arguments = ", ".join(f"{f.type} {operand}" for operand in operands)
        return function.op(f"call {f.type} @{helper}({arguments})")
    helper = _some_lanes(f, name)
    any_lane = where
    if f.lanes > 1:
        reduce = f"llvm.vector.reduce.or.v{f.lanes}i1"
        function.module.declare(reduce, f"i1 @{reduce}(<{f.lanes} x i1>)")
        any_lane = function.op(f"call i1 @{reduce}(<{f.lanes} x i1> {where})")
    slow, after = function.label("libm"), function.label("endlibm")
    before = function.block
    function.branch(any_lane, slow, after)
    function.start_block(slow)
    mask = vector_of("i1", f.lanes)
    called = function.impure(f"call {f.type} @{helper}({mask} {where}, {f.type} {otherwise}, {f.type} {operands[0]})")
    function.jump(after)
    function.start_block(after)
    return function.impure(f"phi {f.type} [ {otherwise}, %{before} ], [ {called}, %{slow} ]")


def _every_lane(f: Lanes, name: str, arity: int) -> str:
    """The name of a function of vectors that applies `name` to every lane."""
    module = f.function.module
    scalars = ", ".join([f.element] * arity)
    module.declare(name, f"{f.element} @{name}({scalars}) nounwind memory(none)")
    if f.lanes == 1:
        return name
    helper = f"relay.{name}.{mangled(f.element, f.lanes)}"
    if helper not in module.helpers:
        parameters = ", ".join(f"{f.type} %x{position}" for position in range(arity))
        lines = [f"define internal {f.type} @{helper}({parameters}) nounwind noinline memory(none) {{"]
        result = "poison"
        for lane in range(f.lanes):
            arguments: list[str] = []
            for position in range(arity):
                lines.append(f"  %a{lane}.{position} = extractelement {f.type} %x{position}, i64 {lane}")
                arguments.append(f"{f.element} %a{lane}.{position}")
            lines.append(f"  %c{lane} = call {f.element} @{name}({', '.join(arguments)})")
            lines.append(f"  %r{lane} = insertelement {f.type} {result}, {f.element} %c{lane}, i64 {lane}")
            result = f"%r{lane}"
        module.helpers[helper] = "\n".join([*lines, f"  ret {f.type} {result}", "}\n"])
    return helper


def _some_lanes(f: Lanes, name: str) -> str:
    """The name of a function (mask, otherwise, x) that applies `name` to the lanes of the mask."""
    module = f.function.module
    every = _every_lane(f, name, 1)
    helper = f"relay.{name}.where.{mangled(f.element, f.lanes)}"
    if helper not in module.helpers:
        mask = vector_of("i1", f.lanes)
        module.helpers[helper] = (
            f"define internal {f.type} @{helper}({mask} %mask, {f.type} %otherwise, {f.type} %x) "
            f"nounwind noinline memory(none) {{\n"
            f"  %all = call {f.type} @{every}({f.type} %x)\n"
            f"  %chosen = select {mask} %mask, {f.type} %all, {f.type} %otherwise\n"
            f"  ret {f.type} %chosen\n}}\n"
        )
    return helper
