"""How large the module is before and after each pass."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo


@frozen
class NodeCount:
    """Distinct nodes of all functions, before and after a pass."""

    name: str
    before: int
    after: int


def count_nodes(module: IRModule) -> int:
    """The distinct nodes of all functions.

    >>> count_nodes(IRModule())
    0
    """
    return len(post_order(*module.functions.values()))


class NodeCounts(Instrument):
    """`rows` has an entry for each pass, in the order in which they ended; `str` shows them as lines."""

    def __init__(self) -> None:
        self.rows: list[NodeCount] = []
        self._open: list[tuple[IRModule, int]] = []

    def exit_pass_ctx(self) -> None:
        self._open.clear()

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:  # noqa: ARG002
        self._open.append((module, count_nodes(module)))

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        before, count = self._open.pop()
        self.rows.append(NodeCount(info.name, count, count if module is before else count_nodes(module)))

    def __str__(self) -> str:
        return "\n".join(f"{row.name}: {row.before} to {row.after} nodes" for row in self.rows)
