"""The text of PrimFuncs, written and read back."""
