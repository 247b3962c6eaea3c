"""Where tensors are made and used, and how they get from there to there: what a module with regions for devices says.

Only tensors with axes are followed, alone or in nested tuples, and only where every way they may go is known:
through bindings, views, tuples and results of regions (*derived*: in the same memory), and as arguments and results of
functions that are called by name, and values of choices (*handed on*: whoever hands on may copy). All else is made on
the host, or used there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from relay.ops.framework.record import OperatorRecord
from relay.transform.devices.device_domains import PARAM_DEVICES

DEVICE = "Device"
"""The attribute of a region: the device that it runs on."""
RESULT_DEVICES = "result_devices"
"""The attribute of a region, or of a function that is called by name: where each tensor of its result is.
`PARAM_DEVICES` says so of its parameters. Without them all are on the host."""
HOST = "host"
MOST_FIELDS, MOST_RESULTS = 8, 3
"""Larger tuples are made, and larger results of functions: what stands there is on the host."""

Head: TypeAlias = Union[Var, GlobalVar]
Key: TypeAlias = Union[Head, tuple[Head, int]]
"""A tensor: that of a variable, or the result of a function; or one in nested tuples of such, by its position among
them all."""


def param_devices(function: Function) -> tuple[str, ...]:
    """Where each parameter of a region is."""
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


def keys_of(head: Head, type_: Type | None) -> tuple[Key, ...]:
    """The tensors of a variable, or of the result of a function; none where they are not looked for."""
    match type_:
        case TensorType():
            return (head,)
        case TupleType():
            types = leaf_types(type_)
            is_small = len(types) <= MOST_FIELDS and all(isinstance(each, TensorType) for each in types)
            return tuple((head, index) for index in range(len(types))) if is_small else ()
        case _:
            return ()


def leaf_types(type_: Type | None) -> tuple[Type | None, ...]:
    """The types of what nested tuples hold in the end, in order: those of what `keys_of` gives. A tuple without fields
    is a leaf."""
    waiting, found = [type_], list[Union[Type, None]]()
    while waiting:
        match waiting.pop():
            case TupleType(fields) if fields:
                waiting += reversed(fields)
            case leaf:
                found.append(leaf)
    return tuple(found)


def leaves_of_field(type_: Type | None, index: int) -> slice:
    """Where the leaves of a field are among those of a tuple."""
    fields = type_.fields if isinstance(type_, TupleType) else ()
    first = sum(len(leaf_types(each)) for each in fields[:index])
    return slice(first, first + len(leaf_types(fields[index])))


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
    """`made`: on which device, or on the host; `derived` and `handed` are from one to another; `used` are those that
    regions read, with their devices; `captured` are taken along by closures."""

    module: IRModule
    made: dict[Key, str] = field(default_factory=dict)
    derived: list[tuple[Key, Key]] = field(default_factory=list)
    handed: list[tuple[Key, Key]] = field(default_factory=list)
    used: list[tuple[Key, str]] = field(default_factory=list)
    captured: set[Key] = field(default_factory=set)
    called: frozenset[GlobalVar] = frozenset()
    _scopes: list[tuple[Expr, Sequence[Key | None]]] = field(default_factory=list)

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
                self._ends(param, param.checked_type, self._is_open(name))
            self._scopes.append((function.body, self.results_of(name)))
        while self._scopes:
            self._scope(*self._scopes.pop())

    def results_of(self, name: GlobalVar) -> tuple[Key | None, ...]:
        """What stands for the result of a function, where that is followed."""
        type_ = self.module[name].body.checked_type
        return self._ends(name, type_, self._is_open(name) and len(leaf_types(type_)) <= MOST_RESULTS)

    def _is_open(self, name: GlobalVar) -> bool:
        return name in self.called and not self.module[name].type_params

    def _ends(self, head: Head, type_: Type | None, is_open: bool = True) -> tuple[Key | None, ...]:
        """Where tensors may be handed to; those that are not followed are the host's."""
        keys = keys_of(head, type_)
        ends = tuple(
            key if is_open and is_followed(each) else None
            for key, each in zip(keys, leaf_types(type_) if keys else (), strict=True)
        )
        self.made.update((key, HOST) for key, end in zip(keys, ends, strict=True) if end is None)
        return ends

    def _scope(self, scope: Expr, ends: Sequence[Key | None]) -> None:
        lets, result = let_chain(scope)
        for let in lets:
            self._binding(let)
        self._hand(result, ends)

    def _hand(self, atom: Expr, ends: Sequence[Key | None]) -> None:
        """What ends a scope, or is an argument."""
        given = _sources(atom)
        if len(given) == len(ends):
            self.handed += ((source, end) for source, end in zip(given, ends, strict=True) if source and end)
        self._closures([atom])

    def _closures(self, parts: Sequence[Expr]) -> None:
        """Functions among what is used on the host."""
        for part in parts:
            for each in part.fields if isinstance(part, Tuple) else (part,):
                if isinstance(each, Function):
                    self.captured.update(key for var in free_vars(each) for key in keys_of(var, var.checked_type))
                    self._on_the_host(each.params)
                    self._scopes.append((each.body, ()))

    def _on_the_host(self, variables: Iterable[Var]) -> None:
        for var in variables:
            self._ends(var, var.checked_type, False)

    def _binding(self, let: Let) -> None:
        var, value = let.var, let.value
        match value:
            case Call(op=Function() as function, args=args) if DEVICE in function.attrs:
                device = str(function.attrs[DEVICE])
                self.used += ((atom, device) for atom in args if isinstance(atom, Var))
                self.made.update((end, device) for end in self._ends(var, var.checked_type) if end)
            case Call(op=Function() as function, args=(Var() as data, *_)) if only_reshapes(function):
                self._derive((data,), var)
            case Var() | Tuple():
                self._derive(_sources(value), var)
                self._closures([value])
            case TupleGetItem(Var() as whole, index) if keys_of(whole, whole.checked_type):
                self._derive(keys_of(whole, whole.checked_type)[leaves_of_field(whole.checked_type, index)], var)
            case Call(op=GlobalVar() as name, args=args) if name in self.module:
                for argument, param in zip(args, self.module[name].params, strict=True):
                    self._hand(argument, self._ends(param, param.checked_type, self._is_open(name)))
                self._derive(self.results_of(name), var)
            case If(_, true_branch, false_branch):
                ends = self._ends(var, var.checked_type)
                self._scopes += [(true_branch, ends), (false_branch, ends)]
            case Match(_, clauses):
                self._on_the_host(each for clause in clauses for each in pattern_vars(clause.lhs))
                ends = self._ends(var, var.checked_type)
                self._scopes += ((clause.rhs, ends) for clause in clauses)
            case _:
                self._closures([value] if isinstance(value, Function) else children(value))
                self._on_the_host([var])

    def _derive(self, sources: Sequence[Key | None], var: Var) -> None:
        ends = self._ends(var, var.checked_type)
        if len(sources) != len(ends):
            self._on_the_host([var])
            return
        for source, end in zip(sources, ends, strict=True):
            if source and end:
                self.derived.append((source, end))
            elif end:
                self.made[end] = HOST


def _sources(atom: Expr) -> tuple[Key | None, ...]:
    """The tensors of an atom; None for those that stand there. Nothing where it holds what is not looked for."""
    waiting, found = [atom], list[Union[Key, None]]()
    while waiting:
        match waiting.pop():
            case Var() as var if keys := keys_of(var, var.checked_type):
                found += keys
            case Tuple(fields) if fields:
                waiting += reversed(fields)
            case Constant():
                found.append(None)
            case _:
                return ()
    return tuple(found)


def held_on_devices(module: IRModule) -> dict[Key, str]:
    """The tensors of a module's variables that are on a device, by what its functions and regions say."""
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
    return found


def _told_on_devices(module: IRModule) -> dict[Key, str]:
    """Parameters and results of functions and regions that are said to be on a device."""
    found: dict[Key, str] = {}
    for name, function in module.functions.items():
        params = [key for param in function.params for key in keys_of(param, param.checked_type) or (param,)]
        found.update(zip(params, _told(function, PARAM_DEVICES), strict=False))
        found.update(zip(keys_of(name, function.body.checked_type), result_devices(function), strict=False))
        for let in _bindings(function):
            if isinstance(let.value, Call) and isinstance(let.value.op, Function):
                given = result_devices(let.value.op)
                found.update(zip(keys_of(let.var, let.var.checked_type), given, strict=False))
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
