"""Put what a pattern describes into functions of their own, with a name that other compilers know: MergeComposite.

    before: nn.relu(nn.dense(%x, %w))
    after:  fn (%p0, %p1, Composite="mine.dense_relu", PartitionedFromPattern="nn.dense_nn.relu_") {
              nn.relu(nn.dense(%p0, %p1))
            }(%x, %w)                                      of the table [("mine.dense_relu", relu(dense(*, *)))]

The patterns are tried in the order of the table, everywhere, nearest to the result first; what one took is not looked
into by the next. Left as it is: a match that something outside uses the inside of (a diamond), and one that its `check`
refuses. So are functions that are primitive or belong to another compiler already. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union

from relay.dataflow.partition import partition
from relay.dataflow.patterns import Pattern
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.ir.rewriting import with_body
from relay.transform.framework.context import PassContext
from relay.transform.framework.external import COMPOSITE
from relay.transform.framework.passes import Pass, function_pass, pass_factory

Check: TypeAlias = Callable[[Expr], bool]
"""Whether a match, given by its result, is really wanted."""
PatternTable: TypeAlias = Sequence[Union[tuple[str, Pattern], tuple[str, Pattern, Check]]]


@pass_factory
def MergeComposite(pattern_table: PatternTable) -> Pass:
    """Put what patterns match into functions with names.

    For patterns with the names that their functions get, and a check of each match where one is needed.

    >>> from relay.dataflow.builders import is_op, wildcard
    >>> dense_relu = is_op("nn.relu")(is_op("nn.dense")(wildcard(), wildcard()))
    >>> print(MergeComposite([("mine.dense_relu", dense_relu)]))
    MergeComposite (from -O0)  Put what patterns match into functions with names.
    """
    entries = [(entry[0], entry[1], entry[2] if len(entry) == 3 else None) for entry in pattern_table]

    @function_pass(level=0)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        if function.attrs.get("Primitive"):
            return function
        body = function.body
        for name, pattern, check in entries:
            body = partition(pattern, body, {COMPOSITE: name}, check)
        return with_body(function, body)

    return run
