"""Where tensors are made and used, and how they get from there to there: what a module with regions for devices says.

Tensors with axes are followed, in tuples, data, refs and functions too (`leaves`), wherever it is known where they may
go: through bindings, views, results of regions, and what they are stored in and taken from (the *same* place), and as
arguments and results of functions, values of choices, and into data and refs (*handed on*: whoever hands on may copy,
but not data, nor what they hold). All else is made on the host, or used there; what callers or generic functions see
holds tensors on the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import TypeAlias, Union, assert_never

from relay.base.disjoint_sets import DisjointSet
from relay.base.frozen import mutable
from relay.ir.datatype import held_types
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
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes, children
from relay.ir.types import FuncType, TensorType, TupleType, Type
from relay.ir.variables import free_vars
from relay.ops.framework.record import OperatorRecord
from relay.transform.devices.device_domains import PARAM_DEVICES
from relay.transform.devices.leaves import Leaf, Leaves, Part, of_tuple

DEVICE = "Device"
"""The attribute of a region: the device that it runs on."""
RESULT_DEVICES = "result_devices"
"""The attribute of a region, or of a function that is called by name: where each tensor of its result is.
`PARAM_DEVICES` says so of its parameters. Without them all are on the host."""
HOST = "host"

Head: TypeAlias = Union[Var, GlobalVar, Function]
Key: TypeAlias = tuple[Head, Leaf]
"""The tensors at a leaf: of a variable, or of a function's result; or of that as a value, whose type is another."""
TENSOR = Leaf()
"""What a tensor with axes is of itself."""


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


def only_reshapes(function: Function) -> bool:
    """Whether a primitive function gives its first parameter another shape, and does nothing else."""
    expr = function.body
    while isinstance(expr, Call) and isinstance(expr.op, Op) and isinstance(expr.op.operator, OperatorRecord):
        if not expr.op.operator.is_view or expr.op.operator.effect is Effect.MAY_FAIL:
            break
        expr = expr.args[0]
    return expr is not function.body and bool(function.params) and expr is function.params[0]


@mutable
class Flows:
    """`made`: by regions, on which device; `on_host`: what is there for certain. `same` are pairs in one place,
    `handed` from one to another; `used` are those that regions read, with their devices."""

    module: IRModule
    leaves: Leaves = field(init=False)
    made: dict[Key, str] = field(default_factory=dict)
    on_host: set[Key] = field(default_factory=set)
    same: list[tuple[Key, Key]] = field(default_factory=list)
    handed: list[tuple[Key, Key]] = field(default_factory=list)
    used: list[tuple[Key, str]] = field(default_factory=list)
    _used: frozenset[GlobalVar] = frozenset()  # functions that are called, or are values
    _closures_leave: bool = False
    _scopes: list[tuple[Expr, Part[Key]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.leaves = Leaves(self.module)
        functions = {name: each for name, each in self.module.functions.items() if "Compiler" not in each.attrs}
        nodes = (node for each in functions.values() for node in body_nodes(each))
        self._used = frozenset(node for node in nodes if isinstance(node, GlobalVar))
        self._closures_leave = any(
            name.name_hint == "main" and self._has_functions(functions[name]) for name in functions
        )
        for name, function in functions.items():
            for part in (*map(self.of, function.params), self.of_result(name)):
                self._open(part, name)
            self._scopes.append((function.body, self.of_result(name)))
        while self._scopes:
            self._scope(*self._scopes.pop())

    # ------------------------------------------------------------------------------------------------- what there is

    def of(self, var: Var) -> Part[Key]:
        """The tensors of a variable."""
        return self._of_known(var)

    def of_result(self, function: GlobalVar | Function) -> Part[Key]:
        """The tensors of a function's result."""
        body = self.module[function].body if isinstance(function, GlobalVar) else function.body
        return {leaf: (function, leaf) for leaf in self.leaves.of(body.checked_type)}

    def held(self, holder: Expr, constructor: Constructor | None, index: int) -> Part[Key]:
        """The tensors of a field of data, of what a ref holds, or of what a function takes, and behind that gives."""
        return self.leaves.of_held(holder.checked_type, self._of_known(holder), constructor, index)

    def _of_known(self, value: Expr) -> Part[Key]:
        """The tensors of a variable, or of a function that stands there."""
        match value:
            case Var() | Function():
                return {leaf: (value, leaf) for leaf in self.leaves.of(value.checked_type)}
            case GlobalVar():
                return {leaf: (value, leaf) for leaf in self.leaves.of(self.module[value].checked_type)}
            case _:
                return {}

    def _of_atom(self, atom: Expr) -> Part[Key | None]:
        """The tensors of an atom; None for those that are none before they are wanted somewhere."""
        match atom:
            case Tuple(fields):
                found: dict[Leaf, Key | None] = {}
                for index, each in enumerate(fields):
                    inner = self._of_atom(each)
                    found.update((leaf.in_field(index), key) for leaf, key in inner.items())
                return found
            case Constant() | Constructor(inputs=()):
                return dict.fromkeys(self.leaves.of(atom.checked_type))
            case _:
                return dict(self._of_known(atom))

    def _has_functions(self, function: Function) -> bool:
        types = [known_type(function.body), *map(known_type, function.params)]
        definitions = self.module.type_definitions
        return any(isinstance(each, FuncType) for type_ in types for each in held_types(type_, definitions))

    def _open(self, part: Part[Key], name: GlobalVar) -> None:
        """Note what a function takes or gives: on the host, where callers are not known, or cannot copy it."""
        is_known = name in self._used and not self.module[name].type_params
        is_inner = is_known and name.name_hint != "main"
        self.on_host.update(key for leaf, key in part.items() if not (is_inner if leaf.slot else is_known))

    # ---------------------------------------------------------------------------------------------------------- flows

    def _scope(self, scope: Expr, ends: Part[Key]) -> None:
        lets, result = let_chain(scope)
        for let in lets:
            self._binding(let)
        self._hand(result, ends)

    def _binding(self, let: Let) -> None:
        var, value = let.var, let.value
        match value:
            case Call(op=Function() as function, args=args) if DEVICE in function.attrs:
                device = str(function.attrs[DEVICE])
                tensors = (atom for atom in args if isinstance(atom, Var) and is_followed(atom.checked_type))
                self.used += (((atom, TENSOR), device) for atom in tensors)
                self.made.update((key, device) for leaf, key in self.of(var).items() if not leaf.is_scalar)
            case Call(op=Function() as function, args=(Var() as data, *_)) if _is_view(function, data, var):
                self.same.append(((data, TENSOR), (var, TENSOR)))
            case Call(op=Function() as kernel) if kernel.attrs.get("Primitive"):
                self.on_host.update(self.of(var).values())
            case Call(op=Constructor() as constructor, args=args):
                for index, each in enumerate(args):
                    self._hand(each, self.held(var, constructor, index))
            case Call(op=GlobalVar() as name, args=args) if self._is_followed(name):
                for each, param in zip(args, self.module[name].params, strict=True):
                    self._hand(each, self.of(param))
                self._bind(self.of_result(name), self.of(var))
            case Call(op=Var() | Function() as closure, args=args):
                self._functions([closure])
                for index, each in enumerate(args):
                    self._hand(each, self.held(closure, None, index))
                self._bind(self.held(closure, None, len(args)), self.of(var))
            case RefCreate(content):
                self._hand(content, self.held(var, None, 0))
            case RefWrite(Var() as ref, content):
                self._hand(content, self.held(ref, None, 0))
            case RefRead(Var() as ref):
                self._bind(self.held(ref, None, 0), self.of(var))
            case TupleGetItem(Var() as whole, index):
                self._bind(of_tuple(self.of(whole), index), self.of(var))
            case If(_, true_branch, false_branch):
                self._scopes += [(true_branch, self.of(var)), (false_branch, self.of(var))]
            case Match(data, clauses):
                for clause in clauses:
                    self._match(clause.lhs, self._of_atom(data), data.checked_type)
                    self._scopes.append((clause.rhs, self.of(var)))
            case _:
                self._functions([value])
                self._bind(self._of_atom(value), self.of(var))

    def _is_followed(self, name: GlobalVar) -> bool:
        return name in self.module and "Compiler" not in self.module[name].attrs

    def _bind(self, sources: Part[Key] | Part[Key | None], targets: Part[Key]) -> None:
        """A variable is another name of something, or of a part of it."""
        for leaf, target in targets.items():
            source = sources.get(leaf)
            if source is not None:
                self._join(self.same, source, target)
            elif leaf not in sources or leaf.slot is None:
                self.on_host.add(target)

    def _hand(self, atom: Expr, ends: Part[Key]) -> None:
        """What ends a scope, is an argument or is stored."""
        self._functions([atom])
        sources = self._of_atom(atom)
        for leaf, source in sources.items():
            end = ends.get(leaf)
            if source is not None and end is not None:
                self._join(self.same if leaf.slot else self.handed, source, end)
        self.on_host.update(end for leaf, end in ends.items() if leaf not in sources)
        self.on_host.update(key for leaf, key in sources.items() if key and leaf.slot and leaf not in ends)

    def _join(self, pairs: list[tuple[Key, Key]], source: Key, target: Key) -> None:
        if not source[1].is_scalar:
            pairs.append((source, target))

    def _match(self, pattern: Pattern, part: Part[Key | None], type_: Type | None) -> None:
        """The variables of a pattern are names of parts."""
        waiting = [(pattern, part, type_)]
        while waiting:
            pattern, part, type_ = waiting.pop()
            match pattern:
                case PatternVar(var):
                    self._bind(part, self.of(var))
                case PatternTuple(patterns):
                    fields = type_.fields if isinstance(type_, TupleType) else ()
                    inner = zip(patterns, fields, strict=True)
                    waiting += ((each, of_tuple(part, index), field_) for index, (each, field_) in enumerate(inner))
                case PatternConstructor(constructor, patterns):
                    inner = zip(patterns, self.leaves.field_types(type_, constructor), strict=False)
                    for index, (each, field_) in enumerate(inner):
                        waiting.append((each, self.leaves.of_held(type_, part, constructor, index), field_))
                case PatternWildcard():
                    pass
                case _:
                    assert_never(pattern)

    def _functions(self, atoms: Iterable[Expr]) -> None:
        """Functions that stand there are values: what they take and give is what their callers give and take."""
        for atom in atoms:
            match atom:
                case Tuple(fields):
                    self._functions(fields)
                case GlobalVar() if self._is_followed(atom):
                    self._value(atom, self.module[atom])
                case Function():
                    self._value(atom, atom)
                    self._scopes.append((atom.body, self.of_result(atom)))
                    if self._closures_leave:
                        self.on_host.update(key for var in free_vars(atom) for key in self.of(var).values())
                case _:
                    pass

    def _value(self, head: GlobalVar | Function, function: Function) -> None:
        fields = (*map(self.of, function.params), self.of_result(head))
        known = self._of_known(head)
        for index, each in enumerate(fields):
            self._bind(self.leaves.of_held(function.checked_type, known, None, index), each)


def _is_view(function: Function, data: Var, result: Var) -> bool:
    """Whether a binding gives a tensor with axes another shape with axes."""
    return only_reshapes(function) and is_followed(data.checked_type) and is_followed(result.checked_type)


@mutable
class _Place(DisjointSet):
    device: str = HOST


def held_on_devices(module: IRModule) -> dict[Key, str]:
    """The tensors of a module's variables that are on a device, by what its functions and regions say."""
    told = [(heads, devices) for heads, devices in _tellings(module) if any(each != HOST for each in devices)]
    if not told:
        return {}
    flows = Flows(module)
    places: dict[Key, _Place] = {}
    for one, other in (*flows.same, *flows.handed):
        places.setdefault(one, _Place()).join(places.setdefault(other, _Place()))
    for heads, devices in told:
        parts = (flows.of(head) if isinstance(head, Var) else flows.of_result(head) for head in heads)
        keys = [key for part in parts for key in part.values()]
        for key, device in zip(keys, devices, strict=False):
            if device != HOST:
                places.setdefault(key, _Place()).root().device = device
    found = {key: place.root().device for key, place in places.items()}
    return {key: device for key, device in found.items() if device != HOST}


def _tellings(module: IRModule) -> Iterator[tuple[Sequence[Head], Sequence[str]]]:
    """What functions say of their parameters and results, and regions of what they take and give."""
    for name, function in module.functions.items():
        yield function.params, _told(function, PARAM_DEVICES)
        yield (name,), result_devices(function)
        for let in _bindings(function):
            match let.value:
                case Call(op=Function() as region, args=args) if DEVICE in region.attrs:
                    yield (let.var,), result_devices(region)
                    given = zip(args, param_devices(region), strict=True)
                    yield from (((each,), (device,)) for each, device in given if isinstance(each, Var))
                case _:
                    pass


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
