"""Profiles of programs: every kernel call is seen, counted and measured, whatever the form of the program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.runtime.artefact.arena_map import ArenaMap, OpenArena
from relay.runtime.profile.program_profile import SpanKind
from relay.runtime.profile.roofline import MemoryLevel, Roofline
from tests.driver.processes import python
from tests.driver.programs import WEIGHT, layer, layer_result, rows
from tests.messages import check_message
from tests.pages import run_page

ROOFLINE = Roofline(
    1, {DType.FLOAT32: 100e9}, (MemoryLevel("L2", 1 << 20, 50e9), MemoryLevel("memory", 0, 10e9))
)  # fmt: skip

LOOP = """#[version = "0.0.5"]
def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 4), float32], %k: int32) -> Tensor[(n, 4), float32] {
  if (less(%k, 1)) { %x } else { @main(tanh(nn.matmul(%x, %w)), %w, subtract(%k, 1)) }
}
"""

MATCHES = """#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @main(%l: List[Tensor[(4), float32]]) -> Tensor[(4), float32] {
  match (%l) { Cons(%h, %t) => add(exp(%h), @main(%t)), Nil => zeros(shape=[4], dtype="float32") }
}
"""


@pytest.fixture(autouse=True)
def known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of round figures; measuring the real one has tests of its own."""
    monkeypatch.setattr("relay.driver.roofline.kept_roofline", lambda threads: ROOFLINE)


def two_stages() -> relay.Executable:
    """A product, then a softmax of it, so that one value is in the workspace."""
    x = relay.var("x", shape=(16, 32))
    w = relay.const(rows(32, 32))
    return relay.build(relay.Function([x], relay.nn.softmax(relay.nn.matmul(x, w))))


def test_a_straight_program():
    profile = two_stages().profile(rows(16, 32), runs=3)
    (product,) = [kernel for kernel in profile.kernels if kernel.multiply_adds]
    assert product.calls == 1
    assert product.multiply_adds == 16 * 32 * 32
    assert product.bytes_touched == 4 * (16 * 32 + 32 * 32 + 16 * 32)
    assert product.operators[0] == "nn.matmul"
    assert len(product.seconds) == len(profile.seconds) == 3
    assert product.flops_per_s == pytest.approx(2 * 16 * 32 * 32 / product.median_s)
    assert product.roofline_share == pytest.approx(product.least_seconds / product.median_s)
    assert all(seconds > 0 for kernel in profile.kernels for seconds in kernel.seconds)
    for run in range(3):
        inside = sum(kernel.seconds[run] for kernel in profile.kernels)
        assert inside + profile.control_seconds[run] == pytest.approx(profile.seconds[run])
        assert profile.control_seconds[run] > 0


def test_the_arena_of_a_straight_program():
    arena = two_stages().profile(rows(16, 32), runs=1).arena
    assert arena is not None
    assert [(each.begin, each.end, each.first, each.last) for each in arena.buffers] == [(0, 16 * 32 * 4, 0, 1)]
    assert arena.planned_bytes == arena.lower_bound_bytes == 16 * 32 * 4


def test_the_result_is_that_of_a_call():
    """The recorder passes on what it gets, extents included."""
    executable = relay.build(layer())
    x = rows(5)
    recorded = executable._recorded_code()
    inner = relay.Executable(executable.manifest, lambda: recorded.code)
    np.testing.assert_allclose(inner(x, WEIGHT), layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(inner(x, WEIGHT), executable(x, WEIGHT))


@pytest.mark.parametrize("batch", [1, 7])
def test_symbolic_work_is_that_of_the_call(batch):
    profile = relay.build(layer()).profile(rows(batch), w=WEIGHT, runs=2)
    assert sum(kernel.multiply_adds or 0 for kernel in profile.kernels) == batch * 3 * 4


def test_recursion_counts_all_calls():
    executable = relay.build(relay.parse(LOOP))
    profile = executable.profile(rows(3), rows(4), np.int32(50), runs=2)
    (product,) = [kernel for kernel in profile.kernels if kernel.multiply_adds]
    assert product.calls == 50
    assert product.multiply_adds == 50 * 3 * 4 * 4
    assert profile.arena is not None
    assert profile.arena.region.startswith("@")
    assert "arena of @" in str(profile)
    assert profile.control_s > 0


REGIONS = """#[version = "0.0.5"]
def @loop(%x: Tensor[(n, 64), float32], %steps: int32) -> Tensor[(n, 64), float32] {
  if (less(%steps, 1)) { nn.softmax(nn.softmax(%x), axis=0) } else { @loop(nn.softmax(%x, axis=0), %steps - 1) }
}
def @main(%x: Tensor[(8, 64), float32], %steps: int32) {
  let %y = nn.softmax(nn.softmax(%x, axis=0));
  if (less(%steps, 0)) { %y } else { @loop(%y, %steps) }
}
"""


def test_each_region_has_its_arena(tmp_path):
    """Of what is loaded too."""
    relay.build(relay.parse(REGIONS), opt_level=1).save(tmp_path / "loop.rlx")
    arenas = relay.load(tmp_path / "loop.rlx").profile(rows(8, 64), np.int32(2), runs=1).arenas
    known = {each.region: each.planned_bytes for each in arenas if isinstance(each, ArenaMap)}
    opened = {each.region: str(each.planned_bytes) for each in arenas if isinstance(each, OpenArena)}
    assert known["@main, region 1"] >= 2048
    assert all(name.startswith("@loop, region ") and "n" in size for name, size in opened.items())
    assert len(opened) > 0


def test_more_calls_than_there_is_room_at_first():
    executable = relay.build(relay.parse(LOOP))
    calls = 6000
    profile = executable.profile(rows(1), rows(4), np.int32(calls), runs=1)
    assert max(kernel.calls for kernel in profile.kernels) == calls
    assert sum(span.kind is SpanKind.KERNEL for span in profile.spans) >= calls


def test_a_program_on_a_list():
    """A value that is no tensor goes in; the kernels of every cell are counted."""
    module = relay.parse(MATCHES)
    arrays = [rows(1)[0] for _ in range(9)]
    profile = relay.build(module).profile(arrays, runs=2)
    assert max(kernel.calls for kernel in profile.kernels) == len(arrays)


def test_spans_lie_inside_the_call():
    profile = two_stages().profile(rows(16, 32), runs=1)
    call, *others = profile.spans
    assert (call.kind, call.name, call.start_ns, call.thread) == (SpanKind.ENTRY, "main", 0, 0)
    kernels = [span for span in others if span.kind is SpanKind.KERNEL]
    assert len(kernels) == sum(kernel.calls for kernel in profile.kernels)
    for before, after in itertools.pairwise(kernels):
        assert before.end_ns <= after.start_ns
    assert all(0 <= span.start_ns <= span.end_ns <= call.end_ns for span in others)


def test_threads_have_tracks_of_their_own():
    """A loop that is worth two threads, where there are two processors."""
    x = relay.var("x", shape=(512, 512))
    executable = relay.build(relay.Function([x], relay.nn.matmul(x, relay.const(rows(512, 512)))))
    profile = executable.profile(rows(512, 512), runs=1)
    parts = [span for span in profile.spans if span.kind is SpanKind.PART]
    assert parts
    assert {span.thread for span in parts} <= set(range(profile.threads))
    assert {span.name for span in parts} <= {kernel.name for kernel in profile.kernels}


def test_a_loaded_artefact_needs_no_compiler(tmp_path):
    relay.build(layer()).save(tmp_path / "layer.rlx")
    np.save(tmp_path / "x.npy", rows(6))
    code = """
import sys, numpy as np
from relay.runtime.executable import load
profile = load(sys.argv[1] + "/layer.rlx").profile(np.load(sys.argv[1] + "/x.npy"), np.ones((3, 4), "f4"), runs=2)
assert not any(name.startswith(("relay.driver", "relay.lower", "relay.ops", "relay.targets")) for name in sys.modules)
print(profile)
"""
    printed = python(code, tmp_path, RELAY_CACHE_DIR=str(tmp_path / "cache"))
    assert "relay.driver.measure_roofline(" in printed
    assert "total" in printed


def test_the_table():
    text = str(two_stages().profile(rows(16, 32), runs=1)).splitlines()
    assert text[0].split() == ["calls", "µs", "share", "GFLOP/s", "GB/s", "%", "of", "roofline", "kernel"]
    assert text[1].strip() == "operators"
    last = [line.split() for line in text if line.split()[-1:] in (["control"], ["total"])]
    assert [each[-1] for each in last] == ["control", "total"]
    assert "arena: 2,048 bytes planned, 2,048 bytes alive at most, +0.0%" in text[-1]


def test_the_table_fits_the_terminal():
    """Names are folded, and nothing of them is lost."""
    profile = two_stages().profile(rows(16, 32), runs=1)
    for columns in (72, 80, 200):
        lines = profile.text(columns).splitlines()
        assert max(map(len, lines)) <= columns
        whole = "".join("".join(lines).split())
        assert all(kernel.name in whole for kernel in profile.kernels)


def test_the_page_of_the_documentation_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_page("profiling.md", tmp_path)
    assert "bytes alive at most" in capsys.readouterr().out
    assert (tmp_path / "profile.html").exists()
    assert (tmp_path / "trace.json").exists()


def library(tmp_path) -> relay.Executable:
    relay.build(layer()).export(tmp_path / "layer.so")
    return relay.load(tmp_path / "layer.so")


MISTAKES = {
    "profile-no-runs": lambda path: relay.build(layer()).profile(rows(2), WEIGHT, runs=0),
    "profile-of-a-library": lambda path: library(path).profile(rows(2), WEIGHT),
    "profile-wrong-input": lambda path: relay.build(layer()).profile(rows(2)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(tmp_path, name):
    with pytest.raises(relay.RelayError) as caught:
        MISTAKES[name](tmp_path)
    check_message("driver", name, caught.value)
