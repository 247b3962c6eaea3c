"""Whole networks against every peer, at batch 1."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.figures import Record
from benchmarks.network_programs import NETWORKS, SMALL
from benchmarks.workloads import measure_workloads


def measure(options: argparse.Namespace) -> Iterator[Record]:
    chosen = SMALL if options.quick else NETWORKS
    beginnings = tuple(options.only or ("",))
    return measure_workloads({name: make for name, make in chosen.items() if name.startswith(beginnings)}, options)
