"""Programs as text and as JSON, both ways.

Importing this folder gives programs their text: `module.astext()`.
"""

from typing import TYPE_CHECKING

from relay.base.names.loading import names_when_asked
from relay.ir.sugar import Printable
from relay.text.printer import astext

if TYPE_CHECKING:
    from relay.text.json import from_json, to_json
    from relay.text.module_parser import parse, parse_expr

Printable.printer = astext

__getattr__ = names_when_asked(
    __name__,
    {
        "from_json": "relay.text.json",
        "parse": "relay.text.module_parser",
        "parse_expr": "relay.text.module_parser",
        "to_json": "relay.text.json",
    },
)

__all__ = ["astext", "from_json", "parse", "parse_expr", "to_json"]
