"""What generated functions may use: a data type, and other decorated functions."""

from typing import NamedTuple

import relay


@relay.datatype
class Shape:
    class Nothing: ...

    class Dot:
        weight: relay.Tensor[()]

    class Line:
        length: relay.Tensor[(), "int32"]  # noqa: F821
        weight: relay.Tensor[()]

    class Pair:
        first: "Shape"
        second: "Shape"


@relay.function
def measure(shape: Shape) -> int:
    match shape:
        case Shape.Nothing():
            return 0
        case Shape.Dot(_):
            return 1
        case Shape.Line(length, weight):
            return length if weight > 0.0 else -length
        case Shape.Pair(first, second):
            return measure(first) + measure(second)


class State(NamedTuple):
    place: relay.Tensor[(3,)]
    count: int


@relay.function
def moved(state: State, by: int) -> State:
    return State(state.place + by, state.count + 1)


@relay.function
def scaled(p0: relay.Tensor[(3,)], p1: int = 2, *, by: float = 0.5):
    return p0 * p1 + by
