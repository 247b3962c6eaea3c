"""The operators of the language: one record each, beside the functions that build its calls.

Importing this folder gives expressions their arithmetic: `x + y` is the call of `add`.
"""

import relay.report  # pyright: ignore[reportUnusedImport] # and a look in notebooks
import relay.text  # noqa: F401  # pyright: ignore[reportUnusedImport] # programs built from operators have a text
from relay.ir.sugar import ExprSugar
from relay.ops.framework.build import TupleWrapper, symbol, var
from relay.ops.framework.record import OperatorRecord
from relay.ops.sugar import BuilderArithmetic

ExprSugar.arithmetic = BuilderArithmetic()

__all__ = ["OperatorRecord", "TupleWrapper", "symbol", "var"]
