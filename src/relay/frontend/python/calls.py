"""Calls: of operators, of nested functions, of closures, of constructors, of other definitions; and patterns."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import lists
from relay.frontend.python.arguments import bound, default_nodes, parameters_of
from relay.frontend.python.arithmetic import as_operand
from relay.frontend.python.assigned import changed_lists, leaves_early, local_names
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.builtin_functions import BUILTINS
from relay.frontend.python.callables import LocalFunction, Method, Template, ref
from relay.frontend.python.datatype import DataInstance, constructor_of, field_names
from relay.frontend.python.expressions import Expressions
from relay.frontend.python.indexing import extent_of
from relay.frontend.python.known import holds_expr, known_now
from relay.frontend.python.notation import PLAIN
from relay.frontend.python.numpy_functions import METHODS, NUMPY, VIEWS
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
from relay.ops.build import is_builder, with_known_type


class Calls(Expressions):
    """Translates calls and patterns."""

    def straight(self, block: Block, statements: Sequence[ast.stmt]) -> None:
        """Statements that do not leave early, into the block."""
        raise NotImplementedError

    def body(self, block: Block, statements: Sequence[ast.stmt], result: Type | None) -> Expr:
        """The body of a function, `block` being its scope, as one expression."""
        raise NotImplementedError

    def called(self, block: Block, node: ast.Call) -> Any:
        callee = self.expr(block, node.func)
        value = self.read if _only_reads(callee) else self.expr
        arguments = [value(block, each) for each in node.args]
        named = {str(each.arg): value(block, each.value) for each in node.keywords}
        return self.call(block, callee, arguments, named, self.span(node))

    def call(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        defined = self.around.call_defined(self, block, callee, arguments, named, span)
        if defined is not None:
            return defined
        match callee:
            case Template() if callee.calls_itself:
                given = bound(callee.name, callee.parameters, callee.defaults, arguments, named, span)
                return self._apply(block, self.recursive(block, callee), list(given.values()), {}, span)
            case Template():
                return self.inline(block, callee, arguments, named, span)
            case Method(owner=owner, name=name):
                return self._method(block, owner, name, arguments, named, span)
            case _ if callee is ref and len(arguments) == 1 and not named:
                return RefCreate(as_expr(block, arguments[0], span), span=span)
            case type() if issubclass(callee, DataInstance):
                return self._construct(block, callee, arguments, named, span)
            case _ if is_expr(callee):
                return self._apply(block, callee, arguments, named, span)
            case _:
                return self._python(block, callee, arguments, named, span)

    def _method(
        self, block: Block, owner: Expr, name: str, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Any:
        if is_list(block.type_of(owner)):
            raise refusal(span, f"`.{name}` of a list here", "append to or pop from a variable, on a line of its own")
        if not cast("TensorType", block.type_of(owner)).shape:
            raise refusal(span, f"`.{name}` of a number", "write the operator: round(x), abs(x), float(n)")
        made = _applied(block, METHODS[name], f"`.{name}`", [owner, *arguments], named, span)
        return _made_of(block, name in VIEWS, owner, made, span)

    def _construct(
        self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Expr:  # fmt: skip
        constructor = constructor_of(callee, block.session.types)
        order = field_names(callee)
        values = {**dict(zip(order, arguments, strict=False)), **named}
        if len(arguments) + len(named) != len(order) or values.keys() != set(order):
            raise RelayError(
                rule="arity", message=f"`{constructor.name_hint}` is given {len(arguments) + len(named)} fields",
                span=span, expected=", ".join(order) or "none",
            )  # fmt: skip
        given = [values[name] for name in order]
        fields = zip(given, constructor.inputs, strict=True)
        return Call(constructor, tuple(as_expr(block, value, span, type_) for value, type_ in fields), span=span)

    def _apply(self, block: Block, callee: Expr, arguments: list[Any], named: dict[str, Any], span: Span) -> Expr:
        type_ = block.type_of(callee)
        if not isinstance(type_, FuncType):
            raise RelayError(rule="not-a-function", message=f"a value of type {type_} is called", span=span)
        if named or len(arguments) != len(type_.arg_types):
            raise RelayError(
                rule="arity", message="a function that is a value is called with other arguments than it has",
                span=span, expected=f"{len(type_.arg_types)}, by position", remedy="give all of them, in order",
                found=", ".join([f"{len(arguments)} by position", *named]),
            )  # fmt: skip
        given = [self.as_argument(block, v, span, w) for v, w in zip(arguments, type_.arg_types, strict=True)]
        return Call(callee, tuple(given), span=span)

    def as_argument(self, block: Block, value: Any, span: Span, wanted: Type | None) -> Expr:
        """An argument as an expression; a nested function becomes a closure of the type that is wanted."""
        if isinstance(value, Template):
            return self.recursive(block, value) if value.calls_itself else self.closure(block, value, wanted, span)
        if callable(value) and not is_expr(value):
            value = self.around.reference(value, span) or value
        return as_expr(block, value, span, wanted)

    def template(self, block: Block, node: ast.FunctionDef | ast.Lambda) -> Template:
        """A function that is defined here. Its defaults are computed now, as Python does."""
        defaults = {name: self.element(block, each) for name, each in default_nodes(node.args).items()}
        parameters = parameters_of(node.args, self.span)
        own = {*local_names(node), *(each.name for each in parameters)}
        for call, name in changed_lists(node):
            if name not in own:
                raise refusal(self.span(call), f"a change of `{name}`, a list of the function around this one",
                              "return what is to be added, and add it there")  # fmt: skip
        return Template(node, block, parameters, defaults)

    def inline(self, block: Block, template: Template, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        """A call of a nested function: its body, in place."""
        given = bound(template.name, template.parameters, template.defaults, arguments, named, span)
        inner = block.entering(template.block, self.own_names(template.node) | given)
        node = template.node
        if isinstance(node, ast.Lambda):
            return self.expr(inner, node.body)
        *before, last = node.body
        if isinstance(last, ast.Return) and last.value is not None and not leaves_early(before):
            self.straight(inner, before)
            return self.expr(inner, last.value)
        return self.body(inner.inside(), node.body, None)

    def own_names(self, node: ast.FunctionDef | ast.Lambda) -> dict[str, Any]:
        """The names that a function assigns: where it begins, nothing is."""
        return dict.fromkeys(local_names(node), Unset(self.span(node)))

    def closure(self, block: Block, template: Template, wanted: Type | None, span: Span) -> Expr:
        """A nested function as a value. Its parameters need types: annotations, or those of the place that takes it."""
        node = template.node
        expected = wanted.arg_types if isinstance(wanted, FuncType) else (None,) * len(template.parameters)
        if len(expected) != len(template.parameters):
            names = ", ".join(each.name for each in template.parameters)
            raise RelayError(rule="arity", message="the function has other parameters than are wanted", span=span,
                             expected=str(wanted), found=names)  # fmt: skip
        params = [self._parameter(p.argument, type_) for p, type_ in zip(template.parameters, expected, strict=True)]
        now = block.live.get(template.block.frame, template.block)
        given = self.own_names(node) | {each.name_hint: each for each in params}
        inner = Block(block.session, {**now.names, **given}, live=block.live)
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

    def recursive(self, block: Block, template: Template) -> Expr:
        """A nested function that calls itself: a local function of the program, which sees the names around it as they
        are now. It needs all its annotations."""
        node = template.node
        assert isinstance(node, ast.FunctionDef)
        now = block.live.get(template.block.frame, template.block).names
        known = block.functions.get(template)
        if known is not None and all(now.get(name) is value for name, value in known.seen.items()):
            return known.function
        if node.returns is None:
            raise RelayError(
                rule="needs-annotation", message=f"`{node.name}` calls itself and does not say what it returns",
                span=self.span(node), remedy=f"annotate it: def {node.name}(...) -> ...:",
            )  # fmt: skip
        params = [self._parameter(each.argument, None) for each in template.parameters]
        result = self.annotation(node.returns)
        type_ = FuncType(tuple(map(block.type_of, params)), result)
        itself = with_known_type(Var(node.name, type_, span=self.span(node)))
        given = self.own_names(node) | {each.name_hint: each for each in params}
        inner = Block(block.session, {**now, **given, node.name: itself}, live=block.live)
        function = Function(tuple(params), self.body(inner, node.body, result), result, span=self.span(node))
        block.bindings.append((itself, function, self.span(node)))
        read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - {node.name}
        seen = {name: now[name] for name in read if name in now}
        if any(isinstance(each, Template) for each in seen.values()):  # which read other names
            seen = now
        block.functions[template] = LocalFunction(itself, dict(seen))
        return itself

    def _python(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        if callee in (zip, enumerate, reversed):
            return self._together(block, callee, arguments, named, span)
        if callee is len and len(arguments) == 1 and not named:
            return self._length(block, arguments[0], span)
        own = block.session.ownership.own
        if not holds_expr([*arguments, *named.values()]):
            return own(_computed_now(callee, arguments, named, span))
        name = f"`{getattr(callee, '__name__', callee)}`"
        if callee in BUILTINS:
            return own(_applied(block, BUILTINS[callee], name, [block, span, *arguments], named, span))
        if callee in NUMPY:
            made = _applied(block, NUMPY[callee], name, arguments, named, span)
            return _made_of(block, callee.__name__ in VIEWS, arguments[0] if arguments else None, made, span)
        if is_builder(callee):
            return own(callee(*arguments, **named))
        raise refusal(
            span, f"the call of {name}", "call an operator of relay, or decorate the function with @relay.function"
        )

    def _together(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        """`zip`, `enumerate`, `reversed` of what has a number of elements that is known now."""
        sequences = [each if isinstance(each, range) else self.items(block, each, span) for each in arguments]
        if any(each is None for each in sequences):
            raise refusal(
                span, f"`{callee.__name__}` of a tensor or a list of the program", "loop over positions: range(len(x))"
            )
        return known_now(span, lambda: list(callee(*sequences, **named)))

    def _length(self, block: Block, value: Any, span: Span) -> Any:
        if not is_expr(value):
            return known_now(span, len, value)
        type_ = block.type_of(value)
        if is_list(type_):
            return block.session.library("length", span)(value)
        if isinstance(type_, TensorType) and type_.shape:
            return extent_of(block, value, type_.shape[0], 0)
        if isinstance(type_, TupleType):
            return len(type_.fields)
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


def _only_reads(callee: Any) -> bool:
    """Whether what is called keeps no array or list that it is given."""
    if isinstance(callee, Method):
        return True
    module = str(getattr(callee, "__module__", ""))
    return callee not in (ref, zip, enumerate, reversed) and (
        (module.startswith("relay.") and inspect.isfunction(callee)) or module.split(".")[0] in ("numpy", "builtins")
    )


def _applied(
    block: Block, function: Callable[..., Any], name: str, arguments: Sequence[Any], named: dict[str, Any], span: Span
) -> Any:
    """An operator's function on arguments whose types are known. Raises `RelayError` (rule `python-subset`) for
    arguments that it does not have."""
    try:
        inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise RelayError(
            rule="python-subset", message=f"{name} cannot be called so in a program", span=span, found=str(error),
            remedy="leave that argument out, and write what it does with other operators",
        ) from error  # fmt: skip
    given = {key: _read(block, each, span) for key, each in named.items()}
    return function(*(_read(block, each, span) for each in arguments), **given)


def _read(block: Block, value: Any, span: Span) -> Any:
    """An argument of an operator's function: expressions have types, and arrays are expressions."""
    if isinstance(value, list | tuple):
        parts = [_read(block, each, span) for each in cast("Sequence[Any]", value)]
        return parts if isinstance(value, list) else tuple(parts)
    if is_expr(value):
        block.type_of(value)
        return value
    return as_operand(block, value, span) if isinstance(value, np.ndarray | np.generic) else value


def _made_of(block: Block, is_view: bool, owner: Any, made: Any, span: Span) -> Any:
    """The result of a function on arrays: a new one, or a view of its first argument."""
    ownership = block.session.ownership
    return ownership.view(owner, block.bind("view", made, span)) if is_view else ownership.own(made)


def _is_plain(value: Any) -> bool:
    """Whether a value is `int`, `float` or `bool`, which are 32-bit numbers in a program."""
    return isinstance(value, type) and value in PLAIN


def _computed_now(callee: Any, arguments: Sequence[Any], named: dict[str, Any], span: Span) -> Any:
    """What Python gives; arrays that NumPy makes of 64-bit numbers unless it is told are of 32 bits in a program."""
    result = known_now(span, callee, *arguments, **named)
    given = [*arguments, *named.values()]
    told = any(isinstance(each, type | np.dtype | str) for each in given if not _is_plain(each))
    of_numpy = getattr(callee, "__module__", "") == "numpy" or isinstance(getattr(callee, "__self__", None), np.ndarray)
    if isinstance(result, np.ndarray) and not told and of_numpy:
        made = cast("np.ndarray[Any, Any]", result)
        return made.astype({"float64": np.float32, "int64": np.int32}.get(made.dtype.name, made.dtype))
    return result


def _is_tuple_of(type_: Type, count: int) -> bool:
    return isinstance(type_, TupleType) and len(type_.fields) == count
