"""Copy functions for the functions that they are given: SpecializeFunctions.

    before: def @main(%k: float32, %xs: List[float32]) { @map(fn (%x: float32) { multiply(%x, %k) }, %xs) }
    after:  def @main(%k: float32, %xs: List[float32]) { @map_main_fn(%k, %xs) }
            def @main_fn(%k: float32, %x: float32) { multiply(%x, %k) }
            def @map_main_fn(%k: float32, %xs: List[float32]) {
              match (%xs) { Cons(%x, %rest) => Cons(@main_fn(%k, %x), @map_main_fn(%k, %rest)), Nil => Nil }
            }                                                                                      (@map stays)

A function that is handed over is known when it is a global one, a constructor, an operator, a function written at the
call or bound by a let, or what a call of a function like `@compose` gives, whose body is a function. What a known
function takes from around it becomes parameters of the copy, where its calls are calls of a global function, without a
closure; so are those of the copy itself. Copies are made once for a function, its types and what is known (Chin and
Darlington, "A Higher-Order Removal Method", 1996). InlineSmallFunctions puts small ones in place afterwards.

Not copied for: a parameter that is stored, given back or that grows at each self-call (`k` where `fn (x) { k(x + 1) }`
is handed on); types that are open or have extents that are no numbers (their calls check extents); functions with
attributes. At most `Budgets.open_copies` copies of a function are made within each other, and all copies together are
at most as large as the budget of nodes: `relay.SpecializeFunctions.max_nodes`, by default twice the nodes of the
program and some more. Run twice, it may go further where a limit was reached. Floating point: EXACT.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relay.analysis.call_graph import call_graph
from relay.base.fresh_names import FreshNames
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Op, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import is_closed
from relay.ir.types import FuncType, Type
from relay.ir.variables import free_vars
from relay.normalize.a_normal_form import is_atom
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.extents import copied
from relay.transform.functions.known_functions import (
    Argument,
    GlobalFunctions,
    Known,
    Target,
    has_numbers_only,
)
from relay.transform.functions.lifting import Lifting, typed_var
from relay.transform.functions.retyping import instantiated, retyped

MAX_NODES = "relay.SpecializeFunctions.max_nodes"


@module_pass(level=2)
def SpecializeFunctions(module: IRModule, context: PassContext) -> IRModule:
    """Copy functions for the functions that they are given."""
    handing = {name for name, each in module.functions.items() if _hands_over_functions(each)}
    callers = {name: each for name, each in module.functions.items() if _is_caller(name, each, handing)}
    if not callers:
        return module
    budget = context.config.get(MAX_NODES)
    if not isinstance(budget, int):
        budget = BUDGETS.copied_nodes + 2 * sum(len(post_order(each.body)) for each in module.functions.values())
    copies = _Copies(module, handing, budget)
    changed: dict[GlobalVar, Function] = {}
    for name, function in callers.items():
        normal = to_basic_block_normal_form(function)
        walked = _Walk(copies, name, normal, {}, ()).done()
        if walked is not normal:
            changed[name] = copies.globals.without_unused(walked)
    return module if not changed else copies.with_made(changed)


def _hands_over_functions(function: Function) -> bool:
    """Whether something in a function is called with a function that is not its parameter, or is made by a call."""
    given = frozenset(function.params)
    return any(
        isinstance(node, Call)
        and (isinstance(node.op, Call) or any(_is_function(each) and each not in given for each in node.args))
        for node in post_order(function.body)
    )


def _is_caller(name: GlobalVar, function: Function, handing: Container[GlobalVar]) -> bool:
    """Whether a function, which is no kernel and not generic, hands over functions, or calls one that does."""
    if function.type_params or "Primitive" in function.attrs or "Compiler" in function.attrs:
        return False
    return name in handing or any(isinstance(node, GlobalVar) and node in handing for node in post_order(function.body))


def _is_function(expr: Expr) -> bool:
    return isinstance(expr.checked_type, FuncType) or isinstance(expr, GlobalVar | Constructor | Op)


@frozen(eq=False)
class _Copy:
    """A copy that is still to be walked: its name, its typed function, what is known of parameters, and the functions
    of which it and those around it are copies."""

    name: GlobalVar
    function: Function
    known: Mapping[Var, Known]
    chain: tuple[GlobalVar, ...]


@dataclass(slots=True, eq=False)
class _Copies:
    """The functions made so far. `handing` are functions of the module that hand over functions."""

    module: IRModule
    handing: Container[GlobalVar]
    nodes_left: int
    globals: GlobalFunctions = field(init=False)
    names: dict[object, GlobalVar] = field(default_factory=dict)
    waiting: deque[_Copy] = field(default_factory=deque)
    _followed: dict[GlobalVar, tuple[bool, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.globals = GlobalFunctions(Lifting(FreshNames(self.module.__contains__), dict(self.module.functions)))

    def with_made(self, changed: Mapping[GlobalVar, Function]) -> IRModule:
        """The module with these functions and the copies that they need."""
        while self.waiting:
            each = self.waiting.popleft()
            walked = _Walk(self, each.name, each.function, each.known, each.chain).done()
            self.globals.functions[each.name] = self.globals.without_unused(walked)
        made = {name: each for name, each in self.globals.functions.items() if name not in self.module}
        whole = IRModule({**self.module.functions, **changed, **made})
        needed = set(call_graph(whole).reachable(self.module.functions))
        return self.module.with_functions({name: each for name, each in whole.functions.items() if name in needed})

    def followed(self, name: GlobalVar) -> tuple[bool, ...]:
        """For each parameter, whether it is worth knowing which function it is."""
        if name not in self._followed:
            self._followed[name] = _followed(name, self.globals.functions[name])
        return self._followed[name]

    def copy(
        self, target: GlobalVar, types: tuple[Type, ...], arguments: Sequence[Argument], chain: tuple[GlobalVar, ...]
    ) -> GlobalVar | None:
        """The copy of a function for what is known of its arguments; None beyond the limits."""
        key = target, types, tuple(each.key if isinstance(each, Known) else None for each in arguments)
        if key in self.names:
            return self.names[key]
        source = to_basic_block_normal_form(self.globals.functions[target])
        size = len(post_order(source.body))
        if chain.count(target) >= BUDGETS.open_copies or size > self.nodes_left:
            return None
        self.nodes_left -= size
        known = [each for each in arguments if isinstance(each, Known)]
        name = self.names[key] = GlobalVar(
            self.globals.lifting.names.take("_".join((target.name_hint, *(each.title for each in known))))
        )
        at = dict(zip(source.type_params, types, strict=True))
        typed = retyped(source, lambda type_: instantiated(type_, at)) if at else copied(source)
        self.waiting.append(_for_arguments(name, typed, arguments, (*chain, target)))
        return name


def _for_arguments(
    name: GlobalVar, typed: Function, arguments: Sequence[Argument], chain: tuple[GlobalVar, ...]
) -> _Copy:
    """A copy whose parameters, where they are known functions, are what these take from the run."""
    known: dict[Var, Known] = {}
    params: list[Var] = []
    for param, argument in zip(typed.params, arguments, strict=True):
        if isinstance(argument, Known):
            leaves = [typed_var(_hint(each), each.checked_type) for each in argument.leaves() if each.checked_type]
            known[param] = argument.with_leaves(iter(leaves))
            params += leaves
        else:
            params.append(param)
    return _Copy(name, Function(tuple(params), typed.body, typed.ret_type, span=typed.span), known, chain)


def _hint(expr: Expr) -> str:
    return expr.name_hint if isinstance(expr, Var) else "c"


def _followed(name: GlobalVar, function: Function) -> tuple[bool, ...]:
    """Parameters that are functions, and that are only called or handed on."""
    followed = {each for each in function.params if isinstance(each.checked_type, FuncType)}
    if not followed or function.attrs:
        return (False,) * len(function.params)
    values = {node.var: node.value for node in post_order(function.body) if isinstance(node, Let)}
    followed.discard(function.body)  # type: ignore[arg-type]
    for node in post_order(function.body):
        parts = children(node)
        if isinstance(node, Call) and not isinstance(node.op, Constructor | Op):
            parts = ()
            if node.op == name:
                for param, argument in zip(function.params, node.args, strict=True):
                    inner = values.get(argument, argument) if isinstance(argument, Var) else argument
                    parts += (param,) if isinstance(inner, Function) and param in free_vars(inner) else ()
        followed.difference_update(part for part in parts if isinstance(part, Var))
    return tuple(each in followed for each in function.params)


@dataclass(slots=True, eq=False)
class _Walk:
    """One function, where functions that are handed over are known."""

    copies: _Copies
    name: GlobalVar
    function: Function
    known: Mapping[Var, Known]
    chain: tuple[GlobalVar, ...]
    values: dict[Var, Expr] = field(default_factory=dict)
    walked: dict[Expr, Expr] = field(default_factory=dict)

    def done(self) -> Function:
        """The function with calls of copies; the same function where nothing is known."""
        self.values = {node.var: node.value for node in post_order(self.function.body) if isinstance(node, Let)}
        walked = rewrite_nodes(self.function, self._step)
        body = walked.body
        if not self.known:
            return walked
        left = {node for node in post_order(body) if isinstance(node, Var)}
        for param, each in self.known.items():
            if param in left:
                body = typed_as(Let(param, each.as_value(), body), body)
        return Function(walked.params, body, walked.ret_type, walked.type_params, walked.attrs, span=walked.span)

    def _step(self, node: Expr, rebuilt: Expr) -> Expr:
        result = self._call(node, rebuilt) if isinstance(node, Call) and isinstance(rebuilt, Call) else rebuilt
        self.walked[node] = typed_as(result, node)
        return result

    def _call(self, node: Call, call: Call) -> Expr:
        match call.op:
            case GlobalVar() as target if target in self.copies.globals.functions:
                if self.copies.globals.uncurried(target) is not None:
                    return call  # a function: known where it is called or handed on
                return self._calling(target, tuple(node.type_args), call.args, call)
            case Var() as var if var in self.known:
                callee = self.known[var]
            case Call() | Var() if isinstance(node.op.checked_type, FuncType):
                callee = self._callee(call, node.op.checked_type)
            case _:
                return call
        if callee is None:
            return call
        return self._calling(callee.target, callee.types, (*callee.captured, *call.args), call)

    def _callee(self, call: Call, type_: FuncType) -> Known | None:
        """What a call calls that is no name: what a call made, or a function inside that is handed others."""
        if isinstance(self._value(call.op), Function) and not any(map(self._is_known, call.args)):
            return None
        return self._known(call.op, type_)

    def _is_known(self, expr: Expr) -> bool:
        type_ = expr.checked_type
        return type_ is None or (isinstance(type_, FuncType) and self._known(expr, type_) is not None)

    def _calling(self, target: Target, types: tuple[Type, ...], arguments: Sequence[Argument], call: Call) -> Expr:
        """A call, of a copy where functions among its arguments are known."""
        if isinstance(target, GlobalVar):
            known = self._with_known(target, types, arguments)
            if any(isinstance(each, Known) for each in known) or self._is_worth_types(target, types):
                copy = self.copies.copy(target, types, known, self.chain)
                if copy is not None:
                    return Call(copy, tuple(_flat(known)), span=call.span)
        if target is call.op:
            return call
        return Call(target, _values(arguments), span=call.span)

    def _is_worth_types(self, target: GlobalVar, types: tuple[Type, ...]) -> bool:
        """Whether a generic function is copied for its types, since it hands over functions itself."""
        return bool(types) and target in self.copies.handing and all(map(is_closed, types))

    def _with_known(
        self, target: GlobalVar, types: tuple[Type, ...], arguments: Sequence[Argument]
    ) -> Sequence[Argument]:
        """The arguments, those known that are worth it."""
        function = self.copies.globals.functions[target]
        wanted = _parameter_types(function, types)
        if wanted is None or not all(map(is_closed, types)) or not has_numbers_only(function.checked_type):
            return _values(arguments)
        found: list[Argument] = []
        for type_, argument, worth in zip(wanted, arguments, self.copies.followed(target), strict=True):
            known = self._known(argument, type_) if worth and isinstance(type_, FuncType) else None
            found.append(known or (argument.as_value() if isinstance(argument, Known) else argument))
        return found

    def _known(self, argument: Argument, type_: FuncType) -> Known | None:
        if isinstance(argument, Known):
            return argument
        return self._known_function(argument, type_) if is_closed(type_) else None

    def _known_function(self, expr: Expr, type_: FuncType) -> Known | None:
        """The function that an expression is, if that is known."""
        own: Var | None = None
        while isinstance(expr, Var):
            if expr in self.known:
                return self.known[expr]
            value = self.values.get(expr)
            if value is None or value not in self.walked:
                return None
            own, expr = expr, self.walked[value]
        match expr:
            case Constructor() | Op():
                return Known(expr, type_)
            case GlobalVar() if expr in self.copies.globals.functions:
                function = self.copies.globals.functions[expr]
                is_free = not function.attrs and has_numbers_only(function.checked_type)
                return Known(expr, type_) if is_free else None
            case Function():
                lifted = self.copies.globals.inner(expr, own, self.name)
                return None if lifted is None else self._applied(lifted.name, (), lifted.captures, type_)
            case Call(op=GlobalVar() as maker, args=args) if own is None or all(map(is_atom, args)):
                function = self.copies.globals.uncurried(maker)
                return None if function is None else self._applied(function, expr.type_args, args, type_)
            case _:
                return None

    def _applied(
        self, target: GlobalVar, types: Sequence[Type], captured: Sequence[Expr], type_: FuncType
    ) -> Known | None:
        """A function with its first arguments: known functions, and values of types that need no checks."""
        wanted = _parameter_types(self.copies.globals.functions[target], types)
        if wanted is None:
            return None
        found: list[Argument] = []
        for each, param in zip(captured, wanted, strict=False):
            known = self._known(each, param) if isinstance(param, FuncType) else None
            if known is None and not is_closed(each.checked_type):
                return None
            found.append(known or each)
        return Known(target, type_, tuple(types), tuple(found))

    def _value(self, expr: Expr) -> Expr | None:
        while isinstance(expr, Var):
            value = self.values.get(expr)
            if value is None:
                return None
            expr = self.walked.get(value, value)
        return expr


def _parameter_types(function: Function, types: Sequence[Type]) -> list[Type] | None:
    """The types of a function's parameters at these type arguments, if they are known."""
    if len(types) != len(function.type_params):
        return None
    at = dict(zip(function.type_params, types, strict=True))
    params = [each.checked_type for each in function.params if each.checked_type is not None]
    found = [instantiated(each, at) for each in params]
    return found if len(found) == len(function.params) else None


def _values(arguments: Sequence[Argument]) -> tuple[Expr, ...]:
    return tuple(each.as_value() if isinstance(each, Known) else each for each in arguments)


def _flat(arguments: Iterable[Argument]) -> Iterable[Expr]:
    for each in arguments:
        if isinstance(each, Known):
            yield from each.leaves()
        else:
            yield each
