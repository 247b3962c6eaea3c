"""Values that are parts of others: concatenations and slices for which nothing runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import relay
from relay.ir.expr import Expr, Function, Var
from relay.runtime.artefact.arena_map import ArenaMap, region_arena

X = relay.var("x", shape=(1, 4, 5, 32))


def program(body: Expr, opt_level: int = 2) -> str:
    """The instructions, kernels without the digests in their names, and arrays of the caller's by what they are."""
    stages = relay.driver.compile_stages(_function(body), opt_level=opt_level).program
    (region,) = stages.procedure("main").regions()
    inputs = len(stages.entry("main").inputs)

    def array(register: re.Match[str]) -> str:
        number = int(register.group(1))
        return f"input[{number}]" if number < inputs else f"output[{number - inputs}]"

    text = "\n".join(re.sub(r"_[0-9a-f]{12}\(", "(", str(each)) for each in region.instructions)
    return re.sub(r"\*%(\d+)", array, text)


def _function(body: Expr) -> Function:
    return Function(relay.analysis.free_vars(body), body)


def other(*shape: int) -> Var:
    return relay.var("y", shape=shape)


def soft(data: Expr, axis: int = -1) -> Expr:
    """What no other operator is fused with on its way into a concatenation."""
    return relay.nn.softmax(data, axis=axis)


def test_parts_are_written_to_their_place():
    body = relay.concatenate([soft(X), relay.nn.max_pool2d(X, (3, 3), padding=(1, 1), layout="NHWC")], axis=3)
    assert program(relay.nn.global_avg_pool2d(body, layout="NHWC")) == (
        "arena[0] = fused_nn_softmax(input[0])\n"
        "arena[128] = fused_nn_max_pool2d(input[0])\n"
        "output[0] = fused_nn_global_avg_pool2d(arena[0])"
    )


def test_a_whole_that_is_a_result_is_made_where_the_caller_wants_it():
    body = relay.concatenate([soft(X), soft(X, axis=1)], axis=1)
    assert program(body) == (
        "output[0] = fused_nn_softmax(input[0])\n"  #
        "output[0] + 2560 = fused_nn_softmax(input[0])"
    )


def test_what_nobody_makes_is_copied_into_its_part():
    body = relay.concatenate([soft(X), other(1, 4, 5, 16)], axis=3)
    assert program(body) == (
        "output[0] = fused_nn_softmax(input[0])\n"  #
        "output[0] + 128 = fused_copy(input[1])"
    )


def test_one_kernel_copies_where_most_would_be_copied():
    body = relay.concatenate([soft(X), other(1, 4, 5, 64)], axis=3)
    assert program(body) == (
        "arena[0] = fused_nn_softmax(input[0])\n"  #
        "output[0] = fused_concatenate(arena[0], input[1])"
    )


def test_short_runs_at_a_distance_are_not_written():
    data = other(4, 5, 8)
    body = relay.concatenate([soft(data), soft(data, axis=0)], axis=2)
    assert "fused_concatenate" in program(body)


def test_others_read_a_part_that_lies_together():
    made = soft(X)
    body = relay.concatenate([made, relay.nn.softmax(made, axis=2)], axis=1)
    assert program(body) == (
        "output[0] = fused_nn_softmax(input[0])\n"  #
        "output[0] + 2560 = fused_nn_softmax(output[0])"
    )


def test_others_do_not_read_runs_at_a_distance():
    made = soft(X)
    body = relay.concatenate([made, relay.nn.softmax(made, axis=2)], axis=3)
    assert program(body) == (
        "arena[0] = fused_nn_softmax(input[0])\n"
        "output[0] + 128 = fused_nn_softmax(arena[0])\n"
        "output[0] = fused_copy(arena[0])"
    )


def test_a_part_of_a_part():
    inner = relay.concatenate([soft(X), soft(X, axis=1)], axis=3)
    body = relay.concatenate([relay.reshape(soft(X, axis=2), (1, 20, 32)), relay.reshape(inner, (1, 20, 64))], axis=2)
    assert program(body) == (
        "output[0] = fused_nn_softmax(input[0])\n"
        "output[0] + 128 = fused_nn_softmax(input[0])\n"
        "output[0] + 256 = fused_nn_softmax(input[0])"
    )


def test_slices_of_what_lies_together_are_views():
    first, second = relay.split(soft(other(6, 32)), 2, axis=0)
    assert program(soft(first) + relay.nn.softmax(second, axis=0)) == (
        "arena[0] = fused_nn_softmax(input[0])\n"
        "arena[768] = fused_nn_softmax(arena[0])\n"
        "arena[1152] = fused_nn_softmax(arena[384]) using arena[1536]\n"
        "output[0] = fused_add(arena[768], arena[1152])"
    )


def test_a_slice_that_is_a_result_is_copied():
    assert program(relay.strided_slice(soft(other(6, 32)), [2], [4])) == (
        "arena[0] = fused_nn_softmax(input[0])\n"  #
        "output[0] = copy(arena[256], 256 bytes)"
    )


def test_open_extents_are_concatenated_by_a_kernel():
    data = relay.var("x", shape=("n", 32))
    assert "fused_concatenate" in program(relay.concatenate([soft(data), soft(data, axis=0)], axis=1))


def _written_and_read(axis: int) -> Expr:
    made = soft(X)
    return relay.concatenate([relay.nn.softmax(made, axis=2), made, X, made], axis=axis)


def _nested(inner: int, outer: int) -> Expr:
    first = relay.concatenate([soft(X), soft(X, axis=1)], axis=inner)
    shape = [*first.checked_type.shape]
    return relay.concatenate([soft(first), relay.nn.softmax(first, axis=1), first, soft(other(*shape))], axis=outer)


def _narrow(dtype: str) -> Expr:
    pool = relay.nn.max_pool2d(relay.cast(X * relay.const(9.0), dtype), (3, 3), padding=(1, 1), layout="NHWC")
    both = relay.concatenate([pool, relay.nn.max_pool2d(pool, (1, 1), layout="NHWC")], axis=3)
    return relay.cast(relay.nn.max_pool2d(both, (2, 2), layout="NHWC"), "float32")


def _over_what_is_read() -> Expr:
    """A part of a tensor is read where the tensor is written over."""
    made = relay.nn.softmax(X, axis=2)
    first = relay.strided_slice(made, [0, 0], [1, 1])
    return relay.nn.max_pool2d(relay.tanh(made) + relay.tile(relay.nn.softmax(first), (1, 4, 1, 1)), (2, 2))


def _of_slices() -> Expr:
    made = relay.reshape(soft(X), (20, 32))
    first, second, third = relay.split(made, [4, 12], axis=0)
    return relay.concatenate([third, soft(second), first, relay.nn.softmax(third, axis=0)], axis=0)


def _through_reshapes() -> Expr:
    flat = relay.reshape(soft(X), (4, 160))
    return relay.reshape(relay.concatenate([flat, relay.reshape(soft(X, axis=2), (4, 160))], axis=1), (8, 5, 32))


BODIES: dict[str, Callable[[], Expr]] = {
    **{f"written_and_read_{axis}": lambda axis=axis: _written_and_read(axis) for axis in range(4)},
    **{
        f"nested_{inner}_{outer}": lambda inner=inner, outer=outer: _nested(inner, outer)
        for inner in range(1, 4)
        for outer in range(1, 4)
    },
    **{f"narrow_{dtype}": lambda dtype=dtype: _narrow(dtype) for dtype in ("float16", "bfloat16", "int8", "uint8")},
    "stack_0": lambda: relay.stack([soft(X), soft(X, axis=1), X], axis=0),
    "stack_2": lambda: relay.stack([soft(X), soft(X, axis=1), X], axis=2),
    "stack_4": lambda: relay.stack([soft(X), soft(X, axis=1)], axis=4),
    "constant": lambda: relay.concatenate([soft(X), relay.const(np.ones((1, 4, 5, 16), np.float32))], axis=3),
    "result_too": lambda: relay.Tuple((made := soft(X), relay.concatenate([made, soft(X, axis=1)], axis=1))),
    "results_twice": lambda: relay.Tuple((made := relay.concatenate([soft(X), soft(X, axis=1)], axis=3), made)),
    "slices_as_results": lambda: relay.split(soft(other(6, 32)), 3, axis=0).tuple_value,
    "slices_of_inputs": lambda: soft(relay.strided_slice(other(6, 32), [4], [6])),
    "every_second": lambda: soft(relay.strided_slice(soft(other(6, 32)), [1], [6], [2])),
    "column": lambda: relay.nn.softmax(relay.strided_slice(soft(other(6, 32)), [0, 4], [6, 20]), axis=0),
    "empty": lambda: relay.concatenate([soft(X), soft(other(1, 0, 5, 32))], axis=1),
    "over_what_is_read": _over_what_is_read,
    "of_slices": _of_slices,
    "through_reshapes": _through_reshapes,
}


@pytest.mark.parametrize("opt_level", [0, 2, 3])
@pytest.mark.parametrize("name", BODIES)
def test_results_are_those_of_the_meaning(name: str, opt_level: int):
    function = _function(BODIES[name]())
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(each.checked_type.shape).astype(np.float32) for each in function.params]
    expected = relay.create_executor("interpreter", mod=function).evaluate()(*arrays)
    for threads in (1, 2):
        with relay.num_threads(threads):
            found = relay.build(function, opt_level=opt_level)(*arrays)
        assert _shapes(found) == _shapes(expected)
        for one, meant in zip(_flat(found), _flat(expected), strict=True):
            np.testing.assert_allclose(one, meant, rtol=1e-4, atol=1e-5)


def _flat(value: object) -> list[np.ndarray]:
    return [leaf for each in value for leaf in _flat(each)] if isinstance(value, tuple) else [np.asarray(value)]


def _shapes(value: object) -> list[tuple[int, ...]]:
    return [each.shape for each in _flat(value)]


def test_the_map_of_the_workspace_knows_wholes():
    """A whole is one value, from when its first part is written until it was read."""
    made = relay.nn.max_pool2d(relay.nn.softmax(X, axis=2), (1, 1), layout="NHWC")
    joined = relay.concatenate([soft(X), made], axis=3)
    (entry,) = relay.driver.compile_stages(_function(relay.nn.softmax(joined, axis=1))).manifest.entries
    (arena,) = (region_arena(each, {}) for each in entry.regions)
    assert isinstance(arena, ArenaMap)
    assert [(each.begin, each.end, each.first, each.last) for each in arena.buffers] == [
        (0, 5120, 0, 3),  # the whole
        (5120, 7680, 1, 2),
    ]
    assert arena.planned_bytes == arena.lower_bound_bytes
