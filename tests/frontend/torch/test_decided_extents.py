"""Extents and whole numbers that data decide: what a program gives for inputs that decide them differently."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

import relay
from relay.base.diagnostics import RelayError
from relay.frontend import from_pytorch
from relay.interpret.evaluate import evaluate
from tests.frontend.torch.running import arrays

NUMBERS = torch.tensor([[0.5, -1.5, 2.5], [2.5, 0.5, -0.5], [-1.5, 2.5, 0.5], [0.5, -1.5, 2.5], [-3.0, 0.0, 1.0]])
INPUTS = (NUMBERS, -NUMBERS[:4], torch.zeros(3, 3), torch.ones(6, 3))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PyTorch warns of what it does itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Of(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def agrees(function: Callable[..., Any], *sets: tuple[Tensor, ...], dynamic: Any = None) -> None:
    """Interpreted and compiled, a program gives what the function gives, for each of the sets of inputs."""
    module, _ = from_pytorch(Of(function), sets[0], dynamic_shapes=None if dynamic is None else {"inputs": dynamic})
    names = [var.name_hint for var in module["main"].params]
    run = relay.build(module)
    for inputs in sets:
        expected, given = arrays(function(*inputs)), arrays(inputs)
        for found in (evaluate(module, dict(zip(names, given, strict=True))), run(*given)):
            results = found if isinstance(found, tuple) else (found,)
            for mine, theirs in zip(results, expected, strict=True):
                assert (np.shape(mine), np.asarray(mine).dtype) == (theirs.shape, theirs.dtype)
                np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def places(x: Tensor) -> Any:
    rows, columns = torch.where(x > 0)
    return (x > 0).nonzero(), torch.argwhere(x).float().sum(1), x[rows, columns] * rows


def by_masks(x: Tensor) -> Any:
    some = x[x[:, 0] > 0]
    both = x[x > 0] + torch.exp(x)[x > 0]
    return some.sum(0), some @ some.T, both, torch.masked_select(x, x[:1] > 0), x[:, torch.tensor([True, False, True])]


def made_as_long(x: Tensor) -> Any:
    """What is created, repeated and padded by an extent that data decided."""
    some = x[x[:, 0] > 0]
    count = some.shape[0]
    rows = torch.cat([torch.zeros(count, 2), some, torch.ones(1, 3).expand(count, 3)], 1)
    return rows, some * torch.arange(count)[:, None], functional.pad(some, (0, 0, 0, 2)), some.reshape(-1) + 1


def distinct(x: Tensor) -> Any:
    everything = torch.unique(x, return_inverse=True, return_counts=True)
    rows = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    return *everything, *rows, torch.unique(x.round())


def runs(x: Tensor) -> Any:
    everything = torch.unique_consecutive(x.clamp(0, 1), return_inverse=True, return_counts=True)
    rows = torch.unique_consecutive(x.clamp(0, 0.5), dim=0, return_inverse=True, return_counts=True)
    return *everything, *rows, torch.unique_consecutive(x.flatten())


def put(x: Tensor) -> Any:
    each, row, more = x.clone(), x.clone(), x.clone()
    each[x > 0] = x[x > 0] * 2
    row[x[:, 0] > 0] = x[x[:, 0] > 0] + 1
    row[x[:, 1] > 0] = torch.tensor([7.0, 8.0, 9.0])
    more = more.index_put((x > 0,), x[x > 0], accumulate=True)
    return each, row, more, x.masked_scatter(x > 0, torch.arange(40.0))


def experts(x: Tensor) -> Tensor:
    """Each row goes to the expert that it chooses."""
    chosen, result = x.argmax(1), torch.zeros_like(x)
    for expert in range(3):
        rows = (chosen == expert).nonzero()[:, 0]
        result = result.index_add(0, rows, x[rows] * (expert + 1))
    return result


@pytest.mark.parametrize("function", [places, by_masks, made_as_long, distinct, runs, put, experts])
def test_extents_that_data_decide(function: Callable[..., Any]):
    agrees(function, *((x,) for x in INPUTS), dynamic=({0: Dim.AUTO},))


def test_repeats_and_counts():
    def repeated(x: Tensor, repeats: Tensor) -> Any:
        counted = torch.bincount(repeats, x, minlength=3)
        return torch.repeat_interleave(x, repeats), torch.repeat_interleave(repeats), torch.bincount(repeats), counted

    x = torch.tensor([1.0, 2.0, 3.0])
    agrees(repeated, *((x, torch.tensor(each)) for each in ([1, 2, 0], [0, 0, 0], [0, 0, 5])))


def test_numbers_of_data_are_extents():
    def sized(x: Tensor, count: Tensor) -> Any:
        n: Any = count.item()
        torch._check(n >= 0)
        torch._check(n <= x.shape[0])
        return torch.zeros(n, 3) + 1, torch.arange(2 * n + 1), x[:n] * 2, x[n:], torch.eye(2).repeat(n, 1)

    agrees(sized, *((NUMBERS, torch.tensor(count)) for count in (3, 0, 5)))


def test_parts_as_long_as_data_say():
    agrees(lambda x, sizes: x.split(sizes.tolist()), *((NUMBERS, torch.tensor(each)) for each in ([2, 3], [5, 0])))


def test_numbers_of_data_that_are_no_extents_may_be_negative():
    def computed(x: Tensor, given: Tensor) -> Tensor:
        k: Any = given.item()
        torch._check(k != 3)
        return x * max(k, -2) + (k // 2 - 2 * k)

    agrees(computed, *((NUMBERS, torch.tensor(number)) for number in (2, 0, -7)))


def test_what_the_program_takes_for_granted_of_them_is_checked():
    def sized(count: Tensor) -> Tensor:
        n: Any = count.item()
        torch._check(n >= 0)
        torch._check(n < 10)
        return torch.ones(n)

    module, _ = from_pytorch(Of(sized), (torch.tensor(3),))
    run = relay.build(module)
    with pytest.raises(RelayError, match="is a whole number of at least 0"):
        run(np.array(-1))
    with pytest.raises(RelayError, match=r"exported for inputs where \w+ (<= 9|< 10)"):
        run(np.array(10))


def test_as_many_values_as_places_of_a_mask():
    def assigned(x: Tensor, values: Tensor) -> Tensor:
        return x.index_put((x > 0,), values)

    module, _ = from_pytorch(Of(assigned), (NUMBERS, torch.ones(9)))
    run = relay.build(module)
    count = int((NUMBERS > 0).sum())
    assert count == 9
    np.testing.assert_array_equal(run(NUMBERS.numpy(), np.ones(9, np.float32)) == 1, NUMBERS > 0)
    with pytest.raises(RelayError, match="has a value for each place of the mask"):
        run(-NUMBERS.numpy(), np.ones(9, np.float32))


def test_repeats_are_not_negative():
    module, _ = from_pytorch(Of(torch.repeat_interleave), (torch.tensor([1, 2]),))
    with pytest.raises(RelayError, match="repeat_interleave repeats nothing less than 0 times"):
        relay.build(module)(np.array([1, -1]))


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x[x > 0].sum(), lambda x: x.sum(), (x,))


def test_extents_decided_inside_of_a_branch_are_refused_by_name():
    with pytest.raises(RelayError, match="whose data decide extents, in a function of another operator"):
        from_pytorch(Branches(), (NUMBERS,))


def test_parts_are_put_between_places_of_an_open_axis():
    def put(x: Tensor) -> Any:
        half = x.shape[0] // 2
        return (
            torch.slice_scatter(x, -x[1:], 0, 1), torch.slice_scatter(x, -x[-2:], 0, -2), torch.slice_scatter(x, -x, 0),
            torch.slice_scatter(x, -x[:half], 0, 0, half), torch.slice_scatter(x, -x[half:], 0, half),
            torch.slice_scatter(x, -x[1:-1], 0, 1, -1),
        )  # fmt: skip

    agrees(put, (torch.randn(5, 3),), (torch.randn(8, 3),), dynamic=({0: Dim.AUTO},))
