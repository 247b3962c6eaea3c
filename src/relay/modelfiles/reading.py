"""Programs from files of any kind that describes one.

Everything of the compiler is reached through names that are loaded when they are used: what is kept needs none of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import relay
from relay.base.arguments import BYTES, PATH, Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.files import PICKLE_SUFFIXES, read_file
from relay.base.frozen import frozen

if TYPE_CHECKING:
    from relay.driver.compilation import Compilation
    from relay.ir.module import IRModule

Shape: TypeAlias = Sequence[Union[int, str]]
ModelFile: TypeAlias = Union["str | os.PathLike[str]", bytes]
SOURCE_SUFFIXES = (".onnx", ".pt2", ".relay", ".json")


@frozen
class Model:
    """A program and its parameters."""

    module: IRModule
    params: dict[str, Any]

    def compilation(self, target: str, opt_level: int, donate: Sequence[str] = ()) -> Compilation:
        """Its way to native code; its results take the memory of the inputs in `donate`. Nothing runs until a
        stage is asked for."""
        return relay.driver.compile_stages(self.module, target, self.params, opt_level, donate=donate)


def read_model(
    source: ModelFile,
    params: Mapping[str, Any] | None = None,
    shape: Mapping[str, Shape] | None = None,
    content: bytes | None = None,
) -> Model:
    """The program in a file: ONNX, an exported program of PyTorch, Relay text or JSON, as the suffix says; bytes are
    ONNX. `content` is what is in the file, where that has been read.

    Raises `RelayError` (`unknown-model-kind`, `shape-of-text`, `cannot-read`, or the reader's).
    """
    suffix = ".onnx" if isinstance(source, bytes) else Path(source).suffix
    if shape and suffix != ".onnx":
        raise RelayError(
            rule="shape-of-text",
            message="shapes can be set for the inputs of an ONNX model; other programs state their own",
            remedy="change the types of the parameters of @main, or export the model of PyTorch with dynamic_shapes",
        )
    if suffix == ".onnx":
        path = None if isinstance(source, bytes) else source
        model = source if content is None else content
        module, weights = relay.frontend.read_onnx(model, shape=shape or None, path=path)
        return Model(module, {**weights, **(params or {})})
    if suffix == ".pt2":
        module, weights = relay.frontend.from_pytorch(source if content is None else content)
        return Model(module, {**weights, **(params or {})})
    assert not isinstance(source, bytes)
    match suffix:
        case ".relay":
            module = relay.parse(read_text(Path(source), content), str(source))
        case ".json":
            module = relay.load_json(read_text(Path(source), content))
        case _:
            raise RelayError(
                rule="unknown-model-kind",
                message=f"cannot tell what {source} is",
                expected="a file whose name ends in " + ", ".join(SOURCE_SUFFIXES),
                found=suffix or "no suffix",
                remedy="save it with torch.export.save: a pickle runs what its writer wants"
                if suffix in PICKLE_SUFFIXES
                else "",
            )
    return Model(module, dict(params or {}))


def file_or_bytes(source: object) -> ModelFile:
    """What a model is read from: a path as it is, bytes, and the bytes of an `onnx.ModelProto`.

    Raises `RelayError` (rule `wrong-argument`).
    """
    if type(source).__name__ == "ModelProto":
        model: Any = source
        return bytes(model.SerializeToString())
    expect(source, _MODEL, "what is compiled")
    given: Any = source
    return bytes(given) if isinstance(given, (bytearray, memoryview)) else given


def _instead(value: object) -> str:
    if any(each.__module__.startswith("torch.") for each in type(value).__mro__):
        return "give it with what it takes: relay.compile(model, (example,))"
    return "build it: relay.build(…)" if type(value).__module__.startswith("relay.ir.") else ""


_MODEL = Kind((*PATH.types, *BYTES.types), "a model: a path, bytes or an onnx.ModelProto", _instead)


def read_text(path: Path, content: bytes | None = None) -> str:
    """The text of a file, of which `content` may have been read. Raises `RelayError` (rule `cannot-read`)."""
    try:
        text = (read_file(path) if content is None else content).decode()
    except UnicodeDecodeError as error:
        raise RelayError(rule="cannot-read", message=f"{path} is not UTF-8 text", found=str(error)) from error
    return StringIO(text, newline=None).read()  # whichever way its lines end
