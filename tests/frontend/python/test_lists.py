"""Lists of the program as people change, search and combine them, without knowing the front end."""

# ruff: noqa: B905, C416, RUF005
from __future__ import annotations

import functools
import itertools
from typing import Generic, Literal, TypeVar

import numpy as np
import pytest

import relay

from .running import agrees, fails

Item = TypeVar("Item")


def changed_copies(xs: list[int]):
    whole, rest, twice, back = xs[:], xs[1:], list(xs), xs[::-1]
    whole[0], whole[-1] = whole[-1], whole[0]
    rest.append(7)
    twice[0] += 5
    back.insert(1, 9)
    return xs, whole, rest, twice, back


def changed_results(xs: list[int]):
    ordered, squares = sorted(xs), [x * x for x in xs]
    ordered[0] = 7
    squares.append(8)
    ordered.pop(1)
    zeros = [0] * len(xs)
    zeros[1] = 3
    zeros[0] += 2
    joined = xs + [1]
    joined[0] = 5
    return xs, ordered, squares, zeros, joined


def removed(xs: list[int]):
    ys = xs.copy()
    ys.remove(3)
    ys.reverse()
    last = ys.pop()
    ys.extend([last] * 2)
    return ys


def deleted(xs: list[int]):
    ys = list(xs)
    del ys[1]
    zs = xs[:]
    del zs[1:3]
    ws = xs[:]
    del ws[0], ws[-1]
    return ys, zs, ws


def slices_assigned(xs: list[int]):
    ys, zs = list(xs), list(xs)
    ys[1:3] = [7, 8, 9]
    zs[3:1] = xs
    ws = xs[:]
    ws[-2:] = []
    return ys, zs, ws


def deleted_in_a_loop(xs: list[int]):
    ys = list(xs)
    i = 0
    while i < len(ys):
        if ys[i] % 2 == 0:
            del ys[i]
        else:
            i += 1
    return ys


def changed_inside(xs: list[int]):
    rows = [xs[:], xs[1:]]
    copies = [row[:] for row in rows]
    del copies[0][0]
    copies[1].insert(0, 8)
    copies[0].append(9)
    copies.append([7])
    return rows, copies


def backwards(xs: list[int]):
    n = len(xs) - 1
    return xs[4:0:-1], xs[n:0:-1], xs[-2::-1], xs[:1:-2], xs[-1:-4:-2], xs[9:-9:-1], xs[1:3:-1], xs[: n - 9 : -1]


def searched(xs: list[int]):
    pairs = [(x, x * x) for x in xs]
    n = len(xs)
    return (3, 9) in pairs, (3, 8) in pairs, pairs.count((1, 1)), pairs.index((1, 1)), 2 in range(n), n in range(n)


@pytest.mark.parametrize(
    "definition",
    [
        changed_copies, changed_results, removed, deleted, slices_assigned, deleted_in_a_loop, changed_inside,
        backwards, searched,
    ],
)  # fmt: skip
@pytest.mark.parametrize("xs", [[1, 2, 3, 4, 5], [3, 4, 1]])
def test_lists_that_the_function_made(definition, xs):
    agrees(definition, xs)


def test_what_is_not_there_is_not_removed():
    def without(xs: list[int]):
        ys = list(xs)
        ys.remove(3)
        return ys

    fails(without, ValueError, "check-failed", [1, 2])


def primes(n: int):
    found = []
    candidate = 2
    while len(found) < n:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return found


def primes_by_else(n: int):
    found = []
    candidate = 2
    while len(found) < n:
        for p in found:
            if candidate % p == 0:
                break
        else:
            found.append(candidate)
        candidate += 1
    return found


def inserted(n: int):
    ordered = []
    for k in range(n):
        x = k * 7 % 5
        i = 0
        while i < len(ordered) and ordered[i] < x:
            i += 1
        ordered.insert(i, x)
    return ordered


@pytest.mark.parametrize("definition", [primes, primes_by_else, inserted])
def test_empty_lists_that_a_loop_reads_first(definition):
    agrees(definition, 6)


def tuples_in_order(pairs: list[tuple[int, float]]):
    return sorted(pairs), max(pairs), min(pairs), min(pairs, key=lambda p: p[1]), sorted(pairs, reverse=True)


def of_elements(pairs: list[tuple[int, float]]):
    xs, ys = [k for k, _ in pairs], [k * 2 for k, _ in pairs]
    return [max(p) for p in zip(xs, ys)], sum(x * y for x, y in zip(xs, ys)), max(zip(xs, ys)), max((xs[0], ys[0]))


def combined(pairs: list[tuple[int, float]]):
    xs, ys = [k for k, _ in pairs], [v for _, v in pairs]
    return (
        list(itertools.product(xs, ys)), [a * b for a, b in itertools.product(range(len(xs)), repeat=2)],
        list(itertools.combinations(xs, 2)), list(itertools.permutations(xs, 2)),
        [x for x in itertools.chain(xs, xs)], list(itertools.combinations_with_replacement(xs, 2)),
    )  # fmt: skip


@pytest.mark.parametrize("definition", [tuples_in_order, of_elements, combined])
def test_lists_of_tuples(definition):
    agrees(definition, [(2, 1.0), (1, 5.0), (2, 0.5), (1, 2.0)])


@relay.datatype
class Tree(Generic[Item]):
    class Leaf: ...

    class Node:
        left: Tree[Item]
        value: Item
        right: Tree[Item]


@relay.function
def insert(tree: Tree[int], v: int) -> Tree[int]:
    match tree:
        case Tree.Leaf():
            return Tree.Node(Tree.Leaf(), v, Tree.Leaf())
        case Tree.Node(left, value, right):
            if v < value:
                return Tree.Node(insert(left, v), value, right)
            return Tree.Node(left, value, insert(right, v))


@relay.function
def in_order(tree: Tree[int]) -> list[int]:
    match tree:
        case Tree.Leaf():
            return []
        case Tree.Node(left, value, right):
            return [*in_order(left), value, *in_order(right)]


def tree_sort(xs: list[int]):
    tree = Tree.Leaf()
    for x in xs:
        tree = insert(tree, x)
    return in_order(tree)


def test_a_constructor_of_a_generic_type_before_a_loop():
    assert [int(each) for each in relay.function(tree_sort)([4, 2, 9, 1])] == [1, 2, 4, 9]
    assert list(relay.function(tree_sort)([])) == []


@relay.function
def activated(x: float, kind: str = "relu", how: Literal["once", "twice"] = "once"):
    if how == "twice":
        x = x * 2
    if kind == "relu":
        return max(x, 0.0)
    if kind == "tanh":
        return np.tanh(x)
    raise ValueError(kind)


def test_strings_are_known_when_a_program_is_read():
    @relay.function
    def several(x: float):
        return activated(x), activated(x, "tanh"), activated(x, kind="relu", how="twice")

    assert [float(each) for each in several(2.0)] == pytest.approx([2.0, np.tanh(2.0), 4.0])
    assert float(activated(-2.0)) == 0.0
    assert float(activated(-2.0, "tanh")) == pytest.approx(np.tanh(-2.0))
    assert float(activated(2.0, how="twice")) == 4.0
    with pytest.raises(relay.RelayError, match="ValueError: linear") as caught:
        activated(1.0, "linear")
    assert caught.value.rule == "check-failed"
    with pytest.raises(relay.RelayError, match="is a string"):
        activated(1.0, 3)


def checked(n: int):
    if n < 0:
        raise ValueError("n is negative")
    if n % 2 == 0:
        return n // 2
    if n > 100:
        raise ValueError(f"{n} is too large")
    return 3 * n + 1


def test_what_raises_ends_the_run():
    for n in (4, 5):
        agrees(checked, n)
    fails(checked, ValueError, "check-failed", -1)
    fails(checked, ValueError, "check-failed", 101)
    with pytest.raises(relay.RelayError, match="n is negative"):
        relay.function(checked)(-1)


def place_of(xs: list[int], wanted: int):
    for i, x in enumerate(xs):
        if x == wanted:
            return i
    raise ValueError("it is not there")


def by_case(xs: list[int], wanted: int):
    match wanted:
        case 0:
            found = len(xs)
        case 1 | 2:
            found = xs[0]
        case _:
            raise KeyError(wanted)
    return found + 1


def largest_of(xs: list[int], least: int):
    best = None
    for x in xs:
        if x < least:
            raise ValueError
        if best is None or x > best:
            best = x
    if best is None:
        raise ValueError("there is none")
    return best * 2


def in_a_nested_function(xs: list[int], wanted: int):
    def checked_at(i):
        if i < len(xs):
            return xs[i]
        raise IndexError(i)

    return checked_at(wanted) + 1


def test_what_raises_anywhere():
    for definition, good, bad in (
        (place_of, ([4, 5], 5), ([4, 5], 6)), (by_case, ([4, 5], 2), ([4, 5], 3)), (by_case, ([4], 0), ([4], 9)),
        (largest_of, ([4, 5], 1), ([4, 5], 5)), (largest_of, ([4], 1), ([], 5)),
        (in_a_nested_function, ([4, 5], 1), ([4, 5], 2)),
    ):  # fmt: skip
        agrees(definition, *good)
        fails(definition, Exception, "check-failed", *bad)
    with pytest.raises(relay.RelayError, match="ValueError: it is not there"):
        relay.function(place_of)([1], 2)


def test_what_is_not_there_ends_the_run():
    def popped(xs: list[int], place: int):
        ys = list(xs)
        if place == 0:
            ys.pop()
        elif place == 1:
            ys.pop(0)
        elif place == 2:
            ys.pop(1)
        else:
            ys.pop(place)
        return ys

    def indexed(xs: list[tuple[int, float]], count: int):
        total = 0.0
        for i in range(count):
            total += xs[i][1]
        return total, xs[0], xs[-1]

    def extremes(xs: list[int], what: int):
        if what == 0:
            return min(xs)
        if what == 1:
            return max(xs, key=lambda x: -x)
        if what == 2:
            return functools.reduce(lambda a, b: a + b, xs)
        first, *rest = xs
        return first + len(rest)

    for place in range(4):
        agrees(popped, [4, 5, 6, 7], place)
        agrees(extremes, [4, 5, 6, 7], place)
        fails(popped, IndexError, "check-failed", [], place)
        fails(extremes, (ValueError, TypeError), "check-failed", [], place)
    agrees(indexed, [(1, 2.0), (2, 0.5)], 2)
    fails(indexed, IndexError, "check-failed", [(1, 2.0), (2, 0.5)], 3)
    fails(indexed, IndexError, "check-failed", [], 0)
    with pytest.raises(relay.RelayError, match=r"pop from an empty list \(.*test_lists\.py:\d+") as caught:
        relay.function(popped)([], 0)
    assert caught.value.rule == "check-failed"


def test_gradients_of_elements_of_lists():
    @relay.function
    def product(xs: list[float], i: int):
        ys = list(xs)
        last = ys.pop()
        return xs[i] * xs[0] * last + min(xs)

    found = relay.grad(product, wrt="xs")([2.0, 3.0, 5.0], 1)
    np.testing.assert_allclose(found, [16.0, 10.0, 6.0])


@pytest.mark.parametrize("count", [0, 1, 4])
def test_choices_of_as_many_elements_as_the_program_finds(count: int):
    def choices(n: int, k: int):
        doubled = [2 * i for i in range(n)]
        best = 0
        for size in range(len(doubled) + 1):
            for some in itertools.combinations(doubled, size):
                if sum(some) <= 7:
                    best = max(best, sum(some))
        whole = [[0, *order] for order in itertools.permutations(range(n))]
        parts = [list(each) for each in itertools.permutations(doubled, k)]
        again = [list(each) for each in itertools.combinations_with_replacement(doubled, k)]
        bits = [list(each) for each in itertools.product([0, 1], repeat=k)]
        return best, whole, parts, again, bits, len([each for each in itertools.combinations(doubled, 0)])

    agrees(choices, np.int32(count), np.int32(2))


def test_a_choice_of_a_negative_number_of_elements_ends_the_run():
    def choices(k: int):
        return [list(each) for each in itertools.combinations([1, 2, 3], k)]

    fails(choices, ValueError, "check-failed", np.int32(-1))
