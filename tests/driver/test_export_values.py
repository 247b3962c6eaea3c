"""`export` of programs with recursion, closures and data types: one library, called from C, clean under valgrind."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import relay
from tests.driver.test_export import compile_c, run_c
from tests.native.running import module

# Folds a list with a closure, maps it, and keeps a running count in a reference.
PROGRAM = """
type List[A] { Cons(A, List[A]), Nil }
def @map[A](%f: fn(A) -> A, %xs: List[A]) -> List[A] {
  match (%xs) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil }
}
def @fold[A](%f: fn(A, A) -> A, %z: A, %xs: List[A]) -> A {
  match (%xs) { Cons(%h, %t) => @fold(%f, %f(%z, %h), %t), Nil => %z }
}
def @main(%xs: List[Tensor[(3,), float32]], %scale: float32) {
  let %count = ref(0);
  let %f = fn(%x: Tensor[(3,), float32]) {
    let %u = (%count := %count^ + 1);
    multiply(%x, %scale)
  };
  let %ys = @map(%f, %xs);
  let %add = fn(%a: Tensor[(3,), float32], %b: Tensor[(3,), float32]) { %a + %b };
  let %sum = @fold(%add, zeros(shape=[3], dtype="float32"), %ys);
  (%ys, %sum, %count^)
}
"""

MAIN = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "folds.h"

static long run(int length) {
    folds_arena *arena = folds_arena_new();
    float *numbers = malloc(sizeof(float) * 3 * (length + 1)), scale = 2;
    int64_t extents[1] = {3};
    folds_value list = folds_cell(arena, FOLDS_LIST_NIL, 0, 0), result;
    long wrong = 0;
    for (int i = 0; i < length; i++) {
        for (int k = 0; k < 3; k++) numbers[3 * i + k] = (float)(i % 10 + k);
        folds_value fields[2] = {folds_tensor(arena, FOLDS_FLOAT32_1, numbers + 3 * i, 1, extents), list};
        list = folds_cell(arena, FOLDS_LIST_CONS, 2, fields);
    }
    void *buffers[FOLDS_INPUTS] = {list, &scale};
    for (int again = 0; again < 2; again++) {
        if (folds_run(arena, buffers, 0, &result) || folds_kind(result) != FOLDS_TUPLE) return -1;
        folds_value ys = folds_field(result, 0);
        float sums[3] = {0};
        for (int i = length - 1; i >= 0; i--) {
            if (folds_kind(ys) != FOLDS_LIST_CONS) return -2;
            const float *y = folds_data(folds_field(ys, 0));
            wrong += folds_extents(folds_field(ys, 0))[0] != 3;
            for (int k = 0; k < 3; k++) wrong += y[k] != 2 * numbers[3 * i + k], sums[k] += y[k];
            ys = folds_field(ys, 1);
        }
        wrong += folds_kind(ys) != FOLDS_LIST_NIL;
        for (int k = 0; k < 3; k++) wrong += ((const float *)folds_data(folds_field(result, 1)))[k] != sums[k];
        wrong += *(const int32_t *)folds_data(folds_field(result, 2)) != length;
    }
    folds_arena_free(arena);
    free(numbers);
    return wrong;
}

static void *many(void *argument) {
    (void)argument;
    long worst = 0;
    for (int n = 0; n < 40; n++) worst |= run(n * 7 % 40);
    return (void *)worst;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, many, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
    printf("%ld %ld %ld\\n", (long)results[0], (long)results[1], run(DEPTH));
    return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Code for AVX2, since valgrind knows no AVX-512."""
    path = tmp_path_factory.mktemp("export") / "folds.so"
    relay.build(module(PROGRAM), target="llvm -mcpu=haswell").export(path)
    return path


def test_a_c_program_makes_and_reads_values_from_two_threads(library):
    """Among them a list of 200,000 cells, mapped by a recursion that needs a stack of its own."""
    done = run_c(compile_c(MAIN.replace("DEPTH", "200000"), library), folder=library.parent)
    assert done.stdout == "0 0 0\n", done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_valgrind_finds_nothing(library):
    program = compile_c(MAIN.replace("DEPTH", "5000"), library)
    done = run_c("valgrind", "--error-exitcode=99", "--leak-check=full", "--quiet", program, folder=library.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 0 0\n"


def test_the_header_names_the_kinds_of_values(library):
    header = library.with_suffix(".h").read_text()
    for line in (
        "     0  input  xs: List[float32[3]], a folds_value\n",
        "     1  input  scale: float32[], 4 bytes\n",
        "   type List = Cons(#0, List[#0]) | Nil\n",
        "#define FOLDS_LIST_CONS",
        "#define FOLDS_FLOAT32_1",
        "     -2  when calls nest deeper than 1 GiB of stack holds\n",
    ):
        assert line in header


def test_the_library_loads_in_python_too(library):
    loaded = relay.load(library)
    xs = [np.full(3, value, np.float32) for value in (1, 2, 3)]
    ys, total, count = loaded(xs, np.float32(2))
    assert [float(y[0]) for y in ys] == [2, 4, 6]
    assert total.tolist() == [12, 12, 12]
    assert count == 3


LOOP_IN_C = """
#include <stdio.h>
#include "loop.h"

int main(void) {
    float x[2] = {1, 2};
    int32_t turns = 3;
    int64_t extents[LOOP_SYMBOLS] = {2};
    void *buffers[LOOP_INPUTS + LOOP_OUTPUTS] = {x, &turns};
    loop_value result;
    loop_arena *arena = loop_arena_new();
    int status = loop_run(arena, buffers, extents, &result);
    const float *y = loop_data(loop_field(result, 0));
    printf("%d %g %g %d\\n", status, y[0], y[1], (int)loop_extents(loop_field(result, 0))[0]);
    loop_arena_free(arena);
    return LOOP_OUTPUTS;
}
"""


def test_a_result_that_python_has_in_arrays_is_the_arenas_in_c(tmp_path):
    source = """
    def @main(%x: Tensor[(n,), float32], %turns: int32) -> (Tensor[(n,), float32], int32) {
      if (less(%turns, 1)) { (%x, %turns) } else { @main(add(%x, %x), subtract(%turns, 1)) }
    }"""
    relay.build(module(source)).export(tmp_path / "loop.so")
    done = run_c(compile_c(LOOP_IN_C, tmp_path / "loop.so"), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "0 8 16 2\n")
    doubled, turns = relay.load(tmp_path / "loop.so")(np.ones(5, np.float32), np.int32(3))
    assert doubled.tolist() == [8] * 5
    assert turns == 0


AGAIN = """
type List[A] { Cons(A, List[A]), Nil }
def @map(%xs: List[Tensor[(3,), float32]]) -> List[Tensor[(3,), float32]] {
  match (%xs) { Cons(%h, %t) => Cons(%h + 1f, @map(%t)), Nil => Nil }
}
def @grow(%n: int32, %xs: List[Tensor[(3,), float32]]) -> List[Tensor[(3,), float32]] {
  if (equal(%n, 0)) { %xs } else { @grow(%n - 1, Cons(zeros(shape=[3], dtype="float32"), %xs)) }
}
def @main(%n: int32, %xs: List[Tensor[(3,), float32]]) -> List[Tensor[(3,), float32]] { @grow(%n, @map(%xs)) }
"""
AGAIN_IN_C = """
#include <stdio.h>
#include "again.h"

static void print(again_value xs) {
    long length = 0;
    double sum = 0;
    for (; again_kind(xs) == AGAIN_LIST_CONS; xs = again_field(xs, 1), length++)
        sum += ((const float *)again_data(again_field(xs, 0)))[2];
    printf(" %ld:%g", length, sum);
}

int main(void) {
    int32_t n = COUNT;
    again_arena *arena = again_arena_new();
    again_value held[4] = {again_cell(arena, AGAIN_LIST_NIL, 0, 0)}, rest;
    int status = 0;
    for (int i = 0; i < 3; i++) {
        void *buffers[AGAIN_INPUTS] = {&n, held[i]};
        status |= again_run(arena, buffers, 0, &held[i + 1]);
    }
    for (int i = 1; i < 4; i++) print(held[i]);
    void *buffers[AGAIN_INPUTS] = {&n, again_field(held[3], 1)};
    status |= again_run(arena, buffers, 0, &rest);
    status |= again_run(arena, buffers, 0, &rest);
    for (int i = 1; i < 4; i++) print(held[i]);
    print(rest);
    again_arena_free(arena);
    return status;
}
"""


@pytest.mark.parametrize("count", [2, 40_000])
def test_a_value_that_a_call_gave_may_be_handed_to_others(tmp_path, count):
    """Who holds it in C still has a use for it: no call writes over it, begun again or not."""
    relay.build(module(AGAIN)).export(tmp_path / "again.so")
    done = run_c(compile_c(AGAIN_IN_C.replace("COUNT", str(count)), tmp_path / "again.so"), folder=tmp_path)
    lists = " ".join(f"{length * count}:{total * count:g}" for length, total in ((1, 0), (2, 1), (3, 3)))
    last = f"{4 * count - 1}:{6 * count - 1:g}"
    assert (done.returncode, done.stdout) == (0, f" {lists} {lists} {last}")


DESCENT = """
def @loop(%r: ref(Tensor[(4,), float32]), %g: Tensor[(4,), float32], %n: int32) -> () {
  if (equal(%n, 0)) { () } else {
    %r := subtract(%r^, %g);
    @loop(%r, %g, subtract(%n, 1))
  }
}
def @main(%w: Tensor[(4,), float32], %g: Tensor[(4,), float32], %n: int32) -> (Tensor[(4,), float32], int32) {
  let %r = ref(%w);
  @loop(%r, %g, %n);
  (%r^, %n)
}"""
DESCENT_IN_C = """
#include <stdio.h>
#include "descent.h"

int main(void) {
    float w[4] = {1, 2, 3, 4}, g[4] = {1, 1, 1, 1};
    int32_t n = 3;
    void *buffers[DESCENT_INPUTS] = {w, g, &n};
    descent_arena *arena = descent_arena_new();
    descent_value result;
    int status = descent_run(arena, buffers, 0, &result);
    printf("%d %g %g\\n", descent_data(descent_field(result, 0)) == w, w[0], w[3]);
    descent_arena_free(arena);
    return status;
}
"""


@pytest.mark.parametrize(("donate", "printed"), [(("w",), "1 -2 1\n"), ((), "0 1 4\n")])
def test_a_result_is_the_memory_that_a_c_program_gives_away(tmp_path, donate, printed):
    relay.build(module(DESCENT), donate=donate).export(tmp_path / "descent.so")
    header = (tmp_path / "descent.h").read_text()
    told = "buffers[0] is written, and holds anything after a failure; results may lie there"
    assert (told in header) == bool(donate)
    done = run_c(compile_c(DESCENT_IN_C, tmp_path / "descent.so"), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, printed)
