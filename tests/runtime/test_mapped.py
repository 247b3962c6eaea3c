"""A model whose file is cut short while it is in use: an error, in the process that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relay

WEIGHT = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
X = np.ones((4, 512), np.float32)
STRAIGHT = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 512), float32], %w: Tensor[(512, 512), float32]) { nn.dense(%x, %w, units=512) }
"""
LOOP = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 512), float32], %n: int32, %w: Tensor[(512, 512), float32]) -> Tensor[(4, 512), float32] {
  let %step = fn (%x: Tensor[(4, 512), float32], %n: int32) -> Tensor[(4, 512), float32] {
    if (equal(%n, 0)) { %x } else { %step(nn.dense(%x, %w, units=512), subtract(%n, 1)) }
  };
  %step(%x, %n)
}
"""


def saved(path: Path, source: str) -> Path:
    relay.build(relay.parse(source), params={"w": WEIGHT}).save(path)
    return path


@pytest.mark.parametrize("rows", ["known", "in a loop"])
@pytest.mark.parametrize("is_met", [False, True])
def test_a_file_that_is_cut_short(tmp_path: Path, rows: str, is_met: bool):
    """Whether the shapes were met before (the short way into native code) or not, on any thread."""
    path = saved(tmp_path / "model.rlx", STRAIGHT if rows == "known" else LOOP)
    inputs = (X,) if rows == "known" else (X, np.int32(1))
    executable = relay.load(path)
    if is_met:
        np.testing.assert_allclose(executable(*inputs), X @ WEIGHT.T, rtol=1e-3, atol=1e-3)
    os.truncate(path, 8192)
    for _ in range(2):
        with pytest.raises(relay.RelayError, match="cut short while it was in use") as caught:
            executable(*inputs)
        assert caught.value.rule == "artefact-lost"
    again = relay.load(saved(path, STRAIGHT))
    np.testing.assert_allclose(again(X), X @ WEIGHT.T, rtol=1e-3, atol=1e-3)


def test_other_programs_of_the_process_go_on(tmp_path: Path):
    paths = [saved(tmp_path / f"{name}.rlx", STRAIGHT) for name in "ab"]
    lost, whole = map(relay.load, paths)
    os.truncate(paths[0], 8192)
    with pytest.raises(relay.RelayError):
        lost(X)
    np.testing.assert_allclose(whole(X), X @ WEIGHT.T, rtol=1e-3, atol=1e-3)


OTHER = """
import mmap, os, sys, tempfile
import relay
relay.load(sys.argv[1])
with tempfile.TemporaryFile() as file:
    file.truncate(1 << 16)
    mapped = mmap.mmap(file.fileno(), 1 << 16)
    file.truncate(0)
    print("before", flush=True)
    mapped[5000]
"""


def test_what_is_not_ours_is_left_to_the_system(tmp_path: Path):
    """A bus error in somebody else's mapping ends the process as ever."""
    path = saved(tmp_path / "model.rlx", STRAIGHT)
    done = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("before\n", -signal.SIGBUS)


def test_a_file_that_is_cut_short_is_not_loaded(tmp_path: Path):
    path = saved(tmp_path / "model.rlx", STRAIGHT)
    whole = path.read_bytes()
    for size in (0, 100, 4096, 8192, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(relay.RelayError) as caught:
            relay.load(path)
        assert caught.value.rule == "bad-artefact"
