"""Numbers of every element type as LLVM text: arithmetic, casts, functions."""
