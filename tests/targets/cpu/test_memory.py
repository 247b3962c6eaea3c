"""Memory of the support library: aligned, kept for who asks next, never given to two at once."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

import numpy as np
import pytest

from relay.base.target import Target
from relay.runtime.memory.objects import LoadedObjects, load_objects
from relay.targets.cpu.support import support_object

Alloc = Callable[[int], int | None]
Free = Callable[[int | None], None]
LARGEST_KEPT_BYTES = 32 << 20


@pytest.fixture
def fresh(native: Target) -> LoadedObjects:
    """A library that keeps no blocks yet."""
    return load_objects([support_object(native)], ["relay_alloc", "relay_free"], {})


@pytest.fixture
def alloc(fresh: LoadedObjects) -> Alloc:
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(fresh.address("relay_alloc"))


@pytest.fixture
def free(fresh: LoadedObjects) -> Free:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(fresh.address("relay_free"))


def block(alloc: Alloc, size: int) -> int:
    memory = alloc(size)
    assert memory is not None
    assert memory % 64 == 0
    ctypes.memset(memory, 0xAB, size)
    return memory


@pytest.mark.parametrize("size", [0, 1, 63, 64, 4095, 4096, 100_000, LARGEST_KEPT_BYTES, LARGEST_KEPT_BYTES + 1])
def test_blocks_are_apart(alloc: Alloc, free: Free, size: int) -> None:
    first, second = block(alloc, size), block(alloc, size)
    assert abs(first - second) >= size + 64
    free(first)
    free(second)


@pytest.mark.parametrize("size", [4096, 70_000, 5_000_000, LARGEST_KEPT_BYTES])
def test_a_block_that_was_given_back_serves_again(alloc: Alloc, free: Free, size: int) -> None:
    memory = block(alloc, size)
    free(memory)
    for asked in (size, max(4096, size - size // 3)):
        again = block(alloc, asked)
        assert again == memory
        free(again)


def test_a_block_serves_nothing_larger_and_nothing_much_smaller(alloc: Alloc, free: Free) -> None:
    memory = block(alloc, 3_000_000)
    free(memory)
    others = [block(alloc, size) for size in (3_000_001, 1_400_000)]
    assert memory not in others
    kept = block(alloc, 3_000_000)
    assert kept == memory
    for each in (*others, kept):
        free(each)


def test_as_many_blocks_are_kept_as_a_call_of_a_program_has(alloc: Alloc, free: Free) -> None:
    """A call of a program with data has dozens of chunks, and a few large blocks. None makes room for another: the next
    call asks the system for nothing."""
    sizes = [1 << 20, *[4096, 20_000, 131_136, 600_000] * 12, 32 << 20, *[5 << 20] * 6]
    blocks = [block(alloc, size) for size in sizes]
    for _ in range(3):
        for each in blocks:
            free(each)
        again = [block(alloc, size) for size in sizes]
        assert sorted(again) == sorted(blocks)
    for each in blocks:
        free(each)


def test_no_memory(alloc: Alloc, free: Free) -> None:
    assert alloc(-1) is None
    assert alloc(2**63 - 1) is None
    assert alloc(2**62) is None
    free(None)


def test_threads_never_share_a_block(alloc: Alloc, free: Free) -> None:
    """Ten kinds of sizes for eight places: blocks are kept, taken, too small, and thrown out."""
    wrong: list[int] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        held: list[tuple[int, int]] = []
        for _ in range(3000):
            if len(held) > 3 or (held and random.random() < 0.5):
                memory, size = held.pop(int(random.integers(len(held))))
                if ctypes.string_at(memory, 8) + ctypes.string_at(memory + size - 8, 8) != bytes([seed] * 16):
                    wrong.append(seed)
                free(memory)
            else:
                size = int(4096 * 1.4 ** random.integers(10)) + int(random.integers(64))
                memory = block(alloc, size)
                ctypes.memset(memory, seed, 8)
                ctypes.memset(memory + size - 8, seed, 8)
                held.append((memory, size))
        for memory, _ in held:
            free(memory)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
