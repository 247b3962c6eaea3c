"""Compiling in other processes: the same objects, whatever becomes of the workers."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import replace

import pytest

import relay
from relay.base.diagnostics import CompilerBug
from relay.lower.planning.scratch import Scratch
from relay.lower.targets import KernelSource
from relay.targets.cpu import object_code
from relay.targets.cpu.emit.text import LlvmModule
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.targets.cpu.object_code import GREETING
from relay.targets.cpu.workers import KernelCompiler

MODULES = [
    LlvmModule(f"f{k}", f"define i32 @f{k}(i32 %x) {{\n  %y = add i32 %x, {k}\n  ret i32 %y\n}}\n") for k in range(6)
]


def compiled(native, command=None, timeout=60.0, workers=2, modules=MODULES):
    options = {} if command is None else {"command": command}
    with KernelCompiler(native, worker_count=workers, reply_timeout_seconds=timeout, **options) as compiler:
        for module in modules:
            compiler.submit(module)
        return compiler.results()


def test_workers_make_the_same_objects_as_this_process(native):
    assert compiled(native) == compiled(native, workers=0) == compiled(native, workers=1)


def test_equal_texts_are_compiled_once(native):
    objects = compiled(native, workers=1, modules=[MODULES[0], MODULES[1], MODULES[0]])
    assert objects[0] == objects[2] != objects[1]


GREETED = f"import os, sys, time; os.write(1, {GREETING!r}); "


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit(3)", "ended with code 3"),
        ("sys.stdin.buffer.read(100); os.write(2, b'Assertion failed'); os.abort()",
         "ended with signal SIGABRT: Assertion failed"),
        ("time.sleep(100)", "no answer in 0.5 s"),
        ("os.write(1, bytes(5)); sys.exit()", "ended with code 0"),
    ],
)  # fmt: skip
def test_what_ends_a_worker_is_an_error_that_leaves_a_reproduction(native, tmp_path, program, reason):
    """The text is not compiled in this process, which it would end as well."""
    cube = replace(MODULES[0], name="cube")
    config = {"relay.repro_folder": str(tmp_path)}
    with relay.PassContext(config=config), pytest.raises(CompilerBug) as caught:
        compiled(native, (sys.executable, "-c", GREETED + program), timeout=0.5, modules=[cube], workers=1)
    (folder,) = tmp_path.iterdir()
    assert caught.value.repro == str(folder)
    assert f"the process that compiled the kernel cube {reason}" in caught.value.message
    assert (folder / "kernel.ll").read_text() == cube.text
    assert reason.split(":")[0] in (folder / "failure.txt").read_text()
    done = subprocess.run([sys.executable, folder / "reproduce.py"], check=False)
    assert done.returncode == 0  # LLVM itself has nothing against this one


def test_what_ends_one_worker_is_given_to_another(native, tmp_path):
    """Somebody may have ended the first one."""
    once = tmp_path / "once"
    program = f"""
import os, sys
if not os.path.exists({str(once)!r}):
    open({str(once)!r}, "w").close()
    os.write(1, {GREETING!r})
    os.abort()
os.execv(sys.executable, [sys.executable, "-P", {object_code.__file__!r}])
"""
    assert compiled(native, (sys.executable, "-c", program), workers=1) == compiled(native, workers=0)
    assert once.exists()


@pytest.mark.parametrize(
    "command",
    [("/does/not/exist",), (sys.executable, "-c", "print('hello, who is there?')"), (sys.executable, "-c", "")],
)
def test_where_no_worker_can_start_this_process_does_the_work(native, caplog, command):
    with caplog.at_level(logging.WARNING, "relay.targets.cpu.workers"):
        assert compiled(native, command) == compiled(native, workers=0)
    assert "kernels are compiled in this process" in caplog.text


@pytest.mark.parametrize("workers", [0, 1])
def test_text_that_llvm_refuses_is_a_bug_of_ours(native, workers):
    with pytest.raises(CompilerBug, match="LLVM refuses the text"):
        compiled(native, workers=workers, modules=[LlvmModule("f", "define nonsense")])


def test_what_is_kept_is_neither_written_nor_compiled_again(native, tmp_path, monkeypatch):
    """By what it was made from: the text is not asked for, and one file is kept for each kernel."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    target, asked = CpuKernelTarget(native), []

    def source(position):
        def emitted(_):
            asked.append(position)
            return MODULES[position], Scratch()

        return KernelSource(f"kernel{position}", f"kernel {position}", None, emitted)

    def emitted():
        return [module.data for module in target.emit(list(map(source, range(len(MODULES)))), lambda done, total: None)]

    first = emitted()
    assert first == compiled(native)
    assert asked == list(range(len(MODULES)))
    assert len(list(tmp_path.glob("kernels/*/*.o"))) == len(MODULES)
    assert emitted() == first
    assert asked == list(range(len(MODULES)))


def test_results_may_be_asked_for_twice(native):
    with KernelCompiler(native, worker_count=1) as compiler:
        compiler.submit(MODULES[0])
        first = compiler.results()
        compiler.submit(MODULES[1])
        assert compiler.results()[0] == first[0]
