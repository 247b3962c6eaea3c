"""Layouts of constant kernels, which golden texts cannot show: their passes take parameters."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.transform.pipelines import optimization_pipeline
from tests.transform.passes import CONTEXT


@pytest.mark.parametrize("kernel", ["HWIO", "OHWI", "OIHW"])
@pytest.mark.parametrize("groups", [1, 2, 32])
def test_a_convolution_that_has_the_layout_of_the_target_gets_a_packed_kernel(kernel: str, groups: int) -> None:
    extents = {"O": 32, "I": 32 // groups, "H": 3, "W": 3}
    weight = np.random.default_rng(0).standard_normal([extents[each] for each in kernel], np.float32)
    x = relay.var("x", shape=(1, 6, 5, 32))
    product = relay.nn.conv2d(
        x, relay.const(weight), padding=(1, 1), groups=groups, channels=32, kernel_size=(3, 3),
        data_layout="NHWC", kernel_layout=kernel,
    )  # fmt: skip
    function = relay.Function([x], product)
    with relay.PassContext(opt_level=3, layouts=CONTEXT.layouts):
        text = optimization_pipeline(relay.IRModule.from_expr(function)).astext(show_meta_data=False)
    wanted = 'kernel_layout="HWOI"' if groups == 32 else 'kernel_layout="OHWI16o"'
    assert wanted in text
    assert "layout_transform" not in text
    data = np.random.default_rng(1).standard_normal((1, 6, 5, 32), np.float32)
    expected = relay.create_executor("interpreter", mod=function).evaluate()(data)
    np.testing.assert_allclose(relay.build(function, opt_level=3)(data), expected, rtol=1e-4, atol=1e-4)


def test_a_convolution_of_few_channels_changes_with_one_beside_it() -> None:
    """What both give is joined, and taken by a third, which alone would have stayed as it is."""
    x = relay.var("x", shape=(1, 16, 4, 4))
    both = [relay.nn.conv2d(x, relay.const(np.ones((count, 16, 1, 1), np.float32))) for count in (2, 4)]
    last = relay.nn.conv2d(relay.concatenate(both, axis=1), relay.const(np.ones((2, 6, 1, 1), np.float32)))
    with relay.PassContext(opt_level=3, layouts=CONTEXT.layouts):
        once = relay.transform.AlterOpLayout(relay.IRModule.from_expr(relay.Function([x], last)))
        again = relay.transform.AlterOpLayout(once)
    assert relay.analysis.structural_equal(once, again)
    assert once.astext(show_meta_data=False).count('data_layout="NHWC"') == 3
