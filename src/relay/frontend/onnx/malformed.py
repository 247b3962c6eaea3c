"""What no ONNX model may be."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.base.span import Span


def malformed(message: str, *, span: Span | None = None, expected: str = "", remedy: str = "") -> RelayError:
    """The model breaks a rule of ONNX itself."""
    return RelayError(rule="malformed-onnx", message=message, span=span, expected=expected, remedy=remedy)
