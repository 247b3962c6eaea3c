"""Running PrimFuncs on NumPy arrays: threads, queues, and what every statement does."""
