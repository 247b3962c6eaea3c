"""From the scopes of a function in A-normal form to the blocks of a procedure: bindings, calls, choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from relay.arith.expr import IntExpr, Symbol
from relay.infer.checks import annotation_checks
from relay.ir.expr import (
    Call,
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
    record_type,
)
from relay.ir.operator import Check
from relay.ir.traversal import children
from relay.ir.type_traversal import type_symbols
from relay.lower.code.blocks import OpenBlock
from relay.lower.code.context import constructor_label
from relay.lower.code.representation import (
    BOXED,
    MOST_PARTS,
    Boxed,
    Representation,
    ScalarReplaced,
    Unboxed,
    register_count,
)
from relay.lower.code.run_time_checks import group_checks
from relay.lower.kernels.value_extents import value_extents
from relay.lower.ownership.ownership import OpenScopes, Task
from relay.lower.procedures.decision import Path
from relay.lower.procedures.matching import binds_tuple, lower_decisions, roots
from relay.lower.procedures.regions import RegionScope, is_on_device
from relay.lower.procedures.waiting import Kind, Waiting, split
from relay.lower.program.place import Held, Register, Scalar
from relay.lower.program.procedure import (
    Branch,
    CallClosure,
    CallProcedure,
    Jump,
    Return,
    StoreField,
    TailCall,
    TailCallClosure,
)
from relay.lower.refusal import not_native
from relay.runtime.artefact.manifest import CellLabel


def lower_body(
    scopes: OpenScopes, block: OpenBlock, function: Function, owned: Iterable[Var], symbols: dict[Symbol, IntExpr]
) -> None:
    """Lower the body of a function and all inside it; its value is the procedure's result."""
    checks = scopes.context.checks(function, scopes.visible)
    join = _checked_result(scopes, function, checks, dict(symbols)) if checks else None
    scopes.tasks.append(Task(block, function.body, dict.fromkeys(owned), symbols, join, scopes.result))
    while scopes.tasks:
        _ScopeChain(scopes, scopes.tasks.pop()).lower()


def _checked_result(
    scopes: OpenScopes, function: Function, checks: Sequence[Check], symbols: dict[Symbol, IntExpr]
) -> OpenBlock:
    """The block that makes sure of a result before it is given back."""
    result = Var("result")
    if function.body.checked_type is not None:
        record_type(result, function.body.checked_type)
    held = scopes.values.hold(result, scopes.result)
    block = scopes.procedure.block(held)
    scopes.read_all_symbols(block, result, result.checked_type, symbols)
    scopes.extents.check(block, checks, symbols, function)
    block.close(Return(held))
    return block


class _ScopeChain(RegionScope):
    """Lowers one chain of bindings."""

    def lower(self) -> None:
        for var in [var for var in self.owned if var not in self.last]:
            self._drop(var)
        for time, (var, value) in enumerate(self.bindings):
            self.time = time
            if self._joins(var, value):
                continue
            tail = self.join is None and time + 1 == len(self.bindings) and self.result is var
            if self._bind(var, value, tail):
                return
            self._release_dead()
            self._hold(var, value)
        self.time = len(self.bindings)
        self._close_region()
        held = self._give([self.result], [self.wanted])
        self._release_dead()
        self.block.close(Return(held) if self.join is None else Jump(self.join.number, held))

    # ---------------------------------------------------------------------------------------------------- regions

    def _joins(self, var: Var, value: Expr) -> bool:
        """Have a binding wait, if it may; otherwise what waits comes first, unless the binding has nothing to do with
        it and may run before."""
        if isinstance(value, Call) and isinstance(value.op, Function) and value.op.attrs.get("Primitive"):
            self._prepare(value, value.op)
        kind = self._kind(value)
        if kind is not None:
            self._wait(Waiting(self.time, var, value, kind))
            return True
        if not self._runs_before(value):
            self._close_region()
        return False

    def _prepare(self, call: Call, function: Function) -> None:
        """Check the extents of a kernel's inputs, and find those of its result that only values tell."""
        checks = group_checks(function)
        if checks and self.refuses:
            self._close_region()  # what is refused first must be told
        self.scopes.extents.check(self.block, checks, self.symbols, call)
        if value_extents(function) is not None:
            self._close_region()
            inputs = list(map(self._line().tensor, call.args))
            self.scopes.extents.compute(self.block, function, inputs, self.symbols)

    def _wait(self, binding: Waiting) -> None:
        self.waiting.append(binding)
        self.made.add(binding.var)
        words = [leaf for leaf in self.uses[binding.time] if isinstance(self.values.of.get(leaf), Register)]
        self.read.update(words)
        self.refuses |= binding.kind is Kind.REFUSAL
        if self._tells_symbols(binding.var, binding.value):
            self._close_region(binding.var)

    def _tells_symbols(self, var: Var, value: Expr) -> bool:
        """Whether the type of a variable says more of its extents than is known."""
        named = () if var.checked_type is None else type_symbols(var.checked_type)
        unknown = any(symbol not in self.symbols for symbol in named)
        return unknown or bool(annotation_checks(var, value, self.symbols.keys()))

    def _close_region(self, kept: Var | None = None) -> None:
        """Run what waits; `kept` is looked at behind it."""
        waiting, now = self.waiting, self.time
        if not waiting:
            return
        self.waiting, self.made, self.read, self.refuses = [], set(), set(), False
        end = waiting[-1].time + 1
        found = split(waiting, lambda var: var is kept or self.last.get(var, -1) >= end, is_on_device)
        behind = {var for each in waiting if each.var in found.behind for var in self.uses[each.time]}
        used = dict.fromkeys(var for each in waiting for var in self.uses[each.time])
        dying = [var for var in used if var in self.owned and self.last[var] < end and var not in behind]
        dying.sort(key=lambda var: var not in self.contents)  # most refs get what is made of what they held
        self._run(found, dying, self._written_next())
        for each in waiting:
            self.time = each.time
            if each.var in found.behind:
                self._bind(each.var, each.value, False)
            self._release_dead()
            if each.var in self.values.of:
                self._hold(each.var, each.value)
        self.time = now

    def _written_next(self) -> dict[Var, Register]:
        """The refs that are written next, one after another, by the variables that they get; no write fails."""
        written: dict[Var, Register] = {}
        for _, value in self.bindings[self.time :]:
            match value:
                case RefWrite(ref=Var() as ref, value=Var() as given) if not self._checks(value):
                    written[given] = self.values.word(ref)
                case _:
                    break
        return written

    # --------------------------------------------------------------------------------------------------- bindings

    def _bind(self, var: Var, value: Expr, tail: bool) -> bool:
        of, words = self.values.of, self._give_words
        match value:
            case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
                self._around_kernels(var, value, function, args)
            case Call(op=Constructor() as constructor, args=args):
                self._check_call(value)
                of[var] = self._new_cell(constructor_label(constructor), words(args))
            case Call(op=callee, args=args):
                self._check_call(value)
                return self._call(var, callee, args, tail)
            case Tuple(fields=fields):
                self._tuple(var, fields)
            case TupleGetItem(tuple_value=Var() as whole, index=index):
                self._part(var, whole, index)
            case RefCreate(value=inner):
                of[var] = self._new_cell(CellLabel("ref"), words([inner]))
            case RefRead(ref=Var() as ref):
                self.values.load(self.block, var, self.values.word(ref), 0)
            case RefWrite(ref=Var() as ref, value=inner):
                self._check_call(value)
                (word,) = words([inner])
                self.block.add(StoreField(self.values.word(ref), 0, word))
                of[var] = self._new_cell(CellLabel("tuple"), ())
            case If(cond, true_branch, false_branch):
                return self._if(var, cond, (true_branch, false_branch), tail)
            case Match():
                return self._match(var, value, tail)
            case Function():
                of[var] = self._made(value, var)
                self.scopes.known[var] = self._closure_code(value, var), value
            case _:
                self._alias(var, value)
        return False

    def _hold(self, var: Var, value: Expr) -> None:
        checks = annotation_checks(var, value, self.symbols.keys())  # names that are new here are what the value tells
        self._settle(var)
        if checks:
            for type_ in (value.checked_type, var.checked_type):
                self.scopes.read_all_symbols(self.block, var, type_, self.symbols)
            self.scopes.extents.check(self.block, checks, self.symbols, value)
        self._drop_unused(var)

    def _tuple(self, var: Var, fields: Sequence[Expr]) -> None:
        """A tuple is made only when a word of it is wanted."""
        whole = ScalarReplaced(tuple(map(self._how, fields)))
        if fields and register_count(whole) <= MOST_PARTS:
            self.values.hold_in(var, whole, iter(self._give(fields, whole.parts)))
        else:
            self.values.of[var] = self._new_cell(CellLabel("tuple"), self._give_words(fields))

    def _part(self, var: Var, whole: Var, index: int) -> None:
        held = self.values.of[whole]
        if isinstance(held, tuple):
            self._alias(var, held[index])
        else:
            self.values.load(self.block, var, self.values.word(whole), index)

    def _call(self, var: Var, callee: Expr, args: Sequence[Expr], tail: bool) -> bool:
        code, function = self._known_code(callee)
        convention = None if function is None else self.context.convention(function)
        if convention is None:
            closure, *words = self._give_words([callee, *args])
            return self._call_closure(var, closure, tuple(words), tail)
        if isinstance(callee, GlobalVar):
            arguments = self._give(args, convention.parameters)
        else:
            arguments = self._give([callee, *args], [BOXED, *convention.parameters])
        if tail and convention.result == self.scopes.result:
            self._release_dead()
            self.block.close(TailCall(code, arguments))
            return True
        self.block.add(CallProcedure(self.values.hold(var, convention.result), code, arguments))
        return False

    def _call_closure(self, var: Var, closure: Register, arguments: tuple[Register, ...], tail: bool) -> bool:
        if tail and isinstance(self.scopes.result, Boxed):
            self._release_dead()
            self.block.close(TailCallClosure(closure, arguments))
            return True
        how = self.context.held(var)
        (result,) = self.values.hold(var, how if isinstance(how, Boxed) else BOXED)
        self.block.add(CallClosure(result, closure, arguments))
        return False

    def _known_code(self, callee: Expr) -> tuple[str, Function | GlobalVar | None]:
        """The procedure of a callee, and its function; none where it is a closure of which nothing is known."""
        match callee:
            case GlobalVar():
                return self.context.procedure_of(callee), callee
            case Var():
                return self.scopes.known.get(callee, ("", None))
            case Function():
                return self._closure_code(callee, None), callee
            case _:
                raise not_native(callee, f"calls a {type(callee).__name__}")

    # ----------------------------------------------------------------------------------------------------- checks

    def _checks(self, call: Call | RefWrite) -> Sequence[Check]:
        return self.context.checks(call, self.scopes.visible)

    def _check_call(self, call: Call | RefWrite) -> None:
        checks = self._checks(call)
        self._read_symbols_of(children(call) if checks else ())
        self.scopes.extents.check(self.block, checks, self.symbols, call)

    def _read_symbols_of(self, atoms: Iterable[Expr]) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                self.scopes.read_all_symbols(self.block, atom, atom.checked_type, self.symbols)

    # ---------------------------------------------------------------------------------------------------- choices

    def _continuation(self, var: Var, tail: bool) -> tuple[OpenBlock | None, Representation]:
        """The block behind a choice, where its value is; none when that is what this scope ends with."""
        if tail:
            return None, self.wanted
        how = self.context.held(var)
        return self.scopes.procedure.block(self.values.hold(var, how)), how

    def _continue_at(self, join: OpenBlock | None) -> bool:
        if join is None:
            return True
        self.block = join
        return False

    def _if(self, var: Var, cond: Expr, branches: tuple[Expr, Expr], tail: bool) -> bool:
        condition = self._operand(cond)
        owned = self._handed_on()
        join, wanted = self._continuation(var, tail)
        blocks = [self.scopes.procedure.block() for _ in branches]
        self.block.close(Branch(condition, blocks[0].number, blocks[1].number))
        for block, branch in zip(blocks, branches, strict=True):
            self.scopes.tasks.append(Task(block, branch, dict(owned), dict(self.symbols), join, wanted))
        return self._continue_at(join)

    def _match(self, var: Var, match: Match, tail: bool) -> bool:
        data = match.data
        if isinstance(data, Var) and not any(binds_tuple(self.values, each.lhs, data) for each in match.clauses):
            owned = self._handed_on()
        else:
            owned = self._handed_on()
            (register,) = self._give_words([data])
            data = Var("matched")
            self.values.of[data] = register
            owned[data] = None
        held = dict(roots(self.values, data))
        join, wanted = self._continuation(var, tail)
        clauses: list[OpenBlock] = []
        variables: list[list[Var]] = []
        for clause in match.clauses:
            used = self.scopes.free.of(clause.rhs)
            bound = [v for v in pattern_vars(clause.lhs) if v in used]
            parameters = tuple(part for each in bound for part in self._hold_bound(each, held))
            block = self.scopes.procedure.block(parameters)
            symbols = dict(self.symbols)
            owned_here = {each: None for each in bound if isinstance(self.values.of[each], Register)}
            for each in owned_here:
                self.scopes.read_symbols(block, each, symbols)
            clauses.append(block)
            variables.append(bound)
            self.scopes.tasks.append(Task(block, clause.rhs, {**owned_here, **owned}, symbols, join, wanted))
        lower_decisions(match, held, self.block, clauses, variables, self.values, self.context)
        return self._continue_at(join)

    def _hold_bound(self, var: Var, held: Mapping[Path, Held]) -> tuple[Held, ...]:
        """Hold a variable of a pattern: as a word, but for a scalar that is computed with or unboxed already."""
        how = self.context.held(var)
        unboxed = self.context.is_computed(var) or any(isinstance(each, Scalar) for each in held.values())
        is_held = isinstance(how, Boxed) or (isinstance(how, Unboxed) and unboxed)
        return self.values.hold(var, how if is_held else BOXED)
