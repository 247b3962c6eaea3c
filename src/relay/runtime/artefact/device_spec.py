"""What an artefact says of the devices that it needs."""

from __future__ import annotations

from typing import Any

from relay.base.frozen import frozen


@frozen
class DeviceSpec:
    """A device, counted from 0 among those of its kind, and the formats of the modules that it must load."""

    kind: str
    index: int
    formats: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"


def slot_symbol(position: int) -> str:
    """Where the native code of a program finds the table of its device at a position."""
    return f"relay_device_{position}"


CLOSE_SYMBOL = "relay_devices_close"
"""Gives back what the program has of its devices: called before it is unloaded."""


def device_to_json(spec: DeviceSpec) -> Any:
    return {"kind": spec.kind, "index": spec.index, "formats": list(spec.formats)}


def device_from_json(value: Any) -> DeviceSpec:
    return DeviceSpec(str(value["kind"]), int(value["index"]), tuple(map(str, value["formats"])))
