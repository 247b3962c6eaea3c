"""What is waited for before the first result: import, cold and warm compilation, loading. Fresh processes, paired."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

IMPORT_ROUNDS = 15

_COMPILE = """
import sys, time, json
sys.path.insert(0, {examples!r})
from onnx_models import build
data = build({model!r}).SerializeToString()
started = time.perf_counter()
import relay
relay.frontend.from_onnx, relay.build
imported = time.perf_counter()
module, params = relay.frontend.from_onnx(data)
executable = relay.build(module, params=params, opt_level=3)
compiled = time.perf_counter()
executable.save({artefact!r})
saved = time.perf_counter()
relay.load({artefact!r})
print(json.dumps([imported - started, compiled - imported, time.perf_counter() - saved]))
"""


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Seconds of `import relay` over `import numpy`, and of compiling models with an empty and a filled cache."""
    over_numpy = _import_over_numpy()
    table = Table("what", "seconds")
    table.add_row("import relay over import numpy (median of pairs)", f"{over_numpy:.4f}")
    figures: dict[str, object] = {"import_over_numpy_s": over_numpy}
    for model in options.only or ("resnet18", "resnet50", "encoder"):
        with tempfile.TemporaryDirectory() as folder:
            _, cold, _ = _compile(model, folder)
            imports, warm, load = _compile(model, folder)
        figures[model] = {"imports_s": imports, "cold_s": cold, "warm_s": warm, "load_s": load}
        table.add_row(f"import what compiles {model}", f"{imports:.2f}")
        table.add_row(f"compile {model}, cold", f"{cold:.2f}")
        table.add_row(f"compile {model}, warm", f"{warm:.2f}")
        table.add_row(f"load {model}", f"{load:.4f}")
    Console().print(table)
    return figures


def _import_over_numpy() -> float:
    differences = [_import_s("numpy, relay") - _import_s("numpy") for _ in range(IMPORT_ROUNDS)]
    return statistics.median(differences)


def _import_s(modules: str) -> float:
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _compile(model: str, folder: str) -> tuple[float, float, float]:
    """Seconds of importing the compiler and the importer, of compiling, and of loading the artefact."""
    examples = str(Path(__file__).resolve().parents[1] / "examples")
    code = _COMPILE.format(examples=examples, model=model, artefact=f"{folder}/model.rlx")
    environment = {**os.environ, "RELAY_CACHE_DIR": f"{folder}/cache"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    imports, compiled, loaded = json.loads(done.stdout)
    return imports, compiled, loaded
