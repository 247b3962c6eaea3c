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

A tensor on a device is a counted object, too: registers that hold one say so (`%3:toy_gpu:0`), what is stored does not.

Ownership: a procedure owns its arguments and gives away its result, so that a call in tail position has nothing left to
do and is a jump. Kernels, projections and decisions borrow. `Retain` and `Release` say where counts change.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent
from typing import TypeAlias, Union

import numpy as np

from relay.arith.expr import IntExpr, Symbol
from relay.base.frozen import frozen
from relay.lower.program.device import Device
from relay.lower.program.form import Form, shown
from relay.lower.program.place import Address, CheckExtents, ConstantPlace, Held, Kind, Register, Scalar
from relay.lower.program.region import RunRegion
from relay.text.names import sigil_name
from relay.text.types import TypeNames

Operand: TypeAlias = Union[Scalar, Register, ConstantPlace]
"""What a branch looks at: an object's data, the program's constants, or a scalar."""


@frozen
class NewTensor(Form):
    """A tensor with room for `size_bytes`, its contents undefined until it is written.

    `over`: if nobody else has a use for that tensor, it is its memory, under one owner more. The ref in `cell` is told
    to have none: it is written next. `output`: if it has memory of its own, that is the caller's for that result, where
    there is such, of this size, in which nothing was made before. `device`: where its data are, if not on the host."""

    form = (
        "{result} = tensor label{label} [{shape}] {size_bytes} bytes{ on device?}{ over over?}{ of cell?}"
        "{ for output output?}"
    )

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    size_bytes: IntExpr
    over: Register | None = None
    cell: Register | None = None
    output: int | None = None
    device: Device | None = None


@frozen
class NewConstant(Form):
    """A tensor whose data stand among the program's constants."""

    form = "{result} = tensor label{label} [{shape}] at {place}"

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    place: ConstantPlace


@frozen
class NewView(Form):
    """The data of `source`, which it then owns, in another shape; `device`: where they are, if not on the host."""

    form = "{result} = view label{label} [{shape}] of {source}{ on device?}"

    result: Register
    label: int
    shape: tuple[IntExpr, ...]
    source: Register
    device: Device | None = None


@frozen
class NewCell(Form):
    """A tuple, a value of a data type, or a ref; it owns its fields."""

    form = "{result} = cell label{label} ({fields})"

    result: Register
    label: int
    fields: tuple[Register, ...]


@frozen
class NewClosure(Form):
    """A procedure with the values of its free variables, which it owns: fields 1 and up, the code being field 0."""

    form = "{result} = closure label{label} @{procedure} ({captures})"

    result: Register
    label: int
    procedure: str
    captures: tuple[Register, ...]


@frozen
class Immediate(Form):
    """An object without fields: needs no memory."""

    form = "{result} = label{label}"

    result: Register
    label: int


@frozen
class Field(Form):
    """A field, borrowed from its object; of a tensor whose data are on a `device`, that says so."""

    form = "{result} = {source}.{index}{ on device?}"

    result: Register
    source: Register
    index: int
    device: Device | None = None


@frozen
class StoreField(Form):
    """`target` owns `value` in place of what it held, which is released."""

    form = "{target}.{index} := {value}"

    target: Register
    index: int
    value: Register


@frozen
class Retain(Form):
    form = "retain {value}"

    value: Register


@frozen
class Release(Form):
    form = "release {value}"

    value: Register


@frozen
class Box(Form):
    """A tensor without axes that holds a scalar."""

    form = "{result} = tensor label{label} [] of {source}"

    result: Register
    label: int
    source: Scalar


@frozen
class Unbox(Form):
    """The element of a tensor that has one."""

    form = "{result} = element of {source}"

    result: Scalar
    source: Register | ConstantPlace


@frozen
class ScalarConstant(Form):
    """A number: `bits` are its bytes, lowest first."""

    form = "{result} = bits {bits} // {value}"

    result: Scalar
    bits: int

    @property
    def value(self) -> object:
        """The number, for people."""
        dtype = self.result.dtype
        return np.frombuffer(self.bits.to_bytes(dtype.item_bytes, "little"), dtype.numpy)[0]


@frozen
class ComputeScalar(Form):
    """A kernel on scalars only: its code stands here, nothing is called."""

    form = "{result} = compute {kernel}({inputs})"

    result: Scalar
    kernel: str
    inputs: tuple[Scalar, ...]


@frozen
class CallProcedure(Form):
    """What it gives back is in as many registers as the procedure has results."""

    form = "{results} = call @{procedure}({arguments})"

    results: tuple[Held, ...]
    procedure: str
    arguments: tuple[Held, ...]


@frozen
class CallClosure(Form):
    form = "{result} = call {closure}({arguments})"

    result: Held
    closure: Register
    arguments: tuple[Register, ...]


@frozen
class ReadExtent(Form):
    """`symbol`, of which axis `axis` of a tensor has `factor · symbol + offset` entries."""

    form = "{symbol} = (extent {axis} of {tensor} - {offset}) / {factor}"

    symbol: Symbol
    tensor: Register
    axis: int
    factor: int = 1
    offset: int = 0


@frozen
class ReadElement(Form):
    """`symbol` is element `index` of an int64 tensor with one axis."""

    form = "{symbol} = {tensor}[{index}]"

    symbol: Symbol
    tensor: Register
    index: int


@frozen
class CallHost(Form):
    """A function of the caller's, for which `closure` stands; it borrows its arguments."""

    form = "{result} = call host {closure}({arguments})"

    result: Register
    closure: Register
    arguments: tuple[Register, ...]


LineInstruction: TypeAlias = Union[
    NewTensor, NewConstant, NewView, NewCell, NewClosure, Immediate, Field, StoreField, Retain, Release, Box, Unbox,
    ScalarConstant, ComputeScalar, CallProcedure, CallClosure, CallHost, ReadExtent, ReadElement, CheckExtents,
]  # fmt: skip
"""What is written on one line."""

ProcedureInstruction: TypeAlias = Union[LineInstruction, RunRegion]


@frozen
class Branch(Form):
    """By the bool scalar in `condition`."""

    form = "if {condition} block{if_true} else block{if_false}"

    condition: Operand
    if_true: int
    if_false: int


@frozen
class Case(Form):
    """Where a label leads."""

    form = "label{label}: block{block}"

    label: int
    block: int


@frozen
class Switch(Form):
    """By the label of `value`."""

    form = "switch {value} ({cases}) else block{otherwise}"

    value: Register
    cases: tuple[Case, ...]
    otherwise: int


@frozen
class Jump(Form):
    form = "jump block{block}({arguments})"

    block: int
    arguments: tuple[Held, ...] = ()


@frozen
class Return(Form):
    form = "return {values}"

    values: tuple[Held, ...] = ()


@frozen
class TailCall(Form):
    form = "jump @{procedure}({arguments})"

    procedure: str
    arguments: tuple[Held, ...]


@frozen
class TailCallClosure(Form):
    form = "jump {closure}({arguments})"

    closure: Register
    arguments: tuple[Register, ...]


@frozen
class Fail(Form):
    """End the entry's call with failure number `failure`."""

    form = "fail {failure}"

    failure: int


Terminator: TypeAlias = Union[Branch, Switch, Jump, Return, TailCall, TailCallClosure, Fail]


@frozen(eq=False)
class Block(Form):
    """Straight-line code. `parameters` take their values from the jumps that lead here."""

    number: int
    parameters: tuple[Held, ...]
    instructions: tuple[ProcedureInstruction, ...]
    terminator: Terminator

    def written(self, names: TypeNames) -> str:
        lines = [f"  block{self.number}({shown(self.parameters, names)}):"]
        lines += [indent(shown(each, names), "    ") for each in (*self.instructions, self.terminator)]
        return "\n".join(lines)


@frozen(eq=False)
class Procedure(Form):
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

    def written(self, names: TypeNames) -> str:
        kind, told = "flat " if self.is_flat else "", f" [{shown(self.symbols, names)}]" if self.symbols else ""
        owned = len(self.parameters) - self.borrowed_count
        parameters = [*map(str, self.parameters[:owned]), *(f"borrowed {each}" for each in self.parameters[owned:])]
        given = "" if self.results == ("word",) else f" -> ({shown(self.results, names)})"
        head = f"{kind}procedure {sigil_name('@', self.name)}({', '.join(parameters)}){given}{told}"
        return "\n".join((head, *(shown(each, names) for each in self.blocks)))
