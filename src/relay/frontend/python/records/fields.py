"""Records: data types of one constructor, whose fields are read by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.datatype import field_names
from relay.frontend.python.values import as_expr
from relay.ir.expr import Call, Clause, Constructor, Expr, Match, PatternConstructor, PatternVar, PatternWildcard, Var
from relay.ir.types import GlobalTypeVar, Type, TypeCall
from relay.ops.framework.build import with_known_type


def record_of(block: Block, type_: Type) -> Constructor | None:
    """The constructor of a data type that has one, with fields that have names."""
    header = type_.func if isinstance(type_, TypeCall) else type_
    if not isinstance(header, GlobalTypeVar) or header not in block.session.types.classes:
        return None
    constructors = block.session.types[header].constructors
    return constructors[0] if len(constructors) == 1 else None


def field_of(block: Block, owner: Expr, name: str, span: Span) -> Expr:
    """`owner.name` of a record. Raises `RelayError` (rule `unknown-attribute`)."""
    fields = _fields(block, block.type_of(owner))
    _check(name, fields, block.type_of(owner), span)
    return _taken(block, owner, name, fields, span)


def replaced(block: Block, owner: Expr, named: Mapping[str, Any], span: Span) -> Expr:
    """`dataclasses.replace(owner, name=value)` of a record."""
    type_ = block.type_of(owner)
    constructor = record_of(block, type_)
    if constructor is None:
        raise RelayError(
            rule="unknown-attribute", message=f"a value of type {type_} has no fields to replace", span=span,
            remedy="take it apart with `match`",
        )  # fmt: skip
    fields = _fields(block, type_)
    for name in named:
        _check(name, fields, type_, span)
    owner = block.bind("record", owner, span)
    parts = [
        as_expr(block, named[name], span, field) if name in named else _taken(block, owner, name, fields, span)
        for name, field in fields.items()
    ]
    return Call(constructor, tuple(parts), span=span)


def _check(name: str, fields: Mapping[str, Type], type_: Type, span: Span) -> None:
    if name not in fields:
        raise RelayError(
            rule="unknown-attribute", message=f"a value of type {type_} has no `{name}`", span=span,
            expected="one of " + ", ".join(fields), remedy=near_names(name, fields),
        )  # fmt: skip


def _fields(block: Block, type_: Type) -> dict[str, Type]:
    """The fields of a record, in order, with their types in this one."""
    constructor = cast("Constructor", record_of(block, type_))
    known = block.session.types
    types = known.fields(cast("TypeCall | GlobalTypeVar", type_))[constructor.name_hint]
    return dict(zip(field_names(_only_variant(known.classes[constructor.belong_to])), types, strict=True))


def _only_variant(definition: Any) -> type:
    (variant,) = definition.__relay_variants__.values()
    return variant


def _taken(block: Block, owner: Expr, name: str, fields: Mapping[str, Type], span: Span) -> Expr:
    constructor = cast("Constructor", record_of(block, block.type_of(owner)))
    var = with_known_type(Var(name, fields[name], span=span))
    patterns = tuple(PatternVar(var) if each == name else PatternWildcard() for each in fields)
    return block.bind(name, Match(owner, (Clause(PatternConstructor(constructor, patterns), var),), span=span), span)
