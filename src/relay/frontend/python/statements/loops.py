"""Loops: a local function that calls itself in tail position, whose parameters are the position and the variables that
the loop changes; or the body once for each element, where their number is known now."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeAlias

from relay.arith.expr import free_symbols
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, Exits, Unset
from relay.frontend.python.expressions.operators import narrows
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.library.meeting import list_type, wider
from relay.frontend.python.places.targets import assign
from relay.frontend.python.statements.branches import changing_names, joined, take_state
from relay.frontend.python.statements.learning import kept_lists, learned_types
from relay.frontend.python.statements.stepping import Position, Stepping, stepping_of
from relay.frontend.python.syntax.assigned import (
    asks_for_none,
    assigned_names,
    bound_names,
    breaking_names,
    leaves_by,
    leaves_early,
    may_fall_through,
    named_in,
    only_adds_to,
    reads,
    target_names,
)
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import form_in
from relay.frontend.python.values import applied, as_expr, is_number, is_option, of_form
from relay.ir.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, Var
from relay.ir.type_traversal import has_unknown_dimension, map_type
from relay.ir.types import ANY, GlobalTypeVar, TensorType, TupleType, Type, TypeCall, scalar_type
from relay.ir.variables import free_vars
from relay.ops.creation.create import full


@frozen(eq=False)
class _Loop:
    """The local function, with the place of the loop and the variables that it changes: `state` are its parameters for
    them. `sums` are those that it only adds to, or multiplies."""

    var: Var
    span: Span
    names: Sequence[str]
    state: Sequence[Var]
    types: Sequence[Type]
    sums: Collection[str]


_End: TypeAlias = list[tuple[Any, Held]]
"""What the variables of a loop are where it ends, and how each is held there."""


def loop(block: Block, node: ast.While | ast.For, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    if node.orelse and not leaves_by(node.body, ast.Break):  # it always stands behind
        return dispatch.some(block, [_without_else(node), *node.orelse], rest, exits)
    if isinstance(node, ast.While) and (named_in(node.test) or asks_for_none(node.test) or narrows(block, node.test)):
        return dispatch.some(block, [_named_first(block, node)], rest, exits)
    stepping = stepping_of(block, node)
    if not isinstance(stepping, Stepping):
        assert isinstance(node, ast.For)
        return unrolled(block, node, stepping, rest, exits)
    span, tree = block.span(node), block.definition.source.tree
    changed = [name for name in dict.fromkeys(assigned_names([*node.body, *node.orelse])) if name in block.names]
    targets = [] if isinstance(node, ast.While) else target_names(node.target)
    if stepping.first is not None:  # the variable of a loop that runs has a value behind it, whether or not before
        first = block.inside()
        assert isinstance(node, ast.For)
        assign(first, node.target, stepping.first)
        for name in targets:
            if isinstance(block.names.get(name, Unset(span)), Unset):
                block.names[name] = first.names[name]
    if targets:
        if tree not in block.session.reads:
            block.session.reads[tree] = reads(tree)
        everywhere = block.session.reads[tree]
        inside = reads(_without_else(node))
        changed += [name for name in targets if name not in changed and everywhere[name] > inside[name]]
    for name in changed:
        block.names.setdefault(name, Unset(span))
    names = [name for name in changed if not isinstance(block.names[name], Unset)]
    told = learned_types(block, node, stepping, names)
    learned = {**told, **{name: type_ for name in names if (type_ := block.session.learned.get((span, name)))}}
    keeps = kept_lists(block, node, names)
    starts = [_begin(block, name, span, learned.get(name), name in keeps) for name in names]
    types = [learned.get(name) or block.type_of(each) for name, each in zip(names, starts, strict=True)]
    state = [Var(name, type_, span=span) for name, type_ in zip(names, types, strict=True)]
    for start, variable in zip(starts, state, strict=True):
        block.ownership.begin_loop(start, variable)
    sums = [name for name, type_ in zip(names, types, strict=True) if is_number(type_) and only_adds_to(node, name)]
    made = _Loop(Var("loop"), span, names, state, types, sums)
    try:
        return _made(block, node, stepping, starts, made, rest, exits)
    except RelayError:  # what is wrong may be that a list was to keep its length
        for name, type_ in zip(names, types, strict=True):
            as_list = list_type(type_) if name in keeps and isinstance(type_, TupleType) else None
            if name not in learned and as_list is not None:
                block.session.learned[span, name] = as_list
        raise


def _without_else(node: ast.While | ast.For) -> ast.While | ast.For:
    turns = copy(node)
    turns.orelse = []
    return turns


def _named_first(block: Block, node: ast.While) -> ast.While:
    """`while test:` whose test names something or tells what is there, as a loop without end that asks first."""
    if leaves_by(node.orelse, ast.Break, ast.Continue):
        raise refusal(block.span(node), "`:=` in the test of a loop whose `else` leaves another", "name it before")
    goes_on = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
    ends = ast.Break(lineno=node.lineno, col_offset=node.col_offset)
    asked = ast.copy_location(ast.If(node.test, [goes_on], [*node.orelse, ends]), node.test)
    always = ast.copy_location(ast.Constant(True), node.test)
    return ast.copy_location(ast.While(always, [asked, *node.body], []), node)


def _leaves(node: ast.While | ast.For) -> bool:
    """Whether a loop may end what stands around it: by `return`, or by what its `else` does."""
    return leaves_by(node.body, ast.Return) or leaves_early(node.orelse)


def _set_behind(block: Block, node: ast.While | ast.For) -> list[str]:
    """The names that have a value behind a loop with `else`, or one without end, whichever `break` leaves it."""
    is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    if not node.orelse and not is_endless:
        return []
    targets = [] if isinstance(node, ast.While) else target_names(node.target)
    ways = [[*targets, *each] for each in breaking_names(node.body)]
    if not is_endless and may_fall_through(node.orelse):
        ways.append(assigned_names(node.orelse, definitely=True))
    found = [name for name in dict.fromkeys(ways[0] if ways else ()) if all(name in each for each in ways)]
    return [name for name in found if name not in block.names or isinstance(block.names[name], Unset)]


def _finished(node: ast.While | ast.For, end: End, exits: Exits) -> End:
    """What follows the last turn: `else`, and then `end`."""
    if not node.orelse:
        return end
    return lambda side: dispatch.run(side, node.orelse, replace(exits, fall=end))


def _begin(block: Block, name: str, span: Span, learned: Type | None, keeps_length: bool) -> Expr:
    """What a variable is before the loop."""
    worth = block.names[name]
    is_kept = keeps_length and learned is None
    if isinstance(learned, TensorType) and learned.shape and is_number(block.type_of(as_expr(block, worth, span))):
        filled = full(as_expr(block, worth, span), learned.shape, learned.dtype)
        worth = block.ownership.own(block.bind(name, filled, span))
    start = of_form(block, worth, span) if is_kept else as_expr(block, worth, span, learned)
    made = block.bind(name, start, span) if learned is None else block.bind_as(name, start, learned, span)
    return block.ownership.hand_on(worth, made)


def _made(
    block: Block, node: ast.While | ast.For, stepping: Stepping, starts: Sequence[Expr], made: _Loop,
    rest: Sequence[ast.stmt], exits: Exits,
) -> Expr | None:  # fmt: skip
    """The loop; the whole expression, with what follows, where a `return` stands inside."""

    def ways(end: End, result: Type | None = None) -> Expr:
        return _function(block, node, stepping, starts, made, end, exits, result)

    behind = _set_behind(block, node)
    names = [*made.names, *behind]
    if _leaves(node):
        whole = joined(block, names, made.span, ways, lambda side: dispatch.run(side, rest, exits))
        return block.closed(_declared(block, whole, made))
    if node.orelse or behind:
        _go_on(block, names, made.span, ways, lambda whole: _declared(block, whole, made))
        return None
    ends = list[_End]()

    def values(side: Block) -> Expr:
        worth = [side.names[name] for name in made.names]
        ends.append([(each, side.ownership.meets(each)) for each in worth])
        found = _converted(side, made)
        return side.closed(found[0] if len(found) == 1 else Tuple(tuple(found), span=made.span))

    if len(made.names) == 1:
        whole = ways(values, made.types[0])
        block.names[made.names[0]] = block.bind_as(made.names[0], whole, made.types[0], made.span)
    else:
        type_ = TupleType(tuple(made.types))
        state = block.bind_as("state", ways(values, type_), type_, made.span)
        take_state(block, made.names, state, "state", made.span)
    for place, name in enumerate(made.names):  # a variable is behind the loop what it was in it
        held = min(block.ownership.held_at_most(*end[place]) for end in ends)
        block.names[name] = block.named(block.ownership.own(block.names[name], held), made.span)
    return None


def _declared(block: Block, whole: Expr, made: _Loop) -> Expr:
    """A loop that a `break` or `return` leaves, with what stands behind it. Where a turn may give its variables other
    extents, it says what it is worth, if that is known: else the next turn would have the same extents."""
    match whole:
        case Let(after, Function() as behind, Let(var, Function() as turns, call)) if var is made.var:
            is_open = any(map(has_unknown_dimension, made.types))
            if not is_open or any(each.checked_type is None for each in free_vars(behind.body)):
                return whole
            known = block.definition.extents
            result = map_type(
                block.type_of(behind.body), dimension=lambda each: each if known.issuperset(free_symbols(each)) else ANY
            )
            declared = replace(turns, ret_type=result)
            return Let(after, replace(behind, ret_type=result), Let(var, declared, call, span=made.span))
        case _:
            return whole


def _function(
    block: Block, node: ast.While | ast.For, stepping: Stepping, starts: Sequence[Expr], made: _Loop, end: End,
    exits: Exits, result: Type | None,
) -> Expr:  # fmt: skip
    """The local function, called with what the loop starts from. It ends by `end`, with a value of the type `result`,
    if that is known."""
    inner = block.inside()
    inner.names.update({name: Unset(made.span) for name in bound_names(node.body)})
    position = [Var(stepping.hint, block.type_of(each), span=made.span) for each in stepping.start]
    for each in (*made.state, *position):
        inner.type_of(each)
    inner.names.update({name: inner.named(each, made.span) for name, each in zip(made.names, made.state, strict=True)})

    def body(side: Block, value: Any, after: Callable[[], Position]) -> Expr:
        if isinstance(node, ast.For):
            assign(side, node.target, value)
        again: End = lambda side: _again(side, made, after)  # noqa: E731
        return dispatch.run(side, node.body, Exits(again, exits.give, end, again))

    def finished(side: Block) -> Expr:
        for each in made.state:
            side.ownership.begin_turn(each)
        return _finished(node, end, exits)(side)

    turn = inner.closed(stepping.turn(inner, position, body, finished))
    function = Function((*position, *made.state), turn, result, span=made.span)
    call = Call(made.var, (*stepping.start, *starts), span=made.span)
    return Let(made.var, function, call, span=made.span)


def _again(block: Block, made: _Loop, after: Callable[[], Position]) -> Expr:
    """The next turn."""
    values = _converted(block, made)
    for variable, name in zip(made.state, made.names, strict=True):
        block.ownership.end_turn(variable, block.names[name])
    return block.closed(Call(made.var, (*after(), *values), span=made.span))


def _converted(block: Block, made: _Loop) -> list[Expr]:
    """The variables at the end of a turn. Raises `RelayError` (rule `loop-variable-changes-type`); a type that is wide
    enough is learned."""
    values: list[Expr] = []
    for name, type_ in zip(made.names, made.types, strict=True):
        value = as_expr(block, block.names[name], made.span, type_, declared=False)
        found = block.type_of(value)
        if not _fits(found, type_):
            wanted = _summed(block, found) if name in made.sums else None
            wanted = wanted or wider(type_, found)
            if wanted is not None and wanted != type_:
                block.session.learned[made.span, name] = wanted
            raise RelayError(
                rule="loop-variable-changes-type",
                message=f"the variable `{name}` has another type after a turn of the loop than before it",
                span=made.span, expected=f"{type_}, as before the loop", found=f"{found}, at the end of the body",
                remedy=_remedy(name, type_, found),
            )  # fmt: skip
        values.append(value)
    return values


def _summed(block: Block, found: Type) -> Type | None:
    """The type of what began as a number to which a turn added an array: an array of that number makes the same."""
    if not isinstance(found, TensorType) or not found.shape:
        return None
    symbols = {each for extent in found.shape for each in free_symbols(extent)}
    return found if symbols <= block.definition.extents and not has_unknown_dimension(found) else None


def _fits(found: Type, wanted: Type) -> bool:
    if isinstance(found, TensorType) and isinstance(wanted, TensorType):
        pairs = zip(found.shape, wanted.shape, strict=False)
        return found.dtype == wanted.dtype and len(found.shape) == len(wanted.shape) and all(
            str(w) == "?" or f == w for f, w in pairs
        )  # fmt: skip
    if isinstance(found, TupleType) and isinstance(wanted, TupleType) and len(found.fields) == len(wanted.fields):
        return form_in(found) == form_in(wanted) and all(map(_fits, found.fields, wanted.fields))
    if isinstance(found, TypeCall | GlobalTypeVar) and isinstance(wanted, TypeCall | GlobalTypeVar):
        (first, own), (second, others) = applied(found), applied(wanted)
        return first == second and len(own) == len(others) and all(map(_fits, own, others))
    return found == wanted


def _remedy(name: str, before: Type, after: Type) -> str:
    if is_option(after):
        return f"say where it begins that it may be missing: {name}: ... | None = ..."
    if is_number(before) and after == scalar_type("float32"):
        return f"begin with a float: {name} = 0.0"
    if isinstance(before, TensorType) and isinstance(after, TensorType):
        if len(before.shape) != len(after.shape) and all(isinstance(extent, int) for extent in after.shape):
            return f'begin with a value of that shape: {name} = relay.zeros({after.shape}, "{after.dtype}")'
        if len(before.shape) != len(after.shape):
            return f"begin with zeros of the shape that it gets in the loop: {name} = np.zeros(...)"
        if before.dtype != after.dtype:
            return f"begin with {name} as {after.dtype}, or convert in the loop: .astype({str(before.dtype)!r})"
        if len(before.shape) == len(after.shape):
            shape = ", ".join(repr("?") if b != a else str(b) for b, a in zip(before.shape, after.shape, strict=True))
            return f'say that the extent changes: {name}: relay.Tensor[({shape},), "{before.dtype}"] = ...'
    return "give the variable one type"


def unrolled(
    block: Block, node: ast.For, items: Sequence[Any], rest: Sequence[ast.stmt], exits: Exits
) -> Expr | None:  # fmt: skip
    """The loop; the whole expression, with what follows, where a `return` stands inside."""
    if not leaves_early(node.body):
        for item in items:
            assign(block, node.target, item)
            dispatch.straight(block, node.body)
        return None
    if _leaves(node):
        return _turns(block, node, items, lambda side: dispatch.run(side, rest, exits), exits)
    first, names = block.inside(), [*changing_names(block, _names(node)), *_set_behind(block, node)]
    _go_on(block, names, block.span(node), lambda leave: _turns(first, node, items, leave, Exits()))
    return None


def _turns(block: Block, node: ast.For, items: Sequence[Any], behind: End, exits: Exits) -> Expr:
    """The expression that the loop is, with what stands `behind` it."""
    span, names = block.span(node), _names(node)
    continues = leaves_by(node.body, ast.Continue)

    def turn(at: Block, position: int, leave: End) -> Expr:
        if position == len(items):
            return _finished(node, leave, exits)(at)

        def body(side: Block, fall: End) -> Expr:
            return dispatch.run(side, node.body, Exits(fall, exits.give, leave, fall))

        def following(side: Block) -> Expr:
            return turn(side, position + 1, leave)

        assign(at, node.target, items[position])
        if not continues:
            return body(at, following)
        side = at.inside()
        return at.closed(joined(at, changing_names(at, names), span, lambda fall: body(side, fall), following))

    if not leaves_by(node.body, ast.Break):
        return turn(block, 0, behind)
    first = block.inside()
    known = [*changing_names(block, names), *_set_behind(block, node)]
    return block.closed(joined(block, known, span, lambda leave: turn(first, 0, leave), behind))


def _go_on(
    block: Block, names: Sequence[str], span: Span, ways: Callable[[End], Expr],
    declared: Callable[[Expr], Expr] = lambda whole: whole,
) -> None:  # fmt: skip
    """A loop that only its own `break` leaves: it is worth the variables that it changes or sets."""
    left: list[Any] = []

    def values(inner: Block) -> Expr:
        left.extend(inner.names[name] for name in names)
        return inner.closed(Tuple(tuple(as_expr(inner, each, span) for each in left), span=span))

    whole = block.bind("state", declared(joined(block, names, span, ways, values)), span)
    for position, (name, value) in enumerate(zip(names, left, strict=True)):
        found = block.bind(name, TupleGetItem(whole, position, span=span), span)
        block.names[name] = block.named(block.ownership.hand_on(value, found), span)


def _names(node: ast.For) -> list[str]:
    """The variables that an element may change."""
    return list(dict.fromkeys([*target_names(node.target), *assigned_names([*node.body, *node.orelse])]))
