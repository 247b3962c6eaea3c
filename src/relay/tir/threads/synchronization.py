"""What threads and queues wait for: calls with a meaning, which interpreter, verifier and targets know by their names.

`barrier.block`: every thread of a block waits here for all others of it; what they have written is seen behind it.
`signal.loaded`, issued to a queue: one more of this signal is there when all that was issued to the queue before is
done. `await.loaded(2)`: the thread waits until there are two of it, and takes them; how many may be an expression of
extents. Copies that are committed in
groups, barriers in memory that count arrivals, and queues of an accelerator that depend on each other are cases of it.
`atomic.add(s[i], x)`: `s[i] = s[i] + x`, at once: no other thread reads or writes the element in between. Likewise with
`minimum` and `maximum`. In which order threads update an element is not known.
`let y = shuffle.lane(x, 3)`: the `x` of the thread whose number along the axis `lane` is 3. All threads of the unit
that the axis is in come here together.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.tir.expr import Binary, BinaryOp, Call, Imm, IndexValue, Load, Value, imm
from relay.tir.stmt import Evaluate, Issue, LetValue, Stmt, Store

_BARRIER, _SIGNAL, _AWAIT, _ATOMIC, _SHUFFLE = "barrier.", "signal.", "await.", "atomic.", "shuffle."
ATOMIC_OPERATORS = (BinaryOp.ADD, BinaryOp.MINIMUM, BinaryOp.MAXIMUM)
"""Of which it does not matter for the result, but for rounding, in which order they are done."""


@frozen
class Await:
    """The thread takes `count` of a signal."""

    signal: str
    count: IntExpr


def barrier(level: str) -> Evaluate:
    """All threads in one unit of `level` wait for each other.

    >>> barrier_level(barrier("block"))
    'block'
    """
    return Evaluate(Call(_BARRIER + level, (), DType.INT32))


def barrier_level(statement: Stmt) -> str | None:
    """The level of a barrier; None for any other statement."""
    match statement:
        case Evaluate(Call(name)) if name.startswith(_BARRIER):
            return name.removeprefix(_BARRIER)
        case _:
            return None


def signal(queue: str, name: str) -> Issue:
    """The queue gives one signal `name` when all that was issued to it before is done.

    >>> signal_name(signal("load", "loaded"))
    'loaded'
    """
    return Issue(queue, Evaluate(Call(_SIGNAL + name, (), DType.INT32)))


def signal_name(issue: Issue) -> str | None:
    """The name of a signal; None for what is issued beside."""
    match issue.body:
        case Evaluate(Call(name)) if name.startswith(_SIGNAL):
            return name.removeprefix(_SIGNAL)
        case _:
            return None


def await_signals(name: str, count: IntExpr) -> Evaluate:
    """The thread waits for `count` signals of that name, and takes them.

    >>> awaited(await_signals("loaded", 2))
    Await(signal='loaded', count=2)
    """
    number = imm(count, DType.INT32) if isinstance(count, int) else IndexValue(count, DType.INT32)
    return Evaluate(Call(_AWAIT + name, (number,), DType.INT32))


def awaited(statement: Stmt) -> Await | None:
    """What a statement waits for; None for one that waits for no signals."""
    match statement:
        case Evaluate(Call(name, (IndexValue(count) | Imm(int(count)),))) if name.startswith(_AWAIT):
            return Await(name.removeprefix(_AWAIT), count)
        case _:
            return None


@frozen(eq=False)
class AtomicUpdate:
    """`target = target op value`, at once."""

    op: BinaryOp
    target: Load
    value: Value

    @property
    def store(self) -> Store:
        """What it does where nobody is in between."""
        return Store(self.target.buffer, self.target.indices, Binary(self.op, self.target, self.value))


def atomic(op: BinaryOp, target: Load, value: Value) -> Evaluate:
    """An element updated at once.

    >>> from relay.tir.buffer import Buffer
    >>> counts = Buffer("counts", (8,), DType.INT32)
    >>> atomic_update(atomic(BinaryOp.ADD, Load(counts, (0,)), imm(1, DType.INT32))).op
    <BinaryOp.ADD: 'add'>
    """
    return Evaluate(Call(_ATOMIC + op.value, (target, value), target.dtype))


def atomic_update(statement: Stmt) -> AtomicUpdate | None:
    """What a statement updates at once; None for one that does not."""
    match statement:
        case Evaluate(Call(name, (Load(mask=None) as target, value))) if name.startswith(_ATOMIC):
            op = BinaryOp(name.removeprefix(_ATOMIC))
            return AtomicUpdate(op, target, value) if op in ATOMIC_OPERATORS else None
        case _:
            return None


@frozen(eq=False)
class Shuffle:
    """`value` as the thread has it whose number along `axis` is `source`."""

    axis: str
    value: Value
    source: IntExpr


def shuffle(axis: str, value: Value, source: IntExpr) -> Call:
    """What a name is bound to.

    >>> from relay.tir.expr import ValueVar
    >>> x, y = ValueVar("x", DType.INT32), ValueVar("y", DType.INT32)
    >>> shuffled(LetValue(y, shuffle("lane", x, 3), Evaluate(y))).source
    3

    What is simplified has a constant there.

    >>> shuffled(LetValue(y, Call("shuffle.lane", (x, imm(3, DType.INT32)), DType.INT32), Evaluate(y))).source
    3
    """
    return Call(_SHUFFLE + axis, (value, IndexValue(source, DType.INT32)), value.dtype)


def is_shuffle(value: Value) -> bool:
    return isinstance(value, Call) and value.name.startswith(_SHUFFLE)


def shuffled(statement: Stmt) -> Shuffle | None:
    """What a statement binds of another thread; None for one that does not."""
    match statement:
        case LetValue(_, Call(name, (value, IndexValue(source) | Imm(int(source))))) if name.startswith(_SHUFFLE):
            return Shuffle(name.removeprefix(_SHUFFLE), value, source)
        case _:
            return None
