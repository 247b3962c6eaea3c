"""What becomes of a call whose device hangs, is lost or is in another process, and of Ctrl-C meanwhile."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.runtime.devices.table import NOT_YET
from tests.native.test_device_regions import (
    CROSSING,
    KIND,
    Frame,
    FrameKernels,
    FrameKind,
    assert_alike,
    built,
    network,
)

X = np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)


@pytest.fixture(autouse=True)
def _kind_is_forgotten() -> Iterator[None]:
    relay.register_target(FrameKind(FrameKernels()))
    yield
    relay.unregister_target(KIND)


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """A shell that starts tests in the background has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@dataclass
class SlowFrame(Frame):
    """A submission has run when `done` says so."""

    is_done: bool = False
    lost: int = 0
    longest_wait_ns: int = 0

    def wait(self, event: int, timeout_nanoseconds: int) -> int:
        self.longest_wait_ns = max(self.longest_wait_ns, timeout_nanoseconds)
        if not self.is_done:
            time.sleep(timeout_nanoseconds * 1e-9)
            return NOT_YET
        return super().wait(event, timeout_nanoseconds)

    def is_lost(self) -> int:
        return self.lost


class SilentFrame(Frame):
    """Fails, and does not say why."""

    def submit(self, *arguments: int) -> int:
        raise ValueError

    def last_error(self) -> int:
        return 0


def test_a_device_that_gives_no_reason_is_named():
    run = built(network(), FrameKernels(), SilentFrame())
    with pytest.raises(RelayError) as caught:
        run(X)
    assert caught.value.rule == "device-failed"
    assert caught.value.found == f"{KIND}:0 gives no reason"


def interrupt_soon() -> threading.Timer:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_a_wait_in_a_device_of_python():
    device = SlowFrame()
    run = built(network(), FrameKernels(), device)
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        run(X)
    timer.join()
    assert device.longest_wait_ns <= 10**9, "waits are short, so that somebody may look up between them"
    device.is_done = True
    np.testing.assert_allclose(run(X), relay.build(network())(X), rtol=1e-5)


NEVER = """
declare i32 @usleep(i32)
define i32 @never(ptr %context, i64 %event, i64 %timeout) {
  %slept = call i32 @usleep(i32 20000)
  ret i32 1
}
"""


def test_ctrl_c_ends_a_wait_in_a_driver():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(NEVER), machine)
    device = Frame()
    run = built(network(), FrameKernels(), device)
    expected = run(X)
    kind = type(device._table.wait)
    waits = kind(ctypes.cast(device._table.wait, ctypes.c_void_p).value)
    device._table.wait = kind(engine.get_function_address("never"))
    held = device.held
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        run(X)
    timer.join()
    device._table.wait = waits
    np.testing.assert_array_equal(run(X), expected)
    assert device.held == held


def test_who_handles_ctrl_c_is_told_that_the_call_has_no_result():
    device = SlowFrame()
    run = built(network(), FrameKernels(), device)
    handled: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: handled.append(number))
    try:
        signal.raise_signal(signal.SIGINT)
        device.is_done = True
        run(X)
    finally:
        signal.signal(signal.SIGINT, before)
    assert handled == [signal.SIGINT]


def test_a_lost_device_is_told_and_opened_anew():
    lost, other = SlowFrame(lost=1), Frame()
    run = built(network(), FrameKernels(), lost)
    with pytest.raises(RelayError) as caught:
        run(X)
    assert (caught.value.rule, caught.value.message) == ("device-lost", f"`main` has lost {KIND}:0")
    relay.register_device(KIND, lambda _: other, replace=True)
    np.testing.assert_allclose(relay.build(network(), target=KIND)(X), relay.build(network())(X), rtol=1e-5)
    assert other.launched


@pytest.mark.parametrize("name", CROSSING)
def test_threads_share_a_device(name: str):
    program, refused, inputs = CROSSING[name]
    run = built(program(), FrameKernels(frozenset(refused)), Frame())
    plain = relay.build(program())
    calls = [(*inputs[:-1], inputs[-1] * np.float32(factor)) for factor in range(8)]
    with ThreadPoolExecutor(3) as threads:
        for found, given in zip(threads.map(lambda call: run(*call), calls), calls, strict=True):
            assert_alike(found, plain(*given))


def test_a_forked_process_opens_its_own_device(tmp_path):
    device = Frame()
    run = built(network(), FrameKernels(), device)
    run.save(tmp_path / "network.rlx")
    expected, held = run(X), device.held
    child = os.fork()
    if child == 0:
        os._exit(_in_a_child(run, tmp_path / "network.rlx", expected))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    np.testing.assert_array_equal(run(X), expected)
    assert device.held == held


def _in_a_child(run: object, path: object, expected: np.ndarray) -> int:
    """0: a program of the process before is told that it has no devices, and one that is loaded here runs."""
    try:
        run(X)
    except RelayError as error:
        if error.rule == "device-forked" and error.found == f"{KIND}:0":
            return 0 if np.array_equal(relay.load(path)(X), expected) else 2
    return 1
