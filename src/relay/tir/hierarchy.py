"""What a machine's threads and memories are: the records that a target gives, and that schedules, lowering, verifier
and interpreter ask.

    device                 a level; units of a level hold units of the next
      block                  2 blocks, each with one `shared` memory
        thread                 4 threads in each block, each with its own registers

A *thread axis* of a level counts the units of that level within one unit of the level before.
"""

from __future__ import annotations

from enum import StrEnum

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.named import find_named
from relay.tir.buffer import INNERMOST, OUTERMOST, Scope

_REGISTERS_OF = "registers of "
PLAIN_SCOPES = (Scope.GLOBAL, Scope.LOCAL, Scope.REGISTER)


@frozen
class ThreadAxis:
    """What a loop is bound to: its iterations are units of `level`, all at the same time."""

    name: str
    level: str


@frozen
class Queue:
    """What does operations by itself while the thread that has issued them goes on; each thread has one of its own.

    One that is `ordered` does them one after another as they were issued. `reads` and `writes` are the scopes that
    they may touch; where there are none, all.
    """

    name: str
    ordered: bool = True
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


class AccessKind(StrEnum):
    """What is done with each element of a block."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"

    @property
    def reads(self) -> bool:
        return self is not AccessKind.WRITE

    @property
    def writes(self) -> bool:
        return self is not AccessKind.READ


@frozen
class Operand:
    """A block along the last axes of a buffer, of these extents; of none, one element, or any value that is read."""

    access: AccessKind = AccessKind.READ
    extents: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.access} {' × '.join(map(str, self.extents))}".strip()

    @property
    def is_value(self) -> bool:
        return self.access is AccessKind.READ and not self.extents


@frozen
class Instruction:
    """What a target does by a call of that name, which stands by itself: to the blocks whose first elements are its
    arguments. It reads all that it reads before it writes."""

    name: str
    operands: tuple[Operand, ...]


@frozen
class Hierarchy:
    """The levels of a machine from outermost to innermost, and what is at them.

    `scopes` are the memories beside the plain ones (global at the first level, local and register at the last).
    `threads` are the axes that loops may be bound to, the one whose threads are neighbours first. `barriers` are the
    levels inside a unit of which threads can wait for each other. `queues` are what operations are issued to.
    `lanes` are the axes whose threads can take values from each other without memory in between. `instructions` are the
    calls that are made for what they do to memory.

    >>> machine = Hierarchy(
    ...     ("device", "block", "thread"),
    ...     (Scope("shared", "block"),),
    ...     (ThreadAxis("x", "thread"), ThreadAxis("block", "block")),
    ...     ("block",),
    ... )
    >>> machine.shares(machine.scope("shared"), machine.thread("x"))
    True
    >>> machine.shares(machine.scope("shared"), machine.thread("block"))
    False
    """

    levels: tuple[str, ...]
    scopes: tuple[Scope, ...] = ()
    threads: tuple[ThreadAxis, ...] = ()
    barriers: tuple[str, ...] = ()
    queues: tuple[Queue, ...] = ()
    lanes: tuple[str, ...] = ()
    instructions: tuple[Instruction, ...] = ()

    @property
    def all_scopes(self) -> tuple[Scope, ...]:
        return (*PLAIN_SCOPES, *self.scopes)

    def depth(self, level: str) -> int:
        """The position of a level, counted from the outermost."""
        if level == OUTERMOST:
            return 0
        return len(self.levels) - 1 if level == INNERMOST else self.levels.index(level)

    def shares(self, scope: Scope, axis: ThreadAxis) -> bool:
        """Whether the threads along `axis` see one buffer of `scope`, rather than each its own."""
        return self.depth(axis.level) > self.depth(scope.level)

    def can_wait(self, axis: ThreadAxis) -> bool:
        """Whether the units along `axis` can wait for each other."""
        return any(self.depth(level) < self.depth(axis.level) for level in self.barriers)

    def exchange_level(self, name: str) -> str | None:
        """The level inside a unit of which threads along an axis take values from each other, all together; None where
        they cannot."""
        axis = next((axis for axis in self.threads if axis.name == name and name in self.lanes), None)
        level = None if axis is None else self.levels[self.depth(axis.level) - 1]
        return level if level in self.barriers else None

    def lane_registers(self, axis: ThreadAxis) -> Scope | None:
        """Memory with an element for each thread along an axis, in a register of that thread: others take it from
        there. None where threads along the axis do not exchange values."""
        level = self.exchange_level(axis.name)
        return None if level is None else Scope(_REGISTERS_OF + axis.name, level)

    def barrier_for(self, scope: Scope) -> str | None:
        """The level at which threads wait so that one sees in a buffer of `scope` what another has written: that of the
        scope, or the outermost one inside it. None for memory of one thread, and where nobody can wait."""
        inside = self.depth(scope.level)
        if inside == len(self.levels) - 1:
            return None
        waits = sorted(self.barriers, key=self.depth)
        return next((level for level in reversed(waits) if self.depth(level) <= inside), waits[0] if waits else None)

    def scope_between(self, axis: ThreadAxis) -> Scope:
        """The innermost memory through which the threads along an axis can give each other numbers.

        Raises `RelayError` (`schedule-scope`).
        """
        for level in reversed(self.levels[: self.depth(axis.level)]):
            for scope in self.scopes:
                if scope.level == level and level in self.barriers and not scope.readers:
                    return scope
        raise RelayError(
            rule="schedule-scope",
            message=f"threads along `{axis.name}` share no memory in which they could wait for each other",
            expected=f"a scope of a level around {axis.level}, with barriers",
            found="none",
            remedy="bind a loop over results",
        )

    def scope(self, name: str) -> Scope:
        """The scope of that name. Raises `RelayError` (`schedule-scope`)."""
        return find_named(
            self.all_scopes, name, rule="schedule-scope", message=f"there is no scope `{name}`", suggests=True
        )

    def thread(self, name: str) -> ThreadAxis:
        """The thread axis of that name. Raises `RelayError` (`schedule-thread`)."""
        return find_named(
            self.threads,
            name,
            rule="schedule-thread",
            message=f"this target has no threads along `{name}`",
            remedy="`parallel` shares the iterations of a loop among the threads of a CPU",
            expected_of_none="a target with threads that loops are bound to",
            suggests=True,
        )

    def instruction(self, name: str) -> Instruction | None:
        """What is done by calls of that name; None where the target does not say."""
        return next((each for each in self.instructions if each.name == name), None)

    def queue(self, name: str) -> Queue:
        """The queue of that name. Raises `RelayError` (`schedule-queue`)."""
        return find_named(
            self.queues,
            name,
            rule="schedule-queue",
            message=f"this target has no queue `{name}`",
            remedy="leave the stage to the thread itself",
            expected_of_none="a target with queues",
            suggests=True,
        )


def lanes_of(scope: Scope) -> str | None:
    """The thread axis whose threads have the elements of buffers of this scope in registers of their own; None for
    memory."""
    return scope.name.removeprefix(_REGISTERS_OF) if scope.name.startswith(_REGISTERS_OF) else None


PLAIN = Hierarchy(("device", "thread"))
"""A machine without thread axes: memory for all, and what each thread has for itself. A CPU is one."""
