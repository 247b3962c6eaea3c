"""What the type parameters of a function stand for in one call of it."""

from __future__ import annotations

from relay.ir.types import FuncType, RefType, TupleType, Type, TypeCall, TypeVar
from relay.transform.functions.known_values.values import KnownName, PartialValue


def type_arguments(
    signature: FuncType, arguments: tuple[PartialValue, ...], result: Type
) -> dict[TypeVar, Type] | None:
    """The types of the parameters of `signature`, told by the result and the arguments; None when they do not tell.

    >>> a = TypeVar("a")
    >>> found = type_arguments(FuncType((), TupleType((a, a)), (a,)), (), TupleType((TupleType(()), TupleType(()))))
    >>> [str(each) for each in (found or {}).values()]
    ['()']
    """
    if not signature.type_params:
        return {}
    wanted = set(signature.type_params)
    found: dict[TypeVar, Type] = {}
    pairs = [(signature.ret_type, result)]
    for declared, argument in zip(signature.arg_types, arguments, strict=True):
        if not isinstance(argument.static, KnownName):
            pairs.append((declared, argument.type_))
    while pairs:
        declared, actual = pairs.pop()
        match declared, actual:
            case TypeVar(), _:
                if declared in wanted:
                    found[declared] = actual
            case TupleType(one), TupleType(other):
                pairs += zip(one, other, strict=False)
            case TypeCall(_, one), TypeCall(_, other):
                pairs += zip(one, other, strict=False)
            case RefType(one), RefType(other):
                pairs.append((one, other))
            case FuncType(one, end), FuncType(other, other_end, ()):
                pairs += [*zip(one, other, strict=False), (end, other_end)]
            case _:
                pass
    return found if len(found) == len(wanted) else None
