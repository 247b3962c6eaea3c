"""A module: global functions and data types. Immutable; every change gives a new module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor, Expr, Function, GlobalVar
from relay.ir.sugar import Printable
from relay.ir.types import GlobalTypeVar


@frozen(eq=False, repr=False)
class IRModule(Printable):
    """Functions by global variable and data types by global type variable, in the order they were defined.

    >>> IRModule().get_global_vars()
    ()
    """

    functions: Mapping[GlobalVar, Function] = field(default_factory=dict)
    type_definitions: Mapping[GlobalTypeVar, TypeData] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", MappingProxyType(dict(self.functions)))
        object.__setattr__(self, "type_definitions", MappingProxyType(dict(self.type_definitions)))

    def __getitem__(self, name: str | GlobalVar) -> Function:
        """The function called `name`. Raises `RelayError` (rule `unknown-global`) when there is none."""
        key = GlobalVar(name) if isinstance(name, str) else name
        function = self.functions.get(key)
        if function is None:
            raise RelayError(
                rule="unknown-global",
                message=f"the module has no function @{key.name_hint}",
                expected="one of " + (", ".join(f"@{g.name_hint}" for g in self.functions) or "(the module is empty)"),
                found=f"@{key.name_hint}",
            )
        return function

    def __contains__(self, name: str | GlobalVar) -> bool:
        return (GlobalVar(name) if isinstance(name, str) else name) in self.functions

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def get_global_vars(self) -> tuple[GlobalVar, ...]:
        return tuple(self.functions)

    def with_function(self, name: str | GlobalVar, function: Function) -> IRModule:
        """A module where `name` is `function`; the same module if it was already."""
        key = GlobalVar(name) if isinstance(name, str) else name
        if self.functions.get(key) is function:
            return self
        return IRModule({**self.functions, key: function}, self.type_definitions)

    def with_functions(self, functions: Mapping[GlobalVar, Function]) -> IRModule:
        """A module with exactly these functions; the same module if nothing changed."""
        same = len(functions) == len(self.functions) and all(self.functions.get(g) is f for g, f in functions.items())
        return self if same else IRModule(functions, self.type_definitions)

    def with_type(self, definition: TypeData) -> IRModule:
        return IRModule(self.functions, {**self.type_definitions, definition.header: definition})

    def update(self, other: IRModule | Mapping[GlobalVar, Function]) -> IRModule:
        """A module with the functions (and types) of `other` too, which win over those of the same name."""
        if isinstance(other, IRModule):
            types = {**self.type_definitions, **other.type_definitions}
            return IRModule({**self.functions, **other.functions}, types)
        return self.with_functions({**self.functions, **other})

    def get_global_var(self, name: str) -> GlobalVar:
        """The global variable called `name`. Raises `RelayError` (rule `unknown-global`) when there is none."""
        self[name]
        return GlobalVar(name)

    def constructors(self) -> tuple[Constructor, ...]:
        return tuple(c for data in self.type_definitions.values() for c in data.constructors)

    @staticmethod
    def from_expr(expr: Expr) -> IRModule:
        """A module whose `@main` is `expr`: the function itself, or a function of no parameters that returns it."""
        return IRModule({GlobalVar("main"): expr if isinstance(expr, Function) else Function((), expr)})
