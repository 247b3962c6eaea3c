"""Keeps operators whole while PyTorch traces a program.

For that PyTorch's own tables change, which all threads of the process read: one thread at a time does, under the lock
under which Dynamo traces, and leaves the tables as they were, whatever happens.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    from torch import Tensor

Decompositions: TypeAlias = Mapping[Any, Callable[..., Any]]
"""Operators that PyTorch takes apart, and how."""


def decompositions_without(kept: Collection[str]) -> dict[Any, Callable[..., Any]]:
    """How `torch.export` takes operators apart, without those called `kept`."""
    table = torch_package("torch.export").default_decompositions()
    return {operator: taken_apart for operator, taken_apart in table.items() if str(operator) not in kept}


@contextmanager
def whole_operators(kept: Collection[str]) -> Generator[Decompositions]:
    """While this is entered, this thread may trace functions of PyTorch in which operators called `kept` are left as
    they are, with the decompositions that this gives."""
    exported = torch_package("torch.export.exported_program")
    with whole_recurrent_layers():
        composite, others = exported._split_decomp_table_to_cia_and_python_decomp(  # noqa: SLF001 - as the export does
            decompositions_without(kept)
        )
        with exported._override_composite_implicit_decomp(composite):  # noqa: SLF001
            yield others


@contextmanager
def whole_recurrent_layers() -> Generator[None]:
    """While this is entered, recurrent layers stay whole in an export, and PyTorch asks the function here what they
    give. To tell the shapes of their results it would unroll them, which fixes the length of the sequence, or refuses
    one that is dynamic."""
    aten = torch_package().ops.aten
    layers = [aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input]
    decompositions: dict[Any, Any] = torch_package("torch._decomp").decomposition_table
    tables: list[Any] = [decompositions, *(layer.py_kernels for layer in layers)]
    with torch_package("torch._dynamo.convert_frame").compile_lock:
        before = [{layer: decompositions[layer] for layer in layers}, *(dict(layer.py_kernels) for layer in layers)]
        try:
            for table, known in zip(tables, before, strict=True):
                table.update(dict.fromkeys(known, results_of_layer))
            yield
        finally:
            for table, known in zip(tables, before, strict=True):
                table.update(known)


def results_of_layer(*arguments: Any) -> tuple[Tensor, ...]:
    """Tensors in the shapes of the outputs [.., .., directions · hidden] and the last states, for the arguments of a
    layer, whose state is one tensor or a list of them."""
    x, given, *_, bidirectional, _ = arguments
    states: list[Tensor] = list(given) if isinstance(given, (list, tuple)) else [given]
    features = states[0].shape[-1] * (2 if bidirectional else 1)
    return (x.new_empty((*x.shape[:2], features)), *(state.new_empty(state.shape) for state in states))
