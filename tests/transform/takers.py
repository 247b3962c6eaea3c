"""Compilers that take what is called by some names, and are never asked for code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.base.frozen import frozen
from relay.base.target import Target
from relay.ir.expr import Call, Function
from relay.transform import ExternalFunction, Refused, Supported, callee


@frozen
class Takes:
    """Operators and composites that it takes, and when."""

    names: Mapping[str, Callable[[Call], bool]]

    @staticmethod
    def always(*names: str) -> Takes:
        return Takes(dict.fromkeys(names, lambda call: True))

    def supports(self, group: Function) -> Supported | Refused:
        name = callee(group)
        if name not in self.names:
            return Refused(f"it has no {name}")
        return Supported() if self.names[name](group.body) else Refused(f"it has another {name}")

    def compile(self, functions: Sequence[ExternalFunction], target: Target) -> Sequence[bytes]:
        raise AssertionError("nobody builds what it takes")
