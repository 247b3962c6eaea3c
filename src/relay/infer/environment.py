"""What the module around an expression says: the types of its functions, and the definitions of its data types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.span import Span
from relay.infer.kinds import must_be_type
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor, Expr, Function, GlobalVar
from relay.ir.types import FuncType, GlobalTypeVar, TensorType, Type, TypeCall


@frozen
class Signature:
    """The type by which a function may be called. Each call has an instance of its own, unless the function is still
    `being_inferred`: then its calls are all of one type, parts of which are to be found."""

    type: Type
    being_inferred: bool = False


@mutable(eq=True)
class Environment:
    """The data types of a module, and the functions whose types are known or assumed by now."""

    definitions: Mapping[GlobalTypeVar, TypeData]
    signatures: dict[GlobalVar, Signature] = field(default_factory=dict[GlobalVar, Signature])

    def add_typed(self, functions: Iterable[tuple[GlobalVar, Function]]) -> None:
        """Those of `functions` that have types may be called."""
        for name, function in functions:
            if function.checked_type is not None:
                self.signatures[name] = Signature(function.checked_type)

    def signature(self, name: GlobalVar) -> Signature:
        """Raises `RelayError` (rule `unknown-global`) for a function that the module does not have."""
        signature = self.signatures.get(name)
        if signature is None:
            known = ", ".join(f"@{each.name_hint}" for each in self.signatures) or "(none)"
            message = f"the module has no function @{name.name_hint}"
            raise RelayError(rule="unknown-global", message=message, span=name.span, expected=f"one of {known}")
        return signature

    def data_of(self, header: GlobalTypeVar, where: Expr) -> TypeData:
        """The definition of a data type. Raises `RelayError` (rule `unknown-type`)."""
        data = self.definitions.get(header)
        if data is None:
            message = f"the module does not define the data type {header.name}"
            raise RelayError(rule="unknown-type", message=message, span=where.span)
        return data

    def constructor_type(self, constructor: Constructor) -> FuncType:
        """`fn [a](fields) -> T[a]`"""
        data = self.data_of(constructor.belong_to, constructor)
        return FuncType(constructor.inputs, TypeCall(data.header, data.type_vars), data.type_vars)

    def check_annotation(self, type_: Type, role: str, span: Span | None) -> None:
        """What the program gives as a type must be one; `role` says where it stands."""
        if not isinstance(type_, TensorType):
            must_be_type(type_, role, self.definitions, span)
