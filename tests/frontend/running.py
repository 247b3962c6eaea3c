"""Runs imported programs by the reference interpreter, and models by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule

Array = NDArray[Any]


def run_relay(module: IRModule, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs of `@main` for arguments by name."""
    result: Any = evaluate(module, dict(feeds))
    return list(result) if isinstance(result, tuple) else [result]


def run_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


def run_onnx_reference(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs as ONNX's own evaluator computes them, which has operators that onnxruntime lacks."""
    found: Any = ReferenceEvaluator(model).run(None, dict(feeds))
    return list(found)


def assert_close(found: Sequence[Array], expected: Sequence[Array], tolerance: float) -> None:
    """Same shapes and element types; differences up to `tolerance` of the largest magnitude, exact for integers."""
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        if theirs.dtype.kind != "f":
            np.testing.assert_array_equal(mine, theirs)
            continue
        finite = theirs[np.isfinite(theirs)]
        scale = max(1.0, float(np.max(np.abs(finite), initial=0.0)))
        np.testing.assert_allclose(mine.astype(np.float64), theirs.astype(np.float64), rtol=0, atol=tolerance * scale)
