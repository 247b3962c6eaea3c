"""Generated programs that can be differentiated: control flow, data types, closures, with floats in, a float out."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
from hypothesis import strategies as st

import relay
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.ir.types import TensorType, Type
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.programs.generate import Generator, Program, Scope, programs
from tests.programs.tensors import call
from tests.programs.universe import FLOAT, MATRIX, VECTOR


class _Dependent(Generator):
    """Draws programs in which floats that are not computed are variables, or made of one: little is constant."""

    has_refs = False

    def leaf(self, scope: Scope, type_: Type, size: int = 0) -> Expr:
        floats = [each for each in scope.variables if isinstance(each[1], TensorType) and each[1].dtype.is_float]
        if not isinstance(type_, TensorType) or not type_.dtype.is_float or not floats:
            return super().leaf(scope, type_, size)
        same = [each for each in floats if each[1] == type_]
        chosen = same if same and self.number(0, 2) else floats
        var, own = chosen[self.number(0, len(chosen) - 1)]
        if own == type_:
            return var
        value = call("sum", var, axis=None, keepdims=False) if own != FLOAT else var
        return value if type_ == FLOAT else call("add", self.made(scope, type_, 0), value)


def differentiable_programs(max_size: int = 24) -> st.SearchStrategy[Program]:
    """Programs with a float parameter that give a tensor of floats."""
    drawn = programs(max_size, made_by=_Dependent, results=(FLOAT, VECTOR, MATRIX))
    return drawn.filter(lambda each: any(given.dtype.kind == "f" for given in each.arguments))


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
