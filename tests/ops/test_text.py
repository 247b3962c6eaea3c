"""Every operator with every attribute of the tables is text that parses back."""

from __future__ import annotations

import pytest

from relay.infer.eager import type_eagerly
from relay.ir.expr import Call, Function, Op, Var
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.text.printer import astext
from tests.ops.case import Case
from tests.ops.test_operators import CASES, type_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls_print_and_parse_back(case: Case) -> None:
    parameters = tuple(Var(f"x{at}", type_of(value)) for at, value in enumerate(case.inputs))
    body = type_eagerly(Call(Op(OPERATORS[case.operator]), parameters, case.attributes))
    module = IRModule.from_expr(Function(parameters, body))
    assert structural_equal(parse(astext(module), OPERATORS), module)
