"""`relay.parse`: text with all operators known."""

from __future__ import annotations

from relay.infer.infer_type import infer_type
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.ops.table import OPERATORS
from relay.text import module_parser


def parse(text: str, source_name: str = "from_string") -> IRModule:
    """The module that a text in Relay's format 0.0.5 describes, with types inferred.

    Raises `RelayError` with the line and a caret where the text is wrong, and for what does not type.
    """
    return infer_type(module_parser.parse(text, OPERATORS, source_name))


def parse_expr(text: str, source_name: str = "from_string") -> Expr:
    """The expression that a text describes; types are inferred when it becomes part of a module."""
    return module_parser.parse_expr(text, OPERATORS, source_name)
