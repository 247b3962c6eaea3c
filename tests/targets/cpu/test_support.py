"""The thread pool: every iteration runs once, from any thread, in any process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from relay.base.target import Target
from relay.runtime.memory.objects import LoadedObjects, load_objects
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support import support_text

REGIONS = """
declare void @relay_parallel_for(ptr, ptr, i64, i64, i64, ptr, i64, i32)
define void @body(ptr %context, i64 %begin, i64 %end, ptr %scratch) {
entry:
  br label %next
next:
  %i = phi i64 [ %begin, %entry ], [ %j, %next ]
  %at = getelementptr i64, ptr %context, i64 %i
  %old = atomicrmw add ptr %at, i64 1 monotonic
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %end
  br i1 %more, label %next, label %done
done:
  ret void
}
define void @regions(ptr %context, i64 %times, i64 %count, i64 %grain) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %way = and i64 %i, 1
  call void @relay_parallel_for(ptr @body, ptr %context, i64 %count, i64 %grain, i64 %way, ptr null, i64 0, i32 0)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %times
  br i1 %more, label %next, label %done
done:
  ret void
}
define void @nested_body(ptr %context, i64 %begin, i64 %end, ptr %scratch) {
  call void @relay_parallel_for(ptr @body, ptr %context, i64 8, i64 1, i64 0, ptr null, i64 0, i32 0)
  ret void
}
define void @nested(ptr %context) {
  call void @relay_parallel_for(ptr @nested_body, ptr %context, i64 2, i64 1, i64 0, ptr null, i64 0, i32 0)
  ret void
}
"""

Regions = Callable[..., None]


@pytest.fixture(scope="module")
def loaded(native: Target, support: dict[str, int]) -> LoadedObjects:
    return load_objects([emit_object(REGIONS, native)], ["regions", "nested"], support)


@pytest.fixture(scope="module")
def regions(loaded: LoadedObjects) -> Regions:
    """`regions(counts, times, grain=1)`: `times` parallel loops, each adding 1 to every entry of `counts`."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)(loaded.address("regions"))

    def call(counts: np.ndarray, times: int, grain: int = 1) -> None:
        function(counts.ctypes.data, times, len(counts), grain)

    return call


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
@pytest.mark.parametrize("grain", [1, 5, 1000])
def test_every_iteration_of_every_region_runs_once(regions, count, grain):
    counts = np.zeros(count, np.int64)
    regions(counts, 2000, grain)
    np.testing.assert_array_equal(counts, 2000)


def test_regions_after_a_rest(regions):
    """Workers that went to sleep wake up, or are not waited for."""
    counts = np.zeros(16, np.int64)
    for _ in range(20):
        time.sleep(0.003)
        regions(counts, 1)
    np.testing.assert_array_equal(counts, 20)


def test_nested_regions(loaded):
    counts = np.zeros(8, np.int64)
    nested = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address("nested"))
    for _ in range(500):
        nested(counts.ctypes.data)
    assert counts.min() == counts.max() >= 500


def test_several_threads_at_once(regions):
    counts = [np.zeros(9, np.int64) for _ in range(4)]
    threads = [threading.Thread(target=regions, args=(c, 5000)) for c in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for c in counts:
        np.testing.assert_array_equal(c, 5000)


def test_a_forked_child_has_a_pool_of_its_own(regions):
    regions(np.zeros(4, np.int64), 10)
    child = os.fork()
    if not child:
        counts = np.zeros(4, np.int64)
        regions(counts, 100)
        os._exit(0 if (counts == 100).all() else 1)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the forked child hangs")


def test_a_loop_says_how_many_threads_may_run_it(support):
    """Programs of targets with different numbers of threads share the pool of the process."""
    body_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 2, ctypes.c_void_p)
    ran: set[int] = set()
    function = ctypes.CFUNCTYPE(
        None, body_type, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32
    )(support["relay_parallel_for"])

    def body(*_: int) -> None:
        ran.add(threading.get_ident())
        time.sleep(0.001)

    for most, threads in ((1, {threading.get_ident()}), (2, None), (1, {threading.get_ident()})):
        ran.clear()
        for _ in range(20):
            function(body_type(body), None, 64, 1, 0, None, 0, most)
        assert len(ran) <= most if threads is None else ran == threads


def test_never_more_threads_than_processors(support):
    ask = ctypes.CFUNCTYPE(ctypes.c_int32)(support["relay_num_threads"])
    limit = ctypes.CFUNCTYPE(None, ctypes.c_int32)(support["relay_set_num_threads"])
    usable = len(os.sched_getaffinity(0))
    try:
        for wanted, given in ((1, 1), (1000, usable), (0, usable)):
            limit(wanted)
            assert ask() == given
    finally:
        limit(2)


@pytest.mark.parametrize("pinning", [0, 1])
def test_a_process_ends_while_workers_spin(pinning):
    """In a process of its own, restricted to few processors: the right number of threads, where they belong, and a
    clean end."""
    program = f"""
        import ctypes, os, numpy as np
        from relay.base.target import Target
        from relay.runtime.memory.objects import load_objects, load_support
        from relay.targets.cpu.codegen import emit_object
        from relay.targets.cpu.host import resolve
        from relay.targets.cpu.support import support_object
        target = resolve(Target.parse("llvm -num-threads=2"))
        support = load_support(support_object(target, pinning=bool({pinning})))
        loaded = load_objects([emit_object({REGIONS!r}, target)], ["regions"], support.addresses)
        counts = np.zeros(64, np.int64)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)(loaded.address("regions"))(
            counts.ctypes.data, 1000, 64, 1)
        assert (counts == 1000).all()
        print(*(len(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")))
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    usable = len(os.sched_getaffinity(0))
    allowed = sorted(map(int, done.stdout.split()))
    assert len(allowed) <= min(2, usable) + 1  # NumPy's BLAS may have started a thread
    assert allowed[-1] == usable
    if usable > 1:  # the worker keeps off the caller's processor
        assert allowed[0] == (1 if pinning else usable - 1)


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"])
def test_the_pool_compiles_for_every_machine_that_it_supports(triple):
    target = resolve(Target.parse(f"llvm -mtriple={triple}"))
    assert b"relay_parallel_for" in emit_object(support_text(target), target)


@pytest.mark.parametrize("triple", ["x86_64-apple-darwin", "riscv64-unknown-linux-gnu", "x86_64-pc-windows-msvc"])
def test_elsewhere_loops_run_on_one_thread(triple):
    target = resolve(Target.parse(f"llvm -mtriple={triple}"))
    text = support_text(target)
    assert "pthread" not in text
    assert emit_object(text, target)
