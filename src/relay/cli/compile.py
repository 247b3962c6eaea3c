"""`relay compile`: a model in, a compiled file out."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

import relay
from relay.base.diagnostics import RelayError
from relay.base.stopwatch import Stopwatch, TimedPart
from relay.cli.console import progress_bar
from relay.cli.models import add_donation, add_model_options, read_model, with_schedules

ARTEFACT_SUFFIX = ".rlx"
OUTPUT_SUFFIXES = (ARTEFACT_SUFFIX, ".so", ".o", ".a")


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="NAME.rlx: an artefact that relay loads; NAME.so, NAME.o, NAME.a: a shared library, an object or an "
        "archive, for C, C++ and (NAME.so) relay, and the headers NAME.h and NAME.hpp",
    )
    command.add_argument("--name", help="what the names in a library begin with (default: the name of the file)")
    add_donation(command)
    command.add_argument(
        "--verify",
        action="store_true",
        help="compare every pass and kernel with what it means, on made-up inputs, and show how far each was off",
    )
    command.add_argument("--time", action="store_true", help="show where the time went: passes, lowering, LLVM, cache")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(execute=execute)


@with_schedules
def execute(options: argparse.Namespace) -> None:
    output = Path(options.output)
    if output.suffix not in OUTPUT_SUFFIXES:
        raise RelayError(
            rule="unknown-output-kind",
            message=f"cannot tell what to write to {output}",
            expected="a name that ends in " + ", ".join(OUTPUT_SUFFIXES),
            found=output.suffix or "no suffix",
        )
    if not output.parent.is_dir():
        raise RelayError(
            rule="cannot-write",
            message=f"cannot write {output}",
            found=f"no folder {output.parent}",
            remedy="make the folder first",
        )
    watch = Stopwatch()
    with watch.part("compile") as whole:
        with watch.part("import the compiler"):
            export_library, verified_executable = relay.driver.export_library, relay.driver.verified_executable
        with watch.part("read model"):
            model = read_model(options)
        compilation = model.compilation(options.target, options.opt_level, options.donate)
        compilation.watch = watch
        with progress_bar(quiet=options.json) as report:
            compilation.progress = report
            verification = verified_executable(compilation).verification if options.verify else None
            artefact = compilation.artefact
        with watch.part("write"):
            if output.suffix == ARTEFACT_SUFFIX:
                artefact.save(output)
            else:
                export_library(compilation.targets.host, artefact, output, options.name)
    total_s = whole.seconds
    size_bytes = output.stat().st_size
    if options.json:
        result = {"output": str(output), "bytes": size_bytes, "seconds": total_s, "kernels": len(compilation.kernels)}
        stages = {name: part.seconds for name, part in whole.parts.items()}
        checked = {} if verification is None else {"verification": verification.to_json()}
        print(json.dumps({**result, "stages": stages, "parts": _as_json(whole), **checked}))
        return
    print(f"{output}: {len(compilation.kernels)} kernels, {size_bytes / 1e6:.1f} MB, compiled in {total_s:.2f} s")
    if verification is not None:
        print(verification.text(shutil.get_terminal_size().columns))
    if options.time:
        Console().print(_tree(whole))


def _tree(whole: TimedPart) -> Tree:
    """The parts, slowest first, those under a thousandth of the whole left out unless there is a note."""
    root = Tree(_line(whole, whole))
    branches = [(root, whole)]
    while branches:
        branch, part = branches.pop()
        parts = sorted(part.parts.values(), key=lambda each: (each.is_beside, -each.seconds))
        shown = [each for each in parts if each.seconds >= whole.seconds / 1000 or each.note]
        branches += [(branch.add(_line(each, whole)), each) for each in shown]
        if shown and part.rest_s >= whole.seconds / 1000:
            branch.add(_line(TimedPart("rest", part.rest_s), whole))
    return root


def _line(part: TimedPart, whole: TimedPart) -> Text:
    share = "beside" if part.is_beside else f"{part.seconds / whole.seconds:.1%}"
    times = f"  ×{part.count}" if part.count > 1 else ""
    note = f"  ({part.note})" if part.note else ""
    return Text.assemble(f"{part.name}  ", (f"{part.seconds * 1e3:,.1f} ms", "bold"), f"  {share}{times}{note}")


def _as_json(part: TimedPart) -> dict[str, Any]:
    inner = [_as_json(each) for each in part.parts.values()]
    return {
        "name": part.name, "seconds": part.seconds, "count": part.count, "note": part.note, "beside": part.is_beside,
        "parts": inner,
    }  # fmt: skip
