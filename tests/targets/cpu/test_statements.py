"""Loops, memory, masks, conditions: native code does what NumPy does."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from relay.arith.expr import Comparison, Symbol, maximum, minimum
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.lower.planning.scratch import kernel_scratch
from relay.runtime.memory.objects import load_objects
from relay.targets.cpu.codegen import emit_assembly, emit_object
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Compare,
    CompareOp,
    Holds,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    ValueVar,
    imm,
)  # fmt: skip
from relay.tir.stmt import ALTERNATE, Allocate, Evaluate, For, If, LetValue, LoopKind, PrimFunc, Sequence, Store
from relay.tir.traversal import ValueIndex

F32, I32, I64 = DType.FLOAT32, DType.INT32, DType.INT64


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_symbolic_extents_and_strides(run, native):
    """out[j, i] = a[i, j] for extents known when called."""
    n, m, i, j = (Symbol(name) for name in "nmij")
    a, out = Buffer("a", (n, m), F32), Buffer("out", (m, n), F32)
    body = For(i, n, For(j, m, Store(out, (j, i), Load(a, (i, j)))))
    for rows, columns in ((3, 5), (1, 1), (0, 4)):
        x, y = floats(rows, columns), np.zeros((columns, rows), np.float32)
        run(PrimFunc("f", (a, out), 1, (n, m), body), native, x, y, symbols=(rows, columns))
        np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("stride", [-1, 0, 1, 2, 3, -2])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "bool", "int64"])
def test_strided_vectors(run, any_target, stride, dtype):
    a, out = Buffer("a", (64,), DType(dtype)), Buffer("out", (8,), DType(dtype))
    first = 30
    x = np.random.default_rng(1).integers(0, 2, 64).astype(dtype) if dtype == "bool" else np.arange(64).astype(dtype)
    y = np.zeros(8, dtype)
    body = Store(out, (Ramp(0, 1, 8),), Load(a, (Ramp(first, stride, 8),)))
    run(PrimFunc("f", (a, out), 1, (), body), any_target, x, y)
    np.testing.assert_array_equal(y, x[[first + stride * lane for lane in range(8)]])


@pytest.mark.parametrize("stride", [-1, 0, 1, 2, -3])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_strided_stores(run, any_target, stride, dtype):
    element = DType(dtype)
    a, out = Buffer("a", (8,), element), Buffer("out", (64,), element)
    x, y = np.arange(8).astype(element.numpy), np.zeros(64, element.numpy)
    wanted = y.copy()
    for lane in range(8):
        wanted[30 + stride * lane] = x[lane]
    body = Store(out, (Ramp(30, stride, 8),), Load(a, (Ramp(0, 1, 8),)))
    run(PrimFunc("f", (a, out), 1, (), body), any_target, x, y)
    np.testing.assert_array_equal(y.astype(np.float32), wanted.astype(np.float32))


def test_symbolic_stride_in_a_vector(run, native):
    """A column of a matrix whose width is known when called."""
    n = Symbol("n")
    a, out = Buffer("a", (8, n), F32), Buffer("out", (8,), F32)
    x, y = floats(8, 5), np.zeros(8, np.float32)
    run(
        PrimFunc("f", (a, out), 1, (n,), Store(out, (Ramp(0, 1, 8),), Load(a, (Ramp(0, 1, 8), 2)))),
        native,
        x,
        y,
        symbols=(5,),
    )
    np.testing.assert_array_equal(y, x[:, 2])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16", "bool"])
@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16])
def test_masked_tail(run, any_target, dtype, length):
    """Lanes beyond the end are neither read nor written."""
    element = DType(dtype)
    a, out = Buffer("a", (length,), element), Buffer("out", (length,), element)
    i = Symbol("i")
    at = Ramp(i * 8, 1, 8)
    mask = Compare(CompareOp.LESS, RampValue(i * 8, 1, I64, 8), Broadcast(IndexValue(length, I64), 8))
    x, y = np.ones(length, dtype), np.zeros(16, dtype)
    func = PrimFunc("f", (a, out), 1, (), For(i, -(-length // 8), Store(out, (at,), Load(a, (at,), mask), mask)))
    run(func, any_target, x, y)
    np.testing.assert_array_equal(y, np.pad(x, (0, 16 - length)))


def test_masks_of_strided_accesses(run, any_target):
    a, out = Buffer("a", (32,), F32), Buffer("out", (32,), F32)
    mask = Compare(CompareOp.LESS, RampValue(0, 1, I32, 8), imm(5, "int32", 8))
    x, y = floats(32), np.zeros(32, np.float32)
    at = (Ramp(1, 3, 8),)
    run(PrimFunc("f", (a, out), 1, (), Store(out, at, Load(a, at, mask), mask)), any_target, x, y)
    wanted = np.zeros(32, np.float32)
    wanted[1:16:3] = x[1:16:3]
    np.testing.assert_array_equal(y, wanted)


def test_scalar_masks(run, native):
    a, out = Buffer("a", (4,), F32), Buffer("out", (8,), F32)
    i = Symbol("i")
    inside = Holds(Comparison(i, "<", 4))
    x, y = floats(4), np.full(8, 7, np.float32)
    run(PrimFunc("f", (a, out), 1, (), For(i, 8, Store(out, (i,), Load(a, (i,), inside), inside))), native, x, y)
    np.testing.assert_array_equal(y, [*x, 7, 7, 7, 7])


FAR = 1 << 40  # elements away from anything mapped: reading there ends the process


@pytest.mark.parametrize("lanes", [1, 8])
def test_a_load_on_the_side_not_taken_is_not_executed(run, native, lanes):
    """Scalar and vector conditions, uniform or not, nested."""
    a, out = Buffer("a", (16,), F32), Buffer("out", (16,), F32)
    i = Symbol("i")
    at = Ramp(i * lanes, 1, lanes) if lanes > 1 else i
    number = RampValue(i * lanes, 1, I32, lanes) if lanes > 1 else IndexValue(i, I32)
    small = Compare(CompareOp.LESS, number, imm(10, "int32", lanes))
    odd = Compare(CompareOp.EQUAL, Binary(BinaryOp.AND, number, imm(1, "int32", lanes)), imm(1, "int32", lanes))
    far = Ramp(FAR - 100 + i * lanes, 1, lanes) if lanes > 1 else FAR - 100 + i
    near = Load(a, (at,))
    value = Select(small, Select(odd, near, imm(-1, F32, lanes)), imm(5, F32, lanes))
    never = Select(Compare(CompareOp.LESS, number, imm(0, "int32", lanes)), Load(a, (far,)), value)
    uniform = Select(Holds(Comparison(i, "<", 100), lanes), never, Load(a, (far,)))
    x, y = floats(16), np.zeros(16, np.float32)
    run(PrimFunc("f", (a, out), 1, (), For(i, 16 // lanes, Store(out, (at,), uniform))), native, x, y)
    position = np.arange(16)
    np.testing.assert_array_equal(y, np.where(position < 10, np.where(position % 2, x, -1), 5).astype(np.float32))


def test_a_scalar_load_under_a_vector_condition(run, native):
    a, out = Buffer("a", (1,), F32), Buffer("out", (8,), F32)
    number = RampValue(0, 1, I32, 8)
    never = Compare(CompareOp.LESS, number, imm(0, "int32", 8))
    value = Select(never, Broadcast(Load(a, (FAR - 1,)), 8), imm(2, F32, 8))
    y = np.zeros(8, np.float32)
    run(PrimFunc("f", (a, out), 1, (), Store(out, (Ramp(0, 1, 8),), value)), native, floats(1), y)
    np.testing.assert_array_equal(y, 2)


def test_index_arithmetic(run, native):
    """Floor division and modulo of either sign, minimum and maximum, products of symbols."""
    i, n = Symbol("i"), Symbol("n")
    forms = [(i - 7) // 3, (i - 7) % 3, (i - 7) // 4, (i - 7) % 4, (i - 7) // -5, (i - 7) % -5, (i * n) // (n + 1)]
    forms += [minimum(i, n - i), maximum(3 - i, i * n), (i * n - 9) % n, i * n * 2 - i + 1]
    outs = tuple(Buffer(f"o{k}", (16,), I64) for k in range(len(forms)))
    body = Sequence(tuple(Store(o, (i,), IndexValue(f, I64)) for o, f in zip(outs, forms, strict=True)))
    found = [np.zeros(16, np.int64) for _ in forms]
    run(PrimFunc("f", outs, len(outs), (n,), For(i, 16, body)), native, *found, symbols=(6,))
    p = np.arange(16)
    wanted = [(p - 7) // 3, (p - 7) % 3, (p - 7) // 4, (p - 7) % 4, (p - 7) // -5, (p - 7) % -5, (p * 6) // 7]
    wanted += [np.minimum(p, 6 - p), np.maximum(3 - p, p * 6), (p * 6 - 9) % 6, p * 12 - p + 1]
    for form, got, want in zip(forms, found, wanted, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=str(form))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float16", "bool", "int4"])
def test_indices_as_numbers_wrap(run, native, dtype):
    element = DType(dtype)
    vector, scalar = Buffer("v", (32,), element), Buffer("s", (32,), element)
    i = Symbol("i")
    body = Sequence((
        Store(vector, (Ramp(i * 8, 1, 8),), RampValue(i * 8 + 250, 3, element, 8)),
        Store(scalar, (i,), IndexValue(i + 250, element)),
    ))  # fmt: skip
    v, s = np.zeros(32, element.numpy), np.zeros(32, element.numpy)
    run(PrimFunc("f", (vector, scalar), 2, (), For(i, 4, body)), native, v, s)
    lanes = np.concatenate([np.arange(8) * 3 + 250 + 8 * block for block in range(4)])
    wrap = (lambda x: ((x & 15) ^ 8) - 8) if dtype == "int4" else (lambda x: x)
    np.testing.assert_array_equal(v.astype(np.int64), wrap(lanes).astype(element.numpy).astype(np.int64))
    np.testing.assert_array_equal(
        s[:4].astype(np.int64), wrap(np.arange(250, 254)).astype(element.numpy).astype(np.int64)
    )


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_gathered_rows(run, native, dtype):
    """out[i, :] = a[rows[i], :]"""
    rows, a, out = Buffer("rows", (5,), DType(dtype)), Buffer("a", (200, 8), F32), Buffer("out", (5, 8), F32)
    i = Symbol("i")
    row = ValueIndex(Load(rows, (i,)))
    body = For(i, 5, Store(out, (i, Ramp(0, 1, 8)), Load(a, (row, Ramp(0, 1, 8)))))
    r, x, y = np.array([3, 150, 0, 7, 199]).astype(dtype), floats(200, 8), np.zeros((5, 8), np.float32)
    run(PrimFunc("f", (rows, a, out), 1, (), body), native, r, x, y)
    np.testing.assert_array_equal(y, x[r])


def test_let_if_and_local_buffers(run, native):
    """A running sum in a local buffer; only positive numbers are added."""
    a, out, total = Buffer("a", (50,), F32), Buffer("out", (50,), F32), Buffer("t", (2,), F32, Scope.LOCAL)
    i = Symbol("i")
    v = ValueVar("v", F32)
    positive = Compare(CompareOp.GREATER, v, imm(0, F32))
    add = Store(total, (0,), Load(total, (0,)) + v)
    note = Store(total, (1,), Load(total, (1,)) + 1.0)
    loop = For(
        i, 50, LetValue(v, Load(a, (i,)), Sequence((If(positive, add, note), Store(out, (i,), Load(total, (0,))))))
    )
    zeros = (Store(total, (0,), imm(0, F32)), Store(total, (1,), imm(0, F32)))
    last = Store(out, (49,), Load(total, (1,)))
    x, y = floats(50), np.zeros(50, np.float32)
    run(PrimFunc("f", (a, out), 1, (), Allocate(total, Sequence((*zeros, loop, last)))), native, x, y)
    wanted = np.cumsum(np.where(x > 0, x, 0), dtype=np.float32)
    np.testing.assert_allclose(y[:49], wanted[:49], rtol=1e-6)
    assert y[49] == (x <= 0).sum()


def test_loads_are_made_again_after_stores(run, native):
    """a[0] is read, written and read again, also around a loop."""
    a, out = Buffer("a", (1,), F32), Buffer("out", (3,), F32)
    i = Symbol("i")
    read = Load(a, (0,))
    body = Sequence((
        Store(out, (0,), read), Store(a, (0,), read + 1.0), Store(out, (1,), read),
        For(i, 10, Store(a, (0,), read * 2.0)), Store(out, (2,), read),
    ))  # fmt: skip
    x, y = np.ones(1, np.float32), np.zeros(3, np.float32)
    run(PrimFunc("f", (a, out), 2, (), body), native, x, y)
    np.testing.assert_array_equal(y, [1, 2, 2048])


def test_temporaries_in_scratch(run, native):
    n, i = Symbol("n"), Symbol("i")
    a, out, t = Buffer("a", (n,), F32), Buffer("out", (n,), F32), Buffer("t", (n, 2), F32)
    first = For(i, n, Sequence((Store(t, (i, 0), Load(a, (i,))), Store(t, (i, 1), Load(a, (i,)) * 3.0))))
    second = For(i, n, Store(out, (i,), Load(t, (i, 0)) + Load(t, (i, 1))))
    x, y = floats(1000), np.zeros(1000, np.float32)
    func = PrimFunc("f", (a, out), 1, (n,), Allocate(t, Sequence((first, second))), (("contract", 0),))
    run(func, native, x, y, symbols=(1000,))
    np.testing.assert_array_equal(y, x + x * np.float32(3))


def test_buffers_lie_behind_those_around_them_and_over_those_beside_them():
    n, i = Symbol("n"), Symbol("i")
    around, beside, inside = Buffer("a", (n, 16), F32), Buffer("b", (100,), F32), Buffer("c", (7,), F32)
    alone = Buffer("d", (9,), F32, Scope.LOCAL)
    loop = For(i, n, Allocate(inside, Allocate(alone, Store(inside, (0,), imm(1, F32)))), LoopKind.PARALLEL)
    body = Allocate(around, Sequence((Allocate(beside, Store(beside, (0,), imm(1, F32))), loop)))
    out = Buffer("out", (n,), F32)
    assert str(kernel_scratch(PrimFunc("f", (out,), 1, (n,), body)).of_call((n,))) == "(64*n + 448,)"
    with pytest.raises(CompilerBug, match=r"works in 64\*i \+ 64 bytes, which those who call it cannot tell"):
        kernel_scratch(PrimFunc("f", (out,), 1, (n,), For(i, n, Allocate(Buffer("e", (i, 16), F32), loop))))


def test_blocks_of_one_scratch_are_not_addressed_from_each_other(native):
    """LLVM would keep one register for all of them, and spill others: a tenth of the time of a Winograd kernel."""
    a, out, first, second = (Buffer(name, (1000,), F32) for name in ("a", "out", "first", "second"))
    i, j, k = Symbol("i"), Symbol("j"), Symbol("k")
    copies = [
        For(each, 1000, Store(to, (each,), Load(of, (each,))))
        for each, to, of in ((i, first, a), (j, second, first), (k, out, second))
    ]
    func = PrimFunc("f", (a, out), 1, (), Allocate(first, Allocate(second, Sequence(tuple(copies)))))
    assert emit_kernel(func, native).text.count('asm "", "=r,0"(ptr ') == 2


def test_each_thread_works_in_scratch_of_its_own(run, native):
    n, i, j = Symbol("n"), Symbol("i"), Symbol("j")
    out, row = Buffer("out", (n,), F32), Buffer("row", (n,), F32)
    fill = For(j, n, Store(row, (j,), IndexValue(i + j, F32)))
    total = For(j, n, Store(out, (i,), Load(out, (i,)) + Load(row, (j,))))
    func = PrimFunc("f", (out,), 1, (n,), For(i, n, Allocate(row, Sequence((fill, total))), LoopKind.PARALLEL))
    for size in (64, 500):  # what a thread has grows
        y = np.zeros(size, np.float32)
        run(func, native, y, symbols=(size,))
        np.testing.assert_array_equal(y, np.add.outer(np.arange(size), np.arange(size)).sum(axis=1))


def test_parallel_loops_see_everything_around_them(run, native):
    """A captured symbol, outer loop variable, let-bound name, local buffer and allocated buffer."""
    n, i, j = Symbol("n"), Symbol("i"), Symbol("j")
    a, out = Buffer("a", (n, 40), F32), Buffer("out", (n, 40), F32)
    scale, t = Buffer("s", (1,), F32, Scope.LOCAL), Buffer("t", (40,), F32)
    v = ValueVar("v", F32)
    inner = For(j, 40, Store(out, (i, j), Load(a, (i, j)) * Load(scale, (0,)) + v + Load(t, (j,))), LoopKind.PARALLEL)
    fill = For(j, 40, Store(t, (j,), IndexValue(j * n, F32)), LoopKind.PARALLEL)
    rows = For(i, n, LetValue(v, IndexValue(i, F32), inner))
    body = Allocate(scale, Allocate(t, Sequence((Store(scale, (0,), imm(2, F32)), fill, rows))))
    x, y = floats(6, 40), np.zeros((6, 40), np.float32)
    run(PrimFunc("f", (a, out), 1, (n,), body), native, x, y, symbols=(6,))
    np.testing.assert_allclose(y, x * 2 + np.arange(6)[:, None] + 6 * np.arange(40), rtol=1e-6)


def test_a_parallel_loop_inside_another_is_serial(native):
    i, j = Symbol("i"), Symbol("j")
    out = Buffer("out", (8, 8), F32)
    inner = For(j, 8, Store(out, (i, j), imm(1, F32)), LoopKind.PARALLEL)
    text = emit_kernel(PrimFunc("f", (out,), 1, (), For(i, 8, inner, LoopKind.PARALLEL)), native).text
    assert text.count("call void @relay_parallel_for") == 1


def test_parallel_loops_say_how_many_threads_the_target_has(native):
    i, out = Symbol("i"), Buffer("out", (8,), F32)
    func = PrimFunc("f", (out,), 1, (), For(i, 8, Store(out, (i,), imm(1, F32)), LoopKind.PARALLEL))
    for threads in (0, 2, 3):
        assert f"ptr null, i64 0, i32 {threads})" in emit_kernel(func, native.with_threads(threads)).text


def test_a_call_with_little_work_is_not_shared_out(native):
    """Where an extent is a symbol the call decides; where values found inside say how much, it is shared out."""
    n, i, j = Symbol("n"), Symbol("i"), Symbol("j")
    out, ends = Buffer("out", (n, 64), F32), Buffer("ends", (1,), I32, Scope.LOCAL)

    def text(extent, wrap=lambda body: body):
        inside = wrap(For(j, extent, Store(out, (i, j), imm(1, F32))))
        return emit_kernel(PrimFunc("f", (out,), 1, (n,), For(i, n, inside, LoopKind.PARALLEL)), native).text

    call = "call void @relay_parallel_for"
    (decided,) = (line for line in text(64).splitlines() if call in line)
    assert ", i64 1, i64 0, ptr null, i64 0, i32" not in decided  # the grain is chosen between 1 and all
    found = text(
        ValueIndex(Load(ends, (0,))), lambda body: Allocate(ends, Sequence((Store(ends, (0,), imm(9, I32)), body)))
    )
    (shared,) = (line for line in found.splitlines() if call in line)
    assert ", i64 1, i64 0, ptr null, i64 0, i32" in shared


def test_one_thread_means_no_pool(native):
    i = Symbol("i")
    out = Buffer("out", (8,), F32)
    func = PrimFunc("f", (out,), 1, (), For(i, 8, Store(out, (i,), imm(1, F32)), LoopKind.PARALLEL))
    assert "relay_parallel_for" not in emit_kernel(func, native.with_threads(1)).text


def test_a_kernel_written_in_vectors_needs_little_of_llvm(native):
    i, out = Symbol("i"), Buffer("out", (64,), F32)
    scalar = Store(out, (i,), imm(1, F32))
    vector = Store(out, (Ramp(8 * i, 1, 8),), Broadcast(imm(1, F32), 8))

    def level(count, body, kind):
        return emit_kernel(PrimFunc("f", (out,), 1, (), For(i, count, body, kind)), native).optimization_level

    kinds = (LoopKind.SERIAL, LoopKind.PARALLEL)
    assert [level(64, scalar, kind) for kind in kinds] == [2, 2]
    assert [level(8, vector, kind) for kind in kinds] == [1, 1]


def test_prefetch_fma_reinterpret_and_c_functions(run, native):
    a, out, bits = Buffer("a", (8,), F32), Buffer("out", (8,), F32), Buffer("bits", (8,), I32)
    at = (Ramp(0, 1, 8),)
    x8 = Load(a, at)
    body = Sequence((
        Evaluate(Call("prefetch", (Load(a, (4096,)), imm(0, I32), imm(2, I32)), I32)),
        Store(out, at, Call("fma", (x8, x8, imm(1, F32, 8)), F32, 8)),
        Store(bits, at, Call("reinterpret", (x8,), I32, 8)),
        Store(out, (0,), Call("cbrtf", (imm(27, F32),), F32)),
    ))  # fmt: skip
    x, y, z = floats(8), np.zeros(8, np.float32), np.zeros(8, np.int32)
    run(PrimFunc("f", (a, out, bits), 2, (), body), native, x, y, z)
    np.testing.assert_array_equal(z, x.view(np.int32))
    np.testing.assert_allclose(y[1:], (x.astype(np.float64) ** 2 + 1)[1:].astype(np.float32), rtol=1e-7)
    assert y[0] == 3


def test_contraction_is_the_callers_choice(native):
    a = Buffer("a", (3,), F32)
    body = Store(a, (0,), Load(a, (0,)) + Load(a, (1,)) * Load(a, (2,)))
    fused = emit_kernel(PrimFunc("f", (a,), 1, (), body), native).text
    exact = emit_kernel(PrimFunc("f", (a,), 1, (), body, (("contract", 0),)), native).text
    assert "llvm.fma" in fused
    assert "llvm.fma" not in exact


def test_in_place_operands_may_be_the_same_memory(run, native):
    a, b = Buffer("a", (64,), F32), Buffer("b", (64,), F32)
    i = Symbol("i")
    at = (Ramp(i * 16, 1, 16),)
    body = For(i, 4, Store(b, at, Unary(UnaryOp.NEGATIVE, Load(a, at))))
    func = PrimFunc("f", (a, b), 1, (), body, (("may_alias", "a,b"),))
    assert "noalias" not in emit_kernel(func, native).text
    x = floats(64)
    wanted = -x
    run(func, native, x, x)
    np.testing.assert_array_equal(x, wanted)


def test_unaligned_memory(run, native):
    a, b = Buffer("a", (16,), F32), Buffer("b", (16,), F32)
    at = (Ramp(0, 1, 16),)
    raw, out = np.zeros(200, np.uint8), np.zeros(200, np.uint8)
    x, y = raw[4:68].view(np.float32), out[12:76].view(np.float32)
    x[:] = floats(16)
    run(PrimFunc("f", (a, b), 1, (), Store(b, at, Load(a, at))), native, x, y)
    np.testing.assert_array_equal(x, y)


def test_loops_that_were_not_lowered_are_a_bug_of_ours(native):
    i = Symbol("i")
    out = Buffer("out", (8,), F32)
    func = PrimFunc("f", (out,), 1, (), For(i, 8, Store(out, (i,), imm(1, F32)), LoopKind.VECTORIZED))
    with pytest.raises(CompilerBug, match=r"kind vectorized .* must be lowered first"):
        emit_kernel(func, native)


def test_other_machines(native):
    """Code for AArch64 is emitted here too, though it cannot run."""
    from relay.base.target import Target
    from relay.targets.cpu.host import resolve

    i = Symbol("i")
    out = Buffer("out", (16,), F32)
    at = (Ramp(i * 4, 1, 4),)
    func = PrimFunc("f", (out,), 1, (), For(i, 4, Store(out, at, Unary(UnaryOp.EXP, Load(out, at)))))
    arm = resolve(Target.parse("llvm -mtriple=aarch64-unknown-linux-gnu"))
    module = emit_kernel(func, arm)
    assert "fmla" in emit_assembly(module.text, arm, module.optimization_level)


def test_the_text_is_the_same_every_time(native):
    i = Symbol("i")
    out = Buffer("out", (16,), F32)
    func = PrimFunc("f", (out,), 1, (), For(i, 16, Store(out, (i,), Unary(UnaryOp.SIN, Load(out, (i,))))))
    assert emit_kernel(func, native) == emit_kernel(func, native)


@pytest.mark.parametrize("kind", [LoopKind.SERIAL, LoopKind.PARALLEL])
@pytest.mark.parametrize("threads", [1, 2])
def test_alternating_loops_go_back_and_forth(native, support, kind, threads):
    """What is written last says which way each part of the loop went; all of it is run, however it is shared out."""
    i, n = Symbol("i"), Symbol("n")
    out, last = Buffer("out", (n,), F32), Buffer("last", (1,), F32)
    body = Sequence((Store(out, (i,), Load(out, (i,)) + imm(1, F32)), Store(last, (0,), IndexValue(i, F32))))
    target = native.with_threads(threads)
    func = PrimFunc("f", (out, last), 2, (n,), For(i, n, body, kind, ((ALTERNATE, 1),)))
    module = emit_kernel(func, target)
    loaded = load_objects([emit_object(module.text, target, module.optimization_level)], ["f"], support)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(loaded.address("f"))
    counts, end = np.zeros(37, np.float32), np.zeros(1, np.float32)
    ends = []
    for _ in range(4):
        call(counts.ctypes.data, end.ctypes.data, 37)
        ends.append(end[0])
    np.testing.assert_array_equal(counts, 4)
    if kind is LoopKind.SERIAL or threads == 1:
        assert ends == [36, 0, 36, 0]
    call(counts.ctypes.data, end.ctypes.data, 0)
    np.testing.assert_array_equal(counts, 4)


def test_an_instruction_is_made_where_all_who_use_it_see_it():
    """What was made inside a region is asked for around it later on."""
    text = FunctionText(ModuleText("kernel"))
    text.open_region()
    inside, around = (text.op_at(depth, "add i64 %a, 1") for depth in (1, 0))
    assert inside != around
    assert text.op("add i64 %a, 1") == around
    text.close_region()
    assert text.op_at(0, "add i64 %a, 1") == around
