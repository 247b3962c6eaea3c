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
from relay.testing.measure import quartiles
from relay.testing.peers import installed_peers

MODELS = ("resnet18", "resnet50", "bert_base_s128", "gpt2_decode_p127")
IMPORT_ROUNDS, ROUNDS = 15, 3
OURS = (
    ("compile, cold", "relay-compile"), ("compile, from the cache", "relay-compile"), ("compile, warm", "relay-build"),
    ("load", RELAY),
)  # fmt: skip
Samples = dict[tuple[str, str], list[float]]  # by quantity and who


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
    environment = _environment(None)

    def seconds(names: str) -> float:
        return fresh.run("import", names, environment=environment)["import"]

    differences = [seconds("numpy,relay") - seconds("numpy") for _ in range(rounds)]
    return Quantity("relay", "import, over NumPy", RELAY, statistics.median(differences), "s", quartiles(differences))


def _model(name: str, workload: Workload, options: argparse.Namespace) -> Iterator[Record]:
    samples: Samples = {}
    failed: dict[str, str] = {}
    peers = [peer for peer in options.peers or installed_peers() if peer not in workload.without]
    for _ in track(range(1 if options.quick else ROUNDS), name, transient=True):
        with tempfile.TemporaryDirectory() as path:
            folder = Path(path)
            (folder / "model.onnx").write_bytes(workload.model)
            np.savez(folder / "inputs.npz", **workload.inputs)
            words = str(folder / "model.onnx"), str(folder)
            for kind, action in OURS:
                _note(samples, kind, RELAY, fresh.run(action, *words, environment=_environment(folder)))
            for peer in peers:
                if peer not in failed:
                    try:
                        _note(samples, "compile, cold", peer, fresh.run(peer, *words, environment=_environment(folder)))
                    except RuntimeError as error:
                        failed[peer] = told(error)
    processors = len(os.sched_getaffinity(0))
    for (quantity, who), found in samples.items():
        unit = "MB" if quantity.startswith("peak memory") else "s"
        yield Quantity(name, quantity, who, statistics.median(found), unit, quartiles(found))
    for peer, reason in failed.items():
        yield Failure(name, processors, peer, reason)


def _note(samples: Samples, kind: str, who: str, stages: Mapping[str, float]) -> None:
    """The quantities of one process. What relay loads has no like at peers, so it has names of its own."""
    for stage, value in stages.items():
        scaled = value / 1e6 if stage == "peak memory" else value
        quantity = {"compile": kind, "load": kind}.get(stage, f"{stage}, {kind}")
        samples.setdefault((quantity, who), []).append(scaled)


def _environment(folder: Path | None) -> dict[str, str]:
    """With caches of their own, and bytecode as an installed package has it."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if folder is not None:
        environment |= {"RELAY_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    return environment
