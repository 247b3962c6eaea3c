"""Mixed precision: what a user asks for, and that networks in narrow types stay near those in float32."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.ir.module import IRModule
from relay.ops.framework.record import PrecisionRule
from relay.ops.table import OPERATORS
from relay.transform import FoldConstant, Sequential, SimplifyInference, ToMixedPrecision
from tests.messages import check_message


def network() -> IRModule:
    generator = np.random.default_rng(0)

    def weight(*shape: int) -> relay.Constant:
        return relay.const(generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:])), "float32")

    x = relay.var("x", shape=(1, 3, 8, 8))
    y = relay.nn.relu(relay.nn.conv2d(x, weight(8, 3, 3, 3), padding=(1, 1)))
    y = relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(y, weight(8, 8, 3, 3), padding=(1, 1)), weight(8)))
    y = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(y))
    return relay.IRModule.from_expr(relay.Function((x,), relay.nn.softmax(relay.nn.dense(y, weight(10, 8)))))


def prepared() -> IRModule:
    return Sequential((SimplifyInference, FoldConstant))(relay.transform.infer_type(network()))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_network_stays_near_float32_in_the_interpreter_and_natively(dtype: str) -> None:
    module = prepared()
    mixed = ToMixedPrecision(dtype)(module)
    x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
    wide = relay.create_executor("interpreter", module).evaluate()(x)
    narrow = relay.create_executor("interpreter", mixed).evaluate()(x)
    assert np.asarray(narrow).dtype == np.float32
    np.testing.assert_allclose(narrow, wide, rtol=3e-2, atol=3e-3)
    np.testing.assert_allclose(np.asarray(relay.build(mixed)(x)), np.asarray(narrow), rtol=3e-2, atol=3e-3)


def test_a_network_is_cast_at_its_borders_only() -> None:
    text = relay.astext(ToMixedPrecision("bfloat16")(prepared()), show_meta_data=False)
    assert text.count("cast(") == 1  # the input; the last product gives float32, as softmax wants it
    assert 'out_dtype="float32"' in text


def test_parameters_that_are_not_known_yet_are_narrow_too() -> None:
    """What a block with a shortcut gives is stored narrow, also where the scale of a normalisation is computed."""
    x, w = relay.var("x", shape=(1, 8, 8, 8)), relay.var("w", shape=(8, 8, 3, 3))
    gamma, beta, mean, variance = (relay.var(name, shape=(8,)) for name in ("gamma", "beta", "mean", "variance"))

    def block(data: relay.Expr) -> relay.Expr:
        y = relay.nn.conv2d(data, w, padding=(1, 1))
        return relay.nn.relu(relay.nn.batch_norm(y, gamma, beta, mean, variance)[0] + data)

    body = relay.nn.conv2d(block(relay.nn.relu(relay.nn.conv2d(x, w, padding=(1, 1)))), w)
    function = relay.Function((x, w, gamma, beta, mean, variance), body)
    module = SimplifyInference()(relay.transform.infer_type(relay.IRModule.from_expr(function)))
    text = relay.astext(ToMixedPrecision("bfloat16")(module), show_meta_data=False)
    assert "ty=Tensor[(1, 8, 8, 8), float32]" not in text
    assert text.count("cast(%w") == 1


def test_records_say_which_operators_become_narrow() -> None:
    rules = {name: record.precision for name, record in OPERATORS.items()}
    assert {name for name, rule in rules.items() if rule is PrecisionRule.NARROW} == {
        "nn.dense", "nn.matmul", "nn.attention", "nn.batch_matmul", "nn.contrib_dense_pack", "nn.conv1d", "nn.conv2d",
        "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d", "nn.conv3d_transpose",
        "nn.conv1d_backward_weight", "nn.conv2d_backward_weight", "nn.conv3d_backward_weight",
    }  # fmt: skip
    for name in ("nn.softmax", "exp", "log", "power", "sum", "nn.layer_norm", "variance"):
        assert rules[name] is PrecisionRule.WIDE, name
    for name in ("add", "nn.relu", "concatenate", "nn.avg_pool2d", "tanh", "sigmoid", "reshape"):
        assert rules[name] is PrecisionRule.FOLLOW, name


def test_a_wide_scale_is_not_rounded_into_narrow_weights() -> None:
    x, weight = (
        relay.var("x", shape=(4, 8), dtype="bfloat16"),
        relay.cast(relay.const(np.ones((6, 8), np.float32)), "bfloat16"),
    )
    scaled = relay.nn.dense(x, weight, out_dtype="float32") * relay.const(np.full(6, 0.3, np.float32))
    module = relay.transform.infer_type(relay.IRModule.from_expr(relay.Function((x,), scaled)))
    folded = Sequential((FoldConstant, relay.transform.FoldScaleAxis))(module)
    assert "multiply(" in relay.astext(folded, show_meta_data=False)


def test_other_types_are_refused() -> None:
    with pytest.raises(RelayError) as caught:
        ToMixedPrecision("int8")
    check_message("passes", "mixed_precision_type", caught.value)
