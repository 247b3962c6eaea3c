"""The prelude: data types and functions that every program may use. Written in Relay (`prelude.relay`), read from
there when something of it is first needed; a module gets only what it names and what that needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.near_names import near_names
from relay.base.span import Span
from relay.ir.datatype import TypeData
from relay.ir.expr import Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.operator import OperatorTable
from relay.ir.structural import structural_equal
from relay.ir.types import GlobalTypeVar
from relay.text.borrowing import with_mentioned
from relay.text.definitions import DefinitionReader
from relay.text.lexer import Kind, Tokens, tokenize
from relay.text.parser import ExpressionParser
from relay.text.version import read_version

PRELUDE_FILE = "prelude.relay"


@frozen
class _Library:
    """The prelude's text: its data types, where each function is defined, and what each names."""

    tokens: Tokens
    types: tuple[TypeData, ...]
    places: Mapping[str, int]
    functions_of: Mapping[str, tuple[str, ...]]
    types_of: Mapping[str, tuple[TypeData, ...]]


@cache
def _library() -> _Library:
    """A pure function of the package's own file, so reading it once is enough."""
    tokens = tokenize(files("relay.text").joinpath(PRELUDE_FILE).read_text(encoding="utf-8"), PRELUDE_FILE)
    parser = ExpressionParser(tokens, {})
    read_version(parser.cursor, required=True)
    reader = DefinitionReader(parser)
    type_places, places = reader.find_definitions()
    types = tuple(map(reader.type_definition, type_places))
    owners = {name: data for data in types for name in (data.header.name, *(c.name_hint for c in data.constructors))}
    named: dict[str, dict[str, None]] = {}
    used: dict[str, dict[GlobalTypeVar, TypeData]] = {}
    ends = [*places[1:], len(tokens.texts)]
    for begin, end in zip(places, ends, strict=True):
        name = tokens.texts[begin + 1][1:]
        words = range(begin + 2, end)
        named[name] = dict.fromkeys(tokens.texts[i][1:] for i in words if tokens.kinds[i] is Kind.GLOBAL)
        mentioned = [owners[tokens.texts[i]] for i in words if tokens.texts[i] in owners]
        used[name] = {data.header: data for data in with_mentioned(mentioned, types)}
    return _Library(
        tokens,
        types,
        dict(zip(named, places, strict=True)),
        {name: tuple(names) for name, names in named.items()},
        {name: tuple(datas.values()) for name, datas in used.items()},
    )


def prelude_types() -> tuple[TypeData, ...]:
    """The data types of the prelude.

    >>> [data.header.name for data in prelude_types()]
    ['List', 'Option', 'Tree', 'Nat']
    """
    return _library().types


def prelude_names() -> tuple[str, ...]:
    """The names of the prelude's functions, in the order of its text.

    >>> prelude_names()[:3]
    ('id', 'compose', 'flip')
    """
    return tuple(_library().places)


def borrow_functions(module: IRModule, named: Mapping[str, Span | None], operators: OperatorTable) -> IRModule:
    """`module` with the functions of the prelude that are among `named` and that it does not define, and with what
    they need. `named` gives the place where a function is named.

    Raises `RelayError`: `unknown-global` for a name that the prelude does not define either, `prelude-conflict` when
    what a function needs is defined otherwise in the module.
    """
    missing = [name for name in named if name not in module]
    if not missing:
        return module
    library = _library()
    for name in missing:
        if name not in library.places:
            known = [*(g.name_hint for g in module.functions), *library.places]
            message = f"the module has no function @{name}"
            raise RelayError(rule="unknown-global", message=message, span=named[name], remedy=near_names(name, known))
    wanted = _closure(missing, library)
    types = _types(module, wanted, library)
    parser = ExpressionParser(library.tokens, operators)
    for data in dict.fromkeys(data for name in wanted for data in library.types_of[name]):
        parser.data_types.know(types[data.header])  # not others, whose constructors may have the same names
    reader = DefinitionReader(parser)
    functions: dict[GlobalVar, Function] = dict(module.functions)
    for name in wanted:
        function = reader.function_definition(library.places[name])
        own = module.functions.get(GlobalVar(name))
        if own is None:
            functions[GlobalVar(name)] = function
        elif not structural_equal(own, function):
            raise _conflict(
                f"@{name}", next(n for n in wanted if n != name and name in library.functions_of[n]), own.span
            )
    return IRModule(functions, types)


def _closure(names: Iterable[str], library: _Library) -> tuple[str, ...]:
    """`names` and whatever they need, in the order of the prelude's text."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += library.functions_of[name]
    return tuple(name for name in library.places if name in found)


def _types(module: IRModule, wanted: tuple[str, ...], library: _Library) -> dict[GlobalTypeVar, TypeData]:
    """The data types of the module and those that the functions `wanted` need."""
    types = dict(module.type_definitions)
    taken = {constructor.name_hint for constructor in module.constructors()}
    for name in wanted:
        for data in library.types_of[name]:
            own = module.type_definitions.get(data.header)
            if own is None and taken.isdisjoint(c.name_hint for c in data.constructors):
                types[data.header] = data
            elif own is None or not structural_equal(own, data):
                raise _conflict(f"the data type {data.header.name}", name, own.span if own is not None else None)
    return types


def _conflict(what: str, needed_by: str, span: Span | None) -> RelayError:
    return RelayError(
        rule="prelude-conflict",
        message=f"the prelude's @{needed_by} needs {what} as the prelude defines it, but the module defines its own",
        span=span,
        remedy=f"rename the module's own, or define @{needed_by} too",
    )
