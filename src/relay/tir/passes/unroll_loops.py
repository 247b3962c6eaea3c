"""Repeat the bodies of unrolled loops.

    before: unrolled k in 2 { acc[0] = acc[0] + a[k]; acc[1] = acc[1] + b[k] }
    after:  acc[0] = acc[0] + a[0]; acc[1] = acc[1] + b[0]; acc[0] = acc[0] + a[1]; acc[1] = acc[1] + b[1]

After this pass no loop is UNROLLED, and registers are indexed by constants only: that is verified here (`RelayError`
with rule `register-index`). A loop whose extent is not constant becomes serial, with an annotation that says so.
Conditions that a copy decides are decided, by ranges too. What a copy binds is new in it.
"""

from __future__ import annotations

from dataclasses import replace

from relay.tir.passes.simplify import simplify
from relay.tir.passes.template import Template
from relay.tir.stmt import PrimFunc


def unroll_loops(func: PrimFunc) -> PrimFunc:
    """`func` without UNROLLED loops; the same object if it has none."""
    template = Template(func.body, unroll=True, rename=False)
    body = template.instantiate({})
    if body is func.body:
        return func
    unrolled = replace(func, body=body)
    return simplify(unrolled) if template.left_open else unrolled
