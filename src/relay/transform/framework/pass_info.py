"""What is known of a pass besides what it does."""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.transform.framework.properties import Property


@frozen
class PassInfo:
    """The record of a pass.

    `opt_level` is the optimization level from which it runs by itself. `needs` are the properties that a module must
    have before it; `keeps` are those that a module has after it if it had them before. `floating_point` says how far it
    may change the results of operators on floating-point numbers. `brought_by`: the plug-in whose pass it is, as people
    know that.
    """

    name: str
    opt_level: int
    needs: frozenset[Property] = frozenset()
    keeps: frozenset[Property] = frozenset()
    floating_point: FloatingPointClass = FloatingPointClass.EXACT
    description: str = ""
    brought_by: str = ""
