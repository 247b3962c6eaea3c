"""What is kept on a device, as text: input `=====>` output. The device takes all but `sort` and `tanh`.

`UPDATE_GOLDEN=1` writes the right sides anew.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import relay
from relay.transform.devices.flows import held_on_devices
from relay.transform.devices.offload import offload
from relay.transform.devices.residency import keep_on_devices
from tests.transform.test_golden_passes import HEADER, Case, cases, leaves, random_arguments, rewrite_case, shown
from tests.transform.test_offload import DEVICES, device_of

CASES = cases("residency", DEVICES)


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_keep_on_devices(case: Case) -> None:
    before = relay.transform.infer_type(relay.parse(HEADER + case.source))
    after = keep_on_devices(offload(before, device_of))
    if os.environ.get("UPDATE_GOLDEN"):
        rewrite_case("residency", case, shown(after), DEVICES)
    else:
        assert shown(after) == case.expected
    relay.transform.infer_type(after)
    arguments = random_arguments(before)
    left, right = (
        leaves(relay.create_executor("interpreter", each).evaluate()(*arguments)) for each in (before, after)
    )
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_held_there_is_told_by_functions_and_regions():
    (case,) = [each for each in CASES if "choice" in each.title]
    module = keep_on_devices(offload(relay.transform.infer_type(relay.parse(HEADER + case.source)), device_of))
    assert {head.name_hint for head, _ in held_on_devices(module)} == {"r", "e", "constant"}


def test_every_case_is_there() -> None:
    assert len(CASES) >= 5
