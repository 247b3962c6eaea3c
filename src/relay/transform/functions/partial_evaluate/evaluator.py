"""Evaluation of programs of which only a part is known, form by form.

Every form gives a `PartialValue`. What has an effect, and what is computed from unknown tensors, is emitted into the
open block at once, so effects happen once and in their order; tuples, data cells and functions are emitted when
something that is emitted needs them. The walk is a set of generators run by `base.trampoline`: an unrolled recursion
may be as deep as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, assert_never

import numpy as np

from relay.analysis.effects import Effects
from relay.base.diagnostics import CompilerBug
from relay.infer.exhaustiveness import unmatched
from relay.ir.expr import (
    Call,
    Clause,
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
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    record_type,
)
from relay.ir.known_types import known_type
from relay.ir.traversal import LEAVES
from relay.ir.type_traversal import has_unknown_dimension
from relay.ir.types import TupleType, Type, TypeVar
from relay.transform.functions.partial_evaluate.activations import Activation, Kind
from relay.transform.functions.partial_evaluate.block import Block
from relay.transform.functions.partial_evaluate.constants import constant_of, value_of
from relay.transform.functions.partial_evaluate.functions import Functions
from relay.transform.functions.partial_evaluate.matching import Bindings, Fit, fit, narrowed, open_part
from relay.transform.functions.partial_evaluate.residual import Names, Residual, instantiated
from relay.transform.functions.partial_evaluate.store import Store, joined
from relay.transform.functions.partial_evaluate.values import (
    Environment,
    KnownData,
    KnownFunction,
    KnownName,
    KnownRef,
    KnownTensor,
    KnownTuple,
    PartialValue,
    TypeArguments,
)
from relay.transform.simplify.fold_constant import fold_expr

Work: TypeAlias = Generator[Any, Any, PartialValue]
Naming: TypeAlias = Generator[Any, Any, Expr]
NO_TYPES: TypeArguments = {}


class Evaluator:
    """Evaluates into `residual`. `call` decides what becomes of the call of a known function: `calls.Calls`."""

    def __init__(self, functions: Functions, residual: Residual) -> None:
        self.functions = functions
        self.residual = residual
        self.call: Callable[[Call, PartialValue, tuple[PartialValue, ...], Type, str], Work] | None = None

    # ----------------------------------------------------------------------------------------------------- scopes

    def chain(self, expr: Expr, environment: Environment, types: TypeArguments) -> Work:
        """The value of a scope in A-normal form, its bindings evaluated into the open block."""
        while isinstance(expr, Let):
            self.residual.step()
            hint = _hint_of(expr.var)
            if isinstance(expr.value, LEAVES):
                value = self.atom_value(expr.value, environment, types)
            else:
                type_ = instantiated(known_type(expr.value), types)
                value: PartialValue = yield self.form(expr.value, environment, types, type_, hint)
            environment.values[expr.var] = value  # before anything is made of it: a function may call itself
            annotation = expr.var.type_annotation
            if annotation is not None and has_unknown_dimension(annotation):
                environment.values[expr.var] = yield self.forgotten(value, expr.var, annotation)
            elif not value.hint:
                value.hint = hint
            expr = expr.body
        return self.atom_value(expr, environment, types)

    def forgotten(self, value: PartialValue, var: Var, annotation: Type) -> Work:
        """A value of which the program declares not to know the extents: nothing else may know them either."""
        atom = yield self.atom(value)
        self.residual.store.escape((value,))
        named = Var(var.name_hint, annotation, span=var.span)
        self.residual.append(self.residual.block, named, atom)
        return PartialValue(None, annotation, named, self.residual.block)

    def form(self, expr: Expr, environment: Environment, types: TypeArguments, type_: Type, hint: str) -> Work:
        match expr:
            case Tuple(fields):
                values = tuple([self.atom_value(each, environment, types) for each in fields])
                return PartialValue(KnownTuple(values), type_, None, self.residual.block, hint)
            case TupleGetItem(whole, index):
                value = self.atom_value(whole, environment, types)
                if isinstance(value.static, KnownTuple):
                    self.residual.reductions += 1
                    return value.static.fields[index]
                atom = yield self.atom(value)
                return self.residual.emit(TupleGetItem(atom, index, span=expr.span), type_, hint)
            case Call(op, args):
                callee = self.atom_value(op, environment, types)
                values = tuple([self.atom_value(each, environment, types) for each in args])
                return (yield self.called(expr, callee, values, type_, hint))
            case If():
                return (yield self.choice(expr, environment, types, type_, hint))
            case Match():
                return (yield self.match(expr, environment, types, type_, hint))
            case RefCreate(inner):
                return (yield self.ref_create(expr, self.atom_value(inner, environment, types), type_, hint))
            case RefRead(ref):
                return (yield self.ref_read(expr, self.atom_value(ref, environment, types), type_, hint))
            case RefWrite(ref, inner):
                target = self.atom_value(ref, environment, types)
                return (yield self.ref_write(expr, target, self.atom_value(inner, environment, types), type_, hint))
            case Let():
                raise CompilerBug("PartialEvaluate", "a let stands inside a binding of A-normal form")
            case Var() | GlobalVar() | Constant() | Function() | Constructor() | Op():
                return self.atom_value(expr, environment, types)
            case _:
                assert_never(expr)

    def atom_value(self, expr: Expr, environment: Environment, types: TypeArguments) -> PartialValue:
        match expr:
            case Var():
                return environment.find(expr)
            case Constant(data):
                return PartialValue(KnownTensor(data), instantiated(known_type(expr), types), expr)
            case GlobalVar() | Op() | Constructor():
                return PartialValue(KnownName(expr), TupleType(()), expr)
            case Function(attrs=attrs):
                type_ = instantiated(known_type(expr), types)
                if attrs and not self.functions.free_vars(expr):  # a kernel, or code for another compiler
                    return PartialValue(None, type_, expr)
                return PartialValue(KnownFunction(expr, environment, types), type_, None, self.residual.block)
            case _:
                raise CompilerBug("PartialEvaluate", f"a {type(expr).__name__} is not in A-normal form")

    # ---------------------------------------------------------------------------------------------------- calls

    def called(
        self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, hint: str
    ) -> Work:
        match callee.static:
            case KnownName(Op() as op):
                return (yield self.operator(node, op, values, type_, hint))
            case KnownName(Constructor() as constructor) if len(constructor.inputs) == len(values):
                return PartialValue(KnownData(constructor, values), type_, None, self.residual.block, hint)
            case _ if self.call is not None:
                return (yield self.call(node, callee, values, type_, hint))
            case _:
                raise CompilerBug("PartialEvaluate", "nobody decides about calls")

    def operator(self, node: Call, op: Op, values: tuple[PartialValue, ...], type_: Type, hint: str) -> Work:
        constants = [constant_of(value) for value in values]
        known = [each for each in constants if each is not None]
        if len(known) == len(values):
            call = record_type(Call(op, tuple(known), node.attrs, span=node.span), type_)
            folded = fold_expr(call)
            if folded is not call:
                self.residual.reductions += 1
                return value_of(folded, type_, self.residual.block)
        atoms: list[Expr] = []
        for value in values:
            atoms.append((yield self.atom(value)))
        return self.residual.emit(Call(op, tuple(atoms), node.attrs, span=node.span), type_, hint)

    def unknown_call(
        self,
        node: Call,
        callee: PartialValue,
        values: tuple[PartialValue, ...],
        effects: Effects,
        types: tuple[Type, ...],
        type_: Type,
        hint: str,
    ) -> Work:
        """A call that the run makes. What it may reach is forgotten if it may write; its result may be any of it."""
        op = yield self.atom(callee)
        atoms: list[Expr] = []
        for value in values:
            atoms.append((yield self.atom(value)))
        result = self.residual.emit(Call(op, tuple(atoms), None, types, span=node.span), type_, hint)
        self.residual.store.escape((callee, *values))
        if effects.writes or effects.stateful:
            self.residual.store.forget_escaped()
        return result

    # -------------------------------------------------------------------------------------------------- branches

    def choice(self, node: If, environment: Environment, types: TypeArguments, type_: Type, hint: str) -> Work:
        cond = self.atom_value(node.cond, environment, types)
        if isinstance(cond.static, KnownTensor):
            self.residual.reductions += 1
            taken = node.true_branch if cond.static.data else node.false_branch
            return (yield self.chain(taken, environment, types))
        atom = yield self.atom(cond)
        bodies: list[Expr] = []
        before, stores = self.residual.store, list[Store]()
        for branch, told in ((node.true_branch, True), (node.false_branch, False)):
            inner = environment
            if isinstance(node.cond, Var):
                inner = Environment(environment)
                constant = record_type(Constant(np.asarray(told)), cond.type_)
                inner.values[node.cond] = PartialValue(KnownTensor(constant.data), cond.type_, constant)
            bodies.append((yield self.branch(branch, inner, types, before.copy())))
            stores.append(self.residual.store)
        self.residual.store = joined(before, stores)
        return self.residual.emit(If(atom, bodies[0], bodies[1], span=node.span), type_, hint)

    def branch(self, body: Expr, environment: Environment, types: TypeArguments, store: Store) -> Naming:
        """A scope that only the run decides to evaluate, as a chain of its own; its store is left in the residual."""
        residual = self.residual
        outer = residual.block
        residual.block, residual.store = Block(), store
        residual.branches += 1
        value: PartialValue = yield self.chain(body, environment, types)
        atom = yield self.atom(value)
        residual.store.escape((value,))
        chain = residual.block.closed(atom)
        residual.branches -= 1
        residual.block = outer
        return chain

    def match(self, node: Match, environment: Environment, types: TypeArguments, type_: Type, hint: str) -> Work:
        data = self.atom_value(node.data, environment, types)
        open_: list[tuple[Clause, Fit]] = []
        for clause in node.clauses:
            bound: Bindings = {}
            found = fit(clause.lhs, data, bound)
            if found is Fit.YES and not open_:
                self.residual.reductions += 1
                environment.values.update(bound)
                return (yield self.chain(clause.rhs, environment, types))
            if found is not Fit.NO:
                open_.append((clause, found))
            if found is Fit.YES:
                break
        kept = [clause for clause, _ in open_] or list(node.clauses)  # where nothing fits, the run must fail
        dropped = len(kept) < len(node.clauses)
        self.residual.reductions += dropped and open_[-1][1] is not Fit.YES
        if not open_:
            self.residual.store.escape((data,))
        inner = [Environment(environment) for _ in kept]
        patterns: list[Pattern] = []
        for clause, inside in zip(kept, inner, strict=True):
            known = data if open_ else None
            patterns.append(open_part(clause.lhs, known, inside.values, lambda var: self.fresh(var, types)))
        asked = data
        if open_:
            patterns, asked = narrowed(patterns, data)
        atom = yield self.atom(asked)
        clauses: list[Clause] = []
        before, stores = self.residual.store, list[Store]()
        for clause, pattern, inside in zip(kept, patterns, inner, strict=True):
            if isinstance(node.data, Var) and open_ and data.static is None:
                self.refine(pattern, data, node.data, inside)
            body = yield self.branch(clause.rhs, inside, types, before.copy())
            clauses.append(Clause(pattern, body))
            stores.append(self.residual.store)
        self.residual.store = joined(before, stores)
        complete = node.complete
        if asked is not data or dropped:
            complete = not unmatched(tuple(clauses), self.functions.module.type_definitions)
        return self.residual.emit(Match(atom, tuple(clauses), complete, span=node.span), type_, hint)

    def fresh(self, var: Var, types: TypeArguments) -> PartialValue:
        type_ = instantiated(known_type(var), types)
        annotation = None if var.type_annotation is None else self.residual.annotation(type_)
        return PartialValue(None, type_, Var(var.name_hint, annotation, span=var.span))

    def refine(self, pattern: Pattern, data: PartialValue, var: Var, inner: Environment) -> None:
        """In the clause of a constructor, `var` is known to be made by it, of the variables that the clause binds."""
        if not isinstance(pattern, PatternConstructor):
            return
        parts = [each.var for each in pattern.patterns if isinstance(each, PatternVar)]
        if len(parts) == len(pattern.patterns):
            by_atom = {value.atom: value for value in inner.values.values()}
            fields = tuple(by_atom[part] for part in parts)
            inner.values[var] = PartialValue(KnownData(pattern.constructor, fields), data.type_, data.atom)

    # ------------------------------------------------------------------------------------------------------ refs

    def ref_create(self, node: RefCreate, value: PartialValue, type_: Type, hint: str) -> Work:
        atom = yield self.atom(value)
        ref = self.residual.emit(RefCreate(atom, span=node.span), type_, hint)
        location = self.residual.locations
        self.residual.locations += 1
        self.residual.store.write(location, value)
        return PartialValue(KnownRef(location), type_, ref.atom, ref.home, hint)

    def ref_read(self, node: RefRead, ref: PartialValue, type_: Type, hint: str) -> Work:
        if isinstance(ref.static, KnownRef):
            inside = self.residual.store.contents.get(ref.static.location)
            if inside is not None:
                self.residual.reductions += 1
                return inside
        atom = yield self.atom(ref)
        value = self.residual.emit(RefRead(atom, span=node.span), type_, hint)
        if isinstance(ref.static, KnownRef):
            self.residual.store.write(ref.static.location, value)
        return value

    def ref_write(self, node: RefWrite, ref: PartialValue, value: PartialValue, type_: Type, hint: str) -> Work:
        target, atom = (yield self.atom(ref)), (yield self.atom(value))
        unit = self.residual.emit(RefWrite(target, atom, span=node.span), type_, hint)
        if isinstance(ref.static, KnownRef):
            self.residual.store.write(ref.static.location, value)
        else:
            self.residual.store.escape((value,))
            self.residual.store.forget_escaped()
        return PartialValue(KnownTuple(()), type_, unit.atom, unit.home, hint)

    # ----------------------------------------------------------------------------------------------------- naming

    def atom(self, value: PartialValue) -> Naming:
        """How residual code names a value, which is made if it was not yet."""
        if value.atom is not None:
            return value.atom
        match value.static:
            case KnownTuple(fields):
                atoms: list[Expr] = []
                for each in fields:
                    atoms.append((yield self.atom(each)))
                return value.atom or self.residual.give_name(value, Tuple(tuple(atoms)))
            case KnownData(constructor, fields):
                atoms = []
                for each in fields:
                    atoms.append((yield self.atom(each)))
                return value.atom or self.residual.give_name(value, Call(constructor, tuple(atoms)))
            case KnownFunction(function, environment, types):
                return (yield self.kept_function(value, function, environment, types))
            case KnownTensor() | KnownName() | KnownRef() | None:
                raise CompilerBug("PartialEvaluate", "a value has no name")
            case _:
                assert_never(value.static)

    def kept_function(
        self, value: PartialValue, function: Function, environment: Environment, types: TypeArguments
    ) -> Naming:
        """A closure as residual code, its body evaluated with nothing known of its arguments or of any ref."""
        residual = self.residual
        outer = residual.block, residual.store, residual.names, residual.branches
        own = {each: TypeVar(each.name, each.kind) for each in function.type_params}
        types = {**types, **own}
        residual.names = Names(residual.names.type_vars | set(own.values()), residual.names.symbols)
        name = Var(value.hint or "f", span=function.span)
        residual.set_atom(value, name)
        inner = Environment(environment)
        params = tuple([self.fresh(param, types) for param in function.params])
        inner.values.update(zip(function.params, params, strict=True))
        residual.block, residual.store = Block(), Store(residual.parts, residual.locations)
        residual.branches += 1
        depth = len(residual.activations.stack)
        residual.activations.push(Activation(Kind.RESIDUAL, function, params, residual.branches))
        result: PartialValue = yield self.chain(function.body, inner, types)
        body = residual.block.closed((yield self.atom(result)))
        residual.activations.cut(depth)
        ret_type = None
        if function.ret_type is not None:
            ret_type = residual.annotation(instantiated(function.ret_type, types))
        residual.block, residual.store, residual.names, residual.branches = outer
        variables = tuple([each.atom for each in params if isinstance(each.atom, Var)])
        made = Function(variables, body, ret_type, tuple(own.values()), function.attrs, span=function.span)
        if value.home is None:
            raise CompilerBug("PartialEvaluate", "a function was born nowhere")
        residual.append(value.home, name, made)
        return name


def _hint_of(var: Var) -> str:
    """The name of a variable; those that A-normal form numbered are numbered anew by the printer."""
    name = var.name_hint
    return "v" if name[:1] == "v" and name[1:].isdecimal() else name
