"""Weights are read where they lie in the bytes of a model, and models mean what protobuf says they mean."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from relay.base.diagnostics import RelayError
from relay.frontend.onnx import from_onnx, read_onnx
from relay.frontend.onnx.wire import parse

WEIGHT = np.arange(1024, dtype=np.float32).reshape(32, 32)


def model(name: str = "w") -> onnx.ModelProto:
    """x · w + b, where w is large enough to be left in place and b is not."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 32))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 32))
    weights = [numpy_helper.from_array(WEIGHT, name), numpy_helper.from_array(WEIGHT[0], "b")]
    graph = helper.make_graph(nodes, name, [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def lies_in(array: np.ndarray, content: bytes) -> bool:
    return np.shares_memory(array.view(np.uint8), np.frombuffer(content, np.uint8))


def test_a_weight_is_a_view_of_the_bytes() -> None:
    content = model().SerializeToString()
    _, params = read_onnx(content)
    assert lies_in(params["w"], content)
    np.testing.assert_array_equal(params["w"], WEIGHT)
    np.testing.assert_array_equal(params["b"], WEIGHT[0])


def test_weights_handed_to_users_are_aligned() -> None:
    for length in range(1, 5):  # the weight begins at another address each time
        padded = model()
        padded.producer_name = "p" * length
        _, params = from_onnx(padded.SerializeToString())
        assert params["w"].flags.aligned
        np.testing.assert_array_equal(params["w"], WEIGHT)


def test_what_is_parsed_is_the_model_without_its_weights() -> None:
    whole = model()
    parsed = onnx.ModelProto()
    (weight, bias) = parse(whole.SerializeToString(), parsed)
    assert weight is not None
    assert bias is None
    parsed.graph.initializer[0].raw_data = bytes(weight)
    assert parsed == whole


def test_parts_of_a_graph_add_up_as_protobuf_adds_them() -> None:
    first, second = model("w"), model("w2")
    content = first.SerializeToString() + second.SerializeToString()
    merged, parsed = onnx.ModelProto.FromString(content), onnx.ModelProto()
    weights = parse(content, parsed)
    for tensor, raw in zip(parsed.graph.initializer, weights, strict=True):
        if raw is not None:
            tensor.raw_data = bytes(raw)
    assert parsed == merged


def test_of_a_weight_that_is_given_twice_the_last_counts() -> None:
    twice = numpy_helper.from_array(WEIGHT, "w").SerializeToString()
    other = TensorProto(raw_data=(WEIGHT + 1).tobytes()).SerializeToString()
    graph = onnx.GraphProto()
    graph.initializer.add().MergeFromString(twice + other)
    content = b"\x3a" + _sized(b"\x2a" + _sized(twice + other))
    parsed = onnx.ModelProto()
    assert parse(content, parsed) == [None]
    assert parsed.graph == graph


@pytest.mark.parametrize("tail", [b"\x0b", b"\x0f", b"\x3a\x7f", b"\xff" * 11, b"\x3a", b"\x09abc", b"\x3d\0"])
def test_damage_is_what_protobuf_says_it_is(tail: bytes) -> None:
    with pytest.raises(RelayError) as caught:
        read_onnx(model().SerializeToString() + tail)
    assert caught.value.rule == "not-an-onnx-model"


def test_bytes_without_a_graph() -> None:
    with pytest.raises(RelayError, match="holds no graph"):
        read_onnx(b"")


def test_an_empty_graph_is_a_graph() -> None:
    with pytest.raises(RelayError) as caught:
        read_onnx(b"\x3a\0" + helper.make_opsetid("", 17).SerializeToString())
    assert "no graph" not in str(caught.value)


def _sized(content: bytes) -> bytes:
    length, head = len(content), b""
    while length > 127:
        head += bytes([length & 127 | 128])
        length >>= 7
    return head + bytes([length]) + content
