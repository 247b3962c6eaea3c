"""Definitions of algebraic data types."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.ir.expr import Constructor
from relay.ir.types import GlobalTypeVar, TypeVar


@frozen(eq=False)
class TypeData:
    """`type header[type_vars] { constructors }`; no constructors for an `extern type`."""

    header: GlobalTypeVar
    type_vars: tuple[TypeVar, ...]
    constructors: tuple[Constructor, ...]
    extern: bool = False
    span: Span | None = None
