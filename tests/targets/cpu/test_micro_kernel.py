"""The register tile of a matrix product compiles to what one writes by hand: nothing spilled, nothing loaded twice."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.base.target import Target
from relay.targets.cpu.codegen import emit_assembly
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.host import resolve, supports
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Broadcast, Load, Ramp, imm
from relay.tir.stmt import Allocate, For, PrimFunc, Sequence, Store

F32 = DType.FLOAT32
DEPTH, UNROLL = 96, 4
AVX512 = resolve(Target.parse("llvm -mattr=+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw"))
AVX2 = resolve(Target.parse("llvm -mattr=+avx,+avx2,+fma"))
TILES = [(AVX512, 6, 4, 16), (AVX512, 14, 2, 16), (AVX512, 8, 3, 16), (AVX2, 6, 2, 8)]


def tile(rows: int, vectors: int, lanes: int) -> PrimFunc:
    """c[rows, columns] = a[rows, k] · b[k, columns], accumulated in registers, k unrolled by four."""
    columns = vectors * lanes
    a, b, c = Buffer("a", (rows, DEPTH), F32), Buffer("b", (DEPTH, columns), F32), Buffer("c", (rows, columns), F32)
    acc = Buffer("acc", (rows, columns), F32, Scope.REGISTER)
    k = Symbol("k")
    cells = [(row, Ramp(v * lanes, 1, lanes)) for row in range(rows) for v in range(vectors)]
    steps = [
        Store(acc, cell, Load(acc, cell) + Broadcast(Load(a, (cell[0], at)), lanes) * Load(b, (at, cell[1])))
        for at in (k * UNROLL + u for u in range(UNROLL))
        for cell in cells
    ]
    zero = [Store(acc, cell, imm(0, F32, lanes)) for cell in cells]
    result = [Store(c, cell, Load(acc, cell)) for cell in cells]
    body = Sequence((*zero, For(k, DEPTH // UNROLL, Sequence(tuple(steps))), *result))
    return PrimFunc("tile", (a, b, c), 1, (), Allocate(acc, body))


def inner_loop(assembly: str) -> list[str]:
    """The instructions between the label and the branch back to it."""
    lines = [line.split("#")[0].strip() for line in assembly.splitlines()]
    end = next(n for n, line in enumerate(lines) if re.match(r"j\w+\s+\.LBB", line))
    label = lines[end].split()[-1] + ":"
    return [line for line in lines[lines.index(label) + 1 : end + 1] if line and not line.endswith(":")]


@pytest.mark.parametrize(("target", "rows", "vectors", "lanes"), TILES)
def test_inner_loop(target, rows, vectors, lanes):
    module = emit_kernel(tile(rows, vectors, lanes), target)
    assembly = emit_assembly(module.text, target, module.optimization_level)
    assert "Spill" not in assembly
    loop = inner_loop(assembly)
    products = [line for line in loop if line.startswith("vfmadd")]
    loads = [line for line in loop if line.startswith(("vmov", "vbroadcast"))]
    assert len(products) == rows * vectors * UNROLL
    assert len(loads) <= UNROLL * (rows + vectors)
    assert len(loop) <= len(products) + len(loads) + 6
    assert not [line for line in loop if "(%rsp" in line]


@pytest.mark.parametrize(("target", "rows", "vectors", "lanes"), TILES)
def test_result(run, target, rows, vectors, lanes):
    if not supports(target):
        pytest.skip("the host cannot run this")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(rows, DEPTH)), rng.normal(size=(DEPTH, vectors * lanes))
    c = np.zeros((rows, vectors * lanes), np.float32)
    run(tile(rows, vectors, lanes), target, a.astype(np.float32), b.astype(np.float32), c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
