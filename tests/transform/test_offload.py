"""Regions for a device as text: input `=====>` output. The device takes all but `sort` and `tanh`.

`UPDATE_GOLDEN=1` writes the right sides anew.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import relay
from relay.ir.expr import Call, Function, Op
from relay.ir.traversal import post_order
from relay.transform.devices.offload import offload
from tests.transform.test_golden_passes import (
    FOLDER,
    HEADER,
    Case,
    cases,
    leaves,
    random_arguments,
    rewrite_case,
    shown,
)

DEVICES = FOLDER.parent / "devices"
CASES = cases("offload", DEVICES)


def device_of(function: Function) -> str | None:
    names = {each.op.name for each in post_order(function.body) if isinstance(each, Call) and isinstance(each.op, Op)}
    return None if names & {"sort", "tanh"} else "gpu:0"


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_offload(case: Case) -> None:
    before = relay.transform.infer_type(relay.parse(HEADER + case.source))
    after = offload(before, device_of)
    if os.environ.get("UPDATE_GOLDEN"):
        rewrite_case("offload", case, shown(after), DEVICES)
    else:
        assert shown(after) == case.expected
    assert shown(offload(after, device_of)) == shown(after), "a second run changes something"
    arguments = random_arguments(before)
    left, right = (
        leaves(relay.create_executor("interpreter", each).evaluate()(*arguments)) for each in (before, after)
    )
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_case_is_there() -> None:
    assert len(CASES) >= 6
