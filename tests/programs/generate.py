"""Well-typed programs of the whole language that end, drawn by Hypothesis; a draw of zeros is the smallest program.

Every recursion counts down or follows a list, conditions come from integers (so rounding cannot change a branch), and
floats grow by sums only (so that rounding errors stay small beside them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall
from tests.programs import tensors
from tests.programs.universe import (
    BOOL,
    FLOAT,
    INT,
    OPEN_VECTOR,
    TENSORS,
    VECTOR,
    Universe,
    any_type,
    first_order,
    list_of,
    surroundings,
)

MAX_FUEL = 3
LIBRARY = infer_type(surroundings())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A module, and arguments for its `@main`: arrays, then maybe Python functions. `calls` are what the functions in
    its result are called with, one after another."""

    module: IRModule
    arguments: tuple[Any, ...]
    calls: tuple[np.ndarray[Any, Any], ...] = ()

    def __repr__(self) -> str:
        own = {name: each for name, each in self.module.functions.items() if name not in LIBRARY.functions}
        calls = f"\nresults are called with {self.calls}" if self.calls else ""
        return f"\n{IRModule(own).astext()}\narguments: {self.arguments}{calls}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may use: variables with their types, and global functions that it may call with this fuel."""

    variables: tuple[tuple[Var, Type], ...] = ()
    callable_now: tuple[tuple[GlobalVar, FuncType], ...] = ()
    fuel: Expr | None = None

    def with_variables(self, *variables: Var) -> Scope:
        added = tuple((var, var.type_annotation) for var in variables if var.type_annotation is not None)
        return replace(self, variables=(*self.variables, *added))

    def of_type(self, type_: Type) -> list[Var]:
        return [var for var, each in self.variables if each == type_]


@dataclass(slots=True, eq=False)
class Generator:
    """Draws expressions. `size` is how much an expression may still grow."""

    has_refs: ClassVar[bool] = True
    draw: Callable[[st.SearchStrategy[Any]], Any]
    tensor_types: tuple[TensorType, ...]
    universe: Universe = field(default_factory=lambda: Universe(LIBRARY))
    helpers: list[tuple[GlobalVar, FuncType]] = field(default_factory=list)
    """Global functions that call only earlier ones: they may be called, or used as values, wherever these are known."""
    names: int = 0

    def fresh(self, type_: Type, hint: str = "v") -> Var:
        self.names += 1
        return Var(f"{hint}{self.names}", type_)

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    # ------------------------------------------------------------------------------------------------ expressions

    def expr(self, scope: Scope, type_: Type, size: int) -> Expr:
        """An expression of a type."""
        if size <= 0:
            return self.leaf(scope, type_)
        forms: list[Callable[[Scope, Type, int], Expr]] = [
            self.leaf, self.made, self.made, self.made, self.let, self.let, self.choice, self.match, self.match,
            self.projection, self.applied, self.loop, self.shared, self.library, self.generic,
        ]  # fmt: skip
        if self.has_refs:
            forms += (self.read, self.effect)
        if scope.callable_now:
            forms.append(self.global_call)
        if any(each.ret_type == type_ for _, each in self.helpers):
            forms += (self.helper,) * 5
        return forms[self.number(0, len(forms) - 1)](scope, type_, size - 1)

    def leaf(self, scope: Scope, type_: Type, size: int = 0) -> Expr:
        known = scope.of_type(type_)
        if known and self.number(0, 3):
            return known[self.number(0, len(known) - 1)]
        return self.made(scope, type_, 0)

    def made(self, scope: Scope, type_: Type, size: int) -> Expr:
        """By the form that makes values of this type."""
        match type_:
            case TensorType():
                return tensors.operation(self, scope, type_, size)
            case TupleType(fields):
                return Tuple(tuple(self.expr(scope, each, size // max(1, len(fields))) for each in fields))
            case FuncType(arg_types, ret_type):
                params = tuple(self.fresh(each, "p") for each in arg_types)
                return Function(params, self.expr(scope.with_variables(*params), ret_type, size), ret_type)
            case RefType(value):
                return RefCreate(self.expr(scope, value, size))
            case TypeCall() | GlobalTypeVar():
                return self.construction(scope, type_, size)
            case _:
                raise AssertionError(type_)

    def construction(self, scope: Scope, type_: TypeCall | GlobalTypeVar, size: int) -> Expr:
        found = self.universe.constructors(type_)
        ends = [each for each in found if not any(_contains(part, type_) for part in each[1])]
        options = found if size > 0 else [each for each in ends if each[0].name_hint != "Next"] or found[:1]
        constructor, parts = options[self.number(0, len(options) - 1)]
        fields = tuple(self.expr(scope, part, size // max(1, len(parts))) for part in parts)
        arguments = type_.args if isinstance(type_, TypeCall) else ()
        return Call(constructor, fields, type_args=arguments)

    def let(self, scope: Scope, type_: Type, size: int) -> Expr:
        bound = self.draw(any_type(self.tensor_types, self.has_refs))
        var = self.fresh(bound)
        value = self.expr(scope, bound, size // 2)
        return Let(var, value, self.expr(scope.with_variables(var), type_, size - size // 2))

    def choice(self, scope: Scope, type_: Type, size: int) -> Expr:
        condition = self.expr(scope, BOOL, size // 3)
        return If(condition, self.expr(scope, type_, size // 3), self.expr(scope, type_, size // 3))

    def projection(self, scope: Scope, type_: Type, size: int) -> Expr:
        index = self.number(0, 1)
        other = self.draw(first_order(self.tensor_types))
        fields = (type_, other) if index == 0 else (other, type_)
        return TupleGetItem(self.bindable(scope, TupleType(fields), size), index)

    def applied(self, scope: Scope, type_: Type, size: int) -> Expr:
        known = [(var, each) for var, each in scope.variables if isinstance(each, FuncType) and each.ret_type == type_]
        if known:
            var, function = known[self.number(0, len(known) - 1)]
            return self.call(scope, var, function, size)
        function = FuncType((self.draw(first_order(self.tensor_types)),), type_)
        return self.call(scope, self.expr(scope, function, size // 2), function, size // 2)

    def call(self, scope: Scope, callee: Expr, type_: FuncType, size: int) -> Expr:
        share = size // max(1, len(type_.arg_types))
        return Call(callee, tuple(self.expr(scope, each, share) for each in type_.arg_types))

    def read(self, scope: Scope, type_: Type, size: int) -> Expr:
        if not _is_data(type_):
            return self.made(scope, type_, size)
        return RefRead(self.expr(scope, RefType(type_), size))

    def effect(self, scope: Scope, type_: Type, size: int) -> Expr:
        """A write to a ref, then the value."""
        stored = self.draw(first_order(self.tensor_types, 1))
        known = scope.of_type(RefType(stored))
        done = self.fresh(TupleType(()), "done")
        if known:
            target = known[self.number(0, len(known) - 1)]
            write = RefWrite(target, self.expr(scope, stored, size // 2))
            return Let(done, write, self.expr(scope, type_, size // 2))
        cell = self.fresh(RefType(stored), "r")
        inner = scope.with_variables(cell)
        write = RefWrite(cell, self.expr(inner, stored, size // 3))
        rest = Let(done, write, self.expr(inner, type_, size // 3))
        return Let(cell, RefCreate(self.expr(scope, stored, size // 3)), rest)

    def loop(self, scope: Scope, type_: Type, size: int) -> Expr:
        """A local function that counts down; in tail position, or not."""
        counter, state = self.fresh(INT, "i"), self.fresh(type_, "s")
        loop = self.fresh(FuncType((INT, type_), type_), "loop")
        inner = scope.with_variables(counter, state)
        step = self.expr(inner, type_, size // 2)
        less = tensors.call("subtract", counter, const(1))
        again: Expr = loop(less, step)
        if self.number(0, 2) == 2:
            result = self.fresh(type_, "t")
            again = Let(result, loop(less, state), self.expr(inner.with_variables(result), type_, size // 2))
        body = If(tensors.call("less_equal", counter, const(0)), state, again)
        function = Function((counter, state), body, type_)
        return Let(loop, function, loop(const(self.number(0, MAX_FUEL)), self.expr(scope, type_, size // 2)))

    def shared(self, scope: Scope, type_: Type, size: int) -> Expr:
        """One node in two places: evaluated once."""
        node = self.expr(scope, type_, size)
        return TupleGetItem(Tuple((node, node)), self.number(0, 1))

    def library(self, scope: Scope, type_: Type, size: int) -> Expr:
        """A function of the prelude, given a closure and a list."""
        element = self.draw(first_order(self.tensor_types, 1))
        items = self.expr(scope, list_of(element), size // 2)
        if isinstance(type_, TypeCall) and type_.func.name == "List":
            (wanted,) = type_.args
            mapped = self.expr(scope, FuncType((element,), wanted), size // 2)
            return GlobalVar("map")(mapped, items)
        order = ("foldl", (type_, element)) if self.number(0, 1) == 0 else ("foldr", (element, type_))
        function = self.expr(scope, FuncType(order[1], type_), size // 3)
        return GlobalVar(order[0])(function, self.expr(scope, type_, size // 3), items)

    def generic(self, scope: Scope, type_: Type, size: int) -> Expr:
        """A function bound by `let` without types, used at two types."""
        same, value = Var(f"same{self.names}"), Var(f"any{self.names}")
        self.names += 1
        other = self.draw(first_order(self.tensor_types, 1))
        unused = self.fresh(other)
        body = Let(unused, same(self.expr(scope, other, size // 2)), same(self.expr(scope, type_, size // 2)))
        return Let(same, Function((value,), value), body)

    def global_call(self, scope: Scope, type_: Type, size: int) -> Expr:
        fitting = [each for each in scope.callable_now if each[1].ret_type == type_]
        if not fitting or scope.fuel is None:
            return self.made(scope, type_, size)
        name, function = fitting[self.number(0, len(fitting) - 1)]
        rest = FuncType(function.arg_types[1:], type_)
        call = self.call(scope, name, rest, size)
        assert isinstance(call, Call)
        return Call(name, (scope.fuel, *call.args))

    def helper(self, scope: Scope, type_: Type, size: int) -> Expr:
        """A call of a helper, perhaps by another name."""
        fitting = [each for each in self.helpers if each[1].ret_type == type_]
        name, function = fitting[self.number(0, len(fitting) - 1)]
        if self.number(0, 2):
            return self.call(scope, name, function, size)
        var = self.fresh(function, "h")
        return Let(var, name, self.call(scope, var, function, size))

    def bindable(self, scope: Scope, type_: Type, size: int) -> Expr:
        """An expression whose type is told by an annotation around it, where its parts would leave it open."""
        var = self.fresh(type_, "w")
        return Let(var, self.expr(scope, type_, size), var)

    # --------------------------------------------------------------------------------------------------- patterns

    def match(self, scope: Scope, type_: Type, size: int) -> Expr:
        """Some clauses with nested patterns, then one that fits everything."""
        data = self.draw(first_order(self.tensor_types).filter(lambda each: not isinstance(each, TensorType)))
        clauses: list[Clause] = []
        for _ in range(self.number(0, 3)):
            bound: list[Var] = []
            pattern = self.pattern(data, bound, depth=3)
            clauses.append(Clause(pattern, self.expr(scope.with_variables(*bound), type_, size // 3)))
        bound = []
        last = self.pattern(data, bound, depth=0)
        clauses.append(Clause(last, self.expr(scope.with_variables(*bound), type_, size // 3)))
        return Match(self.bindable(scope, data, size // 3), tuple(clauses))

    def pattern(self, type_: Type, bound: list[Var], depth: int) -> Pattern:
        kind = self.number(0, 3)
        if depth > 0 and kind >= 1:
            match type_:
                case TupleType(fields):
                    return PatternTuple(tuple(self.pattern(each, bound, depth - 1) for each in fields))
                case TypeCall() | GlobalTypeVar():
                    options = self.universe.constructors(type_)
                    constructor, parts = options[self.number(0, len(options) - 1)]
                    return self.constructor_pattern(constructor, parts, bound, depth)
                case _:
                    pass
        if kind == 0:
            return PatternWildcard()
        bound.append(self.fresh(type_, "m"))
        return PatternVar(bound[-1])

    def constructor_pattern(
        self, constructor: Constructor, parts: tuple[Type, ...], bound: list[Var], depth: int
    ) -> Pattern:
        return PatternConstructor(constructor, tuple(self.pattern(part, bound, depth - 1) for part in parts))


def _is_data(type_: Type) -> bool:
    return not isinstance(type_, FuncType | RefType)


def _contains(type_: Type, inner: Type) -> bool:
    match type_:
        case TypeCall(func, args):
            return type_ == inner or func.name in {"Odd"} or any(_contains(each, inner) for each in args)
        case TupleType(fields):
            return any(_contains(each, inner) for each in fields)
        case _:
            return type_ == inner


@st.composite
def programs(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    max_size: int = 24,
    functions_cross: bool = False,
    made_by: type[Generator] = Generator,
    results: tuple[TensorType, ...] | None = None,
) -> Program:
    """A program with up to three global functions that may call each other, and arguments for its `@main`. It may take
    and give functions where `functions_cross`. `results` are the types that it may give; any data if None."""
    cross = _seldom if functions_cross else _never
    is_open = draw(st.booleans())
    generator = made_by(draw, tuple(each for each in TENSORS if each != OPEN_VECTOR))
    helpers = _helpers(generator, max_size // 3)
    if is_open:
        generator.tensor_types = TENSORS
    plain = first_order(generator.tensor_types)
    signatures: list[tuple[GlobalVar, FuncType]] = []
    for position in range(generator.number(0, 3)):
        parameters = _inputs(draw, generator, 2)
        signatures.append((GlobalVar(f"f{position}"), FuncType((INT, *parameters), draw(plain))))
    functions = {name: _global_function(generator, type_, signatures, max_size) for name, type_ in signatures}
    inputs = _inputs(draw, generator, 3)
    taken = draw(cross(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=2)))
    params = tuple(generator.fresh(each, "x") for each in (*inputs, *taken))
    scope = Scope((), tuple(signatures), const(generator.number(0, MAX_FUEL))).with_variables(*params)
    wanted = plain if results is None else st.sampled_from(results)
    given = draw(cross(st.tuples(st.sampled_from(CALLED), plain)))
    result = _with_functions(draw, FuncType(given[:1], given[1])) if given else draw(wanted)
    size = generator.number(0, max_size)
    if helpers and results is None and generator.number(0, 1):
        given, result = (), generator.helpers[-1][1].ret_type
        body = generator.helper(scope, result, size)
    else:
        body = generator.expr(scope, result, size)
    main = Function(params, body, result)
    extent = generator.number(0, 5) if is_open else 0
    arguments: list[Any] = [tensors.argument(generator, each, extent) for each in inputs]
    arguments += [draw(st.sampled_from(PYTHON_FUNCTIONS)) for _ in taken]
    calls = tuple(tensors.argument(generator, given[0], extent) for _ in range(generator.number(1, 3))) if given else ()
    module = IRModule({**LIBRARY.functions, **helpers, **functions, GlobalVar("main"): main}, LIBRARY.type_definitions)
    return Program(module, tuple(arguments), calls)


def _never(_: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(())


def _seldom(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nothing, in most programs."""
    return st.one_of(st.just(()), st.just(()), st.just(()), strategy)


def _with_functions(draw: Callable[[st.SearchStrategy[Any]], Any], type_: FuncType) -> Type:
    """A type that holds such functions."""
    return draw(st.sampled_from((type_, TupleType((INT, type_)), list_of(type_), RefType(type_))))


def double(x: Any) -> Any:
    return x + x


def same(x: Any) -> Any:
    return x


CALLED = (INT, FLOAT, VECTOR)
FUNCTIONS = tuple(FuncType((each,), each) for each in CALLED)
PYTHON_FUNCTIONS = (double, same)


def _inputs(draw: Callable[[st.SearchStrategy[Any]], Any], generator: Generator, most: int) -> list[TensorType]:
    """Parameter types; with one of open extent where such tensors occur, since nothing else says what it is."""
    inputs = draw(st.lists(st.sampled_from(generator.tensor_types), max_size=most))
    needed = OPEN_VECTOR in generator.tensor_types and OPEN_VECTOR not in inputs
    return [*inputs, OPEN_VECTOR] if needed else inputs


def _helpers(generator: Generator, size: int) -> dict[GlobalVar, Function]:
    """Up to two helpers, which the generator knows afterwards."""
    made: dict[GlobalVar, Function] = {}
    for position in range(generator.number(0, 2)):
        result = (FLOAT, INT, VECTOR)[generator.number(0, 2)]
        params = tuple(generator.fresh((FLOAT, VECTOR)[generator.number(0, 1)], "p") for _ in range(2))
        body = generator.expr(Scope().with_variables(*params), result, generator.number(0, size))
        name = GlobalVar(f"h{position}")
        made[name] = Function(params, body, result)
        types = tuple(param.type_annotation for param in params if param.type_annotation is not None)
        generator.helpers.append((name, FuncType(types, result)))
    return made


def _global_function(
    generator: Generator, type_: FuncType, signatures: list[tuple[GlobalVar, FuncType]], size: int
) -> Function:
    """Ends when its fuel does; the functions that it calls get less."""
    fuel, *rest = (generator.fresh(each, "p") for each in type_.arg_types)
    outside = Scope().with_variables(*rest)
    less = tensors.call("subtract", fuel, const(1))
    inside = replace(outside, callable_now=tuple(signatures), fuel=less).with_variables(fuel)
    end = generator.expr(outside, type_.ret_type, generator.number(0, size) // 4)
    body = generator.expr(inside, type_.ret_type, generator.number(0, size) // 2)
    return Function((fuel, *rest), If(tensors.call("less_equal", fuel, const(0)), end, body), type_.ret_type)
