"""Every case of the operators' tables runs natively, alone in its group, and gives what its meaning says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Expr, Function, Op, Tuple, Var
from relay.ops.framework.record import NoCompute
from relay.ops.table import OPERATORS
from tests.ops.case import Case, Tolerance
from tests.ops.test_operators import CASES, assert_close, flat, meaning_of

NATIVE = sorted({case.operator for case in CASES if not isinstance(OPERATORS[case.operator].compute, NoCompute)})
VECTORS = Tolerance(2e-5, "polynomials of a few units in the last place, and sums in another order")


def argument(value: Any, parameters: list[Var]) -> Expr:
    if isinstance(value, tuple):
        return Tuple(tuple(argument(field, parameters) for field in value))
    parameters.append(relay.var(f"p{len(parameters)}", shape=value.shape, dtype=str(value.dtype)))
    return parameters[-1]


def program_of(cases: list[Case]) -> Function:
    """One call a case."""
    parameters: list[Var] = []
    calls: list[Expr] = []
    for case in cases:
        arguments = tuple(argument(value, parameters) for value in case.inputs)
        calls.append(Call(Op(OPERATORS[case.operator]), arguments, case.attributes))
    return Function(parameters, Tuple(tuple(calls)))


@pytest.mark.parametrize("operator", NATIVE)
def test_native(operator: str) -> None:
    cases = [case for case in CASES if case.operator == operator]
    executable = relay.build(program_of(cases), "llvm -num-threads=2", opt_level=2)
    results = executable(*(np.array(each, order="C") for case in cases for each in flat(case.inputs)))
    for case, found in zip(cases, results, strict=True):
        tolerance = case.tolerance
        if OPERATORS[operator].floating_point is FloatingPointClass.ROUNDING or tolerance.relative:
            tolerance = max(tolerance, VECTORS, key=lambda each: each.relative)
        for array, wanted in zip(flat(found), flat(meaning_of(case)), strict=True):
            assert_close(np.asarray(array), wanted, tolerance)
