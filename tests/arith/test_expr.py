"""The normal form of symbolic integers, and how they print."""

import pytest

from relay.arith.expr import (
    Atom,
    Comparison,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Product,
    Sum,
    Symbol,
    add,
    ceil_divide,
    children,
    evaluate,
    floor_divide,
    floor_modulo,
    free_symbols,
    linear_parts,
    linear_sum,
    map_leaves,
    maximum,
    minimum,
    multiply,
    substitute,
)

I, J, N = Symbol("i"), Symbol("j"), Symbol("n")  # noqa: E741


class Loaded(Atom):
    """An index that is read at `at`."""

    def __init__(self, at):
        self.at = at

    def free_symbols(self):
        return free_symbols(self.at)

    def substitute(self, replace):
        return Loaded(substitute(self.at, replace))

    def __str__(self):
        return f"load[{self.at}]"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (I + 0, "i"),
        (0 + I, "i"),
        (I + 1, "i + 1"),
        (1 + I, "i + 1"),
        (I - 1, "i - 1"),
        (1 - I, "-i + 1"),
        (-I, "-i"),
        (I - J, "i - j"),
        (I - I, "0"),
        (I + J - I, "j"),
        (2 * I + 3 * I, "5*i"),
        (I * 2 - J * 3 + 4, "2*i - 3*j + 4"),
        (-2 * I - 4, "-2*i - 4"),
        (I * 0, "0"),
        (0 * I, "0"),
        (I * 1, "i"),
        ((2 * I) * 3, "6*i"),
        (0 - (-I), "i"),
        (-1 * (3 - I), "i - 3"),
        (I * J, "i*j"),
        (I * J * I, "i*j*i"),
        ((I + 1) * (J - 2), "-2*i + j + (i*j) - 2"),
        ((2 * I + 1) * (3 * J), "3*j + 6*(i*j)"),
        ((I + 1) * (I - 1), "(i*i) - 1"),
        ((I + J) * 2, "2*i + 2*j"),
        (I // 1, "i"),
        (I // 4, "i // 4"),
        ((4 * I + J) // 4, "i + (j // 4)"),
        ((4 * I + 8) // 4, "i + 2"),
        ((4 * I + 9) // 4, "i + 2"),
        ((I + 9) // 4, "((i + 1) // 4) + 2"),
        ((I - 1) // 4, "((i + 3) // 4) - 1"),
        ((I // 2) // 3, "i // 6"),
        ((I // 2 + 3) // 3, "(i // 6) + 1"),
        ((I // 2) // -3, "(i // 2) // -3"),
        ((I // -2) // 3, "(i // -2) // 3"),
        ((I // J) // 3, "(i // j) // 3"),
        (I // J, "i // j"),
        (I // I, "1"),
        (0 // I, "0"),
        (7 // I, "7 // i"),
        (I % 1, "0"),
        (I % 4, "i % 4"),
        ((4 * I + J) % 4, "j % 4"),
        ((4 * I + 9) % 4, "1"),
        ((I + 9) % 4, "(i + 1) % 4"),
        (I % I, "0"),
        (0 % I, "0"),
        (7 % I, "7 % i"),
        (I % J, "i % j"),
        (minimum(I, I + 1), "i"),
        (minimum(I + 1, I), "i"),
        (minimum(I, I), "i"),
        (minimum(I, J), "min(i, j)"),
        (maximum(I, I + 1), "i + 1"),
        (maximum(I + 1, I), "i + 1"),
        (maximum(I, I), "i"),
        (maximum(I, J + 1), "max(i, j + 1)"),
        (ceil_divide(I, 4), "(i + 3) // 4"),
        (ceil_divide(9, 4), "3"),
        (ceil_divide(8, 4), "2"),
        (2 * (I // 4) + minimum(I, 3), "2*(i // 4) + min(i, 3)"),
        (Loaded(I) * 2 + Loaded(J) // 3, "2*load[i] + (load[j] // 3)"),
        (Comparison(I, "<", J + 1), "i < j + 1"),
    ],
)
def test_normal_form(expr, text):
    assert str(expr) == text
    assert repr(expr) == text or isinstance(expr, (int, Comparison))


def test_sums_and_products_are_equal_in_any_order():
    assert I + J == J + I
    assert hash(I + J) == hash(J + I)
    assert I + J != I + N
    assert I + 2 * J != I + 3 * J
    assert I + J + 1 != I + J + 2
    assert I + J != I + J + N
    assert I * J == J * I
    assert hash(I * J) == hash(J * I)
    assert I * I * J != I * J * J
    assert hash(I * I * J) == hash(I * J * I)
    assert I * J != I + J
    assert I + J != I * J
    assert Symbol("i") != I
    assert {I * J: 1}[J * I] == 1


def test_the_smallest_form_is_taken():
    assert linear_sum(0, [(I, 1)]) is I
    assert linear_sum(0, [(I, 2), (I, -1)]) is I
    assert isinstance(linear_sum(1, [(I, 1)]), Sum)
    assert isinstance(linear_sum(0, [(I, 2)]), Sum)
    assert linear_sum(5, [(I, 1), (I, -1)]) == 5
    assert multiply(-I, -1) is I
    assert multiply(I + 1, 1) == I + 1
    assert add(I, 0) is I
    assert add(0, I) is I
    assert linear_parts(I * J) == (0, ((I * J, 1),))
    assert linear_parts(7) == (7, ())


@pytest.mark.parametrize("operation", [floor_divide, floor_modulo])
@pytest.mark.parametrize("value", [I, 3])
def test_nothing_is_divided_by_zero(operation, value):
    with pytest.raises(ZeroDivisionError, match=f"{value} .* 0"):
        operation(value, 0)


def test_numbers_are_numbers():
    assert (floor_divide(-7, 2), floor_modulo(-7, 2), add(2, 3), multiply(2, 3)) == (-4, 1, 5, 6)
    assert (minimum(2, 3), maximum(2, 3), ceil_divide(-7, 2)) == (2, 3, -3)


EVERY_FORM = I * J + 2 * (I // (J + 1)) + (I % 3) * 5 + minimum(I, J) - maximum(J, 4) + Loaded(N) + 1


def test_parts():
    assert free_symbols(EVERY_FORM) == {I, J, N}
    assert free_symbols(3) == frozenset()
    assert children(I + 2 * J) == (I, J)
    assert children(I * J) == (I, J)
    assert children(I // J) == children(I % J) == children(Min(I, J)) == children(Max(I, J)) == (I, J)
    assert children(I) == children(3) == children(Loaded(I)) == ()


def test_substitution():
    assert str(substitute(EVERY_FORM, {})) == str(EVERY_FORM)
    assert str(substitute(EVERY_FORM, {I: 7, J: 2, N: J})) == "load[j] + 22"
    assert substitute(I + J, lambda symbol: symbol * 2) == 2 * I + 2 * J
    assert str(map_leaves(EVERY_FORM, lambda symbol: 7 if symbol is I else 2, lambda atom: 10)) == "32"
    assert str(Comparison(I, "<=", J + I).substitute({I: N})) == "n <= j + n"
    assert substitute(3, {I: J}) == 3
    with pytest.raises(TypeError, match="not a symbolic integer: str"):
        map_leaves("i", lambda symbol: symbol)


def test_evaluation_needs_every_value():
    assert evaluate((I + 1) * (J - 2) // 3, {I: 4, J: 6}) == 6
    with pytest.raises(KeyError):
        evaluate(I + J, {I: 4})
    with pytest.raises(KeyError, match="no value for"):
        evaluate(I + Loaded(J), {I: 4, J: 1})
    assert FloorDiv(I, J) != FloorMod(I, J)
    assert Product((I, J)) == I * J
