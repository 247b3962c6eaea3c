"""One walk over the nodes that have no type yet, in evaluation order, without recursion.

Each node gets a type at once where its arguments' types are known, and a variable where not. Nothing is written to
the nodes before everything is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug, Origin, RelayError
from relay.base.span import Span
from relay.infer.dimensions import close_symbols, open_unknowns
from relay.infer.explain import describe, mismatch_error, place, span_of_use
from relay.infer.forms import TYPING, bind_patterns, operator_as_value
from relay.infer.generalise import check_escape, close, open_leaves, own_type_params
from relay.infer.kinds import must_be_type
from relay.infer.lets import announce_let, bind_let
from relay.infer.solve import Solver
from relay.infer.unify import Mode, Unifier
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    Op,
    Tuple,
    Var,
    record_type,
    record_type_args,
)
from relay.ir.sharing import Scopes, scopes
from relay.ir.traversal import LEAVES, children
from relay.ir.type_traversal import type_holes, type_symbols
from relay.ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    TensorType,
    Type,
    TypeCall,
    TypeVar,
)

Action = tuple[Callable[[Any], None], Any]


class Inference:
    """The types of the nodes met so far. `signatures` are those of the globals that may be called, with whether they
    are instantiated for each call (known from annotations or before) or still being inferred."""

    def __init__(self, type_definitions: Mapping[GlobalTypeVar, TypeData]) -> None:
        self.unifier = Unifier()
        self.solver = Solver(self.unifier)
        self.type_definitions = type_definitions
        self.signatures: dict[GlobalVar, tuple[Type, bool]] = {}
        self._types: dict[Expr, Type] = {}
        self._nodes: list[Expr] = []
        self._var_types: dict[Var, Type] = {}
        self._open_vars: list[Var] = []
        self._met: set[Expr] = set()
        self._visible: list[frozenset[Symbol]] = [frozenset()]
        self._type_vars: list[frozenset[TypeVar]] = [frozenset()]
        self._own: list[tuple[TypeVar, ...]] = []
        self.generalises: set[Expr] = set()  # the functions whose lets give no type parameters
        self._type_args: list[tuple[Call, Sequence[Type]]] = []
        self._self_calls: list[Call] = []
        self._root: Expr | None = None
        self._scopes: Scopes | None = None
        self._rigid: set[Symbol] = set()
        self._closing: dict[Expr, frozenset[Symbol]] = {}
        self._finished = 0
        self._finished_calls = 0
        self.unfinished: set[Var] = set()
        self.around: dict[Var, frozenset[Symbol]] = {}  # the symbols of the functions around a let-bound function

    @property
    def visible(self) -> frozenset[Symbol]:
        """The symbols of the functions around the node that is being typed."""
        return self._visible[-1]

    @property
    def type_vars(self) -> frozenset[TypeVar]:
        """The type parameters of the functions around the node that is being typed."""
        return self._type_vars[-1]

    def scopes(self) -> Scopes:
        """Where the nodes of the expression that is being walked are evaluated."""
        if self._scopes is None:
            self._scopes = scopes(self._root or Tuple(()))
        return self._scopes

    # -------------------------------------------------------------------------------------------------- types

    def type_of(self, expr: Expr) -> Type:
        """The type of a node that was walked, or of a leaf."""
        match expr:
            case Var():
                return self.type_of_var(expr)
            case Constant(data):
                if expr.checked_type is None:
                    record_type(expr, TensorType(data.shape, expr.dtype))
            case GlobalVar():
                return self.signature(expr)[0]
            case Constructor():
                return self.constructor_type(expr)
            case Op():
                return operator_as_value(self, expr)
            case _:
                pass
        if expr.checked_type is not None:
            return expr.checked_type
        known = self._types.get(expr)
        if known is None:
            known = self._types[expr] = IncompleteType(reason=f"the type of {describe(expr)}", span=expr.span)
            self._nodes.append(expr)
        return known

    def type_of_var(self, var: Var) -> Type:
        """The type of a variable; a free one has what its annotation says."""
        return self.known_type_of(var) or self.bind_var(var, None)

    def known_type_of(self, var: Var) -> Type | None:
        """The type of a variable if it has one already."""
        return self._var_types.get(var) or var.checked_type

    def bind_var(self, var: Var, type_: Type | None) -> Type:
        """Give a variable its type: `type_`, or what its annotation says, or a new one to be found."""
        if type_ is None:
            annotated = var.type_annotation
            if annotated is not None:
                self.check_annotation(annotated, f"the type of %{var.name_hint}", var.span)
            hole = IncompleteType(reason=f"the type of %{var.name_hint}", span=var.span)
            type_ = var.checked_type or (open_unknowns(annotated, var.name_hint) if annotated is not None else hole)
        self._var_types[var] = type_
        self._open_vars.append(var)
        return type_

    def check_annotation(self, type_: Type, role: str, span: Span | None) -> None:
        """What the program gives as a type must be one."""
        if not isinstance(type_, TensorType):
            must_be_type(type_, role, self.type_definitions, span)

    def set_type(self, expr: Expr, type_: Type) -> None:
        """A node's type is found: record it, or make the variable that stands for it be this type."""
        known = self._types.get(expr)
        if known is None:
            self._types[expr] = type_
            self._nodes.append(expr)
            return
        mismatch = self.unifier.relate(type_, known, Mode.EXACT)
        if mismatch is not None:
            sides = (
                Origin("found", str(self.unifier.zonk(type_)), describe(expr)),
                Origin("used as", str(self.unifier.zonk(known))),
            )
            raise mismatch_error("type-mismatch", "an expression is used as another type", expr.span, mismatch, sides)

    def replace_type(self, expr: Expr, type_: Type) -> None:
        """The type of a node that nothing has used yet is quantified."""
        self._types[expr] = type_

    def has_met(self, expr: Expr) -> bool:
        """Whether a node was walked, or is being walked."""
        return expr in self._met

    def same_type(self, function: Function, announced: Type) -> None:
        """A function that calls itself has the type that its calls assumed."""
        mismatch = self.unifier.relate(self.type_of(function), announced, Mode.EXACT)
        if mismatch is not None:
            sides = (
                Origin("function", str(self.unifier.zonk(self.type_of(function)))),
                Origin("its calls", str(self.unifier.zonk(announced))),
            )
            message = "a function calls itself as if it were of another type"
            raise mismatch_error("recursive-type", message, function.span, mismatch, sides, "declare its result type")

    def signature(self, name: GlobalVar) -> tuple[Type, bool]:
        signature = self.signatures.get(name)
        if signature is None:
            known = ", ".join(f"@{g.name_hint}" for g in self.signatures) or "(none)"
            message = f"the module has no function @{name.name_hint}"
            raise RelayError(rule="unknown-global", message=message, span=name.span, expected=f"one of {known}")
        return signature

    def data_of(self, header: GlobalTypeVar, where: Expr | None) -> TypeData:
        """The definition of a data type."""
        data = self.type_definitions.get(header)
        if data is None:
            message = f"the module does not define the data type {header.name}"
            raise RelayError(rule="unknown-type", message=message, span=where.span if where is not None else None)
        return data

    def constructor_type(self, constructor: Constructor) -> FuncType:
        """`fn [a](fields) -> T[a]`"""
        data = self.data_of(constructor.belong_to, constructor)
        return FuncType(constructor.inputs, TypeCall(data.header, data.type_vars), data.type_vars)

    # --------------------------------------------------------------------------------------------------- walk

    def walk(self, root: Expr) -> None:
        """Find the types of `root` and of all nodes under it that have none."""
        stack: list[Action] = [(self._enter, root)]
        self._stack = stack
        self._root, self._scopes = root, None
        while stack:
            action, node = stack.pop()
            try:
                action(node)
            except RelayError as error:
                raise error.at(node.span) from None

    def _enter(self, node: Expr) -> None:
        if isinstance(node, LEAVES) or node.checked_type is not None or node in self._met:
            return
        self._met.add(node)
        stack = self._stack
        match node:
            case Function():
                stack += (self._leave_function, node), (self._enter, node.body), (self._enter_function, node)
            case Let():
                stack += (self._leave_let, node), (self._enter, node.body), (self._bind_let, node)
                stack.append((self._enter, node.value))
                if isinstance(node.value, Function):
                    stack.append((self._announce_let, node))
            case Match():
                stack.append((self._leave, node))
                stack += [(self._enter, clause.rhs) for clause in reversed(node.clauses)]
                stack += (self._bind_patterns, node), (self._enter, node.data)
            case _:
                stack.append((self._leave, node))
                stack += [(self._enter, child) for child in reversed(children(node)) if child.checked_type is None]

    def _leave(self, node: Expr) -> None:
        TYPING[type(node)](self, node)

    def _bind_patterns(self, node: Match) -> None:
        bind_patterns(self, node)

    # ---------------------------------------------------------------------------------------------- functions

    def _enter_function(self, node: Function) -> None:
        symbols: set[Symbol] = set()
        for param in node.params:
            type_ = self.type_of_var(param)
            symbols.update(type_symbols(type_))
            if param.type_annotation is not None:
                self._rigid.update(type_symbols(param.type_annotation))
        self._visible.append(self._visible[-1] | symbols)
        self.unifier.visible = self._visible[-1]
        own = own_type_params(node, [self.type_of_var(param) for param in node.params], self.type_vars)
        self._own.append(own)
        self._type_vars.append(self.type_vars.union(own))
        if node.ret_type is not None:
            self.check_annotation(node.ret_type, "the result of a function", node.span)
            self.loosen(node.ret_type)

    def loosen(self, annotation: Type) -> None:
        """Symbols that an annotation in a body mentions first stand for extents to be found."""
        self.unifier.flexible.update(s for s in type_symbols(annotation) if s not in self._visible[-1])

    def _leave_function(self, node: Function) -> None:
        body = self.type_of(node.body)
        if node.ret_type is not None:
            self._check_result(node, body, node.ret_type)
            body = node.ret_type
        visible = self._visible.pop()
        self.unifier.visible = self._visible[-1]
        self._type_vars.pop()
        own = self._own.pop()
        if node.type_params and self._own:
            check_escape(self, node)
        ret_type = close_symbols(self.unifier.zonk(body), visible)
        params = tuple(self.unifier.zonk(self.type_of_var(param)) for param in node.params)
        self._closing[node] = visible
        self.set_type(node, FuncType(params, ret_type, own))

    def _check_result(self, node: Function, body: Type, ret_type: Type) -> None:
        self.unifier.undecided.clear()
        mismatch = self.unifier.relate(body, ret_type, Mode.ASSIGN)
        sides = (
            Origin("body", str(self.unifier.zonk(body)), describe(node.body)),
            Origin("declared", str(ret_type), f"the signature{place(node.span)}"),
        )
        if mismatch is not None:
            message = "the body of a function is not of the declared type"
            raise mismatch_error("return-type", message, span_of_use(node.body, node), mismatch, sides)
        for pair in self.unifier.undecided:
            if free_symbols(pair.found) | free_symbols(pair.expected) <= self._rigid:
                raise RelayError(
                    rule="rigid-dimension",
                    message=f"the signature promises {pair.expected}, but the body has {pair.found}",
                    span=span_of_use(node.body, node),
                    origins=sides,
                    remedy="each caller chooses these extents, so they may differ; declare what the body has, or `?`",
                )
        self.unifier.undecided.clear()

    # --------------------------------------------------------------------------------------------------- lets

    def _announce_let(self, node: Let) -> None:
        announce_let(self, node)

    def _bind_let(self, node: Let) -> None:
        bind_let(self, node)

    def _leave_let(self, node: Let) -> None:
        self.set_type(node, self.type_of(node.body))

    # ------------------------------------------------------------------------------------------------- finish

    def finish(self, definitions: Iterable[Function] = ()) -> None:
        """Solve what is left, generalise `definitions`, and put every type in its final form.

        Raises `RelayError` when one stays unknown.
        """
        self.solver.finish()
        fact = self.unifier.settle_postponed()
        if fact:
            raise RelayError(rule="type-mismatch", message=f"two extents that must be equal are not: {fact}")
        for function in definitions:
            type_ = self._types.get(function)
            if isinstance(type_, FuncType) and not function.type_params:
                self._types[function] = close(self, type_, open_leaves(self, type_))
        for node in self._nodes[self._finished :]:
            self._types[node] = self._final(node, self._types[node])
        for var in self._open_vars:
            self._var_types[var] = self._final(var, self._var_types[var])
        for position, (call, type_args) in enumerate(self._type_args[self._finished_calls :], self._finished_calls):
            self._type_args[position] = (call, [self._final(call, type_) for type_ in type_args])
        self._open_vars.clear()
        self._finished = len(self._nodes)
        self._finished_calls = len(self._type_args)
        self.unifier.forget()

    def instantiated(self, call: Call, type_args: Sequence[Type]) -> None:
        """A call of a polymorphic function has these type arguments."""
        self._type_args.append((call, type_args))

    def called_itself(self, call: Call) -> None:
        """A function calls itself while its type is being found: its type arguments are its own type parameters."""
        self._self_calls.append(call)

    def _final(self, node: Expr, type_: Type) -> Type:
        final = self.unifier.zonk(type_)
        holes = type_holes(final)
        if holes:
            raise RelayError(
                rule="unresolved-types",
                message=f"{holes[0].reason or 'a type'} cannot be found",
                span=holes[0].span or node.span,
                remedy="annotate it",
            )
        if isinstance(final, FuncType) and node in self._closing:
            outside = self._closing[node]
            final = FuncType(final.arg_types, close_symbols(final.ret_type, outside), final.type_params)
        return final

    def record(self) -> None:
        """Write the types to the nodes: only after everything was found."""
        for node in self._nodes:
            record_type(node, self._types[node])
        for var, type_ in self._var_types.items():
            if var.checked_type is None:
                record_type(var, type_)
        for call, type_args in self._type_args:
            record_type_args(call, type_args)
        for call in self._self_calls:
            callee = self.type_of(call.op)
            if isinstance(callee, FuncType) and callee.type_params:
                record_type_args(call, callee.type_params)

    def final_type(self, expr: Expr) -> Type:
        """The type of a node after `finish`."""
        type_ = self.type_of(expr)
        if type_holes(type_):
            raise CompilerBug("infer", f"the type of a {type(expr).__name__} has holes after finish")
        return type_
