"""Profiles of programs whose kernels run on a device, and on the host."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator

import numpy as np
import pytest

import relay
from relay import report
from relay.runtime.profile.program_profile import SpanKind
from tests.native.test_device_regions import CROSSING, KIND, Frame, FrameKernels, FrameKind, between, built


@pytest.fixture(autouse=True)
def _kind_is_forgotten() -> Iterator[None]:
    relay.register_target(FrameKind(FrameKernels()))
    yield
    relay.unregister_target(KIND)


class Told(Frame):
    """Says that each launch took a millisecond; `unknown`: that it does not know."""

    def __init__(self, unknown: bool = False) -> None:
        super().__init__()
        self.unknown = unknown

    def nanoseconds_between(self, first: int, second: int) -> int:
        assert super().nanoseconds_between(first, second) > 0
        return -1 if self.unknown else 1_000_000


@pytest.mark.parametrize("unknown", [False, True])
def test_launches_stand_beside_the_kernels_of_the_host(unknown: bool):
    run = built(between(), FrameKernels(frozenset({"sort"})), Told(unknown))
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)
    profile = run.profile(x, runs=3)
    there = [each for each in profile.kernels if each.name.endswith(f" on {KIND}:0")]
    assert [each.calls for each in there] == [1, 1]
    kernels = [each for each in profile.kernels if "load" not in each.name]
    assert [each.name.split("_")[0] for each in kernels] == ["fused", "fused", "fused"]
    for each in there:
        assert len(each.seconds) == 3
        assert (each.median_s == pytest.approx(1e-3)) is not unknown
        assert each.median_s > 0
    assert {each.name for each in there} <= {each.name for each in profile.spans if each.kind is SpanKind.KERNEL}
    for text in (profile.text(columns=200), report.trace_json(profile), report.html_page(profile, "between")):
        assert all(each.name in text for each in there)
    json.loads(report.trace_json(profile))


def test_transfers_have_rows_of_their_own():
    device = Frame()
    run = built(between(), FrameKernels(frozenset({"sort"})), device)
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)
    run(x)
    device.asked.clear()
    run(x)
    asked = device.asked.count("upload"), device.asked.count("download")
    profile = run.profile(x, runs=3)
    moved = {each.name: each for each in profile.kernels if "load" in each.name}
    assert set(moved) == {f"upload to {KIND}:0", f"download from {KIND}:0"}
    assert (moved[f"upload to {KIND}:0"].calls, moved[f"download from {KIND}:0"].calls) == asked
    assert all(each.median_s > 0 for each in moved.values())
    assert all(seconds > 0 for seconds in profile.control_seconds), "nothing is counted twice"
    assert f"download from {KIND}:0" in profile.text(columns=200)


def test_each_region_of_a_device_has_a_row():
    run = built(between(), FrameKernels(frozenset({"sort"})), Frame())
    profile = run.profile(np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8), runs=3)
    rows = {each.name.rpartition("_")[0]: each for each in profile.device_regions}
    assert list(rows) == REGIONS
    for each in rows.values():
        assert (each.device, each.calls, len(each.seconds)) == (f"{KIND}:0", 1, 3)
        assert 0 < each.median_s < profile.median_s
    launched = {f"{name} on {KIND}:0" for each in rows.values() for name in each.launched}
    assert launched == {
        each.name for each in profile.kernels if each.name.endswith(f" on {KIND}:0") and "load" not in each.name
    }
    assert [len(each.launched) for each in rows.values()] == [1, 0, 1]
    assert [(each.bytes_in, each.bytes_out) for each in rows.values()] == [(96, 0), (0, 96), (96, 96)]
    spans = [each.name for each in profile.spans if each.kind is SpanKind.REGION]
    assert spans == [f"{each.name} region on {KIND}:0" for each in rows.values()]
    for text in (profile.text(columns=300), report.html_page(profile, "between"), json.dumps(profile.to_json())):
        assert all(each.name in text for each in rows.values())


REGIONS = ["region_fused_nn_dense", "copy_to_host", "region_fused_nn_dense_add"]


def test_what_goes_from_device_to_device_is_told():
    opened: dict[int, Frame] = {}
    relay.register_device(KIND, lambda index: opened.setdefault(index, Frame()), replace=True)
    x = relay.var("x", shape=(3, 8))
    first = relay.annotation.on_device(relay.exp(x), f"{KIND}:0")
    program = relay.Function([x], relay.annotation.on_device(relay.tanh(first), f"{KIND}:1"))
    profile = relay.build(program, target=KIND).profile(np.ones((3, 8), np.float32), runs=2)
    moved = [(each.device, each.bytes_in, each.bytes_out) for each in profile.device_regions]
    assert moved == [(f"{KIND}:0", 96, 0), (f"{KIND}:1", 96, 0), (f"{KIND}:1", 0, 96)]
    (copied,) = [each for each in profile.kernels if each.name == f"copy from another device to {KIND}:1"]
    assert (copied.calls, copied.bytes_touched) == (1, 96)


class Watched(Frame):
    """Notes what region it is in when it is asked for something."""

    def begin_region(self, name: bytes) -> None:
        self.asked.append(name.decode().rpartition("_")[0])

    def end_region(self) -> None:
        self.asked.append("end")


def test_a_device_is_told_of_its_regions():
    device = Watched()
    run = built(between(), FrameKernels(frozenset({"sort"})), device)
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)
    run(x)
    for call in (lambda: run(x), lambda: run.profile(x, runs=1)):
        device.asked.clear()
        call()
        told = [each for each in device.asked if each in (*REGIONS, "run", "end")]
        assert told[:8] == [REGIONS[0], "run", "end", REGIONS[1], "end", REGIONS[2], "run", "end"]


def test_a_loop_is_counted_and_gives_back_what_it_had():
    program, refused, inputs = CROSSING["loop"]
    device = Frame()
    run = built(program(), FrameKernels(frozenset(refused)), device)
    expected = run(*inputs)
    held = device.held
    profile = run.profile(*inputs, runs=2)
    (loop,) = [each for each in profile.kernels if each.name.endswith(f" on {KIND}:0")]
    assert loop.calls == 5
    run._recorded = None
    gc.collect()
    np.testing.assert_array_equal(run(*inputs), expected)
    assert device.held == held
