"""Give kernels to a device: runs of those that it takes become regions, each of which runs there as a whole.

    before: let %1 = fn (%p) { nn.relu(%p) }(%x); let %2 = fn (%p) { exp(%p) }(%1); let %3 = @f(%2); %3
    after:  let %2 = fn (%x, Primitive=1, Device="gpu:0", name="region_relu_exp") {
              let %1 = fn (%p) { nn.relu(%p) }(%x); let %2 = fn (%p) { exp(%p) }(%1); %2
            }(%x);
            let %3 = @f(%2); %3

The module is fused and in A-normal form. A region begins with a kernel that the device takes, and grows by all that
follow it, until something uses a value of the region that cannot be part of it; what uses none of its values runs
before it. So regions are as few as the order of the program allows without moving a kernel over one that it needs.

Parameters and results of regions are tensors, of extents that the parameters tell. A kernel that may fail, as where an
index lies outside, is the host's: a device tells of no failures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.infer.eager import typed_by_parts
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Constant, Expr, Function, Let, Op, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rebuild_typed, rewrite_nodes, typed_as, with_lets
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes, children
from relay.ir.type_traversal import has_unknown_dimension, type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.ir.variables import free_vars
from relay.transform.devices.flows import DEVICE, only_reshapes

TARGET = "Target"
"""The attribute of a region's kernels: the kind of device that they are made for."""

DeviceOf: TypeAlias = Callable[[Function], str | None]
"""The device ("gpu:0") that takes a primitive function; None where the host runs it."""


def offload(module: IRModule, device_of: DeviceOf) -> IRModule:
    """The module with regions of the primitive functions that devices take."""
    names = FreshNames()
    return module.with_functions(
        {name: _offloaded(function, device_of, names) for name, function in module.functions.items()}
    )


def _offloaded(function: Function, device_of: DeviceOf, names: FreshNames) -> Function:
    inner = {node.body for node in body_nodes(function) if isinstance(node, Let) and isinstance(node.body, Let)}

    def step(node: Expr, rebuilt: Expr) -> Expr:
        if isinstance(node, Function) and node.attrs.get("Primitive"):
            return node  # a kernel or a region, which nobody looks into
        if not isinstance(node, Let) or node in inner:
            return rebuilt
        lets, result = let_chain(rebuilt)
        chain = _Chain(device_of, names)
        for let in lets:
            chain.bind(let)
        return chain.closed(result)

    return rewrite_nodes(function, step)


@mutable
class _Chain:
    """A chain of lets while it is made anew. `waiting` are the lets of the open region, `held` their variables."""

    device_of: DeviceOf
    names: FreshNames
    device: str = ""
    done: list[tuple[Var, Expr]] = field(default_factory=list)
    waiting: list[Let] = field(default_factory=list)
    held: set[Var] = field(default_factory=set)
    later: list[tuple[list[Let], int, str]] = field(default_factory=list)

    def bind(self, let: Let) -> None:
        device = self._device(let.value)
        if device is not None:
            if device != self.device:
                self._close()
            self.device = device
            self.waiting.append(let)
            self.held.add(let.var)
            return
        if self.held.intersection(free_vars(let.value)):
            self._close()
        self.done.append((let.var, let.value))

    def _device(self, value: Expr) -> str | None:
        """The device of whose region a binding can be part."""
        match value:
            case Call(op=Function() as function, args=(Var() as data, *_)) if only_reshapes(function):
                return self.device if data in self.held else None
            case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
                is_open = DEVICE not in function.attrs and TARGET not in function.attrs
                return self.device_of(function) if is_open and _is_told(function, args) else None
            case TupleGetItem(Var() as whole):
                return self.device if whole in self.held else None
            case _:
                return None

    def _close(self) -> None:
        """The region is done: it is called here. Its results are those of its values that may be used elsewhere, which
        `closed` finds out."""
        self.later.append((self.waiting, len(self.done), self.device))
        self.waiting, self.held = [], set()

    def closed(self, result: Expr) -> Expr:
        """The whole chain, from its end."""
        self._close()
        body = result
        used = set(free_vars(result))
        end = len(self.done)
        for lets, start, device in reversed(self.later):
            between = self.done[start:end]
            body = with_lets(between, body)
            used.update(var for _, value in between for var in free_vars(value))
            end = start
            if any(let.var in used for let in lets):  # else nobody wants what it makes
                bound = self._region(lets, used, device)
                body = with_lets(bound, body)
                used.update(free_vars(bound[0][1]))
        return with_lets(self.done[:end], body)

    def _region(self, lets: list[Let], used: set[Var], device: str) -> list[tuple[Var, Expr]]:
        """What is bound to the call of a region, and to its results."""
        results = [let.var for let in lets if let.var in used]
        inside = {let.var: _alike(let.var) for let in lets}
        read = dict.fromkeys(part for let in lets for part in children(let.value) if isinstance(part, Var))
        params = {each: _alike(each) for each in read if each not in inside}
        new = {**params, **inside}
        values = [
            rebuild_typed(let.value, [_inside(part, new, device) for part in children(let.value)]) for let in lets
        ]
        given_back = tuple(inside[each] for each in results)
        body: Expr = given_back[0] if len(given_back) == 1 else typed_by_parts(Tuple(given_back))
        given = known_type(body)
        body = with_lets([(inside[let.var], value) for let, value in zip(lets, values, strict=True)], body)
        stems = filter(None, (_stem(let.value) for let in lets))
        name = self.names.take("_".join(("region", *stems))[:60])
        attrs = {"Primitive": 1, DEVICE: device, "name": name}
        function = typed_by_parts(Function(tuple(params.values()), body, given, attrs=attrs))
        call = typed_by_parts(Call(function, tuple(params), span=lets[-1].value.span))
        if len(results) == 1:
            return [(results[0], call)]
        together = typed_var(name, given)
        fields = [typed_by_parts(TupleGetItem(together, index)) for index in range(len(results))]
        return [(together, call), *zip(results, fields, strict=True)]


def _inside(part: Expr, new: Mapping[Var, Var], device: str) -> Expr:
    """A part of what a region binds: its own variables, and kernels that say who makes them."""
    match part:
        case Var():
            return new[part]
        case Function():
            return typed_as(part.with_attr(TARGET, device.partition(":")[0]), part)
        case _:
            return part


def _alike(var: Var) -> Var:
    return typed_var(var.name_hint, known_type(var))


def _stem(value: Expr) -> str:
    """What a kernel is called."""
    return str(value.op.attrs.get("name", "")) if isinstance(value, Call) and isinstance(value.op, Function) else ""


def _is_told(function: Function, args: Sequence[Expr]) -> bool:
    """Whether a kernel takes and gives tensors, all of whose extents its arguments tell, and cannot fail."""
    types = [known_type(argument) for argument in args]
    if not all(isinstance(argument, Var | Constant) for argument in args):
        return False
    if not all(isinstance(each, TensorType) for each in types) or not _are_tensors(function.body.checked_type):
        return False
    told = {symbol for each in (*types, *map(known_type, function.params)) for symbol in type_symbols(each)}
    for node in body_nodes(function):
        if isinstance(node, Op) and node.operator.effect is Effect.MAY_FAIL:
            return False
        type_ = node.checked_type
        attributes = node.attrs if isinstance(node, Call) else None
        used = [*(() if type_ is None else type_symbols(type_)), *(attribute_symbols(attributes) if attributes else ())]
        if not told.issuperset(used) or (type_ is not None and has_unknown_dimension(type_)):
            return False
    return True


def _are_tensors(type_: Type | None) -> bool:
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    return all(isinstance(each, TensorType) for each in fields)
