"""Run the benchmarks and keep their figures. `docs/benchmarks.md` says how to read them.

python -m benchmarks                       all suites but the ablation, into benchmarks/results/
python -m benchmarks operators --only conv gemm --threads 2
python -m benchmarks networks --only resnet18 --peers onnxruntime openvino
python -m benchmarks precision             networks in bfloat16 against float32 and against peers in bfloat16
python -m benchmarks narrow_products       products of bytes and of bfloat16 alone, against peers and float32
python -m benchmarks sorting               sort, argsort and topk against NumPy, PyTorch and onnxruntime
python -m benchmarks training              whole training steps against PyTorch and JAX: time, memory, compilation
python -m benchmarks derivatives           gradients, tangents, Hessian-vector products against their multiply-adds
python -m benchmarks recurrent             models as programs: generation, recurrent layers, trees
python -m benchmarks pytorch               imported models of PyTorch against its own compiler; pytorch_small
python -m benchmarks batching              recursive programs with AutoBatch and without it
python -m benchmarks levels                programs at -O3 against the same at lower levels
python -m benchmarks symbolic              networks with open extents against the same with numbers
python -m benchmarks startup               import, compilation, loading, peak memory, in fresh processes
python -m benchmarks notation              a decorated function: compiled, found unchanged, called
python -m benchmarks compile_time          what compilation costs for each operator, up to 10,000 of them
python -m benchmarks memory                the planned workspace against its lower bound
python -m benchmarks ablation              what each pass is worth: a table, a plot and a page
python -m benchmarks commits OLD [NEW]     our own figures of one commit against those of another, or of this tree
python -m benchmarks compare               the figures in benchmarks/results/ against those of the last commit
python -m benchmarks compare OLD.json NEW.json

What is run in part (--only, --peers, --threads, --quick) is printed, and kept only where --output says.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from benchmarks.changes import compare_files, compare_with_last_commit
from benchmarks.figures import Figure, Quantity, Record, to_json
from benchmarks.machine import machine
from benchmarks.showing import bars_of, failures_of, plot_bars, quantities_of, table_of
from relay.testing.measuring.peers import PEERS

RESULTS = Path(__file__).parent / "results"
SUITES = (
    "operators", "networks", "precision", "narrow_products", "sorting", "updates", "recurrent", "training",
    "derivatives", "pytorch", "pytorch_small", "batching", "levels", "symbolic", "startup", "notation", "compile_time",
    "memory",
)  # fmt: skip
THREADS = (1, 2)
QUICK_ROUNDS = 3
WIDTH = 170


def main(words: Sequence[str]) -> None:
    if words[:1] == ["compare"]:
        _compare(words[1:])
        return
    options = _options(words)
    for name in options.suite or SUITES:
        path = Path(options.output) if options.output else RESULTS / f"{name}.json"
        suite = importlib.import_module(f"benchmarks.{name}")
        found, stopped_by = _collect(suite.measure(options))
        _keep(suite, found, path.with_suffix(".partial.json") if stopped_by else path, options.no_save)
        if isinstance(stopped_by, Exception):
            raise stopped_by
        if stopped_by:
            return


def _collect(records: Iterable[Any]) -> tuple[list[Any], KeyboardInterrupt | Exception | None]:
    """What there is until the end, or until someone presses Ctrl-C or something breaks; and what that was."""
    found: list[Any] = []
    try:
        for each in records:
            found.append(each)  # what came before an interruption stays
    except (KeyboardInterrupt, Exception) as error:
        return found, error
    return found, None


def _keep(suite: ModuleType, found: list[Any], path: Path, no_save: bool) -> None:
    """Show what was found, and keep it beside its plot. The ablation has rows and a page of its own."""
    is_ablation = suite.__name__ == "benchmarks.ablation"
    getattr(suite, "show", _show)(found)
    if no_save:
        return
    path.parent.mkdir(exist_ok=True)
    if is_ablation:
        path.write_text(json.dumps({"machine": machine(), "figures": found}, indent=1) + "\n")
        suite.draw(found, path)
    else:
        path.write_text(to_json(machine(), found))
        if hasattr(suite, "draw"):
            suite.draw(found, path)
        elif groups := bars_of(found):
            plot_bars(groups, path.with_suffix(".png"), suite.__name__.rpartition(".")[2])
    print(f"kept in {path}")


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    if words[:1] == ["commits"]:
        parser.add_argument("suite", nargs=1)
        parser.add_argument("old", metavar="OLD", help="a commit")
        parser.add_argument("new", metavar="NEW", nargs="?", help="another; default: the files of this tree")
        parser.add_argument("--suites", nargs="*", metavar="SUITE", help="whose rows are measured (default: all)")
    else:
        parser.add_argument("suite", nargs="*", choices=[[], *SUITES, "ablation"], help="default: all but the ablation")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="beginnings of the names of models and operators")
    parser.add_argument("--threads", nargs="*", type=int, default=list(THREADS), help="thread counts (default: 1 2)")
    parser.add_argument("--peers", nargs="*", choices=tuple(PEERS), help="default: all that are installed")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each model and thread count (default: 8)")
    parser.add_argument("--quick", action="store_true", help="the smallest programs, three rounds: does it all work?")
    parser.add_argument("--output", metavar="FILE.json", help="where to keep the figures, and beside it the plot")
    parser.add_argument("--no-save", action="store_true", help="only print")
    options = parser.parse_args(words)
    if options.output and len(options.suite) != 1:
        parser.error("--output is for one suite")
    in_part = options.quick or options.only or options.peers or tuple(options.threads) != THREADS
    in_part = in_part or bool(vars(options).get("suites"))
    options.no_save = options.no_save or bool(in_part and not options.output)
    options.rounds = QUICK_ROUNDS if options.quick else None
    return options


def _show(records: list[Record]) -> None:
    console = Console(width=WIDTH)
    if any(isinstance(each, Figure) for each in records):
        console.print(table_of(records))
    if any(isinstance(each, Quantity) for each in records):
        console.print(quantities_of(records))
    if (failures := failures_of(records)) is not None:
        console.print(failures)


def _compare(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("benchmarks compare", description="Figures against older ones, by their ratios.")
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="OLD.json NEW.json", help="default: HEAD's and those here"
    )
    files = parser.parse_args(words).files
    if not files:
        compare_with_last_commit(RESULTS)
    elif len(files) == 2:
        compare_files(*files)
    else:
        parser.error("give two files, or none")


if __name__ == "__main__":
    main(sys.argv[1:])
