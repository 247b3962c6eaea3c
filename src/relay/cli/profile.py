"""`relay profile`: where the time of a model goes, operator by operator."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

import relay
from relay.cli.console import progress_bar
from relay.cli.inputs import random_inputs
from relay.cli.models import add_model_options, read_model
from relay.runtime.profile import HEADER, Profile


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    command.add_argument("--runs", type=int, default=20, help="runs, of which the median counts (default: 20)")
    command.add_argument("--threads", type=int, metavar="N", help="threads (default: all processors)")
    command.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: 0)")
    command.add_argument("--json", action="store_true", help="print the times as JSON")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    model = read_model(options)
    with progress_bar(quiet=options.json) as report:
        executor = relay.driver.build_graph(model.module, options.target, model.params, options.opt_level, report)
    if options.threads is not None:
        relay.set_num_threads(options.threads)
    executor.set_input(**random_inputs(executor.entry, options.seed, {}))
    profile = executor.profile(options.runs)
    if options.json:
        print(json.dumps([
            {"node": each.node, "kernel": each.kernel, "results": each.results, "seconds": each.median_s}
            for each in profile.operators
        ]))  # fmt: skip
        return
    Console().print(_table(options.model, profile))


def _table(title: str, profile: Profile) -> Table:
    table = Table(title=title)
    for column in HEADER:
        table.add_column(column, justify="right" if column in HEADER[-2:] else "left", overflow="fold")
    for row in profile.cells():
        table.add_row(*row)
    return table
