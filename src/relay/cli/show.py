"""`relay show`: a program at any stage of its way, as text or as a drawing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from relay.base.files import write_atomically
from relay.cli.differences import pass_differences, runs
from relay.cli.models import add_donation, add_model_options, read_model, with_schedules
from relay.driver.compilation import Compilation
from relay.driver.kernels import Kernel
from relay.ir.expr import Call, Expr, GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ops.framework.layouts import parse_layout
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.convolution_text import convolution_text
from relay.ops.nn.winograd import WinogradAttributes
from relay.report.dataflow.page import svg_text, write_drawing
from relay.te.definitions import print_definitions
from relay.te.schedule.choice import Choice, Decision
from relay.te.schedule.records import CONVOLUTION_FIELDS, ScheduleRecord, Subject
from relay.te.schedule.text import print_steps
from relay.text.printer import astext
from relay.tir.text.printer import print_primfunc
from relay.transform.batching.batched import batching
from relay.transform.batching.list_loops import ListLoop
from relay.transform.batching.recursions.recursion import Recursion
from relay.transform.batching.rows import Refusal
from relay.transform.pipelines import level


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    command.add_argument("--stage", default="relay", choices=(*MODULE_STAGES, *KERNEL_STAGES), help="default: relay")
    command.add_argument(
        "--function", metavar="NAME", help="one function, or one kernel by the beginning of its name (default: all)"
    )
    add_donation(command)
    command.add_argument(
        "--diff",
        metavar="PASS",
        help="what a pass changed, each time it ran: FoldConstant (`--stage passes` lists them)",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write it; a graph to .svg, or .html, which folds and zooms"
    )
    command.add_argument("--json", action="store_true", help="print {name: text} as JSON")
    command.set_defaults(execute=execute)


@with_schedules
def execute(options: argparse.Namespace) -> None:
    model = read_model(options)
    compilation = model.compilation(options.target, options.opt_level, options.donate)
    if options.stage in GRAPH_STAGES and options.output and not (options.diff or options.json):
        program = GRAPH_STAGES[options.stage](compilation, options.function)
        write_drawing(program, Path(options.output), Path(options.model).name)
        return
    if options.diff:
        texts = pass_differences(compilation, options.diff)
    elif options.stage in MODULE_STAGES:
        texts = {options.stage: MODULE_STAGES[options.stage](compilation, options.function)}
    else:
        kernels = [compilation.kernel(options.function)] if options.function else list(compilation.kernels)
        texts = {kernel.info.name: KERNEL_STAGES[options.stage](kernel) for kernel in kernels}
    if options.json:
        text = json.dumps(texts)
    else:
        between = "\n" if options.stage in STAGES_OF_LINES else "\n\n"
        text = between.join(text for text in texts.values() if text)
    if options.output:
        write_atomically(Path(options.output), [f"{text}\n".encode()])
    else:
        print(text)


def _typed(compilation: Compilation, function: str | None) -> IRModule | Expr:
    return compilation.typed[function] if function else compilation.typed


def _optimized(compilation: Compilation, function: str | None) -> IRModule | Expr:
    return compilation.optimized[function] if function else compilation.optimized


def _relay(compilation: Compilation, function: str | None) -> str:
    return astext(_typed(compilation, function), show_meta_data=False)


def _fused(compilation: Compilation, function: str | None) -> str:
    return astext(_optimized(compilation, function), show_meta_data=False)


def _graph(compilation: Compilation, function: str | None) -> str:
    return svg_text(_typed(compilation, function))


def _fused_graph(compilation: Compilation, function: str | None) -> str:
    return svg_text(_optimized(compilation, function))


def _program(compilation: Compilation, function: str | None) -> str:
    program = compilation.program
    return str(program if function is None else program.procedure(function))


def _passes(compilation: Compilation, function: str | None) -> str:  # noqa: ARG001
    return str(level(compilation.opt_level, compilation.targets.kernels.rules))


def _batching(compilation: Compilation, function: str | None) -> str:
    """For each recursive function, whether AutoBatch takes its calls together, or why not."""
    (before, _), *_ = runs(compilation, "AutoBatch")
    lines = {name.name_hint: _taken_together(name, found) for name, found in batching(before).items()}
    if function is not None and function in before:
        lines = {function: lines.get(function, f"@{function} is not recursive")}
    return "\n".join(lines.values()) or "no function is recursive"


def _taken_together(name: GlobalVar, found: Recursion | ListLoop | Refusal) -> str:
    if isinstance(found, Refusal):
        return f"{found}: its calls run one by one"
    if isinstance(found, ListLoop):
        return (
            f"@{name.name_hint} has its calls of @{found.callee.name_hint} made together, before it goes over the list"
        )
    where = "" if found.branches else ", where it is mapped over a list"
    return f"@{name.name_hint} runs level by level{where}"


def _placement(kernel: Kernel) -> str:
    """Where a kernel runs, and why not where it might have."""
    refusals = "".join(f"  ({reason})" for reason in kernel.refusals)
    return f"{kernel.info.name}: {kernel.target.device_kind}{refusals}"


def _te(kernel: Kernel) -> str:
    group = kernel.group()
    lines = [f"kernel {kernel.info.name}"]
    lines += [f"input {tensor!r}: {tensor.dtype}" for tensor in group.inputs]
    lines += print_definitions(group.outputs).splitlines()
    lines += [f"output {tensor!r}: {tensor.dtype}" for tensor in group.outputs]
    lines += ["schedule", *(f"  {line}" for line in print_steps(kernel.schedule()).splitlines())]
    return "\n  ".join(lines)


def _schedule(kernel: Kernel) -> str:
    """What was chosen for a kernel, with reasons, and as records: its choice and the steps of it, and what was decided
    about its convolutions before."""
    target, choice = str(kernel.target.target), kernel.choice()
    lines = [kernel.info.name, *str("steps on record" if choice is None else choice).splitlines()]
    varies = choice is not None and choice.variants
    records = [ScheduleRecord(kernel.text, None if varies else kernel.schedule(), target, choice=choice)]
    for call in (node for node in post_order(kernel.function.body) if isinstance(node, Call)):
        decisions = _decisions(call, kernel)
        if decisions:
            about = Choice(Subject.CONVOLUTION, decisions)
            records.append(
                ScheduleRecord(convolution_text(call), None, target, choice=about, subject=Subject.CONVOLUTION)
            )
    return "\n".join((*(f"# {line}" for line in lines), *(record.to_json() for record in records)))


def _decisions(call: Call, kernel: Kernel) -> tuple[Decision, ...]:
    """What was decided about a convolution of packed weights before it was part of a kernel; nothing of other calls."""
    match call.attrs:
        case Conv2DAttributes(kernel_layout=layout, groups=1) | WinogradAttributes(kernel_layout=layout):
            known = convolution_text(call) and parse_layout(layout).blocks
        case _:
            known = ""
    decisions = kernel.target.choice(kernel.group()).decisions if known else ()
    return tuple(each for each in decisions if each.field in CONVOLUTION_FIELDS)


def _tir(kernel: Kernel) -> str:
    return print_primfunc(kernel.loops())


def _llvm(kernel: Kernel) -> str:
    return kernel.source()


def _assembly(kernel: Kernel) -> str:
    return kernel.assembly()


MODULE_STAGES: Mapping[str, Callable[[Compilation, str | None], str]] = {
    "relay": _relay,
    "fused": _fused,
    "graph": _graph,
    "fused-graph": _fused_graph,
    "program": _program,
    "passes": _passes,
    "batching": _batching,
}
GRAPH_STAGES: Mapping[str, Callable[[Compilation, str | None], IRModule | Expr]] = {
    "graph": _typed,
    "fused-graph": _optimized,
}
"""Stages that are drawings, and what they show."""

STAGES_OF_LINES = ("schedule", "placement")
"""Stages whose texts are lines."""

KERNEL_STAGES: Mapping[str, Callable[[Kernel], str]] = {
    "placement": _placement,
    "te": _te,
    "schedule": _schedule,
    "tir": _tir,
    "llvm": _llvm,
    "asm": _assembly,
}
