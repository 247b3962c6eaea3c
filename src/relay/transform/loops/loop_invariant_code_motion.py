"""Compute in front of a loop what is the same in all its turns: LoopInvariantCodeMotion.

    before: def @f(%n: int32, %h: Tensor[(1, 8)], %w: Tensor[(8, 8)]) -> Tensor[(1, 8)] {
              if (%n <= 0) { %h } else { @f(%n - 1, nn.dense(%h, transpose(%w)), %w) }
            }
    after:  def @f(%n, %h, %w) {
              if (%n <= 0) { %h } else { let %invariant = transpose(%w); @f_loop(%n, %h, %w, %invariant) }
            }
            def @f_loop(%n, %h, %w, %invariant) {
              if (%n <= 0) { %h } else { @f_loop(%n - 1, nn.dense(%h, %invariant), %w, %invariant) }
            }

A loop is a function, global or bound by a let, that calls itself and is not used as a value. The same in all turns is
what depends on nothing but variables from outside and parameters that every call of itself hands on. Moved is what has
no effect, cannot fail and checks no extents, so nobody can tell when it is computed; of that, what makes a tensor with
axes of another (sums of numbers are cheaper than a parameter more, and what is made of constants fuses).

Where a choice decides whether there is another turn, and only one branch has one, the work is done in front of the loop
behind that choice, so it is done only if a turn is: the condition and the other branches are copied, if they are
small. What stands in a branch inside that may never run is moved only if it is cheap: an elementwise operator or one
that moves elements. Not moved: work of calls of other functions (small ones are put in place before), and out of
functions whose extents are no numbers. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial

from relay.analysis.effects import effects_of
from relay.base.frozen import mutable
from relay.infer.checks import node_checks
from relay.infer.eager import typed_by_parts
from relay.ir.expr import Call, Expr, Function, If, Let, Match, Op, Tuple, TupleGetItem, Var
from relay.ir.known_types import typed_var
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rebuild_typed, rewrite_nodes, typed_as, with_body, with_lets
from relay.ir.sharing import Scopes, scopes
from relay.ir.traversal import LEAVES, children, post_order
from relay.ir.type_traversal import is_closed, tensor_types
from relay.ir.types import FuncType, Type
from relay.ir.variables import free_vars
from relay.ops.framework.record import FromTypes, FusionKind, OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied
from relay.transform.loops.loops import LoopName, lets_and_end, self_calls, with_loops_split

LARGEST_COPIED_NODES = 64
LARGEST_GROWTH = 4
"""A cheap value may have so many times the elements of what it is made of: a larger one is cheaper made than read."""


@module_pass(level=2)
def LoopInvariantCodeMotion(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Compute in front of a loop what is the same in all its turns."""
    return with_loops_split(module, partial(_split, module=module))


def _split(function: Function, name: LoopName, loop: LoopName, module: IRModule) -> tuple[Function, Function] | None:
    """What does the work in front of a loop, and the loop, which is called `loop`; None where there is no such work."""
    type_ = function.checked_type
    calls = self_calls(function, name)
    if not calls or not is_closed(type_) or not isinstance(type_, FuncType):
        return None
    same = {
        param for position, param in enumerate(function.params)
        if all(position < len(call.args) and call.args[position] is param for call in calls)
    }  # fmt: skip
    same.update(var for var in free_vars(function) if var is not name)
    work = _Invariants(function, same, module)
    guard = _guard(function.body, calls)
    chosen = work.chosen(guard, is_tree=len(calls) > 1)
    if not chosen:
        return None
    moved = _Moved(function, work, chosen)
    passed = tuple(var for var in moved.made.values() if var in moved.used)
    turn = rewrite_nodes(moved.rest, lambda _, new: _with_arguments(new, name, loop, passed))
    early, late = moved.in_front(guard)
    entered = with_lets(late, typed_as(Call(loop, (*function.params, *passed)), function.body))
    body = entered if guard is None else _in_branch(turn.body, guard, entered)
    whole = Function((*function.params, *passed), turn.body, type_.ret_type, span=function.span)
    return with_body(function, with_lets(early, body)), copied(typed_by_parts(whole))


def _with_arguments(expr: Expr, name: LoopName, loop: LoopName, more: tuple[Expr, ...]) -> Expr:
    if isinstance(expr, Call) and expr.op == name:
        return Call(loop, (*expr.args, *more), span=expr.span)
    return expr


# ---------------------------------------------------------------------------------------- whether there is a turn


def _guard(body: Expr, calls: Sequence[Call]) -> int | None:
    """The position, among the parts of the choice at the end of a body, of the only branch with calls of itself; None
    where there is no such choice, or where it cannot be made twice."""
    bindings, choice = lets_and_end(body)
    if not isinstance(choice, If | Match):
        return None
    parts = children(choice)
    wanted = set(calls)
    inside = [any(node in wanted for node in post_order(part)) for part in parts]
    before = [*(let.value for let in bindings), parts[0]]
    if sum(inside) != 1 or inside[0] or any(node in wanted for node in post_order(*before)):
        return None
    effects = [effects_of(each) for each in before]
    if not all(each.is_removable and each.is_repeatable for each in effects):
        return None
    copied_parts = [part for part, is_turn in zip(parts, inside, strict=True) if not is_turn]
    if len(post_order(*before, *copied_parts)) > LARGEST_COPIED_NODES:
        return None
    return inside.index(True)


def _in_branch(body: Expr, guard: int, entered: Expr) -> Expr:
    """A body whose choice enters the loop where there is a turn."""
    bindings, choice = lets_and_end(body)
    parts = list(children(choice))
    parts[guard] = entered
    return with_lets([(let.var, let.value) for let in bindings], rebuild_typed(choice, parts))


# ----------------------------------------------------------------------------------------------- what is the same


class _Moved:
    """A function with variables, `made`, in place of chosen expressions, of which it uses `used`."""

    def __init__(self, function: Function, work: _Invariants, chosen: Sequence[Expr]) -> None:
        self.work = work
        self.chosen = chosen
        self.made = {n: typed_var("invariant", n.checked_type) for n in chosen if n.checked_type is not None}
        self.values: dict[Expr, Expr] = {}
        named = {var: self.made[value] for var, value in work.bound.items() if value in self.made}

        def step(node: Expr, rebuilt: Expr) -> Expr:
            if node in self.made:
                self.values[node] = rebuilt
                return self.made[node]
            if isinstance(rebuilt, Var):
                return named.get(rebuilt, rebuilt)
            return rebuilt.body if isinstance(rebuilt, Let) and rebuilt.var in named else rebuilt

        self.rest = rewrite_nodes(function, step)
        self.used = {node for node in post_order(self.rest.body) if isinstance(node, Var)}

    def in_front(self, guard: int | None) -> tuple[list[tuple[Var, Expr]], list[tuple[Var, Expr]]]:
        """The bindings in front of all, and those in the branch that has another turn."""
        early: list[tuple[Var, Expr]] = []
        late: list[tuple[Var, Expr]] = []
        for node in self.chosen:
            is_late = guard is not None and self.work.branch_of(node) == guard
            (late if is_late else early).append((self.made[node], self.values[node]))
        return early, late


@mutable
class _Invariants:
    """The expressions in a function that have one value in all turns."""

    function: Function
    same: set[Var]
    module: IRModule
    scopes: Scopes = field(init=False)
    bound: dict[Var, Expr] = field(init=False)
    nodes: dict[Expr, None] = field(init=False)
    heavy: set[Expr] = field(default_factory=set)
    worth: set[Expr] = field(default_factory=set)

    def __post_init__(self) -> None:
        order = post_order(self.function.body)
        self.scopes = scopes(self.function.body)
        self.bound = {n.var: n.value for n in order if isinstance(n, Let) and not isinstance(n.value, LEAVES)}
        self.nodes = {}
        for node in order:
            if self._is_invariant(node):
                self.nodes[node] = None
                self._weigh(node)

    def _is_invariant(self, node: Expr) -> bool:
        match node:
            case Var():
                return node in self.same or (node in self.bound and self.bound[node] in self.nodes)
            case Call(op=Op(operator=OperatorRecord() as record)):
                moves = record.effect is Effect.PURE and isinstance(record.extents, FromTypes)
            case Tuple() | TupleGetItem():
                moves = True
            case _:
                return isinstance(node, LEAVES)
        if not moves or not is_closed(node.checked_type) or node_checks(node, self.module, frozenset()):
            return False
        return all(part in self.nodes for part in children(node))

    def _weigh(self, node: Expr) -> None:
        """Whether computing a node is much work, and whether it is worth a parameter."""
        parts = [self.bound.get(each, each) if isinstance(each, Var) else each for each in (node, *children(node))]
        if any(part in self.heavy for part in parts):
            self.heavy.add(node)
        if any(part in self.worth for part in parts):
            self.worth.add(node)
        if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(node.op.operator, OperatorRecord):
            record = node.op.operator
            if record.fusion not in (FusionKind.ELEMWISE, FusionKind.BROADCAST, FusionKind.INJECTIVE):
                self.heavy.add(node)
            if not record.is_view and _elements(node.checked_type) > 1:
                self.worth.add(node)

    def chosen(self, guard: int | None, is_tree: bool) -> list[Expr]:
        """What is computed in front of the loop, each after what it needs. `is_tree`: a turn may have several after it,
        so that the branches that end are run often too."""
        needed: set[Expr] = set()
        stack = self._largest(guard, is_tree)
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack += [self.bound[n] for n in post_order(node) if isinstance(n, Var) and n in self.bound]
        return [node for node in self.nodes if node in needed]

    def _largest(self, guard: int | None, is_tree: bool) -> list[Expr]:
        """The invariant expressions that are moved and are part of no larger one."""
        stack = [
            part for node in post_order(self.function.body) if node not in self.nodes
            for part in children(node) if part in self.nodes
        ]  # fmt: skip
        found: list[Expr] = []
        met: set[Expr] = set()
        while stack:
            node = stack.pop()
            if node not in met and not isinstance(node, LEAVES):
                met.add(node)
                if self._is_moved(node, guard, is_tree):
                    found.append(node)
                else:
                    stack += children(node)
        return found

    def branch_of(self, node: Expr) -> int | None:
        """The position of the branch of the choice at the end in which a node is evaluated; None for none."""
        scope = self.scopes.of(node)
        while scope.parent is not None and scope.parent is not self.scopes.root:
            scope = scope.parent
        is_branch = scope.owner is not None and scope.owner is lets_and_end(self.function.body)[1]
        return scope.position if is_branch else None

    def _is_moved(self, node: Expr, guard: int | None, is_tree: bool) -> bool:
        if node not in self.worth or not self._leaves(node):
            return False
        light = node not in self.heavy
        if light and _elements(node.checked_type) > LARGEST_GROWTH * sum(map(_elements, self._leaves(node))):
            return False
        scope, branch = self.scopes.of(node), self.branch_of(node)
        if scope is self.scopes.root:
            return True
        if guard is None or branch is None:
            return light
        if branch != guard:
            return light and is_tree
        return light or scope.parent is self.scopes.root

    def _leaves(self, node: Expr) -> list[Type]:
        """The types of the variables that an expression is made of in the end."""
        found: dict[Var, Type] = {}
        stack = [node]
        while stack:
            for each in post_order(stack.pop()):
                if isinstance(each, Var) and each in self.bound:
                    stack.append(self.bound[each])
                elif isinstance(each, Var) and each.checked_type is not None:
                    found[each] = each.checked_type
        return list(found.values())


def _elements(type_: Type | None) -> int:
    """How many elements a value of a type of known extents has."""
    return 0 if type_ is None else sum(tensor.element_count or 0 for tensor in tensor_types(type_))
