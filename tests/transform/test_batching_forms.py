"""Which forms of recursion over data AutoBatch takes together, as people write them in Python, and what it says of the
others."""

import numpy as np
import pytest

import relay
from relay.infer.infer_type import infer_type
from relay.transform.batching.auto_batch import AutoBatch
from relay.transform.batching.batched import batching
from relay.transform.batching.list_loops import ListLoop
from relay.transform.batching.rows import Refusal
from tests.native.running import assert_same

V = relay.Tensor[(8,)]
M = relay.Tensor[(8, 8)]


@relay.datatype
class T:
    class Leaf:
        value: V

    class Node:
        left: "T"
        right: "T"


@relay.datatype
class Rose:
    class Tree:
        value: V
        children: "list[Rose]"


@relay.datatype
class Wide:
    class Leaf:
        value: relay.Tensor[(128,)]

    class Node:
        left: "Wide"
        right: "Wide"


@relay.function
def enc(t: T, w: M) -> V:
    match t:
        case T.Leaf(v):
            return np.tanh(v @ w)
        case T.Node(l, r):
            return np.tanh((enc(l, w) + enc(r, w)) @ w)


def one_tree(t: T, w: M):
    return enc(t, w)


def comprehension(ts: list[T], w: M):
    return [enc(t, w) for t in ts]


def builtin_map(ts: list[T], w: M):
    return list(map(lambda t: enc(t, w), ts))  # noqa: C417


def append_loop(ts: list[T], w: M):
    out = []
    for t in ts:
        out.append(enc(t, w))
    return out


def sum_loop(ts: list[T], w: M):
    total = np.zeros(8)
    for t in ts:
        total = total + enc(t, w)
    return total


def sum_builtin(ts: list[T], w: M):
    return sum(np.sum(enc(t, w)) for t in ts)


@relay.function
def own_map(ts: list[T], w: M) -> list[V]:
    match ts:
        case []:
            return []
        case [t, *rest]:
            return [enc(t, w), *own_map(rest, w)]


def users_map(ts: list[T], w: M):
    return own_map(ts, w)


@relay.function
def own_fold(ts: list[T], w: M, acc: V) -> V:
    match ts:
        case []:
            return acc
        case [t, *rest]:
            return own_fold(rest, w, acc + enc(t, w))


def users_fold(ts: list[T], w: M):
    return own_fold(ts, w, np.zeros(8))


@relay.function
def rose(t: Rose, w: M) -> V:
    match t:
        case Rose.Tree(v, children):
            total = v
            for c in children:
                total = total + rose(c, w)
            return np.tanh(total @ w)


def child_sum(t: Rose, w: M):
    return rose(t, w)


@relay.function
def rose2(t: Rose, w: M) -> V:
    match t:
        case Rose.Tree(v, children):
            return np.tanh((v + np.sum(np.stack([rose2(c, w) for c in children]), axis=0)) @ w)


def child_sum_stack(t: Rose, w: M):
    return rose2(t, w)


@relay.function
def even(t: T, w: M) -> V:
    match t:
        case T.Leaf(v):
            return v @ w
        case T.Node(l, r):
            return np.tanh((odd(l, w) + odd(r, w)) @ w)


@relay.function
def odd(t: T, w: M) -> V:
    match t:
        case T.Leaf(v):
            return v
        case T.Node(l, r):
            return np.exp((even(l, w) * even(r, w)) @ w)


def mutual(t: T, w: M):
    return even(t, w) + odd(t, w)


@relay.function
def down(t: T, w: M, state: V) -> V:
    match t:
        case T.Leaf(v):
            return np.tanh((v + state) @ w)
        case T.Node(l, r):
            s = np.tanh(state @ w)
            return down(l, w, s) + down(r, w, s)


def state_down(t: T, w: M, s: V):
    return down(t, w, s)


@relay.function
def depth(t: T, w: M, d: int) -> V:
    match t:
        case T.Leaf(v):
            return v @ w
        case T.Node(l, r):
            return np.tanh((depth(l, w, d + 1) + depth(r, w, d + 1)) @ w)


def depth_down(t: T, w: M):
    return depth(t, w, 0)


@relay.function
def two(t: T, w: M) -> tuple[V, V]:
    match t:
        case T.Leaf(v):
            return v @ w, v
        case T.Node(l, r):
            h1, c1 = two(l, w)
            h2, c2 = two(r, w)
            c = np.tanh((h1 + h2) @ w) * (c1 + c2)
            return np.tanh(c), c


def tree_lstm(t: T, w: M):
    return two(t, w)[0]


@relay.function
def guarded(t: T, w: M) -> V:
    match t:
        case T.Leaf(v):
            return v @ w
        case T.Node(l, r):
            h = enc(l, w)
            if np.sum(h) > 0.0:
                return h
            return np.tanh(guarded(r, w) @ w)


def control(t: T, w: M):
    return guarded(t, w)


TAKEN = {
    one_tree: "one tree", tree_lstm: "one tree", comprehension: "all trees", builtin_map: "all trees",
    sum_builtin: "all trees", append_loop: "all trees", sum_loop: "all trees", users_map: "all trees",
    users_fold: "all trees", child_sum: "one tree", mutual: "one tree", state_down: "one tree", depth_down: "one tree",
}  # fmt: skip
"""Whether the trees of a list are taken together, or each by itself."""

REFUSED = {
    rose2: "calls itself on something else than a field of what it matched",
    guarded: "chooses by a value inside a clause",
}


@pytest.mark.parametrize("form", TAKEN, ids=lambda form: form.__name__)
def test_what_is_taken_together(form):
    with relay.PassContext(opt_level=3):
        batched = AutoBatch(infer_type(relay.function(form).module))
    text = str(relay.transform.RemoveUnusedFunctions(batched))
    assert "_batch" in text
    assert ("_each" in text) == (TAKEN[form] == "all trees")


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_is_said_of_the_others(function):
    entry = next(each for each in ENTRIES if function.__name__ in each.__code__.co_names)
    found = {name.name_hint: each for name, each in batching(infer_type(relay.function(entry).module)).items()}
    refusal = found[function.__name__]
    assert isinstance(refusal, Refusal)
    assert refusal.reason == REFUSED[function]
    assert refusal.span is not None


ENTRIES = (child_sum_stack, control)


# ----------------------------------------------------------------------------------------------------- loops over lists


def tree(leaves, random):
    if leaves == 1:
        return T.Leaf(random.standard_normal(8).astype("float32"))
    left = leaves // 2
    return T.Node(tree(left, random), tree(leaves - left, random))


def early_end(ts: list[T], w: M):
    total = np.zeros(8)
    for t in ts:
        if np.sum(total) > 1.0:
            break
        total = total + enc(t, w)
    return total


def weights_that_change(ts: list[T], w: M):
    total = np.zeros(8)
    for t in ts:
        total = total + enc(t, w)
        w = w * 0.5
    return total


def two_uses(ts: list[T], w: M):
    total = np.zeros(8)
    for t in ts:
        total = total + enc(t, w) * enc(t, w * 2.0)
    return total


def nested(ts: list[list[T]], w: M):
    out = []
    for row in ts:
        total = np.zeros(8)
        for t in row:
            total = total + enc(t, w)
        out.append(total)
    return out


LOOPS = (append_loop, sum_loop, users_map, users_fold)


@pytest.mark.parametrize("sizes", [(), (1,), (3, 1, 9), (16,) * 12], ids=len)
@pytest.mark.parametrize("form", LOOPS, ids=lambda form: form.__name__)
def test_loops_give_the_same(form, sizes):
    random = np.random.default_rng(len(sizes))
    trees, w = [tree(size, random) for size in sizes], 0.3 * random.standard_normal((8, 8)).astype("float32")
    module = relay.function(form).module
    expected = relay.create_executor("interpreter", mod=module).evaluate()(trees, w)
    with relay.PassContext(opt_level=3):
        batched = AutoBatch(infer_type(module))
    for found in (
        relay.create_executor("interpreter", mod=batched).evaluate()(trees, w),
        relay.build(module, opt_level=3)(trees, w),
    ):
        assert_same(found, expected)


@relay.function
def wide(t: Wide, w: relay.Tensor[(128, 128)]) -> relay.Tensor[(128,)]:
    match t:
        case Wide.Leaf(v):
            return np.tanh(v @ w)
        case Wide.Node(l, r):
            return np.tanh((wide(l, w) + wide(r, w)) @ w)


def wide_sum(ts: list[Wide], w: relay.Tensor[(128, 128)]):
    total = np.zeros(128)
    for t in ts:
        total = total + wide(t, w)
    return total


def test_where_levels_pay_is_chosen_at_run_time():
    random = np.random.default_rng(5)
    w = 0.05 * random.standard_normal((128, 128)).astype("float32")
    module = relay.function(wide_sum).module
    executable = relay.build(module, opt_level=3)
    for count in (0, 1, 32):
        trees = [Wide.Leaf(random.standard_normal(128).astype("float32")) for _ in range(count)]
        trees = [Wide.Node(each, each) for each in trees]
        expected = relay.create_executor("interpreter", mod=module).evaluate()(trees, w)
        np.testing.assert_allclose(executable(trees, w), expected, rtol=1e-4, atol=1e-4)


def test_loops_inside_loops_give_the_same():
    random = np.random.default_rng(5)
    rows = [[tree(size, random) for size in sizes] for sizes in ((3, 1), (), (5,) * 9)]
    w = 0.3 * random.standard_normal((8, 8)).astype("float32")
    module = relay.function(nested).module
    expected = relay.create_executor("interpreter", mod=module).evaluate()(rows, w)
    found = relay.build(module, opt_level=3)(rows, w)
    assert_same(found, expected)


NOT_BEFORE = {
    early_end: "has a loop that does not always go on to the rest of the list",
    weights_that_change: "has a loop that calls @enc with what may differ from element to element",
    two_uses: "has a loop that uses an element for more than one call of @enc",
}


@pytest.mark.parametrize("form", NOT_BEFORE, ids=lambda form: form.__name__)
def test_a_loop_whose_calls_depend_on_it_makes_them_itself(form):
    module = infer_type(relay.function(form).module)
    with relay.PassContext(opt_level=3):
        batched = AutoBatch(module)
    assert "_each" not in str(relay.transform.RemoveUnusedFunctions(batched))
    said = {name.name_hint: each for name, each in batching(module).items()}["main"]
    assert isinstance(said, Refusal)
    assert said.reason == NOT_BEFORE[form]


def test_a_loop_is_said_to_make_its_calls_together():
    found = {name.name_hint: each for name, each in batching(infer_type(relay.function(users_fold).module)).items()}
    assert isinstance(found["own_fold"], ListLoop)
    assert found["own_fold"].callee.name_hint == "enc"
