"""From the scopes of a function in A-normal form to the blocks of a procedure, with every count made explicit.

Ownership follows Reinking et al., "Perceus: Garbage Free Reference Counting with Reuse" (PLDI 2021), section 3: a scope
owns some variables; a use that hands a value on (to a call, a cell, the result) retains it unless it is the last use,
which moves it; a value whose last use only borrowed it is released right behind; a branch releases first what it owns
and does not use. So no value outlives its last use, and a call in tail position is the last thing that happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from relay.arith.expr import Comparison, IntExpr, Symbol, free_symbols, substitute
from relay.base.dtypes import DType
from relay.infer.checks import annotation_checks
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Match,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    pattern_vars,
)
from relay.ir.operator import Check
from relay.ir.type_traversal import type_symbols
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.lower.blocks import OpenBlock, OpenProcedure
from relay.lower.kernel_calls import extents_of, size_bytes
from relay.lower.liveness import FreeVariables, chain
from relay.lower.matching import lower_decisions
from relay.lower.place import CheckExtents
from relay.lower.procedure import (
    Branch,
    CallClosure,
    CallProcedure,
    Field,
    Immediate,
    Jump,
    NewCell,
    NewClosure,
    NewConstant,
    NewTensor,
    NewView,
    Operand,
    ReadElement,
    ReadExtent,
    Register,
    Release,
    Retain,
    Return,
    RunKernel,
    StoreField,
    TailCall,
    TailCallClosure,
)
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import failure_text, group_checks
from relay.lower.surroundings import Surroundings, constructor_label
from relay.lower.value_extents import open_symbols, value_extents
from relay.lower.views import is_view
from relay.runtime.extents import symbol_sources
from relay.runtime.manifest import CellLabel, Label, TensorLabel


@dataclass(slots=True, eq=False)
class _Task:
    """A scope still to be lowered into `block`. It owns `owned`; its value goes to the block `join`, or is the result
    of the procedure."""

    block: OpenBlock
    scope: Expr
    owned: dict[Var, None]
    symbols: dict[Symbol, IntExpr]
    join: OpenBlock | None


class ScopeLowering:
    """Lowers the scopes of one procedure."""

    def __init__(self, procedure: OpenProcedure, free: FreeVariables, around: Surroundings) -> None:
        self.procedure = procedure
        self.free = free
        self.around = around
        self.registers: dict[Var, Register] = {}
        self.known: dict[Var, str] = {}  # local functions whose code is known
        self.tasks: list[_Task] = []

    def run(
        self, block: OpenBlock, function: Function, owned: Iterable[Var], symbols: dict[Symbol, IntExpr]
    ) -> None:  # fmt: skip
        """Lower the body of a function and all inside it; its value is the procedure's result."""
        checks = self.around.checks(function)
        join = self._checked_result(function, checks, dict(symbols)) if checks else None
        self.tasks.append(_Task(block, function.body, dict.fromkeys(owned), symbols, join))
        while self.tasks:
            _ScopeChain(self, self.tasks.pop()).lower()

    def _checked_result(
        self, function: Function, checks: Sequence[Check], symbols: dict[Symbol, IntExpr]
    ) -> OpenBlock:  # fmt: skip
        """The block that makes sure of a result before it is given back."""
        register = self.procedure.register()
        block = self.procedure.block((register,))
        if function.body.checked_type is not None:
            self.read_symbols_of(block, register, function.body.checked_type, symbols)
        self.check(block, checks, symbols, function)
        block.close(Return(register))
        return block

    def read_symbols(self, block: OpenBlock, var: Var, symbols: dict[Symbol, IntExpr]) -> None:
        """Define the symbols of a variable's type that nothing before it determined. Those of a tuple wait for its
        fields."""
        if isinstance(var.checked_type, TensorType):
            self.read_symbols_of(block, self.registers[var], var.checked_type, symbols)

    def read_symbols_of(
        self, block: OpenBlock, register: Register, type_: Type, symbols: dict[Symbol, IntExpr]
    ) -> None:  # fmt: skip
        """Define the symbols of a value's type, fields of tuples included."""
        if isinstance(type_, TupleType):
            for index, field in enumerate(type_.fields):
                if any(symbol not in symbols for symbol in type_symbols(field)):
                    part = self.procedure.register()
                    block.add(Field(part, register, index))
                    self.read_symbols_of(block, part, field, symbols)
        elif isinstance(type_, TensorType):
            for symbol, source in symbol_sources([type_.shape]).items():
                if symbol not in symbols:
                    fresh = symbols[symbol] = Symbol(symbol.name)
                    block.add(ReadExtent(fresh, register, source.axis, source.factor, source.offset))

    def check(
        self, block: OpenBlock, checks: Sequence[Check], symbols: dict[Symbol, IntExpr], where: Expr
    ) -> None:  # fmt: skip
        """End the call unless all `checks` hold."""
        for check in checks:
            left, right = (extent_here(side, symbols, where) for side in (check.condition.left, check.condition.right))
            condition = Comparison(left, check.condition.op, right)
            block.add(CheckExtents(condition, self.around.failure(failure_text(check))))


def extent_here(extent: IntExpr, symbols: Mapping[Symbol, IntExpr], where: Expr) -> IntExpr:
    """An extent in terms of the symbols that are defined in a procedure."""
    if isinstance(extent, int):
        return extent
    unknown = [symbol.name for symbol in free_symbols(extent) if symbol not in symbols]
    if unknown:
        raise not_native(where, f"needs the extent `{min(unknown)}`, which no value before determines")
    if extent == ANY:
        raise not_native(where, "needs an extent that only the run knows, inside a value")
    return substitute(extent, symbols)


class _ScopeChain:
    """Lowers one chain of bindings, in the block that is open."""

    def __init__(self, scopes: ScopeLowering, task: _Task) -> None:
        self.scopes = scopes
        self.around = scopes.around
        self.registers = scopes.registers
        self.block = task.block
        self.owned = task.owned
        self.symbols = task.symbols
        self.join = task.join
        self.bindings, self.result = chain(task.scope)
        self.uses = [_without(scopes.free.used_by(value), var) for var, value in self.bindings]
        self.uses.append(scopes.free.used_by(self.result))
        self.last: dict[Var, int] = {}
        for time, used in enumerate(self.uses):
            self.last.update(dict.fromkeys(used, time))
        self.time = 0

    def lower(self) -> None:
        for var in [var for var in self.owned if var not in self.last]:
            self._drop(var)
        for time, (var, value) in enumerate(self.bindings):
            self.time = time
            tail = self.join is None and time + 1 == len(self.bindings) and self.result is var
            if self._bind(var, value, tail):
                return
            self._release_dead()
            self.owned[var] = None
            self.scopes.read_symbols(self.block, var, self.symbols)
            self._check_annotation(var, value)
            if var not in self.last:
                self._drop(var)
        self.time = len(self.bindings)
        (register,) = self._take([self.result])
        self._release_dead()
        self.block.close(Return(register) if self.join is None else Jump(self.join.number, (register,)))

    # ------------------------------------------------------------------------------------------------- ownership

    def _drop(self, var: Var) -> None:
        del self.owned[var]
        self.block.add(Release(self.registers[var]))

    def _release_dead(self) -> None:
        for var in self.uses[self.time]:
            if var in self.owned and self.last[var] == self.time:
                self._drop(var)

    def _take(self, atoms: Sequence[Expr]) -> tuple[Register, ...]:
        """Registers whose values the next instruction will own."""
        left = Counter(atom for atom in atoms if isinstance(atom, Var))
        found: list[Register] = []
        for atom in atoms:
            if not isinstance(atom, Var):
                found.append(self._made(atom))
                continue
            left[atom] -= 1
            register = self.registers[atom]
            if left[atom] == 0 and atom in self.owned and self.last[atom] == self.time:
                del self.owned[atom]
            else:
                self.block.add(Retain(register))
            found.append(register)
        return tuple(found)

    def _made(self, atom: Expr, known: Var | None = None) -> Register:
        """A new object for an atom that is no variable."""
        result = self._register()
        match atom:
            case Constant(data=data):
                label = self.around.label(TensorLabel(atom.dtype, data.ndim))
                self.block.add(NewConstant(result, label, data.shape, self.around.place(atom)))
            case Constructor(inputs=()):
                self.block.add(Immediate(result, self.around.label(constructor_label(atom))))
            case Constructor() | GlobalVar():
                self.block.add(NewClosure(result, self._closure_label(), self.around.wrapper(atom), ()))
            case Function():
                code = self.around.closure_code(atom, self.scopes.free, known)
                captures = self._take([*self.scopes.free.captures_but(atom, known)])
                self.block.add(NewClosure(result, self._closure_label(), code, captures))
            case _:
                raise not_native(atom, f"holds the value {type(atom).__name__}")
        return result

    def _closure_label(self) -> int:
        return self.around.label(CellLabel("closure"))

    def _register(self) -> Register:
        return self.scopes.procedure.register()

    # --------------------------------------------------------------------------------------------------- bindings

    def _bind(self, var: Var, value: Expr, tail: bool) -> bool:
        """Evaluate one binding; True when the chain has ended with it."""
        add = self.block.add
        match value:
            case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
                self.registers[var] = self._kernel(value, function, args)
            case Call(op=Constructor() as constructor, args=args):
                self._check_call(value)
                self.registers[var] = self._cell(constructor_label(constructor), args)
            case Call(op=callee, args=args):
                self._check_call(value)
                return self._call(var, callee, args, tail)
            case Tuple(fields=fields):
                self.registers[var] = self._cell(CellLabel("tuple"), fields)
            case TupleGetItem(tuple_value=Var() as whole, index=index):
                self._part(var, whole, index)
            case RefCreate(value=inner):
                self.registers[var] = self._cell(CellLabel("ref"), [inner])
            case RefRead(ref=Var() as ref):
                self._part(var, ref, 0)
            case RefWrite(ref=Var() as ref, value=inner):
                (register,) = self._take([inner])
                add(StoreField(self.registers[ref], 0, register))
                self.registers[var] = self._cell(CellLabel("tuple"), [])
            case If(cond, true_branch, false_branch):
                return self._if(var, cond, (true_branch, false_branch), tail)
            case Match():
                return self._match(var, value, tail)
            case Function():
                self.registers[var] = self._made(value, var)
                self.scopes.known[var] = self.around.closure_code(value, self.scopes.free, var)
            case _:
                (self.registers[var],) = self._take([value])
        return False

    def _cell(self, label: Label, fields: Sequence[Expr]) -> Register:
        result, number = self._register(), self.around.label(label)
        self.block.add(NewCell(result, number, self._take(fields)) if fields else Immediate(result, number))
        return result

    def _part(self, var: Var, whole: Var, index: int) -> None:
        result = self.registers[var] = self._register()
        self.block.add(Field(result, self.registers[whole], index))
        self.block.add(Retain(result))

    def _call(self, var: Var, callee: Expr, args: Sequence[Expr], tail: bool) -> bool:
        code: str | None = None
        match callee:
            case GlobalVar():
                code = self.around.procedure_of(callee)
                registers = self._take(args)
            case Var():
                code = self.scopes.known.get(callee)
                registers = self._take([callee, *args])
            case Function():
                code = self.around.closure_code(callee, self.scopes.free, None)
                registers = self._take([callee, *args])
            case _:
                raise not_native(callee, f"calls a {type(callee).__name__}")
        if tail:
            self._release_dead()
            self.block.close(
                TailCallClosure(registers[0], registers[1:]) if code is None else TailCall(code, registers)
            )
            return True
        result = self.registers[var] = self._register()
        if code is None:
            self.block.add(CallClosure(result, registers[0], registers[1:]))
        else:
            self.block.add(CallProcedure(result, code, registers))
        return False

    # ---------------------------------------------------------------------------------------------------- kernels

    def _kernel(self, call: Call, function: Function, args: Sequence[Expr]) -> Register:
        types = [self._here(argument) for argument in args]
        inputs = tuple(self._operand(argument) for argument in args)
        result_type = call.checked_type
        self.scopes.check(self.block, group_checks(function), self.symbols, call)
        known = extents_of(function, types)
        self._compute_extents(function, inputs, known, call)
        if is_view(function) and isinstance(result_type, TensorType):
            return self._view(args[0], self._type_here(result_type, call))
        fields = result_type.fields if isinstance(result_type, TupleType) else (result_type,)
        outputs = tuple(self._new_tensor(field, call) for field in fields)
        self._run(function, inputs, outputs, known, call)
        if not isinstance(result_type, TupleType):
            return outputs[0]
        result = self._register()
        self.block.add(NewCell(result, self.around.label(CellLabel("tuple")), outputs))
        return result

    def _run(
        self, function: Function, inputs: tuple[Operand, ...], outputs: tuple[Register, ...],
        known: Mapping[Symbol, IntExpr], call: Call,
    ) -> None:  # fmt: skip
        """Run a kernel whose parameters have extents as `known` says; other symbols are those of this procedure."""
        kernel = self.around.kernel(function)
        extents = tuple(
            known[symbol] if symbol in known else extent_here(symbol, self.symbols, call) for symbol in kernel.symbols
        )
        self.block.add(RunKernel(kernel.name, inputs, outputs, extents))

    def _compute_extents(
        self, function: Function, inputs: tuple[Operand, ...], known: Mapping[Symbol, IntExpr], call: Call
    ) -> None:  # fmt: skip
        """Define the symbols of a kernel's result that only the values of its inputs tell, if there are such."""
        extents = value_extents(function)
        if extents is None:
            return
        symbols = open_symbols(function)
        numbers = self._register()
        label = self.around.label(TensorLabel(DType.INT64, 1))
        self.block.add(NewTensor(numbers, label, (len(symbols),), 8 * len(symbols)))
        self._run(self.around.extents_function(function), inputs, (numbers,), known, call)
        for index, symbol in enumerate(symbols):
            fresh = self.symbols[symbol] = Symbol(symbol.name)
            self.block.add(ReadElement(fresh, numbers, index))
        self.block.add(Release(numbers))
        first = self.symbols[symbols[0]]
        for reason, text in enumerate(extents.failures):
            self.block.add(CheckExtents(Comparison(first, "!=", -1 - reason), self.around.failure(text)))

    def _check_call(self, call: Call) -> None:
        checks = self.around.checks(call)
        self._read_symbols_of(call.args if checks else ())
        self.scopes.check(self.block, checks, self.symbols, call)

    def _check_annotation(self, var: Var, value: Expr) -> None:
        checks = annotation_checks(var, value)
        self._read_symbols_of([var] if checks else ())
        self.scopes.check(self.block, checks, self.symbols, value)

    def _read_symbols_of(self, atoms: Iterable[Expr]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom.checked_type is not None:
                self.scopes.read_symbols_of(self.block, self.registers[atom], atom.checked_type, self.symbols)

    def _operand(self, argument: Expr) -> Operand:
        match argument:
            case Var():
                return self.registers[argument]
            case Constant():
                return self.around.place(argument)
            case _:
                raise not_native(argument, f"gives an operator a {type(argument).__name__}")

    def _new_tensor(self, type_: Type | None, call: Call) -> Register:
        here = self._type_here(type_, call)
        result = self._register()
        label = self.around.label(TensorLabel(here.dtype, len(here.shape)))
        self.block.add(NewTensor(result, label, here.shape, size_bytes(here)))
        return result

    def _view(self, source: Expr, type_: TensorType) -> Register:
        result = self._register()
        label = self.around.label(TensorLabel(type_.dtype, len(type_.shape)))
        (owned,) = self._take([source])
        self.block.add(NewView(result, label, type_.shape, owned))
        return result

    def _here(self, expr: Expr) -> TensorType:
        return self._type_here(expr.checked_type, expr)

    def _type_here(self, type_: Type | None, where: Expr) -> TensorType:
        """A tensor type in terms of the symbols that are defined in this procedure."""
        if not isinstance(type_, TensorType):
            raise not_native(where, f"gives an operator a value of type {type_}")
        if ANY in type_.shape:
            raise not_native(where, f"computes with a value of type {type_}, whose extent only the run knows")
        return TensorType(tuple(extent_here(extent, self.symbols, where) for extent in type_.shape), type_.dtype)

    # ---------------------------------------------------------------------------------------------------- choices

    def _handed_on(self) -> dict[Var, None]:
        """What the scope owns and the choice is the last to use: it goes to whichever branch is taken."""
        dying = [var for var in self.uses[self.time] if var in self.owned and self.last[var] == self.time]
        for var in dying:
            del self.owned[var]
        return dict.fromkeys(dying)

    def _continuation(self, var: Var, tail: bool) -> OpenBlock | None:
        if tail:
            return None
        result = self.registers[var] = self._register()
        return self.scopes.procedure.block((result,))

    def _continue_at(self, join: OpenBlock | None) -> bool:
        if join is None:
            return True
        self.block = join
        return False

    def _if(self, var: Var, cond: Expr, branches: tuple[Expr, Expr], tail: bool) -> bool:
        condition = self._operand(cond)
        owned = self._handed_on()
        join = self._continuation(var, tail)
        after = self.join if tail else join
        blocks = [self.scopes.procedure.block() for _ in branches]
        self.block.close(Branch(condition, blocks[0].number, blocks[1].number))
        for block, branch in zip(blocks, branches, strict=True):
            self.scopes.tasks.append(_Task(block, branch, dict(owned), dict(self.symbols), after))
        return self._continue_at(join)

    def _match(self, var: Var, match: Match, tail: bool) -> bool:
        data = match.data
        if isinstance(data, Var):
            register = self.registers[data]
            owned = self._handed_on()
        else:
            anonymous = Var("matched", data.checked_type)
            (register,) = self._take([data])
            self.registers[anonymous] = register
            owned = {**self._handed_on(), anonymous: None}
        join = self._continuation(var, tail)
        after = self.join if tail else join
        clauses: list[OpenBlock] = []
        variables: list[list[Var]] = []
        for clause in match.clauses:
            used = self.scopes.free.of(clause.rhs)
            bound = [v for v in pattern_vars(clause.lhs) if v in used]
            parameters = tuple(self._register() for _ in bound)
            self.registers.update(zip(bound, parameters, strict=True))
            block = self.scopes.procedure.block(parameters)
            symbols = dict(self.symbols)
            for each in bound:
                self.scopes.read_symbols(block, each, symbols)
            clauses.append(block)
            variables.append(bound)
            self.scopes.tasks.append(_Task(block, clause.rhs, {**dict.fromkeys(bound), **owned}, symbols, after))
        lower_decisions(match, register, self.block, clauses, variables, self.scopes.procedure, self.around)
        return self._continue_at(join)


def _without(variables: dict[Var, None], var: Var) -> dict[Var, None]:
    return {each: None for each in variables if each is not var}
