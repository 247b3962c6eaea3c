"""The heap of calls: counts, and the checked form that finds who uses the dead."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from relay.base.target import Target
from relay.runtime.call.native import HEAP_SYMBOLS
from relay.runtime.memory.objects import load_objects
from relay.runtime.values.heap import HEAP_BYTES
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.support.library import heap_text

PROGRAMS = """
define i64 @fresh(ptr %heap) {
  call void @relay_heap_open(ptr %heap, ptr null)
  %object = call ptr @relay_heap_new(ptr %heap, i64 40, i32 3, i32 2)
  %first = getelementptr i8, ptr %object, i64 24
  %second = getelementptr i8, ptr %object, i64 32
  store i64 1, ptr %first
  store i64 1, ptr %second
  %word = ptrtoint ptr %object to i64
  %result = getelementptr i8, ptr %heap, i64 56
  store i64 %word, ptr %result
  ret i64 %word
}
define i64 @good(ptr %heap) {
  %word = call i64 @fresh(ptr %heap)
  call void @relay_heap_retain(i64 %word)
  call void @relay_heap_release(ptr %heap, i64 %word)
  %label = call i32 @relay_heap_label(i64 %word)
  %wide = zext i32 %label to i64
  ret i64 %wide
}
define i64 @leaks(ptr %heap) {
  %word = call i64 @fresh(ptr %heap)
  call void @relay_heap_retain(i64 %word)
  ret i64 0
}
define i64 @released_twice(ptr %heap) {
  %word = call i64 @fresh(ptr %heap)
  call void @relay_heap_release(ptr %heap, i64 %word)
  ret i64 0
}
define i64 @read_after_release(ptr %heap) {
  %word = call i64 @fresh(ptr %heap)
  %none = getelementptr i8, ptr %heap, i64 56
  store i64 1, ptr %none
  call void @relay_heap_release(ptr %heap, i64 %word)
  %label = call i32 @relay_heap_label(i64 %word)
  %first = getelementptr i8, ptr null, i64 %word
  %field.slot = getelementptr i8, ptr %first, i64 24
  %field = load i64, ptr %field.slot
  ret i64 %field
}
"""

Run = Callable[[str], tuple[int, int, int]]


@pytest.fixture(scope="module")
def run(native: Target, support: dict[str, int]) -> Iterator[Run]:
    """`run(name)`: what the program gives, how many objects it leaves alive, how often it used the dead."""
    names = ["good", "leaks", "released_twice", "read_after_release", *HEAP_SYMBOLS]
    text = heap_text(replace(native, heap="checked"), deep=False) + PROGRAMS
    loaded = load_objects([emit_object(text, native)], names, support)
    functions = {name: ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(loaded.address(name)) for name in names}
    drop, close, misuses = (functions[name] for name in HEAP_SYMBOLS)

    def call(name: str) -> tuple[int, int, int]:
        heap = np.zeros(HEAP_BYTES, np.uint8)
        before = misuses(None)
        result = functions[name](heap.ctypes.data)
        left = drop(heap.ctypes.data)
        close(heap.ctypes.data)
        return result, left, misuses(None) - before

    yield call
    assert loaded.address("good")  # the code stays as long as it may be called


def test_a_balanced_program_leaves_nothing(run):
    assert run("good") == (3, 0, 0)


def test_what_is_never_released_is_left(run):
    assert run("leaks") == (0, 1, 0)


def test_who_releases_twice_is_found(run):
    assert run("released_twice")[2] == 1


def test_who_reads_the_dead_is_found_and_reads_poison(run):
    field, _, misuses = run("read_after_release")
    assert misuses == 1
    assert field == 0x5B5B5B5B5B5B5B5B
