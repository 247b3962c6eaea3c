"""The interpreter computes what the table of operations says, and reports what no kernel may do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.tir.expr import Binary, BinaryOp, CompareOp, Imm, Select, Unary, UnaryOp, ValueVar
from relay.tir.interpretation.interpreter import interpret
from relay.tir.passes.simplify import simplify
from relay.tir.passes.value_rules import VALUE_RULES, Domain, ValueRule
from relay.tir.semantics import binary_function, cast_function, compare_function, unary_function
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.verification.verifier import verify

I32 = DType.INT32
LOW = -(1 << 31)


def call(function: object, *numbers: object, dtype: DType = I32) -> object:
    with np.errstate(all="ignore"):
        return function(*(np.array(number).astype(dtype.numpy)[()] for number in numbers)).item()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        (BinaryOp.ADD, (1 << 31) - 1, 1, LOW),
        (BinaryOp.DIVIDE, -7, 2, -3),
        (BinaryOp.DIVIDE, 7, 0, 0),
        (BinaryOp.DIVIDE, LOW, -1, LOW),
        (BinaryOp.MOD, -7, 2, -1),
        (BinaryOp.MOD, 7, 0, 0),
        (BinaryOp.FLOOR_DIVIDE, -7, 2, -4),
        (BinaryOp.FLOOR_DIVIDE, LOW, -1, LOW),
        (BinaryOp.FLOOR_MOD, -7, 2, 1),
        (BinaryOp.FLOOR_MOD, -7, 0, 0),
        (BinaryOp.POWER, -2, 3, -8),
        (BinaryOp.POWER, 2, -1, 0),
        (BinaryOp.POWER, -1, -3, -1),
        (BinaryOp.LEFT_SHIFT, 1, 32, 0),
        (BinaryOp.LEFT_SHIFT, 1, -1, 0),
        (BinaryOp.RIGHT_SHIFT, -8, 40, -1),
        (BinaryOp.RIGHT_SHIFT, -8, 1, -4),
        (BinaryOp.RIGHT_SHIFT, 8, 40, 0),
    ],
)
def test_integer_operations_are_total(op: BinaryOp, left: int, right: int, expected: int) -> None:
    assert call(binary_function(op, I32), left, right) == expected


@pytest.mark.parametrize(
    ("number", "target", "expected"),
    [
        (float("nan"), I32, 0),
        (1e30, I32, (1 << 31) - 1),
        (-1e30, I32, LOW),
        (-3.9, I32, -3),
        (300.0, DType.UINT8, 255),
        (-1.0, DType.UINT64, 0),
        (float("inf"), DType.INT64, (1 << 63) - 1),
        (float("nan"), DType.BOOL, True),
    ],
)
def test_floats_become_integers_totally(number: float, target: DType, expected: int) -> None:
    assert call(cast_function(DType.FLOAT32, target), number, dtype=DType.FLOAT32) == expected


def test_narrow_types_are_computed_wide_and_rounded_once() -> None:
    add = binary_function(BinaryOp.ADD, DType.BFLOAT16)
    assert call(add, 256.0, 1.0, dtype=DType.BFLOAT16) == 256.0
    assert call(binary_function(BinaryOp.MULTIPLY, DType.INT8), 100, 3, dtype=DType.INT8) == 44
    assert call(binary_function(BinaryOp.ADD, DType.INT4), 7, 1, dtype=DType.INT4) == -8
    assert np.isnan(call(binary_function(BinaryOp.MAXIMUM, DType.FLOAT16), 1.0, np.nan, dtype=DType.FLOAT16))


@pytest.mark.parametrize(("number", "expected"), [(0.5, 1.0), (-2.5, -3.0), (0.49999997, 0.0), (2.4, 2.0)])
def test_round_is_half_away_from_zero(number: float, expected: float) -> None:
    assert call(unary_function(UnaryOp.ROUND, DType.FLOAT32), number, dtype=DType.FLOAT32) == expected


@given(st.integers(LOW, (1 << 31) - 1), st.integers(LOW, (1 << 31) - 1))
def test_division_and_rest_belong_together(a: int, b: int) -> None:
    if b == 0:
        return
    for divide, rest in ((BinaryOp.DIVIDE, BinaryOp.MOD), (BinaryOp.FLOOR_DIVIDE, BinaryOp.FLOOR_MOD)):
        whole = call(binary_function(divide, I32), a, b) * b + call(binary_function(rest, I32), a, b)  # type: ignore[operator]
        assert (whole - a) % (1 << 32) == 0


SAMPLES = {
    Domain.INTEGERS: (DType.INT32, [0, 1, -1, 7, LOW]),
    Domain.FLOATS: (DType.FLOAT32, [0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan")]),
    Domain.BOOLS: (DType.BOOL, [False, True]),
}


@pytest.mark.parametrize("rule", VALUE_RULES, ids=lambda rule: rule.name)
def test_value_rules_are_exact_on_special_numbers(rule: ValueRule) -> None:
    """A rule of class EXACT gives the same bits everywhere; one of a looser class does not (else it is misfiled)."""
    exact = True
    for domain in rule.domains:
        dtype, numbers = SAMPLES[domain]
        for x in numbers:
            for y in numbers:
                bindings = {"x": (x, dtype), "y": (y, dtype), "p": (bool(y == y and y > 0), DType.BOOL)}
                left, right = (_bits(_quietly(side, bindings, dtype)) for side in (rule.left, rule.right))
                exact = exact and left == right
    assert exact == (rule.floating_point == 0)


def _quietly(value: object, bindings: dict[str, tuple[object, DType]], dtype: DType) -> object:
    with np.errstate(all="ignore"):
        return _evaluate(value, bindings, dtype)


def _evaluate(value: object, bindings: dict[str, tuple[object, DType]], dtype: DType) -> object:
    go = lambda part: _evaluate(part, bindings, dtype)  # noqa: E731
    match value:
        case ValueVar(name):
            number, kind = bindings[name]
            return np.array(number).astype(kind.numpy)[()]
        case Imm(number, kind):
            return np.array(number).astype((DType.BOOL if kind.is_bool else dtype).numpy)[()]
        case Binary(op, left, right):
            operand = go(left)
            return binary_function(op, DType(operand.dtype.name))(operand, go(right))
        case Unary(op, operand):
            return unary_function(op, DType(go(operand).dtype.name))(go(operand))
        case Select(condition, then, otherwise):
            return go(then) if go(condition) else go(otherwise)
    raise AssertionError(value)


def _bits(number: object) -> str:
    return "nan" if number != number else np.array(number).tobytes().hex()


def run(text: str, *arrays: np.ndarray) -> None:
    interpret(parse_primfunc(text), list(arrays))


def test_out_of_range_reads_and_writes_are_reported() -> None:
    text = "primfunc f(a: int32[4]) -> (b: int32[4]) { serial i in 5 { b[i] = a[0]; } }"
    with pytest.raises(RelayError) as error:
        run(text, np.zeros(4, np.int32), np.zeros(4, np.int32))
    assert str(error.value) == (
        "error[index-out-of-range]: `b` is written outside of its axis 0\n  expected: 0 <= index < 4\n  found:    4"
    )


def test_reading_an_unwritten_temporary_is_reported() -> None:
    text = "primfunc f() -> (b: int32[4]) { alloc t: int32[4] local { t[0] = int32(1); b[0] = t[1]; } }"
    with pytest.raises(RelayError) as error:
        run(text, np.zeros(4, np.int32))
    assert str(error.value) == (
        "error[uninitialized-read]: `t` is read before it is written\n  found:    t[1]\n"
        "  help: a temporary has undefined contents until it is stored to"
    )


def test_wrong_arguments_are_reported() -> None:
    text = "primfunc f(a: int32[4]) -> (b: int32[4]) { b[0] = a[0]; }"
    with pytest.raises(RelayError, match=r"expected: int32\[4\]\n  found:    float32\[4\]"):
        run(text, np.zeros(4, np.float32), np.zeros(4, np.int32))


def test_masked_lanes_are_not_touched() -> None:
    mask = "(ramp_value(0, 1, int32x4) < int32x4(2))"
    store = f"b[ramp(0, 1, 4)] = load(a[ramp(0, 1, 4)], {mask}) where {mask};"
    text = f"primfunc f(a: int32[2]) -> (b: int32[4]) {{ {store} }}"
    out = np.full(4, 9, np.int32)
    run(text, np.array([5, 6], np.int32), out)
    assert out.tolist() == [5, 6, 9, 9]


@pytest.mark.parametrize("op", list(CompareOp))
def test_comparisons_with_nan(op: CompareOp) -> None:
    assert call(compare_function(op), np.nan, 1.0, dtype=DType.FLOAT32) is (op is CompareOp.NOT_EQUAL)


def test_text_errors_show_the_place() -> None:
    with pytest.raises(RelayError) as error:
        parse_primfunc("primfunc f(a: int32[4]) -> (b: int32[4]) {\n  b[k] = a[0];\n}\n", "f.tir")
    assert str(error.value) == (
        "error[tir-syntax]: this is not how a loop program goes on\n"
        "  at f.tir:2:5\n"
        "      b[k] = a[0];\n"
        "        ^\n"
        "  expected: an index: a number, or a symbol that is declared\n"
        "  found:    k"
    )


@pytest.mark.parametrize(
    "text",
    ["", "primfunc", "primfunc f(", 'primfunc "f', "primfunc f() -> () { $ }", "primfunc f() -> () {" + "{" * 500],
)
def test_broken_texts_are_user_errors(text: str) -> None:
    with pytest.raises(RelayError, match="tir-syntax"):
        parse_primfunc(text)


SIGNATURE = "primfunc f(a: int32[8]) -> (b: int32[8])"


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("serial i in 8 { b[i] = a[i]; }", []),
        ("serial i in 9 { b[i] = a[0]; }", ["index-out-of-range"]),
        ("serial i in 8 { b[i] = a[i + 1]; }", ["index-out-of-range"]),
        ("serial i in 8 { if holds(i < 7) { b[i] = a[i + 1]; } }", []),
        ("serial i in 8 { b[i] = select(holds(i < 7), a[i + 1], int32(0)); }", []),
        ("parallel i in 8 { b[0] = a[i]; }", ["race-unproven"]),
        ("parallel i in 4 { serial j in 2 { b[2*i + j] = a[i]; } }", []),
        ("parallel i in 4 { serial j in 3 { if holds(2*i + j < 8) { b[2*i + j] = a[i]; } } }", ["race-unproven"]),
        ("parallel i in 2 { serial j in 4 { b[i + 2*j] = a[i]; } }", []),
        ("parallel i in 7 { b[i] = b[i + 1]; }", ["race-unproven"]),
        ("parallel i in 8 { alloc t: int32[1] local { t[0] = a[i]; b[i] = t[0]; } }", []),
        ("b[0] = a[index(a[0])];", ["index-unproven"]),
        ("b[0] = float32(1.0);", ["types-differ"]),
        ("b[ramp(0, 1, 4)] = int32x8(1);", ["types-differ"]),
        ("b[0] = (a[0] + float32(1.0));", ["types-differ"]),
        ("b[0, 0] = a[0];", ["axes-differ"]),
        ("serial i in 2 { alloc t: int32[i + 1] local { t[0] = a[0]; } }", ["extent-not-constant"]),
        ("b[ramp(0, 1, 9)] = a[ramp(0, 1, 9)];", ["index-out-of-range"]),
        ("b[ramp(0, 1, 9)] = int32x9(0) where (ramp_value(0, 1, int32x9) < int32x9(8));", []),
    ],
)
def test_verifier(body: str, rules: list[str]) -> None:
    violations = verify(parse_primfunc(f"{SIGNATURE} {{ {body} }}"))
    assert sorted({violation.rule for violation in violations}) == rules


def test_constants_fold_only_exactly() -> None:
    func = parse_primfunc(
        "primfunc f(a: float32[1]) -> (b: float32[1]) {"
        " b[0] = ((a[0] + float32(0.0)) * (float32(3.0) - float32(2.0))); }"
    )
    assert "b[0] = (a[0] + float32(0.0));" in print_primfunc(simplify(func))
