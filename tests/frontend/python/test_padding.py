"""`np.pad` and `np.diff` with what is put around an array."""

from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees, fails

Matrix = relay.Tensor[(relay.symbol("h"), relay.symbol("w"))]
Whole = relay.Tensor[(relay.symbol("h"), relay.symbol("w")), "int32"]
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


def by_numbers(x: Matrix, n: int):
    return np.pad(x, n), np.pad(x, (n, 1)), np.pad(x, ((n, n), (0, 0)), constant_values=2), np.pad(x, [n])


def by_what_is_there(x: Matrix, n: int):
    pairs = np.pad(x, ((0, n), (n, n + 1)), "wrap"), np.pad(x, [(0, 0), (n, 0)], mode="symmetric")
    return np.pad(x, pad_width=n, mode="edge"), np.pad(x, (n, 1), "reflect"), pairs


def to_a_multiple(x: Matrix, n: int):
    return np.pad(x[0], (0, -len(x[0]) % (n + 2)))


@pytest.mark.parametrize("width", [0, 2, 9])
@pytest.mark.parametrize("definition", [by_numbers, by_what_is_there, to_a_multiple])
def test_widths_that_the_program_computes(definition, width):
    agrees(definition, MATRIX, width)


def test_an_axis_of_one_element():
    agrees(by_what_is_there, MATRIX[:1, :1], 3)


def test_widths_that_are_known():
    def known(x: Matrix):
        return np.pad(x, 1, "symmetric"), np.pad(x, 2, "wrap"), np.pad(x, ((0, 1), (2, 0)), "reflect"), np.pad(x, 1)

    agrees(known, MATRIX)


def test_widths_that_are_none():
    fails(by_numbers, ValueError, "check-failed", MATRIX, -1)
    fails(by_what_is_there, ValueError, "check-failed", MATRIX[:0], 1)

    def negative(x: Matrix):
        return np.pad(x, -1)

    def fractions(x: Matrix):
        return np.pad(x, 0.5)

    def of_three(x: Matrix):
        return np.pad(x, (1, 2, 3))

    for definition in (negative, fractions, of_three):
        with pytest.raises(relay.RelayError) as caught:
            _ = relay.function(definition).module
        assert caught.value.rule == "python-subset"


def differences(x: Matrix):
    ends = np.diff(x, axis=1, append=x[:, -1:]), np.diff(x, axis=0, prepend=x[:1])
    return ends, np.diff(x, prepend=0), np.diff(x, 2, 0), np.diff(x, n=2, prepend=0, append=x[:, :2])


def of_other_kinds(x: Whole):
    return (
        np.diff(x, prepend=0),
        np.diff(x, append=0.5),
        np.diff(x, n=0, append=1),
        np.diff(x > 2),
        np.diff(x > 2, append=0),
    )


def of_vectors(x: Matrix):
    return np.diff(x[0], prepend=x[0, 0]), np.diff(x[0], append=[1.0, 2.0])


def test_differences_with_elements_around():
    agrees(differences, MATRIX)
    agrees(of_other_kinds, MATRIX.astype(np.int32))
    agrees(of_vectors, MATRIX)


def test_differences_so_many_times_over():
    def often(x: Matrix, n: int):
        return np.diff(x, n)

    with pytest.raises(relay.RelayError) as caught:
        _ = relay.function(often).module
    assert caught.value.rule == "python-subset"
