"""From a path, bytes or a `ModelProto` to a `ModelProto` and its weights. Nothing in the file is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

from relay.base.diagnostics import RelayError
from relay.base.files import open_regular
from relay.base.frozen import frozen
from relay.frontend.onnx.package import onnx_package
from relay.frontend.onnx.wire import parse
from relay.frontend.shared.names import printable

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

LARGEST_FILE_BYTES = 2**31 - 1  # what protobuf itself can hold; larger models keep their weights beside them

ModelSource: TypeAlias = Union["str | os.PathLike[str]", bytes, "ModelProto"]


@frozen(eq=False)
class OnnxModel:
    """A model that was read. `raw_weights` has for each initialiser of the graph the bytes that were left out of
    `proto`, None where they are in it; `name` is for messages, `folder` is where external weights may lie."""

    proto: ModelProto
    name: str
    folder: Path | None = None
    raw_weights: Sequence[memoryview | None] = ()


def read_model(source: ModelSource, path: str | os.PathLike[str] | None = None) -> OnnxModel:
    """The model in a file, in the bytes of one (of that at `path`, if it is told), or as protobuf has it.

    Raises `RelayError`: `not-an-onnx-model`, `cannot-read`, `missing-package`.
    """
    if isinstance(source, onnx_package().ModelProto):
        proto = cast("ModelProto", source)
        _check_text(proto, "the model")
        name = printable(f"{proto.graph.name or 'model'}.onnx")
        return OnnxModel(proto, name, raw_weights=[None] * len(proto.graph.initializer))
    if isinstance(source, (bytes, bytearray, memoryview)):
        content = bytes(source)
        return _decode(content, "<bytes>", None) if path is None else _decode_file(content, Path(path))
    if isinstance(source, (str, os.PathLike)):
        return _decode_file(_content(Path(source)), Path(source))
    raise RelayError(
        rule="not-an-onnx-model", message="cannot read a model from this value",
        expected="a path, bytes or an onnx.ModelProto", found=type(source).__name__,
    )  # fmt: skip


def _content(path: Path) -> bytes:
    with open_regular(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if size_bytes <= LARGEST_FILE_BYTES:
            return file.read()
    raise RelayError(
        rule="not-an-onnx-model", message=f"{path.name} is too large to be an ONNX model",
        expected=f"at most {LARGEST_FILE_BYTES:,} bytes", found=f"{size_bytes:,} bytes",
        remedy="save the model with its weights as external data",
    )  # fmt: skip


def _check_text(model: ModelProto, name: str) -> None:
    """Protobuf hands on what is not UTF-8 as bytes: a model that has such names is damaged."""
    texts: list[object] = [entry.domain for entry in model.opset_import]
    bodies: list[GraphProto | FunctionProto] = [model.graph, *model.functions]
    while bodies:
        body = bodies.pop()
        texts += _texts(body) if isinstance(body, onnx_package().GraphProto) else _function_texts(body)
        for node in body.node:
            texts += _node_texts(node)
            bodies += (attribute.g for attribute in node.attribute if attribute.HasField("g"))
    damaged = next((text for text in texts if not isinstance(text, str)), None)
    if damaged is not None:
        raise RelayError(
            rule="not-an-onnx-model", message=f"a name in {name} is not text", expected="UTF-8",
            found=repr(damaged)[:80],
        )  # fmt: skip


def _texts(graph: Any) -> Iterator[object]:
    yield graph.name
    for info in (*graph.input, *graph.output):
        yield from (info.name, *(dim.dim_param for dim in info.type.tensor_type.shape.dim))
    for tensor in (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)):
        yield tensor.name
        for entry in tensor.external_data:
            yield from (entry.key, entry.value)


def _function_texts(function: Any) -> Iterator[object]:
    yield from (function.name, function.domain, function.overload, *function.input, *function.output)
    yield from (entry.domain for entry in function.opset_import)
    for attribute in function.attribute_proto:
        yield attribute.name


def _node_texts(node: NodeProto) -> Iterator[object]:
    yield from (node.name, node.op_type, node.domain, node.overload, *node.input, *node.output)
    for attribute in node.attribute:
        yield from (attribute.name, attribute.ref_attr_name)


def _decode_file(content: bytes, path: Path) -> OnnxModel:
    return _decode(content, printable(path.name), path.resolve().parent)


def _decode(content: bytes, name: str, folder: Path | None) -> OnnxModel:
    onnx = onnx_package()
    decode_error = onnx_package("google.protobuf.message").DecodeError
    model = onnx.ModelProto()
    try:
        weights = parse(content, model)
    except (decode_error, RuntimeError, ValueError, RecursionError) as error:
        raise RelayError(
            rule="not-an-onnx-model", message=f"{name} is not an ONNX model, or is cut short",
            found=f"{len(content):,} bytes: {error}" if str(error) else f"{len(content):,} bytes",
        ) from None  # fmt: skip
    if not model.HasField("graph"):
        raise RelayError(
            rule="not-an-onnx-model", message=f"{name} holds no graph", expected="a serialised onnx.ModelProto",
            found=f"{len(content):,} bytes without one",
        )  # fmt: skip
    _check_text(model, name)
    return OnnxModel(model, name, folder, weights)
