"""Expressions of Python as expressions of Relay, or as Python values where everything is known now."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span, reading
from relay.frontend.python import lists
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Method, Template
from relay.frontend.python.datatype import define_mentioned
from relay.frontend.python.indexing import index_tensor
from relay.frontend.python.methods import BINARY, COMPARISONS, METHODS, NUMPY, binary, product
from relay.frontend.python.notation import as_type
from relay.frontend.python.source import PythonSource, refusal
from relay.frontend.python.values import as_expr, is_list
from relay.ir.datatype import TypeData
from relay.ir.expr import Call, Expr, Function, If, RefRead, TupleGetItem, Var, const
from relay.ir.types import GlobalTypeVar, RefType, TensorType, TupleType, Type, scalar_type
from relay.ops.build import TupleWrapper
from relay.ops.create import shape_of
from relay.ops.index import take

_STATIC: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip


class Definitions(Protocol):
    """The other definitions of a program. Both give None for what is none."""

    def call_defined(
        self, statements: Any, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Any:
        """The call of a decorated function, or of a method of a model."""
        ...

    def reference(self, value: Any, span: Span) -> Expr | None:
        """A decorated function as a value."""
        ...


class Expressions:
    """Translates the expressions of one definition. `find` tells what a name outside it is worth, and `around`
    what other definitions are; `types` are the data types met so far."""

    def __init__(
        self,
        source: PythonSource,
        find: Callable[[str], Any],
        around: Definitions,
        types: dict[GlobalTypeVar, TypeData],
    ) -> None:
        self.source = source
        self.find = find
        self.around = around
        self.types = types

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def call(self, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span) -> Any:
        """What a call is worth: see `Calls`."""
        raise NotImplementedError

    # --------------------------------------------------------------------------------------------------- dispatch

    def expr(self, block: Block, node: ast.expr) -> Any:
        """What an expression is worth: a Relay expression, or a Python value."""
        with reading(self.span(node)):
            value = self._expr(block, node)
            if isinstance(value, TupleWrapper):
                value = value.astuple()
            return self._named(block, value) if is_expr(value) else value

    def _named(self, block: Block, value: Expr) -> Expr:
        """Everything but operators' calls gets a variable, so that effects keep their order and types are known."""
        plain = isinstance(value, Call) and not isinstance(value.op, Var | Function) and value.checked_type is not None
        return value if plain else block.bind("value", value, value.span)

    def _expr(self, block: Block, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(block, name, self.span(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(block, node, op, self.expr(block, left), self.expr(block, right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(block, op, operand)
            case ast.BoolOp(op=op, values=values):
                return self.short_circuit(block, isinstance(op, ast.And), values)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.compare(block, node, left, ops, comparators)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.either(block, self.truth(block, test), body, orelse)
            case ast.Tuple(elts=elements):
                return tuple(self.expr(block, each) for each in elements)
            case ast.List(elts=elements):
                return [self.expr(block, each) for each in elements]
            case ast.ListComp():
                return lists.comprehension(self, block, node)
            case ast.Attribute(value=owner, attr=name):
                return self.attribute(block, self.expr(block, owner), name, self.span(node))
            case ast.Subscript(value=owner, slice=index):
                return self.subscript(block, self.expr(block, owner), self.index(block, index), self.span(node))
            case ast.Lambda():
                return Template(node, block)
            case ast.Call(func=callee, args=arguments, keywords=keywords):
                named = {str(each.arg): self.expr(block, each.value) for each in keywords}
                called = self.expr(block, callee)
                return self.call(block, called, [self.expr(block, each) for each in arguments], named, self.span(node))
            case _:
                raise refusal(self.span(node), f"this {type(node).__name__}", "write it with the forms of the subset")

    def name(self, block: Block, name: str, span: Span) -> Any:
        value = block.names[name] if name in block.names else self._outside(name, span)
        if isinstance(value, Unset):
            as_expr(block, value, span)
        return value

    def _outside(self, name: str, span: Span) -> Any:
        try:
            return self.find(name)
        except KeyError:
            if hasattr(builtins, name):
                return getattr(builtins, name)
        raise RelayError(rule="unknown-name", message=f"the name `{name}` is not known here", span=span)

    def annotation(self, node: ast.expr, variables: dict[Any, Any] | None = None) -> Type:
        """The type of an annotation in the source, evaluated as Python does: in the surroundings of the function."""
        names = _Lookup(self.find)
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
        try:
            value = eval(text, {"__builtins__": builtins}, names)  # the user's own annotation
        except Exception as error:
            raise RelayError(
                rule="bad-annotation",
                message="the annotation cannot be evaluated",
                span=self.span(node),
                found=str(error),
            ) from error
        return self.meaning(value, node, variables)

    def meaning(self, annotation: Any, node: ast.expr, variables: dict[Any, Any] | None = None) -> Type:
        """The type that an annotation, as Python evaluated it, means."""
        define_mentioned(annotation, self.types)
        return as_type(annotation, self.span(node), variables)

    # -------------------------------------------------------------------------------------------------- operators

    def binary(self, block: Block, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        if not is_expr(left) and not is_expr(right):
            if not any(isinstance(part, list | tuple) and holds_expr(part) for part in (left, right)):
                return known_now(self.span(node), _STATIC[type(op)], left, right)
            if isinstance(op, ast.Add) and type(left) is type(right):
                return left + right
            if isinstance(op, ast.Mult) and int in (type(left), type(right)):
                return left * right
        types = [block.type_of(each) if is_expr(each) else None for each in (left, right)]
        if isinstance(op, ast.Add) and any(type_ is not None and is_list(type_) for type_ in types):
            return lists.joined(block, left, right, types, self.span(node))
        if isinstance(op, ast.MatMult):
            return self._product(block, left, right, self.span(node))
        if type(op) not in BINARY:
            raise refusal(self.span(node), f"`{type(op).__name__}`", "use an operator of relay")
        return binary(BINARY[type(op)], left, right, types)

    def _product(self, block: Block, left: Any, right: Any, span: Span) -> Expr:
        sides = [as_expr(block, each, span) for each in (left, right)]
        ranks = [len(type_.shape) if isinstance(type_, TensorType) else -1 for type_ in map(block.type_of, sides)]
        try:
            return product(sides[0], sides[1], ranks[0], ranks[1])
        except ValueError as error:
            raise RelayError(
                rule="bad-product", message="`@` multiplies matrices, vectors, or batches of matrices", span=span,
                found=str(error), remedy="reshape the operands",
            ) from error  # fmt: skip

    def unary(self, block: Block, op: ast.unaryop, operand: ast.expr) -> Any:
        if isinstance(op, ast.Not):
            value = self.truth(block, operand)
            return NUMPY[np.logical_not](value) if is_expr(value) else not value
        value = self.expr(block, operand)
        if not is_expr(value):
            return known_now(self.span(operand), _STATIC[type(op)], value)
        match op:
            case ast.USub():
                return NUMPY[np.negative](value)
            case ast.Invert():
                return NUMPY[np.logical_not](value)
            case _:
                return value

    def truth(self, block: Block, node: ast.expr) -> Any:
        """A condition: a Python bool, or a bool scalar. Raises `RelayError` (rule `bad-condition`)."""
        value = self.expr(block, node)
        if not is_expr(value):
            return bool(value)
        type_ = block.type_of(value)
        if isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_bool:
            return value
        raise RelayError(
            rule="bad-condition", message="a condition is a bool scalar", span=self.span(node), found=str(type_),
            remedy="compare it (x > 0), or reduce it (x.any(), x.all())",
        )  # fmt: skip

    def short_circuit(self, block: Block, conjunction: bool, nodes: Sequence[ast.expr]) -> Any:
        """`and`, `or`: what stands behind is evaluated only when it decides."""
        first = self.truth(block, nodes[0])
        if len(nodes) == 1:
            return first
        if not is_expr(first):
            return self.short_circuit(block, conjunction, nodes[1:]) if bool(first) == conjunction else first
        side = block.inside()
        rest = as_expr(side, self.short_circuit(side, conjunction, nodes[1:]), self.span(nodes[1]))
        decided = const(not conjunction)
        branches = (side.closed(rest), decided) if conjunction else (decided, side.closed(rest))
        return If(first, *branches, span=self.span(nodes[0]))

    def compare(
        self, block: Block, node: ast.AST, left: ast.expr, ops: Sequence[ast.cmpop], comparators: Sequence[ast.expr]
    ) -> Any:
        value, results = self.expr(block, left), list[Any]()
        for op, each in zip(ops, comparators, strict=True):
            other = self.expr(block, each)
            if not is_expr(value) and not is_expr(other):
                results.append(known_now(self.span(node), _STATIC[type(op)], value, other))
            elif type(op) in COMPARISONS:
                types = [block.type_of(side) if is_expr(side) else None for side in (value, other)]
                results.append(binary(COMPARISONS[type(op)], value, other, types))
            else:
                raise refusal(self.span(node), f"`{type(op).__name__.lower()}`", "compare values, or use `match`")
            value = other
        found = results[0]
        for each in results[1:]:
            both_known = not is_expr(found) and not is_expr(each)
            found = (found and each) if both_known else NUMPY[np.logical_and](found, each)
        return found

    def either(self, block: Block, condition: Any, body: ast.expr, orelse: ast.expr) -> Any:
        if not is_expr(condition):
            return self.expr(block, body if condition else orelse)
        sides = [block.inside(), block.inside()]
        values = [self.expr(side, each) for side, each in zip(sides, (body, orelse), strict=True)]
        wanted = next((side.type_of(v) for side, v in zip(sides, values, strict=True) if is_expr(v)), None)
        made = [side.closed(as_expr(side, v, self.span(body), wanted)) for side, v in zip(sides, values, strict=True)]
        return If(condition, made[0], made[1], span=self.span(body))

    # ---------------------------------------------------------------------------------------- parts of values

    def attribute(self, block: Block, owner: Any, name: str, span: Span) -> Any:
        if not is_expr(owner):
            return known_now(span, getattr, owner, name)
        type_ = block.type_of(owner)
        match type_, name:
            case RefType(), "value":
                return RefRead(owner, span=span)
            case TensorType(), "shape":
                return tuple(self._extent(owner, type_, axis) for axis in range(len(type_.shape)))
            case TensorType(), "ndim":
                return len(type_.shape)
            case TensorType(), "dtype":
                return str(type_.dtype)
            case TensorType(), "T":
                return METHODS["transpose"](owner)
            case _ if name in METHODS or is_list(type_):
                return Method(owner, name)
            case _:
                raise RelayError(
                    rule="unknown-attribute", message=f"a value of type {type_} has no `{name}`", span=span,
                    remedy="call an operator of relay on it; take data apart with `match`",
                )  # fmt: skip

    def _extent(self, owner: Expr, type_: TensorType, axis: int) -> Any:
        extent = type_.shape[axis]
        return extent if isinstance(extent, int) else take(shape_of(owner), axis, axis=0)

    def index(self, block: Block, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if each is None else self.expr(block, each) for each in (lower, upper, step)))
            case ast.Tuple(elts=elements):
                return tuple(self.index(block, each) for each in elements)
            case _:
                return self.expr(block, node)

    def subscript(self, block: Block, owner: Any, index: Any, span: Span) -> Any:
        if not is_expr(owner):
            if not holds_expr((index,)):
                return known_now(span, operator.getitem, owner, index)
            owner = as_expr(block, owner, span)
        type_ = block.type_of(owner)
        if isinstance(type_, TensorType):
            return index_tensor(owner, type_, index, span)
        if is_list(type_):
            return block.session.library("nth", span)(owner, as_expr(block, index, span, scalar_type("int32")))
        if isinstance(type_, TupleType) and isinstance(index, int) and -len(type_.fields) <= index < len(type_.fields):
            return TupleGetItem(owner, index % len(type_.fields), span=span)
        raise RelayError(
            rule="bad-index", message=f"a value of type {type_} cannot be indexed so", span=span,
            expected="a tensor, a list, or a tuple at a place known now",
        )  # fmt: skip

    def items(self, block: Block, value: Any, span: Span) -> Sequence[Any] | None:
        """The elements of a Python list or tuple, or of a tuple of the program; None for everything else."""
        if isinstance(value, list | tuple):
            return cast("list[Any]", value)
        type_ = block.type_of(value) if is_expr(value) else None
        if not isinstance(type_, TupleType):
            return None
        whole = block.bind("pair", value, span)
        return [TupleGetItem(whole, position, span=span) for position in range(len(type_.fields))]

    def parts(self, block: Block, value: Any, count: int, span: Span) -> Sequence[Any]:
        """The parts that an assignment to several targets takes."""
        found = self.items(block, value, span)
        if found is None:
            type_ = block.type_of(value)
            match type_:
                case TensorType(shape=(int() as extent, *_)):
                    found = [take(value, position, axis=0) for position in range(extent)]
                case _:
                    raise refusal(span, f"taking a {type_} apart", "unpack tuples, or tensors of known first extent")
        if len(found) != count:
            raise RelayError(
                rule="unpack-count", message="the value has another number of parts than there are variables",
                span=span, expected=f"{count} parts", found=f"{len(found)}",
            )  # fmt: skip
        return found


class _Lookup(Mapping[str, Any]):
    """The names around a definition, for its annotations."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self.find = find

    def __getitem__(self, name: str) -> Any:
        return self.find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def holds_expr(values: Iterable[Any]) -> bool:
    """Whether some value is, or holds, an expression of the program."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if is_expr(value):
            return True
        if isinstance(value, list | tuple):
            stack.extend(cast("Sequence[Any]", value))
    return False


def known_now(span: Span, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What Python gives for values that are known now. Raises `RelayError` (rule `python-error`) as Python raises."""
    try:
        return function(*arguments, **named)
    except RelayError:
        raise
    except Exception as error:
        raise RelayError(
            rule="python-error", message="Python cannot compute this while it reads the program", span=span,
            found=f"{type(error).__name__}: {error}",
        ) from error  # fmt: skip
