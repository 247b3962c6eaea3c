"""Expressions of the documented subset, as text, each of a type that is asked for. A draw of zeros is the smallest."""

# A table of forms, one beside the other:
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

ANNOTATIONS = {
    "int": "int", "float": "float", "bool": "bool", "vector": "relay.Tensor[(3,)]", "matrix": "relay.Tensor[(2, 3)]",
    "whole": 'relay.Tensor[(4,), "int32"]', "mask": 'relay.Tensor[(3,), "bool"]', "open": 'relay.Tensor[("n",)]',
    "ints": "list[int]", "floats": "list[float]", "vectors": "list[relay.Tensor[(3,)]]", "shape": "Shape",
}  # fmt: skip
NUMBERS = ("int", "float", "bool")
ARRAYS = ("vector", "matrix", "whole", "mask", "open")
LISTS = {"ints": "int", "floats": "float", "vectors": "vector"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may use: variables by type, and nested functions by what they take and give. `positions` are
    variables of loops: small ints that are not negative."""

    variables: tuple[tuple[str, str], ...] = ()
    functions: tuple[tuple[str, tuple[str, ...], int, str], ...] = ()
    positions: tuple[str, ...] = ()

    def of_type(self, type_: str) -> list[str]:
        return [name for name, each in self.variables if each == type_]

    def with_variable(self, name: str, type_: str) -> Scope:
        others = tuple(each for each in self.variables if each[0] != name)
        return replace(self, variables=(*others, (name, type_)))


@dataclass(slots=True)
class Expressions:
    """Draws expressions by `number(low, high)`. `size` is how much one may still grow."""

    number: Callable[[int, int], int]
    names: int = 0
    lines: list[str] = field(default_factory=list)

    def fresh(self, hint: str) -> str:
        self.names += 1
        return f"{hint}{self.names}"

    def chosen(self, options: Any) -> Any:
        return options[self.number(0, len(options) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.number(0, one_in - 1) == one_in - 1

    def expr(self, scope: Scope, type_: str, size: int) -> str:
        known = scope.of_type(type_)
        if size <= 0 or (known and self.chance(4)):
            return self.leaf(scope, type_)
        if self.chance(6):
            found = self.called(scope, type_, size)
            if found is not None:
                return found
        if self.chance(12) and type_ not in LISTS:
            test = self.expr(scope, "bool", size - 2)
            return f"({self.expr(scope, type_, size - 1)} if {test} else {self.expr(scope, type_, size - 1)})"
        return self.chosen(FORMS[type_])(self, scope, size - 1)

    def leaf(self, scope: Scope, type_: str) -> str:
        known = scope.of_type(type_)
        if known and not self.chance(8):
            return known[self.number(0, len(known) - 1)]
        numbers = scope.of_type("int")
        if numbers and type_ not in NUMBERS and not self.chance(4):
            return _FROM_NUMBER[type_].format(numbers[self.number(0, len(numbers) - 1)])
        match type_:
            case "int":
                return str(self.number(-5, 12))
            case "float":
                return str(self.number(-9, 17) / 4)
            case "bool":
                return self.chosen(("True", "False"))
            case "vector":
                return self.chosen(
                    ("np.zeros(3)", "np.ones((3,))", "np.full((3,), 2.5)", "np.array([1.5, -2.0, 0.25])")
                )
            case "matrix":
                return self.chosen(("np.ones((2, 3))", "np.array([[1.0, 2.0, -0.5], [0.0, 4.0, 3.0]])"))
            case "whole":
                return self.chosen(("np.array([3, -1, 4, 0])", "np.arange(4)", "np.full((4,), 3)"))
            case "square":
                return "np.eye(3)"
            case "mask":
                return "np.array([True, False, True])"
            case "open":
                return "np.array([0.5, 2.0, -1.5])"
            case "ints" | "floats" | "vectors":
                return f"[{', '.join(self.leaf(scope, LISTS[type_]) for _ in range(self.number(1, 3)))}]"
            case _:
                return f"Shape.Dot({self.leaf(scope, 'float')})"

    def called(self, scope: Scope, type_: str, size: int) -> str | None:
        """A call of a nested function, some arguments by name or left to their defaults."""
        known = [each for each in scope.functions if each[3] == type_]
        if not known:
            return None
        name, parameters, required, _ = self.chosen(known)
        count = self.number(required, len(parameters))
        given = [self.expr(scope, each, size - 2) for each in parameters[:count]]
        if given and self.chance(2):
            given[-1] = f"p{count - 1}={given[-1]}"
        return f"{name}({', '.join(given)})"


def binary(*operators: str) -> Callable[[str, str], Any]:
    def of(left: str, right: str) -> Any:
        def form(g: Expressions, scope: Scope, size: int) -> str:
            first, second = g.expr(scope, left, size - 1), g.expr(scope, right, size - 1)
            return f"({first} {g.chosen(operators)} {second})"

        return form

    return of


def form(text: str, *types: str) -> Any:
    """A form whose holes `{}` are expressions of types."""

    def made(g: Expressions, scope: Scope, size: int) -> str:
        return text.format(*(g.expr(scope, each, size - 1) for each in types))

    return made


def literals(text: str, low: int, high: int, *types: str) -> Any:
    """The same; the last hole is a literal."""

    def made(g: Expressions, scope: Scope, size: int) -> str:
        given = [g.expr(scope, each, size - 1) for each in types]
        return text.format(*given, g.number(low, high))

    return made


def _index(g: Expressions, scope: Scope, size: int) -> str:
    """An index: the position of a loop, a literal, or anything."""
    if scope.positions and g.chance(2):
        return g.chosen(scope.positions)
    return str(g.number(-3, 2)) if g.chance(2) else g.expr(scope, "int", size - 2)


def indexed(text: str, *types: str) -> Any:
    def made(g: Expressions, scope: Scope, size: int) -> str:
        return text.format(*(g.expr(scope, each, 0) for each in types), _index(g, scope, size))

    return made


def _slice(g: Expressions) -> str:
    ends = [str(g.number(-4, 4)) if g.chance(2) else "" for _ in range(2)]
    return ":".join([*ends, g.chosen(("2", "-1", "-2"))]) if g.chance(3) else ":".join(ends)


def sliced(text: str, *types: str) -> Any:
    def made(g: Expressions, scope: Scope, size: int) -> str:
        return text.format(*(g.expr(scope, each, 0) for each in types), _slice(g))

    return made


def _comparison(g: Expressions, scope: Scope, size: int) -> str:
    type_ = g.chosen(("int", "int", "float"))
    parts = [g.expr(scope, type_, size - 1) for _ in range(3 if g.chance(4) else 2)]
    return f"({''.join(f'{part} {g.chosen(COMPARE)} ' for part in parts[:-1])}{parts[-1]})"


def _comprehension(element: str, over: str) -> Any:
    def made(g: Expressions, scope: Scope, size: int) -> str:
        name = g.fresh("e")
        sources = {
            "range": (lambda: f"range({g.expr(scope, 'int', 0)} % {g.number(1, 5)})", "int"),
            "from": (lambda: f"range({g.number(-2, 2)}, {g.expr(scope, 'int', 0)} % 6)", "int"),
            "known": (lambda: g.chosen(("(1, 2, 3)", "range(3)", "[4, -2]")), "int"),
            **{name: ((lambda of=name: g.expr(scope, of, size - 1)), type_) for name, type_ in LISTS.items()},
        }
        source, type_ = sources[over]
        items = source()
        inner = scope.with_variable(name, type_)
        test = f" if {g.expr(inner, 'bool', size - 1)}" if g.chance(2) else ""
        return f"[{g.expr(inner, element, size - 1)} for {name} in {items}{test}]"

    return made


_FROM_NUMBER = {
    "vector": "(np.array([1.5, -2.0, 0.25]) * {})", "matrix": "(np.ones((2, 3)) * {})", "whole": "(np.arange(4) + {})",
    "mask": "(np.array([0.5, 2.0, -1.0]) < {})", "open": "(np.array([0.5, 2.0, -1.5]) * {})", "ints": "[{}, 2]",
    "square": "(np.eye(3) * {})", "floats": "[{} / 2, 0.5]", "vectors": "[np.ones(3) * {}, np.zeros(3)]", "shape": "Shape.Line({}, 0.5)",
}  # fmt: skip
COMPARE = ("<", "<=", "==", "!=", ">", ">=")
_ADD = binary("+", "-", "*")
FORMS: dict[str, tuple[Any, ...]] = {
    "int": (
        _ADD("int", "int"), _ADD("int", "int"), _ADD("int", "bool"), binary("//", "%")("int", "int"),
        binary("&", "|", "^")("int", "int"), literals("({} << {})", 0, 4, "int"), literals("({} >> {})", 0, 4, "int"),
        binary("<<", ">>")("int", "int"), literals("({} % {})", 1, 5, "int"), literals("({} ** {})", 0, 3, "int"),
        form("({} ** ({} % 3))", "int", "int"), form("(-{})", "int"), form("(~{})", "int"), form("abs({})", "int"),
        form("max({}, {})", "int", "int"), form("min({}, {}, 3)", "int", "int"), form("round({})", "float"),
        form("int({})", "float"), form("int({})", "bool"), form("sum([{}, {}])", "int", "int"), form("(+{})", "bool"),
        form("len({})", "ints"), form("len({})", "open"), form("{}.shape[0]", "open"), indexed("{}[{}]", "ints"),
        indexed("{}[{}]", "whole"), form("{}.sum()", "whole"), form("np.max({})", "whole"), form("np.sum({})", "mask"),
        form("np.argmax({})", "vector"), form("{}.argmin()", "whole"), form("{}.shape[1]", "matrix"),
        form("measure({})", "shape"), form("({} + {})", "bool", "bool"), form("len({})", "vectors"),
        form("sum(map(lambda k: k * 2 - 1, {}))", "ints"), form("max({}, key=lambda k: k * k)", "ints"), form("min({}, default=7)", "ints"),
        form("functools.reduce(lambda a, b: a + b, {}, {})", "ints", "int"), form("{{'p': {}, 'q': {}}}['q']", "int", "int"),
        form("({} or {})", "int", "int"), form("({} and {})", "int", "int"), form("[*{}, {}][-1]", "ints", "int"), form("{}.count({})", "ints", "int"),
        form("math.floor({})", "float"), form("sorted({})[0]", "ints"), form("{}[[0, 3, -1]].sum()", "whole"), form("{}.size", "matrix"),
    ),
    "float": (
        _ADD("float", "float"), _ADD("float", "int"), _ADD("int", "float"), form("({} / {})", "int", "int"),
        literals("({} / {})", 1, 4, "float"), form("({} / {})", "float", "float"), literals("({} ** {})", 0, 3, "float"),
        binary("//", "%")("float", "float"), literals("({} // {})", 1, 4, "float"), literals("({} % {})", -3, 4, "float"),
        form("(-{})", "float"), form("abs({})", "float"), form("float({})", "int"), form("max({}, {})", "float", "float"),
        form("min({}, {})", "float", "float"), form("{}.sum()", "vector"), form("np.mean({})", "whole"),
        form("{}.mean()", "vector"), form("np.std({}, ddof=1)", "vector"), form("np.max({})", "matrix"),
        form("sum({})", "vector"), indexed("{}[{}]", "vector"), indexed("{}[1, {}]", "matrix"), indexed("{}[{}][0]", "matrix"),
        indexed("{}[{}]", "open"), sliced("{}[{}].sum()", "open"), sliced("{}[{}].sum()", "vector"), form("({} @ {})", "vector", "vector"),
        indexed("{}[{}]", "floats"), form("{}.min()", "vector"), form("np.tanh({})", "float"), form("np.var({})", "whole"),
        form("np.sqrt(abs({}))", "float"), form("np.maximum({}, {})", "float", "int"), literals("({} ** -{})", 1, 2, "int"),
        sliced("np.sum({}[:, {}])", "matrix"), form("np.floor({})", "float"), form("np.round({})", "float"),
        form("math.sqrt(abs({}))", "float"), form("math.hypot({}, {})", "float", "float"), form("np.median({})", "vector"), form("{}.tolist()[-1]", "vector"),
        form("math.sqrt({})", "float"), form("np.average({}, weights=np.array([1.0, 2.0, 0.5]))", "vector"), form("max({}, key=lambda k: -k)", "floats"),
    ),
    "bool": (
        _comparison, _comparison, _comparison, form("({} and {})", "bool", "bool"), form("({} or {})", "bool", "bool"),
        form("(not {})", "bool"), binary("&", "|", "^")("bool", "bool"), binary("==", "!=")("bool", "bool"),
        form("bool({})", "int"), form("np.any({})", "mask"), form("{}.all()", "mask"), indexed("{}[{}]", "mask"),
        form("({} == {})", "ints", "ints"), form("(({}, {}) < ({}, {}))", "int", "int", "int", "int"), form("({} in {})", "int", "ints"),
        form("all(k > {} for k in {})", "int", "ints"), form("any(map(lambda k: k > 2, {}))", "ints"), form("({} in (1, {}, 3))", "int", "int"),
        form("np.all({})", "whole"), form("np.isfinite({})", "float"), form("max({}, {})", "bool", "bool"),
    ),
    "vector": (
        _ADD("vector", "vector"), _ADD("vector", "float"), _ADD("int", "vector"), literals("({} / {})", 1, 4, "vector"),
        form("({} / {})", "vector", "vector"), literals("({} // {})", -3, 4, "vector"), literals("({} % {})", 1, 4, "vector"),
        literals("({} ** {})", 0, 3, "vector"), form("(-{})", "vector"), form("abs({})", "vector"), form("{}[::-1]", "vector"),
        form("np.where({}, {}, {})", "mask", "vector", "vector"), form("np.where({}, {}, 0)", "mask", "vector"),
        form("np.maximum({}, {})", "vector", "vector"), form("np.minimum({}, 1)", "vector"), indexed("{}[{}]", "matrix"),
        form("{}.sum(axis=0)", "matrix"), form("np.mean({}, axis=0)", "matrix"), form("np.std({}, axis=0)", "matrix"),
        form("np.concatenate([{}, {}])[1:4]", "vector", "vector"), form("{}[np.array([2, 0, -1])]", "vector"),
        form("{}[[1, 1, 0]]", "vector"), form("np.tanh({})", "vector"), form("np.clip({}, -1, 2.5)", "vector"),
        form("np.cumsum({})", "vector"), form("np.sort({})", "vector"), form("np.append({}, {})[1:4]", "vector", "vector"), form("np.round({})", "vector"), indexed("{}[{}]", "vectors"), form("({} * {})", "vector", "mask"),
        form("({} @ {})", "vector", "square"), form("np.square({})", "vector"), form("{}.max(axis=0)", "matrix"),
        form("np.array([{}, {}, {}])", "float", "float", "int"), form("{}[1, [2, 0, 1]]", "matrix"), form("{}[[1, 0, 1], [0, 2, 1]]", "matrix"),
        form("np.hypot({}, {})", "vector", "vector"), form("np.diag({} @ np.eye(3))", "square"), form("{}[..., ::-1]", "vector"), form("np.array({} + [0.5])[:1] * np.ones(3)", "floats"),
        literals("np.take({}, [0, {}, 1])", -3, 2, "vector"), form("{}[{}[1:] % 3]", "vector", "whole"), form("np.sign({})", "vector"),
    ),
    "square": (form("({}[:, None] * {}[None, :])", "vector", "vector"), form("({}.T @ {})", "matrix", "matrix")),
    "matrix": (
        _ADD("matrix", "matrix"), _ADD("matrix", "vector"), _ADD("matrix", "float"), form("np.stack([{}, {}])", "vector", "vector"),
        form("np.stack([{}, {}], axis=0)", "vector", "vector"), form("({m} - {m}.mean(axis=1, keepdims=True))".replace("{m}", "{}"), "matrix", "matrix"),
        form("({} / (1 + {}.std(axis=1, keepdims=True, ddof=1)))", "matrix", "matrix"), form("{}.T.reshape(2, 3)", "matrix"),
        form("{}.reshape(3, 2).T", "matrix"), form("{}.reshape(2, -1)", "matrix"), form("{}[::-1]", "matrix"), form("{}[:, ::-1]", "matrix"),
        form("({} @ {})", "matrix", "square"), form("np.concatenate([{}, {}], axis=1)[:, 2:5]", "matrix", "matrix"), form("np.exp(-abs({}))", "matrix"),
        form("{}[[1, 0]]", "matrix"), form("np.maximum({}, {})", "matrix", "vector"), form("{}.cumsum(axis=1)", "matrix"),
    ),
    "whole": (
        _ADD("whole", "whole"), _ADD("whole", "int"), _ADD("whole", "bool"), binary("//", "%")("whole", "whole"), form("({} // {})", "whole", "int"),
        literals("({} % {})", 1, 5, "whole"), binary("&", "|", "^")("whole", "int"), literals("({} << {})", 0, 3, "whole"), form("(~{})", "whole"),
        form("abs({})", "whole"), form("np.cumsum({})", "whole"), form("np.maximum({}, {})", "whole", "int"), form("{}[::-1]", "whole"),
        form("{}[{} % 4]", "whole", "whole"), form("np.where({0} > 0, {0}, {1})".replace("{0}", "{}").replace("{1}", "{}"), "whole", "whole", "int"),
        literals("({} ** {})", 0, 3, "whole"), form("np.clip({}, -2, 3)", "whole"), form("np.repeat({}[:2], 2)", "whole"), form("-{}", "whole"),
        form("{}.astype(int)", "whole"), form("np.concatenate([{}[2:], {}[:2]])", "whole", "whole"),
    ),
    "mask": (
        form("({} > {})", "vector", "float"), form("({} <= {})", "vector", "vector"), form("(~{})", "mask"), binary("&", "|", "^")("mask", "mask"),
        form("({} != {})", "mask", "mask"), form("np.logical_not({})", "mask"), form("np.logical_and({}, {})", "mask", "mask"), form("({} == 0)", "vector"),
        form("({}[:3] > {})", "whole", "int"), form("{}[::-1]", "mask"),
    ),
    "open": (_ADD("open", "float"), _ADD("open", "int"), form("{}[::-1]", "open"), form("({} * {})", "int", "open"), form("np.tanh({})", "open")),
    "ints": (
        _comprehension("int", "range"), _comprehension("int", "from"), _comprehension("int", "ints"), _comprehension("int", "known"),
        form("sorted({})", "ints"), form("sorted({}, key=lambda k: -k)", "ints"), form("list(map(lambda k: k * 2, {}))", "ints"), form("[*{}, {}]", "ints", "int"),
        form("list(filter(lambda k: k > 1, {}))", "ints"), form("({} * 2)", "ints"), form("({} * ({} % 3))", "ints", "int"), form("{}.tolist()", "whole"),
        form("({} + {})", "ints", "ints"), form("[{}, {}]", "int", "int"), form("list({})", "ints"), _comprehension("int", "floats"),
    ),
    "floats": (
        _comprehension("float", "range"), _comprehension("float", "floats"), _comprehension("float", "known"), form("({} + [{}])", "floats", "float"),
        _comprehension("float", "vectors"), form("[{}, {}, {}]", "float", "float", "float"),
    ),
    "vectors": (
        form("[{}, {}]", "vector", "vector"), _comprehension("vector", "range"), form("({} + {})", "vectors", "vectors"), _comprehension("vector", "vectors"),
    ),
    "shape": (
        form("Shape.Dot({})", "float"), form("Shape.Line({}, {})", "int", "float"), form("Shape.Pair({}, {})", "shape", "shape"), form("Shape.Nothing()"),
    ),
}  # fmt: skip
