"""What a test tells is known behind it: that something is there, in `if`, `while`, `assert`, by `and`, `or`, `not`."""

# ruff: noqa: RET505
from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees


@relay.datatype
class Bst:
    class Node:
        key: int
        left: "Bst | None"  # noqa: UP037
        right: "Bst | None"  # noqa: UP037


def both_or_neither(x: int | None, y: int | None):
    if x is None or y is None:
        return -1
    return x + y


def not_both_missing(x: int | None, y: int | None):
    if not (x is None and y is None):
        return (x if x is not None else 0) + (y if y is not None else 0)
    return -1


def one_after_another(x: int | None, y: int | None):
    if not (x is None or y is None):
        return x * y
    elif x is not None:
        return x
    return -1


def behind_another_test(x: int | None, y: int | None):
    if y is not None and y > 0 and x is not None:
        return x + y
    if x is None or x > 5:
        return -2
    return x * 2


def by_its_truth(x: int | None, y: int | None):
    if x and not y:
        return x * 10
    if not x:
        return -1 if x is None else 0
    return x


def asserted(x: int | None, y: int | None):
    if x is None:
        x = 1
    if y is None:
        y = None if x > 100 else x
    assert y is not None, "never"
    return x + y


@pytest.mark.parametrize("y", [None, 0, 2])
@pytest.mark.parametrize("x", [None, 0, 3, 7])
@pytest.mark.parametrize(
    "definition", [both_or_neither, not_both_missing, one_after_another, behind_another_test, by_its_truth, asserted]
)
def test_what_is_there_is_known_behind_a_test(definition, x, y):
    defined = relay.function(definition)
    assert defined(x, y) == definition(x, y)


def least(root: Bst) -> int:
    node: Bst | None = root
    best = 0
    while node is not None:
        best = node.key
        node = node.left
    return best


def floor(root: Bst, key: int) -> int | None:
    best = None
    node: Bst | None = root
    while node is not None and node.key != -1:
        if node.key == key:
            return key
        if node.key < key:
            best = node.key
            node = node.right
        else:
            node = node.left
    return best


def has(root: Bst | None, key: int) -> bool:
    while root:
        if root.key == key:
            return True
        root = root.left if key < root.key else root.right
    return False


TREE = Bst.Node(4, Bst.Node(2, None, Bst.Node(3, None, None)), Bst.Node(7, None, None))


def test_a_loop_goes_on_while_something_is_there():
    assert relay.function(least)(TREE) == least(TREE) == 2
    for key in (1, 3, 6, 9):
        assert relay.function(floor)(TREE, key) == floor(TREE, key)
        assert relay.function(has)(TREE, key) == has(TREE, key)
    assert not relay.function(has)(None, 1)


@relay.function
def depth(root: Bst | None) -> int:
    if not root:
        return 0
    return 1 + max(depth(root.left), depth(root.right))


def test_data_is_true():
    assert (depth(TREE), depth(None)) == (3, 0)


def brackets_match(codes: list[int]):
    stack = []
    for code in codes:
        if code > 0:
            stack.append(code)
        elif not stack or stack.pop() != -code:
            return False
    return not stack


@pytest.mark.parametrize("codes", [[1, 2, -2, -1], [1, -2], [-1], [1, 1], []])
def test_a_list_changes_in_the_second_part_of_a_test(codes):
    assert bool(relay.function(brackets_match)(codes)) == brackets_match(codes)


def test_an_assertion_that_does_not_hold_ends_the_run():
    @relay.function
    def there(x: int | None):
        assert x is not None, "nothing is there"
        return x + 1

    assert there(1) == 2
    with pytest.raises(relay.RelayError, match="nothing is there"):
        there(None)


def flattened(rows: list[list[int]]):
    result = []
    while rows:
        first, *rows = rows
        result.extend(first)
    return result


def added_up(rows: list[list[int]]):
    result = []
    while rows:
        result += rows[0]
        rows = rows[1:]
    return result


@pytest.mark.parametrize("definition", [flattened, added_up])
def test_an_empty_list_is_extended_by_a_list_of_the_program(definition):
    assert agrees(definition, [[1, 2], [3]]) == [1, 2, 3]


@relay.function
def half(n: int) -> int | None:
    if n % 2 == 0:
        return n // 2
    return None


def those_there(xs: list[int]):
    found = [half(x) for x in xs]
    return [r * 100 for r in found if r is not None], [r for r in found if r], found.count(None)


def named_and_there(xs: list[int]):
    return (
        [y + x for x in xs if (y := half(x)) is not None],
        sum(y + x for x in xs if (y := half(x)) is not None and y > 1),
        [y + x for x in xs if (y := half(x)) if y < 3],
        [(y if (y := half(x)) is not None else -1) for x in xs],
    )


@pytest.mark.parametrize("definition", [those_there, named_and_there])
def test_conditions_of_comprehensions_tell_what_is_there(definition):
    agrees(definition, [1, 2, 4, 0, 8])


def test_a_loop_whose_test_names_what_is_there_and_asks_for_more():
    def halved(x: int):
        turns = 0
        while (y := half(x)) is not None and turns < 3:
            x = y
            turns += 1
        return x, turns

    agrees(halved, np.int32(12))
    agrees(halved, np.int32(64))


def test_what_may_be_missing_is_compared():
    def compared(x: int | None, y: int | None, n: int):
        return x == n, n != x, x == y, x != y, x == None, (x, n) == (n, n)  # noqa: E711

    for x in (None, 3, 4):
        for y in (None, 3):
            found = relay.function(compared)(x, y, 3)
            assert tuple(map(bool, found)) == compared(x, y, 3)
