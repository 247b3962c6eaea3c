"""What only the run can tell: statements about extents that inference could not decide.

They are not stored: the types of a typed program determine them, so they are asked for where they are needed. One
pass makes them explicit before fusion; the interpreter evaluates them as it goes.
"""

from __future__ import annotations

from collections.abc import Set

from relay.arith.expr import Comparison, Symbol
from relay.base.frozen import frozen
from relay.infer.unification.explain import callee_name
from relay.infer.unification.known import attributes_of
from relay.infer.unification.unify import Mode, Undecided, Unifier, holes_for
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Op, RefWrite, Var
from relay.ir.module import IRModule
from relay.ir.operator import Check, Solved
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType, RefType, TensorType, Type


@frozen
class ProgramCheck:
    """`check` must hold before `node` is evaluated (for a Function: before its result is returned)."""

    node: Expr
    check: Check


def checks_of(program: IRModule | Function, module: IRModule | None = None) -> tuple[ProgramCheck, ...]:
    """The run-time checks of a typed program, in evaluation order. A function's global callees are those of `module`.

    >>> checks_of(IRModule())
    ()
    """
    found: list[ProgramCheck] = []
    functions = program.functions.values() if isinstance(program, IRModule) else (program,)
    surroundings = program if isinstance(program, IRModule) else (module or IRModule())
    for function in functions:
        visible = {s for param in function.params if param.checked_type for s in type_symbols(param.checked_type)}
        for node in post_order(function):
            found += [ProgramCheck(node, check) for check in node_checks(node, surroundings, visible)]
    return tuple(found)


def node_checks(node: Expr, module: IRModule, visible: Set[Symbol]) -> tuple[Check, ...]:
    """The checks of one typed node. `visible` are the symbols of the functions around it."""
    match node:
        case Call(op=Op()):
            return _operator_checks(node, node.op)  # type: ignore[arg-type]
        case Call(op=Constructor() as constructor, args=args):
            return _field_checks(constructor, args)
        case Call(op, args):
            callee = _callee_type(op, module)
            types = [_type_of(arg) for arg in args]
            if callee is None or any(type_ is None for type_ in types):
                return ()
            own = {symbol for arg in callee.arg_types for symbol in type_symbols(arg)}
            own -= set[Symbol]() if isinstance(op, GlobalVar) else visible
            pairs = _call_pairs(callee, [type_ for type_ in types if type_ is not None], own, visible)
            return _checks(pairs, f"an argument of {callee_name(op)}")
        case Function(params, body, ret_type) if ret_type is not None:
            own = {symbol for param in params if param.checked_type for symbol in type_symbols(param.checked_type)}
            return _checks(_related(_type_of(body), ret_type, visible | own), "the result of a function")
        case Let(var, value) if var.type_annotation is not None:
            return annotation_checks(var, value, visible)
        case RefWrite(ref, value) if isinstance(ref.checked_type, RefType):
            known = visible | set(type_symbols(ref.checked_type))
            return _checks(_related(_type_of(value), ref.checked_type.value, known), "what a ref is given")
        case _:
            return ()


def annotation_checks(var: Var, value: Expr, visible: Set[Symbol]) -> tuple[Check, ...]:
    """The checks that a variable's annotation makes of the value that a let binds to it."""
    if var.type_annotation is None:
        return ()
    return _checks(_related(_type_of(value), var.type_annotation, visible), f"the value of %{var.name_hint}")


def _field_checks(constructor: Constructor, args: tuple[Expr, ...]) -> tuple[Check, ...]:
    """The checks that the declared fields of a data type make. A field of a type parameter takes what it is given."""
    found: list[Check] = []
    for field, arg in zip(constructor.inputs, args, strict=False):
        if isinstance(field, TensorType):
            found += _checks(_related(_type_of(arg), field, set()), f"a field of {constructor.name_hint}")
    return tuple(found)


def _operator_checks(call: Call, op: Op) -> tuple[Check, ...]:
    types = tuple(type_ for type_ in map(_type_of, call.args) if type_ is not None)
    if len(types) != len(call.args):
        return ()
    outcome = op.operator.relation(types, attributes_of(call, op.operator))
    return outcome.checks if isinstance(outcome, Solved) else ()


def _type_of(expr: Expr) -> Type | None:
    return expr.checked_type


def _callee_type(op: Expr, module: IRModule) -> FuncType | None:
    type_ = module[op].checked_type if isinstance(op, GlobalVar) and op in module else op.checked_type
    return type_ if isinstance(type_, FuncType) else None


def _call_pairs(
    callee: FuncType, types: list[Type], own: Set[Symbol], visible: Set[Symbol]
) -> list[Undecided]:  # fmt: skip
    """The undecided pairs between arguments and parameters of a callee that quantifies the symbols `own`."""
    unifier = Unifier(visible=frozenset(visible))
    here = unifier.instance(callee, holes_for(callee), own)
    for found, expected in zip(types, here.arg_types, strict=True):
        unifier.relate(found, expected, Mode.ASSIGN)
    return _undecided(unifier)


def _related(found: Type | None, expected: Type, visible: Set[Symbol]) -> list[Undecided]:
    """The undecided pairs between a value and an annotation, whose own symbols the value determines."""
    if found is None:
        return []
    unifier = Unifier()
    unifier.flexible.update(set(type_symbols(expected)) - set(type_symbols(found)) - visible)
    unifier.relate(found, expected, Mode.ASSIGN)
    return _undecided(unifier)


def _undecided(unifier: Unifier) -> list[Undecided]:
    """The pairs that only the run can tell, now that all is related: also those that waited for a symbol."""
    for pair in unifier.take_postponed():
        unifier.relate_extents(pair.found, pair.expected, Mode.EXACT)
    return unifier.undecided


def _checks(pairs: list[Undecided], what: str) -> tuple[Check, ...]:
    return tuple(
        Check(Comparison(pair.found, "==", pair.expected), f"{what} has extent {pair.found}, declared {pair.expected}")
        for pair in pairs
    )
