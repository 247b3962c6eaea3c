"""Native calls can be stopped: by Ctrl-C, and when their time is up. The executable is as usable as before."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.runtime.executable import Executable
from relay.runtime.memory.stopping import time_limit
from relay.runtime.values.heap import HeapUse
from tests.messages import check_message
from tests.native.running import module

LOOP = """
def @main(%x: Tensor[(4), float32], %n: int64) -> Tensor[(4), float32] {
  if (less(%n, 1i64)) { %x } else { @main(sin(%x), subtract(%n, 1i64)) }
}"""
SCALARS = """
def @main(%x: int64, %n: int64) -> int64 {
  if (less(%n, 1i64)) { %x } else { @main(bitwise_xor(%x, %n), subtract(%n, 1i64)) }
}"""
DEEP = """
def @down(%x: float32, %n: int64) -> float32 {
  if (less(%n, 1i64)) { %x } else { add(@down(%x, subtract(%n, 1i64)), 1f) }
}
def @main(%x: float32, %n: int64) -> float32 {
  if (less(%n, 1i64)) { %x } else { @main(@down(%x, 100000i64), subtract(%n, 1i64)) }
}"""
MUTUAL = """
def @even(%f: fn(float32) -> float32, %x: float32, %n: int64) -> float32 {
  if (less(%n, 1i64)) { %x } else { @odd(%f, %f(%x), subtract(%n, 1i64)) }
}
def @odd(%f: fn(float32) -> float32, %x: float32, %n: int64) -> float32 {
  if (less(%n, 1i64)) { %x } else { @even(%f, %f(%x), subtract(%n, 1i64)) }
}
def @main(%x: float32, %n: int64) -> float32 { @even(fn (%y: float32) { cos(%y) }, %x, %n) }"""

PRODUCT = """
def @main(%a: Tensor[(1536, 1536), float32], %b: Tensor[(1536, 1536), float32]) { nn.matmul(%a, %b) }"""
OPEN_PRODUCT = """
def @main(%a: Tensor[(?, ?), float32], %b: Tensor[(?, ?), float32]) { nn.matmul(%a, %b) }"""
CONVOLUTION = """
def @main(%x: Tensor[(1, 256, 96, 96), float32], %w: Tensor[(256, 256, 5, 5), float32]) {
  nn.conv2d(%x, %w, padding=[2, 2, 2, 2], kernel_size=[5, 5], channels=256)
}"""
SORT = "def @main(%x: Tensor[(8, 1000000), float32]) { sort(%x) }"
SUMS = "def @main(%x: Tensor[(n), float64]) { sum(tan(atan(sin(exp(%x))))) }"

PROGRAMS = {"loop": LOOP, "scalars": SCALARS, "deep": DEEP, "mutual": MUTUAL}
STARTS = {"loop": np.ones(4, np.float32), "scalars": np.int64(1), "deep": np.float32(1), "mutual": np.float32(1)}
FOR_EVER = 10**15


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> tuple[str, Executable]:
    return request.param, relay.build(module(PROGRAMS[request.param]))


def after(seconds: float, do: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_a_loop(program):
    name, executable = program
    expected = executable(STARTS[name], 2)
    after(0.2, press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        executable(STARTS[name], FOR_EVER)
    np.testing.assert_array_equal(executable(STARTS[name], 2), expected)


def test_a_call_ends_when_its_time_is_up(program):
    name, executable = program
    expected = executable(STARTS[name], 2)
    with pytest.raises(relay.RelayError) as caught:
        executable(STARTS[name], FOR_EVER, timeout=0.2)
    check_message("runtime", "timed-out", caught.value)
    np.testing.assert_array_equal(executable(STARTS[name], 2, timeout=100), expected)


def test_a_library_in_python_too(tmp_path: Path):
    relay.build(module(LOOP)).export(tmp_path / "loop.so")
    loaded = relay.load(tmp_path / "loop.so")
    with pytest.raises(relay.RelayError, match="timed-out"):
        loaded(STARTS["loop"], FOR_EVER, timeout=0.2)


def test_the_time_of_one_thread_is_not_that_of_another():
    executable = relay.build(module(LOOP))
    results: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: results.append(executable(STARTS["loop"], 5_000_000)))
    thread.start()
    with pytest.raises(relay.RelayError, match="timed-out"):
        executable(STARTS["loop"], FOR_EVER, timeout=0.05)
    thread.join()
    np.testing.assert_array_equal(results[0], executable(STARTS["loop"], 5_000_000))


def test_a_ctrl_c_that_python_handled_ends_no_later_call():
    executable = relay.build(module(LOOP))
    after(0.1, press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        time.sleep(5)
    assert executable(STARTS["loop"], 3).shape == (4,)


def test_a_handler_of_the_users_is_heard_and_may_go_on():
    """He sets it before he loads a program; the call ends, with an error that says why."""
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        executable = relay.build(module(LOOP))
        after(0.2, press_ctrl_c)
        with pytest.raises(relay.RelayError, match="interrupted"):
            executable(STARTS["loop"], FOR_EVER)
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_input_may_be_called_timeout():
    timeout = relay.var("timeout", shape=(2,))
    executable = relay.build(relay.Function([timeout], timeout + timeout))
    assert executable(timeout=np.ones(2, np.float32)).tolist() == [2, 2]


def ones(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape, np.float32)


LONG_KERNELS = {
    "product": (PRODUCT, (ones(1536, 1536), ones(1536, 1536))),
    "open product": (OPEN_PRODUCT, (ones(1536, 1536), ones(1536, 1536))),
    "convolution": (CONVOLUTION, (ones(1, 256, 96, 96), ones(256, 256, 5, 5))),
    "sort": (SORT, (ones(8, 1_000_000),)),
    "sums": (SUMS, (np.random.default_rng(1).random(20_000_000),)),
}


def for_ever(call: Callable[..., object], arrays: tuple[np.ndarray, ...]) -> None:
    """Whoever ends a call here may be late."""
    while True:
        call(*arrays)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", LONG_KERNELS)
def test_a_program_of_one_long_kernel_ends(kernel, threads):
    """That it ends inside of the kernel is told by `tests/targets/cpu/test_polls.py`, without a clock."""
    source, arrays = LONG_KERNELS[kernel]
    executable = relay.build(module(source))
    with relay.num_threads(threads):
        expected = executable(*arrays)
        with time_limit(0.01), pytest.raises(relay.RelayError, match="timed-out"):
            for_ever(executable, arrays)
        after(0.01, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            for_ever(executable, arrays)
        np.testing.assert_array_equal(executable(*arrays), expected)


def test_a_graph_executor_gives_nothing_of_a_kernel_that_was_told_to_end():
    source, arrays = LONG_KERNELS["product"]
    executor = relay.create_executor("graph", module(source)).evaluate()
    expected = executor(*arrays)
    with time_limit(0.01), pytest.raises(relay.RelayError, match="timed-out"):
        for_ever(executor, arrays)
    np.testing.assert_array_equal(executor(*arrays), expected)


@pytest.mark.parametrize("again", range(2))
def test_a_call_ends_when_its_steps_are_used_up(program, again):
    name, executable = program
    expected = executable(STARTS[name], 2)
    with pytest.raises(relay.RelayError) as caught:
        executable(STARTS[name], FOR_EVER, step_limit=1000)
    check_message("runtime", "step-limit", caught.value)
    np.testing.assert_array_equal(executable(STARTS[name], 2, step_limit=10**9), expected)
    np.testing.assert_array_equal(executable(STARTS[name], 2), expected)


@pytest.mark.parametrize("turns", [10, 500])
def test_each_turn_is_a_step(turns):
    executable = relay.build(module(SCALARS))
    with pytest.raises(relay.RelayError, match="step-limit"):
        executable(1, turns, step_limit=turns)
    assert executable(1, turns, step_limit=turns + 5) == executable(1, turns)


GROWING = """
def @grow(%xs: List[Tensor[(1024), float32]], %n: int64) -> List[Tensor[(1024), float32]] {
  if (less(%n, 1i64)) { %xs } else {
    @grow(Cons(multiply(2f, ones(shape=[1024], dtype="float32")), %xs), subtract(%n, 1i64))
  }
}
def @main(%n: int64) -> int64 {
  match (@grow(Nil, %n)) { Nil => 0i64, Cons(_, _) => 1i64 }
}"""
MEGABYTE = 1 << 20


def test_a_call_ends_that_wants_more_memory_than_it_may_have():
    executable = relay.build(module(GROWING))
    uses: list[HeapUse] = []
    executable["main"].observe_heap(uses.append)
    assert executable(100, memory_limit_bytes=2 * MEGABYTE) == 1
    with pytest.raises(relay.RelayError) as caught:
        executable(FOR_EVER, memory_limit_bytes=8 * MEGABYTE)
    check_message("runtime", "memory-limit", caught.value)
    assert executable(5000) == 1
    assert executable(100, memory_limit_bytes=2 * MEGABYTE) == 1
    assert [each.alive for each in uses] == [0, 0, 0]


def test_results_count_before_anything_runs():
    x = relay.var("x", shape=("n",))
    executable = relay.build(relay.Function([x], relay.exp(x)))
    data = np.ones(MEGABYTE, np.float32)
    with pytest.raises(relay.RelayError, match="memory-limit"):
        executable(data, memory_limit_bytes=4 * MEGABYTE - 1)
    assert executable(data, memory_limit_bytes=4 * MEGABYTE + 4096).shape == (MEGABYTE,)


def test_limits_of_one_thread_are_not_those_of_another():
    executable = relay.build(module(LOOP))
    results: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: results.append(executable(STARTS["loop"], 1_000_000)))
    thread.start()
    while thread.is_alive():
        with pytest.raises(relay.RelayError, match="step-limit"):
            executable(STARTS["loop"], FOR_EVER, step_limit=1000)
    thread.join()
    np.testing.assert_array_equal(results[0], executable(STARTS["loop"], 1_000_000))


CALLING = """
def @main(%f: fn(float32) -> float32, %x: float32, %n: int64) -> float32 {
  if (less(%n, 1i64)) { %x } else { @main(%f, %f(%x), subtract(%n, 1i64)) }
}"""


def timed_out(call: Callable[[], object]) -> bool:
    try:
        call()
    except relay.RelayError as error:
        return error.rule == "timed-out"
    return False


@pytest.fixture(scope="module")
def calling() -> Executable:
    return relay.build(module(CALLING))


def test_the_limit_of_a_call_holds_though_one_inside_it_has_a_longer_one(calling):
    inner = relay.build(module(SCALARS))
    ended: list[bool] = []

    def function(x: np.ndarray) -> np.ndarray:
        ended.append(timed_out(lambda: inner(1, FOR_EVER, timeout=1000)))
        return x

    assert timed_out(lambda: calling(function, 1, FOR_EVER, timeout=0.2))
    assert all(ended)
    assert calling(lambda x: x + 1, 1, 3, timeout=1000) == 4
    assert inner(1, 2) == 2


def test_a_shorter_limit_inside_ends_only_what_it_is_of(calling):
    inner = relay.build(module(SCALARS))

    def function(x: np.ndarray) -> np.ndarray:
        return x + timed_out(lambda: inner(1, FOR_EVER, timeout=0.05))

    assert calling(function, 1, 3, timeout=1000) == 4


def test_time_that_is_up_while_another_call_with_a_limit_runs_stays_up(calling):
    inner = relay.build(module(SCALARS))

    def function(x: np.ndarray) -> np.ndarray:
        with time_limit(1000):
            time.sleep(0.2)
        assert timed_out(lambda: inner(1, 2))
        return x

    assert timed_out(lambda: calling(function, 1, FOR_EVER, timeout=0.1))
    assert inner(1, 2) == 2


def test_the_limit_of_a_call_holds_for_what_is_loaded_inside_of_it(calling, tmp_path):
    """A library has a pool, and so a way to be stopped, of its own."""
    relay.build(module(LOOP)).export(tmp_path / "loop.so")

    def function(x: np.ndarray) -> np.ndarray:
        time.sleep(0.2)
        assert timed_out(lambda: relay.load(tmp_path / "loop.so")(STARTS["loop"], FOR_EVER))
        return x

    assert timed_out(lambda: calling(function, 1, FOR_EVER, timeout=0.1))
    assert relay.load(tmp_path / "loop.so")(STARTS["loop"], 2).shape == (4,)


def test_steps_of_a_call_inside_another_count_for_both(calling):
    inner = relay.build(module(SCALARS))

    def function(x: np.ndarray) -> np.ndarray:
        inner(1, 100)
        return x

    with pytest.raises(relay.RelayError, match="step-limit"):
        calling(function, 1, 20, step_limit=1000)
    with pytest.raises(relay.RelayError, match="step-limit"):
        calling(lambda x: inner(1, 100, step_limit=50) and x, 1, 20, step_limit=10**6)
    assert calling(function, 1, 20, step_limit=10**6) == 1


def test_limits_of_a_library_in_python(tmp_path: Path):
    relay.build(module(LOOP)).export(tmp_path / "loop.so")
    loaded = relay.load(tmp_path / "loop.so")
    with pytest.raises(relay.RelayError, match="step-limit"):
        loaded(STARTS["loop"], FOR_EVER, step_limit=1000, memory_limit_bytes=1 << 30)


@pytest.mark.parametrize("limit", ["step_limit", "memory_limit_bytes"])
@pytest.mark.parametrize("given", [0, -1, True, 1.5, "many", 1 << 70])
def test_limits_are_whole_numbers(limit, given):
    executable = relay.build(module(SCALARS))
    with pytest.raises(relay.RelayError, match="bad-limit"):
        executable(1, 1, **{limit: given})


@pytest.mark.parametrize("seconds", [0, -1, True, "soon", float("nan"), float("inf")])
def test_other_limits_are_refused(seconds):
    executable = relay.build(module(SCALARS))
    with pytest.raises(relay.RelayError, match="bad-timeout"):
        executable(1, 1, timeout=seconds)
