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
