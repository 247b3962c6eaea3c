"""On which device each value of a program is, found by unification.

Values that meet in an operator, in a tuple, as the two sides of a binding or as argument and parameter are on one
device, and so are the branches of a choice. The borders are `on_device` (its result may be elsewhere), `device_copy`,
the condition of an `if`, and constants, which are wherever they are wanted. Functions that are values run on one
device, with all they take and give. What nothing is said of is on the default device.
"""

from __future__ import annotations

from dataclasses import field
from typing import Protocol, cast

from relay.base.diagnostics import Origin, RelayError
from relay.base.disjoint_sets import DisjointSet
from relay.base.frozen import mutable
from relay.infer.unification.explain import describe
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    pattern_vars,
)
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes, children
from relay.ops.device import DeviceCopyAttributes, OnDeviceAttributes, device_kind

PARAM_DEVICES = "param_devices"
RESULT_DEVICE = "result_device"


class Devices(Protocol):
    """The answer: the device of an expression."""

    def of(self, expr: Expr) -> str: ...


@mutable
class _Domain(DisjointSet):
    """A set of values on one device; `why` is the expression that says which."""

    device: str = ""
    why: Expr | None = None


@mutable
class _Signature:
    """Of a function that is called by name or in place: each parameter and the result."""

    params: list[_Domain]
    result: _Domain


@mutable
class DeviceDomains:
    """The devices of all values of a module. Raises `RelayError`: `device-conflict`, `bad-device`."""

    module: IRModule
    default: str
    _domains: dict[Expr, _Domain] = field(default_factory=dict)
    _globals: dict[GlobalVar, _Signature] = field(default_factory=dict)
    _known: dict[Var, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, function in self.module.functions.items():
            self._globals[name] = _Signature([self._domain(p) for p in function.params], self._domain(function.body))
            self._read_attributes(name, function)
        for function in self.module.functions.values():
            if "Compiler" not in function.attrs:
                self._walk(function)

    def of(self, expr: Expr) -> str:
        """The device of an expression."""
        return self._domain(expr).root().device or self.default

    def _domain(self, expr: Expr) -> _Domain:
        if isinstance(expr, Constant | Constructor):
            return _Domain()  # each use has its own
        known = self._domains.get(expr)
        if known is None:
            known = self._domains[expr] = _Domain()
        return known

    def _read_attributes(self, name: GlobalVar, function: Function) -> None:
        params, result = function.attrs.get(PARAM_DEVICES), function.attrs.get(RESULT_DEVICE)
        given = params if isinstance(params, tuple) else ()
        for domain, device in zip(self._globals[name].params, given, strict=False):
            self._place(domain, str(device), function)
        if isinstance(result, str):
            self._place(self._globals[name].result, result, function)

    def _walk(self, function: Function) -> None:
        nodes = body_nodes(function)
        self._known.update((n.var, n.value) for n in nodes if isinstance(n, Let) and isinstance(n.value, Function))
        called = {node.op for node in nodes if isinstance(node, Call)}
        called |= {node.value for node in nodes if isinstance(node, Let)}
        for node in nodes:
            match node:
                case Function() if node not in called:
                    self._one(node, [*node.params, node.body])
                case Call():
                    self._call(node)
                case Let(var, value, body):
                    if not isinstance(value, Function):
                        self._one(node, [], (var, value))
                    self._one(node, [body])
                case If(_, true_branch, false_branch):
                    self._one(node, [true_branch, false_branch])
                case Match(data, clauses):
                    for clause in clauses:
                        self._one(node, [], (data, *pattern_vars(clause.lhs)))
                        self._one(node, [clause.rhs])
                case Tuple() | TupleGetItem() | RefCreate() | RefRead() | RefWrite():
                    self._one(node, list(children(node)))
                case _:
                    pass
            self._values(node)

    def _values(self, node: Expr) -> None:
        """Functions with names that stand where a value does."""
        parts = node.args if isinstance(node, Call) else children(node)
        for part in parts:
            if isinstance(part, GlobalVar) and part in self._globals:
                signature = self._globals[part]
                for each in (*signature.params, signature.result):
                    self._unify(self._domain(part), each, node)
            elif isinstance(part, Var) and part in self._known:
                self._one(node, [], (part, *self._known[part].params, self._known[part].body))

    def _call(self, call: Call) -> None:
        match call:
            case Call(op=Op(), args=(data,), attrs=OnDeviceAttributes() as attributes):
                device_kind(attributes.device, call.span)
                if attributes.constrain_body:
                    self._place(self._domain(data), attributes.device, call)
                if attributes.constrain_result:
                    self._place(self._domain(call), attributes.device, call)
            case Call(op=Op(), args=(data,), attrs=DeviceCopyAttributes(source, destination)):
                device_kind(source, call.span)
                device_kind(destination, call.span)
                self._place(self._domain(data), source, call)
                self._place(self._domain(call), destination, call)
            case Call(op=GlobalVar() as name, args=args) if name in self._globals:
                self._apply(call, self._globals[name], args)
            case Call(op=Function() as function, args=args):
                self._apply(call, self._signature(function), args)
            case Call(op=Var() as var, args=args) if var in self._known:
                self._apply(call, self._signature(self._known[var]), args)
            case Call(op=Var() as callee, args=args):
                self._one(call, [callee, *args])
            case _:
                self._one(call, list(call.args))

    def _signature(self, function: Function) -> _Signature:
        return _Signature([self._domain(param) for param in function.params], self._domain(function.body))

    def _apply(self, call: Call, callee: _Signature, args: tuple[Expr, ...]) -> None:
        for argument, param in zip(args, callee.params, strict=True):
            self._unify(self._domain(argument), param, call)
        self._unify(self._domain(call), callee.result, call)

    def _one(self, node: Expr, parts: list[Expr], others: tuple[Expr, ...] = ()) -> None:
        """`parts` are on the device of `node`; `others` on one device."""
        for part in parts:
            self._unify(self._domain(node), self._domain(part), node)
        for part in others[1:]:
            self._unify(self._domain(others[0]), self._domain(part), node)

    def _place(self, domain: _Domain, device: str, why: Expr) -> None:
        self._unify(domain, _Domain(device, why), why)

    def _unify(self, left: _Domain, right: _Domain, where: Expr) -> None:
        left, right = left.root(), right.root()
        if left is right:
            return
        if left.device and right.device and left.device != right.device:
            raise _conflict(left, right, where)
        if not left.device:
            left.device, left.why = right.device, right.why
        left.join(right)


def _conflict(left: _Domain, right: _Domain, where: Expr) -> RelayError:
    sides = [Origin("it", each.device, describe(cast(Expr, each.why))) for each in (left, right)]
    return RelayError(
        rule="device-conflict",
        message=f"one value would have to be on {left.device} and on {right.device}",
        span=where.span,
        origins=tuple(sides),
        expected="one device for all that an operator, a tuple or a function with its callers brings together",
        remedy="put relay.annotation.on_device around what one of them uses: its result may be copied elsewhere",
    )
