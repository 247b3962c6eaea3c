"""Symbolic integers: one expression type shared by tensor shapes and loop indices.

    e ::= int | Symbol | Atom | Sum | Product | FloorDiv | FloorMod | Min | Max

These are mathematical integers: they do not wrap. Constants are plain Python ints. Construction normalises:
sums of products are flat, with like terms collected, so `4*i + j - 4*i` is `j` however it was written, and equality
is equality of polynomials over the non-linear parts. What needs ranges (`j % 4` where `0 <= j < 4`) is `simplify`'s.

Nodes are immutable and compare structurally (these are small trees); a `Symbol` is equal only to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from operator import index
from typing import NoReturn, SupportsIndex, TypeAlias, Union

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen


class Unordered:
    """What stands for numbers that are known later, so that `<` cannot be answered when a program is written."""

    __slots__ = ()

    def __lt__(self, other: object) -> NoReturn:
        raise RelayError(
            rule="order-unknown",
            message=f"which of {_shown(self)} and {_shown(other)} is larger is known when the program runs",
            expected="a comparison that is part of the program",
            found="<, <=, > or >= of Python",
            remedy="in a tensor expression write te.less(left, right), te.less_equal, te.greater or te.greater_equal",
        )

    __le__ = __gt__ = __ge__ = __lt__


def _shown(value: object) -> str:
    return f"`{value}`" if isinstance(value, (Node, int, float)) else "a value"


def _of_integers(method: Callable[[Node, IntExpr], IntExpr]) -> Callable[[Node, IntExpr], IntExpr]:
    """An operator of `Node`, whose other side may be any integer, NumPy's too; all else is asked for its own."""

    @wraps(method)
    def applied(self: Node, other: object) -> IntExpr:
        if isinstance(other, (int, Node)):
            return method(self, other)
        if isinstance(other, float):
            _refuse_fraction(self, other)
        if isinstance(other, SupportsIndex):
            return method(self, index(other))
        return NotImplemented

    return applied


def _refuse_fraction(self: object, other: object) -> NoReturn:
    raise RelayError(
        rule="index-arithmetic",
        message=f"{_shown(self)} is an integer of any size, and has no element type in which to be a fraction",
        expected="integers, with +, -, *, // and %",
        found=f"{_shown(other)}" if isinstance(other, float) else f"/ between {_shown(self)} and {_shown(other)}",
        remedy=f'as a machine number it has one: te.cast({self}, "float32")',
    )


class Node(Unordered):
    """Arithmetic on everything that is not a plain int, with all that is an integer. Raises `RelayError`
    (`index-arithmetic`) beside a float, and where a fraction is asked for."""

    __slots__ = ()

    @_of_integers
    def __add__(self, other: IntExpr) -> IntExpr:
        return add(self, other)

    @_of_integers
    def __radd__(self, other: IntExpr) -> IntExpr:
        return add(other, self)

    @_of_integers
    def __sub__(self, other: IntExpr) -> IntExpr:
        return add(self, multiply(other, -1))

    @_of_integers
    def __rsub__(self, other: IntExpr) -> IntExpr:
        return add(other, multiply(self, -1))

    def __neg__(self) -> IntExpr:
        return multiply(self, -1)

    @_of_integers
    def __mul__(self, other: IntExpr) -> IntExpr:
        return multiply(self, other)

    @_of_integers
    def __rmul__(self, other: IntExpr) -> IntExpr:
        return multiply(other, self)

    @_of_integers
    def __floordiv__(self, other: IntExpr) -> IntExpr:
        return floor_divide(self, other)

    @_of_integers
    def __rfloordiv__(self, other: IntExpr) -> IntExpr:
        return floor_divide(other, self)

    @_of_integers
    def __mod__(self, other: IntExpr) -> IntExpr:
        return floor_modulo(self, other)

    @_of_integers
    def __rmod__(self, other: IntExpr) -> IntExpr:
        return floor_modulo(other, self)

    @_of_integers
    def __truediv__(self, other: IntExpr) -> IntExpr:
        _refuse_fraction(self, other)

    __rtruediv__ = __truediv__


@frozen(eq=False)
class Symbol(Node):
    """A named unknown: a dimension (`n`) or a loop variable (`i`). Two symbols of one name are different."""

    name: str

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


class Atom(Node):
    """A leaf that this layer knows nothing about, defined by a layer above (an unknown `?`, a loaded index).

    A subclass gives equality and, where symbols hide inside it, the two methods here.
    """

    __slots__ = ()

    def free_symbols(self) -> frozenset[Symbol]:
        return frozenset()

    def substitute(self, replace: Callable[[Symbol], IntExpr]) -> IntExpr:  # noqa: ARG002
        return self


class Compound(Node):
    """What has parts. Its hash is computed once: an expression is looked up more often than it is made."""

    __slots__ = ("_hash",)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            _keep_hash(self, found := hash((type(self), self._key())))
            return found

    def _key(self) -> Hashable:
        """What is equal exactly if two of a class are."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Compound)
            and type(self) is type(other)
            and hash(self) == hash(other)
            and self._key() == other._key()
        )


_keep_hash: Callable[[Compound, int], None] = vars(Compound)["_hash"].__set__
"""Nodes are frozen but for this."""


@frozen(eq=False)
class Sum(Compound):
    """`constant + Σ coefficient · term`. At least one term; coefficients are not 0; terms are not sums or ints.

    Terms keep the order in which they were written; equality ignores it.
    """

    constant: int
    terms: tuple[tuple[Node, int], ...]

    def _key(self) -> Hashable:
        return self.constant, frozenset(self.terms)

    def __str__(self) -> str:
        parts: list[str] = []
        for term, coefficient in self.terms:
            size = abs(coefficient)
            text = _operand(term) if size == 1 else f"{size}*{_operand(term)}"
            sign = "-" if coefficient < 0 else "+"
            parts.append(f" {sign} {text}" if parts else (f"-{text}" if coefficient < 0 else text))
        if self.constant:
            parts.append(f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        return "".join(parts)

    __repr__ = __str__


@frozen(eq=False)
class Product(Compound):
    """A product of at least two non-constant factors, none a sum or product; equality ignores their order."""

    factors: tuple[Node, ...]

    def _key(self) -> Hashable:
        return frozenset(_counts(self.factors).items())

    def __str__(self) -> str:
        return "*".join(_operand(factor) for factor in self.factors)

    __repr__ = __str__


@frozen(eq=False)
class Pair(Compound):
    """What has two parts, in an order."""

    left: IntExpr
    right: IntExpr

    def _key(self) -> Hashable:
        return self.left, self.right


@frozen(eq=False)
class FloorDiv(Pair):
    """`left // right`, rounded towards minus infinity. `right` is not 0."""

    def __str__(self) -> str:
        return f"{_operand(self.left)} // {_operand(self.right)}"

    __repr__ = __str__


@frozen(eq=False)
class FloorMod(Pair):
    """`left % right`, with the sign of `right`. `right` is not 0."""

    def __str__(self) -> str:
        return f"{_operand(self.left)} % {_operand(self.right)}"

    __repr__ = __str__


@frozen(eq=False)
class Min(Pair):
    def __str__(self) -> str:
        return f"min({self.left}, {self.right})"

    __repr__ = __str__


@frozen(eq=False)
class Max(Pair):
    def __str__(self) -> str:
        return f"max({self.left}, {self.right})"

    __repr__ = __str__


IntExpr: TypeAlias = Union[int, Node]
"""Any symbolic integer. `Node` is one of Symbol, Atom, Sum, Product, FloorDiv, FloorMod, Min, Max."""


def _operand(expr: IntExpr) -> str:
    bare = isinstance(expr, (int, Symbol, Min, Max, Atom))
    return str(expr) if bare else f"({expr})"


def _counts(factors: tuple[Node, ...]) -> dict[Node, int]:
    counts: dict[Node, int] = {}
    for factor in factors:
        counts[factor] = counts.get(factor, 0) + 1
    return counts


def linear_parts(expr: IntExpr) -> tuple[int, tuple[tuple[Node, int], ...]]:
    """`(constant, ((term, coefficient), …))` of any expression.

    >>> i = Symbol("i")
    >>> linear_parts(4 * i + 3)
    (3, ((i, 4),))
    """
    if isinstance(expr, int):
        return expr, ()
    if isinstance(expr, Sum):
        return expr.constant, expr.terms
    return 0, ((expr, 1),)


def linear_sum(constant: int, terms: Iterable[tuple[Node, int]]) -> IntExpr:
    """The normal form of `constant + Σ coefficient · term`: like terms collected, zero terms gone."""
    collected: dict[Node, int] = {}
    for term, coefficient in terms:
        collected[term] = collected.get(term, 0) + coefficient
    kept = tuple((term, coefficient) for term, coefficient in collected.items() if coefficient)
    if not kept:
        return constant
    if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return Sum(constant, kept)


def add(left: IntExpr, right: IntExpr) -> IntExpr:
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    left_constant, left_terms = linear_parts(left)
    right_constant, right_terms = linear_parts(right)
    if not right_terms and not right_constant:
        return left
    if not left_terms and not left_constant:
        return right
    return linear_sum(left_constant + right_constant, (*left_terms, *right_terms))


def multiply(left: IntExpr, right: IntExpr) -> IntExpr:
    """The product, multiplied out, so that sums stay flat."""
    if isinstance(right, int):
        return left * right if isinstance(left, int) else _scaled(left, right)
    if isinstance(left, int):
        return _scaled(right, left)
    left_constant, left_terms = linear_parts(left)
    right_constant, right_terms = linear_parts(right)
    terms = [(term, k * right_constant) for term, k in left_terms]
    terms += [(term, k * left_constant) for term, k in right_terms]
    terms += [(_product(a, b), j * k) for a, j in left_terms for b, k in right_terms]
    return linear_sum(left_constant * right_constant, terms)


def _scaled(expr: Node, factor: int) -> IntExpr:
    """`expr * factor`, term by term: the most frequent product by far."""
    if factor == 0 or factor == 1:
        return expr if factor else 0
    constant, terms = linear_parts(expr)
    if constant == 0 and len(terms) == 1 and terms[0][1] * factor == 1:
        return terms[0][0]
    return Sum(constant * factor, tuple([(term, coefficient * factor) for term, coefficient in terms]))


def _product(left: Node, right: Node) -> Node:
    factors: list[Node] = []
    for node in (left, right):
        factors.extend(node.factors if isinstance(node, Product) else (node,))
    return Product(tuple(factors))


def floor_divide(left: IntExpr, right: IntExpr) -> IntExpr:
    """`left // right`. Multiples of a constant divisor leave the division: `(4*i + j) // 4` is `i + j//4`."""
    if isinstance(right, int):
        if right == 0:
            raise ZeroDivisionError(f"{left} // 0")
        if isinstance(left, int):
            return left // right
        if right == 1:
            return left
        whole, rest = _split_multiples(left, right)
        if isinstance(rest, int):
            return add(whole, rest // right)
        if isinstance(rest, FloorDiv) and isinstance(rest.right, int) and rest.right > 0 and right > 0:
            return add(whole, floor_divide(rest.left, rest.right * right))
        return add(whole, FloorDiv(rest, right))
    if left == right:
        return 1
    return 0 if left == 0 else FloorDiv(left, right)


def floor_modulo(left: IntExpr, right: IntExpr) -> IntExpr:
    """`left % right`. Multiples of a constant divisor vanish: `(4*i + j) % 4` is `j % 4`."""
    if isinstance(right, int):
        if right == 0:
            raise ZeroDivisionError(f"{left} % 0")
        if isinstance(left, int):
            return left % right
        if right == 1:
            return 0
        _, rest = _split_multiples(left, right)
        return rest % right if isinstance(rest, int) else FloorMod(rest, right)
    if left == right:
        return 0
    return 0 if left == 0 else FloorMod(left, right)


def _split_multiples(expr: IntExpr, divisor: int) -> tuple[IntExpr, IntExpr]:
    """`(q, r)` with `expr == q * divisor + r`, the multiples of `divisor` in q and `0 <= constant of r < |divisor|`."""
    constant, terms = linear_parts(expr)
    quotient = [(term, k // divisor) for term, k in terms if k % divisor == 0]
    rest = [(term, k) for term, k in terms if k % divisor != 0]
    whole = constant // divisor
    return linear_sum(whole, quotient), linear_sum(constant - whole * divisor, rest)


def minimum(left: IntExpr, right: IntExpr) -> IntExpr:
    """The smaller; decided at once when the difference is constant."""
    difference = add(left, multiply(right, -1))
    if isinstance(difference, int):
        return left if difference <= 0 else right
    return Min(left, right)


def maximum(left: IntExpr, right: IntExpr) -> IntExpr:
    """The larger; decided at once when the difference is constant."""
    difference = add(left, multiply(right, -1))
    if isinstance(difference, int):
        return left if difference >= 0 else right
    return Max(left, right)


def ceil_divide(left: IntExpr, right: IntExpr) -> IntExpr:
    """`left / right` rounded up."""
    return floor_divide(add(left, add(right, -1)), right)


def children(expr: IntExpr) -> tuple[IntExpr, ...]:
    """The direct parts of an expression (terms and factors; coefficients are not parts)."""
    match expr:
        case Sum(terms=terms):
            return tuple(term for term, _ in terms)
        case Product(factors=factors):
            return factors
        case FloorDiv(left, right) | FloorMod(left, right) | Min(left, right) | Max(left, right):
            return (left, right)
        case _:
            return ()


def free_symbols(expr: IntExpr) -> frozenset[Symbol]:
    """The symbols an expression depends on."""
    found: set[Symbol] = set()
    stack: list[IntExpr] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Symbol):
            found.add(node)
        elif isinstance(node, Atom):
            found |= node.free_symbols()
        else:
            stack.extend(children(node))
    return frozenset(found)


def substitute(expr: IntExpr, replace: Mapping[Symbol, IntExpr] | Callable[[Symbol], IntExpr]) -> IntExpr:
    """`expr` with symbols replaced and normalised again. A mapping leaves the symbols that it lacks.

    >>> i, j = Symbol("i"), Symbol("j")
    >>> substitute(4 * i + j, {i: 2, j: i + 1})
    i + 9
    """
    if callable(replace):
        return map_leaves(expr, replace)

    def lookup(symbol: Symbol) -> IntExpr:
        return replace.get(symbol, symbol)

    return map_leaves(expr, lookup)


def map_leaves(
    expr: IntExpr,
    symbol: Callable[[Symbol], IntExpr],
    atom: Callable[[Atom], IntExpr] | None = None,
) -> IntExpr:
    """`expr` rebuilt with every symbol (and atom, if given; else atoms substitute inside themselves) replaced."""
    match expr:
        case int():
            return expr
        case Symbol():
            return symbol(expr)
        case Atom():
            return atom(expr) if atom is not None else expr.substitute(symbol)
        case Sum(constant, terms):
            mapped: list[tuple[Node, int]] = []
            for term, coefficient in terms:
                part_constant, part = linear_parts(map_leaves(term, symbol, atom))
                constant += part_constant * coefficient
                mapped += [(each, factor * coefficient) for each, factor in part]
            return linear_sum(constant, mapped)
        case Product(factors):
            product: IntExpr = 1
            for factor in factors:
                product = multiply(product, map_leaves(factor, symbol, atom))
            return product
        case FloorDiv(left, right):
            return floor_divide(map_leaves(left, symbol, atom), map_leaves(right, symbol, atom))
        case FloorMod(left, right):
            return floor_modulo(map_leaves(left, symbol, atom), map_leaves(right, symbol, atom))
        case Min(left, right):
            return minimum(map_leaves(left, symbol, atom), map_leaves(right, symbol, atom))
        case Max(left, right):
            return maximum(map_leaves(left, symbol, atom), map_leaves(right, symbol, atom))
        case _:
            raise TypeError(f"not a symbolic integer: {type(expr).__name__}")


def evaluate(expr: IntExpr, values: Mapping[Symbol, int]) -> int:
    """The integer that `expr` is when symbols have these values. Raises KeyError for a symbol without one."""
    result = substitute(expr, lambda symbol: values[symbol])
    if isinstance(result, int):
        return result
    raise KeyError(f"no value for {result}")


@frozen
class Comparison:
    """A statement about integers: `left op right` with op one of `<`, `<=`, `==`, `!=`."""

    left: IntExpr
    op: str
    right: IntExpr

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"

    def substitute(self, replace: Mapping[Symbol, IntExpr] | Callable[[Symbol], IntExpr]) -> Comparison:
        return Comparison(substitute(self.left, replace), self.op, substitute(self.right, replace))


COMPARISON_OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    "<=": int.__le__,
    "==": int.__eq__,
    "!=": int.__ne__,
}
