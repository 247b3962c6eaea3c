"""Functions that only run kernels on tensors, one after another: procedures of one region, which need no heap.

    def @main(%x: Tensor[(4, 8), float32]) { nn.softmax(nn.relu(%x)) }

    flat procedure @main(%0:address, %1:address) -> ()
      block0():
        region, arena 128 bytes
          arena[0] = relu(*%0)
          *%1 = softmax(arena[0])
        return

Its parameters are the addresses of arrays: its inputs, then room for its results. Results that a kernel makes are
written where the caller wants them; the others are copied there at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from relay.arith.expr import Symbol
from relay.ir.expr import Call, Constant, Expr, Function, Let, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_type
from relay.ir.sharing import let_chain
from relay.lower.code.blocks import OpenProcedure
from relay.lower.kernels.checked import is_check
from relay.lower.kernels.group import is_of_tensors
from relay.lower.kernels.value_extents import value_extents
from relay.lower.planning.donation import Taking, memory_taken
from relay.lower.planning.kernel_calls import KernelOf
from relay.lower.planning.kernel_line import Around, KernelLine, leaves, nested, stored
from relay.lower.planning.placing import placed
from relay.lower.planning.straight_line import StoredValue
from relay.lower.planning.sub_buffers import write_parts_in_place
from relay.lower.program.place import AddressPlace
from relay.lower.program.procedure import Procedure, Return
from relay.runtime.artefact.manifest import Donation
from relay.transform.devices.flows import result_devices


def is_flat(function: Function) -> bool:
    """Whether a function only runs kernels on tensors, one after another, of extents known when it is entered, and none
    of them is on a device."""
    if result_devices(function):
        return False
    body: Expr = function.body
    while isinstance(body, Let):
        match body.value:
            case Call(op=Function() as callee) if callee.attrs.get("Primitive"):
                if value_extents(callee) is not None or is_check(callee) or result_devices(callee):
                    return False
            case Var() | Constant() | Tuple() | TupleGetItem() if is_of_tensors(body.value.checked_type):
                pass
            case _:
                return False
        body = body.body
    return isinstance(body, (Var, Constant, Tuple)) and all(
        is_of_tensors(each.checked_type) for each in (body, *function.params)
    )


def flat_procedure(
    name: str, function: Function, symbols: Sequence[Symbol], around: Around, kernel_of: KernelOf, apart: bool,
    donated: Collection[int],
) -> tuple[Procedure, tuple[Donation, ...]]:  # fmt: skip
    """The procedure of a function that is flat, and which of its results are in the memory of one of the inputs that
    are `donated`, by position. `apart`: no value is a part of another.

    Raises `RelayError` (rule `not-native-yet`) that names the expression which it cannot hold.
    """
    opened = OpenProcedure(name, results=(), symbols=tuple(symbols), is_flat=True)
    values: dict[Var, StoredValue] = {}
    for each in function.params:
        values[each] = nested(known_type(each), lambda leaf: stored(leaf, AddressPlace(opened.array())))
    line = KernelLine(around, values.__getitem__, lambda type_, _: type_, writes_all=apart)
    lets, result = let_chain(function.body)
    for let in lets:
        line.bind(let.var, let.value, not apart)
    given = [leaf for each in function.params for leaf in leaves(values[each])]
    made = list(leaves(line.value(result)))
    results = [(leaf.storage, AddressPlace(opened.array())) for leaf in made]
    steps = line.steps
    if not apart:
        steps = write_parts_in_place(steps, line.parts, [storage for storage, _ in results])
    taken = memory_taken(steps, line.parts, given, made, kernel_of, donated)
    late = [results[each.output][1] for each in taken if each.how is Taking.LATE]
    there = {each.output for each in taken if each.how is Taking.AS_IT_IS}
    left = [each for position, each in enumerate(results) if position not in there]
    block = opened.block()
    block.add(placed(steps, line.parts, left, kernel_of, {symbol: symbol for symbol in symbols}, late=late))
    block.close(Return(()))
    return opened.closed(), tuple(Donation(each.output, each.input) for each in taken)
