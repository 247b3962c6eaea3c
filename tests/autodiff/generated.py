"""Generated programs that can be differentiated: control flow, data types, closures, with floats in, a float out, and
curved functions between them, so that second derivatives are not zero."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from hypothesis import strategies as st

import relay
from relay.ir.expr import Expr, Function, Let, Var, const
from relay.ir.module import IRModule
from relay.ir.types import TensorType, Type
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.programs.generate import Generator, Program, Scope, programs
from tests.programs.tensors import call
from tests.programs.universe import FLOAT, MATRIX, VECTOR


class _Dependent(Generator):
    """Draws programs in which floats that are not computed are variables, or made of one: little is constant. Most of
    what is computed is curved."""

    has_refs = False

    def made(self, scope: Scope, type_: Type, size: int) -> Expr:
        if not _is_float(type_):
            return super().made(scope, type_, size)
        if size <= 0 and _floats(scope):
            return self.leaf(scope, type_)
        if size > 0 and self.number(0, 2):
            return self.curved(scope, type_, size)
        return super().made(scope, type_, size)

    def leaf(self, scope: Scope, type_: Type, size: int = 0) -> Expr:
        floats = _floats(scope)
        if not _is_float(type_) or not floats:
            return super().leaf(scope, type_, size)
        same = [each for each in floats if each[1] == type_]
        chosen = same if same and self.number(0, 2) else floats
        var, own = chosen[self.number(0, len(chosen) - 1)]
        if own == type_:
            return var
        value = call("sum", var, axis=None, keepdims=False) if own != FLOAT else var
        return value if type_ == FLOAT else call("add", super().made(scope, type_, 0), value)

    def curved(self, scope: Scope, type_: TensorType, size: int) -> Expr:
        """A float whose second derivative is not zero: a product, a quotient, or a function that stays small."""
        kind = self.number(0, 9)
        if kind <= 4:
            name = ("tanh", "sigmoid", "sin", "cos", "nn.softmax" if type_.shape else "erf")[kind]
            return call(name, self.expr(scope, type_, size))
        if kind == 5:
            return call("exp", call("tanh", self.expr(scope, type_, size)))
        if kind == 6:
            return call(("log", "sqrt", "rsqrt")[self.number(0, 2)], _above_one(self.expr(scope, type_, size)))
        left, right = (self.fresh(type_, "c") for _ in range(2))  # each is read twice
        if kind == 7:
            value = call("divide", left, _above_one(right))
        elif kind == 8:
            value = call("multiply", left, call("sin", call("add", left, right)))
        else:
            value = call("subtract", call("multiply", left, call("sigmoid", right)), call("tanh", left))
        return Let(left, self.expr(scope, type_, size // 2), Let(right, self.expr(scope, type_, size // 2), value))


def _is_float(type_: Type) -> TypeGuard[TensorType]:
    return isinstance(type_, TensorType) and type_.dtype.is_float


def _floats(scope: Scope) -> list[tuple[Var, TensorType]]:
    return [(var, type_) for var, type_ in scope.variables if _is_float(type_)]


def _above_one(value: Expr) -> Expr:
    """1 + value²."""
    return call("add", call("multiply", value, value), const(np.float32(1)))


def differentiable_programs(max_size: int = 24) -> st.SearchStrategy[Program]:
    """Programs with a float parameter that give a tensor of floats, which is curved in all that it depends on."""
    drawn = programs(max_size, made_by=_Dependent, results=(FLOAT, VECTOR, MATRIX))
    with_floats = drawn.filter(lambda each: any(given.dtype.kind == "f" for given in each.arguments))
    return with_floats.map(_curved_at_the_end)


def _curved_at_the_end(program: Program) -> Program:
    main = program.module["main"]
    value = Var("value", main.ret_type)
    body = Let(value, main.body, call("multiply", value, call("sin", call("add", value, const(np.float32(1))))))
    return replace(program, module=program.module.with_function("main", Function(main.params, body, main.ret_type)))


def in_float64(module: IRModule) -> IRModule:
    """A program in float64 in place of float32: differences need the digits."""
    text, mark, metadata = RemoveUnusedFunctions(module).astext().partition("#[metadata]\n")
    text = re.sub(r"(?<=\d)f\b", "f64", text.replace("float32", "float64"))
    if mark:
        entries = json.loads(metadata)
        entries["relay.Constant"] = [_wide(each) for each in entries["relay.Constant"]]
        text += mark + json.dumps(entries)
    return relay.parse(text)


def _wide(constant: dict[str, Any]) -> dict[str, Any]:
    if constant["dtype"] != "float32":
        return constant
    array = np.frombuffer(base64.b64decode(constant["data"]), np.float32).astype(np.float64)
    return {**constant, "dtype": "float64", "data": base64.b64encode(array.tobytes()).decode()}
