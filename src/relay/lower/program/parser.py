"""A program from its text (`str(program)`), but for the data of its constants.

What stands on one line is read by the class's own `form` (`form_reader`); here is what spans lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.types import TensorType
from relay.lower.program.device import Device
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.form_reader import FormReader, unquoted
from relay.lower.program.place import Address, Buffer, CheckExtents, Held, Kind
from relay.lower.program.procedure import (
    Block,
    LineInstruction,
    Procedure,
    ProcedureInstruction,
    Terminator,
)
from relay.lower.program.program import ConstantData, Entry, Parameter, Program, ValueParameter
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, Room, RunRegion
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import CELL_KINDS, CellLabel, Donation, Label, ResultSpec, TensorLabel, TupleSpec
from relay.runtime.artefact.value_types import DataSpec, ValueType, data_from_json, type_from_json
from relay.runtime.artefact.work import ArenaBuffer
from relay.text.lexer import Kind as TokenKind
from relay.tir.text.parser import parse_primfuncs

NO_CONSTANTS: Mapping[int, NDArray[np.generic]] = MappingProxyType({})


def parse_program(
    text: str, constants: Mapping[int, NDArray[np.generic]] = NO_CONSTANTS, source: str = "<program>"
) -> Program:
    """The program that a text describes. `constants` are the arrays of its constants, by their offsets in bytes.

    Raises `RelayError` with the place of the mistake: rule `syntax`, or what is wrong with a type or a name.

    >>> print(parse_program("procedure @main(%0:int32) -> (int32)  block0(): return %0:int32  constants 0 bytes"))
    procedure @main(%0:int32) -> (int32)
      block0():
        return %0:int32
    <BLANKLINE>
    constants 0 bytes
    """
    reader = _Reader(text, source)
    try:
        return reader.program(constants)
    except RelayError as error:
        raise reader.told(error) from None


class _Reader(FormReader):
    # ------------------------------------------------------------------------------------------------- the program

    def program(self, constants: Mapping[int, NDArray[np.generic]]) -> Program:
        cursor = self.cursor
        entries = self.some(self.entry)
        applying = self.some(self.applying)
        procedures = self.some(self.procedure)
        on_devices = self.some(self.device_region)
        labels: list[Label] = []
        while cursor.accept(f"label{len(labels)}"):
            cursor.expect(":", "behind the number of a label")
            labels.append(self.label())
        failures: list[Failure] = []
        while cursor.accept("failure"):
            if cursor.text != str(len(failures) + 1):
                cursor.fail("failures are numbered from 1 on", str(len(failures) + 1))
            cursor.advance()
            cursor.expect(":", "behind the number of a failure")
            failures.append(self.failure())
        data: list[DataSpec] = []
        while cursor.accept("data"):
            data.append(self.json(data_from_json))
        arrays: list[ConstantData] = []
        while cursor.accept("constant"):
            arrays.append(self.constant(constants))
        cursor.expect("constants", "behind the procedures")
        constant_bytes = self.integer()
        cursor.expect("bytes", "behind their number")
        if cursor.kind is not TokenKind.END:
            cursor.fail("this is no part of a program", TokenKind.END.value)
        return Program(
            tuple(procedures), tuple(entries), tuple(arrays), constant_bytes, tuple(labels), tuple(data),
            parse_primfuncs(self.tokens.metadata or "", self.tokens.source.name), tuple(on_devices), tuple(applying),
            tuple(failures),
        )  # fmt: skip

    def applying(self) -> Entry:
        self.cursor.expect("applying", "before an entry that calls functions")
        return self.entry()

    def entry(self) -> Entry:
        cursor = self.cursor
        self.types.symbols = {}
        is_flat, deep = cursor.accept("flat"), cursor.accept("deep")
        cursor.expect("entry", "where an entry begins")
        name = self.name()
        cursor.expect("(", "before the inputs of an entry")
        inputs: tuple[Parameter | ValueParameter, ...] = self.list(Union[Parameter, ValueParameter])
        cursor.expect(")", "behind the inputs of an entry")
        symbols = self.symbols()
        arguments = self.nested() if cursor.accept("takes") else TupleSpec(())
        outputs: tuple[Parameter, ...] = ()
        copied: ResultSpec | None = None
        if cursor.accept("->"):
            cursor.expect("(", "before the outputs of an entry")
            outputs = self.list(Parameter)
            cursor.expect(")", "behind the outputs of an entry")
            cursor.expect("as", "before how outputs nest")
            copied = self.nested()
        donations = self.donations() if cursor.accept("donating") else ()
        result: ValueType | None = self.json(type_from_json) if cursor.accept("gives") else None
        cursor.expect("runs", "before the procedure of an entry")
        procedure = self.token("@", unquoted)
        checks = tuple(self.some(lambda: self.form(CheckExtents)))
        fields = arguments.fields if isinstance(arguments, TupleSpec) else (arguments,)
        return Entry(
            name, procedure, inputs, symbols, checks, fields, is_flat, deep, result, outputs, copied, donations
        )

    def donations(self) -> tuple[Donation, ...]:
        cursor = self.cursor
        cursor.expect("(", "before the inputs that are given away")
        found: list[Donation] = []
        while not cursor.accept(")"):
            position, fields = self.integer(), tuple(self.fields())
            found.append(Donation(self.integer() if cursor.accept("as") else None, position, fields))
            if not cursor.at(")"):
                cursor.expect(",", "between donations")
        return tuple(found)

    def fields(self) -> Iterator[int]:
        while self.cursor.accept("field"):
            yield self.integer()

    def nested(self) -> ResultSpec:
        if not self.cursor.accept("("):
            return self.integer()
        fields: list[ResultSpec] = []
        while not self.cursor.accept(")"):
            fields.append(self.nested())
            if not self.cursor.at(")"):
                self.cursor.expect(",", "between positions")
        return TupleSpec(tuple(fields))

    def failure(self) -> Failure:
        kinds = {each.value: each for each in FailureKind}
        if self.cursor.text not in kinds:
            self.cursor.fail("this is no kind of failure", f"one of {', '.join(kinds)}")
        kind = kinds[self.cursor.advance()]
        return Failure(kind, json.loads(self.cursor.expect_kind(TokenKind.STRING, "where a failure is told")))

    def label(self) -> Label:
        if self.cursor.accept("tensor"):
            dtype = self.types.dtype()
            self.cursor.expect(",", "behind the element type")
            rank = self.integer()
            self.cursor.expect("axes", "behind their number")
            return TensorLabel(dtype, rank)
        if self.cursor.text not in CELL_KINDS:
            self.cursor.fail("this is no kind of object", f"one of tensor, {', '.join(CELL_KINDS)}")
        kind = self.cursor.advance()
        return CellLabel(kind, self.name() if kind == "data" else "")

    def constant(self, constants: Mapping[int, NDArray[np.generic]]) -> ConstantData:
        self.cursor.expect("[", "before the offset of a constant")
        offset = self.integer()
        self.cursor.expect("]", "behind the offset of a constant")
        self.cursor.expect(":", "before the type of a constant")
        span, type_ = self.cursor.span(), self.types.type_()
        array = constants.get(offset)
        found = None if array is None else TensorType(array.shape, DType(array.dtype.name))
        if array is None or found != type_:
            raise RelayError(
                rule="missing-constant",
                message=f"the data of constant[{offset}] are not given",
                span=span,
                expected=str(type_),
                found="nothing" if found is None else str(found),
                remedy="hand them in by their offset: parse_program(text, constants={offset: array})",
            )
        return ConstantData(offset, array)

    # ---------------------------------------------------------------------------------------------- what has blocks

    def procedure(self) -> Procedure:
        cursor = self.cursor
        self.types.symbols = {}
        is_flat = cursor.accept("flat")
        cursor.expect("procedure", "where a procedure begins")
        name = self.token("@", unquoted)
        cursor.expect("(", "before the parameters of a procedure")
        parameters: list[Held | Address] = []
        borrowed = 0
        while not cursor.accept(")"):
            borrowed += cursor.accept("borrowed")
            parameters.append(self.one_of((Address, Held)))
            if not cursor.at(")"):
                cursor.expect(",", "between parameters")
        results: tuple[Kind, ...] = ("word",)
        if cursor.accept("->"):
            cursor.expect("(", "before the results of a procedure")
            results = self.list(Kind)
            cursor.expect(")", "behind the results of a procedure")
        symbols = self.symbols()
        blocks: list[Block] = []
        while cursor.kind is TokenKind.NAME and cursor.text.startswith("block"):
            blocks.append(self.block())
        return Procedure(name, tuple(parameters), tuple(blocks), results, symbols, is_flat, borrowed)

    def device_region(self) -> DeviceRegion:
        self.types.symbols = {}
        self.cursor.expect("device", "where a region of a device begins")
        self.cursor.expect("region", "where a region of a device begins")
        name = self.token("@", unquoted)
        self.cursor.expect("(", "before the parameters of a region")
        parameters: tuple[Address | Buffer, ...] = self.list(Union[Address, Buffer])
        self.cursor.expect(")", "behind the parameters of a region")
        symbols = self.symbols()
        self.cursor.expect("on", "before the device")
        return DeviceRegion(name, self.form(Device), parameters, symbols, self.region())

    def block(self) -> Block:
        number = self.token("block", int)
        self.cursor.expect("(", "before the parameters of a block")
        parameters = self.list(Held)
        self.cursor.expect(")", "behind the parameters of a block")
        self.cursor.expect(":", "before the instructions of a block")
        instructions: list[ProcedureInstruction] = []
        while True:
            found = self.region() if self.cursor.at("region") else self.one_of((LineInstruction, Terminator))
            if isinstance(found, Terminator):
                return Block(number, parameters, tuple(instructions), found)
            instructions.append(found)

    def region(self) -> RunRegion:
        cursor = self.cursor
        cursor.expect("region", "where a region begins")
        arena_bytes: IntExpr = 0
        shapes: list[tuple[IntExpr, ...]] = []
        if cursor.accept(",") and cursor.accept("arena"):
            arena_bytes = self.types.dimension()
            cursor.expect("bytes", "behind their number")
            cursor.accept(",")
        if cursor.accept("shapes"):
            shapes.append(self.shape())
            while cursor.accept(","):
                shapes.append(self.shape())
        rooms = self.some(lambda: self.form(Room))
        instructions = tuple(self.some(lambda: self.one_of((CallKernel, CopyBytes, CheckIndex))))
        arena = tuple(ArenaBuffer(r.kernel, r.offset_bytes, r.size_bytes, r.first, r.last) for r in rooms)
        return RunRegion(instructions, arena_bytes, arena, tuple(shapes))

    def symbols(self) -> tuple[Symbol, ...]:
        """`[n, m]`, if it stands here."""
        if not self.cursor.accept("["):
            return ()
        found: tuple[Symbol, ...] = self.list(Symbol)
        self.cursor.expect("]", "behind the symbols")
        return found

    def shape(self) -> tuple[IntExpr, ...]:
        self.cursor.expect("[", "before a shape")
        found: tuple[IntExpr, ...] = self.list(IntExpr)
        self.cursor.expect("]", "behind a shape")
        return found
