"""Object code in this process: linked together, found by name, gone when nobody holds it."""

from __future__ import annotations

import ctypes
import gc
import weakref

import pytest

from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.runtime.memory.objects import load_objects, load_support
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support import support_object
from tests.driver.processes import SOURCE, python

NATIVE = resolve(Target.parse("llvm"))
ADD = "define i32 @add(i32 %a, i32 %b) {\n  %c = add i32 %a, %b\n  ret i32 %c\n}\n"
TWICE = (
    "declare i32 @add(i32, i32)\ndefine i32 @twice(i32 %a) {\n  %c = call i32 @add(i32 %a, i32 %a)\n  ret i32 %c\n}\n"
)
ROOT = """
declare double @cbrt(double)
define double @root(double %a) {
  %c = call double @cbrt(double %a)
  ret double %c
}
"""


def test_objects_see_each_other_and_the_c_library():
    loaded = load_objects([emit_object(text, NATIVE) for text in (TWICE, ADD, ROOT)], ["twice", "root"])
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(loaded.address("twice"))(21) == 42
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(loaded.address("root"))(27) == pytest.approx(3)


def test_equal_names_in_two_loads_are_apart():
    first = load_objects([emit_object(ADD, NATIVE)], ["add"])
    second = load_objects([emit_object(ADD.replace("add i32 %a", "mul i32 %a"), NATIVE)], ["add"])
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)
    assert (kind(first.address("add"))(3, 4), kind(second.address("add"))(3, 4)) == (7, 12)


def test_imports_are_found_first():
    add = load_objects([emit_object(ADD, NATIVE)], ["add"])
    twice = load_objects([emit_object(TWICE, NATIVE)], ["twice"], add.addresses)
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(twice.address("twice"))(5) == 10


def test_code_goes_when_nobody_holds_it():
    image = emit_object(ADD, NATIVE)
    for _ in range(50):
        loaded = load_objects([image], ["add"])
    reference = weakref.ref(loaded)
    del loaded
    gc.collect()
    assert reference() is None


LOADS_OFTEN = """
import gc
from relay.base.target import Target
from relay.runtime.memory.objects import load_objects
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from tests.endurance.memory import growth_bytes
from tests.runtime.test_objects import ADD

image = emit_object(ADD, resolve(Target.parse("llvm")))
print(growth_bytes(lambda: load_objects([image], ["add"]), 400, 400))
"""


def test_loading_again_and_again_keeps_nothing():
    most_bytes_each = 2048
    assert int(python(LOADS_OFTEN, PYTHONPATH=f"{SOURCE}:{SOURCE.parent}")) < 400 * most_bytes_each


LOOKED_UP = """
@table = internal constant [4096 x i32] [{}]
define i32 @add(i32 %a, i32 %b) {{
  %at = getelementptr i32, ptr @table, i32 %a
  %c = load i32, ptr %at
  %d = add i32 %c, %b
  ret i32 %d
}}
""".format(", ".join(f"i32 {n}" for n in range(4096)))

LOADS_WHERE_THERE_IS_ROOM = """
import ctypes
import mmap
from relay.base.target import Target
from relay.runtime.memory.objects import load_objects
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from tests.runtime.test_objects import LOOKED_UP, TWICE

PAGE_BYTES, FAR_BYTES = mmap.PAGESIZE, 3 << 30
system = ctypes.CDLL(None)
system.mmap.restype = ctypes.c_void_p
system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
system.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def taken(size_bytes):
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE: addresses alone are used up
    return system.mmap(None, size_bytes, 0, flags, -1, 0)


native = resolve(Target.parse("llvm"))
images = [emit_object(text, native) for text in (LOOKED_UP, TWICE)]
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
for _ in range(2000):
    taken(PAGE_BYTES)  # the small holes that there are
for pages in range(1, 9):
    hole = taken(FAR_BYTES + pages * PAGE_BYTES) + FAR_BYTES
    system.munmap(hole, pages * PAGE_BYTES)
    loaded = load_objects(images, ["twice"])
    print(call(loaded.address("twice"))(21))
"""


def test_parts_are_together_wherever_there_is_room():
    """The next hole is for some pages, those behind it are further than a jump: LLVM's older linker put code and
    constants of one object there, and ended the process."""
    assert python(LOADS_WHERE_THERE_IS_ROOM, PYTHONPATH=f"{SOURCE}:{SOURCE.parent}").split() == ["42"] * 8


def test_there_is_one_support_library():
    assert load_support(support_object(NATIVE)) is load_support(b"any other")


@pytest.mark.parametrize(
    "objects",
    [[b""], [b"not an object"], [emit_object(ADD, NATIVE)[:200]], [emit_object(TWICE, NATIVE)], []],
    ids=["empty", "garbage", "truncated", "missing symbol", "none"],
)
def test_damaged_or_incomplete_objects_are_explained(objects):
    with pytest.raises(RelayError, match="the object code cannot be linked into this process"):
        load_objects(objects, ["twice"])


def test_an_unknown_symbol_is_explained():
    loaded = load_objects([emit_object(ADD, NATIVE)], ["add"])
    with pytest.raises(RelayError, match="does not export this symbol") as caught:
        loaded.address("sub")
    assert "expected: one of add" in str(caught.value)
