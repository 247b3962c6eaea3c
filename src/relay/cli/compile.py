"""`relay compile`: a model in, a compiled file out."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from relay.base.diagnostics import RelayError
from relay.cli.console import progress_bar
from relay.cli.models import COMPILED_SUFFIXES, add_model_options, read_model
from relay.driver.export import export_library


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="NAME.so: a shared library, for C too, and its header NAME.h; NAME.rlx: an artefact that relay loads",
    )
    command.add_argument("--time", action="store_true", help="show where the time went")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    output = Path(options.output)
    if output.suffix not in COMPILED_SUFFIXES:
        raise RelayError(
            rule="unknown-output-kind",
            message=f"cannot tell what to write to {output}",
            expected="a name that ends in .so or .rlx",
            found=output.suffix or "no suffix",
        )
    if not output.parent.is_dir():
        raise RelayError(
            rule="cannot-write",
            message=f"cannot write {output}",
            found=f"no folder {output.parent}",
            remedy="make the folder first",
        )
    started = time.perf_counter()
    model = read_model(options)
    read_s = time.perf_counter() - started
    compilation = model.compilation(options.target, options.opt_level)
    with progress_bar(quiet=options.json) as report:
        compilation.progress = report
        artefact = compilation.artefact
    writing = time.perf_counter()
    if output.suffix == ".so":
        export_library(compilation.backend, artefact, output)
    else:
        artefact.save(output)
    seconds = {"read model": read_s, **compilation.seconds, "write": time.perf_counter() - writing}
    total_s = time.perf_counter() - started
    size_bytes = output.stat().st_size
    if options.json:
        result = {"output": str(output), "bytes": size_bytes, "seconds": total_s, "kernels": len(compilation.kernels)}
        print(json.dumps({**result, "stages": seconds}))
        return
    print(f"{output}: {len(compilation.kernels)} kernels, {size_bytes / 1e6:.1f} MB, compiled in {total_s:.2f} s")
    if options.time:
        Console().print(_table(seconds, total_s))


def _table(seconds: dict[str, float], total_s: float) -> Table:
    table = Table("stage", "seconds", "share")
    for stage, spent in seconds.items():
        table.add_row(stage, f"{spent:.3f}", f"{spent / total_s:.0%}")
    return table
