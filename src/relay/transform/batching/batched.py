"""Independent calls of recursive functions that are run together: what AutoBatch does.

A function over a data type, such as a network over trees, calls itself once for each part of a value, and every call
runs kernels on one instance: matrix times vector, where a matrix product for all instances would read the weights once.
The calls are independent of each other but for those below them, so they are taken by *levels*: all values at one
distance from the roots are instances of one level, and each clause of the function runs once for all its instances
there. A program that maps such a function over a list has the trees of the whole list in each level; so has a loop over
a list that calls it on each element, be it a fold, a map that a user wrote, or a `for` (`list_loops`).

    before: def @f(%t: T, %w) -> R { match (%t) { Leaf(%x) => leaf(%x, %w), Node(%l, %r) => node(@f(%l), @f(%r)) } }
            ... @f(%t) ...  @map(fn (%t) { @f(%t, %w) }, %ts) ...
    after:  @f_walk     takes a list of values apart, by constructor; notes where the result of each will be
            @f_down     walks level after level, from the roots; gives the levels, deepest first (the linear form)
            @f_Leaf     clauses on rows: [n, ..] for n instances, with gathers of what is below
            @f_Node
            @f_Node_shared  what @f_Node computes of %w alone: matrices in panels, once for all levels
            @f_up       runs the clauses level after level, from the deepest
            @f_batch    these together: a list of values → the rows of their results
            @f_alone    the recursion as it was
            @f          (%t, %w) → row 0 of @f_batch([%t], %w) where that pays, else @f_alone(%t, %w)
            @f_each     (%ts, %w) → the rows of @f_batch(%ts, %w) as a list, in place of the map where that pays

Levels are of calls: functions that call one another have levels together, with a walk for each function. A node with a
list of children, over which a loop adds up (`sums`), has all its elements on the level below; who owns each of them is
noted, and the clause scatters what it computes of them:

            def @f(%t: T, %w) -> R { match (%t) { Node(%x, %ts) => node(%x, sum of @f(%c, %w) for each %c of %ts) } }

What a clause hands down that is not what it was given itself, such as a depth, is a state of each instance:
`@f_Node_states` computes the rows of a level's states for the level below.

The clauses that end the recursion and have no state depend on nothing, and run once for all levels. What depth an
instance has, and where its operands are, the program finds out itself from the values it is given: one compilation
serves all. The result is ordinary Relay; the number of instances is a symbolic extent.

Levels of one instance, as combs have them, cost more than they save. What levels save and cost is estimated (`costs`),
and a call decides by the values that it is given, before anything else is done (`choice`): of each instance it adds up
what it would gain, against the number of levels. Where no clause gains anything, the function stays as it is. Of a
machine that nobody describes (no `Rates` in the context), levels are taken always.

A function that is differentiated is batched before (`transform/gradients/derivatives.py`): levels are data like others,
whose way back is by levels, too. What is kept are rows, a weight gets one product for each level, and gathers of rows
become sums that are scattered. After differentiation its recursion gives data, and takes another cotangent at each
call: that is no form of this pass.

Only pure operators move, and a function whose control depends on tensors is refused (`batching` says why of each
function). A function with one recursive call a clause (over lists) is batched only where it is mapped: alone, every
level would have one instance. Floating point: ROUNDING (sums of a matrix product may be taken in another order).

Sources: Looks et al. 2017 (1702.02181) for batching by levels; Fegade et al. 2021 (2011.01383) for linearising first,
and for running the clauses that end apart.
"""

from __future__ import annotations

from relay.ir.expr import GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.transform.batching.definitions import Definitions
from relay.transform.batching.generate import Batches, define_batches
from relay.transform.batching.list_loops import ListLoop, loops_over_lists, with_calls_before
from relay.transform.batching.recursions.recursion import Member, Recursion, of_member, recursions
from relay.transform.batching.rows import Refusal
from relay.transform.batching.sites import define_alone, mapped, with_batches, with_single_root
from relay.transform.framework.context import Rates


def batched(module: IRModule, blocks: tuple[int, ...], rates: Rates | None) -> IRModule:
    """A typed module with what can be batched. `blocks`: the widths of panels in which matrices that are given are
    packed; none for matrices as they are. `rates`: those of the machine, for the choice."""
    definitions = Definitions.of(module)
    made: dict[GlobalVar, Batches] = {}
    over_lists = mapped(module) | {loop.callee for _, loop in loops_over_lists(module) if isinstance(loop, ListLoop)}
    for recursion in _found_in(module):
        if not (recursion.branches or over_lists.intersection(member.name for member in recursion.members)):
            continue
        batches = define_batches(recursion, _called_outside(recursion, module), definitions, blocks, rates)
        if isinstance(batches, Refusal):
            continue
        made.update((each.member.name, each) for each in batches)
        if recursion.branches:
            alone = {} if rates is None else define_alone(recursion, definitions)
            for each in batches:
                definitions.functions[each.member.name] = with_single_root(each, alone)
    if not made:
        return module
    for name in module.functions:
        definitions.functions[name] = with_batches(name, definitions, made)
        definitions.functions[name] = with_calls_before(name, definitions, made)
    return definitions.module


def _found_in(module: IRModule) -> tuple[Recursion, ...]:
    return tuple(each for each in recursions(module) if isinstance(each, Recursion))


def _called_outside(recursion: Recursion, module: IRModule) -> tuple[Member, ...]:
    """The functions that others call than those of the recursion; all, if nobody calls any."""
    others = [function for name, function in module.functions.items() if name not in recursion.component]
    called = {node for function in others for node in body_nodes(function) if isinstance(node, GlobalVar)}
    return tuple(each for each in recursion.members if each.name in called) or recursion.members


def batching(module: IRModule) -> dict[GlobalVar, Recursion | ListLoop | Refusal]:
    """For each recursive function of a typed module: the form in which it would be batched, or why it is not. For one
    with loops over lists that call functions which are batched: a loop whose calls are made together, or why not.

    >>> from relay.ir.module import IRModule
    >>> batching(IRModule())
    {}
    """
    found: dict[GlobalVar, Recursion | ListLoop | Refusal] = {}
    for recursion in recursions(module):
        if isinstance(recursion, Refusal):
            found[recursion.function] = recursion
            continue
        batches = define_batches(recursion, recursion.members, Definitions.of(module))
        for member in recursion.members:
            found[member.name] = recursion if not isinstance(batches, Refusal) else of_member(member.name, batches)
    for name, loop in loops_over_lists(module):
        if not isinstance(found.get(loop.callee), Recursion) or isinstance(found.get(name), Recursion):
            continue
        if isinstance(loop, ListLoop):
            found[name] = loop
        elif not isinstance(found.get(name), ListLoop):
            reason = loop.reason if loop.name == name else f"has a loop that {loop.reason}"
            found[name] = Refusal(name, reason, loop.span)
    return found
