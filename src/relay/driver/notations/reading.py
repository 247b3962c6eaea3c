"""`relay.parse` and `relay.load_json`: programs from text, with all operators known."""

from __future__ import annotations

from relay.base.arguments import TEXT, takes
from relay.infer.infer_type import infer_type
from relay.ir.expr import Expr
from relay.ir.module import MODULE, IRModule
from relay.ops.registry import known_operators
from relay.text import json, module_parser


@takes(text=TEXT, source_name=TEXT)
def parse(text: str, source_name: str = "from_string") -> IRModule:
    """The module that a text in Relay's format 0.0.5 describes, with types inferred.

    Raises `RelayError` with the line and a caret where the text is wrong, and for what does not type.
    """
    return infer_type(module_parser.parse(text, known_operators(), source_name))


fromtext = parse


@takes(text=TEXT, source_name=TEXT)
def parse_expr(text: str, source_name: str = "from_string") -> Expr:
    """The expression that a text describes; types are inferred when it becomes part of a module."""
    return module_parser.parse_expr(text, known_operators(), source_name)


@takes(text=TEXT)
def load_json(text: str) -> IRModule:
    """The module that `save_json` wrote, with types inferred. Raises `RelayError` for anything else."""
    return infer_type(json.from_json(text, known_operators()))


@takes(module=MODULE)
def save_json(module: IRModule) -> str:
    r"""A module as JSON, constants included; the same text for the same module.

    >>> module = parse('#[version = "0.0.5"]\ndef @main(%x: float32) { %x + 1f }')
    >>> load_json(save_json(module)).astext() == module.astext()
    True
    """
    return json.to_json(module)
