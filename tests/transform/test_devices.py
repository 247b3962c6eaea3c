"""Programs over several devices: what is refused, and how they run where there is one kind."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.transform import PlanDevices
from tests.messages import check_message

HEADER = '#[version = "0.0.5"]\n'
VECTOR = "Tensor[(4), float32]"


def test_devices_of_one_kind_are_one_kernel():
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    there = relay.annotation.on_device(relay.exp(x), "cpu:1")
    module = relay.IRModule.from_expr(relay.Function((x, y), relay.add(there, relay.device_copy(y, "cpu:0", "cpu:2"))))
    given = [np.arange(4, dtype="float32"), np.ones(4, "float32")]
    expected = np.exp(given[0]) + 1
    for program in (module, PlanDevices("cpu:2")(module)):
        compilation = compile_stages(program)
        assert len(compilation.kernels) == 1
        np.testing.assert_allclose(relay.build(program)(*given), expected, rtol=1e-6)
        np.testing.assert_allclose(
            relay.create_executor("interpreter", program).evaluate()(*given), expected, rtol=1e-6
        )


def test_planned_functions_are_inlined_again():
    module = relay.parse(
        HEADER + f"def @main(%x: {VECTOR}) {{ exp(@f(%x)) }}\n"
        f'def @f(%x: {VECTOR}) {{ on_device(tanh(%x), device="cpu:1", constrain_result=True) }}\n'
    )
    planned = PlanDevices()(module)
    assert planned["f"].attrs["result_device"] == "cpu:1"
    assert compile_stages(planned).kernel("fused_tanh_exp")


CONFLICTS = {
    "operator": f'def @main(%x: {VECTOR}) {{\n  %0 = on_device(exp(%x), device="cuda");\n'
    '  %1 = on_device(tanh(%x), device="vta");\n  add(%0, %1)\n}',
    "branches": f"def @main(%x: {VECTOR}, %c: bool) {{\n"
    '  if (%c) { device_copy(%x, src_device="cpu", dst_device="cuda") } else { on_device(%x, device="cpu", '
    "constrain_result=True) }\n}",
    "callers": f'def @main(%x: {VECTOR}) {{\n  let %a = @f(on_device(exp(%x), device="cuda", constrain_result=True));\n'
    f'  @f(device_copy(%a, src_device="cuda", dst_device="vta"))\n}}\ndef @f(%x: {VECTOR}) {{ exp(%x) }}',
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_names_both_places(name):
    with pytest.raises(RelayError) as caught:
        PlanDevices()(relay.parse(HEADER + CONFLICTS[name]))
    check_message("transform", f"devices-{name}", caught.value)


@pytest.mark.parametrize(("name", "action"), [
    ("bad-default-device", lambda: PlanDevices("the big one")),
    ("bad-device", lambda: PlanDevices()(relay.parse(
        HEADER + f'def @main(%x: {VECTOR}) {{ on_device(%x, device="GPU") }}'))),
    ("no-back-end", lambda: relay.build(relay.parse(
        HEADER + f'def @main(%x: {VECTOR}) {{ exp(on_device(tanh(%x), device="cuda")) }}'))),
    ("no-back-end-planned", lambda: relay.build(PlanDevices("cuda")(relay.parse(
        HEADER + f'def @main(%x: {VECTOR}) {{ on_device(tanh(%x), device="cpu") }}')))),
])  # fmt: skip
def test_what_is_refused(name, action):
    with pytest.raises(RelayError) as caught:
        action()
    check_message("transform", name, caught.value)


def test_unchanged_programs_are_the_same_object():
    module = relay.transform.infer_type(relay.parse(HEADER + f"def @main(%x: {VECTOR}) {{ exp(%x) }}"))
    assert PlanDevices()(module) is module
    annotated = relay.parse(HEADER + f'def @main(%x: {VECTOR}) {{ on_device(exp(%x), device="vta") }}')
    planned = PlanDevices()(annotated)
    assert PlanDevices()(planned) is planned
