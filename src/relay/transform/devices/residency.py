"""Keep tensors on a device between the regions that make and read them: copies are made where a tensor goes from the
host to a device or back, once, and nowhere else.

    before: let %a = fn (%p, Device="gpu:0") { … }(%x);
            let %b = fn (%p) { sort(%p) }(%a);
            let %c = fn (%p, %q, Device="gpu:0") { … }(%a, %b)
    after:  let %a = fn (%p, Device="gpu:0", result_devices=["gpu:0"]) { … }(%x);
            let %a1 = fn (%p, Device="gpu:0", param_devices=["gpu:0"]) { %p }(%a);
            let %b = fn (%p) { sort(%p) }(%a1);
            let %c = fn (%p, %q, Device="gpu:0", param_devices=["gpu:0", "host"]) { … }(%a, %b)

A region without kernels is a copy; between two devices of one kind it is theirs, else it goes by the host. What only
one region reads that the host has made, that region brings; and a result that only the host reads, the region gives to
the host. Tensors are followed wherever the program tells where they go (`flows`), and each has its home (`homes`). A
function that takes or gives some on a device is called there, and its name stays that of one which copies them and
calls it, for who knows nothing of devices; not where they are in data, which nobody copies.

The module is fused, in A-normal form, and has its regions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.infer.unification.dimensions import function_type
from relay.ir.attributes import AttributeValue
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
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    record_type,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, rewrite_nodes, typed_as, with_body
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.device import device_kind
from relay.transform.devices.device_domains import PARAM_DEVICES
from relay.transform.devices.flows import (
    DEVICE,
    HOST,
    RESULT_DEVICES,
    TENSOR,
    Flows,
    is_followed,
    only_reshapes,
    result_devices,
)
from relay.transform.devices.homes import Homes
from relay.transform.devices.leaves import Part, of_tuple

_ON_HOST: Part[str] = {}


def keep_on_devices(module: IRModule) -> IRModule:
    """The module with copies where they are needed."""
    homes = Homes(Flows(module))
    placing = _Placing(homes)
    functions: dict[GlobalVar, Function] = {}
    for name, function in module.functions.items():
        if "Compiler" in function.attrs:
            functions[name] = function
            continue
        functions[homes.called(name)] = placing.function(name, function)
        if homes.called(name) is not name:
            functions[name] = placing.from_the_host(name, function)
    return module.with_functions(functions)


@mutable
class _Placing:
    """Rewrites functions."""

    homes: Homes

    def function(self, name: GlobalVar, function: Function) -> Function:
        """The function as it is called by others of the module."""
        inner = {node.body for node in body_nodes(function) if isinstance(node, Let)}

        def step(node: Expr, rebuilt: Expr) -> Expr:
            match node:
                case Function() if node.attrs.get("Primitive"):
                    return node
                case Function() if isinstance(rebuilt, Function):
                    return with_body(rebuilt, self._ending(rebuilt.body, self.homes.of_result(node)))
                case Let() if node not in inner:
                    return self._chain(rebuilt)
                case _:
                    return rebuilt

        placed = rewrite_nodes(function, step)
        body = self._ending(placed.body, self.homes.of_result(name))
        if not self.homes.is_split(name):
            return placed if body is placed.body else _like(function, function.params, body, function.attrs)
        homes = tuple(each for param in function.params for each in self.homes.of_var(param).values())
        told = {PARAM_DEVICES: homes, RESULT_DEVICES: tuple(self.homes.of_result(name).values()) or (HOST,)}
        return _like(function, function.params, body, {**function.attrs, **told})

    def from_the_host(self, name: GlobalVar, function: Function) -> Function:
        """A function of the same name and type whose arguments and results are on the host."""
        params = tuple(map(_alike, function.params))
        line = _Line(self.homes)
        wanted = map(self.homes.of_var, function.params)
        given = [line.placed(param, homes) for param, homes in zip(params, wanted, strict=True)]
        called = record_type(Call(self.homes.called(name), tuple(given)), known_type(function.body))
        result = line.moved(line.add("result", called), self.homes.of_result(name), {})
        return _like(function, params, line.closed(result), function.attrs)

    def _chain(self, chain: Expr) -> Expr:
        lets, result = let_chain(chain)
        line = _Line(self.homes)
        for let in lets:
            value = self._placed(let, line)
            line.bound.append((let.var, value))
        is_same = [value for _, value in line.bound] == [let.value for let in lets]
        return chain if is_same else line.closed(result)

    def _placed(self, let: Let, line: _Line) -> Expr:
        """What a variable is bound to, where it reads everything where that is."""
        value, flows = let.value, self.homes.flows
        match value:
            case Call(op=Function() as function) if DEVICE in function.attrs:
                return self._region(let.var, value, function, line)
            case Call(op=Function() as function) if only_reshapes(function) and is_followed(let.var.checked_type):
                return value
            case Call(op=GlobalVar() as name, args=args) if name in flows.module:
                params = map(self.homes.of_var, flows.module[name].params)
                given = [line.placed(each, homes) for each, homes in zip(args, params, strict=True)]
                return rebuild_typed(value, [self.homes.called(name), *given])
            case Call(op=Function() as closure, args=args) if not closure.attrs.get("Primitive"):
                given = [
                    line.placed(each, self.homes.of_var(param))
                    for each, param in zip(args, closure.params, strict=True)
                ]
                return rebuild_typed(value, [closure, *given])
            case Call(op=Var() as closure, args=args):
                held = (flows.held(closure, None, index) for index in range(len(args)))
                given = [line.placed(each, self.homes.of_all(part)) for each, part in zip(args, held, strict=True)]
                return rebuild_typed(value, [closure, *given])
            case Call(op=Constructor() as constructor, args=args):
                held = (flows.held(let.var, constructor, index) for index in range(len(args)))
                given = [line.placed(each, self.homes.of_all(part)) for each, part in zip(args, held, strict=True)]
                return rebuild_typed(value, [constructor, *given])
            case RefCreate(content):
                return rebuild_typed(value, [line.placed(content, self.homes.of_all(flows.held(let.var, None, 0)))])
            case RefWrite(Var() as ref, content):
                return rebuild_typed(value, [ref, line.placed(content, self.homes.of_all(flows.held(ref, None, 0)))])
            case If(cond, true_branch, false_branch):
                ends = [self._ending(each, self.homes.of_var(let.var)) for each in (true_branch, false_branch)]
                return rebuild_typed(value, [line.placed(cond), *ends])
            case Match(data, clauses):
                ends = [self._ending(clause.rhs, self.homes.of_var(let.var)) for clause in clauses]
                return rebuild_typed(value, [data, *ends])
            case Tuple() | GlobalVar():
                return line.placed(value, self.homes.of_var(let.var))
            case Var() | Function() | TupleGetItem() | RefRead():
                return value
            case _:
                return rebuild_typed(value, [line.placed(part) for part in children(value)])

    def _ending(self, scope: Expr, homes: Part[str]) -> Expr:
        """A scope whose value is at home."""
        lets, result = let_chain(scope)
        line = _Line(self.homes, [(let.var, let.value) for let in lets])
        end = line.placed(result, homes)
        return scope if end is result else line.closed(end)

    def _region(self, var: Var, call: Call, function: Function, line: _Line) -> Expr:
        """The call of a region, which is told where its arguments and results are."""
        device = str(function.attrs[DEVICE])
        given = [line.read(each, device) for each in call.args]
        params = tuple(home for _, home in given)
        results = tuple(self.homes.of_var(var).values())
        told: dict[str, AttributeValue] = {}
        if any(each != HOST for each in params):
            told[PARAM_DEVICES] = params
        if any(each != HOST for each in results):
            told[RESULT_DEVICES] = results
        if not told:
            return call
        made = _like(function, function.params, function.body, {**function.attrs, **told})
        return rebuild_typed(call, [made, *(atom for atom, _ in given)])


@mutable
class _Line:
    """Bindings, one after another, and the copies among them."""

    homes: Homes
    bound: list[tuple[Var, Expr]] = field(default_factory=list)

    def add(self, hint: str, value: Expr) -> Var:
        var = record_type(Var(hint, known_type(value)), known_type(value))
        self.bound.append((var, value))
        return var

    def read(self, atom: Expr, device: str) -> tuple[Expr, str]:
        """What a region is given, and where that is: what it alone reads of the host's stays there."""
        if isinstance(atom, Var) and self.homes.of((atom, TENSOR)) == HOST and not self._is_shared(atom, device):
            return atom, HOST
        return self.at(atom, device), device

    def _is_shared(self, var: Var, device: str) -> bool:
        """Whether others want what the host has made there, too; each region brings a scalar."""
        return is_followed(var.checked_type) and self.homes.reads[(var, TENSOR), device] > 1

    def at(self, atom: Expr, device: str) -> Expr:
        """A tensor on a device, or on the host."""
        home = self.homes.of((atom, TENSOR)) if isinstance(atom, Var) else HOST
        return self.copied(atom, home, device)

    def placed(self, atom: Expr, homes: Part[str] = _ON_HOST) -> Expr:
        """An atom whose tensors are there; those of which nothing is said are on the host."""
        match atom:
            case Tuple(fields):
                parts = (self.placed(each, of_tuple(homes, index)) for index, each in enumerate(fields))
                return rebuild_typed(atom, list(parts))
            case Var():
                return self.moved(atom, self.homes.of_var(atom), homes)
            case Constant():
                return self.at(atom, homes.get(TENSOR, HOST))
            case GlobalVar():
                return self.homes.called(atom)
            case _:
                return atom

    def moved(self, var: Var, now: Part[str], homes: Part[str]) -> Expr:
        """A variable whose tensors are elsewhere now."""
        if all(homes.get(leaf, HOST) == home for leaf, home in now.items()):
            return var
        type_ = known_type(var)
        if isinstance(type_, TensorType):
            return self.copied(var, now[TENSOR], homes.get(TENSOR, HOST))
        if not isinstance(type_, TupleType):
            raise CompilerBug("keep on devices", f"what %{var.name_hint} holds is wanted elsewhere")
        fields: list[Expr] = []
        for index, each in enumerate(type_.fields):
            part, wanted = self._field(var, index, each), of_tuple(homes, index)
            if isinstance(part, Var):
                fields.append(self.moved(part, of_tuple(now, index), wanted))
            else:
                fields.append(self.placed(part, wanted))
        return self.add(var.name_hint, record_type(Tuple(tuple(fields)), type_))

    def _field(self, whole: Var, index: int, type_: Type) -> Expr:
        """A field of a tuple, as it is known already."""
        known = dict(self.bound)
        wanted = _origin(whole, known, index)
        if not wanted[1]:
            return wanted[0]
        for var, value in self.bound:
            if isinstance(value, TupleGetItem) and _origin(var, known) == wanted:
                return var
        return self.add(whole.name_hint, record_type(TupleGetItem(whole, index), type_))

    def copied(self, atom: Expr, home: str, device: str) -> Expr:
        if home == device:
            return atom
        known = dict(self.bound)
        origin = _origin(atom, known)
        for var, value in self.bound:
            match value:
                case Call(op=Function() as function, args=(other,)) if (
                    _copies(function, device) and _origin(other, known) == origin
                ):
                    return var
                case _:
                    pass
        if HOST not in (home, device) and device_kind(home) != device_kind(device):
            atom, home = self.copied(atom, home, HOST), HOST
        return self.add(atom.name_hint if isinstance(atom, Var) else "constant", _copy(atom, home, device))

    def closed(self, result: Expr) -> Expr:
        body = result
        for var, value in reversed(self.bound):
            body = record_type(Let(var, value, body), known_type(body))
        return body


def _origin(atom: Expr, known: Mapping[Var, Expr], *fields: int) -> tuple[Expr, tuple[int, ...]]:
    """What fields of an atom, one of the other, are another name of: an atom, or fields of one that nobody has taken
    apart."""
    path = list(reversed(fields))  # the next one last
    while isinstance(atom, Var):
        match known.get(atom):
            case Var() as same:
                atom = same
            case TupleGetItem(Var() as whole, index):
                atom = whole
                path.append(index)
            case Tuple(parts) if path:
                atom = parts[path.pop()]
            case _:
                break
    return atom, tuple(reversed(path))


def _copies(function: Function, device: str) -> bool:
    """Whether a region is a copy to a device, or to the host."""
    is_copy = DEVICE in function.attrs and function.params == (function.body,)
    return is_copy and (result_devices(function) or (HOST,)) == (device,)


def _copy(atom: Expr, home: str, device: str) -> Call:
    """A copy to a device, from the host or another device of its kind, or to the host. A constant is there already."""
    type_ = known_type(atom)
    attrs: dict[str, AttributeValue] = {"Primitive": 1, DEVICE: home if device == HOST else device}
    if device != HOST:
        attrs[RESULT_DEVICES] = (device,)
    if isinstance(atom, Constant):
        function = Function((), atom, type_, attrs={**attrs, "name": "constant_on_device"})
        return record_type(Call(record_type(function, function_type((), type_)), ()), type_)
    param = _alike(atom)
    if home != HOST:
        attrs[PARAM_DEVICES] = (home,)
    name = "copy_to_host" if device == HOST else "copy_to_device" if home == HOST else "copy_between_devices"
    function = Function((param,), param, type_, attrs={**attrs, "name": name})
    return record_type(Call(record_type(function, function_type((param,), type_)), (atom,)), type_)


def _alike(expr: Expr) -> Var:
    type_ = known_type(expr)
    return record_type(Var(expr.name_hint if isinstance(expr, Var) else "p", type_), type_)


def _like(function: Function, params: Sequence[Var], body: Expr, attrs: Mapping[str, AttributeValue]) -> Function:
    """A function of the same type."""
    made = Function(tuple(params), body, function.ret_type, function.type_params, attrs, span=function.span)
    return typed_as(made, function)
