"""`relay.prelude`: the data types and functions that every program may use, for programs built in Python.

A text needs no import: what it names and does not define comes from the prelude by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.arguments import expect
from relay.base.frozen import frozen
from relay.ir.expr import Constructor, GlobalVar
from relay.ir.module import MODULE, IRModule
from relay.ir.types import GlobalTypeVar
from relay.ops.table import OPERATORS
from relay.text.prelude import borrow_functions, prelude_names

_SHORT: Mapping[str, str] = {
    "l": "List", "nil": "Nil", "cons": "Cons", "optional": "Option", "some": "Some", "none": "None", "tree": "Tree",
    "rose": "Rose", "nat": "Nat", "z": "Z", "s": "S",
}  # fmt: skip


@frozen
class Prelude:
    """`mod` is `module`, which takes in the whole prelude, or a new one; the functions, data types and constructors are
    attributes: `map`, `List`, `Cons` (or, with Relay's names, `l` and `cons`).

    Raises `RelayError` (rule `prelude-conflict`) when the module defines something that the prelude needs otherwise.

    >>> from relay.ir.expr import const
    >>> from relay.interpret.evaluate import evaluate
    >>> prelude = Prelude()
    >>> numbers = prelude.cons(const(1), prelude.cons(const(2), prelude.nil()))
    >>> evaluate(prelude.sum(numbers), module=prelude.mod)
    array(3, dtype=int32)
    """

    module: IRModule | None = None

    def __post_init__(self) -> None:
        if self.module is not None:
            expect(self.module, MODULE, "what the prelude is added to")
        own = IRModule() if self.module is None else self.module
        own.update(borrow_functions(own, dict.fromkeys(prelude_names()), OPERATORS))
        object.__setattr__(self, "module", own)

    @property
    def mod(self) -> IRModule:
        assert self.module is not None, "it has one from the beginning"
        return self.module

    def __getattr__(self, name: str) -> GlobalVar | Constructor | GlobalTypeVar:
        name = _SHORT.get(name, name)
        if name in self.mod:
            return GlobalVar(name)
        if GlobalTypeVar(name) in self.mod.type_definitions:
            return GlobalTypeVar(name)
        for constructor in self.mod.constructors():
            if constructor.name_hint == name:
                return constructor
        raise AttributeError(f"the prelude has no {name}")

    def __dir__(self) -> list[str]:
        constructors = [constructor.name_hint for constructor in self.mod.constructors()]
        types = [header.name for header in self.mod.type_definitions]
        return ["mod", *types, *constructors, *(name.name_hint for name in self.mod.functions), *_SHORT]
