"""Runs a model by eager PyTorch and by Relay, and says how they compare."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils._pytree import tree_leaves

import relay.dynamo
from relay.frontend import from_pytorch
from relay.frontend.torch import Coverage, report, reset_report
from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule
from tests.frontend.torch.case import Case, Inputs

TOLERANCE = 1e-5
"""Largest difference of float32 results, relative to the largest magnitude of the result."""


def arrays(tree: Any) -> list[NDArray[Any]]:
    """The tensors and numbers in nested containers, in their order."""
    return [
        np.asarray(leaf.detach() if isinstance(leaf, torch.Tensor) else leaf)
        for leaf in tree_leaves(tree)
        if leaf is not None
    ]


def difference(found: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> float:
    """The largest difference, relative to the largest magnitude of each result; infinite for other types or shapes."""
    worst = 0.0
    for mine, theirs in zip(found, expected, strict=True):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return float("inf")
        if not mine.size:
            continue
        mine, theirs = mine.astype(np.float64), theirs.astype(np.float64)
        same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
        with np.errstate(invalid="ignore"):
            gap = np.where(same, 0.0, np.abs(mine - theirs))
        gap = float(np.max(np.where(np.isnan(gap), np.inf, gap)))
        scale = float(np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0))
        worst = max(worst, gap / scale if scale > 0 else gap)
    return worst


def imported(case: Case, *, dynamic: bool = False) -> tuple[torch.nn.Module, IRModule, dict[str, NDArray[Any]]]:
    torch.manual_seed(0)
    module = case.module().eval()
    args, kwargs = case.inputs(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program, params = from_pytorch(module, args, kwargs, dynamic_shapes=case.dynamic if dynamic else None)
    return module, program, params


def run(program: IRModule, params: dict[str, NDArray[Any]], inputs: Inputs, *, compiled: bool) -> list[NDArray[Any]]:
    """The results for inputs as the module takes them."""
    given = arrays(inputs)
    if compiled:
        found = relay.build(program, params=params)(*given)
    else:
        names = [var.name_hint for var in program["main"].params]
        found = evaluate(program, {**dict(zip(names, given, strict=False)), **params})
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


def differences(case: Case, *, dynamic: bool = False, compiled: bool = False) -> list[float]:
    """The difference at each size that the case has."""
    module, program, params = imported(case, dynamic=dynamic)
    found: list[float] = []
    for size in (0, 1) if dynamic else (0,):
        torch.manual_seed(1)
        inputs = case.inputs(size)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = arrays(module(*inputs[0], **inputs[1]))
        assert any(np.any(each) for each in expected), "zeros show nothing"
        results = run(program, params, inputs, compiled=compiled)
        found.append(difference(results[: len(expected)], expected))
    return found


def captured(case: Case, *, dynamic: bool = False) -> tuple[list[float], Coverage]:
    """The difference of a model under `torch.compile` from eager at each size, and what of it ran natively."""
    relay.dynamo.register()
    torch.compiler.reset()
    reset_report()
    torch.manual_seed(0)
    module = case.module().eval()
    run = torch.compile(module, backend="relay", dynamic=True if dynamic else None)
    found: list[float] = []
    for size in (0, 1) if dynamic else (0,):
        torch.manual_seed(1)
        inputs = case.inputs(size)
        before = {name: each.clone() for name, each in module.state_dict().items()}
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = _with_state(module, module(*inputs[0], **inputs[1]))
            module.load_state_dict(before)
            results = _with_state(module, run(*inputs[0], **inputs[1]))
        found.append(difference(results, expected))
    return found, report()


def _with_state(module: torch.nn.Module, results: Any) -> list[NDArray[Any]]:
    """Copies of the results and of what the module holds after it ran."""
    return [each.copy() for each in (*arrays(results), *arrays(list(module.state_dict().values())))]
