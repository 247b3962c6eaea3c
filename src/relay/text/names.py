"""The names that variables are printed under: each its own within one definition."""

from __future__ import annotations

import json
import re

from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Var

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def sigil_name(sigil: str, name: str) -> str:
    """`%name` or `@name`; quoted when it is not a plain name (`%"input.1"`)."""
    return sigil + (name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False))


class VarNames:
    """Chooses `%x`, `%x1`, ... in the order in which variables are first met."""

    def __init__(self) -> None:
        self._names: dict[Var, str] = {}
        self._fresh = FreshNames(first=1)

    def name(self, var: Var) -> str:
        known = self._names.get(var)
        if known is None:
            hint = var.name_hint
            name = self._fresh.take(f"v{hint}" if hint.isdigit() else (hint or "v"))
            known = self._names[var] = sigil_name("%", name)
        return known
