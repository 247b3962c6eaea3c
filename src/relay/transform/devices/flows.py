"""Where tensors are made and used, and how they get from there to there: what a module with regions for devices says.

Only tensors with axes are followed, and only where every way they may go is known: through bindings, views and the
results of regions (*derived*: in the same memory), and as arguments and results of functions that are called by name,
and values of choices (*handed on*: whoever hands on may copy). All else is made on the host, or used there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, Union

from relay.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    Tuple,
    TupleGetItem,
    Var,
    pattern_vars,
)
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.sharing import let_chain
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType, TupleType, Type
from relay.ir.variables import free_vars
from relay.ops.record import OperatorRecord
from relay.transform.devices.device_domains import PARAM_DEVICES

DEVICE = "Device"
"""The attribute of a region: the device that it runs on."""
RESULT_DEVICES = "result_devices"
"""The attribute of a region, or of a function that is called by name: where each tensor of its result is.
`PARAM_DEVICES` says so of its parameters. Without them all are on the host."""
HOST = "host"
MOST_RESULTS = 8
"""A region with more results has them on the host: they are a tuple that is made."""

Key: TypeAlias = Union[Var, tuple[Var, int], GlobalVar]
"""A variable, a field of a region's result, or the result of a function."""


def param_devices(function: Function) -> tuple[str, ...]:
    """Where each parameter of a function is."""
    return _told(function, PARAM_DEVICES) or (HOST,) * len(function.params)


def result_devices(function: Function) -> tuple[str, ...]:
    """Where each tensor of a function's result is; empty where all are on the host."""
    return _told(function, RESULT_DEVICES)


def _told(function: Function, attribute: str) -> tuple[str, ...]:
    given = function.attrs.get(attribute)
    return tuple(map(str, given)) if isinstance(given, tuple) else ()


def is_followed(type_: Type | None) -> bool:
    """Whether values of a type may be on a device between regions: scalars are held in registers of the host's."""
    return isinstance(type_, TensorType) and bool(type_.shape)


def only_reshapes(function: Function) -> bool:
    """Whether a primitive function gives its first parameter another shape, and does nothing else."""
    expr = function.body
    while isinstance(expr, Call) and isinstance(expr.op, Op) and isinstance(expr.op.operator, OperatorRecord):
        if not expr.op.operator.is_view or expr.op.operator.effect is Effect.MAY_FAIL:
            break
        expr = expr.args[0]
    return expr is not function.body and bool(function.params) and expr is function.params[0]


@dataclass(slots=True, eq=False)
class Flows:
    """`made`: on which device, or on the host; `derived` and `handed` are from one to another; `used` where regions or
    the host read; `captured` are taken along by closures."""

    module: IRModule
    made: dict[Key, str] = field(default_factory=dict)
    derived: list[tuple[Key, Key]] = field(default_factory=list)
    handed: list[tuple[Key, Key]] = field(default_factory=list)
    used: list[tuple[Key, str]] = field(default_factory=list)
    captured: set[Var] = field(default_factory=set)
    called: frozenset[GlobalVar] = frozenset()
    _scopes: list[tuple[Expr, Key | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        functions = {name: each for name, each in self.module.functions.items() if "Compiler" not in each.attrs}
        self.called = frozenset(
            node.op
            for each in functions.values()
            for node in post_order(each.body)
            if isinstance(node, Call) and isinstance(node.op, GlobalVar)
        )
        for name, function in functions.items():
            for param in function.params:
                if not self._is_open(name, param.checked_type):
                    self.made[param] = HOST
            self._scopes.append((function.body, self.result_of(name)))
        while self._scopes:
            self._scope(*self._scopes.pop())

    def result_of(self, name: GlobalVar) -> Key | None:
        """What stands for the result of a function, if that is followed."""
        return name if self._is_open(name, self.module[name].body.checked_type) else None

    def _is_open(self, name: GlobalVar, type_: Type | None) -> bool:
        return name in self.called and not self.module[name].type_params and is_followed(type_)

    def _scope(self, scope: Expr, end: Key | None) -> None:
        lets, result = let_chain(scope)
        for let in lets:
            self._binding(let)
        self._hand(result, end)

    def _hand(self, atom: Expr, end: Key | None) -> None:
        """What ends a scope, or is an argument."""
        if isinstance(atom, Var) and end is not None:
            self.handed.append((atom, end))
        elif not isinstance(atom, Constant):
            self._use([atom], HOST)

    def _use(self, parts: Sequence[Expr], device: str) -> None:
        for part in parts:
            atoms = part.fields if isinstance(part, Tuple) else (part,)
            self.used += ((atom, device) for atom in atoms if isinstance(atom, Var))
            for each in (atom for atom in atoms if isinstance(atom, Function)):
                self._closure(each)

    def _closure(self, function: Function) -> None:
        self.captured.update(free_vars(function))
        self.made.update((param, HOST) for param in function.params)
        self._scopes.append((function.body, None))

    def _binding(self, let: Let) -> None:
        var, value = let.var, let.value
        match value:
            case Call(op=Function() as function, args=args) if DEVICE in function.attrs:
                device = str(function.attrs[DEVICE])
                self._use(args, device)
                self.made.update(_results(var, device))
            case Call(op=Function() as function, args=(Var() as data, *_)) if only_reshapes(function):
                self._derive(data, var)
            case Var():
                self._derive(value, var)
            case TupleGetItem(Var() as whole, index) if (whole, index) in self.made:
                self._derive((whole, index), var)
            case Call(op=GlobalVar() as name, args=args) if name in self.module:
                for argument, param in zip(args, self.module[name].params, strict=True):
                    self._hand(argument, param if self._is_open(name, param.checked_type) else None)
                end = self.result_of(name)
                if end is None:
                    self.made[var] = HOST
                else:
                    self._derive(end, var)
            case If(cond, true_branch, false_branch):
                self._choice(var, cond, [true_branch, false_branch])
            case Match(data, clauses):
                self.made.update((each, HOST) for clause in clauses for each in pattern_vars(clause.lhs))
                self._choice(var, data, [clause.rhs for clause in clauses])
            case _:
                self._use([value] if isinstance(value, Function) else children(value), HOST)
                self.made[var] = HOST

    def _derive(self, source: Key, var: Var) -> None:
        if is_followed(var.checked_type):
            self.derived.append((source, var))
        else:
            self.made[var] = HOST
            self._use([source] if isinstance(source, Var) else [], HOST)

    def _choice(self, var: Var, decided_by: Expr, branches: Sequence[Expr]) -> None:
        self._use([decided_by], HOST)
        end = var if is_followed(var.checked_type) else None
        if end is None:
            self.made[var] = HOST
        self._scopes += ((each, end) for each in branches)


def _results(var: Var, device: str) -> Mapping[Key, str]:
    """What a region makes."""
    type_ = var.checked_type
    if isinstance(type_, TupleType):
        few = len(type_.fields) <= MOST_RESULTS
        fields: dict[Key, str] = {
            (var, index): device if few and is_followed(each) else HOST for index, each in enumerate(type_.fields)
        }
        return {var: HOST, **fields}
    return {var: device if is_followed(type_) else HOST}


def held_on_devices(module: IRModule) -> dict[Var, str]:
    """The variables of a module whose tensors are on a device, by what its functions and regions say."""
    found = dict(_told_on_devices(module))
    flows = Flows(module if found else IRModule())
    following: dict[Key, list[Key]] = {}
    for source, target in (*flows.derived, *flows.handed):
        following.setdefault(source, []).append(target)
    waiting = list(found)
    while waiting:
        source = waiting.pop()
        for target in following.get(source, ()):
            if target not in found:
                found[target] = found[source]
                waiting.append(target)
    return {key: device for key, device in found.items() if isinstance(key, Var)}


def _told_on_devices(module: IRModule) -> dict[Key, str]:
    """Parameters and results of functions and regions that are said to be on a device."""
    found: dict[Key, str] = {}
    for name, function in module.functions.items():
        found.update(zip(function.params, param_devices(function), strict=True))
        found.update((name, each) for each in result_devices(function))
        for let in _bindings(function):
            if isinstance(let.value, Call) and isinstance(let.value.op, Function):
                given = result_devices(let.value.op)
                is_tuple = isinstance(let.var.checked_type, TupleType)
                found.update(((let.var, i) if is_tuple else let.var, each) for i, each in enumerate(given))
    return {key: device for key, device in found.items() if device != HOST}


def _bindings(function: Function) -> Iterator[Let]:
    """All bindings of a function, those of choices and closures inside included, but not those of kernels."""
    scopes = [function.body]
    while scopes:
        lets, result = let_chain(scopes.pop())
        yield from lets
        for value in (*(let.value for let in lets), result):
            if isinstance(value, Call) and isinstance(value.op, Function) and value.op.attrs.get("Primitive"):
                continue  # a kernel, which is what most are
            if isinstance(value, If | Match):
                scopes += children(value)[1:]
            else:
                parts = (each for each in (value, *children(value)) if isinstance(each, Function))
                scopes += (each.body for each in parts)
