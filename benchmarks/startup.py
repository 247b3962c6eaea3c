"""What is waited for before the first result, and the memory that it takes: import, compilation, loading.

A model is compiled cold (nothing kept), from the cache (its artefact kept), and warm (its kernels kept, by `build`).
Every measurement is a fresh process (`benchmarks.fresh`), and those who are compared take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from rich.progress import track

from benchmarks import fresh
from benchmarks.figures import RELAY, Failure, Quantity, Record
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.workloads import Workload, told
from relay.testing.measuring.measure import quartiles
from relay.testing.measuring.peers import installed_peers

MODELS = ("resnet18", "resnet50", "bert_base_s128", "gpt2_decode_p127")
IMPORT_ROUNDS, ROUNDS = 15, 3
OURS = (
    ("compile, cold", "relay-compile"), ("compile, from the cache", "relay-compile"), ("compile, warm", "relay-build"),
    ("load", RELAY),
)  # fmt: skip


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """Seconds and bytes: of importing relay (over NumPy, in pairs), and of models, by relay and by peers."""
    yield _import_over_numpy(1 if options.quick else IMPORT_ROUNDS)
    known = {**NETWORKS, **SMALL}
    chosen = ("encoder_s16",) if options.quick else MODELS
    if options.only:
        chosen = tuple(name for name in known if name.startswith(tuple(options.only)))
    for name in chosen:
        yield from _model(name, known[name](), options)


def _import_over_numpy(rounds: int) -> Quantity:
    def seconds(names: str) -> float:
        return fresh.run("import", names, environment=fresh.environment(None))["import"]

    differences = [seconds("numpy,relay") - seconds("numpy") for _ in range(rounds)]
    return Quantity("relay", "import, over NumPy", RELAY, statistics.median(differences), "s", quartiles(differences))


def _model(name: str, workload: Workload, options: argparse.Namespace) -> Iterator[Record]:
    samples: dict[tuple[str, str], list[float]] = {}  # by quantity and who
    failed: dict[str, str] = {}
    peers = [peer for peer in options.peers or installed_peers() if peer not in workload.without]
    for _ in track(range(1 if options.quick else ROUNDS), name, transient=True):
        with tempfile.TemporaryDirectory() as path:
            model, environment = write_model(workload, Path(path)), fresh.environment(Path(path, "cache"))
            found = {RELAY: our_start(model, Path(path), environment)}
            for peer in peers:
                if peer not in failed:
                    try:
                        stages = fresh.run(peer, str(model), path, environment=environment)
                        found[peer] = dict(_quantities("compile, cold", stages))
                    except RuntimeError as error:
                        failed[peer] = told(error)
            for who, quantities in found.items():
                for quantity, value in quantities.items():
                    samples.setdefault((quantity, who), []).append(value)
    processors = len(os.sched_getaffinity(0))
    for (quantity, who), values in samples.items():
        yield Quantity(name, quantity, who, statistics.median(values), unit_of(quantity), quartiles(values))
    for peer, reason in failed.items():
        yield Failure(name, processors, peer, reason)


def write_model(workload: Workload, folder: Path) -> Path:
    """The file of a model, with its inputs beside it."""
    model = folder / "model.onnx"
    model.write_bytes(workload.model)
    np.savez(folder / "inputs.npz", **workload.inputs)
    return model


def our_start(model: Path, folder: Path, environment: Mapping[str, str]) -> dict[str, float]:
    """Quantities of relay by name, one process after another, when nothing is in the caches of the environment."""
    return {
        quantity: value
        for kind, action in OURS
        for quantity, value in _quantities(kind, fresh.run(action, str(model), str(folder), environment=environment))
    }


def unit_of(quantity: str) -> str:
    return "MB" if quantity.startswith("peak memory") else "s"


def _quantities(kind: str, stages: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Of one process. What relay loads has no like at peers, so it has names of its own."""
    for stage, value in stages.items():
        scaled = value / 1e6 if stage == "peak memory" else value
        yield {"compile": kind, "load": kind}.get(stage, f"{stage}, {kind}"), scaled
