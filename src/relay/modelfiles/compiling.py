"""A model in a file, compiled once: the artefact is kept, and mapped the next time.

    RELAY_MODEL_CACHE_BYTES=n    how much to keep; the least recently used go first (4 GiB)

An artefact is known by the contents of the file, the parameters, the target, the options and the state of the compiler.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

import relay
from relay.base.arguments import MAPPING, WHOLE_NUMBER, Kind, expect, takes
from relay.base.collector import collection_paused
from relay.base.diagnostics import RelayError
from relay.base.files import open_regular, read_file
from relay.base.freed_memory import gives_back_memory
from relay.base.frozen import frozen
from relay.base.kept_files import Draft, KeptFiles
from relay.base.names.loading import when_called
from relay.base.target import Target, target_kind
from relay.base.version import compiler_fingerprint
from relay.modelfiles.reading import ModelFile, Shape, file_or_bytes, read_model
from relay.runtime.artefact.artefact import Artefact, constants_room
from relay.runtime.artefact.kept import kept_artefact, kept_artefacts
from relay.runtime.executable import Executable, instantiate

if TYPE_CHECKING:
    from onnx import ModelProto

    from relay.driver.compilation import Compilation
    from relay.driver.progress import Progress

_PART_BYTES, _READ_BYTES = 16 << 20, 1 << 20
_GLANCES, _GLANCE_BYTES, _GLANCE_DIGITS = 64, 64, 16
_PROCESSORS = os.cpu_count() or 1
_CONTEXTS = "relay.transform.framework.context"
_SHAPE = Kind((tuple, list), "a tuple of extents", lambda value: f"write ({value},)" if isinstance(value, int) else "")
_PLACE_OF_WEIGHTS = b"location"  # the key under which ONNX names a file that holds weights


@gives_back_memory
@takes(params=MAPPING, opt_level=WHOLE_NUMBER, shape=MAPPING)
def compile_model(
    source: ModelFile | ModelProto,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int = 3,
    shape: Mapping[str, Shape] | None = None,
    progress: Progress | None = None,
) -> Executable:
    """Compile a model that a file describes, or load what was kept when it was compiled before.

    `source` is the path of an ONNX model (`.onnx`), of an exported program of PyTorch (`.pt2`), of Relay text
    (`.relay`) or JSON (`.json`), or an ONNX model: its bytes, or an `onnx.ModelProto`. `params` are arrays bound to
    parameters by name, `shape` gives shapes of inputs of an ONNX model by name. A model whose weights lie in other
    files, and one that is compiled under a `PassContext` of its own, is compiled each time. `RELAY_CACHE=0` keeps
    nothing.

    Raises `RelayError` for what is wrong with the file, the program, the parameters or the target.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "double.relay"
    >>> _ = path.write_text('#[version = "0.0.5"]\\ndef @main(%x: float32) { add(%x, %x) }')
    >>> float(compile_model(path)(1.5))
    3.0
    """
    source = file_or_bytes(source)
    for extents in (shape or {}).values():
        expect(extents, _SHAPE, "the shape of an input")
    wanted = Target.parse(target)
    kept = kept_artefacts(os.environ)
    if kept is None or _is_in_a_context():
        model = read_model(source, params, shape)
        return relay.build(model.module, wanted, model.params, opt_level, progress)
    key = partial(_key, target=wanted, params=params or {}, opt_level=opt_level, shape=shape or {})
    with _content_seen(source) as seen:
        artefact = kept_artefact(kept, key(seen)) if kept.has_any(key(seen, at_a_glance=True)) else None
    if artefact is not None:
        return instantiate(artefact, partial(_export, wanted))
    content = _content(source)  # read once: the key is of what is compiled, whoever writes to the file meanwhile
    with ThreadPoolExecutor(1) as thread, collection_paused():
        # It takes every byte: the compiler neither waits for it nor gives up its processor.
        before = thread.submit(key, _in_memory(content), threads=max(1, _PROCESSORS - 1))

        def key_to_keep() -> str | None:
            is_all = _PLACE_OF_WEIGHTS not in content
            return before.result() if is_all and (not params or before.result() == key(_in_memory(content))) else None

        if params:
            before.result()  # whoever writes to these arrays writes to what is compiled
        model = read_model(source, params, shape, content)
        compilation = relay.driver.compile_stages(model.module, wanted, model.params, opt_level, progress)
        artefact = _compiled_in_place(kept, compilation, key_to_keep)
    return instantiate(artefact, partial(_export, wanted), when_called("relay.driver.roofline", "machine_roofline"))


def _compiled_in_place(kept: KeptFiles, compilation: Compilation, key_to_keep: Callable[[], str | None]) -> Artefact:
    """The artefact of a program. Its constants are packed in the file in which it is kept, so that they are in memory
    once; what is kept is then used as any process will use it."""
    with ExitStack() as drafts:
        draft = _draft_with_room(kept, drafts, compilation)
        artefact = compilation.artefact
        key = None if draft is None else key_to_keep()
        if draft is not None and key is not None:
            with kept.trying():
                artefact.complete(draft.file)
                draft.keep(kept.path(key))
                kept.trim()
                return kept_artefact(kept, key) or artefact
    return artefact


def _draft_with_room(kept: KeptFiles, drafts: ExitStack, compilation: Compilation) -> Draft | None:
    """A file that constants will be packed in; None where the disk does not take it."""
    with kept.trying():
        draft = drafts.enter_context(kept.draft())
        compilation.constants_room = constants_room(draft.file, compilation.constant_bytes)
        return draft
    return None


def _export(target: Target, artefact: Artefact, path: Path, name: str | None) -> None:
    relay.driver.export_library(relay.driver.targets_for(target).host, artefact, path, name)


def _is_in_a_context() -> bool:
    """Whether passes run in another way than options say. Who made a context has loaded its module."""
    return _CONTEXTS in sys.modules and relay.PassContext.current() != relay.PassContext()


@frozen(eq=False)
class _Content:
    """Bytes to be hashed: how many, and some of them (`read(start, size)`)."""

    size_bytes: int
    read: Callable[[int, int], bytes | memoryview]

    def parts(self, start: int, size_bytes: int, most_bytes: int) -> Iterator[bytes | memoryview]:
        """`size_bytes` from `start`, as far as there are so many, at most so many at a time."""
        end = min(start + size_bytes, self.size_bytes)
        for offset in range(start, end, most_bytes):
            yield self.read(offset, min(most_bytes, end - offset))


def _in_memory(data: bytes | memoryview | None) -> _Content:
    view = memoryview(data or b"")
    return _Content(len(view), lambda start, size: view[start : start + size])


def _in_file(file: BinaryIO, name: str) -> _Content:
    """Read, and not mapped: a page that is gone when it is looked at would end the process."""

    def read(start: int, size: int) -> bytes:
        found = os.pread(file.fileno(), size, start)
        if len(found) < size:
            raise RelayError(
                rule="cannot-read",
                message=f"cannot read {name}",
                found="it became shorter while it was read",
                remedy="write models to a new file, and rename it",
            )
        return found

    return _Content(os.fstat(file.fileno()).st_size, read)


def _key(
    content: _Content,
    target: Target,
    params: Mapping[str, Any],
    opt_level: int,
    shape: Mapping[str, Shape],
    at_a_glance: bool = False,
    threads: int = _PROCESSORS,
) -> str:
    """A hash of all that the artefact depends on; `at_a_glance`, what it begins with, which needs only some bytes of
    each array and of the file."""
    state = hashlib.sha256(
        f"{compiler_fingerprint()}\n{target_kind(target.kind).resolve(target)}\n{opt_level}\n".encode()
    )
    state.update(repr(sorted((name, tuple(extents)) for name, extents in shape.items())).encode())
    contents: list[_Content] = []
    for name in sorted(params):
        array = np.asarray(params[name])
        state.update(f"{name} {array.dtype} {array.shape}\n".encode())
        contents.append(_in_memory(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data))
    contents.append(content)
    for each in contents:
        state.update(f"{each.size_bytes}\n".encode())
        for start in _glances(each.size_bytes):
            state.update(b"".join(each.parts(start, _GLANCE_BYTES, _GLANCE_BYTES)))
    glance = state.hexdigest()[:_GLANCE_DIGITS]
    if at_a_glance:
        return glance
    for each in contents:
        state.update(_digest(each, threads))
    return glance + state.hexdigest()


def _glances(size_bytes: int) -> range:
    """Where to look at some bytes of so many."""
    return range(0, size_bytes, max(_GLANCE_BYTES, size_bytes // _GLANCES))


@contextmanager
def _content_seen(source: ModelFile) -> Generator[_Content]:
    """What is in a file, which stays open meanwhile. Raises `RelayError` (rule `cannot-read`)."""
    if isinstance(source, bytes):
        yield _in_memory(source)
        return
    with open_regular(source) as file:
        yield _in_file(file, os.fspath(source))


def _content(source: ModelFile) -> bytes:
    """What is in a file, copied. Raises `RelayError` (rule `cannot-read`)."""
    return source if isinstance(source, bytes) else read_file(source)


def _digest(content: _Content, threads: int) -> bytes:
    """A hash of bytes, the same by however many threads."""

    def digest(start: int) -> bytes:
        state = hashlib.blake2b(digest_size=32)
        for part in content.parts(start, _PART_BYTES, _READ_BYTES):
            state.update(part)
        return state.digest()

    with ThreadPoolExecutor(threads) as executor:
        digests = executor.map(digest, range(0, content.size_bytes, _PART_BYTES))
        return hashlib.sha256(b"".join(digests)).digest()
