"""The operators of a process: those that come with relay, and those that its users register.

Reading text and JSON, patterns, rules and passes look operators up here by their names. What is read is a mapping that
never changes: registering puts another in its place, so that readers in other threads need no lock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Lock
from types import MappingProxyType

from relay.base.arguments import TEXT, Kind, expect, takes
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.ir.operator import Operator
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import OPERATORS
from relay.ops.transformations import NAMED

_RECORD = Kind((OperatorRecord,), "an operator record", lambda _: "make one: relay.operators.define(…)")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


class Registry:
    """Operators by name; those of `own` stay what they are.

    >>> registry = Registry(OPERATORS)
    >>> registry.operators["nn.relu"].name
    'nn.relu'
    """

    def __init__(self, own: Mapping[str, OperatorRecord]) -> None:
        self._own = own
        self._lock = Lock()
        self._operators = own

    @property
    def operators(self) -> Mapping[str, OperatorRecord]:
        """All operators at this moment."""
        return self._operators

    def register(self, record: OperatorRecord, *, replace: bool = False) -> OperatorRecord:
        """Let `record` be known by its name, and give it back."""
        expect(record, _RECORD, "what is registered")
        if not _NAME.fullmatch(record.name):
            raise RelayError(
                rule="operator-name", message="an operator has a name that programs cannot write",
                expected="a name with a prefix of your own, such as mine.cube", found=record.name, span=caller_span(),
            )  # fmt: skip
        with self._lock:
            if record.name in self._own:
                raise RelayError(
                    rule="operator-exists", message=f"`{record.name}` is an operator that comes with relay",
                    span=caller_span(), remedy=f"choose another name, such as mine.{record.name.rpartition('.')[2]}",
                )  # fmt: skip
            if record.name in self._operators and not replace:
                raise RelayError(
                    rule="operator-exists", message=f"`{record.name}` is registered already", span=caller_span(),
                    remedy="give replace=True to put this one in its place",
                )  # fmt: skip
            self._operators = MappingProxyType({**self._operators, record.name: record})
        return record

    def unregister(self, name: str) -> None:
        """Forget the operator that is registered as `name`."""
        with self._lock:
            if name not in self._operators or name in self._own:
                raise RelayError(
                    rule="unknown-operator", message="there is no such operator of a user's", found=name,
                    expected=", ".join(sorted(self._operators.keys() - self._own.keys())) or "none is registered",
                    span=caller_span(),
                )  # fmt: skip
            self._operators = MappingProxyType({key: each for key, each in self._operators.items() if key != name})


PROCESS = Registry(OPERATORS)
"""Of this process: an operator means the same wherever it is read."""


def operators() -> Mapping[str, OperatorRecord]:
    """The operators of this process by name, at this moment."""
    return PROCESS.operators


def known_operators() -> Mapping[str, Operator]:
    """What programs may name: the operators of this process, and those on functions."""
    return {**NAMED, **PROCESS.operators}


def register_operator(record: OperatorRecord, *, replace: bool = False) -> OperatorRecord:
    """Let programs, patterns and passes know an operator by its name; gives `record` back.

    With `replace` it takes the place of one that was registered under the same name; programs that were read before
    keep the one that they were read with. Threads may register at once.

    Raises `RelayError`: `operator-exists` for a name that is taken, `operator-name` for one without a prefix.
    `docs/adding_an_operator.md` makes one from nothing.
    """
    return PROCESS.register(record, replace=replace)


@takes(name=TEXT)
def unregister_operator(name: str) -> None:
    """Forget an operator of one's own. Raises `RelayError` (rule `unknown-operator`) for any other name."""
    PROCESS.unregister(name)
