"""What users read when a call cannot be right. With UPDATE_GOLDEN=1 in the environment the texts are written anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.eager import type_eagerly
from relay.ir.expr import Call, Op, Var, record_type
from relay.ops.table import OPERATORS
from tests.ops.case import BadCase
from tests.ops.cases_bad import BAD_CASES

GOLDEN = Path(__file__).parent.parent / "golden" / "errors" / "ops"


def message_of(case: BadCase) -> str:
    record = OPERATORS[case.operator]
    names = (*record.inputs, *("extra" for _ in case.types[len(record.inputs) :]))
    arguments = tuple(record_type(Var(name), type_) for name, type_ in zip(names, case.types, strict=False))
    with pytest.raises(RelayError) as caught:
        type_eagerly(Call(Op(record), arguments, case.attributes))
    return str(caught.value)


@pytest.mark.parametrize("family", BAD_CASES)
def test_messages_of_refused_calls(family: str) -> None:
    text = "\n\n".join(message_of(case) for case in BAD_CASES[family]) + "\n"
    golden = GOLDEN / f"{family}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()
