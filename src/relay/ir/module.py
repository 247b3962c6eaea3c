"""A module: global functions and data types. What users hold can be edited; passes make new modules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType

from relay.base.arguments import MAPPING, Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.datatype import TypeData
from relay.ir.expr import EXPRESSION, Constructor, Expr, Function, GlobalVar
from relay.ir.sugar import Printable
from relay.ir.traversal import post_order
from relay.ir.types import GlobalTypeVar
from relay.ir.variables import forget_types, free_vars


@frozen(eq=False, repr=False)
class IRModule(Printable):
    """Functions by global variable and data types by global type variable, in the order they were defined. A name
    stands for the global variable of that name.

    `module["f"] = function`, `update_func`, `update` and `add_type` edit a module where it is, as users of Relay know
    it. What compiles or transforms one takes it as it is then, and gives another.

    Raises `RelayError` (rule `wrong-argument`) for what is no function.

    >>> from relay.ir.expr import Function, Var
    >>> module = IRModule()
    >>> module["identity"] = Function((x := Var("x"),), x)
    >>> module.get_global_vars()[0].name_hint
    'identity'
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

    def __setitem__(self, name: str | GlobalVar, function: Function) -> None:
        """Let `name` be `function` in this module."""
        self._become({**self.functions, name: function}, self.type_definitions)  # pyright: ignore[reportArgumentType]

    def _become(
        self, functions: Mapping[GlobalVar, Function], type_definitions: Mapping[GlobalTypeVar, TypeData]
    ) -> None:
        """Hold what a module of these would: whoever looked at this one before keeps what there was. Functions that
        reach one in whose place another stands now are to be typed again."""
        edited = IRModule(functions, type_definitions)
        replaced = {name for name, old in self.functions.items() if edited.functions[name] is not old}
        kept = dict(edited.functions)
        for name in _reaching(replaced, kept) - replaced if replaced else ():
            kept[name] = forget_types(kept[name], kept.keys())
        object.__setattr__(self, "functions", MappingProxyType(kept))
        object.__setattr__(self, "type_definitions", edited.type_definitions)

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

    def with_module(self, other: IRModule) -> IRModule:
        """A module with the functions and types of `other` too, which win over those of the same name."""
        types = {**self.type_definitions, **other.type_definitions}
        return IRModule({**self.functions, **other.functions}, types)

    def update(self, other: IRModule | Mapping[GlobalVar, Function]) -> None:
        """Take in the functions (and types) of `other`, which win over those of the same name."""
        if not isinstance(other, IRModule):
            other = IRModule(other)
        both = self.with_module(other)
        self._become(both.functions, both.type_definitions)

    def update_func(self, name: str | GlobalVar, function: Function) -> None:
        """The same as `module[name] = function`."""
        self[name] = function

    def add_type(self, definition: TypeData) -> None:
        """Take in a data type, in the place of one of its name."""
        self._become(self.functions, {**self.type_definitions, definition.header: definition})

    def get_type(self, name: str) -> tuple[GlobalTypeVar | Constructor, ...]:
        """The data type called `name`, and then its constructors. Raises `RelayError` (rule `unknown-type`) when there
        is none."""
        definition = self.type_definitions.get(GlobalTypeVar(name))
        if definition is None:
            raise RelayError(
                rule="unknown-type",
                message=f"the module has no data type {name}",
                expected=", ".join(each.name for each in self.type_definitions) or "(the module defines none)",
                found=name,
                remedy="those of the prelude come with relay.Prelude(module)",
            )
        return (definition.header, *definition.constructors)

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


def _reaching(names: Collection[GlobalVar], functions: Mapping[GlobalVar, Function]) -> set[GlobalVar]:
    """The functions that name one of `names`, or one that does."""
    named = {
        name: {node for node in post_order(function) if isinstance(node, GlobalVar)}
        for name, function in functions.items()
    }
    found = set(names)
    while more := {name for name, others in named.items() if name not in found and not found.isdisjoint(others)}:
        found |= more
    return found


def _global_var(name: str | GlobalVar) -> GlobalVar:
    expect(name, _NAME, "what a function of a module is called by")
    return GlobalVar(name) if isinstance(name, str) else name


def _as_function(value: object) -> str:
    return "close it: relay.IRModule.from_expr(…)" if EXPRESSION.admits(value) else ""


UPDATES = "updates"
"""The attribute of `@main` with which importers name the parameters whose new values its last results are: running
statistics of batch norms."""

FUNCTION = Kind((Function,), "a function", _as_function)
_NAME = Kind((str, GlobalVar), "a name or a GlobalVar")
_FUNCTIONS = Kind((Mapping,), "functions by name", lambda _: "write relay.IRModule.from_expr(function)")
MODULE = Kind((IRModule,), "a module", _as_function)
