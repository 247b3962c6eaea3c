"""The libraries that relay is measured against, each as a function that runs a model file on given arrays.

All get the same ONNX file. PyTorch and JAX, which read none, get it translated (`onnx_torch`, `onnx_jax`); PyTorch also
runs programs that it exported itself. Calls give what the library gives: `result_arrays` makes arrays of it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.testing.measuring.libraries import library
from relay.testing.onnx_models.onnx_jax import jax_function
from relay.testing.onnx_models.onnx_torch import torch_module

Call: TypeAlias = Callable[[], object]
Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]
MakeCall: TypeAlias = Callable[["Path | bytes", Arrays, int], Call]
"""Of a model, its inputs by name in the model's order, and the number of threads."""


def onnxruntime_call(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    """A call of onnxruntime's best CPU session for an ONNX model."""
    runtime = library("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    session = runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    feed = {name: array for name, array in inputs.items() if name in names}
    return lambda: session.run(None, feed)


def openvino_call(model: Path | bytes, inputs: Arrays, threads: int, precision: str = "f32") -> Call:
    """A call of OpenVINO for an ONNX model, tuned for latency, in float32 where it would choose bfloat16 ("bf16") by
    itself."""
    core = library("openvino").Core()
    settings = {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
    }  # fmt: skip
    source = core.read_model(model) if isinstance(model, bytes) else core.read_model(str(model))
    request = core.compile_model(source, "CPU", settings).create_infer_request()
    feed = list(inputs.values())
    return lambda: request.infer(feed, share_inputs=True, share_outputs=True).values()


def pytorch_call(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    """A call of PyTorch, operator by operator, for an ONNX model or an exported program (.pt2, as `torch.export.save`
    writes it)."""
    torch = library("torch")
    torch.set_num_threads(threads)
    function, tensors = _torch_program(torch, model), _tensors(torch, inputs)

    def call() -> object:
        with torch.inference_mode():
            return function(*tensors)

    return call


def torch_compile_call(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    """A call of what `torch.compile` makes, weights frozen into it: compiled here, for this number of threads."""
    torch, inductor = library("torch"), library("torch._inductor.config")
    torch.set_num_threads(threads)
    torch.compiler.reset()
    tensors = _tensors(torch, inputs)
    compiled = torch.compile(_torch_program(torch, model), dynamic=False)
    with torch.no_grad(), inductor.patch(freezing=True):
        compiled(*tensors)

    def call() -> object:
        with torch.no_grad():
            return compiled(*tensors)

    return call


def jax_call(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    """A call of what XLA makes of an ONNX model. Its threads are as many as there are processors.

    Raises `RelayError` (rule `peer-cannot`) for another number of threads."""
    jax = library("jax")
    if threads != (processors := len(os.sched_getaffinity(0))):
        raise RelayError(
            rule="peer-cannot", message="XLA has a thread for each processor", expected=f"{processors} threads",
            found=str(threads),
        )  # fmt: skip
    function = jax_function(model)
    arrays = [jax.numpy.asarray(each) for each in inputs.values()]
    return lambda: jax.block_until_ready(function(*arrays))


@frozen
class Peer:
    """A way of running a model, and the package that it needs. `on_all_processors`: with another number of threads it
    does not run."""

    package: str
    make_call: MakeCall
    on_all_processors: bool = False

    def runs_with(self, threads: int) -> bool:
        return not self.on_all_processors or threads == len(os.sched_getaffinity(0))


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "onnxruntime": Peer("onnxruntime", onnxruntime_call),
        "openvino": Peer("openvino", openvino_call),
        "pytorch": Peer("torch", pytorch_call),
        "torch-compile": Peer("torch", torch_compile_call),
        "jax": Peer("jax", jax_call, on_all_processors=True),
    }
)


def installed_peers() -> tuple[str, ...]:
    """The names of those in `PEERS` that this environment has."""
    return tuple(name for name, peer in PEERS.items() if importlib.util.find_spec(peer.package) is not None)


def result_arrays(result: Any) -> list[NDArray[Any]]:
    """The arrays in what any of the calls gives, in order."""
    if isinstance(result, np.ndarray | np.generic):
        return [np.asarray(result)]
    if str(getattr(result, "dtype", "")) == "torch.bfloat16":  # of which PyTorch makes no array
        return result_arrays(result.float())
    if hasattr(result, "__array__"):
        return [np.asarray(result)]
    return [array for each in result for array in result_arrays(each)]


def relative_error(found: Any, expected: Any) -> float:
    """The largest difference of any output, over the largest magnitude of that output. Infinite where outputs do not
    correspond, or where only one of them is finite.

    >>> relative_error([np.array([1.0, 4.0])], (np.array([1.0, 5.0]),))
    0.2
    """
    ours, theirs = result_arrays(found), result_arrays(expected)
    if [each.size for each in ours] != [each.size for each in theirs]:
        return float("inf")
    return max(_relative_error(*pair) for pair in zip(ours, theirs, strict=True))


def _relative_error(found: NDArray[Any], expected: NDArray[Any]) -> float:
    found, expected = found.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    difference = np.abs(found - expected).max(initial=0.0)
    error = float(difference / max(np.abs(expected).max(initial=0.0), np.finfo(np.float32).tiny))
    return error if np.isfinite(error) else float("inf")


def _torch_program(torch: Any, model: Path | bytes) -> Any:
    if isinstance(model, bytes) or model.suffix == ".onnx":
        return torch_module(model)
    if model.suffix != ".pt2":
        raise RelayError(
            rule="unknown-model-kind",
            message=f"PyTorch cannot run {model}",
            expected="an ONNX model, or an exported program (.pt2), named by --peer-model",
            found=model.suffix or "no suffix",
        )
    return torch.export.load(str(model)).module()


def _tensors(torch: Any, inputs: Arrays) -> list[Any]:
    return [torch.from_numpy(np.array(array)) for array in inputs.values()]
