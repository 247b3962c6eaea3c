"""One walk over a function in A-normal form, with what is known of its variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.infer.checks import node_checks
from relay.ir.expr import (
    Call,
    Clause,
    Constant,
    Constructor,
    Expr,
    Function,
    If,
    Let,
    Match,
    Op,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rebuild_typed, rewrite_nodes, with_body
from relay.ir.traversal import children
from relay.ir.types import TupleType, Type
from relay.transform.functions.case_of_known_constructor.blocks import Block, Choice, typed
from relay.transform.functions.case_of_known_constructor.fitting import asked_of, fits_of, patterns_for
from relay.transform.functions.case_of_known_constructor.uses import Uses, uses_of
from relay.transform.functions.extents import copied

Walking: TypeAlias = Generator[Any, Any, None]
Naming: TypeAlias = Generator[Any, Any, Expr]


@frozen(eq=False)
class _Selected:
    """The code that a choice comes to, and what the variables of its pattern stand for."""

    body: Expr
    bound: Sequence[tuple[Var, Expr]] = ()


class Walk:
    """`atoms`: what stands for variables that are no longer bound. `known`: what others are made of. `contents`: what
    is in refs now. `reductions` counts what was simplified."""

    def __init__(self, function: Function, module: IRModule) -> None:
        self.function = function
        self.module = module
        self.uses: Uses = uses_of(function)
        self.atoms: dict[Var, Expr] = {}
        self.known: dict[Var, Expr] = {}
        self.contents: dict[Var, Expr] = {}
        self.opaque: dict[Function, Function] = {}
        self.reductions = 0

    def body(self) -> Naming:
        return (yield (yield self.scope(self.function.body)).closed())

    # --------------------------------------------------------------------------------------------------- scopes

    def scope(self, body: Expr) -> Generator[Any, Any, Block]:
        block = Block(body.checked_type)
        block.result = yield self.chain(body, block)
        return block

    def chain(self, expr: Expr, block: Block) -> Naming:
        """Put the bindings of `expr` into `block`; its value."""
        while isinstance(expr, Let):
            yield self.bind(expr.var, expr.value, block)
            expr = expr.body
        return (yield self.part(expr))

    def part(self, expr: Expr) -> Naming:
        return (yield self.walked(expr)) if isinstance(expr, Function) else self.atom(expr)

    def atom(self, expr: Expr) -> Expr:
        return self.atoms.get(expr, expr) if isinstance(expr, Var) else expr

    def fact(self, atom: Expr) -> Expr | None:
        return self.known.get(atom) if isinstance(atom, Var) else atom

    def walked(self, function: Function) -> Generator[Any, Any, Function]:
        """A function inside. One with attributes is somebody else's, one that stands in two places is one: names in
        them are brought up to date, and that is all."""
        if function in self.uses.opaque:
            if function not in self.opaque:
                self.opaque[function] = rewrite_nodes(function, lambda _, new: self.atom(new))
            return self.opaque[function]
        block: Block = yield self.scope(function.body)
        return with_body(function, (yield block.closed()))

    # ------------------------------------------------------------------------------------------------- bindings

    def bind(self, var: Var, value: Expr, block: Block) -> Walking:
        match value:
            case Function():
                if var in self.uses.entered:
                    self.reductions += 1
                else:
                    block.add(var, (yield self.walked(value)), is_pure=True)
            case Call(op=Var() as callee, args=args) if callee in self.uses.entered:
                yield self.enter(var, self.uses.entered[callee], args, block)
            case Call(op=Function() as function, args=args) if value in self.uses.direct:
                self.reductions += 1
                yield self.enter(var, function, args, block)
            case TupleGetItem(tuple_value=whole, index=index):
                known = self.fact(self.atom(whole))
                field = known.fields[index] if isinstance(known, Tuple) else None
                if field is not None and self.stands_for(var, field):
                    self.reductions += 1
                    self.substitute(var, field)
                else:
                    yield self.plain(var, value, block)
            case RefCreate(content) if var in self.uses.refs:
                self.reductions += 1
                self.contents[var] = self.atom(content)
            case RefRead(Var() as ref) if ref in self.uses.refs:
                self.uses.add(self.contents[ref], 1)  # it may be read again
                self.alias(var, self.contents[ref], block)
            case RefWrite(Var() as ref, content) if ref in self.uses.refs:
                self.contents[ref] = self.atom(content)
                done = self.known[var] = typed(Tuple(()), value.checked_type)
                block.add(var, done, is_pure=True)
            case If():
                yield self.choose(var, value, block)
            case Match():
                yield self.match(var, value, block)
            case _ if not children(value):
                self.alias(var, self.atom(value), block)
            case _:
                yield self.plain(var, value, block)

    def plain(self, var: Var, value: Expr, block: Block) -> Walking:
        """A value that is computed as it stands. Functions in tuples and data get names, so that these can be used."""
        made = isinstance(value, Tuple) or (isinstance(value, Call) and isinstance(value.op, Constructor))
        parts: list[Expr] = []
        for part in children(value):
            new = yield self.part(part)
            if made and isinstance(new, Function):
                name = typed(Var("f"), new.checked_type)
                block.add(name, new, is_pure=True)
                new = name
            parts.append(new)
        rebuilt = rebuild_typed(value, parts)
        if made:
            self.known[var] = rebuilt
        block.add(var, rebuilt, self.is_pure(rebuilt))

    def alias(self, var: Var, atom: Expr, block: Block) -> None:
        if self.stands_for(var, atom):
            self.substitute(var, atom)
            self.uses.add(atom, -1)
        else:
            block.add(var, atom, is_pure=isinstance(atom, Function) or var.type_annotation is None)

    def stands_for(self, var: Var, atom: Expr) -> bool:
        """Whether an atom may be written wherever a variable is."""
        annotation, type_ = var.type_annotation, atom.checked_type
        is_same = type_ is not None and type_ == var.checked_type and annotation in (None, type_)
        return is_same and isinstance(atom, Var | Constant)

    def substitute(self, var: Var, atom: Expr) -> None:
        self.atoms[var] = atom
        self.uses.add(atom, self.uses.of(var))

    def is_pure(self, value: Expr) -> bool:
        """Whether nobody can tell when it is evaluated."""
        match value:
            case Tuple() | TupleGetItem() | Function():
                return True
            case Call(op=Op(operator)):
                return operator.effect is Effect.PURE and not node_checks(value, self.module, frozenset())
            case Call(op=Constructor()):
                return not node_checks(value, self.module, frozenset())
            case _:
                return False

    def enter(self, var: Var, function: Function, args: Sequence[Expr], block: Block) -> Walking:
        """The body of a function in place of its call."""
        for param, arg in zip(function.params, args, strict=True):
            yield self.bind(param, arg, block)
        self.alias(var, (yield self.chain(function.body, block)), block)

    # -------------------------------------------------------------------------------------------------- choices

    def choose(self, var: Var, node: If, block: Block) -> Walking:
        cond = self.atom(node.cond)
        if (yield self.resolved(var, node, cond, block)):
            return
        blocks: list[Block] = []
        for branch, told in ((node.true_branch, True), (node.false_branch, False)):
            blocks.append((yield self.knowing(cond, const(told), branch)))
        block.add(var, Choice(node, cond, (), blocks), is_pure=False)

    def match(self, var: Var, node: Match, block: Block) -> Walking:
        data: Expr = yield self.part(node.data)
        if (yield self.resolved(var, node, data, block)):
            return
        fits = fits_of(node.clauses, data, self.fact)
        clauses: Sequence[Clause] = node.clauses
        patterns: tuple[Pattern, ...] = tuple(clause.lhs for clause in clauses)
        asked = asked_of(fits)
        whole = self.fact(data)
        if whole is not None and asked and asked != list(whole.fields if isinstance(whole, Tuple) else ()):
            clauses, patterns = [fit.clause for fit in fits], patterns_for(fits, asked)
            for fit in fits:
                self.stand(fit.bound)
            data = self.together(asked, block)
            self.reductions += 1
        elif fits and fits[-1].is_certain and len(fits) < len(clauses) and whole is None:
            clauses, patterns = clauses[: len(fits)], patterns[: len(fits)]
            self.reductions += 1
        blocks: list[Block] = []
        for clause, pattern in zip(clauses, patterns, strict=True):
            blocks.append((yield self.knowing(data, _told(pattern, data.checked_type), clause.rhs)))
        block.add(var, Choice(node, data, patterns, blocks), is_pure=False)

    def together(self, asked: Sequence[Var], block: Block) -> Var:
        """One value to match on."""
        if len(asked) == 1:
            return asked[0]
        types = [each.checked_type for each in asked if each.checked_type is not None]
        name = typed(Var("parts"), TupleType(tuple(types)))
        block.add(name, typed(Tuple(tuple(asked)), name.checked_type), is_pure=True)
        return name

    def knowing(self, atom: Expr, fact: Expr | None, body: Expr) -> Generator[Any, Any, Block]:
        """A scope in which something more is known of an atom."""
        if not isinstance(atom, Var) or fact is None or atom in self.known:
            return (yield self.scope(body))
        self.known[atom] = fact
        block: Block = yield self.scope(body)
        del self.known[atom]
        return block

    def selected(self, node: If | Match, atom: Expr) -> _Selected | None:
        """What a choice comes to when it is made by this atom, if that is known."""
        if isinstance(node, If):
            told = self.fact(atom)
            if not isinstance(told, Constant):
                return None
            found = _Selected(node.true_branch if told.data else node.false_branch)
        else:
            fits = fits_of(node.clauses, atom, self.fact)
            if not fits or not fits[0].is_certain:
                return None
            found = _Selected(fits[0].clause.rhs, fits[0].bound)
        return found if found.body.checked_type == node.checked_type else None

    def resolved(self, var: Var, node: If | Match, atom: Expr, block: Block) -> Generator[Any, Any, bool]:
        """Whether it is known how a choice is made, here or in each branch of the one that made the atom; done then."""
        found = self.selected(node, atom)
        if found is not None:
            self.reductions += 1
            self.stand(found.bound)
            self.alias(var, (yield self.chain(found.body, block)), block)
            return True
        before = block.movable(atom) if self.uses.of(atom) == 1 else None
        ends = [] if before is None else before.ends()
        each = [self.selected(node, end.result) for end in ends if end.result is not None]
        chosen = [one for one in each if one is not None]
        if before is None or not chosen or len(chosen) < len(ends) or not self.may_repeat(chosen):
            return False
        met: set[Expr] = set()
        for end, one in zip(ends, chosen, strict=True):
            body = self.repeated(one.body) if one.body in met else one.body
            met.add(one.body)
            self.stand(one.bound)
            end.result = yield self.chain(body, end)
        assert isinstance(atom, Var)
        before.give(var.checked_type, var.name_hint)
        block.move(atom, var)
        self.reductions += 1
        return True

    def stand(self, bound: Sequence[tuple[Var, Expr]]) -> None:
        for var, atom in bound:
            self.substitute(var, atom)

    def may_repeat(self, chosen: Sequence[_Selected]) -> bool:
        """Whether what is taken several times is small."""
        times = Counter(each.body for each in chosen)
        return all(times[each.body] == 1 or self.is_small(each.body) for each in chosen)

    def is_small(self, body: Expr) -> bool:
        """At most one operation, without scopes of its own."""
        if not isinstance(body, Let):
            return not isinstance(body, Function)
        value = body.value
        if isinstance(value, If | Match | Function) or any(isinstance(part, Function) for part in children(value)):
            return False
        return body.body is body.var and not (isinstance(value, Call) and value.op in self.uses.entered)

    def repeated(self, body: Expr) -> Expr:
        for part in children(body.value) if isinstance(body, Let) else (body,):
            self.uses.add(part, 1)
        return copied(Function((), body)).body


def _told(pattern: Pattern, type_: Type | None) -> Expr | None:
    """What a clause knows of the value that its pattern fits."""
    match pattern:
        case PatternConstructor(constructor, patterns):
            parts = [each.var for each in patterns if isinstance(each, PatternVar)]
            return typed(Call(constructor, tuple(parts)), type_) if len(parts) == len(patterns) else None
        case PatternTuple(patterns):
            parts = [each.var for each in patterns if isinstance(each, PatternVar)]
            return typed(Tuple(tuple(parts)), type_) if len(parts) == len(patterns) else None
        case _:
            return None
