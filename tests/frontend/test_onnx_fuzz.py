"""Whatever the bytes, the importer answers with a module or with a `RelayError`, and soon."""

from __future__ import annotations

import contextlib

import numpy as np
import onnx
import pytest
from examples.onnx_models import EncoderSize, build
from onnx import helper

import relay
from relay.base.diagnostics import RelayError
from relay.frontend.onnx import CONVERTERS, from_onnx
from tests.frontend.onnx_cases import Case
from tests.frontend.onnx_operator_cases import CASES
from tests.frontend.onnx_suite import suite_cases

MODELS = {
    "encoder": build("encoder", "n", encoder=EncoderSize(1, 8, 2, 8, 4)).SerializeToString(),
    "mlp": build("mlp").SerializeToString(),
    "squeezenet": build("squeezenet", 1, (33, 35), classes=2).SerializeToString(),
}


UNLIKELY = (0, -1, -2, 1, 2, 7, 2**31, -(2**31), 2**62, -(2**63))


def survives(content: bytes) -> None:
    with contextlib.suppress(RelayError):
        from_onnx(content)


@pytest.mark.parametrize("name", MODELS)
def test_mutated_bytes(name: str) -> None:
    """Bytes changed anywhere: most hit weights, so the structure at the start and the end is favoured."""
    content, random = MODELS[name], np.random.default_rng(0)
    for _ in range(100):
        mutated = bytearray(content)
        for _ in range(int(random.integers(1, 6))):
            near = int(min(len(mutated), 4000))
            place = (
                int(random.integers(near)) if random.random() < 0.7 else len(mutated) - 1 - int(random.integers(near))
            )
            mutated[place] = int(random.integers(256))
        survives(bytes(mutated))


def test_truncated_bytes() -> None:
    content = MODELS["encoder"]
    for length in np.random.default_rng(1).integers(0, len(content), 60):
        survives(content[: int(length)])


def test_random_bytes() -> None:
    random = np.random.default_rng(2)
    for size in (0, 1, 10, 1000):
        for _ in range(10):
            survives(random.bytes(size))


def test_mutated_nodes() -> None:
    """One-node models of every operator, with numbers in attributes and weights replaced by unlikely ones."""
    random = np.random.default_rng(3)
    for case in CASES:
        model = case.model()
        for _ in range(2):
            hostile = onnx.ModelProto()
            hostile.CopyFrom(model)
            _mutate(hostile, random, UNLIKELY)
            survives(hostile.SerializeToString())


def test_mutated_nodes_that_onnx_defines() -> None:
    """Cases of the suite for operators that are imported by their definitions, whatever attributes and shapes say."""
    random = np.random.default_rng(4)
    chosen = [case for case in suite_cases(("node",)) if _is_defined(case.model)]
    assert len(chosen) > 30
    for index in random.permutation(len(chosen))[:30]:
        hostile = onnx.ModelProto()
        hostile.CopyFrom(chosen[index].model)
        _mutate(hostile, random, UNLIKELY)
        survives(hostile.SerializeToString())


def _is_defined(model: onnx.ModelProto) -> bool:
    node, *rest = model.graph.node
    if rest or node.op_type in CONVERTERS or node.domain not in ("", "ai.onnx.preview"):
        return False
    schema = onnx.defs.get_schema(node.op_type, node.domain)
    return schema.has_function or schema.has_context_dependent_function


def test_nodes_of_every_opset() -> None:
    """A node may name any opset, whatever it was written for."""
    random = np.random.default_rng(5)
    for case in CASES:
        model = case.model()
        for version in (1, 6, 9, 11, *random.integers(7, 29, 2)):
            model.opset_import[0].version = int(version)
            survives(model.SerializeToString())


def _mutate(model: onnx.ModelProto, random: np.random.Generator, unlikely: tuple[int, ...]) -> None:
    node = model.graph.node[0]

    def number() -> int:
        return unlikely[int(random.integers(len(unlikely)))]

    choice = int(random.integers(5))
    for attribute in node.attribute if choice == 0 else ():
        if attribute.ints:
            attribute.ints[int(random.integers(len(attribute.ints)))] = number()
        attribute.i = number() if attribute.type == onnx.AttributeProto.INT else attribute.i
    for tensor in model.graph.initializer if choice == 1 else ():
        if tensor.data_type == onnx.TensorProto.INT64 and len(tensor.raw_data) >= 8:
            tensor.raw_data = np.int64(number()).tobytes() + tensor.raw_data[8:]
    for info in model.graph.input if choice == 2 else ():
        for dim in info.type.tensor_type.shape.dim:
            if random.random() < 0.4:
                dim.dim_value = number()
    if choice == 3 and node.input:
        del node.input[int(random.integers(len(node.input))) :]
    if choice == 4:
        schema = onnx.defs.get_schema(node.op_type, node_opset(model), node.domain)
        for name, declared in schema.attributes.items():
            if declared.type == onnx.defs.OpSchema.AttrType.INTS and not any(a.name == name for a in node.attribute):
                node.attribute.append(helper.make_attribute(name, [number(), number()]))
            elif declared.type == onnx.defs.OpSchema.AttrType.INT and not any(a.name == name for a in node.attribute):
                node.attribute.append(helper.make_attribute(name, number()))


def node_opset(model: onnx.ModelProto) -> int:
    domain = model.graph.node[0].domain
    return next(int(entry.version) for entry in model.opset_import if entry.domain == domain)


def test_heads_without_elements_attend_to_all_alike() -> None:
    """A mutant had them; onnxruntime refuses what the definition allows."""
    query, key = np.zeros((1, 2, 3, 0), np.float32), np.zeros((1, 2, 4, 0), np.float32)
    value = np.random.default_rng(0).standard_normal((1, 2, 4, 5), dtype=np.float32)
    module, params = from_onnx(Case("Attention", (query, key, value), opset=23).model())
    found = relay.build(module, params=params)(query, key, value)
    np.testing.assert_allclose(found, np.broadcast_to(value.mean(axis=2, keepdims=True), (1, 2, 3, 5)), rtol=1e-6)
