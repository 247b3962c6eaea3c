"""`export`: several models in one program, in every kind of library, and from C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import relay
from tests.driver.test_export import compile_c, run_c
from tests.messages import check_message
from tests.native.running import module

TWO_MODELS = """
#include <stdio.h>
#include "doubled.h"
#include "tripled.h"
#include "counted.h"

int main(void) {
    float x[4] = {1, 2, 3, 4}, y[4], z[4];
    void *first[DOUBLED_INPUTS + DOUBLED_OUTPUTS] = {x, y}, *second[TRIPLED_INPUTS + TRIPLED_OUTPUTS] = {x, z};
    int status = doubled_run(first, 0) | tripled_run(second, 0);
    int32_t n = 3;
    void *third[COUNTED_INPUTS] = {&n};
    counted_arena *arena = counted_arena_new();
    counted_value list;
    status |= counted_run(arena, third, 0, &list);
    int length = 0;
    for (; counted_kind(list) == COUNTED_LIST_CONS; list = counted_field(list, 1)) length++;
    counted_arena_free(arena);
    printf("%d: %g %g, %d\\n", status, y[3], z[3], length);
    return 0;
}
"""
COUNTED = """
type List[A] { Cons(A, List[A]), Nil }
def @main(%n: int32) -> List[int32] { if (equal(%n, 0)) { Nil } else { Cons(%n, @main(%n - 1)) } }
"""


def scaled(factor: float) -> relay.Executable:
    x = relay.var("x", shape=(4,))
    return relay.build(relay.Function([x], x * relay.const(factor)))


@pytest.mark.parametrize("suffix", [".so", ".o", ".a"])
def test_a_program_runs_each_of_its_models(tmp_path: Path, suffix: str):
    libraries = [tmp_path / f"{name}{suffix}" for name in ("doubled", "tripled", "counted")]
    for library, executable in zip(libraries, (scaled(2.0), scaled(3.0), relay.build(module(COUNTED))), strict=True):
        executable.export(library)
    done = run_c(compile_c(TWO_MODELS, *libraries), folder=tmp_path)
    assert done.stdout == "0: 8 12, 3\n", done.stderr


def test_two_heaps_in_one_file(tmp_path: Path):
    """Each library has types of its own: a value of one is none of the other."""
    for name in ("left", "right"):
        relay.build(module(COUNTED)).export(tmp_path / f"{name}.o")
    text = '#include "left.h"\n#include "right.h"\nleft_value f(right_value v) { return v; }\n'
    with pytest.raises(subprocess.CalledProcessError) as caught:
        compile_c(text, tmp_path / "left.o", tmp_path / "right.o")
    assert b"incompatible" in caught.value.stderr


def test_a_name_may_be_asked_for(tmp_path: Path):
    scaled(2.0).export(tmp_path / "libmodel-1.so", name="second")
    header = (tmp_path / "libmodel-1.h").read_text()
    assert "int32_t second_run(" in header
    assert "#define SECOND_INPUTS 1" in header
    assert relay.load(tmp_path / "libmodel-1.so")(np.ones(4, np.float32)).tolist() == [2] * 4


def test_other_names_and_suffixes_are_refused(tmp_path: Path):
    executable = scaled(2.0)
    for rule, path, name in (("bad-name", "model.so", "my-model"), ("unknown-output-kind", "model.dll", None)):
        with pytest.raises(relay.RelayError) as caught:
            executable.export(Path(path), name)
        check_message("driver", f"export-{rule}", caught.value)


def test_the_header_names_the_type_of_a_result_on_the_heap(tmp_path: Path):
    relay.build(module(COUNTED)).export(tmp_path / "counted.o")
    header = (tmp_path / "counted.h").read_text()
    assert "   *result is List[int32], a value.\n" in header
    assert "   type List = Cons(#0, List[#0]) | Nil\n" in header
    both = "def @main(%x: Tensor[(n,), float32], %k: int32) -> (Tensor[(n,), float32], int32) {\n"
    both += "  if (less(%k, 1)) { (%x, %k) } else { @main(%x + %x, %k - 1) } }"
    relay.build(module(both)).export(tmp_path / "loop.o")
    assert "   *result is (float32[n], int32[]), a value.\n" in (tmp_path / "loop.h").read_text()


FROM_CPP = """
#include <cstdio>
#include <utility>
#include "tripled.hpp"
#include "folded.hpp"

int main() {
    const float x[4] = {1, 2, 3, 4};
    float y[4];
    tripled::run(x, y, 4);
    folded::arena arena;
    folded::value list = arena.cell(FOLDED_LIST_NIL);
    for (int i = 0; i < 3; i++) list = arena.cell(FOLDED_LIST_CONS, {arena.tensor(FOLDED_FLOAT32_0, x + i), list});
    folded::arena moved = std::move(arena);
    const folded::value sum = folded::run(moved, list);
    try {
        tripled::run(x, y, 3);
    } catch (const tripled::error &error) {
        std::printf("%g %g %d: %s\\n", y[3], *sum.data<float>(), error.status, error.what());
    }
}
"""
FOLDED = """
type List[A] { Cons(A, List[A]), Nil }
def @main(%xs: List[float32]) -> float32 { match (%xs) { Cons(%h, %t) => %h + @main(%t), Nil => 0f } }
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_from_cpp(tmp_path: Path):
    x = relay.var("x", shape=("n",))
    tripled = relay.Function([x], x * relay.const(3.0) + relay.zeros((4,), "float32"))
    relay.build(tripled).export(tmp_path / "tripled.o")
    relay.build(module(FOLDED)).export(tmp_path / "folded.o")
    (tmp_path / "main.cpp").write_text(FROM_CPP)
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined", "-pthread"]
    subprocess.run(
        ["g++", *flags, "main.cpp", "tripled.o", "folded.o", "-lm", "-o", "main"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    done = run_c(tmp_path / "main", folder=tmp_path)
    assert done.stdout.startswith("12 6 1: "), done.stdout + done.stderr
