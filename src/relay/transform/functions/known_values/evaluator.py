"""Evaluation of programs of which only a part is known, form by form.

Every form gives a `PartialValue`. What has an effect, and what is computed from unknown tensors, is emitted into the
open block at once, so effects happen once and in their order; tuples, data cells and functions are emitted when
something that is emitted needs them, or, where code is not copied, where they stand. The walk is a set of generators
run by `base.trampoline`: an unrolled recursion may be as deep as it likes. What goes deeper yields; what one form is
made of is delegated to (`yield from`), which costs less.

A `Policy` says what becomes of calls. Where code is copied, a body may be evaluated for each of its calls, so variables
are new and types are found anew. Where it is not, all that is evaluated keeps its variables and types, and what cannot
stand for a variable of another type is left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, assert_never

from relay.base.diagnostics import CompilerBug
from relay.base.trampoline import run
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
    record_type,
)
from relay.ir.known_types import known_type
from relay.ir.rewriting import rewrite_nodes, with_body
from relay.ir.traversal import LEAVES, rebuild
from relay.ir.type_traversal import has_unknown_dimension, instantiated, type_symbols
from relay.ir.types import TupleType, Type, TypeVar
from relay.transform.functions.known_values.activations import Activation, Kind
from relay.transform.functions.known_values.blocks import closed, typed
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.policy import Policy, Work
from relay.transform.functions.known_values.residual import Names, Residual
from relay.transform.functions.known_values.store import Store
from relay.transform.functions.known_values.values import (
    Block,
    Environment,
    KnownData,
    KnownFunction,
    KnownName,
    KnownRef,
    KnownTensor,
    KnownTuple,
    PartialValue,
    constant_of,
    title_of,
    value_of,
)
from relay.transform.simplify.fold_constant import fold_call

Naming: TypeAlias = Generator[Any, Any, Expr]

_OF_ITS_OWN = TupleType(())
"""In the place of the type of an operator or a constructor, which nobody asks for."""


class Evaluator:
    """Evaluates into `residual`, under a policy; `choice` evaluates what has branches (`choices.Choices`). These two
    are given to it before it starts."""

    policy: Policy
    choice: Callable[[If | Match, Environment, Type, Var], Work]

    def __init__(self, functions: Functions, residual: Residual) -> None:
        self.functions = functions
        self.residual = residual
        self.substituted: dict[Function, Function] = {}

    # ----------------------------------------------------------------------------------------------------- scopes

    def chain(self, expr: Expr, environment: Environment) -> Work:
        """The value of a scope in A-normal form, its bindings evaluated into the open block."""
        while isinstance(expr, Let):
            self.residual.step()
            if isinstance(expr.value, LEAVES):
                value = self.atom_value(expr.value, environment)
            else:
                type_ = environment.type_of(expr.value)
                value: PartialValue = yield from self.form(expr.value, environment, type_, expr.var)
            yield from self.define(expr.var, value, environment)
            expr = expr.body
        return self.atom_value(expr, environment)

    def ending(self, block: Block, body: Expr, environment: Environment, store: Store) -> Generator[Any, Any, Store]:
        """End a block with the value of a body; what refs hold then. It is the run that decides to evaluate it."""
        outer = self.residual.block, self.residual.store
        self.residual.block, self.residual.store = block, store
        value: PartialValue = yield self.chain(body, environment)
        yield self.atom(value)
        block.result, store = value, self.residual.store
        store.escape((value,))
        self.residual.block, self.residual.store = outer
        return store

    def define(self, var: Var, value: PartialValue, environment: Environment) -> Generator[Any, Any, None]:
        """Let a variable stand for a value."""
        environment.values[var] = value  # before anything is made of it: a function may call itself
        value.name = value.name or var
        if self.residual.copies:
            # where the program declares not to know the extents, nothing else may know them either
            forgets = var.type_annotation is not None and has_unknown_dimension(var.type_annotation)
        elif value.atom is None or value.atom is var:
            value.type_ = known_type(var)
            forgets = False
            if value.atom is None and var not in self.policy.only_called:
                yield self.atom(value)
        else:
            forgets = not self.may_stand(value, var)
        if forgets:
            type_ = var.type_annotation or known_type(var)
            atom = yield self.atom(value)
            self.residual.store.escape((value,))
            named = Var(var.name_hint, type_, span=var.span) if self.residual.copies else var
            self.residual.append(self.residual.block, named, atom)
            environment.values[var] = PartialValue(None, type_, named, self.residual.block, var)

    def may_stand(self, value: PartialValue, var: Var) -> bool:
        """Whether a value may be written wherever a variable is."""
        if self.residual.copies:
            return True
        is_same = value.type_ == var.checked_type and var.type_annotation in (None, value.type_)
        return is_same and isinstance(value.atom, Var | Constant | GlobalVar)

    def form(self, expr: Expr, environment: Environment, type_: Type, name: Var) -> Work:
        match expr:
            case Tuple(fields):
                values = tuple([self.atom_value(each, environment) for each in fields])
                return (yield from self.known(expr, KnownTuple(values), type_, name))
            case TupleGetItem(whole, index):
                value = self.atom_value(whole, environment)
                if isinstance(value.static, KnownTuple) and self.may_stand(value.static.fields[index], name):
                    self.residual.reductions += 1
                    return value.static.fields[index]
                atom = yield self.atom(value)
                return self.residual.emit(TupleGetItem(atom, index, span=expr.span), expr, type_, name)
            case Call(op, args):
                callee = self.atom_value(op, environment)
                values = tuple([self.atom_value(each, environment) for each in args])
                return (yield from self.called(expr, callee, values, type_, name))
            case If() | Match():
                return (yield from self.choice(expr, environment, type_, name))
            case RefCreate(inner):
                return (yield from self.ref_create(expr, self.atom_value(inner, environment), type_, name))
            case RefRead(ref):
                return (yield from self.ref_read(expr, self.atom_value(ref, environment), type_, name))
            case RefWrite(ref, inner):
                target = self.atom_value(ref, environment)
                return (yield from self.ref_write(expr, target, self.atom_value(inner, environment), type_, name))
            case Let():
                raise CompilerBug("known values", "a let stands inside a binding of A-normal form")
            case Var() | GlobalVar() | Constant() | Function() | Constructor() | Op():
                return self.atom_value(expr, environment)
            case _:
                assert_never(expr)

    def known(self, node: Expr, static: KnownTuple | KnownData, type_: Type, name: Var) -> Work:
        """A tuple or a cell of data. Functions in one that is made here have names, for whoever takes them out."""
        made = PartialValue(static, type_, None, self.residual.block, name)
        if self.residual.copies:
            return made
        parts: list[Expr] = [node.op] if isinstance(node, Call) else []
        for each in static.fields:
            part = each.atom if each.atom is not None else (yield self.atom(each))
            if isinstance(part, Function):
                part = each.atom = self.residual.append(self.residual.block, typed(Var("f"), each.type_), part)
            parts.append(part)
        made.atom = self.residual.emit(rebuild(node, parts), node, type_, name).atom
        return made

    def atom_value(self, expr: Expr, environment: Environment) -> PartialValue:
        match expr:
            case Var():
                return environment.find(expr)
            case Constant(data):
                return PartialValue(KnownTensor(data), environment.type_of(expr), expr)
            case GlobalVar() if expr in self.functions.module:
                return PartialValue(KnownName(expr), known_type(self.functions.module[expr]), expr)
            case GlobalVar() | Op() | Constructor():
                return PartialValue(KnownName(expr), _OF_ITS_OWN, expr)
            case Function(attrs=attrs):
                type_ = environment.type_of(expr)
                if expr in self.policy.opaque:
                    return PartialValue(None, type_, self.with_names(expr, environment))
                if attrs and not self.functions.free_vars(expr):  # a kernel, or code for another compiler
                    return PartialValue(None, type_, expr)
                return PartialValue(KnownFunction(expr, environment), type_, None, self.residual.block)
            case _:
                raise CompilerBug("known values", f"a {type(expr).__name__} is not in A-normal form")

    def with_names(self, function: Function, environment: Environment) -> Function:
        """An opaque function, which stays one where it stands in several places, with names that are up to date."""
        if function not in self.substituted:
            free = {var: environment.find(var).atom for var in self.functions.free_vars(function)}
            named = {var: atom for var, atom in free.items() if atom is not None}
            self.substituted[function] = rewrite_nodes(
                function, lambda _, new: named.get(new, new) if isinstance(new, Var) else new
            )
        return self.substituted[function]

    # ---------------------------------------------------------------------------------------------------- calls

    def called(
        self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var
    ) -> Work:
        match callee.static:
            case KnownName(Op() as op):
                return (yield from self.operator(node, op, values, type_, name))
            case KnownName(Constructor() as constructor) if len(constructor.inputs) == len(values):
                return (yield from self.known(node, KnownData(constructor, values), type_, name))
            case _:
                return (yield from self.policy.call(node, callee, values, type_, name))

    def operator(self, node: Call, op: Op, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        constants = [constant_of(value) for value in values] if self.residual.copies else []
        known = [each for each in constants if each is not None]
        if self.residual.copies and len(known) == len(values):
            call = record_type(Call(op, tuple(known), node.attrs, span=node.span), type_)
            folded = fold_call(call)
            if folded is not call:
                self.residual.reductions += 1
                return value_of(folded, type_, self.residual.block)
        atoms = yield from self.atoms(values)
        return self.residual.emit(Call(op, atoms, node.attrs, span=node.span), node, type_, name)

    def unknown_call(
        self,
        node: Call,
        callee: PartialValue,
        values: tuple[PartialValue, ...],
        source: PartialValue,
        type_: Type,
        name: Var,
    ) -> Work:
        """A call that the run makes, of `callee`, which does what `source` does. What it may reach is forgotten if it
        may write; its result may be any of it."""
        op, *atoms = yield from self.atoms((callee, *values))
        types = node.given_type_args
        if self.residual.copies:  # what the program says of a callee, where that may be said here
            said = [self.residual.annotation(each) for each in types] if callee is source else []
            types = tuple([each for each in said if each is not None]) if None not in said else ()
        result = self.residual.emit(Call(op, tuple(atoms), node.attrs, types, span=node.span), node, type_, name)
        store = self.residual.store
        store.escape((callee, *values))
        if store.contents and self.functions.may_write(source):
            store.forget_escaped()
        return result

    # ------------------------------------------------------------------------------------------------------ refs

    def ref_create(self, node: RefCreate, value: PartialValue, type_: Type, name: Var) -> Work:
        atom = yield self.atom(value)
        ref = self.residual.emit(RefCreate(atom, span=node.span), node, type_, name)
        location = self.residual.locations
        self.residual.locations += 1
        self.residual.store.write(location, value)
        return PartialValue(KnownRef(location), type_, ref.atom, ref.home, name)

    def ref_read(self, node: RefRead, ref: PartialValue, type_: Type, name: Var) -> Work:
        if isinstance(ref.static, KnownRef):
            inside = self.residual.store.contents.get(ref.static.location)
            if inside is not None and self.may_stand(inside, name):
                self.residual.reductions += 1
                return inside
        atom = yield self.atom(ref)
        value = self.residual.emit(RefRead(atom, span=node.span), node, type_, name)
        if isinstance(ref.static, KnownRef):
            self.residual.store.write(ref.static.location, value)
        return value

    def ref_write(self, node: RefWrite, ref: PartialValue, value: PartialValue, type_: Type, name: Var) -> Work:
        target, atom = yield from self.atoms((ref, value))
        unit = self.residual.emit(RefWrite(target, atom, span=node.span), node, type_, name)
        if isinstance(ref.static, KnownRef):
            self.residual.store.write(ref.static.location, value)
        else:
            self.residual.store.escape((value,))
            self.residual.store.forget_escaped()
        return PartialValue(KnownTuple(()), type_, unit.atom, unit.home, name)

    # ----------------------------------------------------------------------------------------------------- naming

    def atoms(self, values: Sequence[PartialValue]) -> Generator[Any, Any, tuple[Expr, ...]]:
        found: list[Expr] = []
        for value in values:
            found.append(value.atom if value.atom is not None else (yield self.atom(value)))
        return tuple(found)

    def atom(self, value: PartialValue) -> Naming:
        """How residual code names a value, which is made if it was not yet."""
        if value.atom is not None:
            return value.atom
        match value.static:
            case KnownTuple(fields) | KnownData(_, fields):
                atoms = yield from self.atoms(fields)
                made = Tuple(atoms)
                if isinstance(value.static, KnownData):
                    made = Call(value.static.constructor, atoms, type_args=self.residual.type_args(value.type_))
                return value.atom or self.residual.give_name(value, made)
            case KnownFunction(function, environment):
                return (yield self.kept_function(value, function, environment))
            case KnownTensor() | KnownName() | KnownRef() | None:
                raise CompilerBug("known values", "a value has no name")
            case _:
                assert_never(value.static)

    def forgotten(self, value: PartialValue, name: Var) -> Work:
        """A value of which nothing is known any more but a variable."""
        atom = yield self.atom(value)
        if not isinstance(atom, Var):
            atom = self.residual.bind(self.residual.block, atom, value.type_, name)
        self.residual.store.escape((value,))
        return PartialValue(None, value.type_, atom)

    def whole(self, function: Function) -> Naming:
        """The body of a function that is nowhere inside, as residual code."""
        environment = Environment(None)
        for param in function.params:
            environment.values[param] = PartialValue(None, known_type(param), param, None, param)
        return self.body(function, environment, Store(self.residual.parts, 0))

    def body(self, function: Function, environment: Environment, store: Store) -> Naming:
        """The body of a function as residual code, with nothing known of its arguments."""
        residual = self.residual
        depth = len(residual.activations.stack)
        arguments = tuple([environment.find(param) for param in function.params])
        residual.activations.push(Activation(Kind.RESIDUAL, function, arguments, residual.branches))
        block = Block(None if residual.copies else function.body.checked_type)
        yield self.ending(block, function.body, environment, store)
        residual.activations.cut(depth)
        return (yield closed(block))

    def fresh(self, var: Var, environment: Environment) -> PartialValue:
        type_ = environment.type_of(var)
        if not self.residual.copies:
            return PartialValue(None, type_, var, None, var)
        annotation = None
        if var.type_annotation is not None:  # where ? stands there, the type has an extent that nothing else names
            declared = instantiated(var.type_annotation, environment.types)
            annotation = self.residual.annotation(type_) or self.residual.annotation(declared)
        return PartialValue(None, type_, Var(var.name_hint, annotation, span=var.span))

    def kept_function(self, value: PartialValue, function: Function, environment: Environment) -> Naming:
        """A closure as residual code, its body evaluated with nothing known of its arguments or of any ref."""
        residual = self.residual
        outer_names, outer_branches = residual.names, residual.branches
        own = {each: TypeVar(each.name, each.kind) for each in function.type_params} if residual.copies else {}
        residual.names = Names(residual.names.type_vars | set(own.values()), residual.names.symbols)
        name = Var(title_of(value.name) or "f", span=function.span) if residual.copies else value.name
        if name is not None:
            residual.set_atom(value, name)
        inner = Environment(environment, {**environment.types, **own})
        params = tuple([self.fresh(param, inner) for param in function.params])
        inner.values.update(zip(function.params, params, strict=True))
        residual.branches += 1
        body = yield self.body(function, inner, Store(residual.parts, residual.locations))
        if not residual.copies:
            made = with_body(function, body)
        else:
            variables = tuple([each.atom for each in params if isinstance(each.atom, Var)])
            result = None if function.ret_type is None else instantiated(function.ret_type, inner.types)
            ret_type = None if result is None else residual.annotation(result)
            made = Function(variables, body, ret_type, tuple(own.values()), function.attrs, span=function.span)
        residual.names, residual.branches = outer_names, outer_branches
        if name is None:  # it stands where it is used
            residual.set_atom(value, made)
            return made
        if value.home is None:
            raise CompilerBug("known values", "a function was born nowhere")
        return residual.append(value.home, name, made)


def evaluated(name: GlobalVar, functions: Functions, evaluator: Evaluator) -> Function:
    """One function of the module; itself if nothing in it is known."""
    residual, original = evaluator.residual, functions.module[name]
    before = residual.reductions
    symbols = frozenset(type_symbols(original.checked_type)) if original.checked_type is not None else frozenset()
    residual.names = Names(frozenset(original.type_params), symbols)
    body = run(evaluator.whole(functions.normal(name)))
    if residual.reductions == before:
        return original
    return Function(original.params, body, original.ret_type, original.type_params, original.attrs, span=original.span)
