"""Regions: kernels, one after another, run in a planned arena, wherever they stand."""

from __future__ import annotations

import re

import numpy as np
import pytest

import relay
from relay.driver.build import compile_stages
from relay.ir.expr import Expr, Function
from relay.lower.program.procedure import NewTensor, NewView, Procedure
from relay.lower.program.region import CopyBytes, RunRegion
from tests.native.running import LIST, check, module

X = relay.var("x", shape=(1, 14, 14, 32))
CELL = """
def @main(%xs: List[Tensor[(1, 8), float32]], %w: Tensor[(32, 16), float32], %n: int32)
-> (Tensor[(1, 8), float32], int32) {
  @loop(%xs, zeros(shape=[1, 8], dtype="float32"), zeros(shape=[1, 8], dtype="float32"), %w, %n)
}
def @loop(
  %xs: List[Tensor[(1, 8), float32]], %h: Tensor[(1, 8), float32], %c: Tensor[(1, 8), float32],
  %w: Tensor[(32, 16), float32], %n: int32
) -> (Tensor[(1, 8), float32], int32) {
  match (%xs) {
    Cons(%x, %rest) => {
      let %gates = split(nn.dense(concatenate((%x, %h), axis=1), %w), indices_or_sections=4, axis=1);
      let %c2 = add(multiply(sigmoid(%gates.1), %c), multiply(sigmoid(%gates.0), tanh(%gates.2)));
      @loop(%rest, multiply(sigmoid(%gates.3), tanh(%c2)), %c2, %w, add(%n, 1))
    },
    Nil => (%h, %n)
  }
}
"""


def shown(text: object) -> str:
    """Kernels without the digests in their names, and without what they were fused of."""
    return re.sub(r"fused_(\w+?)_[0-9a-f]{12}\b", r"\1", str(text))


def procedure(source: str, name: str, opt_level: int = 2) -> Procedure:
    return compile_stages(module(source), opt_level=opt_level).program.procedure(name)


def test_a_recursive_cell_as_text():
    text = shown(procedure(LIST + CELL, "loop"))
    gates = "sigmoid_sigmoid_multiply_sigmoid_tanh_multiply_add_tanh_multiply"
    assert (
        text[text.index("  block1(") : text.index("  block2(")]
        == f"""\
  block1(%5, %6):
    release %0
    %9:int32 = compute add(%4:int32)
    %10 = tensor label2 [1, 8] 32 bytes over %2
    %11 = tensor label2 [1, 8] 32 bytes over %5
    region, arena 192 bytes
      arena[128] 64 bytes of concatenate, calls 0 to 1
      arena[0] 128 bytes of nn_dense, calls 1 to 2
      arena[128] = concatenate(%5, %1)
      arena[0] = nn_dense(arena[128], %3)
      %10, %11 = {gates}(arena[96], arena[32], %2, arena[0], arena[64])
    release %5
    release %1
    release %2
    jump @loop(%6, %11, %10, %3, %9:int32)
"""
    )


def test_a_recursive_cell_runs():
    values = np.random.default_rng(0).standard_normal((5, 1, 8)).astype("float32")
    w = np.random.default_rng(1).standard_normal((32, 16)).astype("float32")
    check(LIST + CELL, list(values), w, np.int32(3))


def _pooled() -> Expr:
    """Two convolutions beside each other, concatenated, pooled."""
    weights = [np.random.default_rng(seed).standard_normal((3, 3, 32, 32)).astype("float32") for seed in range(2)]
    sides = [
        relay.nn.conv2d(
            X, relay.const(w), channels=32, kernel_size=(3, 3), padding=(1, 1), data_layout="NHWC", kernel_layout="HWIO"
        )
        for w in weights
    ]
    return relay.nn.max_pool2d(relay.concatenate(sides, axis=3), (3, 3), strides=(2, 2), layout="NHWC")


def calls(body: Expr, opt_level: int) -> tuple[list[str], int, int]:
    """The kernels of `main`, how often it copies bytes, and the bytes of its first arena."""
    program = compile_stages(Function([X], body), opt_level=opt_level).program
    regions = [region for each in program.procedures for region in each.regions()]
    copies = [each for region in regions for each in region.instructions if isinstance(each, CopyBytes)]
    arena = regions[0].arena_bytes
    assert isinstance(arena, int)
    return [each.kernel for region in regions for each in region.calls], len(copies), arena


def test_before_an_if_the_same_kernels_run_in_the_same_arena():
    for opt_level in (2, 3):
        straight, copies, arena = calls(_pooled(), opt_level)
        pooled = relay.var("pooled")
        first = relay.take(relay.reshape(pooled, (-1,)), relay.const(0), mode="clip")
        chosen = relay.If(relay.less(first, relay.const(0.0)), relay.negative(pooled), pooled)
        kernels, copies_too, arena_too = calls(relay.Let(pooled, _pooled(), chosen), opt_level)
        assert kernels[: len(straight)] == straight
        assert copies == copies_too == 0
        assert arena <= arena_too <= arena + 64
        assert not [name for name in kernels if "concatenate" in name]


def test_what_outlives_a_region_is_made_before_it():
    source = """
    def @main(%x: Tensor[(4, 4), float32], %n: int32) {
      let %a = nn.softmax(%x);
      let %b = nn.dense(%a, %x);
      if (less(%n, 0)) { (%b, reshape(%a, newshape=[16])) } else { (nn.softmax(%b), reshape(%b, newshape=[16])) }
    }"""
    x = np.random.default_rng(0).standard_normal((4, 4)).astype("float32")
    for n in (-1, 1):
        check(source, x, np.int32(n))
    first = procedure(source, "main").blocks[0].instructions
    kinds = [type(each) for each in first if isinstance(each, NewTensor | RunRegion)]
    assert kinds == [NewTensor, NewTensor, RunRegion]


def test_a_view_inside_a_region_is_no_object():
    source = """
    def @main(%x: Tensor[(4, 4), float32], %n: int32) -> Tensor[(2, 8), float32] {
      if (less(%n, 0)) { reshape(%x, newshape=[2, 8]) } else {
        @main(reshape(nn.softmax(reshape(nn.softmax(%x), newshape=[2, 8])), newshape=[4, 4]), subtract(%n, 1))
      }
    }"""
    x = np.random.default_rng(0).standard_normal((4, 4)).astype("float32")
    check(source, x, np.int32(2))
    views = [each for each in procedure(source, "main").instructions() if isinstance(each, NewView)]
    assert len(views) == 2  # the result, and what the recursion is given


def test_extents_that_data_decide_size_the_arena():
    source = """
    def @main(%x: Tensor[(8), float32]) {
      let %where = argwhere(greater(%x, 0f));
      let %f = cast(%where, dtype="float32");
      let %a = nn.softmax(%f, axis=0);
      sum(nn.softmax(multiply(%a, %f), axis=0))
    }"""
    text = shown(compile_stages(module(source)).program)
    assert re.search(r"region, arena .*argwhere", text), text
    for seed in range(3):
        check(source, np.random.default_rng(seed).standard_normal(8).astype("float32"))


def test_arenas_grow_in_a_call():
    source = """
    def @main(%n: int32, %sum: float32) -> float32 {
      if (greater(%n, 9000)) { %sum } else {
        let %x = arange(0f, cast(%n, dtype="float32"), 1f, dtype="float32", start=0, step=1);
        let %y = nn.softmax(%x, axis=0);
        @main(multiply(%n, 2), add(%sum, sum(nn.softmax(multiply(%x, %y), axis=0))))
      }
    }"""
    assert check(source, np.int32(5), np.float32(0)) == pytest.approx(11)


def test_scalars_are_computed_where_they_are_needed():
    source = """
    def @main(%x: Tensor[(4), float32], %n: int32) -> Tensor[(4), float32] {
      let %total = sum(%x);
      let %y = multiply(%x, sqrt(abs(%total)));
      if (greater(add(%total, 1f), 0f)) { @main(subtract(%x, nn.softmax(%y)), add(%n, 1)) } else { %y }
    }"""
    text = shown(procedure(source, "main", opt_level=0))
    assert (
        text[text.index("  block0(") : text.index("  block1(")]
        == """\
  block0():
    %3 = tensor label1 [4] 16 bytes for output 0
    region, arena 64 bytes
      arena[0] 4 bytes of abs, calls 1 to 2
      arena[0] 4 bytes of sqrt, calls 2 to 3
      %2:float32 = sum(%0)
      arena[0] = abs(%2:float32)
      arena[0] = sqrt(arena[0])
      %3 = multiply(%0, arena[0])
    %4:float32 = compute add(%2:float32)
    %5:bool = compute greater(%4:float32)
    if %5:bool block1 else block2
"""
    )
    check(source, np.float32([0.5, -1.0, 0.25, 1.0]), np.int32(0), opt_level=0)


@pytest.mark.parametrize(("rows", "failure"), [((0, 1), "needs n == m"), ((0, 9), "the table: an index lies outside")])
def test_what_is_refused_first_is_told(rows: tuple[int, int], failure: str):
    source = """
    def @main(%x: Tensor[(n,), float32], %rows: Tensor[(2,), int64], %y: Tensor[(m,), float32], %skip: bool) {
      if (%skip) { zeros(shape=[2]) } else {
        let %found = check_indices(%rows, extents=[3], what="the table");
        add(take(%x, %found, mode="wrap"), strided_slice(add(%x, %y), begin=[0], end=[2]))
      }
    }"""
    given = np.zeros(3, "float32"), np.int64(rows), np.zeros(4, "float32"), np.bool_(False)
    with pytest.raises(relay.RelayError, match=failure):
        relay.build(module(source))(*given)


def test_an_index_is_refused_where_nothing_reads_it_in_its_region():
    source = """
    def @main(%rows: Tensor[(2,), int64], %n: int32) {
      let %found = check_indices(%rows, extents=[3], what="the table");
      if (less(%n, 1)) { %found } else { @main(%found, subtract(%n, 1)) }
    }"""
    check(source, np.int64([0, 2]), np.int32(2))
    with pytest.raises(relay.RelayError, match="the table"):
        relay.build(module(source))(np.int64([0, 3]), np.int32(2))


@pytest.mark.parametrize("level", [0, 3])
def test_a_region_reads_a_tensor_beside_data(level: int):
    source = """
    def @pair(%x: Tensor[(4), float32], %n: int32) -> (Tensor[(4), float32], List[int32]) {
      if (less(%n, 3)) { (%x, Nil) } else { @pair(tanh(%x), subtract(%n, 1)) }
    }
    def @main(%x: Tensor[(4), float32], %n: int32) {
      let %p = @pair(%x, %n);
      let %y = tanh(%x);
      let %first = %p.0;
      (add(nn.softmax(%first), %y), %p.1)
    }"""
    check(LIST + source, np.ones(4, np.float32), np.int32(5), opt_level=level)
