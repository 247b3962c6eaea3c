"""Compiling in other processes: the same objects, whatever becomes of the workers."""

from __future__ import annotations

import logging
import re
import sys

import pytest

from relay.base.diagnostics import CompilerBug
from relay.targets.cpu.backend import CpuBackend
from relay.targets.cpu.workers import KernelCompiler

TEXTS = [f"define i32 @f{k}(i32 %x) {{\n  %y = add i32 %x, {k}\n  ret i32 %y\n}}\n" for k in range(6)]


def compiled(native, command=None, timeout=60.0, workers=2, texts=TEXTS):
    options = {} if command is None else {"command": command}
    with KernelCompiler(native, worker_count=workers, reply_timeout_seconds=timeout, **options) as compiler:
        for text in texts:
            compiler.submit(text)
        return compiler.results()


def test_workers_make_the_same_objects_as_this_process(native):
    assert compiled(native) == compiled(native, workers=0) == compiled(native, workers=1)


def test_equal_texts_are_compiled_once(native):
    objects = compiled(native, workers=1, texts=[TEXTS[0], TEXTS[1], TEXTS[0]])
    assert objects[0] == objects[2] != objects[1]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.exit(3)", "ended with code 3|pipe"),
        ("import os, sys; sys.stdin.buffer.read(100); os.abort()", "ended with code -6|pipe"),
        ("import time; time.sleep(100)", "no answer in 0.5 s"),
        ("import sys; sys.stdout.buffer.write(bytes(5)); sys.exit()", "ended with code 0|pipe"),
    ],
)
def test_a_lost_worker_is_said_and_its_work_is_done_here(native, caplog, program, reason):
    with caplog.at_level(logging.WARNING, "relay.targets.cpu.workers"):
        objects = compiled(native, (sys.executable, "-c", program), timeout=0.5)
    assert objects == compiled(native, workers=0)
    assert any(re.search(reason, record.getMessage()) for record in caplog.records)


def test_a_worker_that_cannot_start(native, caplog):
    with caplog.at_level(logging.WARNING, "relay.targets.cpu.workers"):
        assert compiled(native, ("/does/not/exist",)) == compiled(native, workers=0)
    assert "compiled in this process" in caplog.text


@pytest.mark.parametrize("workers", [0, 1])
def test_text_that_llvm_refuses_is_a_bug_of_ours(native, workers):
    with pytest.raises(CompilerBug, match="LLVM refuses the text"):
        compiled(native, workers=workers, texts=["define nonsense"])


def test_what_is_kept_is_neither_written_nor_compiled_again(native, tmp_path, monkeypatch):
    """By what it was made from: the text is not asked for, and one file is kept for each kernel."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    backend, asked = CpuBackend(native), []

    def source(position):
        asked.append(position)
        return TEXTS[position]

    keys = [f"kernel {k}" for k in range(len(TEXTS))]
    first = backend.build_kernels(keys, source, lambda done, total: None)
    assert first == compiled(native)
    assert asked == list(range(len(TEXTS)))
    assert len(list(tmp_path.glob("kernels/*/*.o"))) == len(TEXTS)
    assert backend.build_kernels(keys, source, lambda done, total: None) == first
    assert asked == list(range(len(TEXTS)))


def test_results_may_be_asked_for_twice(native):
    with KernelCompiler(native, worker_count=1) as compiler:
        compiler.submit(TEXTS[0])
        first = compiler.results()
        compiler.submit(TEXTS[1])
        assert compiler.results()[0] == first[0]
