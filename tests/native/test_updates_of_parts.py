"""An operator that changes a part of a tensor writes that part alone, where nobody else has a use for the tensor."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.driver.build import compile_stages
from relay.tir.text.printer import print_primfunc
from tests.native.running import assert_same, module
from tests.native.test_update_in_place import arrays, full

PARTS = {
    "rows one after another": """
def @loop(%c: T, %row: Tensor[(1, 8), float32], %n: int64) -> T {
  if (equal(%n, 0i64)) { %c } else {
    let %to = reshape(%n, newshape=[1]);
    let %from = subtract(%to, 1i64);
    @loop(strided_set(%c, %row, %from, %to, minimum(%to, ones_like(%to))), %row, subtract(%n, 1i64))
  }
}
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> T { @loop(%c, %row, 3i64) }""",
    "two parts in one region": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> T {
  let %x = nn.softmax(%c);
  let %y = strided_set(%x, %row, %one, add(%one, %one), %one);
  nn.softmax(strided_set(%y, negative(%row), subtract(%one, %one), %one, %one))
}""",
    "a source that is needed elsewhere": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> (T, T, T) {
  let %x = nn.softmax(%c);
  let %y = strided_set(%x, %row, %one, add(%one, %one), %one);
  (%x, %y, strided_set(%c, %row, %one, add(%one, %one), %one))
}""",
    "a source that is the part too": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> T {
  let %x = nn.softmax(%c);
  strided_set(%x, %x, concatenate((%one,)), multiply(%one, 9i64), %one)
}""",
    "rows by indices, in a loop": """
def @loop(%c: T, %row: Tensor[(1, 8), float32], %n: int64) -> T {
  if (equal(%n, 0i64)) { %c } else {
    @loop(scatter_nd(%c, reshape(%n, newshape=[1, 1]), %row, mode="add"), %row, subtract(%n, 1i64))
  }
}
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> T { @loop(%c, %row, 5i64) }""",
    "one place after another in several ways": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> T {
  let %x = nn.softmax(%c);
  let %at = broadcast_to(%one, shape=[3, 8]);
  let %rows = concatenate((%row, negative(%row), %row), axis=0);
  let %y = scatter_elements(%x, %at, %rows, axis=0, reduction="mul");
  let %z = scatter_elements(scatter_add(%y, %at, %rows, axis=0), %at, %rows, axis=-2, reduction="max");
  scatter(%z, reshape(%one, newshape=[1, 1]), reshape(sum(%z), newshape=[1, 1]), axis=1)
}""",
    "updates that are made of the source": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> (T, T) {
  let %x = nn.softmax(%c);
  let %at = broadcast_to(%one, shape=[4, 8]);
  (scatter_elements(%x, %at, %x, reduction="add"), scatter_elements(%c, %at, negative(%c), reduction="min"))
}""",
    "means, where some places are outside": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> (T, T) {
  let %x = nn.softmax(%c);
  let %at = concatenate((%one, multiply(%one, 9i64), negative(%one), %one), axis=0);
  let %y = scatter_nd(%x, expand_dims(%at, axis=0), nn.softmax(%c), mode="mean");
  (%y, scatter_elements(nn.softmax(%y), broadcast_to(%one, shape=[3, 8]), broadcast_to(%row, shape=[3, 8]),
    axis=0, reduction="mean"))
}""",
    "parts of a concatenation": """
def @main(%c: T, %row: Tensor[(1, 8), float32], %one: Tensor[(1), int64]) -> Tensor[(8, 8), float32] {
  let %x = strided_set(nn.softmax(%c), %row, %one, add(%one, %one), %one);
  concatenate((%x, nn.softmax(%x)), axis=0)
}""",
}


@pytest.mark.parametrize("source", PARTS.values(), ids=PARTS)
def test_a_part_is_written_where_the_source_is(source: str):
    c, row, one = *arrays()[:1], arrays()[1][:1], np.ones(1, np.int64)
    program = module(full(source))
    expected = relay.create_executor("interpreter", mod=program).evaluate()(c, row, one)
    kept = c.copy()
    for target in ("llvm", "llvm -heap=checked"):
        for donate in ((), ("c",)):
            given = c.copy()
            assert_same(relay.build(program, target, donate=donate)(given, row, one), expected)
            assert donate or (given == kept).all()


def test_an_update_copies_nothing_where_the_source_is_nobody_elses():
    program = compile_stages(module(full(PARTS["two parts in one region"])), donate=("c",)).program
    (region,) = (region for each in program.procedures for region in each.regions())
    updates = [each for each in region.calls if each.updates is not None]
    assert len(updates) == 2
    assert all(each.outputs == (each.inputs[each.updates or 0],) for each in updates)


def test_sums_at_one_place_are_taken_in_order_on_any_number_of_threads():
    source = """
def @main(%x: Tensor[(3, 512), float32], %at: Tensor[(1, 4096), int32], %u: Tensor[(4096, 512), float32]) {
  scatter_nd(%x, %at, %u, mode="add")
}"""
    random = np.random.default_rng(1)
    x, updates = (random.standard_normal(shape, np.float32) for shape in ((3, 512), (4096, 512)))
    at = random.integers(0, 3, (1, 4096), np.int32)
    expected = x.copy()
    for row, update in zip(at[0], updates, strict=True):
        expected[row] += update
    for threads in (1, 2):
        found = relay.build(module(source), f"llvm -num-threads={threads}", opt_level=3)(x, at, updates)
        np.testing.assert_array_equal(found, expected)


def test_the_graph_executor_writes_all_of_it():
    source = module(full(PARTS["two parts in one region"]))
    c, row, one = *arrays()[:1], arrays()[1][:1], np.ones(1, np.int64)
    expected = relay.create_executor("interpreter", mod=source).evaluate()(c, row, one)
    assert_same(relay.create_executor("graph", mod=source).evaluate()(c, row, one), expected)


SHARED = {
    "rows that have places each": ((64, 256), (64, 256), 1, "add"),
    "columns in blocks": ((50, 512), (40, 512), 0, "add"),
    "columns in blocks, and their means": ((50, 512), (40, 512), 0, "mean"),
    "the middle of three axes": ((4, 30, 128), (4, 40, 128), 1, "mul"),
}


@pytest.mark.parametrize("rows", ["n", None], ids=["symbolic", "fixed"])
@pytest.mark.parametrize(("extents", "updated", "axis", "mode"), SHARED.values(), ids=SHARED)
def test_threads_share_an_update_and_give_the_same_bits(extents, updated, axis, mode, rows):
    random = np.random.default_rng(5)
    data, updates = (random.uniform(0.9, 1.1, shape).astype(np.float32) for shape in (extents, updated))
    places = random.integers(-extents[axis], extents[axis] // 3, updated)  # most are met several times
    free = 0 if axis else 1
    variables = [
        relay.var(
            name, shape=[rows or extent if at == free else extent for at, extent in enumerate(each.shape)], dtype=dtype
        )
        for name, each, dtype in (("x", data, "float32"), ("i", places, "int64"), ("u", updates, "float32"))
    ]
    x, i, u = variables
    program = relay.Function(variables, relay.scatter_elements(x, i, u, axis=axis, reduction=mode))
    run = relay.build(program)
    (kernel,) = compile_stages(program).kernels
    assert ("parallel" in print_primfunc(kernel.loops())) is (rows is None or axis == 1)
    found = []
    for threads in (1, 2):
        with relay.num_threads(threads):
            found.append(run(data, places, updates))
    assert (found[0] == found[1]).all()
    wanted = relay.create_executor("interpreter", relay.IRModule.from_expr(program)).evaluate()(data, places, updates)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)


def test_a_small_update_is_not_shared():
    x, i = relay.var("x", shape=(8, 16)), relay.var("i", shape=(8, 16), dtype="int64")
    (kernel,) = compile_stages(relay.Function([x, i], relay.scatter_add(x, i, x, axis=1))).kernels
    assert "parallel" not in print_primfunc(kernel.loops())
