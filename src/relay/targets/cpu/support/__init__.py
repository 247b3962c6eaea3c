"""What native code needs beside itself: memory, threads, errors."""

from relay.targets.cpu.support.library import serial_support_object, support_object, support_text

__all__ = ["serial_support_object", "support_object", "support_text"]
