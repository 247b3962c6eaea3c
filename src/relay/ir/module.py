"""A module: global functions and data types. Immutable; every change gives a new module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType

from relay.base.arguments import MAPPING, Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.datatype import TypeData
from relay.ir.expr import EXPRESSION, Constructor, Expr, Function, GlobalVar
from relay.ir.sugar import Printable
from relay.ir.types import GlobalTypeVar
from relay.ir.variables import free_vars


@frozen(eq=False, repr=False)
class IRModule(Printable):
    """Functions by global variable and data types by global type variable, in the order they were defined. A name
    stands for the global variable of that name.

    Raises `RelayError` (rule `wrong-argument`) for what is no function.

    >>> IRModule().get_global_vars()
    ()
    """

    functions: Mapping[GlobalVar, Function] = field(default_factory=dict)
    type_definitions: Mapping[GlobalTypeVar, TypeData] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect(self.functions, _FUNCTIONS, "what an IRModule is made of")
        expect(self.type_definitions, MAPPING, "the data types of an IRModule")
        functions = {_global_var(name): function for name, function in self.functions.items()}
        expect_each(functions.values(), FUNCTION, "what an IRModule defines")
        object.__setattr__(self, "functions", MappingProxyType(functions))
        object.__setattr__(self, "type_definitions", MappingProxyType(dict(self.type_definitions)))

    def __getitem__(self, name: str | GlobalVar) -> Function:
        """The function called `name`. Raises `RelayError` (rule `unknown-global`) when there is none."""
        key = _global_var(name)
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
        return _global_var(name) in self.functions

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def get_global_vars(self) -> tuple[GlobalVar, ...]:
        return tuple(self.functions)

    def with_function(self, name: str | GlobalVar, function: Function) -> IRModule:
        """A module where `name` is `function`; the same module if it was already."""
        key = _global_var(name)
        if self.functions.get(key) is function:
            return self
        return IRModule({**self.functions, key: function}, self.type_definitions)

    def with_functions(self, functions: Mapping[GlobalVar, Function]) -> IRModule:
        """A module with exactly these functions; the same module if nothing changed."""
        expect(functions, _FUNCTIONS, "what a module is to have")
        same = len(functions) == len(self.functions) and all(self.functions.get(g) is f for g, f in functions.items())
        return self if same else IRModule(functions, self.type_definitions)

    def with_type(self, definition: TypeData) -> IRModule:
        return IRModule(self.functions, {**self.type_definitions, definition.header: definition})

    def update(self, other: IRModule | Mapping[GlobalVar, Function]) -> IRModule:
        """A module with the functions (and types) of `other` too, which win over those of the same name."""
        if isinstance(other, IRModule):
            types = {**self.type_definitions, **other.type_definitions}
            return IRModule({**self.functions, **other.functions}, types)
        expect(other, _FUNCTIONS, "what a module is updated with")
        return self.with_functions({**self.functions, **{_global_var(name): each for name, each in other.items()}})

    def get_global_var(self, name: str) -> GlobalVar:
        """The global variable called `name`. Raises `RelayError` (rule `unknown-global`) when there is none."""
        self[name]
        return _global_var(name)

    def constructors(self) -> tuple[Constructor, ...]:
        return tuple(c for data in self.type_definitions.values() for c in data.constructors)

    @staticmethod
    def from_expr(expr: Expr) -> IRModule:
        """A module whose `@main` is `expr`: the function itself, or a function that returns it. Its parameters are the
        variables that `expr` takes from outside, in the order in which they are met.

        >>> from relay.ir.expr import Tuple, Var
        >>> [each.name_hint for each in IRModule.from_expr(Tuple((Var("y"), Var("x"))))["main"].params]
        ['y', 'x']
        """
        expect(expr, EXPRESSION, "what becomes the main function")
        return IRModule({GlobalVar("main"): expr if isinstance(expr, Function) else Function(free_vars(expr), expr)})


def _global_var(name: str | GlobalVar) -> GlobalVar:
    expect(name, _NAME, "what a function of a module is called by")
    return GlobalVar(name) if isinstance(name, str) else name


def _as_function(value: object) -> str:
    return "close it: relay.IRModule.from_expr(…)" if EXPRESSION.admits(value) else ""


FUNCTION = Kind((Function,), "a function", _as_function)
_NAME = Kind((str, GlobalVar), "a name or a GlobalVar")
_FUNCTIONS = Kind((Mapping,), "functions by name", lambda _: "write relay.IRModule.from_expr(function)")
MODULE = Kind((IRModule,), "a module", _as_function)
