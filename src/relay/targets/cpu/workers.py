"""Compilation in other processes: LLVM text in, object files out.

Workers run one file that imports only llvmlite, so they neither import the compiler nor run the user's script again.
They start with the first text that has to be compiled, while the caller goes on to the next kernel. A worker that dies,
hangs or cannot start is given up, with a warning, and its work is done in this process.
"""

from __future__ import annotations

import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from relay.base.diagnostics import CompilerBug
from relay.base.target import Target
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import emit_object, machine_words, optimization_level
from relay.targets.cpu.host import usable_cpus

REPLY_TIMEOUT_SECONDS = 120.0
WORKERS_AT_MOST = 8
_LOG = logging.getLogger(__name__)


class WorkerLost(Exception):
    """A worker ended or did not answer in time."""


class Worker:
    """One compile process and the pipes to it."""

    def __init__(self, command: Sequence[str], reply_timeout_seconds: float) -> None:
        self._timeout_seconds = reply_timeout_seconds
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # an interrupt from the keyboard is the caller's to handle; his priority is the worker's
        )

    def compile(self, text: str, words: tuple[str, str, str], opt: int) -> tuple[bool, bytes]:
        """Whether LLVM took the text, and the object file or its message. Raises WorkerLost."""
        assert self._process.stdin is not None
        try:
            for part in (*words, str(opt), text):
                data = part.encode()
                self._process.stdin.write(len(data).to_bytes(8, "little") + data)
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerLost(str(error)) from None
        head = self._read(9)
        return head[0] == 0, self._read(int.from_bytes(head[1:], "little"))

    def _read(self, length: int) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        data = bytearray()
        while len(data) < length:
            ready, _, _ = select.select([descriptor], [], [], self._timeout_seconds)
            if not ready:
                raise WorkerLost(f"no answer in {self._timeout_seconds:g} s")
            part = os.read(descriptor, length - len(data))
            if not part:
                raise WorkerLost(f"ended with code {self._process.wait()}")
            data += part
        return bytes(data)

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue  # what was not flushed is of no use any more
        self._process.wait()


@dataclass(slots=True)
class Job:
    """One text to compile. `image` is set when it is done, `message` when LLVM refused it."""

    text: str
    opt: int
    image: bytes | None = None
    message: str = ""
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
        target: Target,
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

    def submit(self, text: str) -> None:
        """Ask for the object of `text`. Equal texts are compiled once."""
        job = self._by_text.get(text)
        if job is None:
            job = self._by_text[text] = Job(text, optimization_level(text))
            if self.worker_count:
                self._enqueue(job)
        self._jobs.append(job)

    def results(self) -> list[bytes]:
        """The objects of all texts, in the order of their submission."""
        self._finish()
        for job in self._by_text.values():
            if job.message:
                raise CompilerBug("codegen", f"LLVM refuses the text: {job.message}")
            if job.image is None:
                job.image = emit_object(job.text, self._target, job.opt)
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
        """One worker's life, in a thread of this process: jobs until there are no more, or until it is lost."""
        worker: Worker | None = None
        try:
            worker = Worker(self._command, self._timeout_seconds)
            while (job := self._pending.get()) is not None:
                started = time.perf_counter()
                taken, reply = worker.compile(job.text, self._words, job.opt)
                job.seconds = time.perf_counter() - started
                if taken:
                    job.image = reply
                else:
                    job.message = reply.decode(errors="replace").strip()
        except (WorkerLost, OSError) as error:
            _LOG.warning("a compile worker was lost (%s): its kernels are compiled in this process", error)
        finally:
            if worker is not None:
                worker.stop()
