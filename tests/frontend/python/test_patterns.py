"""`match`: names for parts of what matched, and lists whose `*` is not at the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import relay

from .running import agrees


@relay.datatype
class Term:
    class Num:
        value: int

    class Sum:
        left: Term
        right: Term


class Run(NamedTuple):
    value: int
    length: int


def worth(term: Term) -> int:
    match term:
        case Term.Num(value):
            return value
        case Term.Sum(left, right):
            return worth(left) + worth(right)


def ordered(x: int, y: int):
    pair = (Term.Num(x), Term.Sum(Term.Num(y), Term.Num(1)))
    match pair:
        case ((Term.Num(1) as one), (Term.Sum(_, Term.Num(last) as right) as whole)):
            return worth(one) + 10 * worth(right) + 100 * worth(whole) + 1000 * last
        case ((Term.Num(_) as one), other):
            return worth(one) - worth(other)
        case _:
            return 0


def of_lists(x: int, y: int):
    match [(x, y), (y, x), (x, x)]:
        case [(1, _) as first, *_] if first[1] > 2:
            return first[1], 1
        case [first, (_, 1 | 2) as second, *_]:
            return first[0] + second[0], second[1]
        case _:
            return 0, 0


def or_inside(x: int, y: int):
    match x, y:
        case (1 | 2) as low, 3 as high:
            return low + high
        case low, (4 | 5) as high:
            return low * high
        case _:
            return -1


@pytest.mark.parametrize("definition", [ordered, of_lists, or_inside])
@pytest.mark.parametrize(("x", "y"), [(1, 3), (2, 3), (1, 2), (3, 4), (2, 5), (3, 1)])
def test_names_for_parts(definition, x, y):
    agrees(definition, np.int32(x), np.int32(y))


def run_lengths(xs: list[int]):
    runs: list[tuple[int, int]] = []
    for x in xs:
        match runs:
            case [*earlier, (value, length)] if value == x:
                runs = [*earlier, (value, length + 1)]
            case _:
                runs = [*runs, (x, 1)]
    return runs


def ends(xs: list[int]):
    match xs:
        case []:
            return 0, 0, 0
        case [*_, 7]:
            return 7, 7, 7
        case [first, *middle, 5, last]:
            return first, len(middle), last
        case [*others, last] if last > 1:
            return last, len(others), 1
        case [only, *_]:
            return only, 0, 2


@pytest.mark.parametrize("xs", [[], [7], [1], [2], [3, 5, 4], [5, 4], [1, 2, 5, 9], [2, 2, 7], [1, 1], [4, 4, 4, 1]])
@pytest.mark.parametrize("definition", [run_lengths, ends])
def test_lists_from_behind(definition, xs):
    agrees(definition, xs)


def test_parts_with_names():
    def last_run(xs: list[int]):
        runs = [Run(x, 1) for x in xs]
        match runs:
            case [*_, (value, 1) as run]:
                return run.length + value
            case _:
                return 0

    agrees(last_run, [1, 2, 3])
    agrees(last_run, [])


def test_patterns_that_are_refused_behind_a_star():
    def last_term(xs: list[int]):
        match [Term.Num(x) for x in xs]:
            case [*_, Term.Num(value)]:
                return value
            case _:
                return 0

    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(last_term).module
    assert caught.value.rule == "python-subset"
