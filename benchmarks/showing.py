"""Records as tables in the terminal and as bars in a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benchmarks.figures import RELAY, Failure, Figure, Quantity, Record, best_figures, geometric_mean
from relay.testing.measuring.libraries import library


def table_of(records: Sequence[Record]) -> Table:
    """A row a workload and thread count: our time, the best peer, and peer time ÷ our time of every peer."""
    figures = [each for each in records if isinstance(each, Figure)]
    peers = list(dict.fromkeys(each.peer for each in figures))
    best = best_figures(figures)
    table = Table("workload", "T", "relay ms (min)", "rate", "error", *peers, "best", "quartiles", "minima")
    for (workload, threads), chosen in best.items():
        row = {each.peer: each for each in figures if (each.workload, each.threads) == (workload, threads)}
        ratios = (f"{row[peer].ratio:.2f}" if peer in row else "" for peer in peers)
        errors = [each.relative_error for each in row.values() if each.relative_error is not None]
        low, high = chosen.quartiles
        table.add_row(
            workload, str(threads), f"{chosen.relay_ms:.3g} ({chosen.relay_min_ms:.3g})", _rate(chosen),
            f"{max(errors):.0e}" if errors else "", *ratios, _coloured(chosen), f"{low:.2f}–{high:.2f}",
            f"{chosen.ratio_of_minima:.2f}",
        )  # fmt: skip
    for threads in dict.fromkeys(each.threads for each in figures):
        means = [
            _mean(each.ratio for each in figures if (each.peer, each.threads) == (peer, threads)) for peer in peers
        ]
        over_best = _mean(each.ratio for (_, count), each in best.items() if count == threads)
        table.add_row("geometric mean", str(threads), "", "", "", *means, f"[bold]{over_best}", "", "", style="italic")
    return table


def failures_of(records: Iterable[Record]) -> Table | None:
    """Who could not run what, and why."""
    failures = [each for each in records if isinstance(each, Failure)]
    table = Table("workload", "T", "who", "why it has no figure")
    for each in failures:
        style = "red" if each.peer == RELAY else ""
        table.add_row(each.workload, str(each.threads), each.peer, each.failure, style=style)
    return table if failures else None


def quantities_of(records: Iterable[Record]) -> Table:
    """A row a workload and quantity, a column each of us."""
    quantities = [each for each in records if isinstance(each, Quantity)]
    peers = list(dict.fromkeys(each.peer for each in quantities))
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for each in quantities:
        rows.setdefault((each.workload, each.quantity, each.unit), {})[each.peer] = each.value
    table = Table("workload", "quantity", "unit", *peers)
    for key, values in rows.items():
        table.add_row(*key, *(f"{values[peer]:.4g}" if peer in values else "" for peer in peers))
    return table


def _mean(ratios: Iterable[float]) -> str:
    found = list(ratios)
    return f"{geometric_mean(found):.2f}" if found else ""


def _rate(chosen: Figure) -> str:
    if chosen.gflop_per_s is not None:
        return f"{chosen.gflop_per_s:.0f} GF/s"
    return "" if chosen.gbyte_per_s is None else f"{chosen.gbyte_per_s:.1f} GB/s"


def _coloured(chosen: Figure) -> str:
    colour = "green" if chosen.ratio >= 1 else "yellow" if chosen.ratio >= 0.9 else "red"
    return f"[{colour}]{chosen.ratio:.2f}"


# ---------------------------------------------------------------------------------------------------------------- bars


@dataclass(frozen=True, slots=True)
class Bar:
    """How many times better than a peer we are."""

    label: str
    ratio: float
    low: float
    high: float


def bars_of(records: Sequence[Record]) -> dict[str, list[Bar]]:
    """By thread count, the ratios to the best peers; of quantities, by kind, those to every peer."""
    groups: dict[str, list[Bar]] = {}
    for (workload, threads), each in best_figures(records).items():
        label = f"{workload} · {each.peer}"
        title = f"{threads} thread{'s' * (threads > 1)}"
        groups.setdefault(title, []).append(Bar(label, each.ratio, *each.quartiles))
    quantities = [each for each in records if isinstance(each, Quantity)]
    ours = {(each.workload, each.quantity): each.value for each in quantities if each.peer == RELAY}
    for each in quantities:
        value = ours.get((each.workload, each.quantity))
        if each.peer != RELAY and value:
            low, high = each.quartiles or (each.value, each.value)
            bar = Bar(f"{each.workload} · {each.peer}", each.value / value, low / value, high / value)
            groups.setdefault(each.quantity, []).append(bar)
    return groups


def plot_bars(groups: Mapping[str, Sequence[Bar]], path: Path, title: str, ratio: str = "peer ÷ relay") -> None:
    """Horizontal bars with quartiles, a column a group, and a line at 1."""
    library("matplotlib").use("Agg")
    plt = library("matplotlib.pyplot")
    rows = max(map(len, groups.values()))
    figure, columns = plt.subplots(1, len(groups), squeeze=False, figsize=(4.4 * len(groups), 0.24 * rows + 1.1))
    for axis, (name, bars) in zip(columns[0], groups.items(), strict=True):
        places = range(len(bars))
        spread = [[max(0.0, b.ratio - b.low) for b in bars], [max(0.0, b.high - b.ratio) for b in bars]]
        colours = ["tab:green" if b.ratio >= 1 else "tab:orange" if b.ratio >= 0.9 else "tab:red" for b in bars]
        axis.barh(places, [b.ratio for b in bars], xerr=spread, color=colours, error_kw={"linewidth": 0.8})
        axis.set_yticks(places, [b.label for b in bars], fontsize=8)
        axis.set_ylim(len(bars) - 0.4, -0.6)
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:.2g}")
        axis.tick_params(axis="x", labelsize=8)
        axis.set_title(name, fontsize=10)
        axis.set_xlabel(ratio, fontsize=9)
    figure.suptitle(title)
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    figure.savefig(path, dpi=160, metadata={"Software": None})
    plt.close(figure)
