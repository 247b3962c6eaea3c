"""`relay.vmap`: programs over many instances at once."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

from relay.base.arguments import expect
from relay.base.span import caller_span
from relay.driver.derived.gradients import PROGRAM_OR_PYTHON, AnyPythonProgram, CompiledGradient
from relay.driver.notations.python_source import CompiledFunction, CompiledProgram
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.ops.transformations import Wrt, parameter_places
from relay.transform.batching.instances import over_instances
from relay.transform.gradients.apply_transformations import ApplyTransformations


@overload
def vmap(program: AnyPythonProgram, over: Wrt = None) -> CompiledProgram: ...
@overload
def vmap(program: IRModule | Function, over: Wrt = None) -> IRModule: ...
def vmap(program: AnyPythonProgram | IRModule | Function, over: Wrt = None) -> IRModule | CompiledProgram:
    """The program that takes tensors of n instances, with an axis in front that counts them, and gives its results so.

    `over` names the parameters that differ from instance to instance, by place or name; None for all. Others are the
    same for all. Of a gradient it is the gradients of all examples, of `vjp` over the cotangents a Jacobian.

    Raises `RelayError`: `no-batch-rule`, which names the operator, and `unknown-parameter`.

    >>> import numpy as np
    >>> import relay
    >>> x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    >>> loss = relay.Function([x, w], relay.sum(relay.exp(x * w)))
    >>> each = relay.build(vmap(relay.grad(loss, wrt="w"), over="x"))
    >>> each(np.array([[1, 2], [3, 4], [5, 6]], "float32"), np.zeros(2, "float32")).tolist()
    [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    """
    expect(program, PROGRAM_OR_PYTHON, "what is mapped")
    match program:
        case CompiledFunction() | CompiledGradient() | CompiledProgram():
            return CompiledProgram(replace(program.reading, module=vmap(program.module, over)))
        case Function():
            return vmap(IRModule.from_expr(program), over)
        case IRModule():
            applied = ApplyTransformations(infer_type(program))
            names = [each.name_hint for each in applied["main"].params]
            return over_instances(applied, parameter_places(names, over, caller_span()))
