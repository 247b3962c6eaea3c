"""Operators of the reference interpreter by compiled kernels, in place of their NumPy meaning."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.driver.build import build
from relay.interpret.values import Value
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Function, Op, Var
from relay.ir.operator import Operator
from relay.ir.types import TensorType, TupleType, Type
from relay.runtime.executable import Executable


@frozen(eq=False)
class CompiledOperators:
    """Calls an operator as the kernel that `target` has for it, compiled when the types of its arguments are first met.

    >>> import numpy as np
    >>> from relay.interpret.evaluate import evaluate
    >>> import relay
    >>> x = relay.var("x", shape=(2,))
    >>> evaluate(relay.Function([x], relay.tanh(x)), [np.zeros(2, np.float32)], call_operator=CompiledOperators("llvm"))
    array([0., 0.], dtype=float32)
    """

    target: str | Target
    kernels: dict[tuple[str, Attributes, tuple[Type, ...]], Executable] = field(default_factory=dict)

    def __call__(self, operator: Operator, attributes: Attributes, arguments: tuple[Value, ...]) -> Value:
        """The operator's result. Raises `RelayError` as compiling or running the kernel does."""
        types = tuple([_type_of(operator, argument) for argument in arguments])
        key = (operator.name, attributes, types)
        kernel = self.kernels.get(key)
        if kernel is None:
            params = [Var(f"x{position}", type_) for position, type_ in enumerate(types)]
            call = Call(Op(operator), tuple(params), attributes)
            kernel = self.kernels[key] = build(Function(tuple(params), call), self.target, opt_level=0)
        result: Any = kernel(*_leaves(arguments))
        return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)


def _type_of(operator: Operator, argument: Value) -> Type:
    match argument:
        case np.ndarray():
            return TensorType(argument.shape, dtype_of(argument.dtype))
        case tuple():
            return TupleType(tuple([_type_of(operator, each) for each in argument]))
        case _:
            raise RelayError(
                rule="argument-type",
                message=f"{operator.name} is given a value that is no tensor",
                expected="tensors, and tuples of them",
                found=f"a {type(argument).__name__}",
            )


def _leaves(arguments: tuple[Value, ...]) -> list[Value]:
    """The arguments as an entry takes them: tuples opened."""
    return [
        leaf
        for each in arguments
        for leaf in (_leaves(each) if isinstance(each, tuple) else [np.asarray(each, order="C")])
    ]
