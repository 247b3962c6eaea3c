"""Programs of all forms that can be differentiated, with arguments in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay.ir.module import IRModule

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"
TREE = "type Tree { Leaf(int32, Tensor[(3,), float64]), Node(Tree, Tree) }\n"
NO_GRADIENT = """
    def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(1, 8, 8), float32]) { nn.contrib_dense_pack(%x, %w, units=8) }"""

PROGRAMS: dict[str, str] = {
    "a straight line": """
        def @main(%x: Tensor[(2, 3), float64], %w: Tensor[(4, 3), float64], %b: Tensor[(4,), float64]) {
          sum(tanh(add(nn.dense(%x, %w), %b)))
        }""",
    "a value used often": """
        def @main(%x: Tensor[(3,), float64]) {
          let %a = exp(%x); let %b = multiply(%a, %a); sum(add(multiply(%b, %a), divide(%b, add(%a, %x))))
        }""",
    "tuples inside tuples": """
        def @main(%x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) {
          let %t = ((%x, sin(%y)), %y); let %u = (%t.0, 2);
          let %v = %u.0; sum(multiply(%v.0, multiply(%v.1, %t.1)))
        }""",
    "a choice": """
        def @main(%x: Tensor[(2, 3), float64], %c: bool) {
          let %y = if (%c) { let %a = exp(%x); multiply(%a, multiply(%a, %x)) } else { sin(%x) };
          sum(multiply(%y, %x))
        }""",
    "choices inside choices": """
        def @main(%x: Tensor[(3,), float64], %c: bool) {
          let %y = if (%c) { let %s = sin(%x); if (sum(%x) > 0f64) { multiply(%s, %x) } else { exp(%s) } }
                   else { let %t = if (sum(%x) > 1f64) { %x } else { cos(%x) }; multiply(%t, %t) };
          sum(%y)
        }""",
    "a choice that gives a tuple": """
        def @main(%x: Tensor[(3,), float64], %c: bool) {
          let %y = if (%c) { (%x, exp(%x)) } else { (sin(%x), %x) };
          sum(multiply(%y.0, %y.1))
        }""",
    "a branch that uses nothing": """
        def @main(%x: Tensor[(3,), float64], %c: bool) { if (%c) { sum(%x) } else { 2f64 } }""",
    "generic functions inside functions": """
        def @main(%x: Tensor[(3,), float64], %y: float64) {
          let %twice = fn (%v) { (%v, %v) };
          let %both = fn[A](%v: A) -> (A, Tensor[(3,), float64]) { (%v, %x) };
          let %p = %twice(%x); let %q = %both(%y);
          sum(multiply(%p.0, %q.1)) * %q.0
        }""",
    "functions that share a function": """
        def @g(%x: float64) { sin(%x) * %x }
        def @h(%x: float64) { @g(%x) * @g(%x + 1f64) }
        def @main(%x: float64) { @g(%x) * @h(%x) + @h(%x * 2f64) }""",
    "data without floats in data with floats": """
        type Option[A] { Some(A), None }
        type Both[A] { Both(Option[A], float64) }
        def @main(%x: float64, %c: bool) {
          let %p = if (%c) { Both(Some(True), %x * %x) } else { Both(None, %x) };
          match ((Some(False), %p)) { (Some(_), Both(Some(_), %y)) => { %y * %y }, (_, Both(_, %y)) => { %y } }
        }""",
    "calls of functions": """
        def @square(%x: Tensor[(3,), float64]) -> Tensor[(3,), float64] { multiply(%x, %x) }
        def @twice(%x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { (@square(@square(%x)), @square(%y)) }
        def @main(%x: Tensor[(3,), float64], %c: bool) {
          let %p = @twice(%x, sin(%x)); sum(multiply(%p.0, %p.1))
        }""",
    "data of named extents": """
        type Several { More(Tensor[(?,), float64], Several), Done }
        def @total(%s: Several, %w: Tensor[(n,), float64]) -> float64 {
          match (%s) { More(%x, %rest) => sum(sin(%x * %w)) + @total(%rest, %w), Done => 0f64 }
        }
        def @main(%x: Tensor[(3,), float64], %y: Tensor[(3,), float64]) { @total(More(%x, More(%y, Done)), %x) }""",
    "a loop": """
        def @loop(%i: int32, %x: Tensor[(2, 3), float64], %w: Tensor[(3, 3), float64]) -> Tensor[(2, 3), float64] {
          if (%i == 0) { %x } else { @loop(%i - 1, tanh(nn.dense(%x, %w)), %w) }
        }
        def @main(%x: Tensor[(2, 3), float64], %w: Tensor[(3, 3), float64]) { sum(@loop(5, %x, %w)) }""",
    "recursion that is no loop": """
        def @fib(%i: int32, %x: float64) -> float64 {
          if (%i < 2) { multiply(%x, sin(%x)) } else { add(@fib(%i - 1, %x), multiply(%x, @fib(%i - 2, cos(%x)))) }
        }
        def @main(%x: float64) { @fib(6, %x) }""",
    "functions that call each other": """
        def @even(%i: int32, %x: float64) -> float64 { if (%i == 0) { %x } else { @odd(%i - 1, sin(%x)) } }
        def @odd(%i: int32, %x: float64) -> float64 { if (%i == 0) { exp(%x) } else { @even(%i - 1, %x * %x) } }
        def @main(%x: float64) { @even(3, %x) + @odd(4, %x) }""",
    "lists that are made and folded": LIST
    + """
        def @fold(%xs: List[Tensor[(3,), float64]], %s: Tensor[(3,), float64]) -> Tensor[(3,), float64] {
          match (%xs) { Nil => %s, Cons(%h, %t) => @fold(%t, tanh(add(%s, multiply(%h, %s)))) }
        }
        def @make(%i: int32, %x: Tensor[(3,), float64]) -> List[Tensor[(3,), float64]] {
          if (%i == 0) { Nil } else { Cons(%x, @make(%i - 1, sin(%x))) }
        }
        def @total(%xs: List[Tensor[(3,), float64]]) -> float64 {
          match (%xs) { Nil => 0f64, Cons(%h, %t) => sum(%h) * 0.5f64 + @total(%t) }
        }
        def @main(%x: Tensor[(3,), float64]) { let %xs = @make(4, %x); sum(@fold(%xs, %x)) + @total(%xs) }""",
    "a part of a list": LIST
    + """
        def @make(%i: int32, %x: float64) -> List[float64] {
          if (%i == 0) { Nil } else { Cons(%x, @make(%i - 1, sin(%x) * 2f64)) }
        }
        def @main(%x: float64) {
          match (@make(4, %x)) { Cons(_, Cons(%b, Cons(%c, _))) => %b * %c, Cons(%a, _) => %a, Nil => 0f64 }
        }""",
    "trees": TREE
    + """
        def @of(%t: Tree, %w: Tensor[(3, 3), float64]) -> Tensor[(3,), float64] {
          match (%t) { Leaf(_, %x) => tanh(%x), Node(%l, %r) => tanh(nn.dense(@of(%l, %w) * @of(%r, %w), %w)) }
        }
        def @main(%x: Tensor[(3,), float64], %w: Tensor[(3, 3), float64]) {
          let %t = Node(Node(Leaf(1, %x), Leaf(2, sin(%x))), Leaf(3, exp(%x))); sum(@of(%t, %w))
        }""",
    "functions as arguments": LIST
    + """
        def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
          match (%xs) { Nil => Nil, Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)) }
        }
        def @total(%xs: List[float64]) -> float64 { match (%xs) { Nil => 0f64, Cons(%h, %t) => %h + @total(%t) } }
        def @main(%x: float64, %y: float64) {
          @total(@map(fn (%a: float64) { %a * %a * %y }, Cons(%x, Cons(sin(%x), Nil))))
        }""",
    "closures that are chosen": """
        def @main(%x: float64, %y: float64, %c: bool) {
          let %f = if (%c) { fn (%a: float64) -> float64 { %a * %x * %a } }
                   else { fn (%a: float64) -> float64 { sin(%a) + %x } };
          %f(%y) * %f(%x)
        }""",
}  # fmt: skip


def arguments_of(module: IRModule) -> list[tuple[Any, ...]]:
    """Arguments for `@main`, both ways where it takes a bool."""
    generator = np.random.default_rng(3)
    types = [param.checked_type for param in module["main"].params]
    arrays = [generator.uniform(0.3, 1.2, type_.shape) if type_.dtype.is_float else None for type_ in types]
    ways = (True, False) if any(each is None for each in arrays) else (True,)
    return [tuple(way if each is None else np.asarray(each) for each in arrays) for way in ways]
