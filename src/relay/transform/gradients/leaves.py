"""Leaves of parameters that are trees, as parameters of their own: what `wrt="params.0"` names.

    before: def @main(%params: (float32, float32), %x: float32) { ... }
    after:  def @main(%params: (float32, float32), %params_0: float32, %x: float32) {
              @main_of_leaves((%params_0, %params.1), %x)
            }

A tree is made of tuples, and of data types with one constructor. A derivative by a leaf is that of the program after;
then the leaf is taken from the tree again (`taken`). Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.base.span import Span
from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions
from relay.ir.type_traversal import instantiated
from relay.ir.types import GlobalTypeVar, TupleType, Type, TypeCall
from relay.transform.functions.remove_unused_functions import MAIN

Path: TypeAlias = tuple[int, ...]
"""The fields that lead to a leaf, outermost first."""
Leaf: TypeAlias = tuple[int, Path]
"""The place of a parameter, and a path in it; the empty one is the whole parameter."""


def leaf_named(names: Sequence[str], wanted: str) -> Leaf | None:
    """The leaf that a dotted name means.

    >>> leaf_named(["x", "params"], "params.0.1")
    (1, (0, 1))
    """
    name, parts = wanted, []
    while name not in names:
        name, _, last = name.rpartition(".")
        if not name or not last.isdigit():
            return None
        parts.append(int(last))
    return names.index(name), tuple(reversed(parts))


def with_leaves(module: IRModule, leaves: Sequence[Leaf], span: Span | None) -> tuple[IRModule, Sequence[int]]:
    """The typed module whose `@main` takes leaves, too, each behind the parameter that it is of; and the places of
    `leaves`. Raises `RelayError` (rule `unknown-parameter`)."""
    main = module[MAIN]
    trees = _Trees(module, span)
    params: list[Var] = []
    wholes: list[Expr] = []
    places: dict[Leaf, int] = {}
    for at, param in enumerate(main.params):
        type_ = known_type(param)
        own = Var(param.name_hint, type_, span=param.span)
        places[at, ()] = len(params)
        params.append(own)
        whole: Expr = own
        for place, path in dict.fromkeys(leaves):
            if place == at and path:
                title = "_".join((param.name_hint, *map(str, path)))
                leaf = Var(title, trees.type_at(param.name_hint, type_, path), span=param.span)
                places[at, path] = len(params)
                params.append(leaf)
                whole = trees.replaced(whole, type_, path, leaf)
        wholes.append(whole)
    inner = GlobalVar(FreshNames(module.__contains__, "_", 0).take("main_of_leaves"))
    functions = renamed_functions(module.functions, {MAIN: inner})
    made = Function(tuple(params), Call(inner, tuple(wholes)), span=main.span)
    whole_module = IRModule({**functions, MAIN: made}, module.type_definitions)
    return infer_type(whole_module), [places[each] for each in leaves]


def taken(module: IRModule, derived: IRModule, leaves: Sequence[Leaf], span: Span | None) -> IRModule:
    """A derivative of what `with_leaves` gave for `module`, which takes leaves out of the trees that it is given."""
    trees = _Trees(module, span)
    main = derived[MAIN]
    own = iter(main.params)
    kept: list[Var] = []
    body = main.body
    for at, param in enumerate(module[MAIN].params):
        tree = next(own)
        kept.append(tree)
        for place, path in dict.fromkeys(leaves):
            if place == at and path:
                body = Let(next(own), trees.at(tree, known_type(param), path), body)
    made = Function((*kept, *own), body, None, main.type_params, main.attrs, span=main.span)
    return infer_type(derived.with_function(MAIN, made))


@frozen(eq=False)
class _Trees:
    """The trees of a module's types."""

    module: IRModule
    span: Span | None

    def type_at(self, name: str, type_: Type, path: Path) -> Type:
        """The type of the leaf of a parameter. Raises `RelayError` (rule `unknown-parameter`)."""
        for depth, index in enumerate(path):
            fields = self._fields(type_)
            if index >= len(fields):
                where = ".".join((name, *map(str, path[:depth])))
                raise RelayError(
                    rule="unknown-parameter", message=f"`{where}` has no part {index}", span=self.span,
                    found=f"{where}: {type_}", remedy="name parts of tuples, and of data of one constructor, from 0",
                    expected=f"0 to {len(fields) - 1}" if fields else "a tuple, or data of one constructor",
                )  # fmt: skip
            type_ = fields[index]
        return type_

    def _fields(self, type_: Type) -> tuple[Type, ...]:
        if isinstance(type_, TupleType):
            return type_.fields
        made = self._constructor(type_)
        if made is None:
            return ()
        arguments = type_.args if isinstance(type_, TypeCall) else ()
        bound = dict(zip(self.module.type_definitions[made.belong_to].type_vars, arguments, strict=False))
        return tuple(instantiated(each, bound) for each in made.inputs)

    def _constructor(self, type_: Type) -> Constructor | None:
        """The constructor of data that has one."""
        header = type_.func if isinstance(type_, TypeCall) else type_
        if not isinstance(header, GlobalTypeVar):
            return None
        constructors = self.module.type_definitions[header].constructors
        return constructors[0] if len(constructors) == 1 else None

    def at(self, tree: Expr, type_: Type, path: Path) -> Expr:
        """The part of a tree that a path leads to."""
        for index in path:
            tree, type_ = self._part(tree, type_, index), self._fields(type_)[index]
        return tree

    def _part(self, tree: Expr, type_: Type, index: int) -> Expr:
        made = self._constructor(type_)
        if made is None:
            return TupleGetItem(tree, index)
        part = Var("part")
        patterns = [PatternVar(part) if at == index else PatternWildcard() for at in range(len(made.inputs))]
        return Match(tree, (Clause(PatternConstructor(made, tuple(patterns)), part),))

    def replaced(self, tree: Expr, type_: Type, path: Path, leaf: Expr) -> Expr:
        """A tree with another leaf."""
        way: list[tuple[Expr, Type, int]] = []
        for index in path:
            way.append((tree, type_, index))
            tree, type_ = self._part(tree, type_, index), self._fields(type_)[index]
        for around, own, index in reversed(way):
            count = len(self._fields(own))
            parts = tuple(leaf if at == index else self._part(around, own, at) for at in range(count))
            made = self._constructor(own)
            leaf = Tuple(parts) if made is None else Call(made, parts)
        return leaf
