"""What code is made for, as users name it, and the kinds of targets that a process knows.

    llvm -mcpu=native -num-threads=2        the name of a kind, then flags, which only that kind understands

A kind is known by its name before anything of it is imported: those that come with relay stand here, packages bring
others through the entry-point group `relay.targets`, and programs register theirs. What is wrong with a package's kind
is told when somebody names it. `relay.lower.targets` has what a kind gives the compiler.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from relay.base.arguments import TEXT, expect, takes
from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.base.plugin import plugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROTOCOL_VERSION = 1
"""To be raised with what the compiler asks of a kind."""

ENTRY_POINTS = "relay.targets"
_OWN: Mapping[str, str] = MappingProxyType({"llvm": "relay.targets.cpu.kind:KIND"})


class Target:
    """What code is made for. Each kind derives a frozen class from this, whose text parses back.

    >>> print(Target.parse("llvm -mattr=+fma,+avx2 -num-threads=2"))
    llvm -mattr=+avx2,+fma -num-threads=2
    """

    __slots__ = ()
    kind: ClassVar[str]

    @staticmethod
    def parse(text: str | Target) -> Target:
        """The target that a user's string stands for.

        Raises `RelayError`: `unknown-target-kind`, `broken-target-kind`, and what its kind has against its flags.
        """
        if isinstance(text, Target):
            return text
        expect(text, TEXT, "a target")
        name, *flags = text.split() or [""]
        return target_kind(name).parse(flags)


class TargetKind(Protocol):
    """One kind of target: what an entry point names. It is imported with the first target of its kind, and should
    import little itself."""

    @property
    def name(self) -> str:
        """What its targets begin with."""
        ...

    @property
    def protocol_version(self) -> int:
        """The `PROTOCOL_VERSION` that it was written for."""
        ...

    def parse(self, flags: Sequence[str]) -> Target:
        """The target of these flags. Raises `RelayError`."""
        ...

    def resolve(self, target: Target) -> Target:
        """A target of this kind with nothing left open: what the machine decides is filled in."""
        ...

    def kernel_target(self, target: Target) -> Any:
        """What makes the code of kernels: a `relay.lower.targets.KernelTarget`. Raises `RelayError` for a target that
        cannot be served."""
        ...

    def host_target(self, target: Target) -> Any:
        """What makes programs that launch kernels: a `relay.lower.targets.HostTarget`; None where targets of this kind
        do not, and a CPU does."""
        ...


class TargetKinds:
    """Kinds of targets by their names; those of `own`, as `module:name`, are relay's.

    What is registered is a mapping that never changes: registering puts another in its place, so that readers in other
    threads need no lock.
    """

    def __init__(self, own: Mapping[str, str]) -> None:
        self._own = own
        self._lock = Lock()
        self._registered: Mapping[str, TargetKind] = MappingProxyType({})

    def names(self) -> tuple[str, ...]:
        """The names of all kinds. Nothing is imported."""
        return tuple(dict.fromkeys((*self._own, *self._registered, *sorted(each.name for each in _entry_points()))))

    def named(self, name: str) -> TargetKind:
        """The kind of that name; what others bring is a `Plugin`, and so are the targets that it makes.

        Raises `RelayError`: `unknown-target-kind`, `broken-target-kind`."""
        registered = self._registered.get(name)
        if registered is not None:
            return plugin(registered, f"the target `{name}`")
        if name in self._own:
            module, _, attribute = self._own[name].partition(":")
            return cast("TargetKind", getattr(importlib.import_module(module), attribute))
        found = [each for each in _entry_points() if each.name == name]
        if not found:
            names = self.names()
            raise RelayError(
                rule="unknown-target-kind",
                message="there is no target of this kind",
                expected="one of " + ", ".join(names),
                found=name or "an empty string",
                remedy=near_names(name, names)
                or 'write, for example, "llvm -mcpu=native -num-threads=2"; or install the package that brings it',
            )
        if len(found) > 1:
            raise _broken(name, "several packages", "one package", ", ".join(map(_origin, found)), "remove all but one")
        return plugin(_loaded(found[0]), f"the target `{name}`")

    def register(self, kind: TargetKind, *, replace: bool = False) -> TargetKind:
        """Let `kind` be known by its name, and give it back."""
        name = str(getattr(kind, "name", type(kind).__name__))
        _check(kind, name, "this program", "give it what relay.base.target.TargetKind lists")
        with self._lock:
            if name in self._own or (name in self.names() and not replace):
                remedy = (
                    "choose another name" if name in self._own else "give replace=True to put this one in its place"
                )
                raise RelayError(
                    rule="target-kind-exists", message=f"there is a kind of target `{name}` already", remedy=remedy
                )
            self._registered = MappingProxyType({**self._registered, name: kind})
        return kind

    def unregister(self, name: str) -> None:
        """Forget the kind that is registered as `name`."""
        with self._lock:
            if name not in self._registered:
                raise RelayError(
                    rule="unknown-target-kind",
                    message="there is no such kind of target of a user's",
                    expected=", ".join(self._registered) or "none is registered",
                    found=name,
                )
            self._registered = MappingProxyType({key: each for key, each in self._registered.items() if key != name})


def _entry_points() -> Sequence[EntryPoint]:
    from importlib.metadata import entry_points  # takes milliseconds, and the kinds of relay do without

    return [each for each in entry_points(group=ENTRY_POINTS) if each.name not in _OWN]


def _loaded(point: EntryPoint) -> TargetKind:
    """The kind that a package brings. Raises `RelayError` (rule `broken-target-kind`) that names the package."""
    origin = _origin(point)
    remedy = f"ask who makes {origin}, or remove it"
    try:
        kind = point.load()
    except Exception as error:
        raise _broken(point.name, origin, point.value, f"{type(error).__name__}: {error}", remedy) from error
    _check(kind, point.name, origin, remedy)
    return kind


def _check(kind: Any, name: str, origin: str, remedy: str) -> None:
    """Raises `RelayError` (rule `broken-target-kind`) unless `kind` is a `TargetKind` of this name."""
    version = getattr(kind, "protocol_version", None)
    if version != PROTOCOL_VERSION:
        if isinstance(version, int):
            remedy = f"update {'relay' if version > PROTOCOL_VERSION else origin}"
        found = "none" if version is None else f"version {version}"
        raise _broken(name, origin, f"protocol version {PROTOCOL_VERSION}, that of this relay", found, remedy)
    missing = [each for each in _METHODS if not callable(getattr(kind, each, None))]
    if missing:
        raise _broken(name, origin, f"the methods {', '.join(_METHODS)}", f"no {', '.join(missing)}", remedy)
    own_name = getattr(kind, "name", None)
    if own_name != name:
        raise _broken(name, origin, f"a kind of the name `{name}`", f"the name {own_name!r}", remedy)


_METHODS = ("parse", "resolve", "kernel_target", "host_target")


def _origin(point: EntryPoint) -> str:
    return "a package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _broken(name: str, origin: str, expected: str, found: str, remedy: str) -> RelayError:
    return RelayError(
        rule="broken-target-kind",
        message=f"the kind of target `{name}`, which {origin} brings, cannot be used",
        expected=expected,
        found=found,
        remedy=remedy,
    )


PROCESS = TargetKinds(_OWN)
"""Of this process: the text of a target means the same wherever it is read."""


def target_kind(name: str) -> TargetKind:
    """The kind of that name. Raises `RelayError`: `unknown-target-kind`, `broken-target-kind`."""
    return PROCESS.named(name)


def register_target(kind: TargetKind, *, replace: bool = False) -> TargetKind:
    """Let targets of a kind be named in this process; gives `kind` back. A package registers its kinds by the
    entry-point group `relay.targets` instead. With `replace` it takes the place of one of the same name. Threads may
    register at once.

    Raises `RelayError`: `target-kind-exists` for a name that is taken, `broken-target-kind` for what is none.
    """
    return PROCESS.register(kind, replace=replace)


@takes(name=TEXT)
def unregister_target(name: str) -> None:
    """Forget a kind that was registered. Raises `RelayError` (rule `unknown-target-kind`) for any other name."""
    PROCESS.unregister(name)
