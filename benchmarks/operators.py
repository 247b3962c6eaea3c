"""Single operators against every peer. Names may be given by their beginnings: `--only conv gemm`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.figures import Record
from benchmarks.operator_programs import OPERATORS
from benchmarks.workloads import measure_workloads

QUICK = ("gemm_256", "dwconv_960_s1_7", "layernorm_128x768", "sum_axis0_1024x1024", "transpose_0213_128x12x64")


def measure(options: argparse.Namespace) -> Iterator[Record]:
    beginnings = tuple(options.only or (QUICK if options.quick else ("",)))
    return measure_workloads({name: make for name, make in OPERATORS.items() if name.startswith(beginnings)}, options)
