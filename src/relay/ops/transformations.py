"""Operators on functions: grad and its kin, checkpoint, custom_gradient. They take a function and give one.

They are no kernels and have no records: `ApplyTransformations` puts the function that a call means in its place, before
any other pass looks at the program, so that all that is known of a call is its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, Union

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span, caller_span
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Op
from relay.ir.operator import Operator, Waiting
from relay.ir.types import FuncType, IncompleteType, RefType, TensorType, TupleType, Type, type_parts
from relay.ops.framework.relating import Refused, RelationRun, relation_of

Wrt: TypeAlias = Union[int, str, Sequence[Union[int, str]], None]
"""With respect to what: a parameter, by its place or name; several; None for all."""

NOTHING = TupleType(())
"""The type of the cotangent of what cannot be differentiated."""


@frozen
class WrtAttributes(Attributes):
    """`wrt`: the place of a parameter, which alone gives its gradient; those of several, which give a tuple; None for
    all."""

    wrt: int | tuple[int, ...] | None = None


def places_of(wrt: int | tuple[int, ...] | None, count: int) -> tuple[int, ...]:
    """The places that are meant, of `count` parameters; negative ones count from the back."""
    if wrt is None:
        return tuple(range(count))
    return tuple(at % count for at in ((wrt,) if isinstance(wrt, int) else wrt))


def _function(run: RelationRun, wrt: int | tuple[int, ...] | None) -> tuple[FuncType, tuple[int, ...]]:
    """The type of the function, and the places that are meant."""
    type_ = run.types[0]
    if isinstance(type_, IncompleteType):
        raise Refused(Waiting((0,), f"the type of {run.names[0]}"))
    if not isinstance(type_, FuncType):
        run.conflict("not-a-function", "only functions are differentiated", "a function", str(type_), (0,))
    open_parts = [part for part in type_parts(type_) if isinstance(part, IncompleteType)]
    if open_parts:
        raise Refused(Waiting((0,), f"the types of the parameters and the result of {run.names[0]}"))
    if type_.type_params:
        run.conflict(
            "generic-function", "a generic function is differentiated at no type", "types without parameters",
            str(type_), (0,), "call it in a function of its own, whose parameters have types",
        )  # fmt: skip
    count = len(type_.arg_types)
    for at in () if wrt is None else (wrt,) if isinstance(wrt, int) else wrt:
        if not -count <= at < count:
            run.conflict("unknown-parameter", f"the function has no parameter {at}", f"{count} parameters", str(at))
    return type_, places_of(wrt, count)


def cotangent_type(type_: Type) -> Type:
    """The type of the cotangents of a type's values, as programs write them; those of data are of the data's type."""
    match type_:
        case TensorType(_, dtype):
            return type_ if dtype.is_float else NOTHING
        case TupleType(fields):
            return TupleType(tuple(map(cotangent_type, fields)))
        case RefType(value):
            return cotangent_type(value)
        case _:
            return type_


def pullback_type(type_: FuncType, result: Type) -> FuncType:
    """The type of the pullback that a function brings along."""
    return FuncType((*type_.arg_types, type_.ret_type, cotangent_type(type_.ret_type)), result)


def _cotangent(run: RelationRun, type_: Type) -> Type:
    if any(isinstance(part, FuncType) for part in type_parts(type_)):
        return run.conflict(
            "no-gradient", "the cotangent of a function has no type that a program could write",
            "tensors, tuples and data", str(type_), (0,), "name the other parameters by wrt",
        )  # fmt: skip
    return cotangent_type(type_)


def _cotangents(run: RelationRun, type_: FuncType, places: Sequence[int], alone: bool) -> Type:
    found = tuple(_cotangent(run, type_.arg_types[at]) for at in places)
    return found[0] if alone else TupleType(found)


def _reverse(with_value: bool, given: bool) -> Callable[[RelationRun, Any], Type]:
    def rule(run: RelationRun, attributes: WrtAttributes) -> Type:
        """fn (parameters) -> T → fn (parameters, the cotangent of T if it is given) -> (T, cotangents)"""
        type_, places = _function(run, attributes.wrt)
        if not given and not (isinstance(type_.ret_type, TensorType) and type_.ret_type.dtype.is_float):
            run.conflict("no-gradient", "the value of what is differentiated is not a float tensor", "a float tensor",
                         str(type_.ret_type), (0,), "give the loss alone, or take vjp with a cotangent")  # fmt: skip
        result = _cotangents(run, type_, places, isinstance(attributes.wrt, int))
        params = (*type_.arg_types, _cotangent(run, type_.ret_type)) if given else type_.arg_types
        return FuncType(params, TupleType((type_.ret_type, result)) if with_value else result)

    return rule


def _forward(run: RelationRun, attributes: WrtAttributes) -> Type:
    """fn (parameters) -> T → fn (parameters, tangents) -> (T, the tangent of T)"""
    type_, places = _function(run, attributes.wrt)
    tangents = [_cotangent(run, each) for at, each in enumerate(type_.arg_types) if at in places]
    tangents = [each for each in tangents if each != NOTHING]
    return FuncType((*type_.arg_types, *tangents), TupleType((type_.ret_type, _cotangent(run, type_.ret_type))))


def _linear(run: RelationRun, attributes: WrtAttributes) -> Type:
    """fn (parameters) -> T → fn (parameters) -> (T, fn (tangents) -> the tangent of T)"""
    type_, _ = _function(run, attributes.wrt)
    both = _forward(run, attributes)
    assert isinstance(both, FuncType)
    assert isinstance(both.ret_type, TupleType)
    tangents = both.arg_types[len(type_.arg_types) :]
    return FuncType(type_.arg_types, TupleType((type_.ret_type, FuncType(tangents, both.ret_type.fields[1]))))


def _transformation(name: str, description: str, rule: Callable[[RelationRun, Any], Type]) -> Operator:
    return Operator(name, ("function",), relation_of(("function",), rule), WrtAttributes, description=description)


GRAD = _transformation("grad", "The function that gives the gradient of one.", _reverse(with_value=False, given=False))
VALUE_AND_GRAD = _transformation(
    "value_and_grad",
    "The function that gives the value of one and its gradient.",
    _reverse(with_value=True, given=False),
)
VJP = _transformation(
    "vjp", "The function that takes a cotangent of the value too, and gives the value and those of the parameters.",
    _reverse(with_value=True, given=True),
)  # fmt: skip
JVP = _transformation(
    "jvp", "The function that takes tangents of the parameters too, and gives the value and its tangent.", _forward
)
LINEARIZE = _transformation(
    "linearize", "The function that gives the value and the function from tangents of the parameters to its tangent.",
    _linear,
)  # fmt: skip

CHECKPOINT = Operator(
    "checkpoint", ("function",), relation_of(("function",), lambda run, _: _function(run, None)[0]),
    description="The same function, of which a derivative keeps the arguments alone, and computes the rest again.",
)  # fmt: skip
CHECKPOINT_ATTRIBUTE = "Checkpoint"
"""Marks a global function as one that `checkpoint` gave. What is marked is put in no other function."""


def _with_own_pullback(run: RelationRun, _: Any) -> Type:
    """fn (A..) -> T × fn (A.., T, cotangent of T) -> (cotangents of A..) → fn (A..) -> T"""
    type_, places = _function(run, None)
    for part in (*type_.arg_types, type_.ret_type):
        if not all(isinstance(each, TensorType | TupleType) for each in type_parts(part)):
            run.conflict("no-gradient", "a function with a pullback of its own takes and gives tensors",
                         "tensors and tuples of them", str(part), (0,))  # fmt: skip
    wanted, found = pullback_type(type_, _cotangents(run, type_, places, alone=False)), run.types[1]
    if any(isinstance(part, IncompleteType) for part in type_parts(found)):
        run.implied(1, wanted)
    elif found != wanted:
        run.conflict("wrong-pullback", "the pullback is not of the type that the function has one of", str(wanted),
                     str(found), (1,), "let it take the arguments, the value and the cotangent of that, and give the "
                     "tuple of the cotangents of the arguments, () for integers")  # fmt: skip
    return type_


CUSTOM_GRADIENT = Operator(
    "custom_gradient", ("function", "pullback"), relation_of(("function", "pullback"), _with_own_pullback),
    description="The same function, whose pullback is another: of the arguments, the value and its cotangent.",
)  # fmt: skip


def _known(run: RelationRun, position: int) -> Type:
    if run.is_open(position):
        raise Refused(Waiting((position,), f"the type of {run.names[position]}"))
    return run.types[position]


ITS_COTANGENT = Operator(
    "its_cotangent", ("value",), relation_of(("value",), lambda run, _: _cotangent(run, _known(run, 0))),
    description="Stands for the cotangent of a value, which the way back will have.",
)  # fmt: skip
WITH_PULLBACK = Operator(
    "with_pullback", ("value", "arguments", "cotangent", "cotangents"),
    relation_of(("value", "arguments", "cotangent", "cotangents"), lambda run, _: _known(run, 0)),
    description="The value; the way back goes to `arguments`, by `cotangents`, which are made of `cotangent`.",
)  # fmt: skip
"""What `ApplyTransformations` leaves of `custom_gradient` while the program may be differentiated."""

TRANSFORMATIONS: Mapping[str, Operator] = MappingProxyType(
    {each.name: each for each in (GRAD, VALUE_AND_GRAD, VJP, JVP, LINEARIZE, CHECKPOINT, CUSTOM_GRADIENT)}
)
"""All of them, by name."""
NAMED: Mapping[str, Operator] = MappingProxyType(
    {**TRANSFORMATIONS, **{each.name: each for each in (ITS_COTANGENT, WITH_PULLBACK)}}
)
"""These, and what they leave in programs."""


_MARK = "__transforms_functions__"
Marked = TypeVar("Marked", bound=Callable[..., Any])


def stands_for(transformation: Operator) -> Callable[[Marked], Marked]:
    """Mark a Python function, whose calls mean a transformation in programs that are read from Python."""

    def marked(function: Marked) -> Marked:
        setattr(function, _MARK, transformation)
        return function

    return marked


def meant_by(function: object) -> Operator | None:
    """The transformation that a Python function stands for."""
    return getattr(function, _MARK, None)


def called(transformation: Operator, function: Expr, wrt: Wrt, names: Sequence[str] | None = None) -> Call:
    """The call of a transformation. Parameters are named in `wrt` where their `names` are known. Raises `RelayError`
    (rule `unknown-parameter`)."""
    if transformation is CHECKPOINT:
        return Call(Op(transformation), (function,), span=caller_span())
    given = [wrt] if isinstance(wrt, int | str) else wrt
    if given is None:
        return Call(Op(transformation), (function,), WrtAttributes(), span=caller_span())
    numbers = [each for each in given if isinstance(each, int)]
    places = numbers if len(numbers) == len(given) else parameter_places(names or (), wrt, caller_span())
    attributes = WrtAttributes(places[0] if isinstance(wrt, int | str) else tuple(places))
    return Call(Op(transformation), (function,), attributes, span=caller_span())


def with_pullback(function: Expr, pullback: Expr) -> Call:
    """The call of `custom_gradient`."""
    return Call(Op(CUSTOM_GRADIENT), (function, pullback), span=caller_span())


def transformation_of(expr: Expr) -> Operator | None:
    """The transformation that an expression is a call of."""
    if isinstance(expr, Call) and isinstance(expr.op, Op) and TRANSFORMATIONS.get(expr.op.name) is expr.op.operator:
        return expr.op.operator
    return None


def parameter_places(names: Sequence[str], wrt: Wrt, span: Span | None) -> tuple[int, ...]:
    """The places of the parameters that are meant, of which these are the names. Raises `RelayError` (rule
    `unknown-parameter`)."""
    if wrt is None:
        return tuple(range(len(names)))
    places: list[int] = []
    for each in wrt if isinstance(wrt, (tuple, list)) else [wrt]:
        if isinstance(each, int) and -len(names) <= each < len(names):
            places.append(each % len(names))
        elif isinstance(each, str) and each in names:
            places.append(names.index(each))
        else:
            raise RelayError(
                rule="unknown-parameter", message=f"the function has no parameter {each!r}", span=span,
                expected=", ".join(f"{name} ({at})" for at, name in enumerate(names)), found=repr(each),
            )  # fmt: skip
    return tuple(places)
