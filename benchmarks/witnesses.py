"""For each pass that the models of the ablation do not need, a program that does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Witness:
    """A program, in words and as text, the arguments of a call, and what is constant of its parameters."""

    what: str
    text: str
    arguments: tuple[Any, ...]
    params: Mapping[str, Any] = field(default_factory=dict)


def _floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


WITNESSES: Mapping[str, Witness] = MappingProxyType(
    {
        "SpecializeFunctions": Witness(
            "a fold with a function over a list of states",
            """
            def @main(%n: int32, %w: Tensor[(64,), float32]) -> Tensor[(64,), float32] {
              let %build = fn (%i: int32, %rest: List[float32]) -> List[float32] {
                if (equal(%i, 0)) { %rest } else { %build(subtract(%i, 1), Cons(cast(%i, dtype="float32"), %rest)) }
              };
              @foldl(fn (%h: Tensor[(64,), float32], %x: float32) { tanh(add(multiply(%h, %w), %x)) }, %w,
                     %build(%n, Nil))
            }""",
            (np.int32(2000), _floats(64)),
        ),
        "CaseOfKnownConstructor": Witness(
            "a loop whose step gives an Option",
            """
            def @main(%n: int32, %x: float32) -> float32 {
              let %step = fn (%i: int32, %h: float32) -> Option[(int32, float32)] {
                if (less_equal(%i, 0)) { None } else { Some((subtract(%i, 1), add(multiply(%h, 0.5f), %x))) }
              };
              let %loop = fn (%i: int32, %h: float32) -> float32 {
                match (%step(%i, %h)) { Some(%p) => %loop(%p.0, %p.1), None => %h }
              };
              %loop(%n, %x)
            }""",
            (np.int32(20000), np.float32(1)),
        ),
        "IntroduceAccumulators": Witness(
            "a sum behind its recursion, which otherwise takes a stack as deep as the loop is long",
            """
            def @sum_to(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(%n, @sum_to(subtract(%n, 1))) } }
            def @main(%n: int32) { @sum_to(%n) }""",
            (np.int32(20000),),
        ),
        "PromoteRefs": Witness(
            "a loop that counts and sums in refs",
            """
            def @main(%n: int32, %x: float32) {
              let %i = ref(0);
              let %sum = ref(0f);
              let %loop = fn () -> () {
                if (less(ref_read(%i), %n)) {
                  ref_write(%sum, add(multiply(ref_read(%sum), 0.5f), %x));
                  ref_write(%i, add(ref_read(%i), 1));
                  %loop()
                } else { () }
              };
              let %u = %loop();
              ref_read(%sum)
            }""",
            (np.int32(20000), np.float32(1)),
        ),
        "RemoveUnusedResults": Witness(
            "a recursion that gives two results, of which one is looked at",
            """
            def @both(%i: int32, %x: Tensor[(64,), float32]) -> (Tensor[(64,), float32], Tensor[(64,), float32]) {
              if (less(%i, 1)) { (%x, %x) } else {
                let %r = @both(subtract(%i, 1), %x);
                (tanh(%r.0), add(%r.1, %x))
              }
            }
            def @main(%n: int32, %x: Tensor[(64,), float32]) { let %r = @both(%n, %x); %r.1 }""",
            (np.int32(2000), _floats(64)),
        ),
        "LoopInvariantCodeMotion": Witness(
            "a loop that makes the same matrix in each turn",
            """
            def @main(%n: int32, %a: Tensor[(64, 64), float32], %x: Tensor[(1, 64), float32]) {
              let %loop = fn (%i: int32, %h: Tensor[(1, 64), float32]) -> Tensor[(1, 64), float32] {
                let %square = nn.matmul(%a, %a);
                let %next = tanh(nn.matmul(%h, %square));
                if (less_equal(%i, 0)) { %next } else { %loop(subtract(%i, 1), %next) }
              };
              %loop(%n, %x)
            }""",
            (np.int32(50), _floats(64, 64) / 8, _floats(1, 64)),
        ),
        "LiftCalledFunctions": Witness(
            "a function made in every turn of a loop",
            """
            def @main(%n: int32, %x: float32) -> float32 {
              let %loop = fn (%i: int32, %h: float32) -> float32 {
                let %f = fn (%a: float32) { add(multiply(%a, 0.5f), multiply(%h, 0.25f)) };
                if (less_equal(%i, 0)) { %h } else { %loop(subtract(%i, 1), %f(%f(%f(%x)))) }
              };
              %loop(%n, %x)
            }""",
            (np.int32(20000), np.float32(1)),
        ),
        "ToGraphNormalForm": Witness(
            "a program that names every intermediate value, one of them in two scopes",
            """
            def @main(%x: Tensor[(256, 1024), float32], %c: bool) {
              let %a = exp(%x);
              let %b = multiply(%a, %x);
              let %d = add(%b, %a);
              let %e = tanh(%d);
              let %f = subtract(%e, %x);
              if (%c) { %f } else { %e }
            }""",
            (_floats(256, 1024), np.bool_(True)),
        ),
        "DynamicToStatic": Witness(
            "shapes that are computed from shapes, as exporters write them",
            """
            def @main(%x: Tensor[(32, 8, 64), float32]) {
              let %rows = take(shape_of(%x), 0, axis=0);
              let %shape = concatenate((reshape(%rows, newshape=[1]), reshape(-1, newshape=[1])), axis=0);
              let %flat = dyn.reshape(%x, %shape);
              nn.relu(add(%flat, %flat))
            }""",
            (_floats(32, 8, 64),),
        ),
        "CanonicalizeOps": Witness(
            "a split whose parts are used elementwise",
            """
            def @main(%x: Tensor[(256, 1024), float32], %b: Tensor[(1024,), float32]) {
              let %t = split(nn.bias_add(%x, %b, axis=1), indices_or_sections=4, axis=1);
              multiply(add(sigmoid(%t.0), tanh(%t.1)), add(sigmoid(%t.2), tanh(%t.3)))
            }""",
            (_floats(256, 1024), _floats(1024)),
        ),
        "SimplifyExpr": Witness(
            "transposes there and back, as converters between layouts leave them",
            """
            def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 1, 1), float32]) {
              let %y = transpose(nn.relu(nn.conv2d(%x, %w)), axes=[0, 2, 3, 1]);
              nn.conv2d(transpose(%y, axes=[0, 3, 1, 2]), %w)
            }""",
            (_floats(1, 64, 56, 56),),
            {"w": _floats(64, 64, 1, 1)},
        ),
        "EliminateCommonSubexpr": Witness(
            "a product that is written twice",
            """
            def @main(%x: Tensor[(256, 256), float32], %w: Tensor[(256, 256), float32]) {
              add(nn.relu(nn.dense(%x, %w)), tanh(nn.dense(%x, %w)))
            }""",
            (_floats(256, 256), _floats(256, 256)),
        ),
        "FoldExplicitPadding": Witness(
            "a convolution behind a padding of its own",
            """
            def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
              nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), %w, padding=[0, 0, 0, 0])
            }""",
            (_floats(1, 64, 56, 56), _floats(64, 64, 3, 3)),
        ),
        "FoldScaleAxis": Witness(
            "a constant scale for each channel of what two convolutions read",
            """
            def @main(%x: Tensor[(1, 64, 56, 56), float32], %s: Tensor[(64, 1, 1), float32],
                      %v: Tensor[(64, 64, 1, 1), float32], %w: Tensor[(64, 64, 1, 1), float32]) {
              let %y = multiply(%x, %s);
              (nn.conv2d(%y, %v), nn.conv2d(%y, %w))
            }""",
            (_floats(1, 64, 56, 56),),
            {"s": _floats(64, 1, 1), "v": _floats(64, 64, 1, 1), "w": _floats(64, 64, 1, 1)},
        ),
        "RecognizeAttention": Witness(
            "attention over 512 rows, whose matrix of scores is then never in memory",
            """
            def @main(%q: Tensor[(12, 512, 64), float32], %k: Tensor[(12, 512, 64), float32],
                      %v: Tensor[(12, 512, 64), float32]) {
              let %scores = multiply(nn.batch_matmul(%q, %k, transpose_b=True), 0.125f);
              nn.batch_matmul(nn.softmax(%scores, axis=-1), %v)
            }""",
            (_floats(12, 512, 64), _floats(12, 512, 64), _floats(12, 512, 64)),
        ),
        "CanonicalizeCast": Witness(
            "a narrow value that is widened for two sums",
            """
            def @main(%x: Tensor[(512, 1024), int8], %y: Tensor[(512, 1024), int8]) {
              let %wide = cast(multiply(%x, %y), dtype="float32");
              (sum(exp(%wide), axis=[1]), nn.relu(add(%wide, 1f)))
            }""",
            (np.ones((512, 1024), np.int8), np.ones((512, 1024), np.int8)),
        ),
    }
)
"""By the name of the pass."""
