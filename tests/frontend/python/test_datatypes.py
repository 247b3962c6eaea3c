"""Data types declared as classes, and models whose arrays are parameters."""

from typing import Generic, TypeVar

import numpy as np
import pytest

import relay
from tests.messages import check_message

Scalar = relay.Tensor[()]
Element = TypeVar("Element")


@relay.datatype
class Tree:
    class Leaf: ...

    class Node:
        left: "Tree"
        value: Scalar
        right: "Tree"


@relay.datatype
class Box(Generic[Element]):
    class Full:
        value: Element

    class Empty: ...


@relay.datatype
class Point:
    x: Scalar
    y: Scalar


@relay.function
def total(tree: Tree) -> Scalar:
    match tree:
        case Tree.Leaf():
            return 0.0
        case Tree.Node(left, value, right):
            return total(left) + value + total(right)


@relay.function
def grow(depth: int) -> Tree:
    if depth == 0:
        return Tree.Leaf()
    return Tree.Node(grow(depth - 1), 1.0, grow(depth - 1))


@relay.function
def total_of_grown(depth: int):
    return total(grow(depth))


@relay.function
def opened(x: relay.Tensor[(3,)], n: int):
    box = Box.Empty()
    if n > 0:
        box = Box.Full(x)
    match box:
        case Box.Full(value):
            return value
        case Box.Empty():
            return x * 0


@relay.function
def norm(a: Scalar):
    match Point(a, a + 1):
        case Point(x, y):
            return x * x + y * y


def test_a_recursive_type():
    assert total_of_grown(np.int32(4)) == 15
    assert "type Tree {\n  Leaf,\n  Node(Tree, float32, Tree),\n}" in total_of_grown.astext()


def test_a_type_with_one_constructor():
    assert norm(np.float32(2)) == 13


def test_values_are_dataclasses():
    leaf = Tree.Leaf()
    assert repr(Tree.Node(leaf, 1.0, leaf)) == "Tree.Node(left=Tree.Leaf(), value=1.0, right=Tree.Leaf())"
    assert Tree.Node(leaf, 1.0, leaf) == Tree.Node(leaf, 1.0, leaf)
    assert isinstance(leaf, Tree)
    match Box.Full(3):
        case Box.Full(value):
            assert value == 3


def test_a_class_without_constructors_is_refused():
    with pytest.raises(relay.RelayError) as caught:

        @relay.datatype
        class Nothing:
            pass

    check_message("python", "bad-datatype", caught.value)


@relay.model
class Perceptron:
    def __init__(self, random: np.random.Generator) -> None:
        self.layers = [
            (random.standard_normal((3, 3), np.float32), random.standard_normal(3, np.float32)) for _ in range(2)
        ]
        self.scale = 2.0

    def activation(self, x):
        return np.maximum(x, 0) * self.scale

    def __call__(self, x: relay.Tensor[("n", 3)]):  # noqa: F821
        for w, b in self.layers:
            x = self.activation(x @ w + b)
        return x


@relay.model
class Ensemble:
    def __init__(self) -> None:
        self.members = [Perceptron(np.random.default_rng(seed)) for seed in range(2)]

    def __call__(self, x: relay.Tensor[(2, 3)]):
        total = x * 0
        for member in self.members:
            total = total + member(x)
        return total


def test_a_model_runs_as_the_class_does():
    model, x = Perceptron(np.random.default_rng(0)), np.ones((2, 3), np.float32)
    module, params = model.to_relay()
    assert list(params) == ["layers.0.0", "layers.0.1", "layers.1.0", "layers.1.1"]
    assert [each.name_hint for each in module["main"].params] == ["x", *params]
    np.testing.assert_allclose(model(x), type(model).__call__.__wrapped__(model, x), rtol=1e-5)


def test_models_inside_models():
    model, x = Ensemble(), np.ones((2, 3), np.float32)
    assert "members.1.layers.0.0" in model.to_relay()[1]
    expected = sum(type(each).__call__.__wrapped__(each, x) for each in model.members)
    np.testing.assert_allclose(model(x), expected, rtol=1e-5)


def perceptron_of(width):
    @relay.model
    class Sized:
        def __init__(self) -> None:
            self.weight = np.eye(width, dtype=np.float32)

        def __call__(self, x: "relay.Tensor[('n', width)]"):  # noqa: F821
            return x @ self.weight

    return Sized()


def test_annotations_of_a_model_know_the_names_around_its_class():
    model = perceptron_of(3)
    assert str(model.to_relay()[0]["main"].params[0].checked_type) == "Tensor[(n, 3), float32]"


@relay.datatype
class Branching:
    class Leaf:
        value: relay.Tensor[(3,)]

    class Node:
        left: "Branching"
        right: "Branching"


@relay.model
class Encoder:
    """Methods that call themselves, each other, and the model."""

    def __init__(self) -> None:
        self.weight = np.full(3, 0.5, np.float32)

    def encode(self, tree: Branching) -> relay.Tensor[(3,)]:
        match tree:
            case Branching.Leaf(value):
                return value * self.weight
            case Branching.Node(left, right):
                return np.tanh(self.encode(left) - self.encode(right))

    def even(self, x: relay.Tensor[(3,)], n: int) -> relay.Tensor[(3,)]:
        return x if n == 0 else self.odd(x * self.weight, n - 1)

    def odd(self, x: relay.Tensor[(3,)], n: int) -> relay.Tensor[(3,)]:
        if n == 0:
            return -x
        return self.even(x + self.weight, n - 1)

    def __call__(self, tree: Branching, n: int) -> relay.Tensor[(3,)]:
        if n > 3:
            return self(tree, n - 3) * self.weight
        return self.even(self.encode(tree), n)


@pytest.mark.parametrize("n", [0, 3, 7])
def test_methods_of_models_that_are_recursive(n):
    def encode(*numbers):
        return np.tanh(numbers[0] / 2 - np.tanh((numbers[1] - numbers[2]) / 2))

    def expected(n):
        if n > 3:
            return expected(n - 3) / 2
        x = encode(1, 2, 5)
        for step in range(n):
            x = x + 0.5 if step % 2 else x / 2
        return -x if n % 2 else x

    ones = np.ones(3, np.float32)
    tree = Branching.Node(Branching.Leaf(ones), Branching.Node(Branching.Leaf(2 * ones), Branching.Leaf(5 * ones)))
    model = Encoder()
    assert model.to_relay()[1].keys() == {"weight"}
    np.testing.assert_allclose(model(tree, n), np.full(3, expected(n)), rtol=1e-5)


@relay.datatype
class Chain(Generic[Element]):
    class Nil: ...

    class Cons:
        head: Element
        tail: "Chain[Element]"


@relay.datatype
class Choice:
    class Some:
        chain: Chain[int]

    class Nil: ...


@relay.function
def chained(xs: list[int]) -> Chain[int]:
    return Chain.Cons(xs[0], chained(xs[1:])) if len(xs) > 0 else Chain.Nil()


@relay.function
def counted(choice: Choice, xs: list[int], limit: int | None = None):
    found, chain = [x for x in sorted(xs) if limit is None or x < limit], chained(xs)
    match choice:
        case Choice.Some(other):
            chain = other
        case Choice.Nil():
            found.append(len(found))
    return found, chain, Choice.Some(chain)


def test_constructors_may_have_the_names_of_lists_and_options():
    for choice in (Choice.Nil(), Choice.Some(Chain.Cons(7, Chain.Nil()))):
        found, chain, again = counted(choice, [3, 1, 2], limit=3)
        expected = Chain.Cons(3, Chain.Cons(1, Chain.Cons(2, Chain.Nil()))) if choice == Choice.Nil() else choice.chain
        assert found == ([1, 2, 2] if choice == Choice.Nil() else [1, 2])
        assert chain == expected
        assert again == Choice.Some(expected)
    assert isinstance(chained(()), Chain.Nil)
    text = chained.astext()
    assert relay.structural_equal(relay.parse(text), chained.module)
    found = relay.create_executor("interpreter", mod=counted.module).evaluate()(Choice.Nil(), [1], None)
    assert found[1].constructor == "ChainCons"


def test_two_data_types_of_one_name_are_refused():
    def another():
        @relay.datatype
        class Point:
            y: Scalar
            x: Scalar

        return Point

    other = another()

    @relay.function
    def both(a: Point, b: Scalar):
        return a.x + other(b, b).x

    with pytest.raises(relay.RelayError, match="two data types of one program are named `Point`") as caught:
        both(Point(1.0, 2.0), 3.0)
    assert caught.value.remedy
