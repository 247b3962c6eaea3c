"""What a program may call that is neither a Relay value nor a Python function."""

from __future__ import annotations

import ast
from typing import Any

from relay.base.frozen import frozen
from relay.frontend.python.block import Block
from relay.runtime.values import RefValue


@frozen(eq=False)
class Template:
    """A nested function or lambda, defined in `block`. A call of it is its body, in place."""

    node: ast.FunctionDef | ast.Lambda
    block: Block

    @property
    def parameters(self) -> list[str]:
        return [each.arg for each in self.node.args.args]


@frozen(eq=False)
class Method:
    """A method of a Relay value, about to be called."""

    owner: Any
    name: str


def ref(value: Any) -> Any:
    """A mutable cell, in a program that `@relay.function` reads and outside, to be given to one: `r = relay.ref(x)`,
    then `r.value`.
    """
    return RefValue(value)
