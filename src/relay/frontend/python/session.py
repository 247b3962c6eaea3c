"""What the reading of one function gathers: the functions, data types and library functions that its module needs, and
the types of the expressions that are made on the way."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from math import prod
from typing import Any, TypeVar, cast

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.span import Span
from relay.frontend.python.datatype import DataTypes
from relay.frontend.python.facts.ownership import Held, Ownership
from relay.frontend.python.facts.ranges import Range
from relay.infer.eager import eager_type
from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, GlobalTypeVar, Type, TypeCall, type_parts
from relay.ir.variables import free_vars, substitute
from relay.ops.table import OPERATORS
from relay.text.prelude import borrow_functions, prelude_names, prelude_types

Read = TypeVar("Read")

_MAIN, _PROBE = GlobalVar("main"), GlobalVar("probe")


def _lists_and_options() -> DataTypes:
    """What Python's lists, and None beside another type, are."""
    return DataTypes((each.header, each) for each in prelude_types() if each.header.name in ("List", "Option"))


_MOST_TURNS = 64
"""Of loops inside one another, that are read turn by turn."""


@frozen
class Turns:
    """How often a loop runs over a range that is known now, and where its text ends."""

    count: int
    last_line: int


@mutable
class Session:
    """`functions` are finished. `waiting` are those whose bodies still speak of a function that is being read, and
    `standing` the variables that stand for functions until they are finished. `names` are those of the definitions that
    were met, `called` counts the calls of each, and `inlining` are the nested functions whose bodies are being put in
    place. `models` are those that were met, by identity, as programs see them; `undecorated` are functions of Python
    as nested ones. `reads` counts how often each definition reads each name, `libraries` are those that it names.
    `extents` are those that parameters name, `ranges` is what is known of integers, `ownership` who holds arrays and
    lists, and `gives` how the results of functions are held. `trials` are the readings in progress that only ask for
    types, each with what was found to be wrong in it. `learned` are the types of loops' variables, by the place of the
    loop, that their turns told; `counted` the loops that were met whose number of turns is known now, and `unrolled`
    those that are read turn by turn."""

    functions: dict[GlobalVar, Function] = field(default_factory=dict)
    types: DataTypes = field(default_factory=_lists_and_options)
    waiting: dict[GlobalVar, Function] = field(default_factory=dict)
    standing: dict[GlobalVar, Var] = field(default_factory=dict)
    names: dict[object, GlobalVar] = field(default_factory=dict)
    called: Counter[GlobalVar] = field(default_factory=Counter)
    inlining: list[object] = field(default_factory=list)
    models: dict[int, Any] = field(default_factory=dict)
    undecorated: dict[object, Any] = field(default_factory=dict)
    reads: dict[ast.AST, Counter[str]] = field(default_factory=dict)
    libraries: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    extents: set[Symbol] = field(default_factory=set)
    gives: dict[Expr, Held] = field(default_factory=dict)
    ranges: dict[Expr, Range] = field(default_factory=dict)
    ownership: Ownership = field(default_factory=Ownership)
    trials: list[list[RelayError]] = field(default_factory=list)
    learned: dict[tuple[Span, str], Type] = field(default_factory=dict)
    counted: dict[Span, Turns] = field(default_factory=dict)
    unrolled: set[Span] = field(default_factory=set)
    _fresh: FreshNames = field(init=False)

    def __post_init__(self) -> None:
        self._fresh = FreshNames(lambda name: GlobalVar(name) in self.functions or name in prelude_names(), "_")

    @contextmanager
    def trial(self) -> Generator[list[RelayError]]:
        """Reading for types alone, which gives what is wrong inside: that is told when it is read for good. What is
        seen is forgotten."""
        wrong: list[RelayError] = []
        self.trials.append(wrong)
        try:
            with self.ownership.trial():
                yield wrong
        except RelayError as error:
            wrong.append(error)
        finally:
            self.trials.pop()

    def read(self, definition: Callable[[], Read]) -> Read:
        """What reading a definition gives. Where it was wrong it is read again, as long as that told more of its loops;
        then with loops of few turns turn by turn, first those around what is wrong. Raises the `RelayError` that none
        of this mends."""
        around, first = self.counted, None
        while True:
            known, self.counted = dict(self.learned), dict[Span, Turns]()
            try:
                return definition()
            except RelayError as error:
                if self.learned != known:
                    continue
                first, chosen = first or error, self._turn_by_turn(error.span)
                if not chosen:
                    raise first from None
                self.unrolled |= chosen
            finally:
                self.counted = around

    def _turn_by_turn(self, wrong: Span | None) -> set[Span]:
        """The loops to read turn by turn, where something is wrong: the innermost around it, else all there are."""
        waiting = {span: turns for span, turns in self.counted.items() if span not in self.unrolled}
        inside = [
            span for span, turns in waiting.items()
            if wrong is not None and span.source == wrong.source and span.line <= wrong.line <= turns.last_line
        ]  # fmt: skip
        chosen = {max(inside, key=lambda span: span.line)} if inside else set(waiting)
        together = chosen | (self.unrolled & self.counted.keys())
        return chosen if prod(self.counted[span].count for span in together) <= _MOST_TURNS else set()

    @contextmanager
    def definition(self) -> Generator[None]:
        """Reading a function that others call. It is read once and for all, also where a trial meets it first: what is
        wrong in it ends the reading, and it is not among those that were met."""
        trials, self.trials = self.trials, []
        names, standing, waiting = self.names.copy(), self.standing.copy(), self.waiting.copy()
        try:
            yield
        except RelayError:
            self.names, self.standing, self.waiting = names, standing, waiting
            raise
        finally:
            self.trials = trials

    def name(self, definition: object, hint: str) -> GlobalVar:
        """A name of its own for a definition."""
        found = self.names[definition] = GlobalVar(self._fresh.take(hint))
        return found

    def library(self, name: str, span: Span | None) -> GlobalVar:
        """A function of the prelude."""
        if GlobalVar(name) not in self.functions:
            module = infer_type(borrow_functions(IRModule(self.functions, self.types), {name: span}, OPERATORS))
            self.functions.update(module.functions)
            self.types.update(module.type_definitions)
        return GlobalVar(name)

    def finish(self, name: GlobalVar, function: Function) -> None:
        """A function has been read. It, and those that waited for it, are finished when nothing is open in them."""
        self.waiting[name] = function
        stands = {self.standing[each]: each for each in self.waiting if each in self.standing}
        known = set(stands)
        if any(var not in known for each in self.waiting.values() for var in free_vars(each)):
            return
        closed = {each: cast("Function", substitute(body, dict(stands))) for each, body in self.waiting.items()}
        self.waiting.clear()
        self.functions.update(closed)
        self.functions.update(infer_type(IRModule(self.functions, self.types)).functions)

    def module(self, main: Function, functions: Mapping[GlobalVar, Function]) -> IRModule:
        """The finished program: `main` with what it calls, and the data types that any of them speaks of."""
        kept = {_MAIN: main, **functions}
        used: set[GlobalTypeVar] = set()
        waiting = [each for function in kept.values() for each in _mentioned_types(function)]
        while waiting:
            header = waiting.pop()
            if header not in used and header in self.types:
                used.add(header)
                fields = [part for constructor in self.types[header].constructors for part in constructor.inputs]
                waiting += [each for part in fields for each in _headers(part)]
        types = {header: data for header, data in self.types.items() if header in used}
        return infer_type(IRModule(kept, types))

    def type_of(self, expr: Expr) -> Type:
        """The type of an expression over typed variables. Raises `RelayError` when it has none."""
        known = eager_type(expr)
        if known is not None:
            return known
        probe = Function(tuple(free_vars(expr)), expr)
        typed = infer_type(IRModule({**self.functions, _PROBE: probe}, self.types))[_PROBE]
        if expr.checked_type is not None:
            return expr.checked_type
        assert isinstance(typed.checked_type, FuncType)  # a function used as a value: only its use has a type
        return typed.checked_type.ret_type


def _mentioned_types(function: Function) -> Iterator[GlobalTypeVar]:
    for node in post_order(function):
        if isinstance(node, Constructor):
            yield node.belong_to
        elif isinstance(node, Match):
            yield from (header for clause in node.clauses for header in _pattern_headers(clause.lhs))
        elif node.checked_type is not None:
            yield from _headers(node.checked_type)


def _pattern_headers(pattern: Pattern) -> Iterator[GlobalTypeVar]:
    stack = [pattern]
    while stack:
        each = stack.pop()
        if isinstance(each, PatternConstructor):
            yield each.constructor.belong_to
        if isinstance(each, PatternConstructor | PatternTuple):
            stack.extend(each.patterns)


def _headers(type_: Type) -> Iterator[GlobalTypeVar]:
    for part in type_parts(type_):
        if isinstance(part, GlobalTypeVar):
            yield part
        elif isinstance(part, TypeCall):
            yield part.func
