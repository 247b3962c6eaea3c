"""Runs imported programs by the meaning of their operators, and models by onnxruntime."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Node, Symbol, evaluate
from relay.ir.expr import Call, Constant, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import TensorType

Array = NDArray[Any]


def run_relay(module: IRModule, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs of `@main` for arguments by name."""
    function = module["main"]
    return run_function(function, [feeds[var.name_hint] for var in function.params])


def run_function(function: Function, arguments: Sequence[Array]) -> list[Array]:
    values: dict[int, Any] = {}
    symbols: dict[Symbol, int] = {}
    for var, array in zip(function.params, arguments, strict=True):
        annotation = var.type_annotation
        assert isinstance(annotation, TensorType)
        assert array.dtype == annotation.dtype.numpy
        for extent, size in zip(annotation.shape, array.shape, strict=True):
            if isinstance(extent, Symbol):
                assert symbols.setdefault(extent, size) == size
            else:
                assert extent == size
        values[id(var)] = array
    for node in post_order(function.body):
        match node:
            case Var() | Op():
                pass
            case Constant(data=data):
                values[id(node)] = data
            case Tuple(fields=fields):
                values[id(node)] = tuple(values[id(field)] for field in fields)
            case TupleGetItem(tuple_value=whole, index=index):
                values[id(node)] = values[id(whole)][index]
            case Call(op=Op(operator=operator), args=args, attrs=attributes):
                record: Any = operator
                arrays = [values[id(argument)] for argument in args]
                values[id(node)] = record.meaning(_with_extents(attributes, symbols), *arrays)
                _check_type(node, values[id(node)], symbols)
            case _:
                raise AssertionError(f"an importer made a {type(node).__name__}")
    result = values[id(function.body)]
    return list(result) if isinstance(result, tuple) else [result]


def _check_type(node: Call, value: Any, symbols: Mapping[Symbol, int]) -> None:
    if isinstance(node.checked_type, TensorType):
        assert isinstance(value, (np.ndarray, np.generic))
        assert value.dtype == node.checked_type.dtype.numpy, node.op
        assert value.shape == tuple(_number(extent, symbols) for extent in node.checked_type.shape), node.op


def _with_extents(attributes: Any, symbols: Mapping[Symbol, int]) -> Any:
    changed = {
        field.name: _substituted(getattr(attributes, field.name), symbols) for field in dataclasses.fields(attributes)
    }
    return dataclasses.replace(attributes, **changed)


def _substituted(value: Any, symbols: Mapping[Symbol, int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_substituted(item, symbols) for item in value)
    return _number(value, symbols) if isinstance(value, Node) else value


def _number(extent: IntExpr, symbols: Mapping[Symbol, int]) -> int:
    return evaluate(extent, symbols)


def run_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


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
