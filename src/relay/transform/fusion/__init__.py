"""FuseOps: the pass, and what it consists of, a file each."""

from relay.transform.fusion.fusing import FuseOps

__all__ = ["FuseOps"]
