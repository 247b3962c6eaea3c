"""What a fresh process does: each measurement is a run of this file, which prints one line of JSON.

python -m benchmarks.fresh import numpy,relay              seconds of the import
python -m benchmarks.fresh relay-compile MODEL FOLDER      compiles an ONNX file as `compile_model` does, and calls it
python -m benchmarks.fresh relay-build MODEL FOLDER        the same by `build`, and saves the artefact in a folder
python -m benchmarks.fresh relay MODEL FOLDER              loads that artefact and calls it
python -m benchmarks.fresh program NAME SIZE LEVEL         compiles a program of `growing_programs`
python -m benchmarks.fresh onnxruntime MODEL FOLDER        the same by a peer, from the ONNX file

Nothing is imported before the clock starts but what reads the clock.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str, environment: dict[str, str]) -> dict[str, float]:
    """What a fresh process measured. Raises `RuntimeError` with its last line of error, where it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", *words],
        capture_output=True, text=True, check=False, env=environment, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def main(action: str, *words: str) -> dict[str, float]:
    started = time.perf_counter()
    if action == "import":
        for name in words[0].split(","):
            importlib.import_module(name)
        return {"import": time.perf_counter() - started}
    if action == "program":
        return _grown(words[0], int(words[1]), int(words[2]))
    model, folder = Path(words[0]), Path(words[1])
    found = {"relay-compile": _compile, "relay-build": _build, "relay": _load}.get(action)
    stages = found(model, folder) if found else _peer(action, model, folder)
    return {"until first result": time.perf_counter() - started, "peak memory": _peak_bytes(), **stages}


def _compile(model: Path, folder: Path) -> dict[str, float]:
    """From the bytes of a model; the compiler is imported only where it is needed."""
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.compile_model  # names are loaded when they are used
    imported = time.perf_counter()
    executable = relay.compile_model(model.read_bytes())
    return _called(executable, folder, started, imported)


def _build(model: Path, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.frontend.from_onnx, relay.build
    imported = time.perf_counter()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    stages = _called(executable, folder, started, imported)
    executable.save(folder / "model.rlx")
    return stages


def _called(executable: Any, folder: Path, started: float, imported: float) -> dict[str, float]:
    """The stages up to the end of the first call, and the memory they took."""
    compiled = time.perf_counter()
    executable(*_inputs(folder).values())
    called = time.perf_counter()
    return {
        "import": imported - started, "compile": compiled - imported, "first call": called - compiled,
        "until first result": called - started, "peak memory": _peak_bytes(),
    }  # fmt: skip


def _grown(name: str, size: int, level: int) -> dict[str, float]:
    """Seconds of the optimizer and of all stages; the compiler is loaded, and has compiled something, before."""
    programs: Any = importlib.import_module("benchmarks.growing_programs")
    relay: Any = importlib.import_module("relay")
    _ = relay.build(programs.chain(2), opt_level=level)
    function = programs.PROGRAMS[name](size)
    started = time.perf_counter()
    stages = relay.driver.compile_stages(function, opt_level=level)
    _ = stages.optimized
    optimized = time.perf_counter()
    _ = stages.artefact
    return {"optimize": optimized - started, "compile": time.perf_counter() - started}


def _load(_model: Path, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.load
    imported = time.perf_counter()
    executable = relay.load(folder / "model.rlx")
    loaded = time.perf_counter()
    executable(*_inputs(folder).values())
    return {"import": imported - started, "load": loaded - imported, "first call": time.perf_counter() - loaded}


def _peer(name: str, model: Path, folder: Path) -> dict[str, float]:
    """From the file to the first result."""
    started = time.perf_counter()
    peers: Any = importlib.import_module("relay.testing.peers")
    importlib.import_module(peers.PEERS[name].package)
    imported = time.perf_counter()
    call = peers.PEERS[name].make_call(model, _inputs(folder), len(os.sched_getaffinity(0)))
    made = time.perf_counter()
    call()
    return {"import": imported - started, "compile": made - imported, "first call": time.perf_counter() - made}


def _inputs(folder: Path) -> dict[str, Any]:
    numpy: Any = importlib.import_module("numpy")
    with numpy.load(folder / "inputs.npz") as file:
        return {name: file[name] for name in file.files}


def _peak_bytes() -> float:
    """The most that this process ever had resident, mapped files included."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (each for each in lines if each.startswith("VmHWM:"))
    return float(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
