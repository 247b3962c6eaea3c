"""Calls: of operators, of nested functions, of closures, of constructors, of other definitions; and patterns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import lists
from relay.frontend.python.assigned import leaves_early
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Method, Template, ref
from relay.frontend.python.datatype import DataInstance, constructor_of
from relay.frontend.python.expressions import Expressions, holds_expr, known_now
from relay.frontend.python.methods import BUILTINS, CREATING, METHODS, NUMPY
from relay.frontend.python.source import refusal
from relay.frontend.python.values import as_expr, constructor_named, is_list, is_option
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    Var,
)
from relay.ir.types import FuncType, GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ops.build import with_known_type


class Calls(Expressions):
    """Translates calls and patterns."""

    def straight(self, block: Block, statements: Sequence[ast.stmt]) -> None:
        """Statements that do not leave early, into the block."""
        raise NotImplementedError

    def body(self, block: Block, statements: Sequence[ast.stmt], result: Type | None) -> Expr:
        """The body of a function, `block` being its scope, as one expression."""
        raise NotImplementedError

    def call(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        defined = self.around.call_defined(self, block, callee, arguments, named, span)
        if defined is not None:
            return defined
        match callee:
            case Template():
                return self.inline(block, callee, arguments, named, span)
            case Method(owner=owner, name=name):
                return self._method(block, owner, name, arguments, named, span)
            case _ if callee is ref:
                return RefCreate(as_expr(block, arguments[0], span), span=span)
            case type() if issubclass(callee, DataInstance):
                return self._construct(block, callee, arguments, span)
            case _ if is_expr(callee):
                return self._apply(block, callee, arguments, span)
            case _:
                return self._python(block, callee, arguments, named, span)

    def _method(
        self, block: Block, owner: Expr, name: str, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Any:
        if is_list(block.type_of(owner)):
            raise refusal(span, f"`.{name}` of a list here", "append to or pop from a variable, on a line of its own")
        return METHODS[name](owner, *arguments, **named)

    def _construct(self, block: Block, callee: Any, arguments: list[Any], span: Span) -> Expr:
        constructor = constructor_of(callee, block.session.types)
        if len(arguments) != len(constructor.inputs):
            raise RelayError(
                rule="arity", message=f"`{constructor.name_hint}` is given {len(arguments)} fields", span=span,
                expected=f"{len(constructor.inputs)} fields",
            )  # fmt: skip
        fields = zip(arguments, constructor.inputs, strict=True)
        return Call(constructor, tuple(as_expr(block, value, span, type_) for value, type_ in fields), span=span)

    def _apply(self, block: Block, callee: Expr, arguments: list[Any], span: Span) -> Expr:
        type_ = block.type_of(callee)
        if not isinstance(type_, FuncType):
            raise RelayError(rule="not-a-function", message=f"a value of type {type_} is called", span=span)
        wanted = [*type_.arg_types, *[None] * len(arguments)]
        given = [self.as_argument(block, v, span, w) for v, w in zip(arguments, wanted, strict=False)]
        return Call(callee, tuple(given), span=span)

    def as_argument(self, block: Block, value: Any, span: Span, wanted: Type | None) -> Expr:
        """An argument as an expression; a nested function becomes a closure of the type that is wanted."""
        if isinstance(value, Template):
            return self.closure(block, value, wanted, span)
        if callable(value) and not is_expr(value):
            value = self.around.reference(value, span) or value
        return as_expr(block, value, span, wanted)

    def inline(self, block: Block, template: Template, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        """A call of a nested function: its body, in place."""
        names = template.parameters
        if len(arguments) + len(named) != len(names) or any(name not in names[len(arguments) :] for name in named):
            raise RelayError(
                rule="arity", message="a nested function is called with other arguments than it has", span=span,
                expected=", ".join(names) or "none", found=f"{len(arguments) + len(named)}",
            )  # fmt: skip
        inner = block.entering(template.block, {**dict(zip(names, arguments, strict=False)), **named})
        node = template.node
        if isinstance(node, ast.Lambda):
            return self.expr(inner, node.body)
        *before, last = node.body
        if isinstance(last, ast.Return) and last.value is not None and not leaves_early(before):
            self.straight(inner, before)
            return self.expr(inner, last.value)
        return self.body(inner.inside(), node.body, None)

    def closure(self, block: Block, template: Template, wanted: Type | None, span: Span) -> Expr:
        """A nested function as a value. Its parameters need types: annotations, or those of the place that takes it."""
        node = template.node
        expected = wanted.arg_types if isinstance(wanted, FuncType) else (None,) * len(node.args.args)
        if len(expected) != len(node.args.args):
            raise RelayError(rule="arity", message="the function has other parameters than are wanted", span=span,
                             expected=str(wanted), found=", ".join(template.parameters))  # fmt: skip
        params = [self._parameter(argument, type_) for argument, type_ in zip(node.args.args, expected, strict=True)]
        now = block.live.get(template.block.frame, template.block)
        inner = Block(block.session, {**now.names, **{each.name_hint: each for each in params}}, live=block.live)
        if isinstance(node, ast.Lambda):
            return Function(tuple(params), inner.closed(as_expr(inner, self.expr(inner, node.body), span)), span=span)
        result = None if node.returns is None else self.annotation(node.returns)
        return Function(tuple(params), self.body(inner, node.body, result), result, span=span)

    def _parameter(self, argument: ast.arg, wanted: Type | None) -> Var:
        type_ = wanted if argument.annotation is None else self.annotation(argument.annotation)
        if type_ is None:
            raise RelayError(
                rule="needs-annotation", span=self.span(argument),
                message=f"the parameter `{argument.arg}` of a function that is used as a value has no type",
                remedy=f"annotate it, in a `def`: {argument.arg}: relay.Tensor[...]",
            )  # fmt: skip
        return with_known_type(Var(argument.arg, type_, span=self.span(argument)))

    def recursive(self, block: Block, node: ast.FunctionDef) -> Expr:
        """A nested function that calls itself: a local function of the program. It needs all its annotations."""
        if node.returns is None:
            raise RelayError(
                rule="needs-annotation", message=f"`{node.name}` calls itself and does not say what it returns",
                span=self.span(node), remedy=f"annotate it: def {node.name}(...) -> ...:",
            )  # fmt: skip
        params = [self._parameter(argument, None) for argument in node.args.args]
        result = self.annotation(node.returns)
        itself = with_known_type(
            Var(node.name, FuncType(tuple(map(block.type_of, params)), result), span=self.span(node))
        )
        known = {node.name: itself, **{each.name_hint: each for each in params}}
        inner = Block(block.session, {**block.names, **known}, live=block.live)
        function = Function(tuple(params), self.body(inner, node.body, result), result, span=self.span(node))
        block.bindings.append((itself, function, self.span(node)))
        return itself

    def _python(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        values = [*arguments, *named.values()]
        if callee in (zip, enumerate, reversed):
            return self._together(block, callee, arguments, named, span)
        if callee is len and is_expr(arguments[0]):
            return self._length(block, arguments[0], span)
        if not holds_expr(values):
            if callee in CREATING and "dtype" not in named:
                named = {**named, "dtype": np.float32}
            return known_now(span, callee, *arguments, **named)
        found = _known_function(callee)
        if found is None and getattr(callee, "__module__", "").startswith("relay."):
            found = callee
        if found is None:
            raise refusal(
                span, f"the call of `{getattr(callee, '__name__', callee)}`",
                "call an operator of relay, or decorate the function with @relay.function",
            )  # fmt: skip
        prepared = [self._operand(block, each, span) for each in arguments]
        return found(*prepared, **{key: self._operand(block, each, span) for key, each in named.items()})

    def _together(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        """`zip`, `enumerate`, `reversed` of what has a number of elements that is known now."""
        sequences = [each if isinstance(each, range) else self.items(block, each, span) for each in arguments]
        if any(each is None for each in sequences):
            raise refusal(
                span, f"`{callee.__name__}` of a tensor or a list of the program", "loop over positions: range(len(x))"
            )
        return known_now(span, lambda: list(callee(*sequences, **named)))

    def _operand(self, block: Block, value: Any, span: Span) -> Any:
        """A list of tensors stays a Python list, as operators like `concatenate` take it."""
        return [self._operand(block, each, span) for each in value] if isinstance(value, list) else value

    def _length(self, block: Block, value: Expr, span: Span) -> Any:
        type_ = block.type_of(value)
        if is_list(type_):
            return block.session.library("length", span)(value)
        if isinstance(type_, TensorType) and type_.shape:
            return self._extent(value, type_, 0)
        raise RelayError(rule="no-length", message=f"a value of type {type_} has no length", span=span)

    # --------------------------------------------------------------------------------------------------- patterns

    def pattern(self, block: Block, node: ast.pattern, type_: Type) -> Pattern:
        """A pattern for values of a type; the names it binds join the block."""
        match node:
            case ast.MatchAs(pattern=None, name=None):
                return PatternWildcard()
            case ast.MatchAs(pattern=None, name=str() as name):
                var = block.names[name] = Var(name, type_, span=self.span(node))
                block.type_of(var)
                return PatternVar(var)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=[]):
                return self._class_pattern(block, node, self.expr(block, cls), patterns, type_)
            case ast.MatchSequence(patterns=patterns) if _is_tuple_of(type_, len(patterns)):
                assert isinstance(type_, TupleType)
                fields = zip(patterns, type_.fields, strict=True)
                return PatternTuple(tuple(self.pattern(block, each, field) for each, field in fields))
            case ast.MatchSequence(patterns=patterns) if is_list(type_):
                return lists.pattern(self, block, patterns, cast("TypeCall", type_), self.span(node))
            case ast.MatchSingleton(value=None) if is_option(type_):
                return PatternConstructor(constructor_named(block, "Option", "None"))
            case _:
                raise refusal(
                    self.span(node), f"this pattern for a value of type {type_}",
                    "use constructors, tuples, [first, *rest], names and _",
                )  # fmt: skip

    def present(self, block: Block, node: ast.pattern, type_: Type) -> Pattern:
        """A pattern behind `case None`: for what is there."""
        assert isinstance(type_, TypeCall)
        some = constructor_named(block, "Option", "Some")
        return PatternConstructor(some, (self.pattern(block, node, type_.args[0]),))

    def _class_pattern(
        self, block: Block, node: ast.AST, cls: Any, patterns: Sequence[ast.pattern], type_: Type
    ) -> Pattern:
        header = type_.func if isinstance(type_, TypeCall) else type_
        if not isinstance(cls, type) or getattr(cls, "__relay_type__", None) != header:
            raise RelayError(
                rule="bad-pattern", message=f"the pattern is of another type than the value, a {type_}",
                span=self.span(node), found=str(getattr(cls, "__qualname__", cls)),
            )  # fmt: skip
        constructor = constructor_of(cls, block.session.types)
        data = block.session.types[cast("GlobalTypeVar", header)]
        chosen = dict(zip(data.type_vars, type_.args if isinstance(type_, TypeCall) else (), strict=True))
        fields = lists.instances(constructor.inputs, chosen)
        if len(patterns) != len(fields):
            raise RelayError(
                rule="arity", message=f"the pattern `{constructor.name_hint}` has {len(patterns)} parts",
                span=self.span(node), expected=f"{len(fields)}",
            )  # fmt: skip
        inner = tuple(self.pattern(block, each, field) for each, field in zip(patterns, fields, strict=True))
        return PatternConstructor(constructor, inner)


def _known_function(callee: Any) -> Callable[..., Any] | None:
    """The operator that a function of Python or NumPy is."""
    try:
        return NUMPY.get(callee) or BUILTINS.get(callee)
    except TypeError:  # not hashable
        return None


def _is_tuple_of(type_: Type, count: int) -> bool:
    return isinstance(type_, TupleType) and len(type_.fields) == count
