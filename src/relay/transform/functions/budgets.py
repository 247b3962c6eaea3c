"""How far passes that copy, enter or lift functions may go: all their limits in one place, each with its reason."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.expr import Let
from relay.ir.module import IRModule
from relay.ir.traversal import LEAVES, post_order


@frozen
class PartialEvaluationLimits:
    """`max_growth`: the operations of the result in terms of those of the input, and besides. `max_steps`: how many
    nodes may be evaluated inside the functions that are entered, for each operation of the input and besides.
    `max_variants`: how many versions of one function may be open at once, each made while making another."""

    max_growth: float = 3.0
    max_growth_besides: int = 0
    max_steps_each: int = 40
    max_steps_besides: int = 20_000
    max_variants: int = 4


ASKED_FOR = PartialEvaluationLimits(max_growth_besides=20_000, max_steps_besides=200_000, max_variants=256)
"""Of `relay.specialize`: what is known was said, so the result may be as large as a program that people compile, and
evaluation may take seconds. Small programs with long data (an interpreter and its program) have no other measure; the
states of an automaton are as many versions of one function."""


@frozen
class Budgets:
    """Limits that no program sets. What is beyond one is left as it is, unless said otherwise."""

    inlined_nodes: int = 64
    """Of the body of a function that InlineSmallFunctions puts where it is called more than once: what a call
    hides from folding and fusion is worth so much code."""

    moved_ends: int = 16
    """Branches into which CaseOfKnownConstructor moves one choice: each is walked again for it."""

    known_rounds: int = 8
    """Walks of CaseOfKnownConstructor over a function: one opens what the next sees when a value goes that the program
    named elsewhere too. Few programs need more than three."""

    key_cells: int = 4096
    """Of what is known of a call's arguments: whoever knows more gets no variant of the function, since keys are
    compared whole."""

    key_bytes: int = 1 << 12
    """Of a constant in such a key; larger ones are the same only if they are one array."""

    counted_number: int = 1 << 16
    """Numbers below count as that many cells that a recursion may take away, larger ones as one: nobody unrolls that
    far."""

    lifted_parameters: int = 16
    """Of a function that LiftCalledFunctions makes, so that a call is cheaper than the closure it saves."""

    open_copies: int = 4
    """Copies of one function that SpecializeFunctions makes within each other, such as a map over rows of a map over
    their elements. A function that grows at each call would be copied for ever."""

    copied_nodes: int = 2_000
    """Operations of the copies of SpecializeFunctions, beside two for each node of the program: small programs may grow
    more."""

    copying_steps: int = 10
    """Nodes that SpecializeFunctions may look at for each operation that its copies may have: those that are given up
    are looked at again."""

    copied_types: int = 1_000
    """Types at which Monomorphize copies generic functions; beyond it refuses, since only a recursion asks for more."""

    type_parts: int = 10_000
    """Of the types of one such copy; beyond it refuses, since these types grow at each call."""


BUDGETS = Budgets()


def operations_of(module: IRModule) -> int:
    """How many nodes of a module do something: all but leaves and names.

    >>> from relay.ir.expr import Function, Tuple, Var
    >>> x = Var("x")
    >>> operations_of(IRModule.from_expr(Function((x,), Let(Var("y"), Tuple((x,)), x))))
    2
    """
    skipped = (*LEAVES, Let)
    return sum(not isinstance(node, skipped) for node in post_order(*module.functions.values()))
