"""Data types: trees, expressions, interpreters, records."""

# As people write it:
# ruff: noqa: E731, E741, RUF005

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import relay

from .inputs import runs

Vector = relay.Tensor[(3,)]


@relay.datatype
class Tree:
    class Leaf: ...

    class Node:
        left: "Tree"
        value: int
        right: "Tree"


@relay.datatype
class Rose:
    class Rose:
        value: int
        children: list["Rose"]


@relay.datatype
class Term:
    class Number:
        value: float

    class Variable:
        index: int

    class Add:
        left: "Term"
        right: "Term"

    class Multiply:
        left: "Term"
        right: "Term"


LEAF = Tree.Leaf()
TREE = Tree.Node(Tree.Node(LEAF, 1, LEAF), 3, Tree.Node(Tree.Node(LEAF, 4, LEAF), 7, LEAF))


@relay.function
def insert(tree: Tree, value: int) -> Tree:
    match tree:
        case Tree.Leaf():
            return Tree.Node(Tree.Leaf(), value, Tree.Leaf())
        case Tree.Node(left, root, right) if value < root:
            return Tree.Node(insert(left, value), root, right)
        case Tree.Node(left, root, right):
            return Tree.Node(left, root, insert(right, value))


@relay.function
def in_order(tree: Tree) -> list[int]:
    match tree:
        case Tree.Leaf():
            return []
        case Tree.Node(left, value, right):
            return in_order(left) + [value] + in_order(right)


@runs(([5, 2, 8, 1, 9],), ([],))
def tree_sort(values: list[int]):
    tree = Tree.Leaf()
    for value in values:
        tree = insert(tree, value)
    return in_order(tree)


@relay.function
def depth(tree: Tree) -> int:
    match tree:
        case Tree.Leaf():
            return 0
        case Tree.Node(left, _, right):
            return 1 + max(depth(left), depth(right))


@runs((TREE,), (LEAF,))
def depth_of_tree(tree: Tree):
    return depth(tree)


@runs((TREE, 4), (TREE, 5))
def found_in_tree(tree: Tree, wanted: int):
    while True:
        match tree:
            case Tree.Leaf():
                return False
            case Tree.Node(left, value, right):
                if value == wanted:
                    return True
                tree = left if wanted < value else right


@relay.function
def mapped(tree: Tree) -> Tree:
    match tree:
        case Tree.Node(left=l, value=v, right=r):
            return Tree.Node(mapped(r), v * 2, mapped(l))
        case _:
            return tree


@runs(
    (TREE,),
)
def mirrored(tree: Tree):
    return in_order(mapped(tree))


@relay.function
def rose_sum(rose: Rose) -> int:
    match rose:
        case Rose.Rose(value, children):
            return value + sum([rose_sum(c) for c in children])


@relay.function
def rose_depth(rose: Rose) -> int:
    deepest = 0
    for child in rose.children:
        deepest = max(deepest, rose_depth(child))
    return deepest + 1


@runs(
    (Rose.Rose(1, [Rose.Rose(2, []), Rose.Rose(3, [Rose.Rose(4, [])])]),),
)
def rose_facts(rose: Rose):
    return rose_sum(rose), rose_depth(rose), rose.value, len(rose.children)


@relay.function
def evaluated(term: Term, variables: list[float]) -> float:
    match term:
        case Term.Number(value):
            return value
        case Term.Variable(index):
            return variables[index]
        case Term.Add(left, right):
            return evaluated(left, variables) + evaluated(right, variables)
        case Term.Multiply(left, right):
            return evaluated(left, variables) * evaluated(right, variables)


@relay.function
def derived(term: Term, by: int) -> Term:
    match term:
        case Term.Number(_):
            return Term.Number(0.0)
        case Term.Variable(index):
            return Term.Number(1.0 if index == by else 0.0)
        case Term.Add(a, b):
            return Term.Add(derived(a, by), derived(b, by))
        case Term.Multiply(a, b):
            return Term.Add(Term.Multiply(derived(a, by), b), Term.Multiply(a, derived(b, by)))


@relay.function
def simplified(term: Term) -> Term:
    match term:
        case Term.Add(Term.Number(0.0), b):
            return simplified(b)
        case Term.Add(a, Term.Number(0.0)):
            return simplified(a)
        case Term.Multiply(Term.Number(1.0), b):
            return simplified(b)
        case Term.Add(a, b):
            return Term.Add(simplified(a), simplified(b))
        case _:
            return term


@runs(
    (Term.Multiply(Term.Variable(0), Term.Add(Term.Variable(1), Term.Number(2.0))), [3.0, 4.0]),
)
def symbolic(term: Term, variables: list[float]):
    d = derived(term, 0)
    return evaluated(term, variables), evaluated(d, variables), evaluated(simplified(d), variables)


@relay.function
def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


@relay.function
def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


@runs((7,), (10,))
def mutual(n: int):
    return is_even(n), is_odd(n)


@runs((5,), (4,))
def mutual_inside(n: int):
    def even(k: int) -> bool:
        return True if k == 0 else odd(k - 1)

    def odd(k: int) -> bool:
        if k == 0:
            return False
        return even(k - 1)

    return even(n), odd(n)


class State(NamedTuple):
    position: Vector
    velocity: Vector
    time: float


@runs(
    (State(np.ones(3, np.float32), np.zeros(3, np.float32), 0.0), 5),
)
def simulated(state: State, steps: int):
    for _ in range(steps):
        velocity = state.velocity - 0.1 * state.position
        state = State(state.position + 0.1 * velocity, velocity, state.time + 0.1)
    return state.position, state.time


@runs(
    (State(np.ones(3, np.float32), np.zeros(3, np.float32), 1.0),),
)
def state_out(state: State) -> State:
    return state._replace(time=state.time * 2)


@dataclasses.dataclass(frozen=True)
class Body:
    mass: float
    position: Vector
    velocity: Vector


BODY = Body(2.0, np.ones(3, np.float32), np.array([1, 0, -1], np.float32))


@runs(
    (BODY, Body(1.0, np.zeros(3, np.float32), np.zeros(3, np.float32)), 3),
)
def two_bodies(a: Body, b: Body, steps: int):
    def energy(body):
        return 0.5 * body.mass * (body.velocity @ body.velocity)

    for _ in range(steps):
        between = b.position - a.position
        force = a.mass * b.mass * between / (between @ between + 0.1)
        a = dataclasses.replace(a, position=a.position + 0.1 * a.velocity, velocity=a.velocity + 0.1 * force / a.mass)
        b = dataclasses.replace(b, position=b.position + 0.1 * b.velocity, velocity=b.velocity - 0.1 * force / b.mass)
    return a.position, energy(a) + energy(b)


@runs((None, 1.0), (2.0, 1.0))
def with_option(x: float | None, default: float = 0.0):
    value = default if x is None else x
    return value * 2


@relay.function
def first_negative(xs: list[int]) -> int | None:
    for x in xs:
        if x < 0:
            return x
    return None


@runs(([1, -2, 3],), ([1],))
def option_result(xs: list[int]):
    found = first_negative(xs)
    if found is None:
        return 0
    return found


@relay.function
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@runs(
    (2, 3),
)
def ackermann_of(m: int, n: int):
    return ackermann(m, n)


@relay.function
def tree_fold(tree: Tree, f: Callable[[int, int, int], int], start: int) -> int:
    match tree:
        case Tree.Leaf():
            return start
        case Tree.Node(left, value, right):
            return f(tree_fold(left, f, start), value, tree_fold(right, f, start))


@runs(
    (TREE,),
)
def fold_of_tree(tree: Tree):
    return tree_fold(tree, lambda l, v, r: l + v + r, 0), tree_fold(tree, lambda l, v, r: max(l, v, r), 0)


@relay.function
def leaves(tree: Tree) -> int:
    stack = [tree]
    count = 0
    while stack:
        match stack.pop():
            case Tree.Leaf():
                count += 1
            case Tree.Node(left, _, right):
                stack.append(left)
                stack.append(right)
    return count


@runs(
    (TREE,),
)
def leaves_of_tree(tree: Tree):
    return leaves(tree)


@relay.datatype
class Instruction:
    class Push:
        value: int

    class Add: ...

    class JumpIfZero:
        target: int


PROGRAM = [Instruction.Push(2), Instruction.Push(3), Instruction.Add(), Instruction.JumpIfZero(0)]


@runs(
    (PROGRAM,),
)
def bytecode(program: list[Instruction]):
    pc, stack = 0, [0]
    while pc < len(program):
        match program[pc]:
            case Instruction.Push(value):
                stack = stack + [value]
                pc += 1
            case Instruction.Add():
                *rest, a, b = stack
                stack = rest + [a + b]
                pc += 1
            case Instruction.JumpIfZero(target):
                pc = target if stack[-1] == 0 else pc + 1
    return stack


@runs((3, 4), (0, 9))
def church(n: int, x: int):
    def compose(f, g):
        return lambda v: f(g(v))

    double = lambda v: v * 2
    twice = compose(double, double)
    return twice(x) + n
