"""Serialised models taken apart: the bytes of weights stay where they are, the rest is for protobuf to parse.

    message ::= field*        field ::= tag value        tag ::= number of the field · 8 + kind of its value

(protobuf.dev, "Encoding"). Parsing a message that is cut into parts is parsing the parts one after the other, so what
remains without the bytes of weights is made without counting any length anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from relay.base.frozen import frozen, mutable

if TYPE_CHECKING:
    from onnx import ModelProto

_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9  # fields of ModelProto, GraphProto, TensorProto (onnx.proto)
_VARINT, _SIZED = 0, 2  # kinds of values
_FIXED_BYTES = {1: 8, 5: 4}
_LONGEST_VARINT_BYTES = 10
_SMALLEST_WEIGHT_BYTES = 1024  # less is not worth a call


class Unusual(Exception):
    """Something that no writer of models writes: protobuf is to say what it is."""


@frozen
class Field:
    """A field of a message: all its bytes, and those of its value."""

    number: int
    kind: int
    whole: memoryview
    value: memoryview


@mutable(eq=True)
class Parts:
    """A model's bytes: what belongs to the model, to its graph, and to each of its initialisers, whose `raw_data` is
    apart (None where it is among the rest)."""

    model: list[memoryview] = field(default_factory=list)
    graph: list[memoryview] = field(default_factory=list)
    has_graph: bool = False
    initializers: list[list[memoryview]] = field(default_factory=list)
    weights: list[memoryview | None] = field(default_factory=list)


def parse(content: bytes, model: ModelProto) -> list[memoryview | None]:
    """Fill `model` from its bytes, all but what the initialisers of its graph hold as `raw_data`, which is given back:
    for each initialiser a view of `content`, or None where it holds none, or so little that it is in the model.

    Raises what protobuf raises for bytes that are no model.
    """
    try:
        parts = take_apart(memoryview(content))
    except Unusual:
        model.ParseFromString(content)
        return [None] * len(model.graph.initializer)
    model.ParseFromString(b"".join(parts.model))
    if parts.has_graph:
        model.graph.SetInParent()
        model.graph.MergeFromString(b"".join(parts.graph))
        for fields in parts.initializers:
            model.graph.initializer.add().MergeFromString(b"".join(fields))
    return parts.weights


def take_apart(content: memoryview) -> Parts:
    """The parts of a model. Raises `Unusual` where it is not as models are written, or is damaged."""
    parts = Parts()
    for outer in fields_of(content):
        if outer.number != _GRAPH:
            parts.model.append(outer.whole)
            continue
        parts.has_graph = True
        for inner in fields_of(_sized(outer)):
            if inner.number != _INITIALIZER:
                parts.graph.append(inner.whole)
                continue
            fields = list(fields_of(_sized(inner)))
            raw = [_sized(each) for each in fields if each.number == _RAW_DATA]
            apart = len(raw) == 1 and len(raw[0]) >= _SMALLEST_WEIGHT_BYTES
            parts.initializers.append([each.whole for each in fields if not (apart and each.number == _RAW_DATA)])
            parts.weights.append(raw[0] if apart else None)
    return parts


def fields_of(message: memoryview) -> Iterator[Field]:
    """The fields of a message in their order. Raises `Unusual`.

    >>> [(each.number, bytes(each.value)) for each in fields_of(memoryview(b"\\x08\\x96\\x01\\x12\\x02hi"))]
    [(1, b'\\x96\\x01'), (2, b'hi')]
    """
    start = 0
    while start < len(message):
        tag, position = _varint(message, start)
        kind = tag & 7
        if kind == _VARINT:
            _, end = _varint(message, position)
        elif kind == _SIZED:
            size_bytes, position = _varint(message, position)
            end = position + size_bytes
        elif kind in _FIXED_BYTES:
            end = position + _FIXED_BYTES[kind]
        else:
            raise Unusual
        if end > len(message):
            raise Unusual
        yield Field(tag >> 3, kind, message[start:end], message[position:end])
        start = end


def _sized(found: Field) -> memoryview:
    if found.kind != _SIZED:
        raise Unusual
    return found.value


def _varint(message: memoryview, start: int) -> tuple[int, int]:
    """A number of seven bits a byte, lowest first, and where it ends."""
    value = 0
    for position in range(start, min(start + _LONGEST_VARINT_BYTES, len(message))):
        byte = message[position]
        value |= (byte & 127) << (7 * (position - start))
        if byte < 128:
            return value, position + 1
    raise Unusual
