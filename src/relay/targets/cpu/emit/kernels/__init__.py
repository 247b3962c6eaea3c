"""Kernels as LLVM text: statements, values, loads and stores."""
