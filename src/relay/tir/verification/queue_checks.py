"""What must hold of queues: the part of the verifier that knows of issues, signals and awaits. It follows a thread
through the program, and knows nothing of who inserted them.

- what an operation touches is left alone until it is awaited: by the thread, by others that share it, and by operations
  in other queues, or in its own where that has no order;
- an await takes signals that are given, on every way that leads to it;
- when a buffer is gone, or a thread ends, all that was issued has been awaited;
- a queue does copies and operations, and no loops over threads, barriers, awaits or further issues;
- it touches what it may.
"""

from __future__ import annotations

from collections.abc import Iterator

from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.hierarchy import Hierarchy, Queue
from relay.tir.stmt import For, Issue, LoopKind, PrimFunc, Stmt
from relay.tir.text.printer import print_statement
from relay.tir.threads.synchronization import awaited, barrier_level, signal_name
from relay.tir.threads.touches import Touch, all_touches
from relay.tir.threads.under_way import Follower, TooManyWays
from relay.tir.threads.ways import Around, Entry, Ways
from relay.tir.traversal import statement_children, walk_statement
from relay.tir.verification.violation import Violation


def queue_violations(func: PrimFunc) -> Iterator[Violation]:
    """Everything that is wrong with the queues of `func`."""
    found = list(_misused(func))
    yield from found
    if not found:
        yield from _Checker(func).violations()


def _violation(rule: str, message: str, statement: Stmt) -> Violation:
    return Violation(rule, message, print_statement(statement).split("\n")[0].strip())


# --- what stands where ------------------------------------------------------------------------------------------------


def _misused(func: PrimFunc) -> Iterator[Violation]:
    queue_of: dict[str, str] = {}
    stack: list[tuple[Stmt, For | None]] = [(func.body, None)]
    while stack:
        statement, apart = stack.pop()
        if isinstance(statement, Issue):
            if apart is not None:
                message = f"iterations of `{apart.variable}` run side by side, and issue to one queue"
                yield _violation("queue-order", message, statement)
            yield from _misused_queue(func.hierarchy, statement)
            name = signal_name(statement)
            if name is not None and queue_of.setdefault(name, statement.queue) != statement.queue:
                message = f"`{name}` is given by queue `{queue_of[name]}` already"
                yield _violation("signal-of-two-queues", message, statement)
            continue
        if isinstance(statement, For) and statement.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
            apart = statement
        stack.extend((part, apart) for part in statement_children(statement))


def _misused_queue(hierarchy: Hierarchy, issue: Issue) -> Iterator[Violation]:
    try:
        queue = hierarchy.queue(issue.queue)
    except RelayError as error:
        yield _violation("queue-unknown", f"there is no queue `{issue.queue}`, but {error.expected}", issue)
        return
    for part in walk_statement(issue.body):
        threads = isinstance(part, For) and part.kind is LoopKind.THREAD
        waits = barrier_level(part) is not None or awaited(part) is not None
        if threads or waits or isinstance(part, Issue):
            yield _violation("queue-body", f"queue `{queue.name}` is given what only threads do", part)
    for touch in all_touches(issue.body, {}, (), hierarchy):
        if not _may_touch(queue, touch):
            what = "write" if touch.writes else "read"
            message = f"queue `{queue.name}` may not {what} `{touch.buffer.name}`, in {touch.buffer.scope} memory"
            yield _violation("queue-scope", message, issue)


def _may_touch(queue: Queue, touch: Touch) -> bool:
    allowed = queue.writes if touch.writes else queue.reads
    return not allowed or touch.buffer.scope.name in allowed


# --- what is under way ------------------------------------------------------------------------------------------------


class _Checker(Follower):
    def __init__(self, func: PrimFunc) -> None:
        super().__init__(func)
        self._found: list[Violation] = []

    def violations(self) -> list[Violation]:
        try:
            self.follow()
        except TooManyWays as piled:
            message = f"what is under way differs between the iterations of `{piled.loop.variable}` without an end"
            self._report("queue-unproven", message, piled.loop)
        return self._found

    def _report(self, rule: str, message: str, statement: Stmt) -> None:
        self._found.append(_violation(rule, message, statement))

    def touching(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> Ways:
        for way in ways:
            for place, touch in self.under_way(way, found, around):
                self._report_race(touch, way.entries[place], statement)
        return ways

    def _report_race(self, touch: Touch, entry: Entry, statement: Stmt) -> None:
        message = f"`{touch.buffer.name}` may be touched while queue `{entry.queue}` is at it"
        self._report("queue-race", message, statement)

    def issuing(self, issue: Issue | For, entry: Entry, ways: Ways, around: Around) -> Ways:
        for way in ways:
            for place, touch in self.under_way(way, list(entry.touches), around, entry.queue):
                self._report_race(touch, way.entries[place], issue)
        return tuple(way.issuing(entry) for way in ways)

    def awaiting(self, statement: Stmt, name: str, count: IntExpr, ways: Ways, around: Around) -> Ways:
        behind = super().awaiting(statement, name, count, ways, around)
        if len(behind) < len(ways):
            self._report("await-unproven", f"{count} signals `{name}` may never come", statement)
        return behind

    def ending(
        self,
        statement: Stmt,
        ways: Ways,
        around: Around,  # noqa: ARG002
        buffer: Buffer | None = None,
        behind: bool = True,  # noqa: ARG002
    ) -> Ways:
        for way in ways:
            left = [
                entry for entry in way.entries
                if buffer is None or any(touch.buffer is buffer for touch in entry.touches)
            ]  # fmt: skip
            if left:
                what = "all that was issued" if buffer is None else f"what was issued of `{buffer.name}`"
                self._report("not-awaited", f"{what} must be awaited here: `{left[0].queue}` may be at work", statement)
        return ways
