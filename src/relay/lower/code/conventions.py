"""How each function of a module takes its arguments and gives its result.

Parameters are held as their types say. So are results, unless that would cost a tail call: a function that ends with a
call gives what the callee gives, so all functions that end with calls of one another agree, and where one of them ends
with a call of a closure, or their types differ (one is generic), all give words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial

from relay.base.frozen import mutable
from relay.base.graph import strongly_connected
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, If, Match, Var
from relay.ir.module import IRModule
from relay.ir.sharing import let_chain
from relay.ir.traversal import children
from relay.lower.code.representation import (
    BOXED,
    MOST_RESULTS,
    Boxed,
    Convention,
    Path,
    Representation,
    register_count,
    representation,
)
from relay.lower.program.device import Device
from relay.transform.devices.flows import Head, Key
from relay.transform.devices.leaves import Leaf


@mutable
class _Facts:
    """One function, the variable that it is known by, and whom it ends with a call of."""

    function: Function
    name: Var | GlobalVar | None = None
    ends_with: list[Function] = field(default_factory=list)
    ends_with_unknown: bool = False


class Conventions:
    """Conventions of all functions of a module in A-normal form, local ones included. `computed` are the variables that
    operators or branches use: scalars among them are worth unboxing. `devices` says which tensors are on one."""

    def __init__(self, module: IRModule, devices: Mapping[Key, Device]) -> None:
        self.computed: set[Var] = set()
        self._devices = devices
        self._module = module
        self._facts: dict[int, _Facts] = {}
        pending: list[tuple[Function, Var | GlobalVar | None]] = [
            (each, name) for name, each in module.functions.items()
        ]
        while pending:
            function, itself = pending.pop()
            if id(function) not in self._facts:
                self._facts[id(function)] = facts = _Facts(function, itself)
                pending.extend(self._walk(facts))
        self._results = self._agreed()

    def of(self, function: Function) -> Convention:
        """How a function is called when the caller knows it."""
        return Convention(tuple(map(self.held, function.params)), self._results[id(function)])

    def held(self, var: Var) -> Representation:
        """How a variable is held that something else is bound to than what its scope computes."""
        return representation(var.checked_type, partial(self.device, var))

    def device(self, head: Head, path: Path) -> Device | None:
        """Where a tensor in nested tuples is, if not on the host: of a variable, or of a function's result."""
        return self._devices.get((head, Leaf(path)))

    def _walk(self, facts: _Facts) -> Iterator[tuple[Function, Var | None]]:
        """Note the facts of one function; gives the functions inside it, each with the variable it is known by."""
        known: dict[Var, Function] = {facts.name: facts.function} if isinstance(facts.name, Var) else {}
        scopes: list[tuple[Expr, bool]] = [(facts.function.body, True)]
        while scopes:
            scope, ends = scopes.pop()
            lets, result = let_chain(scope)
            for let in lets:
                var, value = let.var, let.value
                tail = ends and let is lets[-1] and result is var
                match value:
                    case Function() if not value.attrs.get("Primitive"):
                        known[var] = value
                        yield value, var
                    case If(cond, true_branch, false_branch):
                        self.computed.update([cond] if isinstance(cond, Var) else [])
                        scopes += [(true_branch, tail), (false_branch, tail)]
                    case Match(_, clauses):
                        scopes += [(clause.rhs, tail) for clause in clauses]
                    case Call(op=Function() as callee, args=args) if callee.attrs.get("Primitive"):
                        self.computed.update(each for each in args if isinstance(each, Var))
                    case Call(op=callee) if tail and not isinstance(callee, Constructor):
                        self._ends(facts, callee, known)
                    case _:
                        pass
                yield from ((each, None) for atom in _atoms(value) for each in _functions(atom))
            yield from ((each, None) for each in _functions(result))

    def _ends(self, facts: _Facts, callee: Expr, known: dict[Var, Function]) -> None:
        match callee:
            case GlobalVar():
                facts.ends_with.append(self._module[callee])
            case Function():
                facts.ends_with.append(callee)
            case Var() if callee in known:
                facts.ends_with.append(known[callee])
            case _:
                facts.ends_with_unknown = True

    def _agreed(self) -> dict[int, Representation]:
        """The result of each function: those that end with calls of one another agree."""
        related: dict[int, list[int]] = {number: [] for number in self._facts}
        for number, facts in self._facts.items():
            for callee in facts.ends_with:
                related[number].append(id(callee))
                related[id(callee)].append(number)
        found: dict[int, Representation] = {}
        for group in strongly_connected(list(related), related.__getitem__):
            wanted = {self._result(self._facts[each]) for each in group}
            (agreed, *others) = wanted
            words = any(self._facts[each].ends_with_unknown for each in group) and not isinstance(agreed, Boxed)
            fits = not others and not words and register_count(agreed) <= MOST_RESULTS
            found.update(dict.fromkeys(group, agreed if fits else BOXED))
        return found

    def _result(self, facts: _Facts) -> Representation:
        """How a function gives its result, if it may."""
        head = facts.name if isinstance(facts.name, GlobalVar) else facts.function
        return representation(facts.function.body.checked_type, partial(self.device, head))


def _atoms(value: Expr) -> tuple[Expr, ...]:
    """What a binding is made of, other than scopes."""
    match value:
        case Function():
            return ()
        case If(cond=atom) | Match(data=atom):
            return (atom,)
        case _:
            return children(value)


def _functions(atom: Expr) -> Iterator[Function]:
    """The function that stands where an atom stands, if one does."""
    if isinstance(atom, Function) and not atom.attrs.get("Primitive"):
        yield atom
