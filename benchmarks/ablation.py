"""What a pass is worth: time, kernels, planned memory and compile time at each level, and with one pass off at a time.

All variants of a model run in turn in one process, two threads, batch 1, float32; they are checked to agree. A ratio
above 1 says how many times as long the model takes without the pass. A pass without which the same native code comes
out (`=`) does nothing for that model, and is not timed. What these models do not need, programs of other kinds do:
the last column has one for each such pass (`witnesses.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import relay
from benchmarks.witnesses import WITNESSES, Witness
from relay.driver.build import compile_stages
from relay.driver.targets import targets_for
from relay.ir.module import IRModule
from relay.runtime.executable import Executable, instantiate
from relay.testing.measuring.measure import Timing, interleaved, ratio
from relay.testing.programs import char_rnn, tree_lstm

LEVELS = (0, 1, 2, 3, 4)
USUAL = "-O3"
NEEDED = ("SimplifyInference", "FuseOps", "ToANormalForm")
"""Without these there is no native code."""
OWN = "own program"
"""The column of programs that need the pass."""
Choice: TypeAlias = tuple[str, tuple[int, tuple[str, ...]]]
"""The name of a variant: its level, and the passes that are off."""
Row: TypeAlias = dict[str, Any]
"""Of the table: a model as one variant."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, its parameters, and the arguments of a call."""

    module: IRModule
    params: Mapping[str, Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A model as one choice of passes compiles it."""

    name: str
    executable: Executable
    code: str  # a digest of native code and constants
    compile_s: float
    kernels: int
    workspace_bytes: int | None  # None where the heap of a call holds the values


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """One row a model and variant."""
    relay.set_num_threads(2)
    for name, make in SUBJECTS.items():
        if not options.only or name in options.only:
            yield from _rows(name, make(), options.seconds, tuple(_choices()))
    if not options.only or OWN in options.only:
        for name, witness in WITNESSES.items():
            choices = ((USUAL, (3, ())), (f"no {name}", (3, (name,))))
            yield from list(_rows(OWN, _witnessed(witness), options.seconds / 2, choices))[1:]


def show(rows: Sequence[Row]) -> None:
    """The table, in the terminal."""
    Console(width=150).print(_table(rows))


def draw(rows: Sequence[Row], kept: Path) -> None:
    """The plot and the page, beside the file in which the rows are kept."""
    plot = kept.with_suffix(".png")
    _plot(rows, plot)
    kept.with_suffix(".html").write_text(_page(rows, plot.name))


def _rows(model: str, subject: Subject, seconds: float, choices: Sequence[Choice]) -> Iterator[Row]:
    variants = [_variant(name, subject, *how) for name, how in track(choices, f"compiling {model}", transient=True)]
    usual = next(each for each in variants if each.name == USUAL)
    distinct = [each for each in variants if each is usual or each.code != usual.code]
    expected = _leaves(variants[0].executable(*subject.arguments))
    for variant in distinct:
        for one, other in zip(_leaves(variant.executable(*subject.arguments)), expected, strict=True):
            if not np.allclose(one, other, rtol=1e-2, atol=1e-3 * max(1.0, float(np.abs(other).max()))):
                raise RuntimeError(f"{model}: {variant.name} and {variants[0].name} disagree")
    calls = {each.name: lambda each=each: each.executable(*subject.arguments) for each in distinct}
    timings: dict[str, Timing] = interleaved(calls, seconds * len(distinct), rests=True)
    for variant in variants:
        timed = timings.get(variant.name, timings[USUAL])
        compared = ratio(timed, timings[USUAL])
        yield {
            "model": model, "variant": variant.name, "same_code": variant.name not in timings,
            "ms": timed.median_s * 1e3, "min_ms": timed.minimum_s * 1e3, "times_as_long": compared.median,
            "quartiles": [compared.low, compared.high], "kernels": variant.kernels,
            "workspace_bytes": variant.workspace_bytes, "compile_s": variant.compile_s,
        }  # fmt: skip


def _choices() -> Iterator[Choice]:
    """The levels; then the usual one with each of its passes off in turn."""
    for level in LEVELS:
        yield f"-O{level}", (level, ())
    rules = targets_for("llvm").kernels.rules
    for each in dict.fromkeys(each.name for each in relay.transform.level(3, rules).passes):
        if each not in NEEDED:
            yield f"no {each}", (3, (each,))


def _variant(name: str, subject: Subject, opt_level: int, disabled: tuple[str, ...]) -> Variant:
    """Compiled with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as cache, relay.PassContext(opt_level=opt_level, disabled_pass=disabled):
        before = os.environ.get("RELAY_CACHE_DIR")
        os.environ["RELAY_CACHE_DIR"] = cache
        try:
            started = time.perf_counter()
            compilation = compile_stages(subject.module, params=subject.params)
            artefact = compilation.artefact
            compile_s = time.perf_counter() - started
        finally:
            os.environ.pop("RELAY_CACHE_DIR")
            if before is not None:
                os.environ["RELAY_CACHE_DIR"] = before
    flat = compilation.program.entry("main").is_flat
    workspace = artefact.manifest.entry("main").workspace_bytes if flat else None
    kernels = len(compilation.called_kernels)
    space = workspace if isinstance(workspace, int) else None
    digest = hashlib.sha256(b"".join((*artefact.objects, artefact.constants.tobytes()))).hexdigest()
    return Variant(name, instantiate(artefact), digest, compile_s, kernels, space)


def _leaves(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray | np.generic):
        return [np.asarray(value)]
    fields = value if isinstance(value, tuple | list) else getattr(value, "fields", ())
    return [leaf for each in fields for leaf in _leaves(each)]


# -------------------------------------------------------------------------------------------------------------- models


def _network(workload: tuple[IRModule, Mapping[str, Any]], *shape: int) -> Subject:
    module, params = workload
    return Subject(module, params, (np.random.default_rng(0).standard_normal(shape).astype(np.float32),))


def _witnessed(witness: Witness) -> Subject:
    return Subject(relay.parse(f'#[version = "0.0.5"]\n{witness.text}'), witness.params, witness.arguments)


def _char_rnn() -> Subject:
    arguments = (np.asarray(100, np.int32), np.asarray(1, np.int32), np.asarray(0, np.int32), np.float32(0))
    return Subject(char_rnn.char_rnn(256).module, char_rnn.parameters(256), arguments)


def _tree_lstm() -> Subject:
    width, random = 128, np.random.default_rng(0)
    kind = tree_lstm.tree_type(width)
    trees = [tree_lstm.random_tree(kind, 19, width, random) for _ in range(8)]
    module = tree_lstm.forest_lstm(kind, width, width).module
    return Subject(module, tree_lstm.parameters(width, width), (trees,))


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "resnet18": lambda: _network(relay.testing.resnet.get_workload(), 1, 3, 224, 224),
    "mobilenet_v2": lambda: _network(relay.testing.mobilenet.get_workload(version=2), 1, 3, 224, 224),
    "encoder": lambda: _network(
        relay.testing.transformer.get_workload(num_layers=4, width=768, num_heads=12, feedforward=3072, sequence=128),
        1, 128, 768,
    ),
    "charrnn": _char_rnn,
    "treelstm": _tree_lstm,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- showing


def _cell(row: Mapping[str, Any]) -> str:
    return "=" if row["same_code"] else f"{row['times_as_long']:.2f}"


def _by_variant(rows: Sequence[Row]) -> tuple[list[str], dict[str, dict[str, Row]]]:
    models = list(dict.fromkeys(str(row["model"]) for row in rows))
    table: dict[str, dict[str, Row]] = {}
    for row in rows:
        table.setdefault(str(row["variant"]), {})[str(row["model"])] = row
    return models, table


def _table(rows: Sequence[Row]) -> Table:
    """Of each model: how many times as long as at -O3, kernels, MB of workspace, seconds of compiling."""
    models, by_variant = _by_variant(rows)
    table = Table("", *(f"{model}\n× · kernels · MB · s" for model in models))
    for variant, found in by_variant.items():
        table.add_row(variant, *(_figures(found.get(model)) for model in models))
    return table


def _figures(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    space = "–" if row["workspace_bytes"] is None else f"{row['workspace_bytes'] / 1e6:.1f}"
    return f"{_cell(row)} · {row['kernels']} · {space} · {row['compile_s']:.2f}"


def _plot(rows: Sequence[Row], path: Path) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    models, by_variant = _by_variant(rows)
    figure, axes = plt.subplots(1, len(models), sharey=True, figsize=(3 * len(models), 0.28 * len(by_variant) + 1.2))
    names = list(by_variant)[::-1]
    for axis, model in zip(np.atleast_1d(axes), models, strict=True):
        found = [by_variant[name].get(model) for name in names]
        lengths = [1.0 if row is None else float(row["times_as_long"]) for row in found]
        axis.barh(names, lengths, color=["tab:blue" if name.startswith("-O") else "tab:orange" for name in names])
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_title(model)
        axis.set_xlabel(f"times as long as {USUAL}")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _page(rows: Sequence[Row], plot: str) -> str:
    models, by_variant = _by_variant(rows)
    head = "".join(f"<th>{escape(model)}</th>" for model in models)
    body = "".join(
        f"<tr><th>{escape(variant)}</th>" + "".join(f"<td>{_figures(found.get(m))}</td>" for m in models) + "</tr>"
        for variant, found in by_variant.items()
    )
    return f"""<!doctype html><meta charset="utf-8"><title>What each pass is worth</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }}
td, th {{ padding: 2px 12px; text-align: left }}
tr:nth-child(even) {{ background: #f4f4f4 }}
</style>
<h1>What each pass is worth</h1>
<p>Times as long as at {USUAL} · kernels · MB of workspace (– where values live on a heap) · seconds of compiling.
An = stands where the same code comes out.</p>
<img src="{plot}" alt="the times as bars">
<table><tr><th></th>{head}</tr>{body}</table>
"""
