"""Equality and hash of programs up to the names of what they bind.

Both read one canonical stream of a program: nodes in pre-order, each as a tuple of tokens, where a bound variable, a
type parameter or a dimension symbol is a number (the order in which they are met) and a node met again is a number
too. So sharing counts: `let`-free `f(a, a)` with one `a` is not `f(a, a)` with two. Leaves have no sharing, spans and
inferred types do not count, constants are compared by dtype, shape and bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from hashlib import blake2b
from itertools import count, zip_longest
from struct import pack
from typing import TypeAlias, Union

import numpy as np

from relay.arith.expr import Atom, FloorDiv, FloorMod, IntExpr, Max, Min, Node, Product, Sum, Symbol
from relay.base.arguments import FLAG, takes
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    ExprBase,
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
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.traversal import children
from relay.ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)

Comparable: TypeAlias = Union[Expr, IRModule, TypeData, Type]
Chunk: TypeAlias = "tuple[object, ...]"


def structural_equal(a: Comparable, b: Comparable, map_free_vars: bool = False) -> bool:
    """Whether two expressions, modules or types are the same up to renaming. O(size), not recursive on depth.

    Free variables are equal to themselves only, unless `map_free_vars` lets them correspond one to one.

    >>> x, y = Var("x"), Var("y")
    >>> structural_equal(Function((x,), x), Function((y,), y))
    True
    >>> structural_equal(x, y), structural_equal(x, y, map_free_vars=True)
    (False, True)
    """
    if a is b:
        return True
    pairs = zip_longest(_stream(a, map_free_vars), _stream(b, map_free_vars))
    return all(left == right for left, right in pairs)


@takes(map_free_vars=FLAG)
def structural_hash(value: Comparable, map_free_vars: bool = False) -> int:
    """A 64-bit hash that agrees with `structural_equal` and is the same in every process.

    >>> x, y = Var("x"), Var("y")
    >>> structural_hash(Function((x,), x)) == structural_hash(Function((y,), y))
    True
    """
    digest = blake2b(digest_size=8)
    for chunk in _stream(value, map_free_vars):
        for token in chunk:
            digest.update(token.raw() if isinstance(token, _Bytes) else repr(token).encode())
            digest.update(b"\0")
    return int.from_bytes(digest.digest(), "little")


class _Bytes:
    """The contents of a constant, copied out only when they must be looked at."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def raw(self) -> bytes:
        return self.array.astype(self.array.dtype.newbyteorder("="), copy=False).tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes) and (self.array is other.array or self.raw() == other.raw())

    __hash__ = None  # type: ignore[assignment]


@frozen(eq=False, repr=False)
class _Free:
    """A free variable: equal to itself by identity, hashed by its name."""

    name: str
    thing: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Free) and self.thing is other.thing

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"free {self.name}"


def _stream(value: Comparable, map_free_vars: bool) -> Iterator[Chunk]:
    match value:
        case IRModule():
            for header in sorted(value.type_definitions, key=lambda header: header.name):
                yield from _definition(value.type_definitions[header])
            for name in sorted(value.functions, key=lambda name: name.name_hint):
                yield ("def", name.name_hint)
                yield from _Canonical(map_free_vars).expression(value.functions[name])
        case TypeData():
            yield from _definition(value)
        case ExprBase():
            yield from _Canonical(map_free_vars).expression(value)
        case _:
            names = _Canonical(map_free_vars)
            names.keep_symbols = not (map_free_vars or isinstance(value, FuncType))
            yield tuple(names.type_(value))


def _definition(data: TypeData) -> Iterator[Chunk]:
    names = _Canonical(map_free_vars=False)
    for variable in data.type_vars:
        names.bind(variable)
    yield ("type", data.header.name, len(data.type_vars), data.extern)
    for constructor in data.constructors:
        tokens = [token for input_type in constructor.inputs for token in names.type_(input_type)]
        yield ("constructor", constructor.name_hint, len(constructor.inputs), *tokens)


class _Canonical:
    """Numbers of what has been met so far: variables, type variables, symbols (by identity) and nodes."""

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.keep_symbols = False
        self._numbers: dict[object, int] = {}
        self._next = count()

    def bind(self, thing: object) -> int:
        number = self._numbers[thing] = next(self._next)
        return number

    def _name(self, thing: object, name: str) -> object:
        number = self._numbers.get(thing)
        if number is not None:
            return number
        return self.bind(thing) if self.map_free_vars else _Free(name, thing)

    def expression(self, root: Expr) -> Iterator[Chunk]:
        stack: list[Expr] = [root]
        while stack:
            node = stack.pop()
            leaf = self._leaf(node)
            if leaf is not None:
                yield leaf
            elif node in self._numbers:
                yield ("again", self._numbers[node])
            else:
                self.bind(node)
                yield tuple(self._inner(node))
                stack.extend(reversed(children(node)))

    def _leaf(self, node: Expr) -> Chunk | None:
        match node:
            case Var():
                if node in self._numbers or not self.map_free_vars:
                    return ("var", self._name(node, node.name_hint))
                return ("free", self.bind(node), *self._annotation(node.type_annotation))
            case GlobalVar(name):
                return ("global", name)
            case Constant(data):
                return ("constant", str(node.dtype), data.shape, _Bytes(data))
            case Constructor(name, _, belong_to):
                return ("constructor", belong_to.name, name)
            case Op(operator):
                return ("op", operator.name)
            case Tuple(()):
                return ("unit",)
            case _:
                return None

    def _inner(self, node: Expr) -> Iterator[object]:
        yield type(node).__name__
        match node:
            case Tuple(parts):
                yield len(parts)
            case TupleGetItem(_, index):
                yield index
            case Function():
                yield from self._function(node)
            case Call(_, args, attrs):
                type_args = node.given_type_args
                yield len(args)
                yield from self._attributes(attrs)
                yield len(type_args)
                for type_arg in type_args:
                    yield from self.type_(type_arg)
            case Let(var):
                yield from self._bound(var)
            case Match(_, clauses, complete):
                yield complete
                yield len(clauses)
                for clause in clauses:
                    yield from self._pattern(clause.lhs)
            case If() | RefCreate() | RefRead() | RefWrite():
                pass
            case Var() | GlobalVar() | Constant() | Constructor() | Op():
                raise AssertionError("a leaf")

    def _function(self, node: Function) -> Iterator[object]:
        yield len(node.type_params)
        for variable in node.type_params:
            yield variable.kind.value
            self.bind(variable)
        yield len(node.params)
        for param in node.params:
            yield from self._bound(param)
        yield from self._annotation(node.ret_type)
        for key in sorted(node.attrs):
            yield key
            yield from self._value(node.attrs[key])

    def _bound(self, var: Var) -> Iterator[object]:
        self.bind(var)
        return self._annotation(var.type_annotation)

    def _annotation(self, type_: Type | None) -> Iterator[object]:
        if type_ is None:
            yield None
        else:
            yield from self.type_(type_)

    def _pattern(self, root: Pattern) -> Iterator[object]:
        stack = [root]
        while stack:
            pattern = stack.pop()
            yield type(pattern).__name__
            match pattern:
                case PatternVar(var):
                    yield from self._bound(var)
                case PatternConstructor(constructor, patterns):
                    yield (constructor.belong_to.name, constructor.name_hint, len(patterns))
                    stack.extend(reversed(patterns))
                case PatternTuple(patterns):
                    yield len(patterns)
                    stack.extend(reversed(patterns))
                case _:
                    pass

    def _attributes(self, attrs: Attributes | None) -> Iterator[object]:
        if attrs is not None and attrs.shown():  # defaults are the same whether given or left out
            yield type(attrs).__name__
            for field in fields(attrs):
                yield from self._value(getattr(attrs, field.name))

    def _value(self, value: object) -> Iterator[object]:
        match value:
            case bool() | int() | None:
                yield f"{value}"
            case float():
                yield pack("<d", value)
            case str():
                yield ("text", str(value))
            case Node():
                yield self._dimension(value)
            case Mapping():
                yield ("mapping", len(value))
                for key in sorted(value):
                    yield key
                    yield from self._value(value[key])
            case tuple() | list():
                yield ("tuple", len(value))
                for item in value:
                    yield from self._value(item)
            case _:
                yield (type(value).__name__, str(value))

    def type_(self, type_: Type) -> Iterator[object]:
        match type_:
            case TensorType(shape, dtype):
                yield (str(dtype), *map(self._dimension, shape))
            case TupleType(parts):
                yield ("tuple", len(parts))
                for part in parts:
                    yield from self.type_(part)
            case FuncType(arg_types, ret_type, type_params):
                yield ("fn", len(type_params), len(arg_types))
                for variable in type_params:
                    self.bind(variable)
                for part in (*arg_types, ret_type):
                    yield from self.type_(part)
            case RefType(value):
                yield "ref"
                yield from self.type_(value)
            case TypeVar(name):
                yield ("type variable", self._name(type_, name))
            case GlobalTypeVar(name):
                yield ("data", name, 0)
            case TypeCall(func, args):
                yield ("data", func.name, len(args))
                for part in args:
                    yield from self.type_(part)
            case IncompleteType(kind):
                yield ("hole", kind.value)

    def _dimension(self, dim: IntExpr) -> object:
        match dim:
            case int():
                return dim
            case Symbol(name):
                known = self._numbers.get(dim)
                if known is not None:
                    return ("symbol", known)
                return _Free(name, dim) if self.keep_symbols else ("symbol", self.bind(dim))
            case Sum(constant, terms):
                encoded = [(self._dimension(term), coefficient) for term, coefficient in terms]
                return ("sum", constant, *sorted(encoded, key=repr))
            case Product(factors):
                return ("product", *sorted(map(self._dimension, factors), key=repr))
            case FloorDiv(left, right) | FloorMod(left, right) | Min(left, right) | Max(left, right):
                return (type(dim).__name__, self._dimension(left), self._dimension(right))
            case Atom():
                return str(dim)
            case _:
                raise AssertionError(f"not a dimension: {dim!r}")
