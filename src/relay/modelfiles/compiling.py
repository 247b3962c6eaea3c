"""A model in a file, compiled once: the artefact is kept, and mapped the next time.

    RELAY_MODEL_CACHE_BYTES=n    how much to keep; the least recently used go first (4 GiB)

An artefact is known by the contents of the file, the parameters, the target, the options and the state of the compiler.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import relay
from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles
from relay.base.target import Target
from relay.base.version import compiler_fingerprint
from relay.modelfiles.reading import ModelFile, Shape, read_model
from relay.runtime.artefact import Artefact
from relay.runtime.executable import Executable, instantiate
from relay.targets.cpu.host import resolve

if TYPE_CHECKING:
    from relay.driver.compilation import Progress

DEFAULT_LIMIT_BYTES = 4 << 30
_PART_BYTES = 4 << 20
_CONTEXTS = "relay.transform.context"
_PLACE_OF_WEIGHTS = b"location"  # the key under which ONNX names a file that holds weights


def compile_model(
    source: ModelFile,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int = 3,
    shape: Mapping[str, Shape] | None = None,
    progress: Progress | None = None,
) -> Executable:
    """Compile a model that a file describes, or load what was kept when it was compiled before.

    `source` is the path of an ONNX model (`.onnx`), of Relay text (`.relay`) or JSON (`.json`), or the bytes of an ONNX
    model. `params` are arrays bound to parameters by name, `shape` gives shapes of inputs of an ONNX model by name. A
    model whose weights lie in other files, and one that is compiled under a `PassContext` of its own, is compiled each
    time. `RELAY_CACHE=0` keeps nothing.

    Raises `RelayError` for what is wrong with the file, the program, the parameters or the target.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "double.relay"
    >>> _ = path.write_text('#[version = "0.0.5"]\\ndef @main(%x: float32) { add(%x, %x) }')
    >>> float(compile_model(path)(1.5))
    3.0
    """
    kept = KeptFiles.from_environment("models", ".rlx", "RELAY_MODEL_CACHE_BYTES", DEFAULT_LIMIT_BYTES, os.environ)
    wanted = Target.parse(target)

    def key_now() -> str | None:
        return _key(source, wanted, params or {}, opt_level, shape or {})

    key = None if kept is None or _is_in_a_context() else key_now()
    if kept is not None and key is not None:
        artefact = _kept(kept, key)
        if artefact is not None:
            return instantiate(artefact, lambda artefact, path: _export(wanted, artefact, path))
    model = read_model(source, params, shape)
    executable = relay.build(model.module, wanted, model.params, opt_level, progress)
    if kept is None or key is None or executable.artefact is None or not _is_whole(source):
        return executable
    is_fixed = isinstance(source, bytes) and not params
    if is_fixed or key == key_now():  # nobody wrote to the file meanwhile
        kept.put(key, executable.artefact.chunks())
        kept.trim()
    return executable


def _kept(kept: KeptFiles, key: str) -> Artefact | None:
    if not kept.path(key).exists():
        return None
    try:
        artefact = Artefact.load(kept.path(key))
    except RelayError:
        kept.forget(key)
        return None
    kept.use(key)
    return artefact


def _export(target: Target, artefact: Artefact, path: Path) -> None:
    relay.driver.export_library(relay.driver.backend_for(target), artefact, path)


def _is_in_a_context() -> bool:
    """Whether passes run in another way than options say. Who made a context has loaded its module."""
    return _CONTEXTS in sys.modules and relay.PassContext.current() != relay.PassContext()


def _key(
    source: ModelFile, target: Target, params: Mapping[str, Any], opt_level: int, shape: Mapping[str, Shape]
) -> str | None:
    """A hash of all that the artefact depends on; None for a file that cannot be read, which its reader will tell."""
    state = hashlib.sha256(f"{compiler_fingerprint()}\n{resolve(target)}\n{opt_level}\n".encode())
    state.update(repr(sorted((name, tuple(extents)) for name, extents in shape.items())).encode())
    for name in sorted(params):
        array = np.asarray(params[name])
        state.update(f"{name} {array.dtype} {array.shape}\n".encode())
        state.update(_digest(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data))
    try:
        state.update(_digest(memoryview(source if isinstance(source, bytes) else _mapped(Path(source)))))
    except (OSError, ValueError):
        return None
    return state.hexdigest()


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_whole(source: ModelFile) -> bool:
    """Whether a model names no files with more of it."""
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    return _PLACE_OF_WEIGHTS not in content


def _digest(content: memoryview) -> bytes:
    """A hash of bytes, by as many threads as there are processors."""
    parts = [content[start : start + _PART_BYTES] for start in range(0, len(content), _PART_BYTES)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        digests = threads.map(lambda part: hashlib.blake2b(part, digest_size=32).digest(), parts)
        return hashlib.sha256(b"".join(digests)).digest()
