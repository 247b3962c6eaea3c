"""What a fresh process does: each measurement is a run of this file, which prints one line of JSON.

python -m benchmarks.fresh import numpy,relay              seconds of the import
python -m benchmarks.fresh relay-compile MODEL FOLDER      compiles an ONNX file as `compile_model` does, and calls it
python -m benchmarks.fresh relay-build MODEL FOLDER        the same by `build`, and saves the artefact in the folder
python -m benchmarks.fresh relay MODEL FOLDER              loads that artefact and calls it
python -m benchmarks.fresh kept MODEL                      what stays in memory when a model is compiled
python -m benchmarks.fresh program NAME SIZE LEVEL         compiles a program of `growing_programs`
python -m benchmarks.fresh call THREADS FOLDER model MODEL times calls of a model, `recurrent NAME` or `updates NAME`
python -m benchmarks.fresh onnxruntime MODEL FOLDER        the same by a peer, from the ONNX file
python -m benchmarks.fresh notation                        compiles a decorated function, and a second of its text
python -m benchmarks.fresh training-step NAME FOLDER       compiles a training step and saves it in the folder
python -m benchmarks.fresh training-loss NAME FOLDER       compiles the loss of that step alone
python -m benchmarks.fresh training-memory NAME FOLDER WHO what a step takes beside what stood before

The arrays that a model is called with lie in `inputs.npz` beside it. The relay that is measured may be another one than
that of this tree: the `source` of `environment`. Nothing is imported before the clock starts but what reads the clock.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TIMED_S = 0.1
"""For calls of one model on so many threads, in one process."""


def environment(caches: Path | None, source: Path | None = None) -> dict[str, str]:
    """With caches of their own, bytecode as an installed package has it, and the relay of a folder `source`, if any."""
    found = dict(os.environ)
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    if caches is not None:
        found |= {"RELAY_CACHE_DIR": str(caches), "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor")}
    if source is not None:
        found["PYTHONPATH"] = str(source)
    return found


def run(*words: str, environment: Mapping[str, str]) -> dict[str, float]:
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
    if action == "notation":
        return _decorated()
    if action == "call":
        # what measures is that of this tree, even where the relay that is measured is another one
        importlib.import_module("relay.testing").__path__.append(str(ROOT / "src" / "relay" / "testing"))
        return _timed(words[0], _prepared_call(Path(words[1]), *words[2:]))
    if action.startswith("training-"):
        return _training(action.removeprefix("training-"), words[0], Path(words[1]), *words[2:])
    if action == "kept":
        return {"memory kept": _kept_bytes(Path(words[0]))}
    model, folder = Path(words[0]), Path(words[1])
    found = {"relay-compile": _compile, "relay-build": _build, "relay": _load}.get(action)
    stages = found(model, folder) if found else _peer(action, model)
    return {"until first result": time.perf_counter() - started, "peak memory": _status_bytes("VmHWM"), **stages}


def _compile(model: Path, _folder: Path) -> dict[str, float]:
    """From the bytes of a model; the compiler is imported only where it is needed."""
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.compile_model  # names are loaded when they are used
    imported = time.perf_counter()
    executable = relay.compile_model(model.read_bytes())
    return _called(executable, model, started, imported)


def _build(model: Path, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.frontend.from_onnx, relay.build
    imported = time.perf_counter()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    stages = _called(executable, model, started, imported)
    executable.save(folder / "model.rlx")
    return stages


def _called(executable: Any, model: Path, started: float, imported: float) -> dict[str, float]:
    """The stages up to the end of the first call, and the memory they took."""
    compiled = time.perf_counter()
    executable(*_inputs(model).values())
    called = time.perf_counter()
    return {
        "import": imported - started, "compile": compiled - imported, "first call": called - compiled,
        "until first result": called - started, "peak memory": _status_bytes("VmHWM"),
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


def _decorated() -> dict[str, float]:
    """Seconds until a decorated function, and one more of the same text, could be called; the compiler is loaded."""
    program: Any = importlib.import_module("benchmarks.notation_program")
    started = time.perf_counter()
    _ = program.decode.executable
    compiled = time.perf_counter()
    again: Any = type(program.decode)(program.decode.definition)
    _ = again.executable
    return {"compile": compiled - started, "a second one": time.perf_counter() - compiled}


def _training(action: str, name: str, folder: Path, who: str = "") -> dict[str, float]:
    """Of compiling, the seconds, the compiler loaded before; of three steps, the most that was resident, less what was
    before."""
    programs: Any = importlib.import_module("benchmarks.training_programs")
    relay: Any = importlib.import_module("relay")
    training, kept = programs.TRAININGS[name](), folder / "step.rlx"
    if action == "memory":
        return {"memory": _step_bytes(name, training, who, kept)}
    grown: Any = importlib.import_module("benchmarks.growing_programs")
    _ = relay.build(grown.chain(2), opt_level=3)
    started = time.perf_counter()
    executable = training.build() if action == "step" else relay.build(training.loss, opt_level=3)
    seconds = time.perf_counter() - started
    if action == "step":
        executable.save(kept)
    return {"compile": seconds}


def _step_bytes(name: str, training: Any, who: str, kept: Path) -> float:
    if who == "relay":
        relay: Any = importlib.import_module("relay")
        step = training.call(relay.load(kept))
    else:
        peers: Any = importlib.import_module("benchmarks.training_pytorch")
        step = peers.steps(name, training, compiled=False)[who]
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is resident now
    before = _status_bytes("VmRSS")
    for _ in range(3):
        step()
    return _status_bytes("VmHWM") - before


def _load(model: Path, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    relay: Any = importlib.import_module("relay")
    _ = relay.load
    imported = time.perf_counter()
    executable = relay.load(folder / "model.rlx")
    loaded = time.perf_counter()
    executable(*_inputs(model).values())
    return {"import": imported - started, "load": loaded - imported, "first call": time.perf_counter() - loaded}


def _peer(name: str, model: Path) -> dict[str, float]:
    """From the file to the first result."""
    started = time.perf_counter()
    peers: Any = importlib.import_module("relay.testing.measuring.peers")
    importlib.import_module(peers.PEERS[name].package)
    imported = time.perf_counter()
    call = peers.PEERS[name].make_call(model, _inputs(model), len(os.sched_getaffinity(0)))
    made = time.perf_counter()
    call()
    return {"import": imported - started, "compile": made - imported, "first call": time.perf_counter() - made}


def _prepared_call(folder: Path, kind: str, name: str) -> Any:
    """Of a model in a file, or of a program of another suite. What was compiled before comes from the cache, or from
    the folder."""
    if kind == "recurrent":
        return _recurrent(name, folder / "program.rlx")
    if kind == "updates":
        updates: Any = importlib.import_module("benchmarks.updates")
        make, count = updates.UPDATES[name]
        return make("relay", count)
    relay: Any = importlib.import_module("relay")
    executable, arrays = relay.compile_model(Path(name).read_bytes()), tuple(_inputs(Path(name)).values())
    return lambda: executable(*arrays)


def _recurrent(name: str, kept: Path) -> Any:
    relay: Any = importlib.import_module("relay")
    programs: Any = importlib.import_module("benchmarks.recurrent_programs")
    program = programs.RECURRENT[name]()
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        program.build().save(kept)
    return program.call(relay.load(kept))


def _timed(thread_counts: str, call: Any) -> dict[str, float]:
    """Seconds of a call by numbers of threads: the least of turns, since who else uses the machine only adds."""
    relay: Any = importlib.import_module("relay")
    measure: Any = importlib.import_module("relay.testing.measuring.measure")
    found: dict[str, float] = {}
    for threads in map(int, thread_counts.split(",")):
        relay.set_num_threads(threads)
        found[f"{threads} thread{'s' * (threads > 1)}"] = measure.interleaved({"relay": call}, TIMED_S)[
            "relay"
        ].median_s
    return found


def _inputs(model: Path) -> dict[str, Any]:
    numpy: Any = importlib.import_module("numpy")
    with numpy.load(model.with_name("inputs.npz")) as file:
        return {name: file[name] for name in file.files}


def _kept_bytes(model: Path) -> float:
    """More than before, mapped files included, when the caller has dropped all but the executable, which was called.
    The compiler is loaded, and has compiled something, before; the importer is not."""
    relay: Any = importlib.import_module("relay")
    programs: Any = importlib.import_module("benchmarks.growing_programs")
    _ = relay.build(programs.chain(2), opt_level=3)
    before = _status_bytes("VmRSS")
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    del module, params
    executable(*_inputs(model).values())
    gc.collect()
    return _status_bytes("VmRSS") - before


def _status_bytes(name: str) -> float:
    """What is resident of this process ("VmRSS"), or the most that ever was ("VmHWM"), mapped files included."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (each for each in lines if each.startswith(f"{name}:"))
    return float(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
