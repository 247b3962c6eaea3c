"""What a piece of Python is worth: each form by the reader's table for it (`forms.py`), in the order of the source."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from relay.base.diagnostics import RelayError
from relay.base.span import Span, reading
from relay.frontend.python.block import Block, Exits, is_expr
from relay.frontend.python.library.lists.unpacking import display, spread
from relay.frontend.python.library.options import chosen
from relay.frontend.python.models import as_seen
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import form_in
from relay.frontend.python.values import as_expr, is_list, is_option, items, known_now
from relay.ir.expr import Call, Constructor, Expr, Function, Var, const
from relay.ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ops.elementwise.comparison import not_equal
from relay.ops.framework.build import TupleWrapper

Entry = TypeVar("Entry")

# ------------------------------------------------------------------------------------------------------- expressions


def expr(block: Block, node: ast.expr) -> Any:
    """What an expression is worth, for something that keeps it: a name, a list, a function that is called."""
    value = operand(block, node)
    if isinstance(node, ast.Name):
        block.ownership.share(value)
    else:
        block.ownership.share_view(value)
    return value


def operand(block: Block, node: ast.expr) -> Any:
    """What an expression is worth, for something that only reads it: a Relay expression, or a Python value."""
    span = block.span(node)
    form = block.definition.forms.expressions.get(type(node))
    if form is None:
        raise refusal(span, f"this {type(node).__name__}", "write it with the forms of the subset")
    with reading(span):
        value = as_seen(block, form(block, node))
        if isinstance(value, TupleWrapper):
            value = value.astuple()
        return block.named(_bound(block, value), span) if is_expr(value) else value


def _bound(block: Block, value: Expr) -> Expr:
    """Everything but operators' calls gets a variable, so that effects keep their order and types are known."""
    plain = isinstance(value, Call) and (
        isinstance(value.op, Constructor)  # what it makes may follow from where it stands
        or (not isinstance(value.op, Var | Function) and value.checked_type is not None)
    )
    return value if plain else block.bind("value", value, value.span)


def read(block: Block, node: ast.expr) -> Any:
    """The same, where a list or tuple is written out only to be read: `np.stack([x, y])`, `return x, y`."""
    match node:
        case ast.Tuple(elts=elements):
            return tuple(spread(block, elements, read))
        case ast.List(elts=elements):
            return display(block, elements, read, block.span(node))
        case _:
            return operand(block, node)


def given(block: Block, node: ast.expr) -> Any:
    """The same for a function that is called, or for its caller: a list that is written out is a new one."""
    return operand(block, node) if isinstance(node, ast.List) else read(block, node)


def gone_over(block: Block, node: ast.expr) -> Any:
    """What a loop goes over, for as long as it does: what `enumerate`, `zip` and `reversed` are given is only read."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        callee, span = operand(block, node.func), block.span(node)
        if any(callee is each for each in (enumerate, zip, reversed)):
            named = {str(each.arg): operand(block, each.value) for each in node.keywords}
            with reading(span):
                return call(block, callee, Arguments(spread(block, node.args, gone_over), named, span))
    return operand(block, node)


def index(block: Block, node: ast.expr) -> Any:
    """What stands between the brackets of a subscript. A tuple of the program is its parts: `grid[place]`."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = (None if each is None else operand(block, each) for each in (lower, upper, step))
            return slice(*bounds)
        case ast.Tuple(elts=elements):
            return tuple(spread(block, elements, index))
        case _:
            found = operand(block, node)
            is_tuple = is_expr(found) and isinstance(block.type_of(found), TupleType)
            return tuple(items(block, found, block.span(node)) or ()) if is_tuple else found


def truth(block: Block, node: ast.expr) -> Any:
    """A condition: a Python bool, or a bool scalar. Numbers are true that are not 0, lists that are not empty.

    Raises `RelayError` (rule `bad-condition`)."""
    form = block.definition.forms.conditions.get(type(node))
    if form is not None:
        with reading(block.span(node)):
            return form(block, node)
    return truth_of(block, operand(block, node), block.span(node))


def truth_of(block: Block, value: Any, span: Span) -> Any:
    """The same of a value."""
    if not is_expr(value):
        return known_now(span, bool, value)
    type_ = block.type_of(value)
    if isinstance(type_, TensorType) and type_.shape == () and not type_.dtype.is_bool:
        return not_equal(value, const(0, type_.dtype))
    if is_list(type_):
        length = block.session.library("length", span)(value)
        return not_equal(block.bind("length", length), const(0, "int32"))
    if is_option(type_):
        return chosen(block, value, span, lambda _: False, lambda side, found: truth_of(side, found, span))
    known = _known_truth(block, type_)
    return condition(block, value, span) if known is None else known


def _known_truth(block: Block, type_: Type) -> bool | None:
    """Whether all values of a type are true: records are, tuples that are not empty, and other data. None where the
    value tells, or a method of its class."""
    kind: type | None = None
    match type_:
        case GlobalTypeVar() | TypeCall():
            kind = block.session.types.classes.get(type_.func if isinstance(type_, TypeCall) else type_)
        case TupleType():
            kind = tuple if (form := form_in(type_)) is None else form.kind
        case _:
            pass
    if kind is None or any(each in vars(base) for base in kind.__mro__ for each in _TRUTH if base is not tuple):
        return None
    return bool(type_.fields) if isinstance(type_, TupleType) and issubclass(kind, tuple) else True


_TRUTH = ("__bool__", "__len__")


def condition(block: Block, value: Any, span: Span) -> Any:
    """A value that is, or must be, a bool."""
    type_ = block.type_of(value) if is_expr(value) else None
    if isinstance(value, bool) or (isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_bool):
        return value
    raise RelayError(
        rule="bad-condition", message="a condition is a bool scalar", span=span,
        found=type(value).__name__ if type_ is None else str(type_),
        remedy="compare it (x > 0), or reduce it (x.any(), x.all())",
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------------- functions


def call(block: Block, callee: Any, arguments: Arguments) -> Any:
    """What a call of a value is worth."""
    form = _of_class(block.definition.forms.calls, callee)
    assert form is not None  # that of `object`
    return form(block, callee, arguments)


def as_argument(block: Block, value: Any, span: Span, wanted: Type | None) -> Expr:
    """An argument or a result as an expression."""
    return as_expr(block, as_value(block, value, span, wanted), span, wanted)


def as_value(block: Block, value: Any, span: Span, wanted: Type | None = None) -> Any:
    """An argument or a result: functions are values there, of the type that is wanted."""
    form = _of_class(block.definition.forms.closures, value)
    return value if form is None else form(block, value, span, wanted)


def _of_class(table: Mapping[type, Entry], value: Any) -> Entry | None:
    """What the table has for the class of a value, or for the nearest that it inherits from."""
    return next((table[each] for each in type(value).__mro__ if each in table), None)


# -------------------------------------------------------------------------------------------------------- statements


def run(block: Block, statements: Sequence[ast.stmt], exits: Exits) -> Expr:
    """The expression that a run of statements is."""
    tail = some(block, statements, (), exits)
    return exits.fall(block) if tail is None else tail


def straight(block: Block, statements: Sequence[ast.stmt]) -> None:
    """Add statements that do not leave early to the block."""
    some(block, statements, (), Exits())


def some(block: Block, statements: Sequence[ast.stmt], rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    """Add statements to the block; the whole expression when one of them, with what follows, is the end."""
    for position, statement in enumerate(statements):
        span = block.span(statement)
        form = block.definition.forms.statements.get(type(statement))
        if form is None:
            raise refusal(span, f"`{type(statement).__name__.lower()}`", "leave it out")
        try:
            with reading(span):
                tail = form(block, statement, [*statements[position + 1 :], *rest], exits)
        except RelayError as error:
            if not block.session.trials:
                raise
            block.session.trials[-1].append(error)
            continue  # others may tell more
        if tail is not None:
            return tail
    return None
