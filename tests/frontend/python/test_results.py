"""What programs give Python: instances of the user's classes, lists, None or what is there, at any depth. What came out
may be given again."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pytest

import relay

Item = TypeVar("Item")
Rows = relay.Tensor[(relay.symbol("n"), 2)]
DEEP = 100_000


@relay.datatype
class Tree(Generic[Item]):
    class Leaf:
        value: Item

    class Fork:
        left: "Tree[Item]"
        right: "Tree[Item]"


class Place(NamedTuple):
    at: int
    names: list[int]


@dataclasses.dataclass(frozen=True)
class Span:
    first: int
    last: int


@relay.datatype
class Shape:
    class Path:
        places: list[Place]
        around: Span | None
        next: "Shape | None"

    class Group:
        shapes: list["Shape"]
        tree: Tree[Span]


@relay.datatype
class Stack:
    class Empty: ...

    class Push:
        top: int
        below: "Stack"


@relay.datatype
class Point:
    x: float
    y: float


@relay.function
def mapped(tree: Tree[float]) -> Tree[float]:
    match tree:
        case Tree.Leaf(value):
            return Tree.Leaf(value * 2)
        case Tree.Fork(left, right):
            return Tree.Fork(mapped(left), mapped(right))


@relay.function
def shapes(n: int, shape: Shape):
    tree = Tree.Fork(Tree.Leaf(Span(1, n)), Tree.Leaf(Span(n, 2)))
    path = Shape.Path([Place(n, [1, n]), Place(2, [])], Span(n, n), None)
    return [Shape.Group([path, shape], tree), shape], (path, None if n > 3 else path), Point(1.0, 2.0)


@relay.function
def pushed(n: int):
    found = Stack.Empty()
    for k in range(n):
        found = Stack.Push(k, found)
    return found


@relay.function
def height(stack: Stack) -> int:
    n, going = 0, True
    while going:
        match stack:
            case Stack.Push(_, below):
                n, stack = n + 1, below
            case Stack.Empty():
                going = False
    return n


def test_instances_of_the_users_classes():
    found = mapped(Tree.Fork(Tree.Leaf(1.0), Tree.Fork(Tree.Leaf(2.0), Tree.Leaf(3.0))))
    assert found == Tree.Fork(Tree.Leaf(2.0), Tree.Fork(Tree.Leaf(4.0), Tree.Leaf(6.0)))
    assert mapped(found) == Tree.Fork(Tree.Leaf(4.0), Tree.Fork(Tree.Leaf(8.0), Tree.Leaf(12.0)))


@pytest.mark.parametrize("n", [3, 4])
def test_parts_have_their_names_inside_of_data(n):
    around = Shape.Path([Place(7, [8])], None, Shape.Path([], Span(5, 6), None))
    found, wanted = shapes(n, around), shapes.definition(n, around)
    assert found == wanted
    assert isinstance(found[0], list)
    again, wanted = shapes(n=n, shape=found[0][0]), shapes.definition(n, wanted[0][0])
    assert again == wanted


def test_lists_are_of_their_own():
    @relay.function
    def lists(n: int):
        none = [n for _ in range(0)]
        return none, none, [none]

    first, second, third = lists(3)
    first.append(1)
    assert (second, third) == ([], [[]])


def test_depth_does_not_matter():
    stack = pushed(DEEP)
    assert isinstance(stack, Stack.Push)
    assert stack.top == DEEP - 1
    assert height(stack) == DEEP

    @relay.function
    def counted(n: int):
        return [[k] for k in range(n)], list(range(n))

    nested, flat = counted(2000)
    assert nested[-1] == [1999]
    assert len(flat) == 2000


def test_what_is_shared_is_shared():
    @relay.function
    def doubled(n: int):
        tree = Tree.Leaf(1)
        for _ in range(n):
            tree = Tree.Fork(tree, tree)
        return tree

    tree = doubled(64)  # 2 ** 64 leaves
    assert tree.left is tree.right


@relay.model
class Reader:
    def __init__(self):
        self.weight = np.ones((2, 2), np.float32)

    def __call__(self, x: Rows, limits: Span, place: Place = Place(1, [2])):  # noqa: B008
        found, below = [], Tree.Leaf(limits)
        for row in x @ self.weight:
            if row[0] > limits.first:
                found.append(np.sum(row))
        return found, below, (place, None if len(found) > 1 else found)


def test_models_give_values_of_python():
    model, x = Reader(), np.array([[1, 2], [3, 4]], np.float32)
    plain = Reader.__call__.__wrapped__
    for limits in (Span(2, 3), Span(4, 3), Span(100, 3)):
        found, wanted = model(x, limits), plain(model, x, limits, Place(1, [2]))
        assert found == wanted
        assert isinstance(found[0], list)
        assert isinstance(found[2][0], Place)
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(relay.RelayError, match="cannot be pickled or copied"):
            copied(model)


def test_derived_programs():
    @relay.function
    def length(limits: Span, points: list[Point], at: Point = Point(1.0, 2.0)):  # noqa: B008
        total = at.x * at.y * limits.first
        for point in points:
            total = total + point.x * at.x
        return total

    limits, points = Span(2, 3), [Point(3.0, 4.0)]
    assert length(limits, points) == 7
    assert relay.grad(length, wrt="at")(limits, points, Point(1.0, 2.0)) == Point(7.0, 2.0)
    assert relay.grad(length, wrt="points")(limits, points, Point(1.0, 2.0)) == [Point(1.0, 0.0)]
    assert relay.specialize(shapes, n=3)(Shape.Path([], Span(1, 2), None)) == shapes(
        3, Shape.Path([], Span(1, 2), None)
    )


PROCESS = """
import relay

@relay.function
def kept(n: int):
    return [k for k in range(n)], (None if n > 2 else [n]), [(n, [n])]

found = kept(3)
assert found == ([0, 1, 2], None, [(3, [3])]), found
assert isinstance(found[0], list)
print("reading" in vars(kept))
"""


def test_another_process_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    script = tmp_path / "kept.py"
    script.write_text(PROCESS)
    read = [subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout for _ in "12"]
    assert read == ["True\n", "False\n"]
