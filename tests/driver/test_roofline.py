"""Measuring the machine: figures that hang together, kept where profiles find them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import relay
from relay.base.dtypes import DType
from relay.runtime.profile.program_profile import roofline_line
from relay.runtime.profile.roofline import MemoryLevel, Roofline, keep_roofline, kept_roofline


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))


def test_measured_once_and_kept(monkeypatch):
    monkeypatch.setattr("relay.driver.roofline.ROUNDS_S", 0.02)
    assert kept_roofline(1) is None
    measured = relay.driver.measure_roofline(1)
    assert kept_roofline(1) == measured
    assert kept_roofline(2) is None
    assert measured.threads == 1
    single, double = (measured.peak_flops[dtype] for dtype in (DType.FLOAT32, DType.FLOAT64))
    assert single > 1.2 * double > 1e8
    assert measured.levels[-1].name == "memory"
    assert all(level.bytes_per_s > 1e8 for level in measured.levels)
    speeds = [level.bytes_per_s for level in measured.levels]
    assert speeds[0] > speeds[-1]


def test_a_busy_machine_is_measured_again(monkeypatch):
    """Once others leave the processors alone; until then a profile says so."""
    busy = Roofline(1, {DType.FLOAT32: 1e9}, (MemoryLevel("memory", 0, 1e9),), is_disturbed=True)
    keep_roofline(busy)
    assert "measured while the machine was busy" in roofline_line(kept_roofline(1), 1)
    quiet = replace(busy, is_disturbed=False)
    monkeypatch.setattr("relay.driver.roofline._measured", lambda target, threads: quiet)
    assert relay.driver.machine_roofline(1) == kept_roofline(1) == quiet


def test_damaged_figures_are_as_none(tmp_path):
    keep_roofline(Roofline(3, {DType.FLOAT32: 1e9}, (MemoryLevel("memory", 0, 1e9),)))
    (file,) = (tmp_path / "machine").rglob("*.json")
    for text in (
        "",
        "{}",
        '{"threads": 3, "peak_flops": {}, "levels": []}',
        file.read_text().replace("1000000000", "-1"),
    ):
        file.write_text(text)
        assert kept_roofline(3) is None


def test_nothing_is_kept_without_a_cache(monkeypatch):
    monkeypatch.setenv("RELAY_CACHE", "0")
    keep_roofline(Roofline(3, {DType.FLOAT32: 1e9}, (MemoryLevel("memory", 0, 1e9),)))
    assert kept_roofline(3) is None


def test_a_kernel_takes_as_long_as_its_slower_part():
    roofline = Roofline(1, {DType.FLOAT32: 100e9}, (MemoryLevel("L2", 1000, 50e9), MemoryLevel("memory", 0, 10e9)))
    assert roofline.least_seconds(DType.FLOAT32, 500, 0, 100, 0) == pytest.approx(1000 / 100e9)
    assert roofline.least_seconds(DType.FLOAT32, 1, 0, 900, 0) == pytest.approx(900 / 50e9)
    assert roofline.least_seconds(DType.FLOAT32, 1, 400, 500, 5000) == pytest.approx(500 / 50e9 + 400 / 10e9)
    assert roofline.least_seconds(DType.BFLOAT16, 1, 0, 900, 0) is None
    assert roofline.least_seconds(DType.BFLOAT16, 0, 0, 900, 0) == pytest.approx(900 / 50e9)


def test_threads_are_as_before(monkeypatch):
    monkeypatch.setattr(
        "relay.driver.roofline._measured", lambda target, threads: Roofline(threads, {DType.FLOAT32: 1.0}, ())
    )
    assert relay.driver.measure_roofline().threads >= 1
    with pytest.raises(relay.RelayError, match="bad-threads"):
        relay.driver.measure_roofline(0)
