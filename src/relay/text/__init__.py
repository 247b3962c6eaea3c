"""Programs as text and as JSON, both ways.

Importing this folder gives programs their text: `module.astext()`.
"""

from relay.ir.sugar import Printable
from relay.text.json import from_json, to_json
from relay.text.module_parser import parse, parse_expr
from relay.text.printer import astext

Printable.printer = astext

__all__ = ["astext", "from_json", "parse", "parse_expr", "to_json"]
