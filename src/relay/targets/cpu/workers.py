"""Compilation in other processes: LLVM text in, object files out.

Workers run one file that imports only llvmlite, so they neither import the compiler nor run the user's script again.
They start with the first text that has to be compiled, while the caller goes on to the next kernel. Where no worker can
be started, the work is done in this process, with a warning. A text that ends two workers, or keeps one for too long,
is never tried in this process: it is an error, with a folder to see it again.
"""

from __future__ import annotations

import logging
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import emit_object, machine_words
from relay.targets.cpu.emit.text import LlvmModule
from relay.targets.cpu.failure import lost_kernel
from relay.targets.cpu.host import usable_cpus
from relay.targets.cpu.target import CpuTarget

REPLY_TIMEOUT_SECONDS = 120.0
WORKERS_AT_MOST = 8
SAID_BYTES = 2000
_LOG = logging.getLogger(__name__)


class NoWorker(Exception):
    """A worker could not be started."""


class WorkerLost(Exception):
    """A worker ended, or was too slow, while it compiled a text. `said` is what it wrote to standard error."""

    def __init__(self, reason: str, said: str = "", is_slow: bool = False) -> None:
        self.said, self.is_slow = said, is_slow
        super().__init__(reason)


class Worker:
    """One compile process and the pipes to it. Raises NoWorker when it does not come up."""

    def __init__(self, command: Sequence[str], reply_timeout_seconds: float) -> None:
        self._timeout_seconds = reply_timeout_seconds
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `stop` closes it
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                process_group=0,  # an interrupt from the keyboard is the caller's to handle, as is priority
            )
        except OSError as error:
            self._errors.close()
            raise NoWorker(str(error)) from None
        try:
            greeting = self._read(len(object_code.GREETING))
        except WorkerLost as lost:
            self.stop()
            raise NoWorker(str(lost)) from None
        if greeting != object_code.GREETING:
            self.stop()
            raise NoWorker("another program answered")

    def compile(self, module: LlvmModule, words: tuple[str, str, str]) -> tuple[bool, bytes]:
        """Whether LLVM took the module, and the object file or its message. Raises WorkerLost."""
        assert self._process.stdin is not None
        try:
            for part in (*words, str(module.optimization_level), module.text):
                data = part.encode()
                self._process.stdin.write(len(data).to_bytes(8, "little") + data)
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        head = self._read(9)
        return head[0] == 0, self._read(int.from_bytes(head[1:], "little"))

    def _read(self, length: int) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        data = bytearray()
        while len(data) < length:
            ready, _, _ = select.select([descriptor], [], [], self._timeout_seconds)
            if not ready:
                raise WorkerLost(f"no answer in {self._timeout_seconds:g} s", self._said(), is_slow=True)
            part = os.read(descriptor, length - len(data))
            if not part:
                raise self._ended()
            data += part
        return bytes(data)

    def _ended(self) -> WorkerLost:
        return WorkerLost(f"ended with {_ending(self._process.wait())}", self._said())

    def _said(self) -> str:
        """The end of what the process wrote to standard error."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - SAID_BYTES))
        return self._errors.read().decode(errors="replace").strip()

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue  # what was not flushed is of no use any more
        self._process.wait()
        self._errors.close()


def _ending(code: int) -> str:
    """How a process ended, by its return code.

    >>> _ending(-6), _ending(3)
    ('signal SIGABRT', 'code 3')
    """
    known = {-number: number.name for number in signal.Signals}
    return f"signal {known[code]}" if code in known else f"code {code}"


@mutable(eq=True)
class Job:
    """A module to compile, of the kernel that `description` tells. `image` is set when it is done, `message` when LLVM
    refused it, `lost` when it ended a worker."""

    module: LlvmModule
    description: str
    image: bytes | None = None
    message: str = ""
    lost: WorkerLost | None = None
    seconds: float = 0.0


class KernelCompiler:
    """Compiles texts as they come: `submit` returns at once, `results` waits for all.

        with KernelCompiler(target) as compiler:
            for func in kernels:
                compiler.submit(emit_kernel(func, target))
            objects = compiler.results()

    `worker_count` of 0 compiles everything in this process; None takes one worker for each processor. `busy_seconds`
    is how long workers compiled, all of them together, and the first text waits for its worker to start.
    """

    def __init__(
        self,
        target: CpuTarget,
        worker_count: int | None = None,
        command: Sequence[str] = (sys.executable, "-P", str(Path(object_code.__file__))),
        reply_timeout_seconds: float = REPLY_TIMEOUT_SECONDS,
    ) -> None:
        self._target = target
        self._words = machine_words(target)
        self.worker_count = min(WORKERS_AT_MOST, usable_cpus()) if worker_count is None else worker_count
        self._command = command
        self._timeout_seconds = reply_timeout_seconds
        self._jobs: list[Job] = []
        self._by_text: dict[str, Job] = {}
        self._pending: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> KernelCompiler:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish()

    def submit(self, module: LlvmModule, description: str = "") -> None:
        """Ask for the object of a module. Equal texts are compiled once. `description` is the kernel's own text and
        schedule, for who has to find out what is wrong with it."""
        job = self._by_text.get(module.text)
        if job is None:
            job = self._by_text[module.text] = Job(module, description)
            if self.worker_count:
                self._enqueue(job)
        self._jobs.append(job)

    def results(self) -> list[bytes]:
        """The objects of all texts, in the order of their submission. Raises `CompilerBug` where LLVM makes none."""
        self._finish()
        for job in self._by_text.values():
            if job.lost is not None:
                raise lost_kernel(job.module, self._words, job.description, str(job.lost), job.lost.said)
            if job.message:
                raise CompilerBug("codegen", f"LLVM refuses the text: {job.message}")
            if job.image is None:
                job.image = emit_object(job.module.text, self._target, job.module.optimization_level)
        return [job.image or b"" for job in self._jobs]

    @property
    def busy_seconds(self) -> float:
        return sum(job.seconds for job in self._by_text.values())

    def _enqueue(self, job: Job) -> None:
        self._pending.put(job)
        if len(self._threads) < self.worker_count:
            thread = threading.Thread(target=self._serve, name="relay-compile", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _finish(self) -> None:
        for _ in self._threads:
            self._pending.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _serve(self) -> None:
        """Jobs until there are no more, in a thread of this process: by one worker, or by another if that is lost."""
        worker: Worker | None = None
        try:
            while (job := self._pending.get()) is not None:
                for is_last in (False, True):
                    worker = worker or Worker(self._command, self._timeout_seconds)
                    try:
                        self._compile(worker, job)
                        break
                    except WorkerLost as lost:
                        worker.stop()
                        worker = None
                        if is_last or lost.is_slow:
                            job.lost = lost
                            break
        except NoWorker as error:
            _LOG.warning("no compile worker can be started (%s): kernels are compiled in this process", error)
        finally:
            if worker is not None:
                worker.stop()

    def _compile(self, worker: Worker, job: Job) -> None:
        started = time.perf_counter()
        taken, reply = worker.compile(job.module, self._words)
        job.seconds = time.perf_counter() - started
        if taken:
            job.image = reply
        else:
            job.message = reply.decode(errors="replace").strip()
