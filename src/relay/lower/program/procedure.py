"""Procedure: the general form of a function. Registers, flat blocks, every allocation, count, call and branch explicit.

    procedure   ::= name, parameters, blocks
    block       ::= parameters, instructions, terminator
    instruction ::= NewTensor | NewConstant | NewView | NewCell | NewClosure | Immediate | Field | StoreField | Retain
                  | Release | Box | Unbox | ScalarConstant | ComputeScalar | RunRegion | CallProcedure | CallClosure
                  | CallHost | ReadExtent | ReadElement | CheckExtents
    terminator  ::= Branch | Switch | Jump | Return | TailCall | TailCallClosure | Fail

A register holds one word: the address of a counted object, or an odd number that stands for an object without fields;
or it holds the bits of a scalar, which has no count and is written with its type (`%3:int32`).
Objects carry a *label*, their position in the program's table of labels: what a value is can be read off it, so nothing
here depends on types, and one procedure serves all instances of a polymorphic function.

Ownership: a procedure owns its arguments and gives away its result, so that a call in tail position has nothing left to
do and is a jump. Kernels, projections and decisions borrow. `Retain` and `Release` say where counts change.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol
from relay.base.frozen import frozen
from relay.lower.program.place import Address, CheckExtents, ConstantPlace, Held, Kind, Register, Scalar
from relay.lower.program.region import RunRegion

Operand: TypeAlias = Union[Register, ConstantPlace, Scalar]
"""What a branch looks at: an object's data, the program's constants, or a scalar."""


@frozen
class NewTensor:
    """A tensor with room for `size_bytes`, its contents undefined."""

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    size_bytes: IntExpr

    def __str__(self) -> str:
        return f"{self.result} = tensor #{self.label} [{_list(self.shape)}] {self.size_bytes} bytes"


@frozen
class NewConstant:
    """A tensor whose data stand among the program's constants."""

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    place: ConstantPlace

    def __str__(self) -> str:
        return f"{self.result} = tensor #{self.label} [{_list(self.shape)}] at {self.place}"


@frozen
class NewView:
    """The data of `source`, which it then owns, in another shape."""

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    source: Register

    def __str__(self) -> str:
        return f"{self.result} = view #{self.label} [{_list(self.shape)}] of {self.source}"


@frozen
class NewCell:
    """A tuple, a value of a data type, or a ref; it owns its fields."""

    result: Register
    label: int
    fields: tuple[Register, ...]

    def __str__(self) -> str:
        return f"{self.result} = cell #{self.label} ({_list(self.fields)})"


@frozen
class NewClosure:
    """A procedure with the values of its free variables, which it owns: fields 1 and up, the code being field 0."""

    result: Register
    label: int
    procedure: str
    captures: tuple[Register, ...]

    def __str__(self) -> str:
        return f"{self.result} = closure @{self.procedure} ({_list(self.captures)})"


@frozen
class Immediate:
    """An object without fields: needs no memory."""

    result: Register
    label: int

    def __str__(self) -> str:
        return f"{self.result} = #{self.label}"


@frozen
class Field:
    """A field, borrowed from its object."""

    result: Register
    source: Register
    index: int

    def __str__(self) -> str:
        return f"{self.result} = {self.source}.{self.index}"


@frozen
class StoreField:
    """`target` owns `value` in place of what it held, which is released."""

    target: Register
    index: int
    value: Register

    def __str__(self) -> str:
        return f"{self.target}.{self.index} := {self.value}"


@frozen
class Retain:
    value: Register

    def __str__(self) -> str:
        return f"retain {self.value}"


@frozen
class Release:
    value: Register

    def __str__(self) -> str:
        return f"release {self.value}"


@frozen
class Box:
    """A tensor without axes that holds a scalar."""

    result: Register
    label: int
    source: Scalar

    def __str__(self) -> str:
        return f"{self.result} = tensor #{self.label} [] of {self.source}"


@frozen
class Unbox:
    """The element of a tensor that has one."""

    result: Scalar
    source: Register | ConstantPlace

    def __str__(self) -> str:
        return f"{self.result} = element of {self.source}"


@frozen
class ScalarConstant:
    """A number: `bits` are its bytes, lowest first."""

    result: Scalar
    bits: int
    text: str

    def __str__(self) -> str:
        return f"{self.result} = {self.text}"


@frozen
class ComputeScalar:
    """A kernel on scalars only: its code stands here, nothing is called."""

    result: Scalar
    kernel: str
    inputs: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{self.result} = {self.kernel}({_list(self.inputs)})"


@frozen
class CallProcedure:
    """What it gives back is in as many registers as the procedure has results."""

    results: tuple[Held, ...]
    procedure: str
    arguments: tuple[Held, ...]

    def __str__(self) -> str:
        return f"{_list(self.results)} = call @{self.procedure}({_list(self.arguments)})"


@frozen
class CallClosure:
    result: Register
    closure: Register
    arguments: tuple[Register, ...]

    def __str__(self) -> str:
        return f"{self.result} = call {self.closure}({_list(self.arguments)})"


@frozen
class ReadExtent:
    """`symbol`, of which axis `axis` of a tensor has `factor · symbol + offset` entries."""

    symbol: Symbol
    tensor: Register
    axis: int
    factor: int = 1
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.symbol} = (extent {self.axis} of {self.tensor} - {self.offset}) / {self.factor}"


@frozen
class ReadElement:
    """`symbol` is element `index` of an int64 tensor with one axis."""

    symbol: Symbol
    tensor: Register
    index: int

    def __str__(self) -> str:
        return f"{self.symbol} = {self.tensor}[{self.index}]"


@frozen
class CallHost:
    """A function of the caller's, for which `closure` stands; it borrows its arguments."""

    result: Register
    closure: Register
    arguments: tuple[Register, ...]

    def __str__(self) -> str:
        return f"{self.result} = call the caller's {self.closure}({_list(self.arguments)})"


ProcedureInstruction: TypeAlias = Union[
    NewTensor, NewConstant, NewView, NewCell, NewClosure, Immediate, Field, StoreField, Retain, Release, Box, Unbox,
    ScalarConstant, ComputeScalar, RunRegion, CallProcedure, CallClosure, CallHost, ReadExtent, ReadElement,
    CheckExtents,
]  # fmt: skip


@frozen
class Branch:
    """By the bool scalar in `condition`."""

    condition: Operand
    if_true: int
    if_false: int

    def __str__(self) -> str:
        return f"if {self.condition} block{self.if_true} else block{self.if_false}"


@frozen
class Switch:
    """By the label of `value`."""

    value: Register
    cases: tuple[tuple[int, int], ...]
    otherwise: int

    def __str__(self) -> str:
        cases = ", ".join(f"#{label}: block{block}" for label, block in self.cases)
        return f"switch {self.value} {{{cases}}} else block{self.otherwise}"


@frozen
class Jump:
    block: int
    arguments: tuple[Held, ...] = ()

    def __str__(self) -> str:
        return f"jump block{self.block}({_list(self.arguments)})"


@frozen
class Return:
    values: tuple[Held, ...]

    def __str__(self) -> str:
        return f"return {_list(self.values)}".rstrip()


@frozen
class TailCall:
    procedure: str
    arguments: tuple[Held, ...]

    def __str__(self) -> str:
        return f"jump @{self.procedure}({_list(self.arguments)})"


@frozen
class TailCallClosure:
    closure: Register
    arguments: tuple[Register, ...]

    def __str__(self) -> str:
        return f"jump {self.closure}({_list(self.arguments)})"


@frozen
class Fail:
    """End the entry's call with failure number `failure`."""

    failure: int

    def __str__(self) -> str:
        return f"fail {self.failure}"


Terminator: TypeAlias = Union[Branch, Switch, Jump, Return, TailCall, TailCallClosure, Fail]


@frozen(eq=False)
class Block:
    """Straight-line code. `parameters` take their values from the jumps that lead here."""

    number: int
    parameters: tuple[Held, ...]
    instructions: tuple[ProcedureInstruction, ...]
    terminator: Terminator

    def __str__(self) -> str:
        lines = [f"  block{self.number}({_list(self.parameters)}):"]
        lines += [indent(str(instruction), "    ") for instruction in (*self.instructions, self.terminator)]
        return "\n".join(lines)


@frozen(eq=False)
class Procedure:
    """Begins at its first block, which has no parameters and to which nothing jumps. What it ends with a call of has
    the same `results`.

    A flat procedure uses no heap and is not called by others: its parameters are the addresses of arrays of its
    caller's, `symbols` the extents that it is told, and it gives nothing back. Other procedures own the words among
    their parameters, but for the last `borrowed_count`."""

    name: str
    parameters: tuple[Held | Address, ...]
    blocks: tuple[Block, ...]
    results: tuple[Kind, ...] = ("word",)
    symbols: tuple[Symbol, ...] = ()
    is_flat: bool = False
    borrowed_count: int = 0

    def instructions(self) -> Iterator[ProcedureInstruction]:
        return (instruction for block in self.blocks for instruction in block.instructions)

    def regions(self) -> Iterator[RunRegion]:
        return (each for each in self.instructions() if isinstance(each, RunRegion))

    def __str__(self) -> str:
        kind, told = "flat " if self.is_flat else "", f" [{_list(self.symbols)}]" if self.symbols else ""
        owned = len(self.parameters) - self.borrowed_count
        parameters = (*self.parameters[:owned], *(f"borrowed {each}" for each in self.parameters[owned:]))
        given = "" if self.results == ("word",) else f" -> ({_list(self.results)})"
        return "\n".join((f"{kind}procedure @{self.name}({_list(parameters)}){given}{told}", *map(str, self.blocks)))


def _list(items: tuple[object, ...]) -> str:
    return ", ".join(map(str, items))
