"""Running a PrimFunc on NumPy arrays, slowly and exactly: what a schedule or a pass is checked against.

The function is turned into closures once, so inner loops pay for no dispatch. Every access is checked: an index out of
range and the reading of a temporary's element that was never written are errors. Iterations of PARALLEL loops run last
to first, those of THREAD loops in a random order, and what is issued to queues at a random time, so that a program
which depends on their order shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np

from relay.arith.expr import Symbol
from relay.tir.interpretation.arguments import Array, check_argument, symbol_values
from relay.tir.interpretation.threads import ThreadedMachine
from relay.tir.intrinsics import INTRINSICS
from relay.tir.semantics import Numbers
from relay.tir.stmt import PrimFunc


def interpret(
    func: PrimFunc,
    arrays: Sequence[Array],
    symbols: Mapping[Symbol, int] | Sequence[int] = (),
    intrinsics: Mapping[str, Callable[..., Numbers]] = INTRINSICS,
    seed: int = 0,
) -> None:
    """Run `func` on `arrays`, one for each parameter; the outputs among them are written in place.

    `symbols` gives the extents, by symbol or in the order of `func.symbols`; what it leaves out is read off the shapes.
    `intrinsics` gives the meaning of calls, lane by lane; `seed` the order in which threads run. Raises `RelayError`:
    `kernel-arguments` (number, dtype or shape of the arrays), `index-out-of-range`, `uninitialized-read`,
    `unknown-intrinsic`, `barrier-not-reached`, `queue-unknown`, `await-forever`, `not-awaited`,
    `shuffle-axis`, `shuffle-range`.
    """
    values = symbol_values(func, arrays, symbols)
    machine = ThreadedMachine(values, intrinsics, func.hierarchy, Random(seed))
    for buffer, array in zip(func.parameters, arrays, strict=True):
        check_argument(buffer, array, values)
        machine.arrays[buffer] = array
    run = machine.statement(func.body)
    with np.errstate(all="ignore"):
        run()
    machine.queues.finish()
