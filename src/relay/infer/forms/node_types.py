"""The types of the nodes and variables met so far. Nothing is written to them before everything is solved."""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import Symbol
from relay.base.diagnostics import Origin, RelayError
from relay.infer.environment import Environment
from relay.infer.forms.operator_values import operator_as_value
from relay.infer.unification.dimensions import close_symbols
from relay.infer.unification.explain import describe, mismatch_error
from relay.infer.unification.known import annotated_type
from relay.infer.unification.solve import Solver
from relay.infer.unification.unify import Mismatch, Mode, Undecided, Unifier
from relay.ir.expr import Call, Constructor, Expr, GlobalVar, Op, Var, record_type, record_type_args
from relay.ir.type_traversal import type_holes
from relay.ir.types import FuncType, IncompleteType, Type


class NodeTypes:
    """A type for each node and variable of a program, in an `environment`. The parts that are not known yet are
    variables of the `unifier`; constraints on them wait in the `solver`.

    >>> from relay.ir.expr import Tuple
    >>> from relay.ir.types import TupleType
    >>> types, unit = NodeTypes(Environment({})), Tuple(())
    >>> before = types.of(unit)
    >>> types.set(unit, TupleType(()))
    >>> print(before, types.unifier.resolve(before), unit.checked_type)
    _ () None
    >>> types.finish()
    >>> types.record()
    >>> print(unit.checked_type)
    ()
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.unifier = Unifier()
        self.solver = Solver(self.unifier)
        self._open: dict[Expr, Type] = {}
        self._final: dict[Expr, Type] = {}
        self._open_type_args: dict[Call, Sequence[Type]] = {}
        self._final_type_args: dict[Call, Sequence[Type]] = {}
        self._self_calls: list[Call] = []
        self._symbols: dict[Expr, frozenset[Symbol]] = {}
        self._postponed: list[tuple[Expr, Undecided]] = []

    def __contains__(self, expr: Expr) -> bool:
        """Whether a node has a type here, or a variable that stands for it."""
        return expr in self._open or expr in self._final

    # -------------------------------------------------------------------------------------------------- ask

    def of(self, expr: Expr) -> Type:
        """The type of an expression; of one that has none yet, a variable that stands for it. Each mention of an
        operator has a type of its own."""
        match expr:  # what a name stands for is the environment's, whatever was recorded of it in another module
            case GlobalVar():
                return self.environment.signature(expr).type
            case Constructor():
                return self.environment.constructor_type(expr)
            case Op():
                return operator_as_value(self.unifier, self.solver, expr)
            case _:
                pass
        known = self.known(expr)
        if known is not None:
            return known
        if isinstance(expr, Var):
            return self.bind(expr)
        hole = self._open[expr] = IncompleteType(reason=f"the type of {describe(expr)}", span=expr.span)
        return hole

    def known(self, expr: Expr) -> Type | None:
        """The type of an expression if it has one already."""
        return self._open.get(expr) or self._final.get(expr) or expr.checked_type

    def now(self, expr: Expr) -> Type:
        """The type of an expression, with everything known put in."""
        return self.unifier.zonk(self.of(expr))

    def origin(self, name: str, expr: Expr) -> Origin:
        """An expression as one side of a disagreement: its type as it is now, and where it stands."""
        return Origin(name, str(self.now(expr)), describe(expr))

    # -------------------------------------------------------------------------------------------------- tell

    def bind(self, var: Var, type_: Type | None = None) -> Type:
        """Give a variable its type: `type_`, or what its annotation says, or a new one to be found."""
        if type_ is None:
            if var.type_annotation is not None:
                self.environment.check_annotation(var.type_annotation, f"the type of %{var.name_hint}", var.span)
            type_ = annotated_type(var) or IncompleteType(reason=f"the type of %{var.name_hint}", span=var.span)
        self._open[var] = type_
        return type_

    def set(self, expr: Expr, type_: Type) -> None:
        """A node's type is found: note it, or make the variable that stands for it be this type."""
        known = self._open.setdefault(expr, type_)
        if known is type_:
            return
        mismatch = self.relate(type_, known, Mode.EXACT, expr)
        if mismatch is not None:
            sides = (
                Origin("found", str(self.unifier.zonk(type_)), describe(expr)),
                Origin("used as", str(self.unifier.zonk(known))),
            )
            raise mismatch_error("type-mismatch", "an expression is used as another type", expr.span, mismatch, sides)

    def replace(self, expr: Expr, type_: Type) -> None:
        """The type of a node that nothing has used yet is quantified."""
        self._open[expr] = type_

    def determine(self, function: Expr, symbols: frozenset[Symbol]) -> None:
        """The result of a function may mention `symbols`; other extents of its type are unknown to its callers."""
        self._symbols[function] = symbols

    def instantiate(self, call: Call, type_args: Sequence[Type]) -> None:
        """A call of a polymorphic function has these type arguments."""
        self._open_type_args[call] = type_args

    def call_itself(self, call: Call) -> None:
        """A function calls itself while its type is being found: its type arguments are its own type parameters."""
        self._self_calls.append(call)

    def relate(self, found: Type, expected: Type, mode: Mode, node: Expr) -> Mismatch | None:
        """Make two types relate, or say why they cannot. `node` is to blame if extents that depend on what is found
        later turn out to differ."""
        mismatch = self.unifier.relate(found, expected, mode)
        self.postpone(node)
        return mismatch

    def postpone(self, node: Expr) -> None:
        """Look again in the end at the extents of `node` that depend on what is found later."""
        if self.unifier.postponed:
            self._postponed += [(node, pair) for pair in self.unifier.take_postponed()]

    # ------------------------------------------------------------------------------------------------- finish

    def finish(self) -> None:
        """Put every type in its final form, when all constraints hold.

        Raises `RelayError` (rules `type-mismatch`, `unresolved-types`) when extents differ or a type stays unknown.
        """
        for node, pair in self._postponed:
            fact = self.unifier.relate_extents(pair.found, pair.expected, Mode.EXACT)
            if fact:
                raise RelayError(
                    rule="type-mismatch",
                    message=f"two extents that must be equal are not: {fact}",
                    span=node.span,
                    expected=str(pair.expected),
                    found=f"{pair.found}, in {describe(node)}",
                )
        for node, type_ in self._open.items():
            self._final[node] = self._finished(node, type_)
        for call, type_args in self._open_type_args.items():
            self._final_type_args[call] = [self._finished(call, type_) for type_ in type_args]
        for part in (self._open, self._open_type_args, self._symbols, self._postponed):
            part.clear()
        self.unifier.forget()

    def _finished(self, node: Expr, type_: Type) -> Type:
        final = self.unifier.zonk(type_)
        holes = type_holes(final)
        if holes:
            raise RelayError(
                rule="unresolved-types",
                message=f"{holes[0].reason or 'a type'} cannot be found",
                span=holes[0].span or node.span,
                remedy="annotate it",
            )
        if isinstance(final, FuncType) and node in self._symbols:
            ret_type = close_symbols(final.ret_type, self._symbols[node])
            final = FuncType(final.arg_types, ret_type, final.type_params)
        return final

    def record(self) -> None:
        """Write the types to the nodes: only after everything was found."""
        for node, type_ in self._final.items():
            if node.checked_type is None:
                record_type(node, type_)
        for call, type_args in self._final_type_args.items():
            record_type_args(call, type_args)
        for call in self._self_calls:
            callee = self.of(call.op)
            if isinstance(callee, FuncType):
                record_type_args(call, callee.type_params)
