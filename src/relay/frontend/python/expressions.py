"""Expressions of Python as expressions of Relay, or as Python values where everything is known now."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from relay.base.diagnostics import RelayError
from relay.base.span import Span, reading
from relay.frontend.python import lists
from relay.frontend.python.arithmetic import binary, compared, unary
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Method, Template
from relay.frontend.python.datatype import define_mentioned
from relay.frontend.python.indexing import extent_of, index_list, index_tensor
from relay.frontend.python.known import STATIC, holds_expr, known_now
from relay.frontend.python.notation import as_type
from relay.frontend.python.numpy_functions import METHODS
from relay.frontend.python.ownership import changes_in_place
from relay.frontend.python.source import PythonSource, refusal
from relay.frontend.python.values import alike, as_expr, is_list, is_option
from relay.ir.datatype import TypeData
from relay.ir.expr import Call, Constructor, Expr, Function, If, RefRead, TupleGetItem, Var, const
from relay.ir.types import GlobalTypeVar, RefType, TensorType, TupleType, Type
from relay.ops.build import TupleWrapper
from relay.ops.elementwise_binary import logical_and
from relay.ops.elementwise_unary import logical_not as op_not
from relay.ops.index import take


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

    def called(self, block: Block, node: ast.Call) -> Any:
        """What a call is worth: see `Calls`."""
        raise NotImplementedError

    def template(self, block: Block, node: ast.FunctionDef | ast.Lambda) -> Template:
        """A function that is defined here: see `Calls`."""
        raise NotImplementedError

    # --------------------------------------------------------------------------------------------------- dispatch

    def expr(self, block: Block, node: ast.expr) -> Any:
        """What an expression is worth, for something that keeps it: a name, a list, a function that is called."""
        value = self.operand(block, node)
        if isinstance(node, ast.Name):
            block.session.ownership.share(value)
        else:
            block.session.ownership.share_view(value)
        return value

    def element(self, block: Block, node: ast.expr) -> Any:
        """The same, for a list or tuple: what takes it from there does not have it alone."""
        value = self.expr(block, node)
        block.session.ownership.share(value)
        return value

    def operand(self, block: Block, node: ast.expr) -> Any:
        """What an expression is worth, for something that only reads it: a Relay expression, or a Python value."""
        with reading(self.span(node)):
            value = self._value(block, node)
            if isinstance(value, TupleWrapper):
                value = value.astuple()
            return self._named(block, value) if is_expr(value) else value

    def read(self, block: Block, node: ast.expr) -> Any:
        """The same, where a list or tuple is written out only to be read: `np.stack([x, y])`, `return x, y`."""
        match node:
            case ast.Tuple(elts=elements):
                return tuple(self.read(block, each) for each in elements)
            case ast.List(elts=elements):
                return [self.read(block, each) for each in elements]
            case _:
                return self.operand(block, node)

    def _named(self, block: Block, value: Expr) -> Expr:
        """Everything but operators' calls gets a variable, so that effects keep their order and types are known."""
        plain = isinstance(value, Call) and (
            isinstance(value.op, Constructor)  # what it makes may follow from where it stands
            or (not isinstance(value.op, Var | Function) and value.checked_type is not None)
        )
        return value if plain else block.bind("value", value, value.span)

    def _value(self, block: Block, node: ast.expr) -> Any:
        span, own = self.span(node), block.session.ownership.own
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(block, name, span)
            case ast.BinOp(left=left, op=op, right=right):
                left_value = self.operand(block, left)
                return own(self.binary(block, op, left_value, self.operand(block, right), span))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self.truth(block, operand)
                return op_not(value) if is_expr(value) else not value
            case ast.UnaryOp(op=op, operand=operand):
                value = self.operand(block, operand)
                return own(
                    unary(block, op, value, span) if is_expr(value) else known_now(span, STATIC[type(op)], value)
                )
            case ast.BoolOp(op=op, values=values):
                return self.short_circuit(block, isinstance(op, ast.And), values)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.compare(block, node, self.operand(block, left), list(zip(ops, comparators, strict=True)))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.either(block, self.truth(block, test), body, orelse)
            case ast.Tuple(elts=elements):
                return tuple(self.element(block, each) for each in elements)
            case ast.List(elts=elements):
                return own([self.element(block, each) for each in elements])
            case ast.ListComp():
                return own(lists.comprehension(self, block, node))
            case ast.Attribute(value=owner, attr=name):
                return self.attribute(block, self.operand(block, owner), name, span)
            case ast.Subscript(value=owner, slice=index):
                value = self.operand(block, owner)
                return self.subscript(block, value, self.index(block, index), span)
            case ast.Lambda():
                return self.template(block, node)
            case ast.Call():
                return self.called(block, node)
            case _:
                raise refusal(span, f"this {type(node).__name__}", "write it with the forms of the subset")

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

    def binary(self, block: Block, op: ast.operator, left: Any, right: Any, span: Span) -> Any:
        if not is_expr(left) and not is_expr(right):
            if not any(isinstance(part, list | tuple) and holds_expr(part) for part in (left, right)):
                return known_now(span, STATIC[type(op)], left, right)
            if isinstance(op, ast.Add) and type(left) is type(right):
                return left + right
            if isinstance(op, ast.Mult) and int in (type(left), type(right)):
                return left * right
        types = [block.type_of(each) if is_expr(each) else None for each in (left, right)]
        if isinstance(op, ast.Add) and any(type_ is not None and is_list(type_) for type_ in types):
            return lists.joined(block, left, right, types, span)
        return binary(block, op, left, right, span)

    def truth(self, block: Block, node: ast.expr) -> Any:
        """A condition: a Python bool, or a bool scalar. Raises `RelayError` (rule `bad-condition`)."""
        value = self.operand(block, node)
        return self._condition(block, value, node) if is_expr(value) else known_now(self.span(node), bool, value)

    def _condition(self, block: Block, value: Any, node: ast.AST) -> Any:
        """A value that is, or must be, a bool."""
        type_ = block.type_of(value) if is_expr(value) else None
        if isinstance(value, bool) or (isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_bool):
            return value
        raise RelayError(
            rule="bad-condition", message="a condition is a bool scalar", span=self.span(node),
            found=type(value).__name__ if type_ is None else str(type_),
            remedy="compare it (x > 0), or reduce it (x.any(), x.all())",
        )  # fmt: skip

    def short_circuit(self, block: Block, conjunction: bool, nodes: Sequence[ast.expr]) -> Any:
        """`and`, `or`: what stands behind is evaluated only when it decides."""
        first = self.expr(block, nodes[0])
        if len(nodes) == 1:
            return first
        if not is_expr(first):
            decides = known_now(self.span(nodes[0]), bool, first) != conjunction
            return first if decides else self.short_circuit(block, conjunction, nodes[1:])
        self._condition(block, first, nodes[0])
        side = block.inside()
        rest = self._condition(side, self.short_circuit(side, conjunction, nodes[1:]), nodes[1])
        return self._where_decided(block, first, side, as_expr(side, rest, self.span(nodes[1])), conjunction, nodes[0])

    def _where_decided(
        self, block: Block, first: Expr, side: Block, rest: Expr, conjunction: bool, node: ast.AST
    ) -> Expr:  # fmt: skip
        """`first and rest`, or `first or rest`, the rest being computed only where it is needed."""
        decided = const(not conjunction)
        branches = (side.closed(rest), decided) if conjunction else (decided, side.closed(rest))
        return block.bind("decided", If(first, *branches, span=self.span(node)), self.span(node))

    def compare(
        self, block: Block, node: ast.AST, value: Any, rest: Sequence[tuple[ast.cmpop, ast.expr]]
    ) -> Any:  # fmt: skip
        """`a < b <= c`: as `a < b and b <= c`, with `b` computed once."""
        (op, side), *rest = rest
        other = self.operand(block, side)
        if is_expr(other) and rest:
            other = block.bind("middle", other, self.span(side))
        first = self._comparison(block, op, value, other, self.span(node))
        if not rest:
            return first
        if not is_expr(first):
            return self.compare(block, node, other, rest) if known_now(self.span(node), bool, first) else first
        self._condition(block, first, node)
        inner = block.inside()
        found = as_expr(inner, self._condition(inner, self.compare(inner, node, other, rest), node), self.span(node))
        if not inner.bindings and all(isinstance(each, ast.Name | ast.Constant) for _, each in rest):
            return logical_and(first, found)
        return self._where_decided(block, first, inner, found, True, node)

    def _comparison(self, block: Block, op: ast.cmpop, left: Any, right: Any, span: Span) -> Any:
        if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
            other = right if left is None else left
            if is_expr(other) and is_option(block.type_of(other)):
                raise refusal(span, "`is None` of what the program computes", "use `match`, with `case None:`")
            return (other is None) == isinstance(op, ast.Is)
        if is_expr(left) or is_expr(right):
            return block.session.ownership.own(compared(block, op, left, right, span))
        if holds_expr((left, right)):
            raise refusal(span, "a comparison of lists or tuples", "compare their parts")
        return known_now(span, STATIC[type(op)], left, right)

    def either(self, block: Block, condition: Any, body: ast.expr, orelse: ast.expr) -> Any:
        if not is_expr(condition):
            return self.expr(block, body if condition else orelse)
        sides = [block.inside(), block.inside()]
        values = [self.expr(side, each) for side, each in zip(sides, (body, orelse), strict=True)]
        parts = alike(list(zip(sides, values, strict=True)), self.span(body))
        made = [side.closed(part) for side, part in zip(sides, parts, strict=True)]
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
                return tuple(extent_of(block, owner, extent, axis) for axis, extent in enumerate(type_.shape))
            case TensorType(), "ndim":
                return len(type_.shape)
            case TensorType(), "dtype":
                return str(type_.dtype)
            case TensorType(), "T":
                return block.session.ownership.view(owner, block.bind("turned", METHODS["transpose"](owner), span))
            case _ if name in METHODS or is_list(type_):
                return Method(owner, name)
            case _:
                raise RelayError(
                    rule="unknown-attribute", message=f"a value of type {type_} has no `{name}`", span=span,
                    remedy="call an operator of relay on it; take data apart with `match`",
                )  # fmt: skip

    def index(self, block: Block, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if each is None else self.operand(block, each) for each in (lower, upper, step)))
            case ast.Tuple(elts=elements):
                return tuple(self.index(block, each) for each in elements)
            case _:
                return self.operand(block, node)

    def subscript(self, block: Block, owner: Any, index: Any, span: Span) -> Any:
        view = block.session.ownership.view
        if not is_expr(owner):
            if not holds_expr((index,)):
                part = known_now(span, operator.getitem, owner, index)
                return view(owner, part) if changes_in_place(part) else part
            owner = as_expr(block, owner, span)
        type_ = block.type_of(owner)
        if isinstance(type_, TensorType):
            part = block.bind("part", index_tensor(block, owner, type_, index, span), span)
            return view(owner, part) if getattr(block.type_of(part), "shape", ()) else part
        if is_list(type_):
            return index_list(block, owner, index, span)
        if isinstance(type_, TupleType) and type(index) is int and -len(type_.fields) <= index < len(type_.fields):
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
                    rows = [take(value, position, axis=0) for position in range(extent)]
                    found = [block.session.ownership.view(value, row) for row in rows]
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
