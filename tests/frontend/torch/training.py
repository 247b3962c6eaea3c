"""Runs a step of training by eager PyTorch and through `torch.compile(…, backend="relay")`, and compares them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import relay.dynamo
from relay.frontend.torch import Coverage, report, reset_report
from tests.frontend.torch.case import Case, Inputs
from tests.frontend.torch.running import TOLERANCE

State = Mapping[str, NDArray[Any]]
"""The loss, the gradients and the buffers after a step, by name."""

TIGHT = 1e-8
"""Of float64: the largest error, relative to the largest magnitude."""
LEAST_ERROR = 4e-6
"""Of float32: errors below this (relative to the largest magnitude) are not compared with those of eager."""


@dataclass(frozen=True)
class Outcome:
    """`exact`: the error of float64 against eager; of float32, where the model `is_wide` not. `ratio`: that of float32
    against eager's float64, by the error that eager has in float32, of the worst gradient."""

    exact: float
    ratio: float
    worst: str
    is_wide: bool
    coverage: Coverage

    @property
    def agrees(self) -> bool:
        return self.exact <= (TIGHT if self.is_wide else TOLERANCE) and self.ratio <= 2


class Hardsigmoid(nn.Module):
    """In one precision: PyTorch's own takes 1/6 in float32 backward, whatever the type."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu6(x + 3) / 6


def comparable(module: nn.Module) -> nn.Module:
    """The module in training mode, where nothing is dropped at random."""
    for part in list(module.train().modules()):
        for name, child in part.named_children():
            if isinstance(child, nn.Hardsigmoid):
                setattr(part, name, Hardsigmoid())
        for name, value in vars(part).items():
            if isinstance(value, float) and (name == "p" or "drop" in name):
                setattr(part, name, 0.0)
    return module


def loss_of(results: Any) -> Tensor:
    """A number that every float element of the results has a part in."""
    total = torch.zeros((), dtype=torch.float64)
    for place, each in enumerate(tree_leaves(results)):
        if isinstance(each, Tensor) and each.is_floating_point():
            weights = torch.cos(torch.arange(each.numel(), dtype=torch.float64) + place).view(each.shape)
            total = total + (each * weights.to(each.dtype)).sum()
    return total


def tensors_in(tree: Any) -> list[Tensor]:
    return [each for each in tree_leaves(tree) if isinstance(each, Tensor)]


def varying_axes(case: Case) -> list[list[int]]:
    """The axes that differ between the sizes of a case, of each input."""
    pairs = zip(tensors_in(case.inputs(0)), tensors_in(case.inputs(1)), strict=True)
    return [[axis for axis in range(one.ndim) if one.shape[axis] != other.shape[axis]] for one, other in pairs]


def in_type(tree: Any, dtype: torch.dtype) -> Any:
    return tree_map(
        lambda each: each.to(dtype) if isinstance(each, Tensor) and each.is_floating_point() else each, tree
    )


def step(
    module: nn.Module, run: Any, inputs: Inputs, dtype: torch.dtype, varying: Sequence[Sequence[int]] = ()
) -> State:
    """What one step forward and backward leaves. `varying` are the axes of the inputs that are captured as symbols."""
    module.zero_grad()
    args, kwargs = in_type(inputs, dtype)
    for each, axes in zip(tensors_in((args, kwargs)), varying, strict=False):
        torch._dynamo.maybe_mark_dynamic(each, axes)
    loss = loss_of(run(*args, **kwargs))
    loss.backward()
    found = {"loss": loss.detach().numpy().copy()}
    learned = [(name, each.grad) for name, each in module.named_parameters() if each.grad is not None]
    found |= {f"d {name}": each.numpy().copy() for name, each in learned}
    return found | {name: each.numpy().copy() for name, each in module.named_buffers() if each.is_floating_point()}


def error(found: State, expected: State, name: str) -> float:
    """The largest difference, relative to the largest magnitude. What is hardly anything beside other gradients, such
    as that of a bias before a norm, which is 0 but for rounding, is seen beside them."""
    mine, theirs = found[name].astype(np.float64), expected[name].astype(np.float64)
    largest = max(float(np.max(np.abs(each), initial=0.0)) for key, each in expected.items() if key.startswith("d "))
    scale = max(float(np.max(np.abs(theirs), initial=0.0)), 1e-4 * largest)
    return float(np.max(np.abs(mine - theirs), initial=0.0)) / (scale or 1.0)


def _compiled(module: nn.Module, dtype: torch.dtype) -> tuple[nn.Module, Any]:
    own = copy.deepcopy(module).to(dtype)
    return own, torch.compile(own, backend="relay")


def learns(case: Case) -> bool:
    """Whether the results of a model change with its parameters."""
    args, kwargs = case.inputs(0)
    return loss_of(case.module()(*args, **kwargs)).requires_grad


def trained(case: Case, *, dynamic: bool = False) -> Outcome:
    """One step of a model at each size of its inputs, in float64 and in float32."""
    relay.dynamo.register()
    torch.compiler.reset()
    reset_report()
    torch.manual_seed(0)
    module = comparable(case.module())
    varying = varying_axes(case) if dynamic else ()
    exact, ratio, worst = 0.0, 0.0, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        widest = torch.float64 if _runs_in_float64(module, case) else torch.float32
        runs = {dtype: _compiled(module, dtype) for dtype in dict.fromkeys((widest, torch.float32))}
        for size in (0, 1) if dynamic else (0,):
            torch.manual_seed(1)
            inputs = case.inputs(size)
            true, plain = (
                step(own := copy.deepcopy(runs[dtype][0]), own, inputs, dtype) for dtype in (widest, torch.float32)
            )
            found = {dtype: step(*runs[dtype], inputs, dtype, varying) for dtype in runs}
            assert set(true) == set(found[widest]) == set(found[torch.float32])
            assert len(true) > 1, "nothing is learned"
            for name in true:
                exact = max(exact, error(found[widest], true, name))
                if widest is torch.float32 or not name.startswith("d "):
                    continue
                by = error(found[torch.float32], true, name) / max(error(plain, true, name), LEAST_ERROR)
                ratio, worst = max((ratio, worst), (by, name))
    return Outcome(exact, ratio, worst, widest is torch.float64, report())


def _runs_in_float64(module: nn.Module, case: Case) -> bool:
    """Some make tensors of float32 themselves, or compute a part in it."""
    args, kwargs = in_type(case.inputs(0), torch.float64)
    wide = copy.deepcopy(module).double()
    try:
        with _Narrow() as narrow:
            wide(*args, **kwargs)
    except RuntimeError:
        return False
    return not narrow.found


class _Narrow(TorchDispatchMode):
    """Whether an operator gives float32."""

    found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        self.found |= any(each.dtype is torch.float32 for each in tensors_in(results))
        return results
