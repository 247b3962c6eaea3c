"""Keeps recurrent layers whole in an export.

To tell the shapes of their results PyTorch unrolls them, which fixes the length of the sequence, or refuses one that is
dynamic. Their results have shapes that follow from their inputs.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    from torch import Tensor


def _results(*arguments: Any) -> tuple[Tensor, ...]:
    """Tensors in the shapes of the outputs [.., .., directions · hidden] and the last states, for the arguments of a
    layer, whose state is one tensor or a list of them."""
    x, given, *_, bidirectional, _ = arguments
    states: list[Tensor] = list(given) if isinstance(given, (list, tuple)) else [given]
    features = states[0].shape[-1] * (2 if bidirectional else 1)
    return (x.new_empty((*x.shape[:2], features)), *(state.new_empty(state.shape) for state in states))


@contextmanager
def whole_recurrent_layers() -> Generator[None]:
    """While this is entered, PyTorch asks the function here what the layers give. It is a change of PyTorch's own
    state, as are PyTorch's own contexts for such layers (`torch.export._patches`)."""
    aten = torch_package().ops.aten
    layers = [aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input]
    decompositions: dict[Any, Any] = torch_package("torch._decomp").decomposition_table
    tables: list[Any] = [decompositions, *(layer.py_kernels for layer in layers)]
    before = [{layer: decompositions[layer] for layer in layers}, *(dict(layer.py_kernels) for layer in layers)]
    try:
        for table, known in zip(tables, before, strict=True):
            table.update(dict.fromkeys(known, _results))
        yield
    finally:
        for table, known in zip(tables, before, strict=True):
            table.update(known)
