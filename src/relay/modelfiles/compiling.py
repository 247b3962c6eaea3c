"""A model in a file, compiled once: the artefact is kept, and mapped the next time.

    RELAY_MODEL_CACHE_BYTES=n    how much to keep; the least recently used go first (4 GiB)

An artefact is known by the contents of the file, the parameters, the target, the options and the state of the compiler.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import relay
from relay.base.collector import collection_paused
from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles
from relay.base.target import Target
from relay.base.version import compiler_fingerprint
from relay.modelfiles.reading import ModelFile, Shape, read_model
from relay.runtime.artefact import Artefact, constants_room
from relay.runtime.executable import Executable, instantiate
from relay.targets.cpu.host import resolve

if TYPE_CHECKING:
    from relay.driver.compilation import Compilation, Progress

DEFAULT_LIMIT_BYTES = 4 << 30
_PART_BYTES = 16 << 20
_GLANCES, _GLANCE_BYTES, _GLANCE_DIGITS = 64, 64, 16
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
    wanted = Target.parse(target)
    kept = KeptFiles.from_environment("models", ".rlx", "RELAY_MODEL_CACHE_BYTES", DEFAULT_LIMIT_BYTES, os.environ)
    if kept is None or _is_in_a_context():
        model = read_model(source, params, shape)
        return relay.build(model.module, wanted, model.params, opt_level, progress)
    look = partial(_key, source, wanted, params or {}, opt_level, shape or {})
    with ThreadPoolExecutor(1) as thread:
        key = thread.submit(look)  # reads every byte: the compiler need not wait for it where nothing like it is kept
        glance = look(at_a_glance=True)
        artefact = _kept(kept, key.result()) if glance is not None and kept.has_any(glance) else None
        if artefact is not None:
            return instantiate(artefact, partial(_export, wanted))
        is_fixed = isinstance(source, bytes) and not params

        def key_to_keep() -> str | None:  # None if somebody wrote to the file meanwhile, or it is not all of the model
            return key.result() if _is_whole(source) and (is_fixed or key.result() == look()) else None

        with collection_paused():
            model = read_model(source, params, shape)
            compilation = relay.driver.compile_stages(model.module, wanted, model.params, opt_level, progress)
            artefact = _compiled_in_place(kept, compilation, key_to_keep)
    return instantiate(artefact, partial(_export, wanted), relay.driver.machine_roofline)


def _compiled_in_place(kept: KeptFiles, compilation: Compilation, key_to_keep: Callable[[], str | None]) -> Artefact:
    """The artefact of a program. Its constants are packed in the file in which it is kept, so that they are in memory
    once; what is kept is then used as any process will use it."""
    constant_bytes = compilation.program.constant_bytes
    with kept.trying(), kept.draft() as draft:
        compilation.constants_room = constants_room(draft.file, constant_bytes)
        compilation.artefact.complete(draft.file)
        key = key_to_keep()
        if key is not None:
            draft.keep(kept.path(key))
            kept.trim()
            return _kept(kept, key) or compilation.artefact
    return compilation.artefact


def _kept(kept: KeptFiles, key: str | None) -> Artefact | None:
    if key is None or not kept.path(key).exists():
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
    source: ModelFile,
    target: Target,
    params: Mapping[str, Any],
    opt_level: int,
    shape: Mapping[str, Shape],
    at_a_glance: bool = False,
) -> str | None:
    """A hash of all that the artefact depends on; `at_a_glance`, what it begins with, which needs only some bytes of
    each array and of the file. None for a file that cannot be read, which its reader will tell."""
    state = hashlib.sha256(f"{compiler_fingerprint()}\n{resolve(target)}\n{opt_level}\n".encode())
    state.update(repr(sorted((name, tuple(extents)) for name, extents in shape.items())).encode())
    contents: list[memoryview] = []
    for name in sorted(params):
        array = np.asarray(params[name])
        state.update(f"{name} {array.dtype} {array.shape}\n".encode())
        contents.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    try:
        contents.append(memoryview(source if isinstance(source, bytes) else _mapped(Path(source))))
    except (OSError, ValueError):
        return None
    for content in contents:
        state.update(f"{len(content)}\n".encode())
        state.update(b"".join(content[start : start + _GLANCE_BYTES] for start in _glances(len(content))))
    glance = state.hexdigest()[:_GLANCE_DIGITS]
    if at_a_glance:
        return glance
    for content in contents:
        state.update(_digest(content))
    return glance + state.hexdigest()


def _glances(size_bytes: int) -> range:
    """Where to look at some bytes of so many."""
    return range(0, size_bytes, max(_GLANCE_BYTES, size_bytes // _GLANCES))


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_whole(source: ModelFile) -> bool:
    """Whether a model names no files with more of it."""
    return isinstance(source, bytes) or _mapped(Path(source)).find(_PLACE_OF_WEIGHTS) < 0


def _digest(content: memoryview) -> bytes:
    """A hash of bytes, by as many threads as there are processors."""
    parts = [content[start : start + _PART_BYTES] for start in range(0, len(content), _PART_BYTES)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        digests = threads.map(lambda part: hashlib.blake2b(part, digest_size=32).digest(), parts)
        return hashlib.sha256(b"".join(digests)).digest()
