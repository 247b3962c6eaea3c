"""Small imported models of PyTorch, where a call costs as much as its work, against PyTorch's own compiler."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.figures import Record
from benchmarks.pytorch import measure_models
from benchmarks.pytorch_models import SMALL


def measure(options: argparse.Namespace) -> Iterator[Record]:
    return measure_models(SMALL, options)
