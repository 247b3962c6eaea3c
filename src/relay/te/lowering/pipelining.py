"""Work that is done ahead of time, or by a queue.

before: for k in 8                              after, double-buffered:
          a.local[…] = a[k, …]                    a.local[0, …] = a[0, …]
          … a.local[…] …                          for k in 8
                                                    if k + 1 < 8: a.local[(k + 1) % 2, …] = a[k + 1, …]
                                                    … a.local[k % 2, …] …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relay.arith.expr import Comparison, IntExpr, Symbol, add
from relay.te.lowering.statements import guarded
from relay.te.schedule.stage_steps.issue_to import check_issued_loop
from relay.te.schedule.step import refused
from relay.te.state import Loop, Stage
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import For, Issue, Stmt
from relay.tir.traversal import map_statement, walk_statement


def issued(stage: Stage, around: Sequence[Loop], body: Stmt) -> Stmt:
    """The loops of a stage as what its queue is given, if it has one: as a whole, or each iteration of one of them.

    Raises `RelayError` (`schedule-refused`): a part of them is issued by itself, or they run side by side, or those
    `around` them do.
    """
    if stage.queue is None:
        return body
    if any(isinstance(part, Issue) for part in walk_statement(body)):
        raise refused(
            f"`{stage.name}` is issued to {stage.queue}, and a stage inside it to a queue too",
            remedy="compute the stage inside at a loop outside",
        )
    check_issued_loop(stage, around)
    if not stage.issued_at:
        return Issue(stage.queue, body)
    queue, symbol = stage.queue, stage.loop(stage.issued_at).symbol

    def inside(part: Stmt) -> Stmt:
        match part:
            case For(variable=variable) if variable is symbol:
                return replace(part, body=Issue(queue, part.body))
            case _:
                return part

    found = map_statement(body, inside)
    return Issue(queue, body) if found is body else found  # a loop of one iteration is none


def in_first_iteration(nest: Stmt, loop: Symbol, extent: IntExpr) -> Stmt:
    """What stands in a loop as it is in the first iteration, if there is one."""
    may_be_none = not isinstance(extent, int)
    return guarded(fresh_copy(nest, {loop: 0}), [Comparison(0, "<", extent)] if may_be_none else [])


def in_next_iteration(nest: Stmt, loop: Symbol, extent: IntExpr) -> Stmt:
    """What stands in a loop as it is in the next iteration, if there is one."""
    following = add(loop, 1)
    return guarded(fresh_copy(nest, {loop: following}), [Comparison(following, "<", extent)])
