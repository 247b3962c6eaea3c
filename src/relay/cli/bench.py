"""`relay bench`: how fast a model is, next to another library, in one interleaved run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from relay.base.diagnostics import RelayError
from relay.cli.inputs import add_extent_option, random_inputs, read_extents
from relay.cli.models import add_model_options, compile_model, with_schedules
from relay.runtime.memory.threads import set_num_threads
from relay.testing.measuring.measure import Candidate, interleaved, ratio
from relay.testing.measuring.peer_process import PeerProcess
from relay.testing.measuring.peers import PEERS


def add_options(command: argparse.ArgumentParser) -> None:
    add_model_options(command)
    command.add_argument("--against", choices=tuple(PEERS), help="the library to compare with")
    command.add_argument("--peer-model", metavar="FILE", help="the same model for the other library, if not MODEL")
    command.add_argument("--threads", default="1,2", metavar="N,N,…", help="thread counts (default: 1,2)")
    add_extent_option(command)
    command.add_argument("--seconds", type=float, default=4.0, help="time for each thread count (default: 4)")
    command.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: 0)")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.set_defaults(execute=execute)


@with_schedules
def execute(options: argparse.Namespace) -> None:
    thread_counts = _threads(options.threads)
    executable = compile_model(options, quiet=options.json)
    inputs = random_inputs(executable.entry, options.seed, read_extents(options))
    rows = [_measure(options, executable, inputs, threads) for threads in thread_counts]
    if options.json:
        print(json.dumps({"model": options.model, "target": options.target, "rows": rows}))
        return
    Console().print(_table(options, rows))


def _measure(
    options: argparse.Namespace, executable: Any, inputs: Mapping[str, NDArray[np.generic]], threads: int
) -> dict[str, Any]:
    set_num_threads(threads)
    candidates: dict[str, Callable[[], object] | Candidate] = {"relay": lambda: executable(**inputs)}
    with ExitStack() as processes:
        if options.against:
            peer = PeerProcess(options.against, Path(options.peer_model or options.model), inputs, threads)
            candidates[options.against] = processes.enter_context(peer)
        timings = interleaved(candidates, options.seconds, rests=threads != 1)
    ours = timings["relay"]
    row: dict[str, Any] = {"threads": threads, "relay_ms": ours.median_s * 1e3, "relay_min_ms": ours.minimum_s * 1e3}
    if options.against:
        theirs = timings[options.against]
        compared = ratio(theirs, ours)
        row |= {
            f"{options.against}_ms": theirs.median_s * 1e3,
            f"{options.against}_min_ms": theirs.minimum_s * 1e3,
            "ratio": compared.median,
            "ratio_quartiles": [compared.low, compared.high],
            "ratio_of_minima": compared.of_minima,
        }
    return row


def _table(options: argparse.Namespace, rows: list[dict[str, Any]]) -> Table:
    table = Table("threads", "relay ms (min)", title=options.model)
    if options.against:
        table.add_column(f"{options.against} ms (min)")
        table.add_column("times as fast (quartiles; minima)")
    for row in rows:
        cells = [str(row["threads"]), f"{row['relay_ms']:.3f} ({row['relay_min_ms']:.3f})"]
        if options.against:
            low, high = row["ratio_quartiles"]
            cells.append(f"{row[f'{options.against}_ms']:.3f} ({row[f'{options.against}_min_ms']:.3f})")
            cells.append(f"{row['ratio']:.2f} ({low:.2f} to {high:.2f}; {row['ratio_of_minima']:.2f})")
        table.add_row(*cells)
    return table


def _threads(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise RelayError(rule="bad-threads", message="these are no thread counts", expected="such as 1,2", found=text)
    return counts
