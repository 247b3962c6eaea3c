"""Programs as LLVM text: procedures, regions, entries."""
