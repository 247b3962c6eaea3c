"""What native code asks of the machine that it runs on: part of what an artefact says of itself."""

from __future__ import annotations

from typing import Any

from relay.base.frozen import frozen


@frozen
class RequiredMachine:
    """A processor, a system and features of that processor, by LLVM's names; what is empty may be any.

    >>> RequiredMachine.from_triple("x86_64-unknown-linux-gnu", ("avx2",))
    RequiredMachine(processor='x86_64', system='linux', features=('avx2',))
    """

    processor: str = ""
    system: str = ""
    features: tuple[str, ...] = ()

    @staticmethod
    def from_triple(triple: str, features: tuple[str, ...] = ()) -> RequiredMachine:
        """That of a triple: processor, vendor (which may be left out), system, C library."""
        processor, *rest = triple.split("-")
        system = rest[1] if len(rest) > 1 and rest[0] not in _SYSTEMS else rest[0] if rest else ""
        return RequiredMachine(processor, system, features)

    @property
    def kind(self) -> str:
        """Processor and system, for people."""
        return "-".join(filter(None, (self.processor, self.system)))

    def to_json(self) -> Any:
        return {"processor": self.processor, "system": self.system, "features": list(self.features)}

    @staticmethod
    def from_json(value: Any) -> RequiredMachine:
        return RequiredMachine(str(value["processor"]), str(value["system"]), tuple(map(str, value["features"])))


_SYSTEMS = ("linux", "freebsd", "none", "windows", "macos", "darwin")
