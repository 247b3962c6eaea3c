"""Python's values as values of the program: numbers take the element type that is wanted, lists become Relay's; what is
known now is computed by Python."""

from __future__ import annotations

import ast
import builtins
import operator
from collections import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span, caller_span
from relay.frontend.python.block import Block, Definition, Unset, is_expr
from relay.frontend.python.callables import Repeated
from relay.frontend.python.datatype import DataInstance, define_mentioned
from relay.frontend.python.notation import as_type
from relay.frontend.python.tuples import Form, form_in, form_of, form_of_list, is_named_tuple, parts_of_form
from relay.infer.unification.dimensions import close_symbols, has_unknown_dimension
from relay.ir.expr import Call, Constructor, Expr, ExprBase, Function, Tuple, TupleGetItem, Var, record_type
from relay.ir.type_traversal import free_type_leaves
from relay.ir.types import (
    GlobalTypeVar,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.framework.build import as_expr as operand

STATIC: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip


KNOWN = (list, tuple, dict, str, abc.KeysView, abc.ValuesView, abc.ItemsView)
"""What of Python has elements that are known now, besides ranges."""


def holds_expr(values: Iterable[Any]) -> bool:
    """Whether some value is, or holds, an expression of the program."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if is_expr(value) or isinstance(value, Repeated):
            return True
        if isinstance(value, slice):
            stack.extend((value.start, value.stop, value.step))
        elif isinstance(value, dict) or is_named_tuple(type(value)):
            stack.extend(parts_of_form(value))
        elif isinstance(value, KNOWN) and not isinstance(value, str):
            stack.extend(cast("Iterable[Any]", value))
    return False


def known_now(span: Span, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What Python gives for values that are known now; numbers are Python's. Raises `RelayError` (rule `python-error`)
    as Python raises.
    """
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments, **named)
    except RelayError:
        raise
    except Exception as error:
        raise RelayError(
            rule="python-error", message="Python cannot compute this while it reads the program", span=span,
            found=f"{type(error).__name__}: {error}",
            remedy="correct it, or take it out: what is known now is computed when the program is read, reached or not",
        ) from error  # fmt: skip
    return cast("np.generic", found).item() if isinstance(found, np.generic) else found


def as_expr(block: Block, value: Any, span: Span, wanted: Type | None = None, *, declared: bool = True) -> Expr:
    """A value as an expression of a known type. `wanted` gives numbers their element type and lists their elements'.
    Where that is `declared` (an annotation, a field), an int that stands for a float is one; where two ways meet, or
    among the elements of a list, Python would keep an int.

    Raises `RelayError` (rule `python-value`) for what is no value of the language.
    """
    if isinstance(wanted, TypeCall) and is_option(wanted) and value is not None and not isinstance(value, Unset):
        inner = None if isinstance(value, ExprBase) else wanted.args[0]
        return _perhaps(block, as_expr(block, value, span, inner, declared=declared), wanted, span)
    match value:
        case ExprBase():
            return _with_fields(block, cast("Expr", value), span, wanted)
        case TupleWrapper():
            return value.astuple()
        case Unset():
            raise RelayError(
                rule="may-be-unset",
                message="a variable is used that some way through the function does not assign",
                span=span,
                found=f"assigned only at line {value.span.line}",
                remedy="assign it before the branch or loop too",
            )
        case bool() | int() | float() | np.ndarray() | np.generic():
            if not declared:
                _stays_a_float(value, wanted, span)
            dtype = _element_type(value, wanted)
            if isinstance(value, int) and not isinstance(value, bool):
                return number(value, dtype or DType.INT32, span)
            return operand(value, dtype)
        case None:
            return _nothing(block, span, wanted)
        case Repeated():
            return _repeated(block, value, span, wanted)
        case list() if form_in(wanted) == form_of_list(value):
            return of_form(block, value, span, wanted, declared)
        case list():
            return list_expr(block, cast("list[Any]", value), span, wanted)
        case _ if form_of(value) is not None:
            return of_form(block, value, span, wanted, declared)
        case tuple():
            fields = cast("tuple[Any, ...]", value)
            is_alike = isinstance(wanted, TupleType) and len(wanted.fields) == len(fields)
            types = cast("TupleType", wanted).fields if is_alike else [None] * len(fields)
            parts = [
                as_expr(block, part, span, type_, declared=declared) for part, type_ in zip(fields, types, strict=True)
            ]
            made = Tuple(tuple(parts), span=span)
            block.type_of(made)
            return made
        case DataInstance():
            made = value.to_expr(lambda part, type_: as_expr(block, part, span, type_), block.session.types)
            is_known = isinstance(wanted, TypeCall) and not free_type_leaves(wanted)
            return block.bind_as("data", made, wanted, span) if wanted is not None and is_known else made
        case _:
            raise RelayError(
                rule="python-value",
                message="a Python object is used where the program needs a value",
                remedy="strings, dicts and functions of Python are known while a program is read: choose by numbers",
                span=span,
                expected="a number, an array, a tuple or list of such, or a value of a data type",
                found=_IN_WORDS.get(type(value).__name__, type(value).__name__),
            )


_IN_WORDS = {
    **dict.fromkeys(("Template", "CompiledFunction", "Partial", "Transformed", "Method"), "a function"),
    "Counted": "a range", "Together": "a zip", "ModelPart": "a model", "type": "a class",
}  # fmt: skip
"""What values that are no expressions are to whoever wrote the function."""


def of_form(block: Block, value: Any, span: Span, wanted: Type | None = None, declared: bool = True) -> Expr:
    """A value whose parts have names, or a list that keeps its length, as a tuple whose type knows them. Raises
    `RelayError` (rule `other-names`) where one with others is wanted."""
    form, other = form_of_list(value) if isinstance(value, list) else form_of(value), form_in(wanted)
    if other is not None and form != other:
        raise RelayError(
            rule="other-names", message="a value has other names for its parts here than elsewhere", span=span,
            expected=str(other), found=str(form), remedy="give it one class, or the same keys in the same order",
        )  # fmt: skip
    assert form is not None
    parts = parts_of_form(value)
    is_alike = isinstance(wanted, TupleType) and len(wanted.fields) == len(parts)
    types = cast("TupleType", wanted).fields if is_alike else [None] * len(parts)
    fields = tuple(
        as_expr(block, part, span, type_ or _told_by_class(form, name, part), declared=declared)
        for name, part, type_ in zip(form.names, parts, types, strict=True)
    )
    made = Tuple(fields, span=span)
    return record_type(made, TupleType(cast("TupleType", block.type_of(made)).fields, form))


def _told_by_class(form: Form, name: str, part: Any) -> Type | None:
    """The type of a field whose value does not tell: an empty list, or None."""
    if form.kind in (dict, list) or not (part is None or (isinstance(part, list) and not part)):
        return None
    with suppress(RelayError):  # of classes whose annotations mean no type, only the values tell
        type_ = as_type(form.kind, None)
        found = cast("TupleType", type_).fields[form.names.index(name)]
        return None if free_type_leaves(found) else found
    return None


def number(value: bool | float, dtype: DType, span: Span | None = None) -> Expr:
    """A Python number as a constant. Raises `RelayError` (rule `integer-too-large`)."""
    if dtype.is_integer and not isinstance(value, float):
        limits = np.iinfo(str(dtype))
        if not limits.min <= value <= limits.max:
            raise RelayError(
                rule="integer-too-large", message=f"the integer {value} is no {dtype}", span=span or caller_span(),
                expected=f"{limits.min} to {limits.max}", remedy="compute with floats, or with int64 tensors",
            )  # fmt: skip
    return operand(value, dtype)


def _stays_a_float(value: Any, wanted: Type | None, span: Span) -> None:
    """Refuse an int where a float may stand as well: a value of the program has one type."""
    if isinstance(wanted, TensorType) and wanted.shape == () and wanted.dtype.is_float and type(value) is int:
        raise RelayError(
            rule="int-and-float", message="a value is an int here and a float elsewhere", span=span,
            expected="a float", found=f"the int {value}", remedy=f"write {value}.0",
        )  # fmt: skip


def is_nothing(type_: Type | None) -> bool:
    """Whether a value of the program is what a function gives that gives nothing: None in Python."""
    return isinstance(type_, TupleType) and not type_.fields


def applied(type_: TypeCall | GlobalTypeVar) -> tuple[Type, Sequence[Type]]:
    """A data type, and what it is applied to; annotations say one that takes nothing by its name."""
    return (type_.func, type_.args) if isinstance(type_, TypeCall) else (type_, ())


def is_option(type_: Type | None) -> bool:
    return isinstance(type_, TypeCall) and type_.func.name == "Option"


def _perhaps(block: Block, value: Expr, wanted: TypeCall, span: Span) -> Expr:
    """A value where one that may be missing is wanted: it is there."""
    type_ = block.type_of(value)
    if is_option(type_):
        return value
    if is_nothing(type_) and not is_nothing(wanted.args[0]):
        block.bind("nothing", value)  # what it does is done
        return _nothing(block, span, wanted)
    some = constructor_named(block, "Option", "Some")
    return block.bind_as("some", Call(some, (value,), type_args=wanted.args), wanted)


def _with_fields(block: Block, value: Expr, span: Span, wanted: Type | None) -> Expr:
    """A tuple of the program, some fields of which may be missing where it is wanted."""
    if not isinstance(wanted, TupleType) or not any(map(is_option, wanted.fields)) or block.type_of(value) == wanted:
        return value
    parts = items(block, value, span)
    return value if parts is None else as_expr(block, tuple(parts), span, wanted)


def _element_type(value: Any, wanted: Type | None) -> DType | None:
    """A number takes what is wanted if that loses nothing; arrays keep their own."""
    if isinstance(value, np.ndarray | np.generic) or not isinstance(wanted, TensorType):
        return None
    if isinstance(value, bool) != wanted.dtype.is_bool or (isinstance(value, float) and not wanted.dtype.is_float):
        return None
    return wanted.dtype


def _nothing(block: Block, span: Span, wanted: Type | None) -> Expr:
    """None: nothing of an Option, or the empty tuple."""
    if isinstance(wanted, TypeCall) and is_option(wanted):
        return block.bind_as(
            "none", Call(constructor_named(block, "Option", "None"), (), type_args=wanted.args), wanted
        )
    return as_expr(block, (), span)


def list_expr(block: Block, items: Sequence[Any], span: Span, wanted: Type | None = None) -> Expr:
    """A Relay list of these elements, or a tuple where arrays and numbers of several types are among them. Raises
    `RelayError` (rule `empty-list`) when nothing says of what it is one."""
    element = wanted.args[0] if isinstance(wanted, TypeCall) and wanted.func.name == "List" else None
    parts: list[Expr] = []
    is_told = element is not None
    for item in items:
        parts.append(as_expr(block, item, span, element, declared=False))
        element = element or block.type_of(parts[0])
    if element is None and not parts:
        raise RelayError(
            rule="empty-list",
            message="nothing says what the elements of this list are",
            span=span,
            remedy="annotate the variable: xs: list[relay.Tensor[(3,)]] = []",
        )
    assert element is not None
    if not is_told and not all(_may_be_one(element, block.type_of(each)) for each in parts):
        return of_form(block, parts, span)
    if has_unknown_dimension(element):  # elements whose other extents only the way to here knows
        element = close_symbols(element, block.definition.extents)
    type_ = TypeCall(GlobalTypeVar("List"), (element,))
    cons, nil = constructor_named(block, "List", "Cons"), constructor_named(block, "List", "Nil")
    result: Expr = Call(nil, (), type_args=(element,), span=span)
    for part in reversed(parts):
        result = Call(cons, (part, result), type_args=(element,), span=span)
    return block.bind_as("items", result, type_, span)


def _repeated(block: Block, value: Repeated, span: Span, wanted: Type | None) -> Expr:
    """Several empty lists, or Nones. Raises `RelayError` (rule `empty-list`) when nothing says what lists they are."""
    position = with_known_type(Var("i", scalar_type("int32")))
    element = wanted.args[0] if isinstance(wanted, TypeCall) and wanted.func.name == "List" else None
    item = as_expr(block, value.item, span, element)
    made = block.session.library("tabulate", span)(Function((position,), item), value.count)
    return block.bind("items", made, span)


def _may_be_one(one: Type, other: Type) -> bool:
    """Whether two types of elements may turn out to be the same."""
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return True
    pairs = zip(one.shape, other.shape, strict=False)
    differ = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)
    return one.dtype == other.dtype and len(one.shape) == len(other.shape) and not differ


def constructor_named(block: Block, type_name: str, name: str) -> Constructor:
    """A constructor of lists or options."""
    data = block.session.types[GlobalTypeVar(type_name)]
    return next(each for each in data.constructors if each.name_hint == name)


def is_number(type_: Type | None) -> bool:
    return isinstance(type_, TensorType) and type_.shape == ()


def is_list(type_: Type) -> bool:
    return isinstance(type_, TypeCall) and type_.func.name == "List"


def items(block: Block, value: Any, span: Span) -> Sequence[Any] | None:
    """The elements of a list, a tuple, a dict or a string of Python, or of a tuple of the program; None for everything
    else. Whoever goes over the parts of a list does not have them alone."""
    if isinstance(value, KNOWN):
        found = list(cast("Iterable[Any]", value))
        for each in () if isinstance(value, tuple) else found:
            block.ownership.share(each)
        return found
    type_ = block.type_of(value) if is_expr(value) else None
    if not isinstance(type_, TupleType):
        return None
    whole = block.bind("pair", value, span)
    return [TupleGetItem(whole, position, span=span) for position in range(len(type_.fields))]


def annotated_type(definition: Definition, node: ast.expr, variables: dict[Any, TypeVar] | None = None) -> Type:
    """The type of an annotation in the source, evaluated as Python does: in the surroundings of the definition.

    Raises `RelayError` (rule `bad-annotation`).
    """
    return meaning(definition, annotation_of(definition, node), node, variables)


def annotation_of(definition: Definition, node: ast.expr) -> Any:
    """What an annotation evaluates to. Raises `RelayError` (rule `bad-annotation`)."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
    try:
        return eval(text, {"__builtins__": builtins}, _Outside(definition.find))  # the user's own annotation
    except Exception as error:
        raise RelayError(
            rule="bad-annotation", message="the annotation cannot be evaluated", span=definition.source.span(node),
            found=str(error),
        ) from error  # fmt: skip


def meaning(
    definition: Definition, annotation: Any, node: ast.expr, variables: dict[Any, TypeVar] | None = None
) -> Type:
    """The type that an annotation, as Python evaluated it, means."""
    define_mentioned(annotation, definition.session.types)
    return as_type(annotation, definition.source.span(node), variables)


class _Outside(dict[str, Any]):
    """The names around a definition, for its annotations."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self.find = find

    def __missing__(self, name: str) -> Any:
        return self.find(name)
