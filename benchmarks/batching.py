"""What AutoBatch gives and takes: recursive programs compiled with it against the same without it, in turn in one run.

TreeLSTMs over one tree (`balanced`, `random`, combs to the left and to the right), over a forest of up to 32 trees and
of 128 small ones, mapped and added up in a loop, and a recurrent encoder over one list and over a batch of lists of
different lengths; weights constant or given; from one leaf up. The peer is the program without AutoBatch: no figure is
to be below 0.95, none of 32 trees of 19 leaves below 1.3.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import relay
from benchmarks.figures import RELAY, Failure, Figure, Record, figure
from benchmarks.workloads import LARGEST_ERROR
from relay.ir.module import IRModule
from relay.runtime.values.values import DataValue, data_list
from relay.testing.measuring.libraries import library
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peers import relative_error
from relay.testing.programs import tree_lstm

WITHOUT = "without AutoBatch"
HIDDEN = (16, 32, 64, 128, 256, 512)
LEAVES = (1, 2, 3, 4, 8, 16, 64, 256)
TREES, FOREST_LEAVES = 8, (1, 2, 19)
MANY_TREES: Mapping[str, tuple[int, int, int]] = {"32x19": (32, 19, 19), "128x3": (128, 3, 3), "128x3-8": (128, 3, 8)}
"""Trees, and the fewest and the most leaves of one."""
LENGTHS = (1, 8, 64)
_SHARE = 1 / 20  # of the seconds that a workload of other suites has: there are hundreds
_FEWEST_ROUNDS = 9
Make = Callable[[Any, int, int, np.random.Generator], Any]


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a program, structure and thread count."""
    beginnings = tuple(options.only or ("",))
    sizes = HIDDEN[:1] if options.quick else HIDDEN
    programs = [
        (hidden, given, threads, program)
        for hidden in sizes for given in (False, True) for threads in options.threads
        for program in (_one_tree, _forest, _sum, _one_list, _lists)
    ]  # fmt: skip
    for hidden, given, threads, program in track(programs, "batching", transient=True):
        module, weights, values = program(hidden)
        chosen = {f"{name}_h{hidden}_{'given' if given else 'constant'}": value for name, value in values.items()}
        chosen = {name: value for name, value in chosen.items() if name.startswith(beginnings)}
        if options.quick:
            chosen = dict(list(chosen.items())[-1:])
        if chosen:
            calls = _compiled(module, weights, given, threads)
            for name, value in chosen.items():
                yield _compare(name, threads, {who: call(value) for who, call in calls.items()}, options)


def _compare(name: str, threads: int, calls: dict[str, Callable[[], Any]], options: Namespace) -> Record:
    error = relative_error(calls[RELAY](), calls[WITHOUT]())
    if error > LARGEST_ERROR:
        return Failure(name, threads, WITHOUT, f"its result is another one: relative error {error:.1e}")
    timings = interleaved(calls, options.seconds * _SHARE, rounds=options.rounds)
    if options.rounds is None and len(timings[RELAY].samples_s) < _FEWEST_ROUNDS:
        timings = interleaved(calls, rounds=_FEWEST_ROUNDS)
    return figure(name, threads, WITHOUT, timings[RELAY], timings[WITHOUT], error=error, work=None)


def _compiled(
    module: IRModule, weights: dict[str, Any], given: bool, threads: int
) -> dict[str, Callable[[Any], Callable[[], Any]]]:
    """By each way of compiling, what makes a call of a value."""
    made: dict[str, Callable[[Any], Callable[[], Any]]] = {}
    for who, disabled in ((RELAY, ()), (WITHOUT, ("AutoBatch",))):
        with relay.PassContext(disabled_pass=disabled):
            target = f"llvm -mcpu=native -num-threads={threads}"
            executable = relay.build(module, target, params=None if given else weights, opt_level=3)
        rest = tuple(weights.values()) if given else ()
        made[who] = lambda value, run=executable, rest=rest: lambda: _leaves(run(value, *rest))
    return made


def _leaves(value: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (tuple, list)) else [value]


# ---------------------------------------------------------------------------------------------------------------- plot


def draw(records: Sequence[Record], path: Path) -> None:
    """The gain over the hidden size: a line a structure, a panel a program, and weights constant or given. There are
    too many figures for a bar each."""
    library("matplotlib").use("Agg")
    plt = library("matplotlib.pyplot")
    figures = [each for each in records if isinstance(each, Figure) and each.threads == 1]
    picture, panels = plt.subplots(2, 5, figsize=(25, 9), sharex=True, sharey=True)
    for row, weights in enumerate(("constant", "given")):
        for axis, program in zip(panels[row], ("tree", "forest", "sum", "list", "lists"), strict=True):
            for structure, points in _lines(figures, program, weights).items():
                axis.plot(*zip(*sorted(points), strict=True), marker=".", linewidth=0.9, label=structure)
            axis.axhline(1, color="black", linewidth=0.8)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log", base=2)
            for side in (axis.xaxis, axis.yaxis):
                side.set_major_formatter(lambda value, _: f"{value:.2g}" if value < 10 else f"{value:.0f}")
            axis.set_title(f"{program}, weights {weights}, 1 thread", fontsize=9)
            axis.set_xlabel("hidden size")
        panels[row][0].set_ylabel("time without AutoBatch ÷ time with it")
    for axis in (each for each in panels[-1] if each.get_legend_handles_labels()[0]):  # a run may have no such program
        axis.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    picture.tight_layout()
    picture.savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": None})
    plt.close(picture)


def _lines(figures: Iterable[Figure], program: str, weights: str) -> dict[str, list[tuple[int, float]]]:
    """By structure, the hidden sizes with their gains."""
    found: dict[str, list[tuple[int, float]]] = {}
    for each in figures:
        structure, hidden, of = each.workload.rsplit("_", 2)
        if (structure.partition("_")[0], of) == (program, weights):
            found.setdefault(structure, []).append((int(hidden[1:]), each.ratio_of_minima))
    return found


# ------------------------------------------------------------------------------------------------------------- trees


def _one_tree(hidden: int) -> tuple[IRModule, dict[str, Any], dict[str, Any]]:
    kind = tree_lstm.tree_type(hidden)
    random = np.random.default_rng(0)
    values = {
        f"tree_{name}_{leaves}": make(kind, leaves, hidden, random)
        for leaves in LEAVES for name, make in _TREES.items() if leaves > 2 or name == "balanced"
    }  # fmt: skip
    return tree_lstm.tree_lstm(kind, hidden, hidden).module, tree_lstm.parameters(hidden, hidden), values


def _forest(hidden: int) -> tuple[IRModule, dict[str, Any], dict[str, Any]]:
    kind = tree_lstm.tree_type(hidden)
    random = np.random.default_rng(0)
    values = {
        f"forest_{name}_{count}x{leaves}": [make(kind, leaves, hidden, random) for _ in range(count)]
        for count in (1, 2, TREES) for leaves in FOREST_LEAVES for name, make in _TREES.items()
        if leaves > 2 or name == "balanced"
    }  # fmt: skip
    values |= {f"forest_{name}": value for name, value in _many_trees(hidden).items()}
    return tree_lstm.forest_lstm(kind, hidden, hidden).module, tree_lstm.parameters(hidden, hidden), values


def _sum(hidden: int) -> tuple[IRModule, dict[str, Any], dict[str, Any]]:
    values = {f"sum_{name}": value for name, value in _many_trees(hidden).items()}
    module = tree_lstm.forest_sum(tree_lstm.tree_type(hidden), hidden, hidden).module
    return module, tree_lstm.parameters(hidden, hidden), values


def _many_trees(hidden: int) -> dict[str, list[Any]]:
    kind = tree_lstm.tree_type(hidden)
    random = np.random.default_rng(0)
    values: dict[str, list[Any]] = {}
    for size, (count, least, most) in MANY_TREES.items():
        for name in ("random", "right"):
            leaves = random.integers(least, most + 1, count)
            values[f"{name}_{size}"] = [_TREES[name](kind, int(each), hidden, random) for each in leaves]
    return values


def balanced_tree(kind: Any, leaves: int, inputs: int, random: np.random.Generator) -> Any:
    """A tree as flat as can be."""
    if leaves == 1:
        return kind.Leaf(random.standard_normal((1, inputs), dtype=np.float32))
    left = leaves // 2
    return kind.Node(balanced_tree(kind, left, inputs, random), balanced_tree(kind, leaves - left, inputs, random))


def comb(kind: Any, leaves: int, inputs: int, random: np.random.Generator, to_the_left: bool = True) -> Any:
    """A tree as deep as can be: every node has a leaf."""
    tree = balanced_tree(kind, 1, inputs, random)
    for _ in range(leaves - 1):
        leaf = balanced_tree(kind, 1, inputs, random)
        tree = kind.Node(tree, leaf) if to_the_left else kind.Node(leaf, tree)
    return tree


_TREES: dict[str, Make] = {
    "balanced": balanced_tree,
    "random": tree_lstm.random_tree,
    "left": comb,
    "right": lambda kind, leaves, inputs, random: comb(kind, leaves, inputs, random, to_the_left=False),
}

# ------------------------------------------------------------------------------------------------------------- lists

_ENCODER = """#[version = "0.0.5"]
type List[A] {{ Cons(A, List[A]), Nil }}
def @map[a, b](%f: fn (a) -> b, %xs: List[a]) -> List[b] {{
  match (%xs) {{ Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil }}
}}
def @encode(%xs: List[Tensor[(1, {n}), float32]], %w: Tensor[({n}, {n}), float32], %u: Tensor[({n}, {n}), float32])
    -> Tensor[(1, {n}), float32] {{
  match (%xs) {{
    Nil => zeros(shape=[1, {n}], dtype="float32"),
    Cons(%x, %rest) => tanh(nn.dense(%x, %w) + nn.dense(@encode(%rest, %w, %u), %u)),
  }}
}}
def @main(%xs: {type}, %w: Tensor[({n}, {n}), float32], %u: Tensor[({n}, {n}), float32]) {{ {body} }}
"""


def _encoder(hidden: int, many: bool) -> tuple[IRModule, dict[str, Any]]:
    one = f"List[Tensor[(1, {hidden}), float32]]"
    body = f"@map(fn (%x: {one}) {{ @encode(%x, %w, %u) }}, %xs)" if many else "@encode(%xs, %w, %u)"
    module = relay.parse(_ENCODER.format(n=hidden, type=f"List[{one}]" if many else one, body=body))
    random = np.random.default_rng(0)
    weights = {name: _normal(random, hidden, hidden) / np.float32(np.sqrt(hidden)) for name in ("w", "u")}
    return module, weights


def _normal(random: np.random.Generator, *shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return random.standard_normal(shape, dtype=np.float32)


def _list(length: int, hidden: int, random: np.random.Generator) -> DataValue:
    return data_list([_normal(random, 1, hidden) for _ in range(length)])


def _one_list(hidden: int) -> tuple[IRModule, dict[str, Any], dict[str, Any]]:
    random = np.random.default_rng(0)
    return *_encoder(hidden, many=False), {f"list_{n}": _list(n, hidden, random) for n in LENGTHS}


def _lists(hidden: int) -> tuple[IRModule, dict[str, Any], dict[str, Any]]:
    random = np.random.default_rng(0)
    values = {
        f"lists_{count}x{length}": data_list(
            [_list(int(random.integers(1, 2 * length)), hidden, random) for _ in range(count)]
        )
        for count in (1, 2, TREES) for length in LENGTHS
    }  # fmt: skip
    return *_encoder(hidden, many=True), values
