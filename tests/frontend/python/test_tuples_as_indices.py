"""Tuples, and bools of shapes that a program computes, between the brackets of a subscript."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import relay

from .running import agrees, fails

Grid = relay.Tensor[(relay.symbol("h"), relay.symbol("w")), "int32"]
Places = relay.Tensor[(relay.symbol("n"),), "int32"]
GRID = np.arange(12, dtype=np.int32).reshape(3, 4)


class Spot(NamedTuple):
    row: int
    column: int


def read_and_assigned(grid: Grid, spot: tuple[int, int]):
    marked = grid.copy()
    marked[spot] = 7
    marked[spot] += 2
    return grid[spot], marked


def of_named_tuples(grid: Grid, spot: Spot):
    marked = grid.copy()
    marked[spot] = 7
    return grid[spot], marked, grid[Spot(1, -1)]


def from_a_list(grid: Grid, spot: tuple[int, int]):
    seen = np.zeros_like(grid)
    frontier = [spot]
    while frontier:
        place = frontier.pop()
        seen[place] = 1
        for down in (-1, 1):
            then = (place[0] + down, place[1])
            if 0 <= then[0] < len(grid) and not seen[then]:
                frontier.append(then)
    return seen, max([spot, (0, 0)], key=lambda each: grid[each])


@pytest.mark.parametrize("spot", [(1, 2), (2, 0)])
@pytest.mark.parametrize("definition", [read_and_assigned, of_named_tuples, from_a_list])
def test_tuples_of_numbers_are_one_index(definition, spot):
    agrees(definition, GRID, Spot(*spot) if definition is of_named_tuples else spot)


def test_tuples_of_arrays_are_one_index():
    def several(grid: Grid, places: tuple[Places, Places]):
        marked = grid.copy()
        marked[places] = 0
        return grid[places], marked

    agrees(several, GRID, (np.array([0, 2], np.int32), np.array([1, -1], np.int32)))


def test_tuples_that_are_no_index():
    fails(read_and_assigned, IndexError, "check-failed", GRID, (3, 0))

    def of_floats(grid: Grid, spot: tuple[float, int]):
        return grid[spot]

    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(of_floats).module
    assert caught.value.rule == "bad-index"

    def of_a_list(xs: list[int], spot: tuple[int, int]):
        return xs[spot]

    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(of_a_list).module
    assert caught.value.rule == "bad-index"


def masked(grid: Grid, more: int):
    keep = np.ones((3, 2 + more), dtype=bool)
    keep[0, 1] = False
    marked = grid.copy()
    marked[keep] = 7
    return grid[keep].reshape(1, -1), marked


def masked_rows(grid: Grid, more: int):
    keep = np.arange(1 + more) > 0
    marked = grid.copy()
    marked[keep] = grid[keep] * 2
    marked[:, np.ones(2 + more) > 0] += 1
    return grid[keep], marked


@pytest.mark.parametrize("definition", [masked, masked_rows])
def test_bools_whose_shape_the_program_computes(definition):
    agrees(definition, GRID, 2)
    fails(definition, IndexError, "check-failed", GRID, 3)
