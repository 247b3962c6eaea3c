"""Long kernels look whether their call is to end, short ones do not."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest

import relay
from relay import te
from relay.arith.expr import Symbol
from relay.runtime.call.kernel_function import KernelFunction

LONG, SHORT = 3_000_000, 100


def element_by_element(extent: int | None) -> KernelFunction:
    rows = Symbol("n") if extent is None else extent
    a = te.placeholder((rows,), "float32", "a")
    return te.build(te.compute((rows,), lambda i: te.tanh(a[i]) + 2.0, name="made"))


def row_by_row(extent: int | None) -> KernelFunction:
    rows = Symbol("n") if extent is None else extent
    a = te.placeholder((rows, 7), "float32", "a")
    k = te.reduce_axis(7, "k")
    return te.build(te.compute((rows,), lambda i: te.sum(a[i, k] * a[i, k], axis=k), name="made"))


@contextmanager
def out_of_time(kernel: KernelFunction) -> Generator[None]:
    """The time of this thread is up."""
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
    call(kernel.support.address("relay_stop_thread"))(threading.get_ident())
    try:
        yield
    finally:
        call(kernel.support.address("relay_stop_forget"))(threading.get_ident())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("extent", [LONG, None])
@pytest.mark.parametrize("make", [element_by_element, row_by_row])
def test_a_long_kernel_ends_inside(make, extent, threads):
    kernel = make(extent)
    columns = () if make is element_by_element else (7,)
    data = np.ones((LONG, *columns), np.float32)
    out = np.zeros(LONG, np.float32)
    with relay.num_threads(threads):
        with out_of_time(kernel), pytest.raises(relay.RelayError, match="timed-out"):
            kernel(data, out=out)
        assert 0 < np.count_nonzero(out) < LONG
        kernel(data, out=out)
        assert np.count_nonzero(out) == LONG


@pytest.mark.parametrize("make", [element_by_element, row_by_row])
def test_a_short_kernel_runs_to_its_end(make):
    """It is called with results that are told from nothing, and then refused like any other."""
    kernel = make(SHORT)
    out = np.zeros(SHORT, np.float32)
    data = np.ones((SHORT, *(() if make is element_by_element else (7,))), np.float32)
    with out_of_time(kernel), pytest.raises(relay.RelayError, match="timed-out"):
        kernel(data, out=out)
    assert np.count_nonzero(out) == SHORT


def test_the_time_of_another_thread_ends_no_kernel():
    kernel = element_by_element(LONG)
    with out_of_time(kernel):
        made: list[np.ndarray] = []
        other = threading.Thread(target=lambda: made.append(kernel(np.ones(LONG, np.float32))))
        other.start()
        other.join()
    assert np.count_nonzero(made[0]) == LONG
