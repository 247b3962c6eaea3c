"""Names of `ir.rewriting` for what is still to be moved."""

from relay.ir.rewriting import Uses, rewrite_nodes, with_body
from relay.ir.rewriting import rewrite_with_uses as rewrite_typed
from relay.ir.rewriting import typed_as as same_type
from relay.transform.extents import copied

__all__ = ["Uses", "copied", "rewrite_nodes", "rewrite_typed", "same_type", "with_body"]
