"""Rewriting what patterns match by functions of one's own.

class MulToSquare(DFPatternCallback):
    def __init__(self):
        super().__init__()
        self.x = wildcard()
        self.pattern = self.x * self.x

    def callback(self, pre, post, node_map):
        return square(node_map[self.x][0])

rewrite(MulToSquare(), expr)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.base.graph import post_order as graph_post_order
from relay.dataflow.matching import Match, Matcher
from relay.dataflow.partition import matched_groups
from relay.dataflow.parts import parts_of, typed
from relay.dataflow.patterns import (
    AltPattern,
    AttrPattern,
    DataTypePattern,
    Pattern,
    ShapePattern,
    TypePattern,
    Wildcard,
)
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Expr, ExprBase
from relay.ir.module import IRModule
from relay.ir.rewriting import Endless, Replacement, rewrite_to_fixpoint
from relay.ir.type_compatibility import compatible


class DFPatternCallback:
    """What to do where a pattern matches: a subclass sets `pattern` and has `callback`.

    `rewrite_once`: what `callback` gives is not looked at again. `require_type`: the expression is typed first, with
    the module's functions; typed programs are typed anyway.
    """

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        self.pattern: Pattern = Wildcard()
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def callback(self, pre: Expr, post: Expr, node_map: Match) -> Expr:
        """What stands for `post`: it was `pre`, before its parts were rewritten. `node_map[part]` holds what a part
        of the pattern matched. Gives an expression of the same type, or `post` to leave it."""
        raise NotImplementedError(f"{type(self).__name__} has no callback")

    def rewrite(self, expr: Expr) -> Expr:
        """`expr` rewritten by this callback alone."""
        return rewrite(self, expr)


def rewrite(
    callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: Expr, mod: IRModule | None = None
) -> Expr:
    """`expr` with each match of the callbacks' patterns replaced, from the leaves up, until nothing matches; at each
    node the first callback in order wins. Of a pattern with alternatives (`optional`) the match nearest to the result
    is replaced, and not what that has inside. The same object when nothing matched. Linear in the nodes, new ones
    included.

    Nodes inside a match that others use stay for those. Primitive and partitioned functions are not looked into.

    Raises `RelayError`: `replacement-type` when a callback changes a type, `endless-rewriting` when one place is
    rewritten more than 100 times in a row.

    >>> from relay.dataflow.builders import is_op, wildcard
    >>> from relay.ops.framework.build import var
    >>> from relay.ops.elementwise.elementwise_unary import negative
    >>> class Twice(DFPatternCallback):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.x = wildcard()
    ...         self.pattern = is_op("negative")(is_op("negative")(self.x))
    ...     def callback(self, pre, post, node_map):
    ...         return node_map[self.x][0]
    >>> x = var("x", shape=(2,))
    >>> rewrite(Twice(), negative(negative(x))) is x
    True
    """
    each_callback = (callbacks,) if isinstance(callbacks, DFPatternCallback) else tuple(callbacks)
    if any(callback.require_type for callback in each_callback):
        expr = infer_type_expr(expr, mod)
    matcher = Matcher()
    larger = LargerMatches(matcher, tuple(each.pattern for each in each_callback if has_alternatives(each.pattern)))
    larger.look(expr)

    def step(before: Expr, after: Expr) -> Replacement | None:
        larger.seen(after)
        for callback in each_callback:
            found = None if larger.cover(callback.pattern, before) else matcher.match(callback.pattern, after)
            if found is None:
                continue
            new = callback.callback(before, after, found)
            if new is not after:
                checked = _checked(callback, after, new)
                larger.look(checked)
                return Replacement(checked, type(callback).__name__, callback.rewrite_once)
        return None

    try:
        return rewrite_to_fixpoint(expr, step, parts_of)
    except Endless as endless:
        raise RelayError(
            rule="endless-rewriting",
            message="what callbacks give is matched again, without end",
            found=", ".join(endless.names),
            remedy="let the pattern not match what the callback gives, or set rewrite_once",
        ) from None


@mutable
class LargerMatches:
    """Which nodes stand inside a larger match of a pattern that they match alone too."""

    matcher: Matcher
    patterns: tuple[Pattern, ...]
    _inside: dict[Pattern, set[Expr]] = field(default_factory=dict)
    _seen: set[Expr] = field(default_factory=set)

    def seen(self, expr: Expr) -> None:
        """A node, rewritten or not, whose matches are known: `look` stops there."""
        if self.patterns:
            self._seen.add(expr)

    def look(self, root: Expr) -> None:
        """Look for the matches among the nodes of `root` that were not seen yet."""
        if not self.patterns:
            return
        order = graph_post_order((root,), lambda node: () if node in self._seen else parts_of(node))
        new = [node for node in order if node not in self._seen]
        for pattern in self.patterns:
            groups = matched_groups(self.matcher, pattern, new)
            inside = self._inside.setdefault(pattern, set())
            inside.update(each for at, group in groups.items() for each in group.inside if each != at)
        for node in new:
            self.seen(node)

    def cover(self, pattern: Pattern, expr: Expr) -> bool:
        return expr in self._inside.get(pattern, ())


def has_alternatives(pattern: Pattern) -> bool:
    """Whether a pattern may match a node and, with more around it, one that uses it."""
    while isinstance(pattern, AttrPattern | TypePattern | ShapePattern | DataTypePattern):
        pattern = pattern.pattern
    return isinstance(pattern, AltPattern)


def _checked(callback: DFPatternCallback, old: Expr, new: Any) -> Expr:
    """The replacement, typed as far as it can be; it must not be of another type."""
    if not isinstance(new, ExprBase):
        raise RelayError(
            rule="replacement-type",
            message=f"the callback {type(callback).__name__} gives no expression",
            expected="an expression; `post` to leave it as it is",
            found=type(new).__name__,
        )
    result = typed(new)  # pyright: ignore[reportArgumentType]
    before, after = old.checked_type, result.checked_type
    if before is not None and after is not None and not compatible(before, after):
        raise RelayError(
            rule="replacement-type",
            message=f"the callback {type(callback).__name__} gives an expression of another type",
            span=old.span,
            expected=str(before),
            found=str(after),
        )
    return result
