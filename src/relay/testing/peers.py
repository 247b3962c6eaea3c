"""The libraries that relay is measured against, each as a function that runs a model file on given arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError

Call: TypeAlias = Callable[[], object]
Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]


def onnxruntime_call(model: Path | bytes, inputs: Arrays, threads: int) -> Call:
    """A call of onnxruntime's best CPU session for an ONNX model."""
    library = _library("onnxruntime")
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    session = library.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    feed = {name: array for name, array in inputs.items() if name in names}
    return lambda: session.run(None, feed)


def pytorch_call(model: Path, inputs: Arrays, threads: int) -> Call:
    """A call of an exported PyTorch program (.pt2, as `torch.export.save` writes it), inputs in the program's order."""
    if model.suffix != ".pt2":
        raise RelayError(
            rule="unknown-model-kind",
            message=f"PyTorch cannot run {model}",
            expected="an exported program (.pt2), named by --peer-model",
            found=model.suffix or "no suffix",
        )
    torch = _library("torch")
    module: Any = torch.export.load(str(model)).module()
    tensors = [torch.from_numpy(np.array(array)) for array in inputs.values()]

    def call() -> object:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return module(*tensors)

    return call


PEERS: Mapping[str, Callable[[Path, Arrays, int], Call]] = {
    "onnxruntime": onnxruntime_call,
    "pytorch": pytorch_call,
}


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RelayError(
            rule="missing-package",
            message=f"comparing with {name} needs it to be installed",
            remedy="pip install 'relay[bench]'" if name == "onnxruntime" else f"pip install {name}",
        ) from error
