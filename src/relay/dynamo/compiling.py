"""From a graph of PyTorch's functions, as Dynamo captures it, to a function that runs it.

AOTAutograd makes a graph of ATen operators of it that changes nothing in place, and does the rest around it: changes of
inputs, results that are views of others. Operators that can be imported stay whole in that graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from relay.base.arguments import MAPPING, expect
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.dynamo.region_call import RegionCall
from relay.frontend.torch.captured.coverage import ledger
from relay.frontend.torch.captured.regions import divided
from relay.frontend.torch.captured.whole import whole_in_training
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.table import CONVERTERS
from relay.frontend.torch.tracing import whole_operators

if TYPE_CHECKING:
    from torch import fx


@frozen
class Options:
    """How regions are compiled: the options of `torch.compile`."""

    target: str = "llvm"
    opt_level: int = 3


def register() -> None:
    """Let `torch.compile` know `backend="relay"`, and Dynamo capture recurrent layers."""
    registry = torch_package("torch._dynamo.backends.registry")
    capture_recurrent_layers()
    if "relay" not in registry._BACKENDS:  # noqa: SLF001 - where it was registered, it is the same
        registry.register_backend(backend, name="relay")


def capture_recurrent_layers() -> None:
    """Dynamo leaves LSTM, GRU and RNN out of its graphs unless it is told to take them, for all of the process."""
    torch_package("torch._dynamo").config.allow_rnn = True


def backend(
    graph: fx.GraphModule, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that runs a graph of Dynamo's. `options` are `target` and `opt_level`, those of `relay.build`.

    What cannot be imported PyTorch runs; `relay.frontend.torch.report()` tells what and why. Where gradients are asked
    for, there are two graphs, forward and backward. Raises `RelayError` (rule `wrong-argument`) for other options.
    """
    chosen = _options(options or {})
    learns = torch_package().is_grad_enabled() and any(getattr(each, "requires_grad", False) for each in inputs)
    with (whole_in_training if learns else whole_operators)(CONVERTERS) as decompositions:
        traced = torch_package("torch._dynamo.backends.common").aot_autograd(
            fw_compiler=lambda graph, _: _compiled(chosen, graph, _weights(learns=learns)),
            bw_compiler=lambda graph, _: _compiled(chosen, graph, frozenset()),
            partition_fn=torch_package("functorch.compile").min_cut_rematerialization_partition,
            decompositions=dict(decompositions),
        )
        return traced(graph, inputs)


def _options(given: Mapping[str, Any]) -> Options:
    expect(given, MAPPING, "the options of the backend")
    names = [field.name for field in fields(Options)]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise RelayError(
            rule="wrong-argument", message=f"the backend has no option `{unknown[0]}`",
            expected=" or ".join(f"`{name}`" for name in names), found=", ".join(f"`{name}`" for name in unknown),
        )  # fmt: skip
    return Options(**given)


def _compiled(options: Options, graph: fx.GraphModule, weights: Set[int]) -> Callable[..., Any]:
    """The function that runs a functional graph, in which inputs at these places are weights that stay: a list of
    inputs to a list of results."""
    whole = divided(graph)
    places = {node: place for place, node in enumerate(whole.graph.graph.find_nodes(op="placeholder"))}
    for name, region in whole.regions.items():
        (node,) = whole.graph.graph.find_nodes(op="call_module", target=name)
        fixed = [place for place, given in enumerate(node.args) if places.get(given) in weights]
        eager = getattr(whole.graph, name)
        delattr(whole.graph, name)
        setattr(whole.graph, name, RegionCall(region, fixed, eager, options.target, options.opt_level))
    ledger().add(sum(region.operators for region in whole.regions.values()), whole.eager)
    whole.graph.recompile()
    return torch_package("functorch.compile").make_boxed_func(whole.graph.forward)


def _weights(*, learns: bool) -> frozenset[int]:
    """Which inputs of the graph that is compiled are weights and buffers that neither it nor training changes."""
    found = torch_package("torch._guards").TracingContext.get().fw_metadata
    changed = {place for place, each in enumerate(found.input_info) if learns and each.requires_grad}
    return frozenset(found.static_input_indices) - frozenset(found.mutated_inp_runtime_indices) - changed
