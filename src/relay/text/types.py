"""Types and dimensions as text, both ways."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from relay.arith.expr import (
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Product,
    Sum,
    Symbol,
    floor_divide,
    floor_modulo,
    linear_parts,
    maximum,
    minimum,
)
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.names.fresh_names import FreshNames
from relay.base.names.near_names import near_names
from relay.ir.types import (
    ANY,
    MAX_TYPE_DEPTH,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.text.cursor import Cursor, Depth
from relay.text.lexer import Kind
from relay.text.literals import number

MAX_DIMENSION_DEPTH = 64
MAX_DIGITS = 40
MAX_DIMENSION_TERMS = 1024
DTYPE_NAMES: Mapping[str, DType] = {
    **{dtype.value: dtype for dtype in DType},
    "int": DType.INT32,
    "uint": DType.UINT32,
    "float": DType.FLOAT32,
}
_FUNCTIONS: Mapping[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "floordiv": floor_divide,
    "floormod": floor_modulo,
    "min": minimum,
    "max": maximum,
}


class TypeNames:
    """The names that type parameters and dimension symbols are printed under: each its own within one definition, and
    none of those `reserved` (of data types)."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._names: dict[TypeVar | Symbol, str] = {}
        taken = {*DTYPE_NAMES, "Tensor", "fn", "ref", *_FUNCTIONS, *reserved}
        self._fresh = FreshNames(taken.__contains__, first=1)

    def name(self, variable: TypeVar | Symbol) -> str:
        """The name of a variable, chosen when it is first asked for."""
        known = self._names.get(variable)
        if known is None:
            hint = variable.name
            wanted = hint if hint.isidentifier() and hint.isascii() else "n"
            known = self._names[variable] = self._fresh.take(wanted)
        return known

    def show(self, type_: Type) -> str:
        """`type_` as text.

        >>> n = Symbol("n")
        >>> TypeNames().show(TensorType((2 * n + 1, ANY), DType.FLOAT32))
        'Tensor[(2*n + 1, ?), float32]'
        """
        match type_:
            case TensorType((), dtype):
                return dtype.value
            case TensorType(shape, dtype):
                dims = ", ".join(map(self.dimension, shape))
                return f"Tensor[({dims}{',' if len(shape) == 1 else ''}), {dtype.value}]"
            case TupleType(fields):
                return f"({', '.join(map(self.show, fields))}{',' if len(fields) == 1 else ''})"
            case FuncType(arg_types, ret_type, type_params):
                head = f"fn [{', '.join(map(self.name, type_params))}]" if type_params else "fn "
                return f"{head}({', '.join(map(self.show, arg_types))}) -> {self.show(ret_type)}"
            case RefType(value):
                return f"ref({self.show(value)})"
            case TypeVar():
                return self.name(type_)
            case GlobalTypeVar(name):
                return name
            case TypeCall(func, args):
                return f"{func.name}[{', '.join(map(self.show, args))}]" if args else func.name
            case IncompleteType():
                return "_"

    def dimension(self, dim: IntExpr) -> str:
        """A dimension as text. `//` and `%` mean other things there, so they are written as functions."""
        match dim:
            case int():
                return str(dim)
            case Symbol():
                return self.name(dim)
            case Sum(constant, terms):
                parts: list[str] = []
                for term, coefficient in terms:
                    size, text = abs(coefficient), self.dimension(term)
                    text = text if size == 1 else f"{size}*{text}"
                    plus, minus = (" + ", " - ") if parts else ("", "-")
                    parts.append((minus if coefficient < 0 else plus) + text)
                if constant:
                    parts.append(f" {'-' if constant < 0 else '+'} {abs(constant)}")
                return "".join(parts)
            case Product(factors):
                return "*".join(map(self.dimension, factors))
            case FloorDiv(left, right):
                return f"floordiv({self.dimension(left)}, {self.dimension(right)})"
            case FloorMod(left, right):
                return f"floormod({self.dimension(left)}, {self.dimension(right)})"
            case Min(left, right):
                return f"min({self.dimension(left)}, {self.dimension(right)})"
            case Max(left, right):
                return f"max({self.dimension(left)}, {self.dimension(right)})"
            case _:
                return str(dim)


class TypeReader:
    """Reads types at a cursor. Data types are those of `data_types`, and what `borrow` finds elsewhere; symbols are
    one a name within a definition."""

    def __init__(
        self,
        cursor: Cursor,
        data_types: Mapping[str, GlobalTypeVar] = MappingProxyType({}),
        borrow: Callable[[str], GlobalTypeVar | None] = lambda _: None,
        type_vars: Mapping[str, TypeVar] | None = None,
    ) -> None:
        self.cursor = cursor
        self.borrow = borrow
        self.data_types = data_types
        self.symbols: dict[str, Symbol] = {}
        self._type_vars: dict[str, TypeVar] = dict(type_vars or {})
        self._type_depth = Depth("a type", MAX_TYPE_DEPTH, cursor)
        self._dimension_depth = Depth("a dimension", MAX_DIMENSION_DEPTH, cursor)

    @contextmanager
    def type_params(self) -> Generator[tuple[TypeVar, ...], None, None]:
        """`[a, b]`, if it stands here; the parameters hold within the `with`."""
        outside = self._type_vars
        variables = self._type_param_list()
        self._type_vars = {**outside, **{variable.name: variable for variable in variables}}
        try:
            yield variables
        finally:
            self._type_vars = outside

    def _type_param_list(self) -> tuple[TypeVar, ...]:
        cursor = self.cursor
        if not cursor.accept("["):
            return ()
        variables: list[TypeVar] = []
        for _ in cursor.items("]", "type parameters"):
            span = cursor.span()
            name = cursor.expect_kind(Kind.NAME, "in the type parameters")
            if any(variable.name == name for variable in variables):
                raise RelayError(rule="duplicate-name", message=f"type parameter `{name}` stands twice", span=span)
            variables.append(TypeVar(name))
        return tuple(variables)

    def type_(self) -> Type:
        """The type that stands here. Raises `RelayError` (rules `syntax`, `unknown-type`, `nested-too-deep`)."""
        cursor = self.cursor
        with self._type_depth:
            if cursor.accept("("):
                return TupleType(self._until_parenthesis())
            if cursor.kind is not Kind.NAME:
                cursor.fail("a type is missing here", "a type")
            if cursor.accept("fn"):
                with self.type_params() as variables:
                    cursor.expect("(", "after `fn` in a type")
                    arg_types = self._until_parenthesis()
                    cursor.expect("->", "in a function type")
                    return FuncType(arg_types, self.type_(), variables)
            if cursor.at("ref") and cursor.peek() == "(":
                cursor.advance()
                cursor.advance()
                inside = self.type_()
                cursor.expect(")", "after the type in a ref")
                return RefType(inside)
            if cursor.at("Tensor"):
                return self._tensor()
            return self._named()

    def _until_parenthesis(self) -> tuple[Type, ...]:
        return tuple([self.type_() for _ in self.cursor.items(")", "types")])

    def _tensor(self) -> TensorType:
        cursor = self.cursor
        cursor.advance()
        cursor.expect("[", "after `Tensor`")
        cursor.expect("(", "before the shape")
        shape = [self.dimension() for _ in cursor.items(")", "dimensions")]
        cursor.expect(",", "between shape and element type")
        dtype = self.dtype()
        cursor.expect("]", "after the element type")
        return TensorType(tuple(shape), dtype)

    def dtype(self) -> DType:
        """The element type that stands here."""
        cursor = self.cursor
        span = cursor.span()
        name = cursor.expect_kind(Kind.NAME, "where an element type stands")
        if name not in DTYPE_NAMES:
            raise RelayError(
                rule="unknown-dtype",
                message=f"`{name}` is not an element type of Relay",
                span=span,
                expected="one of " + ", ".join(DType),
                remedy=near_names(name, DType),
            )
        return DTYPE_NAMES[name]

    def _named(self) -> Type:
        cursor = self.cursor
        span = cursor.span()
        name = cursor.advance()
        variable = self._type_vars.get(name)
        if variable is not None:
            return variable
        if name in DTYPE_NAMES and name not in self.data_types:
            return scalar_type(DTYPE_NAMES[name])
        if name == "_":
            return IncompleteType(reason="the annotation `_`", span=span)
        data = self.data_types.get(name) or self.borrow(name)
        if data is not None:
            return TypeCall(data, self.type_args())
        known = [*DTYPE_NAMES, *self.data_types, *self._type_vars, "Tensor"]
        raise RelayError(
            rule="unknown-type", message=f"`{name}` is not a type", span=span, remedy=near_names(name, known)
        )

    def type_args(self) -> tuple[Type, ...]:
        """`[T, U]`, if it stands here."""
        items = self.cursor.items("]", "type arguments") if self.cursor.accept("[") else ()
        return tuple([self.type_() for _ in items])

    def dimension(self) -> IntExpr:
        """A symbolic integer: `+ - *`, `floordiv floormod min max`, `?`, integers and names."""
        with self._dimension_depth:
            total = self._product()
            while self.cursor.text in ("+", "-"):
                minus = self.cursor.advance() == "-"
                right = self._product()
                total = total - right if minus else total + right
            return total

    def _product(self) -> IntExpr:
        product = self._factor()
        while self.cursor.at("*"):
            span = self.cursor.span()
            self.cursor.advance()
            right = self._factor()
            if len(linear_parts(product)[1]) * len(linear_parts(right)[1]) > MAX_DIMENSION_TERMS:
                raise RelayError(rule="dimension-too-large", message="a dimension has too many terms", span=span)
            product = product * right
        return product

    def _factor(self) -> IntExpr:
        cursor = self.cursor
        if cursor.accept("-"):
            with self._dimension_depth:
                return -self._factor()
        if cursor.accept("?"):
            return ANY
        if cursor.accept("("):
            inside = self.dimension()
            cursor.expect(")", "in a dimension")
            return inside
        if cursor.kind is Kind.NUMBER:
            value = number(cursor.text)
            if not isinstance(value, int) or len(cursor.text) > MAX_DIGITS:
                cursor.fail("a dimension is a whole number", "an integer")
            cursor.advance()
            return value
        span = cursor.span()
        name = cursor.expect_kind(Kind.NAME, "where a dimension stands")
        function = _FUNCTIONS.get(name)
        if function is None or not cursor.at("("):
            return self.symbols.setdefault(name, Symbol(name))
        cursor.advance()
        left = self.dimension()
        cursor.expect(",", f"in `{name}`")
        right = self.dimension()
        cursor.expect(")", f"in `{name}`")
        if right == 0 and name.startswith("floor"):
            raise RelayError(rule="division-by-zero", message="a dimension divides by zero", span=span)
        return function(left, right)
