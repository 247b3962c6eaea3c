"""Python functions of the documented subset that end, as text with arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.frontend.python.generated.expressions import ANNOTATIONS, ARRAYS, LISTS, NUMBERS, Expressions, Scope

HEADER = """import functools
import math

import numpy as np

import relay
from tests.frontend.python.generated.library import Shape, State, measure, moved, scaled


"""
SCALED = (("scaled", ("vector", "int"), 1, "vector"),)
_RESULTS = ("int", "float", "bool", "vector", "matrix", "whole", "mask", "ints", "floats", "vectors", "open")
_ARGUMENTS = ("int", "int", "float", "bool", "vector", "matrix", "whole", "open", "ints")


@dataclass(frozen=True, slots=True, repr=False)
class PythonProgram:
    """A file that defines `f`, and arguments for it."""

    text: str
    arguments: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"\n{self.text.removeprefix(HEADER)}\narguments: {self.arguments}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: `indent`, whether in a loop, and what `return` gives."""

    indent: int
    results: tuple[str, ...]
    in_loop: bool = False

    def deeper(self, in_loop: bool | None = None) -> Place:
        return replace(self, indent=self.indent + 1, in_loop=self.in_loop if in_loop is None else in_loop)


class Functions(Expressions):
    """Draws statements. Names that a branch or a loop assigns first are not used behind it; others keep their types."""

    def line(self, place: Place, text: str) -> None:
        self.lines.append("    " * place.indent + text)

    def block(self, scope: Scope, place: Place, size: int) -> Scope:
        before = len(self.lines)
        for _ in range(self.number(1, 3)):
            scope = self.statement(scope, place, size)
        if len(self.lines) == before:
            self.line(place, "pass")
        return scope

    def statement(self, scope: Scope, place: Place, size: int) -> Scope:
        forms: list[Callable[[Scope, Place, int], Scope]] = [self.new, self.again, self.augmented]
        if size > 0:
            forms += [self.if_, self.if_, self.for_range, self.for_each, self.while_, self.nested, self.change_list,
                      self.known_loop, self.leave, self.unpack, self.match, self.stays, self.alias, self.starred,
                      self.dict, self.rows, self.state, self.named, self.gathered, self.parts]  # fmt: skip
        return self.chosen(forms)(scope, place, size - 1)

    # ------------------------------------------------------------------------------------------------ assignments

    def new(self, scope: Scope, place: Place, size: int) -> Scope:
        type_ = self.chosen((*NUMBERS, *ARRAYS, *LISTS, "shape"))
        name = self.fresh("v")
        self.line(place, f"{name} = {self.expr(scope, type_, 3)}")
        return scope.with_variable(name, type_)

    def again(self, scope: Scope, place: Place, size: int) -> Scope:
        known = [each for each in scope.variables if each[0] not in scope.positions and each[1] != "open"]
        if not known:
            return self.new(scope, place, size)
        name, type_ = self.chosen(known)
        value = self.expr(scope, type_, 3)
        if value != name:
            self.line(place, f"{name} = {value}")
        return scope

    def augmented(self, scope: Scope, place: Place, size: int) -> Scope:
        """`+=` of a number, or of an array that was made here."""
        numbers = [each for each in scope.variables if each[1] in ("int", "float") and each[0] not in scope.positions]
        if self.chance(4):
            type_ = self.chosen(("vector", "matrix", "whole", "ints"))
            name = self.fresh("a")
            self.line(place, f"{name} = {self.expr(scope, type_, 2)} + {self.expr(scope, type_, 1)}")
            self.line(place, f"{name} += {self.expr(scope, type_, 2)}")
            return scope.with_variable(name, type_)
        if not numbers:
            return self.new(scope, place, size)
        name, type_ = self.chosen(numbers)
        operators = ("+=", "-=", "*=", "//=", "%=", "|=") if type_ == "int" else ("+=", "-=", "*=", "/=")
        self.line(place, f"{name} {self.chosen(operators)} {self.expr(scope, type_, 2)}")
        return scope

    def unpack(self, scope: Scope, place: Place, size: int) -> Scope:
        types = [self.chosen(NUMBERS), self.chosen(("int", "vector"))]
        names = [self.fresh("u"), self.fresh("u")]
        self.line(place, f"{', '.join(names)} = {', '.join(self.expr(scope, each, 2) for each in types)}")
        for name, type_ in zip(names, types, strict=True):
            scope = scope.with_variable(name, type_)
        return scope

    def alias(self, scope: Scope, place: Place, size: int) -> Scope:
        """Two names of one array or list, one of which may change: right, or refused."""
        known = [each for each in scope.variables if each[1] in ("vector", "whole", "ints")]
        if not known or not self.chance(20):
            return self.augmented(scope, place, size)
        before, type_ = self.chosen(known)
        name = self.fresh("b")
        self.line(place, f"{name} = {before}")
        changed = self.chosen((name, before))
        self.line(place, f"{changed} += {self.expr(scope, type_, 1)}")
        return scope.with_variable(name, type_)

    def change_list(self, scope: Scope, place: Place, size: int) -> Scope:
        name, type_ = self.fresh("xs"), self.chosen(tuple(LISTS))
        self.line(place, f"{name} = {self.expr(scope, type_, 2)} + {self.expr(scope, type_, 1)}")
        for _ in range(self.number(1, 2)):
            match self.number(0, 2):
                case 0:
                    self.line(place, f"{name}.append({self.expr(scope, LISTS[type_], 2)})")
                case which:
                    taken = self.fresh("v")
                    self.line(place, f"{taken} = {name}.pop({'0' if which == 1 else ''})")
                    scope = scope.with_variable(taken, LISTS[type_])
        if size > 0 and self.chance(2):
            counter = self.fresh("i")
            self.line(place, f"for {counter} in range({self.number(0, 3)}):")
            inner = replace(scope.with_variable(counter, "int"), positions=(*scope.positions, counter))
            self.line(place.deeper(), f"{name}.append({self.expr(inner, LISTS[type_], 2)})")
        return scope.with_variable(name, type_)

    def starred(self, scope: Scope, place: Place, size: int) -> Scope:
        first, rest = self.fresh("h"), self.fresh("r")
        parts = self.chosen((f"{first}, *{rest}", f"*{rest}, {first}"))
        self.line(place, f"{parts} = [{self.expr(scope, 'int', 1)}, *{self.expr(scope, 'ints', 2)}]")
        return scope.with_variable(first, "int").with_variable(rest, "ints")

    def dict(self, scope: Scope, place: Place, size: int) -> Scope:
        """A dict, an entry of which a loop may change."""
        name, entry = self.fresh("d"), self.fresh("v")
        type_ = self.chosen(("int", "float", "vector"))
        of_key = {"a": self.expr(scope, type_, 2), "b": self.expr(scope, type_, 1)}
        if type_ == "vector":
            of_key = {key: f"{value} + 0.5" for key, value in of_key.items()}
        self.line(place, f"{name} = {{{', '.join(f'{key!r}: {value}' for key, value in of_key.items())}}}")
        if self.chance(2):
            counter = self.fresh("i")
            self.line(place, f"for {counter} in range({self.number(0, 3)}):")
            place_of_change = place.deeper()
            scope_of_change = scope.with_variable(counter, "int")
        else:
            place_of_change, scope_of_change = place, scope
        operator = self.chosen(("+=", "-=", "="))
        self.line(place_of_change, f"{name}['b'] {operator} {self.expr(scope_of_change, type_, 2)}")
        self.line(place, f"{entry} = {self.chosen((name + '[{!r}]'.format('b'), f'sum({name}.values())'))}")
        return scope.with_variable(entry, type_)

    def rows(self, scope: Scope, place: Place, size: int) -> Scope:
        """A list of lists, of which one changes: right, or refused."""
        name, total = self.fresh("rows"), self.fresh("v")
        counter = self.fresh("i")
        row = self.chosen((f"[{counter}, {self.expr(scope, 'int', 1)}]", f"[{self.expr(scope, 'int', 0)}] * 2"))
        self.line(place, f"{name} = [{row} for {counter} in range({self.chosen(('2', '3'))})]")
        if self.chance(12):
            self.line(place, f"{self.fresh('w')} = {name}[0]")
        change = self.chosen(("[1][0] = {}", "[0][-1] += {}", "[-1].append({})", ".append([{}])"))
        self.line(place, f"{name}{change.format(self.expr(scope, 'int', 2))}")
        self.line(place, f"{total} = sum(sum(each) for each in {name}) + len({name}[1])")
        return scope.with_variable(total, "int")

    def state(self, scope: Scope, place: Place, size: int) -> Scope:
        """A tuple with names, which a loop changes."""
        name, counter, result = self.fresh("s"), self.fresh("i"), self.fresh("v")
        self.line(place, f"{name} = State({self.expr(scope, 'vector', 1)}, {self.expr(scope, 'int', 1)})")
        self.line(place, f"for {counter} in range({self.number(0, 3)}):")
        change = self.chosen((
            f"{name}._replace(count={name}.count + {counter})", f"moved({name}, {self.expr(scope, 'int', 1)})",
            f"State({name}.place * 0.5, {name}.count - 1)",
        ))  # fmt: skip
        self.line(place.deeper(), f"{name} = {change}")
        self.line(place, f"{result} = {name}.count")
        return scope.with_variable(result, "int")

    def named(self, scope: Scope, place: Place, size: int) -> Scope:
        """`:=` in a test."""
        name = self.fresh("n")
        inner = scope.with_variable(name, "int")
        self.line(place, f"if ({name} := {self.expr(scope, 'int', 2)}) > {self.number(-2, 4)}:")
        self.block(inner, place.deeper(), size)
        return inner

    def gathered(self, scope: Scope, place: Place, size: int) -> Scope:
        """A list that begins empty."""
        name, counter = self.fresh("xs"), self.fresh("i")
        type_ = self.chosen(tuple(LISTS))
        self.line(place, f"{name} = []")
        self.line(place, f"for {counter} in range({self.chosen((str(self.number(1, 3)), 'x0 % 4'))}):")
        inner = scope.with_variable(counter, "int")
        if self.chance(3):
            self.line(place.deeper(), f"if {self.expr(inner, 'bool', 1)}:")
            self.line(place.deeper().deeper(), "continue")
        self.line(place.deeper(), f"{name}.append({self.expr(inner, LISTS[type_], 2)})")
        return scope.with_variable(name, type_)

    def parts(self, scope: Scope, place: Place, size: int) -> Scope:
        """Parts of an array that change."""
        type_ = self.chosen(("vector", "matrix", "whole"))
        name = self.fresh("a")
        self.line(place, f"{name} = {self.expr(scope, type_, 2)} + 1")
        of_type = {
            "vector": (("[{i}] = {f}", "int"), ("[1:] = {f}", ""), ("[[0, 2]] += {f}", ""), ("[{v} > 0] = {f}", ""),
                       ("[::2] *= {f}", ""), ("[...] = {v}", "")),
            "matrix": (("[{i}] = {v}", "int"), ("[:, {i}] = {f}", "int"), ("[1, 1:] -= {f}", ""),
                       ("[:, [2, 0]] = {f}", ""),
                       ("[[0, 1], [2, 0]] = {f}", ""), ("[0][1] = {f}", "")),
            "whole": (("[{i}] = {n}", "int"), ("[1:3] += {n}", ""), ("[{w} > 1] = {n}", "")),
        }  # fmt: skip
        text, _ = self.chosen(of_type[type_])
        holes = {"f": "float", "v": "vector", "n": "int", "w": "whole", "i": "int"}
        given = {hole: self.expr(scope, each, 1) for hole, each in holes.items() if f"{{{hole}}}" in text}
        self.line(place, f"{name}{text.format(**given)}")
        return scope.with_variable(name, type_)

    # ---------------------------------------------------------------------------------------------------- control

    def if_(self, scope: Scope, place: Place, size: int) -> Scope:
        self.line(place, f"if {self.expr(scope, 'bool', 3)}:")
        self.block(scope, place.deeper(), size)
        if self.chance(3):
            self.line(place, f"elif {self.expr(scope, 'bool', 2)}:")
            self.block(scope, place.deeper(), size)
        if self.chance(2):
            self.line(place, "else:")
            self.block(scope, place.deeper(), size)
        return scope

    def leave(self, scope: Scope, place: Place, size: int) -> Scope:
        """`return`, `break` or `continue`, under a condition."""
        self.line(place, f"if {self.expr(scope, 'bool', 3)}:")
        if size > 0 and self.chance(3):
            self.block(scope, place.deeper(), 0)
        what = self.chosen(("return", "break", "continue")) if place.in_loop else "return"
        self.line(place.deeper(), self.result(scope, place.results) if what == "return" else what)
        return scope

    def result(self, scope: Scope, results: tuple[str, ...]) -> str:
        return f"return {', '.join(self.expr(scope, each, 2) for each in results)}"

    def _loop(self, scope: Scope, place: Place, size: int, head: str, *known: tuple[str, str]) -> Scope:
        self.line(place, head)
        inner = scope
        for name, type_ in known:
            inner = inner.with_variable(name, type_)
        self.block(inner, place.deeper(in_loop=True), size)
        return self._else_of_loop(scope, place, size)

    def _else_of_loop(self, scope: Scope, place: Place, size: int) -> Scope:
        if self.chance(5):
            self.line(place, "else:")
            self.block(scope, place.deeper(), size - 1)
        return scope

    def for_range(self, scope: Scope, place: Place, size: int) -> Scope:
        name = self.fresh("i")
        stop = f"{self.expr(scope, 'int', 1)} % {self.number(1, 4)}" if self.chance(2) else str(self.number(0, 4))
        bounds = self.chosen((stop, f"1, {stop}", f"{stop}, -1, -1", f"{self.number(-2, 2)}, {stop}, 2"))
        known = [each for each in scope.variables if each[1] in ("vector", "open")]
        if known and self.chance(3):
            bounds = f"len({self.chosen(known)[0]})"
        inner = replace(scope, positions=(*scope.positions, name))
        self._loop(inner, place, size, f"for {name} in range({bounds}):", (name, "int"))
        return scope

    def for_each(self, scope: Scope, place: Place, size: int) -> Scope:
        type_, element = self.chosen((
            ("vector", "float"), ("matrix", "vector"), ("open", "float"), ("ints", "int"), ("vectors", "vector"),
            ("whole", "int"),
        ))  # fmt: skip
        name = self.fresh("e")
        return self._loop(scope, place, size, f"for {name} in {self.expr(scope, type_, 2)}:", (name, element))

    def known_loop(self, scope: Scope, place: Place, size: int) -> Scope:
        """A loop that is unrolled, with choices that are made now."""
        k, value = self.fresh("k"), self.fresh("e")
        heads = (
            (f"for {k} in (1, 2, 3):", ((k, "int"),)),
            (f"for {k}, {value} in enumerate([{self.expr(scope, 'float', 1)}, {self.expr(scope, 'float', 1)}]):",
             ((k, "int"), (value, "float"))),
            (f"for {k}, {value} in zip((2, 0), ({self.expr(scope, 'vector', 1)}, {self.expr(scope, 'vector', 1)})):",
             ((k, "int"), (value, "vector"))),
            (f"for {k} in reversed([1, {self.expr(scope, 'int', 1)}]):", ((k, "int"),)),
        )  # fmt: skip
        head, known = self.chosen(heads)
        self.line(place, head)
        inner = scope
        for name, type_ in known:
            inner = inner.with_variable(name, type_)
        if self.chance(2):
            self.line(place.deeper(), f"if {k} > 1:")
            self.block(inner, place.deeper(in_loop=True).deeper(), size - 1)
        self.block(inner, place.deeper(in_loop=True), size - 1)
        return self._else_of_loop(scope, place, size)

    def while_(self, scope: Scope, place: Place, size: int) -> Scope:
        name = self.fresh("w")
        self.line(place, f"{name} = 0")
        inner = scope.with_variable(name, "int")
        test = self.chosen((f"{name} < {self.number(1, 4)}", f"{name} < 4 and {self.expr(inner, 'bool', 2)}", "True"))
        self.line(place, f"while {test}:")
        self.line(place.deeper(), f"{name} += 1")
        if test == "True":
            self.line(place.deeper(), f"if {name} > {self.number(1, 3)}:")
            self.line(place.deeper().deeper(), "break")
        frozen = replace(inner, positions=(*inner.positions, name))
        self.block(frozen, place.deeper(in_loop=True), size)
        return self._else_of_loop(scope.with_variable(name, "int"), place, size)

    def stays(self, scope: Scope, place: Place, size: int) -> Scope:
        """A loop whose variable is read behind it."""
        name, total = self.fresh("i"), self.fresh("t")
        self.line(place, f"{name} = {total} = {self.number(-1, 1)}")
        self.line(place, f"for {name} in range({self.expr(scope, 'int', 1)} % {self.number(1, 5)}):")
        self.line(place.deeper(), f"{total} += {name}")
        if self.chance(2):
            self.line(place.deeper(), f"if {self.expr(scope.with_variable(total, 'int'), 'bool', 2)}:")
            self.line(place.deeper().deeper(), "break")
        return self._else_of_loop(scope.with_variable(name, "int").with_variable(total, "int"), place, size)

    def match(self, scope: Scope, place: Place, size: int) -> Scope:
        if self.chance(2):
            first, rest = self.fresh("h"), self.fresh("r")
            self.line(place, f"match {self.expr(scope, 'ints', 2)}:")
            self.line(place.deeper(), f"case [{first}, *{rest}]:")
            inner = scope.with_variable(first, "int").with_variable(rest, "ints")
            self.block(inner, place.deeper().deeper(), size - 1)
            self.line(place.deeper(), "case _:")
            self.block(scope, place.deeper().deeper(), size - 1)
            return scope
        length, weight = self.fresh("h"), self.fresh("h")
        self.line(place, f"match {self.expr(scope, 'shape', 2)}:")
        self.line(place.deeper(), f"case Shape.Line({length}, {weight}):")
        self.block(scope.with_variable(length, "int").with_variable(weight, "float"), place.deeper().deeper(), size - 1)
        self.line(place.deeper(), "case _:")
        self.block(scope, place.deeper().deeper(), size - 1)
        return scope

    def nested(self, scope: Scope, place: Place, size: int) -> Scope:
        """A nested function: in place, or one that calls itself."""
        name, type_ = self.fresh("g"), self.chosen(("int", "float", "vector"))
        if self.chance(4):
            self.line(place, f"def {name}(p0: int, p1: int) -> int:")
            inner = scope.with_variable("p0", "int").with_variable("p1", "int")
            self.line(place.deeper(), f"if p0 <= 0 or p0 > 6:\n{'    ' * (place.indent + 2)}return p1")
            step = self.expr(inner, "int", 2)
            self.line(place.deeper(), f"return {name}(p0 - 1, {step}){self.chosen(('', ' + p1'))}")
            return replace(scope, functions=(*scope.functions, (name, ("int", "int"), 2, "int")))
        types = tuple(self.chosen(("int", "float", "vector")) for _ in range(self.number(1, 3)))
        required = self.number(0, len(types))
        parameters = [f"p{i}" if i < required else f"p{i}={self.expr(scope, each, 1)}" for i, each in enumerate(types)]
        inner = scope
        for position, each in enumerate(types):
            inner = inner.with_variable(f"p{position}", each)
        if self.chance(3):
            self.line(place, f"{name} = lambda {', '.join(parameters)}: {self.expr(inner, type_, 2)}")
        else:
            self.line(place, f"def {name}({', '.join(parameters)}):")
            within = Place(place.indent + 1, (type_,))
            inner = self.block(replace(inner, positions=()), within, size - 1)
            self.line(within, self.result(inner, (type_,)))
        return replace(scope, functions=(*scope.functions, (name, types, required, type_)))


@st.composite
def python_programs(draw: Any) -> PythonProgram:
    """Functions with arguments, as Hypothesis draws them: one that differs is made small."""
    return python_program(lambda low, high: draw(st.integers(low, high)))


def python_program(number: Callable[[int, int], int]) -> PythonProgram:
    """A function and arguments for it. `number(low, high)` draws, both ends included."""
    g = Functions(number)
    types = ["int", "float", *(g.chosen(_ARGUMENTS) for _ in range(g.number(0, 3)))]
    results = tuple(g.chosen(_RESULTS) for _ in range(g.number(1, 3)))
    parameters = [f"x{i}: {ANNOTATIONS[each]}" for i, each in enumerate(types)]
    scope = Scope(tuple((f"x{i}", each) for i, each in enumerate(types)), SCALED)
    place = Place(1, results)
    for _ in range(g.number(1, 4)):
        scope = g.statement(scope, place, 3)
    g.line(place, g.result(scope, results))
    text = f"{HEADER}def f({', '.join(parameters)}):\n" + "\n".join(g.lines) + "\n"
    extent = g.number(1, 4)
    return PythonProgram(text, tuple(_argument(g, each, extent) for each in types))


def _argument(g: Functions, type_: str, extent: int) -> Any:
    def quarters(*shape: int) -> Any:
        count = int(np.prod(shape))
        return (np.asarray([g.number(-12, 16) for _ in range(count)], np.float32) / 4).reshape(shape)

    match type_:
        case "int":
            return g.number(-4, 9)
        case "float":
            return g.number(-12, 16) / 4
        case "bool":
            return bool(g.number(0, 1))
        case "vector":
            return quarters(3)
        case "matrix":
            return quarters(2, 3)
        case "whole":
            return np.asarray([g.number(-4, 9) for _ in range(4)], np.int32)
        case "open":
            return quarters(extent)
        case _:
            return [g.number(-4, 9) for _ in range(g.number(0, 3))]
