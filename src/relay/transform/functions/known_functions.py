"""Functions that are known where they are handed over: global ones, with what they take along."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, Union

from relay.base.frozen import frozen
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op, Var, record_type
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import is_closed
from relay.ir.types import FuncType, TensorType, Type, type_parts
from relay.normalize.a_normal_form import is_atom
from relay.transform.functions.lifting import Lifted, Lifting, captures_of, tells_extents, typed_var
from relay.transform.simplify.unused_bindings import without_unused

Target: TypeAlias = Union[GlobalVar, Constructor, Op]


@frozen(eq=False)
class Known:
    """The function `target`, of type `type_` when its first arguments `captured` are given: known functions, and values
    of the run. `types` are the type arguments of a generic target."""

    target: Target
    type_: FuncType
    types: tuple[Type, ...] = ()
    captured: tuple[Argument, ...] = ()

    @property
    def key(self) -> Hashable:
        """What two known functions have in common that differ in values of the run only."""
        captured = tuple(each.key if isinstance(each, Known) else None for each in self.captured)
        return (self.target.name if isinstance(self.target, Op) else self.target), self.types, captured

    @property
    def title(self) -> str:
        name = self.target.name if isinstance(self.target, Op) else self.target.name_hint
        return name.replace(".", "_")

    def leaves(self) -> Iterator[Expr]:
        """The values of the run, in the order in which they are evaluated."""
        for each in self.captured:
            if isinstance(each, Known):
                yield from each.leaves()
            else:
                yield each

    def with_leaves(self, leaves: Iterator[Expr]) -> Known:
        """The same function with other values of the run."""
        given = (each.with_leaves(leaves) if isinstance(each, Known) else next(leaves) for each in self.captured)
        return replace(self, captured=tuple(given))

    def as_value(self) -> Expr:
        """The function as a value of the run: the target itself, or a function that calls it."""
        if not self.captured:
            return self.target
        params = tuple(typed_var(f"a{i}", each) for i, each in enumerate(self.type_.arg_types))
        given = (each.as_value() if isinstance(each, Known) else each for each in self.captured)
        body = record_type(Call(self.target, (*given, *params)), self.type_.ret_type)
        return record_type(Function(params, body, self.type_.ret_type), self.type_)


Argument: TypeAlias = Union[Expr, Known]


def has_numbers_only(type_: Type | None) -> bool:
    """Whether a type has no extents but numbers, and no generic functions inside: calls of such types check nothing."""
    if type_ is None:
        return False
    for each in type_parts(type_):
        if isinstance(each, TensorType) and not all(isinstance(extent, int) for extent in each.shape):
            return False
        if isinstance(each, FuncType) and each.type_params and each is not type_:
            return False
    return True


@dataclass(slots=True, eq=False)
class GlobalFunctions:
    """What functions are as global ones, each found once."""

    lifting: Lifting
    _inner: dict[Function, Lifted | None] = field(default_factory=dict)
    _uncurried: dict[GlobalVar, GlobalVar | None] = field(default_factory=dict)

    @property
    def functions(self) -> dict[GlobalVar, Function]:
        """Those of the program, and those that were made."""
        return self.lifting.functions

    def inner(self, function: Function, own: Var | None, outer: GlobalVar) -> Lifted | None:
        """The global function for one inside `outer`, where `own` is the variable by which it calls itself; None where
        there is none."""
        if function not in self._inner:
            captures = captures_of(function, own)
            found = None
            if _is_liftable(function, own, captures):
                found = self.lifting.lifted(outer, own, captures)
                self.lifting.lift_called(found, function, own)
            self._inner[function] = found
        return self._inner[function]

    def uncurried(self, name: GlobalVar) -> GlobalVar | None:
        """The function that does at once what the results of `name` do, where its body is a function."""
        if name not in self._uncurried:
            self._uncurried[name] = self._uncurry(name)
        return self._uncurried[name]

    def _uncurry(self, name: GlobalVar) -> GlobalVar | None:
        maker = self.functions.get(name)
        inner = maker.body if maker is not None and not maker.attrs else None
        if maker is None or not isinstance(inner, Function) or inner.type_params or set(inner.attrs) - {"Closure"}:
            return None
        if not has_numbers_only(maker.checked_type):
            return None
        new = self.lifting.lifted(name, None, maker.params)
        self.lifting.lift_called(new, inner, type_params=maker.type_params)
        return new.name

    def without_unused(self, function: Function) -> Function:
        """The function without bindings of functions that are named nowhere."""
        return without_unused(function, self._is_made)

    def _is_made(self, value: Expr) -> bool:
        """Whether a value is a function that is made without doing anything else."""
        if isinstance(value, Call) and isinstance(value.op, GlobalVar) and all(map(is_atom, value.args)):
            return self.uncurried(value.op) is not None
        return isinstance(value, Function)


def _is_liftable(function: Function, own: Var | None, captures: tuple[Var, ...]) -> bool:
    if set(function.attrs) - {"Closure"} or not all(is_closed(each.checked_type) for each in (function, *captures)):
        return False
    return tells_extents(function, own) and (own is None or not _is_value(own, function))


def _is_value(var: Var, function: Function) -> bool:
    """Whether a function uses a variable other than by calling it."""
    for node in post_order(function.body):
        parts = node.args if isinstance(node, Call) else children(node)
        if any(part is var for part in parts):
            return True
    return function.body is var
