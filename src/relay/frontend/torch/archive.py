"""Exported programs in `.pt2` files, read without pickle: weights are raw bytes there, and the graph is JSON.

Nothing that the file says is run: texts that PyTorch would evaluate, and names of what it would import or call, are
looked at before PyTorch reads them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from relay.base.diagnostics import RelayError
from relay.base.files import PICKLE_SUFFIXES, open_regular
from relay.frontend.shared.names import printable
from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_MODEL = "model"
_NAMES = frozenset({
    "Symbol", "Integer", "Rational", "Float", "Mul", "Add", "Pow", "Min", "Max", "Mod", "PythonMod", "FloorDiv",
    "CleanDiv", "CeilDiv", "TruncToInt", "FloorToInt", "CeilToInt", "RoundToInt", "IntTrueDiv", "FloatTrueDiv",
    "ToFloat", "PowByNatural", "Equality", "Unequality", "LessThan", "StrictLessThan", "GreaterThan",
    "StrictGreaterThan", "And", "Or", "Not", "true", "false",
})  # fmt: skip
"""What expressions of extents are made of."""
_PARTS = (ast.Expression, ast.Call, ast.Name, ast.Constant, ast.keyword, ast.UnaryOp, ast.USub, ast.Load)
_LONGEST = 4096
_SMALL_POWER = re.compile(r"Integer\(-?[1-8]\)")
_CONTAINERS = frozenset({"builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict"})
_TARGETS = ("torch.ops.", "_operator.", "torch.sym_", "torch._sym_", "math.")


def read_archive(source: Path | bytes) -> ExportedProgram:
    """The program in a `.pt2` file that `torch.export.save` wrote: its path, or what is in it.

    Raises `RelayError`: `cannot-read`, `pickled-model`, `not-a-pytorch-model`.
    """
    name = "the model" if isinstance(source, bytes) else printable(source.name)
    if isinstance(source, Path):
        if source.suffix in PICKLE_SUFFIXES:
            raise _pickled(f"{name} is a pickle, which runs what its writer wants when it is read")
        open_regular(source).close()
    try:
        return _read(BytesIO(source) if isinstance(source, bytes) else str(source), name)
    except RelayError:
        raise
    except Exception as error:  # PyTorch's reader raises whatever a damaged file leads it to
        raise RelayError(
            rule="not-a-pytorch-model", message=f"{name} is not an exported program, or is damaged",
            expected="a .pt2 file that torch.export.save of PyTorch 2.13 wrote",
            found=f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}",
        ) from None  # fmt: skip


def _read(file: str | BytesIO, name: str) -> ExportedProgram:
    package: Any = torch_package("torch.export.pt2_archive._package")
    serialize: Any = torch_package("torch._export.serde.serialize")
    archive = package.PT2ArchiveReader(file)
    files = set(archive.get_file_names())
    text = archive.read_bytes(package.MODELS_FILENAME_FORMAT.format(_MODEL))
    _check_program(json.loads(text), name)
    for form in (package.WEIGHTS_CONFIG_FILENAME_FORMAT, package.CONSTANTS_CONFIG_FILENAME_FORMAT):
        config = form.format(_MODEL)
        if config not in files or _is_pickled(json.loads(archive.read_string(config))):
            raise _pickled(f"{name} has weights or constants that are pickles")
    # PyTorch's own steps, less the one that unpickles example inputs, which have no public names.
    program = serialize._bytes_to_dataclass(serialize.ExportedProgram, text)  # noqa: SLF001
    weights = package._load_state_dict(archive, _MODEL)  # noqa: SLF001
    constants = package._load_constants(archive, _MODEL)  # noqa: SLF001
    reader = serialize.ExportedProgramDeserializer()
    return cast("ExportedProgram", reader.deserialize(program, weights, constants, b""))  # without example inputs


def _is_pickled(config: Any) -> bool:
    return any(
        entry["use_pickle"] or not str(entry["path_name"]).startswith(("weight_", "tensor_"))
        for entry in config["config"].values()
    )


def _check_program(program: Any, name: str) -> None:
    """Raise `RelayError` (rule `not-a-pytorch-model`) where PyTorch would run what the file says."""
    for key, value in _entries(program):
        match key, value:
            case "expr_str", str():
                if not _is_expression(value):
                    raise _hostile(name, "an extent that is no expression", value)
            case "target", str():
                if not value.startswith(_TARGETS):
                    raise _hostile(name, "an operator that is none of PyTorch's", value)
            case (("in_spec" | "out_spec"), str()):
                unknown = [type_ for each, type_ in _entries(json.loads(value)) if each == "type" and type_ is not None]
                if not set(unknown) <= _CONTAINERS:
                    raise _hostile(name, "containers of inputs or outputs that are none of Python's", value)
            case _:
                pass


def _entries(tree: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value of objects in JSON, however deep."""
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                yield from cast("dict[str, Any]", fields).items()
                waiting += cast("dict[str, Any]", fields).values()
            case list() as items:
                waiting += cast("list[Any]", items)
            case _:
                pass


def _is_expression(text: str) -> bool:
    """Whether a text is calls of the functions of extents on numbers and symbols, and no more."""
    try:
        tree = ast.parse(text.strip(), mode="eval") if len(text) <= _LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return tree is not None and all(map(_is_part, ast.walk(tree)))


def _is_part(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name in _NAMES
        case ast.Constant(value=str(value)):
            return value.isidentifier()
        case ast.Constant(value=value):
            return value is None or (isinstance(value, (bool, int, float)) and abs(value) < 2**64)
        case ast.Call(func=ast.Name(id="Pow" | "PowByNatural"), args=[_, power]):
            return _SMALL_POWER.fullmatch(ast.unparse(power)) is not None
        case ast.Call(func=function):
            return isinstance(function, ast.Name)
        case _:
            return isinstance(node, _PARTS)


def _pickled(message: str) -> RelayError:
    return RelayError(
        rule="pickled-model", message=message, expected="a .pt2 file, whose weights are bytes and whose graph is text",
        remedy="where you trust it, load it with torch and give the module, or save it with torch.export.save",
    )  # fmt: skip


def _hostile(name: str, what: str, found: str) -> RelayError:
    return RelayError(
        rule="not-a-pytorch-model", message=f"{name} has {what}", expected="what torch.export.save writes",
        found=printable(found[:80]),
    )  # fmt: skip
