"""What native code needs beside itself: memory, threads, errors."""

from relay.targets.cpu.support.library import support_object, support_text

__all__ = ["support_object", "support_text"]
