"""`relay profile`: where the time of a model goes, kernel by kernel, next to what the machine could do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import relay
from relay.base.diagnostics import RelayError
from relay.cli.inputs import add_extent_option, random_inputs, read_extents
from relay.cli.models import (
    COMPILED_SUFFIXES,
    SOURCE_SUFFIXES,
    add_model_options,
    compile_model,
    read_model,
    with_schedules,
)
from relay.report import write_html, write_trace
from relay.runtime.executable import Executable, load
from relay.runtime.profile.program_profile import HEADER, NAMES, KernelProfile, ProgramProfile
from relay.runtime.profile.roofline import kept_roofline, to_json

ARTEFACT_SUFFIX = ".rlx"
_BAR_CELLS = 10


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command, (ARTEFACT_SUFFIX, *SOURCE_SUFFIXES))
    command.add_argument("--runs", type=int, default=20, help="runs, of which the median counts (default: 20)")
    command.add_argument("--threads", type=int, metavar="N", help="threads (default: all processors)")
    command.add_argument("--function", default="main", metavar="NAME", help="the function to run (default: main)")
    add_extent_option(command)
    command.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: 0)")
    command.add_argument("--trace", metavar="FILE.json", help="write a run for ui.perfetto.dev or chrome://tracing")
    command.add_argument("--html", metavar="FILE.html", help="write a page: timeline, roofline, kernels, arena")
    command.add_argument("--arena", action="store_true", help="show what is where in the workspace, and when")
    command.add_argument("--choices", action="store_true", help="show what is decided about each kernel, and why")
    command.add_argument("--json", action="store_true", help="print the profile as JSON")
    command.set_defaults(execute=execute)


@with_schedules
def execute(options: argparse.Namespace) -> None:
    executable = _executable(options)
    if options.threads is not None:
        relay.set_num_threads(options.threads)
    entry = executable.manifest.entry(options.function)
    inputs = random_inputs(entry, options.seed, read_extents(options))
    profile = executable.profile(*inputs.values(), runs=options.runs, function=options.function)
    if options.trace:
        write_trace(profile, options.trace)
    if options.html:
        write_html(profile, options.html, Path(options.model).name)
    choices = _choices(options) if options.choices else {}
    if options.json:
        print(json.dumps(_as_json(profile, choices)))
        return
    console = Console()
    console.print(_table(options.model, profile))
    for line in profile.notes():
        console.print(line, highlight=False)
    for kernel in profile.by_time:
        if kernel.name in choices:
            console.print(f"\n{kernel.name}\n{choices[kernel.name]}", highlight=False, markup=False)
    if options.arena and profile.arena is not None:
        console.print(str(profile.arena), highlight=False, markup=False)


def _executable(options: argparse.Namespace) -> Executable:
    """What the options name, loaded. The machine is measured if that was never done, which needs the compiler."""
    compiled = Path(options.model).suffix in COMPILED_SUFFIXES
    executable = load(options.model) if compiled else compile_model(options, quiet=options.json)
    executable.roofline = lambda threads: kept_roofline(threads) or relay.driver.machine_roofline(threads)
    return executable


def _choices(options: argparse.Namespace) -> dict[str, str]:
    """What is decided about the schedules of kernels, by their names.

    Raises `RelayError` (`no-choices`) for a compiled model: it does not say how its kernels were scheduled."""
    if Path(options.model).suffix in COMPILED_SUFFIXES:
        raise RelayError(
            rule="no-choices",
            message=f"{options.model} is compiled: what was decided about its kernels is not in it",
            expected="a model as source: " + ", ".join(SOURCE_SUFFIXES),
            found=Path(options.model).suffix,
        )
    compilation = read_model(options).compilation(options.target, options.opt_level)
    kernels = (kernel for kernel in compilation.called_kernels if not kernel.is_external)
    return {kernel.info.name: str(kernel.choice() or "steps on record") for kernel in kernels}


def _table(title: str, profile: ProgramProfile) -> Table:
    table = Table(title=title)
    for position, column in enumerate(HEADER):
        table.add_column(column, justify="left" if position < NAMES else "right", overflow="fold")
    table.add_column("")
    *rows, total = profile.cells()
    shares = [*(profile.share(each.median_s) for each in profile.by_time), profile.share(profile.control_s)]
    for row, share in zip(rows, shares, strict=True):
        table.add_row(*row, _bar(share))
    table.add_section()
    table.add_row(*total, "")
    return table


def _bar(share: float) -> Text:
    """A bar of a share, in eighths of a character."""
    eighths = round(share * _BAR_CELLS * 8)
    return Text("█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8], style="cyan")


def _as_json(profile: ProgramProfile, choices: Mapping[str, str]) -> dict[str, Any]:
    arena = profile.arena
    return {
        "function": profile.function,
        "target": profile.target,
        "threads": profile.threads,
        "seconds": profile.median_s,
        "control_seconds": profile.control_s,
        "kernels": [
            _kernel_as_json(profile, each) | ({"choice": choices[each.name]} if each.name in choices else {})
            for each in profile.by_time
        ],
        "roofline": None if profile.roofline is None else to_json(profile.roofline),
        "arena": None if arena is None else {
            "planned_bytes": arena.planned_bytes, "lower_bound_bytes": arena.lower_bound_bytes,
        },
    }  # fmt: skip


def _kernel_as_json(profile: ProgramProfile, kernel: KernelProfile) -> dict[str, Any]:
    return {
        "kernel": kernel.name,
        "operators": kernel.operators,
        "calls": kernel.calls,
        "seconds": kernel.median_s,
        "share": profile.share(kernel.median_s),
        "multiply_adds": kernel.multiply_adds,
        "bytes": kernel.bytes_touched,
        "flops_per_s": kernel.flops_per_s,
        "bytes_per_s": kernel.bytes_per_s,
        "roofline_share": kernel.roofline_share,
    }
