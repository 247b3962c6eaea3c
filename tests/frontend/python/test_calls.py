"""Calls of decorated functions from Python: what is given by position, by name, and not at all."""

from typing import NamedTuple

import numpy as np
import pytest

import relay


class Costs(NamedTuple):
    insert: int
    swap: float = 1.5


def weighted(x: int, costs: tuple[int, int] = (1, 2), kind: str = "sum"):
    return x * costs[0] + costs[1] if kind == "sum" else x - costs[1]


def nested(x: int, parts: tuple[tuple[int, float], int] = ((1, 2.5), 3), last: tuple[int] = (9,)):
    (a, b), c = parts
    return x + a, b, c, last[0]


def with_list(x: int, found: tuple[list[int], int] = ([4, 5, 6], 7), more: list[int] = [8, 9]):  # noqa: B006
    return x + len(found[0]), found[0][-1], found[1], sum(more)


def with_none(x: int, found: tuple[int, int] | None = None, costs: Costs = Costs(3), none: Costs | None = None):  # noqa: B008
    return (x if found is None else found[1]), costs.insert * costs.swap, none is None


def same(definition, *positional, **named):
    """Python and the program give the same."""
    found, wanted = relay.function(definition)(*positional, **named), definition(*positional, **named)
    assert np.allclose(found, wanted)


def test_tuples_may_be_left_out():
    same(weighted, 5)
    same(weighted, 5, (3, 4))
    same(weighted, 5, costs=(3, 4))
    same(weighted, costs=(3, 4), x=5)
    same(weighted, 5, kind="other")
    same(weighted, 5, (3, 4), "other")
    same(nested, 5)
    same(nested, 5, ((2, 0.5), 1))
    same(nested, 5, last=(2,))
    same(nested, 5, last=(2,), parts=((2, 0.5), 1))


def test_lists_and_none_may_be_left_out():
    same(with_list, 5)
    same(with_list, 5, ([1], 2))
    same(with_list, 5, more=[1])
    same(with_list, 5, found=([1], 2))
    same(with_none, 5)
    same(with_none, 5, (1, 2))
    same(with_none, 5, none=Costs(1), found=(1, 2))
    same(with_none, 5, costs=Costs(1, 0.5))


def test_between_decorated_functions():
    inner = relay.function(nested)

    def outer(x: int, parts: tuple[tuple[int, float], int] = ((3, 1.5), 1)):
        return inner(x), inner(x, parts), inner(x, last=(4,)), inner(parts=parts, x=x)

    found = relay.function(outer)(5)
    parts = ((3, 1.5), 1)
    expected = nested(5), nested(5, parts), nested(5, last=(4,)), nested(5, parts)
    for each, wanted in zip(found, expected, strict=True):
        assert np.allclose(each, wanted)


@pytest.mark.parametrize(
    ("name", "positional", "named"),
    [
        ("bad-input-name", (5,), {"other": (1, 2)}),
        ("bad-input-name", (5,), {"last": (1, 2)}),
        ("bad-input-name", (5, ((2, 0.5), 1)), {"parts": ((2, 0.5), 1)}),
        ("missing-input", (5,), {"parts": ((2, 0.5),)}),
        ("input-kind", (5, ((2, 0.5, 1), 1)), {}),
        ("missing-input", (5, (2, 0.5)), {}),
    ],
)
def test_a_tuple_of_other_parts_is_refused(name, positional, named):
    with pytest.raises(relay.RelayError) as caught:
        relay.function(nested)(*positional, **named)
    assert caught.value.rule == name
