"""Elements that are read before anybody has written them."""

from __future__ import annotations

import pytest

from relay.tir.buffer import Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.text.parser import parse_primfunc
from relay.tir.verification.verifier import verify

MACHINE = Hierarchy(
    ("device", "block", "thread"), (Scope("shared", "block"),), (ThreadAxis("x", "thread"),), ("block",)
)


def rules(body: str, extents: str = "8", symbols: str = "") -> set[str]:
    text = f"primfunc f(a: int32[8]) -> (out: int32[8]){symbols} {{ alloc t: int32[{extents}] {{ {body} }} }}"
    return {found.rule for found in verify(parse_primfunc(text, hierarchy=MACHINE))}


WRITTEN = {
    "in the iteration": "serial i in 8 { t[i] = a[i]; out[i] = t[i]; }",
    "in the iteration before": "t[0] = a[0]; serial i in 7 { t[i + 1] = t[i]; out[i] = t[i + 1]; }",
    "all before": "serial i in 8 { t[i] = a[i]; } serial j in 8 { out[j] = t[7 - j]; }",
    "the half that is read": "serial i in 4 { t[2*i] = a[i]; } serial j in 4 { out[j] = t[2*j]; }",
    "the side that is taken": "serial i in 4 { t[i] = a[i]; } "
    "serial j in 8 { out[j] = select(holds(j < 4), t[j], int32(0)); }",
    "under a condition that nobody knows": "serial i in 8 { if (a[i] > int32(0)) { t[i] = a[i]; out[i] = t[i]; } }",
    "at a place that nobody knows": "serial i in 8 { t[index(a[i])] = a[i]; } serial j in 8 { out[j] = t[j]; }",
    "by an extern": 'evaluate call("fill", int32, t[0]); serial j in 8 { out[j] = t[j]; }',
}
UNWRITTEN = {
    "never": "serial j in 8 { out[j] = t[j]; }",
    "behind": "serial i in 8 { out[i] = t[i]; t[i] = a[i]; }",
    "in the iteration after": "serial i in 8 { t[7 - i] = a[i]; out[i] = t[i]; }",
    "but for the last": "serial i in 7 { t[i] = a[i]; } serial j in 8 { out[j] = t[j]; }",
    "where a condition does not hold": "serial i in 8 { if holds(i < 4) { t[i] = a[i]; } out[i] = t[i]; }",
    "on the other side": "serial i in 4 { t[i] = a[i]; } "
    "serial j in 8 { out[j] = select(holds(j < 4), int32(0), t[j]); }",
    "by its own update": "serial i in 8 { t[0] = (t[0] + a[i]); out[i] = t[0]; }",
    "by an atomic update": 'evaluate call("atomic.add", int32, t[0], a[0]); out[0] = t[0];',
    "at an element of a vector": "t[ramp(0, 1, 4)] = a[ramp(0, 1, 4)]; out[ramp(0, 1, 8)] = t[ramp(0, 1, 8)];",
}


@pytest.mark.parametrize("body", WRITTEN.values(), ids=WRITTEN)
def test_what_is_written_first_is_sound(body):
    assert "uninitialized-read" not in rules(body)


@pytest.mark.parametrize("body", UNWRITTEN.values(), ids=UNWRITTEN)
def test_what_nobody_has_written_is_found(body):
    assert "uninitialized-read" in rules(body)


def test_iterations_around_an_allocation_begin_anew():
    text = """
    primfunc f(a: int32[8]) -> (out: int32[8]) {
      serial k in 8 { alloc t: int32[1] { if holds(k < %d) { t[0] = a[k]; } out[k] = t[0]; } }
    }
    """
    assert verify(parse_primfunc(text % 8)) == ()
    assert {found.rule for found in verify(parse_primfunc(text % 7))} == {"uninitialized-read"}


@pytest.mark.parametrize(("element", "rule"), [("(x + 1) % 8", set()), ("x + 8", {"uninitialized-read"})])
def test_threads_share_what_they_have_written(element, rule):
    text = f"""
    primfunc f(a: int32[8]) -> (out: int32[8]) {{
      alloc s: int32[16] shared {{
        thread x in 8 ("thread": "x") {{
          s[x] = a[x];
          evaluate call("barrier.block", int32);
          out[x] = s[{element}];
        }}
      }}
    }}
    """
    assert {found.rule for found in verify(parse_primfunc(text, hierarchy=MACHINE))} == rule
