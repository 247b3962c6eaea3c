"""Devices, as programs name them."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.lower.program.form import Form


@frozen
class Device(Form):
    """One of the devices of a kind; they are counted from 0.

    >>> print(Device.parse("toy_gpu"), Device.parse("toy_gpu:1"))
    toy_gpu:0 toy_gpu:1
    """

    form = "{kind}:{index}"

    kind: str
    index: int = 0

    @staticmethod
    def parse(text: str) -> Device:
        """Raises `RelayError` (rule `bad-device`)."""
        kind, colon, index = text.partition(":")
        if not kind or (colon and not (index.isascii() and index.isdigit())):
            raise RelayError(
                rule="bad-device",
                message="this is no name of a device",
                expected='a kind, and which one of them, such as "toy_gpu:0"',
                found=text or "nothing",
            )
        return Device(kind, int(index or 0))
