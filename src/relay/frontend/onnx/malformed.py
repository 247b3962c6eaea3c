"""What no ONNX model may be, and what one may be that has no type or shape here."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.base.span import Span


def malformed(message: str, *, span: Span | None = None, expected: str = "", remedy: str = "") -> RelayError:
    """The model breaks a rule of ONNX itself."""
    return RelayError(rule="malformed-onnx", message=message, span=span, expected=expected, remedy=remedy)


def without_type(what: str, kind: str) -> RelayError:
    """The model is as it may be, but of a kind that Relay has no type for."""
    called = kind.removesuffix("_type").replace("_", " ")
    return RelayError(rule="unsupported-onnx", message=f"{what} is a {called}, which has no type in Relay")


def without_shape(message: str, remedy: str) -> RelayError:
    """The model leaves open how many axes a tensor has, which Relay must know."""
    return RelayError(rule="unsupported-onnx", message=message, expected="a shape", found="none", remedy=remedy)
