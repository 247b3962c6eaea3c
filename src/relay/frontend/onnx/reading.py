"""From a path, bytes or a `ModelProto` to a `ModelProto`. Nothing in the file is trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from relay.base.diagnostics import RelayError
from relay.frontend.onnx.listing import printable
from relay.frontend.onnx.package import onnx_package

if TYPE_CHECKING:
    from onnx import ModelProto

LARGEST_FILE_BYTES = 2**31 - 1  # what protobuf itself can hold; larger models keep their weights beside them

ModelSource: TypeAlias = Union["str | os.PathLike[str]", bytes, "ModelProto"]


def read_model(source: ModelSource) -> tuple[ModelProto, str, Path | None]:
    """`(model, its name for messages, the folder that external weights may lie in)`.

    Raises `RelayError`: `not-an-onnx-model`, `no-such-file`, `missing-package`.
    """
    model: Any = source
    if isinstance(source, onnx_package().ModelProto):
        return model, printable(f"{model.graph.name or 'model'}.onnx"), None
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decode(bytes(source), "<bytes>"), "<bytes>", None
    if not isinstance(source, (str, os.PathLike)):
        raise RelayError(
            rule="not-an-onnx-model", message="cannot read a model from this value",
            expected="a path, bytes or an onnx.ModelProto", found=type(source).__name__,
        )  # fmt: skip
    path = Path(source)
    try:
        size_bytes = path.stat().st_size
        if size_bytes > LARGEST_FILE_BYTES:
            raise RelayError(
                rule="not-an-onnx-model", message=f"{path.name} is too large to be an ONNX model",
                expected=f"at most {LARGEST_FILE_BYTES:,} bytes", found=f"{size_bytes:,} bytes",
                remedy="save the model with its weights as external data",
            )  # fmt: skip
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise RelayError(
            rule="no-such-file", message=f"cannot read {os.fspath(path)!r}",
            found=getattr(error, "strerror", None) or str(error),
        ) from None  # fmt: skip
    return _decode(content, path.name), path.name, path.resolve().parent


def _decode(content: bytes, name: str) -> ModelProto:
    onnx = onnx_package()
    decode_error = onnx_package("google.protobuf.message").DecodeError
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
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
    return model
