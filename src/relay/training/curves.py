"""Curves of a training as a picture."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from relay.base.arguments import PATH, takes
from relay.base.diagnostics import RelayError

_NO_CURVES = ("step", "update", "epoch", "seconds")


@takes(path=PATH)
def draw_curves(records: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Draw each number in the records of a training over the steps, a panel for each, those of steps as lines and
    those of epochs as points; the ending of `path` tells the format (`.png`). Needs `relay-ir[training]`.

    Raises `RelayError`: `missing-package`, `cannot-write`, `no-records`.
    """
    names = list(dict.fromkeys(
        name.removeprefix("measured ") for each in records for name in each if name not in _NO_CURVES
    ))  # fmt: skip
    if not names:
        raise RelayError(rule="no-records", message="there is nothing to draw: the training made no step")
    figure_class = _library("matplotlib.figure").Figure
    _library("matplotlib.backends.backend_agg").FigureCanvasAgg  # noqa: B018  what draws without a screen
    figure = figure_class(figsize=(7, 2.4 * len(names)), layout="constrained")
    for panel, name in zip(figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, strict=True):
        for label, key, style in (("batch", name, "-"), ("measured", f"measured {name}", "o-")):
            points = [(each["step"], each[key]) for each in records if key in each]
            if points:
                panel.plot(*zip(*points, strict=True), style, label=label, linewidth=1, markersize=3)
        panel.set_ylabel(name)
        panel.grid(alpha=0.3)
        panel.legend(loc="best", fontsize="small")
    figure.axes[-1].set_xlabel("step")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise RelayError(rule="cannot-write", message=f"cannot write {os.fspath(path)}", found=str(error)) from error


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RelayError(
            rule="missing-package", message="curves are drawn by matplotlib, and that package is not installed",
            remedy='pip install "relay-ir[training]"',
        ) from error  # fmt: skip
