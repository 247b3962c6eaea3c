"""Kernels as LLVM text."""

from relay.targets.cpu.emit.kernels.kernel import emit_kernel

__all__ = ["emit_kernel"]
