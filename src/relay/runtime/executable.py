"""A compiled program, ready to be called from Python. Nothing here knows the compiler."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from relay.base.arguments import PATH, takes
from relay.base.diagnostics import RelayError
from relay.base.files import open_regular
from relay.base.frozen import mutable
from relay.base.names.loading import when_called
from relay.base.shown.printed import bytes_text, count_text
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.library_file import ELF_MAGIC
from relay.runtime.artefact.manifest import EntrySpec, HeapResult, InputSpec, Manifest, TensorSpec
from relay.runtime.artefact.nesting import shown_entry, shown_result
from relay.runtime.call.entry_point import EntryPoint, Result
from relay.runtime.call.native import NativeCode, load_artefact_code
from relay.runtime.memory.host import check_runs_here, runs_here

if TYPE_CHECKING:
    from relay.base.shown.markup import element, escaped, table
    from relay.runtime.call.heap_calls import HeapCalls
    from relay.runtime.call.shared_library import load_shared_library
    from relay.runtime.profile.profiling import profile_of, record_runs
    from relay.runtime.profile.program_profile import ProgramProfile
    from relay.runtime.profile.recording import RecordedCode, load_recorded_code
    from relay.runtime.profile.roofline import Roofline, kept_roofline
    from relay.runtime.verification import Verification

    new_heap_calls = HeapCalls
else:  # what most programs that load and call an artefact do without
    record_runs = when_called("relay.runtime.profile.profiling", "record_runs")
    profile_of = when_called("relay.runtime.profile.profiling", "profile_of")
    load_recorded_code = when_called("relay.runtime.profile.recording", "load_recorded_code")
    kept_roofline = when_called("relay.runtime.profile.roofline", "kept_roofline")
    new_heap_calls = when_called("relay.runtime.call.heap_calls", "HeapCalls")
    load_shared_library = when_called("relay.runtime.call.shared_library", "load_shared_library")
    element, escaped, table = (when_called("relay.base.shown.markup", name) for name in ("element", "escaped", "table"))

Exporter: TypeAlias = Callable[[Artefact, Path, str | None], None]
"""Writes an artefact to a path as a library, of a given name."""


@mutable(repr=False)
class Executable:
    """A loaded artefact. Calling it runs `@main`; `executable["name"]` is another of its functions.

    Any number of threads may call at once: each running call has a workspace of its own. `verification` tells what was
    compared when it was built with `verify`.
    """

    manifest: Manifest
    load_code: Callable[[], NativeCode]
    artefact: Artefact | None = None
    exporter: Exporter | None = None
    roofline: Callable[[int], Roofline | None] = kept_roofline
    verification: Verification | None = field(default=None, init=False)
    _code: NativeCode | None = field(default=None, init=False)
    _entries: dict[str, EntryPoint] = field(default_factory=dict, init=False)
    _heap: list[HeapCalls] = field(default_factory=list, init=False)  # at most one is used
    _recorded: RecordedCode | None = field(default=None, init=False)

    @property
    def code(self) -> NativeCode:
        """The native code, loaded when it is first asked for: a program for another machine never is."""
        if self._code is None:
            check_runs_here(self.manifest.machine)
            self._code = self.load_code()
        return self._code

    def __getitem__(self, name: str) -> EntryPoint:
        point = self._entries.get(name)
        if point is None:
            entry = self.manifest.entry(name)
            heap = self._heap_calls() if isinstance(entry.result, HeapResult) else None
            point = self._entries.setdefault(name, EntryPoint(entry, self.code, heap))
        return point

    def _heap_calls(self) -> HeapCalls:
        """What runs the calls that have a heap. Functions belong to it, so there is one."""
        if not self._heap:
            self._heap.append(new_heap_calls(self.code, self.manifest))
        return self._heap[0]

    def __call__(self, *positional: Any, **named: Any) -> Result:
        """Run `@main` on arrays given by position or by name, within limits where those are given: `timeout` (seconds),
        `step_limit` (calls, turns of loops, and kernels in all), `memory_limit_bytes` (of results, and of what it works
        in; what other threads of its kernels work in is not counted).

        Gives an array, or tuples of arrays nested as the program's type says. Raises `RelayError` when an input has
        the wrong dtype, rank, extent or memory, and when a run-time check of the program fails. Arrays of inputs that
        were donated (`build`) become results; after a call that fails they hold anything. Ctrl-C and limits (rules
        `timed-out`, `step-limit`, `memory-limit`) leave it as usable as before: a call ends where a loop comes back,
        between kernels, and for time inside of long ones too. A `timeout` holds for programs that Python functions
        run which the call calls, too: the first one that is up ends what runs, and each call whose time it is.
        """
        main = self._entries.get("main") or self["main"]
        return main(*positional, **named)

    def keeping(self, *names: str) -> Callable[..., Result]:
        """`@main`, which leaves alone the arrays of some donated inputs (all, if none are named): it copies them first.

        Raises `RelayError` (rule `bad-donation`) for names that are not donated.
        """
        return self["main"].keeping(*names)

    @property
    def entry(self) -> EntrySpec:
        """What `@main` takes and gives."""
        return self.manifest.entry("main")

    @property
    def inputs(self) -> tuple[InputSpec, ...]:
        """What `@main` takes, in order: each has a `name`, and a `shape` and `dtype` where it is a tensor."""
        return self.entry.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """What `@main` gives; none where its result is a value that no caller can make room for."""
        return self.entry.outputs

    @takes(path=PATH)
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artefact: native objects, constants and manifest in one file that `load` maps."""
        if self.artefact is None:
            raise RelayError(
                rule="cannot-save",
                message="a program that was loaded from a shared library cannot be saved as an artefact",
                remedy="copy the shared library instead",
            )
        self.artefact.save(path)

    @takes(path=PATH)
    def export(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        """Write a self-contained library that programs in C and C++ can call without Python, and beside it the headers
        that say how (`model.h`, `model.hpp`): a shared library (`model.so`), an object (`model.o`) or an archive
        (`model.a`). What they declare begins with `name`, else with the name of the file: `model_run`.

        Needs a linker: that of the system, or that of `relay-ir[export]`.
        """
        if self.artefact is None or self.exporter is None:
            raise RelayError(
                rule="cannot-export",
                message="this program was loaded without the compiler, so it cannot be exported",
                remedy="export what `relay.build` returns",
            )
        self.exporter(self.artefact, Path(path), name)

    def profile(self, /, *positional: Any, runs: int = 20, function: str = "main", **named: Any) -> ProgramProfile:
        """Run a function on arrays, once to warm up and then `runs` times, and tell where the time goes.

        The native code is that of a call; it is loaded once more, with a recorder between the kernels. One thread at a
        time may profile an executable. Calls have their effects: refs that are handed in are written by every run.

        Raises `RelayError`: `bad-runs`, `cannot-profile`, `profile-too-long`, and what the call raises.
        """
        recorded = self._recorded_code()
        inner = Executable(self.manifest, lambda: recorded.code)
        point = inner[function]
        done = record_runs(recorded.kernels.recorder, lambda: point(*positional, **named), runs)
        arenas = point.arenas(positional, named)
        constant_bytes = 0 if self.artefact is None else self.artefact.constants.nbytes
        target = self.manifest.provenance.get("target", "")
        return profile_of(recorded.kernels, done, function, target, self.roofline, arenas, constant_bytes)

    def _recorded_code(self) -> RecordedCode:
        recorded = self._recorded
        if recorded is None:
            if self.artefact is None:
                raise RelayError(
                    rule="cannot-profile",
                    message="a shared library cannot be profiled: its kernels are linked with what calls them",
                    remedy="compile the model to an artefact (NAME.rlx), and profile that",
                )
            check_runs_here(self.manifest.machine)
            recorded = self._recorded = load_recorded_code(self.artefact)
        return recorded

    def __reduce__(self) -> NoReturn:
        raise RelayError(
            rule="cannot-pickle",
            message="native code cannot be pickled or copied",
            remedy="save the executable to a file, and let the other process `relay.load` it",
        )

    def __repr__(self) -> str:
        return f"<relay executable: {shown_entry(self.entry)}; {self._sizes()}>"

    def _repr_html_(self) -> str:
        """What notebooks show: a row for each input and output."""
        rows = [("input", *str(each).split(": ", 1)) for each in self.inputs]
        rows += [("output", *str(each).split(": ", 1)) for each in self.outputs]
        rows += [] if self.outputs else [("output", "", shown_result(self.entry))]
        sizes = element("p", escaped(f"relay executable: {self._sizes()}"))
        return sizes + table(("", "name", "type"), rows, names=3)

    def _sizes(self) -> str:
        parts = [count_text(len(self.manifest.kernels), "kernel")]
        if self.artefact is not None:
            parts.append(f"{bytes_text(sum(map(len, self.artefact.objects)))} of code")
            parts.append(f"{bytes_text(self.artefact.constants.nbytes)} of constants")
        return ", ".join(parts)


def instantiate(
    artefact: Artefact,
    exporter: Exporter | None = None,
    roofline: Callable[[int], Roofline | None] = kept_roofline,
) -> Executable:
    """What an artefact in memory says, its native code loaded if it is for this machine. `roofline` tells profiles the
    limits of this machine, with so many threads."""
    executable = Executable(artefact.manifest, lambda: load_artefact_code(artefact), artefact, exporter, roofline)
    if runs_here(artefact.manifest.machine):
        _ = executable.code
    return executable


@takes(path=PATH)
def load(path: str | os.PathLike[str]) -> Executable:
    """Open a compiled model: an artefact that `save` wrote, or a shared library that `export` wrote.

    Only load files you trust: they hold native code, which runs with your rights. Raises `RelayError` when the file
    is missing, damaged, made by another program, or compiled for another machine.
    """
    with open_regular(path) as file:
        start = file.read(len(ELF_MAGIC))
    if start == ELF_MAGIC:
        code, manifest = load_shared_library(Path(path))
        executable = Executable(manifest, lambda: code)
    else:
        artefact = Artefact.load(path)
        executable = Executable(artefact.manifest, lambda: load_artefact_code(artefact), artefact)
    _ = executable.code
    return executable
