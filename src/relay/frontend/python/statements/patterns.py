"""Patterns of Python as Relay's, with what must hold besides them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block
from relay.frontend.python.datatype import constructor_of, field_names
from relay.frontend.python.expressions.operators import comparison
from relay.frontend.python.library.indexing import index_list
from relay.frontend.python.library.lists.sequences import sliced
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import form_in
from relay.frontend.python.values import constructor_named, is_list, is_option, items
from relay.ir.expr import (
    Call,
    Expr,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
    record_type,
)
from relay.ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ops.framework.build import with_known_type

Tests: TypeAlias = list[Callable[[Block], Any]]
"""What must hold besides the pattern, each in the block where its names are known."""


@frozen
class Named:
    """A name for a part that is there once the tests before it hold: a test that always does."""

    name: str
    part: Callable[[Block], Any]

    def __call__(self, block: Block) -> bool:
        block.names[self.name] = self.part(block)
        return True


def alternatives(node: ast.pattern) -> list[ast.pattern]:
    """A pattern without `|` inside, for each way through it."""
    match node:
        case ast.MatchOr(patterns=patterns):
            return [each for part in patterns for each in alternatives(part)]
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            return [ast.copy_location(ast.MatchAs(each, name), node) for each in alternatives(inner)]
        case ast.MatchSequence(patterns=patterns):
            ways = product(*map(alternatives, patterns))
            return [ast.copy_location(ast.MatchSequence(list(way)), node) for way in ways]
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            count = len(patterns)
            ways = product(*map(alternatives, [*patterns, *named]))
            made = [ast.MatchClass(cls, list(way[:count]), names, list(way[count:])) for way in ways]
            return [ast.copy_location(each, node) for each in made]
        case _:
            return [node]


def pattern(block: Block, node: ast.pattern, type_: Type, tests: Tests) -> Pattern:
    """A pattern for values of a type; the names it binds join the block, and what it does not say itself the tests."""
    match node, type_:
        case ast.MatchAs(pattern=None, name=None), _:
            return PatternWildcard()
        case ast.MatchAs(pattern=None, name=str() as name), _:
            var = block.names[name] = Var(name, type_, span=block.span(node))
            block.type_of(var)
            return PatternVar(var)
        case ast.MatchAs(pattern=ast.pattern() as inner, name=str() as name), _:
            found, whole = _with_parts(block, pattern(block, inner, type_, tests), type_, node)
            block.type_of(whole)
            block.names[name] = whole
            return found
        case ast.MatchValue(value=value), TensorType(shape=()):
            return _equal(block, dispatch.operand(block, value), type_, tests, node)
        case ast.MatchSingleton(value=bool() as value), TensorType(shape=(), dtype=DType.BOOL):
            return _equal(block, value, type_, tests, node)
        case ast.MatchClass(cls=cls), _:
            return _of_class(block, node, dispatch.expr(block, cls), type_, tests)
        case ast.MatchSequence(patterns=patterns), TupleType(fields=fields) if len(patterns) == len(fields):
            return PatternTuple(tuple(pattern(block, *pair, tests) for pair in zip(patterns, fields, strict=True)))
        case ast.MatchSequence(patterns=patterns), TypeCall() if is_list(type_):
            return _of_list(block, patterns, type_, tests)
        case ast.MatchSingleton(value=None), _ if is_option(type_):
            return PatternConstructor(constructor_named(block, "Option", "None"))
        case _:
            raise refusal(
                block.span(node), f"this pattern for a value of type {type_}",
                "use constructors, tuples, [first, *rest], numbers, names and _",
            )  # fmt: skip


def present(block: Block, node: ast.pattern, type_: Type, tests: Tests) -> Pattern:
    """A pattern behind `case None`: for what is there."""
    assert isinstance(type_, TypeCall)
    some = constructor_named(block, "Option", "Some")
    return PatternConstructor(some, (pattern(block, node, type_.args[0], tests),))


def _equal(block: Block, wanted: Any, type_: Type, tests: Tests, node: ast.pattern) -> Pattern:
    """A pattern for one number."""
    var = with_known_type(Var("number", type_, span=block.span(node)))
    tests.append(lambda inner: comparison(inner, ast.Eq(), var, wanted, inner.span(node)))
    return PatternVar(var)


def _of_class(block: Block, node: ast.MatchClass, cls: Any, type_: Type, tests: Tests) -> Pattern:
    form = form_in(type_)
    if isinstance(type_, TupleType) and form is not None and cls is form.kind:
        inner = zip(_by_name(block, node, form.kind.__name__, form.names), type_.fields, strict=True)
        return PatternTuple(tuple(pattern(block, each, field, tests) for each, field in inner))
    header = type_.func if isinstance(type_, TypeCall) else type_
    if not isinstance(cls, type) or getattr(cls, "__relay_type__", None) != header:
        raise RelayError(
            rule="bad-pattern", message=f"the pattern is of another type than the value, a {type_}",
            span=block.span(node), found=str(getattr(cls, "__qualname__", cls)),
        )  # fmt: skip
    constructor = constructor_of(cls, block.session.types)
    patterns = _by_name(block, node, cls.__name__, field_names(cls))
    fields = block.session.types.fields(cast("TypeCall | GlobalTypeVar", type_))[constructor.name_hint]
    inner = tuple(pattern(block, each, field, tests) for each, field in zip(patterns, fields, strict=True))
    return PatternConstructor(constructor, inner)


def _by_name(block: Block, node: ast.MatchClass, name: str, order: Sequence[str]) -> list[ast.pattern]:
    """The pattern for each field, in order. Raises `RelayError` (rule `arity`)."""
    given = {
        **dict(zip(order, node.patterns, strict=False)),
        **dict(zip(node.kwd_attrs, node.kwd_patterns, strict=True)),
    }
    count = len(node.patterns) + len(node.kwd_patterns)
    if len(node.patterns) > len(order) or len(given) != count or not given.keys() <= set(order):
        raise RelayError(
            rule="arity", message=f"the pattern `{name}` has {count} parts",
            span=block.span(node), expected=f"{len(order)}: {', '.join(order)}",
        )  # fmt: skip
    return [given.get(name, ast.copy_location(ast.MatchAs(), node)) for name in order]


def _of_list(block: Block, patterns: Sequence[ast.pattern], type_: TypeCall, tests: Tests) -> Pattern:
    """`[]`, `[first]`, `[first, *rest]` for a Relay list."""
    result: Pattern = PatternConstructor(constructor_named(block, "List", "Nil"))
    cons, heads = constructor_named(block, "List", "Cons"), list(patterns)
    stars = [place for place, each in enumerate(patterns) if isinstance(each, ast.MatchStar)]
    if stars:
        star, behind, heads = cast("ast.MatchStar", heads[stars[0]]), heads[stars[0] + 1 :], heads[: stars[0]]
        rest = ast.copy_location(ast.MatchAs(None, None if behind else star.name), star)
        result = pattern(block, rest, type_, tests)
        if behind:
            result = _from_behind(block, star, behind, type_, tests)
    found = [pattern(block, each, type_.args[0], tests) for each in heads]
    for each in reversed(found):
        result = PatternConstructor(cons, (each, result))
    return result


def _from_behind(
    block: Block, star: ast.MatchStar, behind: Sequence[ast.pattern], type_: TypeCall, tests: Tests
) -> Pattern:
    """`*rest, last`: any list that is long enough, whose last elements are found by their places."""
    span, count = block.span(star), len(behind)
    whole = with_known_type(Var("rest", type_, span=span))

    def is_long_enough(inner: Block) -> Any:
        length = inner.bind("count", inner.session.library("length", span)(whole), span)
        return comparison(inner, ast.GtE(), length, count, span)

    tests.append(is_long_enough)
    if star.name is not None:
        tests.append(Named(star.name, lambda inner: sliced(inner, whole, slice(None, -count), span)))
    for place, each in enumerate(behind):
        _part(block, each, type_.args[0], lambda at, place=place: index_list(at, whole, place - count, span), tests)
    return PatternVar(whole)


def _part(block: Block, node: ast.pattern, type_: Type, part: Callable[[Block], Any], tests: Tests) -> None:
    """A pattern for what no pattern of Relay reaches: it is read where the tests so far hold."""
    span = block.span(node)
    match node, type_:
        case ast.MatchAs(pattern=None, name=None), _:
            pass
        case ast.MatchAs(pattern=inner, name=str() as name), _:
            tests.append(Named(name, lambda at: at.named(at.bind(name, part(at), span), span)))
            if inner is not None:
                _part(block, inner, type_, part, tests)
        case ast.MatchValue(value=value), TensorType(shape=()):
            tests.append(lambda at: comparison(at, ast.Eq(), part(at), dispatch.operand(at, value), span))
        case ast.MatchSequence(patterns=patterns), TupleType(fields=fields) if len(patterns) == len(fields):
            for place, (each, field) in enumerate(zip(patterns, fields, strict=True)):
                _part(block, each, field, lambda at, place=place: (items(at, part(at), span) or ())[place], tests)
        case _:
            raise refusal(span, f"this pattern behind a `*`, for a value of type {type_}",
                          "use names, numbers and tuples of such there")  # fmt: skip


def _with_parts(block: Block, found: Pattern, type_: Type, node: ast.AST) -> tuple[Pattern, Expr]:
    """A pattern, with names for all that it leaves out, and what it matches, made of its parts again."""
    match found:
        case PatternVar(var):
            return found, var
        case PatternWildcard():
            var = with_known_type(Var("part", type_, span=block.span(node)))
            return PatternVar(var), var
        case PatternTuple(patterns=patterns):
            fields = cast("TupleType", type_).fields
            parts = [_with_parts(block, each, field, node) for each, field in zip(patterns, fields, strict=True)]
            made = record_type(Tuple(tuple(part for _, part in parts), span=block.span(node)), type_)
            return PatternTuple(tuple(each for each, _ in parts)), made
        case PatternConstructor(constructor=constructor, patterns=patterns):
            of = cast("TypeCall | GlobalTypeVar", type_)
            fields = block.session.types.fields(of)[constructor.name_hint]
            parts = [_with_parts(block, each, field, node) for each, field in zip(patterns, fields, strict=True)]
            types = of.args if isinstance(of, TypeCall) else ()
            made = Call(constructor, tuple(part for _, part in parts), type_args=types, span=block.span(node))
            return PatternConstructor(constructor, tuple(each for each, _ in parts)), made
