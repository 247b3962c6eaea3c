"""Where each tensor of a module is kept: on the device that makes it, if devices of its kind use it; else on the host.

Tensors that are in one place, or are handed from one to another, have one home, unless one of them is on the host for
certain: then what is handed on is copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field

from relay.base.disjoint_sets import DisjointSet
from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Function, GlobalVar, Var, record_type
from relay.ir.module import IRModule
from relay.ops.device import device_kind
from relay.transform.devices.flows import HOST, Flows, Key
from relay.transform.devices.leaves import Leaf, Part


@mutable
class _Group(DisjointSet):
    """Tensors in one place: where they are made and used."""

    made: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


class Homes:
    """`reads` counts the regions, and the places that it is handed to, that want a tensor of the host's on a device."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self._groups: dict[Key, _Group] = {}
        for key, device in (*flows.made.items(), *((key, HOST) for key in flows.on_host)):
            self._group(key).made.add(device)
        for key, device in flows.used:
            self._group(key).used.add(device)
        for one, other in flows.same:
            self._unite(one, other)
        for source, target in flows.handed:
            if HOST not in self._group(source).made | self._group(target).made:
                self._unite(source, target)
        self.reads = Counter((key, device) for key, device in flows.used if device != HOST)
        self.reads.update(
            (source, device)
            for source, target in flows.handed
            if (device := self.of(target)) != HOST and self.of(source) == HOST
        )
        names = FreshNames({name.name_hint for name in flows.module.functions}.__contains__)
        there = (name for name in flows.module.functions if self.is_split(name) and not self._is_inner(name))
        self._there = {name: _called_there(name, flows.module, names) for name in there}

    def of(self, key: Key) -> str:
        if key not in self._groups:
            return HOST
        group = self._groups[key].root()
        used = group.used - {HOST}
        homes = group.made or used
        kinds = {device_kind(each) for each in homes | used}
        return next(iter(homes)) if used and len(homes) == len(kinds) == 1 else HOST

    def of_all(self, part: Part[Key]) -> Part[str]:
        """Where the tensors of a value are."""
        return {leaf: self.of(key) for leaf, key in part.items()}

    def of_var(self, var: Var) -> Part[str]:
        return self.of_all(self.flows.of(var))

    def of_result(self, function: GlobalVar | Function) -> Part[str]:
        return self.of_all(self.flows.of_result(function))

    def is_split(self, name: GlobalVar) -> bool:
        """Whether a function takes or gives a tensor on a device."""
        return any(each != HOST for _, each in self._of_function(name))

    def called(self, name: GlobalVar) -> GlobalVar:
        """The name of a function as those call it who know where tensors are."""
        return self._there.get(name, name)

    def _is_inner(self, name: GlobalVar) -> bool:
        """Whether it takes or gives data, refs or functions with such tensors: others cannot call it."""
        return any(each != HOST for leaf, each in self._of_function(name) if leaf.slot)

    def _of_function(self, name: GlobalVar) -> Iterator[tuple[Leaf, str]]:
        for part in (*map(self.of_var, self.flows.module[name].params), self.of_result(name)):
            yield from part.items()

    def _group(self, key: Key) -> _Group:
        return self._groups.setdefault(key, _Group()).root()

    def _unite(self, one: Key, other: Key) -> None:
        left, right = self._group(one), self._group(other)
        if left is not right:
            left.made |= right.made
            left.used |= right.used
            left.join(right)


def _called_there(name: GlobalVar, module: IRModule, names: FreshNames) -> GlobalVar:
    called = GlobalVar(names.take(f"{name.name_hint}_on_device"))
    type_ = module[name].checked_type
    return called if type_ is None else record_type(called, type_)
