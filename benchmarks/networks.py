"""Whole networks against onnxruntime: latency at batch 1, one and two threads, and the largest difference."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from rich.console import Console
from rich.table import Table

import relay
from relay.testing.measure import REST_S, interleaved, ratio
from relay.testing.peers import onnxruntime_call

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from onnx_models import build

MODELS = ("resnet18", "resnet50", "mobilenet_v2", "squeezenet", "vgg16", "encoder", "mlp")
THREADS = (1, 2)


def measure(options: argparse.Namespace) -> list[dict[str, object]]:
    """One row a model and thread count: peer time ÷ our time, of pairs taken in turn."""
    rows: list[dict[str, object]] = []
    table = Table("model", "threads", "relay ms (min)", "onnxruntime ms (min)", "times as fast", "quartiles", "minima")
    for name in options.only or MODELS:
        for row in _model(name, options.seconds):
            rows.append(row)
            low, high = row["quartiles"]
            table.add_row(
                name,
                str(row["threads"]),
                f"{row['relay_ms']:.2f} ({row['relay_min_ms']:.2f})",
                f"{row['peer_ms']:.2f} ({row['peer_min_ms']:.2f})",
                f"{row['ratio']:.2f}",
                f"{low:.2f}–{high:.2f}",
                f"{row['ratio_of_minima']:.2f}",
            )
    Console().print(table)
    return rows


def _model(name: str, seconds: float) -> list[dict[str, object]]:
    data = build(name).SerializeToString()
    started = time.perf_counter()
    module, params = relay.frontend.from_onnx(data)
    executable = relay.build(module, params=params, opt_level=3)
    compile_s = time.perf_counter() - started
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (described,) = session.get_inputs()
    x = np.random.default_rng(0).standard_normal(described.shape).astype(np.float32)
    (expected,) = session.run(None, {described.name: x})
    difference = float(np.abs(executable(x) - expected).max() / np.abs(expected).max())
    rows: list[dict[str, object]] = []
    for threads in THREADS:
        relay.set_num_threads(threads)
        calls = {"relay": lambda: executable(x), "peer": onnxruntime_call(data, {described.name: x}, threads)}
        timings = interleaved(calls, seconds, pause_s=REST_S if threads > 1 else 0.0)
        ours, peer = timings["relay"], timings["peer"]
        compared = ratio(peer, ours)
        rows.append(
            {
                "model": name,
                "threads": threads,
                "relay_ms": ours.median_s * 1e3,
                "relay_min_ms": ours.minimum_s * 1e3,
                "peer_ms": peer.median_s * 1e3,
                "peer_min_ms": peer.minimum_s * 1e3,
                "ratio": compared.median,
                "quartiles": [compared.low, compared.high],
                "ratio_of_minima": compared.of_minima,
                "largest_difference": difference,
                "compile_s": compile_s,
                "rounds": len(ours.samples_s),
            }
        )
    return rows
