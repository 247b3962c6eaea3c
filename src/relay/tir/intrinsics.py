"""Calls whose meaning every target knows, and those that have none but speed."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce

import numpy as np

from relay.tir.semantics import Function, Numbers


def _fma(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """`a*b + c`: rounded once for float32 (the product is exact in double); twice for float64."""
    if a.dtype == np.float64:
        return a * b + c
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def _word(*parts: Numbers) -> Numbers:
    """Four bytes, or two bfloat16, as one int32, the first in its lowest bits."""
    width = 32 // len(parts)
    bits = [part.view(f"u{width // 8}").astype(np.uint32) << (width * place) for place, part in enumerate(parts)]
    return reduce(operator.or_, bits).astype(np.int32)


def _dot4(a: Numbers, b: Numbers) -> Numbers:
    """The four bytes of `a`, unsigned, times those of `b`, signed, summed up: exact, at most 130,560 in magnitude."""
    terms = [((a >> shift) & 255) * ((b << (24 - shift)) >> 24) for shift in (0, 8, 16, 24)]
    return (terms[0] + terms[1] + terms[2] + terms[3]).astype(np.int32)


def _dot2(a: Numbers, b: Numbers) -> Numbers:
    """The two bfloat16 of `a` times those of `b`: each product exact in float32, their sum rounded to it."""
    low, high = ([bits.astype(np.int32).view(np.float32) for bits in pair] for pair in _halves(a, b))
    return low[0] * low[1] + high[0] * high[1]


def _halves(*words: Numbers) -> tuple[list[Numbers], list[Numbers]]:
    """The lower and the upper halves of words, as the bits of float32."""
    return [word << 16 for word in words], [word & -65536 for word in words]


INTRINSICS: Mapping[str, Function] = {"fma": _fma, "word": _word, "dot4": _dot4, "dot2": _dot2}
"""Calls whose meaning every target knows. Each works lane by lane."""
EFFECT_FREE_HINTS = frozenset({"prefetch"})
"""Calls that change nothing but speed."""
