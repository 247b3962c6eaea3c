"""`relay profile`: where the time of a model goes, kernel by kernel, next to what the machine could do."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from relay.runtime.profile.roofline import kept_roofline

ARTEFACT_SUFFIX = ".rlx"
WIDEST = 1 << 20
"""Columns that no name is longer than."""


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
    command.add_argument("--wide", action="store_true", help="names on one line, however long they are")
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
        print(json.dumps(_with_choices(profile.to_json(), choices)))
        return
    print(profile.text(WIDEST if options.wide else shutil.get_terminal_size().columns))
    for kernel in profile.by_time:
        if kernel.name in choices:
            print(f"\n{kernel.name}\n{choices[kernel.name]}")
    for arena in profile.arenas if options.arena else ():
        print(arena)


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


def _with_choices(profile: dict[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """A profile as JSON, with what is decided about its kernels."""
    kernels = [
        each | ({"choice": choices[each["kernel"]]} if each["kernel"] in choices else {}) for each in profile["kernels"]
    ]
    return profile | {"kernels": kernels}
