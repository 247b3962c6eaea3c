"""Operators that stay whole where gradients are asked for, each with one way back.

PyTorch takes composite operators apart when it records gradients, since it knows those of their parts alone. The ones
here are captured as operators of the namespace `relay` instead, and so are their gradients:

    aten::lstm.input(…)  →  relay::lstm(…), and backward relay::lstm_backward(cotangents, results, …)

Where Relay does not take such a call, PyTorch runs it by its own operators.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from relay.frontend.torch.backward import WHOLE, own_name
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.tracing import Decompositions, decompositions_without, results_of_layer

if TYPE_CHECKING:
    from torch import Tensor

# What the operators give, as tensors of the same shape and type.


def _attended(query: Tensor, _: Tensor, value: Tensor, *__: Any) -> Tensor:
    return query.new_empty((*query.shape[:-1], value.shape[-1]))


def _resized(x: Tensor, size: Sequence[int] | None, *others: Any) -> Tensor:
    of = torch_package("torch._decomp.decompositions").upsample_compute_output_size
    return x.new_empty((*x.shape[:2], *of(x.size(), size, others[-1])))


def _results_of(name: str) -> Callable[..., Any]:
    if "attention" in name:
        return _attended
    return _resized if "upsample" in name else results_of_layer


@contextmanager
def whole_in_training(kept: Collection[str]) -> Generator[Decompositions]:
    """While this is entered, this thread may trace functions of PyTorch with their gradients, in which these operators
    stay whole. With the decompositions that this gives, so do those called `kept` that PyTorch has gradients of."""
    implicit = torch_package()._C.DispatchKey.CompositeImplicitAutograd  # noqa: SLF001 - the key of what is composite
    with torch_package("torch._dynamo.convert_frame").compile_lock:
        _library()
        before = {operator: dict(operator.py_kernels) for operator in map(_operator, WHOLE)}
        try:
            for operator, known in before.items():
                captured = partial(_captured, operator, known.get(implicit))
                _set_kernels(operator, dict.fromkeys((*known, implicit), captured))
            yield decompositions_without(kept)
        finally:
            for operator, known in before.items():
                _set_kernels(operator, known)


def _operator(name: str) -> Any:
    """An operator of PyTorch, by a name such as `aten.lstm.input`."""
    _, packet, overload = name.split(".")
    return getattr(getattr(torch_package().ops.aten, packet), overload)


def _set_kernels(operator: Any, kernels: Mapping[Any, Callable[..., Any]]) -> None:
    operator.py_kernels.clear()
    operator.py_kernels.update(kernels)
    operator._dispatch_cache.clear()  # noqa: SLF001 - what was found in the others


def _captured(operator: Any, taken_apart: Callable[..., Any] | None, *given: Any, **named: Any) -> Any:
    """A call while it is traced: of ours, if that means the same."""
    torch = torch_package()
    declared = [(each.name, each.default_value) for each in operator._schema.arguments]  # noqa: SLF001
    arguments = {
        name: given[place] if place < len(given) else named.get(name, default)
        for place, (name, default) in enumerate(declared)
    }
    if _stays_whole(arguments):
        return getattr(torch.ops.relay, own_name(str(operator)))(*arguments.values())
    if taken_apart is not None:
        return taken_apart(*given, **named)
    return operator._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *given, **named)  # noqa: SLF001


def _stays_whole(arguments: Mapping[str, Any]) -> bool:
    """Not what draws random numbers, since the way back would draw others, and no attention whose query is repeated."""
    if arguments.get("dropout_p") or (arguments.get("dropout") and arguments.get("train")):
        return False
    if "query" not in arguments or arguments["enable_gqa"]:
        return True
    leading = [arguments[name].shape[:-2] for name in ("query", "key", "value")]
    return leading[0] == leading[1] == leading[2]


@cache
def _library() -> Any:
    """Our operators, which PyTorch knows as long as this is kept."""
    package = torch_package("torch.library")
    library = package.Library("relay", "DEF")
    for name in WHOLE:
        own, operator = own_name(name), _operator(name)
        signature = str(operator._schema).partition("(")[2].replace("*, ", "")  # noqa: SLF001
        parameters, _, given = signature.partition(") -> ")
        library.define(f"{own}({parameters}) -> {given}")
        library.define(f"{own}_backward(Tensor?[] cotangents, Tensor[] results, {parameters}) -> Tensor[]")
        for of, run, shapes in (
            (own, partial(_run, operator), _results_of(name)),
            (f"{own}_backward", partial(_run_backward, operator), _cotangents),
        ):
            library.impl(of, run, "CompositeExplicitAutograd")
            package.register_fake(f"relay::{of}", shapes, lib=library)
        package.register_autograd(
            f"relay::{own}", partial(_backward, f"{own}_backward"), setup_context=_keep, lib=library
        )
    return library


# How PyTorch runs them


def _called(operator: Any, arguments: Sequence[Any]) -> tuple[Tensor, ...]:
    """What PyTorch's operator gives, for arguments in the order of its schema; the last ones may be left out."""
    pairs = list(zip(operator._schema.arguments, arguments, strict=False))  # noqa: SLF001
    positional = [value for declared, value in pairs if not declared.kwarg_only]
    named = {declared.name: value for declared, value in pairs if declared.kwarg_only}
    made = operator(*positional, **named)
    return made if isinstance(made, tuple) else (made,)


def _run(operator: Any, *arguments: Any) -> Any:
    """The results, in memory in the order of their axes."""
    results = tuple(each.contiguous() for each in _called(operator, arguments))
    return results[0] if len(results) == 1 else results


def _run_backward(
    operator: Any, cotangents: Sequence[Tensor | None], _: Sequence[Tensor], *arguments: Any
) -> list[Tensor]:
    """Forward once more, now with gradients."""
    torch, tree = torch_package(), torch_package("torch.utils._pytree")
    given = tree.tree_map(lambda each: each.detach().requires_grad_() if _is_float(each) else each, arguments)
    wanted = _floats(given)
    with _recording(), torch.enable_grad():
        made = _called(operator, given)
        results = [result for result, cotangent in zip(made, cotangents, strict=True) if cotangent is not None]
        known = [cotangent for cotangent in cotangents if cotangent is not None]
        found = torch.autograd.grad(results, wanted, known, allow_unused=True)
    return [torch.zeros_like(of) if each is None else each.contiguous() for each, of in zip(found, wanted, strict=True)]


def _recording() -> Any:
    """Where operators record gradients, which they do not inside of operators."""
    inner = torch_package()._C  # noqa: SLF001
    excluded = inner._dispatch_tls_local_exclude_set()  # noqa: SLF001
    for key in ("AutogradFunctionality", "AutogradOther", "AutogradNestedTensor", "ADInplaceOrView"):
        excluded = excluded.remove(getattr(inner.DispatchKey, key))
    return inner._ForceDispatchKeyGuard(inner._dispatch_tls_local_include_set(), excluded)  # noqa: SLF001


def _is_float(argument: Any) -> bool:
    return isinstance(argument, torch_package().Tensor) and argument.is_floating_point()


def _floats(arguments: Any) -> list[Tensor]:
    """What has a gradient of the arguments, those in lists among them."""
    return [each for each in torch_package("torch.utils._pytree").tree_leaves(arguments) if _is_float(each)]


# How they are differentiated


def _cotangents(_: Sequence[Tensor | None], __: Sequence[Tensor], *arguments: Any) -> list[Tensor]:
    return [each.new_empty(each.shape) for each in _floats(arguments)]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """For the way back: the arguments, and the results."""
    torch = torch_package()
    leaves, ctx.form = torch_package("torch.utils._pytree").tree_flatten(inputs, _is_list_of_others)
    ctx.rest = [None if isinstance(each, torch.Tensor) else each for each in leaves]
    ctx.places = [place for place, each in enumerate(leaves) if isinstance(each, torch.Tensor)]
    results = output if isinstance(output, tuple) else (output,)
    ctx.save_for_backward(*(leaves[place] for place in ctx.places), *results)
    ctx.set_materialize_grads(False)


def _is_list_of_others(argument: Any) -> bool:
    return isinstance(argument, list) and not all(isinstance(each, torch_package().Tensor) for each in argument)


def _backward(name: str, ctx: Any, *cotangents: Tensor | None) -> tuple[Any, ...]:
    saved, count = ctx.saved_tensors, len(ctx.places)
    leaves = list(ctx.rest)
    for place, tensor in zip(ctx.places, saved[:count], strict=True):
        leaves[place] = tensor
    unflatten = torch_package("torch.utils._pytree").tree_unflatten
    arguments = unflatten(leaves, ctx.form)
    found = iter(getattr(torch_package().ops.relay, name)(list(cotangents), list(saved[count:]), *arguments))
    return unflatten([next(found) if _is_float(each) else None for each in leaves], ctx.form)
