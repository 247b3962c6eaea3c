"""Make a copy of each generic function for the types that it is called with: Monomorphize.

    before: def @id[a](%x: a) -> a { %x }       def @main(%x: float32) { @id(%x) }
    after:  def @id(%x: float32) -> float32 { %x }      def @main(%x: float32) { @id(%x) }

Afterwards no function that `@main` reaches is generic, and generic ones are gone. A generic function that is used as a
value is expanded to one that calls it (`EtaExpand`). Refused: a program that calls a generic function at ever larger
types (polymorphic recursion), and generic functions inside functions. Floating point: EXACT.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import chain, islice

from relay.base.diagnostics import RelayError
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Expr, Function, GlobalVar, record_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.type_traversal import map_type
from relay.ir.types import FuncType, IncompleteType, Type, TypeVar, type_parts
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.eta_expand import EtaExpand
from relay.transform.functions.retyping import retyped

Types = Mapping[TypeVar | IncompleteType, Type]


@module_pass(level=1)
def Monomorphize(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Copy generic functions for the types of their calls."""
    if not any(function.type_params for function in module.functions.values()):
        return module
    copies = _Copies(EtaExpand(expand_constructor=False)(module))
    done: dict[GlobalVar, Function] = {}
    while copies.waiting:
        name, function, types = copies.waiting.popleft()
        done[name] = copies.specialised(name, function, types)
    return module.with_functions(done)


class _Copies:
    """The copies made so far; `waiting` are functions whose calls still name generic ones."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.names: dict[tuple[GlobalVar, tuple[Type, ...]], GlobalVar] = {}
        self._copied: set[GlobalVar] = set()
        self._fresh = FreshNames(module.__contains__)
        self.waiting: deque[tuple[GlobalVar, Function, Types]] = deque(
            (name, function, {}) for name, function in module.functions.items() if not function.type_params
        )

    def specialised(self, name: GlobalVar, function: Function, types: Types) -> Function:
        """A function at the types of its parameters, with calls of copies."""

        def at(type_: Type) -> Type:
            return map_type(type_, lambda variable: types.get(variable, variable))

        def step(node: Expr, rebuilt: Expr) -> Expr:
            match node, rebuilt:
                case Function(), _ if isinstance(node.checked_type, FuncType) and node.checked_type.type_params:
                    raise _refusal(name, "holds a generic function", node)
                case Call(op=GlobalVar() as callee), Call() if self._is_generic(callee):
                    copy = self._copy(callee, tuple(map(at, node.type_args)), node)
                    made = Call(copy, rebuilt.args, span=node.span)
                    # typed here, without the type arguments: the copy takes none, though it may have the same name
                    return made if node.checked_type is None else record_type(made, node.checked_type)
                case _:
                    return rebuilt

        changed = rewrite_nodes(function, step)
        if not types:
            return changed
        typed = retyped(changed, at)
        return Function(typed.params, typed.body, typed.ret_type, (), typed.attrs, span=typed.span)

    def _is_generic(self, name: GlobalVar) -> bool:
        return name in self.module and bool(self.module[name].type_params)

    def _copy(self, name: GlobalVar, types: tuple[Type, ...], call: Call) -> GlobalVar:
        parts = chain.from_iterable(map(type_parts, types))
        if next(islice(parts, BUDGETS.type_parts, None), None) is not None:
            raise _refusal(name, f"is called at types of more than {BUDGETS.type_parts} parts", call)
        known = self.names.get((name, types))
        if known is not None:
            return known
        if len(self.names) >= BUDGETS.copied_types:
            raise _refusal(name, f"is called at more than {BUDGETS.copied_types} types", call)
        function = self.module[name]
        copy = self._fresh_name(name)
        self.names[name, types] = copy
        self.waiting.append((copy, function, dict(zip(function.type_params, types, strict=True))))
        return copy

    def _fresh_name(self, name: GlobalVar) -> GlobalVar:
        """The name itself for the first copy: the generic function goes."""
        if name in self._copied:
            return GlobalVar(self._fresh.take(name.name_hint))
        self._copied.add(name)
        return GlobalVar(name.name_hint)  # another function, which is not generic


def _refusal(name: GlobalVar, what: str, where: Expr) -> RelayError:
    return RelayError(
        rule="not-monomorphic",
        message=f"@{name.name_hint} {what}, so its functions cannot be copied for the types of their calls",
        span=where.span,
        remedy="give the function types that are written out",
    )
